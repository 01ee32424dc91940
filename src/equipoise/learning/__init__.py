# SPDX-License-Identifier: Apache-2.0
"""Learning from games played: tabular, and with networks (the extra `[learn]`), which no other room needs."""
