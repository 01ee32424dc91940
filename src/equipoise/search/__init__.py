# SPDX-License-Identifier: Apache-2.0
"""Search: what is computed at the moment of play, from the position at hand."""
