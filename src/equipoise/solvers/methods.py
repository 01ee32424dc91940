# SPDX-License-Identifier: Apache-2.0
"""The methods by name: how each is built on a tree, and what memory that takes; not yet against responses.

>>> "external" in METHODS
True
"""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, overload

import numpy as np

from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.core.interruption import call_interruptibly
from equipoise.games.base import Game
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.solvers.baselines import BaselineKey, Baselines, lay_out_baselines
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.cfr import estimate_bytes as estimate_table_bytes
from equipoise.solvers.driver import Solver
from equipoise.solvers.egt import EGTSolver
from equipoise.solvers.fictitious_play import (
    FLOP,
    FictitiousPlay,
    FictitiousPlayRule,
    FictitiousPlaySolver,
    LinearFictitiousPlay,
)
from equipoise.solvers.holdem.fictitious_play import HoldemFictitiousPlaySolver, estimate_fictitious_bytes
from equipoise.solvers.holdem.mccfr import HoldemMCCFRSolver
from equipoise.solvers.lp_run import SequenceLPRun
from equipoise.solvers.mccfr import Discounting, DiscountKind, MCCFRConfig, MCCFRSolver, Scheme
from equipoise.solvers.own_minimizers import MinimizerSolver, load_minimizer
from equipoise.solvers.pruning import PrunedSolver, check_pruning, estimate_pruned_bytes
from equipoise.solvers.pruning_notation import (
    format_pruning,
    format_sampled_pruning,
    parse_pruning,
    parse_sampled_pruning,
)
from equipoise.solvers.rule_notation import format_discounting, format_egt, parse_discounting, parse_egt, parse_rule
from equipoise.solvers.sampled_pruning import SampledPruning
from equipoise.solvers.saved_run import RunConfig
from equipoise.solvers.stopping import DEFAULT_SECONDS, Form, Stopping, TreeSolver
from equipoise.solvers.treeless_mccfr import TreelessMCCFRSolver
from equipoise.trees.history import HistoryTree
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import HoldemPlan, HoldemTree
from equipoise.trees.public import PublicTree

__all__ = [
    "ALTERNATING",
    "LINEAR",
    "METHODS",
    "PRECISIONS",
    "SIMULTANEOUS",
    "HoldemRun",
    "Method",
    "build_solver",
    "build_treeless_solver",
    "check_config",
    "check_precision",
    "choose_rule",
    "estimate_bytes",
    "find_dtype",
    "find_method",
    "normalize_pruning",
    "normalize_rule",
]

NO_LOCKS: Final[Sequence[NodeLock]] = ()
ALTERNATING, SIMULTANEOUS = "alternating", "simultaneous"
PRECISIONS: Final = ("float32", "float64", "int16")  # of a spot's tables
LINEAR: Final = "lcfr"  # of sampled methods, periods not yet chosen
NUM_PERIODS: Final = 100  # of a run
MOST_PROBED: Final = 10  # iterations
PROBE_SECONDS: Final = 0.2


class HoldemRun(Solver, Protocol):
    """A run on a spot."""

    @property
    def tree(self) -> HoldemTree:
        """Returns what it works on."""
        ...

    @property
    def kernel(self) -> HoldemKernel:
        """Returns the kernel of full sweeps, with the run's locks."""
        ...

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the average strategy, in chips per hand given the spot."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way to solve a tree, or a game without one."""

    description: str
    default_rule: str | None = None  # None: no rule unless one is given
    # from the text of a rule to its name, errors included; None: the method takes no rule
    normalize_rule: Callable[[str], str] | None = None
    normalize_pruning: Callable[[str], str] | None = None  # likewise; None: the method prunes nothing
    has_updates: bool = False  # whether players may be updated in turn or at once
    has_threads: bool = True
    has_baselines: bool = False  # whether sampled values may be corrected by guesses
    has_traversals: bool = False  # whether an iteration may be several traversals of each player
    is_exact: bool = False  # one iteration is the whole of it
    is_sampled: bool = False
    has_vector: bool = False  # whether it sweeps public trees
    has_holdem: bool = False  # whether it solves spots
    # on a history tree, and on other trees that the method is for; with the locks of a spot
    build: Callable[[Any, RunConfig, Sequence[NodeLock]], Any]
    # of what is allocated beside the tree; of a spot from its plan, the tree's arrays too
    estimate_bytes: Callable[[Any, RunConfig, Sequence[NodeLock]], int]
    # on the rules; the tree, if there is one, is for exact evaluation; None: trees alone
    build_treeless: Callable[[Game[Any], HistoryTree | None, RunConfig], TreelessMCCFRSolver] | None = None
    merges_suits: bool = True  # whether boards of spots that differ by the names of suits may be one

    def __repr__(self) -> str:
        return f"<Method: {self.description}>"


def find_method(name: str) -> Method:
    """Returns the method of that name."""
    if name not in METHODS:
        raise UnknownNameError("method", name, METHODS)
    return METHODS[name]


def normalize_rule(name: str, text: str | None) -> str | None:
    """Returns the name of the rule that a text means under a method; the method's default if there is no text."""
    method = find_method(name)
    rule = method.default_rule if text is None else text
    if rule is None:
        return None
    if method.normalize_rule is None:
        raise ConfigError(f"method {name} takes no rule, got {text!r}")
    return method.normalize_rule(rule)


def normalize_pruning(name: str, text: str | None) -> str | None:
    """Returns the name of the pruning that a text means under a method."""
    method = find_method(name)
    if text is None:
        return None
    if method.normalize_pruning is None:
        able = ", ".join(name for name, one in METHODS.items() if one.normalize_pruning is not None)
        raise ConfigError(f"method {name} has no `prune`, got {text!r}; it is for {able}")
    return method.normalize_pruning(text)


def check_config(config: RunConfig) -> None:
    """Raises `ConfigError` if the method cannot do what the configuration asks of it."""
    method = find_method(config.method)
    if config.method == "cfr" and config.prune is not None:
        _check_pruned_cfr(config)
    if config.form == Form.VECTOR and not method.has_vector:
        raise ConfigError(f"method {config.method} has no vector form")
    if config.form == Form.GAME and method.build_treeless is None:
        able = ", ".join(name for name, one in METHODS.items() if one.build_treeless is not None)
        raise ConfigError(f"method {config.method} needs a tree; without one (`form` game) there are {able}")
    if config.threads > 1 and not method.has_threads:
        raise ConfigError(f"method {config.method} runs on one thread, got `num_threads` {config.threads}")
    if config.baseline is not None and not method.has_baselines:
        able = ", ".join(name for name, one in METHODS.items() if one.has_baselines)
        raise ConfigError(f"method {config.method} has no `baseline`, got {config.baseline!r}; it is for {able}")
    if config.traversals is not None and not method.has_traversals:
        able = ", ".join(name for name, one in METHODS.items() if one.has_traversals)
        raise ConfigError(f"method {config.method} has no `traversals`, got {config.traversals}; it is for {able}")


def _check_pruned_cfr(config: RunConfig) -> None:
    assert config.prune is not None
    assert config.rule is not None
    check_pruning(parse_rule(config.rule), parse_pruning(config.prune))
    if config.form != Form.HISTORY:
        raise ConfigError(f"`prune` {config.prune} walks single histories, got `form` {config.form}")
    if config.threads > 1:
        raise ConfigError(f"`prune` {config.prune} runs on one thread, got `num_threads` {config.threads}")


@overload
def build_solver(tree: HistoryTree | PublicTree, config: RunConfig) -> TreeSolver: ...


@overload
def build_solver(tree: HoldemTree, config: RunConfig, locks: Sequence[NodeLock]) -> HoldemRun: ...


def build_solver(
    tree: HistoryTree | PublicTree | HoldemTree, config: RunConfig, locks: Sequence[NodeLock] = NO_LOCKS
) -> Any:
    """Returns a fresh run of a configuration on a tree that its method is for, see `check_config`."""
    return find_method(config.method).build(tree, config, locks)


def build_treeless_solver(game: Game[Any], tree: HistoryTree | None, config: RunConfig) -> TreelessMCCFRSolver:
    """Returns a fresh run of a configuration on a game's rules, with exact evaluation if there is a tree."""
    method = find_method(config.method)
    assert method.build_treeless is not None  # see check_config
    return method.build_treeless(game, tree, config)


def estimate_bytes(
    tree: HistoryTree | PublicTree | HoldemPlan, config: RunConfig, locks: Sequence[NodeLock] = NO_LOCKS
) -> int:
    """Returns what a run of a configuration allocates beside its tree; of a spot, the tree's arrays too."""
    return find_method(config.method).estimate_bytes(tree, config, locks)


def _build_cfr(tree: Any, config: RunConfig, locks: Sequence[NodeLock]) -> Any:
    assert config.rule is not None
    rule, is_alternating = parse_rule(config.rule), config.updates == ALTERNATING
    if config.prune is not None:
        return PrunedSolver(tree, rule, pruning=parse_pruning(config.prune), is_alternating=is_alternating)
    return CFRSolver(
        tree,
        rule,
        dtype=find_dtype(config) if isinstance(tree, HoldemTree) else None,
        is_alternating=is_alternating,
        num_threads=config.threads,
        locks=locks,
    )


def _estimate_cfr(tree: Any, config: RunConfig, locks: Sequence[NodeLock]) -> int:
    assert config.rule is not None
    if config.prune is not None:
        return estimate_pruned_bytes(tree)
    dtype = find_dtype(config) if isinstance(tree, HoldemPlan) else None
    return estimate_table_bytes(tree, parse_rule(config.rule), dtype=dtype, num_threads=config.threads, locks=locks)


def find_dtype(config: RunConfig) -> np.dtype[Any]:
    """Returns what the tables of a spot are made of."""
    precision: str = config.parameters["precision"]
    check_precision(precision)
    return np.dtype(precision)


def check_precision(precision: str) -> None:
    """Raises `ConfigError` unless the tables of a spot can have these numbers."""
    if precision not in PRECISIONS:
        raise ConfigError(f"precision must be {' or '.join(PRECISIONS)}, got {precision!r}")


def choose_rule(config: RunConfig, build: Callable[[RunConfig], Solver], stopping: Stopping) -> RunConfig:
    """Returns a fresh run's configuration; linear discounting of a method that samples has its periods chosen.

    A period is a hundredth of the run: of the iterations asked for, by the nodes that the first of them touch; else of
    the seconds, or of a minute, by a measured rate.

    Args:
        config: of a run that has not begun.
        build: makes one.
        stopping: where it will stop.
    """
    if not find_method(config.method).is_sampled or config.rule != LINEAR:
        return config
    probe = build(config)
    if stopping.iterations is not None:
        # the same on every machine: a fixed number of iterations, at most a hundredth of all
        probe.iterate(min(MOST_PROBED, math.ceil(stopping.iterations / NUM_PERIODS)))
        nodes = stopping.iterations * probe.nodes_touched / probe.iteration
    else:
        seconds = stopping.seconds or DEFAULT_SECONDS
        nodes = seconds * _measure_rate(probe, min(PROBE_SECONDS, seconds / 10))
    period = max(1, int(float(f"{nodes / NUM_PERIODS:.2g}")))
    chosen = Discounting(kind=DiscountKind.LINEAR, period_nodes=period)
    return dataclasses.replace(config, rule=format_discounting(chosen))


def _measure_rate(probe: Solver, seconds: float) -> float:
    """Returns the nodes that a fresh run touches in a second: its best over pieces that double, the first ones slow."""
    rate, deadline = 0.0, time.perf_counter() + seconds
    while not probe.iteration or time.perf_counter() < deadline:
        before, began = probe.nodes_touched, time.perf_counter()
        probe.iterate(max(1, probe.iteration))
        rate = max(rate, (probe.nodes_touched - before) / max(time.perf_counter() - began, 1e-9))
    return rate


def _build_egt(tree: HistoryTree, config: RunConfig, _locks: Sequence[NodeLock]) -> TreeSolver:
    return EGTSolver(tree, parse_egt(config.rule) if config.rule else None, num_threads=config.threads)


def _estimate_egt(tree: HistoryTree, config: RunConfig, _locks: Sequence[NodeLock]) -> int:
    walk = (8 + 3 * 4) * tree.actor.size if config.rule else 0  # chance, last sequences and terminals of histories
    return 8 * 14 * _num_sequences(tree) + tree.utility.nbytes + walk


def _sampling_method(scheme: Scheme, description: str) -> Method:
    def sampling(config: RunConfig) -> MCCFRConfig:
        assert config.rule is not None
        return MCCFRConfig(
            scheme=scheme,
            discounting=parse_discounting(config.rule),
            pruning=SampledPruning() if config.prune is None else parse_sampled_pruning(config.prune),
            baselines=_baselines(config),
            traversals=config.traversals or 1,
        )

    def build(tree: HistoryTree | HoldemTree, config: RunConfig, locks: Sequence[NodeLock]) -> Any:
        _refuse_locks(config, locks)
        rng = np.random.default_rng(config.seed)
        if isinstance(tree, HoldemTree):
            return HoldemMCCFRSolver(tree, sampling(config), rng=rng, dtype=find_dtype(config))
        return MCCFRSolver(tree, sampling(config), rng=rng)

    def build_treeless(game: Game[Any], tree: HistoryTree | None, config: RunConfig) -> TreelessMCCFRSolver:
        return TreelessMCCFRSolver(game, sampling(config), rng=np.random.default_rng(config.seed), tree=tree)

    def estimate(tree: HistoryTree | HoldemPlan, config: RunConfig, _locks: Sequence[NodeLock]) -> int:
        if isinstance(tree, HoldemPlan):
            tables = (2 if config.prune is None else 3) * tree.arrays.num_cells * find_dtype(config).itemsize
            return tree.arrays.num_bytes + tables + tree.arrays.estimate_workspace(8, 1)
        # two tables and what pruning adds, the terminals' weights, and the tree in the order of traversals
        per_sequence = 16 if config.prune is None else 33
        num_guesses = lay_out_baselines(_baselines(config), tree).num_guesses
        guesses = 8 * tree.num_players * num_guesses + (4 * tree.actor.size if num_guesses else 0)
        return per_sequence * _num_sequences(tree) + 30 * tree.actor.size + 2 * tree.utility.nbytes + guesses

    def normalize(text: str) -> str:
        return format_sampled_pruning(parse_sampled_pruning(text))

    return Method(
        description=description,
        default_rule="lcfr",
        normalize_rule=lambda text: format_discounting(parse_discounting(text)),
        normalize_pruning=normalize if scheme is Scheme.EXTERNAL else None,
        has_baselines=scheme in (Scheme.EXTERNAL, Scheme.OUTCOME),
        has_traversals=True,
        has_threads=False,
        is_sampled=True,
        has_holdem=scheme in (Scheme.EXTERNAL, Scheme.PUBLIC_CHANCE),
        build=build,
        estimate_bytes=estimate,
        build_treeless=build_treeless if scheme in (Scheme.EXTERNAL, Scheme.OUTCOME) else None,
        merges_suits=scheme is not Scheme.EXTERNAL,  # which deals cards one by one
    )


def _baselines(config: RunConfig) -> Baselines:
    return Baselines(key=BaselineKey(config.baseline or BaselineKey.NONE))


def _fictitious_method(rule: FictitiousPlayRule, description: str) -> Method:
    def build(tree: HistoryTree | HoldemTree, config: RunConfig, locks: Sequence[NodeLock]) -> Any:
        if not isinstance(tree, HoldemTree):
            return FictitiousPlaySolver(tree, rule, num_threads=config.threads)
        _refuse_locks(config, locks)
        return HoldemFictitiousPlaySolver(tree, rule, dtype=find_dtype(config), num_threads=config.threads)

    def estimate(tree: HistoryTree | HoldemPlan, config: RunConfig, _locks: Sequence[NodeLock]) -> int:
        if isinstance(tree, HoldemPlan):
            return estimate_fictitious_bytes(tree, find_dtype(config))
        return 8 * 6 * _num_sequences(tree) + tree.utility.nbytes

    return Method(description=description, has_holdem=True, build=build, estimate_bytes=estimate)


def _refuse_locks(config: RunConfig, locks: Sequence[NodeLock]) -> None:
    if locks:
        raise ConfigError(f"locks are for method cfr, and the spot has some: got `method` {config.method}")


def _num_sequences(tree: HistoryTree) -> int:
    return int(tree.sequence_start[-1])


class _InterruptibleLPRun(SequenceLPRun):
    """The linear program, whose one iteration may take minutes in native code, in a way that Ctrl-C ends."""

    def iterate(self, num_iterations: int) -> None:
        """Solves the program the first time; there is nothing left to do after it."""
        call_interruptibly(functools.partial(super().iterate, num_iterations))


def _name_minimizer(text: str) -> str:
    load_minimizer(text)  # what is wrong with it is said before a tree is built
    return text


def _build_own(tree: HistoryTree, config: RunConfig, _locks: Sequence[NodeLock]) -> TreeSolver:
    if config.rule is None:
        raise ConfigError("method own needs a regret minimiser of yours: `rule` file.py:Class")
    return MinimizerSolver(tree, load_minimizer(config.rule), is_alternating=config.updates == ALTERNATING)


METHODS: Mapping[str, Method] = {
    "cfr": Method(
        description="full-width CFR under any rule",
        default_rule="dcfr",
        normalize_rule=lambda text: parse_rule(text).name,
        normalize_pruning=lambda text: format_pruning(parse_pruning(text)),
        has_updates=True,
        has_vector=True,
        has_holdem=True,
        build=_build_cfr,
        estimate_bytes=_estimate_cfr,
    ),
    "external": _sampling_method(Scheme.EXTERNAL, "MCCFR that samples chance and the opponents"),
    "outcome": _sampling_method(Scheme.OUTCOME, "MCCFR that samples single paths"),
    "chance": _sampling_method(Scheme.CHANCE, "MCCFR that samples chance"),
    "public-chance": _sampling_method(Scheme.PUBLIC_CHANCE, "MCCFR that samples chance that everybody sees"),
    "egt": Method(
        description="the excessive gap technique; two players, zero-sum",
        normalize_rule=lambda text: format_egt(parse_egt(text)),
        build=_build_egt,
        estimate_bytes=_estimate_egt,
    ),
    "fp": _fictitious_method(FictitiousPlay(), "fictitious play"),
    "linear-fp": _fictitious_method(LinearFictitiousPlay(), "fictitious play, later strategies weigh more"),
    "flop": _fictitious_method(FLOP(), "fictitious linear optimistic play"),
    "own": Method(
        description="a regret minimiser of the user's, given as the rule file.py:Class; in Python, slow",
        normalize_rule=_name_minimizer,
        has_updates=True,
        has_threads=False,
        build=_build_own,
        # objects of unknown size, one an information state
        estimate_bytes=lambda tree, *_: 8 * 6 * _num_sequences(tree) + 1000 * tree.num_actions.size,
    ),
    "lp": Method(
        description="the sequence-form linear program; exact, two players, zero-sum",
        has_threads=False,
        is_exact=True,
        build=lambda tree, *_: _InterruptibleLPRun(tree),
        # rows and columns of the program as SciPy and HiGHS hold them, several copies each
        estimate_bytes=lambda tree, *_: 100 * (tree.terminal_node.size + 2 * _num_sequences(tree)),
    ),
}
