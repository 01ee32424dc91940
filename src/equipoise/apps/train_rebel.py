# SPDX-License-Identifier: Apache-2.0
"""`equipoise train rebel`: values of beliefs learnt by self-play, in one folder that agents play from."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import shlex
import time
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import numpy as np
import typer
from rich.console import Console

from equipoise.apps.display import make_console
from equipoise.apps.output import write_json
from equipoise.apps.signals import SignalFlag
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.checkpoint import Kind, load, save
from equipoise.core.errors import CheckpointError
from equipoise.core.formatting import format_duration, format_small
from equipoise.core.machine import describe_origin
from equipoise.core.pool import Pool
from equipoise.core.runs import RunFolder
from equipoise.distributed.pools import open_pool
from equipoise.evaluation.plots import PanelLabels, plot_panels
from equipoise.evaluation.statistics import big_blind_of
from equipoise.games.base import Game
from equipoise.games.registry import format_game
from equipoise.learning.rebel.playthroughs import PlayedAverage, measure_playthroughs
from equipoise.learning.rebel.runs import KIND, NET, STATE, check_same_settings
from equipoise.learning.rebel.settings import PRESETS, RebelSettings, find_preset
from equipoise.learning.scalar_board import ScalarBoard, find_writer, open_board
from equipoise.runs.request import find_named_game
from equipoise.search.belief_games import BeliefGame, parse_horizon

__all__ = ["TrainRebelOptions", "train_rebel"]

SAVE_SECONDS: Final = 45.0  # between saved states
TOLD_SECONDS: Final = 2.0  # between events that say where a training stands
SECONDS_PER_HOUR: Final = 3600.0
CURVE: Final = "exploitability.png"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrainRebelOptions:
    """What `equipoise train rebel` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise train rebel leduc --out run --hours 0.1",
        "equipoise train rebel leduc --out run --resume",
    )

    game: Annotated[str, typer.Argument(help="What is played, as in `solve`.", metavar="GAME")]
    parameters: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="A parameter of the game.", metavar="KEY=VALUE")
    ] = None
    preset: Annotated[str, typer.Option(help=f"How it is learnt: {', '.join(PRESETS)}.")] = "small"
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of weights, state and log.", metavar="DIR")]
    hours: Annotated[float | None, typer.Option(min=0.001, help="Stop after this time; --resume goes on.")] = None
    examples: Annotated[int | None, typer.Option(min=1, help="Values that self-play makes.")] = None
    hidden: Annotated[int | None, typer.Option(min=1, help="Units of a hidden layer.")] = None
    horizon: Annotated[
        str | None, typer.Option(help="Where searches end: a number of actions, or round.", metavar="N|round")
    ] = None
    iterations: Annotated[int | None, typer.Option(min=1, help="Of each search in training.")] = None
    playthroughs: Annotated[int | None, typer.Option(min=1, help="Of the last test.")] = None
    workers: Annotated[
        int, typer.Option("--workers", "-w", min=1, help="Processes that play while this one learns; 1: in turn.")
    ] = 1
    ray: Annotated[
        str | None, typer.Option(help="Play on this Ray cluster: an address, or local.", metavar="ADDRESS")
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Of everything that is drawn.")] = 0
    tensorboard: Annotated[
        bool | None,
        typer.Option(
            "--tensorboard/--no-tensorboard",
            help="Write curves for TensorBoard; by default if it is installed.",
            show_default=False,
        ),
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what is in --out.")] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Train anew in --out.")] = False
    json: Annotated[bool, typer.Option("--json", help="Write the result as JSON to standard output.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages, progress or tables.")] = False


def train_rebel(options: TrainRebelOptions) -> None:
    """Learn what beliefs are worth by self-play (ReBeL): searches end with a network, which learns what they find.

    The exploitability of play by random iterations is measured on the way, exactly for the playthroughs that are drawn.
    State and weights are kept every minute: stop it at any time and give --resume.
    """
    from equipoise.learning.rebel.training import RebelTrainer  # noqa: PLC0415 - torch is an extra

    writer = find_writer(is_wanted=options.tensorboard)
    game = find_named_game(options.game, options.parameters)
    assert game is not None, "the game is an argument"
    settings = _change(find_preset(options.preset), options)
    console = make_console(is_quiet=options.quiet)
    trainer = RebelTrainer(BeliefGame.of(game, parse_horizon(settings.horizon)), settings, format_game(game))
    if trainer.game.num_kinds == 1:
        trainer.self_play.refuse()
    config = {"game": format_game(game), "settings": settings.as_dict(), "preset": options.preset}
    with SignalFlag() as flag, contextlib.ExitStack() as stack:
        pool = _open_players(options, stack)
        folder = RunFolder.open_or_create(
            options.out, KIND, config, is_resumed=options.resume, is_overwritten=options.overwrite
        )
        if options.resume:
            check_same_settings(folder, game, settings)
        stack.enter_context(folder.writing())
        board = stack.enter_context(open_board(folder, writer))
        session = _Session(trainer, game, folder, board, console, command=_spell(options))
        if options.overwrite:
            (folder.path / STATE).unlink(missing_ok=True)
        session.restore()
        last = session.train(flag, pool, _find_deadline(options.hours))
        session.draw()
    _show(last, game, settings, options, console)
    if flag():
        console.print("interrupted: give --resume to go on", style="yellow")
        raise typer.Exit(flag.exit_code)
    if options.hours is not None and not trainer.is_done:
        console.print(f"the {options.hours:g} hours are over: give --resume to go on", style="yellow")


def _open_players(options: TrainRebelOptions, stack: contextlib.ExitStack) -> Pool | None:
    """Returns who plays beside this process, None if it plays itself."""
    if options.ray is None and options.workers == 1:
        return None
    return stack.enter_context(open_pool(options.workers, options.ray))


def _change(preset: RebelSettings, options: TrainRebelOptions) -> RebelSettings:
    """Returns a preset with the numbers that were asked for."""
    changes: dict[str, Any] = {"seed": options.seed}
    for name in ("examples", "hidden", "horizon", "playthroughs"):
        if getattr(options, name) is not None:
            changes[name] = getattr(options, name)
    if options.iterations is not None:
        changes["training"] = dataclasses.replace(preset.training, iterations=options.iterations)
    return dataclasses.replace(preset, **changes)


def _find_deadline(hours: float | None) -> float:
    return math.inf if hours is None else time.monotonic() + hours * SECONDS_PER_HOUR


class _Session:
    """What one call of the command does."""

    def __init__(
        self,
        trainer: Any,  # a `RebelTrainer`: its module needs torch
        game: Game[Any],
        folder: RunFolder,
        board: ScalarBoard | None,
        console: Console,
        *,
        command: str,
    ) -> None:
        self.trainer, self.game, self.folder, self.board = trainer, game, folder, board
        self.console, self.command = console, command
        self.settings: RebelSettings = trainer.settings
        self.curve = [
            (event["cpu_seconds"] / 60.0, event["exploitability"])
            for event in folder.events()
            if event["event"] == "measured"
        ]
        self._saved = time.monotonic()

    def restore(self) -> None:
        """Goes on where a run stopped, if it was saved."""
        path = self.folder.path / STATE
        if path.exists():
            try:
                self.trainer.restore(load(path, Kind.RUN).arrays)
            except CheckpointError as error:
                raise CheckpointError(f"{error}: --overwrite begins the training anew") from None
            self.console.print(f"goes on after {self.trainer.examples:,} of {self.settings.examples:,} examples")

    def record(self, event: str, **fields: Any) -> None:
        """Adds an event to the run's folder."""
        self.folder.record(event, **fields)
        if self.board is not None:
            self.board.follow()

    def train(self, flag: SignalFlag, pool: Pool | None, deadline: float) -> dict[str, Any]:
        """Trains to the end, or until it is stopped; returns the last measurement."""
        last: dict[str, Any] = {}
        told = time.monotonic()
        settings, trainer = self.settings, self.trainer
        next_check = trainer.examples * settings.checks // settings.examples + 1
        with TaskDisplay(self.console, f"rebel {format_game(self.game)}") as display:
            for record in trainer.run(is_over=lambda: bool(flag()) or time.monotonic() > deadline, pool=pool):
                said = f"{record.examples:,} values, loss {record.loss:.2g}"
                if last:
                    said += f", exploitability {format_small(last['exploitability'])}"
                display.update(record.examples / settings.examples, said)
                if time.monotonic() - told > TOLD_SECONDS:
                    told = time.monotonic()
                    self.record("stepped", **dataclasses.asdict(record))
                if not trainer.is_done and record.examples * settings.checks >= next_check * settings.examples:
                    next_check = record.examples * settings.checks // settings.examples + 1
                    last = self.measure(settings.check_playthroughs, flag)
                    self.save(last)
                if time.monotonic() - self._saved > SAVE_SECONDS:
                    self.save(last)
            if trainer.is_done and not flag():
                display.update(1.0, f"the last test, {settings.playthroughs:,} playthroughs")
                last = self.measure(settings.playthroughs, flag)
        self.save(last)
        return last

    def measure(self, count: int, flag: SignalFlag) -> dict[str, Any]:
        """Returns how exploitable the present weights are, and adds it to the curve."""
        rng = np.random.default_rng([self.settings.seed, 57, self.trainer.step])
        began = time.process_time()
        found = measure_playthroughs(self.trainer.test_searcher(), count, rng=rng, is_interrupted=flag)
        fields = self._describe(found) | {"test_seconds": time.process_time() - began}
        if not flag():
            self.record("measured", **fields)
            self.curve.append((fields["cpu_seconds"] / 60.0, found.exploitability))
        return fields

    def _describe(self, found: PlayedAverage) -> dict[str, Any]:
        blind = big_blind_of(self.game)
        return {
            "examples": self.trainer.examples,
            "step": self.trainer.step,
            "loss": self.trainer.loss,
            "cpu_seconds": self.trainer.cpu_seconds,
            "exploitability": found.exploitability,
            "exploitability_mbb": None if blind is None else 1000.0 * found.exploitability / blind,
            "lower": found.lower,
            "lower_error": found.lower_error,
            "playthroughs": found.playthroughs,
        }

    def save(self, last: dict[str, Any]) -> None:
        """Keeps weights and state."""
        card = {
            "what": "values of beliefs, learnt by self-play",
            "game": format_game(self.game),
            "test": str(self.settings.test),
            "measured": last,
            "command": self.command,
            **describe_origin(),
        }
        self.trainer.stored(card).save(self.folder.path / NET)
        save(self.folder.path / STATE, Kind.RUN, {"game": format_game(self.game)}, self.trainer.state())
        self._saved = time.monotonic()

    def draw(self) -> None:
        """Draws the exploitabilities measured so far."""
        if self.curve:
            labels = PanelLabels("minutes of CPU time", "exploitability")
            title = f"{format_game(self.game)}: {self.settings.test}"
            plot_panels({"": {"random iterations": self.curve}}, self.folder.path / CURVE, title=title, labels=labels)
            self.console.print(f"written: {self.folder.path / CURVE}")


def _spell(options: TrainRebelOptions) -> str:
    """Returns the command that makes the same weights: the folder is left open."""
    words = ["equipoise", "train", "rebel", options.game, "--preset", options.preset, "--out", "DIR"]
    for text in options.parameters or []:
        words += ["-p", text]
    for name in ("examples", "hidden", "horizon", "iterations", "seed"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name}", str(value)]
    if options.workers > 1:
        words += ["--workers", str(options.workers)]
    if options.ray is not None:
        words += ["--ray", "ADDRESS"]
    return shlex.join(words)


def _show(
    last: dict[str, Any], game: Game[Any], settings: RebelSettings, options: TrainRebelOptions, console: Console
) -> None:
    if options.json:
        write_json({"game": format_game(game), "test": str(settings.test), "out": str(options.out), **last})
        return
    if not last or options.quiet:
        return
    spent = format_duration(last["cpu_seconds"])
    figure = format_small(last["exploitability"])
    if last["exploitability_mbb"] is not None:
        figure += f" ({last['exploitability_mbb']:.1f} mbb/h)"
    make_console(is_stderr=False).print(
        f"{format_game(game)}: exploitability {figure} over {last['playthroughs']:,} playthroughs of {settings.test}; "
        f"at least {last['lower']:.4f} (standard error {last['lower_error']:.4f}); {last['examples']:,} values in "
        f"{spent} of CPU time"
    )
    console.print(f"play it: rebel:{options.out}")
