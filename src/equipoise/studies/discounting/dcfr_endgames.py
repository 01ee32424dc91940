# SPDX-License-Identifier: Apache-2.0
"""Study `dcfr-endgames`: discounting schemes, NormalHedge, optimism and sampling in four endgames of Libratus."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from equipoise.core.errors import ConfigError
from equipoise.core.machine import num_usable_cores
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, LinearCFR, LinearCFRPlus, NormalHedge, Optimistic, Rule
from equipoise.studies.comparisons import Comparison, Marks, compare, compare_along
from equipoise.studies.curves import EvaluatedSolver, Panel, measure_curves
from equipoise.studies.endgames import require_endgames
from equipoise.studies.sampled_curves import DISCOUNTED, KINDS, OFTEN, PLAIN, measure_sampled_curves
from equipoise.studies.sampled_curves import FLOORED as SAMPLED_FLOORED
from equipoise.studies.sampled_curves import UNEVEN as SAMPLED_UNEVEN
from equipoise.studies.study import Claim, Conclusion, Measured, Size, Step, Study, Verdict, judge
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree

__all__ = ["DCFR_ENDGAMES", "EndgameConfiguration"]

SOURCE: Final = "Brown 2020, thesis Figs. 3.1-3.4, 3.6-3.7; Brown & Sandholm 2019, arXiv:1809.04040, Figs. 1-4, 6-11"
EXPERIMENTS: Final = "thesis section 3.1.4"
DEFINITIONS: Final = "thesis section 3.1.2"
NORMAL_HEDGE: Final = "Brown & Sandholm 2019, section NormalHedge for CFR Variants"
SAMPLING: Final = "thesis section 3.1.5"
OPTIMISTIC: Final = "Brown & Sandholm 2019, section Optimistic CFR Variants"
PRECISIONS: Final = ("float32", "float64")
PUBLISHED_ITERATIONS: Final = 32_768
MARKS: Final = (100, 316, 1000, 3162, 10_000, PUBLISHED_ITERATIONS)
SAMPLED_MARKS: Final = (20_000_000, 50_000_000, 100_000_000, 200_000_000, 500_000_000, 1_000_000_000)  # nodes touched
SAMPLED: Final = {"subgame3": "subgame3, sampled", "subgame4": "subgame4, sampled"}  # panels
CELLS_PER_NODE: Final = 30  # that full-width sweeps update while one node is sampled
SEED: Final = 0
SUBGAMES: Final = ("subgame1", "subgame2", "subgame3", "subgame4")  # the first two begin on the turn

LCFR: Final = LinearCFR()
BETA_HALF: Final = DCFR(alpha=1.5, beta=0.5, gamma=2.0)
FLOORED: Final = DCFR(alpha=1.5, beta=-math.inf, gamma=2.0)
HEDGED_DCFR: Final = NormalHedge(base=DCFR())
HEDGED_LCFR: Final = NormalHedge(base=LCFR)
OPTIMISTIC_DCFR: Final = Optimistic(DCFR())
OPTIMISTIC_LCFR: Final = Optimistic(LCFR)
RULES: Final[tuple[Rule, ...]] = (
    CFR(),
    CFRPlus(),
    LCFR,
    LinearCFRPlus(),
    DCFR(),
    BETA_HALF,
    FLOORED,
    HEDGED_DCFR,
    HEDGED_LCFR,
    OPTIMISTIC_DCFR,
    OPTIMISTIC_LCFR,
)
LARGE_MISTAKES: Final = ("subgame1", "subgame3")
FOLLOWED: Final = (CFRPlus(), LCFR)  # on rivers, as far as the papers go
CURVE_START: Final = 100  # iterations before which curves are still rough
SPIKE: Final = 1.5  # an exploitability that so many times exceeds an earlier one

# an independent float64 implementation in mbb/g, at MARKS up to 10,000
REFERENCE: Final[Mapping[str, Mapping[str, tuple[float, ...]]]] = {
    "subgame3": {
        CFR().name: (853.9, 280.3, 94.86, 31.90, 10.22),
        CFRPlus().name: (221.8, 66.23, 19.02, 3.815, 0.594),
        LCFR.name: (110.4, 19.47, 3.166, 0.582, 0.152),
        LinearCFRPlus().name: (280.5, 104.1, 68.47, 14.97, 4.150),
        DCFR().name: (152.4, 40.13, 6.779, 1.179, 0.186),
        BETA_HALF.name: (152.7, 26.21, 4.826, 0.863, 0.139),
        FLOORED.name: (168.3, 41.05, 6.225, 1.059, 0.167),
    },
    "subgame4": {
        CFR().name: (1496.6, 475.1, 156.4, 50.52, 16.37),
        CFRPlus().name: (235.8, 23.35, 3.899, 0.696, 0.191),
        LCFR.name: (180.3, 29.82, 5.440, 1.789, 0.584),
        LinearCFRPlus().name: (609.4, 144.6, 50.00, 20.66, 9.399),
        DCFR().name: (118.2, 19.98, 2.572, 0.348, 0.082),
        BETA_HALF.name: (142.0, 16.03, 2.278, 0.373, 0.082),
        FLOORED.name: (111.1, 12.65, 2.096, 0.339, 0.071),
    },
}


OF_SAMPLING: Final = (
    Comparison(statement="linear MCCFR beats plain MCCFR", above=PLAIN, below=DISCOUNTED, least=1.0, source=SAMPLING),
    Comparison(
        statement="a floor on regrets and linear averaging do not lead to superior performance in MCCFR",
        above=SAMPLED_FLOORED,
        below=PLAIN,
        least=1.0,
        source=SAMPLING,
    ),
    Comparison(
        statement="DCFR does poorly where actions are sampled, unlike LCFR",
        above=SAMPLED_UNEVEN,
        below=DISCOUNTED,
        least=1.0,
        source="thesis chapter 3, introduction",
    ),
)


EVERYWHERE: Final = (  # what the text says of every endgame
    Comparison(
        statement="DCFR(3/2,0,2) matches or outperforms CFR+",
        above=DCFR().name,
        below=CFRPlus().name,
        most=1.1,
        source=EXPERIMENTS,
    ),
    Comparison(
        statement="LCFR+ is worse than CFR+",
        above=LinearCFRPlus().name,
        below=CFRPlus().name,
        least=1.0,
        source=DEFINITIONS,
    ),
    Comparison(
        statement="LCFR+ is worse than LCFR", above=LinearCFRPlus().name, below=LCFR.name, least=1.0, source=DEFINITIONS
    ),
    Comparison(
        statement="DCFR(3/2,1/2,2) is about as good as DCFR(3/2,0,2)",
        above=BETA_HALF.name,
        below=DCFR().name,
        least=1 / 1.5,
        most=1.5,
        source=EXPERIMENTS,
    ),
)
USUAL_GAIN: Final = Comparison(
    statement="the improvement of DCFR(3/2,0,2) over CFR+ is usually a factor of 2 or 3",
    above=CFRPlus().name,
    below=DCFR().name,
    least=1.5,
    most=3.5,
    source=EXPERIMENTS,
)
ASYMPTOTIC: Final = Comparison(
    statement="asymptotically LCFR does worse than CFR+",
    above=LCFR.name,
    below=CFRPlus().name,
    least=1.0,
    test=Marks.LAST,
    horizon=PUBLISHED_ITERATIONS,
    source=EXPERIMENTS,
)
WHERE_MISTAKES_ARE_LARGE: Final = (
    Comparison(
        statement="LCFR is dramatically better than CFR+ over practical horizons",
        above=CFRPlus().name,
        below=LCFR.name,
        least=1.5,
        test=Marks.PRACTICAL,
        source="thesis Figs. 3.1 and 3.3",
    ),
    Comparison(
        statement="LCFR is ahead of DCFR(3/2,0,2) where mistakes are large",
        above=DCFR().name,
        below=LCFR.name,
        least=1.0,
        test=Marks.PRACTICAL,
        source="thesis section 3.1.6",
    ),
)


def _statements(subgame: str) -> Iterator[Comparison]:
    """Yields what the text says of one endgame; those with the largest mistakes are the first and the third."""
    yield from EVERYWHERE
    if subgame in LARGE_MISTAKES:
        yield from WHERE_MISTAKES_ARE_LARGE


def _statements_on_curves(subgame: str) -> Iterator[Comparison]:
    """Yields what it says of curves as a whole: of how far one lies below another, of NormalHedge and of optimism."""
    yield USUAL_GAIN
    has_large_mistakes = subgame in LARGE_MISTAKES
    for changed, base, source in ((HEDGED_DCFR, DCFR(), NORMAL_HEDGE), (OPTIMISTIC_LCFR, LCFR, OPTIMISTIC)):
        above, below = (base, changed) if has_large_mistakes else (changed, base)
        yield Comparison(
            statement=f"{changed.name} is {'better' if has_large_mistakes else 'worse'} than {base.name}",
            above=above.name,
            below=below.name,
            least=1.0,
            source=source,
        )
    for changed, base, source in ((HEDGED_LCFR, LCFR, NORMAL_HEDGE), (OPTIMISTIC_DCFR, DCFR(), OPTIMISTIC)):
        yield Comparison(
            statement=f"{changed.name} is worse than {base.name} in all subgames",
            above=changed.name,
            below=base.name,
            least=1.0,
            source=source,
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EndgameConfiguration:
    """What is solved and for how long."""

    data: str = ""  # the directory of the endgames
    subgames: tuple[str, ...] = SUBGAMES
    turn_iterations: int = PUBLISHED_ITERATIONS  # of the endgames that begin on the turn
    river_iterations: int = PUBLISHED_ITERATIONS
    asymptote_iterations: int = PUBLISHED_ITERATIONS  # of CFR+ and LCFR on rivers, where they show the asymptote
    threads: int = 0  # 0: one per core
    precision: str = "float32"  # of full-width runs; sampled ones take float64
    sampled_nodes: int = SAMPLED_MARKS[-1]  # touched by each run of Monte Carlo CFR
    sampled_runs: int = 100  # as published
    period_nodes: int = 10_000_000  # as published

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise ConfigError(f"precision must be {' or '.join(PRECISIONS)}, got {self.precision!r}")
        least = min(self.turn_iterations, self.river_iterations, self.asymptote_iterations)
        if least < 1:
            raise ConfigError(f"iterations must be at least 1, got {least}")
        if self.sampled_nodes < SAMPLED_MARKS[0] or self.sampled_runs < 1 or self.period_nodes < 1:
            raise ConfigError(
                f"sampled_nodes must be at least {SAMPLED_MARKS[0]:,}, sampled_runs and period_nodes at least 1, got "
                f"{self.sampled_nodes:,}, {self.sampled_runs} and {self.period_nodes}"
            )
        if self.threads < 0:
            raise ConfigError(f"threads must be at least 0, got {self.threads}")

    def marks_of(self, subgame: str) -> tuple[int, ...]:
        """Returns the marks within the run of an endgame."""
        is_turn = subgame in SUBGAMES[:2]
        return tuple(mark for mark in MARKS if mark <= (self.turn_iterations if is_turn else self.river_iterations))

    def last_marks_of(self, subgame: str) -> tuple[int, ...]:
        """Returns the marks within the longest runs of an endgame."""
        if subgame in SUBGAMES[:2]:
            return self.marks_of(subgame)
        return tuple(mark for mark in MARKS if mark <= max(self.river_iterations, self.asymptote_iterations))

    @property
    def sampled_marks(self) -> tuple[int, ...]:
        """Returns the marks of nodes touched within a sampled run."""
        return tuple(mark for mark in SAMPLED_MARKS if mark <= self.sampled_nodes)

    @property
    def sampled_panels(self) -> dict[str, str]:
        """Returns the endgames that are sampled as well, with the names of their panels."""
        return {name: panel for name, panel in SAMPLED.items() if name in self.subgames}


def measure(configuration: EndgameConfiguration) -> Iterator[Step]:
    """Yields the curves of all rules, alternating updates, the paper's menu, in mbb/g."""
    spots = require_endgames("dcfr-endgames", configuration.data, configuration.subgames)
    threads = configuration.threads or num_usable_cores()
    panels = []
    for name, spot in spots.items():
        tree = build_holdem_tree(spot)
        iterations = configuration.turn_iterations if len(spot.board) == 4 else configuration.river_iterations
        panels.append(Panel(name, tree, iterations, tree.arrays.num_cells, scale=1000 / spot.big_blind))
    solvers = {rule.name: _maker(rule, configuration.precision, threads) for rule in RULES}
    trees = {panel.name: panel.tree for panel in panels}
    sampled = {panel: trees[name] for name, panel in configuration.sampled_panels.items()}
    full_cost = sum(panel.cost * panel.iterations for panel in panels) * len(RULES)
    sampled_cost = len(KINDS) * len(sampled) * configuration.sampled_runs * configuration.sampled_nodes * CELLS_PER_NODE
    share = full_cost / (full_cost + sampled_cost)
    further = configuration.asymptote_iterations
    rivers = [
        dataclasses.replace(panel, iterations=further)
        for panel in panels
        if panel.iterations < further and panel.name not in SUBGAMES[:2]
    ]
    followed = {rule.name: solvers[rule.name] for rule in FOLLOWED}
    for step in measure_curves(panels, solvers, marks=MARKS, fine_from=CURVE_START):
        yield dataclasses.replace(step, fraction=share * step.fraction)
    for step in measure_curves(rivers, followed, marks=MARKS, fine_from=CURVE_START):
        yield dataclasses.replace(step, fraction=share)
    for step in measure_sampled_curves(
        sampled,
        marks=configuration.sampled_marks,
        runs=configuration.sampled_runs,
        period_nodes=configuration.period_nodes,
        scale=panels[0].scale,
        seed=SEED,
    ):
        yield dataclasses.replace(step, fraction=share + (1 - share) * step.fraction)


def conclude(configuration: EndgameConfiguration, measured: Measured) -> Conclusion:
    """Returns the table at the marks and a verdict on each statement of the text."""
    rows = tuple(
        {
            "subgame": subgame,
            "rule": rule.name,
            "at": mark,
            "ours": measured.at(subgame, rule.name, mark),
            "paper": None,  # the figures' values are not in the text
            "reference": _reference(subgame, rule, mark),
        }
        for subgame in configuration.subgames
        for rule in RULES
        for mark in (configuration.last_marks_of if rule in FOLLOWED else configuration.marks_of)(subgame)
    )
    rows += tuple(
        {
            "subgame": panel,
            "rule": curve,
            "at": mark,
            "ours": measured.at(panel, curve, mark),
            "paper": None,
            "reference": None,
        }
        for panel in configuration.sampled_panels.values()
        for curve in KINDS
        for mark in configuration.sampled_marks
    )
    notes = (
        "Exploitability in mbb/g: thousandths of a big blind of 100 chips per game, nash_conv / 2.",
        "The papers print curves, not numbers: only what their text states can be tested. The reference column is one "
        "run of an independent float64 implementation, where there is one.",
        f"Ours is one run in {configuration.precision}; the number of threads does not change it.",
        "CFR+ averages with quadratic weights, as in the papers' experiments. Numerical tests of words such as "
        "'dramatically' are ours, and stand with the claim.",
        f"Sampled: external sampling, periods of {configuration.period_nodes:,} nodes touched, medians of "
        f"{configuration.sampled_runs} runs (the papers average 100). The column 'at' counts iterations, and nodes "
        "touched where sampled. Regrets are floored and discounted unevenly when a period ends, which is "
        f"{OFTEN} times as short there: CFR+ and DCFR do it in every iteration.",
        f"Curves are measured every 5 % from {CURVE_START} iterations on, so that peaks are measured, not what lies "
        "between two marks. What is said of NormalHedge and of optimism is judged by all those points, since single "
        "marks lie where curves cross; runs shorter than the papers' may still turn it.",
        f"CFR+ and LCFR run on rivers to {configuration.asymptote_iterations:,} iterations, where the asymptote shows.",
    )
    return Conclusion(rows=rows, claims=tuple(_claims(configuration, measured)), notes=notes)


def _maker(rule: Rule, precision: str, num_threads: int) -> Callable[[HoldemTree], EvaluatedSolver]:
    return lambda tree: CFRSolver(tree, rule, dtype=precision, num_threads=num_threads)


def _reference(subgame: str, rule: Rule, mark: int) -> float | None:
    figures = REFERENCE.get(subgame, {}).get(rule.name, ())
    index = MARKS.index(mark)
    return figures[index] if index < len(figures) else None


def _claims(configuration: EndgameConfiguration, measured: Measured) -> Iterator[Claim]:
    for subgame in configuration.subgames:
        marks = configuration.marks_of(subgame)
        claims = [compare(comparison, subgame, measured, marks) for comparison in _statements(subgame)]
        claims.append(compare(ASYMPTOTIC, subgame, measured, configuration.last_marks_of(subgame)))
        claims += (
            compare_along(comparison, subgame, measured, start=CURVE_START)
            for comparison in _statements_on_curves(subgame)
        )
        for claim in claims:
            yield dataclasses.replace(claim, statement=f"{subgame}: {claim.statement}")
        if subgame == "subgame2":
            yield _spike_claim(measured, subgame, marks)
    for subgame, panel in configuration.sampled_panels.items():
        for comparison in OF_SAMPLING:
            claim = compare(comparison, panel, measured, configuration.sampled_marks)
            yield dataclasses.replace(claim, statement=f"{subgame}: {claim.statement}")
    if set(SAMPLED) <= set(configuration.subgames):
        yield _gain_claim(measured, configuration.sampled_marks[-1])


def _gain_claim(measured: Measured, mark: int) -> Claim:
    """Returns the verdict on which endgame gains more by linear weights."""
    gains = {name: measured.ratio(panel, PLAIN, DISCOUNTED, mark) for name, panel in SAMPLED.items()}
    known = [gain for gain in gains.values() if gain is not None]
    return Claim(
        statement="linear MCCFR gains more in subgame 3, which has the largest mistakes, than in subgame 4",
        source=SAMPLING,
        verdict=judge(known[0] > known[1] if len(known) == len(gains) else None),
        ours=", ".join(f"{name} {gain:.2f} times" for name, gain in gains.items() if gain) or "nothing",
    )


def _spike_claim(measured: Measured, subgame: str, marks: Sequence[int]) -> Claim:
    """Returns the verdict on Fig. 3.2: the floored variant's exploitability jumps and takes long to recover."""
    points = [(x, y) for x, y in measured.panels().get(subgame, {}).get(FLOORED.name, []) if x >= CURVE_START]
    low = points[0] if points else (0, math.inf)
    largest, ours = 0.0, "nothing"
    for x, y in points:
        if y > largest * low[1]:
            largest = y / low[1]
            ours = f"at most {largest:.2f} times: {low[1]:.3g} at {low[0]:,}, {y:.3g} at {x:,}"
        low = min(low, (x, y), key=lambda point: point[1])
    is_complete = bool(marks) and marks[-1] >= PUBLISHED_ITERATIONS
    is_seen = largest >= SPIKE
    return Claim(
        statement=f"{subgame}: DCFR(3/2,-inf,2) spikes (some exploitability {SPIKE:g} times an earlier one)",
        source="thesis Fig. 3.2",
        verdict=judge(is_seen) if is_seen or is_complete else Verdict.NOT_MEASURED,
        ours=ours,
    )


DCFR_ENDGAMES: Final = Study(
    name="dcfr-endgames",
    title="Discounting schemes, NormalHedge, optimism and sampling in four Libratus endgames",
    source=SOURCE,
    x_label="iterations (nodes touched where sampled)",
    y_label="exploitability (mbb/g)",
    sizes={
        Size.QUICK: EndgameConfiguration(
            subgames=SUBGAMES[1:],  # an iteration of the first takes six times one of the second
            turn_iterations=316,
            river_iterations=3162,
            sampled_nodes=20_000_000,
            sampled_runs=1,
        ),
        Size.FULL: EndgameConfiguration(),
    },
    measure=measure,
    conclude=conclude,
    data="the Libratus endgames",
    seed=SEED,
)
