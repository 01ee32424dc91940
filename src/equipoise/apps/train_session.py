# SPDX-License-Identifier: Apache-2.0
"""What one call of a command that trains by self-play does: goes on, trains, measures, keeps, draws."""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import math
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import typer
from rich.console import Console

from equipoise.apps.signals import SignalFlag
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.checkpoint import Kind, load, save
from equipoise.core.errors import CheckpointError
from equipoise.core.formatting import format_small
from equipoise.core.machine import describe_origin
from equipoise.core.pool import Pool
from equipoise.core.runs import RunFolder
from equipoise.distributed.pools import open_pool
from equipoise.evaluation.plots import PanelLabels, plot_panels
from equipoise.evaluation.statistics import big_blind_of
from equipoise.games.base import Game
from equipoise.games.registry import format_game
from equipoise.learning.scalar_board import ScalarBoard, find_writer, open_board

__all__ = [
    "CURVE",
    "TrainCall",
    "TrainSession",
    "conduct",
    "format_figure",
    "spell_training",
    "tell_end",
]

SAVE_SECONDS: Final = 45.0  # between saved states
TOLD_SECONDS: Final = 2.0  # between events that say where a training stands
SECONDS_PER_HOUR: Final = 3600.0
CURVE: Final = "exploitability.png"


def _find_deadline(hours: float | None) -> float:
    """Returns when a number of hours are over, on the monotonic clock."""
    return math.inf if hours is None else time.monotonic() + hours * SECONDS_PER_HOUR


def _open_players(workers: int, ray: str | None, stack: contextlib.ExitStack) -> Pool | None:
    """Returns who plays beside this process, None if it plays itself."""
    if ray is None and workers == 1:
        return None
    return stack.enter_context(open_pool(workers, ray))


class TrainSession(abc.ABC):
    """A training and its folder; how it is measured is a subclass's."""

    what: str  # the network says
    method: str  # that learns it
    line: str  # name of the curve
    unit: str = "values"  # what progress is counted in
    net_file: str
    state_file: str

    def __init__(
        self,
        trainer: Any,  # a `CycleTrainer`: its module needs torch
        game: Game[Any],
        folder: RunFolder,
        board: ScalarBoard | None,
        console: Console,
        *,
        command: str,
    ) -> None:
        """Reads what was measured so far."""
        self.trainer, self.game, self.folder, self.board = trainer, game, folder, board
        self.console, self.command = console, command
        self.settings: Any = trainer.settings
        self.curve = [
            (event["cpu_seconds"] / 60.0, event["exploitability"])
            for event in folder.events()
            if event["event"] == "measured" and "exploitability" in event
        ]
        self._saved = time.monotonic()

    @property
    @abc.abstractmethod
    def test(self) -> str:
        """Returns how the weights are tested."""

    @property
    @abc.abstractmethod
    def sizes(self) -> tuple[int, int]:
        """Returns how large a test on the way is, and the last."""

    @abc.abstractmethod
    def measure(self, count: int, flag: SignalFlag) -> dict[str, Any]:
        """Returns figures of the present weights: nothing where there are none to be had."""

    @abc.abstractmethod
    def records(self, is_over: Callable[[], bool], pool: Pool | None) -> Iterator[Any]:
        """Yields a record after each cycle."""

    def restore(self) -> None:
        """Goes on where a run stopped, if it was saved."""
        path = self.folder.path / self.state_file
        if path.exists():
            try:
                self.trainer.restore(load(path, Kind.RUN).arrays)
            except CheckpointError as error:
                raise CheckpointError(f"{error}: --overwrite begins the training anew") from None
            self.console.print(f"goes on after {self.trainer.examples:,} of {self.settings.examples:,} {self.unit}")

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
        on_the_way, final = self.sizes
        next_check = trainer.examples * settings.checks // settings.examples + 1
        with TaskDisplay(self.console, f"{self.method} {format_game(self.game)}") as display:
            for record in self.records(lambda: bool(flag()) or time.monotonic() > deadline, pool):
                said = f"{record.examples:,} {self.unit}, loss {record.loss:.2g}"
                if last.get("exploitability") is not None:
                    said += f", exploitability {format_small(last['exploitability'])}"
                display.update(min(1.0, record.examples / settings.examples), said)
                if time.monotonic() - told > TOLD_SECONDS:
                    told = time.monotonic()
                    self.record("stepped", **dataclasses.asdict(record))
                if not trainer.is_done and record.examples * settings.checks >= next_check * settings.examples:
                    next_check = record.examples * settings.checks // settings.examples + 1
                    last = self.take_measure(on_the_way, flag)
                    self.save(last)
                if time.monotonic() - self._saved > SAVE_SECONDS:
                    self.save(last)
            if trainer.is_done and not flag():
                display.update(1.0, "the last test")
                last = self.take_measure(final, flag)
        self.save(last)
        return last

    def take_measure(self, count: int, flag: SignalFlag) -> dict[str, Any]:
        """Measures the present weights, and adds that to the curve."""
        began = time.process_time()
        trainer = self.trainer
        fields = {
            "examples": trainer.examples,
            "step": trainer.step,
            "loss": trainer.loss,
            "cpu_seconds": trainer.cpu_seconds,
            **self.measure(count, flag),
        }
        fields["test_seconds"] = time.process_time() - began
        if not flag():
            self.record("measured", **fields)
            if "exploitability" in fields:
                self.curve.append((fields["cpu_seconds"] / 60.0, fields["exploitability"]))
        return fields

    def in_mbb(self, exploitability: float) -> float | None:
        """Returns an exploitability in thousandths of a big blind, None where there is none."""
        blind = big_blind_of(self.game)
        return None if blind is None else 1000.0 * exploitability / blind

    def save(self, last: dict[str, Any]) -> None:
        """Keeps weights and state."""
        card = {
            "what": self.what,
            "game": format_game(self.game),
            "test": self.test,
            "measured": last,
            "command": self.command,
            **describe_origin(),
        }
        self.save_nets(card)
        save(self.folder.path / self.state_file, Kind.RUN, {"game": format_game(self.game)}, self.trainer.state())
        self._saved = time.monotonic()

    def save_nets(self, card: dict[str, Any]) -> None:
        """Keeps the weights that play."""
        self.trainer.stored(card).save(self.folder.path / self.net_file)

    def draw(self) -> None:
        """Draws the exploitabilities measured so far."""
        if self.curve:
            labels = PanelLabels("minutes of CPU time", "exploitability")
            title = f"{format_game(self.game)}: {self.test}"
            plot_panels({"": {self.line: self.curve}}, self.folder.path / CURVE, title=title, labels=labels)
            self.console.print(f"written: {self.folder.path / CURVE}")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrainCall:
    """What every such command is told."""

    out: Path
    hours: float | None
    workers: int = 1
    ray: str | None = None
    tensorboard: bool | None
    resume: bool
    overwrite: bool

    @classmethod
    def of(cls, options: Any) -> TrainCall:
        """Returns what a command's options say of it; where nobody else plays there are no options of who does."""
        names = [field.name for field in dataclasses.fields(cls) if hasattr(options, field.name)]
        return cls(**{name: getattr(options, name) for name in names})


def conduct(
    call: TrainCall,
    begin: Callable[[RunFolder, ScalarBoard | None], TrainSession],
    *,
    kind: str,
    config: dict[str, Any],
    check: Callable[[RunFolder], None],
) -> tuple[dict[str, Any], SignalFlag]:
    """Trains in a run's folder to the end, or until it is stopped.

    Args:
        call: what the command is told.
        begin: makes the session.
        kind: of the folder.
        config: that it is made with.
        check: raises unless a run that goes on is the same one.

    Returns:
        The last measurement, and whether and how it was interrupted.
    """
    writer = find_writer(is_wanted=call.tensorboard)
    with SignalFlag() as flag, contextlib.ExitStack() as stack:
        pool = _open_players(call.workers, call.ray, stack)
        folder = RunFolder.open_or_create(call.out, kind, config, is_resumed=call.resume, is_overwritten=call.overwrite)
        if call.resume:
            check(folder)
        stack.enter_context(folder.writing())
        board = stack.enter_context(open_board(folder, writer))
        session = begin(folder, board)
        if call.overwrite:
            (folder.path / session.state_file).unlink(missing_ok=True)
        session.restore()
        last = session.train(flag, pool, _find_deadline(call.hours))
        session.draw()
    return last, flag


def tell_end(call: TrainCall, flag: SignalFlag, console: Console, *, is_done: bool) -> None:
    """Says why a training is not at its end, if it is not; raises `typer.Exit` after a signal."""
    if flag():
        console.print("interrupted: give --resume to go on", style="yellow")
        raise typer.Exit(flag.exit_code)
    if call.hours is not None and not is_done:
        console.print(f"the {call.hours:g} hours are over: give --resume to go on", style="yellow")


def spell_training(options: Any, method: str, names: Sequence[str]) -> str:
    """Returns the command that learns the same again: the folder is left open.

    Args:
        options: of a command that trains.
        method: its name.
        names: of options that are spelt where they were given.
    """
    words = ["equipoise", "train", method, options.game, "--preset", options.preset, "--out", "DIR"]
    for text in options.parameters or []:
        words += ["-p", text]
    for text in getattr(options, "setting", None) or []:
        words += ["-s", text]
    for name in names:
        value = getattr(options, name)
        if value is not None:
            words += [f"--{name.replace('_', '-')}", f"{value:g}" if isinstance(value, float) else str(value)]
    call = TrainCall.of(options)
    words += ["--workers", str(call.workers)] if call.workers > 1 else []
    words += ["--ray", "ADDRESS"] if call.ray is not None else []
    return shlex.join(words)


def format_figure(measured: Mapping[str, Any]) -> str:
    """Returns the exploitability of a measurement as text.

    >>> format_figure({"exploitability": 0.25, "exploitability_mbb": None})
    'exploitability 0.25'
    """
    said = f"exploitability {format_small(measured['exploitability'])}"
    in_mbb = measured["exploitability_mbb"]
    return said if in_mbb is None else f"{said} ({in_mbb:.1f} mbb/h)"
