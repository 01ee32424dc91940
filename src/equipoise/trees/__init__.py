# SPDX-License-Identifier: Apache-2.0
"""Games become arrays: history trees for any game, public trees for the vector form."""
