# SPDX-License-Identifier: Apache-2.0
"""How exploitable something is, whatever it is: a solution, a file, a strategy, an agent, a table on a tree."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any, overload

import numpy.typing as npt

from equipoise.abstraction.solutions import open_solution
from equipoise.agents.base import Agent, PolicyAgent, PublicAgent
from equipoise.agents.notation import AgentText, looks_like_agent
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import ConfigError, EquipoiseError
from equipoise.core.files import StrPath
from equipoise.core.formatting import show_given
from equipoise.core.reporting import Reporter
from equipoise.evaluation.assembly import measure_seeds
from equipoise.games.base import Game
from equipoise.games.registry import parse_game, take_game
from equipoise.kernels.calls import check_integer
from equipoise.runs.preparation import build_any_tree, build_tree
from equipoise.runs.solution import Solution
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.best_response import evaluate as evaluate_table
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.solution_file import SolvedGame
from equipoise.solvers.strategy import TabularStrategy, check_table
from equipoise.trees.history import DEFAULT_MAX_HISTORIES, HistoryTree
from equipoise.trees.holdem.tree import HoldemTree
from equipoise.trees.public import PublicTree

__all__ = ["AnyTree", "check_measurable", "evaluate", "is_agent_text"]

AnyTree = HistoryTree | PublicTree | HoldemTree
Played = Solution[Any] | TabularStrategy | Agent | StrPath


@overload
def evaluate(
    what: Played,
    strategy: None = None,
    *,
    game: Game[Any] | str | None = None,
    seed: int = 0,
    num_threads: int = 1,
    max_histories: int = DEFAULT_MAX_HISTORIES,
) -> Evaluation: ...
@overload
def evaluate(what: AnyTree, strategy: npt.NDArray[Any], *, num_threads: int = 1) -> Evaluation: ...
def evaluate(
    what: Played | AnyTree,
    strategy: npt.NDArray[Any] | None = None,
    *,
    game: Game[Any] | str | None = None,
    seed: int = 0,
    num_threads: int = 1,
    max_histories: int = DEFAULT_MAX_HISTORIES,
) -> Evaluation:
    """Returns exactly what a strategy earns and what best responses to it would, in the game's unit of utility.

    Args:
        what: a solution, a file (`"turn.eq"`), a strategy by information states, or an agent as text (`"uniform"`) or
            as it is; or the tree of a game, with a table over it.
        strategy: the table of all players, numbered as the tree's tables are.
        game: what an agent plays, a strategy or a table in a CSV file; by default what the strategy itself says.
        seed: of an agent that draws: its strategy is assembled under it.
        num_threads: size of the team.
        max_histories: a larger game is refused with `GameTooLargeError`.

    >>> evaluate("uniform", game="kuhn").exploitability
    0.4583333333333333
    """
    check_integer("seed", seed, 0)
    check_integer("max_histories", max_histories, 1)
    if isinstance(what, AnyTree):
        return _evaluate_on_tree(what, strategy, num_threads)
    if strategy is not None:
        raise ConfigError(f"a table is evaluated on a tree such as build_history_tree(game), got {show_given(what)}")
    played = None if game is None else take_game(game)
    if isinstance(what, Solution):
        return what.evaluation
    if isinstance(what, str | os.PathLike):
        if not is_agent_text(Path(what)):
            return _evaluate_file(what, played, num_threads, max_histories)
        maker = AgentText(os.fspath(what))
        played = played or maker.game
        if played is None:
            raise ConfigError(f"agent {what!r} plays any game: say which, as in game='kuhn'")
        what = maker(played)
    if isinstance(what, TabularStrategy):
        return _evaluate_strategy(what, played or parse_game(what.game_label), num_threads, max_histories)
    able = check_measurable(what)
    if played is None:
        raise ConfigError("game is needed, such as game='kuhn': an agent plays any")
    is_public = not isinstance(able, PolicyAgent)
    tree = build_tree(played, max_histories=max_histories, reporter=Reporter())
    return measure_seeds(able, played, seeds=[seed], is_public=is_public, tree=tree).evaluations[0]


def _evaluate_on_tree(tree: AnyTree, strategy: npt.NDArray[Any] | None, num_threads: int) -> Evaluation:
    if strategy is None:
        raise ConfigError(f"a tree is evaluated with a table over it: strategy is missing beside {tree!r}")
    try:
        found = evaluate_table(tree, strategy, num_threads=num_threads)
    except (TypeError, ValueError) as error:  # what kernels say of arrays
        raise error if isinstance(error, EquipoiseError) else ConfigError(str(error)) from None
    if not isinstance(tree, HoldemTree):
        check_table(tree, strategy)
    elif strategy.size and not 0 <= strategy.min() <= strategy.max() < math.inf:  # rows may be weights there
        raise ConfigError("what hands play in proportion to must be finite and at least 0")
    return found


def is_agent_text(path: Path) -> bool:
    """Returns whether what stands in the place of a file is an agent, and no file of that name."""
    return looks_like_agent(str(path)) and not path.exists()


def check_measurable(agent: Any) -> PolicyAgent | PublicAgent:
    """Returns an agent that says what it plays; raises `ConfigError` for any other."""
    if isinstance(agent, PolicyAgent | PublicAgent):
        return agent
    if not hasattr(agent, "act"):
        raise ConfigError(
            f"evaluated are solutions, files, strategies, agents, and trees with a table, got {show_given(agent)}"
        )
    raise ConfigError(f"{agent.name} only acts: it says no probabilities from which a strategy could be assembled")


def _evaluate_file(path: StrPath, game: Game[Any] | None, num_threads: int, max_histories: int) -> Evaluation:
    with open_solution(path, Kind.RUN, Kind.STRATEGY, Kind.SPOT, game=game) as file:
        if isinstance(file, SolvedSpot):
            return evaluate_table(file.tree, file.strategy_sum.read(), kernel=file.kernel, num_threads=num_threads)
        assert isinstance(file, SolvedGame)
        return _evaluate_strategy(file.table, file.game, num_threads, max_histories, is_partial=file.is_partial)


def _evaluate_strategy(
    strategy: TabularStrategy, game: Game[Any], num_threads: int, max_histories: int, *, is_partial: bool = False
) -> Evaluation:
    tree = build_any_tree(game, max_histories=max_histories, reporter=Reporter())
    return evaluate_table(tree, strategy.to_tree(tree, is_partial=is_partial), num_threads=num_threads)
