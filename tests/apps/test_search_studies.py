# SPDX-License-Identifier: Apache-2.0
"""Studies of search at small sizes and on invented numbers."""

import numpy as np
import pytest

from equipoise.apps.reproduce import safe_search, turn_search
from equipoise.apps.reproduce.cfr_avg import CFR_AVG, CFRAverageConfiguration
from equipoise.apps.reproduce.coin_toss import COIN_TOSS, CoinTossConfiguration
from equipoise.apps.reproduce.multi_valued_states import MULTI_VALUED_STATES, MultiValuedConfiguration
from equipoise.apps.reproduce.nested_search import NESTED_SEARCH, NestedConfiguration
from equipoise.apps.reproduce.orderings import Ordering, judge_ordering, sign_test
from equipoise.apps.reproduce.registry import STUDIES
from equipoise.apps.reproduce.safe_search import (
    GIFT_SCALING,
    METHODS,
    SAFE_SEARCH,
    TRUNK,
    GiftConfiguration,
    SafeSearchConfiguration,
)
from equipoise.apps.reproduce.search_games import SecondRound, bucket_rows
from equipoise.apps.reproduce.study import Measured, Point, Verdict
from equipoise.apps.reproduce.turn_search import TURN_SEARCH, TurnSearchConfiguration
from equipoise.core.errors import ConfigError, UnknownNameError

SMALL_GAME = "leduc(merge_suits=true)"
SMALL = {"games": (SMALL_GAME,), "buckets": (2,), "seeds": 1, "blueprint_iterations": 30, "search_iterations": 30}


def verdicts(result):
    return {claim.statement: claim.verdict for claim in result.conclusion.claims}


def invent(ratios, above="a", below="b"):
    measured = Measured()
    for run, ratio in enumerate(ratios):
        measured.add(Point(panel="p", curve=above, x=1, y=ratio, run=run))
        measured.add(Point(panel="p", curve=below, x=1, y=1.0, run=run))
    return measured


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ([2.0] * 5, Verdict.CONFIRMED),
        ([0.5] * 5, Verdict.DENIED),
        ([2.0] * 4, Verdict.UNDECIDED),  # too few to tell
        ([2.0, 0.5] * 5, Verdict.UNDECIDED),
        ([1.0] * 8, Verdict.DENIED),  # equal everywhere is not above
        ([], Verdict.NOT_MEASURED),
    ],
)
def test_orderings_are_judged_by_their_signs(ratios, expected):
    claim = judge_ordering(Ordering(above="a", below="b", source="x"), invent(ratios))
    assert claim.verdict is expected


def test_sign_test_is_the_tail_of_a_fair_coin():
    assert sign_test(3, 1) == pytest.approx(5 / 16)
    assert sign_test(0, 0) == 1.0


def test_buckets_forget_boards_and_order_strength():
    game = SecondRound(SMALL_GAME)
    rows = bucket_rows(game, 2, np.random.default_rng(0))
    by_label = dict(zip(game.tree.infoset_labels, rows, strict=True))
    assert by_label["K|cc/K:"] == "1|cc/"  # a pair of kings is in the better bucket
    assert by_label["J|cc/K:"] == "0|cc/"
    assert by_label["K|"] == "K|"  # the first round is seen as it is
    assert len(set(rows)) < len(set(game.tree.infoset_labels)) / 2


def test_safe_search_at_a_small_size():
    result = SAFE_SEARCH.run(SafeSearchConfiguration(**SMALL))
    assert not result.is_partial
    assert [row["method"] for row in result.conclusion.rows] == [TRUNK, *METHODS]
    found = verdicts(result)
    for name in safe_search.SAFE:
        assert found[f"{name} is never more exploitable than the trunk"] is Verdict.CONFIRMED
    assert len(found) > 15


def test_gift_scaling_at_a_small_size():
    result = GIFT_SCALING.run(GiftConfiguration(**SMALL, scales=(0, 1)))
    assert len(result.conclusion.rows) == 2
    assert verdicts(result)["gifts times 1 are safe: never more exploitable than the trunk"] is Verdict.CONFIRMED
    assert result.curves["by scale"]


def test_coin_toss_confirms_every_figure():
    result = COIN_TOSS.run(CoinTossConfiguration(iterations=3000))
    assert set(verdicts(result).values()) == {Verdict.CONFIRMED}
    assert len(result.conclusion.rows) == 7


def test_nested_search_at_a_small_size():
    result = NESTED_SEARCH.run(NestedConfiguration(blueprint_iterations=150, search_iterations=40))
    ours = {row["method"]: row["ours (mchips)"] for row in result.conclusion.rows}
    assert ours["maxmargin"] < ours["pseudo-harmonic translation"] / 2
    assert len(verdicts(result)) == 6


def test_multi_valued_states_at_a_small_size():
    configuration = MultiValuedConfiguration(
        ranks=(3,), num_values=(1, 2), blueprint_iterations=200, search_iterations=(50,)
    )
    result = MULTI_VALUED_STATES.run(configuration)
    assert not result.is_partial
    assert [row["values"] for row in result.conclusion.rows] == [1, 2]
    assert all(row["ours (mchips)"] is not None for row in result.conclusion.rows)


def test_turn_search_at_a_small_size():
    configuration = TurnSearchConfiguration(
        spots=2,
        pots=(8000,),
        deck="royal",
        methods=("blueprint", "pluribus"),
        blueprint_iterations=3,
        search_iterations=100,
        open_percent=1.0,
        most_iterations=100,
    )
    result = TURN_SEARCH.run(configuration)
    assert not result.is_partial
    for row in result.conclusion.rows:
        searched, left_open = row["both choose (Pluribus)"], row["whole spot, what is left open"]
        assert 0 <= searched < row["blueprint's own turn"]  # three iterations are a poor blueprint
        assert left_open <= 1.0


@pytest.mark.parametrize(("worst", "verdict"), [(1.9, Verdict.CONFIRMED), (2.1, Verdict.DENIED)])
def test_turn_search_is_judged_by_its_worst_spot(worst, verdict):
    configuration, measured = TurnSearchConfiguration(spots=6), Measured()
    for number in range(1, 7):
        for curve, loss in ((turn_search.MODICUM, worst if number == 3 else 0.4), (turn_search.ONE, 3.0)):
            measured.add(Point(panel=turn_search.LOSSES, curve=curve, x=number, y=loss))
    claims = TURN_SEARCH.conclude(configuration, measured).claims
    assert [claim.verdict for claim in claims] == [
        verdict,
        Verdict.NOT_MEASURED,  # Pluribus
        Verdict.CONFIRMED,  # one value loses more on all six
        Verdict.NOT_MEASURED,  # the blueprint
    ]


def test_turn_search_refuses_what_it_does_not_know():
    with pytest.raises(UnknownNameError, match="modicum"):
        TurnSearchConfiguration(methods=("modikum",))
    with pytest.raises(ConfigError, match="spots must be at least 1, got 0"):
        TurnSearchConfiguration(spots=0)


def test_cfr_avg_at_a_small_size():
    configuration = CFRAverageConfiguration(marks=(3, 10), leaf_iterations=20, composed_iterations=30)
    result = CFR_AVG.run(configuration)
    assert not result.is_partial
    for curve in result.curves["leduc"].values():
        assert curve[1][1] < curve[0][1]  # every decomposition gets better


def test_an_empty_study_measures_nothing():
    for study in (SAFE_SEARCH, GIFT_SCALING, COIN_TOSS, NESTED_SEARCH, MULTI_VALUED_STATES, CFR_AVG, TURN_SEARCH):
        configuration = next(iter(study.sizes.values()))
        conclusion = study.conclude(configuration, Measured())
        assert {claim.verdict for claim in conclusion.claims} == {Verdict.NOT_MEASURED}
        assert study.name in STUDIES
