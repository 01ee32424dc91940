# SPDX-License-Identifier: Apache-2.0
"""Whole hands' betting for two to six players as flat arrays, by menus that may depend on how many players are left.

`games.holdem.betting_tree` lists the same lines as Python objects, a few thousand a second; here are millions. Stacks
may differ: showdowns of players who have put in unlike amounts keep what everybody has put in.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Final

import numpy as np

from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.core.formatting import brief_repr
from equipoise.games.holdem.betting import BettingRules, Stage, initial_betting
from equipoise.games.holdem.menu_notation import format_menu, parse_menu
from equipoise.games.holdem.menus import BetSize, Counting, Menu, SizeKind, check_menu
from equipoise.kernels.betting import (
    MAX_CHIPS,
    MAX_PLAYERS,
    NUM_STREETS,
    BettingArrays,
    BettingCounts,
    MenuArrays,
    build_betting,
    count_betting,
)

__all__ = ["FlatBetting", "MenuByPlayers"]

UNITS: Final = tuple(SizeKind)  # the native module numbers them in this order
NO_CAP: Final = 1 << 30
NODE_BYTES: Final = 16


@dataclasses.dataclass(frozen=True, slots=True)
class MenuByPlayers:
    """A menu, and others for hands in which at least so many players are left.

    >>> menus = MenuByPlayers.parse("50%, 100%, a", {4: "100%"})
    >>> menus.at(3) == menus.at(2), menus.at(5) == parse_menu("100%")
    (True, True)
    """

    menu: Menu
    from_players: tuple[tuple[int, Menu], ...] = ()  # ascending

    def __post_init__(self) -> None:
        numbers = [number for number, _ in self.from_players]
        if numbers != sorted(set(numbers)) or any(not 3 <= number <= MAX_PLAYERS for number in numbers):
            raise ConfigError(f"menus by players left are for 3 to {MAX_PLAYERS} players, ascending, got {numbers}")

    @classmethod
    def parse(cls, text: str, from_players: Mapping[int, str] | None = None) -> MenuByPlayers:
        """Returns the menus that texts describe; see `parse_menu`."""
        return cls(parse_menu(text), tuple((n, parse_menu(t)) for n, t in sorted((from_players or {}).items())))

    def format(self) -> tuple[str, dict[int, str]]:
        """Returns the texts that `parse` reads."""
        return format_menu(self.menu), {number: format_menu(menu) for number, menu in self.from_players}

    def at(self, players_left: int) -> Menu:
        """Returns the menu that holds while so many players are left."""
        return next((menu for number, menu in reversed(self.from_players) if number <= players_left), self.menu)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class FlatBetting:
    """A hand's whole betting under menus; built when its arrays are asked for.

    >>> rules = BettingRules(stacks=(10_000,) * 6)
    >>> betting = FlatBetting(rules=rules, menus=MenuByPlayers.parse("100%; cap: 1; turn: none; river: none"))
    >>> f"{betting.counts.nodes:,}"
    '99,796'
    """

    rules: BettingRules
    menus: MenuByPlayers

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        for left in range(2, self.rules.num_players + 1):
            check_menu(self.rules, self.menus.at(left))
        if max(self.rules.stacks) + self.rules.pot > MAX_CHIPS:
            raise ConfigError(
                f"stacks are at most {MAX_CHIPS:,} chips, got {max(self.rules.stacks):,}; use larger chips"
            )
        if initial_betting(self.rules).stage is not Stage.ACT:
            raise ConfigError("nobody has a decision in this hand: the blinds put everybody all-in")

    @functools.cached_property
    def counts(self) -> BettingCounts:
        """Returns how large the tree is, without building it."""
        return count_betting(self._menu_arrays)

    @functools.cached_property
    def arrays(self) -> BettingArrays:
        """Returns the tree."""
        return build_betting(self._menu_arrays, self.counts)

    @property
    def num_bytes(self) -> int:
        """Returns what the arrays take or would take."""
        return NODE_BYTES * self.counts.nodes + 5 * self.counts.subtrees * self.rules.num_players

    def check_size(self, most_bytes: int) -> None:
        """Raises `GameTooLargeError` if the tree alone would not fit."""
        if self.num_bytes > most_bytes:
            raise GameTooLargeError(
                f"the betting has {self.counts.nodes:,} nodes ({self.num_bytes / 1e9:.1f} GB), more than the "
                f"{most_bytes / 1e9:.1f} GB allowed; offer fewer sizes, or fewer while many players are left"
            )

    @functools.cached_property
    def _menu_arrays(self) -> MenuArrays:
        rules = self.rules
        lists: list[tuple[BetSize, ...]] = []
        rounds = np.full(((rules.num_players + 1) * NUM_STREETS * 2, 4), -1, np.int32)
        terms = np.zeros((rules.num_players + 1, 4))
        for left in range(2, rules.num_players + 1):
            menu = self.menus.at(left)
            terms[left] = menu.counting is Counting.ACTIONS, menu.merge_percent, menu.force_percent, menu.has_limps
            for place, (_, round_menu) in enumerate(menu.items()):
                donk = round_menu.donk
                cap = round_menu.max_raises
                first = len(lists)
                lists += round_menu.sizes
                donk_list = -1 if donk is None else len(lists)
                lists += [] if donk is None else [donk]
                row = first, len(round_menu.sizes), donk_list, -1 if cap is None else cap
                rounds[left * NUM_STREETS * 2 + place] = row
        sizes = [(UNITS.index(size.kind), float(size.amount)) for sizes in lists for size in sizes]
        ends = np.cumsum([len(sizes) for sizes in lists], dtype=np.int32)
        return MenuArrays(
            terms=_terms(rules),
            sizes=np.array(sizes, np.float64).reshape(-1, 2),
            list_start=np.concatenate([np.zeros(1, np.int32), ends]),
            rounds=rounds,
            menus=terms,
        )


def _terms(rules: BettingRules) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Returns the rules as the native module reads them."""
    stacks = list(rules.stacks) + [0] * (MAX_PLAYERS - rules.num_players)
    caps = [int(min(rules.raise_cap(street), NO_CAP)) for street in range(NUM_STREETS)]
    bets = [rules.raise_size(street) for street in range(NUM_STREETS)]
    numbers = [rules.num_players, rules.first_street, rules.last_street, rules.small_blind, rules.big_blind]
    return np.array([*numbers, rules.ante, rules.pot, rules.is_limit, *stacks, *bets, *caps], np.int32)
