# SPDX-License-Identifier: Apache-2.0
"""Study `saef`: Figure 4.9 of the thesis, fixed and growing abstractions of continuous Leduc."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from equipoise.abstraction.growing import BRANCHES, GrowingAbstraction, GrowthConfig
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge

__all__ = ["SAEF", "SaefConfiguration"]

EXPLOITABILITY, NODES = "full-game exploitability", "public nodes"  # panels
RECOVERY: Final = {f"recovery {threshold:g}": threshold for threshold in (1.0, 1.01, 1.1, 2.0)}
TRANSFER, REMOVING, RECOMMENDED = "transfer 1.01", "recovery 1.01, removing", "recovery 1.01"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SaefConfiguration:
    """How far all runs go, by public nodes touched."""

    last_mark: int = 32_000_000
    marks_per_decade: int = 2
    first_mark: int = 100_000
    slack: float = 1.0  # times the best fixed abstraction's that is still called below it

    @property
    def marks(self) -> tuple[int, ...]:
        """Returns the nodes touched at which runs are measured."""
        count = int(self.marks_per_decade * math.log10(self.last_mark / self.first_mark) + 1e-9)
        return tuple(round(self.first_mark * 10 ** (k / self.marks_per_decade)) for k in range(count + 1))


def list_growths() -> Mapping[str, GrowthConfig | None]:
    """Returns every run by its name; fixed abstractions do not grow."""
    plain = GrowthConfig()
    growths: dict[str, GrowthConfig | None] = dict.fromkeys(BRANCHES)
    growths |= {name: dataclasses.replace(plain, threshold=threshold) for name, threshold in RECOVERY.items()}
    growths[TRANSFER] = dataclasses.replace(plain, transfers=True)
    growths[REMOVING] = dataclasses.replace(plain, removal=1.0)
    return growths


def measure_saef(configuration: SaefConfiguration) -> Iterator[Step]:
    """Yields full-game exploitability and the abstraction's nodes at every mark."""
    growths = list_growths()
    total, done = len(growths) * len(configuration.marks), 0
    for name, growth in growths.items():
        run = GrowingAbstraction(BRANCHES.get(name, BRANCHES["branch-2"]), growth=growth)
        for mark in configuration.marks:
            while run.nodes_touched < mark:
                run.advance(5)
            done += 1
            points = [
                Point(panel=EXPLOITABILITY, curve=name, x=mark, y=run.exploitability()),
                Point(panel=NODES, curve=name, x=mark, y=float(run.num_nodes)),
            ]
            yield Step(fraction=done / total, text=name, points=tuple(points))
        points = [
            Point(panel="sizes added", curve=name, x=1, y=float(len(run.additions))),
            Point(panel="nodes of an addition, median", curve=name, x=1, y=_median_nodes(run)),
            Point(panel="least weight", curve=name, x=1, y=min((one.weight for one in run.additions), default=1.0)),
            Point(panel="sizes removed", curve=name, x=1, y=float(run.num_removed)),
        ]
        yield Step(fraction=done / total, text=name, points=tuple(points))


def _median_nodes(run: GrowingAbstraction) -> float:
    sizes = sorted(one.num_nodes for one in run.additions)
    return float(sizes[len(sizes) // 2]) if sizes else 0.0


def conclude_saef(configuration: SaefConfiguration, measured: Measured) -> Conclusion:
    """Returns curves at every mark, and verdicts on what the thesis says of them."""
    names, marks = list(list_growths()), configuration.marks
    rows: list[dict[str, Any]] = [
        {"nodes touched": mark, **{name: _round(measured.at(EXPLOITABILITY, name, mark)) for name in names}}
        for mark in marks
    ]
    last = marks[-1]
    claims = (
        _judge_every_mark(configuration, measured),
        _judge_pair(measured, "branch-2", "branch-3", last, "fixed ones level off: branch-2 ends above 3"),
        _judge_pair(measured, "branch-2", RECOMMENDED, last, f"{RECOMMENDED} ends below branch-2, from which it began"),
        _judge_pair(measured, "recovery 2", RECOMMENDED, last, "a threshold of 2 does worse than 1.01"),
        _judge_near(measured, last),
        _judge_pair(measured, TRANSFER, RECOMMENDED, last, "transfer ends above recovery"),
        _judge_growth(measured, marks),
        _judge_small(measured),
    )
    facts = [
        f"{name}: {int(measured.at('sizes added', name, 1) or 0)} sizes added (median of "
        f"{int(measured.at('nodes of an addition, median', name, 1) or 0)} nodes, least weight "
        f"{measured.at('least weight', name, 1) or 0:.3f}), {int(measured.at('sizes removed', name, 1) or 0)} removed"
        for name in names
        if measured.at("sizes added", name, 1)
    ]
    notes = (
        "Nodes touched are public nodes, both players' walks; growing runs pay for their looks and recovery games.",
        "Exploitability is in chips, against the randomised pseudo-harmonic mapping; the responder sees which size its "
        "bet is taken for, an upper bound for all curves alike.",
        *facts,
    )
    return Conclusion(rows=tuple(rows), claims=claims, notes=notes)


def _judge_every_mark(configuration: SaefConfiguration, measured: Measured) -> Claim:
    below: list[int] = []
    above: list[int] = []
    for mark in configuration.marks:
        own = measured.at(EXPLOITABILITY, RECOMMENDED, mark)
        fixed = [measured.at(EXPLOITABILITY, name, mark) for name in BRANCHES]
        known = [value for value in fixed if value is not None]
        if own is not None and len(known) == len(BRANCHES):
            (below if own <= configuration.slack * min(known) else above).append(mark)
    is_true = None if len(below) + len(above) < len(configuration.marks) else not above
    where = f"; not at {', '.join(f'{mark:,}' for mark in above)}" if above else ""
    return Claim(
        statement=f"{RECOMMENDED} is below every fixed abstraction at every snapshot",
        source="Fig. 4.9",
        verdict=judge(is_true),
        ours=f"at {len(below)} of {len(configuration.marks)}{where}",
    )


def _judge_pair(measured: Measured, above: str, below: str, mark: int, statement: str) -> Claim:
    high, low = measured.at(EXPLOITABILITY, above, mark), measured.at(EXPLOITABILITY, below, mark)
    is_known = high is not None and low is not None
    return Claim(
        statement=statement,
        source="section 4.3.6",
        verdict=judge(high > low if high is not None and low is not None else None),
        ours=f"{above}: {high:.3g}, {below}: {low:.3g}" if is_known else "nothing",
    )


def _judge_near(measured: Measured, mark: int) -> Claim:
    ratio = measured.ratio(EXPLOITABILITY, "recovery 1.1", RECOMMENDED, mark)
    return Claim(
        statement="thresholds 1.1 and 1.01 are comparable: within a factor of 1.3",
        source="section 4.3.6",
        verdict=judge(None if ratio is None else 1 / 1.3 <= ratio <= 1.3),
        ours="nothing" if ratio is None else f"{ratio:.2f}",
    )


def _judge_growth(measured: Measured, marks: tuple[int, ...]) -> Claim:
    sizes = [measured.at(NODES, RECOMMENDED, mark) for mark in marks]
    known = [size for size in sizes if size is not None]
    return Claim(
        statement="the abstraction grows over the whole run",
        source="Fig. 4.9",
        verdict=judge(all(a < b for a, b in itertools.pairwise(known)) if len(known) == len(marks) else None),
        ours=", ".join(f"{size:,.0f}" for size in known) or "nothing",
    )


def _judge_small(measured: Measured) -> Claim:
    nodes = measured.at("nodes of an addition, median", RECOMMENDED, 1)
    return Claim(
        statement="mostly small subgames near the bottom are added (median of at most 9 nodes)",
        source="section 4.3.6",
        verdict=judge(None if nodes is None else nodes <= 9),
        ours="nothing" if nodes is None else f"{nodes:.0f}",
    )


def _round(value: float | None) -> Any:
    return None if value is None else float(f"{value:.4g}")


SAEF: Final = Study(
    name="saef",
    title="Continuous Leduc: abstractions that grow while they are solved",
    source="Brown 2020, thesis section 4.3.6, Fig. 4.9",
    x_label="public nodes touched",
    y_label="average exploitability in the full game, chips",
    sizes={Size.QUICK: SaefConfiguration(), Size.FULL: SaefConfiguration(last_mark=1_000_000_000, marks_per_decade=4)},
    measure=measure_saef,
    conclude=conclude_saef,
    panels=(EXPLOITABILITY, NODES),
)
