# SPDX-License-Identifier: Apache-2.0
"""Study `pruned-sampling`: Monte Carlo CFR that leaves actions with negative regrets out, and with baselines."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.registry import make_game
from equipoise.solvers.baselines import BaselineKey, Baselines
from equipoise.solvers.holdem.mccfr import HoldemMCCFRSolver
from equipoise.solvers.mccfr import Discounting, DiscountKind, MCCFRConfig, MCCFRSolver, Scheme
from equipoise.solvers.sampled_pruning import LIBRATUS, PLURIBUS, REGRET_BASED_SAMPLING, SampledPruning
from equipoise.studies.comparisons import Comparison, Marks, compare_means
from equipoise.studies.sampled_races import Race, measure_noise, run_race
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge
from equipoise.trees.cache import load_or_build_history_tree
from equipoise.trees.holdem.tree import build_holdem_tree

__all__ = ["PRUNED_SAMPLING", "PrunedSamplingConfiguration"]

SOURCE: Final = "Brown 2020, thesis sections 6.3 (Fig. 6.1), 6.4, 6.6; Schmid et al. 2019, arXiv:1809.03057, Figs. 3-5"
FIGURE: Final = "thesis section 6.3, Fig. 6.1"
LIBRATUS_SOURCE: Final = "thesis section 6.4"
PLURIBUS_SOURCE: Final = "thesis section 6.6"
BASELINES_SOURCE: Final = "Schmid et al. 2019, Experimental Results"
OURS: Final = "this project: no paper states it"
SEED: Final = 6
MARKS: Final = (300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000, 300_000_000)  # nodes touched
HOLDEM: Final = "small-deck hold'em"
NOISE: Final = "Leduc, variance of sampled regrets"
VALUES: Final = "Leduc, baselines"

PLAIN: Final = "mccfr"
RBS: Final = "rbs"
RBS_ENDED: Final = "rbs, off for the last half"
WEIGHTED_RBS: Final = "weighted rbs"
LIBRATUS_CURVE: Final = "libratus"
WEIGHTED_LIBRATUS: Final = "weighted libratus"
LIBRATUS_EARLY: Final = "libratus, as early as pluribus"
PLURIBUS_CURVE: Final = "pluribus"
OUTCOME: Final = "outcome"
OUTCOME_INFOSET: Final = "outcome, guesses by information set"
OUTCOME_HISTORY: Final = "outcome, guesses by history"
EXTERNAL: Final = "external"
EXTERNAL_HISTORY: Final = "external, guesses by history"
BASELINE_CURVES: Final[Mapping[str, tuple[Scheme, BaselineKey]]] = {
    OUTCOME: (Scheme.OUTCOME, BaselineKey.NONE),
    OUTCOME_INFOSET: (Scheme.OUTCOME, BaselineKey.INFOSET),
    OUTCOME_HISTORY: (Scheme.OUTCOME, BaselineKey.HISTORY),
    EXTERNAL: (Scheme.EXTERNAL, BaselineKey.NONE),
    EXTERNAL_HISTORY: (Scheme.EXTERNAL, BaselineKey.HISTORY),
}

COMPARISONS: Final = (
    Comparison(
        statement="regret-based sampling is ahead of external sampling",
        above=PLAIN,
        below=RBS,
        least=1.0,
        source=FIGURE,
    ),
    Comparison(
        statement="regret-based sampling does worse close to convergence than if it is turned off for the last part",
        above=RBS,
        below=RBS_ENDED,
        least=1.0,
        test=Marks.LAST,
        source=FIGURE,
    ),
    Comparison(
        statement="skipping as Libratus does, in the last half, is ahead of external sampling",
        above=PLAIN,
        below=LIBRATUS_CURVE,
        least=1.0,
        test=Marks.LAST,
        source=LIBRATUS_SOURCE,
    ),
    Comparison(
        statement="skipping as Pluribus does is ahead of external sampling",
        above=PLAIN,
        below=PLURIBUS_CURVE,
        least=1.0,
        test=Marks.LAST,
        source=PLURIBUS_SOURCE,
    ),
    Comparison(
        statement="weights that make up for what is left out help regret-based sampling",
        above=RBS,
        below=WEIGHTED_RBS,
        least=1.0,
        test=Marks.LAST,
        source=OURS,
    ),
    Comparison(
        statement="weighted skipping with Libratus's probabilities is ahead of external sampling",
        above=PLAIN,
        below=WEIGHTED_LIBRATUS,
        least=1.0,
        test=Marks.LAST,
        source=OURS,
    ),
)
BASELINE_COMPARISONS: Final = (
    Comparison(
        statement="outcome sampling converges faster with guesses by information set",
        above=OUTCOME,
        below=OUTCOME_INFOSET,
        least=1.0,
        source=BASELINES_SOURCE,
    ),
    Comparison(
        statement="outcome sampling converges faster with guesses by history",
        above=OUTCOME,
        below=OUTCOME_HISTORY,
        least=1.0,
        source=OURS,
    ),
    Comparison(
        statement="external sampling converges faster with guesses by history",
        above=EXTERNAL,
        below=EXTERNAL_HISTORY,
        least=1.0,
        source=OURS,
    ),
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PrunedSamplingConfiguration:
    """What is solved, for how long and how often."""

    game: str = "leduc5"
    nodes: int = MARKS[-1]  # touched by each run that may prune
    baseline_nodes: int = 30_000_000  # touched by each run with baselines
    runs: int = 20  # of each curve
    noise_samples: int = 2000  # iterations behind each variance
    threshold: float = -1.0  # C of Libratus and Pluribus, in payoff ranges; the thesis prints none
    softness: float = 5.0  # K of Libratus, likewise
    sweep: tuple[str, ...] = ("-2/20", "-2/5", "-1/1", "-0.5/5")  # other C/K of Libratus, in the first game
    board: str = "9hTcQsKc"  # of the small deck, six ranks in three suits
    menu: str = "75%, a"

    def __post_init__(self) -> None:
        if min(self.nodes, self.baseline_nodes) < MARKS[0]:
            least = min(self.nodes, self.baseline_nodes)
            raise ConfigError(f"nodes and baseline_nodes must be at least {MARKS[0]:,}, got {least:,}")
        if self.runs < 2 or self.noise_samples < 2:
            raise ConfigError(f"runs and noise_samples must be at least 2, got {self.runs} and {self.noise_samples}")

        for text in self.sweep:
            _read_constants(text)

    @property
    def panels(self) -> tuple[str, ...]:
        """Returns the games in which actions are left out."""
        return self.game, HOLDEM

    def marks_within(self, nodes: int) -> tuple[int, ...]:
        """Returns the marks that a run reaches, and its half, where Libratus begins to leave actions out."""
        marks = [mark for mark in MARKS if mark <= nodes]
        return tuple(sorted({*marks, marks[-1] // 2}))

    def prunings(self) -> dict[str, SampledPruning]:
        """Returns what each curve leaves out, and when: as the text says, in shares of the run."""
        half = self.marks_within(self.nodes)[-1] // 2
        libratus = dataclasses.replace(LIBRATUS, threshold=self.threshold, softness=self.softness)
        ratio = self.threshold / PLURIBUS.threshold
        pluribus = dataclasses.replace(PLURIBUS, threshold=self.threshold, floor=ratio * PLURIBUS.floor)
        return {
            PLAIN: SampledPruning(),
            RBS: REGRET_BASED_SAMPLING,
            RBS_ENDED: dataclasses.replace(REGRET_BASED_SAMPLING, end_node=half),
            WEIGHTED_RBS: dataclasses.replace(REGRET_BASED_SAMPLING, is_weighted=True),
            LIBRATUS_CURVE: dataclasses.replace(libratus, first_node=half),
            WEIGHTED_LIBRATUS: dataclasses.replace(libratus, is_weighted=True),
            LIBRATUS_EARLY: dataclasses.replace(libratus, first_node=half // 25),
            # early in the run: accounts outside the thesis say after 200 minutes of eight days
            PLURIBUS_CURVE: dataclasses.replace(pluribus, first_node=half // 25),
        }

    def sweep_of(self) -> dict[str, SampledPruning]:
        """Returns Libratus's pruning with each of the other constants, by the name of its curve."""
        half = self.marks_within(self.nodes)[-1] // 2
        return {
            f"libratus, C = {threshold:g}, K = {softness:g}": dataclasses.replace(
                LIBRATUS, threshold=threshold, softness=softness, first_node=half
            )
            for threshold, softness in map(_read_constants, self.sweep)
        }


def _read_constants(text: str) -> tuple[float, float]:
    """Returns C and K of a text such as -2/20."""
    try:
        threshold, softness = map(float, text.split("/"))
    except ValueError:
        raise ConfigError(f"sweep takes C/K such as -2/20, got {text!r}") from None
    dataclasses.replace(LIBRATUS, threshold=threshold, softness=softness)  # refuses what cannot be
    return threshold, softness


def cost(panel: str) -> str:
    """Returns the panel of what iterations cost in the last half of runs."""
    return f"{panel}, nodes an iteration"


def timed(panel: str) -> str:
    """Returns the panel of the same runs at equal processor time."""
    return f"{panel}, equal processor time"


def measure(configuration: PrunedSamplingConfiguration) -> Iterator[Step]:
    """Yields races of pruned runs in two games, then of runs with baselines, then how noisy these are."""
    marks = configuration.marks_within(configuration.nodes)
    shorter = configuration.marks_within(configuration.baseline_nodes)
    parts: list[tuple[Race, Sequence[int]]] = [(race, marks) for race in _pruned_races(configuration, marks[-1])]
    parts.append((_baseline_race(), shorter))
    weights = [marks[-1] * len(race.makers) for race, marks in parts]
    before = 0.0
    for (race, its_marks), weight in zip(parts, weights, strict=True):
        share = 0.95 * weight / sum(weights)
        for step in run_race(race, marks=its_marks, runs=configuration.runs, seed=SEED):
            yield dataclasses.replace(step, fraction=before + share * step.fraction)
        before += share
    yield from _measure_noises(configuration, shorter)


def _pruned_races(configuration: PrunedSamplingConfiguration, last: int) -> Iterator[Race]:
    tree = load_or_build_history_tree(make_game(configuration.game))
    deck = DECKS["small"]
    spot = HoldemSpot(
        board=parse_board(configuration.board, deck),
        deck=deck,
        pot=200,
        stacks=(1000, 1000),
        big_blind=100,
        ranges=(Range.random(deck), Range.random(deck)),
        menu=parse_menu(configuration.menu),
    )
    holdem = build_holdem_tree(spot, merges_suits=False)
    linear = _linear(last)
    makers: list[Callable[[MCCFRConfig, np.random.Generator], Any]] = [
        lambda config, rng: MCCFRSolver(tree, config, rng=rng),
        lambda config, rng: HoldemMCCFRSolver(holdem, config, rng=rng),
    ]
    for panel, make, scale in zip(configuration.panels, makers, (1.0, 1000 / spot.big_blind), strict=True):
        solvers = {
            curve: _bind(make, MCCFRConfig(pruning=pruning, discounting=linear))
            for curve, pruning in {
                **configuration.prunings(),
                **(configuration.sweep_of() if panel == configuration.game else {}),
            }.items()
        }
        yield Race(panel=panel, timed_panel=timed(panel), makers=solvers, scale=scale, cost_panel=cost(panel))


def _bind(
    make: Callable[[MCCFRConfig, np.random.Generator], Any], config: MCCFRConfig
) -> Callable[[np.random.Generator], Any]:
    return lambda rng: make(config, rng)


def _linear(last: int) -> Discounting:
    return Discounting(kind=DiscountKind.LINEAR, period_nodes=max(1, last // 100))


def _baseline_config(curve: str) -> MCCFRConfig:
    scheme, key = BASELINE_CURVES[curve]
    return MCCFRConfig(scheme=scheme, baselines=Baselines(key=key), discounting=Discounting(kind=DiscountKind.NONE))


def _baseline_race() -> Race:
    tree = load_or_build_history_tree(make_game("leduc"))
    makers = {
        curve: _bind(lambda config, rng: MCCFRSolver(tree, config, rng=rng), _baseline_config(curve))
        for curve in BASELINE_CURVES
    }
    return Race(panel=VALUES, timed_panel=None, makers=makers)


def _measure_noises(configuration: PrunedSamplingConfiguration, marks: Sequence[int]) -> Iterator[Step]:
    """Yields the variance of sampled regrets along one run of each curve with baselines."""
    race = _baseline_race()
    for place, (curve, make) in enumerate(race.makers.items()):
        solver = make(np.random.default_rng((SEED, place)))
        assert isinstance(solver, MCCFRSolver)
        points = []
        for mark in marks:
            while solver.nodes_touched < mark:
                solver.iterate(1000)
            noise = measure_noise(solver, configuration.noise_samples)
            points.append(Point(panel=NOISE, curve=curve, x=mark, y=noise))
        fraction = 0.95 + 0.05 * (place + 1) / len(race.makers)
        yield Step(fraction=fraction, text=f"{NOISE}, {curve}", points=tuple(points))


def conclude(configuration: PrunedSamplingConfiguration, measured: Measured) -> Conclusion:
    """Returns means with standard errors at the marks, and a verdict on each statement."""
    marks = configuration.marks_within(configuration.nodes)
    shorter = configuration.marks_within(configuration.baseline_nodes)
    pruned = tuple(configuration.prunings())
    swept = {configuration.game: tuple(configuration.sweep_of())}
    panels = [
        *(
            (panel, (*pruned, *swept.get(name, ())), marks)
            for name in configuration.panels
            for panel in (name, timed(name))
        ),
        *((cost(name), (*pruned, *swept.get(name, ())), marks[-1:]) for name in configuration.panels),
        (VALUES, tuple(BASELINE_CURVES), shorter),
        (NOISE, tuple(BASELINE_CURVES), shorter),
    ]
    rows = tuple(
        _row(panel, curve, mark, measured)
        for panel, curves, its_marks in panels
        for curve in curves
        for mark in its_marks
    )
    notes = (
        "Means over runs with their standard errors; hold'em in mbb/g. The thesis's figure is a curve against another "
        "bot on 64 cores: its numbers are not in the text, and only what the text states can be tested.",
        "Ratios are of geometric means, with two standard errors either way: confirmed or denied if the whole interval "
        "says so.",
        "Equal processor time is what unpruned sampling takes for as many nodes as the column says, in the same run.",
        f"Linear MCCFR with a hundred periods. C = {configuration.threshold:g} and K = {configuration.softness:g} "
        "payoff ranges are ours, the thesis prints none; others are tried beside them. Libratus leaves actions out in "
        "the last half alone, so that a factor on the whole run could not pass 2: it is judged on what comes after. "
        f"Regrets fall with the iterations, so that factors grow: a run of fewer than {MARKS[-1]:,} nodes denies none.",
        "Without weights, what is left out is not averaged either: information sets behind actions that are no longer "
        "explored keep the averages of early iterations.",
        "Variances are of what one iteration adds to regrets, summed over all actions, along one run.",
    )
    return Conclusion(rows=rows, claims=tuple(_claims(configuration, measured)), notes=notes)


def _row(panel: str, curve: str, mark: int, measured: Measured) -> dict[str, Any]:
    values = measured.runs(panel, curve, mark)
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
    return {
        "panel": panel,
        "curve": curve,
        "nodes": mark,
        "ours": statistics.fmean(values) if values else None,
        "standard_error": error,
        "runs": len(values),
        "paper": None,
    }


def _claims(configuration: PrunedSamplingConfiguration, measured: Measured) -> Iterator[Claim]:
    marks = configuration.marks_within(configuration.nodes)
    for name in configuration.panels:
        for panel in (name, timed(name)):
            for comparison in COMPARISONS:
                claim = compare_means(comparison, panel, measured, marks)
                yield dataclasses.replace(claim, statement=f"{panel}: {claim.statement}")
        curves = (LIBRATUS_CURVE, *configuration.sweep_of()) if name == configuration.game else (LIBRATUS_CURVE,)
        for curve in curves:
            yield _cost_claim(measured, name, curve, marks[-1])
            yield _late_claim(measured, name, curve, marks)
        yield _pluribus_claim(measured, name, marks)
    shorter = configuration.marks_within(configuration.baseline_nodes)
    for comparison in BASELINE_COMPARISONS:
        claim = compare_means(comparison, VALUES, measured, shorter)
        yield dataclasses.replace(claim, statement=f"Leduc: {claim.statement}")
    yield _noise_claim(measured, shorter)


def _cost_claim(measured: Measured, panel: str, curve: str, last: int) -> Claim:
    """Returns the verdict on how much less an iteration touches once actions are left out."""
    ratio = measured.ratio(cost(panel), PLAIN, curve, last)
    return Claim(
        statement=f"{panel}: {curve}: a factor of three speedup of MCCFR (iterations of the last half touch at least "
        "2 times fewer nodes)",
        source=LIBRATUS_SOURCE,
        verdict=_judge_growing(None if ratio is None else ratio >= 2, last),
        ours="nothing" if ratio is None else f"{ratio:.2f} times fewer",
    )


def _judge_growing(is_true: bool | None, last: int) -> Verdict:
    """Returns the verdict on a factor that grows with the run, so that one shorter than ours can be denies nothing."""
    return Verdict.UNDECIDED if is_true is False and last < MARKS[-1] else judge(is_true)


def _late_claim(measured: Measured, panel: str, curve: str, marks: Sequence[int]) -> Claim:
    """Returns the verdict on a factor of three, of the nodes after the half, where leaving out begins."""
    curves = _read_curves(measured, panel, (PLAIN, curve), marks)
    half, speedup = marks[-1] // 2, None
    if curves is not None:
        saved = _find_speedup(*curves)
        late = marks[-1] / saved - half if saved >= 1 else marks[-1] - half
        speedup = (marks[-1] - half) / max(late, 1.0) if saved >= 1 else saved
    return Claim(
        statement=f"{panel}: {curve}: a factor of three speedup of MCCFR (at least 2, in nodes touched after the half, "
        "where it begins, to where unpruned sampling ends)",
        source=LIBRATUS_SOURCE,
        verdict=_judge_growing(None if speedup is None else speedup >= 2, marks[-1]),
        ours="nothing" if speedup is None else f"{speedup:.2f} times",
    )


def _pluribus_claim(measured: Measured, name: str, marks: Sequence[int]) -> Claim:
    """Returns the verdict on Pluribus's changes, which the text compares with pruning as Libratus does it."""
    curves = _read_curves(measured, timed(name), (LIBRATUS_EARLY, PLURIBUS_CURVE), marks)
    speedup = None if curves is None else _find_speedup(*curves)
    return Claim(
        statement=f"{timed(name)}: pluribus's changes to pruning as libratus does it contribute about a factor of 2 "
        "(at least 1.5 times less processor time to where libratus's ends, both from as early on)",
        source=PLURIBUS_SOURCE,
        verdict=_judge_growing(None if speedup is None else speedup >= 1.5, marks[-1]),
        ours="nothing" if speedup is None else f"{speedup:.2f} times",
    )


def _read_curves(
    measured: Measured, panel: str, names: Sequence[str], marks: Sequence[int]
) -> list[list[tuple[int, float]]] | None:
    """Returns curves at the marks, None unless all have all of them."""
    curves = [[(x, y) for x in marks if (y := measured.at(panel, name, x)) is not None] for name in names]
    return curves if all(len(points) == len(marks) for points in curves) else None


def _find_speedup(plain: Sequence[tuple[int, float]], pruned: Sequence[tuple[int, float]]) -> float:
    """Returns how many times fewer nodes a curve needs to where the other ends; below 1 if it needs more."""
    if pruned[-1][1] <= plain[-1][1]:
        return plain[-1][0] / _find_first(pruned, plain[-1][1])
    return _find_first(plain, pruned[-1][1]) / pruned[-1][0]


def _find_first(points: Sequence[tuple[int, float]], goal: float) -> float:
    """Returns where a curve that ends at or below a goal first is as low, straight lines on logarithmic axes."""
    before = points[0]
    for here in points:
        if here[1] <= goal:
            if here is before:
                return float(here[0])
            share = math.log(before[1] / goal) / math.log(before[1] / here[1])
            return float(before[0] * (here[0] / before[0]) ** share)
        before = here
    raise AssertionError("the curve ends above the goal")


def _noise_claim(measured: Measured, marks: Sequence[int]) -> Claim:
    """Returns the verdict on the variance of sampled values."""
    first, last = [measured.ratio(NOISE, OUTCOME, OUTCOME_INFOSET, mark) for mark in (marks[0], marks[-1])]
    is_known = first is not None and last is not None
    return Claim(
        statement="Leduc: with guesses by information set sampled values vary less, and less and less (variance of "
        "plain outcome sampling over theirs: above 1 at the first mark, larger at the last)",
        source=BASELINES_SOURCE,
        verdict=judge(1 < first < last if first is not None and last is not None else None),
        ours=f"{first:.2f} at {marks[0]:,}, {last:.2f} at {marks[-1]:,}" if is_known else "nothing",
    )


PRUNED_SAMPLING: Final = Study(
    name="pruned-sampling",
    title="Monte Carlo CFR that leaves actions with negative regrets out, and with baselines",
    source=SOURCE,
    x_label="nodes touched",
    y_label="exploitability (chips; hold'em in mbb/g)",
    sizes={
        Size.QUICK: PrunedSamplingConfiguration(
            nodes=10_000_000, baseline_nodes=3_000_000, runs=10, noise_samples=500, sweep=("-2/20", "-0.5/5")
        ),
        Size.FULL: PrunedSamplingConfiguration(),
    },
    measure=measure,
    conclude=conclude,
    seed=SEED,
)
