# SPDX-License-Identifier: Apache-2.0
"""Which equilibria are found, and what they are good for."""
