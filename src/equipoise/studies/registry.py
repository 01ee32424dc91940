# SPDX-License-Identifier: Apache-2.0
"""Studies by name; a study is loaded when it is asked for.

>>> "coin-toss" in STUDIES
True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from equipoise.core.checks import check_text
from equipoise.core.errors import UnknownNameError
from equipoise.core.lazy import LazyTable
from equipoise.studies.study import Study

__all__ = ["STUDIES", "find_study"]

STUDIES: Mapping[str, Study[Any]] = LazyTable(
    {
        "aivat": "equipoise.studies.evaluation.aivat:AIVAT",
        "bet-size-optimisation": "equipoise.studies.parameters.bet_size_optimisation:BET_SIZE_OPTIMISATION",
        "blueprint-claims": "equipoise.studies.blueprints.claims:BLUEPRINT_CLAIMS",
        "brp": "equipoise.studies.pruning.brp:BRP",
        "bucketed-holdem": "equipoise.studies.sampling.bucketed_holdem:BUCKETED_HOLDEM",
        "cfr-avg": "equipoise.studies.search.cfr_avg:CFR_AVG",
        "cfr-fbr": "equipoise.studies.responses.cfr_fbr:CFR_FBR",
        "cfr-fbr-holdem": "equipoise.studies.responses.cfr_fbr_holdem:CFR_FBR_HOLDEM",
        "cfr-uct": "equipoise.studies.responses.cfr_uct:CFR_UCT",
        "cfr-variants": "equipoise.studies.discounting.cfr_variants:CFR_VARIANTS",
        "coin-toss": "equipoise.studies.search.coin_toss:COIN_TOSS",
        "crosstable": "equipoise.studies.responses.crosstable:CROSSTABLE",
        "dcfr-endgames": "equipoise.studies.discounting.dcfr_endgames:DCFR_ENDGAMES",
        "dcfr-goofspiel": "equipoise.studies.discounting.dcfr_goofspiel:DCFR_GOOFSPIEL",
        "dcfr-plus": "equipoise.studies.values.dcfr_plus:DCFR_PLUS",
        "dcfr-toy": "equipoise.studies.discounting.dcfr_toy:DCFR_TOY",
        "deep-cfr": "equipoise.studies.learning.deep_cfr:DEEP_CFR",
        "deep-cfr-ablations": "equipoise.studies.learning.deep_cfr_ablations:DEEP_CFR_ABLATIONS",
        "dynamic-thresholding": "equipoise.studies.pruning.dynamic_thresholding:DYNAMIC_THRESHOLDING",
        "fastest-rule": "equipoise.studies.discounting.fastest_rule:FASTEST_RULE",
        "gift-scaling": "equipoise.studies.search.gift_scaling:GIFT_SCALING",
        "graded-responses": "equipoise.studies.responses.graded_responses:GRADED_RESPONSES",
        "is-mcts": "equipoise.studies.search.is_mcts:IS_MCTS",
        "lbr": "equipoise.studies.evaluation.lbr:LBR",
        "leduc-deepstack": "equipoise.studies.learning.leduc_deepstack:LEDUC_DEEPSTACK",
        "lemonade-stand": "equipoise.studies.equilibria.lemonade_stand:LEMONADE_STAND",
        "liars-dice-baselines": "equipoise.studies.discounting.liars_dice_baselines:LIARS_DICE_BASELINES",
        "modicum-ladder": "equipoise.studies.blueprints.modicum_ladder:MODICUM_LADDER",
        "multi-valued-states": "equipoise.studies.search.multi_valued_states:MULTI_VALUED_STATES",
        "nested-search": "equipoise.studies.search.nested_search:NESTED_SEARCH",
        "pluribus-habits": "equipoise.studies.blueprints.pluribus_habits:PLURIBUS_HABITS",
        "pluribus-table": "equipoise.studies.blueprints.pluribus_table:PLURIBUS_TABLE",
        "pog-boards": "equipoise.studies.learning.pog_boards:POG_BOARDS",
        "pog-glasses": "equipoise.studies.learning.pog_games:POG_GLASSES",
        "pog-leduc": "equipoise.studies.learning.pog_games:POG_LEDUC",
        "pog-scaling": "equipoise.studies.learning.pog_boards:POG_SCALING",
        "pruned-sampling": "equipoise.studies.sampling.pruned_sampling:PRUNED_SAMPLING",
        "rbp": "equipoise.studies.pruning.rbp:RBP",
        "rbs-blueprint": "equipoise.studies.blueprints.rbs:RBS_BLUEPRINT",
        "rebel-choices": "equipoise.studies.learning.rebel_choices:REBEL_CHOICES",
        "rebel-leduc": "equipoise.studies.learning.rebel_games:REBEL_LEDUC",
        "rebel-liars-dice": "equipoise.studies.learning.rebel_games:REBEL_LIARS_DICE",
        "rebel-teh": "equipoise.studies.learning.rebel_teh:REBEL_TEH",
        "regret-transfer": "equipoise.studies.parameters.regret_transfer:REGRET_TRANSFER",
        "rl-baselines": "equipoise.studies.learning.rl_baselines:RL_BASELINES",
        "rnr": "equipoise.studies.responses.rnr:RNR",
        "saef": "equipoise.studies.parameters.saef:SAEF",
        "safe-search": "equipoise.studies.search.safe_search:SAFE_SEARCH",
        "scotland-yard": "equipoise.studies.learning.pog_yard:SCOTLAND_YARD",
        "self-improver": "equipoise.studies.blueprints.self_improver:SELF_IMPROVER",
        "storage-floor": "equipoise.studies.discounting.storage_floor:STORAGE_FLOOR",
        "supremus-lbr": "equipoise.studies.values.supremus_lbr:SUPREMUS_LBR",
        "supremus-match": "equipoise.studies.values.supremus_match:SUPREMUS_MATCH",
        "supremus-opening": "equipoise.studies.values.supremus_opening:SUPREMUS_OPENING",
        "tartanian-scaling": "equipoise.studies.blueprints.scaling:TARTANIAN_SCALING",
        "turn-search": "equipoise.studies.search.turn_search:TURN_SEARCH",
        "value-lost": "equipoise.studies.values.value_lost:VALUE_LOST",
        "value-net-losses": "equipoise.studies.values.value_net_losses:VALUE_NET_LOSSES",
        "warm-start": "equipoise.studies.warm_start.warm_start:WARM_START",
        "zero-reach": "equipoise.studies.pruning.zero_reach:ZERO_REACH",
    }
)


def find_study(name: str) -> Study[Any]:
    """Returns the study of that name; an unknown one raises with the nearest names.

    >>> find_study("coin-toss").title
    'Search in Coin Toss'
    """
    check_text("study", name)
    if name not in STUDIES:
        raise UnknownNameError("study", name, STUDIES)
    return STUDIES[name]
