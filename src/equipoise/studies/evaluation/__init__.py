# SPDX-License-Identifier: Apache-2.0
"""Studies of how agents are measured."""
