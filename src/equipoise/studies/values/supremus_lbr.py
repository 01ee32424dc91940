# SPDX-License-Identifier: Apache-2.0
"""Study `supremus-lbr`: what agents with value networks win of a local best response, by what it may do."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final, NamedTuple

from equipoise.agents.notation import AgentText
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.evaluation.holdem.lbr import LbrHands, LbrMenu
from equipoise.evaluation.matches import MatchConfig
from equipoise.games.holdem.rules import Holdem
from equipoise.games.registry import parse_game
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.studies.values.kept_games import name_file, play_in_parts

__all__ = ["SUPREMUS_LBR", "SupremusLbrConfiguration"]

WON: Final = "won of LBR (mbb/g)"  # panels
MEANS: Final = "means"
WIDTHS: Final = "half intervals"
ERRORS: Final = "standard errors"
HANDS: Final = "hands"
LAST: Final = 0  # abscissa of what all hands so far say
SEED: Final = 16


class Responder(NamedTuple):
    """What the responder may do."""

    menu: LbrMenu
    passive_streets: int
    text: str
    is_bar: bool  # whether an agent must not be beaten


RESPONDERS: Final = {
    "fc": Responder(LbrMenu.FOLD_CALL, 0, "fold or call", is_bar=True),
    "fcpa": Responder(LbrMenu.POT_ALL_IN, 2, "call on two streets, then fold, call, pot, all-in", is_bar=False),
}
PAPER: Final = {("supremus", "fc"): (951, 96), ("deepstack", "fc"): (536, 68)}  # mbb/g, one standard error


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SupremusLbrConfiguration:
    """Who is exploited, how, and in how many hands."""

    # `;` stands for a comma; with the networks that come along
    agents: tuple[str, ...] = ("supremus:seconds=0;iterations=50;menu=100%;a",)
    responders: tuple[str, ...] = tuple(RESPONDERS)
    hands: tuple[int, ...] = (8, 4)  # for each responder
    game: str = "holdem(menu=all)"
    keep: str = ""  # a folder: hands are kept there, and a study that was interrupted goes on
    workers: int = 1
    chunk: int = 2  # deals, two hands each, between two looks at the clock

    def __post_init__(self) -> None:
        for name in self.responders:
            if name not in RESPONDERS:
                raise UnknownNameError("responder", name, RESPONDERS)
        if len(self.hands) != len(self.responders) or min(self.hands) < 4:
            raise ConfigError(f"each responder plays at least 4 hands, got {self.hands} for {self.responders}")
        if not isinstance(parse_game(self.game), Holdem):
            raise ConfigError(f"game must be hold'em, got {self.game}")
        for text in self.agents:
            AgentText(read_agent(text))


def read_agent(text: str) -> str:
    """Returns an agent's text; `;` stands for the comma, which separates agents in settings.

    >>> read_agent("supremus:seconds=1;cards=after")
    'supremus:seconds=1,cards=after'
    """
    return text.replace(";", ",")


def measure(configuration: SupremusLbrConfiguration) -> Iterator[Step]:
    """Yields what agents have won so far, chunk by chunk."""
    game = parse_game(configuration.game)
    assert isinstance(game, Holdem)
    total, done = len(configuration.agents) * sum(configuration.hands), 0
    scale = 1000.0 / game.big_blind
    for name, hands in zip(configuration.responders, configuration.hands, strict=True):
        for agent in configuration.agents:
            responder, text = RESPONDERS[name], read_agent(agent)
            config = MatchConfig(num_deals=-(-hands // 2), seed=SEED, deals_per_chunk=configuration.chunk)
            play = LbrHands(
                game=game,
                maker=AgentText(text),
                name=text,
                menu=responder.menu,
                config=config,
                passive_streets=responder.passive_streets,
            )
            file = name_file("lbr", name, text)
            games = play_in_parts(
                play, config, label=game.spec.label, keep=configuration.keep, name=file, workers=configuration.workers
            )
            for result in games:
                found = result.estimate(1).scale(scale)
                curve = name_curve(agent, name)
                points = (
                    Point(panel=MEANS, curve=curve, x=LAST, y=found.mean),
                    Point(panel=WON, curve=curve, x=result.num_hands, y=found.mean),
                    Point(panel=WIDTHS, curve=curve, x=LAST, y=found.half_width),
                    Point(panel=ERRORS, curve=curve, x=LAST, y=found.standard_error),
                    Point(panel=HANDS, curve=curve, x=LAST, y=result.num_hands),
                )
                said = f"{curve}, {result.num_hands:,} hands: {found.mean:+,.0f} ± {found.half_width:,.0f} mbb/g"
                yield Step(fraction=min((done + result.num_hands) / total, 0.999), text=said, points=points)
            done += hands
    yield Step(fraction=1.0, text="done")


def name_curve(agent: str, responder: str) -> str:
    """Returns what an agent's hands are called."""
    return f"{agent} v {RESPONDERS[responder].text}"


def conclude(configuration: SupremusLbrConfiguration, measured: Measured) -> Conclusion:
    """Returns what agents win, and whether any is beaten."""
    rows: list[dict[str, object]] = []
    claims: list[Claim] = []
    for name, hands in zip(configuration.responders, configuration.hands, strict=True):
        for agent in configuration.agents:
            curve = name_curve(agent, name)
            mean, width, error, played = (measured.at(panel, curve, LAST) for panel in (MEANS, WIDTHS, ERRORS, HANDS))
            printed = PAPER.get((agent.partition(":")[0], name))
            rows.append(
                {
                    "agent": agent,
                    "responder": RESPONDERS[name].text,
                    "hands": None if played is None else int(played),
                    "wins (mbb/g)": mean,
                    "± 95 %": width,
                    "standard error": error,
                    "paper": None if printed is None else f"{printed[0]:+} ± {printed[1]} (one error)",
                }
            )
            if mean is None or width is None or played is None:
                is_beaten, ours = None, "nothing"
            else:
                is_beaten = mean + width < 0
                ours = f"{mean:+,.0f} ± {width:,.0f} mbb/g in {played:,.0f} hands"
            if RESPONDERS[name].is_bar:
                is_whole = played is not None and played >= hands
                claims.append(
                    Claim(
                        statement=f"{agent} is not beaten by LBR, {RESPONDERS[name].text} (an interval wholly below 0)",
                        source="sections 3 and 4",
                        verdict=judge(not is_beaten if is_whole else None),
                        ours=ours,
                    )
                )
    claims.append(_compare(configuration, measured))
    notes = (
        "Positive: the agent wins. Intervals of 95 %; the paper prints one standard error.",
        "LBR knows the agent's strategy for all hands; what it does not win says nothing of other opponents.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _compare(configuration: SupremusLbrConfiguration, measured: Measured) -> Claim:
    """Returns the verdict on Supremus winning more than DeepStack, where both played."""
    found = {}
    for agent in configuration.agents:
        mean, error = (measured.at(panel, name_curve(agent, "fc"), LAST) for panel in (MEANS, ERRORS))
        if mean is not None and error is not None:
            found[agent.partition(":")[0]] = mean, error
    is_true, ours = None, "nothing"
    if {"supremus", "deepstack"} <= set(found):
        (more, first), (less, second) = found["supremus"], found["deepstack"]
        width = 1.96 * (first**2 + second**2) ** 0.5
        is_true, ours = more - less > width, f"{more - less:+,.0f} ± {width:,.0f} mbb/g"
    return Claim(
        statement="Supremus wins more of LBR, fold or call, than DeepStack (a difference whose interval excludes 0)",
        source="section 4: 951 ± 96 and 536 ± 68",
        verdict=judge(is_true),
        ours=ours,
    )


SIZES: Final = {
    Size.QUICK: SupremusLbrConfiguration(),
    Size.FULL: SupremusLbrConfiguration(
        agents=("supremus", "deepstack"), hands=(1500, 500), game="holdem(menu=all)", chunk=5
    ),
}
PRINTED: Final = {
    name_curve(agent, responder): ((None, mean),)
    for (system, responder), (mean, _) in PAPER.items()
    for size in SIZES.values()
    for agent in size.agents
    if agent.partition(":")[0] == system
}
SUPREMUS_LBR: Final = Study(
    name="supremus-lbr",
    title="Local best responses against agents with value networks",
    source="Zarick et al. 2020, sections 3 and 4; Table 5.6 of Brown's thesis for the second setting",
    x_label="hands",
    y_label="mbb/g",
    sizes=SIZES,
    measure=measure,
    conclude=conclude,
    panels=(WON,),
    printed={WON: PRINTED},
    is_log_y=False,
    seed=SEED,
)
