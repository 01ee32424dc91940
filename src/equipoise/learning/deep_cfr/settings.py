# SPDX-License-Identifier: Apache-2.0
"""How Deep CFR samples, remembers, fits and plays, and presets of it."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any, Final

from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.games.parameters import format_value, parse_value
from equipoise.kernels.calls import check_integer

__all__ = [
    "PRESETS",
    "DeepCFRSettings",
    "Fallback",
    "Learner",
    "Memory",
    "Network",
    "Player",
    "Sampling",
    "Weighting",
    "change_settings",
    "find_preset",
]

MOST: Final = 1 << 40


class Learner(enum.StrEnum):
    """Who learns from self-play."""

    DEEP_CFR = "deep-cfr"
    NFSP = "nfsp"  # neural fictitious self-play


class Sampling(enum.StrEnum):
    """What a traversal samples."""

    EXTERNAL = "external"  # chance and the other players
    OUTCOME = "outcome"  # everything: one path


class Memory(enum.StrEnum):
    """Which samples stay in a full memory."""

    RESERVOIR = "reservoir"  # each sample so far is as likely
    SLIDING = "sliding"  # the newest


class Weighting(enum.StrEnum):
    """What the samples of an iteration weigh."""

    LINEAR = "linear"  # its number
    UNIFORM = "uniform"


class Fallback(enum.StrEnum):
    """What is played where no advantage is positive."""

    ARGMAX = "argmax"  # the action of the largest
    UNIFORM = "uniform"


class Network(enum.StrEnum):
    """What predicts."""

    RESIDUAL = "residual"  # blocks of a normalised layer each, added to what they are given
    BRANCHES = "branches"  # cards and bets apart, then together, as in the thesis


class Player(enum.StrEnum):
    """What plays in the end."""

    POLICY = "policy"  # a network that has learnt the average strategy
    VALUES = "values"  # the networks of an iteration that is drawn once a game


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeepCFRSettings:
    """Everything about a training.

    Paper: Brown 2020, PhD thesis, section 4.1 [B20]; Brown et al. 2019, "Deep Counterfactual Regret Minimization";
        Steinberger 2019, "Single Deep Counterfactual Regret Minimization", for `player=values`.
    Symbols: T -> iterations; K -> traversals; M_V, M_Pi -> memories of `capacity` samples each.
    Departs from the paper: presets but `*-paper` are small: a residual network with layer norm in place of two
        branches, targets divided by their spread, few steps at a rate that falls within a fit, each on the whole memory
        where that is a batch of information sets or less (`is_whole`: what batches estimate, without their noise), and
        the last layer solved in the end (`solves_head`).
    Checked by: tests/learning/deep_cfr/.

    >>> DeepCFRSettings(traversals=100).traversals
    100
    """

    learner: Learner = Learner.DEEP_CFR
    iterations: int = 450
    traversals: int = 10_000  # of each player in an iteration; games in a round of NFSP
    sampling: Sampling = Sampling.EXTERNAL
    exploration: float = 0.6  # of outcome sampling: share of uniform play of whoever traverses, in (0, 1]
    memory: Memory = Memory.RESERVOIR
    capacity: int = 40_000_000  # samples of each memory
    weighting: Weighting = Weighting.LINEAR
    fallback: Fallback = Fallback.ARGMAX
    is_refitted: bool = True  # whether each fit begins with a new network; else with the last one's weights
    network: Network = Network.BRANCHES
    hidden: int = 64  # units of a layer
    layers: int = 3  # hidden ones, of a residual network
    is_centred: bool = False  # whether advantages are a level and differences of mean zero
    is_standardised: bool = False  # whether targets are divided by their spread; of means, where a step sees all
    steps: int = 4_000  # of each fit
    batch: int = 10_000  # samples of a step
    is_whole: bool = (
        False  # whether a step sees all that is remembered, where a batch has room for all places of a tree
    )
    solves_head: bool = False  # whether a fit of advantages on the whole memory ends with the best last layer there is
    rate: float = 1e-3  # of Adam
    final_rate: float = 1.0  # share of it at the end of a fit, along a cosine
    clip: float = 1.0  # of a gradient's norm
    player: Player = Player.POLICY
    policy_steps: int = 4_000  # of the fit of the average strategy
    anticipation: float = (
        0.1  # of NFSP: share of games in which a seat plays its best response, and learns to imitate it
    )
    checks: int = 6  # tests of exploitability, the last at the end
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("iterations", "traversals", "capacity", "hidden", "layers", "steps", "batch", "policy_steps"):
            check_integer(name, getattr(self, name), 1, MOST)
        check_integer("checks", self.checks, 1, MOST)
        check_integer("seed", self.seed, 0, MOST)
        for name in ("exploration", "anticipation"):
            if not 0.0 < getattr(self, name) <= 1.0:
                raise ConfigError(f"{name} must be above 0 and at most 1, got {getattr(self, name)}")
        if not 0.0 <= self.final_rate <= 1.0:
            raise ConfigError(f"final_rate must lie between 0 and 1, got {self.final_rate}")
        for name in ("rate", "clip"):
            if not 0.0 < getattr(self, name) < float("inf"):
                raise ConfigError(f"{name} must be positive, got {getattr(self, name)}")

    @property
    def examples(self) -> int:
        """Returns what progress is counted in: iterations."""
        return self.iterations

    def as_dict(self) -> dict[str, Any]:
        """Returns the settings as JSON values."""
        return {name: str(value) if isinstance(value, enum.Enum) else value for name, value in self._fields().items()}

    def _fields(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> DeepCFRSettings:
        """Returns the settings that `as_dict` wrote."""
        return change_settings(cls(), {name: format_value(value) for name, value in fields.items()})


KINDS: Final[dict[str, type[enum.StrEnum]]] = {
    "learner": Learner,
    "sampling": Sampling,
    "memory": Memory,
    "weighting": Weighting,
    "fallback": Fallback,
    "network": Network,
    "player": Player,
}


def change_settings(settings: DeepCFRSettings, given: Mapping[str, str]) -> DeepCFRSettings:
    """Returns settings with others in the place of some, as they are typed.

    >>> change_settings(DeepCFRSettings(), {"memory": "sliding", "steps": "10"}).steps
    10
    """
    names = [field.name for field in dataclasses.fields(settings)]
    changes: dict[str, Any] = {}
    for name, text in given.items():
        if name not in names:
            raise UnknownNameError("setting", name, names)
        if name in KINDS:
            if text not in set(KINDS[name]):
                raise UnknownNameError(name, text, list(KINDS[name]))
            changes[name] = KINDS[name](text)
        else:
            changes[name] = parse_value(name, text, type(getattr(settings, name)))
    return dataclasses.replace(settings, **changes)


SMALL: Final = DeepCFRSettings(
    iterations=150,
    traversals=5_000,
    capacity=3_000_000,
    network=Network.RESIDUAL,
    is_centred=True,
    is_standardised=True,
    hidden=128,
    steps=100,
    batch=4_096,
    is_whole=True,
    solves_head=True,
    rate=3e-3,
    final_rate=0.05,
    policy_steps=600,
)

PRESETS: Final[dict[str, DeepCFRSettings]] = {
    "cpu": SMALL,
    "fhp-paper": DeepCFRSettings(),
    "hulh-paper": DeepCFRSettings(steps=32_000, batch=20_000, policy_steps=32_000),
}


def find_preset(name: str) -> DeepCFRSettings:
    """Returns the settings of a preset."""
    if name not in PRESETS:
        raise UnknownNameError("preset", name, PRESETS)
    return PRESETS[name]
