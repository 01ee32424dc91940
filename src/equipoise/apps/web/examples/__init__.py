# SPDX-License-Identifier: Apache-2.0
"""Spots that the page offers to begin with."""
