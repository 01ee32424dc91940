# SPDX-License-Identifier: Apache-2.0
"""Studies by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from equipoise.apps.reproduce.aivat import AIVAT
from equipoise.apps.reproduce.brp import BRP
from equipoise.apps.reproduce.bucketed_holdem import BUCKETED_HOLDEM
from equipoise.apps.reproduce.cfr_avg import CFR_AVG
from equipoise.apps.reproduce.cfr_fbr import CFR_FBR
from equipoise.apps.reproduce.cfr_fbr_holdem import CFR_FBR_HOLDEM
from equipoise.apps.reproduce.cfr_uct import CFR_UCT
from equipoise.apps.reproduce.coin_toss import COIN_TOSS
from equipoise.apps.reproduce.dcfr_endgames import DCFR_ENDGAMES
from equipoise.apps.reproduce.dcfr_goofspiel import DCFR_GOOFSPIEL
from equipoise.apps.reproduce.dcfr_toy import DCFR_TOY
from equipoise.apps.reproduce.dynamic_thresholding import DYNAMIC_THRESHOLDING
from equipoise.apps.reproduce.gift_scaling import GIFT_SCALING
from equipoise.apps.reproduce.graded_responses import GRADED_RESPONSES
from equipoise.apps.reproduce.is_mcts import IS_MCTS
from equipoise.apps.reproduce.lbr import LBR
from equipoise.apps.reproduce.liars_dice_baselines import LIARS_DICE_BASELINES
from equipoise.apps.reproduce.multi_valued_states import MULTI_VALUED_STATES
from equipoise.apps.reproduce.nested_search import NESTED_SEARCH
from equipoise.apps.reproduce.pruned_sampling import PRUNED_SAMPLING
from equipoise.apps.reproduce.rbp import RBP
from equipoise.apps.reproduce.rl_baselines import RL_BASELINES
from equipoise.apps.reproduce.rnr import RNR
from equipoise.apps.reproduce.safe_search import SAFE_SEARCH
from equipoise.apps.reproduce.storage_floor import STORAGE_FLOOR
from equipoise.apps.reproduce.study import Study
from equipoise.apps.reproduce.turn_search import TURN_SEARCH
from equipoise.apps.reproduce.warm_start import WARM_START
from equipoise.apps.reproduce.zero_reach import ZERO_REACH
from equipoise.core.errors import UnknownNameError

__all__ = ["STUDIES", "find_study"]

STUDIES: Mapping[str, Study[Any]] = {
    study.name: study
    for study in (
        AIVAT,
        BRP,
        BUCKETED_HOLDEM,
        CFR_AVG,
        CFR_FBR,
        CFR_FBR_HOLDEM,
        CFR_UCT,
        COIN_TOSS,
        DCFR_ENDGAMES,
        DCFR_GOOFSPIEL,
        DCFR_TOY,
        DYNAMIC_THRESHOLDING,
        GIFT_SCALING,
        LBR,
        GIFT_SCALING,
        GRADED_RESPONSES,
        IS_MCTS,
        LIARS_DICE_BASELINES,
        MULTI_VALUED_STATES,
        NESTED_SEARCH,
        PRUNED_SAMPLING,
        RBP,
        RL_BASELINES,
        RNR,
        SAFE_SEARCH,
        STORAGE_FLOOR,
        TURN_SEARCH,
        WARM_START,
        ZERO_REACH,
    )
}


def find_study(name: str) -> Study[Any]:
    """Returns the study of that name; an unknown one raises with the nearest names."""
    if name not in STUDIES:
        raise UnknownNameError("study", name, STUDIES)
    return STUDIES[name]
