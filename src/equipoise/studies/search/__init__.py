# SPDX-License-Identifier: Apache-2.0
"""Studies of search: safe, nested, depth-limited, IS-MCTS."""
