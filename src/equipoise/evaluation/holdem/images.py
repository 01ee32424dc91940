# SPDX-License-Identifier: Apache-2.0
"""Where a hand with any bets stands in a betting tree that may lack them: nodes that it is taken for, in shares.

For guesses only: nothing is drawn, and what is taken for what changes how well hands are guessed, never what is true.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final, NamedTuple

from equipoise.abstraction.translation import translate_action
from equipoise.games.holdem.betting import (
    CALL,
    BettingRules,
    BettingState,
    Stage,
    apply_action,
    initial_betting,
    next_street,
)
from equipoise.games.holdem.betting_tree import BettingNode, BettingTree, NodeKind

__all__ = ["LOST", "ImageWalk", "Point"]

LOST: Final = -1  # no node of the tree is like the hand any more: it is guessed to be checked down
MOST_IMAGES: Final = 4
KEPT_STEPS: Final = 20_000


class Point(NamedTuple):
    """Where the betting of a hand stands, and which nodes of a betting tree it is taken for."""

    betting: BettingState
    images: tuple[tuple[int, float], ...]  # node or LOST, and its share; in sum 1


class ImageWalk:
    """Steps of hands, and of their images in a betting tree of the same cards and chips."""

    def __init__(self, betting: BettingTree | BettingRules) -> None:
        """Keeps a tree; of rules alone every hand is `LOST`."""
        self.nodes: Sequence[BettingNode] = betting.nodes if isinstance(betting, BettingTree) else ()
        self.rules: BettingRules = betting.rules if isinstance(betting, BettingTree) else betting
        self.act = functools.lru_cache(KEPT_STEPS)(self._act)
        self.deal = functools.lru_cache(KEPT_STEPS)(self._deal)

    def begin(self) -> Point:
        """Returns the beginning of a hand."""
        return Point(initial_betting(self.rules), ((0 if self.nodes else LOST, 1.0),))

    def _act(self, point: Point, action: int) -> Point:
        """Returns where a hand stands after an action."""
        after = apply_action(self.rules, point.betting, action)
        shares: dict[int, float] = {}
        for node, share in point.images:
            below = {LOST: 1.0} if node == LOST else self._step(self.nodes[node], point.betting, action, after)
            for image, part in below.items():
                shares[image] = shares.get(image, 0.0) + share * part
        return Point(after, _keep_largest(shares))

    def _step(self, here: BettingNode, betting: BettingState, action: int, after: BettingState) -> dict[int, float]:
        """Returns the nodes below one that an action is taken to lead to, in shares."""
        if here.kind is not NodeKind.DECISION:
            # a small bet was taken for none: a call ends the real round too
            is_over = action == CALL and after.stage in (Stage.DEAL, Stage.SHOWDOWN)
            return {here.index if is_over else LOST: 1.0}
        if here.state.actor != betting.actor:
            return {LOST: 1.0}
        if here.state == betting and action in here.actions:
            shares = {action: 1.0}
        else:
            shares = translate_action(action, betting, here.state, here.actions)
        return {here.children[here.actions.index(own)]: share for own, share in shares.items()} or {LOST: 1.0}

    def _deal(self, point: Point) -> Point:
        """Returns where a hand stands after the cards of the next round."""
        shares: dict[int, float] = {}
        for node, share in point.images:
            is_next = node != LOST and self.nodes[node].kind is NodeKind.STREET_END
            image = self.nodes[node].children[0] if is_next else LOST
            shares[image] = shares.get(image, 0.0) + share
        return Point(next_street(self.rules, point.betting), tuple(shares.items()))


def _keep_largest(shares: dict[int, float]) -> tuple[tuple[int, float], ...]:
    """Returns the largest shares, in sum 1."""
    kept = sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:MOST_IMAGES]
    total = sum(share for _, share in kept)
    return tuple((node, share / total) for node, share in kept)
