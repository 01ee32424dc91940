# SPDX-License-Identifier: Apache-2.0
"""Arrays reach the native module by name: what is missing, unknown or of another type is refused."""

import re

import numpy as np
import pytest

import equipoise._native as native
from equipoise.games.registry import make_game
from equipoise.kernels.arrays import arrays_by_name
from equipoise.kernels.pruning import KernelPruning, PruningKernel, PruningMode
from equipoise.solvers.best_response import bind_history_kernel
from equipoise.solvers.mccfr import lay_out_for_sampling
from equipoise.solvers.pruning import lay_out_for_pruning
from equipoise.trees.history import build_history_tree

KUHN = build_history_tree(make_game("kuhn"))
SAMPLED = lay_out_for_sampling(KUHN)
SAMPLED_ARRAYS = arrays_by_name(SAMPLED)
EDGE_CUMULATIVE = {"edge_cumulative": SAMPLED.edge_probability}
NOT_WALKED = ("edge_slot", "first_slot", "slot_probability")
SETTINGS = 1, 0, 0, 0, False, 1.0, False, True, False, False, True, True, 0.0, 0.0, 0.5  # of a pruned run


def ints(*shape):
    return np.zeros(shape, np.int32)


PRUNED = PruningKernel(lay_out_for_pruning(KUHN), KernelPruning(mode=PruningMode.PARTIAL))
PAST = {name: np.zeros(SAMPLED.num_sequences) for name in ("regret", "value", "reach", "realization")}
LINES = {name: ints(1) for name in ("num_actions", "first_cell", "stride", "level", "call", "raise_")} | {
    "actor": np.full(1, -2, np.int8),
    "child": ints(0),
    "is_showdown": np.zeros(1, np.uint8),
    "stake": np.zeros(1),
    "cumulative": np.ones(3),
    "ancestor": ints(1, 1),
}
STREET = np.array([[1, 1, 0, 0, 0, 0, 0, 0]], np.int32)  # one line, the last street, nothing to decide
CALL = {name: np.zeros(1) for name in ("regret_sum", "strategy_sum", "missed")} | {
    "random_words": np.ones(4, np.uint64),
    "nodes_touched": np.zeros(1, np.uint64),
    "num_skipped": np.zeros(1, np.uint64),
    "edge_guess": ints(0),
    "baseline": np.zeros((0, 0)),
}
RULE = 0, 0, False, False, False  # as the native module reads one
SWEPT = {name: np.zeros(1) for name in ("regret_sum", "strategy_sum", "strategy", "realization", "scale")} | {
    "value_moments": np.zeros((1, 2))
}
HELD = {name: np.zeros(8, np.float32) for name in ("regret_sum", "strategy_sum", "last_regret", "scale", "step")} | {
    "value_moments": np.zeros((1, 2), np.float32),
    **{name: np.zeros(0, np.uint8) for name in ("regret_exponent", "strategy_exponent", "last_exponent")},
}
TOY = {
    "kind": ints(1) + 2,
    "player": ints(1),
    "first_child": ints(2),
    "child": ints(0),
    "amount": np.ones(1, np.float32),
}
MASS = np.ones((1, 2, 1), np.float32)
FORMS = {
    "run of sweeps": (lambda arrays: native.SweepRun(*RULE, arrays), SWEPT),
    "run by hands": (lambda arrays: native.HoldemRun_float32(*RULE, arrays), HELD),
    "toy betting": (
        lambda arrays: native.toy_games_solve(
            arrays, discounts=np.ones((1, 3), np.float32), mass=MASS, out=np.zeros_like(MASS)
        ),
        TOY,
    ),
    "pruned run": (
        lambda arrays: native.PrunedRun(arrays, *SETTINGS),
        arrays_by_name(lay_out_for_pruning(KUHN)),
    ),
    "state to save": (PRUNED._run.save, PRUNED.state()),
    "state to restore": (PRUNED._run.restore, PRUNED.state()),
    "past iterations": (lambda arrays: PRUNED._run.begin_after(1, 0, 1.0, 1.0, arrays), PAST),
    "sampling": (
        lambda arrays: native.SamplingForm(arrays, SAMPLED.num_sequences),
        SAMPLED_ARRAYS | EDGE_CUMULATIVE,
    ),
    "sampling call": (lambda arrays: native.SamplingCall(0.0, 1.0, arrays), CALL),
    "walks": (
        lambda arrays: native.Walks(arrays, SAMPLED.num_sequences),
        {name: array for name, array in SAMPLED_ARRAYS.items() if name not in NOT_WALKED},
    ),
    "lines": (lambda arrays: native.Lines(arrays, 1), LINES),
    "worlds": (
        lambda arrays: native.SearchForm(arrays, 2),
        {"first_world": ints(2), "world_node": ints(1), "world_cumulative": np.ones(1)},
    ),
    "likely histories": (
        native.HistoryNodes,
        {"subtree_end": ints(1), "last_sequence": ints(2, 1), "chance": np.ones(1), "terminal": ints(1)},
    ),
    "card sets": (
        native.CardSetIndex,
        {"sets": np.zeros((1, 1), np.uint8), "permutations": np.arange(4, dtype=np.uint8)[None]},
    ),
    "betting": (
        native.HoldemBetting,
        {"nodes": ints(1, 4), "children": ints(0), "child_row": ints(0), "scale": np.zeros((2, 1))}
        | {"rake": np.zeros(1), "cumulative_0": np.ones(1), "cumulative_1": np.ones(1)}
        | {"first_row": np.zeros((1, 2), np.int64)},
    ),
    "runouts": (
        native.RunoutForm,
        {"streets": STREET, "nodes": ints(0, 3), "flat_slot": ints(0), "fold_slot": ints(0)}
        | {name: np.zeros(0) for name in ("flat_scale", "fold_scale", "flat_rake")},
    ),
    "runout": (
        lambda arrays: native.Runout([1], [arrays], [0, 0], [1, 1]),
        {name: ints(8) for name in ("strength", "same_hand", "parent_row", "table_row_0", "table_row_1")}
        | {"cards": np.zeros((8, 2), np.uint8)},
    ),
}
NAMES = [(form, name) for form, (_, arrays) in FORMS.items() for name in arrays]


@pytest.mark.parametrize("form", FORMS)
def test_arrays_with_all_their_names_are_taken(form):
    bind, arrays = FORMS[form]
    bind(arrays)


@pytest.mark.parametrize(("form", "name"), NAMES)
def test_missing_names_are_refused(form, name):
    bind, arrays = FORMS[form]
    with pytest.raises(KeyError, match=f"no array named {name}"):
        bind({other: array for other, array in arrays.items() if other != name})


@pytest.mark.parametrize(("form", "name"), NAMES)
def test_arrays_of_another_type_are_refused(form, name):
    bind, arrays = FORMS[form]
    with pytest.raises(TypeError, match=f"array {name} has another dtype"):
        bind(arrays | {name: arrays[name].astype(np.float16)})


@pytest.mark.parametrize("form", FORMS)
def test_unknown_names_are_refused(form):
    bind, arrays = FORMS[form]
    with pytest.raises(KeyError, match="array nonsense is not known"):
        bind(arrays | {"nonsense": np.zeros(1)})


def list_signatures():
    """Returns what the native module's functions and methods take, all overloads, by their names."""
    found = {}
    for owner in (native, *(each for each in vars(native).values() if isinstance(each, type))):
        for name in dir(owner):
            called = getattr(owner, name)
            for number, overload in enumerate(getattr(called, "__nb_signature__", ())):
                found[f"{getattr(owner, '__name__', '')}.{name}[{number}]"] = overload[0]
    return found


SIGNATURES = list_signatures()


def test_signatures_are_found():
    assert len(SIGNATURES) > 100
    assert any("dtype=" in signature for signature in SIGNATURES.values())


@pytest.mark.parametrize("called", SIGNATURES)
def test_no_two_arrays_of_one_type_go_by_position(called):
    by_position = SIGNATURES[called].partition("*, ")[0]
    types = re.findall(r"dtype=(\w+)", by_position)
    assert len(types) == len(set(types)), SIGNATURES[called]


def test_calls_by_position_are_refused():
    strategy = np.ones(3)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        native.exponential(strategy, np.zeros(3))
    form = bind_history_kernel(KUHN)._form
    cells = np.zeros(SAMPLED.num_sequences)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        form.back_up_best(0, True, cells, cells.copy())
    form.back_up_best(0, True, cfv=cells, best=cells.copy())
