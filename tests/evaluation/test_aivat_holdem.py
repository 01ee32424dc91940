# SPDX-License-Identifier: Apache-2.0
"""AIVAT on hold'em: its expectation over every deal and every line is the true value, and hands scatter less."""

import dataclasses
import functools

import numpy as np
import pytest

from equipoise.abstraction.bucketed_strategy import BucketedStrategy, BucketRecipe
from equipoise.agents.holdem.hands import describe_holdem_decision
from equipoise.agents.search import SearchAgent, SearchPlan
from equipoise.agents.simple import ClassAgent, UniformAgent
from equipoise.agents.strategies import StrategyAgent
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.evaluation import aivat as aivat_core
from equipoise.evaluation.aivat import Aivat, estimate_game
from equipoise.evaluation.holdem import aivat as aivat_module
from equipoise.evaluation.holdem.aivat import HoldemForm, group_actions
from equipoise.evaluation.holdem.checked_down import CheckedDownForm
from equipoise.evaluation.holdem.guesses import build_guesses
from equipoise.evaluation.holdem.images import LOST, ImageWalk
from equipoise.evaluation.holdem.solved import SolvedForm
from equipoise.evaluation.play import expect_all_in
from equipoise.games.base import ActionClass
from equipoise.games.holdem.betting import CALL, FOLD, Street
from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import parse_range
from equipoise.games.holdem.rules import Holdem
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_game import game_of_spot
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.settings import SearchSettings
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem.bucketed import BucketedSolver
from equipoise.solvers.holdem.solved_spot import view_strategy
from equipoise.solvers.holdem.view import SpotViews
from equipoise.trees.holdem.bucketed import build_bucketed_tree
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.vector import TreeStrategy
from tests.agents.games import small_spot
from tests.evaluation.games import list_games

TINY = DECKS["tiny"]
WIDE, NARROW = "50%, 100%, a", "100%"


def flop_spot(menu):
    """Returns a flop of the tiny deck with few hands, played to the turn."""
    return HoldemSpot(
        board=parse_board("ThJhKs", TINY),
        pot=20,
        stacks=(25, 25),
        big_blind=10,
        ranges=(parse_range("AA, QJ", TINY), parse_range("AK, QQ:0.5", TINY)),
        menu=parse_menu(menu),
        last_street=Street.TURN,
        deck=TINY,
    )


def preflop_spot(menu):
    # few hands, for every pair of them is listed on every flop
    ranges = parse_range("AA, JsTs", TINY), parse_range("QhJh, TT:0.5", TINY)
    return small_spot(stacks=(25, 25), menu=menu, ranges=ranges)


SPOTS = {"flop": flop_spot, "preflop": preflop_spot}


def train(spot, num_buckets, iterations):
    recipe = BucketRecipe(sizes=(None, num_buckets, num_buckets, num_buckets))
    solver = BucketedSolver(build_bucketed_tree(spot, recipe.build(spot)), rng=np.random.default_rng(num_buckets))
    solver.iterate(iterations)
    return BucketedStrategy.of(solver, recipe)


def guesses_of(spot):
    return build_guesses(train(spot, 2, 5), rng=np.random.default_rng(0), num_samples=500)


@functools.cache
def blueprints(name):
    """Returns the game with all bets, two strategies of it, and guesses that know the fewer bets, and all of them."""
    spot = SPOTS[name](WIDE)
    game = game_of_spot(spot)
    agents = [StrategyAgent(train(spot, 4, 20), game), StrategyAgent(train(spot, 3, 10), game)]
    guesses = {menu: guesses_of(SPOTS[name](menu)) for menu in (NARROW, WIDE)}
    return game, agents, guesses


@functools.cache
def searching(name):
    """Returns one who searches turns and answers to bets that it does not know, and one who makes such bets."""
    game, _, _ = blueprints(name)
    plan = SearchPlan(search=SearchSettings(iterations=5, early_iterations=3), first_street=Street.TURN)
    own = SearchAgent(HoldemProfile(train(SPOTS[name]("100%, a"), 4, 20)), game=game, plan=plan)
    return own, UniformAgent()


@functools.cache
def played(name, *, is_searched=False, expects_all_ins=True):
    """Returns every hand of two players, as `list_games` has them."""
    game, agents, _ = blueprints(name)
    ends = functools.partial(expect_all_in, game) if expects_all_ins else lambda state: None
    return tuple(list_games(game, searching(name) if is_searched else agents, ends=ends))


def scramble(guesses):
    """Returns guesses that are nonsense; means over flops are no guesses of their own, so those stay what they are."""
    rng = np.random.default_rng(3)
    flops = {node.index for node in guesses.blueprint.tree.betting.nodes if node.state.street is Street.FLOP}
    return dataclasses.replace(
        guesses,
        by_buckets={
            node: table if guesses.means and node in flops else table + rng.normal(scale=5.0, size=table.shape)
            for node, table in guesses.by_buckets.items()
        },
    )


def expectations(game, guesses, agents, hands):
    """Returns the true value, the estimate's expectation, and the deviations of both."""
    return expectations_of(HoldemForm(game, guesses), agents, hands)


def expectations_of(form, agents, hands):
    aivat = Aivat(form, agents)
    kept, rows = {}, []
    for states, chance, won in hands:
        # what the estimate may depend on: hands of known seats are no part of it
        hole = [states[-1].hole[2 * seat : 2 * seat + 2] for seat in (0, 1) if seat not in aivat.known]
        key = states[-1].public, *hole
        if key not in kept:
            for state in states:
                aivat.hear(state)
            kept[key] = aivat.estimate()[0]
        rows.append((chance, won[0], kept[key]))
    chance, chips, estimate = np.array(rows).T
    assert chance.sum() == pytest.approx(1.0, abs=1e-12)
    value = chance @ chips
    return value, chance @ estimate, np.sqrt(chance @ (chips - value) ** 2), np.sqrt(chance @ (estimate - value) ** 2)


def pick(agents, known):
    return [agent if seat in known else None for seat, agent in enumerate(agents)]


@pytest.mark.parametrize("menu", [NARROW, WIDE])
@pytest.mark.parametrize("known", [(), (0,), (1,), (0, 1)])
def test_the_expectation_is_the_value_on_a_flop(known, menu):
    game, agents, guesses = blueprints("flop")
    hands = played("flop")
    value, mean, raw, left = expectations(game, guesses[menu], pick(agents, known), hands)
    assert mean == pytest.approx(value, abs=1e-12)
    assert left < raw
    value, mean, _, _ = expectations(game, scramble(guesses[menu]), pick(agents, known), hands)
    assert mean == pytest.approx(value, abs=1e-12)


def test_all_ins_are_scored_by_their_cards_too():
    game, agents, guesses = blueprints("flop")
    hands = played("flop", expects_all_ins=False)
    assert len(hands) > len(played("flop"))
    for known in ((0,), (0, 1)):
        value, mean, _, _ = expectations(game, scramble(guesses[NARROW]), pick(agents, known), hands)
        assert mean == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("menu", "expects_all_ins"), [(NARROW, True), (WIDE, False)])
def test_the_expectation_is_the_value_from_before_the_flop(menu, expects_all_ins):
    game, agents, guesses = blueprints("preflop")
    hands = played("preflop", expects_all_ins=expects_all_ins)
    value, mean, raw, left = expectations(game, guesses[menu], agents, hands)
    assert mean == pytest.approx(value, abs=1e-6)  # means of pairs of hands over flops have 32 bits
    assert left < raw / 3
    value, mean, _, _ = expectations(game, scramble(guesses[menu]), agents, hands)
    assert mean == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("known", [(0,), (1,), (0, 1)])
def test_a_player_who_searches_is_known_and_both_bet_what_the_guesses_lack(known):
    game, _, guesses = blueprints("flop")
    agents, hands = searching("flop"), played("flop", is_searched=True)
    count = num_searches(agents[0])
    assert count > 0
    for one in (guesses[NARROW], scramble(guesses[NARROW])):
        value, mean, _, _ = expectations(game, one, pick(agents, known), hands)
        assert mean == pytest.approx(value, abs=1e-12)
    assert num_searches(agents[0]) == count  # asked for nothing that it had not searched


def test_very_many_bets_are_guessed_together(monkeypatch):
    monkeypatch.setattr(aivat_module, "MOST_GUESSED", 2)
    assert group_actions((0, 1, 20, 30, 35), np.arange(5)) == [[0], [1], [2, 3, 4]]
    game, _, guesses = blueprints("flop")
    agents, hands = searching("flop"), played("flop", is_searched=True)
    value, mean, _, _ = expectations(game, scramble(guesses[NARROW]), agents, hands)
    assert mean == pytest.approx(value, abs=1e-12)


def test_who_searches_is_asked_for_the_bets_that_it_has():
    every = dataclasses.replace(blueprints("flop")[0], menu="all", stacks=(90, 90))
    few, fewer = (dataclasses.replace(flop_spot(menu), stacks=(90, 90)) for menu in ("100%, a", NARROW))
    own = SearchAgent(HoldemProfile(train(few, 4, 5)), game=every)
    form = HoldemForm(every, guesses_of(fewer))
    aivat = Aivat(form, [own, own])
    state = next(states[4] for states, _, _ in played("flop"))
    aivat.hear(state._replace(betting=every.initial_state().betting))
    assert aivat._asked[0].actions == (CALL, 30, 100)
    assert aivat._asked[0].table.shape == (45, 3)


@pytest.mark.parametrize("known", [(0,), (0, 1)])
def test_guesses_know_who_looks_at_no_cards(known):
    game, agents, _ = blueprints("flop")
    pair = agents[0], ClassAgent(ActionClass.CALL)
    hands = list(list_games(game, pair, ends=functools.partial(expect_all_in, game)))
    left = []
    for blind in ({}, {1: pair[1]}):
        guesses = build_guesses(
            train(flop_spot(WIDE), 3, 50), rng=np.random.default_rng(0), blind=blind, num_samples=500
        )
        value, mean, _, deviation = expectations(game, guesses, pick(pair, known), hands)
        assert mean == pytest.approx(value, abs=1e-12)
        left.append(deviation)
    assert left[1] < 0.8 * left[0]


@functools.cache
def solved(iterations):
    """Returns the flop with all bets, solved by hands."""
    solver = CFRSolver(build_holdem_tree(flop_spot(WIDE)))
    solver.iterate(iterations)
    return TreeStrategy(solver.tree, solver.average_sums)


@functools.cache
def played_from_solutions(expects_all_ins):
    game = game_of_spot(flop_spot(WIDE))
    agents = [StrategyAgent(solved(iterations), game) for iterations in (40, 5)]
    ends = functools.partial(expect_all_in, game) if expects_all_ins else lambda state: None
    return game, agents, list(list_games(game, agents, ends=ends))


@pytest.mark.parametrize(
    ("known", "expects_all_ins", "iterations", "left"), [((0,), True, 40, 0.5), ((1,), False, 1, 0.6)]
)
def test_a_solution_guesses_by_its_own_values(known, expects_all_ins, iterations, left):
    game, agents, hands = played_from_solutions(expects_all_ins)
    form = SolvedForm(game, view_strategy(solved(iterations)))
    value, mean, raw, deviation = expectations_of(form, pick(agents, known), hands)
    assert mean == pytest.approx(value, abs=1e-9)
    assert deviation < left * raw


def test_a_solution_without_all_its_values_does_not_guess():
    game, _, _ = played_from_solutions(True)
    strategy = solved(5)
    with pytest.raises(ConfigError, match="too large to be read whole"):
        SolvedForm(game, SpotViews(strategy.tree, strategy.sums, kernel=None))
    assert view_strategy(train(flop_spot(WIDE), 2, 1)) is None


@pytest.mark.slow
@pytest.mark.parametrize(("name", "known", "expects_all_ins"), [("flop", (0,), False), ("preflop", (0, 1), True)])
def test_hands_are_guessed_to_be_checked_down_where_nobody_knows_more(name, known, expects_all_ins):
    game, agents, _ = blueprints(name)
    hands = played(name, expects_all_ins=expects_all_ins)
    value, mean, raw, deviation = expectations_of(CheckedDownForm(game), pick(agents, known), hands)
    assert mean == pytest.approx(value, abs=1e-9)
    assert deviation < 0.8 * raw


def test_who_looks_at_no_cards_is_kept_as_one_row(monkeypatch):
    game, agents, guesses = blueprints("flop")
    pair = agents[0], ClassAgent(ActionClass.CALL)
    hands = list(list_games(game, pair, ends=functools.partial(expect_all_in, game)))
    before = expectations(game, guesses[NARROW], pick(pair, (0, 1)), hands)
    monkeypatch.setattr(aivat_core, "LARGE", 1)
    assert expectations(game, guesses[NARROW], pick(pair, (0, 1)), hands) == before
    decision = describe_holdem_decision(game, next(states[4] for states, _, _ in hands))
    said = [
        aivat_core.KnownMove(decision, agent.public_strategy(decision, rng=np.random.default_rng(0)), "it")
        for agent in pair
    ]
    assert [one.table.strides[0] == 0 for one in said] == [False, True]


@pytest.mark.parametrize("kind", list(ActionClass))
@pytest.mark.parametrize("place", [4, 5])
def test_who_always_does_one_thing_is_asked_for_that_alone(kind, place):
    game, agent = blueprints("flop")[0], ClassAgent(kind)
    decision = describe_holdem_decision(
        game, next(s[place] for s, _, _ in played("flop") if "r" in s[place + 1].public)
    )
    rng = np.random.default_rng(0)
    actions = agent.public_actions(decision)
    narrow = agent.public_strategy(decision.narrow(actions), rng=rng)
    columns = [decision.actions.index(action) for action in actions]
    whole = agent.public_strategy(decision, rng=rng)
    assert (whole[:, columns] == narrow).all()
    assert (np.delete(whole, columns, axis=1) == 0).all()


def num_searches(agent):
    return sum(len(walk.found) for walk in agent.ground.walks)


def test_bets_are_taken_for_others_or_for_none():
    walk = ImageWalk(train(flop_spot(NARROW), 2, 5).tree.betting)
    begin = walk.begin()

    def follow(*actions):
        point = begin
        for action in actions:
            point = walk.act(point, action)
        shares = {}
        for node, share in point.images:
            action = LOST if node == LOST else walk.nodes[node].action
            shares[action] = shares.get(action, 0.0) + share
        return shares

    assert follow(30) == {30: 1.0}  # a pot into a pot of 20, where both have put in 10
    assert follow(20) == pytest.approx({30: 2 / 3, CALL: 1 / 3})  # half a pot: (1 - x) / (1 + x) of checks
    assert follow(35) == {30: 1.0}  # all-in
    assert follow(20, FOLD) == pytest.approx({FOLD: 2 / 3, LOST: 1 / 3})
    assert follow(20, CALL) == pytest.approx({CALL: 1.0})
    assert follow(CALL, 20, 35) == pytest.approx({35: 2 / 3, LOST: 1 / 3})
    after = walk.deal(walk.act(walk.act(begin, 20), CALL))
    assert sorted(share for _, share in after.images) == pytest.approx([1 / 3, 2 / 3])
    assert all(walk.nodes[node].state.street is Street.TURN for node, _ in after.images)


def test_what_cannot_be_followed_is_refused():
    game, agents, guesses = blueprints("flop")
    with pytest.raises(ConfigError, match="of another deck, board or other chips"):
        HoldemForm(blueprints("preflop")[0], guesses[NARROW])
    with pytest.raises(ConfigError, match="of another board than"):
        HoldemForm(dataclasses.replace(game, board="ThJhQs"), guesses[NARROW])
    with pytest.raises(ConfigError, match="for two players, holdem has 3"):
        HoldemForm(Holdem(stacks=(100, 100, 100)), guesses[NARROW])
    form = HoldemForm(game, guesses[NARROW])
    states = next(states for states, _, _ in played("flop") if "c" in states[-1].public)
    with pytest.raises(InvalidStateError, match="the hand has not ended, act is next"):
        estimate_game(form.begin(frozenset()), form.trace(states[:5], [None] * 5))
    aivat = Aivat(form, pick(agents, (0,)))
    aivat.hear(states[4])
    said = aivat._asked[0]
    said.table[:] = [[float(action == FOLD) for action in said.actions]] * len(said.table)
    said.table[:, said.actions.index(CALL)] += 1.0 - said.table.sum(axis=1)
    raised = [*states[:5], game.apply(states[4], 20)]
    with pytest.raises(InvalidStateError, match="strategy did what it says that it never does"):
        estimate_game(form.begin(frozenset([0])), form.trace(raised, [None, None, None, None, said, None]))
