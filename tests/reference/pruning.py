# SPDX-License-Identifier: Apache-2.0
"""Pruned CFR by full passes: values are computed everywhere, and what pruning hides is ignored.

The twin of native/pruning.hpp. Windows, resets and counts of nodes follow sections 3.3 and 3.5 of Brown's thesis to the
letter, but nothing is lazy: averages, discounts and the others' cumulative strategies are exact arrays at any time.
"""

import dataclasses

import numpy as np

from equipoise.kernels.rules import Fallback
from equipoise.solvers.best_response import bind_history_kernel, evaluate
from equipoise.solvers.payoffs import payoff_ranges
from equipoise.solvers.pruning import PruningKind, ZeroReach
from equipoise.trees.segments import flatten_ranges
from tests.reference.pruning_forest import Forest

FIRST_BACK_OFF = 10  # iterations between two checks whether best-response pruning may start, and at least a tenth


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a pass of one player over the whole tree finds."""

    reach: np.ndarray  # [Q] own realization weights of both players
    values: np.ndarray  # [Q] the player's counterfactual values
    infoset_values: np.ndarray  # [I] under the strategy that is played there
    cf_reach: np.ndarray  # [I]
    is_visited: np.ndarray  # [I] whether a pass that prunes comes there
    is_live: np.ndarray  # [N] and at which nodes


class PruningTwin:
    """A run with the surface of `PrunedSolver`, and everything inside it to be looked at."""

    def __init__(self, tree, rule, *, pruning, is_alternating=True, catches_up=True):
        self.tree, self.rule, self.pruning, self.is_alternating = tree, rule, pruning, is_alternating
        self.catches_up = catches_up  # False: a wrong one, that forgets what happened while an action was pruned
        self.forest = Forest(tree)
        self.kernel = bind_history_kernel(tree)
        self.ranges = payoff_ranges(tree)
        sequences, infosets = self.forest.num_sequences, self.forest.num_infosets
        self.cells = flatten_ranges(tree.first_sequence, tree.num_actions)  # sequences but the empty ones
        self.firsts = np.concatenate([[0], np.cumsum(tree.num_actions)[:-1]])
        self.regret, self.strategy_sum = np.zeros(sequences), np.zeros(sequences)
        self.strategy = self.kernel.normalize(self.regret)
        self.faced = np.zeros(sequences)  # sums of reaches, weighted like regrets, as the other player met them
        self.value_sum, self.reach_sum = np.zeros((2, infosets))
        self.weight_sum = np.zeros(2)
        self.is_pruned = np.zeros(sequences, bool)
        self.bound, self.snapshot, self.value_at_start = np.zeros((3, sequences))
        self.next_check = np.zeros(sequences)
        self.is_dropped = np.zeros(infosets, bool)  # averages
        self.iteration = self.nodes_touched = self.overhead_nodes = self.nodes_last_iteration = 0
        self.num_opened = self.num_closed = self.next_drop = 0
        self.largest_excess = self.largest_increment = -np.inf  # of a regret over its bound, of a regret in a window
        self.visits = np.zeros(infosets, int)

    @property
    def regret_sum(self):
        """Returns `[Q]` regrets, and what bounds them where they are not followed."""
        return np.where(self.is_pruned, self.bound, self.regret)

    @property
    def floors(self):
        return self.rule.kernel.floors_regrets

    @property
    def has_windows(self):
        return self.pruning.kind in {PruningKind.REGRET, PruningKind.BEST_RESPONSE}

    @property
    def prunes_leaves(self):
        if self.pruning.prunes_leaves is not None:
            return self.pruning.prunes_leaves
        return not (self.floors and self.pruning.kind is PruningKind.REGRET)

    @property
    def is_hidden(self):
        """Returns `[I]` what lies below pruned sequences."""
        return self.forest.mark_below(self.is_pruned)

    @property
    def num_cells_in_use(self):
        """Returns how many regrets and sums of strategies must be kept."""
        counts = self.tree.num_actions
        drops_regrets = self.pruning.kind is PruningKind.BEST_RESPONSE
        regrets = counts[~self.is_hidden] if drops_regrets else counts
        return int(regrets.sum() + counts[~self.is_dropped].sum())

    def iterate(self, num_iterations):
        for _ in range(num_iterations):
            self.iteration += 1
            before = self.nodes_touched
            if self.is_alternating:
                for player in (0, 1):
                    self.update(player, self.look(player))
            else:
                seen = [self.look(player) for player in (0, 1)]
                if self.pruning.walks_once:
                    self.nodes_touched = before + int((seen[0].is_live | seen[1].is_live).sum())
                for player in (0, 1):
                    self.update(player, seen[player])
            if self.pruning.kind is PruningKind.BEST_RESPONSE:
                self.drop_averages()
            self.nodes_last_iteration = self.nodes_touched - before

    def look(self, player):
        forest, tree = self.forest, self.tree
        reach = forest.realize(self.strategy)
        ends = forest.sum_terminals(player, reach)
        takes_best = self.find_best_responders()
        values, infoset_values = forest.back_up(ends, self.strategy, takes_best=takes_best, is_shut=self.is_pruned)
        own, other = forest.node_sequence[player], forest.node_sequence[1 - player]
        is_open = forest.realize(np.where(self.is_pruned, 0.0, 1.0)) > 0
        if self.pruning.kind is PruningKind.NONE:
            is_live = np.ones(tree.actor.size, bool)
        else:
            is_live = (reach[other] > 0) & is_open[own]
        self.nodes_touched += int(is_live.sum())
        nodes = forest.decisions[player]
        is_visited = np.bincount(tree.infoset[nodes], is_live[nodes], forest.num_infosets) > 0
        self.visits += is_visited
        cf_reach = forest.sum_reach(player, reach)
        return Seen(
            reach=reach,
            values=values,
            infoset_values=infoset_values,
            cf_reach=cf_reach,
            is_visited=is_visited,
            is_live=is_live,
        )

    def find_best_responders(self):
        """Returns `[I]` the information sets in which a best response is played instead of the regrets."""
        forest, kind = self.forest, self.pruning.zero_reach
        if kind is ZeroReach.OFF:
            return np.zeros(forest.num_infosets, bool)
        is_chosen = (self.strategy == 0.0) & (forest.infoset_of >= 0)
        if kind is ZeroReach.STRICT:
            factor = 1.0 if self.floors else self.rule.discounts(self.iteration).negative
            is_chosen &= self.regret * factor <= -forest.spread(self.ranges)
        return forest.mark_below(is_chosen)

    def update(self, player, seen):
        forest = self.forest
        mine = forest.player_of == player
        discount = self.rule.discounts(self.iteration)
        self.strategy_sum[mine] = (
            discount.average_decay * self.strategy_sum[mine] + discount.average_weight * seen.reach[mine]
        )
        self.discount_sums(player, discount)
        self.faced[~mine] += seen.reach[~mine]
        self.weight_sum[player] += 1.0
        is_seen = ~self.is_hidden & (forest.infoset_player == player)
        instant = seen.values - forest.spread(seen.infoset_values)
        live = forest.spread(is_seen, at_empty=False) & ~self.is_pruned
        self.regret[live] = self.add_regret(self.regret[live], instant[live])
        self.value_sum[is_seen] += seen.infoset_values[is_seen]
        self.reach_sum[is_seen] += seen.cf_reach[is_seen]
        at = self.is_pruned & mine
        self.bound[at] += (forest.spread(seen.cf_reach) * forest.largest - forest.spread(seen.infoset_values))[at]
        if self.pruning.kind is PruningKind.REGRET:
            self.prune_by_regret(player, seen.is_visited)
        elif self.pruning.kind is PruningKind.BEST_RESPONSE:
            self.prune_by_best_response(player, seen.is_visited)
        self.strategy[mine] = self.play()[mine]

    def discount_sums(self, player, discount):
        """Discounts what is weighted like regrets; pruned regrets are negative, so their factor is that of sums."""
        forest = self.forest
        mine, negative = forest.player_of == player, discount.negative
        if self.floors:
            negative = 1.0  # what is forgotten there are regrets, not iterations
        factor = np.where(self.regret > 0, discount.positive, negative)
        self.regret[mine] *= factor[mine]
        for sums in (self.bound, self.snapshot, self.value_at_start):
            sums[mine] *= negative
        self.faced[~mine] *= negative
        for sums in (self.value_sum, self.reach_sum):
            sums[forest.infoset_player == player] *= negative
        self.weight_sum[player] *= negative

    def add_regret(self, regret, instant):
        if not self.floors:
            return regret + instant
        if self.has_windows:  # [B20] 3.3.4: negative, but positive once it begins to rise
            return np.where((instant > 0) & (regret <= 0), instant, regret + instant)
        return np.maximum(regret + instant, 0.0)

    def prune_by_regret(self, player, is_visited):
        forest = self.forest
        totals = forest.sum_terminals(player, self.faced)
        due = self.is_pruned & (forest.player_of == player) & (self.bound > 0)
        starting = self.find_candidates(player, is_visited)  # beside actions that were open in this iteration
        self.close(player, due, totals)
        is_extended = self.extend(player, due)
        self.num_closed += int((due & ~is_extended).sum())
        self.is_pruned[due] = is_extended[due]
        self.begin_windows(is_extended, totals)
        starting &= ~forest.spread(forest.mark_below(starting))
        below = forest.spread(forest.mark_below(starting))
        nested = self.is_pruned & below
        self.close(player, nested, totals)
        self.is_pruned &= ~nested
        self.num_closed += int(nested.sum())
        self.num_opened += int(starting.sum())
        self.is_pruned |= starting
        self.begin_windows(starting, totals)
        self.charge(player, due)
        self.charge(player, starting)

    def begin_windows(self, starting, totals):
        forest = self.forest
        self.snapshot = np.where(starting | forest.spread(forest.mark_below(starting)), totals, self.snapshot)
        self.bound[starting] = self.regret[starting]
        self.value_at_start[starting] = forest.spread(self.value_sum)[starting]

    def close(self, player, closing, totals):
        """Plays, in all iterations that windows hid, a best response to the others' average over the window."""
        if not closing.any() or not self.catches_up:
            return
        forest = self.forest
        values, infoset_values = forest.respond(totals - self.snapshot)
        below = forest.mark_below(closing)
        inside = forest.spread(below)
        increments = (values - forest.spread(infoset_values))[inside]
        self.regret[inside] += increments
        self.value_sum[below] += infoset_values[below]
        self.reach_sum[below] = forest.sum_reach(player, self.faced)[below]
        earned = forest.spread(self.value_sum) - self.value_at_start
        self.regret[closing] += (values - earned)[closing]
        self.largest_increment = max(self.largest_increment, increments.max(initial=-np.inf))
        self.record_excess((self.regret - self.bound)[closing])

    def record_excess(self, excesses):
        self.largest_excess = max(self.largest_excess, excesses.max(initial=-np.inf))

    def extend(self, player, due):
        """Returns `[Q]` which of the windows that have just closed may open again at once."""
        is_extended = np.zeros_like(due)
        is_worth = self.is_worth_pruning(player, self.regret)
        is_open = ~self.is_pruned
        for sequence in np.flatnonzero(due):  # a sibling that was dealt with before may be the one that is played
            beside = self.forest.infoset_of == self.forest.infoset_of[sequence]
            has_other = (beside & is_open & (self.regret > 0)).any() or not self.pruning.needs_positive
            is_extended[sequence] = has_other and self.regret[sequence] < 0 and is_worth[sequence]
            is_open[sequence] = not is_extended[sequence]
        return is_extended

    def prune_by_best_response(self, player, is_visited):
        forest = self.forest
        best, infoset_best = forest.respond(forest.sum_terminals(player, self.faced))  # T psi
        gain = best - forest.spread(self.value_sum)
        due = self.is_pruned & (forest.player_of == player) & (self.bound > 0)
        checked = self.find_candidates(player, is_visited) & (self.next_check <= self.iteration)
        self.record_excess((gain - self.bound)[due])
        self.bound[due] = gain[due]
        self.resume(player, due & (gain > 0), gain, best, infoset_best)
        starting = checked & (gain <= 0) & self.is_worth_pruning(player, gain)
        below = forest.mark_below(starting)
        inside = forest.spread(below)
        starting &= ~inside
        checked &= ~inside
        self.next_check[checked & ~starting] = self.iteration + max(FIRST_BACK_OFF, self.iteration / 10)
        self.next_check[inside | starting] = 0.0
        self.is_pruned = (self.is_pruned & ~inside) | starting
        self.bound[starting] = gain[starting]
        self.regret[inside] = 0.0
        self.num_opened += int(starting.sum())
        self.charge(player, due)
        self.charge(player, checked)

    def resume(self, player, ending, gain, best, infoset_best):
        """Sets regrets as if a best response to the others' average had been played from the first iteration."""
        forest = self.forest
        below = forest.mark_below(ending)
        inside = forest.spread(below)
        self.regret[ending] = gain[ending]
        self.regret[inside] = (best - forest.spread(infoset_best))[inside]
        self.value_sum[below] = infoset_best[below]
        self.reach_sum[below] = forest.sum_reach(player, self.faced)[below]
        self.is_pruned &= ~ending
        self.num_closed += int(ending.sum())

    def find_candidates(self, player, is_visited):
        """Returns `[Q]` the actions worth pruning: visited, with a negative regret, beside one that is played."""
        forest = self.forest
        is_ready = is_visited & (forest.infoset_player == player)
        if self.pruning.kind is PruningKind.REGRET and self.pruning.needs_positive:
            largest = np.maximum.reduceat(np.where(self.is_pruned, -np.inf, self.regret)[self.cells], self.firsts)
            is_ready &= largest > 0
        candidates = forest.spread(is_ready, at_empty=False) & ~self.is_pruned & (self.regret < 0)
        candidates &= self.play() == 0  # all but the largest, if all are negative
        # floored regrets do not say how bad an action is: a best response has to
        if not self.floors or self.pruning.kind is PruningKind.REGRET:
            candidates &= self.is_worth_pruning(player, self.regret)
        return candidates if self.prunes_leaves else candidates & forest.has_infosets_below

    def is_worth_pruning(self, player, regret):
        """Returns `[Q]` whether pruning is expected to last for longer than the threshold, [B20] (3.20)."""
        forest = self.forest
        rise = forest.spread(self.reach_sum) * forest.largest - forest.spread(self.value_sum)  # of the bound, so far
        return (rise <= 0) | (-regret * self.weight_sum[player] > self.pruning.least_window * rise)

    def drop_averages(self):
        """Forgets the averages of pruned actions that are reached too rarely to matter."""
        if self.iteration < self.next_drop:
            return
        self.next_drop = self.iteration + max(1, self.iteration // 16)
        self.is_dropped &= self.is_hidden  # the others were made anew
        for infoset in np.flatnonzero(~self.is_dropped):
            if not self.is_dropped[infoset]:
                self.drop_at(infoset)

    def drop_at(self, infoset):
        """Hands what is dropped to the other actions, in proportion, and to everything below them."""
        forest, tree = self.forest, self.tree
        sequences = np.arange(tree.first_sequence[infoset], tree.first_sequence[infoset] + tree.num_actions[infoset])
        start = tree.sequence_start[forest.infoset_player[infoset]]
        limit = self.pruning.discard / self.iteration**self.pruning.discard_exponent
        children = [np.flatnonzero(tree.parent_sequence == sequence) for sequence in sequences]
        lost = self.is_pruned[sequences] | self.is_hidden[infoset]
        lost &= np.array([below.size > 0 and not self.is_dropped[below[0]] for below in children])
        for sums in self.both_sums:
            lost &= sums[sequences] <= limit * sums[start]
        shares = [(sums, sums[sequences][lost].sum(), sums[sequences][~lost].sum()) for sums in self.both_sums]
        if not lost.any() or any(given > 0 and kept <= 0 for _, given, kept in shares):
            return
        flags = np.isin(np.arange(forest.num_sequences), sequences[lost])
        below = forest.mark_below(flags)
        others = np.isin(np.arange(forest.num_sequences), sequences[~lost])
        others |= forest.spread(forest.mark_below(others))
        self.is_dropped |= below
        for sums, given, kept in shares:
            sums[flags | forest.spread(below)] = 0.0
            sums[others] *= 1.0 + given / kept if given > 0 else 1.0

    @property
    def both_sums(self):
        return self.strategy_sum, self.faced

    def charge(self, player, sequences):
        """Counts the nodes below sequences, as far as the other player ever reached them."""
        is_live = self.faced[self.forest.node_sequence[1 - player]] > 0
        nodes = self.forest.count_nodes_below(player, sequences, is_live)
        self.nodes_touched += nodes
        self.overhead_nodes += nodes

    def play(self):
        """Returns `[Q]` regret matching over the actions that are not pruned."""
        forest, cells = self.forest, self.cells
        regret = np.where(self.is_pruned, -np.inf, self.regret)
        out = np.maximum(regret, 0.0)
        total = np.add.reduceat(out[cells], self.firsts)
        is_open = ~self.is_pruned
        if (self.has_windows and self.pruning.needs_positive) or self.rule.kernel.fallback is Fallback.ARGMAX:
            best = np.maximum.reduceat(regret[cells], self.firsts)
            places = np.where(regret == forest.spread(best), np.arange(regret.size), regret.size)
            chosen = np.minimum.reduceat(places[cells], self.firsts)
            fallback = np.zeros(regret.size)
            fallback[chosen] = 1.0
        else:
            counts = np.add.reduceat(is_open[cells].astype(float), self.firsts)
            fallback = is_open / forest.spread(counts, at_empty=1.0)
        sums = forest.spread(total, at_empty=1.0)
        strategy = np.where(sums > 0, out / np.where(sums > 0, sums, 1.0), fallback)
        return np.where(forest.infoset_of >= 0, strategy, 1.0)

    def average_strategy(self):
        return self.kernel.normalize(self.strategy_sum)

    def current_strategy(self):
        return self.strategy.copy()

    def evaluate(self):
        return evaluate(self.tree, self.average_strategy(), kernel=self.kernel)
