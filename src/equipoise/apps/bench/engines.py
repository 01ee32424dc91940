# SPDX-License-Identifier: Apache-2.0
"""The programs that are timed, behind one small face: advance, and say how exploitable the average is.

All of them run the same algorithm: alternating updates, regret matching (floored at zero for CFR+), the average
weighted by own reach, uniform for CFR and linear for CFR+. Each is measured in a process of its own (worker.py), so
nothing here is imported together with another engine.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from equipoise.core.errors import ConfigError, MissingExtraError
from equipoise.games.registry import parse_game
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR, CFRPlus, Rule
from equipoise.trees.cache import load_or_build_history_tree, load_or_build_public_tree
from equipoise.trees.history import OnProgress

__all__ = ["ENGINES", "GAMES", "RULES", "Engine", "EngineEntry", "Task"]

GAMES: Mapping[str, str] = {  # our game -> the same un-merged game in OpenSpiel
    "kuhn": "kuhn_poker",
    "leduc": "leduc_poker",
    "liars_dice": "liars_dice",
}
RULES: Mapping[str, Rule] = {
    "cfr": CFR(),
    "cfr+": CFRPlus(gamma=1.0),  # the linear average, as the others have it
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What an engine is set up for."""

    engine: str
    game: str  # a name in GAMES; for Equipoise any label that `parse_game` reads
    rule: str  # a name in RULES
    num_threads: int = 1


class Engine(Protocol):
    """A run that can be advanced and measured."""

    num_histories: int | None  # of the tree, terminals included; None if the program does not say

    def advance(self, num_iterations: int) -> None:
        """Runs iterations, averages included."""
        ...

    def exploitability(self) -> float:
        """Returns the exact exploitability of the average strategy, nash_conv / players."""
        ...


class EquipoiseHistory:
    """Full-width CFR over the history tree."""

    def __init__(self, task: Task, on_progress: OnProgress) -> None:
        tree = load_or_build_history_tree(parse_game(task.game), on_progress=on_progress)
        self.solver = CFRSolver(tree, RULES[task.rule], num_threads=task.num_threads)
        self.num_histories: int | None = tree.size.num_histories

    def advance(self, num_iterations: int) -> None:
        """Runs iterations in one native call."""
        self.solver.iterate(num_iterations)

    def exploitability(self) -> float:
        """Returns nash_conv / players, from both best responses."""
        return self.solver.evaluate().exploitability


class EquipoiseVector:
    """Full-width CFR over the public tree, all private states of a player at once."""

    def __init__(self, task: Task, on_progress: OnProgress) -> None:
        tree = load_or_build_public_tree(parse_game(task.game), on_progress=on_progress)
        self.solver = CFRSolver(tree, RULES[task.rule], num_threads=task.num_threads)
        self.num_histories: int | None = tree.num_histories

    def advance(self, num_iterations: int) -> None:
        """Runs iterations in one native call."""
        self.solver.iterate(num_iterations)

    def exploitability(self) -> float:
        """Returns nash_conv / players, from both best responses."""
        return self.solver.evaluate().exploitability


class OpenSpiel:
    """OpenSpiel's C++ `CFRSolver` and `CFRPlusSolver`; both alternate and keep the average."""

    CLASSES: Mapping[str, str] = {"cfr": "CFRSolver", "cfr+": "CFRPlusSolver"}

    def __init__(self, task: Task, on_progress: OnProgress) -> None:
        self.pyspiel: Any = importlib.import_module("pyspiel")
        self.game = self.pyspiel.load_game(GAMES[task.game])
        self.solver = getattr(self.pyspiel, self.CLASSES[task.rule])(self.game)
        self.num_histories: int | None = None

    def advance(self, num_iterations: int) -> None:
        """Runs iterations, one call each: there is no other way."""
        step = self.solver.evaluate_and_update_policy
        for _ in range(num_iterations):
            step()

    def exploitability(self) -> float:
        """Returns OpenSpiel's own exact figure."""
        return float(self.pyspiel.exploitability(self.game, self.solver.average_policy()))


class LiteEFG:
    """LiteEFG's own graphs for CFR and CFR+, updated in turn, averaged by its environment.

    The average is taken before the players are updated: then iteration 1 counts the first strategies, as in CFR.
    LiteEFG's example scripts take it afterwards, which costs the same and counts every strategy one iteration early.
    """

    GRAPHS: Mapping[str, tuple[str, str]] = {  # module of the graph, name of the average
        "cfr": ("LiteEFG.baselines.CFR", "avg-iterate"),
        "cfr+": ("LiteEFG.baselines.CFRplus", "linear-avg-iterate"),
    }

    def __init__(self, task: Task, on_progress: OnProgress) -> None:
        library: Any = importlib.import_module("LiteEFG")
        pyspiel: Any = importlib.import_module("pyspiel")
        library.set_threads(task.num_threads)
        module, self.average = self.GRAPHS[task.rule]
        self.graph = importlib.import_module(module).graph()
        self.environment = library.OpenSpielEnv(pyspiel.load_game(GAMES[task.game]), traverse_type="Enumerate")
        self.environment.set_graph(self.graph)
        self.num_histories: int | None = None

    def advance(self, num_iterations: int) -> None:
        """Runs iterations: average, first player, second player."""
        environment, strategy = self.environment, self.graph.strategy
        for _ in range(num_iterations):
            environment.update_strategy(strategy)
            environment.update(strategy, upd_player=1)
            environment.update(strategy, upd_player=2)

    def exploitability(self) -> float:
        """Returns the mean over players of LiteEFG's own exact figures."""
        gains = self.environment.exploitability(self.graph.strategy, self.average)
        return float(sum(gains)) / len(gains)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EngineEntry:
    """An engine as it is named, and what has to be installed for it."""

    make: Callable[[Task, OnProgress], Engine]
    packages: tuple[str, ...] = ()  # modules that must be importable

    def check_installed(self, name: str) -> None:
        """Raises `MissingExtraError` with the command that installs the engine."""
        for package in self.packages:
            if importlib.util.find_spec(package) is None:
                raise MissingExtraError(package, "bench", f"engine {name}")

    def build(self, task: Task, on_progress: OnProgress) -> Engine:
        """Returns the engine, ready to run."""
        if self.packages and task.game not in GAMES:
            raise ConfigError(f"engine {task.engine} has no game {task.game!r}, only {', '.join(GAMES)}")
        return self.make(task, on_progress)


ENGINES: Mapping[str, EngineEntry] = {
    "equipoise": EngineEntry(make=EquipoiseHistory),
    "equipoise-vector": EngineEntry(make=EquipoiseVector),
    "openspiel": EngineEntry(make=OpenSpiel, packages=("pyspiel",)),
    "liteefg": EngineEntry(make=LiteEFG, packages=("LiteEFG", "pyspiel")),
}
