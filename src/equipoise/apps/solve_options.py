# SPDX-License-Identifier: Apache-2.0
"""What `equipoise solve` can be told; `compare` shares a part of it."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from equipoise.apps.completion import complete_game, complete_method, complete_rule
from equipoise.apps.names import MAX_HISTORIES, METHODS, PRUNINGS, RESPONSES, RULES, SAMPLED_PRUNINGS, Bound, Forms
from equipoise.apps.shared_options import GameParameters, Json, Quiet, Threads

__all__ = ["GameOptions", "Guesses", "Kept", "Precision", "SolveOptions", "Updates"]


class Updates(enum.StrEnum):
    """Whether players see each other's updates of the same iteration."""

    ALTERNATING = "alternating"
    SIMULTANEOUS = "simultaneous"


class Guesses(enum.StrEnum):
    """What shares a guess of sampled values."""

    INFOSET = "infoset"
    HISTORY = "history"


class Kept(enum.StrEnum):
    """Which profile of a run is kept."""

    LAST = "last"
    BEST = "best"


class Precision(enum.StrEnum):
    """What the tables of a spot are stored in."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"
    INT16 = "int16"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MachineOptions:
    """What a game is told, and how much of the machine it may take."""

    parameters: GameParameters = None
    max_histories: Annotated[int, typer.Option(min=1, help="Refuse games with more.")] = MAX_HISTORIES
    threads: Threads = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GameOptions(MachineOptions):
    """Which game, and how much of the machine it may take."""

    game: Annotated[
        str,
        typer.Argument(help="A game that `equipoise games` lists, or openspiel:NAME.", autocompletion=complete_game),
    ]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SolveOptions(MachineOptions):
    """What `equipoise solve` is told."""

    about: ClassVar[str] = """Solve a game or a hold'em spot and say how exploitable the result is.

    Stops at the first of --iterations, --target and --seconds; with none of them a game at 1e-5 of the payoff range or
    after a minute, a spot at what its file says or 0.5 % of the pot. Ctrl-C keeps what was computed.
    """
    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise solve leduc --target 1e-4 --out leduc.eq",
        "equipoise solve leduc --out leduc.eq --resume --target 1e-5",
        "equipoise solve examples/spots/turn.toml --out turn.eq",
        "equipoise solve examples/spots/first_flop.toml --dry-run",
        "equipoise solve --from turn.eq --lock 'check, bet 50%: A2s-A9s: fold' --out locked.eq",
    )
    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "When to stop": ("iterations", "target", "seconds"),
        "Where to keep it": ("out", "run", "resume", "overwrite", "keep", "plot", "json", "quiet"),
        "What it may take": ("dry_run", "yes", "threads", "precision", "max_histories"),
        "Hold'em spots": ("endgame", "menu", "lock", "lock_from", "at", "carry_from"),
        "How": ("rule", "method", "form", "updates", "prune", "baseline", "traversals", "seed"),
        "Against a response": ("against", "updates_per_response", "seat", "merge"),
        "From a strategy": ("warm_start", "warm_start_iterations", "warm_start_lambda", "warm_start_bound"),
    }

    game: Annotated[
        str | None,
        typer.Argument(
            help="A game that `equipoise games` lists, openspiel:NAME, or a hold'em spot SPOT.toml.",
            autocompletion=complete_game,
        ),
    ] = None
    endgame: Annotated[
        Path | None, typer.Option(help="A hold'em spot in the public format of the Libratus endgames.")
    ] = None
    menu: Annotated[
        str | None, typer.Option(help="Bets of a spot: a menu's name, or as in '50%, 100%, a / 100%, a'.")
    ] = None
    lock: Annotated[
        list[str] | None,
        typer.Option(
            help="Fix what is done in a spot, as in 'check, bet 50%: AK, QQ+: fold=25%, call'; repeat it.",
            metavar="LINE:[HANDS:]PLAY",
        ),
    ] = None
    lock_from: Annotated[
        Path | None, typer.Option(help="Fix what is done in a spot to what this solved file does.", metavar="FILE")
    ] = None
    at: Annotated[
        list[str] | None,
        typer.Option("--at", help="With --lock-from: at this line (default the root); repeat it.", metavar="LINE"),
    ] = None
    carry_from: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Begin with the regrets of this solved file, the same but for its locks; without a spot: its own.",
            metavar="FILE",
        ),
    ] = None
    precision: Annotated[Precision | None, typer.Option(help="Of a spot's tables (default float32).")] = None
    keep: Annotated[
        Kept | None,
        typer.Option(help="Of a game's run: the last profile (default) or, when it ends, the best one measured."),
    ] = None
    rule: Annotated[
        str | None,
        typer.Option(
            help=f"One of {', '.join(RULES)}; with numbers: dcfr(1.5,0,2); file.py:Class for your own (default dcfr).",
            autocompletion=complete_rule,
        ),
    ] = None
    method: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(METHODS)} (default cfr).", autocompletion=complete_method)
    ] = None
    form: Annotated[
        Forms | None,
        typer.Option(
            help="Sweep single histories, or public states with all private states at once, or sample the rules "
            "without a tree: external and outcome, for games too large for one (default history; vector where a "
            "game says its public states itself)."
        ),
    ] = None
    prune: Annotated[
        str | None,
        typer.Option(
            help=f"Leave out what cannot matter: {', '.join(PRUNINGS)} of cfr, {', '.join(SAMPLED_PRUNINGS)} of "
            "external sampling, with prefixes and numbers as in docs/cli.md.",
            metavar="NAME",
        ),
    ] = None
    updates: Annotated[
        Updates | None,
        typer.Option(help="Whether players see each other's updates of the same iteration (default alternating)."),
    ] = None
    against: Annotated[
        str | None,
        typer.Option(
            help=f"Train against a response in place of each other: {', '.join(RESPONSES)}, as in uct:10000 or best.",
            metavar="RESPONSE",
        ),
    ] = None
    updates_per_response: Annotated[
        int | None, typer.Option(min=1, help="With --against: how many updates an answer stands for (default 1).")
    ] = None
    seat: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=1,
            help="With --against: learn in this seat alone (default both). With --lock-from: lock all of this player's "
            "decisions from --at on, to the end of the street.",
        ),
    ] = None
    merge: Annotated[
        str | None,
        typer.Option(
            help="With --against: what learners cannot read in information states, as in '[JQK]'.", metavar="PATTERN"
        ),
    ] = None
    iterations: Annotated[int | None, typer.Option("--iterations", "-n", help="Stop after so many in total.")] = None
    target: Annotated[
        str | None,
        typer.Option(
            help="Stop at this exploitability; for spots in chips, or as in 0.5% (of the pot) or 20mbb.",
            metavar="AMOUNT",
        ),
    ] = None
    seconds: Annotated[float | None, typer.Option(help="Stop after this time in total.")] = None
    seed: Annotated[int | None, typer.Option(min=0, help="Of methods that sample (default 0).")] = None
    warm_start: Annotated[
        Path | None,
        typer.Option(help="Start from the strategy in this file, of the same game or spot.", metavar="FILE"),
    ] = None
    warm_start_iterations: Annotated[
        str | None, typer.Option(help="How many iterations it stands for (default auto: by a short run).", metavar="T")
    ] = None
    warm_start_lambda: Annotated[
        str | None, typer.Option(help="Share of the bound on regrets that is used (default auto).", metavar="L")
    ] = None
    warm_start_bound: Annotated[
        Bound | None, typer.Option(help="External reach in it, or its square (default reach2).")
    ] = None
    baseline: Annotated[
        Guesses | None,
        typer.Option(help="Correct sampled values by guesses, one for each action of an information set or history."),
    ] = None
    traversals: Annotated[
        int | None,
        typer.Option(
            min=1, help="Of each player in an iteration of a method that samples, under one strategy.", metavar="K"
        ),
    ] = None
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Keep strategy and run in this file.")] = None
    run: Annotated[
        Path | None,
        typer.Option(help="Keep the run in this folder: what was asked for, events, result.eq.", metavar="DIR"),
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out or --run.")] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing --out or --run.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would take in memory and time, and stop.")] = (
        False
    )
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Take more than half of the free memory unasked.")] = False
    plot: Annotated[Path | None, typer.Option(help="Draw the curve: .png, .svg or .pdf.")] = None
    json: Json = False
    quiet: Quiet = False
