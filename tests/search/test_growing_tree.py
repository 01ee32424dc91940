# SPDX-License-Identifier: Apache-2.0
"""Growing-tree CFR: sweeps against a plain twin, budgets, growth to the whole tree, perfect information, re-solving."""

import numpy as np
import pytest

from equipoise.agents.continual import ContinualAgent
from equipoise.core.errors import ConfigError
from equipoise.evaluation.assembly import measure_seeds
from equipoise.games import CHANCE, TERMINAL, make_game, parse_game
from equipoise.games.perfect_information import PerfectInformationGame
from equipoise.games.scotland_yard import ScotlandYardPublicGame
from equipoise.kernels.frontier import LeafValues
from equipoise.kernels.growing import Watched
from equipoise.search.beliefs import PublicBelief
from equipoise.search.continual import ContinualSettings
from equipoise.search.gadgets import Resolve, Unsafe
from equipoise.search.growing_tree import GrowingTree, Growth, RuleBook
from equipoise.search.leaves import ZeroLeaves
from equipoise.solvers import CFRPlus, CFRSolver
from equipoise.solvers.rules import Hedge
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_edges import read_policy
from tests.reference.growing import GrowingTwin

FORMS = {
    "kuhn": lambda: derive_public_game(make_game("kuhn")),
    "leduc": lambda: derive_public_game(make_game("leduc", merge_suits=True)),
    "glasses": lambda: ScotlandYardPublicGame(make_game("glasses", board="glasses-b", rounds=3)),
    "dice": lambda: derive_public_game(make_game("liars_dice", faces=3)),
}


class SkewedLeaves:
    """Worth something made up for each state, linear in the other's reach; favours early actions."""

    def value(self, state, reach):
        tilt = (hash(state) % 7 - 3) / 4 + hash(state) % 1009 / 3027  # no ties, which rounding would break
        return [np.full(reach[0].size, tilt * reach[1].sum()), np.full(reach[1].size, -tilt * reach[0].sum())]

    def evaluate(self, batch):
        cfv = np.zeros(batch.reach[0].shape), np.zeros(batch.reach[1].shape)
        for row, state in enumerate(batch.states):
            for player, own in enumerate(self.value(state, [reach[row] for reach in batch.reach])):
                cfv[player][row] = own
        return LeafValues(cfv)


def begin(form, evaluator=None, *, seed=0, watched=None, **growth):
    state = form.initial_state()
    reach = np.ones(form.num_private(state, 0)), np.ones(form.num_private(state, 1))
    belief = PublicBelief(reach=reach, joint=form.joint_weights(state))
    rng = np.random.default_rng(seed)
    leaves, rules = evaluator or ZeroLeaves(), RuleBook(form)
    return GrowingTree(rules, state, belief, leaves, growth=Growth(**growth), rng=rng, watched=watched)


@pytest.mark.parametrize("is_alternating", [False, True])
@pytest.mark.parametrize("name", FORMS)
def test_sweeps_of_a_tree_that_grows_are_those_of_a_plain_twin(name, is_alternating):
    form, leaves = FORMS[name](), SkewedLeaves()
    tree = begin(form, leaves, is_alternating=is_alternating, first_children=1)
    root = form.initial_state()
    twin = GrowingTwin(form, root, [np.ones(form.num_private(root, player)) for player in (0, 1)], leaves.value)
    values = [None, None]
    for t in range(1, 26):
        tree.sweep()
        for updated in ((True, False), (False, True)) if is_alternating else ((True, True),):
            found = twin.sweep(tree.node, t, updated)
            values = [new if is_new else old for new, old, is_new in zip(found, values, updated, strict=True)]
        for path, regret in twin.regret.items():
            np.testing.assert_allclose(tree.arena.read_table("regret", tree.node[path]), regret, atol=1e-12)
            with np.errstate(invalid="ignore"):
                share = twin.average[path] / twin.average[path].sum(axis=1, keepdims=True)
            np.testing.assert_allclose(tree.policy(tree.node[path])[reached(share)], share[reached(share)], atol=1e-12)
        for player in (0, 1):
            np.testing.assert_allclose(tree.arena.read_block("value", 0, player), values[player], atol=1e-12)
        for _ in range(4):
            tree.walk()
    assert len(twin.regret) > 3


def reached(rows):
    return np.isfinite(rows).all(axis=1)


@pytest.mark.parametrize(("s", "c", "sweeps"), [(3, 0.01, 300), (10, 0.1, 100), (20, 1, 20), (40, 10, 4), (25, 10, 3)])
def test_budget_is_what_it_says(s, c, sweeps):
    tree = begin(FORMS["kuhn"](), simulations=s, per_sweep=c)
    tree.grow()

    assert (tree.num_walks, tree.num_sweeps) == (s, sweeps)


@pytest.mark.parametrize(("is_alternating", "known"), [(False, 0.0440), (True, 0.0134)])
def test_whole_tree_is_full_cfr(is_alternating, known):
    form = derive_public_game(make_game("leduc"))
    tree = begin(form, is_alternating=is_alternating)
    for path in list_paths(form):
        if path and tree.rules.facts(tree.states[tree.node[path]]).actor != TERMINAL:
            tree._expand_whole(tree.node[path])
    for _ in range(100):
        tree.sweep()
    fixed = build_public_tree(form)
    solver = CFRSolver(fixed, CFRPlus(gamma=1.0), is_alternating=is_alternating)
    solver.iterate(100)

    assert solver.evaluate().exploitability == pytest.approx(known, abs=1e-4)
    strategy = solver.average_strategy()
    for path in [(), (0,), (1,), (0, 0)]:
        node = tree.node[path]
        if form.actor(tree.states[node]) >= 0:
            np.testing.assert_allclose(tree.policy(node), read_policy(fixed, tree.states[node], strategy), atol=1e-9)


def list_paths(form):
    """Returns the edges that lead to every public state, parents first."""
    paths, waiting = [], [((), form.initial_state())]
    while waiting:
        path, state = waiting.pop(0)
        paths.append(path)
        waiting += [((*path, n), edge.child) for n, edge in enumerate(form.edges(state))]
    return paths


def test_growing_on_and_on_covers_the_game_and_solves_it():
    form = FORMS["kuhn"]()
    tree = begin(form, SkewedLeaves(), simulations=600, is_alternating=True)
    tree.grow()

    assert len(tree.states) == len(list_paths(form))
    assert tree.arena.leaves() == []
    assert float(tree.arena.average_values(0, 0).sum()) == pytest.approx(-1 / 18, abs=0.02)


def test_every_private_state_has_an_action_in_the_tree():
    tree = begin(ScotlandYardPublicGame(make_game("scotland_yard_town")), simulations=60, first_children=1)
    tree.grow()

    for node in tree.arena._openings:
        if tree.rules.facts(tree.states[node]).actor >= 0:
            np.testing.assert_allclose(tree.arena.read_table("strategy", node).sum(axis=1), 1.0)


def test_full_board_of_scotland_yard_is_searched_from_a_position():
    form = ScotlandYardPublicGame(parse_game("scotland_yard(starts=63,65,67,79,82,111)"))
    tree = begin(form, simulations=20)
    tree.grow()

    np.testing.assert_allclose(tree.policy(tree.start).sum(), 1.0)
    assert len(tree.states) > 20


def position(moves):
    game = make_game("tic_tac_toe")
    state = game.initial_state()
    for move in moves:
        state = game.apply(state, move)
    form = PerfectInformationGame(game)
    return form, form.initial_state()._replace(inside=state)


@pytest.mark.parametrize(("moves", "best"), [((0, 3, 1, 4), 2), ((0, 4, 1), 2), ((0, 4, 1, 2), 6)])
def test_perfect_information_finds_the_move_and_asks_once_a_node(moves, best):
    form, state = position(moves)
    belief = PublicBelief(reach=(np.ones(1), np.ones(1)), joint=np.ones((1, 1)))
    growth = Growth(simulations=600, first_children=1)
    tree = GrowingTree(RuleBook(form), state, belief, ZeroLeaves(), growth=growth, rng=np.random.default_rng(1))
    tree.grow()

    policy = tree.policy(tree.start)[0]
    assert form.legal_actions(state)[int(policy.argmax())] == best
    assert policy.max() > 0.6
    assert tree.num_asked <= len(tree.states)


def test_one_child_a_walk_with_perfect_information():
    form, state = position(())
    belief = PublicBelief(reach=(np.ones(1), np.ones(1)), joint=np.ones((1, 1)))
    growth = Growth(simulations=50, first_children=1)
    tree = GrowingTree(RuleBook(form), state, belief, ZeroLeaves(), growth=growth, rng=np.random.default_rng(1))
    tree.grow()

    assert len(tree.states) == 1 + 9 + 50


class AskingAgain(GrowingTree):
    """Asks about leaves in every sweep, also where there is one private state each."""

    def _value_points(self):
        self._new_points = []


def test_values_asked_for_once_are_those_of_asking_again():
    form, state = position((0, 4))
    belief = PublicBelief(reach=(np.ones(1), np.ones(1)), joint=np.ones((1, 1)))
    growth = Growth(simulations=120, first_children=1)
    trees = [
        kind(RuleBook(form), state, belief, SkewedLeaves(), growth=growth, rng=np.random.default_rng(2))
        for kind in (GrowingTree, AskingAgain)
    ]
    for tree in trees:
        tree.grow()

    assert list(trees[0].node) == list(trees[1].node)
    np.testing.assert_array_equal(trees[0].policy(trees[0].start), trees[1].policy(trees[1].start))
    assert trees[0].num_asked < trees[1].num_asked / 5


def read(tree, name, node, player):
    return tree.arena.read_block(name, node, player)


@pytest.mark.parametrize("name", FORMS)
def test_values_sum_to_zero_at_every_node_of_every_sweep(name):
    tree = begin(FORMS[name](), SkewedLeaves(), first_children=1, watched=Watched.ALL)
    for _ in range(12):
        tree.sweep()
        for node in range(len(tree.states)):
            earned = [read(tree, "reach", node, player) @ read(tree, "value", node, player) for player in (0, 1)]
            assert sum(earned) == pytest.approx(0.0, abs=1e-12)
        tree.walk()


def is_dealt(tree, path):
    return len(path) == 3 and tree.rules.facts(tree.states[tree.node[path[:2]]]).actor == CHANCE


def test_watching_changes_no_strategy_and_values_of_other_nodes_are_not_known():
    trees = [begin(FORMS["leduc"](), SkewedLeaves(), simulations=30, watched=watched) for watched in (None, *Watched)]
    for tree in trees:
        tree.grow()

    for tree in trees[1:]:
        assert list(tree.node) == list(trees[0].node)
        np.testing.assert_allclose(tree.policy(0), trees[0].policy(0), atol=1e-12)
    nothing, following, moves, everything = (
        {path for path, node in tree.node.items() if tree.arena.is_watched(node)} for tree in trees
    )
    second = {path for path in trees[0].node if len(path) == 2}
    cards = {path for path in trees[0].node if path[:2] in second and is_dealt(trees[0], path)}
    assert nothing == {()}
    assert following == {(), (0,), (1,)}
    assert moves == following | second | cards
    assert everything == set(trees[0].node)
    with pytest.raises(ValueError, match=r"values of node 1 are not kept"):
        trees[0].arena.average_values(1, 0)


@pytest.mark.parametrize("name", FORMS)
def test_scaled_reaches_scale_the_values_of_the_other(name):
    form = FORMS[name]()
    state = form.initial_state()
    values = []
    for scale in ((1.0, 1.0), (4.0, 0.5)):
        reach = tuple(scale[player] * np.ones(form.num_private(state, player)) for player in (0, 1))
        belief = PublicBelief(reach=reach, joint=form.joint_weights(state))
        growth, rng = Growth(simulations=30), np.random.default_rng(5)
        tree = GrowingTree(RuleBook(form), state, belief, SkewedLeaves(), growth=growth, rng=rng)
        tree.grow()
        values.append([tree.arena.average_values(0, player) for player in (0, 1)])
    np.testing.assert_allclose(values[1][0], 0.5 * values[0][0], atol=1e-12)
    np.testing.assert_allclose(values[1][1], 4.0 * values[0][1], atol=1e-12)


def test_regrets_are_never_negative_and_strategies_are_distributions():
    tree = begin(FORMS["dice"](), SkewedLeaves(), simulations=40)
    tree.grow()
    decisions = [node for node in tree.arena._openings if tree.rules.facts(tree.states[node]).actor >= 0]

    assert all((tree.arena.read_table("regret", node) >= 0).all() for node in decisions)
    for node in decisions:
        for rows in (tree.arena.read_table("strategy", node), tree.policy(node)):
            np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_walks_by_value_alone_or_by_strategy_alone_grow_too(share):
    tree = begin(FORMS["leduc"](), SkewedLeaves(), simulations=30, share_of_values=share)
    tree.grow()

    assert len(tree.states) > 15


def test_same_seed_grows_the_same_tree():
    trees = [begin(FORMS["leduc"](), SkewedLeaves(), simulations=40, seed=seed) for seed in (3, 3, 4)]
    for tree in trees:
        tree.grow()

    assert list(trees[0].node) == list(trees[1].node)
    assert (trees[0].policy(0) == trees[1].policy(0)).all()
    assert list(trees[0].node) != list(trees[2].node)


def test_queries_are_kept_where_asked_for():
    form = FORMS["leduc"]()
    state = form.initial_state()
    reach = np.ones(form.num_private(state, 0)), np.ones(form.num_private(state, 1))
    belief = PublicBelief(reach=reach, joint=form.joint_weights(state))
    growth, rng = Growth(simulations=5), np.random.default_rng(0)
    tree = GrowingTree(RuleBook(form), state, belief, ZeroLeaves(), growth=growth, rng=rng, keeps_queries=True)
    tree.grow()

    assert len(tree.queries) == tree.num_asked > 0
    assert tree.queries[0].reach[0].shape == (form.num_private(tree.queries[0].state, 0),)


def composed(growth, method):
    game = make_game("leduc", merge_suits=True)
    settings = ContinualSettings(growth=growth, leaves=ZeroLeaves(), method=method)
    agent = ContinualAgent(derive_public_game(game), search=settings)
    return measure_seeds(agent, game, seeds=[0], is_public=True).mean


def test_more_growth_is_less_exploitable_and_safe_beats_unsafe():
    little, much = (composed(Growth(simulations=s), Resolve(share=0.2)) for s in (30, 300))
    unsafe = composed(Growth(simulations=300), Unsafe())

    assert much < 0.6 * little
    assert much < 0.7 * unsafe


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"simulations": -1}, "simulations must be at least 0, got -1"),
        ({"per_sweep": 0.0}, "walks for each sweep must be above 0"),
        ({"share_of_values": 1.5}, "between 0 and 1, got 1.5"),
        ({"exploration": -1.0}, "exploration must be finite and at least 0"),
        ({"first_children": -2}, "children of a leaf must be at least 0"),
    ],
)
def test_bad_growth_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        Growth(**settings)


def test_rules_that_do_not_match_regrets_are_refused():
    with pytest.raises(ConfigError, match="match regrets"):
        begin(FORMS["kuhn"](), rule=Hedge())


def test_growth_needs_an_evaluator_and_no_limit():
    with pytest.raises(ConfigError, match="leave the limit out, and give an evaluator"):
        ContinualSettings(growth=Growth())
