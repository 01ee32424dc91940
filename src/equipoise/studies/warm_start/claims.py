# SPDX-License-Identifier: Apache-2.0
"""What study `warm-start` came to: its table, and a verdict on each statement of the text."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from equipoise.solvers.substitution import RegretBound
from equipoise.studies.comparisons import Comparison, Marks, compare
from equipoise.studies.study import Claim, Conclusion, Measured, Verdict, judge
from equipoise.studies.warm_start.plan import (
    BUCKETS,
    COSTS,
    FLOP,
    FORGOTTEN,
    FROM_AVERAGES,
    LEDUC,
    MATRICES,
    MULTIPLES,
    NO_SHARE,
    PAPER_TARGETS,
    PLAIN,
    PRINTED_SHARES,
    PROJECTED,
    PROJECTION,
    REPORT,
    SAMPLED,
    STARTED,
    UNJUDGED,
    WarmStartConfiguration,
    list_matrix_marks,
    list_variants,
    name_lossless,
    name_multiplied,
    name_printed,
    name_projected,
)

__all__ = ["conclude"]


def conclude(configuration: WarmStartConfiguration, measured: Measured) -> Conclusion:
    """Returns every run one iteration after its reset and after as many as before, with verdicts on the text."""
    rows = [_matrix_row(measured, mark) for mark in list_matrix_marks(configuration)]
    for panel in (*LEDUC, FLOP):
        for curve, reset, *_ in list_variants(configuration, panel):
            rows += [_reset_row(measured, panel, curve, reset, at) for at in (reset + 1, 2 * reset)]
    claims = [*_matrix_claims(configuration, measured)]
    for panel in (*LEDUC, FLOP):
        claims += _reset_claims(configuration, measured, panel)
        claims += _projection_claims(configuration, measured, panel)
        claims += _share_claims(configuration, measured, panel)
    claims += _abstraction_claims(configuration, measured)
    whole = " (the thesis's game)" if configuration.deck == "full" else ", a smaller game than the thesis's"
    notes = (
        "Exploitability is nash_conv / 2, in each game's unit; the thesis prints curves, not numbers.",
        f"Flop hold'em is limit hold'em that ends on the flop, deck {configuration.deck}{whole}.",
        "x counts iterations that were run, before a reset and after. T is what the warm start took them for.",
        "Lambda is found under bound reach2 unless said otherwise. The thesis's lambdas are of a scale that it does "
        "not define: its 0.05, 0.1 and 0.5 at iteration 500 are 1, 2 and 10 times the one that it used there "
        "(Fig. 3.9, by search), and its words are tested on such multiples of ours too.",
        f"{SAMPLED}: x is nodes touched over those of one full iteration. Monte Carlo CFR draws public chance; a "
        "hand's bucket is its class and, on the flop, its part of the board's order of strength. The warm start's own "
        f"passes count; the {PROJECTED} iterations of CFR by which T is chosen do not.",
        "Numerical tests of words such as 'virtually identical' are ours, and stand with the claim.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _matrix_row(measured: Measured, mark: int) -> dict[str, object]:
    return {
        "panel": MATRICES,
        "run": FROM_AVERAGES,
        "at": mark,
        "ours": measured.at(MATRICES, FROM_AVERAGES, mark),
        "cfr": measured.at(MATRICES, PLAIN, mark),
        "T": None,
        "lambda": None,
        "paper": None,
    }


def _reset_row(measured: Measured, panel: str, curve: str, reset: int, at: int) -> dict[str, object]:
    target = measured.at(REPORT, f"{panel}, {curve}: T", reset)
    is_published = panel == FLOP and curve == name_projected(reset)
    return {
        "panel": panel,
        "run": curve,
        "at": at,
        "ours": measured.at(panel, curve, at),
        "cfr": measured.at(panel, PLAIN, at),
        "T": None if target is None else int(target),
        "lambda": measured.at(REPORT, f"{panel}, {curve}: lambda", reset),
        "paper": f"T {PAPER_TARGETS[reset]}" if is_published and reset in PAPER_TARGETS else None,
    }


def _matrix_claims(configuration: WarmStartConfiguration, measured: Measured) -> Iterator[Claim]:
    marks = list_matrix_marks(configuration)
    medians = [measured.ratio(MATRICES, FROM_AVERAGES, PLAIN, mark) for mark in marks]
    known = [ratio for ratio in medians if ratio is not None]
    yield Claim(
        statement="warm starting every iteration of random matrix games is virtually identical to CFR (median "
        "exploitabilities within 10 % at every mark)",
        source="thesis Fig. 3.8",
        verdict=judge(all(abs(ratio - 1) <= 0.1 for ratio in known) if len(known) == len(marks) else None),
        ours=", ".join(f"{ratio:.3f} at {mark:,}" for ratio, mark in zip(known, marks, strict=False)) or "nothing",
    )


def _reset_claims(configuration: WarmStartConfiguration, measured: Measured, panel: str) -> Iterator[Claim]:
    for reset in configuration.resets_of(panel):
        after = (reset + 1, 2 * reset)
        for curve, source, statement, least in (
            (name_projected(reset), "thesis Fig. 3.9", "almost no difference to the uninterrupted run", 1 / 1.1),
            (name_lossless(reset), "thesis section 3.2.2", "nothing is lost where T is what was run", 0.0),
        ):
            yield _named(
                panel,
                compare(
                    Comparison(
                        statement=f"reset at {reset}: {statement}",
                        above=curve,
                        below=PLAIN,
                        source=source,
                        least=least,
                        most=1.1,
                    ),
                    panel,
                    measured,
                    after,
                ),
            )
        yield _named(
            panel,
            compare(
                Comparison(
                    statement=f"reset at {reset}: forgetting regrets is much worse than a warm start",
                    above=f"{FORGOTTEN} at {reset}",
                    below=name_lossless(reset),
                    source="our ablation",
                    least=1.5,
                    test=Marks.LAST,
                ),
                panel,
                measured,
                after,
            ),
        )


def _projection_claims(configuration: WarmStartConfiguration, measured: Measured, panel: str) -> Iterator[Claim]:
    points = measured.panels().get(panel, {}).get(PROJECTION, [])
    ratios = {t: measured.ratio(panel, PROJECTION, PLAIN, t) for t, _ in points if t >= PROJECTED}
    known = {t: ratio for t, ratio in ratios.items() if ratio is not None}
    c = points[0][1] * points[0][0] if points else None
    last = max(known, default=0)
    yield Claim(
        statement=f"{panel}: c/T, fitted to the first {PROJECTED} iterations, stays accurate to the end (within 25 %)",
        source="thesis Fig. 3.11",
        verdict=judge(all(0.75 <= ratio <= 1.25 for ratio in known.values()) if known else None),
        ours="nothing"
        if c is None or not known
        else f"c = {c:.3g}; projected / actual from {min(known.values()):.2f} to {max(known.values()):.2f}, "
        f"{known[last]:.2f} at {last:,}",
    )


def _share_claims(configuration: WarmStartConfiguration, measured: Measured, panel: str) -> Iterator[Claim]:
    """Yields the words on lambda: as printed, under the printed bound, and in multiples of the one that is found."""
    at = 2 * configuration.share_reset_of(panel)
    names = {"bound reach, as printed": [NO_SHARE, *map(name_printed, PRINTED_SHARES)]}
    for bound in RegretBound:
        multiples = [name_multiplied(bound, multiple) for multiple in (1, *MULTIPLES)]
        names[f"bound {bound}, for 0.05 the lambda found"] = [NO_SHARE, *multiples]
    for scale, curves in names.items():
        values = [measured.at(panel, curve, at) for curve in curves]
        known = [value for value in values if value is not None]
        listed = ", ".join(f"{curve} {value:.3g}" for curve, value in zip(curves, known, strict=False)) or "nothing"
        for statement, is_true in _judge_shares(known) if len(known) == len(values) else UNJUDGED:
            yield Claim(
                statement=f"{panel}, {scale}: {statement}",
                source="thesis Fig. 3.12",
                verdict=judge(is_true),
                ours=listed,
            )


def _judge_shares(values: Sequence[float]) -> list[tuple[str, bool | None]]:
    """Returns statements with verdicts on exploitabilities under lambda 0, 0.05, 0.1 and 0.5."""
    none, small, middle, large = values
    tests = (
        max(none, small, middle) <= 1.2 * min(none, small, middle),
        small <= 1.05 * min(values),
        large >= 1.5 * min(values),
    )
    return [(statement, is_true) for (statement, _), is_true in zip(UNJUDGED, tests, strict=True)]


def _abstraction_claims(configuration: WarmStartConfiguration, measured: Measured) -> Iterator[Claim]:
    curves = measured.panels().get(SAMPLED, {})
    plain, buckets, started = (dict(curves.get(name, [])) for name in (PLAIN, BUCKETS, STARTED))
    source, early, last = "thesis Fig. 3.10", configuration.start_sweeps, configuration.sampled_sweeps
    is_whole = last in plain and last in buckets and last in started

    def claim(statement: str, is_true: bool | None, ours: str) -> Claim:
        return Claim(statement=statement, source=source, verdict=judge(is_true), ours=ours)

    yield claim(
        f"sampling in buckets improves quickly: after {early} sweeps' worth it is ahead of CFR",
        buckets[early] < plain[early] if early in plain and early in buckets else None,
        _pair(buckets.get(early), plain.get(early)),
    )
    halfway = max((t for t in buckets if t <= last / 2), default=last)
    yield claim(
        "and levels off (the last half of the run gains less than 20 %)",
        buckets[last] >= 0.8 * buckets[halfway] if is_whole else None,
        f"{buckets[halfway]:.3g} at {halfway:,}, {buckets[last]:.3g} at {last:,}" if is_whole else "nothing",
    )
    yield claim(
        "CFR eventually overtakes it",
        plain[last] < buckets[last] if is_whole else None,
        _pair(plain.get(last), buckets.get(last)),
    )
    yield claim(
        "the warm start converges as fast as CFR in the long run (at most 1.1 times CFR at the end)",
        started[last] <= 1.1 * plain[last] if is_whole else None,
        _pair(started.get(last), plain.get(last)),
    )
    yield _earlier_claim(plain, started, is_whole)
    costs = {name: measured.at(COSTS, name, 1) for name in (BUCKETS, PLAIN)}
    yield Claim(
        statement=f"{COSTS}; published: a full one takes 3 core minutes",
        source=source,
        verdict=Verdict.NOT_STATED if None not in costs.values() else Verdict.NOT_MEASURED,
        ours=", ".join(f"{name} {cost:.3g}" for name, cost in costs.items() if cost is not None) or "nothing",
    )


def _pair(ours: float | None, other: float | None) -> str:
    return "nothing" if ours is None or other is None else f"{ours:.3g} against {other:.3g}"


def _earlier_claim(plain: dict[int, float], started: dict[int, float], is_whole: bool) -> Claim:
    """Returns the verdict on reaching a good strategy soon: when CFR first gets where the warm start begins."""
    first = min(started, default=0)
    reached = next((t for t in sorted(plain) if first and plain[t] <= started[first]), None)
    shown = "later than measured" if reached is None else f"at {reached:,}"
    return Claim(
        statement="the warm start reaches a good strategy sooner than CFR, its own passes included",
        source="thesis Fig. 3.10",
        verdict=judge(reached is None or first < reached if is_whole else None),
        ours=f"{started[first]:.3g} at {first:,}, CFR {shown}" if first else "nothing",
    )


def _named(panel: str, claim: Claim) -> Claim:
    return dataclasses.replace(claim, statement=f"{panel}: {claim.statement}")
