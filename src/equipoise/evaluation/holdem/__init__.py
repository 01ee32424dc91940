# SPDX-License-Identifier: Apache-2.0
"""Matches, AIVAT and local best responses over deals of hold'em."""
