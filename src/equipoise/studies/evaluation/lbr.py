# SPDX-License-Identifier: Apache-2.0
"""Study `lbr`: what local best responses win, exactly beside best responses on small games, on hands in hold'em."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from equipoise.agents.base import PublicAgent
from equipoise.agents.notation import AgentText
from equipoise.agents.strategies import StrategyAgent
from equipoise.core.errors import ConfigError
from equipoise.evaluation.holdem.lbr import LbrHands, LbrMenu, measure_holdem_lbr
from equipoise.evaluation.lbr import LocalResponse, measure_lbr
from equipoise.evaluation.matches import DealRange, MatchConfig
from equipoise.evaluation.statistics import big_blind_of, estimate_mean
from equipoise.games.base import Game
from equipoise.games.holdem.rules import Holdem
from equipoise.games.registry import parse_game
from equipoise.runs.solution import solve
from equipoise.solvers.rules import CFR
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge

__all__ = ["LBR", "LbrConfiguration"]

SOURCE: Final = "Lisy & Bowling 2017, arXiv:1612.07547; Zarick et al. 2020 (Supremus), section 3; agents are our own"
SEED: Final = 1
LOCAL: Final = "local best response"  # curves of the exact part
BEST: Final = "best response"
SMALL: Final = "exact, both seats"  # panels
HANDS: Final = "hold'em"
ERRORS: Final = "hold'em, half intervals"
WANTED: Final = {("fcpa", "call"): 500.0, ("fcpa", "uniform"): 500.0, ("fc", "uniform"): 0.0}  # mbb/h
SMALL_HOLDEM: Final = "holdem(deck=tiny,stacks=40,40,small_blind=5,big_blind=10,last_street=flop)"
SOLVED: Final = "cfr"
CHUNK: Final = 20


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LbrConfiguration:
    """What is exploited."""

    games: tuple[str, ...] = ("kuhn", "leduc", "liars_dice", "goofspiel", SMALL_HOLDEM)
    agents: tuple[str, ...] = ("uniform", "call", "raise", SOLVED)  # cfr: some iterations of CFR, not of hold'em
    iterations: int = 20  # of CFR
    hands: int = 4000  # of hold'em, for each menu and agent
    holdem: str = "holdem"

    def __post_init__(self) -> None:
        if self.hands < 4:
            raise ConfigError(f"hands must be at least 4, got {self.hands}")


def measure(configuration: LbrConfiguration) -> Iterator[Step]:
    """Yields exact values in utility, then winnings in mbb/h."""
    place = 0
    for text in configuration.games:
        game = parse_game(text)
        for name in configuration.agents:
            if isinstance(game, Holdem) and name == SOLVED:
                continue
            found = _measure_exactly(game, name, configuration.iterations)
            place += 1
            label = f"{game.spec.name}, {name}"
            points = [
                Point(panel=f"{SMALL}: {label}", curve=curve, x=seat, y=value)
                for curve, values in ((LOCAL, found.values), (BEST, found.best_response_values))
                for seat, value in enumerate(values)
            ]
            total = len(configuration.games) * len(configuration.agents)
            yield Step(fraction=0.4 * place / total, text=f"{label}, exact", points=tuple(points))
    yield from _play_hands(configuration)


def _measure_exactly(game: Game[Any], name: str, iterations: int) -> LocalResponse:
    rng = np.random.default_rng(SEED)
    if name == SOLVED:
        return measure_lbr(StrategyAgent(solve(game, rule=CFR(), iterations=iterations).strategy), game, rng=rng)
    agent = AgentText(name)(game)
    assert isinstance(agent, PublicAgent)
    if isinstance(game, Holdem):
        return measure_holdem_lbr(game, agent, menu=LbrMenu.EVERYTHING, rng=rng)
    return measure_lbr(agent, game, rng=rng)


def _play_hands(configuration: LbrConfiguration) -> Iterator[Step]:
    game = parse_game(configuration.holdem)
    if not isinstance(game, Holdem):
        raise ConfigError(f"holdem must be a game of hold'em, got {configuration.holdem}")
    scale = 1000.0 / (big_blind_of(game) or 1.0)
    config = MatchConfig(seed=SEED)
    for place, (menu, name) in enumerate(WANTED):
        play = LbrHands(game=game, maker=AgentText(name), name=name, menu=LbrMenu(menu), config=config)
        won: list[float] = []
        while len(won) < configuration.hands // 2:
            size = min(CHUNK, configuration.hands // 2 - len(won))
            won += play(DealRange(len(won), size))[:, :, 0].mean(axis=1).tolist()
            share = (place + len(won) / (configuration.hands // 2)) / len(WANTED)
            is_done = len(won) == configuration.hands // 2
            estimate = estimate_mean(np.array(won)).scale(scale)
            points = (
                Point(panel=HANDS, curve=f"{menu} v {name}", x=2 * len(won), y=estimate.mean),
                Point(panel=ERRORS, curve=f"{menu} v {name}", x=2 * len(won), y=estimate.half_width),
            )
            yield Step(
                fraction=0.4 + 0.6 * share,
                text=f"{menu} v {name}, {2 * len(won):,} hands: {estimate.mean:+,.0f} ± {estimate.half_width:,.0f}",
                points=points if is_done else (),
            )


def conclude(configuration: LbrConfiguration, measured: Measured) -> Conclusion:
    """Returns winnings beside those of best responses, and whether the bounds hold."""
    rows, claims = [], []
    broken, compared = [], 0
    for panel, curves in measured.panels().items():
        if not panel.startswith(SMALL):
            continue
        for seat in (0, 1):
            local, best = (dict(curves[curve])[seat] for curve in (LOCAL, BEST))
            compared += 1
            rows.append(
                {"against": f"{panel.partition(': ')[2]}, seat {seat}", "ours": local, "at_most": best, "paper": None}
            )
            if local > best + 1e-9:
                broken.append(panel)
    claims.append(
        Claim(
            statement="evaluated exactly, a local best response wins at most what a best response wins",
            source="by definition",
            verdict=judge(not broken if compared else None),
            ours=f"{compared - len(broken)} of {compared} pairs of game, agent and seat",
        )
    )
    size = 2 * (configuration.hands // 2)
    for (menu, name), least in WANTED.items():
        curve = f"{menu} v {name}"
        mean, width = measured.at(HANDS, curve, size), measured.at(ERRORS, curve, size)
        rows.append(
            {"against": f"{configuration.holdem}, {curve} (mbb/h)", "ours": mean, "at_most": None, "paper": None}
        )
        verdict = judge(None if mean is None or width is None else mean - width > least)
        claims.append(
            Claim(
                statement=f"in hold'em {menu} wins more than {least:g} mbb/h against {name}, interval included",
                source="wanted here",
                verdict=verdict,
                ours="nothing" if mean is None or width is None else f"{mean:+,.0f} ± {width:,.0f} mbb/h",
            )
        )
    notes = (
        "Exact values in the games' unit of utility; roll-outs check and call; folds to a raise are the agent's own.",
        f"cfr: the average strategy after {configuration.iterations} iterations of CFR. fc: fold and call; fcpa: also "
        "pot and all-in. Intervals of 95 %.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


LBR: Final = Study(
    name="lbr",
    title="Local best responses: at most best responses on small games, and what they win in hold'em",
    source=SOURCE,
    x_label="hands",
    y_label="mbb/h",
    sizes={
        Size.QUICK: LbrConfiguration(games=("kuhn", "leduc", SMALL_HOLDEM), hands=200),
        Size.FULL: LbrConfiguration(),
    },
    measure=measure,
    conclude=conclude,
    panels=(HANDS,),
    is_log_y=False,
    seed=SEED,
)
