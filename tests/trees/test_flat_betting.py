# SPDX-License-Identifier: Apache-2.0
"""Flat betting trees against the rules of games/holdem, node by node."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.games.holdem import BettingRules, Street
from equipoise.trees.holdem.flat_betting import FlatBetting, MenuByPlayers
from tests.reference.flat_betting import list_nodes

SIX = BettingRules(stacks=(1000,) * 6, small_blind=5, big_blind=10)
FOUR = BettingRules(stacks=(1000,) * 4, small_blind=5, big_blind=10, last_street=Street.FLOP)
LEDUC = BettingRules(
    stacks=(100,) * 3,
    pot=3,
    small_blind=0,
    big_blind=1,
    bet_sizes=(2, 2, 2, 4),
    max_raises=(2,),
    first_street=Street.TURN,
)
CASES = {
    "heads-up": (BettingRules(stacks=(400, 400), small_blind=5, big_blind=10), "50%, 100%, a / 100%, a; cap: 3", {}),
    "unequal": (BettingRules(stacks=(90, 300, 170), small_blind=5, big_blind=10), "100%, a; river: a", {}),
    "short blinds": (BettingRules(stacks=(4, 9, 30, 60), small_blind=5, big_blind=10), "min, a; cap: 2", {}),
    "antes": (BettingRules(stacks=(200, 200, 60), small_blind=5, big_blind=10, ante=3), "2.5x, 50%, a; cap: 2", {}),
    "geometric": (BettingRules(stacks=(500, 500), small_blind=5, big_blind=10), "2e, e / a; count: actions", {}),
    "donks": (
        BettingRules(stacks=(300, 300, 200), small_blind=5, big_blind=10, last_street=Street.TURN),
        "75%, 33c; oop donk: 25%; ip cap: 1; merge: 20%; force: 30%; limp: none; cap: 2",
        {},
    ),
    "limit": (LEDUC, "min", {}),
    "crowded": (FOUR, "100%; flop: 50%, a / a; cap: 2", {4: "100%; cap: 1"}),
}


@pytest.mark.parametrize("name", CASES)
def test_every_node_is_that_of_the_rules(name: str) -> None:
    rules, menu, crowded = CASES[name]
    menus = MenuByPlayers.parse(menu, crowded)
    betting = FlatBetting(rules=rules, menus=menus)
    found = list_nodes(rules, menus)
    arrays, counts = betting.arrays, betting.counts

    assert counts.nodes == len(found.nodes)
    assert np.array_equal(arrays.nodes, np.array(found.nodes))
    assert np.array_equal(arrays.width, found.width)
    assert np.array_equal(arrays.side_pots, np.array(found.side_pots).reshape(-1, rules.num_players))
    is_decision = arrays.ending == 0
    by_street = [int((is_decision & (arrays.streets == street)).sum()) for street in range(4)]
    actions = [int(arrays.num_actions[is_decision & (arrays.streets == street)].sum()) for street in range(4)]
    assert counts.decisions == tuple(by_street)
    assert counts.actions == tuple(actions)
    assert counts.widest == arrays.num_actions.max()


def test_counting_does_not_build() -> None:
    rules = BettingRules(stacks=(10_000,) * 6)
    crowded = {4: "100%; cap: 2"}
    menus = MenuByPlayers.parse("33%, 66%, 100%, 200%, a / 50%, 100%, a / 100%, a / a", crowded)
    counts = FlatBetting(rules=rules, menus=menus).counts
    assert counts.nodes > 70_000_000
    assert counts.nodes == 1 + sum(counts.actions)


def test_what_does_not_fit_is_refused() -> None:
    betting = FlatBetting(rules=SIX, menus=MenuByPlayers.parse("50%, 100%, a; cap: 3"))
    with pytest.raises(GameTooLargeError, match="offer fewer sizes"):
        betting.check_size(10_000_000)
    with pytest.raises(ConfigError, match="larger chips"):
        FlatBetting(rules=BettingRules(stacks=(200_000, 200_000)), menus=MenuByPlayers.parse("a"))
    with pytest.raises(ConfigError, match="3 to 6 players"):
        MenuByPlayers.parse("a", {2: "a"})
