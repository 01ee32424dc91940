# SPDX-License-Identifier: Apache-2.0
"""Studies by name.

>>> "coin-toss" in STUDIES
True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from equipoise.core.checks import check_text
from equipoise.core.errors import UnknownNameError
from equipoise.studies.blueprints.pluribus_habits import PLURIBUS_HABITS
from equipoise.studies.discounting.dcfr_endgames import DCFR_ENDGAMES
from equipoise.studies.discounting.dcfr_goofspiel import DCFR_GOOFSPIEL
from equipoise.studies.discounting.dcfr_toy import DCFR_TOY
from equipoise.studies.discounting.liars_dice_baselines import LIARS_DICE_BASELINES
from equipoise.studies.discounting.storage_floor import STORAGE_FLOOR
from equipoise.studies.equilibria.lemonade_stand import LEMONADE_STAND
from equipoise.studies.evaluation.aivat import AIVAT
from equipoise.studies.evaluation.lbr import LBR
from equipoise.studies.learning.leduc_deepstack import LEDUC_DEEPSTACK
from equipoise.studies.learning.rebel_games import REBEL_LEDUC, REBEL_LIARS_DICE
from equipoise.studies.learning.rebel_teh import REBEL_TEH
from equipoise.studies.learning.rl_baselines import RL_BASELINES
from equipoise.studies.pruning.brp import BRP
from equipoise.studies.pruning.dynamic_thresholding import DYNAMIC_THRESHOLDING
from equipoise.studies.pruning.rbp import RBP
from equipoise.studies.pruning.zero_reach import ZERO_REACH
from equipoise.studies.responses.cfr_fbr import CFR_FBR
from equipoise.studies.responses.cfr_fbr_holdem import CFR_FBR_HOLDEM
from equipoise.studies.responses.cfr_uct import CFR_UCT
from equipoise.studies.responses.graded_responses import GRADED_RESPONSES
from equipoise.studies.responses.rnr import RNR
from equipoise.studies.sampling.bucketed_holdem import BUCKETED_HOLDEM
from equipoise.studies.sampling.pruned_sampling import PRUNED_SAMPLING
from equipoise.studies.search.cfr_avg import CFR_AVG
from equipoise.studies.search.coin_toss import COIN_TOSS
from equipoise.studies.search.gift_scaling import GIFT_SCALING
from equipoise.studies.search.is_mcts import IS_MCTS
from equipoise.studies.search.multi_valued_states import MULTI_VALUED_STATES
from equipoise.studies.search.nested_search import NESTED_SEARCH
from equipoise.studies.search.safe_search import SAFE_SEARCH
from equipoise.studies.search.turn_search import TURN_SEARCH
from equipoise.studies.study import Study
from equipoise.studies.values.dcfr_plus import DCFR_PLUS
from equipoise.studies.values.supremus_lbr import SUPREMUS_LBR
from equipoise.studies.values.supremus_match import SUPREMUS_MATCH
from equipoise.studies.values.supremus_opening import SUPREMUS_OPENING
from equipoise.studies.values.value_lost import VALUE_LOST
from equipoise.studies.values.value_net_losses import VALUE_NET_LOSSES
from equipoise.studies.warm_start.warm_start import WARM_START

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
        DCFR_PLUS,
        DCFR_TOY,
        DYNAMIC_THRESHOLDING,
        GIFT_SCALING,
        GRADED_RESPONSES,
        IS_MCTS,
        LBR,
        LEDUC_DEEPSTACK,
        LEMONADE_STAND,
        LIARS_DICE_BASELINES,
        MULTI_VALUED_STATES,
        NESTED_SEARCH,
        PLURIBUS_HABITS,
        PRUNED_SAMPLING,
        RBP,
        REBEL_LEDUC,
        REBEL_LIARS_DICE,
        REBEL_TEH,
        RL_BASELINES,
        RNR,
        SAFE_SEARCH,
        STORAGE_FLOOR,
        SUPREMUS_LBR,
        SUPREMUS_MATCH,
        SUPREMUS_OPENING,
        TURN_SEARCH,
        VALUE_LOST,
        VALUE_NET_LOSSES,
        WARM_START,
        ZERO_REACH,
    )
}


def find_study(name: str) -> Study[Any]:
    """Returns the study of that name; an unknown one raises with the nearest names.

    >>> find_study("coin-toss").title
    'Search in Coin Toss'
    """
    check_text("study", name)
    if name not in STUDIES:
        raise UnknownNameError("study", name, STUDIES)
    return STUDIES[name]
