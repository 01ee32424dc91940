# SPDX-License-Identifier: Apache-2.0
"""How exploitable play by random iterations is in turn endgames: playthroughs of both rounds, averaged by own reach.

The turn is searched once, and every playthrough draws an iteration of that search; rivers behind each of its lines are
solved for the beliefs of that iteration, to the end of the hand. Whoever draws iterations of these plays their average
as far as others can tell, for nothing is solved below: so it is the average that is added. Who responds meets the
average of the playthroughs, exactly.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.interruption import never
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.betting_tree import cut_betting
from equipoise.games.holdem.cards import FULL_DECK, parse_board
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.learning.rebel.holdem.iterations import (
    IterationSums,
    begin_with_proposals,
    push_reaches,
    spread_iterations,
)
from equipoise.learning.rebel.holdem.nets import HandsGuide
from equipoise.learning.rebel.holdem.settings import BIG_BLIND, HoldemRebelSettings
from equipoise.search.holdem.leaves import HoldemRest, HoldemState, trace_line
from equipoise.search.leaves import LeafEvaluator, LeafPart
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rule_notation import parse_rule
from equipoise.trees.holdem.tree import HoldemTree, plan_first_street, plan_holdem_tree

__all__ = ["HoldemPlayed", "make_test_spot", "measure_turn_endgame"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

LEAST_MASS: Final = 1e-9  # of a player's hands, below which anybody is believed to be there


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemPlayed:
    """How exploitable the average of some playthroughs is: on average more than play itself."""

    exploitability: float  # chips
    playthroughs: int


def make_test_spot(settings: HoldemRebelSettings) -> HoldemSpot:
    """Returns the turn that is tested: both have put in a big blind, sizes are those of the menu."""
    if settings.street is not Street.TURN:
        raise ConfigError(
            f"exploitability is measured where hands begin with the turn, and these begin with the {settings.first}"
        )
    everything = Range.random(FULL_DECK)
    behind = settings.test_stack - BIG_BLIND
    return HoldemSpot(
        board=parse_board(settings.test_board, FULL_DECK),
        pot=2 * BIG_BLIND,
        stacks=(behind, behind),
        ranges=(everything, everything),
        menu=parse_menu(settings.menu),
        big_blind=BIG_BLIND,
        deck=FULL_DECK,
    )


class _Rivers:
    """What follows a line of the turn, on a tree of its own, and where the whole game's tables keep it."""

    def __init__(self, rest: HoldemRest, whole: HoldemTree, line: int) -> None:
        betting = whole.betting
        state = betting.nodes[line].state
        self.part: LeafPart = rest.part(HoldemState(trace_line(betting, line), state, tuple(whole.spot.board)))
        tree = self.part.tree
        assert isinstance(tree, HoldemTree), "hold'em has trees of its own"
        self.tree = tree
        assert len(tree.betting.nodes) == len(cut_betting(betting, line).nodes), "the same bets follow"
        self.cells: list[tuple[list[IntArray], list[IntArray]]] = [([], []), ([], [])]
        for index, board in enumerate(tree.boards):
            there = whole.board_index(tuple(board))
            for inner, decision in tree.decisions.items():
                if tree.arrays.board(index).street != decision.street:
                    continue
                own, other = self.cells[decision.player]
                assert np.array_equal(tree.hands[index][decision.player], whole.hands[there][decision.player]), (
                    "both keep hands in one order"
                )
                own.append(tree.cells(index, inner).ravel())
                other.append(whole.cells(there, line + inner).ravel())
        self.places = [(np.concatenate(own), np.concatenate(other)) for own, other in self.cells]
        self.solver: CFRSolver[HoldemTree] | None = None

    def play(self, settings: HoldemRebelSettings, reach: tuple[FloatArray, FloatArray]) -> FloatArray:
        """Returns `[C]` own reach times strategies, over all iterations of solving the rivers for some beliefs."""
        if self.solver is None:
            self.solver = CFRSolver(self.tree, parse_rule(settings.rule), kernel=self.part.kernel)
        first, second = (np.maximum(own, 1e-9 * own.max()) for own in self.part.to_rows(reach))
        self.solver.root_reach = first, second
        self.solver.reset()
        return IterationSums(self.solver).average(settings.test_iterations)


def measure_turn_endgame(
    settings: HoldemRebelSettings,
    ends: LeafEvaluator,
    count: int,
    *,
    rng: np.random.Generator,
    guide: HandsGuide | None = None,
    on_progress: Callable[[float], None] | None = None,
    is_interrupted: Callable[[], bool] = never,
) -> HoldemPlayed:
    """Returns how exploitable play by random iterations is, over so many playthroughs.

    Paper: Brown 2020, PhD thesis, sections 5.3.4 and 5.3.5, Figure 5.9.
    Departs from the paper: iterations of the turn are drawn at equal distances, those of rivers not at all: what is
        added is the mean over their draws.
    Checked by: tests/learning/rebel/test_holdem.py, tests/learning/rebel/test_holdem_methods.py.

    Args:
        settings: of the training, or of the test alone.
        ends: what the end of the turn is worth.
        count: of playthroughs.
        rng: draws iterations.
        guide: proposes what the turn's search begins with.
        on_progress: called with the share done.
        is_interrupted: asked before each playthrough; those so far count.
    """
    spot = make_test_spot(settings)
    whole = plan_holdem_tree(spot, merges_suits=False).build()
    turn = plan_first_street(spot, betting=whole.betting).build()
    rule = parse_rule(settings.rule)
    run = IterationSums.of_round(turn, rule, ends, settings.method)
    first = 1
    if guide is not None:
        first = 1 + settings.warm_start
        begin_with_proposals(run.solver, guide, settings.warm_start)
    rest = HoldemRest(spot, places=whole)
    lines = [line for line in whole.leaving_nodes() if whole.betting.nodes[line].children]
    rivers = {line: _Rivers(rest, whole, line) for line in lines if min(whole.betting.nodes[line].state.stacks) > 0}
    sums = np.zeros(whole.arrays.num_cells)
    drawn = spread_iterations(rule, settings.test_iterations, count, rng, first=first)
    done = 0
    for iteration, times in zip(*(part.tolist() for part in np.unique(drawn, return_counts=True)), strict=True):
        if is_interrupted() and done:
            break
        _add_playthroughs(settings, whole, turn, run.believed(iteration), rivers, sums, times)
        done += times
        if on_progress is not None:
            on_progress(done / count)
    found = evaluate(whole, sums.astype(np.float32))
    return HoldemPlayed(exploitability=found.exploitability, playthroughs=done)


def _add_playthroughs(
    settings: HoldemRebelSettings,
    whole: HoldemTree,
    turn: HoldemTree,
    played: FloatArray,
    rivers: dict[int, _Rivers],
    sums: FloatArray,
    times: int,
) -> None:
    """Adds what so many playthroughs of one draw play, by own reach."""
    for node in turn.decisions:
        sums[whole.cells(0, node)] += times * played[turn.cells(0, node)]
    first, second = (whole.spot.live_weights(player) for player in (0, 1))
    reached = push_reaches(turn, played, (np.array(first), np.array(second)))
    for line, river in rivers.items():
        is_there = [own.sum() > LEAST_MASS for own in reached[line]]
        if not any(is_there):
            continue
        held = zip(reached[line], (first, second), is_there, strict=True)
        beliefs = tuple(own if there else np.array(anybody) for own, anybody, there in held)
        found = river.play(settings, (beliefs[0], beliefs[1]))
        for player in (0, 1):
            if is_there[player]:
                inner, outer = river.places[player]
                sums[outer] += times * found[inner]
