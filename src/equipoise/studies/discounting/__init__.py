# SPDX-License-Identifier: Apache-2.0
"""Studies of discounting schemes and of how tables are stored."""
