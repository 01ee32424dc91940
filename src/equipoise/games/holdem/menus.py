# SPDX-License-Identifier: Apache-2.0
"""Which bets a solver's tree offers, as data: sizes by street, position and number of the bet, with thresholds.

A menu only chooses among the raises that `betting` allows: sizes below the smallest raise become it, sizes that
reach the stack become all-in. How menus are written, and those of published systems: `menu_notation`.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
from collections.abc import Iterable, Iterator
from typing import Final

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import shorten_text
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    NOBODY,
    BettingRules,
    BettingState,
    Stage,
    Street,
    apply_action,
    bet_in_round,
    initial_betting,
    legal_raises,
    next_street,
    pot_after_call,
    raise_to_fraction,
    to_call,
)
from equipoise.games.parameters import format_value

__all__ = [
    "POSITIONS",
    "BetSize",
    "Counting",
    "Menu",
    "RoundMenu",
    "SizeKind",
    "all_in_option",
    "check_menu",
    "menu_actions",
    "raise_options",
]

MOST_RAISES_PER_ROUND: Final = 64  # a menu that allows more has forgotten its cap


class SizeKind(enum.Enum):
    """What a bet size is measured in; the value is the unit as written."""

    POT = "%"  # percent of the pot after calling, added to the call
    MULTIPLE = "x"  # times the bet of this round, blinds included; left out where there is no bet
    CHIPS = "c"  # a bet of this round of so many chips; left out once that is no legal raise
    GEOMETRIC = "e"  # the same fraction of the pot in so many bets reaches all-in; 0: one bet for every street left
    SMALLEST = "min"
    ALL_IN = "a"


class Counting(enum.Enum):
    """What numbers the lists of sizes of a round."""

    BETS = "bets"  # bets and raises of the round so far
    ACTIONS = "actions"  # decisions of the round, or since the root of a tree that starts within it


@dataclasses.dataclass(frozen=True, slots=True)
class BetSize:
    """One size, such as 75 % of the pot or 2.5 times the bet."""

    kind: SizeKind
    amount: float = 0.0  # in the unit of the kind; unused for the smallest bet and all-in

    def __post_init__(self) -> None:
        text = format_value(float(self.amount))
        if not 0 <= self.amount < math.inf:
            raise ConfigError(f"bet sizes must be finite and not negative, got {text}{self.kind.value}")
        if self.kind in (SizeKind.POT, SizeKind.CHIPS) and self.amount == 0:
            raise ConfigError(f"bet size {text}{self.kind.value} bets nothing; write a positive one, or leave it out")
        if self.kind is SizeKind.MULTIPLE and self.amount <= 1:
            raise ConfigError(f"bet size {text}x does not raise; write a multiple above 1, such as 2.5x")
        if self.kind is SizeKind.GEOMETRIC and not float(self.amount).is_integer():
            raise ConfigError(f"bet size {text}e must count whole bets, such as 3e")


Sizes = tuple[BetSize, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RoundMenu:
    """What one player may bet in one round."""

    sizes: tuple[Sizes, ...] = ()  # of the first bet, the second, ...; the last list goes on; empty: not stated
    donk: Sizes | None = None  # of the first bet into an opponent who bet last in the round before; None: as `sizes`
    max_raises: int | None = None  # this player bets or raises only while the round has fewer; None: no cap


POSITIONS: Final = ("oop", "ip")  # out of position, in position
UNSTATED: Final = RoundMenu()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Menu:
    """What a tree offers in every round, by position (out of position, in position), with its thresholds.

    In position is the player who acts last after the flop among those still in the hand.

    >>> from equipoise.games.holdem import parse_menu
    >>> [street for street, _ in parse_menu("50%, a; river: 75%").items()][-2:]
    ['river oop', 'river ip']
    """

    rounds: tuple[tuple[RoundMenu, RoundMenu], ...] = ((UNSTATED, UNSTATED),) * len(Street)
    counting: Counting = Counting.BETS
    merge_percent: float = 0.0  # of two sizes that make pots less than this apart, the smaller goes
    force_percent: float = 0.0  # a bet that, called, leaves less than this share of the pot behind goes all-in
    has_limps: bool = True  # whether the big blind may be called before the flop; else raise or fold

    def __repr__(self) -> str:
        from equipoise.games.holdem.menu_notation import format_menu  # noqa: PLC0415 - which reads this module

        return f"<Menu {shorten_text(format_menu(self), 150)}>"

    def __post_init__(self) -> None:
        if len(self.rounds) != len(Street) or any(len(pair) != len(POSITIONS) for pair in self.rounds):
            raise ConfigError("rounds must hold four streets of two positions each")
        for name in ("merge_percent", "force_percent"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise ConfigError(f"{name} must be finite and not negative, got {value}")
        for place, menu in self.items():
            if menu.max_raises is not None and menu.max_raises < 0:
                raise ConfigError(f"{place} cap must not be negative, got {menu.max_raises}")
            is_postflop = not place.startswith("preflop")
            if is_postflop and any(_only_multiples(sizes) for sizes in (*menu.sizes[:1], menu.donk or ())):
                raise ConfigError(
                    f"{place} offers only multiples as its first bet, where there is no bet to multiply; "
                    "add a size such as 50%"
                )

    def items(self) -> Iterator[tuple[str, RoundMenu]]:
        """Yields every round's menu with its place in words, such as `flop oop`."""
        for street, pair in zip(Street, self.rounds, strict=True):
            for position, menu in zip(POSITIONS, pair, strict=True):
                yield f"{street.name.lower()} {position}", menu


def raise_options(
    rules: BettingRules, menu: Menu, state: BettingState, *, num_actions_before: int = 0
) -> tuple[int, ...]:
    """Returns the totals that a menu lets the actor raise to, ascending; empty if it offers no raise.

    Args:
        rules: Of the hand.
        menu: What the tree offers.
        state: Where a player acts.
        num_actions_before: Decisions of this round before the root of the tree; matters when counting actions.

    >>> from equipoise.games.holdem import parse_menu
    >>> from equipoise.games.holdem.betting import initial_betting
    >>> rules = BettingRules(stacks=(100, 100), small_blind=1, big_blind=2)
    >>> raise_options(rules, parse_menu("50%, 100%, a"), initial_betting(rules))
    (4, 6, 100)
    """
    legal = legal_raises(rules, state)
    round_menu = menu.rounds[state.street][_position(state)] if legal else UNSTATED
    if not legal or (round_menu.max_raises is not None and state.num_raises >= round_menu.max_raises):
        return ()
    all_in = all_in_option(state, legal)
    options = set()
    for size in _sizes(menu, round_menu, state, num_actions_before):
        total = _total(rules, size, state, all_in)
        if total is None:
            continue
        total = min(max(total, legal.start), all_in)
        is_forced = menu.force_percent and _leaves_too_little(menu, state, total, all_in)
        options.add(all_in if is_forced else total)
    if not menu.merge_percent:
        return tuple(sorted(options))
    return _merge(options, pot_after_call(state) - state.price, menu.merge_percent)


def menu_actions(
    rules: BettingRules, menu: Menu, state: BettingState, *, num_actions_before: int = 0
) -> tuple[int, ...]:
    """Returns fold (0) when facing a bet, call (1) and the totals that a menu lets the actor raise to, ascending.

    Arguments as for `raise_options`. A menu without limps leaves the call of the big blind to whoever cannot raise.
    """
    raises = raise_options(rules, menu, state, num_actions_before=num_actions_before)
    if not to_call(state):
        return (CALL, *raises)
    is_limp = state.street is Street.PREFLOP and state.num_raises == 0
    return (FOLD, *raises) if is_limp and raises and not menu.has_limps else (FOLD, CALL, *raises)


@functools.lru_cache(1024)  # spots are checked, and again when their tree is built
def check_menu(rules: BettingRules, menu: Menu) -> None:
    """Raises `ConfigError` if a menu lacks sizes for a street that is played, or never closes the betting.

    >>> from equipoise.games.holdem import parse_menu
    >>> check_menu(BettingRules(), parse_menu("50%, a"))
    """
    streets = [street for street in Street if rules.first_street <= street <= rules.last_street]
    for place, round_menu in menu.items():
        name = place.partition(" ")[0]
        if Street[name.upper()] in streets and not round_menu.sizes:
            raise ConfigError(
                f"menu has no sizes for {place}; add '{name}: 50%, a', or '{name}: none' to offer no bets"
            )
    state = initial_betting(rules)
    for street in streets:
        if not _closes(rules, menu, state):
            raise ConfigError(
                f"menu never closes: its smallest sizes allow more than {MOST_RAISES_PER_ROUND} raises on the "
                f"{street.name.lower()}; add 'cap: 4', or use sizes that grow such as 50% or 2.5x"
            )
        state = _check_through(rules, state)
        if state.stage is not Stage.DEAL:
            break
        state = next_street(rules, state)


def _position(state: BettingState) -> int:
    """Returns 1 for the last player still in the hand, who acts last after the flop, 0 for the others."""
    return int(all(state.is_folded[state.actor + 1 :]))


def _sizes(menu: Menu, round_menu: RoundMenu, state: BettingState, num_actions_before: int) -> Sizes:
    """Returns the list of sizes that holds for the actor's next bet."""
    if round_menu.donk is not None and _is_donk(state):
        return round_menu.donk
    if not round_menu.sizes:
        return ()
    is_by_actions = menu.counting is Counting.ACTIONS
    number = state.num_actions - num_actions_before if is_by_actions else state.num_raises
    return round_menu.sizes[min(number, len(round_menu.sizes) - 1)]


def _is_donk(state: BettingState) -> bool:
    """Returns whether a bet now would be made into a later player who bet last in the round before."""
    has_initiative = state.initiative != NOBODY and not state.is_folded[state.initiative]
    return has_initiative and state.initiative > state.actor and state.num_raises == 0


def all_in_option(state: BettingState, legal: range) -> int:
    """Returns the largest total worth raising to: what the richest opponent can call, if the rules allow that."""
    opponents = (
        chips + stack
        for seat, (chips, stack) in enumerate(zip(state.committed, state.stacks, strict=True))
        if seat != state.actor and not state.is_folded[seat]
    )
    return min(max(*opponents, legal.start), legal.stop - 1)


def _total(rules: BettingRules, size: BetSize, state: BettingState, all_in: int) -> int | None:
    """Returns the total that a size raises to before it is fitted to the rules, None where it says nothing.

    What goes beyond all-in is cut, so that no size is too large to be a whole number.
    """
    if size.kind is SizeKind.POT:
        return state.price + math.floor(min(size.amount * pot_after_call(state) / 100, all_in) + 0.5)
    if size.kind is SizeKind.MULTIPLE:
        bet = bet_in_round(state)
        return state.base + math.floor(min(size.amount * bet, all_in) + 0.5) if bet else None
    if size.kind is SizeKind.CHIPS:
        total = state.base + math.floor(size.amount + 0.5)
        return total if total >= min(state.price + state.raise_size, all_in) else None
    if size.kind is SizeKind.GEOMETRIC:
        num_bets = int(size.amount) or rules.last_street - state.street + 1
        in_pot = pot_after_call(state)
        growth = (in_pot + 2 * (all_in - state.price)) / in_pot
        return raise_to_fraction(state, (growth ** (1 / num_bets) - 1) / 2)
    return state.price if size.kind is SizeKind.SMALLEST else all_in


def _leaves_too_little(menu: Menu, state: BettingState, total: int, all_in: int) -> bool:
    """Returns whether a raise, once called, leaves less than the forced share of the pot behind."""
    called_pot = pot_after_call(state) + 2 * (total - state.price)
    return all_in - total < menu.force_percent / 100 * called_pot


def _merge(options: Iterable[int], offset: int, percent: float) -> tuple[int, ...]:
    """Returns the options, ascending, without those whose pot a larger one exceeds by less than the percentage.

    Args:
        options: Totals that may be raised to.
        offset: What turns a total into the pot that it makes.
        percent: How far apart two such pots must be.
    """
    kept: list[int] = []
    for total in sorted(options, reverse=True):
        if not kept or kept[-1] + offset >= (1 + percent / 100) * (total + offset):
            kept.append(total)
    return tuple(reversed(kept))


def _only_multiples(sizes: Sizes) -> bool:
    return bool(sizes) and all(size.kind is SizeKind.MULTIPLE for size in sizes)


def _closes(rules: BettingRules, menu: Menu, state: BettingState) -> bool:
    """Returns whether a round ends soon enough when everybody raises by the smallest size."""
    for _ in range(MOST_RAISES_PER_ROUND + 1):
        options = raise_options(rules, menu, state)
        if not options:
            return True
        state = apply_action(rules, state, options[0])
    return False


def _check_through(rules: BettingRules, state: BettingState) -> BettingState:
    """Returns the state after everybody has checked or called to the end of a round."""
    while state.stage is Stage.ACT:
        state = apply_action(rules, state, CALL)
    return state
