# SPDX-License-Identifier: Apache-2.0
"""AIVAT is unbiased: its expectation over every game, listed, is the true value, whatever guesses the values."""

import functools
import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from equipoise.agents.base import PolicyAgent
from equipoise.agents.continual import ContinualAgent
from equipoise.agents.search import SearchAgent, SearchPlan, SearchWhen
from equipoise.agents.simple import ClassAgent, UniformAgent
from equipoise.agents.strategies import StrategyAgent
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.evaluation import aivat as aivat_module
from equipoise.evaluation.aivat import Aivat, KnownMove, estimate_game
from equipoise.evaluation.aivat_histories import HistoryForm, list_histories, value_histories
from equipoise.games.base import ActionClass
from equipoise.games.registry import make_game
from equipoise.runs.solution import solve
from equipoise.search.continual import ContinualSettings
from equipoise.search.settings import SearchSettings
from equipoise.solvers.rules import CFR
from equipoise.trees.derive import derive_public_game
from tests.evaluation.games import list_games

CALL = ActionClass.CALL
GAMES = {"kuhn": {}, "liars_dice": {"faces": 2}, "goofspiel": {"cards": 3}}


@functools.cache
def prepared(name, **parameters):
    """Returns a game's histories, two different strategies, and every game of the first with its chance."""
    game = make_game(name, **parameters)
    played, other = (solve(game, rule=CFR(), iterations=count).strategy for count in (3, 30))
    agent = StrategyAgent(played)
    return list_histories(game), played, other, agent, tuple(list_games(game, [agent] * game.spec.num_players))


def scramble(histories, seed=7):
    """Returns guesses that are nonsense."""
    return np.random.default_rng(seed).normal(size=histories.utility.shape)


def estimates(form, agents, games):
    """Returns `[games, P]` what AIVAT makes of each game."""
    aivat = Aivat(form, agents)
    out = []
    for states, _, _ in games:
        for state in states:
            aivat.hear(state)
        out.append(aivat.estimate())
    return np.array(out)


def mean(games):
    """Returns `[P]` what each player wins on average."""
    chances, won = np.array([chance for _, chance, _ in games]), np.array([won for _, _, won in games])
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
    return chances, chances @ won


def pick(agent, known, num_players=2):
    return [agent if seat in known else None for seat in range(num_players)]


@pytest.mark.parametrize("known", [(), (0,), (1,), (0, 1)])
@pytest.mark.parametrize("name", GAMES)
def test_the_expectation_is_the_value_for_any_guess(name, known):
    histories, _, _, agent, games = prepared(name, **GAMES[name])
    chances, value = mean(games)
    found = estimates(HistoryForm(histories, scramble(histories)), pick(agent, known), games)
    assert chances @ found == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("known", [known for size in range(4) for known in itertools.combinations(range(3), size)])
def test_three_players_of_whom_any_are_known(known):
    histories, played, other, agent, games = prepared("kuhn", players=3)
    chances, value = mean(games)
    found = estimates(HistoryForm(histories, scramble(histories)), pick(agent, known, 3), games)
    assert chances @ found == pytest.approx(value, abs=1e-12)
    guessed = estimates(HistoryForm(histories, value_histories(histories, other)), pick(agent, known, 3), games)
    won = np.array([won for _, _, won in games])
    assert (chances @ (guessed - value) ** 2 < chances @ (won - value) ** 2).all()
    if len(known) == 3:
        exact = estimates(HistoryForm(histories, value_histories(histories, played)), pick(agent, known, 3), games)
        assert exact == pytest.approx(np.tile(value, (len(games), 1)), abs=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_exact_guesses_leave_no_luck_of_known_players(name):
    histories, played, other, agent, games = prepared(name, **GAMES[name])
    chances, value = mean(games)
    exact = HistoryForm(histories, value_histories(histories, played))
    assert estimates(exact, [agent, agent], games)[:, 0] == pytest.approx(np.full(len(games), value[0]), abs=1e-12)
    guessed = HistoryForm(histories, value_histories(histories, other))
    one_side, both = (
        np.sqrt(chances @ (estimates(guessed, pick(agent, known), games)[:, 0] - value[0]) ** 2)
        for known in ((0,), (0, 1))
    )
    raw = np.sqrt(chances @ (np.array([won[0] for _, _, won in games]) - value[0]) ** 2)
    assert both < one_side < raw


@pytest.mark.parametrize("known", [(1,), (0, 1)])
def test_the_whole_of_leduc_with_one_side_and_both(known):
    histories, _, other, agent, games = prepared("leduc")
    chances, value = mean(games)
    assert value[0] == pytest.approx(value_histories(histories, agent.strategy)[0, 0], abs=1e-12)
    found = estimates(HistoryForm(histories, value_histories(histories, other)), pick(agent, known), games)
    assert chances @ found == pytest.approx(value, abs=1e-12)


class Narrow(ClassAgent):
    """Is asked for calls alone."""

    def public_actions(self, decision):
        return tuple(action for action, kind in zip(decision.actions, decision.classes, strict=True) if kind is CALL)


def test_known_players_may_be_asked_for_some_actions_alone(monkeypatch):
    monkeypatch.setattr(aivat_module, "MANY_ACTIONS", 1)
    histories = prepared("leduc")[0]
    agents = [Narrow(CALL), UniformAgent()]
    games = list(list_games(histories.game, agents))
    chances, value = mean(games)
    found = estimates(HistoryForm(histories, scramble(histories)), agents, games)
    assert chances @ found == pytest.approx(value, abs=1e-12)


class Counting(SearchAgent):
    """Counts its searches."""

    @property
    def num_searches(self):
        return sum(len(walk.found) for walk in self.ground.walks)


def searcher(game, strategy):
    plan = SearchPlan(search=SearchSettings(iterations=5), when=SearchWhen.DECISIONS)
    return Counting.from_table(game, strategy, plan=plan)


def continual(game, _strategy):
    return ContinualAgent(derive_public_game(game), search=ContinualSettings(iterations=5))


@pytest.mark.parametrize("make", [searcher, continual])
@pytest.mark.parametrize("known", [(0,), (0, 1)])
def test_players_who_search_are_known(make, known):
    histories, played, _, _, _ = prepared("kuhn")
    game = histories.game
    agents = [make(game, played), make(game, played)]
    games = list(list_games(game, agents))
    chances, value = mean(games)
    assert value != pytest.approx(value_histories(histories, played)[0], abs=1e-6)  # they do not play the blueprint
    listeners = [agent if seat in known else None for seat, agent in enumerate(agents)]
    found = estimates(HistoryForm(histories, scramble(histories)), listeners, games)
    assert chances @ found == pytest.approx(value, abs=1e-12)


def test_leduc_searched_by_one_side_and_asked_for_nothing_more():
    histories, played, other, agent, _ = prepared("leduc")
    own = searcher(histories.game, played)
    games = list(list_games(histories.game, [own, agent]))
    chances, value = mean(games)
    count = own.num_searches
    assert count > 0
    found = estimates(HistoryForm(histories, value_histories(histories, other)), [own, None], games)
    assert chances @ found == pytest.approx(value, abs=1e-12)
    assert own.num_searches == count


class Liar(PolicyAgent):
    """Says something else than it plays."""

    name = "liar"

    def __init__(self, rows):
        self.rows = rows

    def probabilities(self, observation, *, rng):
        return self.rows


def test_players_who_say_what_they_do_not_play_are_found_out():
    histories, _, _, _, games = prepared("kuhn")
    form = HistoryForm(histories, histories.utility)
    betting = [game for game in games if "b" in histories.game.public_state(game[0][3])][:1]
    assert betting
    with pytest.raises(InvalidStateError, match="liar did what it says that it never does"):
        estimates(form, [Liar([1.0, 0.0]), None], betting)
    with pytest.raises(InvalidStateError, match=r"liar must give 2 probabilities in sum 1 at .*, got \[0\.4, 0\.5\]"):
        estimates(form, [Liar([0.4, 0.5]), None], betting)


def test_tables_that_are_no_strategies_are_refused_where_they_count():
    decision = SimpleNamespace(infostates=("J:", "Q:"), actions=(0, 1), legality=np.ones((2, 2), np.bool_))
    said = KnownMove(decision, np.array([[0.5, 0.5], [0.4, 0.5]]), "liar")
    assert said.shares(np.array([True, False])).tolist()[0] == [0.5, 0.5]
    for live in ([True, True], [False, True]):
        with pytest.raises(InvalidStateError, match=r"liar must say probabilities in sum 1 at 'Q:', got 0\.9"):
            said.shares(np.array(live))
    with pytest.raises(InvalidStateError, match=r"at 'J:'"):
        KnownMove(decision, np.array([[1.5, -0.5], [0.5, 0.5]]), "liar").shares(np.array([True, True]))


def test_games_end_before_they_are_scored_and_agents_can_be_known():
    histories, _, _, agent, games = prepared("kuhn")
    form = HistoryForm(histories, histories.utility)
    states = games[0][0]
    with pytest.raises(InvalidStateError, match="has not ended"):
        estimate_game(form.begin(frozenset()), form.trace(states[:3], [None] * 3))
    with pytest.raises(InvalidStateError, match="does not lead"):
        estimate_game(form.begin(frozenset()), form.trace((states[0], states[3]), [None] * 2))
    strange = type("Strange", (), {"name": "strange"})()
    with pytest.raises(ConfigError, match="strange in seat 1 has no strategy for whole public states"):
        Aivat(form, [agent, strange])
