# SPDX-License-Identifier: Apache-2.0
"""A hold'em tree and the history tree of the same spot, number by number.

The twin of native/holdem.hpp is CFR over single histories, which knows nothing of boards, tiles or sorted hands.
Regrets of a history tree carry the chances of the own hand and of the cards dealt since, ours do not.
"""

import itertools
import math

import numpy as np

from equipoise.games.holdem.cards import format_board, format_card
from equipoise.games.holdem.dealing import parse_ranges
from equipoise.games.holdem.hands import format_hand
from equipoise.games.holdem.isomorphism import find_symmetries, hand_permutation, permute_cards
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.holdem import TILE, BoardFields


def first_cell(fields, player):
    """Returns where the tables keep a player's hands on a board."""
    return fields[BoardFields._fields.index(f"first_cell_{player}")]


def num_hands(fields, player):
    """Returns the hands of a player on a board."""
    return fields[BoardFields._fields.index(f"num_hands_{player}")]


def spot_of(game):
    """Returns the spot that a game of hold'em for two plays."""
    ranges = Range.random(game._deck), Range.random(game._deck)
    if game.ranges:
        ranges = parse_ranges(game.ranges, game._deck, game._board)
    return HoldemSpot(
        board=game._board,
        pot=game.pot,
        stacks=game.stacks,
        ranges=ranges,
        menu=parse_menu(game.menu),
        big_blind=game.big_blind,
        small_blind=game.small_blind,
        ante=game.ante,
        bet_sizes=game.bet_sizes,
        max_raises=game.max_raises,
        last_street=game.betting_rules.last_street,
        deck=game._deck,
    )


def public_text(tree, cards, index):
    """Returns the public state of a betting node on a board, as the game writes it."""
    words = []
    node = tree.betting.nodes[index]
    while node.parent >= 0:
        above = tree.betting.nodes[node.parent]
        if node.state.street != above.state.street:
            new = cards[above.state.street.num_board_cards : node.state.street.num_board_cards]
            words.append(f"/{''.join(map(format_card, new))}:")
        else:
            words.append({0: "f", 1: "c"}.get(node.action, f"r{node.action}"))
        node = above
    start = f"{format_board(tree.spot.board)}:" if tree.spot.board else ""
    return start + "".join(reversed(words))


def chance_of(spot, cards):
    """Returns the chance that a board comes after the spot's, given two hands."""
    sizes = [size for size in (0, 3, 4, 5) if len(spot.board) <= size <= len(cards)]
    return math.prod(
        1 / math.comb(spot.deck.num_cards - 4 - few, many - few) for few, many in itertools.pairwise(sizes)
    )


class HoldemTwin:
    """Which cell of a hold'em tree is which sequence of the history tree."""

    def __init__(self, tree, history):
        self.tree, self.history = tree, history
        players = history.infoset_player().tolist()
        infosets = {
            (player, text): i for i, (player, text) in enumerate(zip(players, history.infoset_labels, strict=True))
        }
        cells, sequences, scales = [], [], []
        weights = [tree.spot.live_weights(player) for player in (0, 1)]
        for board, cards in enumerate(tree.boards):
            fields = tree.arrays.boards[board]
            chance = chance_of(tree.spot, cards) / tree.pair_weight
            for index, decision in tree.decisions.items():
                if decision.street != fields[0]:
                    continue
                player = decision.player
                num_cells = tree.arrays.streets[decision.street, 2 + player]
                public = public_text(tree, cards, index)
                for row, hand in enumerate(tree.hands[board][player].tolist()):
                    infoset = infosets.get((player, f"{format_hand(hand, tree.spot.deck)}|{public}"))
                    if infoset is None:  # every hand of the other player shares a card with it
                        continue
                    first = first_cell(fields, player) + (row // TILE) * num_cells * TILE + row % TILE
                    for action in range(decision.num_actions):
                        cells.append(first + (decision.first_cell + action) * TILE)
                        sequences.append(history.first_sequence[infoset] + action)
                        scales.append(weights[player][hand] * weights[1 - player].sum() * chance)
        self.cells, self.sequences, self.scales = np.array(cells), np.array(sequences), np.array(scales)
        assert len(set(sequences)) == history.num_actions.sum()

    def to_cells(self, values, *, is_regret=False, dtype=np.float64):
        """Returns a table over cells from numbers over sequences."""
        table = np.zeros(self.tree.arrays.num_cells, dtype)
        table[self.cells] = values[self.sequences] / (self.scales if is_regret else 1.0)
        return table

    def to_sequences(self, table, *, is_regret=False):
        """Returns numbers over sequences from a table over cells."""
        values = np.zeros(int(self.history.sequence_start[-1]))
        values[self.sequences] = table[self.cells] * (self.scales if is_regret else 1.0)
        return values


def side_cells(tree, board, player):
    """Returns `[H, K]` where the tables keep a player's hands on a board, by (decision, action)."""
    fields = tree.arrays.boards[board]
    num_cells = tree.arrays.streets[fields[0], 2 + player]
    rows = np.arange(num_hands(fields, player))
    first = first_cell(fields, player) + (rows // TILE) * num_cells * TILE + rows % TILE
    return first[:, None] + TILE * np.arange(num_cells)


def used_cells(tree):
    """Returns every cell that is not padding."""
    boards = range(len(tree.boards))
    return np.concatenate([side_cells(tree, board, player).ravel() for board in boards for player in (0, 1)])


def expand_table(merged, plain, table):
    """Returns the table of a tree with all boards from that of a tree in which suits are merged."""
    spot = merged.spot
    group = find_symmetries(spot.board, spot.ranges, spot.deck)
    size = len(spot.board)
    index = {cards: board for board, cards in enumerate(merged.boards)}
    out = np.zeros(plain.arrays.num_cells, table.dtype)
    for board, cards in enumerate(plain.boards):
        for permutation in group:
            dealt = permute_cards(cards[size:], permutation).tolist()
            relabelled = (*spot.board, *sorted(dealt[:3]), *dealt[3:]) if not size else (*spot.board, *dealt)
            if relabelled in index:
                break
        there = index[relabelled]
        numbers = hand_permutation(permutation, spot.deck)
        for player in (0, 1):
            row_of = {hand: row for row, hand in enumerate(merged.hands[there][player].tolist())}
            rows = [row_of[hand] for hand in numbers[plain.hands[board][player]].tolist()]
            out[side_cells(plain, board, player)] = table[side_cells(merged, there, player)[rows]]
    return out
