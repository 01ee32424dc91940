# SPDX-License-Identifier: Apache-2.0
"""Hold'em searches that end with the street: at its lines players choose how a blueprint goes on, in each hand alone.

The blueprint is a strategy for the spot down to the last street, solved or given. What a pair of its biased forms pays
a pair of hands does not depend on beliefs, so it is computed once, exactly; then the street alone is solved.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.memory import check_memory
from equipoise.games.holdem.betting import CALL, FOLD
from equipoise.games.holdem.betting_tree import DEALING, BettingTree, NodeKind
from equipoise.games.holdem.isomorphism import hand_permutation
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.holdem.arrays import TILE
from equipoise.kernels.holdem.leaf_tables import LeafLine, add_leaf_values
from equipoise.kernels.holdem.leaves import ENTRY_TYPES, MAX_CHOICES, EntryArray, HoldemLeaves, LeafTables
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.search.holdem.subgame import HoldemSubgame
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import Rule
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree, plan_first_street
from equipoise.trees.vector import TreeStrategy

__all__ = [
    "BIASES",
    "BLUEPRINT_ITERATIONS",
    "PLAIN",
    "SHARE_OF_ALL",
    "Bias",
    "LeafChoices",
    "OnLine",
    "estimate_leaf_bytes",
    "limit_depth",
    "solve_blueprint",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]
OnLine = Callable[[int, int], None]  # lines done, of how many

BIAS: Final = 10.0  # thesis section 5.2.2
BLUEPRINT_ITERATIONS: Final = 100
SHARE_OF_ALL: Final = 0.05
LARGEST_ENTRY: Final = np.iinfo(np.int16).max


class Bias(NamedTuple):
    """Factors on the probabilities of a blueprint, after which they are normalised."""

    fold: float = 1.0
    call: float = 1.0  # and check
    bet: float = 1.0  # and raise


PLAIN: Final = (Bias(),)
BIASES: Final = (Bias(), Bias(fold=BIAS), Bias(call=BIAS), Bias(bet=BIAS))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LeafChoices:
    """Among which forms of the blueprint players choose at leaves.

    Paper: Brown, Sandholm & Amos 2018, "Depth-Limited Solving for Imperfect-Information Games" (Modicum); Brown 2020,
        PhD thesis, sections 5.2.2 and 6.6 (Pluribus: both players choose).
    Symbols: sigma_2^1..k -> opponent; sigma_1^1..m -> searcher.
    Departs from the paper: payoffs are exact, from every card that may come; whatever the rule of the run, regrets of
        choices are matched.
    Checked by: tests/search/test_holdem_depth_limit.py.
    """

    opponent: tuple[Bias, ...] = BIASES
    searcher: tuple[Bias, ...] = PLAIN

    def __post_init__(self) -> None:
        for name in ("opponent", "searcher"):
            biases = getattr(self, name)
            if not 1 <= len(biases) <= MAX_CHOICES:
                raise ConfigError(f"the {name} chooses among 1 to {MAX_CHOICES} biases, got {len(biases)}")
            for bias in biases:
                if len(bias) != len(Bias._fields) or not all(0 < factor < np.inf for factor in bias):
                    raise ConfigError(f"a bias is three positive factors (fold, call, bet), got {tuple(bias)}")

    @classmethod
    def both(cls, biases: tuple[Bias, ...] = BIASES) -> LeafChoices:
        """Returns the choices of Pluribus: the searcher has the opponent's."""
        return cls(opponent=biases, searcher=biases)

    def weights(self, searcher: int) -> tuple[FloatArray, FloatArray]:
        """Returns `[choice, kind]` the factors of player 0 and of player 1."""
        own, other = np.array(self.searcher, np.float64), np.array(self.opponent, np.float64)
        return (own, other) if searcher == 0 else (other, own)


def solve_blueprint(
    spot: HoldemSpot,
    *,
    iterations: int = BLUEPRINT_ITERATIONS,
    rule: Rule | None = None,
    share_of_all: float = SHARE_OF_ALL,
    num_threads: int = 1,
    on_iteration: OnLine | None = None,
) -> TreeStrategy[HoldemTree]:
    """Returns a blueprint: the whole spot solved roughly, for its own ranges and, a little, for every other hand.

    As a strategy for the whole game would, it knows who comes here; hands that do not come have learned to play all
    the same, since searches with a gate let them in.

    Args:
        spot: what is played, turn and river.
        iterations: of full-width CFR.
        rule: DCFR if None.
        share_of_all: how likely a hand is drawn from all alike instead of from its range; with 1 the blueprint does
            not know the spot's ranges, with 0 it lacks the hands outside of them.
        num_threads: size of the team.
        on_iteration: told how far it is.
    """
    if not 0 <= share_of_all <= 1:
        raise ConfigError(f"the share of all hands is a number from 0 to 1, got {share_of_all}")
    first, second = (_mix_in_all(spot, player, share_of_all) for player in (0, 1))
    spot = dataclasses.replace(spot, ranges=(first, second))
    solver = CFRSolver(build_holdem_tree(spot), rule, num_threads=num_threads)
    while solver.iteration < iterations:
        solver.iterate(min(10, iterations - solver.iteration))
        if on_iteration is not None:
            on_iteration(solver.iteration, iterations)
    return TreeStrategy(tree=solver.tree, sums=solver.tables.strategy_sum)


def _mix_in_all(spot: HoldemSpot, player: int, share: float) -> Range:
    """Returns a player's range, hands being drawn with some probability from all that the board leaves alike."""
    known, everybody = spot.live_weights(player), Range.random(spot.deck).without(spot.board).weights
    mixed = (1.0 - share) * known / known.sum() + share * everybody / everybody.sum()
    return Range(mixed / mixed.max(), spot.deck)


class _LeafGroup(NamedTuple):
    """Lines that pay alike up to a factor."""

    part: LeafLine  # of the first of them
    lines: tuple[int, ...]
    scale: tuple[float, ...]


def estimate_leaf_bytes(
    spot: HoldemSpot,
    choices: LeafChoices | None = None,
    *,
    dtype: npt.DTypeLike = np.int16,
    betting: BettingTree | None = None,
) -> int:
    """Returns the bytes of the tables of a spot's leaves, known before anything is computed.

    Args:
        spot: what is searched.
        choices: at leaves; as for `limit_depth`.
        dtype: of the tables.
        betting: what is bet, from somewhere in the spot's first street on; by default from its beginning, by its menu.
    """
    choices = choices or LeafChoices()
    plan = plan_first_street(spot, betting=betting)
    num_rows = plan.arrays.num_rows(0, 0) * plan.arrays.num_rows(0, 1)
    pairs = len(choices.opponent) * len(choices.searcher)
    live = sum(node.kind is NodeKind.DECISION and node.action == DEALING for node in plan.betting.nodes[1:])
    return 2 * num_rows * np.dtype(dtype).itemsize * (live * pairs + 1)


def limit_depth(
    spot: HoldemSpot,
    blueprint: TreeStrategy[HoldemTree],
    searcher: int,
    choices: LeafChoices | None = None,
    *,
    dtype: npt.DTypeLike = np.int16,
    num_threads: int = 1,
    on_line: OnLine | None = None,
) -> HoldemSubgame:
    """Returns a turn spot without its river: at the lines that lead there players choose how the blueprint goes on.

    Args:
        spot: what is searched.
        blueprint: of a spot with the same board, chips and bets; its ranges have every hand of the spot's. Where its
            betting begins within the street, the search does.
        searcher: who searches; the other is the opponent of `choices`.
        choices: four biases for the opponent and the blueprint itself for the searcher if None.
        dtype: of the tables: int16, which errs by 2e-5 of what is at stake, float32 (twice the memory) or float64.
        num_threads: size of the team.
        on_line: told how far it is.
    """
    choices, kind = choices or LeafChoices(), np.dtype(dtype)
    if kind not in ENTRY_TYPES:
        raise ConfigError(f"tables of leaves are float32, float64 or int16, got {kind}")
    if searcher not in (0, 1):
        raise ConfigError(f"the searcher is player 0 or 1, got {searcher}")
    _check_blueprint(spot, blueprint.tree)
    betting = blueprint.tree.betting
    check_memory(estimate_leaf_bytes(spot, choices, dtype=kind, betting=betting), "the table of the leaves")
    tree = plan_first_street(spot, betting=betting).build()
    builder = _TableBuilder(tree, blueprint, choices.weights(searcher), num_threads)
    groups = list(_group_lines(blueprint.tree))
    sizes = [builder.num_entries(group) for group in groups]
    entries = np.empty(sum(sizes), kind), np.empty(sum(sizes), kind)
    units: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    begin = 0
    for number, (group, size) in enumerate(zip(groups, sizes, strict=True)):
        for player, table in builder.build(group, np.float64 if kind == np.float64 else np.float32):
            unit = _store(table, entries[player][begin : begin + size])
            units[player].append(unit)
        begin += size
        if on_line is not None:
            on_line(number + 1, len(groups))
    counts = np.array([len(group.lines) for group in groups])
    tables = np.column_stack([np.cumsum(counts) - counts, counts, [builder.num_choices(group) for group in groups]])
    leaves = LeafTables(
        tables=np.ascontiguousarray(tables, np.int32),
        lines=np.array([line for group in groups for line in group.lines], np.int32),
        scale=np.array([scale for group in groups for scale in group.scale]),
        num_rows=builder.num_rows,
        entries=entries,
        unit=(np.concatenate(units[0]), np.concatenate(units[1])),
    )
    return HoldemSubgame.of_tree(tree, frontier=HoldemLeaves(leaves))


def _check_blueprint(spot: HoldemSpot, tree: HoldemTree) -> None:
    """Raises `ConfigError` unless a search of the spot can go on with a strategy of the tree."""
    street, last = spot.betting_rules.first_street, spot.last_street
    if last - street != 1:
        raise ConfigError(
            f"a depth limit needs a spot of two streets, such as turn and river; {spot.name} has {last - street + 1}"
        )
    known = tree.spot
    if set(known.board) != set(spot.board) or known.deck != spot.deck:
        raise ConfigError(f"the blueprint is of {known.name}, the search of {spot.name}")
    for name in (
        "pot",
        "stacks",
        "menu",
        "big_blind",
        "bet_sizes",
        "max_raises",
        "last_street",
        "rake_rate",
        "rake_cap",
    ):
        if getattr(known, name) != getattr(spot, name):
            raise ConfigError(
                f"the blueprint has another {name.replace('_', ' ')} than the search: "
                f"{getattr(known, name)} and {getattr(spot, name)}"
            )
    for player in (0, 1):
        missing = (spot.live_weights(player) > 0) & ~(known.live_weights(player) > 0)
        if missing.any():
            raise ConfigError(
                f"the blueprint lacks {int(missing.sum())} hands that player {player} holds in the search"
            )


def _group_lines(tree: HoldemTree) -> Iterator[_LeafGroup]:
    """Yields the lines that enter the last street: one by one, but those without decisions together."""
    arrays = tree.arrays
    fields = arrays.street(-1)
    stakes = arrays.flat_scale[-2 * TILE * fields.flat_packs :]
    alike: dict[float, list[tuple[LeafLine, float]]] = {}
    for part in _find_lines(tree):
        if part.has_decisions:
            yield _LeafGroup(part, (part.line,), (1.0,))
        else:  # all-in: one showdown
            rake = float(arrays.flat_rake[part.first_flat]) if arrays.flat_rake.size else 0.0
            alike.setdefault(rake, []).append((part, float(stakes[part.first_flat])))
    for parts in alike.values():
        first, stake = parts[0]
        lines = tuple(part.line for part, _ in parts)
        yield _LeafGroup(first, lines, tuple(each / stake for _, each in parts))


def _find_lines(tree: HoldemTree) -> Iterator[LeafLine]:
    """Yields what belongs to each line that enters the last street; nodes and ends stand in the order of lines."""
    last = tree.betting.rules.last_street
    nodes = [node for node in tree.betting.nodes if node.state.street == last]
    counts: list[list[int]] = []  # by line: decisions of both players, showdowns, folds
    for node in nodes:
        if node.action == DEALING:
            counts.append([0, 0, 0, 0])
        if node.kind is NodeKind.DECISION:
            counts[-1][node.state.actor] += 1
        else:
            counts[-1][3 if node.kind is NodeKind.FOLD else 2] += 1
    ends = np.cumsum(counts, axis=0)
    for line, (end, count) in enumerate(zip(ends.tolist(), counts, strict=True)):
        runs = [place for stop, size in zip(end, count, strict=True) for place in (stop - size, stop)]
        yield LeafLine(line, *runs)


def _find_kinds(tree: HoldemTree) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Returns by player `[cells of the last street]` whether an action folds (0), calls (1) or raises (2)."""
    fields = tree.arrays.street(-1)
    kinds = np.zeros(fields.num_cells_0, np.uint8), np.zeros(fields.num_cells_1, np.uint8)
    for index, decision in tree.decisions.items():
        if decision.street == len(tree.arrays.streets) - 1:
            found = [{FOLD: 0, CALL: 1}.get(action, 2) for action in tree.betting.nodes[index].actions]
            kinds[decision.player][decision.first_cell : decision.first_cell + decision.num_actions] = found
    return kinds


def _store(table: npt.NDArray[np.float32] | FloatArray, out: EntryArray) -> FloatArray:
    """Overwrites `out` with a table; returns what an entry of 1 is worth in each of its rows, nothing for floats."""
    if out.dtype != np.int16:
        out[:] = table.reshape(-1)
        return np.zeros(0)
    rows = table.reshape(table.shape[0] * table.shape[1], -1)
    unit: FloatArray = np.abs(rows).max(axis=1).astype(np.float64) / LARGEST_ENTRY
    unit[unit == 0.0] = 1.0
    for row in range(0, len(rows), TILE):  # in parts: the table itself is large
        some = slice(row, row + TILE)
        out.reshape(rows.shape)[some] = np.rint(rows[some] / unit[some, None])
    return unit


class _TableBuilder:
    """Computes what lines pay."""

    def __init__(
        self,
        tree: HoldemTree,
        blueprint: TreeStrategy[HoldemTree],
        weights: tuple[FloatArray, FloatArray],
        num_threads: int,
    ) -> None:
        self.tree, self.blueprint, self.num_threads = tree, blueprint, num_threads
        self.kernel = HoldemKernel(blueprint.tree.arrays)
        self.weights, self.kinds = weights, _find_kinds(blueprint.tree)
        self.num_rows = tree.arrays.num_rows(0, 0), tree.arrays.num_rows(0, 1)
        self.boards, self.rows = self._match_hands()
        self.plain = np.ones((1, len(Bias._fields)))

    def num_choices(self, group: _LeafGroup) -> tuple[int, int]:
        """Returns among how many forms of the blueprint each player chooses."""
        return (len(self.weights[0]), len(self.weights[1])) if group.part.has_decisions else (1, 1)

    def num_entries(self, group: _LeafGroup) -> int:
        """Returns the size of a player's table."""
        first, second = self.num_choices(group)
        return first * second * self.num_rows[0] * self.num_rows[1]

    def build(
        self, group: _LeafGroup, dtype: npt.DTypeLike
    ) -> Iterator[tuple[int, npt.NDArray[np.float32] | FloatArray]]:
        """Yields players and `[other's choice, other's row, own choice, own row]` what the group's lines pay them."""
        choices = self.num_choices(group)
        weights = self.weights if group.part.has_decisions else (self.plain, self.plain)
        first = np.zeros((choices[1], self.num_rows[1], choices[0], self.num_rows[0]), dtype)
        self._add(group, weights, 0, first)
        yield 0, first
        if not self.blueprint.tree.spot.rake_rate:
            yield 1, np.negative(first.transpose(2, 3, 0, 1))
            return
        second = np.zeros((choices[0], self.num_rows[0], choices[1], self.num_rows[1]), dtype)
        self._add(group, weights, 1, second)
        yield 1, second

    def _add(
        self,
        group: _LeafGroup,
        weights: tuple[FloatArray, FloatArray],
        player: int,
        out: npt.NDArray[np.float32] | FloatArray,
    ) -> None:
        add_leaf_values(
            self.kernel,
            self.blueprint.table,
            self.kinds,
            weights,
            group.part,
            player,
            self.boards,
            self.rows,
            num_threads=self.num_threads,
            out=out,
        )

    def _match_hands(self) -> tuple[IntArray, tuple[IntArray, IntArray]]:
        """Returns `[boards]` the blueprint's board for each card, by player `[boards, rows]` where it has hands."""
        known, spot = self.blueprint.tree, self.tree.spot
        cards = [card for card in spot.deck.cards if card not in spot.board]
        located = [known.locate((*known.spot.board, card)) for card in cards]
        boards = np.array([board for board, _ in located], np.int32)
        rows = []
        for player in (0, 1):
            held = self.tree.hands[0][player]
            matched = np.full((len(cards), self.num_rows[player]), -1, np.int32)
            for place, (board, relabelling) in enumerate(located):
                there = known.hands[board][player]
                row_of = np.full(spot.deck.num_hands, -1, np.int32)
                row_of[there] = np.arange(there.size, dtype=np.int32)
                # a hand here has another name there
                matched[place, : held.size] = row_of[hand_permutation(relabelling, spot.deck)[held]]
            rows.append(matched)
        return boards, (rows[0], rows[1])
