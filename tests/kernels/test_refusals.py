# SPDX-License-Identifier: Apache-2.0
"""What would make the native module read or write past its arrays, and what its wrappers say instead."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.games.registry import make_game
from equipoise.kernels.arrays import check_finite
from equipoise.kernels.handeval import HandKernel
from equipoise.kernels.history import HistoryKernel
from equipoise.kernels.pruning import KernelPruning, PruningKernel, PruningMode
from equipoise.kernels.public import PublicKernel
from equipoise.kernels.rules import KernelRule, PolicyMap, apply_policy_map
from equipoise.kernels.sampling import SamplingArrays, SamplingKernel, SamplingTables, Scheme
from equipoise.kernels.treeplex import TreeplexKernel
from equipoise.solvers.best_response import bind_history_kernel, bind_kernel, evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.egt import EGTSolver
from equipoise.solvers.fictitious_play import FictitiousPlaySolver
from equipoise.solvers.lp_run import SequenceLPRun
from equipoise.solvers.mccfr import MCCFRSolver, lay_out_for_sampling
from equipoise.solvers.pruning import lay_out_for_pruning
from equipoise.solvers.rules import CFR
from equipoise.solvers.treeless_mccfr import TreelessMCCFRSolver
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree
from equipoise.trees.public import build_public_tree

KUHN = build_history_tree(make_game("kuhn"))
LEDUC = build_public_tree(derive_public_game(make_game("leduc", ranks=5, max_raises=1)))
GOOFSPIEL = build_public_tree(derive_public_game(make_game("goofspiel", cards=3, reveal_bids=False)))
TREES = {"history": KUHN, "public": LEDUC}

HISTORY_ARRAYS = {
    "terminal_sequence": KUHN.terminal_sequence,
    "weight": np.ascontiguousarray((KUHN.utility * KUHN.terminal_chance)[:1]),
    "sequence_start": KUHN.sequence_start,
    "infoset_start": KUHN.infoset_start,
    "first_sequence": KUHN.first_sequence,
    "num_actions": KUHN.num_actions,
    "parent_sequence": KUHN.parent_sequence,
}


def change(array, place, value):
    out = array.copy()
    out[place] = value
    return out


@pytest.mark.parametrize("form", TREES)
@pytest.mark.parametrize("player", [-1, 2, 7])
def test_sweeps_refuse_players_that_are_not(form, player):
    kernel = bind_kernel(TREES[form])
    strategy = kernel.normalize(np.zeros(kernel.num_table_cells))
    reach = kernel.realize(strategy)
    for call in (
        lambda: kernel.terminal_values(player, reach),
        lambda: kernel.best_response(player, reach),
        lambda: kernel.substitute(player, reach, np.zeros(kernel.num_rows)),
        lambda: kernel.strategy_values(player, strategy, reach),
        lambda: kernel.root_value(player, reach, reach),
    ):
        with pytest.raises(ConfigError, match=f"player must be between 0 and 1, got {player}"):
            call()


def test_treeplexes_refuse_players_that_are_not():
    treeplex = TreeplexKernel(bind_history_kernel(KUHN))
    with pytest.raises(ConfigError, match="player must be between 0 and 1, got -1"):
        treeplex.diameter(-1)
    with pytest.raises(ConfigError, match="player must be between 0 and 1, got 7"):
        treeplex.respond(7, np.zeros(treeplex.num_sequences), 1.0)
    with pytest.raises(ConfigError, match=r"mu must be positive, got 0\.0"):
        treeplex.respond(0, np.zeros(treeplex.num_sequences), 0.0)
    treeplex.weights = np.ones(1)
    with pytest.raises(ValueError, match="weights must have shape"):
        treeplex.diameter(0)


@pytest.mark.parametrize("num_players", [0, 11])
def test_sweeps_serve_one_to_ten_players(num_players):
    empty = np.empty(0, np.int32)
    with pytest.raises(ConfigError, match=f"serve 1 to 10 players, got {num_players}"):
        HistoryKernel(
            terminal_sequence=np.tile(np.arange(num_players, dtype=np.int32)[:, None], (1, 3)),
            weight=np.zeros((num_players, 3)),
            sequence_start=np.arange(num_players + 1, dtype=np.int32),
            infoset_start=np.zeros(num_players + 1, np.int32),
            first_sequence=empty,
            num_actions=empty,
            parent_sequence=empty,
        )


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("terminal_sequence", (0, 3), -1),
        ("terminal_sequence", (1, 3), 0),  # of the other player
        ("terminal_sequence", (1, 29), 2**31 - 1),
        ("weight", (0, 0), np.nan),
        ("sequence_start", 0, 1),
        ("sequence_start", 1, 0),
        ("sequence_start", 2, 2**31 - 1),
        ("infoset_start", 1, -1),
        ("infoset_start", 2, 5),
        ("first_sequence", 0, 0),
        ("first_sequence", 11, 100),
        ("num_actions", 0, 0),
        ("num_actions", 11, 3),
        ("parent_sequence", 0, 1),  # its own sequence
        ("parent_sequence", 11, -1),
    ],
)
def test_history_arrays_that_point_elsewhere_are_refused(name, place, value):
    HistoryKernel(**HISTORY_ARRAYS)
    with pytest.raises(ValueError, match="must"):
        HistoryKernel(**HISTORY_ARRAYS | {name: change(HISTORY_ARRAYS[name], place, value)})


def test_messages_say_what_was_given_and_where():
    wrong = change(KUHN.parent_sequence, 11, -1)
    with pytest.raises(ValueError, match="parent_sequence must be at least 13 and below 24, got -1 at place 11"):
        HistoryKernel(**HISTORY_ARRAYS | {"parent_sequence": wrong})
    with pytest.raises(TypeError, match="num_actions must be a NumPy array, got list"):
        HistoryKernel(**HISTORY_ARRAYS | {"num_actions": [2, 2]})


def bind_public(tree, part, name, place, value):
    old = getattr(tree, part)
    wrong = dataclasses.replace(old, **{name: change(getattr(old, name), place, value)})
    parts = {"cells": tree.cells, "terminals": tree.terminals} | {part: wrong}
    roots = tree.private_cells(0, 0), tree.private_cells(0, 1)
    return PublicKernel(parts["cells"], parts["terminals"], legal_share=tree.legal_share, root_cells=roots)


@pytest.mark.parametrize(
    ("part", "name", "place", "value"),
    [
        ("cells", "cell_start", 1, -4),
        ("cells", "step_start", 1, 2**31 - 1),
        ("cells", "steps", (0, 0), 2),  # kind
        ("cells", "steps", (0, 1), -1),  # first cell
        ("cells", "steps", (0, 2), 2**31 - 1),  # items
        ("cells", "steps", (0, 3), 2**31 - 1),  # actions
        ("cells", "steps", (0, 4), 2**31 - 1),  # stride
        ("cells", "steps", (0, 5), -1),  # first index
        ("cells", "steps", (0, 7), 2**31 - 1),  # first row
        ("cells", "source", 0, -1),
        ("cells", "source", 0, 2**31 - 1),
        ("terminals", "group_start", 1, -1),
        ("terminals", "groups", (0, 1), 3),  # rows: no whole vector
        ("terminals", "groups", (0, 2), 2**31 - 1),  # columns
        ("terminals", "groups", (0, 3), -1),  # matrix
        ("terminals", "groups", (0, 4), 1),  # first terminal
        ("terminals", "groups", (0, 5), -1),  # terminals
        ("terminals", "dense_own", 0, 2**31 - 1),
        ("terminals", "dense_other", 0, -1),
        ("terminals", "matrix", 0, np.inf),
    ],
)
def test_public_arrays_that_point_elsewhere_are_refused(part, name, place, value):
    with pytest.raises(ValueError, match="must"):
        bind_public(LEDUC, part, name, place, value)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("cells", "entry_source", -1),
        ("cells", "entry_target", 2**31 - 1),
        ("terminals", "sparse_own", -1),
        ("terminals", "sparse_other", 2**31 - 1),
    ],
)
def test_lists_of_entries_that_point_elsewhere_are_refused(part, name, value):
    with pytest.raises(ValueError, match=f"{name} must be at least"):
        bind_public(GOOFSPIEL, part, name, 0, value)


def test_entries_out_of_order_are_refused():
    # the plan of a team takes what is between two targets for the cells of a subtree
    target = GOOFSPIEL.cells.entry_target
    with pytest.raises(ValueError, match="entry_target less the one before must be at least 0"):
        bind_public(GOOFSPIEL, "cells", "entry_target", slice(0, 2), target[1::-1])


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("actor", 0, 2),
        ("actor", 0, -3),
        ("actor", 0, 0),  # whose information set then is none
        ("detail", 3, 99),
        ("first_edge", 1, -1),
        ("first_edge", 3, 6),  # fewer children than actions
        ("edge_child", 5, 0),  # back to the root: a traversal without end
        ("edge_child", 5, 2**31 - 1),
        ("first_slot", 0, 1),
        ("first_sequence", 0, -1),
        ("first_sequence", 0, 2**31 - 1),
        ("num_actions", 0, 0),
        ("utility", (0, 0), np.nan),
    ],
)
def test_sampling_arrays_that_point_elsewhere_are_refused(name, place, value):
    arrays = lay_out_for_sampling(KUHN)
    wrong = dataclasses.replace(arrays, **{name: change(getattr(arrays, name), place, value)})
    with pytest.raises(ValueError, match="must"):
        SamplingKernel(wrong)


def make_sampling_tables(num_sequences):
    return SamplingTables(
        regret_sum=np.zeros(num_sequences),
        strategy_sum=np.zeros(num_sequences),
        random_words=np.arange(1, 5, dtype=np.uint64),
        nodes_touched=np.zeros(1, np.uint64),
    )


def make_chain(num_moves):
    """A game in which player 0 has one move after the other."""
    return SamplingArrays(
        actor=np.append(np.zeros(num_moves, np.int8), np.int8(-2)),
        detail=np.append(np.arange(num_moves, dtype=np.int32), np.int32(0)),
        first_edge=np.append(np.arange(num_moves + 1, dtype=np.int32), np.int32(num_moves)),
        edge_child=np.arange(1, num_moves + 1, dtype=np.int32),
        edge_probability=np.ones(num_moves),
        edge_slot=np.full(num_moves, -1, np.int32),
        first_slot=np.zeros(1, np.int32),
        slot_probability=np.empty(0),
        utility=np.ones((1, 1)),
        first_sequence=np.arange(num_moves, dtype=np.int32),
        num_actions=np.ones(num_moves, np.int32),
        num_sequences=num_moves,
    )


@pytest.mark.parametrize("scheme", Scheme)
def test_traversals_go_as_deep_as_they_say(scheme):
    kernel, tables = SamplingKernel(make_chain(10_000)), make_sampling_tables(10_000)
    assert kernel.iterate(scheme, tables, 1, exploration=0.5) == 1
    assert tables.nodes_touched[0] >= 10_001
    with pytest.raises(GameTooLargeError, match="at most 10,000 moves, got 10,001"):
        SamplingKernel(make_chain(10_001))


def test_sampling_refuses_calls_that_mean_nothing():
    kernel = SamplingKernel(lay_out_for_sampling(KUHN))
    tables = make_sampling_tables(kernel.num_sequences)
    with pytest.raises(ConfigError, match="num_iterations must be at least 0, got -3"):
        kernel.iterate(Scheme.EXTERNAL, tables, -3)
    with pytest.raises(ConfigError, match="exploration must be between 0 and 1, got nan"):
        kernel.traverse(Scheme.OUTCOME, tables, 0, exploration=float("nan"))
    with pytest.raises(ValueError, match="9 is not a valid Scheme"):
        kernel.iterate(9, tables, 1)


@pytest.mark.parametrize("form", TREES)
def test_tables_that_cannot_be_written_are_refused(form):
    solver = CFRSolver(TREES[form], CFR())
    solver.tables.regret_sum.setflags(write=False)
    with pytest.raises(ValueError, match="regret_sum is written to, got a read-only array"):
        solver.iterate(1)


@pytest.mark.parametrize("form", TREES)
def test_strategies_that_are_none_are_refused(form):
    tree = TREES[form]
    strategy = CFRSolver(tree, CFR()).average_strategy()
    with pytest.raises(ValueError, match="strategy must be finite, got nan at place 5"):
        evaluate(tree, change(strategy, 5, np.nan))
    with pytest.raises(ValueError, match="strategy must have shape"):
        evaluate(tree, strategy[1:])
    with pytest.raises(TypeError, match="strategy must be a NumPy array, got list"):
        evaluate(tree, strategy.tolist())
    kernel = bind_kernel(tree)
    reach = change(kernel.realize(strategy), 3, np.inf)
    with pytest.raises(ValueError, match="realization must be finite, got inf at place 3"):
        kernel.best_response(0, reach)


def test_unaligned_arrays_are_refused():
    kernel = bind_kernel(KUHN)
    bytes_of = np.zeros(8 * kernel.num_cells + 1, np.uint8)
    with pytest.raises(ValueError, match="must be C-contiguous and aligned"):
        kernel.realize(bytes_of[1:].view(np.float64))


@pytest.mark.parametrize("policy_map", PolicyMap)
def test_policies_of_nothing_are_refused(policy_map):
    with pytest.raises(ConfigError, match="number of regrets must be at least 1, got 0"):
        apply_policy_map(policy_map, [])


def test_rules_of_bare_numbers_are_refused():
    with pytest.raises(ConfigError, match="a rule needs a PolicyMap, got 1"):
        KernelRule(policy_map=1)


def test_finite_numbers_whose_squares_are_not_pass():
    check_finite("numbers", np.array([1e200, -1e200]))
    with pytest.raises(ValueError, match="numbers must be finite, got -inf at place 1"):
        check_finite("numbers", np.array([1e200, -np.inf]))


def test_showdowns_of_more_hands_than_can_be_sorted_are_refused():
    num_hands = 2**16 + 1
    reach = np.ones(num_hands)
    board = np.arange(5, dtype=np.uint8)[None]
    with pytest.raises(ConfigError, match="number of hole cards must be between 0 and 65536, got 65537"):
        HandKernel().accumulate_showdowns(board, np.ones(1), np.full((num_hands, 2), 9, np.uint8), reach, reach)


@pytest.mark.parametrize(
    "make",
    [
        lambda: CFRSolver(KUHN, CFR()),
        lambda: CFRSolver(LEDUC, CFR()),
        lambda: MCCFRSolver(KUHN, rng=np.random.default_rng(0)),
        lambda: TreelessMCCFRSolver(make_game("kuhn"), rng=np.random.default_rng(0)),
        lambda: EGTSolver(KUHN),
        lambda: FictitiousPlaySolver(KUHN),
        lambda: SequenceLPRun(KUHN),
    ],
)
def test_a_negative_number_of_iterations_is_refused(make):
    solver = make()
    with pytest.raises(ConfigError, match="num_iterations must be at least 0, got -3"):
        solver.iterate(-3)
    solver.iterate(0)
    assert solver.iteration == 0


TEAM_SCRIPT = """
import resource
from equipoise.games.registry import make_game
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR
from equipoise.trees.history import build_history_tree

solver = CFRSolver(build_history_tree(make_game("kuhn")), CFR(), num_threads=250)
in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (in_use + 2**28, in_use + 2**28))  # 250 stacks of 8 MB do not fit
try:
    solver.iterate(1)
except RuntimeError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_AS, (in_use + 2**28, in_use + 2**28))
solver.num_threads = 2
solver.iterate(5)
print(solver.iteration)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited by Linux's means")
def test_a_team_that_cannot_be_had_is_an_error():
    done = subprocess.run([sys.executable, "-c", TEAM_SCRIPT], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    message, iteration = done.stdout.splitlines()
    assert message.startswith("cannot start thread ")
    assert "of a team of 250" in message
    assert iteration == "5"


@pytest.mark.parametrize("form", TREES)
def test_substitutes_refuse_budgets_of_another_tree(form):
    kernel = bind_kernel(TREES[form])
    reach = kernel.realize(kernel.normalize(np.zeros(kernel.num_table_cells)))
    with pytest.raises(ValueError, match="budget must have shape"):
        kernel.substitute(0, reach, np.zeros(kernel.num_rows + 1))
    with pytest.raises(ValueError, match="budget must be finite, got nan"):
        kernel.substitute(0, reach, np.full(kernel.num_rows, np.nan))


def replace_at(array, place, value):
    changed = array.copy()
    changed[place] = value
    return changed


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("parent", 3, 5, "parent must be at least 0 and below 3, got 5"),
        ("parent", 0, 0, "parent must be at least -1 and below 0"),
        ("actor", 3, 2, "actor must be at least -2 and below 2"),
        ("infoset", 2, 99, "infoset must be at least 0 and below 12"),
        ("infoset", 2, 11, "infoset must belong to the actor"),
        ("num_actions", 1, 3, "one child per action"),
        ("first_sequence", 1, 9, "first_sequence must be"),
        ("parent_sequence", 1, 9, "parent_sequence must be"),
        ("sequence_start", 1, 0, "sequence_start must ascend"),
        ("infoset_start", 1, 13, "infoset_start must ascend"),
        ("utility", 0, np.nan, "utility must be finite"),
    ],
)
def test_trees_to_prune_are_checked(name, place, value, message):
    arrays = lay_out_for_pruning(KUHN)
    broken = dataclasses.replace(arrays, **{name: replace_at(getattr(arrays, name), place, value)})
    with pytest.raises(ValueError, match=message):
        PruningKernel(broken, KernelPruning(mode=PruningMode.PARTIAL))


def test_children_of_pruned_trees_fit_their_information_sets():
    arrays = lay_out_for_pruning(KUHN)
    leaf = int(np.flatnonzero(arrays.actor == -2)[0])
    orphan = dataclasses.replace(arrays, parent=replace_at(arrays.parent, leaf + 1, leaf))
    with pytest.raises(ValueError, match="parent must not be a terminal"):
        PruningKernel(orphan, KernelPruning(mode=PruningMode.PARTIAL))
    moved = dataclasses.replace(arrays, parent=replace_at(arrays.parent, leaf, 0))
    with pytest.raises(ValueError, match="one child per action"):
        PruningKernel(moved, KernelPruning(mode=PruningMode.PARTIAL))


def test_iterations_of_a_pruned_run_are_checked():
    kernel = PruningKernel(lay_out_for_pruning(KUHN), KernelPruning(mode=PruningMode.PARTIAL))
    with pytest.raises(ValueError, match="discounts must have shape"):
        kernel.iterate(np.ones((2, 4)), first_t=1)
    with pytest.raises(ConfigError, match="first_t must be at least 1"):
        kernel.iterate(np.ones((2, 6)), first_t=0)
    with pytest.raises(ValueError, match="clock must have shape"):
        kernel.restore({**kernel.state(), "clock": np.zeros(3)})
