# SPDX-License-Identifier: Apache-2.0
"""Hold'em players with tables of their own, beside single histories."""

import functools

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.kernels.holdem.play import HoldemPlay, Trust
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.kernels.rules import Fallback
from equipoise.solvers.best_response import bind_history_kernel
from equipoise.solvers.payoffs import find_scales
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, Hedge, NormalHedge, PredictiveCFRPlus, tabulate_discounts
from equipoise.trees.history import build_history_tree
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.reference.holdem import HoldemTwin, answer, realize, spot_of, values_of_actions

SPOTS = {
    "river": {
        "deck": "small",
        "board": "9cThJsQhKs",
        "stacks": (40, 40),
        "menu": "50%, 100%, a / 100%, a",
        "ranges": "AA,KK,AK:0.5,QJs|TT,JJ,A9,AK:0.25",
    },
    "turn": {
        "deck": "small",
        "board": "ThJsQhKs",
        "stacks": (35, 60),
        "menu": "100%, a / a",
        "ranges": "AA,AhKh:0.5,QJs|TT,AsJs,AhKh:0.25",
    },
    "flop": {
        "deck": "TQK/chs",
        "board": "",
        "pot": 0,
        "stacks": (100, 100),
        "bet_sizes": (10, 10),
        "max_raises": (1, 1),
        "last_street": "flop",
        "menu": "limit",
        "ranges": "KK,QTs,KcQh:0.5|TT,KQs,QcTh",
    },
}
by_spot = pytest.mark.parametrize("name", SPOTS)
by_player = pytest.mark.parametrize("player", [0, 1])
by_type = pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 1e-4)])


@functools.cache
def twin(name):
    game = make_game("holdem_endgame", **{"pot": 20, "small_blind": 5, "big_blind": 10, **SPOTS[name]})
    return HoldemTwin(build_holdem_tree(spot_of(game), merges_suits=False), build_history_tree(game))


def bind(pair):
    return HoldemPlay(HoldemKernel(pair.tree.arrays))


def draw(pair, seed):
    """Returns `[Q]` a random strategy."""
    sums = np.random.default_rng(seed).uniform(size=int(pair.history.sequence_start[-1])) ** 3
    return bind_history_kernel(pair.history).normalize(sums)


def own_sequences(pair, player):
    """Returns the sequences of a player's actions."""
    start = pair.history.sequence_start
    return pair.sequences[(pair.sequences >= start[player]) & (pair.sequences < start[player + 1])]


@by_spot
@by_player
@by_type
@pytest.mark.parametrize("num_threads", [1, 2])
def test_values_read_a_table_of_each_player(name, player, dtype, tolerance, num_threads):
    pair = twin(name)
    tables = [draw(pair, seed) for seed in (1, 2)]
    both = tables[1 - player].copy()
    own = own_sequences(pair, player)
    both[own] = tables[player][own]
    cells = [pair.to_cells(table, dtype=dtype) for table in tables]
    found = bind(pair).values(player, cells[player], cells[1 - player], num_threads=num_threads)
    expected = values_of_actions(pair.history, player, both)[pair.history.sequence_start[player]]
    assert pair.tree.mean_value(player, found) == pytest.approx(expected, abs=tolerance)


@by_spot
@by_player
def test_values_of_actions_are_those_of_histories(name, player):
    pair = twin(name)
    strategy = draw(pair, 3)
    table = pair.to_cells(strategy)
    values, table = bind(pair).action_values(player, table, table)
    found = pair.to_sequences(table, is_regret=True)
    own = own_sequences(pair, player)
    expected = values_of_actions(pair.history, player, strategy)
    np.testing.assert_allclose(found[own], expected[own], rtol=0, atol=1e-10)
    root = expected[pair.history.sequence_start[player]]
    assert pair.tree.mean_value(player, values) == pytest.approx(root, abs=1e-10)


@by_spot
@by_player
@by_type
@pytest.mark.parametrize("num_threads", [1, 3])
def test_a_best_response_is_a_table_and_its_value(name, player, dtype, tolerance, num_threads):
    pair = twin(name)
    strategy = draw(pair, 4)
    value, expected = answer(pair.history, player, strategy)
    play, table = bind(pair), pair.to_cells(strategy, dtype=dtype)
    values, best = play.best_response(player, table, num_threads=num_threads)
    assert pair.tree.mean_value(player, values) == pytest.approx(value, abs=tolerance)
    own = own_sequences(pair, player)
    np.testing.assert_array_equal(pair.to_sequences(best)[own], expected[own])
    assert pair.tree.mean_value(player, play.values(player, best, table)) == pytest.approx(value, abs=tolerance)
    rest = np.setdiff1d(pair.sequences, own)
    assert not pair.to_sequences(best)[rest].any()


def test_the_first_of_equally_good_actions_is_played():
    pair = twin("river")
    play = bind(pair)
    nothing = np.zeros(pair.tree.arrays.num_cells)
    nothing[[cell for run in play.arrays.own_cells(1) for cell in range(run.start, run.stop)]] = 1.0
    for node, decision in pair.tree.decisions.items():
        if decision.player == 1:  # folds everything: all bets win the same
            cells = pair.tree.cells(0, node)
            nothing[cells] = np.eye(decision.num_actions)[0]
    _, best = play.best_response(0, nothing)
    root = pair.tree.rows(best, 0, 0)
    assert set(root.argmax(axis=1)) <= {0, 1}  # checks, or makes the first of the bets
    assert (root.sum(axis=1) == 1).all()


@by_spot
@by_player
@by_type
def test_a_trusted_model_is_followed(name, player, dtype, tolerance):
    pair = twin(name)
    rng = np.random.default_rng(5)
    strategy, model = draw(pair, 6), draw(pair, 7)
    trust = rng.uniform(size=pair.history.num_actions.size)
    value, expected = answer(pair.history, player, strategy, model=model, trust=trust)
    given = Trust(model=pair.to_cells(model, dtype=dtype), weight=pair.to_rows(trust, 0).astype(dtype))
    values, found = bind(pair).best_response(player, pair.to_cells(strategy, dtype=dtype), trust=given)
    assert pair.tree.mean_value(player, values) == pytest.approx(value, abs=tolerance)
    own = own_sequences(pair, player)
    np.testing.assert_allclose(pair.to_sequences(found)[own], expected[own], rtol=0, atol=tolerance)


@by_spot
@by_type
@pytest.mark.parametrize("num_threads", [1, 2])
def test_own_reach_is_that_of_histories(name, dtype, tolerance, num_threads):
    pair = twin(name)
    strategy = draw(pair, 8)
    sums = pair.to_cells(strategy, dtype=dtype)
    plan = pair.to_sequences(bind(pair).realize(3 * sums, num_threads=num_threads))
    owned = pair.sequences
    np.testing.assert_allclose(plan[owned], realize(pair.history, strategy)[owned], rtol=0, atol=tolerance)
    shares = pair.to_sequences(bind(pair).normalize(3 * sums))
    np.testing.assert_allclose(shares[owned], strategy[owned], rtol=0, atol=tolerance)


RULES = [
    CFR(),
    CFR(fallback=Fallback.ARGMAX),
    CFRPlus(),
    DCFR(),
    PredictiveCFRPlus(),
    NormalHedge(),
    Hedge(),
    Hedge(horizon=9),
]


class Learners:
    """The same learner over boards and over histories."""

    def __init__(self, pair, rule, dtype):
        self.pair, self.rule = pair, rule
        self.kernel, self.play = bind_history_kernel(pair.history), bind(pair)
        self.small = self.kernel.allocate_tables(rule.kernel, np.float64, find_scales(pair.history, rule.kernel))
        self.kernel.begin(self.small)
        self.tables = self.play.kernel.allocate_tables(rule.kernel, dtype, find_scales(pair.tree, rule.kernel))
        self.dtype, self.t = dtype, 1

    def learn(self, player, other, count, **options):
        """Returns what both earn in each update."""
        discounts = tabulate_discounts(self.rule, self.t, count)
        terminals = self.kernel.terminal_values(player, self.kernel.realize(other))
        expected = self.kernel.learn(self.rule.kernel, discounts, self.small, player, terminals, first_t=self.t)
        table = self.pair.to_cells(other, dtype=self.dtype)
        values = self.play.learn(self.rule.kernel, discounts, self.tables, player, table, first_t=self.t, **options)
        self.t += count
        return [self.pair.tree.mean_value(player, row) for row in values], expected


@by_player
@pytest.mark.parametrize("name", ["river", "turn"])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name}-{rule.kernel.fallback.name}")
@pytest.mark.parametrize("num_threads", [1, 2])
def test_one_player_learns_against_a_table(name, player, rule, num_threads):
    pair = twin(name)
    both = Learners(pair, rule, np.float64)
    own = own_sequences(pair, player)
    for seed, count in ((9, 1), (10, 4)):
        found, expected = both.learn(player, draw(pair, seed), count, num_threads=num_threads)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    regrets = pair.to_sequences(both.tables.regret_sum, is_regret=True)
    np.testing.assert_allclose(regrets[own], both.small.regret_sum[own], rtol=0, atol=1e-9)
    averages = pair.to_sequences(both.tables.strategy_sum)
    np.testing.assert_allclose(averages[own], both.small.strategy_sum[own], rtol=0, atol=1e-9)
    strategy = both.play.current_strategy(rule.kernel, both.tables, has_played=True)
    np.testing.assert_allclose(pair.to_sequences(strategy)[own], both.small.strategy[own], rtol=0, atol=1e-7)
    for run in both.play.arrays.own_cells(1 - player):
        assert not both.tables.regret_sum[run].any()


def test_a_learner_of_float32_agrees():
    both = Learners(twin("turn"), DCFR(), np.float32)
    found, expected = both.learn(0, draw(twin("turn"), 11), 5)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


def test_updates_in_one_call_or_in_several_are_the_same():
    pair = twin("turn")
    at_once, apart = (Learners(pair, DCFR(), np.float32) for _ in range(2))
    other = draw(pair, 12)
    at_once.learn(1, other, 6)
    for count in (1, 3, 2):
        apart.learn(1, other, count)
    np.testing.assert_array_equal(at_once.tables.regret_sum, apart.tables.regret_sum)


def test_a_first_strategy_is_uniform():
    both = Learners(twin("river"), Hedge(), np.float64)
    first = both.play.current_strategy(both.rule.kernel, both.tables, has_played=False)
    np.testing.assert_allclose(
        twin("river").to_sequences(first)[twin("river").sequences], both.small.strategy[twin("river").sequences]
    )


def test_tables_of_16_bits_are_refused():
    pair = twin("river")
    table = np.zeros(pair.tree.arrays.num_cells, np.uint16)
    with pytest.raises(TypeError, match="float32 or float64, got uint16"):
        bind(pair).realize(table)


def test_the_cells_of_both_players_are_all_there_are():
    play = bind(twin("turn"))
    counts = np.zeros(play.arrays.num_cells, int)
    for player in (0, 1):
        for run in play.arrays.own_cells(player):
            counts[run] += 1
    assert (counts == 1).all()


def test_leaves_are_refused():
    kernel = HoldemKernel(twin("river").tree.arrays)
    kernel.leaves = object()
    with pytest.raises(ConfigError, match="down to the end"):
        HoldemPlay(kernel)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_of_threads_changes_no_bit(dtype):
    pair = twin("turn")
    other = pair.to_cells(draw(pair, 13), dtype=dtype)
    found = []
    for num_threads in (1, 2, 3):
        both = Learners(pair, DCFR(), dtype)
        values, best = both.play.best_response(1, other, num_threads=num_threads)
        both.learn(0, draw(pair, 14), 4, num_threads=num_threads)
        plan = both.play.realize(other, num_threads=num_threads)
        found.append([values, best, plan, both.tables.regret_sum, both.tables.strategy_sum])
    for more in found[1:]:
        for ours, theirs in zip(found[0], more, strict=True):
            np.testing.assert_array_equal(ours, theirs)
