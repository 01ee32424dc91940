# SPDX-License-Identifier: Apache-2.0
"""Matches whose games are scored by AIVAT: the same players as in `matches`, estimates in the place of winnings."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.bucketed_strategy import SolvedBuckets
from equipoise.agents.base import Agent, PolicyAgent, PublicAgent
from equipoise.agents.strategies import StrategyAgent
from equipoise.core.errors import ConfigError
from equipoise.evaluation.aivat import Aivat, PublicTracer, guess_values, strategy_tables
from equipoise.evaluation.assembly import assemble_public_strategy
from equipoise.evaluation.holdem.aivat import HoldemAivat, build_guesses
from equipoise.evaluation.matches import AGENT_STREAM, CHANCE_STREAM, AgentMaker, DealRange, MatchConfig
from equipoise.evaluation.play import play_game
from equipoise.games.base import Game
from equipoise.games.holdem.betting_tree import betting_tree
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.public_text import lines_of, parse_public_text
from equipoise.games.holdem.rules import Holdem, HoldemState
from equipoise.games.holdem.spot_game import spot_of_game
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.derive import derive_public_game
from equipoise.trees.holdem.places import HoldemStrategy

__all__ = ["AivatGames", "AivatHands"]

FloatArray = npt.NDArray[np.float64]
GUESS_SEED = 0  # of the deals behind guesses: part of what guesses are, not of a match


def _play_deals(
    game: Game[Any],
    agents: Sequence[Agent],
    config: MatchConfig,
    deals: DealRange,
    estimate: Callable[[int, list[Any]], float],
) -> FloatArray:
    """Returns `[deals, rotations, 2]` what `estimate` makes of a rotation's states, for who sits first and against."""
    out = np.zeros((deals.size, 2 if config.is_duplicate else 1, 2))
    for place in range(deals.size):
        deal = deals.first + place
        for column in range(out.shape[1]):
            rotation = column if config.is_duplicate else deal % 2
            states: list[Any] = []
            play_game(
                game,
                [agents[rotation], agents[1 - rotation]],
                chance=np.random.default_rng([config.seed, CHANCE_STREAM, deal]),
                rng=np.random.default_rng([config.seed, AGENT_STREAM, deal, rotation]),
                expects_all_ins=False,
                on_state=states.append,
            )
            won = estimate(rotation, states)
            out[place, column, rotation], out[place, column, 1 - rotation] = won, -won
    return out


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AivatGames:
    """Plays deals of a small two-player game and scores them by AIVAT; see `HandByHand` for seats and chance."""

    game: Game[Any]
    makers: tuple[AgentMaker, ...]
    names: tuple[str, ...]
    config: MatchConfig
    plays_singly: ClassVar[bool] = True
    guesses: str  # file of the strategy whose values guess
    known: tuple[int, ...]  # agents whose strategies are used

    def __call__(self, deals: DealRange) -> FloatArray:
        """Returns `[deals, rotations, agents]` estimates of what every agent won."""
        estimators, tracer, agents = _prepare_games(self)

        def estimate(rotation: int, states: list[Any]) -> float:
            return estimators[rotation].estimate(tracer.trace(self.game, states))

        return _play_deals(self.game, agents, self.config, deals, estimate)


@functools.lru_cache(2)
def _prepare_games(match: AivatGames) -> tuple[list[Aivat], PublicTracer, list[Any]]:
    """Returns an estimator for each rotation, what finds public states, and the agents."""
    public = derive_public_game(match.game)
    agents = [maker(match.game) for maker in match.makers]
    rng = np.random.default_rng(GUESS_SEED)
    guesses = guess_values(public, strategy_tables(public, TabularStrategy.load(match.guesses)))
    tables: list[list[FloatArray] | None] = [None, None]
    for place in match.known:
        agent = agents[place]
        if not isinstance(agent, PublicAgent):
            raise ConfigError(f"{match.names[place]} has no strategy for whole public states, which AIVAT needs")
        if isinstance(agent, PolicyAgent) and not agent.is_fixed:  # another search would play otherwise: a bias
            raise ConfigError(
                f"{match.names[place]} searches anew at every decision: AIVAT cannot know what it plays; "
                "--known names agents with a fixed strategy"
            )
        tables[place] = strategy_tables(public, assemble_public_strategy(agent, public, rng=rng))
    estimators = []
    for rotation in (0, 1):
        seats = tables[rotation], tables[1 - rotation]
        known = [seat for seat in (0, 1) if seats[seat] is not None]
        played = [_pick(seats, public.actor(state), state) for state in range(public.arrays.actor.size)]
        estimators.append(Aivat(public, played, guesses, known=known))
    return estimators, PublicTracer(public), agents


def _pick(seats: tuple[list[FloatArray] | None, list[FloatArray] | None], actor: int, state: int) -> FloatArray:
    own = seats[actor] if actor >= 0 else None
    return np.zeros((0, 0)) if own is None else own[state]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AivatHands:
    """Plays hands of heads-up hold'em through the agents and scores them by AIVAT.

    Known agents are strategies of hands; the others may be anything.
    """

    game: Holdem
    makers: tuple[AgentMaker, ...]
    names: tuple[str, ...]
    config: MatchConfig
    plays_singly: ClassVar[bool] = True
    guesses: str  # file of the blueprint whose values guess
    known: tuple[int, ...]  # agents whose strategies are used

    def __call__(self, deals: DealRange) -> FloatArray:
        """Returns `[deals, rotations, agents]` estimates of what every agent won."""
        estimators, agents, node_of = _prepare_hands(self)
        hands = hands_of(self.game.card_deck)

        def estimate(rotation: int, states: list[HoldemState]) -> float:
            end = states[-1]
            pair = [hands.index(*end.hole[2 * seat : 2 * seat + 2]) for seat in (0, 1)]
            node = node_of[parse_public_text(end.public).line]
            return estimators[rotation].estimate(node, pair, end.board)

        return _play_deals(self.game, agents, self.config, deals, estimate)


@functools.lru_cache(2)
def _prepare_hands(match: AivatHands) -> tuple[list[HoldemAivat], list[Any], dict[str, int]]:
    """Returns who estimates, for each rotation, the agents, and the betting node of each line."""
    with SolvedBuckets(match.guesses) as solution:
        blueprint = solution.strategy
    betting = blueprint.tree.betting
    spot = spot_of_game(match.game)
    if spot.deck != blueprint.tree.spot.deck or betting_tree(spot.betting_rules, spot.menu).nodes != betting.nodes:
        raise ConfigError(f"{match.guesses} guesses for another spot or another menu than {match.game.spec.label}")
    guesses = build_guesses(blueprint, rng=np.random.default_rng(GUESS_SEED))
    agents = [maker(match.game) for maker in match.makers]
    policies: list[HoldemStrategy | None] = [None, None]
    for place in match.known:
        agent = agents[place]
        policies[place] = agent.hand_strategy if isinstance(agent, StrategyAgent) else None
        if policies[place] is None:
            raise ConfigError(f"AIVAT of hold'em uses strategies from files, got {match.names[place]}")
    estimators = []
    for first, second in ((0, 1), (1, 0)):
        seats = [policies[first], policies[second]]
        known = [seat for seat in (0, 1) if seats[seat] is not None]
        estimators.append(HoldemAivat(guesses, seats, known=known))
    return estimators, agents, lines_of(betting)
