# SPDX-License-Identifier: Apache-2.0
"""Prints the processor time of two builds for the same iterations: `compare_builds.py BEFORE_PYTHON AFTER_PYTHON`.

Each build is the package that a Python interpreter imports. One process a build solves the same inputs in turns, a
few hundredths of a second at a time: what other programs do to the clock and to the caches, they do to both. The least
time of each build counts. `--calls` measures the second build alone: one iteration a call beside many a call. With
`--threads` a team works, and the clock counts in place of processor time: on an idle machine alone.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import itertools
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

SECONDS: Final = 0.03  # about one measurement; short, so that some of them are not interrupted
Iterate = Callable[[int], Any]
team: dict[str, int] = {}  # of solvers


def say(line: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def find(name: str, *modules: str) -> Any:
    """Returns what a build has under a name in the first of these modules that it has: names move between builds."""
    for module in modules:
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise ImportError(f"this build has no {name}")


def solve_history(game: str, rule: str) -> Iterate:
    """Returns iterations over a game's histories."""
    tree = find("build_history_tree", "equipoise.trees.history")(find("make_game", "equipoise.games.registry")(game))
    solver: Any = find("CFRSolver", "equipoise.solvers.cfr")(tree, find_rule(rule), **team)
    return solver.iterate


def solve_public(game: str, rule: str) -> Iterate:
    """Returns iterations over a game's public states."""
    rules = find("make_game", "equipoise.games.registry")(game)
    public = find("derive_public_game", "equipoise.trees.derive", "equipoise.trees.public")(rules)
    tree = find("build_public_tree", "equipoise.trees.public")(public)
    solver: Any = find("CFRSolver", "equipoise.solvers.cfr")(tree, find_rule(rule), **team)
    return solver.iterate


def solve_spot(street: str, rule: str, dtype: str) -> Iterate:
    """Returns iterations over one of the spots of `equipoise bench holdem`, or over a small river."""
    spots = find("example_spots", "equipoise.apps.bench.holdem")()
    if street == "small river":
        notation = find("parse_range", "equipoise.games.holdem.ranges")
        spot = find("HoldemSpot", "equipoise.games.holdem.spot")(
            board=spots["river"].board,
            pot=100,
            stacks=(100, 100),
            ranges=(notation("TT+, AKs"), notation("99+, AQs+")),
            menu=find("MENUS", "equipoise.games.holdem.menu_notation")["libratus"],
        )
    else:
        spot = spots[street]
    tree = find("build_holdem_tree", "equipoise.trees.holdem.tree", "equipoise.trees.holdem")(spot)
    try:
        kind = find("HoldemSolver", "equipoise.solvers.holdem")
    except ImportError:
        kind = find("CFRSolver", "equipoise.solvers.cfr")
    solver: Any = kind(tree, find_rule(rule), dtype=dtype, **team)
    return solver.iterate


def solve_width(board: str, num_hands: int, dtype: str = "float32") -> Iterate:
    """Returns iterations of DCFR over a spot with so many hands a side, spread evenly over all.

    Two hundred are run first: lines that nobody takes are empty by then.
    """
    cards = find("parse_board", "equipoise.games.holdem.cards")(board)
    kind, menu = (
        find("Range", "equipoise.games.holdem.ranges"),
        find("parse_menu", "equipoise.games.holdem.menu_notation"),
    )
    live = [index for index, hand in enumerate(itertools.combinations(range(52), 2)) if not set(hand) & set(cards)]
    ranges = []
    for player in (0, 1):
        weights = [0.0] * 1326
        for place in range(num_hands):
            weights[live[(place * len(live) + player * len(live) // 2) // num_hands % len(live)]] = 1.0
        ranges.append(kind(weights))
    spot = find("HoldemSpot", "equipoise.games.holdem.spot")(
        board=cards,
        pot=100,
        stacks=(300, 300) if len(cards) == 3 else (900, 900),
        ranges=tuple(ranges),
        menu=menu("67%, a" if len(cards) == 3 else "50%, 100%, a / 100%, a"),
    )
    tree = find("build_holdem_tree", "equipoise.trees.holdem.tree", "equipoise.trees.holdem")(spot)
    solver: Any = find("CFRSolver", "equipoise.solvers.cfr")(tree, find_rule("DCFR"), dtype=dtype, **team)
    solver.iterate(200 if len(cards) > 3 else 100)
    return solver.iterate


def solve_first_order(game: str) -> Iterate:
    """Returns iterations of the excessive gap technique."""
    tree = find("build_history_tree", "equipoise.trees.history")(find("make_game", "equipoise.games.registry")(game))
    solver: Any = find("EGTSolver", "equipoise.solvers.egt")(tree, **team)
    return solver.iterate


def find_rule(name: str) -> Any:
    """Returns a rule by the name of its class."""
    return find(name, "equipoise.solvers.rules")()


INPUTS: Final[Mapping[str, Callable[[], Iterate]]] = {
    "Kuhn histories, CFR": lambda: solve_history("kuhn", "CFR"),
    "Leduc histories, CFR": lambda: solve_history("leduc", "CFR"),
    "Leduc histories, CFR+": lambda: solve_history("leduc", "CFRPlus"),
    "Leduc histories, DCFR": lambda: solve_history("leduc", "DCFR"),
    "Leduc histories, Hedge": lambda: solve_history("leduc", "Hedge"),
    "Leduc histories, NormalHedge": lambda: solve_history("leduc", "NormalHedge"),
    "Leduc histories, EGT": lambda: solve_first_order("leduc"),
    "Leduc public, CFR": lambda: solve_public("leduc", "CFR"),
    "Leduc public, DCFR": lambda: solve_public("leduc", "DCFR"),
    "Leduc public, Hedge": lambda: solve_public("leduc", "Hedge"),
    "Liar's Dice histories, CFR": lambda: solve_history("liars_dice", "CFR"),
    "Liar's Dice histories, CFR+": lambda: solve_history("liars_dice", "CFRPlus"),
    "Liar's Dice public, CFR": lambda: solve_public("liars_dice", "CFR"),
    "Liar's Dice public, DCFR": lambda: solve_public("liars_dice", "DCFR"),
    "small river, float32": lambda: solve_spot("small river", "DCFR", "float32"),
    "river, float32": lambda: solve_spot("river", "DCFR", "float32"),
    "river, float64": lambda: solve_spot("river", "DCFR", "float64"),
    "river, int16": lambda: solve_spot("river", "DCFR", "int16"),
    "turn, float32": lambda: solve_spot("turn", "DCFR", "float32"),
    "turn, float64": lambda: solve_spot("turn", "DCFR", "float64"),
    "turn, int16": lambda: solve_spot("turn", "DCFR", "int16"),
    **{
        f"{street} of {num_hands}": functools.partial(solve_width, board, num_hands)
        for street, board, widths in (
            ("river", "Ks 8d 4h 2c Td", (60, 300)),
            ("turn", "Ks 8d 4h 2c", (30, 60, 150, 300)),
            ("flop", "Ks 8d 4h", (30, 60, 150)),
        )
        for num_hands in widths
    },
}


def serve() -> None:
    """Answers lines from standard input: an input's name begins it, `calls rows` measures so many of that size."""
    iterate: Iterate = len
    clock = time.perf_counter if team else time.process_time
    for line in sys.stdin:
        text = line.strip()
        if text in INPUTS:
            iterate = INPUTS[text]()
            iterate(5)  # fresh tables are pages that nobody has touched
            answer = 0.0
        else:
            calls, rows = map(int, text.split())
            began = clock()
            for _ in range(calls):
                iterate(rows)
            answer = clock() - began
        say(str(answer))


class Build:
    """A process in which an interpreter's package is measured."""

    def __init__(self, python: str) -> None:
        command = [python, __file__, "--serve", *(f"--threads={size}" for size in team.values())]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, text: str) -> float:
        """Returns the seconds of what was asked for."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(text, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self._process.args} has ended")
        return float(answer)


def choose_count(build: Build) -> int:
    """Returns how many iterations take about the time of one measurement."""
    count = 1
    while (seconds := build.ask(f"1 {count}")) < SECONDS and count < 1 << 20:
        count = max(2 * count, int(count * SECONDS / max(seconds, 1e-4) * 0.9))
    return count


def compare(before: Build, after: Build, names: list[str], repeats: int) -> None:
    """Prints microseconds an iteration of both builds and their ratio."""
    say(f"{'input':32} {'before us':>11} {'after us':>11} {'ratio':>7} {'of medians':>11}")
    for name in names:
        for build in (before, after):
            build.ask(name)
        count = choose_count(after)
        seconds = [[build.ask(f"1 {count}") for build in (before, after)] for _ in range(repeats)]
        first, second = zip(*seconds, strict=True)
        medians = statistics.median(second) / statistics.median(first)
        low, high = min(first) / count * 1e6, min(second) / count * 1e6
        say(f"{name:32} {low:11.2f} {high:11.2f} {high / low:7.3f} {medians:11.3f}")


def compare_calls(build: Build, names: list[str], repeats: int) -> None:
    """Prints microseconds an iteration in one call of many, and in calls of one."""
    say(f"{'input':32} {'many us':>10} {'one us':>10} {'ratio':>7}")
    for name in names:
        build.ask(name)
        count = choose_count(build)
        seconds = [[build.ask(text) for text in (f"1 {count}", f"{count} 1")] for _ in range(repeats)]
        many, one = (min(column) / count * 1e6 for column in zip(*seconds, strict=True))
        say(f"{name:32} {many:10.2f} {one:10.2f} {one / many:7.3f}")


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("pythons", nargs="*", help="interpreters of the build before and the one after")
    parser.add_argument("--inputs", default="", help="only those whose name has one of these in it, by commas")
    parser.add_argument("--repeats", type=int, default=41)
    parser.add_argument("--calls", action="store_true", help="one iteration a call beside many, of the last build")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, help="of a team; by default there is none")
    given = parser.parse_args()
    if given.threads:
        team["num_threads"] = given.threads
    if given.serve:
        serve()
        return
    names = [name for name in INPUTS if any(part in name for part in given.inputs.split(","))]
    if given.calls:
        compare_calls(Build(given.pythons[-1] if given.pythons else sys.executable), names, given.repeats)
    elif len(given.pythons) == 2:
        compare(Build(given.pythons[0]), Build(given.pythons[1]), names, given.repeats)
    else:
        parser.error("name two interpreters")


if __name__ == "__main__":
    main()
