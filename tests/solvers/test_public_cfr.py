# SPDX-License-Identifier: Apache-2.0
"""CFR over public trees equals CFR over histories, and the digest's numbers."""

import numpy as np
import pytest

from equipoise.games.registry import make_game
from equipoise.solvers.cfr import CFRSolver, estimate_bytes
from equipoise.solvers.payoffs import payoff_ranges
from equipoise.solvers.rules import (
    CFR,
    DCFR,
    CFRPlus,
    Hedge,
    Optimistic,
)
from equipoise.solvers.saved_state import name_tables
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree
from equipoise.trees.public import build_public_tree
from tests.reference.public import ReferencePublicCFR
from tests.reference.pursuit import MAP_A, MAP_B, PathPursuit, Pursuit, parse_map
from tests.reference.rules import RULES

GAMES = {
    "kuhn": ("kuhn", {}),
    "leduc": ("leduc", {}),
    "merged_leduc": ("leduc", {"merge_suits": True}),
    "goofspiel3": ("goofspiel", {"cards": 3, "prizes": "random"}),
    "goofspiel4": ("goofspiel", {"cards": 4, "prizes": "random", "reveal_bids": False}),
    "liars_dice": ("liars_dice", {"faces": 3}),
    "phantom": ("phantom_tic_tac_toe", {"rows": 2, "columns": 2}),
}
TABLES = ("regret_sum", "strategy_sum", "strategy")
by_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name}-{rule.kernel.fallback.name}")
by_mode = pytest.mark.parametrize("is_alternating", [True, False], ids=["alternating", "simultaneous"])


@pytest.fixture(scope="module", params=GAMES)
def trees(request):
    name, parameters = GAMES[request.param]
    game = make_game(name, **parameters)
    return build_history_tree(game), build_public_tree(derive_public_game(game))


@pytest.fixture(scope="module")
def leduc():
    return build_public_tree(derive_public_game(make_game("leduc")))


@pytest.fixture(scope="module")
def kuhn():
    return build_public_tree(derive_public_game(make_game("kuhn")))


def start(solver, regret, strategy, iteration):
    """Puts a run where it would be after some iterations, at random: from all zeros, last bits break exact ties."""
    solver.tables.regret_sum[:] = regret
    solver.tables.strategy[:] = strategy
    solver.tables.realization[:] = solver.kernel.realize(solver.tables.strategy)
    solver.iteration = iteration


def start_pair(trees, rule, *, is_alternating, iteration=6):
    """Returns a run on histories and one on public states, with the same random regrets and strategy."""
    history, public = trees
    rng = np.random.default_rng(11)
    regret = 0.1 * rng.normal(size=history.size.num_sequences)
    if rule.kernel.floors_regrets:
        regret = np.abs(regret)
    solvers = [CFRSolver(tree, rule, is_alternating=is_alternating) for tree in trees]
    strategy = solvers[0].kernel.normalize(rng.random(regret.size))
    start(solvers[0], regret, strategy, iteration)
    converted = [public.strategy_from_history(history, values) for values in (regret, strategy)]
    converted[0][public.legal_share == 0.0] = 0.0
    start(solvers[1], *converted, iteration)
    return solvers


def assert_same_tables(trees, solvers, *, rtol, atol):
    history, public = trees
    for name in TABLES:
        expected = public.strategy_from_history(history, getattr(solvers[0].tables, name))[public.sequence_cell]
        got = getattr(solvers[1].tables, name)[public.sequence_cell]
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol, err_msg=name)


@by_mode
@by_rule
def test_one_iteration_from_random_regrets_equals_the_history_form(trees, rule, is_alternating):
    solvers = start_pair(trees, rule, is_alternating=is_alternating)
    for solver in solvers:
        solver.iterate(1)
    assert_same_tables(trees, solvers, rtol=1e-12, atol=1e-12)


@by_mode
@by_rule
def test_twenty_iterations_equal_the_history_form(trees, rule, is_alternating):
    solvers = start_pair(trees, rule, is_alternating=is_alternating)
    for solver in solvers:
        solver.iterate(20)
    expected, got = (solver.evaluate() for solver in solvers)
    assert got.exploitability == pytest.approx(expected.exploitability, abs=1e-12)
    assert got.values == pytest.approx(expected.values, abs=1e-12)


@by_mode
@by_rule
def test_equals_the_twin_where_private_states_merge(rule, is_alternating):
    game = Pursuit(parse_map(MAP_A), 6, (1, 11), 3)
    tree = build_public_tree(game)
    solver = CFRSolver(tree, rule, is_alternating=is_alternating)
    keys = list(zip(tree.infoset_player().tolist(), tree.infoset_labels, strict=True))
    twin = ReferencePublicCFR(game, rule, is_alternating=is_alternating)
    rng = np.random.default_rng(8)
    regret = np.zeros(tree.cells.num_table_cells)
    strategy = regret.copy()
    cells = [tree.sequence_cell[a:b] for a, b in zip(tree.infoset_start, tree.infoset_start[1:], strict=False)]
    for key, own in zip(keys, cells, strict=True):
        twin.regret[key] = regret[own] = np.abs(rng.normal(size=own.size))
        twin.strategy[key] = strategy[own] = rng.dirichlet(np.ones(own.size))
    twin.t = 0 if rule.kernel.tracks_variance else 4
    start(solver, regret, strategy, twin.t)
    solver.iterate(2)
    twin.iterate(2)
    tolerance = 1e-5 if rule.kernel.policy_map else 1e-11  # the twin's Hedges are less exact than its matching
    for table, expected in (("regret_sum", twin.regret), ("strategy_sum", twin.average), ("strategy", twin.strategy)):
        got = getattr(solver.tables, table)
        for key, own in zip(keys, cells, strict=True):
            np.testing.assert_allclose(got[own], expected[key], atol=tolerance, err_msg=f"{table} {key}")


@pytest.mark.parametrize("rule", [CFR(), CFRPlus(gamma=1.0)], ids=lambda rule: rule.name)
def test_merging_paths_loses_nothing(rule):
    # whatever path led to a station, values below are the same: iterates of both forms coincide
    game = Pursuit(parse_map(MAP_B), 6, (1, 11), 4)
    merged = CFRSolver(build_public_tree(game), rule, is_alternating=False)
    remembered = CFRSolver(build_public_tree(derive_public_game(PathPursuit(game))), rule, is_alternating=False)
    assert merged.tree.size.num_infosets < remembered.tree.size.num_infosets
    for solver in (merged, remembered):
        solver.iterate(10)
    assert merged.evaluate().exploitability > 1e-3
    assert merged.evaluate().exploitability == pytest.approx(remembered.evaluate().exploitability, abs=1e-10)
    assert merged.evaluate().values == pytest.approx(remembered.evaluate().values, abs=1e-10)


CALIBRATION = [  # specs/player-of-games.md part 17, in mbb: Kuhn at 10, 100 and 1,000 sweeps, Leduc at 10 and 100
    (CFRPlus(gamma=1.0), False, (71.2, 15.7, 2.83), (775, 44.0)),
    (CFRPlus(gamma=1.0), True, (32.7, 1.19, 0.087), (610, 13.4)),
    (CFRPlus(gamma=0.0), False, (98.0, 19.5, 3.78), (960, 120)),
    (CFR(), False, (96.2, 25.7, 7.27), (927, 173)),
]


@pytest.mark.parametrize(("rule", "is_alternating", "kuhn_mbb", "leduc_mbb"), CALIBRATION)
def test_calibration_of_the_digest(kuhn, leduc, rule, is_alternating, kuhn_mbb, leduc_mbb):
    for tree, expected in ((kuhn, kuhn_mbb), (leduc, leduc_mbb)):
        solver = CFRSolver(tree, rule, is_alternating=is_alternating)
        for sweeps, mbb in zip((10, 100, 1000), expected, strict=False):
            solver.iterate(sweeps - solver.iteration)
            band = 0.01 if sweeps < 1000 else 0.05
            assert 1000 * solver.evaluate().exploitability == pytest.approx(mbb, rel=band)


@pytest.mark.parametrize(
    ("text", "simultaneous"),
    [(MAP_A, (0.275, 0.121)), (MAP_B, (0.262, 0.029))],  # part 17, glasses stand-ins at 10 and 100 sweeps
)
def test_pursuit_calibration_of_the_digest(text, simultaneous):
    solver = CFRSolver(
        build_public_tree(Pursuit(parse_map(text), 6, (1, 11), 5)), CFRPlus(gamma=1.0), is_alternating=False
    )
    for sweeps, expected in zip((10, 100), simultaneous, strict=True):
        solver.iterate(sweeps - solver.iteration)
        assert solver.evaluate().exploitability == pytest.approx(expected, rel=0.01 if sweeps == 10 else 0.05)


def test_uniform_play_of_the_digest(kuhn, leduc):
    for tree, exploitability, value in ((kuhn, 0.45833, 0.125), (leduc, 2.37361, -0.078125)):
        result = CFRSolver(tree, CFR()).evaluate()
        assert result.exploitability == pytest.approx(exploitability, abs=1e-5)
        assert result.values[0] == pytest.approx(value, abs=1e-12)


def test_leduc_converges_to_its_value(leduc):
    solver = CFRSolver(leduc, DCFR())
    solver.iterate(1000)
    result = solver.evaluate()
    assert result.exploitability < 4e-4
    assert result.values[0] == pytest.approx(-0.0856, abs=5e-4)


@by_mode
@pytest.mark.usefixtures("any_team")
@pytest.mark.parametrize("rule", [DCFR(), Hedge(), Optimistic(CFRPlus())], ids=lambda rule: rule.name)
@pytest.mark.parametrize("num_threads", [2, 3])
def test_threads_change_no_bit(trees, rule, num_threads, is_alternating):
    solvers = start_pair(trees, rule, is_alternating=is_alternating)
    alone = solvers[1]
    team = CFRSolver(alone.tree, rule, is_alternating=is_alternating, num_threads=num_threads)
    start(team, alone.tables.regret_sum, alone.tables.strategy, alone.iteration)
    for solver in (alone, team):
        solver.iterate(3)
    for name in TABLES:
        np.testing.assert_array_equal(getattr(team.tables, name), getattr(alone.tables, name))


def test_small_trees_are_left_to_one_thread(leduc):
    alone, team = CFRSolver(leduc, DCFR()), CFRSolver(leduc, DCFR(), num_threads=2)
    for solver in (alone, team):
        solver.iterate(20)
    np.testing.assert_array_equal(team.tables.regret_sum, alone.tables.regret_sum)
    assert team.kernel.team_size(2) == 1


def test_a_restored_run_goes_on_to_the_bit(leduc):
    straight, first = (CFRSolver(leduc, Optimistic(DCFR())) for _ in range(2))
    straight.iterate(30)
    first.iterate(13)
    second = CFRSolver(leduc, Optimistic(DCFR()))
    second.restore({name: table.copy() for name, table in first.state().items()})
    second.iterate(17)
    for name, table in straight.state().items():
        np.testing.assert_array_equal(table, second.state()[name])


@pytest.mark.parametrize("rule", [CFR(), Optimistic(CFR())], ids=lambda rule: rule.name)
def test_regrets_too_small_to_invert_still_give_probabilities(kuhn, rule):
    # 1 / 8e-310 overflows; without reach no value is added, so the regrets stay as small as they are
    solver = CFRSolver(kuhn, rule)
    tiny = np.zeros(kuhn.cells.num_table_cells)
    for start_cell, end_cell in zip(kuhn.infoset_start, kuhn.infoset_start[1:], strict=False):
        tiny[kuhn.sequence_cell[start_cell:end_cell]] = [2e-310, 6e-310]
    solver.tables.regret_sum[:] = tiny
    solver.tables.realization[:] = 0.0
    solver.iterate(1)
    np.testing.assert_array_equal(solver.tables.regret_sum, tiny)
    pairs = solver.tables.strategy[kuhn.sequence_cell].reshape(-1, 2)
    np.testing.assert_allclose(pairs, [[0.25, 0.75]] * 12, rtol=1e-12)


def test_hedge_survives_information_states_that_decide_nothing():
    tree = build_public_tree(Pursuit(parse_map(MAP_A), 6, (1, 11), 3))
    assert np.any(payoff_ranges(tree)[tree.infoset_row] == 0.0)
    solver = CFRSolver(tree, Hedge())
    solver.iterate(20)
    assert np.all(np.isfinite(solver.tables.strategy))


def test_payoff_ranges_equal_the_history_form(trees):
    history, public = trees
    expected = dict(
        zip(zip(history.infoset_player(), history.infoset_labels, strict=True), payoff_ranges(history), strict=True)
    )
    got = payoff_ranges(public)[public.infoset_row]
    keys = zip(public.infoset_player(), public.infoset_labels, strict=True)
    np.testing.assert_allclose(got, [expected[key] for key in keys], atol=1e-12)


class ScoredPursuit(Pursuit):
    """Where the runner ends decides how much it wins or loses, so that ranges of payoffs differ."""

    def payoffs(self, place):
        stations = np.array(place.stations, float)[:, None]
        gain = stations if place.end == "free" else -stations / 2
        return np.stack([gain, -gain])


@pytest.mark.parametrize("length", [2, 3, 4])
def test_payoff_ranges_where_private_states_merge(length):
    game = ScoredPursuit(parse_map(MAP_A), 6, (1, 11), length)
    tree, twin = build_public_tree(game), ReferencePublicCFR(game, CFR())
    keys = zip(tree.infoset_player().tolist(), tree.infoset_labels, strict=True)
    expected = [twin.payoff_range(key) for key in keys]
    assert len(set(expected)) > 2
    np.testing.assert_allclose(payoff_ranges(tree)[tree.infoset_row], expected, atol=1e-12)


def test_estimated_bytes_are_those_allocated(leduc):
    solver = CFRSolver(leduc, Hedge())
    tables = sum(table.nbytes for table in name_tables(solver.tables).values())
    assert estimate_bytes(leduc, Hedge()) == tables + 8 * leduc.cells.num_cells
