# SPDX-License-Identifier: Apache-2.0
"""How sound self-play searches, learns and is tested, and presets of it."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Mapping
from typing import Any, Final, Self

from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.kernels.calls import check_integer
from equipoise.search.growing_tree import Growth

__all__ = ["PRESETS", "Optimizer", "PogSettings", "find_preset"]

RESIGN_NEVER: Final = -1.0


class Optimizer(enum.StrEnum):
    """What takes steps down the loss."""

    ADAM = "adam"
    SGD = "sgd"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PogSettings:
    """Everything about a training.

    Paper: Schmid et al. 2021, "Player of Games", arXiv:2112.03178 [SG21], Algorithms 1 to 3, appendix B and Table 3.
    Symbols: s, c -> simulations, per_sweep; epsilon -> exploration; q_search -> queries; q_recursive ->
        recursive_queries; p_td1 -> outcomes; w_p -> policy_weight; alpha of B.1.1 -> share.
    Departs from the paper: networks are perceptrons with PReLU, on boards too, where the paper has residual towers;
        presets but `paper-*` are small (three hidden layers of 128), give leaves all their actions, learn by Adam
        with a rate that falls as a cosine of the step, and play with a running average of weights; but for boards they
        learn values alone; searches of self-play fix both ranges and begin at the present state, only play and tests
        are searched again safely.
    Checked by: tests/learning/pog/.
    """

    simulations: int = 100  # of each search of self-play and of solved queries
    per_sweep: float = 1.0  # simulations for each sweep
    is_alternating: bool = False  # whether sweeps update players in turn
    first_children: int = 0  # actions that a leaf gets; 0: all
    walk_exploration: float = 1.25  # weight of the prior against values in walks
    share_of_values: float = 0.5  # of a walk's decisions by value and prior
    uses_prior: bool = True  # whether walks take policies of the network for priors
    share: float = 0.2  # of the gate in what enters when play is searched again
    exploration: float = 0.1  # share of uniform play in self-play
    queries: float = 3.0  # of each search that are solved, on average
    recursive_queries: float = 0.1  # of each solved query that are solved too
    outcomes: float = 0.0  # share of positions of an episode that are learnt with its outcome
    greedy_after: int = 0  # moves after which the best action is played; 0: never
    most_moves: int = 0  # after which an episode ends without an outcome; 0: never
    resign_below: float = RESIGN_NEVER  # share of the stake below which whoever moves gives up; -1: never
    never_resigns: float = 0.2  # share of episodes that are played to the end all the same
    hidden: int = 128  # units of a layer
    layers: int = 3  # hidden ones
    takes_roots: bool = True  # whether the network is given roots of ranges
    examples: int = 80_000  # that self-play makes
    cycle: int = 512  # of them between two trainings of the network
    capacity: int = 100_000  # of them that are remembered
    reuse: float = 16.0  # times that each is trained on, on average
    batch: int = 256
    rate: float = 3e-3  # of Adam, at the start
    final_rate: float = 0.02  # share of it at the end
    average_decay: float = 0.998  # of the weights that play; 0: the newest ones
    dropped_at: float = 0.1  # share of examples at which those so far are forgotten
    optimizer: Optimizer = Optimizer.ADAM
    momentum: float = 0.9  # of SGD; the paper does not say
    rate_decay: float = 0.0  # factor on the rate in `decay_steps` steps; 0: a cosine down to `final_rate`
    decay_steps: int = 0  # steps of that factor
    prior_temperature: float = 1.0  # by which logits are divided before they weigh actions in walks
    value_weight: float = 1.0  # of the values' loss
    policy_weight: float = 0.0  # of the policies' loss; 0: values alone, which were learnt better so (docs/methods)
    checks: int = 6  # tests of exploitability on the way, the last at the end
    check_seeds: int = 3  # of those on the way
    seeds: int = 12  # of the last
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("hidden", "layers", "examples", "cycle", "capacity", "batch", "check_seeds", "seeds", "checks"):
            check_integer(name, getattr(self, name), 1, 1 << 40)
        for name in ("seed", "greedy_after", "most_moves", "decay_steps"):
            check_integer(name, getattr(self, name), 0, 1 << 40)
        for name in (
            "exploration",
            "outcomes",
            "final_rate",
            "average_decay",
            "dropped_at",
            "share",
            "never_resigns",
            "momentum",
            "rate_decay",
        ):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ConfigError(f"{name} must lie between 0 and 1, got {getattr(self, name)}")
        for name in ("reuse", "rate", "prior_temperature"):
            if not 0.0 < getattr(self, name) < float("inf"):
                raise ConfigError(f"{name} must be positive, got {getattr(self, name)}")
        for name in ("queries", "value_weight", "policy_weight"):
            if not 0.0 <= getattr(self, name) < float("inf"):
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")
        if not 0.0 <= self.recursive_queries < 1.0:
            raise ConfigError(f"recursive_queries must be below 1, or they never end, got {self.recursive_queries}")
        if not self.queries and not self.outcomes:
            raise ConfigError("there must be something to learn: queries or outcomes above 0")
        if not -1.0 <= self.resign_below < 0.0:
            raise ConfigError(f"resign_below must lie between -1 and 0, got {self.resign_below}")
        self._check_steps()
        self.growth  # noqa: B018 - checks its numbers

    def _check_steps(self) -> None:
        if self.optimizer not in list(Optimizer):
            raise UnknownNameError("optimizer", self.optimizer, list(Optimizer))
        if (self.rate_decay > 0) != (self.decay_steps > 0):
            raise ConfigError(
                f"rate_decay needs decay_steps and the other way round, got {self.rate_decay:g} and {self.decay_steps}"
            )

    @property
    def growth(self) -> Growth:
        """Returns how trees grow in self-play."""
        return Growth(
            simulations=self.simulations,
            per_sweep=self.per_sweep,
            is_alternating=self.is_alternating,
            first_children=self.first_children,
            exploration=self.walk_exploration,
            share_of_values=self.share_of_values,
            uses_prior=self.uses_prior and self.policy_weight > 0,  # what was never learnt is no prior
        )

    @property
    def steps(self) -> int:
        """Returns the steps of a whole training."""
        return int(self.examples * self.reuse / self.batch)

    def rate_at(self, step: int) -> float:
        """Returns the optimizer's rate at a step.

        >>> find_preset("paper-scotland-yard").rate_at(2_000_000)
        0.05
        """
        if self.rate_decay:
            return self.rate * math.pow(self.rate_decay, step / self.decay_steps)
        share = 0.5 * (1.0 + math.cos(math.pi * min(1.0, step / max(self.steps, 1))))
        return self.rate * (self.final_rate + (1.0 - self.final_rate) * share)

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields as JSON knows them."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Returns what `as_dict` gave."""
        unknown = sorted(set(fields) - {field.name for field in dataclasses.fields(cls)})
        if unknown:
            raise ConfigError(f"a training of Player of Games has no {', '.join(unknown)}")
        try:
            return cls(**fields)
        except TypeError as error:
            raise ConfigError(f"not the settings of a training of Player of Games: {error}") from None


# the four columns of the paper's Table 3 (searches and steps: section 4.2); `examples` is the least that the
# steps take when each may be trained on `reuse` times
PAPER: Final = PogSettings(
    exploration=0.0,
    first_children=0,
    takes_roots=False,
    average_decay=0.0,
    dropped_at=0.0,
    value_weight=1.0,
)
PAPER_BOARD: Final = dataclasses.replace(
    PAPER,
    simulations=800,
    first_children=1,
    batch=2048,
    optimizer=Optimizer.SGD,
    policy_weight=1.0,
    capacity=50_000_000,
    resign_below=-0.9,
    greedy_after=30,
    prior_temperature=1.5,
    hidden=256,
    layers=20,
)
PRESETS: Final[Mapping[str, PogSettings]] = {
    "paper-chess": dataclasses.replace(
        PAPER_BOARD,
        rate=0.1,
        rate_decay=0.8,
        decay_steps=40_000,
        value_weight=0.25,
        reuse=1.0,
        outcomes=0.0,
        queries=1.0,
        recursive_queries=0.2,
        most_moves=512,
        examples=6_144_000_000,
    ),
    "paper-go": dataclasses.replace(
        PAPER_BOARD,
        rate=0.02,
        rate_decay=0.1,
        decay_steps=200_000,
        value_weight=0.5,
        reuse=0.2,
        outcomes=0.2,
        queries=0.0,
        recursive_queries=0.0,
        most_moves=722,
        examples=10_240_000_000,
    ),
    "paper-scotland-yard": dataclasses.replace(
        PAPER,
        simulations=400,
        batch=1024,
        optimizer=Optimizer.SGD,
        rate=0.1,
        rate_decay=0.5,
        decay_steps=2_000_000,
        policy_weight=0.05,
        capacity=1_000_000,
        reuse=5.0,
        queries=0.3,
        recursive_queries=0.1,
        hidden=512,
        layers=6,
        examples=3_481_600_000,
    ),
    "paper-holdem": dataclasses.replace(
        PAPER,
        simulations=10,
        per_sweep=0.1,
        batch=1024,
        rate=1e-4,
        rate_decay=0.5,
        decay_steps=2_000_000,
        policy_weight=0.01,
        capacity=1_000_000,
        reuse=10.0,
        queries=0.9,
        recursive_queries=0.1,
        exploration=0.1,
        hidden=2048,
        layers=6,
        examples=112_640_000,
    ),
    "small": PogSettings(),
    "large": PogSettings(examples=320_000, capacity=200_000),
    # as the paper learns Go: outcomes of games, no queries; but leaves get all their children (docs/methods)
    "board": PogSettings(
        simulations=50,
        first_children=0,
        exploration=0.05,
        queries=0.0,
        recursive_queries=0.0,
        outcomes=1.0,
        greedy_after=12,
        hidden=256,
        policy_weight=0.5,
        reuse=8.0,
        examples=100_000,
    ),
    "yard": PogSettings(simulations=40, queries=0.3, hidden=256, examples=60_000, capacity=30_000),
}


def find_preset(name: str) -> PogSettings:
    """Returns the settings of a preset."""
    if name not in PRESETS:
        raise UnknownNameError("preset", name, PRESETS)
    return PRESETS[name]
