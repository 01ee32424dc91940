# SPDX-License-Identifier: Apache-2.0
"""CFR over hold'em trees equals CFR over single histories, whatever the rule, the threads and the names of suits."""

import functools

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import DECKS, FULL_DECK, Deck, parse_board
from equipoise.games.holdem.equity import compute_equity
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range, parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.registry import make_game
from equipoise.kernels.rules import Fallback
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.driver import run
from equipoise.solvers.payoffs import LEAST_FLOAT_SCALE
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
from equipoise.solvers.sequence_lp import solve_sequence_lp
from equipoise.trees.history import build_history_tree
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.reference.cfr import hedge
from tests.reference.holdem import HoldemTwin, expand_table, spot_of, used_cells

SPOTS = {
    "tiny_river": {"deck": "tiny", "board": "ThTsJhQsKh", "stacks": (40, 40), "menu": "50%, a / a"},
    "tiny_turn": {"deck": "tiny", "board": "ThTsJhKs", "stacks": (40, 30), "menu": "100%, a / a"},
    "small_river": {
        "deck": "small",
        "board": "9cThJsQhKs",
        "stacks": (40, 40),
        "menu": "50%, 100%, a / 100%, a",
        "ranges": "AA,KK,AK:0.5,QJs|TT,JJ,A9,AK:0.25",
    },
    "small_turn": {
        "deck": "small",
        "board": "ThJsQhKs",
        "stacks": (35, 60),
        "menu": "100%, a / a",
        "ranges": "AA,AhKh:0.5,QJs|TT,AsJs,AhKh:0.25",
    },
    "limit_flop": {
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
    "short_stacked_flop": {
        "deck": "tiny",
        "board": "",
        "pot": 0,
        "stacks": (30, 45),
        "ante": 2,
        "last_street": "flop",
        "menu": "a",
        "ranges": "AA,KK,AK:0.5,QJs|TT,JJ,AhTs,AK:0.25",
    },
    "preflop_to_turn": {
        "deck": "tiny",
        "board": "",
        "pot": 0,
        "stacks": (40, 40),
        "last_street": "turn",
        "menu": "a; flop: 100%, a",
        "ranges": "AA,KQs:0.5,JTs|TT,AhJh,KhQs",
    },
    "push_or_fold": {
        "deck": "TQK/chs",
        "board": "",
        "pot": 0,
        "stacks": (40, 40),
        "menu": "preflop: a; flop: none; turn: none; river: none",
        "ranges": "KK,KcQc:0.5|TT,KQs",
    },
}
RULES = [
    CFR(),
    CFR(fallback=Fallback.ARGMAX),
    CFRPlus(),
    LinearCFR(),
    LinearCFRPlus(),
    DCFR(),
    DCFRPlus(delay=3),
    Optimistic(LinearCFR()),
    PredictiveCFRPlus(),
    NormalHedge(base=LinearCFR()),
    Hedge(),
    Hedge(horizon=20),
    Optimistic(Hedge(horizon=20)),
]
HEDGES = [Hedge(), Hedge(horizon=7), Optimistic(Hedge())]
by_spot = pytest.mark.parametrize("name", SPOTS)
by_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name}-{rule.kernel.fallback.name}")
by_mode = pytest.mark.parametrize("is_alternating", [True, False], ids=["alternating", "simultaneous"])


@functools.cache
def twin(name):
    game = make_game("holdem_endgame", **{"pot": 20, "small_blind": 5, "big_blind": 10, **SPOTS[name]})
    return HoldemTwin(build_holdem_tree(spot_of(game), merges_suits=False), build_history_tree(game))


def start_from_regrets(pair, rule, rng, *, dtype=np.float64, is_alternating=True):
    """Returns both solvers at iteration 4 with the same random regrets and averages."""
    history = CFRSolver(pair.history, rule, is_alternating=is_alternating)
    solver = CFRSolver(pair.tree, rule, dtype=dtype, is_alternating=is_alternating)
    size = history.tables.regret_sum.size
    history.tables.regret_sum[:] = rng.normal(size=size) * 0.1
    if rule.kernel.floors_regrets:
        np.abs(history.tables.regret_sum, out=history.tables.regret_sum)
    history.tables.strategy_sum[:] = rng.uniform(size=size)
    history.tables.strategy[:] = history.kernel.normalize(history.tables.regret_sum)
    if rule.kernel.needs_scale:
        start_steps(pair, history, solver, rng)
    history.tables.realization[:] = history.kernel.realize(history.tables.strategy)
    solver.tables.regret_sum[:] = pair.to_cells(history.tables.regret_sum, is_regret=True)
    solver.tables.strategy_sum[:] = pair.to_cells(history.tables.strategy_sum)
    history.iteration = solver.iteration = 4
    return history, solver


def start_steps(pair, history, solver, rng):
    """Gives both solvers the same random steps of Hedge, and moments if they are tracked."""
    tree, tables = pair.history, history.tables
    steps = rng.uniform(1, 20, size=tree.num_actions.size)
    for first, size, eta in zip(tree.first_sequence, tree.num_actions, steps, strict=True):
        tables.strategy[first : first + size] = hedge(tables.regret_sum[first : first + size], eta)
    solver.tables.step[:] = pair.to_rows(steps, -1)
    if history.rule.kernel.tracks_variance:
        tables.value_moments[:] = rng.uniform(0, 0.01, size=tables.value_moments.shape)
        for moment in (0, 1):
            solver.tables.value_moments[:, moment] = pair.to_rows(tables.value_moments[:, moment], moment + 1)


def assert_same_tables(pair, history, solver, tolerance):
    owned = pair.sequences
    regrets = pair.to_sequences(solver.tables.regret_sum, is_regret=True)
    averages = pair.to_sequences(solver.tables.strategy_sum)
    expected = history.tables.regret_sum[owned]
    scale = np.abs(expected).max()
    np.testing.assert_allclose(regrets[owned], expected, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(averages[owned], history.tables.strategy_sum[owned], rtol=0, atol=tolerance)


@by_spot
@by_mode
@pytest.mark.parametrize("rule", [DCFR(), CFRPlus(), CFR(), Hedge(), Hedge(horizon=7)], ids=lambda rule: rule.name)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 1e-5)])
def test_one_iteration_from_random_regrets(name, rule, is_alternating, dtype, tolerance):
    rng = np.random.default_rng(1)
    history, solver = start_from_regrets(twin(name), rule, rng, dtype=dtype, is_alternating=is_alternating)
    history.iterate(1)
    solver.iterate(1)
    assert_same_tables(twin(name), history, solver, tolerance)


def play_first_actions(pair, history, solver, player):
    """Lets a player take the first action wherever the first street asks: it comes to no other line, with no hand."""
    on_root = pair.cells < pair.tree.arrays.board_field("first_cell")[1:].min(initial=pair.tree.arrays.num_cells)
    of_player = pair.history.infoset_player()[np.searchsorted(pair.history.first_sequence, pair.sequences, "right") - 1]
    chosen = pair.sequences[on_root & (of_player == player)]
    history.tables.regret_sum[chosen] = np.where(np.isin(chosen, pair.history.first_sequence), 0.1, -0.1)
    history.tables.strategy[:] = history.kernel.normalize(history.tables.regret_sum)
    history.tables.realization[:] = history.kernel.realize(history.tables.strategy)
    solver.tables.regret_sum[:] = pair.to_cells(history.tables.regret_sum, is_regret=True)


@pytest.mark.parametrize("name", ["tiny_turn", "small_turn"])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("rule", [CFR(), DCFR(), CFRPlus(), PredictiveCFRPlus()], ids=lambda rule: rule.name)
@by_mode
def test_lines_that_a_player_comes_to_with_no_hand(name, player, rule, is_alternating):
    pair = twin(name)
    history, solver = start_from_regrets(pair, rule, np.random.default_rng(5), is_alternating=is_alternating)
    play_first_actions(pair, history, solver, player)
    before = solver.tables.regret_sum.copy()
    history.iterate(1)
    solver.iterate(1)
    assert_same_tables(pair, history, solver, 1e-10)
    discounts = rule.discounts(5)
    idle = before * np.where(before > 0, discounts.positive, discounts.negative) == solver.tables.regret_sum
    assert idle[pair.cells].mean() > 0.02  # nothing is gained there
    history.iterate(3)
    solver.iterate(3)
    assert_same_tables(pair, history, solver, 1e-9)


@by_rule
@by_mode
def test_twenty_iterations(rule, is_alternating):
    pair = twin("small_river")
    history = CFRSolver(pair.history, rule, is_alternating=is_alternating)
    solver = CFRSolver(pair.tree, rule, dtype=np.float64, is_alternating=is_alternating)
    history.iterate(20)
    solver.iterate(20)
    assert_same_tables(pair, history, solver, 1e-8)
    assert solver.evaluate().exploitability == pytest.approx(history.evaluate().exploitability, abs=1e-8)


@pytest.mark.parametrize("rule", [CFR(), LinearCFR(), DCFR(), Optimistic(CFR()), *HEDGES], ids=lambda rule: rule.name)
@pytest.mark.parametrize("name", [name for name in SPOTS if name != "small_river"])
def test_twenty_iterations_from_random_regrets(name, rule):
    # starting from none, actions of these few hands are worth exactly the same so often that rounding decides
    pair = twin(name)
    history, solver = start_from_regrets(pair, rule, np.random.default_rng(3))
    history.iterate(20)
    solver.iterate(20)
    assert_same_tables(pair, history, solver, 1e-8)


@by_spot
@pytest.mark.parametrize("rule", HEDGES, ids=lambda rule: rule.name)
def test_scales_and_steps_of_hedge_are_those_of_histories(name, rule):
    pair = twin(name)
    history, solver = start_from_regrets(pair, rule, np.random.default_rng(4))
    history.iterate(1)
    solver.iterate(1)
    scale = solver.tables.scale[pair.rows]
    expected = pair.to_rows(history.tables.scale, 1)[pair.rows]
    np.testing.assert_allclose(scale, np.maximum(expected, LEAST_FLOAT_SCALE), rtol=1e-12, atol=0)
    if rule.kernel.tracks_variance:
        for moment in (0, 1):
            expected = pair.to_rows(history.tables.value_moments[:, moment], moment + 1)[pair.rows]
            found = solver.tables.value_moments[pair.rows, moment]
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())
        scale = np.maximum(3 * np.sqrt(found / 5), scale)  # the second moment
    num_actions = pair.history.num_actions[pair.row_infosets]
    expected = rule.discounts(5).eta_scale * np.sqrt(np.log(num_actions)) / scale
    np.testing.assert_allclose(solver.tables.step[pair.rows], expected, rtol=1e-12, atol=0)


@by_spot
@pytest.mark.parametrize("num_threads", [1, 2])
def test_values_and_best_responses_of_a_random_strategy(name, num_threads):
    pair = twin(name)
    sums = np.random.default_rng(2).uniform(size=int(pair.history.sequence_start[-1])) ** 3
    expected = evaluate(pair.history, CFRSolver(pair.history, CFR()).kernel.normalize(sums))
    got = evaluate(pair.tree, pair.to_cells(sums), num_threads=num_threads)
    np.testing.assert_allclose(got.values, expected.values, rtol=0, atol=1e-10)
    np.testing.assert_allclose(got.best_response_values, expected.best_response_values, rtol=0, atol=1e-10)


def spot(board, ranges="random|random", *, menu="none", deck=FULL_DECK, pot=100, stacks=(200, 200), **others):
    first, second = (parse_range(text, deck) for text in ranges.split("|"))
    return HoldemSpot(
        board=parse_board(board, deck),
        pot=pot,
        stacks=stacks,
        ranges=(first, second),
        menu=parse_menu(menu),
        big_blind=10,
        deck=deck,
        **others,
    )


@pytest.mark.parametrize("board", ["Ks7h2d4c9c", "Ks7h2d4c", "Ks7h2d"])
def test_without_bets_the_value_is_the_equity(board):
    table = spot(board, "77+, A9s+:0.5, KTo+, 87s|QQ+, 55, AK, QJ:0.3, T9s")
    value = CFRSolver(build_holdem_tree(table)).evaluate().values[0]
    expected = compute_equity(*table.ranges, board=table.board).equity[0]
    assert value == pytest.approx((2 * expected - 1) * table.pot / 2, abs=1e-9)


def test_before_the_flop_the_value_of_calling_is_the_equity():
    deck = Deck("TQKA", "chs")
    table = spot("", "AA, KQs:0.5, QT|QQ+, AT", deck=deck, pot=0, stacks=(100, 100), small_blind=10)
    result = CFRSolver(build_holdem_tree(table)).evaluate()
    expected = compute_equity(*table.ranges, deck=deck).equity[0]
    assert result.values[0] == pytest.approx((2 * expected - 1) * 10, abs=1e-9)


def test_the_value_of_a_game_from_before_the_flop_is_that_of_the_linear_program():
    pair = twin("limit_flop")
    solver = CFRSolver(pair.tree, dtype=np.float64)
    solver.iterate(2000)
    result = solver.evaluate()
    low, high = -result.best_response_values[1], result.best_response_values[0]
    assert low - 1e-9 <= solve_sequence_lp(pair.history).value <= high + 1e-9
    assert high - low < 0.02


def test_equal_ranges_split_the_pot():
    held = "22+, A2+, K9+, QTs+, 76s:0.3"
    solver = CFRSolver(build_holdem_tree(spot("Ks7h2d4c", f"{held}|{held}")))
    assert solver.evaluate().values == pytest.approx((0.0, 0.0), abs=1e-9)


def test_a_board_that_everybody_plays_is_worth_nothing():
    solver = CFRSolver(build_holdem_tree(spot("ThJhQhKhAh", menu="50%, a")))
    solver.iterate(200)
    result = solver.evaluate()
    assert result.values == pytest.approx((0.0, 0.0), abs=0.02)
    assert result.exploitability < 0.02


SYMMETRIC = {
    "turn": ("9hThQhKh", "AA, KQ, 99, JT:0.5|QQ+, AJ, T9", {}),
    "flop": ("9hThQh", "AA, KQ|QQ, AJ", {}),
    "paired_flop": ("9hQcQs", "AA, KT|KK, AJ", {}),
    "preflop": ("", "AA, KQ, 99, JTs:0.5|QQ+, AJ, T9", {"pot": 0, "last_street": Street.FLOP}),
    "preflop_to_turn": (
        "",
        "AA, KQs, AhKh|QQ, ATs, AhTh",
        {"pot": 0, "last_street": Street.TURN, "deck": Deck("TQKA", "chs")},
    ),
}


@pytest.mark.parametrize("case", SYMMETRIC)
def test_suits_that_differ_by_name_share_a_board(case):
    board, ranges, others = SYMMETRIC[case]
    fields = {"menu": "100%, a / a; flop: a", "deck": DECKS["small"], "pot": 20, "stacks": (60, 60), **others}
    table = spot(board, ranges, **fields)
    merged, plain = build_holdem_tree(table), build_holdem_tree(table, merges_suits=False)
    assert len(merged.boards) < len(plain.boards)
    solvers = [CFRSolver(tree, dtype=np.float64, is_alternating=False) for tree in (merged, plain)]
    solvers[0].iterate(20)
    state = solvers[0].state()
    state.update({name: expand_table(merged, plain, state[name]) for name in ("regret_sum", "strategy_sum")})
    solvers[1].restore(state)
    for solver in solvers:
        solver.iterate(1)
    first, second = (solver.evaluate() for solver in solvers)
    np.testing.assert_allclose(first.best_response_values, second.best_response_values, rtol=0, atol=1e-10)
    np.testing.assert_allclose(first.values, second.values, rtol=0, atol=1e-10)
    for name in ("regret_sum", "strategy_sum"):
        expected = expand_table(merged, plain, getattr(solvers[0].tables, name))
        is_used = used_cells(plain)
        np.testing.assert_allclose(getattr(solvers[1].tables, name)[is_used], expected[is_used], rtol=0, atol=1e-10)


@pytest.mark.parametrize("rule", [Hedge(), Hedge(horizon=20)], ids=lambda rule: rule.name)
@pytest.mark.parametrize("case", SYMMETRIC)
def test_hedge_plays_the_same_where_suits_are_merged(case, rule):
    board, ranges, others = SYMMETRIC[case]
    fields = {"menu": "a", "deck": DECKS["small"], "pot": 20, "stacks": (60, 60), **others}
    trees = [build_holdem_tree(spot(board, ranges, **fields), merges_suits=is_merged) for is_merged in (True, False)]
    solvers = [CFRSolver(tree, rule, dtype=np.float64) for tree in trees]
    for solver in solvers:
        solver.iterate(20)
    merged, plain = (solver.tables.strategy_sum for solver in solvers)
    is_used = used_cells(trees[1])
    np.testing.assert_allclose(plain[is_used], expand_table(*trees, merged)[is_used], rtol=0, atol=1e-8)


@pytest.mark.parametrize("rule", [DCFR(), Hedge()], ids=lambda rule: rule.name)
def test_symmetric_hands_stay_symmetric_to_the_bit(rule):
    table = spot("9hThQhKh", SYMMETRIC["turn"][1], menu="100%, a / a", deck=DECKS["small"], pot=20, stacks=(60, 60))
    solver = CFRSolver(build_holdem_tree(table), rule, dtype=np.float32)
    solver.iterate(300)
    same = solver.tree.arrays.value_row[: solver.tree.hands[0][0].size]
    strategy = solver.tree.normalize(solver.average_sums, 0, 0)
    assert (same != np.arange(same.size)).any()
    np.testing.assert_array_equal(strategy, strategy[same])


@pytest.mark.parametrize("board", ["Ks7h2d4c9c", "Ks7h2d4c"])
@by_mode
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_threads_change_no_bit(board, is_alternating, dtype):
    tree = build_holdem_tree(spot(board, "TT+, A9s+, KQ|99+, AT+, QJs", menu="50%, 100%, a / 100%, a"))
    runs = [
        CFRSolver(tree, dtype=dtype, is_alternating=is_alternating, num_threads=num_threads)
        for num_threads in (1, 2, 3, 5)
    ]
    for solver in runs:
        solver.iterate(10)
        np.testing.assert_array_equal(solver.tables.regret_sum, runs[0].tables.regret_sum)
        np.testing.assert_array_equal(solver.tables.strategy_sum, runs[0].tables.strategy_sum)
        assert solver.evaluate() == runs[0].evaluate()


def test_float32_follows_float64():
    tree = build_holdem_tree(spot("Ks7h2d4c", "TT+, A9s+, KQ|99+, AT+, QJs", menu="50%, a / a"))
    results = []
    for dtype in (np.float32, np.float64):
        solver = CFRSolver(tree, dtype=dtype)
        solver.iterate(50)
        results.append(solver.evaluate().exploitability)
    assert results[0] == pytest.approx(results[1], rel=1e-2)


@pytest.mark.parametrize("rule", [PredictiveCFRPlus(), Hedge()], ids=lambda rule: rule.name)
def test_a_restored_run_goes_on_to_the_bit(rule):
    tree = build_holdem_tree(spot("Ks7h2d4c", "TT+, KQ|99+, QJs", menu="50%, a / a"))
    runs = [CFRSolver(tree, rule, num_threads=2) for _ in range(2)]
    runs[0].iterate(5)
    runs[1].restore({name: table.copy() for name, table in runs[0].state().items()})
    for solver in runs:
        solver.iterate(5)
    np.testing.assert_array_equal(runs[0].tables.strategy_sum, runs[1].tables.strategy_sum)


@pytest.mark.parametrize("dtype", [np.float32, np.int16])
@pytest.mark.parametrize("num_threads", [1, 2])
def test_quick_evaluations_are_nearly_exact(dtype, num_threads):
    solver = CFRSolver(build_holdem_tree(spot("9cThJsQh", "AA,KK,AQ|QQ,A9,TT", menu="50%, a")), dtype=dtype)
    solver.num_threads = num_threads
    solver.iterate(20)
    exact, quick = solver.evaluate(), solver.evaluate_quickly()
    assert quick.best_response_values == pytest.approx(exact.best_response_values, abs=1e-6 * 100)
    assert quick.exploitability == pytest.approx(exact.exploitability, abs=1e-6 * 100)
    assert quick != exact
    assert abs(quick.values[0] - exact.values[0]) <= exact.exploitability + 1e-4


@pytest.mark.parametrize("changes", [{"rake_rate": 0.05}, {"dtype": np.float64}])
def test_where_quick_evaluations_would_not_be_right_they_are_exact(changes):
    dtype = changes.pop("dtype", np.float32)
    solver = CFRSolver(build_holdem_tree(spot("9cThJsQhKs", "AA,KK|QQ,A9", menu="a", **changes)), dtype=dtype)
    solver.iterate(5)
    assert not solver.can_evaluate_quickly
    assert solver.evaluate_quickly() == solver.evaluate()


def test_small_figures_are_exact():
    solver = CFRSolver(build_holdem_tree(spot("9cThJsQhKs", "AA,KK|QQ,A9", menu="a")))
    solver.iterate(3000)
    assert solver.can_evaluate_quickly
    assert solver.evaluate_quickly() == solver.evaluate()


def test_the_driver_solves_a_spot_to_a_target():
    solver = CFRSolver(build_holdem_tree(spot("Ks7h2d4c9c", "TT+, A9s+, KQ|99+, AT+, QJs", menu="50%, a / a")))
    last = list(run(solver, target=0.1, iterations=2000))[-1]
    assert last.exploitability <= 0.1
    assert solver.nodes_touched == 2 * solver.iteration * len(solver.tree.betting.nodes)


def test_what_is_not_offered_is_refused():
    tree = build_holdem_tree(spot("Ks7h2d4c9c"))
    with pytest.raises(ConfigError, match=r"rule hedge\(9\) needs dtype float32 or float64.*got int16"):
        CFRSolver(tree, Hedge(horizon=9), dtype=np.int16)
    with pytest.raises(ConfigError, match=r"whatever is positive, got rule thresholded\(2\)-hedge"):
        CFRSolver(tree, Thresholded(Hedge()))
    with pytest.raises(ConfigError, match="dtype must be float32, float64 or int16"):
        CFRSolver(tree, dtype=np.float16)
    with pytest.raises(ConfigError, match="num_threads must be between 1 and 256, got 0"):
        CFRSolver(tree, num_threads=0)


def test_a_player_without_hands_on_a_river_loses_nothing_there():
    table = HoldemSpot(
        board=parse_board("Ks7h2d4c"),
        pot=100,
        stacks=(100, 100),
        ranges=(Range.of_hand(*parse_board("AhAd9c")[:2]), parse_range("QQ")),
        menu=parse_menu("a"),
    )
    solver = CFRSolver(build_holdem_tree(table))
    solver.iterate(100)
    assert solver.evaluate().exploitability < 0.5
