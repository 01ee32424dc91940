# SPDX-License-Identifier: Apache-2.0
"""The rules that every form of sweep is compared under: each policy map, fallback, discount and kind of state once."""

from equipoise.kernels.rules import Fallback
from equipoise.solvers.rules import (
    CFR,
    DCFR,
    CFRPlus,
    DCFRPlus,
    Hedge,
    LinearCFR,
    LinearCFRPlus,
    NormalHedge,
    Optimistic,
    PredictiveCFRPlus,
    Thresholded,
)

RULES = [
    CFR(),
    CFR(fallback=Fallback.ARGMAX),
    CFRPlus(),
    CFRPlus(gamma=1.0),
    LinearCFR(),
    LinearCFRPlus(),
    DCFR(),
    DCFR(beta=0.5),
    DCFR(beta=float("-inf")),
    DCFRPlus(delay=3),
    Optimistic(LinearCFR()),
    Optimistic(CFR(fallback=Fallback.ARGMAX)),
    PredictiveCFRPlus(),
    Hedge(),
    Hedge(horizon=20),
    NormalHedge(),
    NormalHedge(base=LinearCFR()),
    Optimistic(NormalHedge()),
    Thresholded(CFR(), 2.0),
    Thresholded(DCFR(), 50.0),
    Thresholded(Hedge(), 2.0),
    Thresholded(Hedge(horizon=20), 50.0),
    Thresholded(Optimistic(CFR()), 3.0),
]
