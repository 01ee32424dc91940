# SPDX-License-Identifier: Apache-2.0
"""What `equipoise bench search` measures: hold'em re-solved with all hands and a gate attached, beside the bars.

A river is solved to its end, a turn down to the river, where players choose among four forms of a blueprint; the table
of what these pay is timed on its own. Arrays stay warm between repeats, as between decisions. Loops are rivers without
a gate, iterated under each rule in the core and in torch. Nothing here prints.
"""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from equipoise.apps.bench.loops import LOOP_RULES, LOOPS, measure_loop
from equipoise.apps.bench.rows import RowsReport, Steps
from equipoise.core.errors import ConfigError
from equipoise.core.files import format_bytes
from equipoise.core.reporting import OnStep
from equipoise.games.holdem.cards import Deck, parse_deck
from equipoise.games.holdem.menu_notation import MENUS
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.search.gadgets import Resolve
from equipoise.search.holdem.depth_limit import LeafChoices, estimate_leaf_bytes, limit_depth, solve_blueprint
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.holdem.subgame import HoldemSubgame
from equipoise.search.posing import measure, pose
from equipoise.search.resolving import SubgameSolver
from equipoise.solvers.cfr import CFRSolver
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree
from equipoise.trees.vector import TreeStrategy

__all__ = ["SearchReport", "SearchSettings", "run_search"]

BUDGET: Final = 20_000  # chips of each player before the hand
SEARCHER: Final = 1
MENU_OF_TURNS: Final = "libratus"
MENU_OF_LOOPS: Final = "supremus"
RIVER_BARS: Final = {("libratus", 4000): 0.25, ("libratus", 500): 0.25, ("supremus", 4000): 0.5, ("supremus", 500): 1.2}
TURN_BAR: Final = 3.0  # seconds
CHOICES: Final = {"one chooses": LeafChoices(), "both choose": LeafChoices.both()}
SEED: Final = 1  # of the boards


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """What to measure and how often."""

    river_pots: tuple[int, ...] = (4000, 500)  # chips of stacks of 20,000 each; empty: no rivers
    turn_pots: tuple[int, ...] = (4000, 500)
    loop_pots: tuple[int, ...] = (4000,)  # of rivers on which loops are compared
    threads: int = 2
    repeats: int = 5
    river_iterations: int = 500
    turn_iterations: int = 300
    loop_iterations: int = 50
    loop_seconds: float = 20.0  # after which 3 mbb a game are given up
    blueprint_iterations: int = 100  # of what gives alternatives and continuations
    dtype: str = "int16"  # of the turn's table
    deck: str = "full"

    def __post_init__(self) -> None:
        for name in (
            "threads",
            "repeats",
            "river_iterations",
            "turn_iterations",
            "loop_iterations",
            "blueprint_iterations",
        ):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for pot in (*self.river_pots, *self.turn_pots, *self.loop_pots):
            if not 0 < pot < 2 * BUDGET:
                raise ConfigError(f"a pot must be 1 to {2 * BUDGET - 1} chips, got {pot}")
        if self.dtype not in ("float32", "int16"):
            raise ConfigError(f"the table is float32 or int16, got {self.dtype!r}")


SearchReport = RowsReport[SearchSettings]


def run_search(settings: SearchSettings, *, on_step: OnStep | None = None) -> SearchReport:
    """Returns the measurements; an interrupted run returns what it has, marked partial."""
    report = SearchReport(settings=settings)
    menus = sorted({menu for menu, _ in RIVER_BARS})
    num_loops = len(LOOPS) * len(LOOP_RULES) * len(settings.loop_pots)
    num_turns = 2 * len(CHOICES) * len(settings.turn_pots)
    steps = Steps(len(menus) * len(settings.river_pots) + num_turns + num_loops, on_step)

    try:
        for menu in menus:
            for pot in settings.river_pots:
                steps.take(f"river, {menu}, pot {pot}")
                report.rows.append(_measure_river(settings, menu, pot))
        for pot in settings.turn_pots:
            report.rows += _measure_turns(settings, pot, steps)
        for pot in settings.loop_pots:
            report.rows += _measure_loops(settings, pot, steps)
    except KeyboardInterrupt:
        report.is_partial = True
    return report


def draw_spot(deck: Deck, num_cards: int, menu: str, pot: int) -> HoldemSpot:
    """Returns a spot with every hand in both ranges, and a board that is the same every time."""
    board = np.random.default_rng(SEED).choice(deck.cards, num_cards, replace=False)
    behind = BUDGET - pot // 2
    everybody = Range.random(deck)
    return HoldemSpot(
        board=tuple(int(card) for card in board),
        pot=pot,
        stacks=(behind, behind),
        ranges=(everybody, everybody),
        menu=MENUS[menu],
        deck=deck,
    )


def time_search(solver: CFRSolver[HoldemTree], iterations: int, repeats: int) -> dict[str, Any]:
    """Returns wall and processor seconds of a search from its beginning on: medians, and the fastest."""
    walls, processors = [], []
    for _ in range(repeats + 1):
        solver.reset()
        wall, processor = time.perf_counter(), time.process_time()
        solver.iterate(iterations)
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return {  # the first one touches new memory
        "seconds": statistics.median(walls[1:]),
        "fastest": min(walls[1:]),
        "cpu_seconds": statistics.median(processors[1:]),
    }


def _measure_river(settings: SearchSettings, menu: str, pot: int) -> dict[str, Any]:
    tree = build_holdem_tree(draw_spot(parse_deck(settings.deck), 5, menu, pot))
    blueprint = CFRSolver(tree)
    blueprint.iterate(settings.blueprint_iterations)
    sums = blueprint.tables.strategy_sum
    subgame = HoldemSubgame.of_tree(tree, sums)
    problem = pose(HoldemProfile(TreeStrategy(tree, sums)), subgame, SEARCHER, Resolve())
    solver = SubgameSolver(subgame, problem, num_threads=settings.threads)
    return {
        "what": "river",
        "menu": menu,
        "pot": pot,
        "iterations": settings.river_iterations,
        **time_search(solver, settings.river_iterations, settings.repeats),
        "bar_seconds": RIVER_BARS.get((menu, pot)),
        "table_seconds": None,
        "table_bytes": None,
    }


def _measure_loops(settings: SearchSettings, pot: int, steps: Steps) -> Iterator[dict[str, Any]]:
    """Yields a row for each rule and loop."""
    tree = build_holdem_tree(draw_spot(parse_deck(settings.deck), 5, MENU_OF_LOOPS, pot))
    for loop in LOOPS:
        for rule in LOOP_RULES:
            steps.take(f"river, pot {pot}, {rule} in the loop of {loop}")
            found = measure_loop(
                tree,
                loop,
                rule,
                iterations=settings.loop_iterations,
                threads=settings.threads,
                limit_seconds=settings.loop_seconds,
            )
            if found is not None:
                yield {"what": "loop", "menu": MENU_OF_LOOPS, "pot": pot, **found}


def _measure_turns(settings: SearchSettings, pot: int, steps: Steps) -> Iterator[dict[str, Any]]:
    """Yields a row for each way to choose at leaves."""
    spot = draw_spot(parse_deck(settings.deck), 4, MENU_OF_TURNS, pot)
    blueprint = solve_blueprint(spot, iterations=settings.blueprint_iterations, num_threads=settings.threads)
    profile = HoldemProfile(TreeStrategy(blueprint.tree, blueprint.table))
    whole = HoldemSubgame.of_tree(blueprint.tree, blueprint.table)
    standing = measure(profile, whole, 1 - SEARCHER, Resolve())
    for name, choices in CHOICES.items():
        size = estimate_leaf_bytes(spot, choices, dtype=settings.dtype)
        steps.take(f"turn, pot {pot}, {name}: a table of {format_bytes(size)}")
        began = time.perf_counter()
        limited = limit_depth(spot, blueprint, SEARCHER, choices, dtype=settings.dtype, num_threads=settings.threads)
        built = time.perf_counter() - began
        problem = pose(profile, limited, SEARCHER, Resolve(), standing)
        steps.take(f"turn, pot {pot}, {name}")
        solver = SubgameSolver(limited, problem, num_threads=settings.threads)
        yield {
            "what": f"turn, {name}",
            "menu": MENU_OF_TURNS,
            "pot": pot,
            "iterations": settings.turn_iterations,
            **time_search(solver, settings.turn_iterations, settings.repeats),
            "bar_seconds": TURN_BAR,
            "table_seconds": built,
            "table_bytes": size,
        }
