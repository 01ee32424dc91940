# SPDX-License-Identifier: Apache-2.0
"""Sampling without a tree: draw by draw against the twin, unbiased, convergent, resumable, and bounded in memory."""

import dataclasses
import json
import tracemalloc
from array import array

import numpy as np
import pytest

from equipoise.core import memory
from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.core.progress import Progress, SampledFigures
from equipoise.games.registry import make_game
from equipoise.solvers import growing_tables
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.driver import run
from equipoise.solvers.mccfr import Discounting, DiscountKind, MCCFRConfig, Scheme
from equipoise.solvers.playouts import move_uniformly, sample_value, strategy_policy
from equipoise.solvers.saved_run import RunConfig, RunRecord
from equipoise.solvers.sequence_lp import solve_sequence_lp
from equipoise.solvers.solution_file import SolvedGame
from equipoise.solvers.strategy import TabularStrategy
from equipoise.solvers.treeless_mccfr import UNIFORM_BATCH, TreelessMCCFRSolver, estimate_traversal_nodes
from equipoise.trees.history import build_history_tree
from tests.reference.regrets import by_label, exact_regrets, flatten, random_regrets
from tests.reference.sampling import ReferenceMCCFR, Xoshiro

GAMES = {
    "kuhn": make_game("kuhn"),
    "kuhn3": make_game("kuhn", players=3),  # averages come from paths of their own
    "goofspiel3": make_game("goofspiel", cards=3),  # hidden moves: sets are met several times in one traversal
    "merged": make_game("leduc", merge_suits=True, max_raises=1),  # outcomes of unequal probability
    "small_leduc": make_game("leduc", ranks=2),
    "leduc2": make_game("leduc", ranks=2, merge_suits=True, max_raises=1),
    "phantom22": make_game("phantom_tic_tac_toe", rows=2, columns=2),  # any two cells win
    "phantom23": make_game("phantom_tic_tac_toe", rows=2, columns=3),
}
PHANTOM33 = make_game("phantom_tic_tac_toe", rows=3, columns=3)
NO_STAKES = make_game("matrix", payoffs="0,0;0,0")  # external sampling touches 9 nodes an iteration
SCHEMES = [Scheme.EXTERNAL, Scheme.OUTCOME]
EXPLORATION = 0.4
LINEAR = Discounting(kind=DiscountKind.LINEAR, period_nodes=2_000)


def make_solver(game, scheme=Scheme.EXTERNAL, *, seed=1, tree=None, max_bytes=None, **options):
    config = MCCFRConfig(scheme=scheme, **options)
    return TreelessMCCFRSolver(game, config, rng=np.random.default_rng(seed), tree=tree, max_bytes=max_bytes)


def fill(solver, tree, regret_sum):
    """Overwrites the tables with regrets `[Q]` at every information set of a tree."""
    for infoset, ((player, label), regrets) in enumerate(by_label(tree, regret_sum).items()):
        first = int(tree.first_sequence[infoset])
        entry = solver.tables.first_entry[player].get(label)
        if entry is None:
            entry = solver.tables.add(player, label, tree.sequence_labels[first : first + len(regrets)])
        for offset, regret in enumerate(regrets):
            solver.tables.regret_sum[entry + offset] = regret


def read(solver, tree, sums):
    """Returns `[Q]` sums of the tables in a tree's numbering, 0 where nothing was met."""
    starts = solver.tables.starts()
    rows = zip(solver.tables.player, solver.tables.infostates, starts[:-1], starts[1:], strict=True)
    return flatten(tree, {(player, label): np.array(sums[first:end]) for player, label, first, end in rows})


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["kuhn", "kuhn3", "goofspiel3", "merged"])
def test_iterations_from_random_regrets_equal_the_twins(name, scheme):
    game, tree = GAMES[name], build_history_tree(GAMES[name])
    regrets = random_regrets(tree, 2)
    solver = make_solver(game, scheme, exploration=EXPLORATION)
    fill(solver, tree, regrets)
    generator, same = Xoshiro([1, 2, 3, 4]), Xoshiro([1, 2, 3, 4])
    solver.uniform = lambda: (generator.next() >> 11) * 2.0**-53
    twin = ReferenceMCCFR(game, scheme, EXPLORATION, regrets=by_label(tree, regrets))
    solver.iterate(5)
    for _ in range(5):
        twin.iterate(same.draw)
    decisions = tree.sequence_infoset() >= 0
    regret_sum = read(solver, tree, solver.tables.regret_sum)
    np.testing.assert_allclose(regret_sum[decisions], flatten(tree, twin.regret_sum)[decisions], atol=1e-9)
    np.testing.assert_allclose(
        read(solver, tree, solver.tables.strategy_sum), flatten(tree, twin.strategy_sum), atol=1e-9
    )
    assert solver.nodes_touched == twin.nodes_touched
    assert generator.words == same.words


@pytest.mark.parametrize("scheme", SCHEMES)
def test_sampled_regrets_are_unbiased(scheme):
    game, tree = GAMES["kuhn"], build_history_tree(GAMES["kuhn"])
    start = random_regrets(tree, 4)
    solver = make_solver(game, scheme, exploration=EXPLORATION)
    fill(solver, tree, start)
    before = np.array(solver.tables.regret_sum)
    count, total, squares = 8_000, np.zeros_like(before), np.zeros_like(before)
    for traversal in range(2 * count):
        solver.tables.regret_sum[:] = array("d", before)
        solver.traverse(traversal % 2)
        added = np.array(solver.tables.regret_sum) - before
        total += added
        squares += added**2
    mean = total / count
    error = np.sqrt(np.maximum(squares / count - mean**2, 0.0) / count)
    expected, _ = exact_regrets(tree, start)
    decisions = tree.sequence_infoset() >= 0
    difference = read(solver, tree, mean) - expected
    assert (np.abs(difference) <= 5 * read(solver, tree, error) + 1e-12)[decisions].all()
    assert np.corrcoef(read(solver, tree, mean)[decisions], expected[decisions])[0, 1] > 0.95


@pytest.mark.parametrize(
    ("name", "scheme", "iterations", "bound"),
    [
        ("kuhn", Scheme.EXTERNAL, 8_000, 0.03),
        ("kuhn", Scheme.OUTCOME, 12_000, 0.06),
        ("phantom22", Scheme.EXTERNAL, 100, 0.01),
        ("phantom22", Scheme.OUTCOME, 500, 0.01),
        ("phantom23", Scheme.EXTERNAL, 300, 0.01),
        ("phantom23", Scheme.OUTCOME, 5_000, 0.08),
        ("leduc2", Scheme.EXTERNAL, 4_000, 0.15),
    ],
)
def test_runs_converge_to_the_value_of_the_linear_program(name, scheme, iterations, bound):
    game, tree = GAMES[name], build_history_tree(GAMES[name])
    solver = make_solver(game, scheme, tree=tree)
    solver.iterate(iterations)
    late = solver.evaluate()
    assert late.exploitability < bound
    assert late.values[0] == pytest.approx(solve_sequence_lp(tree).value, abs=late.nash_conv + 1e-9)


def test_three_players_get_averages_too():
    game, tree = GAMES["kuhn3"], build_history_tree(GAMES["kuhn3"])
    solver = make_solver(game, tree=tree)
    early = solver.evaluate().nash_conv
    solver.iterate(3_000)
    assert solver.evaluate().nash_conv < early / 4


def test_what_was_never_met_is_uniform():
    game, tree = GAMES["small_leduc"], build_history_tree(GAMES["small_leduc"])
    solver = make_solver(game, Scheme.OUTCOME, tree=tree)
    uniform = evaluate(tree, solver.average_on_tree(tree))
    assert solver.evaluate() == uniform
    assert uniform.exploitability > 1
    solver.iterate(3)
    table = solver.average_strategy()
    assert 0 < len(table.infostates) < tree.num_actions.size
    np.testing.assert_array_equal(table.to_tree(tree, is_partial=True), solver.average_on_tree(tree))
    with pytest.raises(ConfigError, match="has nothing at"):
        table.to_tree(tree)


def test_linear_discounting_weighs_period_n_by_n():
    linear = Discounting(kind=DiscountKind.LINEAR, period_nodes=90)
    solver = make_solver(NO_STAKES, discounting=linear)
    solver.iterate(50)
    # two strategies an iteration, ten iterations a period, five periods, and the last one's own factor
    weight = 10 * sum(n / 5 for n in range(1, 6)) * 5 / 6
    assert sum(solver.tables.strategy_sum) == pytest.approx(2 * weight)
    assert solver.weight_sum == pytest.approx(weight)
    assert solver.period == 6


def test_initial_discounting_happens_once():
    initial = Discounting(kind=DiscountKind.INITIAL, period_nodes=90)
    solver = make_solver(NO_STAKES, discounting=initial)
    solver.iterate(30)
    assert sum(solver.tables.strategy_sum) == pytest.approx(42.0)


@pytest.mark.parametrize("game", [GAMES["small_leduc"], GAMES["kuhn3"], PHANTOM33], ids=lambda game: game.spec.label)
def test_a_resumed_run_goes_on_to_the_bit(game):
    options = {"scheme": Scheme.OUTCOME, "discounting": LINEAR}
    whole, first, second = make_solver(game, **options), make_solver(game, **options), make_solver(game, **options)
    whole.iterate(300)
    first.iterate(130)
    second.iterate(7)  # what it did before must not matter
    second.restore({name: array.copy() for name, array in first.state().items()})
    second.evaluate()  # nor that it was measured
    second.iterate(170)
    assert {name: array.tobytes() for name, array in second.state().items()} == {
        name: array.tobytes() for name, array in whole.state().items()
    }
    assert second.tables.num_bytes == pytest.approx(whole.tables.num_bytes, rel=0.05)


@pytest.mark.parametrize("count", [0, 1, UNIFORM_BATCH - 1, UNIFORM_BATCH, UNIFORM_BATCH + 1])
def test_numbers_go_on_wherever_a_batch_was_left(count):
    first, second = make_solver(NO_STAKES).uniform, make_solver(NO_STAKES, seed=9).uniform
    for _ in range(count):
        first()
    second.restore(first.state())
    assert [second() for _ in range(5)] == [first() for _ in range(5)]


def test_seeds_matter():
    runs = [make_solver(GAMES["kuhn"], seed=seed) for seed in (1, 1, 2)]
    for solver in runs:
        solver.iterate(20)
    first, again, other = (bytes(solver.tables.strategy_sum) for solver in runs)
    assert first == again != other


def test_a_board_of_nine_cells_is_sampled_saved_and_goes_on(tmp_path):
    solver = make_solver(PHANTOM33, Scheme.OUTCOME)
    solver.iterate(200)
    early, early_bytes = len(solver.tables), solver.tables.num_bytes
    records = tuple(run(solver, iterations=4_000))
    assert len(solver.tables) > 5 * early
    assert solver.tables.num_bytes > 5 * early_bytes
    assert records[-1].exploitability is records[-1].nash_conv is records[-1].game_value is None
    assert records[-1].sampled.num_infostates == len(solver.tables)

    figures = solver.sample_figures(3_000)
    # the strategy wins by five standard errors of the difference more than the first move alone is worth
    gain = figures.values_against_uniform[0] - figures.uniform_values[0]
    assert gain > 5 * np.sqrt(2) * figures.standard_errors[0]
    assert figures == solver.sample_figures(3_000)

    config = RunConfig(
        game="phantom_tic_tac_toe", parameters={}, game_version=1, method="outcome", form="game", rule="cfr",
        updates="alternating", seed=1, threads=1,
    )  # fmt: skip
    path = tmp_path / "run.eq"
    record = RunRecord(config=config, progress=records, stopped_by=None)
    SolvedGame.save(path, record, strategy=solver.average_strategy(), state=solver.state())
    other = make_solver(PHANTOM33, Scheme.OUTCOME, seed=5)
    with SolvedGame(path) as loaded:
        other.restore(loaded.state)
    assert loaded.progress == records
    for one in (solver, other):
        one.iterate(20)
    assert bytes(other.tables.regret_sum) == bytes(solver.tables.regret_sum)
    played = sample_value(
        PHANTOM33,
        [strategy_policy(TabularStrategy.load(path)), move_uniformly],
        0,
        num_playouts=1_000,
        rng=np.random.default_rng(3),
    )
    assert played.mean == pytest.approx(figures.values_against_uniform[0], abs=5 * played.standard_error)


def test_full_tables_end_a_run_and_keep_the_work():
    solver = make_solver(PHANTOM33, Scheme.OUTCOME, max_bytes=100_000)
    records = list(run(solver, iterations=10_000))
    assert solver.is_full
    assert 10 < records[-1].iteration == solver.iteration < 1_000
    assert 100_000 <= solver.tables.num_bytes < 110_000
    larger = make_solver(PHANTOM33, Scheme.OUTCOME, max_bytes=200_000)
    larger.restore(solver.state())
    larger.iterate(1)
    assert larger.iteration == solver.iteration + 1


def test_a_single_traversal_may_not_exhaust_memory(monkeypatch):
    monkeypatch.setattr(growing_tables, "CHECK_EVERY", 64)
    solver = make_solver(PHANTOM33, max_bytes=100_000)
    with pytest.raises(GameTooLargeError, match=r"a single traversal outgrew the memory.*outcome sampling"):
        solver.iterate(1)
    assert solver.tables.num_bytes < 160_000


def test_the_default_limit_leaves_room(monkeypatch):
    monkeypatch.setattr(memory, "_machine_bytes", lambda: 1_000_000)
    assert make_solver(PHANTOM33).max_bytes <= 250_000


def test_bytes_are_about_right():
    solver = make_solver(PHANTOM33, Scheme.OUTCOME)
    tracemalloc.start()
    solver.iterate(400)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert solver.tables.num_bytes == pytest.approx(taken, rel=0.35)


def test_a_target_without_an_exploitability_is_refused():
    with pytest.raises(ConfigError, match=r"a target of 0\.01 needs an exploitability"):
        list(run(make_solver(PHANTOM33, Scheme.OUTCOME), target=0.01))


def test_schemes_that_need_a_tree_are_refused():
    with pytest.raises(ConfigError, match="public-chance sampling needs a tree"):
        make_solver(GAMES["kuhn"], Scheme.PUBLIC_CHANCE)


def test_floored_regrets_need_a_tree():
    with pytest.raises(ConfigError, match="floored regrets need a tree"):
        make_solver(GAMES["kuhn"], discounting=Discounting(kind=DiscountKind.FLOORED))


def test_other_generators_are_refused():
    with pytest.raises(ConfigError, match="PCG64 generator, got MT19937"):
        TreelessMCCFRSolver(GAMES["kuhn"], rng=np.random.Generator(np.random.MT19937(1)))


def test_the_size_of_a_traversal_is_foreseen():
    solver = make_solver(GAMES["small_leduc"])
    solver.iterate(200)
    expected = solver.nodes_touched / 400
    estimate = estimate_traversal_nodes(GAMES["small_leduc"], rng=np.random.default_rng(0), num_probes=2_000)
    assert estimate == pytest.approx(expected, rel=0.3)  # later strategies no longer move uniformly


def test_records_come_back_from_json():
    figures = SampledFigures(
        num_infostates=7,
        regret_bound=None,
        values_against_uniform=(0.5, -0.5),
        standard_errors=(0.1, 0.1),
        uniform_values=(0.3, -0.3),
        num_playouts=50,
    )
    record = next(iter(run(make_solver(GAMES["kuhn"]), iterations=1)))
    assert record.sampled.num_playouts == 50
    record = dataclasses.replace(record, sampled=figures)
    assert Progress.from_json(json.loads(json.dumps(dataclasses.asdict(record)))) == record
