# SPDX-License-Identifier: Apache-2.0
"""The thesis's small games of search, with their blueprints."""

import dataclasses

import numpy as np

from equipoise.games.coin_toss import CoinToss, CoinTossState
from equipoise.games.registry import make_game
from equipoise.search.public import PublicProfile
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree

COIN_TOSS_BLUEPRINT = {  # Figure 5.2
    "heads|sell or play": (1 / 4, 3 / 4),
    "tails|sell or play": (1 / 2, 1 / 2),
    "guess": (1 / 2, 1 / 4, 1 / 4),
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OneOrTen(CoinToss):
    """Section 5.1.5: of two replies one leaves both sides a hundredth below 1 and 10, the other 1.01 and 0."""

    def returns(self, state: CoinTossState):
        if len(state.path) < 3:
            return CoinToss.returns(self, state)
        value = ((0.99, 1.01, 20.0), (9.99, 0.0, 20.0))[state.path[0]][state.path[2]]
        return (value, -value)


def make_blueprint(game, rows):
    """Returns a blueprint with given probabilities at information states by name, uniform elsewhere."""
    tree = build_public_tree(derive_public_game(game))
    strategy = tree.legal_share.copy()
    for infoset, label in enumerate(tree.infoset_labels):
        cells = tree.sequence_cell[tree.infoset_start[infoset] : tree.infoset_start[infoset + 1]]
        if label in rows:
            strategy[cells] = rows[label]
    return PublicProfile(tree, strategy)


def coin_toss():
    """Returns Coin Toss's blueprint and the root of its subgame."""
    blueprint = make_blueprint(make_game("coin_toss"), COIN_TOSS_BLUEPRINT)
    return blueprint, blueprint.tree.public_labels.index("guess")


def two_coin_tosses():
    """Returns the blueprint of Figure 5.4's game and the roots of its subgames; selling tails pays nothing."""
    even = {f"guess in subgame {k}": (1 / 2, 1 / 2, 0) for k in (1, 2)}
    blueprint = make_blueprint(make_game("coin_toss", subgames=2, sell_tails=0.0), even)
    labels = blueprint.tree.public_labels
    return blueprint, [labels.index("guess in subgame 1"), labels.index("guess in subgame 2")]


def second_round(tree):
    """Returns the nodes of a tree at which a player opens a round that chance has begun in public."""
    return [int(node) for node in np.flatnonzero((tree.actor >= 0) & (tree.actor[tree.parent] == -1)) if node]


def played(subgame, strategy):
    """Returns the probabilities at a subgame whose root is its only decision."""
    return strategy[subgame.tree.sequence_cell]
