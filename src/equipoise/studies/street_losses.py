# SPDX-License-Identifier: Apache-2.0
"""What a searched street of hold'em loses: the spot solved whole, then again with the street locked.

The whole solve bounds the searcher's value from above. What the locked spot guarantees, against an exact best response,
is what the searched street is worth if the streets after it are played well.
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
    """Points of spots that were measured before, a file a spot: an interrupted study with the same folder goes on."""

    def __init__(self, folder: Path, asked: Mapping[str, Any]) -> None:
        """Makes the folder.

        Args:
            folder: where files are.
            asked: all that points depend on but a spot's number, as JSON knows it; other files are refused.
        """
        self.folder, self.asked = folder, json.loads(json.dumps(dict(asked)))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot keep spots in {folder}: {error.strerror}") from None

    def find(self, number: int) -> tuple[Point, ...]:
        """Returns the points of a spot, none if it was not measured yet."""
        path = self._path(number)
        if not path.is_file():
            return ()
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            asked, points = content["asked"], tuple(Point(**each) for each in content["points"])
        except (OSError, KeyError, TypeError, ValueError):
            raise ConfigError(f"{path} is no measured spot: remove it, and it is measured again") from None
        if asked != self.asked:
            raise ConfigError(f"{path} was measured with other settings or networks: give another folder")
        return points

    def write(self, number: int, points: Sequence[Point]) -> None:
        """Keeps the points of a spot."""
        content = {"asked": self.asked, "points": [dataclasses.asdict(point) for point in points]}
        write_text(self._path(number), json.dumps(content) + "\n")

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
        if kept is not None and (points := kept.find(number)):
            yield Step(fraction=number / configuration.spots, text=f"{name}: kept", points=points)
            continue
        found: list[Point] = []
        for step in _measure_spot(configuration, labels, begin, spot, searcher, number):
            found += step.points
            fraction = (number - 1 + step.fraction) / configuration.spots
            yield dataclasses.replace(step, fraction=fraction, text=f"{name}: {step.text}")
        if kept is not None:
            kept.write(number, found)


def _measure_spot(
    configuration: LossConfiguration,
    labels: Sequence[str],
    begin: Callable[[HoldemSpot, int], Sequence[Search]],
    spot: HoldemSpot,
    searcher: int,
    number: int,
) -> Iterator[Step]:
    """Yields the losses of one spot."""
    total = 1 + len(labels)
    yield Step(fraction=0.0, text="the whole spot")
    values = _solve_to(CFRSolver(build_holdem_tree(spot)), configuration)
    left_open = Point(panel=LOSSES, curve=WHOLE, x=number, y=100 * sum(values) / spot.pot)
    yield Step(fraction=1 / total, text="searches", points=(left_open,))
    for place, (label, search) in enumerate(zip(labels, begin(spot, searcher), strict=True), start=1):
        found = search()
        loss = values[searcher] - _guarantee(spot, searcher, found.rows, configuration)
        points = [Point(panel=LOSSES, curve=label, x=number, y=100 * loss / spot.pot)]
        points += [Point(panel=SECONDS, curve=curve, x=number, y=y) for curve, y in found.seconds.items()]
        yield Step(fraction=(1 + place) / total, text=label, points=tuple(points))


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


def _guarantee(spot: HoldemSpot, searcher: int, rows: Rows, configuration: LossConfiguration) -> float:
    """Returns chips that the searcher gets at least, its street given and the next ones played well after it."""
    locks = [NodeLock(node=node, strategy=played, hands=hands.tolist()) for node, (hands, played) in rows.items()]
    solver = CFRSolver(build_holdem_tree(spot, locks=locks), locks=locks)
    return -_solve_to(solver, configuration)[1 - searcher]


def read_street(tree: HoldemTree, sums: CellTable, player: int, spot: HoldemSpot) -> Rows:
    """Returns what a table plays on the first street with every hand that a player has in a spot."""
    found = {}
    has_hand = spot.live_weights(player) > 0
    for node, decision in tree.decisions.items():
        if decision.player == player and decision.street == 0:
            hands, rows = tree.hands[0][player], tree.normalize(sums, 0, node)
            found[node] = hands[has_hand[hands]], rows[has_hand[hands]]
    return found
