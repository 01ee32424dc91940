# SPDX-License-Identifier: Apache-2.0
"""Local best response in heads-up hold'em: real hands against an agent whose strategy for all hands is known.

The responder keeps the agent's exact range by Bayes' rule. Its own hand is drawn; the agent's is not: its actions are
drawn from what the whole range does, and ends are scored against the range, which is the same on average and scatters
less. What it wins is a lower bound on what a best response would win.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import NarrowAgent, PublicAgent, PublicDecision
from equipoise.agents.holdem.hands import describe_holdem_decision
from equipoise.core.errors import ConfigError
from equipoise.evaluation.holdem.odds import LEAST_WEIGHT, Odds, find_range_odds, find_single_odds
from equipoise.evaluation.lbr import LocalResponse, score_answers
from equipoise.evaluation.matches import AgentMaker, DealRange, MatchConfig
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    BettingState,
    Stage,
    Street,
    next_street,
    payoffs,
    pot,
    raise_to_fraction,
    to_call,
)
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.holdem.dealing import HAND_SIZE
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.rules import Holdem, HoldemState
from equipoise.games.holdem.spot_game import spot_of_game
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree

__all__ = ["HoldemLbr", "LbrHands", "LbrMenu", "measure_holdem_lbr"]

FloatArray = npt.NDArray[np.float64]
LBR_STREAM: Final = 3  # of random numbers, beside those of matches
REPORT_EVERY: Final = 50  # decisions


class LbrMenu(enum.StrEnum):
    """What the responder may do, of what the game offers."""

    FOLD_CALL = "fc"
    POT_ALL_IN = "fcpa"  # also raises by the pot and all-in
    EVERYTHING = "all"
    MODICUM_1 = "modicum1"  # first folds or bets three quarters of the pot, then folds or calls
    MODICUM_2 = "modicum2"  # first bets so much, calls to the flop, tries many bets there, then folds or calls


class Choice(NamedTuple):
    """What a responder may do at a decision."""

    passive: tuple[int, ...]  # of fold and call; call all the same where nothing else is legal
    fractions: tuple[float, ...] = ()  # of the pot, as raises

    def of(self, state: BettingState, actions: Sequence[int]) -> list[int]:
        """Returns those of a game's actions that are nearest to it."""
        raises = [action for action in actions if action > CALL]
        wanted = [raise_to_fraction(state, fraction) for fraction in self.fractions] if raises else []
        found = {min(raises, key=lambda total: abs(total - one)) for one in wanted}
        found |= {action for action in actions if action in self.passive}
        return sorted(found) or [CALL]


FOLD_OR_CALL: Final = Choice((FOLD, CALL))
# of the first decision, and then by street; Brown 2020 (thesis), section 5.2.3
BY_STREET: Final[Mapping[LbrMenu, tuple[Choice, ...]]] = {
    LbrMenu.MODICUM_1: (Choice((FOLD,), (0.75,)), *(FOLD_OR_CALL,) * len(Street)),
    LbrMenu.MODICUM_2: (
        Choice((), (0.75,)),
        Choice((CALL,)),
        Choice((FOLD, CALL), tuple(0.33 * 2.0**power for power in range(11))),
        FOLD_OR_CALL,
        FOLD_OR_CALL,
    ),
}


class HoldemLbr:
    """The responder: what it does with any hand, given the agent's range.

    Paper: Lisy & Bowling 2017, "Equilibrium Approximation Quality of Current No-Limit Poker Bots", arXiv:1612.07547;
        menus as in Zarick et al. 2020 (Supremus), arXiv:2007.10442.
    Symbols: wp -> share; fp -> fold_chance; asked -> asked; x -> extra.
    Departs from the paper: ties count half a win; a raise that the agent cannot match whole counts as far as it can.
    Checked by: tests/evaluation/test_lbr_holdem.py.

    >>> from equipoise.agents import UniformAgent
    >>> from equipoise.games import make_game
    >>> responder = HoldemLbr(make_game("holdem"), UniformAgent(), menu=LbrMenu.FOLD_CALL, passive_streets=1)
    >>> responder.menu.value
    'fc'
    """

    def __init__(self, game: Holdem, agent: PublicAgent, *, menu: LbrMenu, passive_streets: int = 0) -> None:
        """Keeps the rules.

        Args:
            game: heads-up.
            agent: who is exploited.
            menu: what the responder may do.
            passive_streets: on so many first streets of the hand it only checks and calls.
        """
        if game.spec.num_players != 2:
            raise ConfigError(f"local best responses are for two players, {game.spec.name} has {len(game.stacks)}")
        if passive_streets < 0:
            raise ConfigError(f"passive_streets must be at least 0, got {passive_streets}")
        self.game, self.agent, self.menu, self.passive_streets = game, agent, menu, passive_streets
        self.deck = game.card_deck
        self.num_board_cards = game.betting_rules.last_street.num_board_cards

    def allowed(self, state: HoldemState) -> list[int]:
        """Returns the actions that the menu leaves."""
        betting, actions = state.betting, self.game.legal_actions(state)
        if betting.street - self.game.betting_rules.first_street < self.passive_streets:
            return [CALL]
        if self.menu is LbrMenu.EVERYTHING:
            return list(actions)
        if self.menu in BY_STREET:
            first, *streets = BY_STREET[self.menu]
            is_first = betting.street == self.game.betting_rules.first_street and not betting.has_acted[betting.actor]
            return (first if is_first else streets[betting.street]).of(betting, actions)
        raises = [action for action in actions if action > CALL]
        chosen: list[int] = []
        if self.menu is LbrMenu.POT_ALL_IN and raises:
            wanted = raise_to_fraction(betting, 1.0)
            # the pot, or what the game offers next to it, and the largest raise
            chosen = sorted({min(raises, key=lambda total: abs(total - wanted)), raises[-1]})
        return [action for action in actions if action <= CALL] + chosen

    def action_values(
        self,
        state: HoldemState,
        weights: FloatArray,
        find_odds: Callable[[FloatArray], Odds],
        meet: Callable[[FloatArray], Any],
        *,
        rng: np.random.Generator,
    ) -> dict[int, Any]:
        """Returns the value of each allowed action in chips, beyond those put in so far.

        Args:
            state: where the responder acts.
            weights: `[H]` the agent's range.
            find_odds: of a range, for the responder's hand or hands.
            meet: the weight of a range's hands that share no card with the responder's.
            rng: what the agent draws from.
        """
        betting = state.betting
        size, asked = pot(betting), to_call(betting)
        values: dict[int, Any] = {}
        call_share = None
        for action in self.allowed(state):
            if action == FOLD:
                values[action] = np.zeros_like(meet(weights))
                continue
            if action == CALL:
                call_share = find_odds(weights).share
                values[action] = call_share * size - (1.0 - call_share) * asked
                continue
            after = self.game.apply(state, action)
            folds = self.fold_chances(after, rng=rng)
            staying = weights * (1.0 - folds)
            met = np.maximum(meet(weights), LEAST_WEIGHT)
            fold_chance = 1.0 - np.minimum(meet(staying) / met, 1.0)
            share = find_odds(staying).share
            extra = to_call(after.betting)  # that the agent adds if it calls
            values[action] = fold_chance * size + (1.0 - fold_chance) * (
                share * (size + extra) - (1.0 - share) * (asked + extra)
            )
        return values

    def fold_chances(self, state: HoldemState, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H]` how often each hand of the agent folds where it acts."""
        decision = self.describe(state)
        if FOLD not in decision.actions:
            return np.zeros(self.deck.num_hands)
        table = self.agent.public_strategy(decision, rng=rng)
        column: FloatArray = table[:, decision.actions.index(FOLD)]
        return column

    def describe(self, state: HoldemState) -> PublicDecision:
        """Returns the agent's decision with the actions that it may take: of every amount it bets a few."""
        decision = describe_holdem_decision(self.game, state)
        return decision.narrow(self.agent.public_actions(decision)) if isinstance(self.agent, NarrowAgent) else decision

    def choose(self, state: HoldemState, hand: int, weights: FloatArray, *, rng: np.random.Generator) -> int:
        """Returns the responder's action with one hand; of equal values the first."""
        hands = hands_of(self.deck)
        is_apart = ((hands.masks & hands.masks[hand]) == 0).astype(np.float64)
        values = self.action_values(
            state,
            weights,
            lambda held: find_single_odds(hand, held, state.board, self.deck, num_board_cards=self.num_board_cards),
            lambda held: float(is_apart @ held),
            rng=rng,
        )
        return max(values, key=lambda action: float(values[action]))

    def choose_all(self, state: HoldemState, weights: FloatArray, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` the responder's choice with every hand, over all of the game's actions."""
        values = self.action_values(
            state,
            weights,
            lambda held: find_range_odds(held, state.board, self.deck, num_board_cards=self.num_board_cards),
            hands_of(self.deck).compatible,
            rng=rng,
        )
        actions = self.game.legal_actions(state)
        stacked = np.stack([values[action] for action in values], axis=1)
        columns = np.array([actions.index(action) for action in values])
        table = np.zeros((len(stacked), len(actions)))
        table[np.arange(len(stacked)), columns[stacked.argmax(axis=1)]] = 1.0
        return table


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LbrHands:
    """Plays hands of the responder against an agent, both seats each; a `ChunkPlayer` of matches."""

    game: Holdem
    maker: AgentMaker
    name: str
    menu: LbrMenu
    config: MatchConfig
    plays_singly: ClassVar[bool] = True
    passive_streets: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the responder's name and the agent's."""
        return f"lbr ({self.menu})", self.name

    @property
    def makers(self) -> tuple[AgentMaker]:
        """Returns who makes the agent."""
        return (self.maker,)

    def __call__(self, deals: DealRange) -> FloatArray:
        """Returns `[deals, 2, 2]` chips won, the responder in seat 0 and then in seat 1."""
        agent = self.maker(self.game)
        if not isinstance(agent, PublicAgent):
            raise ConfigError(f"{self.name} has no strategy for whole public states, which local best responses need")
        lbr = HoldemLbr(self.game, agent, menu=self.menu, passive_streets=self.passive_streets)
        out = np.zeros((deals.size, 2, 2))
        for place in range(deals.size):
            for seat in (0, 1):
                rng = np.random.default_rng([self.config.seed, LBR_STREAM, deals.first + place, seat])
                won = play_lbr_hand(lbr, seat, rng=rng)
                out[place, seat] = won, -won
        return out


def play_lbr_hand(lbr: HoldemLbr, seat: int, *, rng: np.random.Generator) -> float:
    """Returns what the responder wins in one hand, in chips, on average over the agent's range at its end."""
    game, hands = lbr.game, hands_of(lbr.deck)
    spot = spot_of_game(game) if game.ranges or game.board else None
    own = spot.live_weights(seat) if spot else np.ones(hands.num_hands)
    weights = spot.live_weights(1 - seat) if spot else np.ones(hands.num_hands)
    odds = own * hands.compatible(weights)
    hand = int(rng.choice(odds.size, p=odds / odds.sum()))
    weights = np.where((hands.masks & hands.masks[hand]) == 0, weights, 0.0)
    state = _deal_hands(game, seat, hand, weights, rng)
    lbr.agent.begin_game(1 - seat)
    while (actor := game.actor(state)) != TERMINAL:
        if actor == CHANCE:
            if _is_run_out(game, state):
                return _score_showdown(lbr, state, seat, hand, weights)
            state = _deal_cards(game, state, seat, hand, weights, rng)
            weights = np.where(hands.blocked(state.board), 0.0, weights)
        elif actor == seat:
            state = game.apply(state, lbr.choose(state, hand, weights, rng=rng))
        else:
            decision = lbr.describe(state)
            table = lbr.agent.public_strategy(decision, rng=rng)
            shares = weights @ table
            column = int(rng.choice(shares.size, p=shares / shares.sum()))
            weights = weights * table[:, column]
            weights /= weights.sum()
            state = game.apply(state, decision.actions[column])
    if state.betting.stage is Stage.FOLD:
        return float(payoffs(state.betting)[seat])
    return _score_showdown(lbr, state, seat, hand, weights)


def _deal_hands(game: Holdem, seat: int, hand: int, weights: FloatArray, rng: np.random.Generator) -> HoldemState:
    """Returns the state after the deal: the responder's hand, and one of the agent's, which nobody looks at."""
    hands = hands_of(game.card_deck)
    other = int(rng.choice(weights.size, p=weights / weights.sum()))
    pair = (hand, other) if seat == 0 else (other, hand)
    state = game.initial_state()
    for card in hands.cards[list(pair)].ravel().tolist():
        state = game.apply(state, card)
    return state


def _deal_cards(
    game: Holdem, state: HoldemState, seat: int, hand: int, weights: FloatArray, rng: np.random.Generator
) -> HoldemState:
    """Returns the state after the next board cards, drawn as they come given the agent's range."""
    hands = hands_of(game.card_deck)
    # a hand of the range leaves the cards that it does not hold; which one it was is forgotten at once
    other = int(rng.choice(weights.size, p=weights / weights.sum()))
    pair = (hand, other) if seat == 0 else (other, hand)
    state = state._replace(hole=tuple(hands.cards[list(pair)].ravel().tolist()))
    street = state.betting.street
    while state.betting.street == street:
        cards, shares = zip(*game.chance_outcomes(state), strict=True)
        state = game.apply(state, int(rng.choice(cards, p=np.array(shares) / sum(shares))))
    return state


def _is_run_out(game: Holdem, state: HoldemState) -> bool:
    betting = state.betting
    while betting.stage is Stage.DEAL:
        betting = next_street(game.betting_rules, betting)
    return betting.stage is Stage.SHOWDOWN


def _score_showdown(lbr: HoldemLbr, state: HoldemState, seat: int, hand: int, weights: FloatArray) -> float:
    """Returns what the responder wins where no bet will come, against the range and over all boards."""
    betting = state.betting
    while betting.stage is Stage.DEAL:
        betting = next_street(lbr.game.betting_rules, betting)
    odds = find_single_odds(hand, weights, state.board, lbr.deck, num_board_cards=lbr.num_board_cards)
    won, tied = float(odds.won / odds.met), float(odds.tied / odds.met)
    results = [(1, 0), (0, 1), (1, 1)] if seat == 0 else [(0, 1), (1, 0), (1, 1)]
    pays = [payoffs(betting, result)[seat] for result in results]
    return won * pays[0] + (1.0 - won - tied) * pays[1] + tied * pays[2]


# --- exact, on small decks ---


def measure_holdem_lbr(
    game: Holdem,
    agent: PublicAgent,
    *,
    menu: LbrMenu,
    passive_streets: int = 0,
    rng: np.random.Generator,
    on_progress: Callable[[float], None] | None = None,
) -> LocalResponse:
    """Returns what the responder wins against an agent, exactly, beside what best responses win.

    Args:
        game: heads-up, with so few cards that every board can be listed.
        agent: who is exploited; asked for its strategy on every board.
        menu: what the responder may do.
        passive_streets: on so many first streets of the hand it only checks and calls.
        rng: what the agent draws from.
        on_progress: called now and then with the share done.

    >>> from equipoise.agents import UniformAgent
    >>> from equipoise.games import make_game
    >>> small = make_game("holdem", deck="royal", stacks=(40, 40), board="AhKhQhJcTc", pot=20, menu="100%")
    >>> found = measure_holdem_lbr(small, UniformAgent(), menu=LbrMenu.FOLD_CALL, rng=np.random.default_rng(0))
    >>> all(local <= best for local, best in zip(found.values, found.best_response_values))
    True
    """
    lbr = HoldemLbr(game, agent, menu=menu, passive_streets=passive_streets)
    tree = build_holdem_tree(spot_of_game(game), merges_suits=False)
    num_decisions = sum(1 for seat in (0, 1) for _ in _decisions(tree, seat))
    done = itertools.count(1)

    def report() -> None:
        count = next(done)
        if on_progress is not None and count % REPORT_EVERY == 0:
            on_progress(min(count / (2 * num_decisions), 1.0))

    own = np.zeros(tree.arrays.num_cells)
    answers = [np.zeros_like(own), np.zeros_like(own)]
    for seat in (0, 1):
        _fill_tables(lbr, tree, seat, (own, answers[seat]), rng, report)

    def answer(seat: int) -> FloatArray:
        is_answered = answers[seat] > 0
        for index, node in _decisions(tree, seat):
            is_answered[tree.cells(index, node)] = True
        return np.where(is_answered, answers[seat], own)

    return score_answers(tree, own, answer)


def _decisions(tree: HoldemTree, seat: int) -> Iterator[tuple[int, int]]:
    """Yields board and node of every decision of a seat."""
    for index, board in enumerate(tree.boards):
        for node, decision in tree.decisions.items():
            street = tree.betting.nodes[node].state.street
            if decision.player == seat and street.num_board_cards == len(board):
                yield index, node


def _fill_tables(
    lbr: HoldemLbr,
    tree: HoldemTree,
    seat: int,
    tables: tuple[FloatArray, FloatArray],
    rng: np.random.Generator,
    report: Callable[[], None],
) -> None:
    """Writes what the agent plays in one seat into the first of `tables`, the responder's choices into the second."""
    game, hands = lbr.game, hands_of(lbr.deck)
    agent_table, answer = tables
    start = _place_cards(game, game.initial_state(), tree.spot.board, ())
    pending = [(0, start, tree.spot.live_weights(1 - seat))]
    while pending:
        index, state, weights = pending.pop()
        node = tree.betting.nodes[index]
        if node.kind is NodeKind.STREET_END:
            below = tree.betting.nodes[node.children[0]]
            count = below.state.street.num_board_cards - len(state.board)
            left = [card for card in lbr.deck.cards if card not in state.board]
            for cards in itertools.combinations(left, count):
                after = _place_cards(game, state, state.board, cards)
                pending.append((below.index, after, np.where(hands.blocked(after.board), 0.0, weights)))
        if node.kind is not NodeKind.DECISION:
            continue
        report()
        board = tree.board_index(state.board)
        held = tree.hands[board][node.state.actor]
        is_own = node.state.actor == seat
        if is_own:
            table = lbr.choose_all(state, weights, rng=rng)
            answer[tree.cells(board, index)] = table[held]
        else:
            table = lbr.agent.public_strategy(describe_holdem_decision(game, state), rng=rng)
            agent_table[tree.cells(board, index)] = table[held]
        for column, child in enumerate(node.children):
            moved = weights if is_own else weights * table[:, column]
            pending.append((child, game.apply(state, node.actions[column]), moved))


def _place_cards(game: Holdem, state: HoldemState, board: tuple[int, ...], cards: tuple[int, ...]) -> HoldemState:
    """Returns a state with some hands that nobody looks at, and cards dealt to the board."""
    free = [card for card in game.card_deck.cards if card not in board and card not in cards]
    if not state.hole:
        # any hands will do that the game may deal
        while len(state.hole) < 2 * HAND_SIZE:
            state = game.apply(state, game.chance_outcomes(state)[0][0])
    state = state._replace(hole=(free[0], free[1], free[2], free[3]))
    for card in cards:
        state = game.apply(state, card)
    return state
