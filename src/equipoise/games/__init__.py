# SPDX-License-Identifier: Apache-2.0
"""The rules of games, and nothing but the rules."""
