# SPDX-License-Identifier: Apache-2.0
"""`equipoise search`: a saved strategy's subgame at one public state, solved again. Of hold'em: `search_spot`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import typer
from rich.console import Console, Group
from rich.table import Table

from equipoise.abstraction.solutions import open_solution
from equipoise.apps.display import make_console
from equipoise.apps.output import print_result, write_json
from equipoise.apps.preparation import build_vector_tree
from equipoise.apps.search_options import SearchOptions
from equipoise.apps.search_spot import SpotSearch
from equipoise.apps.signals import SignalFlag
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.errors import ConfigError
from equipoise.core.formatting import format_duration, format_utility
from equipoise.core.machine import describe_origin
from equipoise.games.base import TERMINAL
from equipoise.search.holdem.depth_limit import OnLine
from equipoise.search.notation import parse_leaf_choices, parse_method
from equipoise.search.posing import pose
from equipoise.search.public import PublicProfile
from equipoise.search.resolving import SearchResult, SubgameSolver
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.game_views import find_public_state
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.rules import Rule
from equipoise.solvers.solution_file import SolvedGame
from equipoise.trees.public import PublicTree
from equipoise.trees.public_edges import read_policy
from equipoise.trees.subtree import find_private_labels

__all__ = ["SearchOptions", "search"]

DEFAULT_ITERATIONS: Final = 1000
SECONDS_OF_A_PIECE: Final = 0.2  # of iterations between two looks at signals


def search(options: SearchOptions) -> None:
    """Solve the rest of a game again from one public state on, as if it had come up in play.

    Shows what the searching player does there, before and after, and for every private state of the opponent what it
    can get now beside what it could get without coming here: its margin.
    """
    rule = parse_rule(options.rule)
    parse_method(options.method)  # what is wrong is said before anything is read
    if options.leaves is not None:
        parse_leaf_choices(options.leaves)
    if options.file.suffix == ".toml" and options.file.exists():
        raise ConfigError(
            f"{options.file} describes a spot that is not solved: `equipoise solve {options.file} --out FILE` first"
        )
    console = make_console(is_quiet=options.quiet)
    with SignalFlag() as flag, open_solution(options.file) as solution:
        report: _Report | SpotSearch
        run = _Run(console, flag)
        if not isinstance(solution, SolvedGame):
            report = SpotSearch(
                options,
                rule,
                run,
                on_plan=lambda text: console.print(text, style="dim"),
                show_lines=lambda: _show_lines(console),
            )
            described: dict[str, Any] = describe_origin()
        else:
            report = _search_game(options, solution, rule, run, console)
            described = solution.describe()
    if options.json:
        write_json({**described, **report.as_json()})
    else:
        print_result(report.as_text(), is_quiet=options.quiet)
    if flag():
        console.print("interrupted: this is what the iterations so far have found", style="yellow")
        raise typer.Exit(flag.exit_code)


class _Run:
    """Runs iterations in pieces, shows how far they are, and stops early if the program is asked to end."""

    def __init__(self, console: Console, flag: SignalFlag) -> None:
        self.console, self.flag = console, flag

    def __call__(self, iterate: Callable[[int], None], num_iterations: int) -> int:
        """Returns how many iterations were run, at least one."""
        done, piece = 0, 1
        with TaskDisplay(self.console, "search") as display:
            while done < num_iterations and not (done and self.flag()):
                began = time.perf_counter()
                piece = min(piece, num_iterations - done)
                iterate(piece)
                done += piece
                display.update(done / num_iterations, f"{done:,} of {num_iterations:,} iterations")
                if time.perf_counter() - began < SECONDS_OF_A_PIECE:
                    piece *= 2
        return done


@contextlib.contextmanager
def _show_lines(console: Console) -> Iterator[OnLine]:
    """Yields what shows how far a table of leaves is."""
    with TaskDisplay(console, "table") as display:
        yield lambda done, total: display.update(done / total, f"{done} of {total} lines")


def _search_game(options: SearchOptions, file: SolvedGame, rule: Rule, run: _Run, console: Console) -> _Report:
    """Returns what a search in a game other than hold'em by hands found."""
    given = {"--menu": options.menu, "--leaves": options.leaves, "--expensive": options.expensive or None}
    for name, value in given.items():
        if value is not None:
            raise ConfigError(f"{name} is for spots of hold'em, and {options.file} is a strategy of another game")
    game = file.game
    if game.spec.num_players != 2:
        raise ConfigError(f"search is for 2 players, and {game.spec.label} has {game.spec.num_players}")
    tree = build_vector_tree(game, max_histories=options.max_histories, console=console)
    node = find_state(tree, options.state)
    searcher = options.player if options.player is not None else int(tree.actor[node])
    if searcher < 0:
        raise ConfigError(f"chance moves at {options.state!r}: say who searches with --player 0 or 1")
    blueprint = PublicProfile(tree, file.table.to_tree(tree, is_partial=file.is_partial))
    subgame = blueprint.subgame(node)
    if not subgame.beliefs.reach[searcher].any():
        raise ConfigError(f"player {searcher} never plays to {options.state!r}: there is nothing to search")
    began = time.perf_counter()
    solver = SubgameSolver(subgame, pose(blueprint, subgame, searcher, parse_method(options.method)), rule=rule)
    iterations = run(solver.iterate, options.iterations or DEFAULT_ITERATIONS)
    seconds = time.perf_counter() - began
    return _Report(options, blueprint, node, searcher, solver.result(), seconds=seconds, iterations=iterations)


def find_state(tree: PublicTree, text: str) -> int:
    """Returns the node of a public state that can be searched."""
    node = find_public_state(tree, text)
    if tree.actor[node] == TERMINAL:
        raise ConfigError(f"the game is over at {text!r}: there is nothing to search")
    return node


class _Report:
    """What a search found, for people and for programs."""

    def __init__(
        self,
        options: SearchOptions,
        blueprint: PublicProfile,
        node: int,
        searcher: int,
        result: SearchResult,
        *,
        seconds: float,
        iterations: int,
    ) -> None:
        self.options, self.blueprint, self.node, self.result = options, blueprint, node, result
        self.searcher, self.opponent, self.seconds, self.iterations = searcher, 1 - searcher, seconds, iterations
        self.after = blueprint.strategy.copy()
        blueprint.subgame(node).part.insert(result.strategy, self.after, players=(searcher,))

    @property
    def least_margin(self) -> float | None:
        """Returns the least margin, None for unsafe search, which has no alternatives."""
        is_safe = self.options.method != "unsafe" and bool(self.result.possible.any())
        return self.result.least_margin if is_safe else None

    def responses(self) -> tuple[float, float]:
        """Returns what the opponent's best response to the whole strategy earns, before and after."""
        before = self.blueprint.evaluate().best_response_values[self.opponent]
        return before, evaluate(self.blueprint.tree, self.after).best_response_values[self.opponent]

    def decisions(self) -> list[dict[str, Any]]:
        """Returns what the searcher does in each private state at the public state, if it moves there."""
        tree = self.blueprint.tree
        if tree.actor[self.node] != self.searcher:
            return []
        labels = find_private_labels(tree, self.node, self.searcher)
        names = tree.action_labels[self.node]
        policies = [read_policy(tree, self.node, strategy) for strategy in (self.blueprint.strategy, self.after)]
        legal = read_policy(tree, self.node, tree.legal_share) > 0
        return [
            {
                "infostate": label,
                **{
                    key: {name: float(policy[k, a]) for a, name in enumerate(names) if legal[k, a]}
                    for key, policy in zip(("before", "after"), policies, strict=True)
                },
            }
            for k, label in enumerate(labels)
        ]

    def margins(self) -> list[dict[str, Any]]:
        """Returns alternative, new value and margin of every private state of the opponent."""
        labels = find_private_labels(self.blueprint.tree, self.node, self.opponent)
        is_safe = self.options.method != "unsafe"
        return [
            {
                "private": label,
                "alternative": float(self.result.alternative[k]) if is_safe else None,
                "value": float(self.result.value[k]),
                "margin": float(self.result.margin[k]) if is_safe else None,
            }
            for k, label in enumerate(labels)
            if self.result.possible[k]
        ]

    def as_json(self) -> dict[str, Any]:
        """Returns everything under the documented keys."""
        before, after = self.responses()
        options = self.options
        return {
            "file": str(options.file),
            "state": options.state,
            "player": self.searcher,
            "search_method": options.method,
            "search_rule": options.rule,
            "search_iterations": self.iterations,
            "least_margin": self.least_margin,
            "best_response_before": before,
            "best_response_after": after,
            "strategy": self.decisions(),
            "margins": self.margins(),
            "seconds": self.seconds,
        }

    def as_text(self) -> Group:
        """Returns both tables and the price in a line."""
        before, after = self.responses()
        limit = self.options.limit or None
        parts: list[Any] = []
        decisions = self.decisions()
        if decisions:
            names = list(self.blueprint.tree.action_labels[self.node])
            table = Table(
                title=f"player {self.searcher} at {self.options.state!r}, blueprint > now", title_justify="left"
            )
            table.add_column("information state")
            for name in names:
                table.add_column(name, justify="right")
            for row in decisions[:limit]:
                shares = [(row["before"].get(name), row["after"].get(name)) for name in names]
                table.add_row(row["infostate"], *("" if a is None else f"{a:.3f} > {b:.3f}" for a, b in shares))
            parts.append(table)
        margins = Table(title=f"player {self.opponent}, given each private state", title_justify="left")
        for name in ("private state", "alternative", "value now", "margin"):
            margins.add_column(name, justify="left" if name == "private state" else "right")
        for row in self.margins()[:limit]:
            figures = ("" if row[key] is None else f"{row[key]:+.4f}" for key in ("alternative", "value", "margin"))
            margins.add_row(row["private"], *figures)
        parts.append(margins)
        least = "" if self.least_margin is None else f"least margin {self.least_margin:+.4f}; "
        parts.append(
            f"{self.options.method}, {self.iterations:,} iterations in {format_duration(self.seconds)}; {least}"
            f"player {self.opponent}'s best response to the whole strategy {format_utility(before)} > "
            f"{format_utility(after)}"
        )
        return Group(*parts)
