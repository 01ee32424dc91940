# SPDX-License-Identifier: Apache-2.0
"""Study `rebel-teh`: turn endgame hold'em, solved whole (Fig. 5.11) and played by learnt values of beliefs (Fig. 5.9).

Whole games are hold'em trees. Values are learnt on a few cards, where the public tree of any game will do: on 52 it
will not. Learning needs torch, the extra `[learn]`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.games.base import Game
from equipoise.games.holdem.cards import parse_board, parse_deck
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.registry import format_game, make_game
from equipoise.learning.rebel.playthroughs import measure_playthroughs
from equipoise.learning.rebel.settings import BeliefMethod, change_settings, find_preset, with_method
from equipoise.search.belief_games import BeliefGame, parse_horizon
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
LEARNT: Final = "few cards: random iterations by learnt values"
TABLE: Final = "few cards: whole game"
LINEAR: Final = "linear CFR"
MATCHED: Final = 30  # iterations of linear CFR that learnt values are to be in the place of: this project's mark
PRINTED: Final = 125  # on 52 cards, with GPUs
PRESET: Final = find_preset("rounds")
NETS: Final[Mapping[str, Mapping[str, str]]] = {  # settings that differ from the preset's
    "self-play value net": {},
    "self-play value and policy nets": {"warm_start": "15"},
    "random beliefs": {"beliefs": "random"},
    "modified CFR-AVG": with_method(BeliefMethod.MODIFIED_CFR_AVG, "lcfr"),
    "fictitious play": with_method(BeliefMethod.FP, "lcfr"),
}
SELF_PLAY, WITH_POLICY, RANDOM, MODIFIED = tuple(NETS)[:4]
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
    few_board: str = "JhTsQsKh"  # where values are learnt
    few_deck: str = "tiny"
    examples: int = 12_000  # of each training; 0: none
    playthroughs: int = 64

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
            yield Step(fraction=0.5 * fraction, text=f"{curve}: {mark:,} iterations", points=(point,))
    if not configuration.examples:
        yield Step(fraction=1.0, text="nothing is learnt")
        return
    yield Step(fraction=0.5, text="few cards, solved whole", points=tuple(_solve_few(configuration)))
    game = _few_game(configuration)
    form = BeliefGame.of(game, parse_horizon(PRESET.horizon))
    for number, curve in enumerate(NETS):
        found = 1000.0 * _learn(configuration, curve, form, format_game(game)) / BIG_BLIND
        point = Point(panel=LEARNT, curve=curve, x=configuration.playthroughs, y=found)
        yield Step(fraction=0.5 + 0.5 * (number + 1) / len(NETS), text=curve, points=(point,))


def _few(configuration: TurnEndgameConfiguration) -> TurnEndgameConfiguration:
    """Returns the turn where values are learnt."""
    return dataclasses.replace(configuration, board=configuration.few_board, deck=configuration.few_deck, stack=2_000)


def _solve_few(configuration: TurnEndgameConfiguration) -> Iterator[Point]:
    """Yields the exploitability of linear CFR's averages after every iteration up to the last mark, by octaves."""
    solver = CFRSolver(build_holdem_tree(make_turn_endgame(_few(configuration))), LinearCFR())
    for mark in _few_marks(configuration):
        solver.iterate(mark - solver.iteration)
        yield Point(panel=TABLE, curve=LINEAR, x=mark, y=1000.0 * solver.evaluate().exploitability / BIG_BLIND)


def _few_marks(configuration: TurnEndgameConfiguration) -> list[int]:
    """Returns iterations a twelfth of an octave apart."""
    last = max(configuration.marks)
    return sorted(
        {round(2 ** (step / 12)) for step in range(12 * last.bit_length()) if round(2 ** (step / 12)) <= last}
    )


def _few_game(configuration: TurnEndgameConfiguration) -> Game[Any]:
    """Returns the game of the turn where values are learnt."""
    few = _few(configuration)
    behind = few.stack - BIG_BLIND
    return make_game(
        "holdem", deck=few.deck, board=few.board, pot=2 * BIG_BLIND, stacks=(behind, behind), menu=few.menu
    )


def _learn(configuration: TurnEndgameConfiguration, curve: str, form: BeliefGame, label: str) -> float:
    """Returns how exploitable random iterations are by values that a training learns."""
    from equipoise.learning.rebel.training import RebelTrainer  # noqa: PLC0415 - torch is an extra

    preset = dataclasses.replace(PRESET, examples=configuration.examples, late_iterations=128)
    trainer = RebelTrainer(form, change_settings(preset, NETS[curve]), label)
    for _ in trainer.run():
        pass
    rng = np.random.default_rng(1)
    return measure_playthroughs(trainer.test_searcher(), configuration.playthroughs, rng=rng).exploitability


def conclude(configuration: TurnEndgameConfiguration, measured: Measured) -> Conclusion:
    """Returns the curves at the marks, and a verdict on their order at the last."""
    rows: list[dict[str, Any]] = [
        {"iterations": mark, **{curve: _round(measured.at(EXACT, curve, mark)) for curve in CURVES}}
        for mark in sorted(configuration.marks)
    ]
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
    claims += _judge_learnt(configuration, measured)
    for curve in NETS if configuration.examples else ():
        ours = measured.at(LEARNT, curve, configuration.playthroughs)
        rows.append({"iterations": f"{curve}, few cards", **dict.fromkeys(CURVES), LINEAR: _round(ours)})
    notes = (
        f"Board {configuration.board}, deck {configuration.deck}, stacks of {configuration.stack:,} before the hand, "
        f"menu {configuration.menu}: the figure's bets are not printed. Every hand is as likely as chance deals it.",
        "An iteration updates both players in turn; fictitious play keeps its uniform start as the first term of the "
        "average.",
        f"Few cards: board {configuration.few_board}, deck {configuration.few_deck}, stacks of 2,000; preset `rounds` "
        f"with {configuration.examples:,} examples, random iterations over {configuration.playthroughs:,} playthroughs "
        "(an upper bound) in the column of linear CFR. Nothing is learnt on 52 cards, nor with other boards, pots or "
        "stacks: the thesis's figure is of these.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _judge_learnt(configuration: TurnEndgameConfiguration, measured: Measured) -> list[Claim]:
    """Returns how many iterations of linear CFR learnt values are in the place of, and how ways to learn compare."""
    found = {curve: measured.at(LEARNT, curve, configuration.playthroughs) for curve in NETS}
    ours = found[SELF_PLAY]
    marks = _few_marks(configuration)
    worse = [mark for mark in marks if ours is not None and (measured.at(TABLE, LINEAR, mark) or 0.0) > ours]
    matched = None if ours is None else max(worse, default=0)
    claims = [
        Claim(
            statement=f"few cards: learnt values are in the place of {MATCHED} iterations of linear CFR or more",
            source=f"Fig. 5.9 (there {PRINTED} on 52 cards)",
            verdict=judge(None if matched is None else matched >= MATCHED),
            ours="nothing" if ours is None else f"{matched} iterations ({ours:.3g} mbb)",
        )
    ]
    for better, worse_curve, factor, statement, source in (
        (SELF_PLAY, RANDOM, 2.0, "values learnt from random beliefs are far worse (twice as exploitable)", "Fig. 5.9"),
        (WITH_POLICY, SELF_PLAY, 1.0, "a policy network helps", "Fig. 5.9"),
        (MODIFIED, SELF_PLAY, 1.0, "modified CFR-AVG learns and plays better than CFR-D", "Fig. 5.12, right"),
    ):
        low, high = found[better], found[worse_curve]
        is_measured = low is not None and high is not None
        claims.append(
            Claim(
                statement=f"few cards: {statement}",
                source=source,
                verdict=judge(high > factor * low if low is not None and high is not None else None),
                ours=f"{high:.3g} against {low:.3g} mbb" if is_measured else "nothing",
            )
        )
    return claims


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
            examples=100_000,
            playthroughs=1024,
        ),
    },
    measure=measure,
    conclude=conclude,
)
