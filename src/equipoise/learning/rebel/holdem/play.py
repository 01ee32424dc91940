# SPDX-License-Identifier: Apache-2.0
"""Self-play over beliefs in heads-up hold'em: every round is searched alone, with networks where it ends.

A search gives the values of its root, the start of a round; a round's end is worth the mean over the cards that may
come of what the next start is worth. Episodes lead on by drawn iterations, as in small games.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.betting import BettingState, Stage, Street, next_street, pot
from equipoise.games.holdem.cards import FULL_DECK, parse_board
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.menus import BetSize, Menu, RoundMenu, SizeKind
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.frontier import BeliefBatch
from equipoise.learning.columns import Columns
from equipoise.learning.rebel.holdem.iterations import (
    BOARD,
    LEAST_MASS,
    NUM_HANDS,
    IterationSums,
    begin_with_proposals,
    describe_decision,
    draw_holdem_iterations,
    normalize,
    push_reaches,
)
from equipoise.learning.rebel.holdem.nets import LEVELS, NUM_TOLD, Layer, LayerNets
from equipoise.learning.rebel.holdem.settings import BIG_BLIND, HoldemRebelSettings
from equipoise.learning.rebel.settings import BeliefMethod, BeliefSource
from equipoise.learning.values.configuration import NetStage
from equipoise.search.holdem.equity_leaves import EquityLeaves
from equipoise.search.holdem.leaves import AfterDeal, HoldemState, trace_line
from equipoise.search.leaves import LeafEvaluator
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rule_notation import parse_rule
from equipoise.trees.holdem.tree import HoldemTree, plan_first_street, plan_holdem_tree
from equipoise.trees.joint import CardRemoval

__all__ = [
    "HandExamples",
    "HoldemSelfPlay",
    "example_columns",
    "policy_columns",
]

FloatArray = npt.NDArray[np.float64]

LEAST_HELD: Final = 1e-9  # of the likeliest hand: as likely as the least likely one that a search knows
LEAST_LEARNT: Final = 1e-6  # of either player, with which a strategy is learnt from
KEPT_DRAWS: Final = 64  # leaves of one search before the flop that is met again


def example_columns() -> dict[str, tuple[tuple[int, ...], npt.DTypeLike]]:
    """Returns shapes and types of an example's columns."""
    pairs = ((2, NUM_HANDS), np.float16)
    return {
        "layer": ((), np.int8),
        "board": ((BOARD,), np.int8),
        "ratio": ((), np.float32),
        "range": pairs,
        "value": pairs,
    }


def policy_columns(settings: HoldemRebelSettings) -> dict[str, tuple[tuple[int, ...], npt.DTypeLike]]:
    """Returns shapes and types of what is remembered of a strategy."""
    own = {name: kept for name, kept in example_columns().items() if name != "value"}
    shares = np.uint8 if settings.quantises else np.float16
    return own | {"told": ((NUM_TOLD,), np.float32), "policy": ((settings.most_actions, NUM_HANDS), shares)}


class HandExamples(NamedTuple):
    """What self-play has found."""

    values: Columns
    policies: Columns | None = None  # strategies of decisions, if they are to be learnt


class _Leaf(NamedTuple):
    """A round's end that play comes to, and what is believed there."""

    line: tuple[int, ...]
    state: BettingState
    ranges: FloatArray  # [2, H] that add up to 1


class _Solved(NamedTuple):
    value: FloatArray  # [2, H] of the root, in pots
    leaves: list[_Leaf]


class HoldemSelfPlay:
    """Hands that are searched round by round.

    Paper: Brown 2020, PhD thesis, sections 5.3.3, 5.3.5 and 6.7, Algorithm 5.
    Symbols: epsilon -> settings.exploration; D_v -> what `generate` returns.
    Departs from the paper: cards are dealt alike, whatever ranges hold; both players are updated in each iteration.
    Checked by: tests/learning/rebel/test_holdem.py.
    """

    def __init__(self, settings: HoldemRebelSettings) -> None:
        """Begins without networks."""
        self.settings = settings
        self.rule = parse_rule(settings.rule)
        self.menu = parse_menu(settings.menu)
        self.nets: LayerNets | None = None
        self.iterations = settings.iterations
        self._showdown = EquityLeaves(FULL_DECK)
        self._kept: dict[tuple[int, int], list[_Leaf]] = {}  # that searches of a first street drew, by its stacks
        self._sizes: Menu | None = None  # that hands of this cycle share
        self._strategies: list[dict[str, Any]] = []

    def search_with(self, nets: LayerNets, iterations: int) -> None:
        """Goes on with other networks."""
        self.nets, self.iterations, self._sizes = nets, iterations, None
        self._kept.clear()

    def generate(self, count: int, *, rng: np.random.Generator) -> HandExamples:
        """Returns at least so many new examples."""
        made: list[dict[str, Any]] = []
        self._strategies.clear()
        while len(made) < count:
            make = self._random if self.settings.beliefs is BeliefSource.RANDOM else self._episode
            made += make(rng)
        policies = _join(self._strategies, policy_columns(self.settings)) if self.settings.warm_start else None
        return HandExamples(_join(made, example_columns()), policies)

    # --- where hands begin ---

    def _begin(self, rng: np.random.Generator) -> HoldemSpot:
        """Returns a spot with stacks, pot and sizes of its own; everybody may hold everything."""
        settings, everything = self.settings, Range.random(FULL_DECK)
        low, high = np.log([settings.least_stack, settings.most_stack])
        stack = round(float(np.exp(rng.uniform(low, high))))
        menu = self._perturb(rng) if self._sizes is None else self._sizes
        if settings.caches_first:  # hands that begin alike are met again
            self._sizes, stack = menu, max(stack // BIG_BLIND, 2) * BIG_BLIND
        spot = HoldemSpot(
            board=(),
            stacks=(stack, stack),
            ranges=(everything, everything),
            menu=menu,
            big_blind=BIG_BLIND,
            deck=FULL_DECK,
        )
        if settings.street is Street.PREFLOP:
            return spot
        paid = float(np.exp(rng.uniform(np.log(2 * BIG_BLIND), np.log(settings.most_pot)))) / 2
        paid = min(max(round(paid), BIG_BLIND), stack - 1)
        board = parse_board(settings.board, FULL_DECK) if settings.board else self._deal_cards((), settings.street, rng)
        behind = (stack - paid, stack - paid)
        return dataclasses.replace(spot, board=board, pot=2 * paid, stacks=behind)

    def _perturb(self, rng: np.random.Generator) -> Menu:
        """Returns the menu with sizes in pots changed a little, each by as much wherever it is offered."""
        most = 100.0 * self.settings.perturbation
        moved = dict.fromkeys(
            size
            for pair in self.menu.rounds
            for own in pair
            for sizes in own.sizes
            for size in sizes
            if size.kind is SizeKind.POT
        )
        changed = {
            size: BetSize(SizeKind.POT, max(size.amount + round(rng.uniform(-most, most), 1), 1.0)) for size in moved
        }

        def change(own: RoundMenu) -> RoundMenu:
            sizes = tuple(tuple(changed.get(size, size) for size in each) for each in own.sizes)
            donk = None if own.donk is None else tuple(changed.get(size, size) for size in own.donk)
            return dataclasses.replace(own, sizes=sizes, donk=donk)

        rounds = tuple((change(first), change(second)) for first, second in self.menu.rounds)
        return dataclasses.replace(self.menu, rounds=rounds)

    def _deal_cards(self, board: tuple[int, ...], street: Street, rng: np.random.Generator) -> tuple[int, ...]:
        left = [card for card in FULL_DECK.cards if card not in board]
        new = rng.choice(left, street.num_board_cards - len(board), replace=False).tolist()
        return tuple(sorted((*board, *new)))

    # --- episodes ---

    def _episode(self, rng: np.random.Generator) -> list[dict[str, Any]]:
        """Returns the examples of a search of the first street and of all that it leads to."""
        made: list[dict[str, Any]] = []
        first = self._begin(rng)
        waiting: list[HoldemSpot] = []
        made += self._leave(first, self._draw_first(first, rng), waiting, rng)
        while waiting:
            spot = waiting.pop()
            solved = self._solve(spot, 1, rng)
            ranges = np.stack([normalize(spot.live_weights(player)) for player in (0, 1)])
            layer = Layer(Street(spot.betting_rules.first_street), NetStage.START)
            made.append(_example(layer, spot.board, _ratio(spot), ranges, solved.value))
            made += self._leave(spot, solved.leaves, waiting, rng)
        return made

    def _draw_first(self, first: HoldemSpot, rng: np.random.Generator) -> list[_Leaf]:
        """Returns leaves of the search of the first street, whose values nobody asks for; kept ones where there are."""
        count = self.settings.leaves
        if not self.settings.caches_first or first.board:
            return self._solve(first, count, rng).leaves
        kept = self._kept.setdefault((first.stacks[0], first.root_pot), [])
        if len(kept) < count:
            kept += self._solve(first, max(count, KEPT_DRAWS), rng).leaves
        drawn, kept[:] = kept[:count], kept[count:]
        return drawn

    def _leave(
        self, spot: HoldemSpot, leaves: list[_Leaf], waiting: list[HoldemSpot], rng: np.random.Generator
    ) -> Iterator[dict[str, Any]]:
        """Yields what ends of a round are worth, and lets starts of the next one wait."""
        if self.settings.has_all_in_table:
            leaves = [leaf for leaf in leaves if min(leaf.state.stacks) > 0]
        yield from self._price_ends(spot, leaves)
        for leaf in leaves:
            board = self._deal_cards(tuple(spot.board), Street(leaf.state.street + 1), rng)
            if min(leaf.state.stacks) == 0:
                yield from self._run_out(spot, leaf, board, rng)
            else:
                waiting.append(_spot_after(spot, leaf, board))

    def _run_out(
        self, spot: HoldemSpot, leaf: _Leaf, board: tuple[int, ...], rng: np.random.Generator
    ) -> Iterator[dict[str, Any]]:
        """Yields the layers of a hand that goes on without bets."""
        state, ranges = leaf.state, leaf.ranges
        while True:
            state = next_street(spot.betting_rules, state)
            street = Street(state.street)
            ranges = np.stack([normalize(own * ~hands_of(FULL_DECK).blocked(board)) for own in ranges])
            is_last = street is Street.RIVER
            over = state if is_last else state._replace(stage=Stage.DEAL)
            there = HoldemState(leaf.line, over, board)
            assert self.nets is not None, "networks were given"
            evaluator = self._showdown if is_last else self.nets.at(Layer(street, NetStage.END))
            (value,) = _ask(evaluator, [there], ranges[None])
            yield _example(Layer(street, NetStage.START), board, 0.0, ranges, value)
            if is_last:
                return
            yield from self._price_ends(spot, [_Leaf(leaf.line, over, ranges)], board)
            state, board = over, self._deal_cards(board, Street(street + 1), rng)

    def _price_ends(
        self, spot: HoldemSpot, leaves: list[_Leaf], board: tuple[int, ...] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yields ends of a round with the mean over cards of what the next start is worth."""
        if not leaves:
            return
        assert self.nets is not None, "networks were given"
        board = tuple(spot.board) if board is None else board
        street = Street(leaves[0].state.street)
        start = self.nets.at(Layer(Street(street + 1), NetStage.START))
        after = AfterDeal(start, spot, num_cards=self.settings.deals, seed=self.settings.seed)
        states = [HoldemState(leaf.line, leaf.state, board) for leaf in leaves]
        values = _ask(after, states, np.stack([leaf.ranges for leaf in leaves]))
        for leaf, value in zip(leaves, values, strict=True):
            ratio = min(leaf.state.stacks) / (2.0 * min(leaf.state.committed))
            yield _example(Layer(street, NetStage.END), board, ratio, leaf.ranges, value)

    def _random(self, rng: np.random.Generator) -> list[dict[str, Any]]:
        """Returns examples of layers under any beliefs: every list of shares that adds up to 1 is as likely."""
        first = self._begin(rng)
        tree = plan_first_street(first, is_one_round=True).build()
        leaving = [node for node in tree.leaving_nodes() if min(tree.betting.nodes[node].state.stacks) > 0]
        node = int(rng.choice(leaving))
        ranges = _draw_beliefs(first.board, rng)
        leaf = _Leaf(trace_line(tree.betting, node), tree.betting.nodes[node].state, ranges)
        made = list(self._price_ends(first, [leaf]))
        spot = first
        while True:
            board = self._deal_cards(tuple(spot.board), Street(spot.betting_rules.first_street + 1), rng)
            spot = _spot_after(spot, leaf._replace(ranges=_draw_beliefs(board, rng)), board)
            street = Street(spot.betting_rules.first_street)
            ranges = np.stack([normalize(spot.live_weights(player)) for player in (0, 1)])
            value = self._solve(spot, 0, rng).value
            made.append(_example(Layer(street, NetStage.START), spot.board, _ratio(spot), ranges, value))
            if street is Street.RIVER:
                return made
            tree = plan_first_street(spot, is_one_round=True).build()
            leaving = [node for node in tree.leaving_nodes() if min(tree.betting.nodes[node].state.stacks) > 0]
            node = int(rng.choice(leaving))
            leaf = _Leaf(trace_line(tree.betting, node), tree.betting.nodes[node].state, _draw_beliefs(board, rng))
            made += self._price_ends(spot, [leaf])

    # --- searches ---

    def _solve(self, spot: HoldemSpot, num_leaves: int, rng: np.random.Generator) -> _Solved:
        """Returns what a search of one round finds, and as many leaves as play comes to in so many draws."""
        is_last = Street(spot.betting_rules.first_street) is Street.RIVER
        tree, ends = _plant(spot), None
        if not is_last:
            assert self.nets is not None, "networks were given"
            ends = self.nets.at(Layer(Street(spot.betting_rules.first_street), NetStage.END))
        run = IterationSums.of_round(tree, self.rule, ends, self.settings.method)
        first_drawn = 1
        if self.nets is not None and self.nets.guide is not None:
            first_drawn = 1 + self.settings.warm_start
            begin_with_proposals(run.solver, self.nets.guide, self.settings.warm_start)
        leaves: list[_Leaf] = []
        if not is_last and num_leaves:
            drawn = self._draw_iterations(num_leaves, first_drawn, rng)
            for iteration, count in zip(*np.unique(drawn, return_counts=True), strict=True):
                played = run.at(int(iteration))
                believed = played if self.settings.method is BeliefMethod.CFR_D else run.average(int(iteration))
                leaves += self._draw_leaves(tree, played, believed, int(count), rng)
        iterations = self.settings.last_iterations if is_last else self.iterations
        run.solver.iterate(iterations - run.solver.iteration)
        if self.settings.warm_start:
            self._strategies += self._collect_strategies(run.solver, rng)
        value = np.zeros((2, NUM_HANDS))
        for player in (0, 1):
            value[player, tree.hands[0][player]] = run.solver.average_values(player) / spot.root_pot
        return _Solved(_make_zero_sum(spot, value), leaves)

    def _draw_iterations(self, count: int, first: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        weighted = draw_holdem_iterations(self.rule, self.iterations, count, rng, first=first)
        uniform = rng.integers(first, self.iterations + 1, count)
        return np.where(rng.random(count) < self.settings.uniform_draws, uniform, weighted)

    def _collect_strategies(self, solver: CFRSolver[HoldemTree], rng: np.random.Generator) -> Iterator[dict[str, Any]]:
        """Yields what the average plays at some decisions that both players come to."""
        tree, sums = solver.tree, np.asarray(solver.average_sums, np.float64)
        root = normalize(tree.spot.live_weights(0)), normalize(tree.spot.live_weights(1))
        reached = push_reaches(tree, sums, root)
        met = [
            node
            for node in tree.decisions
            if node in reached and min(own.sum() for own in reached[node]) > LEAST_LEARNT
        ]
        for node in rng.permutation(met)[: self.settings.policies].tolist():
            shares = np.zeros((self.settings.most_actions, NUM_HANDS))
            found = tree.normalize(sums, 0, node)
            shares[: found.shape[1], tree.hands[0][tree.betting.nodes[node].state.actor]] = found.T
            kept = np.rint(LEVELS * shares) if self.settings.quantises else shares
            yield {name: part[0] for name, part in describe_decision(tree, node, reached[node]).items()} | {
                "policy": kept
            }

    def _draw_leaves(
        self, tree: HoldemTree, sums: FloatArray, held_for: FloatArray, count: int, rng: np.random.Generator
    ) -> Iterator[_Leaf]:
        """Yields the round's ends that hands come to which are played by one iteration, one player exploring.

        Beliefs there are those of what both are held to play, `held_for`.
        """
        joint = CardRemoval(FULL_DECK, tuple(tree.spot.board))
        root = normalize(tree.spot.live_weights(0)), normalize(tree.spot.live_weights(1))
        believed = push_reaches(tree, held_for, root)
        lines = tree.leaving_nodes()
        total = float(root[0] @ joint.mass(0, root[1]))
        for _ in range(count):
            explorer = int(rng.integers(0, 2))
            reached = push_reaches(tree, sums, root, explorer=explorer, share=self.settings.exploration)
            chance = np.array([reached[line][0] @ joint.mass(0, reached[line][1]) for line in lines]) / total
            place = int(np.searchsorted(np.cumsum(chance), rng.random(), side="right"))
            if place == len(lines):
                continue
            node = lines[place]
            ranges = [
                own / own.sum() if own.sum() > LEAST_MASS else held
                for own, held in zip(believed[node], root, strict=True)
            ]
            yield _Leaf(trace_line(tree.betting, node), tree.betting.nodes[node].state, np.stack(ranges))


def _join(
    rows: list[dict[str, Any]], columns: Mapping[str, tuple[tuple[int, ...], npt.DTypeLike]]
) -> dict[str, npt.NDArray[Any]]:
    return {
        name: np.array([each[name] for each in rows], dtype).reshape(len(rows), *shape)
        for name, (shape, dtype) in columns.items()
    }


def _ask(evaluator: LeafEvaluator, states: list[HoldemState], ranges: FloatArray) -> FloatArray:
    """Returns `[B, 2, H]` what an evaluator says of public states for ranges `[B, 2, H]`, in pots."""
    batch = BeliefBatch(
        states=states,
        reach=(np.ascontiguousarray(ranges[:, 0]), np.ascontiguousarray(ranges[:, 1])),
        num_private=np.full((len(states), 2), NUM_HANDS, np.int32),
        joint=[CardRemoval(FULL_DECK, state.board) for state in states],
    )
    pots = np.array([2.0 * min(state.betting.committed) for state in states])
    found: FloatArray = np.stack(evaluator.evaluate(batch).cfv, axis=1) / pots[:, None, None]
    return found


def _make_zero_sum(spot: HoldemSpot, value: FloatArray) -> FloatArray:
    """Returns values `[2, H]` less what they sum to, for players see each other's updates of an iteration in turn."""
    ranges = np.stack([normalize(spot.live_weights(player)) for player in (0, 1)])
    joint = CardRemoval(FULL_DECK, tuple(spot.board))
    met = np.stack([joint.mass(player, ranges[1 - player]) for player in (0, 1)])
    left = (ranges * value).sum() / (2.0 * (ranges[0] @ met[0]))
    out: FloatArray = value - left * met
    return out


def _plant(spot: HoldemSpot) -> HoldemTree:
    """Returns the tree of a spot's first street alone."""
    if Street(spot.betting_rules.first_street) is Street.RIVER:
        return plan_holdem_tree(spot, merges_suits=False).build()
    return plan_first_street(spot, is_one_round=True).build()


def _spot_after(spot: HoldemSpot, leaf: _Leaf, board: tuple[int, ...]) -> HoldemSpot:
    """Returns the start of the next round, where every hand that the board leaves has a value, believed in or not.

    A spot has no hands without weight, and what is asked about a round's start knows all of them.
    """
    held = ~hands_of(FULL_DECK).blocked(board)
    first, second = (Range(_hold_all(own * held, held), FULL_DECK) for own in leaf.ranges)
    return HoldemSpot(
        board=board,
        pot=pot(leaf.state),
        stacks=(min(leaf.state.stacks),) * 2,
        ranges=(first, second),
        menu=spot.menu,
        big_blind=spot.big_blind,
        deck=FULL_DECK,
    )


def _hold_all(own: FloatArray, held: npt.NDArray[np.bool_]) -> FloatArray:
    """Returns weights up to 1 of a range, with a little for every hand that can be held."""
    if not own.any():
        return held.astype(np.float64)
    weights: FloatArray = np.where(held, np.maximum(own / own.max(), LEAST_HELD), 0.0)
    return weights


def _draw_beliefs(board: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    drawn = rng.exponential(size=(2, NUM_HANDS)) * ~hands_of(FULL_DECK).blocked(board)
    beliefs: FloatArray = drawn / drawn.sum(axis=1, keepdims=True)
    return beliefs


def _ratio(spot: HoldemSpot) -> float:
    return min(spot.stacks) / spot.root_pot


def _example(
    layer: Layer, board: tuple[int, ...], ratio: float, ranges: FloatArray, value: FloatArray
) -> dict[str, Any]:
    return {
        "layer": layer.number,
        "board": [*board, *[-1] * (BOARD - len(board))],
        "ratio": ratio,
        "range": ranges,
        "value": value,
    }
