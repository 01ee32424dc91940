# SPDX-License-Identifier: Apache-2.0
"""Sums by player and information state, in tables that grow as information states are met.

For runs without a tree. Sums lie one after the other in flat arrays that grow geometrically; `array` and not NumPy,
because single numbers are read and written from Python, which is several times faster there.
"""

from __future__ import annotations

import math
import sys
from array import array
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import CheckpointError, GameTooLargeError
from equipoise.core.files import format_bytes
from equipoise.solvers.saved_state import SavedArrays, encode_json, read_array, read_json
from equipoise.solvers.strategy import TabularStrategy

__all__ = ["GrowingTables"]

FloatArray = npt.NDArray[np.float64]

CHECK_EVERY: Final = 1 << 12  # new information states between two looks at the limit
INTEGER_BYTES: Final = 32  # of a Python integer that says where an information state's sums begin


class GrowingTables:
    """Regret and strategy sums of the information states met so far; rows in the order of their first meeting.

    Axes: I information states met, E their actions.
    """

    def __init__(self, num_players: int, *, max_bytes: float) -> None:
        self.max_bytes = max_bytes  # beyond it `add` refuses
        self.first_entry: list[dict[str, int]] = [{} for _ in range(num_players)]  # [P] information state -> into E
        self.infostates: list[str] = []  # [I]
        self.player = array("b")  # [I]
        self.menu = array("i")  # [I] into menus
        self.menus: list[tuple[str, ...]] = []  # names of actions, each combination once
        self.regret_sum = array("d")  # [E]
        self.strategy_sum = array("d")  # [E]
        self._menu_index: dict[tuple[str, ...], int] = {}
        self._label_bytes = 0
        self._next_check = CHECK_EVERY

    def __len__(self) -> int:
        return len(self.infostates)

    @property
    def num_bytes(self) -> int:
        """Returns the memory taken, labels and their index included."""
        arrays = (self.player, self.menu, self.regret_sum, self.strategy_sum)
        containers = (*self.first_entry, self.infostates)
        return (
            self._label_bytes
            + sum(len(values) * values.itemsize for values in arrays)
            + sum(sys.getsizeof(container) for container in containers)
        )

    def add(self, player: int, infostate: str, actions: tuple[str, ...]) -> int:
        """Adds an information state that is new, its sums zero, and returns where these begin."""
        if len(self.infostates) >= self._next_check:
            self._next_check += CHECK_EVERY
            if self.num_bytes > self.max_bytes:
                raise GameTooLargeError(
                    f"a single traversal outgrew the memory for tables: {len(self):,} information states in "
                    f"{format_bytes(self.num_bytes)}; outcome sampling walks single paths and stops in time"
                )
        first = len(self.regret_sum)
        index = self._menu_index.setdefault(actions, len(self.menus))
        if index == len(self.menus):
            self.menus.append(actions)
        self.first_entry[player][infostate] = first
        self.infostates.append(infostate)
        self.player.append(player)
        self.menu.append(index)
        zeros = bytes(8 * len(actions))
        self.regret_sum.frombytes(zeros)
        self.strategy_sum.frombytes(zeros)
        self._label_bytes += sys.getsizeof(infostate) + INTEGER_BYTES
        return first

    def multiply(self, factor: float) -> None:
        """Multiplies all sums in place."""
        for sums in (self.regret_sum, self.strategy_sum):
            if sums:  # an empty array has no buffer
                np.frombuffer(sums)[:] *= factor

    def starts(self) -> npt.NDArray[np.int64]:
        """Returns `[I+1]` where each information state's sums begin, and where the last ones end."""
        sizes = np.array([len(names) for names in self.menus], dtype=np.int64)
        out = np.zeros(len(self) + 1, dtype=np.int64)
        np.cumsum(sizes[np.array(self.menu, dtype=np.int64)], out=out[1:])
        return out

    def average_at(self, player: int, infostate: str, num_actions: int) -> list[float]:
        """Returns `[A]` the average strategy at an information state, uniform where there is none."""
        first = self.first_entry[player].get(infostate)
        if first is not None:
            sums = self.strategy_sum[first : first + num_actions].tolist()
            if (total := sum(sums)) > 0.0:
                return [value / total for value in sums]
        return [1.0 / num_actions] * num_actions

    def average_strategy(self) -> FloatArray:
        """Returns `[E]` the average strategy, uniform where nothing was added."""
        if not self.strategy_sum:
            return np.empty(0)
        starts = self.starts()
        counts = np.diff(starts)
        sums = np.frombuffer(self.strategy_sum)
        totals = np.repeat(np.add.reduceat(sums, starts[:-1]), counts)
        return np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), 1.0 / np.repeat(counts, counts))

    def tabulate(self, game_label: str) -> TabularStrategy:
        """Returns the average strategy by name, at the information states met."""
        return TabularStrategy(
            game_label=game_label,
            player=np.array(self.player, dtype=np.int32),
            infostates=tuple(self.infostates),
            first_action=self.starts().astype(np.int32),
            actions=tuple(name for index in self.menu for name in self.menus[index]),
            probability=self.average_strategy(),
        )

    def positive_regret(self) -> float:
        """Returns the sum over information states of the largest regret there, where it is positive."""
        if not self.regret_sum:
            return 0.0
        largest = np.maximum.reduceat(np.frombuffer(self.regret_sum), self.starts()[:-1])
        return float(np.maximum(largest, 0.0).sum())

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the tables as arrays of plain numbers; names are JSON in bytes."""
        return {
            "regret_sum": np.array(self.regret_sum, dtype=np.float64),
            "strategy_sum": np.array(self.strategy_sum, dtype=np.float64),
            "player": np.array(self.player, dtype=np.int8),
            "menu": np.array(self.menu, dtype=np.int32),
            "menus": encode_json(self.menus),
            "infostates": encode_json(self.infostates),
        }

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the tables with saved ones of the same game; raises `CheckpointError` before anything changes."""
        infostates, menus = read_json(state, "infostates"), read_json(state, "menus")
        if not _is_names(infostates) or not isinstance(menus, list) or not all(map(_is_names, menus)):
            raise CheckpointError("saved infostates must be a list of names, and saved menus a list of such lists")
        players = read_array(state, "player", np.int8, (len(infostates),))
        choices = read_array(state, "menu", np.int32, (len(infostates),))
        for name, indices, size in (("player", players, len(self.first_entry)), ("menu", choices, len(menus))):
            if indices.size and not 0 <= indices.min() <= indices.max() < size:
                raise CheckpointError(
                    f"saved {name} must be from 0 to {size - 1}, got {indices.min()} to {indices.max()}"
                )
        fresh = GrowingTables(len(self.first_entry), max_bytes=math.inf)
        for player, index, infostate in zip(players.tolist(), choices.tolist(), infostates, strict=True):
            fresh.add(player, infostate, tuple(menus[index]))
        sums = {"regret_sum": fresh.regret_sum, "strategy_sum": fresh.strategy_sum}
        saved = {name: read_array(state, name, np.float64, (len(zeros),)) for name, zeros in sums.items()}
        fresh.regret_sum = array("d", saved["regret_sum"].tobytes())
        fresh.strategy_sum = array("d", saved["strategy_sum"].tobytes())
        fresh.max_bytes = self.max_bytes
        vars(self).update(vars(fresh))


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)
