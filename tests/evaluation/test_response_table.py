# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.evaluation.response_table import grade_strategy
from equipoise.games.registry import make_game
from equipoise.responses.exact import BestResponse, StaticResponse
from equipoise.responses.mixtures import MimicResponse
from equipoise.responses.on_tree import OnTree
from equipoise.responses.sampled import UCTResponse
from equipoise.responses.values import response_value
from equipoise.trees.history import build_history_tree

TREE = build_history_tree(make_game("leduc", merge_suits=True))
ON_TREE = OnTree(TREE)
STRATEGY = ON_TREE.kernel.normalize(np.random.default_rng(0).exponential(size=ON_TREE.kernel.num_cells))


def test_rows_grow_draw_by_draw():
    rows = list(grade_strategy(ON_TREE, STRATEGY, [UCTResponse(TREE, 30), BestResponse(TREE)], num_responses=4, seed=2))
    assert [row.value.num_responses for row in rows] == [1, 2, 3, 4, 1]
    assert [row.is_done for row in rows] == [False, False, False, True, True]
    whole = rows[3]
    assert whole.value == response_value(ON_TREE, STRATEGY, UCTResponse(TREE, 30), num_responses=4, seed=2)
    assert whole.value.mean == pytest.approx(np.mean(whole.seat_values))
    assert rows[4].value.mean == pytest.approx(-ON_TREE.evaluate(STRATEGY).exploitability)
    assert rows[4].as_json()["is_pretty_good"]
    # one draw of what samples says nothing of the spread, one of what does not is all there is to know
    assert [row.value.half_width for row in rows[:1] + rows[4:]] == [np.inf, 0.0]


def test_rows_end_where_a_draw_is_given_up():
    responses = [BestResponse(TREE), UCTResponse(TREE, 10**12)]
    rows = list(grade_strategy(ON_TREE, STRATEGY, responses, is_interrupted=iter([False, False, True]).__next__))
    assert [row.response for row in rows] == ["best"]


def test_intervals_are_those_of_a_mean():
    values = [
        response_value(ON_TREE, STRATEGY, UCTResponse(TREE, 30), num_responses=50, seed=seed) for seed in range(20)
    ]
    spread = np.std([value.mean for value in values], ddof=1)
    assert 0.5 < np.mean([value.half_width for value in values]) / (1.96 * spread) < 2


def test_few_draws_if_time_is_short():
    assert response_value(ON_TREE, STRATEGY, UCTResponse(TREE, 30), seconds=0.0).num_responses == 5


def test_opponents_that_learn_are_refused():
    mimic = MimicResponse(TREE, StaticResponse(TREE, STRATEGY), 0.5, seat=0)
    with pytest.raises(ConfigError, match="for training, not for evaluation"):
        next(grade_strategy(ON_TREE, STRATEGY, [mimic]))
    with pytest.raises(ConfigError, match="at least 1, got 0"):
        next(grade_strategy(ON_TREE, STRATEGY, [BestResponse(TREE)], num_responses=0))
