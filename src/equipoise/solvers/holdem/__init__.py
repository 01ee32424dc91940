# SPDX-License-Identifier: Apache-2.0
"""What is special to hold'em about solving: locks, ranges of payoffs, sampling, views, push or fold."""
