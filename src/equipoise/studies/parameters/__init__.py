# SPDX-License-Identifier: Apache-2.0
"""Studies of parameters that are found, and of abstractions that grow, while games are solved."""
