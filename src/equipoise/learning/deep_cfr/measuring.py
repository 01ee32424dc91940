# SPDX-License-Identifier: Apache-2.0
"""How exploitable a network's play is in hold'em on small decks, exactly: it is asked at every information state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import GameTooLargeError
from equipoise.games.base import Game
from equipoise.games.holdem.merged_suits import SuitMergedHoldem
from equipoise.games.holdem.rules import Holdem
from equipoise.learning.deep_cfr.encoding import HoldemEncoder
from equipoise.solvers.best_response import Evaluation, bind_public_kernel, evaluate
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_edges import write_policy

__all__ = ["HoldemMeasure", "find_measure"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Ask = Callable[[npt.NDArray[Any], BoolArray], FloatArray]  # features [B, F], legal outputs [B, A] -> strategies [B, A]

MOST_CARDS: Final = 16  # of a deck: pairs of hands on every board are a matrix
MOST_NODES: Final = 50_000  # public states


class HoldemMeasure:
    """All information states of hold'em on a small deck, up to the names of suits.

    What differs by the names of suits alone is asked once, under one of its names.
    """

    def __init__(self, game: Holdem) -> None:
        """Builds the tree and encodes its information states; raises `GameTooLargeError` if they are too many."""
        if len(game.stacks) != 2 or game.card_deck.num_cards > MOST_CARDS:
            raise GameTooLargeError(f"hold'em is measured for two players and at most {MOST_CARDS} cards")
        form, encoder = SuitMergedHoldem(game), HoldemEncoder(game)
        self.tree = build_public_tree(form, max_nodes=MOST_NODES)
        self.kernel = bind_public_kernel(self.tree)
        self.nodes = np.flatnonzero(np.asarray(self.tree.actor) >= 0).tolist()
        self.outputs: list[list[int]] = []
        rows, legal = [], []
        for node in self.nodes:
            state, actor = self.tree.states[node], int(self.tree.actor[node])
            outputs = encoder.outputs([form.action_class(state, action) for action in form.legal_actions(state)])
            self.outputs.append(outputs)
            count = form.num_private(state, actor)
            rows.append(np.stack([encoder.encode(actor, form.infostate(state, actor, one)) for one in range(count)]))
            is_legal = np.zeros((count, encoder.num_actions), np.bool_)
            is_legal[:, outputs] = True
            legal.append(is_legal)
        self.features = np.concatenate(rows).astype(np.float16)
        self.is_legal = np.concatenate(legal)
        self.counts = [len(one) for one in rows]

    def evaluate(self, ask: Ask) -> Evaluation:
        """Returns the exact quality of what is played."""
        strategy, played = np.array(self.tree.legal_share), ask(self.features, self.is_legal)
        begin = 0
        for node, outputs, count in zip(self.nodes, self.outputs, self.counts, strict=True):
            write_policy(self.tree, node, played[begin : begin + count][:, outputs], strategy)
            begin += count
        return evaluate(self.tree, strategy, kernel=self.kernel)


def find_measure(game: Game[Any]) -> HoldemMeasure | None:
    """Returns how a game without a tree of histories is measured exactly, None if it cannot be."""
    if not isinstance(game, Holdem):
        return None
    try:
        return HoldemMeasure(game)
    except GameTooLargeError:
        return None
