# SPDX-License-Identifier: Apache-2.0
"""How good agents are: matches, low-variance estimates, local best responses, ratings and rankings."""
