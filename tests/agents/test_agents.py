# SPDX-License-Identifier: Apache-2.0
"""What agents see and do; strategies from files play what the files hold."""

import numpy as np
import pytest

from equipoise.agents import (
    ClassAgent,
    PolicyAgent,
    PublicAgent,
    StrategyAgent,
    UniformAgent,
    describe_decision,
    observe_state,
)
from equipoise.agents.files import game_of_file, load_agent
from equipoise.agents.holdem.hands import describe_holdem_decision
from equipoise.agents.notation import AgentText, parse_agent
from equipoise.core.errors import ConfigError, InvalidStateError, ParseError, UnknownNameError
from equipoise.evaluation.holdem.batched import BucketRows, make_rows
from equipoise.games.base import ActionClass
from equipoise.games.holdem.betting_tree import betting_tree
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.public_text import lines_of, parse_public_text
from equipoise.games.holdem.spot_game import game_of_spot
from equipoise.games.registry import make_game
from equipoise.runs.solution import solve
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR
from equipoise.solvers.stopping import Form
from equipoise.trees.derive import derive_public_game
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.vector import TreeStrategy, play_shares
from tests.agents.games import blueprint, small_spot, walk

RNG = np.random.default_rng(0)


def first_observation(name, state_after):
    game = make_game(name)
    state = game.initial_state()
    for action in state_after:
        state = game.apply(state, action)
    return observe_state(game, state, game.actor(state))


def test_an_observation_is_the_same_wherever_the_seat_knows_the_same():
    game = make_game("kuhn")
    states = [game.apply(game.apply(game.initial_state(), 1), other) for other in (0, 2)]
    seen = [observe_state(game, state, 0) for state in states]
    assert seen[0] == seen[1]
    assert observe_state(game, states[0], 1) != observe_state(game, states[1], 1)
    assert observe_state(game, states[0], 1).actions == ()


@pytest.mark.parametrize(
    ("kind", "facing_a_bet", "first_to_act"),
    [
        (ActionClass.FOLD, [1, 0, 0], [1, 0]),
        (ActionClass.CALL, [0, 1, 0], [1, 0]),
        (ActionClass.RAISE, [0, 0, 1], [0, 1]),
    ],
)
def test_class_agents_take_the_nearest_kind(kind, facing_a_bet, first_to_act):
    agent = ClassAgent(kind)
    assert agent.probabilities(first_observation("leduc", [0, 2, 2]), rng=RNG) == facing_a_bet
    assert agent.probabilities(first_observation("leduc", [0, 2]), rng=RNG) == first_to_act
    goofspiel = first_observation("goofspiel", [0])
    assert np.ptp(agent.probabilities(goofspiel, rng=RNG)) == 0


@pytest.mark.parametrize("name", ["leduc", "goofspiel", "phantom_tic_tac_toe"])
@pytest.mark.parametrize("agent", [UniformAgent(), *map(ClassAgent, ActionClass)])
def test_blind_agents_answer_for_public_states_as_for_single_ones(agent, name):
    game = make_game(
        name, **{"goofspiel": {"cards": 3}, "phantom_tic_tac_toe": {"rows": 2, "columns": 2, "line": 2}}.get(name, {})
    )
    public = derive_public_game(game)
    for state in range(0, public.arrays.actor.size, 7):
        if public.actor(state) >= 0:
            decision = describe_decision(public, state)
            expected = PolicyAgent.public_strategy(agent, decision, rng=RNG)
            np.testing.assert_array_equal(agent.public_strategy(decision, rng=RNG), expected)


def test_a_table_from_a_file_plays_its_strategy_in_both_forms(tmp_path):
    for form in (Form.HISTORY, Form.VECTOR):
        solution = solve(make_game("leduc"), rule=CFR(), iterations=5, form=form)
        solution.strategy.save(tmp_path / "leduc.eq")
        agent = load_agent(tmp_path / "leduc.eq")
        public = derive_public_game(make_game("leduc"))
        decision = describe_decision(public, 0)
        rows = agent.public_strategy(decision, rng=RNG)
        expected = [solution.strategy.probabilities(0, infostate) for infostate in decision.infostates]
        np.testing.assert_array_equal(rows, expected)
        assert isinstance(agent, PublicAgent)
        assert game_of_file(tmp_path / "leduc.eq").spec.label == make_game("leduc").spec.label


def test_a_table_says_what_it_lacks():
    strategy = solve(make_game("kuhn"), rule=CFR(), iterations=1).strategy
    observation = first_observation("leduc", [0, 2])
    with pytest.raises(InvalidStateError, match="has nothing at"):
        StrategyAgent(strategy).act(observation, rng=RNG)
    assert StrategyAgent(strategy, is_partial=True).probabilities(observation, rng=RNG) == [0.5, 0.5]


@pytest.mark.parametrize("spot", [small_spot(), small_spot(menu="50%, 100%, a", stacks=(90, 70))])
def test_lines_of_bets_are_found_from_public_states(spot):
    game, betting = game_of_spot(spot), betting_tree(spot.betting_rules, spot.menu)
    node_of, rng = lines_of(betting), np.random.default_rng(3)
    for _ in range(30):
        for state in walk(game, rng):
            if len(state.hole) < 4:
                continue
            line, board = parse_public_text(game.public_state(state))
            if game.actor(state) >= 0:
                node = betting.nodes[node_of[line]]
                assert (node.state, board) == (state.betting, state.board)
                assert node.actions == game.legal_actions(state)


def test_a_blueprint_plays_the_same_from_its_file(tmp_path):
    made = blueprint()
    made.save(tmp_path / "made.eq")
    game = game_of_file(tmp_path / "made.eq")
    assert game.spec.label == game_of_spot(made.tree.spot).spec.label
    loaded = load_agent(tmp_path / "made.eq")
    direct = StrategyAgent(made, game, name="made")
    rng = np.random.default_rng(5)
    for _ in range(10):
        for state in walk(game, rng):
            if game.actor(state) >= 0:
                seen = observe_state(game, state, game.actor(state))
                line, board = parse_public_text(seen.public_state)
                node = lines_of(made.tree.betting)[line]
                hand = hands_of(game.card_deck).index(*state.hole[2 * seen.seat : 2 * seen.seat + 2])
                expected = play_shares(made.tree, made.sums, HoldemPlace(node, board))[hand]
                np.testing.assert_allclose(loaded.probabilities(seen, rng=rng), expected)
                np.testing.assert_allclose(direct.probabilities(seen, rng=rng), expected)
                np.testing.assert_allclose(made.probabilities(HoldemPlace(node, board))[hand], expected)


def test_a_solved_spot_plays_every_board_and_whole_public_states():
    tree = build_holdem_tree(small_spot())
    solver = CFRSolver(tree, CFR())
    solver.iterate(3)
    policy = TreeStrategy(tree, solver.tables.strategy_sum)
    game = game_of_spot(tree.spot)
    agent = StrategyAgent(policy, game, name="spot")
    rng = np.random.default_rng(6)
    for _ in range(10):
        for state in walk(game, rng):
            if game.actor(state) >= 0:
                decision = describe_holdem_decision(game, state)
                rows = agent.public_strategy(decision, rng=rng)
                seen = observe_state(game, state, decision.seat)
                np.testing.assert_allclose(rows.sum(axis=1), decision.legality[:, 0], atol=1e-9)
                np.testing.assert_array_equal(
                    rows[decision.infostates.index(seen.infostate)], agent.probabilities(seen, rng=rng)
                )
                uniform = UniformAgent().public_strategy(decision, rng=rng)
                assert (uniform.sum(axis=1) > 0).tolist() == decision.legality[:, 0].tolist()


def test_a_strategy_refuses_other_chips_and_other_games():
    policy = blueprint()
    with pytest.raises(ConfigError, match="other chips"):
        StrategyAgent(policy, game_of_spot(small_spot(stacks=(60, 60))), name="made")
    with pytest.raises(ConfigError, match="plays hold'em, got the game leduc"):
        StrategyAgent(policy, make_game("leduc"), name="made")


def test_an_agent_says_which_form_its_strategy_has():
    table = StrategyAgent(solve(make_game("kuhn"), rule=CFR(), iterations=1).strategy)
    made = blueprint()
    assert table.hand_strategy is None
    assert StrategyAgent(made, game_of_spot(made.tree.spot)).hand_strategy is made
    betting = made.tree.betting
    assert make_rows(table, betting) is None  # tables of information states are not played by betting node
    assert isinstance(make_rows(StrategyAgent(made), betting), BucketRows)


def test_agents_are_named_by_text():
    game = make_game("leduc")
    assert parse_agent("uniform", game).name == "uniform"
    assert AgentText("call")(game).name == "call"
    with pytest.raises(UnknownNameError, match="uniform"):
        parse_agent("uniforms", game)
    with pytest.raises(ConfigError, match="file:PATH"):
        parse_agent("file", game)
    with pytest.raises(ConfigError, match="written call"):
        parse_agent("call:3", game)
    with pytest.raises(ParseError, match=r"file:leduc\.eq"):
        parse_agent("leduc.eq", game)


@pytest.mark.parametrize(
    "shares", [None, 1.0, "ab", [1.0], [0.5, float("nan")], [2.0, -1.0], [0.5, 0.4], [["a"], 1], np.ones((2, 2))]
)
def test_an_own_policy_that_gives_no_probabilities_is_refused(shares):
    class Odd(PolicyAgent):
        name = "odd"

        def probabilities(self, observation, *, rng):
            return shares

    game = make_game("kuhn")
    state = game.apply(game.apply(game.initial_state(), 0), 2)
    with pytest.raises(InvalidStateError, match=r"odd must give 2 probabilities in sum 1 at 'J:', got"):
        Odd().act(observe_state(game, state, 0), rng=RNG)
