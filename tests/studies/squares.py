# SPDX-License-Identifier: Apache-2.0
"""The smallest study there is."""

import dataclasses

from equipoise.studies.study import Claim, Conclusion, Point, Size, Step, Study, judge


@dataclasses.dataclass(frozen=True, kw_only=True)
class Squares:
    """What the study below measures."""

    count: int = 4


def measure_squares(configuration):
    for n in range(1, configuration.count + 1):
        point = Point(panel="squares", curve="n^2", x=n, y=float(n * n))
        yield Step(fraction=n / configuration.count, text=f"{n}", points=(point,))


def conclude_squares(configuration, measured):
    last = measured.at("squares", "n^2", configuration.count)
    claim = Claim(statement="squares grow", source="school", verdict=judge(None if last is None else last > 1), ours="")
    return Conclusion(rows=({"n": configuration.count, "ours": last, "paper": 16.0},), claims=(claim,), notes=("a",))


SQUARES = Study(
    name="squares",
    title="Squares",
    source="school",
    x_label="n",
    y_label="square",
    sizes={Size.QUICK: Squares(), Size.FULL: Squares(count=10)},
    measure=measure_squares,
    conclude=conclude_squares,
)
