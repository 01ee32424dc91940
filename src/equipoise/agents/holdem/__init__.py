# SPDX-License-Identifier: Apache-2.0
"""Agents of hold'em: hands by their names, and bets that are taken for others."""
