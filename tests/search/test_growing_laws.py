# SPDX-License-Identifier: Apache-2.0
"""The laws of trees that grow: the digest's list (player-of-games, part 13.2), by number.

P2, P3, P13 (asking once) and P14: `test_growing_tree`. P4: `test_scotland_yard.test_public_form_follows_the_game`. P16:
`test_gadgets.test_safe_search_never_raises_exploitability`; the digest's table of re-solving: `test_continual`. Trees
never shrink here, so that nothing can be deleted as in P6. P9, P12, P13 (values), P15: here.
"""

import numpy as np
import pytest

from equipoise.games import make_game
from equipoise.games.perfect_information import PerfectInformationGame
from equipoise.kernels.frontier import LeafValues
from equipoise.learning.pog.measuring import measure_composed
from equipoise.search.beliefs import PublicBelief
from equipoise.search.continual import ContinualSettings
from equipoise.search.gadgets import Resolve
from equipoise.search.growing_tree import GrowingTree, Growth, RuleBook
from equipoise.search.leaves import ResolvedLeaves, ZeroLeaves, batch_beliefs
from equipoise.solvers.best_response import evaluate
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_edges import write_policy

KUHN = derive_public_game(make_game("kuhn"))
KUHN_TREE = build_public_tree(KUHN)
AFTER_CHECK, AFTER_BET = 1, 6  # public states: the second player moves


def grow(form, evaluator, state=None, reach=None, *, seed=0, **growth):
    state = form.initial_state() if state is None else state
    reach = reach or (np.ones(form.num_private(state, 0)), np.ones(form.num_private(state, 1)))
    belief = PublicBelief(reach=reach, joint=form.joint_weights(state))
    keeps = growth.pop("keeps_queries", False)
    rng = np.random.default_rng(seed)
    tree = GrowingTree(RuleBook(form), state, belief, evaluator, growth=Growth(**growth), rng=rng, keeps_queries=keeps)
    tree.grow()
    return tree


def play_whole_tree(tree):
    """Returns `[C]` the strategy of a tree of Kuhn that has grown over the whole game."""
    strategy = np.array(KUHN_TREE.legal_share)
    for path, node in tree.node.items():
        state = tree.states[node]
        if KUHN.actor(state) >= 0:
            assert node in tree.arena._openings, path
            write_policy(KUHN_TREE, state, tree.policy(node), strategy)
    return strategy


def test_sides_of_two_solutions_are_one_too():
    # P15: equilibria of games in sum 0 can be interchanged
    first, second = (
        play_whole_tree(grow(KUHN, ZeroLeaves(), seed=seed, simulations=900, is_alternating=True)) for seed in (0, 1)
    )
    assert np.abs(first - second).max() > 0.01
    mixed = first.copy()
    for state in np.flatnonzero(np.asarray(KUHN_TREE.actor) == 1):
        part = np.zeros_like(first, dtype=bool)
        marks = np.array(KUHN_TREE.legal_share)
        write_policy(KUHN_TREE, int(state), np.full_like(KUHN.legality(int(state)), -1.0, dtype=float), marks)
        part = marks == -1.0
        mixed[part] = second[part]
    assert (mixed != first).any()
    assert (mixed != second).any()
    assert evaluate(KUHN_TREE, mixed).exploitability < 0.02


@pytest.mark.parametrize(("moves", "value"), [((0, 3, 1, 4), 1.0), ((0, 4, 8), 0.0), ((0, 1, 3, 6, 8), -1.0)])
def test_values_where_nothing_is_hidden_are_minimax(moves, value):
    # P13: X completes a line; a draw; O takes the centre and has two lines open (values are X's)
    game = make_game("tic_tac_toe")
    state = game.initial_state()
    for move in moves:
        state = game.apply(state, move)
    form = PerfectInformationGame(game)
    tree = grow(
        form,
        ZeroLeaves(),
        form.initial_state()._replace(inside=state),
        (np.ones(1), np.ones(1)),
        simulations=1500,
        first_children=1,
    )
    assert float(tree.arena.average_values(0, 0)[0]) == pytest.approx(value, abs=0.08)


def test_searching_again_at_every_decision_by_exact_values_is_no_blow_up():
    # P9
    leaves = ResolvedLeaves(KUHN_TREE, iterations=60)
    growth = Growth(simulations=1, per_sweep=1 / 150, is_alternating=True)  # 150 sweeps of what follows the root
    settings = ContinualSettings(growth=growth, leaves=leaves, method=Resolve(share=0.2), is_watchful=True)

    assert measure_composed(KUHN, KUHN_TREE, settings, [0])[0].exploitability < 0.02


class Remembered:
    """A table of solved beliefs: values are those of the nearest belief that is known, else 0."""

    def __init__(self):
        self.known, self.asked = {}, {}

    def evaluate(self, batch):
        cfv = np.zeros(batch.reach[0].shape), np.zeros(batch.reach[1].shape)
        for row, state in enumerate(batch.states):
            reach = [np.array(own[row][: KUHN.num_private(state, p)]) for p, own in enumerate(batch.reach)]
            shares = np.concatenate([own / max(own.sum(), 1e-12) for own in reach])
            self.asked.setdefault((state, tuple(np.round(shares, 2).tolist())), shares)
            if state not in self.known:
                continue
            beliefs, values = self.known[state]
            nearest = values[np.abs(beliefs - shares).sum(axis=1).argmin()]
            for player, value in enumerate(np.split(nearest, [reach[0].size])):
                cfv[player][row, : value.size] = value * reach[1 - player].sum()
        return LeafValues(cfv)


def solve_known(table, sweeps):
    """Solves everything that was asked so far by searches of one step, and remembers it."""
    found = {}
    for (state, _), shares in dict(table.asked).items():
        first, second = np.split(shares, [KUHN.num_private(state, 0)])
        tree = grow(KUHN, table, state, (first, second), simulations=0, is_alternating=True)
        for _ in range(sweeps):
            tree.sweep()
        values = [tree.arena.average_values(0, player) for player in (0, 1)]
        found.setdefault(state, []).append((shares, np.concatenate(values)))
    table.known = {state: tuple(map(np.array, zip(*rows, strict=True))) for state, rows in found.items()}


def errors_of(table, state):
    """Returns how far remembered values are from solved ones, in the mean over private states that are there."""
    oracle, found = ResolvedLeaves(KUHN_TREE, iterations=300), []
    for shares, values in zip(*table.known[state], strict=True):
        reach = tuple(np.split(shares, [KUHN.num_private(state, 0)]))
        belief = PublicBelief(reach=reach, joint=KUHN.joint_weights(state))
        exact = oracle.evaluate(batch_beliefs([state], [belief])).cfv
        ours = np.split(values, [reach[0].size])
        found.append(sum(reach[p] @ np.abs(exact[p][0, : reach[p].size] - ours[p]) for p in (0, 1)))
    return float(np.mean(found))


def test_a_table_of_solved_queries_learns_the_game_from_its_ends():
    # P12: [SG21] section 3.4.4: searches of one step, and their queries solved by searches of one step
    table, above, below = Remembered(), [], []
    for _ in range(5):
        tree = grow(KUHN, table, simulations=0, is_alternating=True)
        for _ in range(60):
            tree.sweep()
        solve_known(table, 60)
        above.append(errors_of(table, AFTER_CHECK))
        below.append(errors_of(table, AFTER_BET))

    assert max(below) < 1e-3  # what follows are ends
    assert above[0] > 0.05
    assert above[-1] < 0.6 * above[0]
    assert len(table.asked) < 2000
