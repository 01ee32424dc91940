# SPDX-License-Identifier: Apache-2.0
"""What a study is: something a paper shows, measured again, with a verdict on everything its text states.

A study yields points as it goes, so that an interrupted one still has what it measured; rows and claims are drawn from
whatever points there are. Nothing here prints or writes.
"""

from __future__ import annotations

import dataclasses
import enum
import re
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from equipoise.core.errors import ConfigError, ParseError
from equipoise.core.formatting import brief_repr, format_duration
from equipoise.core.machine import describe_origin
from equipoise.core.markup import html_line, html_table, join_html
from equipoise.evaluation.plots import PanelLabels

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "Claim",
    "Conclusion",
    "Measured",
    "OnProgress",
    "Point",
    "Size",
    "Step",
    "Study",
    "StudyResult",
    "Verdict",
    "judge",
]

OnProgress = Callable[[float, str], None]  # share done, what is being done
Row = dict[str, Any]
# fields of a result that are JSON values as they are
PLAIN_FIELDS = ("study", "title", "source", "size", "configuration", "seed", "is_partial", "seconds", "curves")


class Size(enum.StrEnum):
    """How much of the published experiment is repeated.

    >>> from equipoise.studies import find_study
    >>> sorted(size.value for size in find_study("coin-toss").sizes)
    ['full', 'quick']
    """

    QUICK = "quick"  # seconds
    FULL = "full"  # as published


class Verdict(enum.StrEnum):
    """What our numbers say to a statement.

    >>> [verdict.value for verdict in Verdict]
    ['confirmed', 'denied', 'undecided', 'not stated', 'not measured']
    """

    CONFIRMED = "confirmed"
    DENIED = "denied"
    UNDECIDED = "undecided"  # repeated runs disagree: the test lies within their spread
    NOT_STATED = "not stated"  # measured here, but the source gives no figure and makes no claim
    NOT_MEASURED = "not measured"  # this size leaves it out, or the run ended before


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement of the source, how it was tested, and what came out.

    >>> Claim(statement="CFR+ is ahead", source="Figure 1", verdict=Verdict.CONFIRMED, ours="2.1 times").as_row()
    {'statement': 'CFR+ is ahead', 'source': 'Figure 1', 'verdict': 'confirmed', 'ours': '2.1 times'}
    """

    statement: str  # what the source states, with the test where it leaves one open
    source: str  # where it states it
    verdict: Verdict
    ours: str  # our numbers

    def as_row(self) -> Row:
        """Returns the claim as JSON values."""
        return {**dataclasses.asdict(self), "verdict": str(self.verdict)}


def judge(is_true: bool | None) -> Verdict:
    """Returns the verdict on a test, None standing for one that could not be made."""
    if is_true is None:
        return Verdict.NOT_MEASURED
    return Verdict.CONFIRMED if is_true else Verdict.DENIED


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One measurement.

    >>> Point(panel="kuhn", curve="cfr", x=100, y=0.2).run
    0
    """

    panel: str  # usually the game
    curve: str  # usually the algorithm
    x: int
    y: float
    run: int = 0  # repetitions of a chaotic measurement; tables and claims go by their median


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A piece of work done.

    >>> Step(fraction=0.5, text="half of it").points
    ()
    """

    fraction: float  # of the whole study, after this step
    text: str  # what is being done
    points: tuple[Point, ...] = ()


class Measured:
    """The points so far, by panel and curve; where there are several runs, values are medians over them.

    >>> measured = Measured()
    >>> measured.add(Point(panel="kuhn", curve="cfr", x=100, y=0.2))
    >>> measured.at("kuhn", "cfr", 100)
    0.2
    """

    def __init__(self) -> None:
        self._curves: dict[tuple[str, str], dict[int, dict[int, float]]] = {}

    def add(self, point: Point) -> None:
        """Keeps a point."""
        curve = self._curves.setdefault((point.panel, point.curve), {})
        curve.setdefault(point.x, {})[point.run] = point.y

    def runs(self, panel: str, curve: str, x: int) -> list[float]:
        """Returns what every run measured there, in order of size."""
        return sorted(self._curves.get((panel, curve), {}).get(x, {}).values())

    def at(self, panel: str, curve: str, x: int) -> float | None:
        """Returns the value measured there, None if there is none."""
        values = self.runs(panel, curve, x)
        return statistics.median(values) if values else None

    def of_run(self, run: int) -> Measured:
        """Returns what one run measured."""
        found = Measured()
        for (panel, curve), values in self._curves.items():
            for x, runs in values.items():
                if run in runs:
                    found.add(Point(panel=panel, curve=curve, x=x, y=runs[run], run=run))
        return found

    def ratio(self, panel: str, above: str, below: str, x: int) -> float | None:
        """Returns how many times larger one curve is than another, None where either has no value."""
        numerator, denominator = self.at(panel, above, x), self.at(panel, below, x)
        return None if numerator is None or not denominator else numerator / denominator

    def run_ratios(self, panel: str, above: str, below: str, x: int) -> list[float]:
        """Returns the same ratio run by run, in order of size, for the runs that have both values."""
        numerators = self._curves.get((panel, above), {}).get(x, {})
        denominators = self._curves.get((panel, below), {}).get(x, {})
        return sorted(value / denominators[run] for run, value in numerators.items() if denominators.get(run))

    def panels(self) -> dict[str, dict[str, list[tuple[int, float]]]]:
        """Returns every curve as points in order, by panel."""
        panels: dict[str, dict[str, list[tuple[int, float]]]] = {}
        for (panel, curve), values in self._curves.items():
            points = sorted((x, statistics.median(runs.values())) for x, runs in values.items())
            panels.setdefault(panel, {})[curve] = points
        return panels


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What a study's points amount to.

    >>> from equipoise.studies import reproduce
    >>> [claim.verdict.value for claim in reproduce("coin-toss").conclusion.claims]
    ['confirmed', 'confirmed', 'confirmed', 'confirmed']
    """

    rows: tuple[Row, ...]  # with the printed figures beside ours; the same keys in each
    claims: tuple[Claim, ...]
    notes: tuple[str, ...] = ()  # departures and conventions

    __repr__ = brief_repr


C = TypeVar("C", bound="DataclassInstance")  # a frozen dataclass: what one size of a study measures


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StudyResult:
    """A study with all that is needed to understand it and to repeat it.

    >>> from equipoise.studies import reproduce
    >>> reproduce("coin-toss").is_partial
    False
    """

    study: str
    title: str
    source: str
    size: str
    configuration: Mapping[str, Any]
    seed: int  # of studies that sample; the others are deterministic
    is_partial: bool  # interrupted before the end
    seconds: float
    conclusion: Conclusion
    curves: Mapping[str, Mapping[str, Sequence[tuple[int, float]]]]
    origin: Mapping[str, Any]  # version, commit, machine; once it was written also a hash of the modules

    def __repr__(self) -> str:
        claims = self.conclusion.claims
        confirmed = sum(claim.verdict is Verdict.CONFIRMED for claim in claims)
        partial = ", partial" if self.is_partial else ""
        spent = f"{self.size} in {format_duration(self.seconds)}{partial}"
        return f"<StudyResult of {self.study}: {spent}, {confirmed} of {len(claims)} claims confirmed>"

    def _repr_html_(self) -> str:
        rows, claims = self.conclusion.rows, self.conclusion.claims
        measured = html_table(list(rows[0]), [list(row.values()) for row in rows]) if rows else ""
        judged = [[str(claim.verdict), claim.statement, claim.ours] for claim in claims]
        stated = html_table(["verdict", "claim", "ours"], judged) if judged else ""
        return join_html(html_line(self.title), html_line(self.source), measured, stated)

    def as_json(self) -> dict[str, Any]:
        """Returns the result as JSON values."""
        return {
            "study": self.study,
            "title": self.title,
            "source": self.source,
            "size": self.size,
            "is_partial": self.is_partial,
            "configuration": dict(self.configuration),
            "seed": self.seed,
            **self.origin,
            "seconds": self.seconds,
            "rows": list(self.conclusion.rows),
            "claims": [claim.as_row() for claim in self.conclusion.claims],
            "notes": list(self.conclusion.notes),
            "curves": {panel: dict(curves) for panel, curves in self.curves.items()},
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> StudyResult:
        """Returns the result that `as_json` wrote."""
        try:
            claims = [Claim(**{**row, "verdict": Verdict(row["verdict"])}) for row in values["claims"]]
            return cls(
                **{name: values[name] for name in PLAIN_FIELDS},
                conclusion=Conclusion(rows=tuple(values["rows"]), claims=tuple(claims), notes=tuple(values["notes"])),
                origin={name: values[name] for name in ("version", "commit", "machine")}
                | {name: values[name] for name in ("modules",) if name in values},
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ParseError(f"not the result of a study: {error!r}") from None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Study(Generic[C]):
    """A named experiment of a paper.

    >>> from equipoise.studies import find_study
    >>> find_study("coin-toss").name
    'coin-toss'
    """

    name: str  # as typed
    title: str
    source: str  # paper, figure or table
    x_label: str
    y_label: str
    sizes: Mapping[Size, C]
    measure: Callable[[C], Iterator[Step]]
    conclude: Callable[[C, Measured], Conclusion]
    is_log_y: bool = True  # whether the figure's ordinate is logarithmic
    panels: tuple[str, ...] = ()  # those that are drawn; empty: all
    own_labels: Callable[[str], PanelLabels] | None = None  # of a panel by its name, where panels differ
    # what the paper's text says, by panel and curve: abscissa (None: everywhere) and ordinate
    printed: Mapping[str, Mapping[str, Sequence[tuple[float | None, float]]]] = dataclasses.field(default_factory=dict)
    # whether that is of what a run measured, by its configuration
    is_printed_of: Callable[[Mapping[str, Any]], bool] = lambda _: True
    data: str | None = None  # that --data DIR must have, in words; None: needs none
    are_grids: bool = False  # panels are squares of classes of hands, not curves
    seed: int = 0

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        missing = [size for size in Size if size not in self.sizes]
        if missing:
            raise ConfigError(f"study {self.name} lacks size {missing[0]}")

    @property
    def paper(self) -> str:
        """Returns whose paper it is of: the source up to its year, or its first words."""
        dated = re.match(r"(.*?\b(?:19|20)\d\d)\b", self.source)
        return dated[1] if dated else re.split(r"[:(,;]", self.source)[0].strip()

    def configure(self, size: Size, changes: Mapping[str, str]) -> C:
        """Returns a size with some fields replaced by what texts say, as `key=value` on the command line.

        Raises:
            ConfigError: a field that the study does not have, or a text that is not of its type.
        """
        configuration = self.sizes[size]
        fields = {field.name: getattr(configuration, field.name) for field in dataclasses.fields(configuration)}
        for key, text in changes.items():
            if key not in fields:
                raise ConfigError(f"study {self.name} has no setting {key!r}, only {', '.join(fields)}")
            fields[key] = _parse_like(fields[key], key, text)
        return dataclasses.replace(configuration, **fields)

    def run(
        self,
        size: Size | C,
        on_progress: OnProgress | None = None,
        is_interrupted: Callable[[], bool] = lambda: False,
    ) -> StudyResult:
        """Returns the study's result; an interrupted one is concluded from what there is and marked partial.

        Args:
            size: quick or full, or a configuration of one's own.
            on_progress: called after each step.
            is_interrupted: looked at after each step.
        """
        configuration = self.sizes[size] if isinstance(size, Size) else size
        began = time.perf_counter()
        measured, fraction = Measured(), 0.0
        try:
            for step in self.measure(configuration):
                fraction = step.fraction
                for point in step.points:
                    measured.add(point)
                if on_progress is not None:
                    on_progress(fraction, step.text)
                if is_interrupted():
                    break
        except KeyboardInterrupt:
            pass
        return StudyResult(
            study=self.name,
            title=self.title,
            source=self.source,
            size=str(size) if isinstance(size, Size) else "custom",
            configuration=dataclasses.asdict(configuration),
            seed=self.seed,
            is_partial=fraction < 1.0,
            seconds=time.perf_counter() - began,
            conclusion=self.conclude(configuration, measured),
            curves=measured.panels(),
            origin=describe_origin(),
        )


def _parse_like(present: Any, key: str, text: str) -> Any:
    """Returns a text as a value of the type that a setting has now; parts of a tuple are separated by commas.

    Commas between parentheses belong to a part: games are written with them.
    """
    if isinstance(present, tuple):
        parts = re.findall(r"(?:[^,(]|\([^)]*\))+", text)
        return tuple(_parse_like(present[0], key, part.strip()) for part in parts)
    try:
        return type(present)(text)
    except ValueError:
        raise ConfigError(f"setting {key} must be of type {type(present).__name__}, got {text!r}") from None
