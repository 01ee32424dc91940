# SPDX-License-Identifier: Apache-2.0
"""What `equipoise bench holdem --peers FILE` measures: other programs that solve the same spots to the same targets.

The programs are the user's own builds, named in a TOML file with the commands that start them. Each is started anew for
every spot and target, in turns with Equipoise, on as many threads. What counts is processor time from start to target,
and the clock beside it: of a program all of it, of Equipoise without imports. Nothing here prints.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import json
import math
import os
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from equipoise.apps.bench.rows import RowsReport, Steps
from equipoise.core.checks import check_text
from equipoise.core.errors import ConfigError, EquipoiseError
from equipoise.core.machine import describe_origin
from equipoise.core.reporting import OnStep
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import format_card
from equipoise.games.holdem.menus import POSITIONS, Counting, SizeKind, Sizes
from equipoise.games.holdem.ranges import format_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_file import SpotFile, format_spot
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.driver import run
from equipoise.trees.holdem.tree import build_holdem_tree

__all__ = ["Dialect", "Peer", "PeerFailure", "PeersReport", "PeersSettings", "load_peers", "run_peers"]

OURS: Final = "equipoise"
LINES_OF_COMPLAINT: Final = 5
MOST_ITERATIONS: Final = 100_000  # that a program is told
TEXAS_FIGURE: Final = re.compile(r"[Tt]otal exploitability\s+([0-9.eE+-]+)")


class Dialect(enum.StrEnum):
    """How a program is told a spot, and how it says how far it is."""

    JSON = "json"  # a spot file as an argument; lines of JSON with `exploitability`, in percent of the pot
    TEXAS = "texas"  # commands on standard input; lines with `Total exploitability`, as TexasSolver's console


class PeerFailure(EquipoiseError):
    """A program that did not answer."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another program.

    >>> Peer(name="mine", command=("./mine", "{spot}", "{percent}")).fill(spot="turn.toml", percent="0.5")
    ['./mine', 'turn.toml', '0.5']
    """

    name: str
    command: tuple[str, ...]  # {spot}, {percent} and {threads} are filled in
    dialect: Dialect = Dialect.JSON
    folder: str | None = None  # in which it is started

    def __post_init__(self) -> None:
        if not self.command or not all(isinstance(word, str) and word for word in self.command):
            raise ConfigError(f"command of {self.name} must be a list of words, got {list(self.command)}")
        if self.name == OURS:
            raise ConfigError(f"a peer must not be called {OURS}: that is what it is measured beside")

    def fill(self, **words: str) -> list[str]:
        """Returns the command with its blanks filled in; unknown ones stay as they are."""
        filled = list(self.command)
        for name, word in words.items():
            filled = [each.replace(f"{{{name}}}", word) for each in filled]
        return filled


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PeersSettings:
    """What to measure and how often."""

    spots: Mapping[str, HoldemSpot]
    peers: tuple[Peer, ...]
    percents: tuple[float, ...] = (0.5, 0.1)  # targets, of the pot
    threads: int = 1
    repeats: int = 3  # the least counts
    longest: float = 600.0  # seconds after which a program is stopped

    def __post_init__(self) -> None:
        if not self.spots or not self.peers or not self.percents:
            raise ConfigError("peers need at least one program, one spot and one target")
        if self.threads < 1 or self.repeats < 1:
            raise ConfigError(f"threads and repeats must be at least 1, got {self.threads} and {self.repeats}")
        if not all(0 < percent < math.inf for percent in self.percents):
            raise ConfigError(f"targets must be positive percentages of the pot, got {list(self.percents)}")
        if not 0 < self.longest < math.inf:
            raise ConfigError(f"longest must be positive and finite, got {self.longest}")


class PeersReport(RowsReport[PeersSettings]):
    """What was measured so far."""

    def as_json(self) -> dict[str, Any]:
        """Returns the report with its origin as JSON values."""
        settings = self.settings
        return {
            **describe_origin(),
            "peers": [dataclasses.asdict(peer) for peer in settings.peers],
            "threads": settings.threads,
            "repeats": settings.repeats,
            "rows": self.rows,
            "is_partial": self.is_partial,
        }


@dataclasses.dataclass(frozen=True, slots=True)
class _Figures:
    """How one solve went."""

    cpu_seconds: float
    seconds: float
    percent: float | None  # of the pot, as the program says; None: it said nothing


def load_peers(path: str | os.PathLike[str]) -> tuple[Peer, ...]:
    """Returns the programs in a TOML file: a table each, with `command` and perhaps `dialect` and `folder`."""
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} must be a TOML file of programs: {error}") from None
    peers = tuple(_read_peer(name, fields) for name, fields in table.items())
    if not peers:
        raise ConfigError(f'{path} names no program; write [name] and command = ["program", "{{spot}}"]')
    return peers


def _read_peer(name: str, fields: Any) -> Peer:
    known = {field.name for field in dataclasses.fields(Peer)} - {"name"}
    if not isinstance(fields, dict) or fields.keys() - known or not isinstance(fields.get("command"), list):
        raise ConfigError(f"program {name} must be a table with command and perhaps dialect and folder, got {fields}")
    try:
        dialect = Dialect(fields.get("dialect", Dialect.JSON))
    except ValueError:
        raise ConfigError(f"dialect of {name} must be {' or '.join(Dialect)}, got {fields['dialect']!r}") from None
    folder = fields.get("folder")
    if folder is not None:
        check_text(f"folder of {name}", folder)
    return Peer(name=name, command=tuple(fields["command"]), dialect=dialect, folder=folder)


def run_peers(settings: PeersSettings, *, on_step: OnStep | None = None) -> PeersReport:
    """Returns a row per spot, target and program; an interrupted run returns what it has, marked partial."""
    report = PeersReport(settings=settings)
    num_rows = len(settings.spots) * len(settings.percents)
    steps = Steps(num_rows * settings.repeats * (1 + len(settings.peers)), on_step)
    try:
        for name, spot in settings.spots.items():
            for percent in settings.percents:
                report.rows.extend(_measure(name, spot, percent, settings, steps))
    except KeyboardInterrupt:
        report.is_partial = True
    return report


def _measure(
    name: str, spot: HoldemSpot, percent: float, settings: PeersSettings, steps: Steps
) -> Iterator[dict[str, Any]]:
    """Yields the rows of a spot and target, ours first; programs take turns."""
    found: dict[str, list[_Figures]] = {OURS: [], **{peer.name: [] for peer in settings.peers}}
    for repeat in range(settings.repeats):
        label = f"{name} to {percent:g} %, {repeat + 1} of {settings.repeats}: "
        steps.take(label + OURS)
        found[OURS].append(_solve_here(spot, percent, settings))
        for peer in settings.peers:
            steps.take(label + peer.name)
            found[peer.name].append(_solve_there(peer, spot, percent, settings))
    ours = min(each.cpu_seconds for each in found[OURS])
    for program, figures in found.items():
        least = min(each.cpu_seconds for each in figures)
        is_reached = all(each.percent is not None and each.percent <= percent for each in figures)
        yield {
            "spot": name,
            "target_percent": percent,
            "program": program,
            "threads": settings.threads,
            "cpu_seconds": least,
            "seconds": min(each.seconds for each in figures),
            "percent": figures[-1].percent,
            "is_reached": is_reached,
            "ratio": least / ours if is_reached and ours else None,  # of processor time, to ours
        }


def _solve_here(spot: HoldemSpot, percent: float, settings: PeersSettings) -> _Figures:
    began, clock = time.process_time(), time.perf_counter()
    solver = CFRSolver(build_holdem_tree(spot), num_threads=settings.threads)
    target = percent / 100 * spot.root_pot
    *_, last = run(solver, target=target, seconds=settings.longest)
    assert last.exploitability is not None
    return _Figures(time.process_time() - began, time.perf_counter() - clock, 100 * last.exploitability / spot.root_pot)


def _solve_there(peer: Peer, spot: HoldemSpot, percent: float, settings: PeersSettings) -> _Figures:
    """Starts a program and waits for it to end, or for it to say that it has come to the target."""
    with tempfile.TemporaryDirectory(prefix="equipoise-peers-") as scratch:
        spot_path, said_path = Path(scratch) / "spot.toml", Path(scratch) / "complaints.txt"
        spot_path.write_text(format_spot(SpotFile(spot=spot)), encoding="utf8")
        words = peer.fill(spot=str(spot_path), percent=f"{percent:g}", threads=str(settings.threads))
        commands = write_texas(spot, percent, settings.threads) if peer.dialect is Dialect.TEXAS else ""
        with open(said_path, "w", encoding="utf8") as said:
            return _follow(peer, words, commands, percent, settings.longest, said_path, said)


def _follow(
    peer: Peer, words: list[str], commands: str, percent: float, longest: float, said_path: Path, said: Any
) -> _Figures:
    clock, cpu_before = time.perf_counter(), _cpu_of_children()
    try:
        process = subprocess.Popen(
            words,
            cwd=peer.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            encoding="utf8",
            errors="replace",
            start_new_session=True,  # a script's own children are ended with it: they would hold the pipe open
        )
    except OSError as error:
        raise PeerFailure(f"program {peer.name} could not be started: {error}") from None
    assert process.stdout is not None
    last: float | None = None
    watchdog = threading.Timer(longest, _end, [process])
    watchdog.start()
    try:
        _tell(process, commands)
        for line in process.stdout:
            figure = read_figure(peer.dialect, line)
            last = last if figure is None else figure
            if last is not None and last <= percent:
                break
        seconds = time.perf_counter() - clock
    finally:
        watchdog.cancel()
        _end(process)
        process.stdout.close()
        process.wait()
    if last is None and seconds < longest:
        tail = " | ".join(
            said_path.read_text(encoding="utf8", errors="replace").strip().splitlines()[-LINES_OF_COMPLAINT:]
        )
        raise PeerFailure(
            f"program {peer.name} said nothing of exploitability ({' '.join(words)}): {tail or 'no word'}"
        )
    return _Figures(_cpu_of_children() - cpu_before, seconds, last)


def _end(process: subprocess.Popen[str]) -> None:
    """Ends a program and whatever it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended by itself
        os.killpg(process.pid, signal.SIGKILL)


def _tell(process: subprocess.Popen[str], commands: str) -> None:
    """Writes commands, if any; a program that does not read them is looked at by what it prints."""
    assert process.stdin is not None
    try:
        process.stdin.write(commands)
        process.stdin.close()
    except OSError:
        return


def _cpu_of_children() -> float:
    """Returns the processor time of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_figure(dialect: Dialect, line: str) -> float | None:
    """Returns the exploitability that a line says, in percent of the pot; None if it says something else, or rubbish.

    >>> read_figure(Dialect.JSON, '{"exploitability": 0.4, "iteration": 20}')
    0.4
    >>> read_figure(Dialect.TEXAS, "Total exploitability 1.25 percent")
    1.25
    >>> read_figure(Dialect.JSON, "building the tree") is None
    True
    """
    try:
        if dialect is Dialect.TEXAS:
            match = TEXAS_FIGURE.search(line)
            figure = math.nan if match is None else float(match[1])
        else:
            said = json.loads(line)
            found = said.get("exploitability") if isinstance(said, dict) else None
            figure = float(found) if isinstance(found, int | float) and not isinstance(found, bool) else math.nan
    except (ValueError, OverflowError, RecursionError):
        return None
    return figure if 0.0 <= figure < math.inf else None


def write_texas(spot: HoldemSpot, percent: float, num_threads: int) -> str:
    """Returns a spot as commands of TexasSolver's console; `ConfigError` if it cannot be told.

    It knows one stack for both, no rake, no donk bets of their own, one list of first bets and one of raises a street,
    in percent of the pot and all-in.
    """
    if not spot.board or spot.stacks[0] != spot.stacks[1] or spot.rake_rate:
        raise ConfigError("TexasSolver is told spots after the flop with equal stacks and no rake")
    lines = [
        f"set_pot {spot.pot}",
        f"set_effective_stack {spot.stacks[0]}",
        f"set_board {','.join(map(format_card, spot.board))}",
        *(
            f"set_range_{position} {format_range(held).replace(', ', ',')}"
            for position, held in zip(POSITIONS, spot.ranges, strict=True)
        ),
    ]
    menu = spot.menu
    if menu.counting is not Counting.BETS or menu.merge_percent or menu.force_percent:
        raise ConfigError("TexasSolver knows no menus that count actions, merge or force")
    for street in Street:
        if street.num_board_cards < len(spot.board) or street is Street.PREFLOP:
            continue
        for position, round_menu in zip(POSITIONS, menu.rounds[street], strict=True):
            if round_menu.donk is not None or round_menu.max_raises is not None or len(round_menu.sizes) > 2:
                raise ConfigError("TexasSolver is told one list of bets and one of raises, no donk bets and no caps")
            place = f"{position},{street.name.lower()}"
            lists = (round_menu.sizes[0], round_menu.sizes[-1]) if round_menu.sizes else ((), ())
            for kind, sizes in zip(("bet", "raise"), lists, strict=True):
                lines.extend(_texas_sizes(place, kind, sizes))
    lines += [
        "set_allin_threshold 1.0",
        "build_tree",
        f"set_thread_num {num_threads}",
        f"set_accuracy {percent:g}",
        f"set_max_iteration {MOST_ITERATIONS}",
        "set_print_interval 10",
        "set_use_isomorphism 1",
        "start_solve",
    ]
    return "\n".join(lines) + "\n"


def _texas_sizes(place: str, kind: str, sizes: Sizes) -> Iterator[str]:
    percents = [f"{size.amount:g}" for size in sizes if size.kind is SizeKind.POT]
    if any(size.kind not in (SizeKind.POT, SizeKind.ALL_IN) for size in sizes):
        raise ConfigError("TexasSolver is told bets in percent of the pot and all-in")
    if percents:
        yield f"set_bet_sizes {place},{kind},{','.join(percents)}"
    if any(size.kind is SizeKind.ALL_IN for size in sizes):
        yield f"set_bet_sizes {place},allin"
