# SPDX-License-Identifier: Apache-2.0
"""Studies of networks that say what hands are worth, and of the agents that search with them."""
