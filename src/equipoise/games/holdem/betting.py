# SPDX-License-Identifier: Apache-2.0
"""The betting of one hand of hold'em without its cards: rules as data, immutable states, pure functions.

Chips are integers. Every amount that a player raises to is a *total over the whole hand*, blinds and antes
included (the meaning of the ACPC protocol), so that all-in is always the player's whole stack. Players sit in
the order in which they act after the flop; the last one has the button. Which raises a solver's tree offers is
the business of `menus`, what beats what that of the cards.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from typing import Final, NamedTuple, TypeVar

from equipoise.core.errors import ConfigError, IllegalActionError, InvalidStateError
from equipoise.core.formatting import settings_repr

__all__ = [
    "CALL",
    "FOLD",
    "MAX_PLAYERS",
    "NOBODY",
    "BettingRules",
    "BettingState",
    "SidePot",
    "Stage",
    "Street",
    "all_in_to",
    "apply_action",
    "bet_in_round",
    "check_action",
    "initial_betting",
    "is_legal",
    "legal_actions",
    "legal_raises",
    "max_raise_to",
    "min_raise_to",
    "name_action",
    "next_street",
    "payoffs",
    "pot",
    "pot_after_call",
    "raise_to_fraction",
    "side_pots",
    "to_call",
]

FOLD: Final = 0
CALL: Final = 1  # checking is calling nothing; every larger action is the total that is raised to
NOBODY: Final = -1
MAX_PLAYERS: Final = 6

T = TypeVar("T")


class Street(enum.IntEnum):
    """The rounds of betting; the number of board cards is 0, 3, 4, 5.

    >>> Street.TURN.num_board_cards, Street(3).name
    (4, 'RIVER')
    """

    PREFLOP = 0
    FLOP = 1
    TURN = 2
    RIVER = 3

    @property
    def num_board_cards(self) -> int:
        """Returns how many cards lie on the board in this round."""
        return (0, 3, 4, 5)[self]


class Stage(enum.Enum):
    """What comes next in a hand.

    >>> state = initial_betting(BettingRules(stacks=(100, 100), small_blind=1, big_blind=2))
    >>> state.stage
    <Stage.ACT: 'act'>
    """

    ACT = "act"  # a player decides
    DEAL = "deal"  # the round is over, cards come
    FOLD = "fold"  # all but one have folded
    SHOWDOWN = "showdown"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BettingRules:
    """Blinds, stacks and limits of a hand.

    With two players the last one (the button) posts the small blind and acts first before the flop; with more,
    players 0 and 1 post the small and the big blind and player 2 is first. A hand that starts after the flop
    begins with `pot` chips, of which every player has put in an equal share, and without blinds.

    >>> rules = BettingRules(stacks=(100, 100), small_blind=1, big_blind=2)
    >>> legal_raises(rules, initial_betting(rules))
    range(4, 101)
    """

    stacks: tuple[int, ...] = (20_000, 20_000)  # chips of each player, blinds not yet posted; after a pot: behind
    small_blind: int = 50  # chips, at most the big blind
    big_blind: int = 100  # chips; also the smallest bet of a no-limit round
    ante: int = 0  # chips from everybody, in the pot but no part of the bet to match
    bet_sizes: tuple[int, ...] = ()  # fixed sizes by street, the last one going on; empty: no-limit
    max_raises: tuple[int, ...] = ()  # most bets and raises by street, blinds not counted; empty: no cap
    first_street: Street = Street.PREFLOP
    last_street: Street = Street.RIVER  # showdown after this round
    pot: int = 0  # chips in the pot at the start of a hand that begins after the flop

    __repr__ = settings_repr

    def __post_init__(self) -> None:
        _check_rules(self)

    @property
    def num_players(self) -> int:
        """Returns the number of players."""
        return len(self.stacks)

    @property
    def is_limit(self) -> bool:
        """Returns whether bets have fixed sizes."""
        return bool(self.bet_sizes)

    def raise_size(self, street: int) -> int:
        """Returns the fixed bet of a street, or the smallest one of a no-limit street."""
        return self.bet_sizes[min(street, len(self.bet_sizes) - 1)] if self.bet_sizes else self.big_blind

    def raise_cap(self, street: int) -> float:
        """Returns how often a street may be bet and raised, infinity if it has no cap."""
        return self.max_raises[min(street, len(self.max_raises) - 1)] if self.max_raises else math.inf


class BettingState(NamedTuple):
    """Where the betting of a hand stands; amounts by player are totals over the hand.

    >>> rules = BettingRules(stacks=(100, 100), small_blind=1, big_blind=2)
    >>> state = apply_action(rules, initial_betting(rules), 6)  # the small blind raises to 6
    >>> pot(state), to_call(state), state.actor
    (8, 4, 0)
    """

    street: Street
    stage: Stage
    actor: int  # NOBODY unless the stage is ACT
    committed: tuple[int, ...]  # chips put in by each player
    stacks: tuple[int, ...]  # chips left to each player
    is_folded: tuple[bool, ...]
    has_acted: tuple[bool, ...]  # in this round; posting a blind is not acting
    price: int  # total that a player must have put in to stay
    base: int  # the price when the round began, antes included: bets of the round count from here
    raise_size: int  # by how much a full raise goes above the price
    num_raises: int  # bets and raises of this round, blinds not counted
    num_actions: int  # decisions of this round
    aggressor: int  # who bet or raised last in this round, or NOBODY
    initiative: int  # who bet or raised last in the round before, or NOBODY

    def __repr__(self) -> str:
        who = f"player {self.actor} to act" if self.stage is Stage.ACT else self.stage.value
        return f"<BettingState {self.street.name.lower()}, {who}: committed {self.committed}, left {self.stacks}>"


class SidePot(NamedTuple):
    """Chips, and who can win them."""

    chips: int
    players: tuple[int, ...]


def initial_betting(rules: BettingRules) -> BettingState:
    """Returns the state after blinds and antes are posted, or at the pot that the hand starts with.

    >>> state = initial_betting(BettingRules())
    >>> state.actor, state.committed, to_call(state)
    (1, (100, 50), 50)
    """
    num_players = rules.num_players
    is_preflop = rules.first_street is Street.PREFLOP
    if is_preflop:
        blinds = [0] * num_players
        small, big = _blind_seats(num_players)
        blinds[small], blinds[big] = rules.small_blind, rules.big_blind
        paid = tuple(min(rules.ante + blind, stack) for blind, stack in zip(blinds, rules.stacks, strict=True))
        stacks = tuple(stack - chips for stack, chips in zip(rules.stacks, paid, strict=True))
    else:
        paid, stacks = (rules.pot // num_players,) * num_players, rules.stacks
    base = rules.ante if is_preflop else rules.pot // num_players
    state = BettingState(
        street=rules.first_street,
        stage=Stage.ACT,
        actor=NOBODY,
        committed=paid,
        stacks=stacks,
        is_folded=(False,) * num_players,
        has_acted=(False,) * num_players,
        price=base + rules.big_blind if is_preflop else base,
        base=base,
        raise_size=rules.raise_size(rules.first_street),
        num_raises=0,
        num_actions=0,
        aggressor=NOBODY,
        initiative=NOBODY,
    )
    first = _blind_seats(num_players)[1] + 1 if is_preflop else 0
    return _pass_turn(rules, state, first)


def pot(state: BettingState) -> int:
    """Returns the chips that all players have put in."""
    return sum(state.committed)


def to_call(state: BettingState, player: int | None = None) -> int:
    """Returns the chips that the actor (or another player) must add to stay, at most the stack.

    Nobody has to match more than some opponent can contest: facing only a short blind costs the short blind.
    """
    player = _actor(state) if player is None else player
    contested = 0
    for seat, chips in enumerate(state.committed):
        if seat != player and not state.is_folded[seat]:
            contested = max(contested, chips + state.stacks[seat])
    missing = min(state.price, contested) - state.committed[player]
    return min(max(missing, 0), state.stacks[player])


def pot_after_call(state: BettingState) -> int:
    """Returns the pot once the actor has called, on which pot fractions are measured."""
    return pot(state) + to_call(state)


def raise_to_fraction(state: BettingState, fraction: float) -> int:
    """Returns the total of a raise by a fraction of the pot: call, then add the fraction of the pot after it.

    Rounded to whole chips, halves up; whether it is legal is another question.

    >>> raise_to_fraction(initial_betting(BettingRules()), 1.0)  # call 50, then raise by the pot of 200
    300
    """
    return state.price + math.floor(fraction * pot_after_call(state) + 0.5)


def bet_in_round(state: BettingState) -> int:
    """Returns the bet to match in this round alone: what `2.5x` multiplies; 0 before the first bet."""
    return state.price - state.base


def min_raise_to(state: BettingState) -> int:
    """Returns the smallest total that the actor can raise to: a full raise, or all-in below it."""
    return min(state.price + state.raise_size, all_in_to(state))


def max_raise_to(rules: BettingRules, state: BettingState) -> int:
    """Returns the largest total that the actor can raise to: all-in, or the one size of limit betting."""
    return min_raise_to(state) if rules.is_limit else all_in_to(state)


def all_in_to(state: BettingState) -> int:
    """Returns the actor's whole chips, those put in included."""
    actor = _actor(state)
    return state.committed[actor] + state.stacks[actor]


def legal_raises(rules: BettingRules, state: BettingState) -> range:
    """Returns every total that the actor may raise to; empty if raising is not allowed."""
    if state.stage is not Stage.ACT or _refuse_raising(rules, state):
        return range(0)
    return range(min_raise_to(state), max_raise_to(rules, state) + 1)


def legal_actions(rules: BettingRules, state: BettingState) -> tuple[int, ...]:
    """Returns fold (0) when facing a bet, call (1), and every total that may be raised to; ascending."""
    if state.stage is not Stage.ACT:
        return ()
    passive = (FOLD, CALL) if to_call(state) else (CALL,)
    return (*passive, *legal_raises(rules, state))


def check_action(rules: BettingRules, state: BettingState, action: int) -> None:
    """Raises `IllegalActionError` with the reason if the rules do not allow an action."""
    reason = _refuse(rules, state, action)
    if reason:
        raise IllegalActionError(reason)


def is_legal(rules: BettingRules, state: BettingState, action: int) -> bool:
    """Returns whether the rules allow an action."""
    return not _refuse(rules, state, action)


def apply_action(rules: BettingRules, state: BettingState, action: int) -> BettingState:
    """Returns the state after the actor folds (0), calls (1) or raises to a total; checks that it is legal."""
    check_action(rules, state, action)
    actor, price, raise_size = state.actor, state.price, state.raise_size
    is_folded, num_raises, aggressor = state.is_folded, state.num_raises, state.aggressor
    paid = 0
    if action == FOLD:
        is_folded = _with(is_folded, actor, True)
    elif action == CALL:
        paid = to_call(state)
    else:
        paid = action - state.committed[actor]
        if not rules.is_limit:
            raise_size = max(raise_size, action - price)  # an all-in below a full raise leaves it as it was
        price, num_raises, aggressor = action, num_raises + 1, actor
    after = state._replace(
        committed=_with(state.committed, actor, state.committed[actor] + paid),
        stacks=_with(state.stacks, actor, state.stacks[actor] - paid),
        is_folded=is_folded,
        has_acted=_with(state.has_acted, actor, True),
        price=price,
        raise_size=raise_size,
        num_raises=num_raises,
        num_actions=state.num_actions + 1,
        aggressor=aggressor,
    )
    return _pass_turn(rules, after, actor + 1)


def next_street(rules: BettingRules, state: BettingState) -> BettingState:
    """Returns the state at the start of the next round; without a decision if fewer than two can still bet."""
    if state.stage is not Stage.DEAL:
        raise InvalidStateError(f"cards are dealt when a round is over, here {state.stage.value} is next")
    street = Street(state.street + 1)
    fresh = state._replace(
        street=street,
        has_acted=(False,) * rules.num_players,
        base=state.price,
        raise_size=rules.raise_size(street),
        num_raises=0,
        num_actions=0,
        aggressor=NOBODY,
        initiative=state.aggressor,
    )
    return _pass_turn(rules, fresh, 0)


def side_pots(state: BettingState) -> tuple[SidePot, ...]:
    """Returns the pots from the main one up; a pot that one player alone can win holds his uncalled bet."""
    live = [player for player, folded in enumerate(state.is_folded) if not folded]
    levels = sorted({state.committed[player] for player in live})
    pots = []
    below = 0
    for level in levels:
        chips = sum(min(paid, level) - min(paid, below) for paid in state.committed)
        pots.append(SidePot(chips, tuple(player for player in live if state.committed[player] >= level)))
        below = level
    return tuple(side for side in pots if side.chips)


def payoffs(state: BettingState, strengths: tuple[int, ...] = ()) -> tuple[int, ...]:
    """Returns what each player wins or loses at the end of a hand, in chips; in sum 0.

    Args:
        state: At a fold or a showdown.
        strengths: By player, the higher the better; only needed at a showdown, ignored for who folded.

    Chips of a pot that cannot be split evenly go one each to the winners who act first after the flop.
    """
    if state.stage not in (Stage.FOLD, Stage.SHOWDOWN):
        raise InvalidStateError(f"only a finished hand has payoffs, here {state.stage.value} is next")
    won = [-paid for paid in state.committed]
    for side in side_pots(state):
        winners = side.players
        if len(winners) > 1:
            best = max(strengths[player] for player in winners)
            winners = tuple(player for player in winners if strengths[player] == best)
        share, odd = divmod(side.chips, len(winners))
        for place, player in enumerate(winners):
            won[player] += share + (place < odd)
    return tuple(won)


def name_action(state: BettingState, action: int) -> str:
    """Returns fold, check, call, all-in, or bet or raise with its amount *in this round*, as players say it."""
    if action == FOLD:
        return "fold"
    if action == CALL:
        return "call" if to_call(state) else "check"
    if action == all_in_to(state):
        return "all-in"
    return f"{'raise to' if bet_in_round(state) else 'bet'} {action - state.base}"


def _actor(state: BettingState) -> int:
    if state.stage is not Stage.ACT:
        raise InvalidStateError(f"nobody acts here, {state.stage.value} is next")
    return state.actor


def _blind_seats(num_players: int) -> tuple[int, int]:
    """Returns who posts the small and who the big blind."""
    return (1, 0) if num_players == 2 else (0, 1)


def _pass_turn(rules: BettingRules, state: BettingState, first: int) -> BettingState:
    """Returns the state with the next player to decide, counting from `first`, or with the round over."""
    if sum(state.is_folded) == rules.num_players - 1:
        return state._replace(stage=Stage.FOLD, actor=NOBODY)
    seats = ((first + step) % rules.num_players for step in range(rules.num_players))
    actor = next((seat for seat in seats if _must_act(state, seat)), NOBODY)
    if actor != NOBODY:
        return state._replace(stage=Stage.ACT, actor=actor)
    stage = Stage.SHOWDOWN if state.street == rules.last_street else Stage.DEAL
    return state._replace(stage=stage, actor=NOBODY)


def _must_act(state: BettingState, player: int) -> bool:
    if state.is_folded[player] or not state.stacks[player]:
        return False
    if to_call(state, player):
        return True
    return not state.has_acted[player] and _can_be_called(state, player)


def _can_be_called(state: BettingState, player: int) -> bool:
    """Returns whether some other player still in the hand has chips."""
    return any(stack and not state.is_folded[seat] for seat, stack in enumerate(state.stacks) if seat != player)


def _refuse(rules: BettingRules, state: BettingState, action: int) -> str:
    """Returns why an action is not legal, an empty text if it is: the one place where legality is decided."""
    if state.stage is not Stage.ACT:
        return f"action {action} is not legal: nobody acts here, {state.stage.value} is next"
    player = f"for player {state.actor}"
    if action == CALL:
        return ""
    if action == FOLD:
        return "" if to_call(state) else f"fold is not legal {player}: there is no bet to call, check instead"
    if action < 0:
        return f"action {action} is not legal {player}: 0 folds, 1 calls, larger ones raise to that total"
    reason = _refuse_raising(rules, state)
    if reason:
        return f"raise to {action} is not legal {player}: {reason}"
    return _refuse_amount(rules, state, action)


def _refuse_raising(rules: BettingRules, state: BettingState) -> str:
    """Returns why the actor may not raise at all, an empty text if he may."""
    actor = state.actor
    if all_in_to(state) <= state.price:
        return f"the stack of {state.stacks[actor]} only allows to call"
    if not _can_be_called(state, actor):
        return "every opponent is all-in"
    cap = rules.raise_cap(state.street)
    if state.num_raises >= cap:
        return f"the round is capped at {cap} bets and raises"
    facing = state.price - state.committed[actor]
    if state.has_acted[actor] and not _is_full_raise(rules, state, facing):
        return f"an all-in of {facing} more, less than a full raise of {state.raise_size}, does not reopen the betting"
    return ""


def _is_full_raise(rules: BettingRules, state: BettingState, chips: int) -> bool:
    """Returns whether chips above a player's last action let him raise again; in limit half a bet does."""
    return (2 * chips if rules.is_limit else chips) >= state.raise_size


def _refuse_amount(rules: BettingRules, state: BettingState, action: int) -> str:
    low, high = min_raise_to(state), max_raise_to(rules, state)
    player = f"for player {state.actor}"
    if rules.is_limit and action != low:
        return f"raise to {action} is not legal {player}: limit betting allows {low}"
    if action > high:
        return f"raise to {action} is not legal {player}: the stack allows at most {high}"
    if action < low:
        return f"raise to {action} is not legal {player}: the smallest raise is to {low}"
    return ""


def _with(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    return (*values[:index], value, *values[index + 1 :])


def _check_rules(rules: BettingRules) -> None:
    if not 2 <= rules.num_players <= MAX_PLAYERS:
        raise ConfigError(f"stacks must name 2 to {MAX_PLAYERS} players, got {rules.num_players}")
    for player, stack in enumerate(rules.stacks):
        if stack <= 0:
            raise ConfigError(f"stacks must be positive, got {stack} for player {player}")
    if rules.big_blind < 1:
        raise ConfigError(f"big_blind must be at least 1 chip, got {rules.big_blind}")
    if not 0 <= rules.small_blind <= rules.big_blind:
        raise ConfigError(f"small_blind must be between 0 and the big blind {rules.big_blind}, got {rules.small_blind}")
    if rules.ante < 0:
        raise ConfigError(f"ante must not be negative, got {rules.ante}")
    for name, values, least in (("bet_sizes", rules.bet_sizes, 1), ("max_raises", rules.max_raises, 0)):
        if any(value < least for value in values):
            raise ConfigError(f"{name} must be at least {least} on every street, got {values}")
    if rules.first_street > rules.last_street:
        raise ConfigError(
            f"last_street must not come before first_street {rules.first_street.name.lower()}, "
            f"got {rules.last_street.name.lower()}"
        )
    _check_pot(rules)


def _check_pot(rules: BettingRules) -> None:
    if rules.first_street is Street.PREFLOP:
        if rules.pot:
            raise ConfigError(f"pot must be 0 before the flop, where blinds and antes make it, got {rules.pot}")
    elif rules.ante:
        raise ConfigError(f"ante must be 0 after the flop, add it to the pot, got {rules.ante}")
    elif rules.pot < rules.num_players or rules.pot % rules.num_players:
        raise ConfigError(
            f"pot must be a positive multiple of {rules.num_players}, as all players put in the same, got {rules.pot}; "
            f"multiply every amount by {rules.num_players} if chips do not divide"
        )
