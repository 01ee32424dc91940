# SPDX-License-Identifier: Apache-2.0
"""Study `rebel-teh`: turn endgame hold'em, solved whole by linear CFR, FLOP and linear fictitious play (Fig. 5.11)."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import parse_board, parse_deck
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.fictitious_play import FLOP, FictitiousPlayRule, LinearFictitiousPlay
from equipoise.solvers.holdem.fictitious_play import HoldemFictitiousPlaySolver
from equipoise.solvers.rules import LinearCFR
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree

__all__ = ["REBEL_TEH", "TurnEndgameConfiguration", "make_turn_endgame"]

BIG_BLIND: Final = 100
FIGURE: Final = "Fig. 5.11"
EXACT: Final = "exact"
Runner = CFRSolver[HoldemTree] | HoldemFictitiousPlaySolver
CURVES: Final[Mapping[str, Callable[[HoldemTree], Runner]]] = {  # the thesis's order, best first
    "linear CFR": lambda tree: CFRSolver(tree, LinearCFR()),
    "FLOP": lambda tree: _play(tree, FLOP()),
    "linear FP": lambda tree: _play(tree, LinearFictitiousPlay()),
}


def _play(tree: HoldemTree, rule: FictitiousPlayRule) -> Runner:
    return HoldemFictitiousPlaySolver(tree, rule)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TurnEndgameConfiguration:
    """A turn that was checked or called before the flop and on it, and where curves are measured."""

    board: str = "9sJhTcKs"
    deck: str = "small"
    stack: int = 2_000  # chips of each player before the hand
    menu: str = "50%, 100%, a / 100%, a"
    marks: tuple[int, ...] = (8, 16, 32, 64, 128, 256)  # iterations in each of which both players are updated

    def __post_init__(self) -> None:
        if not self.marks or min(self.marks) < 1:
            raise ConfigError(f"marks must be at least 1, got {', '.join(map(str, self.marks)) or 'none'}")
        make_turn_endgame(self)


def make_turn_endgame(configuration: TurnEndgameConfiguration) -> HoldemSpot:
    """Returns the turn: both players have put in a big blind and hold any two cards."""
    deck = parse_deck(configuration.deck)
    behind = configuration.stack - BIG_BLIND
    board = parse_board(configuration.board, deck)
    if len(board) != 4:
        raise ConfigError(f"a turn endgame begins with 4 cards, got {configuration.board!r}")
    return HoldemSpot(
        board=board,
        pot=2 * BIG_BLIND,
        stacks=(behind, behind),
        ranges=(Range.random(deck), Range.random(deck)),
        menu=parse_menu(configuration.menu),
        big_blind=BIG_BLIND,
        deck=deck,
    )


def measure(configuration: TurnEndgameConfiguration) -> Iterator[Step]:
    """Yields exploitabilities in thousandths of a big blind at the marks, curve by curve."""
    tree = build_holdem_tree(make_turn_endgame(configuration))
    marks = sorted(configuration.marks)
    for number, (curve, make) in enumerate(CURVES.items()):
        solver = make(tree)
        for mark in marks:
            solver.iterate(mark - solver.iteration)
            found = 1000.0 * solver.evaluate().exploitability / BIG_BLIND
            fraction = (number + mark / marks[-1]) / len(CURVES)
            point = Point(panel=EXACT, curve=curve, x=mark, y=found)
            yield Step(fraction=fraction, text=f"{curve}: {mark:,} iterations", points=(point,))


def conclude(configuration: TurnEndgameConfiguration, measured: Measured) -> Conclusion:
    """Returns the curves at the marks, and a verdict on their order at the last."""
    rows = tuple(
        {
            "iterations": mark,
            **{curve: _round(measured.at(EXACT, curve, mark)) for curve in CURVES},
        }
        for mark in sorted(configuration.marks)
    )
    last = max(configuration.marks)
    claims = []
    for better, worse in itertools.pairwise(CURVES):
        ratio = measured.ratio(EXACT, worse, better, last)
        claims.append(
            Claim(
                statement=f"{better} is less exploitable than {worse} after {last:,} iterations",
                source=FIGURE,
                verdict=judge(None if ratio is None else ratio > 1),
                ours="nothing" if ratio is None else f"{worse} / {better} = {ratio:.3g}",
            )
        )
    notes = (
        f"Board {configuration.board}, deck {configuration.deck}, stacks of {configuration.stack:,} before the hand, "
        f"menu {configuration.menu}: the figure's bets are not printed. Every hand is as likely as chance deals it.",
        "An iteration updates both players in turn; fictitious play keeps its uniform start as the first term of the "
        "average.",
        "No network takes part: what self-play learns in this game is not measured.",
    )
    return Conclusion(rows=rows, claims=tuple(claims), notes=notes)


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


REBEL_TEH: Final = Study(
    name="rebel-teh",
    title="Turn endgame hold'em by linear CFR, FLOP and linear fictitious play",
    source="Brown 2020, thesis section 5.3.8, Fig. 5.11",
    x_label="iterations",
    y_label="exploitability, mbb",
    sizes={
        Size.QUICK: TurnEndgameConfiguration(),
        Size.FULL: TurnEndgameConfiguration(
            board="3s7hTdKs",
            deck="full",
            stack=20_000,
            menu="50%, 100%, 200%, a / 100%, a; cap: 3",
            marks=(8, 16, 32, 64, 128, 256, 512, 1024),
        ),
    },
    measure=measure,
    conclude=conclude,
)
