# SPDX-License-Identifier: Apache-2.0
"""Blueprints of hold'em for two to six players: what is played, in which buckets, and files that agents play from.

A file keeps every row that was visited, in parts of 255 and in the order of the tree, so that it is read by memory map
and may be larger than memory; the tree and the buckets are made again from what it says about them.
"""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.bucketed_strategy import BucketRecipe
from equipoise.abstraction.buckets import CardBuckets, Percentile, PotentialAware, build_buckets
from equipoise.abstraction.hand_strength import OnProgress, canonical_boards
from equipoise.abstraction.hierarchical import Buckets, HierarchicalBuckets, cluster_flops
from equipoise.core import checkpoint
from equipoise.core.checkpoint import CheckpointReader, Kind
from equipoise.core.errors import CheckpointError, ConfigError, EquipoiseError
from equipoise.core.files import StrPath, describe_os_error
from equipoise.games.holdem.betting import BettingRules, Street
from equipoise.games.holdem.cards import Deck, parse_deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.strength import hand_kernel
from equipoise.kernels.blueprints import CardDeals
from equipoise.solvers.blueprints.clustered import ClusteredTrainer, ClusterGround
from equipoise.solvers.blueprints.trainer import BlueprintTrainer
from equipoise.trees.holdem.flat_betting import FlatBetting, MenuByPlayers

__all__ = [
    "SPECS",
    "BlueprintSpec",
    "StoredBlueprint",
    "bucket_tables",
    "load_spec",
    "make_cluster_ground",
    "make_deals",
    "save_blueprint",
]

CHUNK: Final = 1024  # boards whose buckets are looked up at once
FORMAT: Final = "blueprint of flat betting"
PERCENTILE, POTENTIAL = "percentile", "potential"
IntArray = npt.NDArray[np.int32]
ByteArray = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BlueprintSpec:
    """What a blueprint is of: chips, menus, buckets.

    >>> spec = load_spec("six")
    >>> spec.rules.num_players, spec.num_buckets.tolist()[0]
    (6, [169, 200, 200, 200])
    """

    stacks: tuple[int, ...] = (20_000, 20_000)  # chips of each player before blinds
    small_blind: int = 50
    big_blind: int = 100
    ante: int = 0
    deck: str = "full"  # as `Holdem.deck`
    last_street: str = "river"
    menu: str = "50%, 100%, a / 100%, a"  # as spots write it
    crowded: Mapping[int, str] = dataclasses.field(default_factory=dict)  # menus while so many players are left or more
    abstraction: str = POTENTIAL  # or percentile
    buckets: tuple[int, ...] = (200, 200, 200)  # of flop, turn and river; before the flop every class of hands
    clusters: int = 0  # of flops, within each of which hands have these buckets to the river; 0: all flops are one
    recall: bool = False  # percentile alone: buckets within each bucket of the street before
    seed: int = 0  # of the buckets

    def __post_init__(self) -> None:
        if self.last_street not in ("flop", "turn", "river"):
            raise ConfigError(f"last_street must be flop, turn or river, got {self.last_street!r}")
        if self.abstraction not in (PERCENTILE, POTENTIAL):
            raise ConfigError(f"abstraction must be {PERCENTILE} or {POTENTIAL}, got {self.abstraction!r}")
        if len(self.buckets) < Street[self.last_street.upper()]:
            raise ConfigError(f"buckets must name flop to {self.last_street}, got {list(self.buckets)}")
        if self.recall and self.abstraction != PERCENTILE:
            raise ConfigError(f"recall is of {PERCENTILE} buckets alone")
        if self.clusters < 0 or (self.clusters and self.recall):
            raise ConfigError(f"clusters of flops are 0 or more, and 0 with recall, got {self.clusters}")
        suits = {tuple(card // 4 for card in self.cards.cards if card % 4 == suit) for suit in range(4)}
        if len(suits - {()}) > 1:
            raise ConfigError(f"suits of {self.deck} have unlike ranks, and blueprints take suits for each other")
        _ = self.betting  # says what is wrong with chips and menus

    @property
    def rules(self) -> BettingRules:
        """Returns blinds, stacks and streets."""
        return BettingRules(
            stacks=self.stacks,
            small_blind=self.small_blind,
            big_blind=self.big_blind,
            ante=self.ante,
            last_street=Street[self.last_street.upper()],
        )

    @property
    def cards(self) -> Deck:
        """Returns the cards in play."""
        return parse_deck(self.deck)

    @property
    def betting(self) -> FlatBetting:
        """Returns the betting, not yet built."""
        return FlatBetting(rules=self.rules, menus=MenuByPlayers.parse(self.menu, dict(self.crowded)))

    @property
    def recipe(self) -> BucketRecipe:
        """Returns how buckets are made."""
        streets = Street[self.last_street.upper()]
        method = PotentialAware() if self.abstraction == POTENTIAL else Percentile(has_recall=self.recall)
        return BucketRecipe(method=method, sizes=(None, *self.buckets[:streets]), seed=self.seed)

    @property
    def num_buckets(self) -> IntArray:
        """Returns `[players, 4]` by street."""
        sizes = [len(hands_of(self.cards).class_names)]
        for size in self.buckets[: Street[self.last_street.upper()]]:
            sizes.append(sizes[-1] * size if self.recall else size * max(self.clusters, 1))
        sizes += [1] * (len(Street) - len(sizes))
        return np.tile(np.array(sizes, np.int32), (len(self.stacks), 1))

    def as_json(self) -> dict[str, Any]:
        """Returns the spec as JSON values, which `from_json` reads."""
        values = dataclasses.asdict(self)
        if not self.clusters:
            values.pop("clusters")  # as files had it before there were any
        return {**values, "crowded": {str(number): menu for number, menu in self.crowded.items()}}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> BlueprintSpec:
        """Returns the spec of JSON or TOML values."""
        fields = {field.name for field in dataclasses.fields(cls)}
        unknown = sorted(set(values) - fields)
        if unknown:
            raise ConfigError(f"unknown field {unknown[0]!r}; known: {', '.join(sorted(fields))}")
        given = dict(values)
        try:
            for name in ("stacks", "buckets"):
                if name in given:
                    given[name] = tuple(int(number) for number in given[name])
            if "crowded" in given:
                given["crowded"] = {int(number): str(menu) for number, menu in dict(given["crowded"]).items()}
            return cls(**given)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"the spec is malformed: {error}") from None


# the smallest useful menus; six: one size before the flop, one or two after it, one while four or more are left
SIX_PREFLOP: Final = "100%; preflop: 100% / 100% / 100% / a; preflop cap: 4; force: 50%"
SIX_LATER: Final = "flop: 50%, 100% / a; flop cap: 2; turn: 75% / a; turn cap: 2; river: 75%, a / a; river cap: 2"
# opens by half the pot, as people and Pluribus do: what is met in published hands
OPEN_PREFLOP: Final = "100%; preflop: 50% / 90% / 75% / a; preflop cap: 4; force: 50%"
SPECS: Final[Mapping[str, BlueprintSpec]] = {
    "heads-up": BlueprintSpec(menu="50%, 100%, a / 100%, a; cap: 4"),
    "three": BlueprintSpec(stacks=(10_000,) * 3, menu="50%, 100%, a / a; cap: 3", crowded={3: "100%, a / a; cap: 2"}),
    "six": BlueprintSpec(
        stacks=(10_000,) * 6,
        menu=f"{SIX_PREFLOP}; {SIX_LATER}",
        crowded={4: f"{SIX_PREFLOP}; flop cap: 1; turn cap: 1; river cap: 1"},
    ),
    "six-open": BlueprintSpec(
        stacks=(10_000,) * 6,
        menu=f"{OPEN_PREFLOP}; {SIX_LATER}",
        crowded={4: f"{OPEN_PREFLOP}; flop cap: 1; turn cap: 1; river cap: 1"},
        buckets=(200, 200, 150),
    ),
    "royal": BlueprintSpec(stacks=(1000, 1000), deck="royal", menu="100%, a; cap: 2", buckets=(20, 20, 20)),
}


def load_spec(text: str) -> BlueprintSpec:
    """Returns the spec of that name, or the one in a TOML file whose keys are the fields of `BlueprintSpec`."""
    if text in SPECS:
        return SPECS[text]
    try:
        return BlueprintSpec.from_json(tomllib.loads(Path(text).read_text(encoding="utf-8")))
    except OSError as error:
        known = ", ".join(SPECS)
        raise ConfigError(f"cannot read {text}: {describe_os_error(error)}; specs by name: {known}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{text} is no TOML file: {error}") from None
    except EquipoiseError as error:
        raise ConfigError(f"{text}: {error}") from None


def bucket_tables(
    buckets: CardBuckets, *, on_progress: OnProgress | None = None
) -> dict[int, npt.NDArray[np.uint8] | npt.NDArray[np.uint16]]:
    """Returns `[boards, H]` by street: every hand's bucket on canonical boards, anything where it is blocked."""
    tables: dict[int, npt.NDArray[np.uint8] | npt.NDArray[np.uint16]] = {}
    for street in range(buckets.num_streets):
        boards = canonical_boards(buckets.deck, Street(street).num_board_cards).sets
        kind = np.uint8 if buckets.num_buckets(street) <= np.iinfo(np.uint8).max + 1 else np.uint16
        table = np.empty((len(boards), buckets.deck.num_hands), kind)
        for first in range(0, len(boards), CHUNK):
            table[first : first + CHUNK] = np.maximum(buckets.assign_boards(boards[first : first + CHUNK]), 0)
            if on_progress is not None:
                on_progress(first / len(boards), f"buckets of the {Street(street).name.lower()}")
        tables[street] = table
    return tables


def make_deals(spec: BlueprintSpec, *, on_progress: OnProgress | None = None) -> CardDeals:
    """Returns what a spec's blueprint is trained on; buckets come from the cache or are made."""
    if spec.recall:
        raise ConfigError("buckets with recall depend on the order of cards, which training does not follow")
    streets = Street[spec.last_street.upper()] + 1
    buckets = _build_within(spec, on_progress)
    tables = bucket_tables(buckets, on_progress=on_progress)
    boards = {street: canonical_boards(spec.cards, Street(street).num_board_cards).sets for street in range(streets)}
    return CardDeals(
        hand_kernel(spec.cards),
        deck=spec.cards.cards,
        hole_cards=hands_of(spec.cards).cards,
        boards=boards,
        buckets=[tables] * len(spec.stacks),
        cluster_of_flop=cluster_flops(buckets, spec.clusters, seed=spec.seed) if spec.clusters else None,
        num_within={street: buckets.num_buckets(street) for street in range(1, streets)},
    )


def make_cluster_ground(spec: BlueprintSpec) -> ClusterGround:
    """Returns what head and workers train a spec's blueprint on, each cluster of flops by itself."""
    if not spec.clusters:
        raise ConfigError("workers have clusters of flops: the spec must have some, such as clusters = 20")
    whole = make_deals(dataclasses.replace(spec, clusters=0))
    found = cluster_flops(_build_within(spec), spec.clusters, seed=spec.seed)
    flops, row = _list_flops(spec.cards)
    return ClusterGround(
        betting=spec.betting,
        deals=whole,
        num_buckets=dataclasses.replace(spec, clusters=0).num_buckets,
        flops=tuple(np.ascontiguousarray(flops[found[row] == cluster]) for cluster in range(int(found.max()) + 1)),
    )


def _list_flops(deck: Deck) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Returns every flop `[F, 3]`, and `[F]` the canonical one of each."""
    boards = canonical_boards(deck, Street.FLOP.num_board_cards)
    images = np.stack([boards.sets // 4 * 4 + suits[boards.sets % 4] for suits in boards.permutations])
    images = np.sort(images, axis=-1).astype(np.int64)
    keys = (images[..., 0] << 12 | images[..., 1] << 6 | images[..., 2]).reshape(-1)
    every, first = np.unique(keys, return_index=True)
    flops = np.stack([every >> 12, every >> 6 & 63, every & 63], axis=1).astype(np.uint8)
    return flops, first % len(boards.sets)


def _build_within(spec: BlueprintSpec, on_progress: OnProgress | None = None) -> CardBuckets:
    """Returns the buckets of a spec, which clusters of flops all have."""
    recipe, streets = spec.recipe, Street[spec.last_street.upper()] + 1
    return build_buckets(
        recipe.method, spec.cards, sizes=recipe.sizes[:streets], seed=spec.seed, on_progress=on_progress
    )


def save_blueprint(
    path: StrPath, spec: BlueprintSpec, trainer: BlueprintTrainer | ClusteredTrainer, metadata: Mapping[str, Any]
) -> None:
    """Writes what a training plays, in parts of 255, atomically."""
    start, cells = trainer.pack()
    content: dict[str, npt.NDArray[Any]] = {"start": start, "cells": cells}
    described = {"format": FORMAT, "spec": spec.as_json(), "deals": trainer.num_deals}
    checkpoint.save(path, Kind.BLUEPRINT, {**metadata, **described}, content)


class StoredBlueprint:
    """A blueprint in a file: rows are read from it as they are asked for."""

    def __init__(self, path: StrPath) -> None:
        """Opens a file that `save_blueprint` wrote; raises `CheckpointError` for anything else."""
        self.path = path
        with CheckpointReader(path, Kind.BLUEPRINT) as reader:
            if reader.metadata.get("format") != FORMAT:
                raise CheckpointError(f"{path} is no blueprint of `train blueprint`; play it as file:{path}")
            try:
                self.spec = BlueprintSpec.from_json(reader.metadata["spec"])
            except (KeyError, EquipoiseError) as error:
                raise CheckpointError(f"{path} does not describe its blueprint: {error}") from None
            self.metadata = reader.metadata
            self.start = reader.read("start")
            self.cells = reader.map("cells")

    @functools.cached_property
    def betting(self) -> FlatBetting:
        """Returns the betting, built again."""
        betting = self.spec.betting
        if len(self.start) != len(betting.arrays.width):
            raise CheckpointError(
                f"{self.path} has {len(self.start):,} blocks, its betting {len(betting.arrays.width):,}"
            )
        return betting

    @functools.cached_property
    def buckets(self) -> Buckets:
        """Returns the buckets, from the cache or made again."""
        within, spec = _build_within(self.spec), self.spec
        if not spec.clusters:
            return within
        return HierarchicalBuckets(within, cluster_flops(within, spec.clusters, seed=spec.seed))

    def row(self, node: int, bucket: int) -> FloatArray:
        """Returns `[A]` what a bucket plays at a decision; uniform where training never came."""
        _, slot, offset, packed = self.betting.arrays.nodes[node].tolist()
        num_actions, width = packed >> 9 & 31, int(self.betting.arrays.width[slot])
        first = int(self.start[slot]) + bucket * width + offset
        return _normalize(self.cells[first : first + num_actions] if self.start[slot] >= 0 else np.zeros(num_actions))

    def rows(self, node: int) -> FloatArray:
        """Returns `[buckets, A]` what every bucket plays at a decision."""
        arrays = self.betting.arrays
        _, slot, offset, packed = arrays.nodes[node].tolist()
        num_actions, width = packed >> 9 & 31, int(arrays.width[slot])
        num_buckets = int(self.spec.num_buckets[packed >> 4 & 7, packed >> 2 & 3])
        first = int(self.start[slot])
        if first < 0:
            return _normalize(np.zeros((num_buckets, num_actions)))
        block = self.cells[first : first + num_buckets * width].reshape(num_buckets, width)
        return _normalize(block[:, offset : offset + num_actions])

    def actions(self, node: int) -> tuple[int, ...]:
        """Returns fold (0), call (1) and totals of a decision, as the rules number them."""
        arrays = self.betting.arrays
        first, packed = int(arrays.nodes[node, 0]), int(arrays.nodes[node, 3])
        passive = ((0,) if packed >> 7 & 1 else ()) + ((1,) if packed >> 8 & 1 else ())
        count = packed >> 9 & 31
        totals = (arrays.nodes[first + len(passive) : first + count, 3] >> 14).tolist()
        return (*passive, *totals)


def _normalize(rows: npt.NDArray[Any]) -> FloatArray:
    """Returns `[..., A]` shares that sum to 1, all alike where there are none."""
    shares: FloatArray = rows.astype(np.float64)
    totals = shares.sum(axis=-1, keepdims=True)
    return np.where(totals > 0, shares / np.where(totals > 0, totals, 1.0), 1.0 / shares.shape[-1])
