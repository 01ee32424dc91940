# SPDX-License-Identifier: Apache-2.0
"""`equipoise search`: a saved strategy's subgame at one public state, solved again."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.table import Table

from equipoise.apps.display import format_duration, format_utility, make_console
from equipoise.apps.inspection import StrategyFile
from equipoise.apps.output import print_result, write_json
from equipoise.apps.parse import parse_rule
from equipoise.apps.parse_search import METHODS, parse_method
from equipoise.apps.preparation import build_vector_tree
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.games.base import TERMINAL
from equipoise.search.resolving import SubgameResult, solve_subgame
from equipoise.search.subgames import Blueprint
from equipoise.solvers.best_response import evaluate
from equipoise.trees.history import DEFAULT_MAX_HISTORIES
from equipoise.trees.public import PublicTree
from equipoise.trees.subtree import find_private_labels, read_policy

__all__ = ["SearchOptions", "search"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """What `equipoise search` is told."""

    file: Annotated[Path, typer.Argument(help="A file written by `solve --out`: the blueprint.")]
    state: Annotated[str, typer.Option("--state", "-s", help="The public state, as `show` writes it after the bar.")]
    method: Annotated[str, typer.Option("--method", "-m", help=f"{', '.join(METHODS)}.")] = "reach-maxmargin"
    player: Annotated[int | None, typer.Option(min=0, max=1, help="Who searches (default: who moves there).")] = None
    iterations: Annotated[int, typer.Option(min=1, help="Of CFR.")] = 1000
    rule: Annotated[str, typer.Option(help="Variant of CFR, as for `solve`.")] = "cfr+linear"
    limit: Annotated[int, typer.Option(min=0, help="Show at most so many private states of each side; 0: all.")] = 50
    max_histories: Annotated[int, typer.Option(min=1, help="Refuse games with more.")] = DEFAULT_MAX_HISTORIES
    json: Annotated[bool, typer.Option("--json", help="Write the result as JSON to standard output.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages, progress or tables.")] = False


def search(options: SearchOptions) -> None:
    """Solve the rest of a game again from one public state on, as if it had come up in play.

    Shows what the searching player does there, before and after, and for every private state of the opponent what it
    can get now beside what it could get without coming here: its margin.
    """
    method, rule = parse_method(options.method), parse_rule(options.rule)
    console = make_console(is_quiet=options.quiet)
    file = StrategyFile.load(options.file)
    game = file.make_game(options.file)
    if game.spec.num_players != 2:
        raise ConfigError(f"search is for 2 players, and {game.spec.label} has {game.spec.num_players}")
    tree = build_vector_tree(game, max_histories=options.max_histories, console=console)
    node = find_state(tree, options.state)
    searcher = options.player if options.player is not None else int(tree.actor[node])
    if searcher < 0:
        raise ConfigError(f"chance moves at {options.state!r}: say who searches with --player 0 or 1")
    blueprint = Blueprint(tree, file.strategy.to_tree(tree, is_partial=file.is_partial))
    began = time.perf_counter()
    result = solve_subgame(blueprint, node, searcher, method, iterations=options.iterations, rule=rule)
    seconds = time.perf_counter() - began
    report = _Report(options, blueprint, node, searcher, result, seconds)
    if options.json:
        write_json({**file.describe(), **report.as_json()})
    else:
        print_result(report.as_text(), is_quiet=options.quiet)


def find_state(tree: PublicTree, text: str) -> int:
    """Returns the node of a public state by its label; an unknown one raises with the nearest labels."""
    if text not in tree.public_labels:
        raise UnknownNameError("public state", text, tree.public_labels)
    node = tree.public_labels.index(text)
    if tree.actor[node] == TERMINAL:
        raise ConfigError(f"the game is over at {text!r}: there is nothing to search")
    return node


class _Report:
    """What a search found, for people and for programs."""

    def __init__(
        self,
        options: SearchOptions,
        blueprint: Blueprint,
        node: int,
        searcher: int,
        result: SubgameResult,
        seconds: float,
    ) -> None:
        self.options, self.blueprint, self.node, self.result = options, blueprint, node, result
        self.searcher, self.opponent, self.seconds = searcher, 1 - searcher, seconds
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
            "search_iterations": options.iterations,
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
            f"{self.options.method}, {self.options.iterations:,} iterations in {format_duration(self.seconds)}; {least}"
            f"player {self.opponent}'s best response to the whole strategy {format_utility(before)} > "
            f"{format_utility(after)}"
        )
        return Group(*parts)
