# SPDX-License-Identifier: Apache-2.0
"""What a value network is: stored with its weights, so that both are read together or not at all."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import Deck, format_deck, parse_deck
from equipoise.kernels.arithmetic import logarithm
from equipoise.kernels.calls import check_integer
from equipoise.kernels.public_nets import PublicSizes
from equipoise.kernels.value_nets import BucketForm, CurveAxes

__all__ = ["NUM_RATIO_FEATURES", "NetKind", "NetStage", "ValueNetConfig", "describe_ratios"]

NUM_RATIO_FEATURES: Final = 11
SMALLEST_RATIO: Final = 1e-9  # of stack to pot: a chip is more

SingleArray = npt.NDArray[np.float32]


class NetKind(enum.StrEnum):
    """How a network sees hands."""

    CURVE = "curve"  # by their place in the order of strength
    BUCKET = "bucket"  # by classes of hands on a board, as in DeepStack
    BELIEF = "belief"  # each for itself, by kinds of public states, as in ReBeL
    POLICY = "policy"  # as belief networks do, for strategies in place of values
    PUBLIC = "public"  # each for itself, by features of public states, with policies, as in Player of Games


class NetStage(enum.StrEnum):
    """When in a street a network is asked."""

    START = "start"  # its cards lie there, nobody has bet
    END = "end"  # the betting is over, the next card is not dealt


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ValueNetConfig:
    """Shape of a value network and what it was made for."""

    kind: NetKind = NetKind.CURVE
    game: str = ""  # of bucket and belief networks, as `format_game` writes it; nothing: hold'em
    street: Street = Street.RIVER
    stage: NetStage = NetStage.START
    deck: str = "full"  # as `parse_deck` reads it
    cells: int = 32  # of strength
    potential_cells: int = 1  # 1: potential does not matter
    segments: int = 8  # of strength for blocked mass; a multiple of 8
    hidden: int = 256  # units of a layer
    layers: int = 4  # hidden ones
    buckets: int = 0  # of bucket networks; of belief networks the most private states of anybody
    kinds: int = 0  # of public states that a belief or policy network tells apart
    features: int = 0  # of public states, of public networks
    places: tuple[int, int] = (0, 0)  # for private states of each player, of public networks
    actions: tuple[int, int] = (0, 0)  # for actions of each player, of public and policy networks
    horizon: str = ""  # of the searches at whose ends a belief network is asked, as `parse_horizon` reads it
    is_residual: bool = True  # hidden layers after the first add to what they are given
    takes_roots: bool = True  # bucket and belief networks see square roots of masses; curve networks always do
    adds_equity: bool = True  # the network says what is added to a showdown's value
    times_mass: bool = True  # it speaks of a unit of mass that a hand can meet
    least_ratio: float = 0.0  # of stack to pot in training; less of the network counts below
    most_ratio: float = 100.0  # larger ones are taken for this

    def __post_init__(self) -> None:
        parse_deck(self.deck)
        check_integer("hidden", self.hidden, 1, 1 << 14)
        check_integer("layers", self.layers, 1, 64)
        if not 0.0 <= self.least_ratio < self.most_ratio < float("inf"):
            raise ConfigError(f"ratios must ascend from 0, got {self.least_ratio} and {self.most_ratio}")
        if self.kind is NetKind.PUBLIC:
            self.public_sizes.check()
            return
        if self.kind is not NetKind.CURVE:
            check_integer("buckets", self.buckets, 1, 1 << 14)
            if self.kind in (NetKind.BELIEF, NetKind.POLICY):
                check_integer("kinds", self.kinds, 1, 1 << 14)
            if self.kind is NetKind.POLICY:
                check_integer("actions", self.actions[0], 1, 1 << 14)
            return
        if self.game:
            raise ConfigError(f"curve networks are for hold'em, got {self.game}")
        self.axes.check()
        if not (self.takes_roots and self.adds_equity and self.times_mass):
            raise ConfigError("curve networks take roots, add equity and multiply by mass")
        if self.street is Street.PREFLOP:
            raise ConfigError("before the flop hands have no order of strength: use a bucket network")
        if self.street is Street.RIVER and self.potential_cells > 1:
            raise ConfigError("there is no potential at the river: potential_cells must be 1")

    @property
    def axes(self) -> CurveAxes:
        """How finely a curve network sees strength."""
        return CurveAxes(self.cells, self.potential_cells, self.segments)

    @property
    def bucket_form(self) -> BucketForm:
        """How a bucket network sees hands."""
        return BucketForm(self.buckets, self.takes_roots, self.adds_equity, self.times_mass)

    @property
    def public_sizes(self) -> PublicSizes:
        """What a public network takes and says."""
        return PublicSizes(self.features, self.places, self.actions)

    @property
    def cards(self) -> Deck:
        """The cards in play."""
        return parse_deck(self.deck)

    @property
    def num_inputs(self) -> int:
        """Inputs of the first layer."""
        if self.kind is NetKind.PUBLIC:
            return self.public_sizes.num_inputs
        if self.kind in (NetKind.BELIEF, NetKind.POLICY):
            return self.kinds + 2 * self.buckets
        if self.kind is NetKind.BUCKET:
            return 2 * self.buckets + NUM_RATIO_FEATURES
        num_masses = 3 if self.potential_cells > 1 else 2
        return num_masses * self.cells * self.potential_cells + 3 * self.cells + NUM_RATIO_FEATURES

    @property
    def num_outputs(self) -> int:
        """Outputs of the last layer."""
        if self.kind is NetKind.PUBLIC:
            return self.public_sizes.num_outputs
        if self.kind is NetKind.POLICY:
            return self.actions[0] * self.buckets
        if self.kind is not NetKind.CURVE:
            return 2 * self.buckets
        return self.cells * self.potential_cells * 2 * (1 + self.segments)

    def share(self, ratio: npt.ArrayLike) -> SingleArray:
        """Returns how much of the network counts at ratios of stack to pot: nothing where nobody can bet."""
        given = np.asarray(ratio, np.float64)
        least = max(self.least_ratio, SMALLEST_RATIO)
        return np.clip(given / least, 0.0, 1.0).astype(np.float32)

    def encode_ratios(self, ratio: npt.ArrayLike) -> SingleArray:
        """Returns `[B, F]` what is said of ratios `[B]` of stack to pot, those beyond training taken for its limits."""
        return describe_ratios(np.clip(np.asarray(ratio, np.float64), self.least_ratio, self.most_ratio))

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields as JSON knows them."""
        fields = dataclasses.asdict(self)
        return fields | {"kind": str(self.kind), "street": self.street.name.lower(), "stage": str(self.stage)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Returns what `as_dict` gave."""
        known = {field.name for field in dataclasses.fields(cls)}
        unknown = sorted(set(fields) - known)
        if unknown:
            raise ConfigError(f"a value network has no {', '.join(unknown)}")
        try:
            given = dict(fields)
            for name, read in (("kind", NetKind), ("stage", NetStage)):
                given[name] = read(given[name])
            given["street"] = Street[str(given["street"]).upper()]
            for name in ("places", "actions"):
                first, second = given.get(name, (0, 0))
                given[name] = (first, second)
            return cls(**given)
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"not a value network's configuration: {error}") from None

    def check_deck(self, deck: Deck) -> None:
        """Raises `ConfigError` unless the network was made for these cards."""
        if deck != self.cards:
            raise ConfigError(f"the network was made for the deck {self.deck}, not for {format_deck(deck)}")


def describe_ratios(ratio: npt.NDArray[np.float64]) -> SingleArray:
    """Returns `[B, F]` numbers of a size with which networks can work, for ratios `[B]` of stack to pot.

    Logarithms and saturating forms, and kinks where one, two, three or four bets of the pot are all that players have.
    """
    columns = [
        0.5 * logarithm(ratio + 0.02),
        logarithm(1.0 + ratio) - 1.0,
        1.0 / (0.5 + ratio),
        np.minimum(ratio, 1.0),
        np.minimum(ratio, 4.0) / 4.0,
        np.minimum(ratio, 13.0) / 13.0,
        ratio / (4.0 + ratio),
        *((ratio > edge).astype(np.float64) for edge in (1.0, 4.0, 13.0, 40.0)),
    ]
    return np.ascontiguousarray(np.stack(columns, axis=1), np.float32)
