# SPDX-License-Identifier: Apache-2.0
"""What a searched street of hold'em loses: the spot solved whole, then again with the street locked.

What best responses earn in either solve bounds its value from both sides, and so what was lost: at most what one earns
the searcher in the whole spot, less what it is guaranteed with its street locked and the streets after it played well;
at least the same with the other bounds.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.files import write_text
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.solvers.cfr import CFRSolver
from equipoise.studies.study import Point, Step
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree
from equipoise.trees.vector import CellTable

__all__ = [
    "LEAST",
    "LOSSES",
    "SECONDS",
    "WHOLE",
    "KeptSpots",
    "LossConfiguration",
    "Rows",
    "Searched",
    "measure_losses",
    "read_street",
]

LOSSES: Final = "loss, percent of the pot"
LEAST: Final = "loss at least, percent of the pot"
SECONDS: Final = "processor seconds"
WHOLE: Final = "whole spot, what is left open"

Rows = Mapping[int, tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]]  # by decision: hands, [H, A] what they play


class LossConfiguration(Protocol):
    """Which spots are searched, and how exactly they are solved."""

    @property
    def spots(self) -> int:
        """Returns how many there are."""
        ...

    @property
    def open_percent(self) -> float:
        """Returns what may be left open, in percent of the pot."""
        ...

    @property
    def most_iterations(self) -> int:
        """Returns after how many iterations it is good enough."""
        ...

    def draw(self) -> Iterator[tuple[HoldemSpot, int]]:
        """Yields spots and who searches them, the same ones every time."""
        ...


class Searched(NamedTuple):
    """What a search found, and processor seconds by curve."""

    rows: Rows
    seconds: Mapping[str, float]


Search = Callable[[], Searched]


class KeptSpots:
    """Points of spots that were measured before, a file a spot: an interrupted study with the same folder goes on.

    Points are kept search by search, so that a study of more searches measures only what is not there yet.
    """

    def __init__(self, folder: Path, asked: Mapping[str, Any]) -> None:
        """Makes the folder.

        Args:
            folder: where files are.
            asked: all that points depend on but spot and search, as JSON knows it; other files are refused.
        """
        self.folder, self.asked = folder, json.loads(json.dumps(dict(asked)))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot keep spots in {folder}: {error.strerror}") from None

    def find(self, number: int) -> dict[str, tuple[Point, ...]]:
        """Returns the points of a spot by search, those of the whole spot under `WHOLE`, as far as they are there."""
        path = self._path(number)
        if not path.is_file():
            return {}
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            asked = content["asked"]
            points = {label: tuple(Point(**each) for each in found) for label, found in content["points"].items()}
        except (AttributeError, OSError, KeyError, TypeError, ValueError):
            raise ConfigError(f"{path} is no measured spot: remove it, and it is measured again") from None
        if asked != self.asked:
            raise ConfigError(f"{path} was measured with other settings or networks: give another folder")
        return points

    def write(self, number: int, points: Mapping[str, Sequence[Point]]) -> None:
        """Keeps the points of a spot by search."""
        kept = {label: [dataclasses.asdict(point) for point in found] for label, found in points.items()}
        write_text(self._path(number), json.dumps({"asked": self.asked, "points": kept}) + "\n")

    def _path(self, number: int) -> Path:
        return self.folder / f"spot-{number:04d}.json"


def measure_losses(
    configuration: LossConfiguration,
    labels: Sequence[str],
    begin: Callable[[HoldemSpot, int], Sequence[Search]],
    *,
    kept: KeptSpots | None = None,
) -> Iterator[Step]:
    """Yields losses spot by spot.

    Args:
        configuration: whose spots are searched.
        labels: of the searches.
        begin: returns, in the order of the labels, the searches of a spot by a player.
        kept: spots that were measured before, and where those that are measured now go.
    """
    for number, (spot, searcher) in enumerate(configuration.draw(), start=1):
        name = f"{number}: {spot.name}, pot {spot.pot}"
        found = kept.find(number) if kept is not None else {}
        if old := tuple(point for label in (WHOLE, *labels) for point in found.get(label, ())):
            yield Step(fraction=(number - 1) / configuration.spots, text=f"{name}: kept", points=old)
        missing = [label for label in labels if label not in found]
        if missing or WHOLE not in found:
            searches = {
                label: search for label, search in zip(labels, begin(spot, searcher), strict=True) if label in missing
            }
            for label, step in _measure_spot(configuration, searches, spot, searcher, number):
                fraction = (number - 1 + step.fraction) / configuration.spots
                points = () if label in found else step.points
                yield dataclasses.replace(step, fraction=fraction, text=f"{name}: {step.text}", points=points)
                if points:
                    found[label] = points
                    if kept is not None:
                        kept.write(number, found)


def _measure_spot(
    configuration: LossConfiguration, searches: Mapping[str, Search], spot: HoldemSpot, searcher: int, number: int
) -> Iterator[tuple[str, Step]]:
    """Yields the losses of one spot, each with the name of its search."""
    total = 1 + len(searches)
    yield WHOLE, Step(fraction=0.0, text="the whole spot")
    most = _solve_to(CFRSolver(build_holdem_tree(spot)), configuration)
    left_open = Point(panel=LOSSES, curve=WHOLE, x=number, y=100 * sum(most) / spot.pot)
    yield WHOLE, Step(fraction=1 / total, text="searches", points=(left_open,))
    other = 1 - searcher
    for place, (label, search) in enumerate(searches.items(), start=1):
        found = search()
        locked = _solve_locked(spot, found.rows, configuration)
        losses = {LOSSES: most[searcher] + locked[other], LEAST: -most[other] - locked[searcher]}
        points = [Point(panel=panel, curve=label, x=number, y=100 * y / spot.pot) for panel, y in losses.items()]
        points += [Point(panel=SECONDS, curve=curve, x=number, y=y) for curve, y in found.seconds.items()]
        yield label, Step(fraction=(1 + place) / total, text=label, points=tuple(points))


def _solve_to(solver: CFRSolver[HoldemTree], configuration: LossConfiguration) -> tuple[float, float]:
    """Returns what a best response earns each player, once a run is exact enough."""
    while True:
        solver.iterate(min(50, configuration.most_iterations - solver.iteration))
        found = solver.evaluate()
        pot = solver.tree.spot.pot
        is_exact = 100 * sum(found.best_response_values) <= configuration.open_percent * pot
        if is_exact or solver.iteration >= configuration.most_iterations:
            first, second = found.best_response_values
            return first, second


def _solve_locked(spot: HoldemSpot, rows: Rows, configuration: LossConfiguration) -> tuple[float, float]:
    """Returns what a best response earns each player, the searcher's street given and the next ones played well."""
    locks = [NodeLock(node=node, strategy=played, hands=hands.tolist()) for node, (hands, played) in rows.items()]
    return _solve_to(CFRSolver(build_holdem_tree(spot, locks=locks), locks=locks), configuration)


def read_street(tree: HoldemTree, sums: CellTable, player: int, spot: HoldemSpot) -> Rows:
    """Returns what a table plays on the first street with every hand that a player has in a spot."""
    found = {}
    has_hand = spot.live_weights(player) > 0
    for node, decision in tree.decisions.items():
        if decision.player == player and decision.street == 0:
            hands, rows = tree.hands[0][player], tree.normalize(sums, 0, node)
            found[node] = hands[has_hand[hands]], rows[has_hand[hands]]
    return found
