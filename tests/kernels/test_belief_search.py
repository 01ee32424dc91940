# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import parse_game
from equipoise.kernels.belief_search import BeliefDraws, BeliefMode, BeliefNetKernel, BeliefPrior, BeliefSearchSettings
from equipoise.learning.rebel.nets import bind_belief_net, make_config, predict
from equipoise.learning.rebel.settings import RebelSettings
from equipoise.learning.values.weights import StoredNet, expected_shapes
from equipoise.search.belief_games import BeliefGame, parse_horizon
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.rules import tabulate_discounts
from tests.reference.belief_search import ReferenceSearch


def make_game(text, horizon):
    return BeliefGame.of(parse_game(text), parse_horizon(horizon))


def make_net(game, seed=0):
    """Returns a network with random weights, large enough to matter."""
    config = make_config(game, RebelSettings(hidden=20), "some game")
    rng = np.random.default_rng(seed)
    tensors = {name: rng.normal(0.0, 0.4, shape).astype(np.float32) for name, shape in expected_shapes(config).items()}
    return StoredNet(config=config, tensors=tensors)


def draw_belief(game, kind, rng):
    weight = game.subgames[kind].arrays.root_weight * rng.random((2, game.width)).astype(np.float32)
    return weight / weight.sum(axis=1, keepdims=True)


def make_settings(rule="dcfr", iterations=7, **changes):
    parsed = parse_rule(rule)
    return BeliefSearchSettings(rule=parsed.kernel, discounts=tabulate_discounts(parsed, 1, iterations), **changes)


def make_twin(game, node, belief, stored, settings, mode):
    return ReferenceSearch(
        game,
        node,
        belief.astype(float),
        lambda kind, asked: predict(stored, np.array([kind]), asked[None].astype(np.float32))[0].astype(float),
        discounts=settings.discounts,
        mode=mode,
        is_alternating=settings.is_alternating,
        floors=settings.rule.floors_regrets,
    )


MODES = {"cfr-d": BeliefMode.CFR_D, "cfr-avg": BeliefMode.CFR_AVG, "modified": BeliefMode.MODIFIED_CFR_AVG}


@pytest.mark.parametrize(
    ("text", "horizon", "kind", "rule", "mode", "is_alternating"),
    [
        ("kuhn", "1", 1, "lcfr", "cfr-d", True),
        ("kuhn", "2", 0, "cfr+", "cfr-d", False),
        ("leduc", "2", 0, "dcfr", "cfr-d", True),
        ("leduc", "round", 1, "dcfr", "cfr-d", True),
        ("leduc", "3", 4, "lcfr", "cfr-avg", False),
        ("liars_dice(dice=2,faces=2)", "2", 2, "dcfr", "modified", False),
        ("goofspiel(cards=3)", "2", 1, "dcfr", "cfr-d", True),
    ],
)
def test_searches_are_those_of_the_twin(text, horizon, kind, rule, mode, is_alternating):
    game = make_game(text, horizon)
    stored = make_net(game)
    belief = draw_belief(game, kind, np.random.default_rng(1))
    node = int(game.all_kinds.node[game.all_kinds.kind[_first_node(game, kind)]])
    settings = make_settings(rule, mode=MODES[mode], is_alternating=is_alternating, num_lanes=4)
    draws = BeliefDraws.of(np.zeros(7, np.int32), np.arange(1, 8, dtype=np.int32))

    found = game.subgames[kind].kernel.search(
        belief[None], bind_belief_net(stored), settings, draws, wants_drawn_policy=True, wants_policy=True
    )

    twin = make_twin(game, node, belief, stored, settings, mode)
    played, values, averages = twin.run()
    first = game.first_player_at(node)
    for place, player in enumerate((first, 1 - first)):
        own = values[player]
        np.testing.assert_allclose(found.value[0, place, : own.size], own, atol=2e-5)
    flat = np.concatenate([averages[decision].T.ravel() for decision in twin.decisions])
    np.testing.assert_allclose(found.policy[0], flat, atol=1e-3)
    if mode == "cfr-d":
        for t, policy in enumerate(played):
            flat = np.concatenate([policy[decision].T.ravel() for decision in twin.decisions])
            np.testing.assert_allclose(found.drawn_policy[t], flat, atol=2e-3)


@pytest.mark.parametrize(
    ("text", "kind", "rule", "mode"),
    [
        ("kuhn", 0, "cfr+", "cfr-d"),
        ("leduc", 1, "dcfr", "cfr-d"),
        ("leduc", 4, "lcfr", "modified"),
        ("liars_dice(dice=2,faces=2)", 2, "lcfr", "cfr-avg"),
    ],
)
def test_searches_with_a_prior_are_those_of_the_twin(text, kind, rule, mode):
    game = make_game(text, "2")
    stored, rng = make_net(game), np.random.default_rng(5)
    belief, subgame = draw_belief(game, kind, rng), game.subgames[kind]
    node = int(game.all_kinds.node[game.all_kinds.kind[_first_node(game, kind)]])
    settings = make_settings(rule, 9, mode=MODES[mode], is_alternating=mode == "cfr-d", num_lanes=4)
    twin = make_twin(game, node, belief, stored, settings, mode)
    policy = {d: twin.normalize(twin.legal[d] * rng.random(twin.legal[d].shape), d) for d in twin.decisions}
    meeting = {d: rng.random(twin.legal[d].shape) for d in twin.decisions}
    flat, met = (
        np.concatenate([table[d].T.ravel() for d in twin.decisions]).astype(np.float32) for table in (policy, meeting)
    )
    twin.start_warm(policy, meeting, 4)
    played, values, averages = twin.run()
    draws = BeliefDraws.of(np.zeros(5, np.int32), np.arange(5, 10, dtype=np.int32))

    found = subgame.kernel.search(
        belief[None],
        bind_belief_net(stored),
        settings,
        draws,
        prior=BeliefPrior(policy=flat[None], meeting=met[None], iterations=4),
        wants_drawn_policy=True,
        wants_policy=True,
    )

    first = game.first_player_at(node)
    for place, player in enumerate((first, 1 - first)):
        np.testing.assert_allclose(found.value[0, place, : values[player].size], values[player], atol=2e-5)
    expected = np.concatenate([averages[d].T.ravel() for d in twin.decisions])
    np.testing.assert_allclose(found.policy[0], expected, atol=1e-3)
    if mode == "cfr-d":
        for t, each in enumerate(played):
            expected = np.concatenate([each[d].T.ravel() for d in twin.decisions])
            np.testing.assert_allclose(found.drawn_policy[t], expected, atol=2e-3)


@pytest.mark.parametrize("iterations", [0, 7])
def test_priors_that_count_for_every_iteration_or_none_are_refused(iterations):
    game = make_game("kuhn", "99")
    policy = game.subgames[0].arrays.legal_share[None].copy()
    with pytest.raises(ValueError, match="iterations of the prior must be"):
        game.subgames[0].kernel.search(
            game.root_belief()[None],
            None,
            make_settings(),
            prior=BeliefPrior(policy=policy, meeting=policy, iterations=iterations),
        )


def _first_node(game, kind):
    nodes = range(game.tree.num_nodes)
    return next(node for node in nodes if game.all_kinds.kind[node] in game._numbers and game.kind_at(node) == kind)


def test_lanes_never_meet():
    game = make_game("leduc", "2")
    net = bind_belief_net(make_net(game))
    rng = np.random.default_rng(2)
    belief = np.stack([draw_belief(game, 1, rng) for _ in range(21)])
    kernel = game.subgames[1].kernel
    draws = BeliefDraws(
        lane=np.arange(21, dtype=np.int32),
        iteration=rng.integers(1, 6, 21).astype(np.int32),
        explorer=rng.integers(-1, 2, 21).astype(np.int8),
        point=rng.random(21),
        exploration=0.25,
    )
    results = [
        kernel.search(belief, net, make_settings(iterations=5, num_lanes=lanes), draws) for lanes in (1, 4, 16, 64)
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].value, other.value)
        np.testing.assert_array_equal(results[0].leaf, other.leaf)
        np.testing.assert_array_equal(results[0].belief, other.belief)
    alone = kernel.search(belief[7:8], net, make_settings(iterations=5))
    np.testing.assert_array_equal(alone.value[0], results[0].value[7])


@pytest.mark.parametrize("mode", list(BeliefMode))
def test_searches_without_values_end_with_their_last_draw_and_play_the_same(mode):
    game = make_game("leduc", "2")
    net = bind_belief_net(make_net(game))
    rng = np.random.default_rng(3)
    belief = np.stack([draw_belief(game, 1, rng) for _ in range(9)])
    draws = BeliefDraws.of(rng.integers(0, 9, 20).astype(np.int32), rng.integers(1, 31, 20).astype(np.int32))
    is_alternating = mode in (BeliefMode.CFR_D, BeliefMode.FICTITIOUS_PLAY)
    settings = make_settings(iterations=30, mode=mode, is_alternating=is_alternating, num_lanes=4)
    kernel = game.subgames[1].kernel
    whole, cut = (
        kernel.search(belief, net, settings, draws, wants_drawn_policy=True, wants_values=wants)
        for wants in (True, False)
    )
    np.testing.assert_array_equal(whole.drawn_policy, cut.drawn_policy)
    np.testing.assert_array_equal(whole.leaf, cut.leaf)
    assert whole.value.shape == belief.shape
    assert cut.value.size == 0


def test_without_leaves_a_search_is_cfr():
    game = make_game("leduc", "99")
    found = game.subgames[0].kernel.search(
        game.root_belief()[None], None, make_settings("lcfr", 12, num_lanes=1), wants_policy=True
    )
    solver = CFRSolver(game.tree, parse_rule("lcfr"))
    solver.iterate(12)
    strategy = game.tree.legal_share.copy()
    strategy[game.table_cells(0)] = found.policy[0]
    ours, theirs = evaluate(game.tree, strategy), evaluate(game.tree, solver.average_strategy())
    assert ours.exploitability == pytest.approx(theirs.exploitability, rel=1e-3)


def test_modified_cfr_avg_is_cfr_where_leaves_are_terminal():
    game = make_game("kuhn", "99")
    plain, modified = (
        game.subgames[0].kernel.search(
            game.root_belief()[None], None, make_settings(iterations=30, mode=mode, is_alternating=False)
        )
        for mode in (BeliefMode.CFR_D, BeliefMode.MODIFIED_CFR_AVG)
    )
    np.testing.assert_array_equal(plain.value, modified.value)


@pytest.mark.parametrize(("rule", "is_alternating"), [("lcfr", True), ("lcfr", False), ("optimistic-lcfr", True)])
def test_fictitious_play_converges(rule, is_alternating):
    game = make_game("kuhn", "99")

    def exploitability(iterations):
        settings = make_settings(rule, iterations, mode=BeliefMode.FICTITIOUS_PLAY, is_alternating=is_alternating)
        found = game.subgames[0].kernel.search(game.root_belief()[None], None, settings, wants_policy=True)
        strategy = game.tree.legal_share.copy()
        strategy[game.table_cells(0)] = found.policy[0]
        value = (found.value[0] * game.root_belief()).sum(axis=1) * game.unit
        assert value.sum() == pytest.approx(0.0, abs=1e-5)
        return evaluate(game.tree, strategy).exploitability

    assert exploitability(1000) < 0.02 < exploitability(10)


def test_leaves_are_drawn_as_play_leads_there():
    game = make_game("leduc", "2")
    net = bind_belief_net(make_net(game))
    size = 4000
    draws = BeliefDraws(
        lane=np.zeros(size, np.int32),
        iteration=np.ones(size, np.int32),  # uniform play
        explorer=np.zeros(size, np.int8),
        point=(np.arange(size) + 0.5) / size,
        exploration=0.5,
    )
    found = game.subgames[0].kernel.search(game.root_belief()[None], net, make_settings(iterations=1), draws)
    leaves = game.subgames[0].leaves.tolist()
    names = [game.tree.public_labels[leaf] for leaf in leaves]
    shares = {name: float(np.mean(found.leaf == place)) for place, name in enumerate(names)}
    # two actions at first, then two (check) or three (bet, of which folding ends the game)
    assert sorted(round(share, 2) for share in shares.values()) == sorted(
        round(share, 2) for share in _uniform_shares(game, leaves)
    )


def _uniform_shares(game, leaves):
    for leaf in leaves:
        share, node = 1.0, leaf
        while node != 0:
            above = int(game.tree.parent[node])
            share /= int(game.tree.num_actions[above])
            node = above
        yield share


def test_fallbacks_and_exponential_weights_are_refused():
    with pytest.raises(ConfigError, match="regret matching"):
        make_settings("hedge")
    with pytest.raises(ConfigError, match="lanes must be one of 1, 4, 16, 64, got 5"):
        make_settings(num_lanes=5)
    with pytest.raises(ConfigError, match="both players at once"):
        make_settings(mode=BeliefMode.CFR_AVG)


def test_networks_must_fit():
    game = make_game("kuhn", "1")
    with pytest.raises(ConfigError, match="needs a network"):
        game.subgames[0].kernel.search(game.root_belief()[None], None, make_settings())
    stored = make_net(game)
    with pytest.raises(ConfigError, match="must have"):
        BeliefNetKernel(game.num_kinds + 1, game.width, stored.layers())
