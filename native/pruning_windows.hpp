// SPDX-License-Identifier: Apache-2.0
// Windows in which a sequence is pruned: when they open, how they end, and what is caught up with then.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "pruning_state.hpp"

namespace equipoise {

class PrunedWindows : public PrunedState {
 public:
  using PrunedState::PrunedState;

 protected:
  // The player's sums below a sequence, in the opponent's units: at place 0 its own, then those of the slice's.
  struct Gains {
    InfosetSlice slice;
    std::int32_t root;             // the sequence
    std::int32_t first;            // first sequence of the slice
    std::vector<double> value;     // by place
    std::vector<double> reach;     // [slice] sum of pi_-i
    std::size_t place(std::int32_t sequence) const {
      return sequence == root ? 0 : 1 + static_cast<std::size_t>(sequence - first);
    }
  };

  // A sequence whose regret may be positive again, and the bound that says so.
  struct Ending {
    std::int32_t sequence;
    double bound;
  };

  // [B20] Eq. (3.20): whether enough iterations are likely to pass before a regret can be positive again.
  bool is_worth_pruning(const RegretRow& row, double regret, double largest) const {
    const double sum = row[RegretRow::cumulative_value] - row[RegretRow::cumulative_reach] * largest;
    return sum >= 0.0 || regret * total_ < settings_.threshold * sum;
  }

  // Whether an action that is not pruned, other than the excepted one, is sure to be played.
  static bool has_positive(const RegretRow& row, int except = -1) {
    for (int a = 0; a < row.num_actions; ++a) {
      if (a != except && !row.is_pruned(a) && row.regret()[a] > 0.0) return true;
    }
    return false;
  }

  // Whether something else is played if an action is not. Where all regrets are negative regret-based pruning waits, if
  // it is to: they rise and fall together there. Best-response pruning knows better than a regret how bad an action is.
  bool has_alternative(const RegretRow& row, int action) const {
    const bool is_by_regret = settings_.kind == PruningKind::regret && settings_.policy_map != PolicyMap::hedge;
    return is_by_regret && settings_.needs_positive ? has_positive(row, action) : row.strategy()[action] == 0.0;
  }

  bool is_below_pruned(std::int32_t sequence) {
    const PruningInfoset* place = &form_.infosets[form_.sequence_infoset[sequence]];
    for (; place->above >= 0; place = &form_.infosets[place->above]) {
      if (!has_regrets(place->above) || regrets(place->above).is_pruned(place->above_action)) return true;
    }
    return false;
  }

  void open(int player, std::int32_t sequence) {
    if (settings_.kind == PruningKind::best_response) return open_by_response(player, sequence);
    Gains gains = catch_up(player, sequence);
    close_windows_below(gains);
    const RegretRow row = regrets(form_.sequence_infoset[sequence]);
    row.gate()[form_.action(sequence)] = row.regret()[form_.action(sequence)];
    row.strategy()[form_.action(sequence)] = -0.0;
    ++counters_.num_opened;
  }

  void close(int player, const Ending& ending) {
    if (settings_.kind == PruningKind::best_response) return close_by_response(player, ending);
    Gains gains = catch_up(player, ending.sequence);
    const std::int32_t infoset = form_.sequence_infoset[ending.sequence];
    const RegretRow row = regrets(infoset);
    const int a = form_.action(ending.sequence);
    close_window(ending, gains);
    const double missing = row.regret()[a] - ceiling(infoset, row, a);
    if (missing < 0.0 && has_alternative(row, a) && is_worth_pruning(row, missing, form_.largest[ending.sequence])) {
      row.gate()[a] = row.regret()[a];  // the snapshot is in hand
      ++counters_.num_extended;
      return;
    }
    form_strategy(infoset, row);
    ++counters_.num_closed;
  }

  // Sums over all iterations of the player's values of terminals below a sequence, against what it has faced.
  Gains traverse(int player, std::int32_t sequence) {
    ++traversal_;
    Gains gains{form_.below[sequence], sequence, form_.first_below(form_.below[sequence]), {}, {}};
    gains.value.assign(1 + static_cast<std::size_t>(form_.num_below(gains.slice)), 0.0);
    gains.reach.assign(static_cast<std::size_t>(gains.slice.size()), 0.0);
    num_touched_ = 0;
    for (std::int32_t k = form_.entry_start[sequence]; k < form_.entry_start[sequence + 1]; ++k) {
      const std::int32_t other = form_.entry_other[k];
      const std::int32_t infoset = form_.sequence_infoset[other];
      double reach = faced_sum(1 - player).sum;
      if (infoset >= 0) {
        settle_path(infoset);
        reach = has_average(infoset) ? averages(infoset).faced()[form_.action(other)] : 0.0;
      }
      if (reach != 0.0) gather(player, form_.cells[form_.entry_child[k]], reach, gains.value.data(), gains);
    }
    counters_.nodes_last_iteration += num_touched_;
    counters_.overhead_nodes += num_touched_;
    return gains;
  }

  // `reach` is the sum of the opponent's realisation weights.
  void gather(int player, const PruningCell& step, double reach, double* own, Gains& gains) {
    ++num_touched_;
    if (step.link < 0) {
      *own += step.weight * reach;
      return;
    }
    const PruningCell* node = form_.cells.data() + step.link;
    const PruningCell* children = node + 1;
    const int num_children = node->num_children;
    if (node->link < 0) {
      for (int a = 0; a < num_children; ++a) gather(player, children[a], reach, own, gains);
    } else if (node->actor == player) {
      double* value = gains.value.data() + gains.place(form_.infosets[node->link].first_sequence);
      gains.reach[node->link - gains.slice.begin] += node->weight * reach;
      for (int a = 0; a < num_children; ++a) gather(player, children[a], reach, value + a, gains);
    } else {
      settle_path(node->link);
      if (!has_average(node->link)) return;
      const double* faced = averages(node->link).faced();
      for (int a = 0; a < num_children; ++a) {
        if (faced[a] != 0.0) gather(player, children[a], faced[a], own, gains);
      }
    }
  }

  // Takes snapshots at a sequence and everything below, from which windows can begin, and returns what the player's
  // values have come to since those taken before. [B20] 3.3.3.
  Gains catch_up(int player, std::int32_t sequence) {
    Gains gains = traverse(player, sequence);
    const double scale = 1.0 / faced_sum(1 - player).unit;
    const auto subtract_snapshot = [&](std::int32_t q) {
      double& value = gains.value[gains.place(q)];
      const double before = snapshot_[q];
      snapshot_[q] = value;
      value = sign(player) * scale * (value - before);
    };
    subtract_snapshot(sequence);
    for (std::int32_t q = gains.first; q < gains.first + form_.num_below(gains.slice); ++q) subtract_snapshot(q);
    for (double& reach : gains.reach) reach *= scale;
    return gains;
  }

  void close_windows_below(Gains& gains) {
    for (std::int32_t below = gains.slice.begin; below < gains.slice.end; ++below) {
      const RegretRow row = regrets(below);
      if (!row.has_pruned()) continue;
      settle_path(below);
      refresh(row);
      for (int a = 0; a < row.num_actions; ++a) {
        if (!row.is_pruned(a)) continue;
        close_window({form_.infosets[below].first_sequence + a, row.gate()[a]}, gains);
        ++counters_.num_closed;
      }
      form_strategy(below, row);
    }
  }

  // Adds the best value of each information set of a slice to that of the sequence above, children first.
  void back_up_best(InfosetSlice slice, Gains& gains) const {
    for (std::int32_t below = slice.end; below-- > slice.begin;) {
      gains.value[gains.place(form_.parent_sequence[below])] += best_value(below, gains);
    }
  }

  double best_value(std::int32_t infoset, const Gains& gains) const {
    const double* value = gains.value.data() + gains.place(form_.infosets[infoset].first_sequence);
    return *std::max_element(value, value + form_.infosets[infoset].num_actions);
  }

  // Deals with the iterations in which a sequence was pruned as if one best response to the opponent's average over
  // them had been played in each: regrets below can only fall. `gains` holds values since then, at least those below.
  void close_window(const Ending& ending, Gains& gains) {
    const InfosetSlice slice = form_.below[ending.sequence];
    back_up_best(slice, gains);
    for (std::int32_t below = slice.begin; below < slice.end; ++below) {
      settle_path(below);
      const RegretRow row = regrets(below);
      const double* value = gains.value.data() + gains.place(form_.infosets[below].first_sequence);
      const double best = best_value(below, gains);
      refresh(row);
      for (int a = 0; a < row.num_actions; ++a) row.regret()[a] += value[a] - best;
      row[RegretRow::cumulative_value] += best;
      row[RegretRow::cumulative_reach] = gains.reach[below - gains.slice.begin];
      observe(below, best / static_cast<double>(std::max<std::int64_t>(1, t_ - last_seen(below))), t_);
      form_strategy(below, row);
    }
    const RegretRow row = regrets(form_.sequence_infoset[ending.sequence]);
    const int a = form_.action(ending.sequence);
    row.regret()[a] += gains.value[gains.place(ending.sequence)];
    row.gate()[a] = 1.0;
    counters_.largest_excess = std::max(counters_.largest_excess, row.regret()[a] - ending.bound);
  }

  // What a best response below a sequence, to all that was faced so far, would have earned: T psi of [B20] 3.5.1.
  Gains respond(int player, std::int32_t sequence) {
    Gains gains = traverse(player, sequence);
    const double scale = 1.0 / faced_sum(1 - player).unit;
    for (double& value : gains.value) value *= sign(player) * scale;
    for (double& reach : gains.reach) reach *= scale;
    back_up_best(gains.slice, gains);
    ++counters_.num_checks;
    return gains;
  }

  // [B20] Eq. (3.27): prunes, and frees what is below, if even the best response does worse than what was played.
  void open_by_response(int player, std::int32_t sequence) {
    const Gains gains = respond(player, sequence);
    const RegretRow row = regrets(form_.sequence_infoset[sequence]);
    const int a = form_.action(sequence);
    const double regret = gains.value[0] - row[RegretRow::cumulative_value];
    if (!(regret <= 0.0) || !is_worth_pruning(row, regret, form_.largest[sequence])) {
      const auto t = static_cast<double>(t_);
      row.gate()[a] = t + std::max(10.0, t / 10.0);
      return;
    }
    row.gate()[a] = regret;
    row.strategy()[a] = -0.0;
    for (std::int32_t below = gains.slice.begin; below < gains.slice.end; ++below) {
      if (has_regrets(below)) settle_path(below);
    }
    for (std::int32_t below = gains.slice.begin; below < gains.slice.end; ++below) {
      if (!has_regrets(below)) continue;
      regrets_[player].release(below);
      walked_[player].release(below);
    }
    ++counters_.num_opened;
  }

  // Prunes on if Eq. (3.27) still holds; else sets regrets below as if the best response had always been played.
  void close_by_response(int player, const Ending& ending) {
    const Gains gains = respond(player, ending.sequence);
    const std::int32_t infoset = form_.sequence_infoset[ending.sequence];
    const int a = form_.action(ending.sequence);
    const double regret = gains.value[0] - regrets(infoset)[RegretRow::cumulative_value];
    counters_.largest_excess = std::max(counters_.largest_excess, regret - ending.bound);
    if (regret <= 0.0) {
      regrets(infoset).gate()[a] = regret;
      ++counters_.num_extended;
      return;
    }
    for (std::int32_t below = gains.slice.begin; below < gains.slice.end; ++below) create(player, below, gains);
    const RegretRow row = regrets(infoset);  // creating rows has moved it
    row.regret()[a] = regret;
    row.gate()[a] = 1.0;
    form_strategy(infoset, row);
    ++counters_.num_closed;
  }

  // [B20] Eq. (3.30)
  void create(int player, std::int32_t infoset, const Gains& gains) {
    regrets_[player].allocate(infoset);
    walked_[player].allocate(infoset);
    const RegretRow row = regrets(infoset);
    const double* value = gains.value.data() + gains.place(form_.infosets[infoset].first_sequence);
    const double best = best_value(infoset, gains);
    for (int a = 0; a < row.num_actions; ++a) row.regret()[a] = value[a] - best;
    std::fill_n(row.gate(), row.num_actions, 1.0);
    row[RegretRow::cumulative_value] = best;
    row[RegretRow::cumulative_reach] = gains.reach[infoset - gains.slice.begin];
    stamp(row);
    form_strategy(infoset, row);
    if (has_average(infoset)) return;
    averages_[player].allocate(infoset);
    const AverageRow average = averages(infoset);
    average[AverageRow::average_mark] = average_above(infoset);
    if (average.has_faced) average[AverageRow::faced_mark] = faced_above(infoset);
  }

  std::int64_t num_touched_ = 0;  // by the present walk
};

}  // namespace equipoise
