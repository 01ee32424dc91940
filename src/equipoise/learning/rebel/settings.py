# SPDX-License-Identifier: Apache-2.0
"""How values of beliefs are searched for, learnt and tested, and presets of it by game."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping
from typing import Any, Final, Self, TypeVar, get_type_hints

from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.games.parameters import parse_value
from equipoise.kernels.belief_search import LANES, BeliefMode
from equipoise.kernels.calls import check_integer
from equipoise.kernels.rules import Fallback, PolicyMap
from equipoise.search.belief_games import parse_horizon
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.rules import Rule

__all__ = [
    "PRESETS",
    "BeliefMethod",
    "BeliefSource",
    "RebelSettings",
    "SearchRecipe",
    "change_settings",
    "find_preset",
    "read_fields",
    "with_method",
]

Settings = TypeVar("Settings")


class BeliefSource(enum.StrEnum):
    """Where the beliefs come from whose values are learnt."""

    SELF_PLAY = "self-play"
    RANDOM = "random"  # any, each as likely as another: what self-play is compared with


class BeliefMethod(enum.StrEnum):
    """How subgames are searched."""

    CFR_D = "cfr-d"
    CFR_AVG = "cfr-avg"
    MODIFIED_CFR_AVG = "modified-cfr-avg"
    FP = "fp"

    @property
    def mode(self) -> BeliefMode:
        """Returns it as the kernel knows it."""
        return {
            BeliefMethod.CFR_D: BeliefMode.CFR_D,
            BeliefMethod.CFR_AVG: BeliefMode.CFR_AVG,
            BeliefMethod.MODIFIED_CFR_AVG: BeliefMode.MODIFIED_CFR_AVG,
            BeliefMethod.FP: BeliefMode.FICTITIOUS_PLAY,
        }[self]

    @property
    def is_alternating(self) -> bool:
        """Returns whether players are updated in turn: averages of both must be of the same iterations."""
        return self in (BeliefMethod.CFR_D, BeliefMethod.FP)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SearchRecipe:
    """How one subgame is solved."""

    method: BeliefMethod = BeliefMethod.CFR_D
    rule: str = "dcfr"  # as `parse_rule` reads it; of FP its weights of averages, optimistic: FLOP
    iterations: int = 32  # in each of which both players are updated once

    def __post_init__(self) -> None:
        check_integer("iterations", self.iterations, 1, 1 << 20)
        kernel = self.parsed.kernel
        if kernel.policy_map is not PolicyMap.REGRET_MATCHING or kernel.fallback is not Fallback.UNIFORM:
            raise ConfigError(f"searches of beliefs need regret matching that falls back to uniform, got {self.rule}")

    @property
    def parsed(self) -> Rule:
        """Returns the rule."""
        return parse_rule(self.rule)

    def __str__(self) -> str:
        return f"{self.method} by {self.rule}, {self.iterations:,} iterations"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RebelSettings:
    """Everything about a training.

    Paper: Brown et al. 2020, "Combining Deep Reinforcement Learning and Search for Imperfect-Information Games"; Brown
        2020, PhD thesis, sections 5.3.3, 5.3.5 and 5.3.10.
    Departs from the paper: subgames in training get few iterations of discounted CFR, both players updated in each, in
        place of 1,024 half ones of linear CFR; networks have 64 to 256 PReLU units without layer norm; values are made
        to sum to zero; the learning rate falls as a cosine of the step.
    Checked by: tests/learning/rebel/.
    """

    horizon: str = "2"  # where searches end: actions, or `round`
    beliefs: BeliefSource = BeliefSource.SELF_PLAY  # that are learnt from
    training: SearchRecipe = dataclasses.field(default_factory=SearchRecipe)  # of self-play
    test: SearchRecipe = dataclasses.field(default_factory=lambda: SearchRecipe(iterations=512))  # of play
    late_iterations: int = 128  # of self-play once the network knows something: better values, at a price
    late_from: float = 0.5  # share of examples from which on
    exploration: float = 0.25  # share of uniform play of one player in self-play
    warm_start: int = 0  # iterations that strategies of a policy network count for, with which searches begin; 0: none
    uniform_draws: float = 0.5  # share of iterations drawn alike: searches ask about the beliefs of all
    lanes: int = 16  # beliefs that are solved at a time
    root_draws: int = 128  # leaves drawn from each search of the beginning of the game
    hidden: int = 128  # units of a layer
    layers: int = 2  # hidden ones
    examples: int = 600_000  # values that self-play makes
    cycle: int = 2_048  # of them between two trainings of the network
    capacity: int = 150_000  # of them that are remembered
    reuse: float = 10.0  # times that each is trained on, on average
    batch: int = 512
    rate: float = 1e-2  # of Adam, at the start
    final_rate: float = 0.02  # share of it at the end
    average_decay: float = 0.998  # of the weights that play; 0: the newest ones
    loss_bend: float = 0.0  # where Huber's loss bends; 0: squares
    dropped_at: float = 0.1  # share of examples at which those so far are forgotten: early networks knew nothing
    checks: int = 4  # tests of exploitability on the way, the last at the end
    check_playthroughs: int = 64  # of those on the way
    playthroughs: int = 1_024  # of the last
    seed: int = 0

    def __post_init__(self) -> None:
        parse_horizon(self.horizon)
        for name in ("root_draws", "hidden", "layers", "examples", "cycle", "capacity", "batch", "check_playthroughs"):
            check_integer(name, getattr(self, name), 1, 1 << 30)
        check_integer("checks", self.checks, 1, 10_000)
        check_integer("late_iterations", self.late_iterations, 1, 1 << 20)
        check_integer("warm_start", self.warm_start, 0)
        shortest = min(self.training.iterations, self.late_iterations, self.test.iterations)
        if self.warm_start >= shortest:
            raise ConfigError(f"warm_start must be below the iterations of every search, got {self.warm_start}")
        if self.warm_start and BeliefMethod.FP in (self.training.method, self.test.method):
            raise ConfigError(
                f"fictitious play has no regrets to begin with: warm_start must be 0, got {self.warm_start}"
            )
        check_integer("playthroughs", self.playthroughs, 1, 1 << 20)
        check_integer("seed", self.seed, 0, 1 << 40)
        if self.lanes not in LANES:
            raise ConfigError(f"lanes must be one of {', '.join(map(str, LANES))}, got {self.lanes}")
        for name in ("exploration", "final_rate", "average_decay", "dropped_at", "late_from", "uniform_draws"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ConfigError(f"{name} must lie between 0 and 1, got {getattr(self, name)}")
        for name in ("reuse", "rate"):
            if not 0.0 < getattr(self, name) < float("inf"):
                raise ConfigError(f"{name} must be positive, got {getattr(self, name)}")

    @property
    def steps(self) -> int:
        """Returns the steps of a whole training."""
        return int(self.examples * self.reuse / self.batch)

    def recipe_at(self, examples: int) -> SearchRecipe:
        """Returns how self-play searches once so many examples are made."""
        if examples < self.late_from * self.examples:
            return self.training
        return dataclasses.replace(self.training, iterations=self.late_iterations)

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields as JSON knows them."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Returns what `as_dict` gave."""
        readers: dict[str, Callable[[Any], Any]] = {
            "beliefs": BeliefSource,
            "training": _read_recipe,
            "test": _read_recipe,
        }
        return read_fields(cls, fields, readers, "a training of values of beliefs")


def _read_recipe(fields: Mapping[str, Any]) -> SearchRecipe:
    return SearchRecipe(**{**fields, "method": BeliefMethod(fields["method"])})


def read_fields(
    cls: type[Settings], fields: Mapping[str, Any], readers: Mapping[str, Callable[[Any], Any]], what: str
) -> Settings:
    """Returns settings from their fields as JSON knows them; unknown ones and wrong ones are refused.

    Args:
        cls: A dataclass.
        fields: Values by name; those that are left out have their defaults.
        readers: What makes a value of fields that JSON does not know.
        what: The settings are of, for messages.
    """
    known = {field.name for field in dataclasses.fields(cls)}  # type: ignore[arg-type]  # a dataclass
    if unknown := sorted(set(fields) - known):
        raise ConfigError(f"{what} has no {', '.join(unknown)}")
    try:
        return cls(**{name: readers[name](value) if name in readers else value for name, value in fields.items()})
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"not the settings of {what}: {error}") from None


def change_settings(settings: RebelSettings, changes: Mapping[str, str]) -> RebelSettings:
    """Returns settings with some of them as they are typed: `reuse`, or `test.rule` of a search.

    >>> changed = change_settings(RebelSettings(), {"reuse": "5", "test.rule": "lcfr"})
    >>> changed.reuse, changed.test.rule, changed.training.rule
    (5.0, 'lcfr', 'dcfr')
    """
    for name, text in changes.items():
        part, _, own = name.rpartition(".")
        changed: Any = getattr(settings, part) if part in RECIPES else settings
        kinds = get_type_hints(type(changed))
        if (part and part not in RECIPES) or own not in kinds or (not part and own in RECIPES):
            recipe = [f"{each}.{field}" for each in RECIPES for field in get_type_hints(SearchRecipe)]
            plain = [each for each in get_type_hints(RebelSettings) if each not in RECIPES]
            raise UnknownNameError("setting", name, (*plain, *recipe))
        changed = dataclasses.replace(changed, **{own: parse_value(name, text, kinds[own])})
        by_part: dict[str, Any] = {part: changed}
        settings = dataclasses.replace(settings, **by_part) if part else changed
    return settings


RECIPES: Final = ("training", "test")


def with_method(method: BeliefMethod, rule: str) -> dict[str, str]:
    """Returns the changes by which one method learns and plays, as `change_settings` takes them.

    >>> with_method(BeliefMethod.FP, "optimistic-lcfr")["test.rule"]
    'optimistic-lcfr'
    """
    return {f"{part}.{name}": str(each) for part in RECIPES for name, each in (("method", method), ("rule", rule))}


PRESETS: Final[Mapping[str, RebelSettings]] = {
    "small": RebelSettings(),
    "large": RebelSettings(examples=2_000_000),
    "rounds": RebelSettings(
        horizon="round",
        training=SearchRecipe(iterations=64),
        late_iterations=512,
        late_from=0.5,
        examples=300_000,
        reuse=16.0,
    ),
}


def find_preset(name: str) -> RebelSettings:
    """Returns the settings of a preset."""
    if name not in PRESETS:
        raise UnknownNameError("preset", name, PRESETS)
    return PRESETS[name]
