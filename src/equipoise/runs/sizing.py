# SPDX-License-Identifier: Apache-2.0
"""What a spot would take in memory and time, menu by menu, and which menu it gets that names none.

Nothing large is allocated: trees are planned, not built, and the pace is that of a short run on one later board.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Iterator
from typing import Final

import numpy as np

from equipoise.core import memory
from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.core.machine import num_usable_cores
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import FULL_DECK
from equipoise.games.holdem.menu_notation import MENUS, parse_menu
from equipoise.games.holdem.menus import Menu
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_file import SpotFile
from equipoise.solvers.cfr import CFRSolver, estimate_bytes
from equipoise.solvers.holdem.solved_spot import make_locks
from equipoise.solvers.methods import check_precision
from equipoise.solvers.rules import DCFR
from equipoise.trees.holdem.tree import HoldemPlan, HoldemTree, build_holdem_tree, plan_holdem_tree

__all__ = [
    "COMFORTABLE_SHARE",
    "MENUS_BY_SIZE",
    "SizeChoice",
    "choose_menu",
    "list_choices",
    "list_others",
    "list_sizes",
    "measure_pace",
]

COMFORTABLE_SHARE: Final = 0.5  # of the free memory; a spot that takes more is asked about
MOST_DEFAULT_CELLS: Final = 400_000_000  # of a menu that nobody asked for: an iteration takes about a CPU second
PRECISIONS: Final = ("float32", "int16")
FEW_HANDS: Final = 60
PACE_SECONDS: Final = 0.2  # of the run that shows the pace
# from many bets to few: two sizes of each bet, two on the river, one of each, one and no raise
MENUS_BY_SIZE: Final = (
    MENUS["libratus"],
    parse_menu("flop: 33%, 75% / 60%; turn: 75% / 60%; river: 75%, a / a; cap: 3"),
    parse_menu("flop: 33%, 100% / a; turn: 33%, 100% / a; river: 75%, a / a; cap: 2"),
    parse_menu("flop: 50% / 3x; turn: 75% / a; river: 75%, a / a; cap: 2"),
    parse_menu("50%, a / a; cap: 2"),
    parse_menu("75% / a; cap: 2"),
    parse_menu("75%; cap: 1"),
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SizeChoice:
    """One way to solve a spot."""

    menu: Menu
    precision: str
    num_cells: int  # of one table
    num_bytes: int  # at most, everything counted
    seconds: float  # an iteration, by the pace of a short run

    @property
    def is_comfortable(self) -> bool:
        """Returns whether it leaves half of the free memory, and an iteration takes about a CPU second at most."""
        available = memory.available_bytes()
        fits = available is None or self.num_bytes <= COMFORTABLE_SHARE * available
        return fits and self.num_cells <= MOST_DEFAULT_CELLS


def choose_menu(file: SpotFile, *, precision: str = "float32", num_threads: int = 1) -> SpotFile:
    """Returns a spot with the first menu from many bets to few that is comfortable, if it names none itself.

    That is: at most half of the free memory, and an iteration of about a second. The leanest one is taken if none is.
    """
    check_precision(precision)
    if not file.chooses_menu or file.locks or not file.spot.board or file.spot.bet_sizes:
        return file
    # from a flop on the first of them are never comfortable, and to plan them takes seconds
    menus = MENUS_BY_SIZE[2 if _is_wide_flop(file.spot) else 0 :]
    available = memory.available_bytes()
    for menu in menus:
        spot = dataclasses.replace(file.spot, menu=menu)
        plan = _try_plan(spot)
        if plan is None:
            continue
        num_bytes = estimate_bytes(plan, DCFR(), dtype=precision, num_threads=num_threads)
        fits = available is None or num_bytes <= COMFORTABLE_SHARE * available
        if fits and plan.arrays.num_cells <= MOST_DEFAULT_CELLS:
            break
    return dataclasses.replace(file, spot=spot, chooses_menu=False)


def _is_wide_flop(spot: HoldemSpot) -> bool:
    """Returns whether both players have more than a few hands of a full deck, with two streets to come."""
    num_hands = min(int(np.count_nonzero(spot.live_weights(player))) for player in (0, 1))
    return len(spot.board) == Street.FLOP.num_board_cards and spot.deck == FULL_DECK and num_hands > FEW_HANDS


def list_sizes(file: SpotFile, *, num_threads: int | None = None) -> Iterator[tuple[Menu, str, int]]:
    """Yields menus and precisions with the bytes that a spot would take: its own menu, then from many bets to few."""
    for plan in _list_plans(file):
        for precision in PRECISIONS:
            yield plan.spot.menu, precision, _estimate(plan, precision, num_threads or num_usable_cores())


def list_choices(file: SpotFile, *, num_threads: int | None = None) -> Iterator[SizeChoice]:
    """Yields what a spot would take: under its own menu, then under others from many bets to few.

    Args:
        file: of a spot.
        num_threads: size of the team; None: as many as there are cores, if that is faster.
    """
    paces = {precision: measure_pace(file.spot, precision, num_threads=num_threads) for precision in PRECISIONS}
    for plan in _list_plans(file):
        for precision in PRECISIONS:
            yield SizeChoice(
                menu=plan.spot.menu,
                precision=precision,
                num_cells=plan.arrays.num_cells,
                num_bytes=_estimate(plan, precision, num_threads or num_usable_cores()),
                seconds=plan.arrays.num_cells * paces[precision],
            )


def list_others(file: SpotFile) -> SpotFile:
    """Returns a spot of which sizes are listed without those of its own menu, of which there may be no plan."""
    return dataclasses.replace(file, chooses_menu=True)


def _list_plans(file: SpotFile) -> Iterator[HoldemPlan]:
    """Yields plans of a spot's tree under its own menu, if it has one, and under others from many bets to few."""
    own = file.spot.menu
    if not file.chooses_menu:
        yield plan_holdem_tree(file.spot, locks=make_locks(file))
    if file.spot.bet_sizes or not file.spot.board:
        return
    for menu in MENUS_BY_SIZE:
        if menu != own or file.chooses_menu:
            plan = _try_plan(dataclasses.replace(file.spot, menu=menu))
            if plan is not None:
                yield plan


def _try_plan(spot: HoldemSpot) -> HoldemPlan | None:
    """Returns the plan of a spot's tree, None if not even the plan fits the free memory."""
    try:
        return plan_holdem_tree(spot)
    except GameTooLargeError:
        return None


def _estimate(plan: HoldemPlan, precision: str, num_threads: int) -> int:
    return estimate_bytes(plan, DCFR(), dtype=precision, num_threads=num_threads)


def measure_pace(spot: HoldemSpot, precision: str, *, num_threads: int | None = None) -> float:
    """Returns the seconds that an iteration takes for each cell of a table, by some on one later board of the spot.

    Args:
        spot: with a board.
        precision: of the tables.
        num_threads: size of the team; None: the faster of one and all cores.
    """
    tree = build_holdem_tree(_go_down(spot))
    teams = {1, num_usable_cores()} if num_threads is None else {num_threads}
    return min(_time_iteration(tree, precision, team) for team in teams) / tree.arrays.num_cells


def _go_down(spot: HoldemSpot) -> HoldemSpot:
    """Returns a spot with one card more on its board, if another street follows, and few bets."""
    few = dataclasses.replace(spot, menu=spot.menu if spot.bet_sizes else MENUS_BY_SIZE[2])
    if spot.betting_rules.first_street >= spot.last_street:
        return few
    for card in spot.deck.cards:
        if card not in spot.board:
            with contextlib.suppress(ConfigError):  # the card leaves a player no hand
                return dataclasses.replace(few, board=(*spot.board, card))
    return few


def _time_iteration(tree: HoldemTree, precision: str, num_threads: int) -> float:
    """Returns the least time of an iteration among some."""
    solver = CFRSolver(tree, DCFR(), dtype=precision, num_threads=num_threads)
    best, began = math.inf, time.perf_counter()
    while time.perf_counter() - began < PACE_SECONDS:
        before = time.perf_counter()
        solver.iterate(1)
        best = min(best, time.perf_counter() - before)
    return best
