# SPDX-License-Identifier: Apache-2.0
"""From what people type to the actions of a game: fold, call, raise 300, half pot, all in, or an action's own name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from equipoise.core.errors import ParseError
from equipoise.games.base import Game
from equipoise.games.holdem.betting import CALL, FOLD, all_in_to, raise_to_fraction, to_call
from equipoise.games.holdem.rules import Holdem, HoldemState

__all__ = ["list_moves", "parse_move"]

FOLDS: Final = {"f", "fold"}
CHECKS: Final = {"x", "k", "check"}
CALLS: Final = {"c", "call"}
ALL_INS: Final = {"a", "all in", "all-in", "allin", "shove", "jam", "push"}
FRACTIONS: Final = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "two thirds": 2 / 3, "three quarters": 3 / 4}
RAISES: Final = re.compile(r"^(?:(?:raise|bet|r|b)\s*(?:to)?\s*|to\s+)?\$?(\d{1,18})$")
BY: Final = re.compile(r"^(?:raise|bet|r|b)\s*by\s*\$?(\d{1,18})$")
SHARES: Final = re.compile(r"^(?:(?:raise|bet|r|b)\s+)?(?:(.*?)\s*(?:the\s+)?)?pot$")
PERCENTS: Final = re.compile(r"^(?:(?:raise|bet|r|b)\s+)?(\d{1,4}(?:\.\d{1,4})?)\s*%$")
MOST_SHOWN: Final = 8


def parse_move(text: str, game: Game[Any], state: Any) -> int:
    """Returns the legal action that a player's words mean; raises `ParseError` with what could be said instead."""
    words = " ".join(text.lower().split())
    if isinstance(game, Holdem):
        return _parse_bet(words, game, state)
    return _parse_name(words, game, state)


def list_moves(game: Game[Any], state: Any) -> list[str]:
    """Returns what a player may say where it is to act, in words."""
    actions = game.legal_actions(state)
    if not isinstance(game, Holdem):
        return [game.action_name(state, action) for action in actions]
    betting = state.betting
    said = [_name_bet(state, action) for action in actions if action in (FOLD, CALL)]
    raises = [action for action in actions if action not in (FOLD, CALL)]
    if len(raises) <= MOST_SHOWN:
        return said + [_name_bet(state, action) for action in raises]
    word = "raise to" if to_call(betting) or betting.price > betting.base else "bet"
    return [
        *said,
        f"{word} {raises[0] - betting.base:,} ... {raises[-1] - betting.base:,}",
        "pot",
        "half pot",
        "all in",
    ]


def _name_bet(state: HoldemState, action: int) -> str:
    """Returns an action with what it costs."""
    betting = state.betting
    if action == FOLD:
        return "fold"
    asked = to_call(betting)
    if action == CALL:
        return f"call {asked:,}" if asked else "check"
    if action == all_in_to(betting):
        return f"all in ({action - betting.base:,})"
    return f"{'raise to' if betting.price > betting.base else 'bet'} {action - betting.base:,}"


def _parse_bet(words: str, game: Holdem, state: HoldemState) -> int:
    betting, actions = state.betting, game.legal_actions(state)
    asked = to_call(betting)
    if words in FOLDS:
        if not asked:
            raise ParseError("there is nothing to fold to: check")
        return FOLD
    if words in CHECKS and asked:
        raise ParseError(f"there is a bet: call {asked:,}, raise or fold")
    if words in CHECKS | CALLS or words == f"call {asked}":
        if CALL not in actions:
            raise ParseError("the menu has no call here: raise or fold")
        return CALL
    raises = [action for action in actions if action not in (FOLD, CALL)]
    if words in ALL_INS:
        return _go_all_in(state, raises)
    return _check_raise(_find_total(words, state, raises), state, raises)


def _go_all_in(state: HoldemState, raises: Sequence[int]) -> int:
    """Returns the largest raise if it leaves nobody anything to bet, a call if that takes all."""
    betting = state.betting
    if raises:
        others = [
            chips + stack
            for seat, (chips, stack) in enumerate(zip(betting.committed, betting.stacks, strict=True))
            if seat != betting.actor and not betting.is_folded[seat]
        ]
        if raises[-1] >= min(all_in_to(betting), max(others)):
            return raises[-1]
        raise ParseError(f"all in is not offered here; you can {_offer(state, raises)}")
    if to_call(betting) >= betting.stacks[betting.actor]:
        return CALL
    raise ParseError("nobody can raise here: call or fold" if to_call(betting) else "nobody can bet here: check")


def _find_total(words: str, state: HoldemState, raises: Sequence[int]) -> int:
    """Returns the total over the hand that words raise to."""
    betting = state.betting
    if words in ("min", "raise", "bet", "r", "b", "minimum"):
        if words not in ("min", "minimum"):
            raise ParseError(f"say how much; you can {_offer(state, raises)}")
        return raises[0] if raises else 0
    if match := RAISES.match(words):
        return betting.base + int(match[1])
    if match := BY.match(words):
        return betting.price + int(match[1])
    if match := PERCENTS.match(words):
        return raise_to_fraction(betting, float(match[1]) / 100)
    if match := SHARES.match(words):
        return raise_to_fraction(betting, _parse_share(match[1] or ""))
    raise ParseError(f"{words[:40]!r} is no move here; ? helps")


def _parse_share(text: str) -> float:
    """Returns the share of the pot that stands before the word."""
    text = re.sub(r"^(?:a|the|of)\s+|\s+(?:a|of)$", "", text.strip()).replace("-", " ").strip()
    if not text:
        return 1.0
    if text in FRACTIONS:
        return FRACTIONS[text]
    if match := re.fullmatch(r"(\d{1,4}(?:\.\d{1,4})?)\s*(x|times|%)?", text):
        return float(match[1]) / (100 if match[2] == "%" else 1)
    if (match := re.fullmatch(r"(\d{1,2})/(\d{1,2})", text)) and int(match[2]):
        return int(match[1]) / int(match[2])
    raise ParseError(f"{text[:40]!r} is no share of the pot; half pot, 75% pot and 2x pot are")


def _check_raise(total: int, state: HoldemState, raises: Sequence[int]) -> int:
    if total in raises:
        return total
    if not raises:
        raise ParseError("nobody can raise here: call or fold" if to_call(state.betting) else "nobody can bet: check")
    raise ParseError(f"{total - state.betting.base:,} is not offered here; you can {_offer(state, raises)}")


def _offer(state: HoldemState, raises: Sequence[int]) -> str:
    """Returns what can be raised to, in words."""
    base = state.betting.base
    if not raises:
        return "not raise"
    if len(raises) > MOST_SHOWN:
        return f"raise to {raises[0] - base:,} up to {raises[-1] - base:,}"
    return f"raise to {', '.join(f'{total - base:,}' for total in raises)}"


def _parse_name(words: str, game: Game[Any], state: Any) -> int:
    """Returns the action of a name, of its beginning, or of its number in the list."""
    actions = game.legal_actions(state)
    names = [game.action_name(state, action).lower() for action in actions]
    if words in names:
        return actions[names.index(words)]
    if words.isdecimal() and words.isascii() and len(words) < 5 and 1 <= int(words) <= len(actions):
        return actions[int(words) - 1]
    spoken = {"x": "check", "k": "check", "all in": "all-in", "allin": "all-in"}.get(words, words)
    found = [action for action, name in zip(actions, names, strict=True) if spoken and name.startswith(spoken)]
    if len(found) == 1:
        return found[0]
    shown = ", ".join(names[:MOST_SHOWN]) + (", ..." if len(names) > MOST_SHOWN else "")
    if found:
        raise ParseError(f"{words[:40]!r} could be several moves; there are {shown}")
    raise ParseError(f"{words[:40]!r} is no move here; there are {shown}")
