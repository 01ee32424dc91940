# SPDX-License-Identifier: Apache-2.0
"""Study `supremus-opening`: with which hands agents do not fold when they are the first to act."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import PublicAgent
from equipoise.agents.holdem.hands import describe_holdem_decision
from equipoise.agents.notation import AgentText
from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE
from equipoise.games.holdem.betting import FOLD
from equipoise.games.holdem.hands import Hands, hands_of
from equipoise.games.holdem.rules import Holdem
from equipoise.games.registry import parse_game
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge
from equipoise.studies.values.supremus_lbr import read_agent

__all__ = ["SUPREMUS_OPENING", "SupremusOpeningConfiguration"]

SIMILAR: Final = 0.1  # mean difference over hands that still counts as similar
PLACE: Final = 1  # abscissa of every class
BLUEPRINT: Final = "file:"  # how an agent begins that plays its own game's menu
SEED: Final = 16

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SupremusOpeningConfiguration:
    """Who opens."""

    # `;` stands for a comma; with the networks that come along
    agents: tuple[str, ...] = ("supremus:seconds=0", "deepstack:seconds=0")
    game: str = "holdem(menu=all)"  # `file:PATH` plays the game of its file

    def __post_init__(self) -> None:
        game = parse_game(self.game)
        if not isinstance(game, Holdem) or game.spec.num_players != 2 or game.board:
            raise ConfigError(f"game must be hold'em heads-up from before the flop, got {self.game}")
        for text in self.agents:
            AgentText(read_agent(text))

    @property
    def hands(self) -> Hands:
        """The hands of the deck."""
        game = parse_game(self.game)
        assert isinstance(game, Holdem)
        return hands_of(game.card_deck)


def measure(configuration: SupremusOpeningConfiguration) -> Iterator[Step]:
    """Yields squares of classes, agent after agent."""
    names = configuration.hands.class_names
    for place, agent in enumerate(configuration.agents):
        yield Step(fraction=place / len(configuration.agents), text=agent)
        stays = find_opening(read_agent(agent), configuration.game)
        grid = configuration.hands.grid(stays).reshape(-1)
        points = tuple(Point(panel=agent, curve=name, x=PLACE, y=y) for name, y in zip(names, grid, strict=True))
        yield Step(fraction=(place + 1) / len(configuration.agents), text=agent, points=points)


def find_opening(text: str, wanted: str) -> FloatArray:
    """Returns `[H]` how likely an agent does not fold as the first action of a hand.

    Args:
        text: of the agent; one that plays a file plays the file's game, which must have the same cards and chips.
        wanted: the game.
    """
    maker, game = AgentText(text), parse_game(wanted)
    assert isinstance(game, Holdem)
    if text.startswith(BLUEPRINT):
        own = maker.game
        if not isinstance(own, Holdem) or own.betting_rules != game.betting_rules or own.card_deck != game.card_deck:
            raise ConfigError(f"{text} plays another game than {wanted}")
        game = own
    agent = maker(game)
    if not isinstance(agent, PublicAgent):
        raise ConfigError(f"{text} has no strategy for all hands at once")
    state = game.initial_state()
    while game.actor(state) == CHANCE:  # whatever is dealt: the first decision is the same
        state = game.apply(state, game.chance_outcomes(state)[0][0])
    decision = describe_holdem_decision(game, state)
    table = agent.public_strategy(decision, rng=np.random.default_rng(SEED))
    stays: FloatArray = 1.0 - table[:, decision.actions.index(FOLD)]
    return stays


def conclude(configuration: SupremusOpeningConfiguration, measured: Measured) -> Conclusion:
    """Returns the squares as rows, and how much agents differ."""
    hands = configuration.hands
    grids = {
        agent: grid for agent in configuration.agents if (grid := _read(configuration, measured, agent)) is not None
    }
    ranks = hands.deck.ranks[::-1]
    rows = [
        {"agent": agent, "": rank, **{column: f"{100 * y:.0f}" for column, y in zip(ranks, line, strict=True)}}
        for agent, grid in grids.items()
        for rank, line in zip(ranks, grid, strict=True)
    ]
    weights = hands.class_sizes / hands.class_sizes.sum()
    claims = [
        Claim(
            statement=f"how many hands {agent} does not fold",
            source="Figure 4 has no numbers",
            verdict=Verdict.NOT_STATED if agent in grids else Verdict.NOT_MEASURED,
            ours=f"{float(weights @ grids[agent].reshape(-1)):.1%}" if agent in grids else "nothing",
        )
        for agent in configuration.agents
    ]
    claims += [
        _compare(grids, pair, weights, hands.class_names) for pair in itertools.combinations(configuration.agents, 2)
    ]
    notes = ("Percent of the time that a class is not folded: suited above the diagonal, others below it.",)
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _read(configuration: SupremusOpeningConfiguration, measured: Measured, agent: str) -> FloatArray | None:
    """Returns `[ranks, ranks]` a square, None if it was not measured."""
    hands = configuration.hands
    values = [measured.at(agent, name, PLACE) for name in hands.class_names]
    if any(value is None for value in values):
        return None
    return np.array(values, np.float64).reshape(hands.grid_size, hands.grid_size)


def _compare(grids: dict[str, FloatArray], pair: tuple[str, str], weights: FloatArray, names: tuple[str, ...]) -> Claim:
    """Returns the verdict on two agents opening alike."""
    is_true, ours = None, "nothing"
    if set(pair) <= set(grids):
        difference = np.abs(grids[pair[0]] - grids[pair[1]]).reshape(-1)
        mean, worst = float(weights @ difference), int(difference.argmax())
        is_true = mean <= SIMILAR
        ours = f"mean difference {mean:.1%}, most at {names[worst]}: {difference[worst]:.0%}"
    return Claim(
        statement=f"{pair[0]} and {pair[1]} open with similar frequencies (mean difference at most {SIMILAR:.0%})",
        source="section 3, of DeepStack and its re-implementation",
        verdict=judge(is_true),
        ours=ours,
    )


SUPREMUS_OPENING: Final = Study(
    name="supremus-opening",
    title="Hands that are not folded as the first action",
    source="Zarick et al. 2020, Figure 4",
    x_label="",
    y_label="probability of not folding",
    sizes={
        Size.QUICK: SupremusOpeningConfiguration(),
        Size.FULL: SupremusOpeningConfiguration(
            agents=("supremus:seconds=0;iterations=1000", "deepstack:seconds=0;iterations=1000")
        ),
    },
    measure=measure,
    conclude=conclude,
    are_grids=True,
    is_log_y=False,
    seed=SEED,
)
