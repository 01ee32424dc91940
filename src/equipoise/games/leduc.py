# SPDX-License-Identifier: Apache-2.0
"""Leduc hold'em: one private card each, one public card, two rounds of betting.

One class plays every form of it (limit, several bet sizes, no-limit, suits merged or not); the registered
forms differ in the defaults of their parameters.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import itertools
import math
from typing import ClassVar, NamedTuple

from equipoise.core.errors import ConfigError
from equipoise.games.base import (
    CHANCE,
    TERMINAL,
    ActionClass,
    GameSpec,
    derived,
    duel_spec,
    illegal_action,
    no_returns,
    parameter,
)
from equipoise.games.parameters import check_parameters, format_value

__all__ = ["Leduc", "Leduc5", "LeducNoLimit", "LeducState", "Sizing"]

# the raise of size index i is FIRST_RAISE + i; all-in comes after the last size
FOLD, CALL, FIRST_RAISE = 0, 1, 2
CHIP_PARTS = 64  # every amount is a multiple of 1/64 chip, so sums of chips are exact in binary
NO_CARD = -1
NOBODY = -1
ALL_IN = "a"


class Sizing(enum.StrEnum):
    """What bet sizes are measured in."""

    CHIPS = "chips"
    POT = "pot"  # fractions of the pot after calling, rounded to 1/64 chip


class RaiseMenu(NamedTuple):
    """The raises open to a player, each with the chips then put in and its word in the public state."""

    actions: tuple[int, ...]
    raises: dict[int, tuple[float, str]]


class LeducState(NamedTuple):
    """Cards dealt, chips put in, and where the betting stands."""

    actor: int
    private: tuple[int, ...]  # by player, as far as dealt
    board: int  # NO_CARD before it is dealt
    chips: tuple[float, float]  # put in by each player, antes included
    num_raises: int  # bets and raises in this round
    has_checked: bool  # whether the round was opened by a check
    folder: int  # who folded, or NOBODY
    public: str


NO_RAISES = RaiseMenu((), {})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Leduc:
    """Leduc hold'em for two players, by default fixed-limit with suits told apart (936 information states).

    Player 0 acts first in both rounds. Folding is legal only when facing a bet. A bet or raise first calls,
    then adds its size. A card that pairs the public one wins, else the higher rank, else the pot is split.
    With a finite stack all-in is always on the menu, and sizes that reach the stack are left out in its
    favour. There is no minimum raise. With `merge_suits` chance deals ranks with the weights of their suits:
    288 information states, the same value.

    >>> from equipoise.trees import build_history_tree
    >>> build_history_tree(Leduc(ranks=3, suits=1)).size.num_infosets
    198
    """

    name: ClassVar[str] = "leduc"

    ranks: int = parameter(3, "number of ranks; above 13 they are numbered", low=2, high=52)
    suits: int = parameter(2, "number of suits", low=1, high=4)
    merge_suits: bool = parameter(False, "deal ranks only, weighted by their suits")
    ante: float = parameter(1.0, "chips each player puts in before the deal", low=0.015625)
    max_raises: int = parameter(2, "most bets and raises in a round", low=0, high=99)
    first_sizes: tuple[float, ...] = parameter((2.0,), "bet and raise sizes of the first round")
    second_sizes: tuple[float, ...] = parameter((4.0,), "bet and raise sizes of the second round")
    sizing: Sizing = parameter(Sizing.CHIPS, "whether sizes are chips or fractions of the pot")
    stack: float = parameter(math.inf, "chips each player has, ante included; inf: no stack and no all-in")
    spec: GameSpec = derived()
    _card_names: tuple[str, ...] = derived()

    def __post_init__(self) -> None:
        check_parameters(self)
        self._check_amounts()
        object.__setattr__(self, "_card_names", _card_names(self.ranks, 1 if self.merge_suits else self.suits))
        object.__setattr__(self, "spec", self._make_spec())

    def initial_state(self) -> LeducState:
        """Returns the state before the deal."""
        return LeducState(CHANCE, (), NO_CARD, (self.ante, self.ante), 0, False, NOBODY, "deal 0")

    def actor(self, state: LeducState) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        return state.actor

    def legal_actions(self, state: LeducState) -> tuple[int, ...]:
        """Returns fold (0) when facing a bet, call (1), and the raises (from 2) that cap and stack allow."""
        if state.actor < 0:
            return ()
        passive = (CALL,) if state.chips[0] == state.chips[1] else (FOLD, CALL)
        return passive + self._menu(state).actions

    def chance_outcomes(self, state: LeducState) -> tuple[tuple[int, float], ...]:
        """Returns the cards (or ranks) that may come next."""
        if state.actor != CHANCE:
            return ()
        copies = self.suits if self.merge_suits else 1
        num_left = self.ranks * self.suits - len(state.private)
        left = ((card, copies - state.private.count(card)) for card in range(len(self._card_names)))
        return tuple((card, count / num_left) for card, count in left if count > 0)

    def apply(self, state: LeducState, action: int) -> LeducState:
        """Returns the state after a card is dealt or a player acts."""
        actor, private, board, chips, num_raises, has_checked, _, public = state
        if actor == CHANCE:
            return self._deal(state, action)
        if action == FOLD and actor >= 0 and chips[0] != chips[1]:
            return LeducState(TERMINAL, private, board, chips, num_raises, has_checked, actor, public + "f")
        if action == CALL and actor >= 0:
            return self._call(state)
        if actor == TERMINAL or action not in self._menu(state).raises:
            raise illegal_action(self, state, action)
        total, word = self._menu(state).raises[action]
        chips = (total, chips[1]) if actor == 0 else (chips[0], total)
        return LeducState(1 - actor, private, board, chips, num_raises + 1, has_checked, NOBODY, public + word)

    def returns(self, state: LeducState) -> tuple[float, ...]:
        """Returns chips won by each player."""
        if state.actor != TERMINAL:
            raise no_returns(self, state)
        if state.folder != NOBODY:
            loss = state.chips[state.folder]
            return (-loss, loss) if state.folder == 0 else (loss, -loss)
        strengths = self._strength(state, 0), self._strength(state, 1)
        if strengths[0] == strengths[1]:
            return (0.0, 0.0)
        stake = state.chips[0]  # a showdown has equal chips on both sides
        return (stake, -stake) if strengths[0] > strengths[1] else (-stake, stake)

    def infostate(self, state: LeducState, player: int) -> str:
        """Returns the player's card, then the betting with the public card in its place."""
        card = self._card_names[state.private[player]] if player < len(state.private) else "?"
        return f"{card}|{state.public}"

    def public_state(self, state: LeducState) -> str:
        """Returns the betting with the public card, or how many private cards are dealt."""
        return state.public

    def action_name(self, state: LeducState, action: int) -> str:
        """Returns the card dealt, or fold, check, call, bet or raise with its size."""
        if state.actor == CHANCE:
            return self._card_names[action]
        is_facing = state.chips[0] != state.chips[1]
        if action == FOLD:
            return "fold"
        if action == CALL:
            return "call" if is_facing else "check"
        total, word = self._menu(state).raises[action]
        if word == ALL_IN:
            return "all-in"
        return f"{'raise' if is_facing else 'bet'} {format_value(total - max(state.chips))}"

    def action_class(self, state: LeducState, action: int) -> ActionClass:
        """Returns fold, call or raise."""
        if state.actor == CHANCE:
            return ActionClass.OTHER
        return {FOLD: ActionClass.FOLD, CALL: ActionClass.CALL}.get(action, ActionClass.RAISE)

    def describe(self, state: LeducState) -> str:
        """Returns cards, chips and betting in words."""
        private = " ".join(self._card_names[card] for card in state.private) or "none"
        board = self._card_names[state.board] if state.board != NO_CARD else "none"
        chips = " and ".join(format_value(amount) for amount in state.chips)
        return f"private {private}, public {board}, chips {chips}, play {state.public or 'none'}"

    def _deal(self, state: LeducState, card: int) -> LeducState:
        copies = self.suits if self.merge_suits else 1
        if not 0 <= card < len(self._card_names) or state.private.count(card) == copies:
            raise illegal_action(self, state, card)
        if len(state.private) == 2:
            actor = TERMINAL if state.chips[0] == self.stack else 0
            public = f"{state.public}{self._card_names[card]}:"
            return LeducState(actor, state.private, card, state.chips, 0, False, NOBODY, public)
        private = (*state.private, card)
        if len(private) == 1:
            return state._replace(private=private, public="deal 1")
        return state._replace(actor=0, private=private, public="")

    def _call(self, state: LeducState) -> LeducState:
        actor, private, board, chips, num_raises, has_checked, _, public = state
        public += "c"
        if chips[0] == chips[1] and not has_checked:
            return LeducState(1 - actor, private, board, chips, num_raises, True, NOBODY, public)
        stake = max(chips)
        if board != NO_CARD:
            return LeducState(TERMINAL, private, board, (stake, stake), num_raises, has_checked, NOBODY, public)
        return LeducState(CHANCE, private, NO_CARD, (stake, stake), 0, False, NOBODY, public + "/")

    def _menu(self, state: LeducState) -> RaiseMenu:
        """Returns the raises that the cap and the stack allow."""
        if state.num_raises == self.max_raises:
            return NO_RAISES
        sizes = self.first_sizes if state.board == NO_CARD else self.second_sizes
        return _raise_menu(max(state.chips), sizes, self.sizing is Sizing.POT, self.stack)

    def _strength(self, state: LeducState, player: int) -> int:
        copies = 1 if self.merge_suits else self.suits
        rank, board_rank = state.private[player] // copies, state.board // copies
        return self.ranks if rank == board_rank else rank

    def _check_amounts(self) -> None:
        if self.ranks * self.suits < 3:
            raise ConfigError(f"ranks x suits must be at least 3 cards, got {self.ranks * self.suits}")
        for name, sizes in (("first_sizes", self.first_sizes), ("second_sizes", self.second_sizes)):
            if not sizes or sizes[0] <= 0 or sizes[-1] == math.inf or any(a >= b for a, b in itertools.pairwise(sizes)):
                raise ConfigError(f"{name} must be positive, finite and ascending, got {format_value(sizes)!r}")
        if self.ante == math.inf:
            raise ConfigError("ante must be finite, got inf")
        if self.stack <= self.ante:
            raise ConfigError(
                f"stack must be above the ante of {format_value(self.ante)}, got {format_value(self.stack)}"
            )
        if self.sizing is Sizing.POT and self.stack == math.inf:
            raise ConfigError("sizing=pot needs a finite stack, got inf")
        amounts = [self.ante, *([self.stack] if self.stack < math.inf else [])]
        if self.sizing is Sizing.CHIPS:
            amounts += [*self.first_sizes, *self.second_sizes]
        for amount in amounts:
            if not (amount * CHIP_PARTS).is_integer():
                raise ConfigError(f"amounts of chips must be multiples of 1/{CHIP_PARTS}, got {format_value(amount)}")

    def _make_spec(self) -> GameSpec:
        if self.max_raises == 0:
            stake = self.ante
        elif self.stack < math.inf:
            stake = self.stack
        else:
            stake = self.ante + self.max_raises * (self.first_sizes[-1] + self.second_sizes[-1])
        num_deals, num_passive = 3, 2  # in each round at most one check and one call
        num_raises = self._most_raises(self.first_sizes) + self._most_raises(self.second_sizes)
        return duel_spec(self, most=stake, max_length=num_deals + 2 * num_passive + num_raises)

    def _most_raises(self, sizes: tuple[float, ...]) -> int:
        """Returns how often one round can be raised: always by the smallest size, then all-in."""
        if self.stack == math.inf:
            return self.max_raises
        called, count = self.ante, 0
        while count < self.max_raises and called < self.stack:
            menu = _raise_menu(called, sizes, self.sizing is Sizing.POT, self.stack)
            called, count = menu.raises[menu.actions[0]][0], count + 1
        return count


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Leduc5(Leduc):
    """Leduc with five bet sizes in each round and suits merged: 34,224 information states.

    Paper: Brown 2020, "Equilibrium Finding for Large Adversarial Imperfect-Information Games",
        PhD thesis, section 2.4.1.
    Departs from the paper: nothing; any size may be bet or raised, and lines with equal pots stay distinct.

    >>> Leduc5().first_sizes
    (0.5, 1.0, 2.0, 4.0, 8.0)
    """

    name: ClassVar[str] = "leduc5"

    merge_suits: bool = parameter(True, "deal ranks only, weighted by their suits")
    first_sizes: tuple[float, ...] = parameter((0.5, 1.0, 2.0, 4.0, 8.0), "bet and raise sizes of the first round")
    second_sizes: tuple[float, ...] = parameter((1.0, 2.0, 4.0, 8.0, 16.0), "bet and raise sizes of the second round")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LeducNoLimit(Leduc):
    """No-limit Leduc: half the pot, the pot or all-in, as often as the stacks allow.

    >>> LeducNoLimit(stack=6).spec.max_utility
    6.0
    """

    name: ClassVar[str] = "leduc_nolimit"

    max_raises: int = parameter(99, "most bets and raises in a round", low=0, high=99)
    first_sizes: tuple[float, ...] = parameter((0.5, 1.0), "bet and raise sizes of the first round")
    second_sizes: tuple[float, ...] = parameter((0.5, 1.0), "bet and raise sizes of the second round")
    sizing: Sizing = parameter(Sizing.POT, "whether sizes are chips or fractions of the pot")
    stack: float = parameter(12.0, "chips each player has, ante included; inf: no stack and no all-in")


def _card_names(ranks: int, suits: int) -> tuple[str, ...]:
    """Returns the cards in order; more ranks than a deck has are numbered from 1."""
    letters = ("23456789TJQKA" if ranks == 13 else "23456789TJQK")[-ranks:]
    names = tuple(letters) if ranks <= 13 else tuple(str(rank) for rank in range(1, ranks + 1))
    if suits == 1:
        return names
    return tuple(rank + suit for rank in names for suit in "shdc"[:suits])


@functools.lru_cache(maxsize=65536)
def _raise_menu(called: float, sizes: tuple[float, ...], is_pot: bool, stack: float) -> RaiseMenu:
    """Returns the raises on top of calling; cached: few amounts occur, every history asks twice."""
    raises: dict[int, tuple[float, str]] = {}
    reached = called
    for action, size in enumerate(sizes, start=FIRST_RAISE):
        increment = round(size * 2.0 * called * CHIP_PARTS) / CHIP_PARTS if is_pot else size
        if reached < called + increment < stack:  # sizes that round to the same amount are offered once
            reached = called + increment
            is_only_size = len(sizes) == 1 and not is_pot
            raises[action] = (reached, "r" if is_only_size else f"r{format_value(increment)}")
    if called < stack < math.inf:
        raises[FIRST_RAISE + len(sizes)] = (stack, ALL_IN)
    return RaiseMenu(tuple(raises), raises)
