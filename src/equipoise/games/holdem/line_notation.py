# SPDX-License-Identifier: Apache-2.0
"""Betting lines as players write them, such as `check, bet 50%, call, [7h], check`, and the nodes that they lead to.

Steps stand between commas: `check`, `call`, `fold`, `all-in`, a `bet` or `raise` with its size, and the cards that are
dealt in brackets. A size is `50%` (or `50p`) of the pot (after calling, added to the call), `2.5x` the bet, or chips in
this round (`bet 250`, `raise to 700`), as in menus. It need not be exact: the nearest bet that the tree offers is
meant, if it is near and no other is about as near. In addresses steps stand between `-` and cards between `/`:
`x-b50p-c/7h/x`. `[*]` at the end stands for every card that may come there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from equipoise.core.errors import ConfigError, IllegalActionError, ParseError
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    BettingRules,
    BettingState,
    Street,
    all_in_to,
    apply_action,
    bet_in_round,
    check_action,
    legal_raises,
    pot_after_call,
    to_call,
)
from equipoise.games.holdem.betting_tree import DEALING, NO_PARENT, BettingNode, BettingTree, NodeKind, betting_tree
from equipoise.games.holdem.cards import FULL_DECK, Deck, check_board, format_board, parse_card
from equipoise.games.holdem.menus import Menu, all_in_option

__all__ = [
    "Line",
    "Stretch",
    "find_action",
    "format_address",
    "format_line",
    "format_open_line",
    "grow_behind",
    "name_actions",
    "parse_deal",
    "parse_decision",
    "parse_line",
    "parse_stretches",
    "shorten_line",
    "shorten_step",
]

TOLERANCE: Final = 0.1  # of a bet, beside one chip that rounding may cost
CLEARLY: Final = 2.0  # so many times farther away must the next bet be
CHECK_TEXT, CALL_TEXT, FOLD_TEXT, ALL_IN_TEXT = "check", "call", "fold", "all-in"
SHORT: Final = {"x": CHECK_TEXT, "c": CALL_TEXT, "f": FOLD_TEXT, "a": ALL_IN_TEXT, "allin": ALL_IN_TEXT}
BET: Final = re.compile(
    r"(?P<verb>bets?|b|raises?|r)(?: *to)? *(?P<amount>[0-9]{1,18}(?:\.[0-9]*)?|\.[0-9]+)? *(?P<unit>%|p|x|c|chips)?"
    r"(?: of)?(?: pot)?"
)
CARDS: Final = re.compile(r"\[(.*)\]|((?:[2-9tjqka][cdhs])+)")
BETWEEN: Final = re.compile(r"[,/]|(?<!\ball)-")  # steps; all-in is one
ANY_CARD: Final = re.compile(r"(?:^|[,/])\s*(?:\[\s*\*\s*\]|\*)\s*$")
NOTATION: Final = "write check, call, fold, all-in, bet 50%, bet 250, raise 2.5x, or cards as in [7h]"


class Line(NamedTuple):
    """A place in a spot: the betting so far and all cards on the board."""

    node: int  # of the betting tree
    board: tuple[int, ...]


class Stretch(NamedTuple):
    """A part of a line within one tree: up to a bet that the tree lacks, or to the end of the line."""

    tree: BettingTree
    line: Line  # a decision of the tree
    total: int | None  # that the player who acts there raises to, over the whole hand; None where the line ends


def parse_line(text: str, tree: BettingTree, board: Sequence[int], deck: Deck = FULL_DECK) -> Line:
    """Returns where a line leads.

    Args:
        text: steps between commas; nothing, or `root`, is the root.
        tree: the bets that there are.
        board: the cards at the root.
        deck: what cards are of.
    """
    return _follow(_split(text), tree, Line(0, tuple(board)), deck)


def parse_decision(text: str, tree: BettingTree, board: Sequence[int], deck: Deck = FULL_DECK) -> Line:
    """Returns where a line leads, as `parse_line` does; raises `ParseError` if nobody acts there."""
    return _check_decision(tree, parse_line(text, tree, board, deck))


def parse_deal(text: str, tree: BettingTree, board: Sequence[int], deck: Deck = FULL_DECK) -> Line | None:
    """Returns where the line before `[*]` leads, None if a text does not end so; `ParseError` if no card comes."""
    match = ANY_CARD.search(text)
    if match is None:
        return None
    line = parse_line(text[: match.start()], tree, board, deck)
    node = tree.nodes[line.node]
    if node.kind is not NodeKind.STREET_END:
        what = "a player acts" if node.kind is NodeKind.DECISION else f"the hand is over by {node.kind.value}"
        raise ParseError(f"line step '[*]' stands for the cards that may come, and {_where(tree, line.node)} {what}")
    return line


def parse_stretches(
    text: str, tree: BettingTree, board: Sequence[int], deck: Deck = FULL_DECK, *, menu: Menu | None = None
) -> tuple[Stretch, ...]:
    """Returns where a line leads, as `parse_decision` does, but any of its bets may be one that the tree lacks.

    Such a bet is taken at its word, whole chips apart; `ParseError` if the rules do not allow it.

    Args:
        text: as for `parse_line`.
        tree: the bets that there are.
        board: the cards at the root.
        deck: what cards are of.
        menu: what there is behind a bet that the tree lacks; None: what the tree's menu offers.
    """
    found: list[Stretch] = []
    steps, line = _split(text), Line(0, tuple(board))
    for number, step in enumerate(steps):
        try:
            total = _find_unknown(step, tree, line.node)
            line = _follow([step], tree, line, deck) if total is None else line
        except ParseError as error:
            raise ParseError(f"{error} (behind {', '.join(steps[:number])!r})" if found else str(error)) from None
        if total is not None:
            found.append(Stretch(tree, line, total))
            if number == len(steps) - 1:
                return tuple(found)
            tree, line = grow_behind(tree, line.node, total, menu), Line(0, line.board)
    return (*found, Stretch(tree, _check_decision(tree, line), None))


def grow_behind(tree: BettingTree, node: int, total: int, menu: Menu | None = None) -> BettingTree:
    """Returns what follows a raise at a decision that the tree lacks, by its menu or another one."""
    state = apply_action(tree.rules, tree.nodes[node].state, total)
    return betting_tree(tree.rules, menu or tree.menu, root=state)


def format_line(tree: BettingTree, line: Line) -> str:
    """Returns a line as `parse_line` reads it; nothing for the root.

    Args:
        tree: the bets that there are.
        line: the place; its board has the cards at the root first.
    """
    return ", ".join(_steps(tree, line))


def format_open_line(tree: BettingTree, node: int) -> list[str]:
    """Returns the steps to a node whatever the cards, `[*]` where they come."""
    return ["[*]" if step == "[]" else step for step in _steps(tree, Line(node, ()))]


def name_actions(tree: BettingTree, node: int) -> tuple[str, ...]:
    """Returns the actions at a decision as `parse_line` reads them: bets by their share of the pot if clear."""
    return tuple(_name_action(tree.rules, tree.nodes[node], action) for action in tree.nodes[node].actions)


def shorten_step(name: str) -> str:
    """Returns a step in as few letters as `parse_line` reads: what addresses of places are made of.

    >>> [shorten_step(name) for name in ("check", "bet 50%", "raise to 30", "raise 33.3%", "[As]")]
    ['x', 'b50p', 'r30c', 'r33.3p', 'As']
    """
    if name.startswith("["):
        return name.strip("[]")
    short = next((letter for letter, word in SHORT.items() if word == name), None)
    if short is not None:
        return short
    verb, _, size = name.replace(" to ", " ").partition(" ")
    if not size:  # limit bets have one size
        return verb[0]
    return verb[0] + (size.replace("%", "p") if size.endswith("%") else f"{size}c")


def shorten_line(tree: BettingTree, line: Line) -> list[str]:
    """Returns the steps of a line, each shortened; `parse_line` reads them joined by commas."""
    return [shorten_step(step) for step in _steps(tree, line)]


def format_address(steps: Sequence[str]) -> str:
    """Returns shortened steps as a part of an address, which `parse_line` reads as well; nothing for the root.

    >>> format_address(["x", "b50p", "c", "As", "x"]), format_address(["x", "x", "2d"]), format_address([])
    ('x-b50p-c/As/x', 'x-x/2d', '')
    """
    text = ""
    for place, step in enumerate(steps):
        is_deal = CARDS.fullmatch(step.lower()) is not None
        was_deal = place > 0 and CARDS.fullmatch(steps[place - 1].lower()) is not None
        text += ("/" if is_deal or was_deal else "-") * (place > 0) + step
    return text


def find_action(text: str, tree: BettingTree, node: int) -> int:
    """Returns the action at a node that a step means; raises `ParseError` with what there is."""
    place = tree.nodes[node]
    step = text.strip().lower()
    step = SHORT.get(step, step)
    if place.kind is not NodeKind.DECISION:
        raise ParseError(
            f"line step {text!r}: nobody acts {_where(tree, node)}, the hand is over by {place.kind.value}"
        )
    passive = {CHECK_TEXT: CALL, CALL_TEXT: CALL, FOLD_TEXT: FOLD}
    wrong = CHECK_TEXT if to_call(place.state) else CALL_TEXT
    if step in passive and step != wrong and passive[step] in place.actions:
        return passive[step]
    action = None if step in passive else _find_raise(step, tree.rules, place)
    if action is None:
        there = ", ".join(name_actions(tree, node))
        reason = "" if step in passive or step == ALL_IN_TEXT or BET.fullmatch(step) else f"; {NOTATION}"
        raise ParseError(f"line step {text!r} is none of the actions {_where(tree, node)}: {there}{reason}")
    return action


def _split(text: str) -> list[str]:
    """Returns the steps of a line; none for the root."""
    cleaned = text.strip().lower()
    if cleaned in ("", "root"):
        return []
    return [step.strip() for step in BETWEEN.split(re.sub(r"\[[^\]]*\]", _tidy, cleaned))]


def _follow(steps: Sequence[str], tree: BettingTree, line: Line, deck: Deck) -> Line:
    """Returns where steps lead from a place."""
    for step in steps:
        node = tree.nodes[line.node]
        is_cards = CARDS.fullmatch(step) is not None
        if is_cards or node.kind is NodeKind.STREET_END:
            line = _deal(step, node, tree, line, deck, is_cards=is_cards)
        else:
            action = find_action(step, tree, line.node)
            line = Line(node.children[node.actions.index(action)], line.board)
    return line


def _check_decision(tree: BettingTree, line: Line) -> Line:
    """Returns a place at which somebody acts; raises `ParseError` if nobody does."""
    node = tree.nodes[line.node]
    if node.kind is not NodeKind.DECISION:
        hint = f"; add {_name_deal(node)}" if node.kind is NodeKind.STREET_END else ""
        raise ParseError(f"nobody acts after {format_line(tree, line)!r}, it is a {node.kind.value}{hint}")
    return line


def _tidy(match: re.Match[str]) -> str:
    """Returns cards in brackets without commas and spaces, so that lines can be split at commas."""
    return re.sub(r"[\s,]", "", match[0])


def _deal(step: str, node: BettingNode, tree: BettingTree, line: Line, deck: Deck, *, is_cards: bool) -> Line:
    """Returns the line after cards that a step names."""
    if node.kind is not NodeKind.STREET_END:
        raise ParseError(
            f"line step {step!r} deals cards {_where(tree, line.node)}, where a player acts or the hand is over"
        )
    street = Street(node.state.street + 1)
    missing = street.num_board_cards - len(line.board)
    if not is_cards:
        raise ParseError(f"line step {step!r} needs {_name_deal(node)}, before it")
    letters = step.strip("[]")
    if len(letters) != 2 * missing:
        raise ParseError(f"the {street.name.lower()} has {missing} card{'s' * (missing > 1)}, got {step!r}")
    cards = tuple(parse_card(letters[i : i + 2], deck) for i in range(0, len(letters), 2))
    board = (*line.board, *cards)
    try:
        check_board(board, deck)
    except ConfigError as error:
        raise ParseError(f"line step {step!r}: {error}") from None
    return Line(node.children[0], board)


def _name_deal(node: BettingNode) -> str:
    """Returns what is dealt after a street's end and how it is written."""
    street = Street(node.state.street + 1)
    return f"the {street.name.lower()}, as in {'[Ks7h2d]' if street is Street.FLOP else '[7h]'}"


def _find_raise(step: str, rules: BettingRules, node: BettingNode) -> int | None:
    """Returns the bet or raise that a step means, None if there is no such bet or it is not clear which."""
    raises = [action for action in node.actions if action > CALL]
    if not raises:
        return None
    all_in = _all_in(rules, node.state)
    if step == ALL_IN_TEXT:
        return all_in if all_in in raises else None
    match = _match_bet(step, node.state)
    if match is None:
        return None
    if match["amount"] is None:
        return raises[0] if len(raises) == 1 and match["unit"] is None else None
    total = _total(float(match["amount"]), match["unit"], node)
    if total is None:
        return None
    # sizes are fitted to the rules as those of menus are
    fitted = min(max(total, legal_raises(rules, node.state).start), all_in)
    return _nearest(raises, fitted, max(1.0, TOLERANCE * abs(fitted - node.state.price)))


def _match_bet(step: str, state: BettingState) -> re.Match[str] | None:
    """Returns the parts of a bet, or of a raise where there is a bet, None if a step is neither."""
    match = BET.fullmatch(step)
    return match if match is not None and match["verb"].startswith("r") == bool(bet_in_round(state)) else None


def _find_unknown(text: str, tree: BettingTree, node: int) -> int | None:
    """Returns the total that a step raises to if it says a size that a decision lacks, else None."""
    place = tree.nodes[node]
    if place.kind is not NodeKind.DECISION:
        return None
    step = SHORT.get(text, text)
    match = _match_bet(step, place.state)
    if _find_raise(step, tree.rules, place) is not None:
        return None
    if step == ALL_IN_TEXT:
        total: float | None = all_in_to(place.state)
    else:
        total = _total(float(match["amount"]), match["unit"], place) if match is not None and match["amount"] else None
    if total is None:
        return None
    found = math.floor(total + 0.5)
    _check_total(text, found, tree, place)
    return found


def _check_total(step: str, total: int, tree: BettingTree, node: BettingNode) -> None:
    """Raises `ParseError` if the rules do not allow a raise to a total, in chips of the round as steps have them."""
    allowed, base = legal_raises(tree.rules, node.state), node.state.base
    if total in allowed:
        return
    reason = f"it must be from {allowed.start - base} to {allowed.stop - 1 - base} chips, got {total - base}"
    try:
        check_action(tree.rules, node.state, total)
    except IllegalActionError as error:
        raise ParseError(
            f"line step {step!r} {_where(tree, node.index)} is not legal: {reason if allowed else error}"
        ) from None


def _all_in(rules: BettingRules, state: BettingState) -> int:
    """Returns the total that is all-in, also where the one size of limit betting is less."""
    return all_in_option(state, range(legal_raises(rules, state).start, all_in_to(state) + 1))


def _total(amount: float, unit: str | None, node: BettingNode) -> float | None:
    """Returns the total that a size raises to, None for a multiple of no bet."""
    state = node.state
    if unit in ("%", "p"):
        return state.price + amount * pot_after_call(state) / 100
    if unit == "x":
        return state.base + amount * bet_in_round(state) if bet_in_round(state) else None
    return state.base + amount


def _nearest(raises: Sequence[int], total: float, tolerance: float) -> int | None:
    """Returns the raise nearest to a total, None if it is not near, or another is about as near."""
    first, *others = sorted(raises, key=lambda action: abs(action - total))
    distance = abs(first - total)
    is_clear = not others or abs(others[0] - total) > CLEARLY * distance
    return first if distance <= tolerance and is_clear else None


def _name_action(rules: BettingRules, node: BettingNode, action: int) -> str:
    state = node.state
    if action <= CALL:
        return FOLD_TEXT if action == FOLD else (CALL_TEXT if to_call(state) else CHECK_TEXT)
    if action == _all_in(rules, state):
        return ALL_IN_TEXT
    verb = "raise" if bet_in_round(state) else "bet"
    if rules.is_limit:  # there is one size
        return verb
    percent = 100 * (action - state.price) / pot_after_call(state)
    for name in (f"{verb} {percent:.0f}%", f"{verb} {percent:.1f}%"):
        if _find_raise(name, rules, node) == action:
            return name
    return f"{'raise to' if bet_in_round(state) else 'bet'} {action - state.base}"


def _steps(tree: BettingTree, line: Line) -> Iterator[str]:
    path = []
    node = tree.nodes[line.node]
    while node.parent != NO_PARENT:
        path.append(node)
        node = tree.nodes[node.parent]
    for node in reversed(path):
        above = tree.nodes[node.parent]
        if node.action == DEALING:
            first, last = above.state.street.num_board_cards, node.state.street.num_board_cards
            yield f"[{format_board(line.board[first:last])}]"
        else:
            yield _name_action(tree.rules, above, node.action)


def _where(tree: BettingTree, node: int) -> str:
    """Returns a place in words, cards left open."""
    steps = [step for step in format_open_line(tree, node) if step != "[*]"]
    return f"after {', '.join(steps)!r}" if steps else "at the root"
