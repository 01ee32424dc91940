# SPDX-License-Identifier: Apache-2.0
"""`equipoise pushfold`: heads-up push-or-fold charts, solved exactly."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from typing import Annotated, Any, ClassVar

import numpy as np
import typer
from rich.console import Console

from equipoise.apps.display import make_console
from equipoise.apps.grid import render_grid
from equipoise.apps.output import write_json
from equipoise.apps.shared_options import Json, Quiet
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.errors import ConfigError
from equipoise.core.formatting import format_small
from equipoise.core.provenance import version
from equipoise.games.holdem.cards import format_deck, parse_deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.ranges import format_range
from equipoise.solvers.holdem.push_fold import PushFold, PushFoldChart, solve_push_fold

__all__ = ["PushFoldOptions", "describe_chart", "make_chart", "print_chart", "push_fold"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PushFoldOptions:
    """What `equipoise pushfold` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise pushfold --stack 8",
        "equipoise pushfold --stack 10 --deck TJQKA/cdhs --csv",
    )

    stack: Annotated[float, typer.Option("--stack", "-s", help="Big blinds of the smaller stack, before posting.")] = (
        10.0
    )
    small_blind: Annotated[float, typer.Option(help="In big blinds.")] = 0.5
    ante: Annotated[float, typer.Option(help="Of either player, in big blinds.")] = 0.0
    rake: Annotated[float, typer.Option(help="Share of a called pot that the house takes: 0.05 is 5 %.")] = 0.0
    rake_cap: Annotated[float | None, typer.Option(help="The most the house takes, in big blinds.")] = None
    deck: Annotated[str, typer.Option(help="full, short or RANKS/SUITS.")] = "full"
    json: Json = False
    csv: Annotated[bool, typer.Option("--csv", help="Write CSV: a line for each class of hands.")] = False
    quiet: Quiet = False


def push_fold(options: PushFoldOptions) -> None:
    """Solve heads-up push or fold exactly: which hands the small blind moves all in with, which the big blind calls.

    The first run counts every showdown before the flop (some ten seconds) and keeps them.
    """
    if options.json and options.csv:
        raise ConfigError("--json and --csv are two formats: give one of them")
    game = PushFold(
        stack_bb=options.stack,
        small_blind_bb=options.small_blind,
        ante_bb=options.ante,
        rake=options.rake,
        rake_cap_bb=math.inf if options.rake_cap is None else options.rake_cap,
        deck=parse_deck(options.deck),
    )
    chart = make_chart(game, make_console(is_quiet=options.quiet))
    if options.json:
        write_json(describe_chart(chart))
    elif options.csv:
        typer.echo(_as_csv(chart), nl=False)
    elif not options.quiet:
        print_chart(chart)


def make_chart(game: PushFold, console: Console) -> PushFoldChart:
    """Returns the solution of a game; says how far the showdowns are if they must be counted."""
    with TaskDisplay(console, "showdowns") as display:
        return solve_push_fold(game, on_progress=lambda fraction: display.update(fraction, "counting"))


def describe_chart(chart: PushFoldChart) -> dict[str, Any]:
    """Returns a chart under the documented keys, all in big blinds."""
    game, hands = chart.game, hands_of(chart.game.deck)
    dealt = np.flatnonzero(hands.class_sizes)
    return {
        "stack_bb": game.stack_bb,
        "small_blind_bb": game.small_blind_bb,
        "ante_bb": game.ante_bb,
        "rake": game.rake,
        "rake_cap_bb": game.rake_cap_bb,
        "deck": format_deck(game.deck),
        "push_share": chart.push_share,
        "call_share": chart.call_share,
        "values_bb": list(chart.values_bb),
        "exploitability_bb": chart.exploitability_bb,
        "nash_conv_bb": chart.nash_conv_bb,
        "push_range": format_range(chart.push_range),
        "call_range": format_range(chart.call_range),
        "push": {hands.class_names[i]: float(chart.push[i]) for i in dealt},
        "call": {hands.class_names[i]: float(chart.call[i]) for i in dealt},
        "version": version(),
    }


def _as_csv(chart: PushFoldChart) -> str:
    hands = hands_of(chart.game.deck)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["hand", "combos", "push", "call"])
    for i in np.flatnonzero(hands.class_sizes):
        frequencies = [repr(float(column[i])) for column in (chart.push, chart.call)]
        writer.writerow([hands.class_names[i], hands.class_sizes[i], *frequencies])
    return buffer.getvalue()


def print_chart(chart: PushFoldChart) -> None:
    """Prints the squares of both players and what the hand is worth to them."""
    game = chart.game
    output = make_console(is_stderr=False)
    extras = [f", ante {game.ante_bb:g}"] * (game.ante_bb > 0) + [f", rake {game.rake_bb:g}"] * (game.rake_bb > 0)
    for title, frequencies, action in (
        (f"Small blind, {game.stack_bb:g} bb{''.join(extras)}", chart.push, "push"),
        ("Big blind against a push", chart.call, "call"),
    ):
        output.print(f"{title}\n")
        output.print(render_grid(np.stack([frequencies, 1 - frequencies], axis=1), [action, "fold"], deck=game.deck))
        output.print()
    first, second = chart.values_bb
    output.print(
        f"small blind {first:+.5f} bb, big blind {second:+.5f} bb a hand; exploitability "
        f"{format_small(chart.exploitability_bb)} bb"
    )
