# SPDX-License-Identifier: Apache-2.0
"""`equipoise blueprint`: hold'em in buckets, trained by public chance sampling, in a file that agents play from."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Annotated, ClassVar, Final

import numpy as np
import typer

from equipoise.abstraction.bucketed_strategy import BucketedStrategy, BucketRecipe
from equipoise.abstraction.buckets import Percentile, PotentialAware
from equipoise.apps.display import make_console
from equipoise.apps.output import print_result, write_json
from equipoise.apps.shared_options import Json, Quiet
from equipoise.apps.signals import SignalFlag
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.core.files import check_writable, format_bytes, lock
from equipoise.core.formatting import format_duration
from equipoise.core.machine import describe_origin
from equipoise.games.holdem.spot_file import SpotFile, load_spot
from equipoise.solvers.holdem.bucketed import BucketedSolver
from equipoise.trees.holdem.bucketed import build_bucketed_tree

__all__ = ["BlueprintOptions", "blueprint", "load_bucketed_spot"]

SECONDS_BETWEEN_SAVES: Final = 30.0
STEP_SECONDS: Final = 0.5  # of iterations between two looks at signals


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BlueprintOptions:
    """What `equipoise blueprint` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise blueprint examples/spots/small_preflop.toml --buckets 10 --iterations 2000 -o preflop.eq",
    )

    spot: Annotated[Path, typer.Argument(help="A spot's file, as `solve` reads it.", metavar="SPOT.toml")]
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the blueprint is kept.")]
    buckets: Annotated[int, typer.Option(min=1, help="Of each street from the flop on; before it every class.")] = 50
    abstraction: Annotated[
        str, typer.Option(help="How cards are put together: percentile (of strength) or potential (of what may come).")
    ] = "percentile"
    recall: Annotated[bool, typer.Option("--recall", help="Buckets within each bucket of the street before.")] = False
    iterations: Annotated[int, typer.Option("--iterations", "-n", min=1, help="Runouts of each player.")] = 1000
    seed: Annotated[int, typer.Option(min=0, help="Of runouts.")] = 0
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing --out.")] = False
    json: Json = False
    quiet: Quiet = False


def blueprint(options: BlueprintOptions) -> None:
    """Train a strategy of hold'em in buckets by public chance sampling; `match` plays it as file:PATH."""
    console = make_console(is_quiet=options.quiet)
    file = load_bucketed_spot(options.spot, options.out, is_replaced=options.overwrite, what="blueprints")
    sizes = None, options.buckets, options.buckets, options.buckets
    recipe = BucketRecipe(method=_find_method(options), sizes=sizes)
    with SignalFlag() as flag, lock(options.out):
        buckets = None
        with flag.raising(), TaskDisplay(console, "card buckets") as display:
            buckets = recipe.build(file.spot, on_progress=display.update)
        if buckets is None:
            console.print("interrupted among the card buckets: nothing is trained or saved yet", style="yellow")
            raise typer.Exit(flag.exit_code)
        tree = build_bucketed_tree(file.spot, buckets)
        solver = BucketedSolver(tree, rng=np.random.default_rng(options.seed))
        console.print(
            f"{file.spot.name}: {len(tree.decisions):,} decisions, tables of {format_bytes(solver.num_bytes)}"
        )
        began = time.perf_counter()
        _train(options, solver, recipe, flag, TaskDisplay(console, "blueprint"))
        seconds = time.perf_counter() - began
        BucketedStrategy.of(solver, recipe).save(options.out, {"iteration": solver.iteration, "seed": options.seed})
    if options.json:
        write_json(
            {
                "spot": str(options.spot),
                "out": str(options.out),
                "buckets": options.buckets,
                "recall": options.recall,
                "iterations": solver.iteration,
                "seconds": seconds,
                "seed": options.seed,
                **describe_origin(),
            }
        )
    else:
        text = f"{solver.iteration:,} iterations in {format_duration(seconds)}, blueprint in {options.out}"
        print_result(text, is_quiet=options.quiet)
    if flag():
        console.print("interrupted: the blueprint so far is kept", style="yellow")
        raise typer.Exit(flag.exit_code)


def load_bucketed_spot(path: Path, out: Path, *, is_replaced: bool, what: str) -> SpotFile:
    """Returns a spot of which a strategy in buckets is to be written to `out`; raises where either cannot be."""
    if out.exists() and not is_replaced:
        raise ConfigError(f"{out} exists: --overwrite replaces it")
    check_writable(out)
    file = load_spot(path)
    if file.locks:
        raise ConfigError(f"{path} has locks, which {what} cannot keep")
    return file


def _find_method(options: BlueprintOptions) -> Percentile | PotentialAware:
    """Returns how buckets are made."""
    if options.abstraction == "percentile":
        return Percentile(has_recall=options.recall)
    if options.abstraction != "potential":
        raise UnknownNameError("abstraction", options.abstraction, ("percentile", "potential"))
    if options.recall:
        raise ConfigError("--recall is of percentile buckets alone")
    return PotentialAware()


def _train(
    options: BlueprintOptions, solver: BucketedSolver, recipe: BucketRecipe, flag: SignalFlag, display: TaskDisplay
) -> None:
    """Iterates to the number asked for, or to a signal; saves on the way."""
    step, last_save = 1, time.perf_counter()
    with display:
        while solver.iteration < options.iterations and not flag():
            began = time.perf_counter()
            solver.iterate(min(step, options.iterations - solver.iteration))
            spent = time.perf_counter() - began
            step = max(1, min(2 * step, int(step * STEP_SECONDS / max(spent, 1e-6))))
            display.update(solver.iteration / options.iterations, f"{solver.iteration:,} iterations")
            if time.perf_counter() - last_save > SECONDS_BETWEEN_SAVES:
                BucketedStrategy.of(solver, recipe).save(
                    options.out, {"iteration": solver.iteration, "seed": options.seed}
                )
                last_save = time.perf_counter()
