# SPDX-License-Identifier: Apache-2.0
"""`equipoise train blueprint`: hold'em for two to six players by sampled training, in one folder."""

from __future__ import annotations

import dataclasses
import functools
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import typer
from rich.console import Console

from equipoise.abstraction.blueprints import (
    SPECS,
    BlueprintSpec,
    load_spec,
    make_cluster_ground,
    make_deals,
    save_blueprint,
)
from equipoise.agents.bots import MACHINES
from equipoise.apps.display import make_console
from equipoise.apps.output import print_result, write_json
from equipoise.apps.shared_options import Json, OverwriteOut, Quiet, ResumeOut
from equipoise.apps.signals import SignalFlag
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.checkpoint import Kind, load
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.core.files import format_bytes
from equipoise.core.formatting import format_duration
from equipoise.core.machine import describe_origin
from equipoise.core.memory import available_bytes, check_memory
from equipoise.core.posts import LocalPosts
from equipoise.core.runs import RunFolder
from equipoise.kernels.skipping import SkipKind
from equipoise.solvers.blueprints.clustered import ClusteredTrainer
from equipoise.solvers.blueprints.trainer import BlueprintConfig, BlueprintTrainer, estimate_bytes

__all__ = ["TrainBlueprintOptions", "train_blueprint", "train_spec"]

KIND: Final = "blueprint"  # of a run's folder
STATE, BLUEPRINT = "state.eq", "blueprint.eq"
SECONDS_PER_HOUR: Final = 3600.0
SAVE_SECONDS: Final = 30.0  # between checkpoints, at least; twenty times what writing one takes, if that is more
STEP_SECONDS: Final = 0.5  # of training between two looks at signals
EXPECTED_RATE: Final = 40_000  # deals a second and thread: what schedules are laid out for
NUM_PERIODS: Final = 200
SHORTEST_PERIOD, LONGEST_SHORT, NODES_TO_A_DEAL = 1000, 30_000, 50  # of deals, by the size of the tree
NUM_SNAPSHOTS: Final = 40
EARLY: Final = 0.25  # of a training, before snapshots and pruning begin
LATE: Final = 0.9  # after which regret-based sampling explores everything again
GIGABYTE: Final = 10**9
AUTO: Final = "auto"  # a machine's own pruning; none where no machine is trained
PRUNINGS: Final[Mapping[str, SkipKind]] = {
    "none": SkipKind.NONE,
    "pluribus": SkipKind.COIN,
    "libratus": SkipKind.PROBABILISTIC,
    "rbs": SkipKind.REGRET_BASED,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Preset:
    """How much is spent."""

    hours: float
    gigabytes: float


PRESETS: Final[Mapping[str, Preset]] = {
    "minutes": Preset(0.05, 4.0),
    "cpu": Preset(8.0, 12.0),
    "paper": Preset(1000.0, 1000.0),
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrainBlueprintOptions:
    """What `equipoise train blueprint` is told."""

    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "How long": ("hours", "deals", "seed"),
        "What it may take": ("estimate", "threads", "workers", "gb"),
        "How": ("prune", "threshold", "seat"),
        "Where to keep it": ("resume", "overwrite", "json", "quiet"),
    }
    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise train blueprint six --estimate -o six",
        "equipoise train blueprint six --preset cpu --hours 2 -o six",
        "equipoise train blueprint libratus --hours 0.5 -o libratus",
        "equipoise train blueprint baby-tartanian8 --seat 0 -o baby/0",
        "equipoise train blueprint tartanian7 --workers 2 -o tartanian7",
    )

    spec: Annotated[
        str,
        typer.Argument(
            help=f"A TOML file, one of {', '.join(SPECS)}, or a machine: {', '.join(MACHINES)}.",
            metavar="SPEC",
            show_default=False,
        ),
    ]
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of state, log and blueprint.", metavar="DIR")]
    preset: Annotated[str, typer.Option(help=f"What is spent: {', '.join(PRESETS)}.")] = "minutes"
    hours: Annotated[float | None, typer.Option(min=0.0001, help="Training time; the schedule is laid out for it.")] = (
        None
    )
    deals: Annotated[int | None, typer.Option(min=1, help="Stop after so many deals in place of a time.")] = None
    threads: Annotated[
        int | None, typer.Option("--threads", "-t", min=1, help="All processors by default; one repeats to the bit.")
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            "-w",
            min=1,
            help="Processes that train clusters of flops, each its own; any number repeats to the bit.",
        ),
    ] = None
    gb: Annotated[float | None, typer.Option(min=0.01, help="Most memory for tables, in gigabytes.")] = None
    prune: Annotated[
        str, typer.Option(help=f"Which bad actions are left out: {', '.join(PRUNINGS)}; {AUTO}: as a machine does.")
    ] = AUTO
    seat: Annotated[int | None, typer.Option(min=0, help="Whose blueprint, of machines with one for each seat.")] = None
    threshold: Annotated[int, typer.Option(max=0, help="Regret in chips below which actions are left out.")] = -300_000
    seed: Annotated[int, typer.Option(min=0, help="Of deals.")] = 0
    estimate: Annotated[bool, typer.Option("--estimate", help="Say what it takes, and stop.")] = False
    resume: ResumeOut = False
    overwrite: OverwriteOut = False
    json: Json = False
    quiet: Quiet = False


def train_blueprint(options: TrainBlueprintOptions) -> None:
    """Train a blueprint of hold'em for two to six players; `match` plays it as blueprint:DIR/blueprint.eq.

    External-sampling linear Monte Carlo CFR with cards in buckets. What it takes is said first, and what does not fit
    is refused. It is saved as it goes: stop it at any time and give --resume.
    """
    if options.preset not in PRESETS:
        raise UnknownNameError("preset", options.preset, PRESETS)
    machine = MACHINES.get(options.spec)
    if machine is None and options.seat is not None:
        raise ConfigError(f"--seat is for machines with a blueprint for each seat, got {options.spec}")
    spec = load_spec(options.spec) if machine is None else machine.find_spec(options.preset, options.seat)
    if options.prune == AUTO:
        options = dataclasses.replace(options, prune="none" if machine is None else machine.pruning)
    if options.prune not in PRUNINGS:
        raise UnknownNameError("pruning", options.prune, PRUNINGS)
    if options.workers and options.threads:
        raise ConfigError("workers have one thread each: give --workers or --threads")
    if options.workers and not spec.clusters:
        raise ConfigError("--workers have clusters of flops each: the spec has none (clusters = 20 gives it some)")
    train_spec(spec, options)


def train_spec(spec: BlueprintSpec, options: TrainBlueprintOptions) -> None:
    """Trains a blueprint of a spec, whatever the options name."""
    console = make_console(is_quiet=options.quiet)
    preset = PRESETS[options.preset]
    hours = preset.hours if options.hours is None else options.hours
    num_threads = options.threads or options.workers or os.cpu_count() or 1
    rate = EXPECTED_RATE * num_threads / (spec.clusters if options.workers else 1)  # a flop of each cluster a deal
    total = options.deals or max(1, int(hours * SECONDS_PER_HOUR * rate))
    config = make_schedule(total, spec.betting.counts.nodes, options)
    most = int((preset.gigabytes if options.gb is None else options.gb) * GIGABYTE)
    _tell_size(spec, config, most, console)
    if options.estimate:
        return
    with SignalFlag() as flag:
        described = {"spec": spec.as_json(), "schedule": total, "prune": options.prune, "threshold": options.threshold}
        if options.workers:
            described["clustered"] = True
        folder = RunFolder.open_or_create(
            options.out,
            KIND,
            {**described, "seed": options.seed},
            is_resumed=options.resume,
            is_overwritten=options.overwrite,
        )
        began_with = BlueprintSpec.from_json(folder.config["spec"]), folder.config["seed"]
        if began_with != (spec, options.seed):
            raise ConfigError(f"{options.out} holds a training of another spec or seed: give the same to go on with it")
        if folder.config.get("clustered", False) != bool(options.workers):
            with_or_without = "with" if folder.config.get("clustered") else "without"
            raise ConfigError(
                f"{options.out} holds a training {with_or_without} --workers: go on with it in the same way"
            )
        if options.resume:  # the schedule goes on as it began
            config = make_schedule(
                int(folder.config["schedule"]),
                spec.betting.counts.nodes,
                dataclasses.replace(options, prune=folder.config["prune"], threshold=folder.config["threshold"]),
            )
        with folder.writing():
            _Session(folder, spec, config, console, options).run(num_threads, most, hours, flag)
    if flag():
        console.print("interrupted: give --resume to go on", style="yellow")
        raise typer.Exit(flag.exit_code)


def make_schedule(total: int, num_nodes: int, options: TrainBlueprintOptions) -> BlueprintConfig:
    """Returns the configuration of a training of about so many deals on a tree of so many nodes.

    Discounts and snapshots pass over all tables: periods are no shorter than some ten million nodes touched there.
    """
    shortest = max(SHORTEST_PERIOD, min(LONGEST_SHORT, num_nodes // NODES_TO_A_DEAL))
    return BlueprintConfig(
        period=max(shortest, total // NUM_PERIODS),
        snapshot_every=max(5 * shortest, total // NUM_SNAPSHOTS),
        first_snapshot=int(EARLY * total),
        walk_every=4,
        pruning=PRUNINGS[options.prune],
        threshold=options.threshold,
        softness=float(max(1, -options.threshold)),
        floor=options.threshold * 31 // 30 if PRUNINGS[options.prune] is SkipKind.COIN else BlueprintConfig().floor,
        prune_from=int(EARLY * total),
        prune_until=int(LATE * total) if options.prune == "rbs" else BlueprintConfig().prune_until,
        seed=options.seed,
    )


def _tell_size(spec: BlueprintSpec, config: BlueprintConfig, most: int, console: Console) -> None:
    """Says what a training takes, and refuses a tree that does not fit."""
    betting = spec.betting
    whole = estimate_bytes(betting, spec.num_buckets, config)
    console.print(
        f"{len(spec.stacks)} players, {betting.counts.nodes:,} nodes of betting ({format_bytes(betting.num_bytes)}), "
        f"tables of {format_bytes(whole)} if everything is visited, {format_bytes(most)} allowed"
    )
    betting.check_size(most)
    smallest = int(min(most, whole)) + betting.num_bytes
    if available_bytes() is not None:
        check_memory(smallest, "training")


class _Session:
    """One call of the command."""

    def __init__(
        self,
        folder: RunFolder,
        spec: BlueprintSpec,
        config: BlueprintConfig,
        console: Console,
        options: TrainBlueprintOptions,
    ) -> None:
        self.folder, self.spec, self.config, self.console, self.options = folder, spec, config, console, options
        self.state, self.blueprint = folder.path / STATE, folder.path / BLUEPRINT
        self.seconds = 0.0  # of training, in all calls

    def run(self, num_threads: int, most_bytes: int, hours: float, flag: SignalFlag) -> None:
        """Trains for so long, in all calls, or to the number of deals asked for."""
        deals = None  # a signal ends the making of buckets: nothing is trained yet
        within = dataclasses.replace(self.spec, clusters=0) if self.options.workers else self.spec
        with flag.raising(), TaskDisplay(self.console, "card buckets") as display:
            deals = make_deals(within, on_progress=display.update)
        if deals is None:
            return
        if self.options.workers is None:
            trainer = BlueprintTrainer(
                self.spec.betting,
                deals,
                self.spec.num_buckets,
                self.config,
                num_threads=num_threads,
                most_bytes=most_bytes,
            )
            self._run(trainer, num_threads, hours, flag)
            return
        with LocalPosts(self.options.workers) as posts:
            prepare = functools.partial(make_cluster_ground, self.spec)
            clustered = ClusteredTrainer(prepare, self.config, posts, folder=self.folder.path, most_bytes=most_bytes)
            self._run(clustered, num_threads, hours, flag)

    def _run(
        self, trainer: BlueprintTrainer | ClusteredTrainer, num_threads: int, hours: float, flag: SignalFlag
    ) -> None:
        """Trains, saves and reports."""
        if self.state.exists() and self.options.resume:
            saved = load(self.state, Kind.RUN)
            trainer.restore(saved)
            self.seconds = float(saved.metadata.get("seconds", 0.0))
        self.folder.record("begin", deals=trainer.num_deals, threads=num_threads)
        try:
            rate = self._train(trainer, hours * SECONDS_PER_HOUR, flag)
        finally:
            self._save(trainer)
        save_blueprint(self.blueprint, self.spec, trainer, {"seed": self.config.seed, **describe_origin()})
        self._report(trainer, rate)

    def _train(self, trainer: BlueprintTrainer | ClusteredTrainer, seconds: float, flag: SignalFlag) -> float:
        """Returns the nodes touched a second."""
        step, began, last_save, save_cost = 1000, time.monotonic(), time.monotonic(), 0.0
        before, touched, last = self.seconds, trainer.num_touched, time.monotonic()
        goal = self.options.deals
        with TaskDisplay(self.console, "blueprint") as display:
            while not flag() and (self.seconds < seconds if goal is None else trainer.num_deals < goal):
                counts = trainer.train(step if goal is None else min(step, goal - trainer.num_deals))
                now = time.monotonic()
                spent, last = now - last, now
                self.seconds = before + now - began
                step = max(100, min(4 * step, int(counts.deals * STEP_SECONDS / max(spent, 1e-6))))
                share = self.seconds / seconds if goal is None else trainer.num_deals / goal
                display.update(min(share, 1.0), self._describe(trainer, counts.touched / max(spent, 1e-9)))
                if now - last_save > max(SAVE_SECONDS, 20 * save_cost):
                    self._save(trainer)
                    last = last_save = time.monotonic()
                    save_cost = last_save - now
        return (trainer.num_touched - touched) / max(time.monotonic() - began, 1e-9)

    def _describe(self, trainer: BlueprintTrainer | ClusteredTrainer, rate: float) -> str:
        players = len(self.spec.stacks)
        return (
            f"{rate / 1e6:.1f} M nodes a second, {players * trainer.num_deals / 1e6:.1f} M traversals, "
            f"{format_bytes(trainer.num_bytes)}"
        )

    def _save(self, trainer: BlueprintTrainer | ClusteredTrainer) -> None:
        trainer.save(self.state, {"seconds": self.seconds, "spec": self.spec.as_json()})
        self.folder.record("saved", deals=trainer.num_deals, seconds=self.seconds, bytes=trainer.num_bytes)

    def _report(self, trainer: BlueprintTrainer | ClusteredTrainer, rate: float) -> None:
        size = self.blueprint.stat().st_size
        result: dict[str, Any] = {
            "out": str(self.blueprint),
            "deals": trainer.num_deals,
            "nodes_touched": trainer.num_touched,
            "nodes_per_second": rate,
            "seconds": self.seconds,
            "table_bytes": trainer.num_bytes,
            "file_bytes": size,
            **describe_origin(),
        }
        if self.options.json:
            write_json(result)
            return
        text = (
            f"{trainer.num_deals:,} deals in {format_duration(self.seconds)} ({rate / 1e6:.1f} M nodes a second), "
            f"tables of {format_bytes(trainer.num_bytes)}, blueprint of {format_bytes(size)} in {self.blueprint}"
        )
        print_result(text, is_quiet=self.options.quiet)
