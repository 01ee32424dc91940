# SPDX-License-Identifier: Apache-2.0
"""Hold'em trees: a street's betting once, repeated board by board."""
