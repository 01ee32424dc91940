# SPDX-License-Identifier: Apache-2.0
"""A table in words and numbers: what a seat sees, which moves it has, a hand as a poker hand history."""

from __future__ import annotations

import re
from typing import Any, Final

from equipoise.apps.table.views import describe_seat
from equipoise.apps.web.errors import ApiError
from equipoise.core.errors import InvalidStateError
from equipoise.evaluation.statistics import big_blind_of
from equipoise.games.base import Game
from equipoise.games.holdem.betting import CALL, FOLD, Stage, all_in_to, pot, raise_to_fraction, to_call
from equipoise.games.holdem.cards import FULL_DECK, format_card
from equipoise.games.holdem.dealing import HAND_SIZE
from equipoise.games.holdem.rules import Holdem, HoldemState
from equipoise.games.kuhn import Kuhn
from equipoise.games.leduc import Leduc
from equipoise.games.registry import format_game

__all__ = [
    "describe_moves",
    "describe_table",
    "find_move",
    "is_public_outcome",
    "move_id",
    "name_move",
    "show_cards",
    "write_phh",
]

MOST_BUTTONS: Final = 8
PRESETS: Final = {"third pot": 1 / 3, "half pot": 1 / 2, "three quarters": 3 / 4, "pot": 1.0, "two pots": 2.0}


def show_cards(game: Game[Any], state: Any, seat: int) -> list[str]:
    """Returns the cards of a seat, the higher one first; none where a game has none, or none is dealt yet."""
    if isinstance(game, Holdem):
        return [format_card(card) for card in reversed(state.hole[HAND_SIZE * seat : HAND_SIZE * (seat + 1)])]
    if isinstance(game, Kuhn | Leduc):
        found = re.split(r"[:|]", game.infostate(state, seat))[0]
        return [found] if found and found != "?" else []
    return []


def describe_table(game: Game[Any], state: Any, seat: int, *, is_over: bool) -> dict[str, Any]:
    """Returns what a seat sees of a hand; the other's cards once it is over."""
    described: dict[str, Any] = {
        "game": game.spec.name,
        "title": format_game(game),
        "unit": "chips",
        "big_blind": big_blind_of(game),
        "button": None,
        "street": None,
        "cards": show_cards(game, state, seat),
        "their_cards": show_cards(game, state, 1 - seat) if is_over else None,
        "board": [],
        "pot": None,
        "bets": None,
        "stacks": None,
        "to_call": None,
        "view": describe_seat(game, state, seat, ("first", "second")),
        "public": _public(game, state),
        "revealed": game.describe(state) if is_over else None,
    }
    if isinstance(game, Holdem):
        betting = state.betting
        described |= {
            "title": f"hold'em, {min(game.stacks) // game.big_blind} big blinds",
            "button": 1 if not game.board else None,
            "street": betting.street.name.lower(),
            "board": [format_card(card) for card in state.board],
            "pot": pot(betting),
            "bets": [max(0, chips - betting.base) for chips in betting.committed],
            "stacks": list(betting.stacks),
            "to_call": to_call(betting) if betting.stage is Stage.ACT and betting.actor == seat else 0,
        }
    elif isinstance(game, Leduc):
        board = game.describe(state).partition("public ")[2].partition(",")[0].strip()
        described |= {
            "board": [board] if board and board not in ("-", "none") else [],
            "pot": sum(state.chips),
            "bets": list(state.chips),
            "to_call": max(0, state.chips[1 - seat] - state.chips[seat]),
        }
    return described


def _public(game: Game[Any], state: Any) -> str:
    try:
        return game.public_state(state)
    except InvalidStateError:
        return ""


def is_public_outcome(game: Game[Any], state: Any, action: int) -> bool:
    """Returns whether everybody sees which outcome of chance came: any other would have led to another public state."""
    after = _public(game, game.apply(state, action))
    others = [outcome for outcome, _ in game.chance_outcomes(state) if outcome != action]
    return bool(after) and all(_public(game, game.apply(state, other)) != after for other in others)


def describe_moves(game: Game[Any], state: Any, *, is_turn: bool) -> dict[str, Any]:
    """Returns the moves that a seat has: buttons, and how far it may bet where there are many sizes."""
    if not is_turn:
        return {"actions": [], "raise": None}
    actions = game.legal_actions(state)
    if not isinstance(game, Holdem):
        return {"actions": [_describe_move(game, state, action) for action in actions], "raise": None}
    raises = [action for action in actions if action not in (FOLD, CALL)]
    shown = actions if len(raises) <= MOST_BUTTONS else [action for action in actions if action in (FOLD, CALL)]
    return {
        "actions": [_describe_move(game, state, action) for action in shown],
        "raise": _describe_raise(state, raises) if raises else None,
    }


def _describe_move(game: Game[Any], state: Any, action: int) -> dict[str, Any]:
    kind = str(game.action_class(state, action).value)
    to = None
    if isinstance(game, Holdem):
        betting = state.betting
        if action == CALL:
            kind = "call" if to_call(betting) else "check"
        elif action != FOLD:
            to = action - betting.base
            kind = "all-in" if action >= all_in_to(betting) else ("raise" if betting.price > betting.base else "bet")
    return {"id": move_id(game, state, action), "name": name_move(game, state, action), "kind": kind, "to": to}


def _describe_raise(state: HoldemState, raises: list[int]) -> dict[str, Any]:
    """Returns from where to where a seat may bet, in chips of the round, and sizes that are usual."""
    betting = state.betting
    base, allowed = betting.base, set(raises)
    presets = []
    for name, share in PRESETS.items():
        total = raise_to_fraction(betting, share)
        if total in allowed:
            presets.append({"name": name, "to": total - base})
    presets.append({"name": "all-in" if raises[-1] >= all_in_to(betting) else "most", "to": raises[-1] - base})
    return {
        "kind": "raise" if betting.price > base else "bet",
        "least": raises[0] - base,
        "most": raises[-1] - base,
        "presets": presets,
        "fixed": [total - base for total in raises] if len(raises) <= MOST_BUTTONS else None,
    }


def move_id(game: Game[Any], state: Any, action: int) -> str:
    """Returns the id of a move: f, c, r and the chips of the round in hold'em; a number elsewhere."""
    if not isinstance(game, Holdem):
        return str(action)
    return {FOLD: "f", CALL: "c"}.get(action, f"r{action - state.betting.base}")


def name_move(game: Game[Any], state: Any, action: int) -> str:
    """Returns a move in words."""
    if not isinstance(game, Holdem):
        return game.action_name(state, action)
    betting = state.betting
    if action == FOLD:
        return "fold"
    if action == CALL:
        return f"call {to_call(betting):,}" if to_call(betting) else "check"
    amount = f"{action - betting.base:,}"
    if action >= all_in_to(betting):
        return f"all-in {amount}"
    return f"raise to {amount}" if betting.price > betting.base else f"bet {amount}"


def find_move(game: Game[Any], state: Any, id: str) -> int:
    """Returns the legal move of an id; refuses others with those that there are."""
    actions = game.legal_actions(state)
    number = int(id[1:]) if id[:1] == "r" and id[1:].isdecimal() and len(id) < 20 else None
    if isinstance(game, Holdem):
        wanted = {"f": FOLD, "c": CALL, "x": CALL}.get(id)
        if number is not None:
            wanted = number + state.betting.base
    else:
        wanted = int(id) if id.isdecimal() and len(id) < 20 else None
    if wanted is None or wanted not in actions:
        moves = describe_moves(game, state, is_turn=True)
        there = ", ".join(f"{move['id']} ({move['name']})" for move in moves["actions"])
        if moves["raise"] is not None and moves["raise"]["fixed"] is None:
            there += f", r{moves['raise']['least']} to r{moves['raise']['most']}"
        raise ApiError(422, f"there is no such move here; there are {there}", code="config", field="action", got=id)
    return wanted


def write_phh(game: Game[Any], state: Any, history: list[dict[str, Any]], names: list[str], hand: int) -> str | None:
    """Returns a hand of heads-up hold'em from before the flop on as a poker hand history, None of other games.

    Players are p1, in the big blind, and p2, on the button; the format lists blinds small first and gives them in
    reverse when there are two.
    """
    if not isinstance(game, Holdem) or game.board or game.card_deck != FULL_DECK:
        return None
    actions = []
    for seat in (0, 1):
        actions.append(f"d dh p{seat + 1} {''.join(show_cards(game, state, seat))}")
    for step in history:
        if "cards" in step:
            actions.append(f"d db {''.join(step['cards'])}")
            continue
        actions.append(f"p{step['player'] + 1} {_phh_action(step['name'])}")
    if state.betting.stage is Stage.SHOWDOWN:
        actions += [f"p{seat + 1} sm {''.join(show_cards(game, state, seat))}" for seat in (0, 1)]
    won = game.returns(state)
    ends = [int(stack + chips) for stack, chips in zip(game.stacks, won, strict=True)]
    quoted = ",\n".join(f'  "{action}"' for action in actions)
    variant, limits = "NT", f"min_bet = {game.big_blind}"
    if game.bet_sizes:
        variant = "FT"
        limits = f"small_bet = {game.bet_sizes[0]}\nbig_bet = {game.bet_sizes[-1]}"
    return "\n".join(
        [
            f'variant = "{variant}"',
            f"antes = [{game.ante}, {game.ante}]",
            f"blinds_or_straddles = [{game.small_blind}, {game.big_blind}]",
            limits,
            f"starting_stacks = [{', '.join(map(str, game.stacks))}]",
            f"actions = [\n{quoted},\n]",
            f"hand = {hand}",
            f"players = [{', '.join(_quote(name) for name in names)}]",
            f"finishing_stacks = [{', '.join(map(str, ends))}]",
            "",
        ]
    )


def _phh_action(name: str) -> str:
    """Returns a move as hand histories write it."""
    if name == "fold":
        return "f"
    if name == "check" or name.startswith("call"):
        return "cc"
    return f"cbr {name.rpartition(' ')[2].replace(',', '')}"


def _quote(name: str) -> str:
    cleaned = "".join(letter for letter in name if letter.isprintable() and letter not in '"\\')
    return f'"{cleaned}"'
