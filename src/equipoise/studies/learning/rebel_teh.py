# SPDX-License-Identifier: Apache-2.0
"""Study `rebel-teh`: turn endgame hold'em, solved whole (Fig. 5.11) and played by learnt values of beliefs (Fig. 5.9).

Whole games are hold'em trees. Values are learnt within the study on a few cards, where the public tree of any game will
do; on 52 cards `equipoise train rebel holdem --preset turn-endgame` learns them, and its runs are measured here
(`-p runs=DIR`). Learning needs torch, the extra `[learn]`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.core.runs import RunFolder
from equipoise.games.base import Game
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import parse_board, parse_deck
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.registry import format_game, make_game
from equipoise.learning.rebel.holdem.nets import HandsGuide, Layer, LayerNets
from equipoise.learning.rebel.holdem.playthroughs import make_test_spot, measure_turn_endgame
from equipoise.learning.rebel.holdem.settings import HoldemRebelSettings
from equipoise.learning.rebel.playthroughs import measure_playthroughs
from equipoise.learning.rebel.settings import BeliefMethod, change_settings, find_preset, with_method
from equipoise.learning.values.configuration import NetStage
from equipoise.learning.values.weights import StoredNet
from equipoise.search.belief_games import BeliefGame, parse_horizon
from equipoise.search.holdem.leaves import HoldemRest
from equipoise.search.leaves import LeafEvaluator, ResolvedLeaves
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
WIDE: Final = "52 cards: random iterations by learnt values"
WIDE_TABLE: Final = "52 cards: whole game"
PERFECT: Final = "perfect value net"
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
    examples: int = 3_000  # of each training; 0: none
    playthroughs: int = 32
    runs: str = ""  # folder of trainings of turn endgames on 52 cards, named as their curves are to be; none: no folder
    perfect: int = 0  # iterations by which every end of the turn is solved beside them, which takes long; 0: none

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
    yield from _measure_runs(configuration)
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


def _find_runs(folder: str) -> list[tuple[str, HoldemRebelSettings]]:
    """Returns trainings on 52 cards with one test: names of their folders and settings."""
    if not folder:
        return []
    if not Path(folder).is_dir():
        raise ConfigError(f"runs must be a folder of trainings, and {folder} is none")
    found = []
    for path in sorted(Path(folder).iterdir()):
        if RunFolder.is_run(path) and RunFolder(path).config.get("preset") == "turn-endgame":
            found.append((path.name, HoldemRebelSettings.from_dict(RunFolder(path).config["settings"])))
    tests = {(each.test_board, each.test_stack, each.menu) for _, each in found}
    if len(tests) > 1:
        raise ConfigError(f"trainings that are compared have one test, and those of {folder} have {len(tests)}")
    return found


def _measure_runs(configuration: TurnEndgameConfiguration) -> Iterator[Step]:
    """Yields how exploitable trainings of a folder are on 52 cards, beside linear CFR of the whole game."""
    runs = _find_runs(configuration.runs)
    if not runs:
        return
    settings = runs[0][1]
    spot = make_test_spot(settings)
    yield Step(
        fraction=0.5, text="52 cards, solved whole", points=tuple(_follow_table(configuration, spot, WIDE_TABLE))
    )
    evaluators: dict[str, tuple[HoldemRebelSettings, LeafEvaluator, HandsGuide | None]] = {}
    for name, own in runs:
        nets = LayerNets.load(own, Path(configuration.runs) / name)
        evaluators[name] = own, nets.at(Layer(Street.TURN, NetStage.END)), nets.guide
    if configuration.perfect:
        perfect = ResolvedLeaves(HoldemRest(spot), iterations=configuration.perfect, rule=LinearCFR(), dtype=np.float32)
        evaluators[PERFECT] = settings, perfect, None
    for curve, (own, ends, guide) in evaluators.items():
        rng = np.random.default_rng(1)
        found = measure_turn_endgame(own, ends, configuration.playthroughs, rng=rng, guide=guide).exploitability
        point = Point(panel=WIDE, curve=curve, x=configuration.playthroughs, y=1000.0 * found / BIG_BLIND)
        yield Step(fraction=0.5, text=f"52 cards: {curve}", points=(point,))


def _few(configuration: TurnEndgameConfiguration) -> TurnEndgameConfiguration:
    """Returns the turn where values are learnt."""
    return dataclasses.replace(configuration, board=configuration.few_board, deck=configuration.few_deck, stack=2_000)


def _solve_few(configuration: TurnEndgameConfiguration) -> Iterator[Point]:
    """Yields the exploitability of linear CFR's averages after every iteration up to the last mark, by octaves."""
    return _follow_table(configuration, make_turn_endgame(_few(configuration)), TABLE)


def _follow_table(configuration: TurnEndgameConfiguration, spot: HoldemSpot, panel: str) -> Iterator[Point]:
    solver = CFRSolver(build_holdem_tree(spot), LinearCFR())
    for mark in _few_marks(configuration):
        solver.iterate(mark - solver.iteration)
        yield Point(panel=panel, curve=LINEAR, x=mark, y=1000.0 * solver.evaluate().exploitability / BIG_BLIND)


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
    for name, _ in _find_runs(configuration.runs):
        ours = measured.at(WIDE, name, configuration.playthroughs)
        claims.append(_judge_match(configuration, measured, WIDE_TABLE, ours, f"52 cards, {name}"))
    for curve in NETS if configuration.examples else ():
        ours = measured.at(LEARNT, curve, configuration.playthroughs)
        rows.append({"iterations": f"{curve}, few cards", **dict.fromkeys(CURVES), LINEAR: _round(ours)})
    for curve in _wide_curves(configuration):
        ours = measured.at(WIDE, curve, configuration.playthroughs)
        rows.append({"iterations": f"{curve}, 52 cards", **dict.fromkeys(CURVES), LINEAR: _round(ours)})
    notes = (
        f"Board {configuration.board}, deck {configuration.deck}, stacks of {configuration.stack:,} before the hand, "
        f"menu {configuration.menu}: the figure's bets are not printed. Every hand is as likely as chance deals it.",
        "An iteration updates both players in turn; fictitious play keeps its uniform start as the first term of the "
        "average.",
        f"Few cards: board {configuration.few_board}, deck {configuration.few_deck}, stacks of 2,000; preset `rounds` "
        f"with {configuration.examples:,} examples, random iterations over {configuration.playthroughs:,} playthroughs "
        "(an upper bound) in the column of linear CFR: one board, one pot, one depth of stacks.",
        *_tell_runs(configuration),
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _judge_learnt(configuration: TurnEndgameConfiguration, measured: Measured) -> list[Claim]:
    """Returns how many iterations of linear CFR learnt values are in the place of, and how ways to learn compare."""
    found = {curve: measured.at(LEARNT, curve, configuration.playthroughs) for curve in NETS}
    claims = [_judge_match(configuration, measured, TABLE, found[SELF_PLAY], "few cards")]
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


def _judge_match(
    configuration: TurnEndgameConfiguration, measured: Measured, table: str, ours: float | None, where: str
) -> Claim:
    """Returns in the place of how many iterations of linear CFR something is."""
    marks = _few_marks(configuration)
    worse = [mark for mark in marks if ours is not None and (measured.at(table, LINEAR, mark) or 0.0) > ours]
    matched = None if ours is None else max(worse, default=0)
    return Claim(
        statement=f"{where}: learnt values are in the place of {MATCHED} iterations of linear CFR or more",
        source=f"Fig. 5.9 (there {PRINTED} on 52 cards)",
        verdict=judge(None if matched is None else matched >= MATCHED),
        ours="nothing" if ours is None else f"{matched} iterations ({ours:.3g} mbb)",
    )


def _wide_curves(configuration: TurnEndgameConfiguration) -> list[str]:
    names = [name for name, _ in _find_runs(configuration.runs)]
    return [*names, PERFECT] if names and configuration.perfect else names


def _tell_runs(configuration: TurnEndgameConfiguration) -> Iterator[str]:
    """Yields how the trainings of a folder were made."""
    for name, settings in _find_runs(configuration.runs):
        path = Path(configuration.runs) / name / "turn-end.safetensors"
        card = StoredNet.load(path).card if path.exists() else {}
        spent = float(card.get("measured", {}).get("cpu_seconds", 0.0)) / 60.0
        yield (
            f"52 cards, {name}: {settings.examples:,} examples of {settings.beliefs} in {spent:.1f} CPU minutes, pots "
            f"of 200 to {settings.most_pot:,} and stacks of {settings.least_stack:,} to {settings.most_stack:,} chips; "
            f"tested on {settings.test_board} with stacks of {settings.test_stack:,} by linear CFR, "
            f"{settings.test_iterations} iterations, over {configuration.playthroughs:,} playthroughs."
        )


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
