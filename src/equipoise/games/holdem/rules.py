# SPDX-License-Identifier: Apache-2.0
"""Hold'em as a `Game`: cards, betting and showdowns of limit and no-limit hold'em for two to six players.

One class plays every form of it; the registered forms differ in the defaults of their parameters. The betting is
that of `betting`, the raises offered those of a menu, or every whole number of chips with `menu=all`.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

from equipoise.core.errors import ConfigError, IllegalActionError
from equipoise.core.formatting import settings_repr
from equipoise.games.base import (
    CHANCE,
    TERMINAL,
    ActionClass,
    GameSpec,
    derived,
    illegal_action,
    no_returns,
    parameter,
)
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    BettingRules,
    BettingState,
    Stage,
    Street,
    apply_action,
    check_action,
    initial_betting,
    legal_actions,
    name_action,
    next_street,
    payoffs,
)
from equipoise.games.holdem.cards import Deck, format_board, format_card, format_deck, parse_board, parse_deck
from equipoise.games.holdem.dealing import HAND_SIZE, HandDealer, deal_uniformly, format_ranges, parse_ranges
from equipoise.games.holdem.menu_notation import MENUS, format_menu, parse_menu
from equipoise.games.holdem.menus import Menu, check_menu, menu_actions
from equipoise.games.holdem.strength import hand_kernel
from equipoise.games.parameters import check_parameters, parameters_of

__all__ = ["FlopHoldem", "Holdem", "HoldemEndgame", "HoldemLimit", "HoldemSix", "HoldemState"]

ALL_RAISES = "all"
MAX_KNOWN = 100_000  # states of the betting whose actions are remembered; a hand of a menu has a few hundred
LAST_STREETS = ("flop", "turn", "river")
ROOTS = {street.num_board_cards: street for street in Street}


class HoldemState(NamedTuple):
    """Cards dealt and where the betting stands."""

    hole: tuple[int, ...]  # two a player, as far as dealt; each hand ascending
    board: tuple[int, ...]  # as far as dealt; the flop ascending
    betting: BettingState
    public: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Holdem:
    """Hold'em, by default heads-up no-limit with 200 big blinds and a pot-sized bet or all-in.

    Actions: 0 folds (only when facing a bet), 1 checks or calls, any other one raises *to* that total over the whole
    hand, blinds included. Players sit in the order in which they act after the flop; heads-up player 0 posts the big
    blind and player 1, with the button, the small blind. Returns are chips won.

    Paper: Brown 2020, "Equilibrium Finding for Large Adversarial Imperfect-Information Games",
        PhD thesis, sections 2.4.2-2.4.4.
    Departs from the paper: all-in below the smallest raise is legal and does not reopen the betting to players who
        have acted and face less than a full raise.
    Checked by: tests/games/holdem/.

    >>> game = Holdem(stacks=(1000, 1000), menu="50%, a")
    >>> game.spec.num_players, game.menu
    (2, '50%, a')
    """

    name: ClassVar[str] = "holdem"

    deck: str = parameter("full", "full, short, another deck's name, or RANKS/SUITS such as TJQKA/hs")
    stacks: tuple[int, ...] = parameter((20_000, 20_000), "chips of each player before blinds, or behind a given pot")
    small_blind: int = parameter(50, "chips of the small blind", low=0)
    big_blind: int = parameter(100, "chips of the big blind, also the smallest no-limit bet", low=1)
    ante: int = parameter(0, "chips from everybody before the deal", low=0)
    bet_sizes: tuple[int, ...] = parameter((), "fixed bets by street, the last one going on; empty: no-limit")
    max_raises: tuple[int, ...] = parameter((), "most bets and raises by street, blinds not counted; empty: no cap")
    last_street: str = parameter("river", "showdown after the betting of flop, turn or river")
    board: str = parameter("", "board with which the hand starts, such as Ks7h2d; empty: before the flop")
    pot: int = parameter(0, "chips in the pot when the hand starts with a board", low=0)
    ranges: str = parameter("", "two ranges around a bar such as AA,KK|QQ+; empty: all hands are as likely")
    menu: str = parameter("fcpa", "raises offered: a menu's name, sizes such as 50%,a, or all for every amount")
    spec: GameSpec = derived()
    betting_rules: BettingRules = derived()
    _deck: Deck = derived()
    _board: tuple[int, ...] = derived()
    _dealer: HandDealer | None = derived()
    _menu: Menu | None = derived()
    _num_hole_cards: int = derived()
    _first_betting: BettingState = derived()
    _known_actions: dict[BettingState, tuple[int, ...]] = derived()
    _known_bets: dict[tuple[BettingState, int], BettingState] = derived()

    __repr__ = settings_repr

    def __post_init__(self) -> None:
        check_parameters(self)
        deck = parse_deck(self.deck)
        self._set(_known_actions={}, _known_bets={})
        self._set(_deck=deck, deck=format_deck(deck), _num_hole_cards=HAND_SIZE * len(self.stacks))
        self._check_deck()
        board = _sorted_flop(parse_board(self.board, deck))
        self._set(_board=board, board=format_board(board))
        self._set(betting_rules=self._make_rules())
        self._set(_first_betting=initial_betting(self.betting_rules))
        self._set(_menu=self._make_menu(), _dealer=self._make_dealer())
        self._set(spec=self._make_spec())

    @property
    def card_deck(self) -> Deck:
        """Returns the cards in play, which `deck` names."""
        return self._deck

    @property
    def first_board(self) -> tuple[str, ...]:
        """Returns the cards with which the hand starts."""
        return tuple(map(format_card, self._board))

    def initial_state(self) -> HoldemState:
        """Returns the state after the blinds and before the deal."""
        return HoldemState((), self._board, self._first_betting, "deal 0")

    def actor(self, state: HoldemState) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        stage = state.betting.stage
        if len(state.hole) < self._num_hole_cards or stage is Stage.DEAL:
            return CHANCE
        return state.betting.actor if stage is Stage.ACT else TERMINAL

    def legal_actions(self, state: HoldemState) -> tuple[int, ...]:
        """Returns fold (0) when facing a bet, call (1), and the totals that may be raised to."""
        if self.actor(state) < 0:
            return ()
        return self.betting_actions(state.betting)

    def chance_outcomes(self, state: HoldemState) -> tuple[tuple[int, float], ...]:
        """Returns the cards that may come next; hands and flops are dealt in ascending order."""
        if self.actor(state) != CHANCE:
            return ()
        if self._dealer and len(state.hole) < self._num_hole_cards:
            return self._dealer.outcomes(state.hole)
        above, num_missing = self._next_deal(state)
        return deal_uniformly(self._available(state, above), num_missing)

    def apply(self, state: HoldemState, action: int) -> HoldemState:
        """Returns the state after a card is dealt or a player acts."""
        actor = self.actor(state)
        if actor == CHANCE:
            return self._deal(state, action)
        if actor == TERMINAL:
            raise illegal_action(self, state, action)
        betting = state.betting
        if self._menu and action not in self.betting_actions(betting):
            check_action(self.betting_rules, betting, action)
            raises = [total for total in self.betting_actions(betting) if total > CALL]
            offered = ", ".join(map(str, raises)) or "no raise"
            name = "call" if action == CALL else f"raise to {action}"
            raise IllegalActionError(f"{name} is not on the menu for player {actor}, which offers {offered}")
        after = self._bet(betting, action)
        word = {FOLD: "f", CALL: "c"}.get(action, f"r{action}")
        end = "/" if after.stage is Stage.DEAL else ""
        return state._replace(betting=after, public=f"{state.public}{word}{end}")

    def returns(self, state: HoldemState) -> tuple[float, ...]:
        """Returns chips won by each player."""
        if self.actor(state) != TERMINAL:
            raise no_returns(self, state)
        strengths: tuple[int, ...] = ()
        if state.betting.stage is Stage.SHOWDOWN:
            kernel = hand_kernel(self._deck)
            players = range(self.betting_rules.num_players)
            strengths = tuple(kernel.evaluate([*self._hand(state, player), *state.board]) for player in players)
        return tuple(float(chips) for chips in payoffs(state.betting, strengths))

    def infostate(self, state: HoldemState, player: int) -> str:
        """Returns the player's cards, the higher one first, then the betting with the board in its place."""
        return f"{format_board(reversed(self._hand(state, player))) or '?'}|{state.public}"

    def public_state(self, state: HoldemState) -> str:
        """Returns the betting with the board, or how many hole cards are dealt."""
        return state.public

    def action_name(self, state: HoldemState, action: int) -> str:
        """Returns the card dealt, or fold, check, call, all-in, bet or raise with its amount in this round."""
        return format_card(action) if self.actor(state) == CHANCE else name_action(state.betting, action)

    def action_class(self, state: HoldemState, action: int) -> ActionClass:
        """Returns fold, call or raise."""
        if self.actor(state) == CHANCE:
            return ActionClass.OTHER
        return {FOLD: ActionClass.FOLD, CALL: ActionClass.CALL}.get(action, ActionClass.RAISE)

    def action_classes(self, state: HoldemState, actions: tuple[int, ...]) -> tuple[ActionClass, ...]:
        """Returns fold, call or raise for each action: thousands of amounts may be raised to."""
        if self.actor(state) == CHANCE:
            return (ActionClass.OTHER,) * len(actions)
        kinds = [ActionClass.RAISE] * len(actions)
        for action, kind in ((FOLD, ActionClass.FOLD), (CALL, ActionClass.CALL)):
            if action in actions[:2]:  # they come first
                kinds[actions.index(action)] = kind
        return tuple(kinds)

    def describe(self, state: HoldemState) -> str:
        """Returns cards, chips and betting in words."""
        players = range(self.betting_rules.num_players)
        hands = " ".join(format_board(reversed(self._hand(state, player))) or "-" for player in players)
        chips = " ".join(str(amount) for amount in state.betting.committed)
        return f"hands {hands}, board {format_board(state.board) or '-'}, put in {chips}, play {state.public}"

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _hand(self, state: HoldemState, player: int) -> tuple[int, ...]:
        return state.hole[HAND_SIZE * player : HAND_SIZE * (player + 1)]

    def betting_actions(self, betting: BettingState) -> tuple[int, ...]:
        """Returns what is offered where the betting stands: fold, call and totals to raise to, ascending."""
        if self._menu is None:  # too many amounts to remember
            return legal_actions(self.betting_rules, betting)
        actions = self._known_actions.get(betting)
        if actions is None:
            actions = menu_actions(self.betting_rules, self._menu, betting)
            if len(self._known_actions) < MAX_KNOWN:
                self._known_actions[betting] = actions
        return actions

    def _bet(self, betting: BettingState, action: int) -> BettingState:
        """Returns the betting after a legal action, from memory if it was met before."""
        after = self._known_bets.get((betting, action))
        if after is None:
            after = apply_action(self.betting_rules, betting, action)
            if self._menu and len(self._known_bets) < MAX_KNOWN:
                self._known_bets[betting, action] = after
        return after

    def _next_deal(self, state: HoldemState) -> tuple[int, int]:
        """Returns the card above which the next one of a hand or a flop must be, and how many it still lacks."""
        if len(state.hole) < self._num_hole_cards:
            num_dealt = len(state.hole) % HAND_SIZE
            return state.hole[-1] if num_dealt else -1, HAND_SIZE - num_dealt
        num_dealt = len(state.board) - state.betting.street.num_board_cards
        num_missing = Street(state.betting.street + 1).num_board_cards - len(state.board)
        return state.board[-1] if num_dealt else -1, num_missing

    def _available(self, state: HoldemState, above: int) -> tuple[int, ...]:
        """Returns the cards above one that nobody has."""
        used = {*state.hole, *state.board}
        # a list is filled faster than a generator is drained, and hands are dealt by the million
        return tuple([card for card in self._deck.cards if card > above and card not in used])

    def _may_come(self, state: HoldemState, card: int) -> bool:
        """Returns whether a card may be dealt next: `chance_outcomes` without its probabilities."""
        if self._dealer and len(state.hole) < self._num_hole_cards:
            return any(card == outcome for outcome, _ in self._dealer.outcomes(state.hole))
        above, num_missing = self._next_deal(state)
        if card <= above or card in state.hole or card in state.board or card not in self._deck.cards:
            return False
        return num_missing == 1 or len(self._available(state, card)) >= num_missing - 1

    def _deal(self, state: HoldemState, card: int) -> HoldemState:
        if not self._may_come(state, card):
            raise illegal_action(self, state, card)
        if len(state.hole) < self._num_hole_cards:
            hole = (*state.hole, card)
            is_complete = len(hole) == self._num_hole_cards
            start = f"{self.board}:" if self.board else ""
            if is_complete and state.betting.stage is Stage.DEAL:  # blinds put everybody all-in
                start += "/"
            return state._replace(hole=hole, public=start if is_complete else f"deal {len(hole)}")
        board = (*state.board, card)
        public = state.public + format_card(card)
        betting = state.betting
        if len(board) < Street(betting.street + 1).num_board_cards:
            return state._replace(board=board, public=public)
        betting = next_street(self.betting_rules, betting)
        end = "/" if betting.stage is Stage.DEAL else ""
        return state._replace(board=board, betting=betting, public=f"{public}:{end}")

    def _make_rules(self) -> BettingRules:
        return BettingRules(
            stacks=self.stacks,
            small_blind=self.small_blind,
            big_blind=self.big_blind,
            ante=self.ante,
            bet_sizes=self.bet_sizes,
            max_raises=self.max_raises,
            first_street=ROOTS[len(self._board)],
            last_street=Street[self.last_street.upper()],
            pot=self.pot,
        )

    def _make_menu(self) -> Menu | None:
        """Returns the menu, writing its text in the one form that equal menus share; None for all raises."""
        text = self.menu.strip().lower()
        if text == ALL_RAISES:
            self._set(menu=ALL_RAISES)
            return None
        menu = parse_menu(text)
        check_menu(self.betting_rules, menu)
        self._set(menu=text if text in MENUS else format_menu(menu))
        return menu

    def _make_dealer(self) -> HandDealer | None:
        if not self.ranges.strip():
            self._set(ranges="")
            return None
        if len(self.stacks) != 2:
            raise ConfigError(f"ranges need two players, got {len(self.stacks)} stacks")
        ranges = parse_ranges(self.ranges, self._deck, self._board)
        self._set(ranges=format_ranges(ranges))
        return HandDealer(ranges)

    def _check_deck(self) -> None:
        if self.last_street not in LAST_STREETS:
            raise ConfigError(f"last_street must be one of {', '.join(LAST_STREETS)}, got {self.last_street!r}")
        needed = self._num_hole_cards + Street[self.last_street.upper()].num_board_cards
        if self._deck.num_cards < needed:
            raise ConfigError(
                f"deck must have at least {needed} cards for {len(self.stacks)} players, got {self._deck.num_cards}"
            )

    def _make_spec(self) -> GameSpec:
        rules = self.betting_rules
        final = self._largest_pot()
        best = [payoffs(final, _only_winner(rules.num_players, player)) for player in range(rules.num_players)]
        num_board_cards = rules.last_street.num_board_cards - len(self._board)
        return GameSpec(
            name=self.name,
            version=1,
            num_players=rules.num_players,
            parameters=parameters_of(self),
            is_zero_sum=True,
            min_utility=float(min(min(chips) for chips in best)),
            max_utility=float(max(max(chips) for chips in best)),
            max_length=self._num_hole_cards + num_board_cards + self._most_decisions(),
        )

    def _largest_pot(self) -> BettingState:
        """Returns the showdown after everybody has always raised by the largest size, or called."""
        rules = self.betting_rules
        betting = initial_betting(rules)
        while betting.stage is not Stage.SHOWDOWN:
            if betting.stage is Stage.DEAL:
                betting = next_street(rules, betting)
            else:
                betting = apply_action(rules, betting, max(self.betting_actions(betting)))
        return betting

    def _most_decisions(self) -> int:
        """Returns a bound on the decisions of a hand: everybody acts in every round, all others after each raise."""
        rules = self.betting_rules
        streets = range(rules.first_street, rules.last_street + 1)
        start = initial_betting(rules)
        richest = max(chips + stack for chips, stack in zip(start.committed, start.stacks, strict=True))
        smallest = min(rules.raise_size(street) for street in streets)
        # every raise is a full one, or the last of its player
        num_raises = (richest - start.price) // smallest + rules.num_players
        num_raises = int(min(num_raises, sum(rules.raise_cap(street) for street in streets)))
        return len(streets) * rules.num_players + num_raises * (rules.num_players - 1)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemLimit(Holdem):
    """Heads-up limit hold'em: bets of 2 before and on the flop, 4 later; 3 raises before the flop, 4 bets later.

    >>> HoldemLimit().bet_sizes
    (2, 2, 4, 4)
    """

    name: ClassVar[str] = "holdem_limit"

    stacks: tuple[int, ...] = parameter((1_000, 1_000), "chips of each player before blinds, or behind a given pot")
    small_blind: int = parameter(1, "chips of the small blind", low=0)
    big_blind: int = parameter(2, "chips of the big blind, also the smallest no-limit bet", low=1)
    bet_sizes: tuple[int, ...] = parameter((2, 2, 4, 4), "fixed bets by street, the last one going on; empty: no-limit")
    max_raises: tuple[int, ...] = parameter(
        (3, 4, 4, 4), "most bets and raises by street, blinds not counted; empty: no cap"
    )
    menu: str = parameter("limit", "raises offered: a menu's name, sizes such as 50%,a, or all for every amount")

    __repr__ = settings_repr


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FlopHoldem(HoldemLimit):
    """Heads-up limit hold'em with a showdown after the flop.

    >>> FlopHoldem(deck="royal").last_street
    'flop'
    """

    name: ClassVar[str] = "flop_holdem"

    last_street: str = parameter("flop", "showdown after the betting of flop, turn or river")

    __repr__ = settings_repr


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemEndgame(Holdem):
    """Heads-up no-limit hold'em from a given board and pot on, by default a river with the menu of Libratus.

    Board and pot are those of the thesis's third subgame (section 3.1.3), where each player has put in 250 of 20,000.
    """

    name: ClassVar[str] = "holdem_endgame"

    stacks: tuple[int, ...] = parameter((19_750, 19_750), "chips of each player before blinds, or behind a given pot")
    board: str = parameter("4s8hTc9h2s", "board with which the hand starts, such as Ks7h2d; empty: before the flop")
    pot: int = parameter(500, "chips in the pot when the hand starts with a board", low=0)
    menu: str = parameter("libratus", "raises offered: a menu's name, sizes such as 50%,a, or all for every amount")

    __repr__ = settings_repr


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemSix(Holdem):
    """No-limit hold'em for six players with 100 big blinds each.

    >>> HoldemSix().spec.num_players
    6
    """

    name: ClassVar[str] = "holdem_six"

    stacks: tuple[int, ...] = parameter((10_000,) * 6, "chips of each player before blinds, or behind a given pot")

    __repr__ = settings_repr


def _sorted_flop(board: tuple[int, ...]) -> tuple[int, ...]:
    return (*sorted(board[:3]), *board[3:])


def _only_winner(num_players: int, winner: int) -> tuple[int, ...]:
    return tuple(int(player == winner) for player in range(num_players))
