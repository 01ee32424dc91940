# SPDX-License-Identifier: Apache-2.0
"""`equipoise train` and `equipoise bench`: which commands they have; a command is loaded when it is run."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import typer

from equipoise.apps.commands import CommandEntry, LazyGroup
from equipoise.apps.help_page import COMMANDS, format_examples

__all__ = ["bench_app", "train_app"]


def _enter(place: str, options: str, summary: str) -> CommandEntry:
    """Returns the entry of a command whose options are in its own module."""
    return CommandEntry(COMMANDS, summary, place, f"{place.partition(':')[0]}:{options}")


class TrainGroup(LazyGroup):
    """What is trained."""

    entries: ClassVar[Mapping[str, CommandEntry]] = {
        "values": _enter(
            "train:train_values",
            "TrainValuesOptions",
            "Train the networks that say what hands are worth, from solved situations: the river first, then up.",
        ),
        "pog": _enter(
            "train_pog:train_pog",
            "TrainPogOptions",
            "Learn values and policies by sound self-play (Player of Games): searches grow trees that end with a "
            "network.",
        ),
        "blueprint": _enter(
            "train_blueprint:train_blueprint",
            "TrainBlueprintOptions",
            "Train a blueprint of hold'em for two to six players; `match` plays it as blueprint:DIR/blueprint.eq.",
        ),
        "deep-cfr": _enter(
            "train_deep_cfr:train_deep_cfr",
            "TrainDeepCFROptions",
            "Learn regrets with networks (Deep CFR) or by neural fictitious self-play, in any game.",
        ),
        "rebel": _enter(
            "train_rebel:train_rebel",
            "TrainRebelOptions",
            "Learn what beliefs are worth by self-play (ReBeL): searches end with a network, which learns what they "
            "find.",
        ),
    }


class BenchGroup(LazyGroup):
    """What is measured."""

    entries: ClassVar[Mapping[str, CommandEntry]] = {
        "tabular": _enter(
            "bench.commands:tabular",
            "TabularOptions",
            "Time CFR in Equipoise, OpenSpiel and LiteEFG on the same games, and Equipoise on ever larger trees.",
        ),
        "holdem": _enter(
            "bench.commands:holdem",
            "HoldemOptions",
            "Time hold'em spots: an iteration, beside the time in which memory moves its tables, and the way to two "
            "targets.",
        ),
        "responses": _enter(
            "bench.commands:responses",
            "ResponsesOptions",
            "Time responses in processor time: an iteration of UCT, a hand that FBR watches, an update of CFR-BR.",
        ),
        "matches": _enter(
            "bench.commands:matches",
            "MatchesOptions",
            "Time matches between blueprints of hold'em: hands a second in batches and hand by hand.",
        ),
        "values": _enter(
            "bench.commands:values",
            "ValuesOptions",
            "Time the situations that value networks learn from: rivers solved with all hands, and toy rivers.",
        ),
        "page": _enter(
            "bench.commands:page",
            "PageOptions",
            "Time the page's server: answers to one reader and to many while it solves, and what these cost the solve.",
        ),
        "search": _enter(
            "bench.commands:search",
            "SearchOptions",
            "Time hold'em searches with all hands and a gate attached: rivers, and turns down to the river.",
        ),
        "decisions": _enter(
            "bench.commands:decisions",
            "DecisionsOptions",
            "Time the decisions of an agent that plays hold'em: the first of all, each street's, all others.",
        ),
        "beliefs": _enter(
            "bench.commands:beliefs",
            "BeliefsOptions",
            "Time the searches of self-play over beliefs (`train rebel`): a second of CPU time, by lanes.",
        ),
        "first-evening": _enter(
            "bench.commands:first_evening",
            "FirstEveningOptions",
            "Time what newcomers wait for: start, a first flop, Ctrl-C, a file opened again, the commands of the "
            "README.",
        ),
    }


train_app = typer.Typer(cls=TrainGroup, help="Train networks and blueprints.", no_args_is_help=True)
bench_app = typer.Typer(cls=BenchGroup, help="Measure speed beside other programs; print the signature of results.")


@train_app.callback()
def train() -> None:
    """Train networks and blueprints."""


@bench_app.callback(invoke_without_command=True, epilog=format_examples(("equipoise bench --signature",)))
def bench(
    context: typer.Context,
    signature: Annotated[
        bool, typer.Option("--signature", help="Print one short hash over what the solvers compute.")
    ] = False,
) -> None:
    """Measure speed beside other programs; print the signature of results."""
    if signature:
        compute: Any = importlib.import_module("equipoise.apps.bench.signature").compute_signature
        typer.echo(compute())
        raise typer.Exit()
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
