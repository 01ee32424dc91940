# SPDX-License-Identifier: Apache-2.0
"""A hold'em tree and the history tree of the same spot, number by number.

The twin of native/holdem.hpp is CFR over single histories, which knows nothing of boards, tiles or sorted hands.
Regrets of a history tree carry the chances of the own hand and of the cards dealt since, ours do not.
"""

import itertools
import math

import numpy as np

from equipoise.agents.holdem.hands import hands_by_name
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.holdem.betting import CALL
from equipoise.games.holdem.betting_tree import DEALING
from equipoise.games.holdem.cards import format_board, format_card
from equipoise.games.holdem.dealing import parse_ranges
from equipoise.games.holdem.hands import format_hand, hands_of
from equipoise.games.holdem.isomorphism import find_symmetries, hand_permutation, permute_cards
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.public_text import parse_steps
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.holdem.arrays import TILE, BoardFields


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
        rows, row_infosets, row_scales = [], [], []
        counts = tree.arrays.node_rows
        first_rows = np.cumsum(counts).reshape(counts.shape) - counts
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
                nodes = [d.first_cell for d in tree.decisions.values() if d[:2] == decision[:2]]
                for row, hand in enumerate(tree.hands[board][player].tolist()):
                    infoset = infosets.get((player, f"{format_hand(hand, tree.spot.deck)}|{public}"))
                    if infoset is None:  # every hand of the other player shares a card with it
                        continue
                    first = first_cell(fields, player) + (row // TILE) * num_cells * TILE + row % TILE
                    place = (row // TILE) * len(nodes) + nodes.index(decision.first_cell)
                    rows.append(first_rows[board, player] + place * TILE + row % TILE)
                    row_infosets.append(infoset)
                    row_scales.append(weights[player][hand] * weights[1 - player].sum() * chance)
                    for action in range(decision.num_actions):
                        cells.append(first + (decision.first_cell + action) * TILE)
                        sequences.append(history.first_sequence[infoset] + action)
                        scales.append(row_scales[-1])
        self.cells, self.sequences, self.scales = np.array(cells), np.array(sequences), np.array(scales)
        self.rows, self.row_infosets, self.row_scales = np.array(rows), np.array(row_infosets), np.array(row_scales)
        assert len(set(sequences)) == history.num_actions.sum()

    def to_cells(self, values, *, is_regret=False, dtype=np.float64):
        """Returns a table over cells from numbers over sequences."""
        table = np.zeros(self.tree.arrays.num_cells, dtype)
        table[self.cells] = values[self.sequences] / (self.scales if is_regret else 1.0)
        return table

    def to_rows(self, values, power):
        """Returns a table over rows from numbers over information sets that go with a power of values."""
        table = np.zeros(self.tree.arrays.num_node_rows)
        table[self.rows] = values[self.row_infosets] / self.row_scales**power
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


def respond_to_locks(history, player, strategy, is_locked):
    """Returns the value of a player's best response that plays `strategy` where `is_locked` `[Q]`."""
    own = history.terminal_sequence[player]
    reach = history.terminal_chance * realize(history, strategy)[history.terminal_sequence[1 - player]]
    gains = np.bincount(own, reach * history.utility[player], minlength=strategy.size)
    for infoset in reversed(range(history.infoset_start[player], history.infoset_start[player + 1])):
        first = history.first_sequence[infoset]
        chosen = slice(first, first + history.num_actions[infoset])
        value = strategy[chosen] @ gains[chosen] if is_locked[first] else gains[chosen].max()
        gains[history.parent_sequence[infoset]] += value
    return gains[history.sequence_start[player]]


def answer(history, player, strategy, *, model=None, trust=None):
    """Returns the value of a player's best response, and it as `[Q]`: the first of the best actions, 0 elsewhere.

    With a model `[Q]`, each information set follows it with probability `trust` `[I]`.
    """
    own = history.terminal_sequence[player]
    reach = history.terminal_chance * realize(history, strategy)[history.terminal_sequence[1 - player]]
    gains = np.bincount(own, reach * history.utility[player], minlength=strategy.size)
    played = np.zeros(strategy.size)
    for infoset in reversed(range(history.infoset_start[player], history.infoset_start[player + 1])):
        first = history.first_sequence[infoset]
        chosen = slice(first, first + history.num_actions[infoset])
        played[first + np.argmax(gains[chosen])] = 1.0
        if trust is not None:
            played[chosen] = trust[infoset] * model[chosen] + (1 - trust[infoset]) * played[chosen]
        gains[history.parent_sequence[infoset]] += played[chosen] @ gains[chosen]
    return gains[history.sequence_start[player]], played


def values_of_actions(history, player, strategy):
    """Returns `[Q]` a player's counterfactual values of its sequences, given what both play."""
    own = history.terminal_sequence[player]
    reach = history.terminal_chance * realize(history, strategy)[history.terminal_sequence[1 - player]]
    gains = np.bincount(own, reach * history.utility[player], minlength=strategy.size)
    for infoset in reversed(range(history.infoset_start[player], history.infoset_start[player + 1])):
        first = history.first_sequence[infoset]
        chosen = slice(first, first + history.num_actions[infoset])
        gains[history.parent_sequence[infoset]] += strategy[chosen] @ gains[chosen]
    return gains


def realize(history, strategy):
    """Returns `[Q]` the own reach of every sequence."""
    reach = np.ones(strategy.size)
    for infoset in range(history.num_actions.size):
        first = history.first_sequence[infoset]
        for sequence in range(first, first + history.num_actions[infoset]):
            reach[sequence] = reach[history.parent_sequence[infoset]] * strategy[sequence]
    return reach


class PairwiseView:
    """A decision on a board, pair of hands by pair of hands, from the rules of the game alone."""

    def __init__(self, pair, game, strategy, cards, index):
        self.game, self.spot, self.index = game, pair.tree.spot, index
        history = pair.history
        self.strategy = {
            (player, label): strategy[first : first + size]
            for player, label, first, size in zip(
                history.infoset_player().tolist(),
                history.infoset_labels,
                history.first_sequence.tolist(),
                history.num_actions.tolist(),
                strict=True,
            )
        }
        self.steps = self.find_steps(pair.tree.betting, cards)
        shape = (hands_of(self.spot.deck).num_hands,) * 2
        # by pair of hands: reach of each player, utilities, the first player's share of a showdown
        self.reach, self.values, self.showdown = np.zeros((2, *shape)), np.zeros((2, *shape)), np.zeros(shape)
        for first in np.flatnonzero(self.spot.live_weights(0)):
            for second in np.flatnonzero(self.spot.live_weights(1)):
                self.fill(first, second, cards)

    def find_steps(self, betting, cards):
        """Returns the cards and actions that lead from the root to the decision."""
        steps, node = [], betting.nodes[self.index]
        while node.parent >= 0:
            above = betting.nodes[node.parent]
            dealt = cards[above.state.street.num_board_cards : node.state.street.num_board_cards]
            steps = [*(dealt or (node.action,)), *steps]
            node = above
        return steps

    def fill(self, first, second, cards):
        hands = hands_of(self.spot.deck)
        held = [*hands.cards[first].tolist(), *hands.cards[second].tolist()]
        if len({*held, *cards}) < 4 + len(cards):
            return
        state = self.game.initial_state()
        for card in held:
            state = self.game.apply(state, card)
        reach = [self.spot.live_weights(0)[first], self.spot.live_weights(1)[second]]
        for step in self.steps:
            actor = self.game.actor(state)
            if actor >= 0:
                chosen = self.strategy[actor, self.game.infostate(state, actor)]
                reach[actor] *= chosen[self.game.legal_actions(state).index(step)]
            state = self.game.apply(state, step)
        at = (slice(None), first, second)
        self.reach[at], self.values[at] = reach, self.value(state)
        self.showdown[first, second] = self.check_down(state)

    def value(self, state):
        actor = self.game.actor(state)
        if actor == TERMINAL:
            return np.array(self.game.returns(state))
        if actor == CHANCE:
            return sum(p * self.value(self.game.apply(state, a)) for a, p in self.game.chance_outcomes(state))
        chosen = self.strategy[actor, self.game.infostate(state, actor)]
        actions = self.game.legal_actions(state)
        return sum(p * self.value(self.game.apply(state, a)) for a, p in zip(actions, chosen, strict=True))

    def check_down(self, state):
        """Returns the first player's share of the pot if everybody calls from here on."""
        actor = self.game.actor(state)
        if actor == TERMINAL:
            return 0.5 + 0.5 * np.sign(self.game.returns(state)[0])
        if actor == CHANCE:
            return sum(p * self.check_down(self.game.apply(state, a)) for a, p in self.game.chance_outcomes(state))
        return self.check_down(self.game.apply(state, CALL))


def decode_table(tree, cells, exponents):
    """Returns a table of 16 bits as numbers, and the step between neighbouring numbers of each cell."""
    powers = np.where(exponents > 0, np.exp2(exponents.astype(np.float64) - 127), 0.0)
    unit = np.exp2(-14 if cells.dtype == np.int16 else -15)
    steps = np.zeros(cells.size)
    next_row = 0
    for fields in tree.arrays.boards:
        for player in (0, 1):
            num_cells = tree.arrays.streets[fields[0], 2 + player]
            nodes = [d for d in tree.decisions.values() if (d.street, d.player) == (fields[0], player)]
            num_tiles = -(-num_hands(fields, player) // TILE)
            rows = powers[next_row : next_row + num_tiles * len(nodes) * TILE].reshape(num_tiles, len(nodes), TILE)
            next_row += rows.size
            by_cell = np.repeat(rows, [decision.num_actions for decision in nodes], axis=1)
            first = first_cell(fields, player)
            steps[first : first + num_tiles * num_cells * TILE] = by_cell.ravel() * unit
    return cells * steps, steps


class PublicTwin:
    """Which cells of a hold'em tree are which row of the public tree in which the same game's suits are merged."""

    def __init__(self, tree, public):
        self.tree, self.public = tree, public
        self.places = []  # cells of the hold'em tree [H, A], cells of the public tree [A]
        numbers = hands_by_name(tree.spot.deck)
        for row, label in enumerate(public.infoset_labels):
            hand, _, text = label.partition("|")
            steps, board = parse_steps(text)
            index, relabelling = tree.locate(board or tree.spot.board)
            node = 0
            for step in steps:
                at = tree.betting.nodes[node]
                node = at.children[0] if step == DEALING else at.children[at.actions.index(step)]
            player = tree.decisions[node].player
            there = hand_permutation(relabelling, tree.spot.deck)[numbers[hand]]
            held = tree.hands[index][player]
            first = tree.arrays.boards[index, BoardFields._fields.index(f"first_hand_{player}")]
            orbit = tree.arrays.value_row[first : first + held.size]
            same = np.flatnonzero(orbit == orbit[np.flatnonzero(held == there)[0]])
            cells = public.sequence_cell[public.infoset_start[row] : public.infoset_start[row + 1]]
            self.places.append((tree.cells(index, node)[same], cells))
        # the same as two lists, hand by hand and action by action
        self.cells = np.concatenate([ours.ravel() for ours, _ in self.places])
        self.public_cells = np.concatenate([np.tile(theirs, len(ours)) for ours, theirs in self.places])
        assert np.unique(self.cells).size == self.cells.size == used_cells(tree).size

    def to_cells(self, strategy, dtype=np.float64):
        """Returns `[C]` over hands what a table over the public tree has."""
        table = np.zeros(self.tree.arrays.num_cells, dtype)
        table[self.cells] = strategy[self.public_cells]
        return table
