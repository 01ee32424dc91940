# SPDX-License-Identifier: Apache-2.0
"""Situations that hands come to when both players search with earlier networks, street by street.

Hands begin with the blinds, or for a fraction of the time at a later street with a random situation of it.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street, pot
from equipoise.games.holdem.cards import FULL_DECK, Deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.learning.values.configuration import NetStage
from equipoise.learning.values.labels import spot_of
from equipoise.learning.values.leaves import NetworkLeaves
from equipoise.learning.values.net_files import NetFile
from equipoise.learning.values.situations import (
    Situation,
    draw_class_weights,
    draw_situation,
    find_ratios,
    round_ranges,
)
from equipoise.search.holdem.leaves import bind_lines
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rule_notation import parse_rule
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import HoldemTree, plan_first_street
from equipoise.trees.vector import TreeStrategy, follow_reach

__all__ = ["SelfPlay"]

FloatArray = npt.NDArray[np.float64]

BIG_BLIND: Final = 100  # chips
LEAST_MASS: Final = 1e-3  # of a range, with which a line must be entered to be followed
CLASS_SHARE: Final = 0.5  # of hands that begin late, whose ranges go by classes
EVEN_SHARE: Final = 0.5  # of lines that are drawn as if all were as likely: rare ones are met too


@dataclasses.dataclass(frozen=True, kw_only=True)
class SelfPlay:
    """Hands, from the blinds or a later street on, both players searching each street with a network at its end.

    Ranges of play are unlike random ones: whole regions of hands are missing, and the ranges of both players have to
    do with each other. Streets are solved one after the other for the ranges that come there.
    """

    ends: tuple[NetFile, ...]  # networks of the ends of streets: of the first, and of as many more as are needed
    first: Street = Street.PREFLOP  # where hands begin
    menu: str = "50%, 100%, a"
    iterations: int = 40  # of each street
    rule: str = "dcfr(1.5,0,4)"
    big_blinds: tuple[float, float] = (10.0, 220.0)  # stacks, the least and the most
    ratios: str = "cpu"  # what is behind where hands begin later, in pots
    per_hand: int = 8  # situations that are taken of a hand

    def __post_init__(self) -> None:
        if self.iterations < 1 or self.per_hand < 1:
            raise ConfigError(f"iterations and situations of a hand must be positive, got {self}")
        if not 1.0 <= self.big_blinds[0] <= self.big_blinds[1]:
            raise ConfigError(f"stacks go from one big blind or more upwards, got {self.big_blinds}")
        find_ratios(self.ratios)
        parse_rule(self.rule)
        parse_menu(self.menu)

    @property
    def config(self) -> dict[str, Any]:
        """Returns what situations come from, as JSON values."""
        fields = {name: value for name, value in dataclasses.asdict(self).items() if name not in ("ends", "first")}
        nets = {"ends": [net.name for net in self.ends], "first": self.first.name.lower()}
        return fields | {"big_blinds": list(self.big_blinds), **nets}

    @property
    def name(self) -> str:
        """Returns a name that differs where the players do."""
        text = " ".join(net.name for net in self.ends)
        return f"self-play@{hashlib.blake2b(text.encode(), digest_size=4).hexdigest()}"

    def draw(self, street: Street, stage: NetStage, rng: np.random.Generator) -> list[Situation]:
        """Returns the situations that one hand comes to, none if it ended before.

        Args:
            street: that they belong to.
            stage: its start or its end.
            rng: draws stacks, cards and lines.
        """
        last = street if stage is NetStage.END else Street(street - 1)
        there = f"the {stage} of the {street.name.lower()}"
        if last < self.first:
            raise ConfigError(f"hands that begin at the {self.first.name.lower()} do not come to {there}")
        if len(self.ends) <= last - self.first:
            raise ConfigError(f"hands that come to {there} need {last - self.first + 1} networks")
        spot = self._begin(rng)
        for now in range(self.first, last):
            lines = self._search(spot, Street(now), rng, 1)
            if not lines:
                return []
            spot = _deal(spot, lines[0], rng)
        found = self._search(spot, last, rng, self.per_hand)
        if stage is NetStage.END:
            return [line.situation(spot) for line in found]
        return [_situation_at(_deal(spot, line, rng)) for line in found]

    def _begin(self, rng: np.random.Generator) -> HoldemSpot:
        """Returns where a hand begins; at a later street half of the ranges are recursive, half go by classes."""
        deck, menu = self._leaves(self.first).net.config.cards, parse_menu(self.menu)
        if self.first is not Street.PREFLOP:
            situation = draw_situation(self.first, find_ratios(self.ratios), rng, deck=deck)
            if rng.random() < CLASS_SHARE:
                live = ~hands_of(deck).blocked(situation.board)
                ranges = np.stack([draw_class_weights(rng, deck)[live] for _ in range(2)])
                situation = situation._replace(ranges=round_ranges(ranges))
            return spot_of(situation, menu, deck)
        low, high = np.log(self.big_blinds)
        stack = round(BIG_BLIND * float(np.exp(rng.uniform(low, high))))
        everything = Range.random(deck)
        return HoldemSpot(board=(), stacks=(stack, stack), ranges=(everything, everything), menu=menu, deck=deck)

    def _search(self, spot: HoldemSpot, street: Street, rng: np.random.Generator, count: int) -> list[_Line]:
        """Returns lines that leave a street after it was solved, drawn by how often they are played or all alike."""
        tree = plan_first_street(spot, is_one_round=True).build()
        solver = CFRSolver(tree, parse_rule(self.rule), frontier=bind_lines(tree, (), self._leaves(street)))
        solver.iterate(self.iterations)
        lines = _open_lines(tree, solver.average_sums)
        if not lines:
            return []
        played = np.array([line.mass for line in lines])
        chance = EVEN_SHARE / len(lines) + (1.0 - EVEN_SHARE) * played / played.sum()
        return [lines[index] for index in rng.choice(len(lines), count, p=chance).tolist()]

    def _leaves(self, street: Street) -> NetworkLeaves:
        return _bind_end(self.ends[street - self.first], street)


@dataclasses.dataclass(frozen=True, slots=True)
class _Line:
    """Betting that leaves a street with chips behind, and who comes there."""

    pot: int
    stack: int
    ranges: FloatArray  # [2, H], each adding up to 1
    mass: float  # how likely both come, about

    def situation(self, spot: HoldemSpot) -> Situation:
        """Returns the end of the street."""
        return _situation(spot.board, self.stack / self.pot, self.ranges, spot.deck)


def _open_lines(tree: HoldemTree, sums: Any) -> list[_Line]:
    nodes, strategy = tree.betting.nodes, TreeStrategy(tree, sums)
    first, second = (tree.spot.live_weights(player) for player in (0, 1))
    held = (first / first.sum(), second / second.sum())
    found = []
    for node in tree.leaving_nodes():
        state = nodes[node].state
        if min(state.stacks) == 0:
            continue
        reach = np.stack(follow_reach(tree, strategy, held, HoldemPlace(node, tuple(tree.spot.board))))
        mass = reach.sum(axis=1)
        if mass.min() >= LEAST_MASS:
            found.append(_Line(pot(state), min(state.stacks), reach / mass[:, None], float(mass.prod())))
    return found


def _deal(spot: HoldemSpot, line: _Line, rng: np.random.Generator) -> HoldemSpot:
    """Returns the start of the next street behind a line, its cards dealt at random."""
    following = Street(spot.betting_rules.first_street + 1)
    left = [card for card in spot.deck.cards if card not in spot.board]
    num_new = following.num_board_cards - len(spot.board)
    board = (*spot.board, *(int(card) for card in rng.choice(left, num_new, replace=False)))
    is_live = ~hands_of(spot.deck).blocked(board)
    weights = np.maximum(line.ranges, 1e-9) * is_live
    first, second = (Range(own / own.max(), spot.deck) for own in weights)
    return HoldemSpot(
        board=tuple(sorted(board)),
        pot=line.pot,
        stacks=(line.stack, line.stack),
        ranges=(first, second),
        menu=spot.menu,
        big_blind=spot.big_blind,
        deck=spot.deck,
    )


def _situation_at(spot: HoldemSpot) -> Situation:
    ranges = np.stack([spot.live_weights(player) for player in (0, 1)])
    return _situation(spot.board, spot.stacks[0] / spot.pot, ranges, spot.deck)


def _situation(board: tuple[int, ...], ratio: float, ranges: FloatArray, deck: Deck = FULL_DECK) -> Situation:
    is_live = ~hands_of(deck).blocked(board)
    return Situation(tuple(sorted(board)), float(np.float32(ratio)), round_ranges(ranges[:, is_live]))


@functools.lru_cache(8)
def _bind_end(net: NetFile, street: Street) -> NetworkLeaves:
    """Returns the leaves of a network; raises `ConfigError` where it is not of the end of the street."""
    bound = net.bind()
    if (bound.config.street, bound.config.stage) != (street, NetStage.END):
        raise ConfigError(f"{net.path} is not a network of the end of the {street.name.lower()}")
    return NetworkLeaves(bound)
