# SPDX-License-Identifier: Apache-2.0
"""Matches whose games are scored by AIVAT: the same games as in `matches`, estimates in the place of winnings."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.bucketed_strategy import SolvedBuckets
from equipoise.agents.base import Agent, PolicyAgent
from equipoise.agents.simple import ClassAgent, UniformAgent
from equipoise.core.checkpoint import digest_file
from equipoise.core.errors import ConfigError
from equipoise.evaluation.aivat import Aivat, AivatForm, explain_unknown
from equipoise.evaluation.aivat_histories import HistoryForm
from equipoise.evaluation.holdem.aivat import HoldemForm
from equipoise.evaluation.holdem.guesses import build_guesses
from equipoise.evaluation.matches import AgentMaker, DealRange, MatchConfig, list_seatings, make_agents
from equipoise.evaluation.play import play_game
from equipoise.games.base import Game
from equipoise.games.holdem.rules import Holdem
from equipoise.solvers.strategy import TabularStrategy

__all__ = ["AivatMatch", "find_known"]

FloatArray = npt.NDArray[np.float64]
GUESS_SEED: Final = 0  # of the deals behind guesses: part of what guesses are, not of a match


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AivatMatch:
    """Plays deals as `HandByHand` does and scores them by AIVAT."""

    game: Game[Any]
    makers: tuple[AgentMaker, ...]
    names: tuple[str, ...]
    config: MatchConfig
    plays_singly: ClassVar[bool] = True
    guesses: str  # file of the strategy whose values guess; of hold'em a blueprint
    known: tuple[int, ...]  # agents whose strategies are used

    def __call__(self, deals: DealRange) -> FloatArray:
        """Returns `[deals, rotations, agents, 2]` an estimate of what every agent won, and what it won."""
        game: Any = self.game
        agents, config = make_agents(self.makers, game), self.config
        estimators = self.prepare()
        size = len(agents)
        out = np.zeros((deals.size, config.num_rotations(size), size, 2))
        for seating in list_seatings(config, deals, size):
            aivat = estimators[seating.rotation]
            won = play_game(
                game,
                [agents[agent] for agent in seating.agents],
                chance=seating.chance,
                rng=seating.rng,
                expects_all_ins=config.expects_all_ins,
                on_state=aivat.hear,
            )
            row = out[seating.place, seating.column]
            row[seating.agents, 0], row[seating.agents, 1] = aivat.estimate(), won
        return out

    def prepare(self, on_progress: Callable[[float], None] | None = None) -> Sequence[Aivat]:
        """Returns who estimates, for each rotation.

        Args:
            on_progress: called now and then with the share of the guesses done, if they are made.
        """
        game: Any = self.game  # hashable: rules are frozen values
        kept = _kept(game, self.makers, self.guesses, digest_file(self.guesses), self.known)
        agents = make_agents(self.makers, game)
        size = len(agents)
        seated = [[(seat + rotation) % size for seat in range(size)] for rotation in range(len(kept), size)]
        listed = [[agents[place] if place in self.known else None for place in places] for places in seated]
        # guesses of hold'em know in which seats nobody looks at cards
        blind = [
            {seat: agent for seat, agent in enumerate(each) if isinstance(agent, ClassAgent | UniformAgent)}
            for each in listed
        ]
        num_forms = len(set(map(tuple, blind)))
        made: dict[tuple[int, ...], AivatForm] = {}
        for each, who in zip(listed, blind, strict=True):
            if tuple(who) not in made:
                made[tuple(who)] = _make_form(game, self.guesses, who, _share(on_progress, len(made), num_forms))
            kept.append(Aivat(made[tuple(who)], each))
        return kept


def _share(on_progress: Callable[[float], None] | None, place: int, count: int) -> Callable[[float], None] | None:
    """Returns what tells the share done of one of several like parts as that of the whole."""
    return None if on_progress is None else lambda share: on_progress((place + share) / count)


@functools.lru_cache(2)
def _kept(
    _game: Any, _makers: tuple[AgentMaker, ...], _guesses: str, _digest: str, _known: tuple[int, ...]
) -> list[Aivat]:
    """Returns what this process keeps of a match: who estimates, for each rotation; empty if nobody was made yet."""
    return []


def find_known(agents: Sequence[Agent], names: Sequence[str], wanted: Sequence[int] | None) -> tuple[int, ...]:
    """Returns whose strategies are used.

    Args:
        agents: of a match.
        names: of theirs, for messages.
        wanted: places of agents that must be known; None: of all who can say what they play.
    """
    reasons = [explain_unknown(agent) for agent in agents]
    for place in wanted or ():
        if reasons[place]:
            raise ConfigError(f"{names[place]} {reasons[place]}; `known` names agents that say what they play")
    return tuple(place for place, reason in enumerate(reasons) if not reason) if wanted is None else tuple(wanted)


def _make_form(
    game: Game[Any], path: str, blind: Mapping[int, PolicyAgent], on_progress: Callable[[float], None] | None
) -> AivatForm:
    """Returns a game as AIVAT follows it, given by seat who looks at no cards."""
    if not isinstance(game, Holdem):
        return HistoryForm.of(game, TabularStrategy.load(path))
    with SolvedBuckets(path) as solution:
        blueprint = solution.strategy
    rng = np.random.default_rng(GUESS_SEED)
    return HoldemForm(game, build_guesses(blueprint, rng=rng, blind=blind, on_progress=on_progress))
