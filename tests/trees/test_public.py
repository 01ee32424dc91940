# SPDX-License-Identifier: Apache-2.0
"""The public tree: layout, conversions, laws of counterfactual values, games written by hand."""

import dataclasses
import hashlib

import numpy as np
import pytest

from equipoise.core.errors import ConfigError, GameTooLargeError, InvalidGameError
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.public import PublicEdge, Relation
from equipoise.games.registry import make_game
from equipoise.solvers.best_response import bind_public_kernel, evaluate
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees import public_arrays
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree
from equipoise.trees.public import build_public_tree
from tests.reference.public import ReferencePublicCFR
from tests.reference.pursuit import MAP_A, MAP_B, PathPursuit, Pursuit, parse_map

GAMES = {
    "kuhn": make_game("kuhn"),
    "leduc": make_game("leduc"),
    "goofspiel": make_game("goofspiel", cards=4, prizes="random", reveal_bids=False),
    "liars_dice": make_game("liars_dice", faces=3),
    "phantom": make_game("phantom_tic_tac_toe", rows=2, columns=2),
    "pursuit": PathPursuit(Pursuit(parse_map(MAP_B), 6, (1, 11), 3)),
}


@pytest.fixture(scope="module", params=GAMES)
def pair(request):
    game = GAMES[request.param]
    public = derive_public_game(game)
    return public, build_public_tree(public), build_history_tree(game)


def random_strategy(tree, seed=7):
    """Returns a random strategy in the numbering of a history tree."""
    rng = np.random.default_rng(seed)
    strategy = np.ones(tree.size.num_sequences)
    for first, count in zip(tree.first_sequence, tree.num_actions, strict=True):
        strategy[first : first + count] = rng.dirichlet(np.ones(count))
    return strategy


def walk_reaches(game, tree, strategy):
    """Returns both players' reach at every node, by the twin."""
    twin = ReferencePublicCFR(game, rule=None)
    keys = zip(tree.infoset_player().tolist(), tree.infoset_labels, strict=True)
    for infoset, key in enumerate(keys):
        cells = tree.sequence_cell[tree.infoset_start[infoset] : tree.infoset_start[infoset + 1]]
        twin.strategy[key] = strategy[cells]
    found = {}

    def visit(state, reaches):
        found[state] = reaches
        for edge, below in twin.below(state, reaches):
            visit(edge.child, below)

    visit(game.initial_state(), twin.root_reaches())
    return [found[state] for state in tree.states]


class ByHand:
    """A derived game of which nothing is known but the protocol."""

    def __init__(self, game):
        for name in ("spec", "initial_state", "actor", "num_private", "legal_actions", "legality", "edges"):
            setattr(self, name, getattr(game, name))
        for name in ("joint_weights", "payoffs", "infostate", "public_state", "action_name", "action_class"):
            setattr(self, name, getattr(game, name))


def list_arrays(tree):
    parts = {"tree": tree, "cells": tree.cells, "terminals": tree.terminals}
    names = [(part, field.name) for part in parts for field in dataclasses.fields(parts[part])]
    return {f"{part}.{name}": getattr(parts[part], name) for part, name in names if name not in parts}


def test_a_game_asked_state_by_state_gives_the_same_tree(pair):
    game, tree, _ = pair
    expected, got = list_arrays(tree), list_arrays(build_public_tree(ByHand(game)))
    assert expected.pop("tree.num_histories") == game.num_histories
    assert got.pop("tree.num_histories") is None
    for name, value in expected.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(got[name], value, err_msg=name, strict=True)
        else:
            assert got[name] == value, name


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("kuhn", "f14a4816c4cd08f6"),
        ("leduc", "d605b3f8d104afeb"),
        ("goofspiel", "59a8dda000bf0a50"),
        ("phantom", "a70092646343c016"),
        ("pursuit", "96a33930d13ec6b6"),
    ],
)
def test_the_layout_stays_as_it_was(name, digest):
    # runs resume on these numbers: a change of the layout needs a new PUBLIC_TREE_FORMAT_VERSION
    arrays = list_arrays(build_public_tree(derive_public_game(GAMES[name])))
    hashed = hashlib.sha256()
    for key in ("cells.steps", "cells.source", "cells.entry_source", "cells.entry_target", "terminals.groups"):
        hashed.update(arrays[key].tobytes())
    for key in ("tree.block_start", "tree.slot", "tree.sequence_cell", "terminals.dense_own", "terminals.sparse_own"):
        hashed.update(arrays[key].tobytes())
    assert hashed.hexdigest()[:16] == digest


def test_progress_of_a_game_written_by_hand(monkeypatch):
    monkeypatch.setattr(public_arrays, "PROGRESS_EVERY", 100)
    seen = []
    tree = build_public_tree(Pursuit(parse_map(MAP_A), 6, (1, 11), 4), on_progress=lambda *record: seen.append(record))
    assert [fraction for _, fraction in seen] == sorted(fraction for _, fraction in seen)
    assert seen[0][0] == 100
    assert seen[-1] == (tree.actor.size, 1.0)


def test_parents_come_before_children(pair):
    _, tree, _ = pair
    assert tree.parent[0] == tree.ROOT
    assert np.all(tree.parent[1:] < np.arange(1, tree.parent.size))
    assert np.all(tree.actor[tree.parent[1:]] != TERMINAL)


def test_strategies_survive_the_round_trip(pair):
    _, tree, history = pair
    strategy = random_strategy(history)
    converted = tree.strategy_from_history(history, strategy)
    np.testing.assert_array_equal(tree.strategy_to_history(history, converted), strategy)


def test_tables_by_name_move_between_both_forms(pair):
    _, tree, history = pair
    strategy = random_strategy(history)
    table = TabularStrategy.from_tree(tree, tree.strategy_from_history(history, strategy))
    np.testing.assert_array_equal(table.to_tree(history), strategy)
    back = TabularStrategy.from_tree(history, strategy).to_tree(tree)
    np.testing.assert_array_equal(tree.strategy_to_history(history, back), strategy)


def test_values_and_best_responses_equal_the_history_form(pair):
    _, tree, history = pair
    strategy = random_strategy(history)
    expected = evaluate(history, strategy)
    got = evaluate(tree, tree.strategy_from_history(history, strategy))
    assert got.values == pytest.approx(expected.values, abs=1e-13)
    assert got.best_response_values == pytest.approx(expected.best_response_values, abs=1e-13)
    assert got.exploitability >= 0


def test_reaches_equal_the_twin(pair):
    game, tree, history = pair
    strategy = tree.strategy_from_history(history, random_strategy(history))
    realization = bind_public_kernel(tree).realize(strategy)
    for node, reaches in enumerate(walk_reaches(game, tree, strategy)):
        for player in (0, 1):
            np.testing.assert_allclose(realization[tree.private_cells(node, player)], reaches[player], atol=1e-15)


def test_best_response_is_a_pure_strategy_worth_its_value(pair):
    _, tree, history = pair
    kernel = bind_public_kernel(tree)
    strategy = tree.strategy_from_history(history, random_strategy(history))
    value, best = kernel.best_response(0, kernel.realize(strategy))
    mixed = np.where(np.arange(best.size) < tree.cells.cell_start[1], best, strategy)  # player 0's cells come first
    assert evaluate(tree, mixed).values[0] == pytest.approx(value, abs=1e-13)
    assert set(np.unique(best)) <= {0.0, 1.0}


@pytest.mark.usefixtures("any_team")
def test_threads_change_no_bit_of_values(pair):
    _, tree, history = pair
    strategy = tree.strategy_from_history(history, random_strategy(history))
    alone, team = evaluate(tree, strategy), evaluate(tree, strategy, num_threads=3)
    assert team == alone


def subgame(name="leduc"):
    """Returns Leduc below its first board card, with ranges of five hands on both sides."""
    game = derive_public_game(make_game(name))
    chance = next(state for state in range(game.num_public_states) if game.actor(state) == CHANCE)
    tree = build_public_tree(game, root=game.edges(chance)[0].child)
    kernel = bind_public_kernel(tree)
    strategy = kernel.normalize(np.random.default_rng(5).random(tree.cells.num_table_cells))
    return kernel, strategy


def root_values(kernel, strategy, reach):
    realization = kernel.realize(strategy, root_reach=reach)
    return [kernel.strategy_values(player, strategy, realization)[kernel.root_cells[player]] for player in (0, 1)]


def test_scaling_law():
    # specs/player-of-games.md part 2.2: (r_1, r_2) -> (a r_1, b r_2) gives (v_1, v_2) -> (b v_1, a v_2)
    kernel, strategy = subgame()
    reach = kernel.root_reach()
    reach *= np.random.default_rng(1).random(reach.size)
    scaled = reach.copy()
    scaled[kernel.root_cells[0]] *= 3.0
    scaled[kernel.root_cells[1]] *= 0.25
    first, second = root_values(kernel, strategy, reach)
    scaled_first, scaled_second = root_values(kernel, strategy, scaled)
    assert first.size == second.size == 5
    np.testing.assert_allclose(scaled_first, 0.25 * first, rtol=1e-12)
    np.testing.assert_allclose(scaled_second, 3.0 * second, rtol=1e-12)


def test_zero_sum_law():
    kernel, strategy = subgame()
    reach = kernel.root_reach()
    reach *= np.random.default_rng(2).random(reach.size)
    values = root_values(kernel, strategy, reach)
    totals = [reach[kernel.root_cells[player]] @ values[player] for player in (0, 1)]
    assert abs(totals[0]) > 1e-3
    assert sum(totals) == pytest.approx(0.0, abs=1e-15)


def test_general_sum_games_keep_two_matrices():
    class RakedKuhn:
        def __getattr__(self, name):
            return getattr(GAMES["kuhn"], name)

        @property
        def spec(self):
            return dataclasses.replace(GAMES["kuhn"].spec, is_zero_sum=False)

        def returns(self, state):
            first, second = GAMES["kuhn"].returns(state)
            return (0.9 * first, second) if first > 0 else (first, 0.8 * second)

    tree, history = build_public_tree(derive_public_game(RakedKuhn())), build_history_tree(RakedKuhn())
    strategy = random_strategy(history)
    expected, got = evaluate(history, strategy), evaluate(tree, tree.strategy_from_history(history, strategy))
    assert sum(expected.values) < -0.01
    assert got.values == pytest.approx(expected.values, abs=1e-14)
    assert got.best_response_values == pytest.approx(expected.best_response_values, abs=1e-14)


def test_leduc_terminals_share_a_matrix_per_board():
    # two matrices a board (fold, showdown) and one for folds before it, per player
    tree = build_public_tree(derive_public_game(make_game("leduc")))
    assert tree.terminals.groups.shape[0] == 2 * (2 * 6 + 1)
    assert tree.terminals.dense_own.size == 2 * 274
    assert tree.cells.entry_source.size == 0


@pytest.mark.parametrize(
    ("text", "counts", "uniform"),
    [(MAP_A, (393, 1203, 1092), 0.617), (MAP_B, (444, 1425, 1703), 0.938)],  # the digest's part 17
)
def test_pursuit_counts_of_the_digest(text, counts, uniform):
    tree = build_public_tree(Pursuit(parse_map(text), 6, (1, 11), 5))
    survivals = sum(label.endswith("free") for label in tree.public_labels)
    assert (np.count_nonzero(tree.actor == 0), np.count_nonzero(tree.actor == 1), survivals) == counts
    assert tree.cells.entry_source.size > 0  # merged stations: many-to-one relations
    kernel = bind_public_kernel(tree)
    strategy = kernel.normalize(np.zeros(tree.cells.num_table_cells))
    assert evaluate(tree, strategy).exploitability == pytest.approx(uniform, abs=5e-4)


def test_captures_and_merges_conserve_mass():
    game = Pursuit(parse_map(MAP_A), 6, (1, 11), 4)
    tree = build_public_tree(game)
    kernel = bind_public_kernel(tree)
    strategy = kernel.normalize(np.random.default_rng(4).random(tree.cells.num_table_cells))
    realization = kernel.realize(strategy)
    reaches = [realization[tree.private_cells(node, player)] for node in tree.terminal_node for player in (0, 1)]
    masses = [first.sum() * second.sum() for first, second in zip(reaches[::2], reaches[1::2], strict=True)]
    assert sum(masses) == pytest.approx(1.0, abs=1e-14)
    ends = [tree.public_labels[node].split()[-1] for node in tree.terminal_node]
    caught = sum(mass for mass, end in zip(masses, ends, strict=True) if end == "caught")
    assert 0.0 < caught < 1.0


def test_weights_of_relations_scale_reach_and_value():
    @dataclasses.dataclass(frozen=True)
    class Noisy:
        """A private state that splits into two with weights, before a terminal."""

        spec = GAMES["kuhn"].spec

        def initial_state(self):
            return 0

        def actor(self, state):
            return TERMINAL if state else CHANCE

        def num_private(self, state, player):
            return 2 if state and player == 0 else 1

        def legal_actions(self, state):
            return ()

        def edges(self, state):
            split = Relation(
                private=np.zeros(2, np.int32),
                action=np.full(2, -1, np.int32),
                target=np.arange(2, dtype=np.int32),
                weight=np.array([0.25, 0.75]),
            )
            return () if state else (PublicEdge(1, (split, Relation.pick([0]))),)

        def joint_weights(self, state):
            return np.ones((self.num_private(state, 0), 1))

        def payoffs(self, state):
            return np.array([[[4.0], [8.0]], [[-4.0], [-8.0]]])

        def public_state(self, state):
            return str(state)

    tree = build_public_tree(Noisy())
    assert evaluate(tree, np.zeros(0)).values == pytest.approx((7.0, -7.0))


def test_relations_out_of_range_are_named():
    class Broken(Pursuit):
        def num_private(self, place, player):
            return super().num_private(place, player) - (place.turn == 2 and player == 0)

    with pytest.raises(InvalidGameError, match=r"player 0's relation needs targets from 0 to .* at"):
        build_public_tree(Broken(parse_map(MAP_A), 6, (1, 11), 3))


def test_a_private_state_without_actions_is_named():
    class Broken(Pursuit):
        def legality(self, place):
            return super().legality(place) & (place.turn == 0)

    with pytest.raises(InvalidGameError, match="private state 0 has no action"):
        build_public_tree(Broken(parse_map(MAP_A), 6, (1, 11), 3))


def test_payoffs_of_the_wrong_shape_are_named():
    class Broken(Pursuit):
        def payoffs(self, place):
            return super().payoffs(place)[:1]

    with pytest.raises(InvalidGameError, match=r"payoffs have shape \(1, "):
        build_public_tree(Broken(parse_map(MAP_A), 6, (1, 11), 3))


def test_false_claims_of_zero_sums_are_named():
    class Raked:
        def __getattr__(self, name):
            return getattr(GAMES["kuhn"], name)

        def returns(self, state):
            first, second = GAMES["kuhn"].returns(state)
            return (0.9 * first, second) if first > 1 else (first, second)

    class RakedPursuit(Pursuit):
        def payoffs(self, place):
            return super().payoffs(place) * np.array([1.0, 0.9])[:, None, None]

    for build in (build_history_tree, derive_public_game):
        with pytest.raises(InvalidGameError, match=r"says that it is zero-sum, but .* \[1\.8, -2\.0\]"):
            build(Raked())
    with pytest.raises(InvalidGameError, match="says that it is zero-sum, but its returns do not sum to zero"):
        build_public_tree(RakedPursuit(parse_map(MAP_A), 6, (1, 11), 3))


def test_the_limit_stops_building():
    with pytest.raises(GameTooLargeError, match="more than 100 public states"):
        build_public_tree(Pursuit(parse_map(MAP_A), 6, (1, 11), 5), max_nodes=100)


def test_strategies_of_another_game_are_refused():
    tree = build_public_tree(derive_public_game(make_game("kuhn")))
    history = build_history_tree(make_game("leduc", merge_suits=True))
    with pytest.raises(ConfigError, match="must have the same information states, got 12 and 288"):
        tree.strategy_to_history(history, np.zeros(tree.cells.num_table_cells))


def test_size_reads_well():
    text = str(build_public_tree(derive_public_game(make_game("kuhn"))).size)
    assert text.startswith("4 decision, 0 chance and 5 terminal public states, 12 information states")
