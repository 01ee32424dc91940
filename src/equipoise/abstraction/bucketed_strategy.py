# SPDX-License-Identifier: Apache-2.0
"""Strategies of hold'em in buckets (blueprints), with all that is needed to play them, in one file.

The buckets themselves are not kept: how they were made is, and they come from the cache or are made again.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.buckets import CardBuckets, KMeans, Percentile, PotentialAware, build_buckets
from equipoise.abstraction.hand_strength import OnProgress, Strength
from equipoise.core import checkpoint
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import CheckpointError, ConfigError, EquipoiseError
from equipoise.core.files import StrPath
from equipoise.games.holdem.rules import Holdem
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_file import SpotFile, format_spot, parse_spot
from equipoise.games.holdem.spot_game import game_of_spot
from equipoise.solvers.holdem.bucketed import BucketedSolver
from equipoise.solvers.solution_file import SolutionFile
from equipoise.trees.holdem.bucketed import BucketedTree, build_bucketed_tree
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.vector import TreeStrategy

__all__ = ["BucketRecipe", "BucketedStrategy", "SolvedBuckets"]

STRATEGY: Final = "blueprint.strategy_sum"
KEPT_BOARDS: Final = 4096  # whose buckets are at hand
FloatArray = npt.NDArray[np.float64]
METHODS: Final[Mapping[str, type[Percentile | KMeans | PotentialAware]]] = {
    "percentile": Percentile,
    "kmeans": KMeans,
    "potential": PotentialAware,
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BucketRecipe:
    """How buckets are made; see `build_buckets`."""

    method: Percentile | KMeans | PotentialAware = dataclasses.field(default_factory=Percentile)
    sizes: tuple[int | None, ...] = (None, 200, 200, 200)  # of each street
    seed: int = 0

    def build(self, spot: HoldemSpot, *, on_progress: OnProgress | None = None) -> CardBuckets:
        """Returns the buckets of a spot's deck."""
        sizes = self.sizes[: spot.last_street + 1]
        return build_buckets(self.method, spot.deck, sizes=sizes, seed=self.seed, on_progress=on_progress)

    def as_json(self) -> dict[str, Any]:
        """Returns the recipe as JSON values."""
        name = next(name for name, kind in METHODS.items() if isinstance(self.method, kind))
        settings = dataclasses.asdict(self.method)
        return {"method": name, "settings": settings, "sizes": list(self.sizes), "seed": self.seed}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> BucketRecipe:
        """Returns the recipe that `as_json` wrote."""
        settings = dict(values["settings"])
        if "strength" in settings:
            settings["strength"] = Strength(settings["strength"])
        method = METHODS[values["method"]](**settings)
        return cls(method=method, sizes=tuple(values["sizes"]), seed=int(values["seed"]))


class BucketedStrategy(TreeStrategy[BucketedTree]):
    r"""A strategy in buckets, and how they were made; hands of a bucket play in proportion to the bucket's sums.

    >>> from equipoise.runs import load_spot
    >>> text = "deck = 'royal'\nboard = 'AsKsThQd'\npot = 4\nstacks = 4\nranges = {oop = 'JJ, AT', ip = 'QQ, KJ'}"
    >>> spot, recipe = load_spot(text).spot, BucketRecipe(sizes=(None, 4, 4, 4))
    >>> solver = BucketedSolver(build_bucketed_tree(spot, recipe.build(spot)), rng=np.random.default_rng(0))
    >>> solver.iterate(10)
    >>> BucketedStrategy.of(solver, recipe).sums.size
    128
    """

    def __init__(self, tree: BucketedTree, recipe: BucketRecipe, sums: npt.NDArray[np.float32]) -> None:
        """Keeps what is played.

        Args:
            tree: whose buckets are those of the recipe.
            recipe: how they were made, which is what files keep of them.
            sums: `[C]` over the tree's cells.
        """
        super().__init__(tree, sums)
        self.recipe = recipe
        self.sums: npt.NDArray[np.float32] = sums
        self.probabilities = self._probabilities  # boards rarely come again: buckets are kept, not rows of hands
        self._buckets = functools.lru_cache(KEPT_BOARDS)(tree.buckets)
        self._shares: dict[int, FloatArray] = {}

    @classmethod
    def of(cls, solver: BucketedSolver, recipe: BucketRecipe) -> BucketedStrategy:
        """Returns the average strategy of a run, whose tree was built with this recipe."""
        return cls(solver.tree, recipe, solver.tables.strategy_sum.astype(np.float32))

    def row(self, place: HoldemPlace, hand: int) -> list[float]:
        """Returns `[A]` what one hand plays, as `probabilities` says it: matches hand by hand ask for no other."""
        row: list[float] = self._share(place.node)[self._buckets(place.board)[hand]].tolist()
        return row

    def _probabilities(self, place: HoldemPlace) -> FloatArray:
        return self._share(place.node).take(self._buckets(place.board), axis=0)

    def _share(self, node: int) -> FloatArray:
        """Returns `[buckets + 1, A]` what buckets play; the last row is what blocked hands read."""
        if node not in self._shares:
            shares = self.tree.bucket_strategy(self.sums, node)
            self._shares[node] = np.concatenate([shares, np.zeros((1, shares.shape[1]))])
        return self._shares[node]

    def save(self, path: StrPath, metadata: Mapping[str, Any] | None = None) -> None:
        """Writes the blueprint to a file atomically, with metadata of the caller's."""
        described = {"spot": format_spot(SpotFile(spot=self.tree.spot)), "buckets": self.recipe.as_json()}
        checkpoint.save(path, Kind.BLUEPRINT, {**(metadata or {}), **described}, {STRATEGY: self.sums})


class SolvedBuckets(SolutionFile):
    r"""A strategy of hold'em in buckets, in a file.

    >>> import tempfile
    >>> from equipoise.runs import load_spot
    >>> text = "deck = 'royal'\nboard = 'AsKsThQd'\npot = 4\nstacks = 4\nranges = {oop = 'JJ, AT', ip = 'QQ, KJ'}"
    >>> spot, recipe = load_spot(text).spot, BucketRecipe(sizes=(None, 4, 4, 4))
    >>> solver = BucketedSolver(build_bucketed_tree(spot, recipe.build(spot)), rng=np.random.default_rng(0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     BucketedStrategy.of(solver, recipe).save(f"{folder}/blueprint.eq")
    ...     with SolvedBuckets(f"{folder}/blueprint.eq") as file:
    ...         print(file.recipe.sizes)
    (None, 4, 4, 4)
    """

    KINDS = (Kind.BLUEPRINT,)

    def _check(self) -> None:
        if "spot" not in self.metadata and "spec" in self.metadata:
            raise CheckpointError(f"{self.path} was written by `train blueprint`: play it as blueprint:{self.path}")
        try:
            self.spot = parse_spot(str(self.metadata["spot"])).spot
            self.recipe = BucketRecipe.from_json(self.metadata["buckets"])
        except (KeyError, TypeError, ValueError, EquipoiseError) as error:
            raise CheckpointError(f"{self.path} does not describe its blueprint: {error}") from None

    @property
    def game(self) -> Holdem:
        """Returns the game that is played from the spot on."""
        return game_of_spot(self.spot)

    @property
    def label(self) -> str:
        """Returns the spot and the buckets."""
        sizes = ", ".join("all" if size is None else str(size) for size in self.recipe.sizes)
        origin = "" if self.counted is None else f", counted in {self.counted['num_used']:,} hands"
        return f"{self.spot.name} in buckets ({sizes}){origin}"

    @property
    def counted(self) -> Mapping[str, Any] | None:
        """Returns what `equipoise model` said of the hands it counted, None if something else wrote the file."""
        found = self.metadata.get("counted")
        return found if isinstance(found, Mapping) and isinstance(found.get("num_used"), int) else None

    @functools.cached_property
    def strategy(self) -> BucketedStrategy:
        """Returns what every hand plays; buckets come from the cache or are made again."""
        tree = build_bucketed_tree(self.spot, self.recipe.build(self.spot))
        sums = self.reader.read(STRATEGY)
        if sums.shape != (tree.rows.num_cells,):
            raise CheckpointError(
                f"{self.path} has {sums.size:,} numbers in its strategy, expected {tree.rows.num_cells:,}"
            )
        if not np.isfinite(sums).all():
            raise ConfigError(f"{self.path} has numbers in its strategy that are not finite")
        return BucketedStrategy(tree, self.recipe, np.ascontiguousarray(sums, np.float32))
