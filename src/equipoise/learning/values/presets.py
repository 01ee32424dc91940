# SPDX-License-Identifier: Apache-2.0
"""Which networks a system has, from what each learns and how: the chain from the river up, by name.

>>> "leduc" in PRESETS
True
"""

from __future__ import annotations

import dataclasses
from typing import Final

from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.core.formatting import brief_repr
from equipoise.games.holdem.betting import Street
from equipoise.learning.values.configuration import NetKind, NetStage, ValueNetConfig
from equipoise.learning.values.labels import Labels
from equipoise.learning.values.settings import TrainingSettings

__all__ = ["LIMIT_LEDUC", "NO_LIMIT_CARDS", "NO_LIMIT_LEDUC", "PRESETS", "NetRecipe", "Preset", "find_preset"]

HELD_OUT_SEED: Final = 900_001  # of situations that are never trained on
CLASSES: Final = 169  # of hands before the flop


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NetRecipe:
    """One network of a chain."""

    config: ValueNetConfig
    samples: int  # situations that it learns from
    labels: Labels | None = None  # how these are solved; None: they are distilled from the network above
    leaves: str = ""  # the network that values leaves where a street is cut; none: solved to the end of the hand
    source: str = ""  # the network that situations are distilled from
    measured_on: str = ""  # another network, of whose held-out situations lines that leave the street measure this one
    toys: int = 0  # toy games beside
    met: int = 0  # situations beside that searches with earlier networks meet: of a small game, with `source`
    met_from: Street = Street.PREFLOP  # where hands begin in which they are met
    met_ratios: str = "cpu"  # what is behind where these hands begin later, in pots
    met_per_hand: int = 8  # situations that are taken of such a hand
    num_pots: int = 0  # of a small game: between ante and stack; 0: those that it reaches
    title: str = ""  # of a small game: what the network is called
    ratios: str = "cpu"
    per_shard: int = 400
    held_out: int = 1000
    held_out_per_shard: int = 200
    held_out_labels: Labels | None = None  # solved more exactly, to the end of the hand; None: as the others
    hours: float = 1.0  # of a core, for situations and training; shares of `--hours`
    settings: TrainingSettings = dataclasses.field(default_factory=TrainingSettings)

    __repr__ = brief_repr

    @property
    def name(self) -> str:
        """Returns `river`, `turn-end` and so on."""
        if self.title:
            return self.title
        street = self.config.street.name.lower()
        return street if self.config.stage is NetStage.START else f"{street}-end"

    @property
    def summary(self) -> str:
        """Returns what the network says, in a line."""
        if self.config.game:
            return f"values of cards at the start of the second round of {self.config.game}"
        return f"values of hands at the {self.config.stage} of the {self.config.street.name.lower()}"


@dataclasses.dataclass(frozen=True, slots=True)
class Preset:
    """The networks of a system, each after those that it needs."""

    name: str
    summary: str
    recipes: tuple[NetRecipe, ...]

    def __repr__(self) -> str:
        return f"<Preset {self.name}: networks {', '.join(recipe.name for recipe in self.recipes)}>"

    def find(self, name: str) -> NetRecipe:
        """Returns the recipe of a network; raises `ConfigError` with the names that there are."""
        for recipe in self.recipes:
            if recipe.name == name:
                return recipe
        raise ConfigError(f"{self.name} has networks {', '.join(each.name for each in self.recipes)}, got {name!r}")


def _curve(street: Street, stage: NetStage, cells: int, potential: int, hidden: int, layers: int = 4) -> ValueNetConfig:
    return ValueNetConfig(
        kind=NetKind.CURVE,
        street=street,
        stage=stage,
        cells=cells,
        potential_cells=potential,
        segments=8,
        hidden=hidden,
        layers=layers,
        least_ratio=0.02,
        most_ratio=100.0,
    )


def _buckets(street: Street, stage: NetStage, buckets: int = 1000) -> ValueNetConfig:
    """Returns the papers' network: 1,000 buckets of each player and the pot, seven layers of 500."""
    return ValueNetConfig(
        kind=NetKind.BUCKET,
        street=street,
        stage=stage,
        buckets=buckets,
        hidden=500,
        layers=7,
        takes_roots=False,
        is_residual=False,
        adds_equity=False,
        times_mass=False,
    )


_CPU_TRAINING = TrainingSettings(steps=30_000)
_START, _END = NetStage.START, NetStage.END

HOLDEM_CPU: Final = Preset(
    "holdem-cpu",
    "curve networks for the full game, learnt on one machine within a day",
    (
        NetRecipe(
            config=_curve(Street.RIVER, _START, 32, 1, 256),
            samples=30_000,
            labels=Labels(iterations=200),
            met=30_000,  # off by 3 % of the pot where random ranges alone are learnt from
            met_from=Street.TURN,
            met_ratios="shallow",
            met_per_hand=24,  # a hand takes as long as twenty rivers
            toys=384_000,
            held_out_labels=Labels(iterations=1000),
            hours=3.0,
            settings=dataclasses.replace(_CPU_TRAINING, steps=40_000),
        ),
        NetRecipe(
            config=_curve(Street.TURN, _END, 16, 4, 320),
            samples=60_000,
            source="river",
            measured_on="turn",
            hours=1.5,
            settings=_CPU_TRAINING,
        ),
        NetRecipe(
            config=_curve(Street.TURN, _START, 16, 4, 320),
            samples=15_000,
            labels=Labels(iterations=50),
            leaves="turn-end",
            held_out_labels=Labels(iterations=100, num_lines=2),
            held_out=200,
            held_out_per_shard=10,
            per_shard=30,
            hours=8.0,
            settings=_CPU_TRAINING,
        ),
        NetRecipe(
            config=_curve(Street.FLOP, _END, 16, 4, 320),
            samples=40_000,
            source="turn",
            hours=2.0,
            settings=_CPU_TRAINING,
        ),
        NetRecipe(
            config=_curve(Street.FLOP, _START, 16, 4, 320),
            samples=30_000,
            labels=Labels(iterations=50),
            leaves="flop-end",
            held_out_per_shard=50,
            per_shard=60,
            hours=6.0,
            settings=_CPU_TRAINING,
        ),
        NetRecipe(
            config=ValueNetConfig(
                kind=NetKind.BUCKET, street=Street.PREFLOP, stage=_END, buckets=CLASSES, hidden=256, layers=4
            ),
            samples=30_000,
            source="flop",
            held_out_per_shard=100,
            per_shard=100,
            hours=2.0,
            settings=_CPU_TRAINING,
        ),
    ),
)

# [Zarick et al. 2020, section 4.3]: 4,000 iterations of DCFR+, leaves by the next street's network
_PAPER_LABELS = Labels(menu="supremus", iterations=4000, growth=0.0, rule="dcfr+", is_alternating=False)
_PAPER_TRAINING = TrainingSettings(
    steps=1_000_000, batch=1000, toy_batch=0, hands=10_000, average_decay=0.0, patience=0
)


def _paper(street: Street, millions: int, labels: Labels, leaves: str = "") -> NetRecipe:
    """Returns a network of the papers at the start of a street."""
    return NetRecipe(
        config=_buckets(street, _START),
        samples=millions * 1_000_000,
        labels=labels,
        leaves=leaves,
        ratios="deepstack",
        hours=1e6,
        settings=_PAPER_TRAINING,
    )


_AUXILIARY = NetRecipe(
    config=_buckets(Street.PREFLOP, _END, CLASSES),
    samples=10_000_000,
    source="flop",
    ratios="deepstack",
    hours=1e6,
    settings=_PAPER_TRAINING,
)
SUPREMUS: Final = Preset(
    "supremus",
    "the networks of Supremus with the paper's numbers: 50 million rivers, 20 million turns, 5 million flops",
    (
        _paper(Street.RIVER, 50, _PAPER_LABELS),
        _paper(Street.TURN, 20, _PAPER_LABELS, leaves="river"),
        _paper(Street.FLOP, 5, _PAPER_LABELS, leaves="turn"),
        _AUXILIARY,
    ),
)

# [Moravcik et al. 2017]: no river network; turns are solved to the end of the hand
_DEEPSTACK_LABELS = dataclasses.replace(_PAPER_LABELS, menu="deepstack", iterations=1000, rule="cfr+")
DEEPSTACK: Final = Preset(
    "deepstack",
    "the networks of DeepStack with the paper's numbers: 10 million turns, 1 million flops",
    (
        _paper(Street.TURN, 10, _DEEPSTACK_LABELS),
        _paper(Street.FLOP, 1, _DEEPSTACK_LABELS, leaves="turn"),
        _AUXILIARY,
    ),
)

# DeepStack-Leduc: ante 100, stacks of 1,200, bets of the pot; to players it does not matter that suits are merged
LIMIT_LEDUC: Final = "leduc(merge_suits=true)"
NO_LIMIT_LEDUC: Final = "leduc_nolimit(merge_suits=true,ante=100,first_sizes=1,second_sizes=1,stack=1200)"
NO_LIMIT_CARDS: Final = "leduc_nolimit(ante=100,first_sizes=1,second_sizes=1,stack=1200)"
_LEDUC_TRAINING = TrainingSettings(steps=6000, batch=256, rate=3e-3, validate_every=2000)
_LEDUC_LONG = dataclasses.replace(_LEDUC_TRAINING, steps=16_000)
# networks that differ by this seed alone are as near to the values and make agents exploitable for 0.53 to 1.19 chips
_LEDUC_LAST = dataclasses.replace(_LEDUC_TRAINING, steps=20_000, seed=1)


def _leduc(
    title: str,
    game: str,
    *,
    source: str = "",
    met: int = 0,
    hidden: int = 128,
    training: TrainingSettings | None = None,
) -> NetRecipe:
    return NetRecipe(
        title=title,
        config=ValueNetConfig(kind=NetKind.BUCKET, game=game, buckets=3, hidden=hidden, layers=3),
        samples=40_000,
        source=source,
        met=met,
        per_shard=2000,
        held_out=2000,
        hours=0.2,
        settings=training or _LEDUC_TRAINING,
    )


LEDUC: Final = Preset(
    "leduc",
    "networks for the second round of Leduc, limit and as in DeepStack-Leduc: random situations, then those of play",
    (
        _leduc("limit-random", LIMIT_LEDUC),
        _leduc("limit", LIMIT_LEDUC, source="limit-random", met=30_000, training=_LEDUC_LONG),
        _leduc("nolimit-random", NO_LIMIT_LEDUC),
        _leduc("nolimit-second", NO_LIMIT_LEDUC, source="nolimit-random", met=30_000, training=_LEDUC_LONG),
        _leduc("nolimit", NO_LIMIT_LEDUC, source="nolimit-second", met=30_000, hidden=192, training=_LEDUC_LAST),
        NetRecipe(
            title="nolimit-cards",
            config=ValueNetConfig(kind=NetKind.BUCKET, game=NO_LIMIT_CARDS, buckets=6, hidden=192, layers=4),
            samples=400_000,
            num_pots=24,
            per_shard=2000,
            held_out=2000,
            hours=0.5,
            settings=dataclasses.replace(_LEDUC_TRAINING, steps=40_000),
        ),
    ),
)

PRESETS: Final = {preset.name: preset for preset in (LEDUC, HOLDEM_CPU, DEEPSTACK, SUPREMUS)}


def find_preset(name: str) -> Preset:
    """Returns a preset by name; raises `UnknownNameError` with the names that there are.

    >>> find_preset("leduc").name
    'leduc'
    """
    if name not in PRESETS:
        raise UnknownNameError("preset", name, list(PRESETS))
    return PRESETS[name]
