# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.base import ActionClass
from equipoise.games.registry import make_game
from equipoise.responses.against import AgainstSolver
from equipoise.responses.exact import AbstractBestResponse
from equipoise.responses.on_tree import OnTree
from equipoise.responses.sampled import FBRResponse, UCTResponse, find_calls, probe_strategy
from equipoise.responses.values import response_value
from equipoise.trees.history import ACTION_CODES, build_history_tree
from equipoise.trees.merging import group_infosets

LEDUC = build_history_tree(make_game("leduc", merge_suits=True))
ON_LEDUC = OnTree(LEDUC)
HALVES = group_infosets(LEDUC, lambda player, label: (player, label.replace("Q", "J")))


def random_strategy(seed):
    return ON_LEDUC.kernel.normalize(np.random.default_rng(seed).exponential(size=ON_LEDUC.kernel.num_cells))


def always_call():
    calls = np.zeros(ON_LEDUC.kernel.num_cells)
    calls[LEDUC.first_sequence + find_calls(LEDUC)] = 1.0
    return ON_LEDUC.kernel.normalize(calls)


def explore(tree, count, **options):
    """Returns UCT with the constant of its theory, half the payoff range times the root of two."""
    return UCTResponse(tree, count, exploration=2**0.5 * 13, **options)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("make", [explore, FBRResponse])
def test_more_samples_come_to_the_best_response(make, seat):
    # P15
    strategy = random_strategy(1)
    best, _ = ON_LEDUC.kernel.best_response(1 - seat, ON_LEDUC.kernel.realize(strategy))
    gaps = [
        best + response_value(ON_LEDUC, strategy, make(LEDUC, count), (seat,), num_responses=10).mean
        for count in (30, 1000, 200_000)
    ]
    assert gaps[0] > gaps[1] > gaps[2] > -1e-12
    assert gaps[2] < 0.03
    assert gaps[0] > 0.3


@pytest.mark.parametrize("seat", [0, 1])
def test_without_samples_uct_calls_and_fbr_answers_calls(seat):
    # P15
    strategy, rng = random_strategy(2), np.random.default_rng(0)
    answer = UCTResponse(LEDUC, 0).respond(strategy, seat, rng)
    cells = ON_LEDUC.table_cells
    np.testing.assert_array_equal(answer[cells[seat]], always_call()[cells[seat]])
    np.testing.assert_array_equal(answer[cells[1 - seat]], strategy[cells[1 - seat]])
    answer = FBRResponse(LEDUC, 0).respond(strategy, seat, rng)
    best, _ = ON_LEDUC.kernel.best_response(seat, ON_LEDUC.kernel.realize(always_call()))
    assert ON_LEDUC.value(ON_LEDUC.combine(always_call(), answer, seat), seat) == pytest.approx(best)


def test_the_probe_never_folds_and_else_plays_evenly():
    probe = probe_strategy(LEDUC)
    folds = LEDUC.action_class == ACTION_CODES[ActionClass.FOLD]
    assert probe[folds].max() == 0.0
    first = int(LEDUC.first_sequence[0])
    assert probe[first : first + 2].tolist() == [0.5, 0.5]
    facing = next(
        i for i in range(LEDUC.num_actions.size) if LEDUC.num_actions[i] == 2 and folds[LEDUC.first_sequence[i]]
    )
    assert probe[LEDUC.first_sequence[facing] + 1] == 1.0  # calls where it cannot raise


def test_models_count_what_was_played():
    strategy = random_strategy(4)
    response = FBRResponse(LEDUC, 500_000)
    model = response.fit(response.observe(strategy, 1, np.random.default_rng(0)))
    cells = ON_LEDUC.table_cells[0]
    assert np.abs(model[cells] - strategy[cells]).mean() < 0.02
    pooled = FBRResponse(LEDUC, 1000, model_groups=HALVES)
    model = pooled.fit(pooled.observe(strategy, 1, np.random.default_rng(0)))
    jack, queen = (int(LEDUC.first_sequence[LEDUC.infoset_labels.index(label)]) for label in ("J|", "Q|"))
    np.testing.assert_array_equal(model[jack : jack + 2], model[queen : queen + 2])


@pytest.mark.parametrize("make", [explore, FBRResponse])
def test_merged_responses_come_to_the_abstract_best_response(make):
    strategy, rng = random_strategy(3), np.random.default_rng(0)
    best = ON_LEDUC.value(AbstractBestResponse(LEDUC, HALVES).respond(strategy, 1, rng), 1)
    answer = make(LEDUC, 300_000, groups=HALVES).respond(strategy, 1, rng)
    assert best - 0.02 < ON_LEDUC.value(answer, 1) <= best + 1e-12


@pytest.mark.parametrize("make", [UCTResponse, FBRResponse])
def test_seeds_decide_and_nothing_leaks(make):
    # P17: the same seed, the same run, however it is cut; other seeds, other runs
    def train(seed, parts):
        solver = AgainstSolver(LEDUC, make(LEDUC, 50), seed=seed)
        for part in parts:
            solver.iterate(part)
        return solver.average_strategy()

    np.testing.assert_array_equal(train(1, [30]), train(1, [7, 13, 10]))
    assert not np.array_equal(train(1, [30]), train(2, [30]))


@pytest.mark.parametrize("make", [UCTResponse, FBRResponse])
def test_threads_do_not_change_what_is_drawn(make):
    # P17: sums over terminals differ in their last bits, answers do not
    alone, team = (AgainstSolver(LEDUC, make(LEDUC, 50), seed=4, num_threads=count) for count in (1, 3))
    for solver in (alone, team):
        solver.iterate(25)
    np.testing.assert_allclose(team.average_strategy(), alone.average_strategy(), rtol=1e-9, atol=1e-12)


def test_bad_input_is_refused():
    with pytest.raises(ConfigError, match="iterations of UCT must be at least 0, got -1"):
        UCTResponse(LEDUC, -1)
    with pytest.raises(ConfigError, match="exploration of UCT"):
        UCTResponse(LEDUC, 1, exploration=float("nan"))
    with pytest.raises(ConfigError, match="num_hands must be at least 0, got -1"):
        FBRResponse(LEDUC, -1)
