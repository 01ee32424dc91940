# SPDX-License-Identifier: Apache-2.0
"""Showdowns of every hand against every hand on every board: the twin of native/equity.hpp."""

import numpy as np


def accumulate_showdowns(strengths, weights, masks, first_reach, second_reach):
    """Returns `[2, 3, H]` wins, ties and totals from strengths `[B, H]`, 0 where the board blocks."""
    is_apart = (masks[:, None] & masks[None, :]) == 0
    out = np.zeros((2, 3, len(masks)))
    for own, weight in zip(strengths.astype(int), weights, strict=True):
        meets = is_apart & (own[:, None] > 0) & (own[None, :] > 0)
        beats, ties = meets & (own[:, None] > own[None, :]), meets & (own[:, None] == own[None, :])
        for side, other_reach in enumerate((second_reach, first_reach)):
            out[side] += weight * np.stack([table @ other_reach for table in (beats, ties, meets)])
    return out
