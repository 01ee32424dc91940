# SPDX-License-Identifier: Apache-2.0
"""`equipoise train values`: networks that say what hands are worth, from solved situations, in one folder."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import typer
from rich.console import Console
from rich.table import Table

from equipoise.apps.display import make_console
from equipoise.apps.output import write_json
from equipoise.apps.shared_options import Json, Quiet, ResumeOut, TensorBoard
from equipoise.apps.signals import SignalFlag
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.pool import Pool
from equipoise.core.runs import RunFolder
from equipoise.distributed.pools import open_pool
from equipoise.evaluation.plots import PanelLabels, plot_panels
from equipoise.learning.scalar_board import ScalarBoard, find_writer, open_board
from equipoise.learning.values.chain import Filling, ValueChain
from equipoise.learning.values.filling import FillingProgress, generate
from equipoise.learning.values.measures import Errors
from equipoise.learning.values.presets import PRESETS, NetRecipe, Preset, find_preset
from equipoise.learning.values.shards import ShardFolder
from equipoise.learning.values.shipped import SHIPPED

__all__ = ["TrainValuesOptions", "train_values"]

KIND: Final = "training"  # of a run's folder
GENERATION_SHARE: Final = 0.65  # of a network's time
FILLING_SHARES: Final = (0.1, 0.7, 0.1, 0.1)  # of that: situations held out, situations, what comes beside them
SECONDS_PER_HOUR: Final = 3600.0
TOLD_SECONDS: Final = 1.0  # between two events that say where a training stands


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrainValuesOptions:
    """What `equipoise train values` is told."""

    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "How long": ("hours", "samples", "met", "steps", "rate", "seed"),
        "What is done": ("street", "data_only", "measure", "players", "start_from"),
        "With what": ("workers", "ray", "device"),
        "Where to keep it": ("resume", "overwrite", "tensorboard", "json", "quiet"),
    }
    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise train values --preset leduc --out nets",
        "equipoise train values --preset leduc --out nets --resume",
    )

    preset: Annotated[str, typer.Option(help=f"What is trained: {', '.join(PRESETS)}.")] = "holdem-cpu"
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of situations, weights and logs.", metavar="DIR")]
    street: Annotated[
        str | None, typer.Option(help="Only this network: river, turn-end, turn, ..., limit, nolimit", metavar="NAME")
    ] = None
    hours: Annotated[
        float | None, typer.Option(min=0.001, help="Time for all networks; situations and steps shrink to fit.")
    ] = None
    samples: Annotated[int | None, typer.Option(min=1, help="Situations of each network.")] = None
    met: Annotated[
        int | None,
        typer.Option(min=0, help="Of each network, situations beside that are met in play."),
    ] = None
    steps: Annotated[int | None, typer.Option(min=1, help="Steps of each training.")] = None
    rate: Annotated[float | None, typer.Option(min=1e-9, max=0.999, help="Highest learning rate.")] = None
    workers: Annotated[int, typer.Option("--workers", "-w", min=1, help="Processes that solve situations.")] = 1
    ray: Annotated[
        str | None, typer.Option(help="Solve on this Ray cluster: an address, or local.", metavar="ADDRESS")
    ] = None
    device: Annotated[
        str,
        typer.Option(help="Device that trains, as torch names it; by default CUDA where there is one.", metavar="NAME"),
    ] = ""
    data_only: Annotated[
        bool, typer.Option("--data-only", help="Make situations and stop: for more machines on the same folder.")
    ] = False
    measure: Annotated[
        bool,
        typer.Option(
            "--measure", help="Train nothing: measure the weights in --out on situations held out, for their cards."
        ),
    ] = False
    tensorboard: TensorBoard = None
    seed: Annotated[int, typer.Option(min=0, help="Of situations.")] = 1
    players: Annotated[
        Path | None,
        typer.Option(help="Networks that play the hands in which situations are met; else those of the package."),
    ] = None
    start_from: Annotated[
        Path | None,
        typer.Option(
            help="Folder of earlier networks whose weights training begins with; else random ones.", metavar="DIR"
        ),
    ] = None
    resume: ResumeOut = False
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Train anew in --out; its situations are kept and used.")
    ] = False
    json: Json = False
    quiet: Quiet = False


def train_values(options: TrainValuesOptions) -> None:
    """Train the networks that say what hands are worth, from solved situations: the river first, then up.

    Situations are kept in shards as they come, the training every minute: stop it at any time and give --resume. Any
    number of machines can fill the same folder with --data-only.
    """
    is_training = not (options.data_only or options.measure)
    if is_training:  # said now, not after hours of situations
        from equipoise.learning.torch_extra import find_device  # noqa: PLC0415 - an extra

        find_device(options.device)
    writer = find_writer(is_wanted=options.tensorboard) if is_training else None
    preset = _shrink(find_preset(options.preset), options)
    recipes = preset.recipes if options.street is None else (preset.find(options.street),)
    console = make_console(is_quiet=options.quiet)
    results: dict[str, Any] = {}
    with SignalFlag() as flag, open_pool(options.workers, options.ray) as pool, contextlib.ExitStack() as stack:
        folder = _open_folder(options)  # last: what is refused leaves none
        players, start = options.players or SHIPPED, options.start_from
        chain = ValueChain(options.out, preset, seed=options.seed, players=players, start=start, device=options.device)
        budget = _find_budget(recipes, options.hours)
        session = _Session(chain, console, budget, command=_spell(options), is_resumed=options.resume)
        if is_training:
            stack.enter_context(folder.writing())
            session.folder = folder
            session.board = stack.enter_context(open_board(folder, writer))
        for recipe in recipes:
            session.fill(recipe, pool, flag, is_measured=options.measure)
            if flag():
                break  # the situations of the next network need this one
            if options.data_only:
                continue
            results[recipe.name] = session.measure(recipe) if options.measure else session.train(recipe, flag)
        if results and is_training:
            session.plot(options.out / "errors.png")
    _show(results, options, console)
    if flag():
        console.print("interrupted: give --resume to go on", style="yellow")
        raise typer.Exit(flag.exit_code)


def _open_folder(options: TrainValuesOptions) -> RunFolder:
    return RunFolder.open_or_create(
        options.out,
        KIND,
        {"preset": options.preset, "seed": options.seed, "samples": options.samples, "steps": options.steps},
        is_resumed=options.resume or options.data_only or options.measure,
        is_overwritten=options.overwrite,
    )


class _Session:
    """What one call of the command does, network by network."""

    def __init__(
        self, chain: ValueChain, console: Console, seconds: dict[str, float] | None, *, command: str, is_resumed: bool
    ) -> None:
        self.chain, self.console, self.seconds = chain, console, seconds
        self.command, self.is_resumed = command, is_resumed
        self.folder: RunFolder | None = None
        self.board: ScalarBoard | None = None
        self.curves: dict[str, list[tuple[int, dict[str, Any]]]] = {}

    def record(self, event: str, **fields: Any) -> None:
        """Adds an event to the run's folder."""
        if self.folder is not None:
            self.folder.record(event, **fields)
        if self.board is not None:
            self.board.follow()

    def fill(self, recipe: NetRecipe, pool: Pool, flag: SignalFlag, *, is_measured: bool = False) -> None:
        """Makes the situations of a network, only those held out where it is measured."""
        fillings = self.chain.fillings(recipe)[: 1 if is_measured else None]
        given = math.inf if self.seconds is None else GENERATION_SHARE * self.seconds[recipe.name]
        whole = sum(FILLING_SHARES[: len(fillings)])
        for filling, share in zip(fillings, FILLING_SHARES, strict=False):
            shards = self.chain.shards(filling)
            missing = filling.num_shards - len(shards.numbers())
            if missing <= 0 or flag():
                continue
            self._generate(recipe, filling, shards, pool, time.monotonic() + given * share / whole, flag)

    def _generate(
        self, recipe: NetRecipe, filling: Filling, shards: ShardFolder, pool: Pool, deadline: float, flag: SignalFlag
    ) -> None:
        with TaskDisplay(self.console, f"{filling.name}: situations") as display:
            display.update(len(shards.numbers()) / filling.num_shards, "the first shard is under way")

            def show(progress: FillingProgress) -> None:
                rate = f"{progress.situations_per_second:.1f} a second"
                share, text = progress.shards / filling.num_shards, f"{progress.situations:,} situations, {rate}"
                display.update(share, text, progress.seconds_left)
                self.record(
                    "shard",
                    network=recipe.name,
                    data=filling.name,
                    shards=progress.shards,
                    situations_per_second=progress.situations_per_second,
                )

            generate(
                shards,
                filling.source,
                pool,
                until=filling.num_shards,
                deadline=deadline,
                on_shard=show,
                is_interrupted=flag,
            )

    def train(self, recipe: NetRecipe, flag: SignalFlag) -> dict[str, Any]:
        """Trains a network and returns what came of it."""
        trainer = self.chain.trainer(recipe, is_resumed=self.is_resumed)
        if trainer.is_done:
            self.console.print(f"{recipe.name}: trained already, {trainer.step:,} steps; --overwrite trains it anew")
            return {}
        if self.seconds is not None:
            trainer.fit((1.0 - GENERATION_SHARE) * self.seconds[recipe.name])
        curve = self.curves.setdefault(recipe.name, [])
        began = told = time.monotonic()
        last: dict[str, Any] = {}
        with TaskDisplay(self.console, f"{recipe.name}: training") as display:
            for record in self.chain.train(recipe, trainer, command=self.command, is_over=flag):
                said = f"step {record.step:,}, loss {record.loss:.5f}"
                if record.errors is not None:
                    last = {"step": record.step, "loss": record.loss, **_describe(record.errors)}
                    curve.append((record.step, last))
                    self.record("measured", network=recipe.name, **last)
                elif time.monotonic() - told > TOLD_SECONDS:
                    told = time.monotonic()
                    losses = {"loss": record.loss, "toy_loss": record.toy_loss}
                    self.record("stepped", network=recipe.name, step=record.step, **losses)
                if last:
                    said += f", RMS {last['rms']:.2f} % of the pot, by range {last['weighted_rms']:.2f} %"
                display.update(record.step / trainer.settings.steps, said)
        self.record(
            "trained", network=recipe.name, step=trainer.step, kept=trainer.kept_step, seconds=time.monotonic() - began
        )
        if trainer.kept_step < trainer.step:
            self.console.print(
                f"{recipe.name}: best after {trainer.kept_step:,} of {trainer.step:,} steps, and so kept"
            )
        return dict(curve).get(trainer.kept_step, last)

    def measure(self, recipe: NetRecipe) -> dict[str, Any]:
        """Measures a network as it is, notes it in its card and returns it."""
        errors = self.chain.measure(recipe)
        self.chain.note(recipe, errors, command=self.command)
        return _describe(errors)

    def plot(self, path: Path) -> None:
        """Draws the errors over the steps of each training."""
        panels = {
            name: {
                "RMS": [(step, each["rms"]) for step, each in curve],
                "by range": [(step, each["weighted_rms"]) for step, each in curve],
                "median": [(step, each["median"]) for step, each in curve],
            }
            for name, curve in self.curves.items()
            if curve
        }
        if panels:
            labels = PanelLabels("steps", "error in % of the pot")
            plot_panels(panels, path, title="errors on situations held out", labels=labels)
            self.console.print(f"written: {path}")


def _describe(errors: Errors) -> dict[str, Any]:
    """Returns the measures over all situations and by band."""
    bands = {f"{low:g}-{high:g}": dataclasses.asdict(each) for (low, high), each in errors.bands().items()}
    return {**dataclasses.asdict(errors.report()), "bands": bands}


def _spell(options: TrainValuesOptions) -> str:
    """Returns the command that makes the same weights anywhere: folders are left open."""
    words = ["equipoise", "train", "values", "--preset", options.preset, "--out", "DIR"]
    for name in ("street", "hours", "samples", "met", "steps", "rate", "seed"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name}", str(value)]
    words += [] if options.start_from is None else ["--start-from", "EARLIER"]  # the card says which network
    words += ["--measure"] if options.measure else []
    return shlex.join(words)


def _shrink(preset: Preset, options: TrainValuesOptions) -> Preset:
    """Returns a preset with the numbers that were asked for."""
    recipes = []
    for recipe in preset.recipes:
        given = {name: value for name in ("steps", "rate") if (value := getattr(options, name)) is not None}
        settings = dataclasses.replace(recipe.settings, **given)
        samples = recipe.samples if options.samples is None else options.samples
        held_out = recipe.held_out if options.samples is None else min(recipe.held_out, options.samples)
        per_shard = min(recipe.per_shard, samples)
        toys = recipe.toys if options.samples is None else min(recipe.toys, 6 * samples)
        met = recipe.met if options.samples is None else min(recipe.met, samples)
        met = options.met if recipe.met and options.met is not None else met
        recipes.append(
            dataclasses.replace(
                recipe, settings=settings, samples=samples, held_out=held_out, per_shard=per_shard, toys=toys, met=met
            )
        )
    return dataclasses.replace(preset, recipes=tuple(recipes))


def _find_budget(recipes: tuple[NetRecipe, ...], hours: float | None) -> dict[str, float] | None:
    """Returns the seconds of each network, None if there is no limit."""
    if hours is None:
        return None
    whole = sum(recipe.hours for recipe in recipes)
    return {recipe.name: hours * SECONDS_PER_HOUR * recipe.hours / whole for recipe in recipes}


def _show(results: dict[str, Any], options: TrainValuesOptions, console: Console) -> None:
    if options.json:
        write_json(results)
        return
    if not results or options.quiet:
        return
    table = Table(title="errors in % of the pot, on situations held out")
    for name in ("network", "steps", "RMS", "by range", "median", "Huber"):
        table.add_column(name, justify="left" if name == "network" else "right")
    for name, last in results.items():
        if last:
            table.add_row(
                name,
                f"{last['step']:,}" if "step" in last else "",
                *(f"{last[measure]:.2f}" for measure in ("rms", "weighted_rms", "median")),
                f"{last['huber']:.5f}",
            )
    make_console(is_stderr=False).print(table)
    console.print(f"weights are in {options.out}")
