# SPDX-License-Identifier: Apache-2.0
"""The texts of hold'em's public states, taken apart: which bets were made, and which cards lie on the board.

`Holdem.public_state` writes them; `r300c/Ks7h2d:c` is a raise to 300, a call, a flop and a check.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from equipoise.core.errors import ParseError
from equipoise.games.holdem.betting import CALL, FOLD
from equipoise.games.holdem.betting_tree import DEALING, NO_PARENT, BettingTree, NodeKind
from equipoise.games.holdem.cards import NUM_CARDS, format_card

__all__ = ["PublicText", "lines_of", "parse_public_text", "parse_steps"]

CARDS_PATTERN: Final = re.compile(r"((?:[2-9TJQKA][cdhs])+):")  # a raise such as r209c has no colon behind it
# within a line; the deal that opens a hand is no step, and 0 and 1 are no raises: they stand for fold and call
STEP_PATTERN: Final = re.compile(r"f|c|r([1-9][0-9]{1,17}|[2-9])|(:)")
CARD_OF: Final[Mapping[str, int]] = {format_card(card): card for card in range(NUM_CARDS)}


class PublicText(NamedTuple):
    """A public state: its bets, with the cards taken out, and its cards."""

    line: str
    board: tuple[int, ...]  # in the order in which they came


def parse_public_text(text: str) -> PublicText:
    """Returns the parts of a public state after the deal of the hole cards.

    >>> parse_public_text("r300c/Ks7h2d:c")
    PublicText(line='r300c/:c', board=(47, 22, 1))
    """
    if ":" not in text:
        return PublicText(text, ())
    pieces = CARDS_PATTERN.findall(text)
    cards = [CARD_OF[piece[i : i + 2]] for piece in pieces for i in range(0, len(piece), 2)]
    return PublicText(CARDS_PATTERN.sub(":", text), tuple(cards))


def parse_steps(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the actions of a public state, `DEALING` between rounds, and the board.

    >>> parse_steps("r300c/Ks7h2d:c")
    ((300, 1, -1, 1), (47, 22, 1))
    """
    line, board = parse_public_text(text)
    steps: list[int] = []
    place = 0
    for match in STEP_PATTERN.finditer(line.replace("/", "")):
        if match.start() != place:
            break
        place = match.end()
        word = match.group()
        if word != ":":
            steps.append(int(match[1]) if match[1] else {"f": FOLD, "c": CALL}[word])
        elif match.start() > 0:
            steps.append(DEALING)
    if place != len(line.replace("/", "")):
        raise ParseError(f"{text!r} is no public state of hold'em; they look like r300c/Ks7h2d:c or Ks7h2d:cr500")
    return tuple(steps), board


def lines_of(tree: BettingTree) -> dict[str, int]:
    """Returns the node of each line of bets, written as in `PublicText`."""
    lines: list[str] = []
    for node in tree.nodes:
        if node.parent == NO_PARENT:
            text = ":" if node.state.street else ""
        elif node.action == DEALING:
            text = f"{lines[node.parent]}:"
        else:
            text = lines[node.parent] + {FOLD: "f", CALL: "c"}.get(node.action, f"r{node.action}")
        lines.append(text + "/" if node.kind is NodeKind.STREET_END else text)
    return {line: index for index, line in enumerate(lines)}
