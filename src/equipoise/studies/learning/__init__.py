# SPDX-License-Identifier: Apache-2.0
"""Studies of learners by self-play."""
