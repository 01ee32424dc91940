# SPDX-License-Identifier: Apache-2.0
"""Hold'em agents that meet bets they do not know: by search, and by translation."""

from types import SimpleNamespace

import numpy as np
import pytest

from equipoise.abstraction.solutions import open_solution
from equipoise.agents.base import observe_state
from equipoise.agents.files import FileSearch, load_profile, load_search_agent
from equipoise.agents.holdem.hands import describe_holdem_decision
from equipoise.agents.holdem.translated import HoldemTranslatingAgent
from equipoise.agents.search import SearchAgent, SearchPlan, SearchWhen
from equipoise.agents.simple import ClassAgent, UniformAgent
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.evaluation.matches import play_game
from equipoise.games.base import ActionClass
from equipoise.games.holdem.betting import CALL, Street
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.holdem.cards import parse_board, parse_deck
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.rules import HoldemEndgame
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.search.gadgets import Maxmargin, Resolve
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.last_iterates import find_response
from equipoise.search.nested import NestedSearch
from equipoise.search.notation import METHODS
from equipoise.search.settings import SearchSettings
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.trees.holdem.places import HoldemPlace, SpotPlaces
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.vector import TreeStrategy, UniformStrategy
from tests.agents.games import blueprint

DECK_TEXT = "9TJQKA/cdhs"
DECK = parse_deck(DECK_TEXT)
RIVER, TURN = "9cThJsQhKs", "9cThJsQh"
QUICK = SearchSettings(method=Maxmargin(), iterations=30, early_iterations=5)


def spot(board=RIVER, menu="50%, 100%, a"):
    chips = {"pot": 20, "big_blind": 2, "stacks": (40, 40), "ranges": (Range.random(DECK), Range.random(DECK))}
    return HoldemSpot(deck=DECK, board=parse_board(board, DECK), menu=parse_menu(menu), **chips)


def game(board=RIVER, menu="all"):
    return HoldemEndgame(deck=DECK_TEXT, board=board, pot=20, big_blind=2, small_blind=1, stacks=(40, 40), menu=menu)


def solved(board=RIVER, menu="50%, 100%, a", iterations=20):
    tree = build_holdem_tree(spot(board, menu))
    solver = CFRSolver(tree, CFRPlus())
    solver.iterate(iterations)
    return TreeStrategy(tree, solver.tables.strategy_sum)


def search_agent(policy, rules, **options):
    return SearchAgent(HoldemProfile(policy), game=rules, **options)


def num_kept(agent):
    """Returns how many searches an agent remembers."""
    return sum(len(walk.found) for walk in agent.ground.walks)


def at(rules, *actions, hole=(32, 33, 48, 49)):
    """Returns a state of a game after a deal and actions or cards."""
    state = rules.initial_state()
    for action in (*hole, *actions):
        state = rules.apply(state, action)
    return state


@pytest.mark.parametrize("board", [RIVER, TURN])
@pytest.mark.parametrize("make", [search_agent, HoldemTranslatingAgent], ids=["search", "translate"])
def test_hands_are_played_against_every_bet(make, board):
    rules = game(board)
    policy = solved(board, "100%, a")
    options = {"plan": SearchPlan(search=QUICK)} if make is search_agent else {}
    agent = make(policy, rules, **options)
    rng = np.random.default_rng(1)
    for seat, other in ((0, UniformAgent()), (1, ClassAgent(ActionClass.RAISE))):
        for _ in range(6 if board == RIVER else 2):
            seats = [agent, other] if seat == 0 else [other, agent]
            won = play_game(rules, seats, chance=rng, rng=rng)
            assert abs(sum(won)) < 1e-9


REPLIES = SearchPlan(search=QUICK, when=SearchWhen.REPLIES)


def test_known_bets_are_answered_by_the_blueprint():
    policy, rules = solved(), game()
    agent = search_agent(policy, rules, plan=REPLIES)
    state = at(rules, 20)  # half the pot
    decision = describe_holdem_decision(rules, state)
    rows = agent.public_strategy(decision, rng=np.random.default_rng(0))
    here = policy.tree.betting.nodes[policy.tree.betting.root.children[1]]
    expected = policy.probabilities(HoldemPlace(here.index, policy.tree.spot.board))
    columns = [decision.actions.index(action) for action in here.actions]
    np.testing.assert_array_equal(rows[:, columns], expected)
    assert rows.sum() == pytest.approx(expected.sum())


def test_unknown_bets_are_searched_once_and_answered_alike():
    policy, rules = solved(), game()
    agent = search_agent(policy, rules, plan=REPLIES)
    rng = np.random.default_rng(0)
    state = at(rules, 25)  # three quarters of the pot
    decision = describe_holdem_decision(rules, state)
    rows = agent.public_strategy(decision, rng=rng)
    seen = observe_state(rules, state, 1)
    np.testing.assert_array_equal(rows[decision.infostates.index(seen.infostate)], agent.probabilities(seen, rng=rng))
    assert num_kept(agent) == 1
    again = search_agent(policy, rules, plan=REPLIES)
    np.testing.assert_array_equal(again.public_strategy(decision, rng=rng), rows)


def test_every_decision_may_be_searched():
    policy, rules = UniformStrategy(SpotPlaces.of(spot())), game()
    agent = search_agent(policy, rules, plan=SearchPlan(search=QUICK, when=SearchWhen.DECISIONS))
    decision = describe_holdem_decision(rules, at(rules))
    rows = agent.public_strategy(decision, rng=np.random.default_rng(0))
    assert not np.allclose(rows[rows.sum(axis=1) > 0].max(axis=1), 0.25)
    assert num_kept(agent) == 1


def test_what_is_wanted_of_a_file_is_the_agents_plan():
    wanted = FileSearch(
        method=Resolve(),
        iterations=7,
        when=SearchWhen.DECISIONS,
        early_iterations=3,
        first_street=Street.TURN,
        is_expensive=True,
    )
    how = SearchSettings(method=Resolve(), iterations=7, early_iterations=3, is_expensive=True)
    assert wanted.plan == SearchPlan(
        search=how, when=SearchWhen.DECISIONS, first_street=Street.TURN, first_reply=Street.FLOP
    )
    assert FileSearch().plan == SearchPlan()
    # replies are searched at least from where searches begin
    assert FileSearch(first_street=Street.PREFLOP).plan.first_reply is Street.PREFLOP


def test_a_spot_is_searched_from_its_root_if_its_street_is():
    policy, rules = UniformStrategy(SpotPlaces.of(spot())), game()
    agent = search_agent(policy, rules, plan=SearchPlan(search=QUICK))
    stage, (node, _) = agent.ground.stage_at(0, f"{RIVER}:")
    assert stage.profile.strategy is not policy
    assert (node, num_kept(agent)) == (0, 1)
    known, (_, _) = agent.ground.stage_at(0, f"{RIVER}:cr30")
    assert known is stage  # nothing is searched again
    reply, (node, _) = agent.ground.stage_at(0, f"{RIVER}:cr25")
    assert (node, num_kept(agent)) == (0, 2)
    np.testing.assert_array_equal(
        reply.profile.root_reach[0],
        stage.profile.reach(HoldemPlace(stage.profile.betting.root.children[0], policy.tree.spot.board))[0],
    )
    for first, is_searched in ((Street.RIVER, False), (Street.TURN, True)):
        plan = SearchPlan(search=QUICK, first_street=first)
        turn = search_agent(UniformStrategy(SpotPlaces.of(spot(TURN, "100%, a"))), game(TURN), plan=plan)
        found, (_, _) = turn.ground.stage_at(0, f"{TURN}:")
        assert (found.profile.strategy is not turn.blueprint.strategy) == is_searched


def test_a_strategy_that_is_better_than_what_a_search_finds_is_kept():
    rules = game()
    for iterations, is_kept in ((5, False), (500, True)):
        policy = solved(iterations=iterations)
        agent = search_agent(policy, rules, plan=SearchPlan(search=QUICK))
        stage, (_, board) = agent.ground.stage_at(0, f"{RIVER}:")
        assert (stage.profile.strategy is policy) == is_kept
        searched = NestedSearch(HoldemProfile(policy), 0, QUICK)
        before, after = searched.search(searched.begin(), HoldemPlace(0, board)).responses()
        assert (after > before) == is_kept
        reply, (_, _) = agent.ground.stage_at(1, f"{RIVER}:r25")
        assert reply.profile.strategy is not policy  # behind unknown bets there is nothing to keep


def test_the_river_is_searched_when_it_comes():
    policy, rules = UniformStrategy(SpotPlaces.of(spot(TURN, "100%, a"))), game(TURN)
    agent = search_agent(policy, rules, plan=SearchPlan(search=QUICK))
    card = parse_board(RIVER, DECK)[-1]
    state = at(rules, 1, 1, card)
    stage, (node, board) = agent.ground.stage_at(0, rules.public_state(state))
    assert (node, board) == (0, parse_board(RIVER, DECK))
    assert stage.profile.betting.root.state.street is Street.RIVER
    assert stage.profile.strategy is not policy


def test_old_searches_are_forgotten(monkeypatch):
    monkeypatch.setattr("equipoise.search.walks.KEPT_BYTES", 1)
    rules = game()
    agent = search_agent(solved(), rules, plan=SearchPlan(search=QUICK))
    for bet in (23, 25, 27):
        agent.ground.stage_at(1, rules.public_state(at(rules, bet)))
    assert num_kept(agent) == 2  # that of the last bet, and the one on the way to it


def test_what_cannot_be_played_is_refused():
    policy = solved()
    agent = search_agent(policy, game())
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidStateError, match="would not raise to 23"):
        agent.ground.stage_at(0, f"{RIVER}:r23r40")
    with pytest.raises(InvalidStateError, match="player 0 does not act at"):
        agent.ground.stage_at(0, f"{RIVER}:c")
    narrow = game(menu="50%, a")
    with pytest.raises(InvalidStateError, match="it must offer every bet of the strategy's menu"):
        search_agent(policy, narrow).probabilities(observe_state(narrow, at(narrow), 0), rng=rng)
    with pytest.raises(ConfigError, match="other chips"):
        search_agent(policy, HoldemEndgame(deck=DECK_TEXT, board=RIVER, pot=30, stacks=(40, 40), menu="all"))
    with pytest.raises(ConfigError, match=r"first_reply must not be after the turn, .*, got the river"):
        SearchPlan(first_street=Street.TURN, first_reply=Street.RIVER)
    late = SearchPlan(first_reply=Street.RIVER)
    turn = search_agent(UniformStrategy(SpotPlaces.of(spot(TURN, "100%, a"))), game(TURN), plan=late)
    with pytest.raises(InvalidStateError, match="searches no reply before the river"):
        turn.ground.stage_at(1, f"{TURN}:r23")


def test_translation_draws_neighbours_by_the_mapping_and_bets_fractions_of_the_real_pot():
    rules = game()
    agent = HoldemTranslatingAgent(solved(), rules)
    state = at(rules, 25)
    seen = observe_state(rules, state, 1)
    images = []
    for seed in range(300):
        agent.begin_game(1)
        agent.act(seen, rng=np.random.default_rng(seed))
        images.append(agent.policy.tree.betting.nodes[agent._node].action)
    share = images.count(20) / len(images)  # half the pot; by the mapping 3/7
    assert set(images) == {20, 30}
    assert share == pytest.approx(3 / 7, abs=0.1)
    here = agent.policy.tree.betting.nodes[agent.policy.tree.betting.root.children[1]]
    agent.begin_game(1)
    agent.act(seen, rng=np.random.default_rng(0))
    fraction = here.actions[2]
    assert agent._translate_own(here, fraction, tuple(range(35, 51))) in range(35, 51)
    assert agent._translate_own(here, 50, (0, 1, 40, 50)) == 50
    assert agent._translate_own(here, 50, (0, 1)) == 1
    assert agent._translate_own(here, 0, (1, 30)) == 1


def test_translation_follows_the_cards_and_calls_where_its_image_has_ended():
    rules = game(TURN)
    agent = HoldemTranslatingAgent(UniformStrategy(SpotPlaces.of(spot(TURN, "100%"))), rules, name="coarse")
    assert agent.name == "coarse"
    rng = np.random.default_rng(2)
    card = parse_board(RIVER, DECK)[-1]
    agent.begin_game(0)
    agent.observe(observe_state(rules, at(rules), 0))
    agent.act(observe_state(rules, at(rules, 1, 1, card), 0), rng=rng)
    assert agent.policy.tree.betting.nodes[agent._node].state.street is Street.RIVER
    # no bets are known at all: the image has no raise to take this one for
    silent = HoldemTranslatingAgent(UniformStrategy(SpotPlaces.of(spot(TURN, "none"))), rules)
    assert silent.act(observe_state(rules, at(rules, 25), 1), rng=rng) == 1
    later = at(rules, 25, 1, card, 1)
    assert silent.act(observe_state(rules, later, 1), rng=rng) == 1


class Passive(UniformStrategy):
    """Checks and calls, and folds to nothing."""

    def probabilities(self, place):
        row = [float(action == CALL) for action in self.tree.betting.nodes[place.node].actions]
        return np.array(self.tree.spot.deck.num_hands * [row])


def test_translation_takes_small_bets_for_none_by_the_mapping():
    rules = game()
    agent = HoldemTranslatingAgent(Passive(SpotPlaces.of(spot(menu="50%, 100%"))), rules)
    images = []
    for seed in range(300):
        agent.begin_game(1)
        agent.act(observe_state(rules, at(rules, 14), 1), rng=np.random.default_rng(seed))  # a fifth of the pot
        images.append(agent.policy.tree.betting.nodes[agent._node].action)
    assert set(images) == {CALL, 20}
    assert images.count(CALL) / 300 == pytest.approx(0.3 / (0.5 * 1.2), abs=0.1)


def test_the_image_goes_on_where_a_small_bet_was_taken_for_none():
    rules, card = game(TURN), parse_board(RIVER, DECK)[-1]
    policy = Passive(SpotPlaces.of(spot(TURN, "100%")))
    lowest = SimpleNamespace(random=lambda: 0.0)  # the smaller neighbour
    for seat, actions in ((1, (14,)), (0, (CALL, 14))):
        agent = HoldemTranslatingAgent(policy, rules)
        agent.begin_game(seat)
        if seat == 0:
            assert agent.act(observe_state(rules, at(rules), 0), rng=lowest) == CALL
        assert agent.act(observe_state(rules, at(rules, *actions), seat), rng=lowest) == CALL
        assert policy.tree.betting.nodes[agent._node].state.committed == (10, 10)  # no bet, as far as the image goes
        river = at(rules, *actions, CALL, card, *((CALL,) if seat == 1 else ()))
        agent.act(observe_state(rules, river, seat), rng=lowest)
        here = policy.tree.betting.nodes[agent._node]
        assert (here.state.street, here.state.actor) == (Street.RIVER, seat)
        assert here.state.committed == (10, 10)


def test_translation_takes_all_in_for_the_largest_bet():
    # half of the real pot of 50 is all that is left; the image's pot is 40, and half of it is a smaller bet
    rules = game(TURN)
    agent = HoldemTranslatingAgent(Passive(SpotPlaces.of(spot(TURN, "50%, a"))), rules)
    agent.begin_game(1)
    lowest = SimpleNamespace(random=lambda: 0.0)
    images = []
    for actions in ((25,), (25, CALL, parse_board(RIVER, DECK)[-1], 50)):
        assert agent.act(observe_state(rules, at(rules, *actions), 1), rng=lowest) == CALL
        images.append(agent.policy.tree.betting.nodes[agent._node].action)
    assert images == [20, 50]


def test_places_that_are_never_played_to_keep_the_blueprint_as_far_as_it_goes():
    class Checks(UniformStrategy):
        def probabilities(self, place):
            out = super().probabilities(place)
            out[:, 1:] = 0.0
            return out

    policy = Checks(SpotPlaces.of(spot(TURN, "100%, a")))
    agent = search_agent(policy, game(TURN), plan=SearchPlan(search=QUICK), name="checks")
    stage, (node, _) = agent.ground.stage_at(0, f"{TURN}:r30c/Ks:")  # it never bets
    assert stage.profile.strategy is policy
    assert policy.tree.betting.nodes[node].state.street is Street.RIVER
    # but what is behind an unknown bet is searched, as if all hands had come
    stage, (node, board) = agent.ground.stage_at(0, f"{TURN}:r30c/Ks:cr37")
    rows = stage.profile.probabilities(HoldemPlace(node, board))[stage.profile.root_reach[0] > 0]
    assert len(rows) == 171  # pairs of the 24 cards less five
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-6)
    assert rows[:, 0].max() > 0.9  # some fold
    assert rows[:, 0].min() < 0.1


def test_estimates_within_buckets_and_of_last_iterates(tmp_path):
    made = blueprint()
    made.save(tmp_path / "made.eq")
    with open_solution(tmp_path / "made.eq") as solution:
        learnt = find_response(solution)
    profile = load_profile(tmp_path / "made.eq", METHODS["reach-estimate+distribution"])
    place = profile.tree.root_place
    np.testing.assert_array_equal(profile.response.probabilities(place), learnt.probabilities(place))  # the same seed
    assert np.abs(learnt.probabilities(place) - made.probabilities(place)).max() > 0.05
    flop = next(
        node for node in made.tree.betting.nodes if node.kind is NodeKind.DECISION and node.state.street is Street.FLOP
    )
    board = tuple(made.tree.spot.deck.cards[:3])
    agent = load_search_agent(
        tmp_path / "made.eq", None, FileSearch(method=METHODS["reach-estimate+distribution"], iterations=20)
    )
    search = agent.ground.walks[flop.state.actor].search
    standing = search.measure(search.begin(), HoldemPlace(flop.index, board))
    exact = NestedSearch(profile, flop.state.actor, SearchSettings(method=Resolve()))
    best = exact.measure(exact.begin(), HoldemPlace(flop.index, board))
    np.testing.assert_allclose(standing.deviation, np.abs(best.value - standing.value), atol=1e-9)
    assert np.all(standing.value <= best.value + 1e-4)
    assert standing.deviation.max() > 0
    found = search.search(search.begin(), HoldemPlace(flop.index, board), is_there=True)
    assert found.stage.profile.response is not None  # searches below go by the last iterate of this one
