# SPDX-License-Identifier: Apache-2.0
"""Equipoise solves, learns, searches, plays and measures games with hidden information."""

__version__ = "0.1.0"
