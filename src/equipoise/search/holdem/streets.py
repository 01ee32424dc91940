# SPDX-License-Identifier: Apache-2.0
"""Hold'em a street at a time: what public states between streets are worth, so that no search looks beyond its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import NOBODY, BettingRules, BettingState, Street
from equipoise.games.holdem.betting_tree import DEALING, NO_PARENT, BettingNode, BettingTree, NodeKind
from equipoise.games.holdem.menus import Menu
from equipoise.kernels.frontier import BeliefBatch
from equipoise.search.holdem.leaves import HoldemState
from equipoise.search.leaves import LeafEvaluator
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.joint import CardRemoval

__all__ = ["StreetLeaves", "StreetStart", "plant_root"]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreetLeaves:
    """Who says what is worth what, by street; a search that has these builds only the street that it is on.

    Paper: Moravcik et al. 2017, "DeepStack"; Zarick et al. 2020, "Unlocking the Potential of Deep Counterfactual Value
        Networks", sections 2.3 and 4.3.
    Symbols: the value network of a round -> `ends`, behind `AfterDeal` if it is asked after the card; opponent's
        counterfactual values -> alternatives of the next search; its gadget's range -> `Resolve.share` and its prior.
    Departs from the paper: after a card the opponent's values are those that an evaluator of the beginning of the
        street has for both ranges of the last search, in place of an average over its iterations: lines that are
        valued before the card have no values for each card. Where there is no such network the street is solved for
        these ranges instead, and its values are taken. The prior that is mixed into the gate is the opponent's range
        of the last search, behind its action if the search knew it.
    Checked by: tests/search/test_holdem_streets.py.
    """

    ends: Mapping[Street, LeafEvaluator]
    # lines that leave a street, asked before the next cards; a street that has none is solved to the end of the hand
    starts: Mapping[Street, LeafEvaluator] = dataclasses.field(default_factory=dict)
    # public states with which a street begins: what the opponent is promised there, once the cards have come

    def start_of(self, street: Street) -> LeafEvaluator:
        """Returns who values the beginning of a street."""
        if street not in self.starts:
            raise ConfigError(f"nothing says what the beginning of the {street.name.lower()} is worth")
        return self.starts[street]


def plant_root(rules: BettingRules, menu: Menu, state: BettingState) -> BettingTree:
    """Returns a decision behind which nothing is known yet, not even what can be bet."""
    root = BettingNode(
        index=0,
        parent=NO_PARENT,
        action=DEALING,
        kind=NodeKind.DECISION,
        state=state,
        actions=(),
        children=(),
        folder=NOBODY,
    )
    return BettingTree(rules=rules, menu=menu, nodes=(root,))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreetStart:
    """The public state with which a street begins, before any search of it: what an evaluator says of both ranges.

    Reaches count as shares of a range, as on a subgame's tree.
    """

    place: HoldemPlace
    state: HoldemState
    joint: CardRemoval
    reach: tuple[FloatArray, FloatArray]  # [H] both players'
    evaluator: LeafEvaluator

    strategy = None  # nobody has one

    def _share(self, player: int) -> FloatArray:
        share: FloatArray = self.reach[player] / self.reach[player].sum()
        return share

    def mass(self, player: int) -> FloatArray:
        """Returns `[H]` the other's range, summing to 1, less the hands that share a card with each of a player's."""
        return self.joint.mass(player, self._share(1 - player))

    def best_values(self, player: int, strategy: Any) -> FloatArray:
        """Refuses: no best response is known."""
        raise ConfigError("values at the beginning of a street are estimates: only SelfPlay() can have them")

    def strategy_values(self, player: int, own: Any, strategy: Any) -> FloatArray:
        """Returns `[H]` what the evaluator says that a player's hands are worth."""
        shares = [self._share(each)[None] for each in (0, 1)]
        counts = np.full((1, 2), shares[0].size, np.int32)
        batch = BeliefBatch(states=[self.state], reach=(shares[0], shares[1]), num_private=counts, joint=[self.joint])
        values: FloatArray = self.evaluator.evaluate(batch).cfv[player][0]
        return values
