# SPDX-License-Identifier: Apache-2.0
"""Study `bet-size-optimisation`: the thesis's Figures 4.6 and 4.7 on Leduc, and single sizes of three hold'em spots."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from equipoise.abstraction.bet_sizes import BetSizeConfig, BetSizeSearch, SizedSpot
from equipoise.abstraction.parameter_optimisation import OptimisationConfig, ParameterOptimiser
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.spot_file import parse_spot
from equipoise.solvers.sequence_lp import solve_sequence_lp
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge
from equipoise.trees.parametric import ParametricTree, build_parametric_tree

__all__ = ["BET_SIZE_OPTIMISATION", "BetSizeStudyConfiguration"]

ONE, TWO_FIRST, TWO_SECOND = "second bet alone", "both: first bet", "both: second bet"  # panels
TWO_STARTS: Final = ((2.0, 4.0), (4.0, 2.0), (4.0, 8.0))
GRID_VALUE, LP_VALUE, LP_FIRST, LP_SECOND = "grid", "value by LP", "summit: first bet", "summit: second bet"
FOUND, BEST, SHARE = "found", "best of the grid", "processor time, share of the grid's"
SPOTS: Final = {
    "polarised river": (
        "board = 'Ks7h2d5cJs'\npot = 24\nstacks = 80\nbig_blind = 1\nmenu = '75% / 60%, a'\n"
        "ranges = {oop = '77, 55, 22, KK, AK, KJ, KQ:0.5, A5s, QTs, T9s, T8s, 98s, 86s, 64s, 43s', "
        "ip = 'JJ-88, KTs+, KTo+, AJ, QJs, JTs, A7s, 76s, 87s, 66'}",
        Street.RIVER,
        0,
    ),
    "wide river": (
        "board = 'Qs8h3d6cTc'\npot = 20\nstacks = 60\nbig_blind = 1\nmenu = '75% / 60%, a'\n"
        "ranges = {oop = '22+, A2s+, K9s+, Q8s+, J8s+, T8s+, 97s+, 76s, A9o+, KTo+, QTo+', "
        "ip = '33+, A8s+, KTs+, QTs+, JTs, T9s, 98s, ATo+, KJo+, QJo'}",
        Street.RIVER,
        0,
    ),
    "turn": (
        "board = 'Ks7h2d5c'\npot = 20\nstacks = 60\nbig_blind = 1\nmenu = '75% / 100%'\n"
        "ranges = {oop = '77, 55, 22, KK, AK, KJ, KQ:0.5, A5s, QTs, T9s, T8s, 98s, 86s, 64s, 43s', "
        "ip = 'JJ-88, KTs+, KTo+, AJ, QJs, JTs, A7s, 76s, 87s, 66'}",
        Street.TURN,
        0,
    ),
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BetSizeStudyConfiguration:
    """How long sizes move, and the grids that they are compared with."""

    iterations: int = 100_000  # of each probe
    starts: tuple[float, ...] = (4.0, 8.0, 12.0)  # of the second bet alone
    grid: tuple[float, ...] = (3.0, 5.0, 7.0, 8.0, 9.0, 9.25, 9.5, 9.75, 10.0, 10.25, 11.0, 13.0)
    payoff: float = 5.0
    spots: tuple[str, ...] = tuple(SPOTS)
    spot_grid: int = 49  # sizes from 10 % to 250 % of the pot
    ring: float = 0.3  # radius of the first ring around an end
    gap: float = 0.0005  # of the pot, to which sizes of the grid are solved

    def __post_init__(self) -> None:
        if not set(self.spots) <= set(SPOTS):
            raise ConfigError(f"spots must be some of {', '.join(SPOTS)}, got {', '.join(self.spots)!r}")


def measure_bet_sizes(configuration: BetSizeStudyConfiguration) -> Iterator[Step]:
    """Yields sizes by iterations on Leduc, values of grids, and what single sizes of hold'em spots are worth."""
    total = len(configuration.starts) + len(TWO_STARTS) + 1 + 2 * len(configuration.spots)
    done = 0
    one = build_parametric_tree("leduc(merge_suits=true)", ["second_sizes"])
    for start in configuration.starts:
        points = list(_follow(one, (start,), (ONE,), configuration))
        done += 1
        yield Step(fraction=done / total, text=f"second bet from {start:g}", points=tuple(points))
    values = [Point(panel=GRID_VALUE, curve=ONE, x=round(1000 * x), y=_value(one, (x,))) for x in configuration.grid]
    done += 1
    yield Step(fraction=done / total, text="grid by LP", points=tuple(values))
    both = build_parametric_tree("leduc(merge_suits=true)", ["raise_sizes"])
    for pair in TWO_STARTS:
        points = list(_follow(both, pair, (TWO_FIRST, TWO_SECOND), configuration))
        points += _climb(both, tuple(point.y for point in points[-3:-1]), _name_start(pair), configuration.ring)
        done += 1
        yield Step(fraction=done / total, text=f"both bets from {_name_start(pair)}", points=tuple(points))
    for name in configuration.spots:
        for points_of_spot in _measure_spot(name, configuration):
            done += 1
            yield Step(fraction=done / total, text=name, points=points_of_spot)


def _follow(
    tree: ParametricTree, start: tuple[float, ...], panels: Sequence[str], configuration: BetSizeStudyConfiguration
) -> Iterator[Point]:
    """Yields sizes at every third of a power of ten, those at the end, and their exact value."""
    config = OptimisationConfig(payoff=configuration.payoff)
    optimiser, mark, name = ParameterOptimiser(tree, start, config=config), 100.0, _name_start(start)
    for taken in optimiser.run(configuration.iterations):
        if taken.iterations >= mark or optimiser.iterations >= configuration.iterations:
            for panel, value in zip(panels, taken.point, strict=True):
                yield Point(panel=panel, curve=name, x=taken.iterations, y=value)
            mark *= 10 ** (1 / 3)
    yield Point(panel=LP_VALUE, curve=_name_value(start), x=1, y=_value(tree, optimiser.point))


def _value(tree: ParametricTree, point: Sequence[float]) -> float:
    """Returns the exact value of a point to who acts last."""
    return -solve_sequence_lp(tree.at(point)).value


def _climb(tree: ParametricTree, start: tuple[float, ...], name: str, radius: float) -> Iterator[Point]:
    """Yields the summit that a search by LP reaches from a point: rings around it, ever smaller."""
    point, best = start, _value(tree, start)
    while radius > 0.02:
        ring = [
            (point[0] + radius * math.cos(k * math.pi / 6), point[1] + 4 * radius * math.sin(k * math.pi / 6))
            for k in range(12)
        ]
        found = [(_value(tree, place), place) for place in ring if min(place) > 0.02]
        height, place = max(found)
        if height > best + 1e-9:
            best, point = height, place
        else:
            radius /= 2.5
    for panel, value in ((LP_FIRST, point[0]), (LP_SECOND, point[1]), (f"{LP_VALUE} of the summit", best)):
        yield Point(panel=panel, curve=name, x=1, y=value)


def _measure_spot(name: str, configuration: BetSizeStudyConfiguration) -> Iterator[tuple[Point, ...]]:
    """Yields what is found in a spot, then the grid."""
    text, street, player = SPOTS[name]
    sized = SizedSpot(parse_spot(text).spot, BetSizeConfig(street=street, player=player))
    began = time.process_time()
    search = BetSizeSearch(sized)
    for _ in search.run():
        pass
    spent = time.process_time() - began
    value = sized.solve(search.best, gap=configuration.gap).value
    yield (
        Point(panel=f"{FOUND}: size", curve=name, x=1, y=search.best[0]),
        Point(panel=f"{FOUND}: value", curve=name, x=1, y=value),
    )
    step = (2.5 - 0.1) / (configuration.spot_grid - 1)
    began, points = time.process_time(), []
    for k in range(configuration.spot_grid):
        size = 0.1 + step * k
        if sized.lowest <= size <= sized.highest:
            found = sized.solve((size,), gap=configuration.gap)
            points.append(Point(panel="sizes of a spot", curve=name, x=round(100 * size), y=found.value))
    share = spent / (time.process_time() - began)
    yield (*points, Point(panel=SHARE, curve=name, x=1, y=share))


def _name_start(start: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in start)


def _name_value(start: Sequence[float]) -> str:
    return f"from {_name_start(start)}"


def conclude_bet_sizes(configuration: BetSizeStudyConfiguration, measured: Measured) -> Conclusion:
    """Returns where starts end and what that is worth, and verdicts on the thesis's figures and on our bars."""
    panels = measured.panels()
    rows: list[dict[str, Any]] = []
    ends: dict[str, tuple[float, ...]] = {}
    for start in configuration.starts:
        rows += _row(panels, measured, (start,), (ONE,), ends)
    for pair in TWO_STARTS:
        rows += _row(panels, measured, pair, (TWO_FIRST, TWO_SECOND), ends)
    spots = [_judge_spot(name, panels, measured, rows) for name in configuration.spots]
    claims = (
        *_judge_one(configuration, measured, ends),
        *_judge_two(measured, ends),
        *(claim for pair in spots for claim in pair),
    )
    notes = (
        "Values are those of the seat that acts last, by LP: the thesis's figures are of that seat.",
        f"Vanilla CFR, alpha = 50, K = 100, learning rate s^(-3/4), U = {configuration.payoff:g}, "
        f"{configuration.iterations:,} iterations of each probe (the thesis: up to 5e8).",
        "A summit is where rings of 12 points around the end, four times as high as wide, find nothing better by LP; "
        "Leduc has several, and the thesis's point (1.69, 8.56) lies on the ridge to the highest of them.",
        "Spots: value and size of one first bet; shares are of processor time, and differ a little from run to run.",
    )
    return Conclusion(rows=tuple(rows), claims=claims, notes=notes)


def _row(
    panels: dict[str, dict[str, list[tuple[int, float]]]],
    measured: Measured,
    start: tuple[float, ...],
    names: Sequence[str],
    ends: dict[str, tuple[float, ...]],
) -> list[dict[str, Any]]:
    curves = [panels.get(name, {}).get(_name_start(start)) for name in names]
    value = measured.at(LP_VALUE, _name_value(start), 1)
    found = [curve[-1][1] for curve in curves if curve]
    if len(found) < len(names) or value is None:
        return []
    ends[_name_start(start)] = tuple(found)
    summit = [measured.at(panel, _name_start(start), 1) for panel in (LP_FIRST, LP_SECOND)]
    shown = ", ".join(f"{one:.3f}" for one in summit if one is not None)
    return [
        {
            "what": "Leduc, " + ("second bet" if len(names) == 1 else "both bets"),
            "start": _name_start(start),
            "end": ", ".join(f"{one:.3f}" for one in found),
            "value": round(value, 5),
            "best nearby": shown,
            "printed": "9.75, worth 0.1611" if len(names) == 1 else "1.69, 8.56, worth 0.1645",
        }
    ]


def _judge_one(
    configuration: BetSizeStudyConfiguration, measured: Measured, ends: dict[str, tuple[float, ...]]
) -> Iterator[Claim]:
    found = [ends[_name_start((start,))][0] for start in configuration.starts if _name_start((start,)) in ends]
    is_whole = len(found) == len(configuration.starts)
    yield Claim(
        statement="the second bet goes to 9.75 (+- 0.1) from every start",
        source="Fig. 4.6",
        verdict=judge(all(abs(end - 9.75) <= 0.1 for end in found) if is_whole else None),
        ours=", ".join(f"{end:.3f}" for end in found) or "nothing",
    )
    grid = {x: measured.at(GRID_VALUE, ONE, round(1000 * x)) for x in configuration.grid}
    known = {x: value for x, value in grid.items() if value is not None}
    best = max(known, key=lambda x: known[x], default=None)
    yield Claim(
        statement="of a grid 9.75 is worth most",
        source="section 4.2.6",
        verdict=judge(None if best is None else best == 9.75),
        ours="nothing" if best is None else f"{best:g}, worth {known[best]:.5f}",
    )


def _judge_two(measured: Measured, ends: dict[str, tuple[float, ...]]) -> Iterator[Claim]:
    pairs = {name: end for name, end in ends.items() if len(end) == 2}
    summits = {name: (measured.at(LP_FIRST, name, 1) or 0.0, measured.at(LP_SECOND, name, 1) or 0.0) for name in pairs}
    is_whole = len(pairs) == len(TWO_STARTS)
    spread = max((math.dist(a, b) for a in pairs.values() for b in pairs.values()), default=0.0)
    yield Claim(
        statement="all three starts of both bets end in one point",
        source="Fig. 4.7",
        verdict=judge(spread < 0.1 if is_whole else None),
        ours="; ".join(f"({end[0]:.2f}, {end[1]:.2f})" for end in pairs.values()) or "nothing",
    )
    values = {name: measured.at(LP_VALUE, f"from {name}", 1) or 0.0 for name in pairs}
    best = {name: measured.at(f"{LP_VALUE} of the summit", name, 1) or 0.0 for name in pairs}
    yield Claim(
        statement="every start ends at a local maximum verified by LP, within 0.005 of its value",
        source="Theorem 17",
        verdict=judge(all(best[name] - values[name] <= 0.005 for name in pairs) if is_whole else None),
        ours="; ".join(
            f"{values[name]:.4f} of {best[name]:.4f} at ({s[0]:.2f}, {s[1]:.2f})" for name, s in summits.items()
        )
        or "nothing",
    )
    top = values.get(_name_start(TWO_STARTS[0]))
    yield Claim(
        statement="both bets together are worth more than the second alone (0.1607)",
        source="section 4.2.6: 0.1645 and 0.1611",
        verdict=judge(None if top is None else top > 0.16073),
        ours="nothing" if top is None else f"{top:.5f} from {_name_start(TWO_STARTS[0])}",
    )


def _judge_spot(
    name: str,
    panels: dict[str, dict[str, list[tuple[int, float]]]],
    measured: Measured,
    rows: list[dict[str, Any]],
) -> tuple[Claim, Claim]:
    grid = panels.get("sizes of a spot", {}).get(name, [])
    size, value = measured.at(f"{FOUND}: size", name, 1), measured.at(f"{FOUND}: value", name, 1)
    share = measured.at(SHARE, name, 1)
    best = max(grid, key=lambda pair: pair[1], default=None)
    if best is None or size is None or value is None or share is None:
        nothing = Claim(statement=name, source="issue 23", verdict=Verdict.NOT_MEASURED, ours="nothing")
        return nothing, nothing
    rows.append(
        {
            "what": name,
            "start": "four",
            "end": f"{100 * size:.0f} %",
            "value": round(value, 5),
            "best nearby": f"{best[0]} %, worth {best[1]:.5f}",
            "printed": "",
        }
    )
    return (
        Claim(
            statement=f"{name}: the size found loses at most 0.1 % of the pot against the best of {len(grid)}",
            source="our bar",
            verdict=judge(best[1] - value <= 0.001),
            ours=f"{100 * (best[1] - value):.3f} %",
        ),
        Claim(
            statement=f"{name}: in a quarter of the grid's processor time",
            source="our bar",
            verdict=judge(share <= 0.25),
            ours=f"{100 * share:.0f} %",
        ),
    )


BET_SIZE_OPTIMISATION: Final = Study(
    name="bet-size-optimisation",
    title="Bet sizes that find themselves: Leduc, and three hold'em spots",
    source="Brown 2020, thesis section 4.2.6, Figs. 4.6 and 4.7",
    x_label="iterations of each probe",
    y_label="bet size, chips",
    sizes={
        Size.QUICK: BetSizeStudyConfiguration(),
        Size.FULL: BetSizeStudyConfiguration(
            iterations=3_000_000, grid=tuple(3.0 + 0.25 * k for k in range(41)), gap=0.0003
        ),
    },
    measure=measure_bet_sizes,
    conclude=conclude_bet_sizes,
    panels=(ONE, TWO_FIRST, TWO_SECOND),
    is_log_y=False,
)
