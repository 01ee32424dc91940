# SPDX-License-Identifier: Apache-2.0
"""`equipoise model`: what an opponent did in recorded hands, as a strategy of a spot that responses learn from."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from equipoise.abstraction.bucketed_strategy import BucketedStrategy, BucketRecipe
from equipoise.apps.blueprint import load_bucketed_spot
from equipoise.apps.display import make_console
from equipoise.apps.output import print_result, write_json
from equipoise.apps.shared_options import Json, Quiet
from equipoise.apps.signals import SignalFlag
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.errors import ConfigError
from equipoise.core.machine import describe_origin
from equipoise.games.holdem.acpc import load_definition
from equipoise.games.holdem.betting import BettingRules
from equipoise.games.holdem.hand_files import is_log, read_hands
from equipoise.games.holdem.records import RecordedHand
from equipoise.responses.recorded import CountedPlay, count_play
from equipoise.trees.holdem.bucketed import build_bucketed_tree

__all__ = ["ModelOptions", "model"]

SHOWN_NAMES = 8


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """What `equipoise model` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise model hands.phh --spot spot.toml --player villain --out model.eq",
        "equipoise model match.log --definition holdem.game --spot spot.toml --buckets 10 --out model.eq",
    )

    hands: Annotated[Path, typer.Argument(help="Hands that were played: PHH, or a log of the ACPC.", metavar="HANDS")]
    spot: Annotated[Path, typer.Option(help="The spot's file, as `solve` reads it.", metavar="SPOT.toml")]
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the model is kept.", metavar="FILE")]
    player: Annotated[
        list[str] | None, typer.Option(help="Whose decisions count, may be repeated; everybody's.", metavar="NAME")
    ] = None
    definition: Annotated[
        Path | None, typer.Option(help="The game of a log; the ACPC's heads-up no-limit.", metavar="FILE")
    ] = None
    buckets: Annotated[int, typer.Option(min=1, max=1000, help="Parts by strength into which hands are put.")] = 20
    within: Annotated[float, typer.Option(min=1.0, help="Factor by which stacks, in pots, may differ.")] = 2.0
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing --out.")] = False
    json: Json = False
    quiet: Quiet = False


def model(options: ModelOptions) -> None:
    """Count what players did in recorded hands at the decisions of a spot, and keep it as a strategy.

    Hands between two players count, on every board, from the spot's street on; hands are put together by strength, and
    bets by their share of the pot. Only hands whose cards are known count. Where nothing was seen, the model calls.
    """
    console = make_console(is_quiet=options.quiet)
    file = load_bucketed_spot(options.spot, options.out, is_replaced=options.overwrite, what="models")
    hands = read_hands(options.hands, _find_rules(options))
    _check_players(options, hands)
    recipe = BucketRecipe(sizes=(None, options.buckets, options.buckets, options.buckets))
    counted = None
    with SignalFlag() as flag, flag.raising():
        with TaskDisplay(console, "card buckets") as display:
            buckets = recipe.build(file.spot, on_progress=display.update)
        tree = build_bucketed_tree(file.spot, buckets)
        players = None if options.player is None else set(options.player)
        with TaskDisplay(console, "counting") as display:
            counted = count_play(tree, hands, players=players, within=options.within, on_progress=display.update)
    if counted is None:
        console.print("interrupted: nothing is saved", style="yellow")
        raise typer.Exit(flag.exit_code)
    if not counted.num_decisions:
        raise ConfigError(f"none of {len(hands):,} hands counts: {_format_passed(counted)}")
    origin = {**counted.as_json(), "players": options.player, "buckets": options.buckets, "within": options.within}
    BucketedStrategy(tree, recipe, counted.sums).save(options.out, {"counted": origin})
    if options.json:
        write_json({"hands": str(options.hands), "out": str(options.out), **origin, **describe_origin()})
        return
    console.print(f"passed over: {_format_passed(counted)}")
    if counted.num_lost:
        console.print(f"{counted.num_lost:,} decisions came after bets that lead out of the spot's betting")
    print_result(
        f"{counted.num_decisions:,} decisions in {counted.num_used:,} of {counted.num_hands:,} hands, at "
        f"{counted.num_seen:,} of {counted.num_rows:,} decisions by bucket; model in {options.out}",
        is_quiet=options.quiet,
    )


def _find_rules(options: ModelOptions) -> BettingRules:
    """Returns what a log was played by."""
    if options.definition is None:
        return BettingRules()
    if not is_log(options.hands):
        raise ConfigError(f"--definition is for logs of the ACPC (.log or .acpc), got hands in {options.hands}")
    return load_definition(options.definition).betting_rules


def _check_players(options: ModelOptions, hands: list[RecordedHand]) -> None:
    """Raises `ConfigError` for a player who is in no hand."""
    names = sorted({name for hand in hands for name in hand.names})
    for player in options.player or ():
        if player not in names:
            shown = ", ".join(names[:SHOWN_NAMES]) + (", ..." if len(names) > SHOWN_NAMES else "")
            raise ConfigError(f"{options.hands} has players {shown}, got --player {player}")


def _format_passed(counted: CountedPlay) -> str:
    """Returns why hands were passed over, in a line."""
    return ", ".join(f"{number:,} {reason}" for reason, number in counted.passed.items()) or "none"
