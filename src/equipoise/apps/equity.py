# SPDX-License-Identifier: Apache-2.0
"""`equipoise equity`: two ranges against each other if nobody bets again, by listing every board."""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, Any, ClassVar

import numpy as np
import typer
from rich.console import Group

from equipoise.apps.display import ConsoleReporter, make_console
from equipoise.apps.output import make_rows, print_result, write_json
from equipoise.apps.shared_options import Quiet
from equipoise.core.interruption import call_interruptibly
from equipoise.core.provenance import version
from equipoise.games.holdem.cards import format_board, format_deck, parse_deck
from equipoise.games.holdem.equity import Equity, compute_equity
from equipoise.games.holdem.hands import hands_of

__all__ = ["EquityOptions", "equity"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EquityOptions:
    """What `equipoise equity` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise equity AhAs KdKc",
        "equipoise equity 'QQ+, AKs' '22+, A2s+' --board Ks7h2d --classes",
    )

    first: Annotated[str, typer.Argument(help="A range, as in 'QQ+, AKs, AhKd:0.5'.")]
    second: Annotated[str, typer.Argument(help="The range that it meets.")]
    board: Annotated[str, typer.Option(help="Cards dealt: none, a flop, a turn or a river.")] = ""
    deck: Annotated[str, typer.Option(help="full, short or RANKS/SUITS.")] = "full"
    classes: Annotated[bool, typer.Option("--classes", help="Also what each class of hands has, the best first.")] = (
        False
    )
    json: Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")] = False
    quiet: Quiet = False


def equity(options: EquityOptions) -> None:
    """Say what share of the pot two ranges win if nobody bets again; exact, every board is listed.

    A flop takes hundredths of a second, classes of hands before the flop seconds; ranges that single out suits before
    the flop take up to a minute.
    """
    found: list[Equity] = []
    work = functools.partial(compute_equity, options.first, options.second, options.board, parse_deck(options.deck))
    with ConsoleReporter(make_console(is_quiet=options.quiet)).stage("listing boards"):
        call_interruptibly(lambda: found.append(work()))
    if options.json:
        write_json(_describe(found[0]))
    else:
        print_result(_as_table(found[0], has_classes=options.classes), is_quiet=options.quiet)


def _describe(found: Equity) -> dict[str, Any]:
    """Returns an equity under the documented keys."""
    return {
        "board": format_board(found.board),
        "deck": format_deck(found.deck),
        "showdowns": found.total,
        "ties": found.ties,
        "players": [
            {
                "equity": found.equity[player],
                "wins": found.wins[player],
                "combos": float(found.reach[player].sum()),
                "classes": _list_classes(found, player),
            }
            for player in (0, 1)
        ],
        "version": version(),
    }


def _list_classes(found: Equity, player: int) -> dict[str, float]:
    """Returns the share of the pot of each class of hands in a range, the best first."""
    hands = hands_of(found.deck)
    equities, reach = found.hand_equities[player], found.reach[player]
    is_met = ~np.isnan(equities)
    weights = np.where(is_met, reach * found.hand_totals[player], 0.0)
    sums = np.bincount(hands.classes, weights * np.where(is_met, equities, 0.0), minlength=len(hands.class_names))
    totals = np.bincount(hands.classes, weights, minlength=len(hands.class_names))
    shares = {hands.class_names[i]: float(sums[i] / totals[i]) for i in np.flatnonzero(totals)}
    return dict(sorted(shares.items(), key=lambda row: -row[1]))


def _as_table(found: Equity, *, has_classes: bool) -> Group:
    where = f"on {format_board(found.board)}" if found.board else "before the flop"
    rows = []
    for player, name in enumerate(("first", "second")):
        shares = [found.equity[player], found.wins[player] / found.total, found.ties / found.total]
        rows.append([name, *(f"{share:.2%}" for share in shares), f"{found.reach[player].sum():g}"])
    title = f"Equity {where}, {found.total:,.0f} showdowns"
    table = make_rows(("range", "equity", "wins", "ties", "combos"), rows, title=title, spare=("combos", "ties"))
    if not has_classes:
        return Group(table)
    lists = [f"{name}: " + ", ".join(f"{hand} {share:.1%}" for hand, share in _list_classes(found, player).items())
             for player, name in enumerate(("first", "second"))]  # fmt: skip
    return Group(table, *lists)
