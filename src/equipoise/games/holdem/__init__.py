# SPDX-License-Identifier: Apache-2.0
"""Hold'em: its betting, its menus of bets, its rules."""
