# SPDX-License-Identifier: Apache-2.0
"""The loop on a device as a kernel like any other.

Tables in the tree's layout go in before a call's first iteration and come out after its last.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array
from equipoise.kernels.calls import check_num_threads
from equipoise.kernels.frontier import Frontier
from equipoise.kernels.gates import RootGate
from equipoise.kernels.holdem.arrays import TILE, HoldemArrays, normalize_cells
from equipoise.kernels.holdem.sweeps import HoldemTables
from equipoise.kernels.rules import KernelRule, PolicyMap, check_discounts
from equipoise.kernels.vector import NO_HOOKS, Hooks, Reaches, RunTables, VectorKernel, WatchedValues
from equipoise.learning.device.gates import DeviceGates
from equipoise.learning.device.loop import DeviceLeaves, DeviceTables, DeviceWatch, Pair, StreetLoop
from equipoise.learning.torch_extra import find_device, torch

__all__ = ["AskedFrontier", "TorchKernel"]

FloatArray = npt.NDArray[np.float64]
TORCH_TYPES: Final[dict[np.dtype[Any], torch.dtype]] = {
    np.dtype(np.float32): torch.float32,
    np.dtype(np.float64): torch.float64,
}


class AskedFrontier:
    """Leaves of any evaluator: reaches leave the device and values come back, once an update."""

    def __init__(self, frontier: Frontier, tree: HoldemArrays) -> None:
        """Keeps what is asked; its tree has one board."""
        self.frontier = frontier
        self.num_columns = TILE * tree.street(0).flat_packs

    def evaluate(self, reach: Pair) -> Pair:
        """Returns both players' values `[lines, X]` of lines."""
        cells = [np.zeros((own.shape[1], self.num_columns)) for own in reach]
        for held, own in zip(cells, reach, strict=True):
            held[:, : len(own)] = own.T.cpu().numpy()
        found = self.frontier.exchange((cells[0].reshape(-1), cells[1].reshape(-1)))
        out = []
        for held, own, (where, values) in zip(cells, reach, found, strict=True):
            held[:] = 0.0
            held.reshape(-1)[where] = values
            lines = np.ascontiguousarray(held[:, : len(own)].T)
            out.append(torch.as_tensor(lines, device=own.device, dtype=own.dtype))
        return out[0], out[1]


class TorchKernel(VectorKernel):
    """A street of hold'em, or several with the same betting, iterated in torch on one device.

    Tables have the layout of `HoldemKernel`, those of several subgames one behind the other. What comes out equals the
    native module's but for rounding.
    """

    num_players = 2
    dtypes: ClassVar[tuple[np.dtype[Any], ...]] = tuple(TORCH_TYPES)

    def __init__(
        self,
        trees: HoldemArrays | Sequence[HoldemArrays],
        leaves: DeviceLeaves | Frontier | None = None,
        *,
        device: str | torch.device = "cpu",
    ) -> None:
        """Loads the trees when they are first asked for.

        Args:
            trees: of one street each: the last one, or one that is cut at its end; all with the same betting.
            leaves: what lines that leave the street are worth; asked on the device unless it is a `Frontier`.
            device: as torch names it.
        """
        self.trees = [trees] if isinstance(trees, HoldemArrays) else list(trees)
        if not self.trees:
            raise ConfigError("a batch needs a subgame")
        if isinstance(leaves, Frontier):
            if len(self.trees) > 1:
                raise ConfigError("a frontier belongs to one subgame, a batch needs leaves on the device")
            leaves = AskedFrontier(leaves, self.trees[0])
        self.leaves = leaves
        self.device = find_device(device)
        self._loops: dict[torch.dtype, StreetLoop] = {}
        self._find_loop(torch.float32)  # what does not fit is refused here

    @classmethod
    def check_run(
        cls, rule: KernelRule, dtype: npt.DTypeLike, *, name: str = "of this kind", threshold: float = 0.0
    ) -> None:
        """Raises `ConfigError` if tables of this dtype cannot hold a run of the rule."""
        super().check_run(rule, dtype, name=name, threshold=threshold)
        if rule.policy_map is not PolicyMap.REGRET_MATCHING or threshold > 0:
            raise ConfigError(f"the loop on a device matches regrets and plays whatever is positive, got rule {name}")

    def allocate_tables(
        self, rule: KernelRule, dtype: npt.DTypeLike = np.float32, scale: FloatArray | None = None
    ) -> HoldemTables:
        """Returns the tables of a run that has not begun."""
        parts = [HoldemTables.shapes(tree, dtype, rule) for tree in self.trees]
        shapes = {name: (sum(part[name][0][0] for part in parts), *parts[0][name][0][1:]) for name in parts[0]}
        return HoldemTables(**{name: np.zeros(shape, parts[0][name][1]) for name, shape in shapes.items()})

    def begin(self, tables: RunTables, *, root_reach: Reaches | None = None, gate: RootGate | None = None) -> None:
        """Does nothing: strategies follow from regrets at the beginning of a call."""

    def write_locks(self, tables: RunTables) -> None:
        """Does nothing: there are no locks here."""

    def iterate(
        self,
        rule: KernelRule,
        discounts: FloatArray,
        tables: HoldemTables,
        *,
        first_t: int,
        is_alternating: bool,
        num_threads: int = 1,
        hooks: Hooks = NO_HOOKS,
    ) -> int:
        """Runs iterations, see `VectorKernel.iterate`; leaves are those that the kernel was made with."""
        self.iterate_all(
            rule,
            discounts,
            tables,
            first_t=first_t,
            is_alternating=is_alternating,
            num_threads=num_threads,
            gates=None if hooks.gate is None else [hooks.gate],
            watched=hooks.watched,
            root_reach=None if hooks.root_reach is None else [hooks.root_reach],
        )
        return len(discounts)

    def iterate_all(
        self,
        rule: KernelRule,
        discounts: FloatArray,
        tables: HoldemTables,
        *,
        first_t: int,
        is_alternating: bool,
        num_threads: int = 1,
        gates: Sequence[RootGate] | None = None,
        watched: WatchedValues | None = None,
        root_reach: Sequence[Reaches] | None = None,
    ) -> None:
        """Runs iterations of all subgames, with a gate and reaches for each; values of one alone can be watched."""
        check_discounts(discounts, first_t)
        dtype = tables.regret_sum.dtype
        self.check_run(rule, dtype)
        for name in ("regret_sum", "strategy_sum"):
            check_array(name, getattr(tables, name), dtype, (self._first_cells()[-1],), is_written=True)
        loop = self._find_loop(TORCH_TYPES[dtype])
        with _work(num_threads):
            loaded = [self._load(loop, tables, player, rule) for player in (0, 1)]
            there = None if gates is None else self._load_gates(loop, gates)
            watch = None if watched is None else self._load_watch(loop, watched)
            loop.iterate(
                rule,
                discounts.tolist(),
                (loaded[0], loaded[1]),
                self._load_reach(loop, root_reach),
                first_t=first_t,
                is_alternating=is_alternating,
                gates=there,
                leaves=self.leaves,
                watched=watch,
            )
            self._store(loop, loaded, tables)
            if there is not None:
                there.store()
        if watched is not None and watch is not None:
            watched.value_sum[:] = np.concatenate([part.value_sum.cpu().numpy() for part in watch])
            watched.add_weights(discounts)

    def normalize(self, sums: npt.NDArray[Any]) -> FloatArray:
        """Returns `[C]` the sums divided by their total at every hand's decision, uniform where that is zero."""
        starts = self._first_cells()
        parts = [normalize_cells(tree, sums[starts[i] : starts[i + 1]]) for i, tree in enumerate(self.trees)]
        return np.concatenate(parts)

    def values(
        self,
        strategy: npt.NDArray[Any],
        *,
        is_best: bool,
        respects_locks: bool = True,
        root_reach: Reaches | None = None,
        frontier: Any = None,
        num_threads: int = 1,
    ) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` each player's counterfactual values at the root, in double; of a batch, in one row."""
        check_array("sums", strategy, strategy.dtype, (self._first_cells()[-1],))
        loop = self._find_loop(torch.float64)
        with _work(num_threads):
            sums = [loop.load_cells(self._parts(strategy, player), player) for player in (0, 1)]
            reach = self._load_reach(loop, None if root_reach is None else [root_reach])
            found = loop.values((sums[0], sums[1]), reach, is_best=is_best, leaves=self.leaves)
        first, second = (self._trim(loop, own, player) for player, own in enumerate(found))
        return first, second

    def _find_loop(self, dtype: torch.dtype) -> StreetLoop:
        """Returns the trees as tensors of a type; they stay on the device."""
        if dtype not in self._loops:
            loop = self._loops[dtype] = StreetLoop(self.trees, self.device, dtype)
            if not loop.is_last and self.leaves is None:
                raise ConfigError("a street that is not the last one needs leaves")
        return self._loops[dtype]

    def _first_cells(self) -> list[int]:
        """Returns where the tables of each subgame begin, and where they end."""
        return [0, *np.cumsum([tree.num_cells for tree in self.trees]).tolist()]

    def _parts(self, table: npt.NDArray[Any], player: int) -> list[npt.NDArray[Any]]:
        """Returns a player's part of a table by subgame, as views."""
        starts = self._first_cells()
        return [table[start:][tree.own_cells(player)[0]] for start, tree in zip(starts, self.trees, strict=False)]

    def _load(self, loop: StreetLoop, tables: HoldemTables, player: int, rule: KernelRule) -> DeviceTables:
        regrets, averages = (
            loop.load_cells(self._parts(table, player), player) for table in (tables.regret_sum, tables.strategy_sum)
        )
        last = loop.load_cells(self._parts(tables.last_regret, player), player) if rule.needs_last_regret else None
        return DeviceTables(regrets, averages, last)

    def _store(self, loop: StreetLoop, loaded: Sequence[DeviceTables], tables: HoldemTables) -> None:
        for player, own in enumerate(loaded):
            loop.store_cells(own.regret_sum, player, self._parts(tables.regret_sum, player))
            loop.store_cells(own.strategy_sum, player, self._parts(tables.strategy_sum, player))
            if own.last_regret is not None:
                loop.store_cells(own.last_regret, player, self._parts(tables.last_regret, player))

    def _load_reach(self, loop: StreetLoop, root_reach: Sequence[Reaches] | None) -> Pair:
        given = [tree.root_reach for tree in self.trees] if root_reach is None else root_reach
        if len(given) != len(self.trees):
            raise ConfigError(f"{len(self.trees)} subgames need as many reaches, got {len(given)}")
        first, second = (loop.load_reach([own[player] for own in given], player) for player in (0, 1))
        return first, second

    def _load_gates(self, loop: StreetLoop, gates: Sequence[RootGate]) -> DeviceGates:
        if len(gates) != len(self.trees):
            raise ConfigError(f"{len(self.trees)} subgames need as many gates, got {len(gates)}")
        player = gates[0].player
        held = [tree.board(0).num_hands[player] for tree in self.trees]
        return DeviceGates(gates, held, loop.widths[player], self.device)

    def _load_watch(self, loop: StreetLoop, watched: WatchedValues) -> tuple[DeviceWatch, DeviceWatch]:
        if len(self.trees) > 1:
            raise ConfigError("values are watched of one subgame")
        parts = []
        for player in (0, 1):
            own = slice(*watched.player_start[player : player + 2].tolist())
            cells = torch.as_tensor(watched.cells[own].astype(np.int64), device=self.device)
            sums = torch.as_tensor(watched.value_sum[own].copy(), device=self.device)
            parts.append(DeviceWatch(cells, sums))
        return parts[0], parts[1]

    def _trim(self, loop: StreetLoop, values: torch.Tensor, player: int) -> FloatArray:
        """Returns values `[X]` without padding."""
        rows = values.reshape(loop.num_subgames, -1).cpu().numpy()
        held = [tree.board(0).num_hands[player] for tree in self.trees]
        found: FloatArray = np.concatenate([row[:count] for row, count in zip(rows, held, strict=True)])
        return found


@contextlib.contextmanager
def _work(num_threads: int) -> Iterator[None]:
    """Lets torch work with so many threads, without a memory of how numbers came about."""
    check_num_threads(num_threads)
    before = torch.get_num_threads()
    torch.set_num_threads(num_threads)
    try:
        with torch.inference_mode():
            yield
    finally:
        torch.set_num_threads(before)
