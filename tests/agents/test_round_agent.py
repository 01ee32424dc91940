# SPDX-License-Identifier: Apache-2.0
"""The agent that solves rounds of three players from their beginning, on a small deck."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from equipoise.abstraction.blueprints import BlueprintSpec, StoredBlueprint, make_deals, save_blueprint
from equipoise.agents.base import PublicDecision
from equipoise.agents.bots import MACHINES
from equipoise.agents.bots.playing import make_machine_agent
from equipoise.agents.holdem.blueprint import BlueprintAgent, Sharpening, game_of_blueprint
from equipoise.agents.holdem.hands import describe_holdem_decision
from equipoise.agents.holdem.rounds import LEAST_REACH, Place, RoundAgent, RoundSearch, parse_round_options
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.public_text import parse_steps
from equipoise.games.holdem.rules import Holdem
from equipoise.runs.matches import match
from equipoise.search.holdem.rounds import RoundSettings, SolvedRound, SolvedStreet
from equipoise.solvers.blueprints.trainer import BlueprintConfig, BlueprintTrainer
from tests.agents.games import assert_plays_as_it_says

SPEC = BlueprintSpec(
    stacks=(2000,) * 3, deck="royal", menu="100%, a; cap: 2", abstraction="percentile", buckets=(6, 6, 6)
)
SEARCH = RoundSearch(menu="100%, a; cap: 2", crowded={}, rounds=RoundSettings(deals=400, periods=4), iterations=10)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pluribus")
    trainer = BlueprintTrainer(
        SPEC.betting, make_deals(SPEC), SPEC.num_buckets, BlueprintConfig(period=1000, snapshot_every=1000)
    )
    trainer.train(5_000)
    save_blueprint(folder / "blueprint.eq", SPEC, trainer, {})
    return folder


def make_agent(path: Path, search: RoundSearch = SEARCH) -> RoundAgent:
    early = BlueprintAgent(StoredBlueprint(path / "blueprint.eq"), Sharpening())
    return RoundAgent(early, search, name="pluribus")


@pytest.fixture(scope="module")
def game(path: Path) -> Holdem:
    return game_of_blueprint(str(path / "blueprint.eq"))


def decide(game: Holdem, *actions: int) -> PublicDecision:
    """Returns the decision after actions, cards dealt in the order of the deck."""
    state = game.initial_state()
    left = list(actions)
    while game.actor(state) < 0 or left:
        state = game.apply(state, game.chance_outcomes(state)[0][0] if game.actor(state) < 0 else left.pop(0))
    return describe_holdem_decision(game, state)


def rows_of(agent: RoundAgent, decision: PublicDecision):
    """Returns what hands that can be there play."""
    rows = agent.public_strategy(decision, rng=np.random.default_rng(0))
    live = decision.legality.any(axis=1)
    np.testing.assert_allclose(rows[live].sum(axis=1), 1.0, atol=1e-6)
    return rows


@pytest.mark.parametrize("opponent", ["raise", "call"])
@pytest.mark.parametrize(
    "change",
    [{}, {"fixes_own": False}, {"adds_bets": False}, {"to_end_from": Street.RIVER}],
    ids=str,
)
def test_whole_hands_are_played(path: Path, game: Holdem, opponent: str, change: dict) -> None:
    agent = make_agent(path, dataclasses.replace(SEARCH, **change))
    result = match(agent, opponent, "uniform", game=game, hands=9, seed=4)
    assert result.num_hands == 9
    assert result.failure is None


def test_three_solve_the_round_and_two_to_the_end(path: Path, game: Holdem) -> None:
    agent = make_agent(path)
    agent.begin_game(0)
    rows_of(agent, decide(game, 350, 1, 1))
    (flop,) = [found for found in agent._solved.values() if found is not None]
    assert isinstance(flop, SolvedRound)
    rows_of(agent, decide(game, 350, 1, 1, 1, 1, 1000, 1, 0, 1))  # the big blind folds; the turn
    assert isinstance(list(agent._solved.values())[-1], SolvedStreet)


def test_own_actions_of_the_round_stay_and_unknown_bets_are_added(path: Path, game: Holdem) -> None:
    agent = make_agent(path)
    agent.begin_game(0)
    first = rows_of(agent, decide(game, 350, 1, 1))
    later = decide(game, 350, 1, 1, 1, 1, 777)  # checks, and an odd bet of the button
    rows_of(agent, later)
    solution = agent._solved[Place(0, *parse_steps(later.public_state))]
    assert isinstance(solution, SolvedRound)
    assert 777 in solution.actions((1, 1))
    known = agent._solved[Place(0, *parse_steps(decide(game, 350, 1, 1).public_state))]
    held = ~hands_of(agent.early.blueprint.spec.cards).blocked(parse_steps(later.public_state)[1])
    np.testing.assert_allclose(solution.rows(())[held], known.rows(())[held], atol=1e-6)
    assert first.shape[0] > 0


def test_ranges_follow_what_was_found(path: Path, game: Holdem) -> None:
    """On the turn everybody's hands weigh what the blueprint did before the flop and the search on it."""
    agent = make_agent(path)
    agent.begin_game(0)
    decision = decide(game, 350, 1, 1, 1, 1, 777, 1, 1)
    rows_of(agent, decision)
    steps, board = parse_steps(decision.public_state)
    place = Place(0, steps, board)
    rng = np.random.default_rng(0)
    flop = agent._solved[Place(0, steps[:7], board[:3])]  # its last decision there
    image = agent.early.images.at(steps[: place.begin], rng)
    expected = agent.early.reach(image, 2, board, street=Street.PREFLOP)
    expected = expected * flop.rows((1, 1))[:, flop.actions((1, 1)).index(777)]
    expected = np.maximum(expected / expected.max(), LEAST_REACH)
    np.testing.assert_allclose(agent._range(place, 2, rng), expected)


def test_a_hand_is_played_as_the_strategy_of_all_hands_says(path: Path, game: Holdem) -> None:
    agent = make_agent(path)
    agent.begin_game(0)
    decision = decide(game, 350, 1, 1)
    rows = rows_of(agent, decision)
    assert_plays_as_it_says(agent, decision, rows)


def test_unknown_raises_before_the_flop_are_searched_when_few_are_left(path: Path, game: Holdem) -> None:
    agent = make_agent(path)
    agent.begin_game(0)
    odd, known = decide(game, 260), decide(game, 350)
    rows_of(agent, odd)
    rows_of(agent, known)
    solved = {place.steps: found for place, found in agent._solved.items()}
    assert isinstance(solved[260,], SolvedRound)
    assert solved[350,] is None
    wary = make_agent(path, dataclasses.replace(SEARCH, off_tree_players=2))
    wary.begin_game(0)
    rows_of(wary, odd)
    assert list(wary._solved.values()) == [None]


def test_the_same_hand_is_played_the_same_again(path: Path, game: Holdem) -> None:
    results = [match(make_agent(path), "uniform", "call", game=game, hands=6, seed=7) for _ in range(2)]
    assert results[0].estimate().mean == results[1].estimate().mean


def test_options_change_the_machine(path: Path, game: Holdem) -> None:
    agent = make_machine_agent(
        MACHINES["pluribus"], game, f"{path},deals=300,rollouts=2,bias=10,menu=50%,a,fixed=false,added=false,seconds=2"
    )
    assert isinstance(agent, RoundAgent)
    search = agent.search
    assert (search.rounds.deals, search.rounds.num_rollouts, search.rounds.bias) == (300, 2, 10.0)
    assert (search.menu, search.crowded, search.fixes_own, search.adds_bets) == ("50%,a", {}, False, False)
    for wrong in ("speed=3", "deals=many", "deals=0", "menu=nothing", "fixed=perhaps", "seconds=-1", "threads=0"):
        with pytest.raises(ConfigError):
            make_machine_agent(MACHINES["pluribus"], game, f"{path},{wrong}")
    assert parse_round_options(SEARCH, {}) == SEARCH
