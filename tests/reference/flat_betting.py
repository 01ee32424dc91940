# SPDX-License-Identifier: Apache-2.0
"""The twin of flat betting trees: the rules of games/holdem, one Python object a state, in the order of the arrays."""

from __future__ import annotations

import dataclasses

from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    BettingRules,
    BettingState,
    Stage,
    apply_action,
    initial_betting,
    next_street,
    pot,
)
from equipoise.games.holdem.menus import menu_actions
from equipoise.trees.holdem.flat_betting import MenuByPlayers

FOLD_END, SHOWDOWN, SIDE_POTS = 1, 2, 3


@dataclasses.dataclass
class FlatNodes:
    """What `BettingArrays` keep."""

    rules: BettingRules
    menus: MenuByPlayers
    nodes: list[list[int]]
    width: list[int]
    side_pots: list[tuple[int, ...]]
    states: list[BettingState]


def list_nodes(rules: BettingRules, menus: MenuByPlayers) -> FlatNodes:
    """Returns the nodes of a tree, a street's subtree first and then, last come first, what follows it."""
    root = initial_betting(rules)
    flat = FlatNodes(rules, menus, [[0, 0, 0, 0]], [], [], [root])
    pending = [0]
    while pending:
        node = pending.pop()
        slot = len(flat.width)
        flat.width += [0] * rules.num_players
        _grow(flat, node, slot, pending)
    return flat


def _grow(flat: FlatNodes, node: int, first_slot: int, pending: list[int]) -> None:
    state = flat.states[node]
    left = flat.rules.num_players - sum(state.is_folded)
    actions = menu_actions(flat.rules, flat.menus.at(left), state)
    first, slot = len(flat.nodes), first_slot + state.actor
    before = flat.nodes[node][3]
    packed = before | state.street << 2 | state.actor << 4 | (FOLD in actions) << 7 | (CALL in actions) << 8
    flat.nodes[node] = [first, slot, flat.width[slot], packed | len(actions) << 9]
    flat.width[slot] += len(actions)
    flat.nodes += [[0, 0, 0, 0] for _ in actions]
    flat.states += [state for _ in actions]
    for place, action in enumerate(actions, start=first):
        after = apply_action(flat.rules, state, action)
        is_dealt = after.stage is Stage.DEAL
        while after.stage is Stage.DEAL:
            after = next_street(flat.rules, after)
        flat.nodes[place][3] = after.committed[state.actor] << 14
        flat.states[place] = after
        if after.stage is not Stage.ACT:
            flat.nodes[place] = _end(flat, after, flat.nodes[place][3])
        elif is_dealt:
            pending.append(place)
        else:
            _grow(flat, place, first_slot, pending)


def _end(flat: FlatNodes, state: BettingState, packed: int) -> list[int]:
    left = [seat for seat, is_folded in enumerate(state.is_folded) if not is_folded]
    mask = sum(1 << seat for seat in left)
    if state.stage is Stage.FOLD:
        return [pot(state), mask, 0, packed | FOLD_END | state.street << 2]
    if len({state.committed[seat] for seat in left}) == 1:
        return [pot(state), mask, 0, packed | SHOWDOWN | state.street << 2]
    flat.side_pots.append(state.committed)
    return [len(flat.side_pots) - 1, mask, 0, packed | SIDE_POTS | state.street << 2]
