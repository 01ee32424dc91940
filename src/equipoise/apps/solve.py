# SPDX-License-Identifier: Apache-2.0
"""`equipoise solve`: solve a game or a hold'em spot, watch it converge, keep the result, go on later."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from typing import Any, BinaryIO, Final

from rich.console import Console

from equipoise.abstraction.solutions import SOLUTION_SUFFIX, load_run
from equipoise.apps.display import ConsoleReporter, make_console
from equipoise.apps.session import run_shown
from equipoise.apps.size import show_sizes
from equipoise.apps.solve_options import SolveOptions
from equipoise.apps.solve_push_fold import find_stakes, solve_push_fold_spot
from equipoise.apps.solve_request import make_request
from equipoise.apps.warm_start import begin_warm, check_start
from equipoise.core.errors import ConfigError
from equipoise.core.files import check_writable, format_bytes, lock, write_atomically
from equipoise.core.runs import RunFolder
from equipoise.evaluation.plots import check_plot_path
from equipoise.games.holdem.spot_file import SpotFile, format_spot
from equipoise.runs.game_run import GameRun, prepare_game
from equipoise.runs.locking import add_locks, open_spot
from equipoise.runs.request import Subject, choose_spot_menu, find_subject
from equipoise.runs.spot_run import SpotRun, prepare_spot
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.solution_file import SolvedGame

__all__ = ["solve"]

KIND: Final = "solve"  # of a run's folder
SPOT: Final = "spot.toml"  # in it

Saved = SolvedGame | SolvedSpot | None


def solve(options: SolveOptions) -> None:
    """Solves a game or a hold'em spot and says how exploitable the result is."""
    console = make_console(is_quiet=options.quiet)
    with contextlib.ExitStack() as stack:
        folder: RunFolder | None = None
        if options.run is not None:
            folder, options = _open_folder(options, options.run)
            stack.enter_context(folder.writing())
        if options.out is not None:
            stack.enter_context(lock(options.out))
        saved = _open_outputs(options, console)
        subject = _find_subject(options, saved)
        check_start(options, is_spot=isinstance(subject, SpotFile))
        if isinstance(subject, SpotFile) and (stakes := find_stakes(subject)) is not None:
            solve_push_fold_spot(subject, stakes, options, console)
            return
        if options.dry_run and isinstance(subject, SpotFile):
            show_sizes(
                subject,
                str(options.game or options.endgame),
                threads=options.threads,
                is_json=options.json,
                is_quiet=options.quiet,
            )
            return
        run = _prepare(subject, options, saved, console)
        if options.dry_run:
            return
        begin_warm(run, options, console)
        _carry_over(run, options, console)
        run_shown(run, options, console, folder)


def _open_folder(options: SolveOptions, path: Path) -> tuple[RunFolder, SolveOptions]:
    """Returns the folder of a run, and the options with the file in it; what goes on need not be named again."""
    if options.out is not None:
        raise ConfigError(f"--run {path} has a file of its own: leave out --out {options.out}")
    given = {name: value for name, value in dataclasses.asdict(options).items() if value not in (None, False)}
    goes_on = options.resume and RunFolder.is_run(path)
    if options.resume and not goes_on and options.game is None and options.endgame is None:
        raise ConfigError(f"{path} holds no run to go on with: name a game or a spot to begin one")
    subject = None if goes_on else _find_subject(options, None)  # what is wrong is said before a folder is made
    folder = RunFolder.open_or_create(path, KIND, given, is_resumed=options.resume, is_overwritten=options.overwrite)
    if goes_on and options.game is None and options.endgame is None:
        options = dataclasses.replace(options, **_named(folder))
    elif isinstance(subject, SpotFile):
        text = format_spot(subject)
        write_atomically(folder.path / SPOT, lambda file: _write_text(file, text))
    return folder, dataclasses.replace(options, out=folder.result)


def _named(folder: RunFolder) -> dict[str, Any]:
    """Returns the options that name what a folder's run solves: its own copy of a spot, or the game as it was typed."""
    if (folder.path / SPOT).exists():
        return {"game": str(folder.path / SPOT), "menu": None}
    return {"game": folder.config.get("game"), "parameters": folder.config.get("parameters")}


def _write_text(file: BinaryIO, text: str) -> None:
    file.write(text.encode())


def _prepare(subject: Subject, options: SolveOptions, saved: Saved, console: Console) -> GameRun | SpotRun:
    request, reporter = make_request(options), ConsoleReporter(console, is_confirmed=options.yes)
    if isinstance(subject, SpotFile):
        assert saved is None or isinstance(saved, SolvedSpot)
        return prepare_spot(subject, request, reporter, saved, where=options.out)
    assert saved is None or isinstance(saved, SolvedGame)
    return prepare_game(subject, request, reporter, saved, where=options.out)


def _find_subject(options: SolveOptions, saved: Saved) -> Subject:
    """Returns what is to be solved; without parameters a saved run of the same game lends its own."""
    parameters = options.parameters or []
    if isinstance(saved, SolvedGame) and saved.config.game == options.game and not parameters:
        parameters = [f"{key}={value}" for key, value in saved.config.parameters.items()]
    if options.carry_from is not None and options.game is None and options.endgame is None:
        with open_spot(options.carry_from) as stored:
            subject: Subject = choose_spot_menu(stored.file, options.menu)
    else:
        if (options.game or "").endswith(SOLUTION_SUFFIX):
            raise ConfigError(
                f"{options.game} is a file with a result: name the game or the spot, and go on with "
                f"--out {options.game} --resume"
            )
        subject = find_subject(options.game, parameters=parameters, endgame=options.endgame, menu=options.menu)
    subject = _add_locks(subject, options)
    expected = SolvedSpot if isinstance(subject, SpotFile) else SolvedGame
    if saved is not None and not isinstance(saved, expected):
        asked = "a spot" if expected is SolvedSpot else f"game {options.game}"
        raise ConfigError(f"{options.out} holds another run: game {saved.config.game}, asked for {asked}")
    return subject


def _add_locks(subject: Subject, options: SolveOptions) -> Subject:
    """Returns a spot with the locks that are asked for; they are refused for games."""
    asked = [name for name in ("lock", "lock_from", "at", "carry_from") if getattr(options, name)]
    if not asked:
        return subject
    if not isinstance(subject, SpotFile):
        raise ConfigError(f"--{asked[0].replace('_', '-').replace('carry-', '')} is for hold'em spots, got a game")
    if options.at and options.lock_from is None:
        raise ConfigError("--at needs --lock-from FILE, whose play is taken over there")
    seat = options.seat if options.lock_from is not None and options.against is None else None
    return add_locks(subject, options.lock or (), source=options.lock_from, lines=options.at or (), seat=seat)


def _carry_over(run: GameRun | SpotRun, options: SolveOptions, console: Console) -> None:
    """Begins with the tables of the file that is named, if any; a run that goes on is left alone."""
    if options.carry_from is None:
        return
    assert isinstance(run, SpotRun)
    if options.warm_start is not None:
        raise ConfigError("--from and --warm-start are two beginnings: give one of them")
    if run.records:
        console.print(f"going on with the run in {options.out}: --from is for its beginning", style="yellow")
        return
    with open_spot(options.carry_from) as stored:
        run.begin_from(stored)
    console.print(f"beginning with the regrets of {options.carry_from}, taken for {run.solver.iteration} iterations")


def _open_outputs(options: SolveOptions, console: Console) -> Saved:
    """Returns the run to go on with, if any; raises if an output could not be written."""
    if options.plot is not None:
        check_plot_path(options.plot)
        if options.out is not None and options.out.resolve() == options.plot.resolve():
            raise ConfigError(f"--out and --plot must be two files, got {options.out} for both")
    if options.out is None:
        if options.resume:
            raise ConfigError("--resume needs --out FILE or --run DIR, the run to go on with")
        return None
    if options.resume and options.overwrite:
        raise ConfigError("--resume goes on with a file and --overwrite replaces it: give one of them")
    check_writable(options.out)
    if options.resume and options.out.exists():
        size = format_bytes(options.out.stat().st_size)
        with ConsoleReporter(console).stage(f"reading {size} from {options.out}"):
            return load_run(options.out)
    if options.resume:
        console.print(f"nothing to go on with at {options.out} yet: starting from the beginning")
    elif options.out.exists() and not options.overwrite:
        raise ConfigError(
            f"{options.out} exists: give --resume to go on with it, --overwrite to replace it, or another --out"
        )
    return None
