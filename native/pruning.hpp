// SPDX-License-Identifier: Apache-2.0
// CFR that does not go where it need not: partial, regret-based and best-response pruning on a history tree.
//
// A walk visits the nodes that the opponent reaches and that the player has not pruned, and looks at no others; its
// cost is what it visits. Information sets that no walk meets keep their regrets, up to
// discounts, and so their strategy: sums of strategies and discounts are applied when somebody asks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "pruning_form.hpp"
#include "pruning_rows.hpp"
#include "pruning_tables.hpp"
#include "rule.hpp"

namespace equipoise {

enum class PruningKind : int { none = 0, partial = 1, regret = 2, best_response = 3 };
enum class ZeroReach : int { off = 0, strict = 1, all = 2 };

struct PruningSettings {
  PruningKind kind = PruningKind::partial;
  ZeroReach zero_reach = ZeroReach::off;
  PolicyMap policy_map = PolicyMap::regret_matching;  // or Hedge, which is pruned where it plays nothing
  Fallback fallback = Fallback::uniform;
  bool tracks_variance = false;  // Hedge alone
  bool floors_regrets = false;  // regret matching plus; where pruning needs negative regrets it keeps them
  bool is_alternating = true;
  bool shares_weights = false;  // iterations weigh the same in regrets and in the average
  bool prunes_leaves = true;    // also sequences without own information sets below
  double scale_share = 1.0;     // Hedge alone: of payoff ranges, what the deviation counts as at least
  double threshold = 0.0;       // fewest iterations, by estimate, for which a sequence is pruned
  double discard = 0.0;         // averages at most this over the iterations to the power `discard_exponent` are dropped
  double discard_exponent = 0.5;

  bool has_windows() const { return kind == PruningKind::regret || kind == PruningKind::best_response; }
};

// Sum of weights of the iterations so far; sums of strategies are kept in units in which old weights never change.
struct WeightSum {
  double sum = 0.0;
  double unit = 1.0;  // of an iteration that weighs 1 now
};

struct PruningCounters {
  std::int64_t nodes_touched = 0;
  std::int64_t nodes_last_iteration = 0;
  std::int64_t overhead_nodes = 0;  // of nodes_touched: to begin, to end and to check pruning
  std::int64_t num_opened = 0;
  std::int64_t num_closed = 0;      // went back to being walked
  std::int64_t num_extended = 0;    // were due to end and pruned again at once
  std::int64_t num_checks = 0;      // best-response pruning: values computed
  double largest_excess = -std::numeric_limits<double>::infinity();  // of a true regret over its bound
};

class PrunedRun {
 public:
  PrunedRun(PruningForm form, const PruningSettings& settings) : form_(std::move(form)), settings_(settings) {
    for (int player = 0; player < 2; ++player) {
      has_faced_[player] = settings_.has_windows() && !shares_sum(player);
      const std::int32_t first = form_.infoset_start[player];
      const std::int32_t last = form_.infoset_start[player + 1];
      std::vector<std::int32_t> regret_widths, walked_widths, average_widths;
      for (std::int32_t infoset = first; infoset < last; ++infoset) {
        regret_widths.push_back(RegretRow::width(form_.infosets[infoset].num_actions));
        walked_widths.push_back(RegretRow::walked_width(form_.infosets[infoset].num_actions));
        average_widths.push_back(AverageRow::width(form_.infosets[infoset].num_actions, has_faced_[player]));
      }
      regrets_.emplace_back(first, std::move(regret_widths));
      walked_.emplace_back(first, std::move(walked_widths));
      averages_.emplace_back(first, std::move(average_widths));
      visited_.emplace_back(first, last - first);
    }
    if (settings_.tracks_variance) moments_.resize(static_cast<std::size_t>(form_.num_infosets()));
    if (settings_.kind == PruningKind::regret) snapshot_.assign(static_cast<std::size_t>(form_.num_sequences()), 0.0);
    for (std::int32_t infoset = 0; infoset < form_.num_infosets(); ++infoset) {
      const RegretRow row = regrets(infoset);
      std::fill_n(row.gate(), row.num_actions, 1.0);
      std::fill_n(row.strategy(), row.num_actions, 1.0 / row.num_actions);
    }
  }

  const PruningForm& form() const { return form_; }
  const PruningCounters& counters() const { return counters_; }
  bool has_regrets(std::int32_t infoset) const { return regrets_[form_.owner(infoset)].has(infoset); }
  bool has_average(std::int32_t infoset) const { return averages_[form_.owner(infoset)].has(infoset); }
  RegretRow regrets(std::int32_t infoset) {
    const int player = form_.owner(infoset);
    return {regrets_[player].row(infoset), walked_[player].row(infoset), form_.infosets[infoset].num_actions};
  }
  AverageRow averages(std::int32_t infoset) {
    const int player = form_.owner(infoset);
    return {averages_[player].row(infoset), form_.infosets[infoset].num_actions, has_faced_[player]};
  }

  void iterate(const Discount* discounts, std::int64_t first_t, std::int64_t num_iterations) {
    for (std::int64_t k = 0; k < num_iterations; ++k) {
      begin_iteration(discounts[k], first_t + k);
      if (settings_.is_alternating) {
        for (int player = 0; player < 2; ++player) {
          face(1 - player);
          walk(player);
          add_to_average(player);
          update(player);
        }
      } else {
        for (int player = 0; player < 2; ++player) face(player);
        for (int player = 0; player < 2; ++player) add_to_average(player);
        for (int player = 0; player < 2; ++player) walk(player);
        for (int player = 0; player < 2; ++player) update(player);
      }
      end_iteration();
    }
  }

  // Overwrites `out` `[Q]` with the sums of strategies, weighed for the result with the last iteration as the unit.
  void write_average(double* out) {
    for (int player = 0; player < 2; ++player) {
      out[form_.sequence_start[player]] = average_[player].sum;
      for (std::int32_t infoset = form_.infoset_start[player]; infoset < form_.infoset_start[player + 1]; ++infoset) {
        double* sums = out + form_.infosets[infoset].first_sequence;
        std::fill_n(sums, form_.infosets[infoset].num_actions, 0.0);
        if (!has_average(infoset)) continue;
        const AverageRow row = averages(infoset);
        const double missing = out[form_.parent_sequence[infoset]] - row[AverageRow::average_mark];
        for (int a = 0; a < row.num_actions; ++a) {
          sums[a] = row.average()[a] + (has_regrets(infoset) ? missing * regrets(infoset).strategy()[a] : 0.0);
        }
      }
      const double scale = 1.0 / average_[player].unit;
      for (std::int32_t q = form_.sequence_start[player]; q < form_.sequence_start[player + 1]; ++q) out[q] *= scale;
      out[form_.sequence_start[player]] = 0.0;  // as in other tables, where nobody asks for it
    }
  }

  // Overwrites `out` `[Q]` with regrets discounted up to now, bounds where pruned, and 0 where there is no row.
  void write_regrets(double* out) {
    std::fill_n(out, form_.num_sequences(), 0.0);
    for_each_row([&](std::int32_t first, const RegretRow& row) {
      const Decay decay = decay_since(row);
      for (int a = 0; a < row.num_actions; ++a) {
        const double regret = row.is_pruned(a) ? row.gate()[a] : row.regret()[a];
        out[first + a] = regret * (regret > 0.0 ? decay.positive : decay.negative);
      }
    });
  }

  // Overwrites `out` `[Q]` with the strategy of the next iteration; uniform without a row, 1 at empty sequences.
  void write_strategy(double* out) {
    for (int player = 0; player < 2; ++player) out[form_.sequence_start[player]] = 1.0;
    for (const PruningInfoset& place : form_.infosets) {
      std::fill_n(out + place.first_sequence, place.num_actions, 1.0 / place.num_actions);
    }
    for_each_row([&](std::int32_t first, const RegretRow& row) {
      for (int a = 0; a < row.num_actions; ++a) out[first + a] = row.strategy()[a] + 0.0;  // no -0.0
    });
  }

  struct PrunedNow {
    std::int64_t num_sequences = 0;
    std::int64_t num_infosets = 0;
  };
  PrunedNow count_pruned() {
    PrunedNow now;
    for_each_row([&](std::int32_t first, const RegretRow& row) {
      for (int a = 0; a < row.num_actions; ++a) {
        if (!row.is_pruned(a)) continue;
        ++now.num_sequences;
        now.num_infosets += form_.below[first + a].size();
      }
    });
    return now;
  }

  // Everything from which a run goes on to the bit, as arrays; rows that are not there are zeros.
  struct State {
    double* clock;            // [num_clock]
    double* regret_scalars;   // [I, RegretRow::num_scalars]
    double* regret_cells;     // [3, Q] regrets, strategy, gates
    double* average_scalars;  // [I, AverageRow::num_scalars]
    double* average_cells;    // [2, Q] averages, faced
    double* snapshot;         // [Q] in regret-based pruning, else nothing
    double* has_rows;         // [I, 2] 1 where there are regrets, averages
    double* moments;          // [I, 3] of Hedge with a running variance, else nothing
  };
  static constexpr int num_clock = 24;

  std::size_t num_snapshots() const { return snapshot_.size(); }
  std::size_t num_moments() const { return moments_.size(); }

  // Copies the run into the state's arrays, or the other way round; which rows there are is a matter of the caller.
  template <bool is_saving>
  void transfer(const State& state) {
    const auto move = [](auto& ours, double& theirs) {
      if constexpr (is_saving) {
        theirs = static_cast<double>(ours);
      } else {
        ours = static_cast<std::remove_reference_t<decltype(ours)>>(theirs);
      }
    };
    const auto move_all = [&](double* ours, std::size_t count, double* theirs) {
      for (std::size_t k = 0; k < count; ++k) move(ours[k], theirs[k]);
    };
    double* clock = state.clock;
    for (double* number : {&positive_log_, &negative_log_, &total_, &next_discard_, &discount_.positive,
                           &discount_.negative, &average_[0].sum, &average_[0].unit, &average_[1].sum,
                           &average_[1].unit, &faced_[0].sum, &faced_[0].unit, &faced_[1].sum, &faced_[1].unit,
                           &counters_.largest_excess}) {
      move(*number, *clock++);
    }
    for (std::int64_t* count : {&t_, &traversal_, &counters_.nodes_touched, &counters_.nodes_last_iteration,
                                &counters_.overhead_nodes, &counters_.num_opened, &counters_.num_closed,
                                &counters_.num_extended, &counters_.num_checks}) {
      move(*count, *clock++);
    }
    const auto num_sequences = static_cast<std::size_t>(form_.num_sequences());
    for (std::int32_t infoset = 0; infoset < form_.num_infosets(); ++infoset) {
      const std::int32_t first = form_.infosets[infoset].first_sequence;
      if (has_regrets(infoset)) {
        const RegretRow row = regrets(infoset);
        const auto width = static_cast<std::size_t>(row.num_actions);
        move_all(row.base, RegretRow::num_scalars, state.regret_scalars + infoset * RegretRow::num_scalars);
        move_all(row.regret(), width, state.regret_cells + first);
        move_all(row.strategy(), width, state.regret_cells + num_sequences + first);
        move_all(row.gate(), width, state.regret_cells + 2 * num_sequences + first);
      }
      if (has_average(infoset)) {
        const AverageRow row = averages(infoset);
        const auto width = static_cast<std::size_t>(row.num_actions);
        move_all(row.base, AverageRow::num_scalars, state.average_scalars + infoset * AverageRow::num_scalars);
        move_all(row.average(), width, state.average_cells + first);
        if (row.has_faced) move_all(row.faced(), width, state.average_cells + num_sequences + first);
      }
    }
    move_all(snapshot_.data(), snapshot_.size(), state.snapshot);
    double* moment = state.moments;
    for (Moments& moments : moments_) {
      move(moments.mean, *moment++);
      move(moments.squares, *moment++);
      move(moments.last_t, *moment++);
    }
  }

  void save(const State& state) {
    for (std::int32_t infoset = 0; infoset < form_.num_infosets(); ++infoset) {
      state.has_rows[2 * infoset] = has_regrets(infoset) ? 1.0 : 0.0;
      state.has_rows[2 * infoset + 1] = has_average(infoset) ? 1.0 : 0.0;
    }
    transfer<true>(state);
  }

  void restore(const State& state) {
    for (std::int32_t infoset = 0; infoset < form_.num_infosets(); ++infoset) {
      const int player = form_.owner(infoset);
      fit_row(regrets_[player], infoset, state.has_rows[2 * infoset] != 0.0);
      fit_row(walked_[player], infoset, state.has_rows[2 * infoset] != 0.0);
      fit_row(averages_[player], infoset, state.has_rows[2 * infoset + 1] != 0.0);
    }
    compact();
    transfer<false>(state);
  }

  // What a run that did not begin with its first iteration has behind it.
  struct Beginning {
    std::int64_t t;              // iterations
    std::int64_t nodes_touched;
    double faced_weight;         // of all of them in negative regrets, the last one weighing 1
    double average_weight;       // of all of them in the average
    const double* regret;        // [Q]
    const double* value;         // [I] mean of v(I)
    const double* reach;         // [I] mean of pi_-i(I)
    const double* realization;   // [Q] mean of the players' strategies, in sequence form
  };

  // Overwrites the run with one after some iterations; nothing is pruned yet.
  void begin_after(const Beginning& past) {
    restart_clock(past);
    for (std::int32_t infoset = 0; infoset < form_.num_infosets(); ++infoset) {
      const int player = form_.owner(infoset);
      fit_row(regrets_[player], infoset, true);
      fit_row(walked_[player], infoset, true);
      fit_row(averages_[player], infoset, true);
      const std::int32_t first = form_.infosets[infoset].first_sequence;
      const RegretRow row = regrets(infoset);
      std::copy_n(past.regret + first, row.num_actions, row.regret());
      std::fill_n(row.gate(), row.num_actions, 1.0);
      row[RegretRow::responds] = 0.0;
      row[RegretRow::cumulative_value] = past.faced_weight * past.value[infoset];
      row[RegretRow::cumulative_reach] = past.faced_weight * past.reach[infoset];
      stamp(row);
      form_strategy(infoset, row);
      const AverageRow sums = averages(infoset);
      const double above = past.realization[form_.parent_sequence[infoset]];
      sums[AverageRow::average_mark] = past.average_weight * above;
      sums[AverageRow::faced_mark] = past.faced_weight * above;
      sums[AverageRow::settled] = 0.0;
      for (int a = 0; a < sums.num_actions; ++a) {
        if (sums.has_faced) sums.faced()[a] = past.faced_weight * past.realization[first + a];
        sums.average()[a] = past.average_weight * past.realization[first + a];
      }
    }
  }

  // Of all that depends on what is pruned, not of the tree.
  std::int64_t num_bytes() const {
    auto total = static_cast<std::int64_t>(snapshot_.capacity() * sizeof(double) + moments_.capacity() * sizeof(Moments));
    for (int player = 0; player < 2; ++player) {
      total += regrets_[player].num_bytes() + walked_[player].num_bytes() + averages_[player].num_bytes();
      total += visited_[player].num_bytes();
    }
    return total;
  }

 private:
  void restart_clock(const Beginning& past) {
    t_ = past.t;
    traversal_ = 0;
    discount_ = {};
    positive_log_ = negative_log_ = 0.0;
    total_ = past.faced_weight;
    next_discard_ = static_cast<double>(past.t);
    counters_ = {};
    counters_.nodes_touched = past.nodes_touched;
    for (int player = 0; player < 2; ++player) {
      average_[player] = {past.average_weight, 1.0};
      faced_[player] = {past.faced_weight, 1.0};
    }
    std::fill(moments_.begin(), moments_.end(), Moments{});
  }

  template <typename Use>
  void for_each_row(Use&& use) {
    for (std::int32_t infoset = 0; infoset < form_.num_infosets(); ++infoset) {
      if (has_regrets(infoset)) use(form_.infosets[infoset].first_sequence, regrets(infoset));
    }
  }

  static void fit_row(RowStore& store, std::int32_t infoset, bool is_wanted) {
    if (is_wanted && !store.has(infoset)) store.allocate(infoset);
    if (!is_wanted && store.has(infoset)) store.release(infoset);
  }

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

  static constexpr double largest_unit = 1e100;

  // Whether what the opponent has faced and the average are the same sum: at equal weights, unless the opponent is
  // already met with the strategy of the next iteration, as the first of two alternating players is.
  bool shares_sum(int player) const {
    return settings_.shares_weights && (!settings_.is_alternating || player == 1);
  }
  double sign(int player) const { return player == 0 ? 1.0 : -1.0; }
  const WeightSum& faced_sum(int player) const { return has_faced_[player] ? faced_[player] : average_[player]; }

  void begin_iteration(const Discount& discount, std::int64_t t) {
    t_ = t;
    discount_ = discount;
    if (settings_.floors_regrets) discount_.negative = 1.0;  // there are none, or they are kept as they are
    // at t = 1 nothing is stored that a factor of 0 could forget
    positive_log_ += discount_.positive > 0.0 ? std::log(discount_.positive) : 0.0;
    negative_log_ += discount_.negative > 0.0 ? std::log(discount_.negative) : 0.0;
    total_ = total_ * discount_.negative + 1.0;
    counters_.nodes_last_iteration = 0;
  }

  void end_iteration() {
    counters_.nodes_touched += counters_.nodes_last_iteration;
    if (settings_.kind != PruningKind::best_response) return;
    if (static_cast<double>(t_) >= next_discard_) discard_averages();
    compact();
  }

  void compact() {
    for (int player = 0; player < 2; ++player) {
      regrets_[player].compact();
      walked_[player].compact();
      averages_[player].compact();
    }
  }

  // The strategy that the opponent of `player` meets now enters the sum that its regrets are made of.
  void face(int player) {
    if (has_faced_[player]) {
      add_weight(player, faced_[player], discount_.negative, 1.0, true);
    } else if (settings_.has_windows()) {
      add_weight(player, average_[player], discount_.average_decay, discount_.average_weight, false);
    }
  }

  void add_to_average(int player) {
    if (settings_.has_windows() && !has_faced_[player]) return;  // done in `face`
    add_weight(player, average_[player], discount_.average_decay, discount_.average_weight, false);
  }

  void add_weight(int player, WeightSum& weights, double decay, double weight, bool is_faced) {
    if (!(decay > 0.0)) {
      rescale(player, is_faced, 0.0);
      weights = {};
    } else if (decay != 1.0) {
      weights.unit /= decay;
      if (weights.unit > largest_unit) {
        rescale(player, is_faced, 1.0 / weights.unit);
        weights = {weights.sum / weights.unit, 1.0};
      }
    }
    weights.sum += weights.unit * weight;
  }

  void rescale(int player, bool is_faced, double factor) {
    const double average_factor = is_faced ? 1.0 : factor;
    for (std::int32_t infoset = form_.infoset_start[player]; infoset < form_.infoset_start[player + 1]; ++infoset) {
      if (has_average(infoset)) scale_sums(averages(infoset), average_factor, is_faced ? factor : 1.0);
    }
    if (snapshot_.empty() || is_faced != has_faced_[player]) return;
    const int other = 1 - player;
    for (std::int32_t q = form_.sequence_start[other]; q < form_.sequence_start[other + 1]; ++q) snapshot_[q] *= factor;
  }

  // Adds the values of terminals to the player's sequences, and its information sets met to `visited_`.
  void walk(int player) {
    num_touched_ = 1;
    if (settings_.kind == PruningKind::none) {
      visit<false>(player, form_.cells.data(), 1.0, &unowned_);
    } else {
      visit<true>(player, form_.cells.data(), 1.0, &unowned_);
    }
    counters_.nodes_last_iteration += num_touched_;
  }

  // `reach` is the opponent's, `own` the value of the player's last sequence.
  template <bool is_pruning>
  void visit(int player, const PruningCell* node, double reach, double* own) {
    const PruningCell* children = node + 1;
    const int num_children = node->num_children;
    num_touched_ += num_children;
    const auto descend = [&](const PruningCell& child, double child_reach, double* child_own) {
      if (child.link < 0) {
        *child_own += child.weight * child_reach;
      } else {
        visit<is_pruning>(player, form_.cells.data() + child.link, child_reach, child_own);
      }
    };
    if (node->link < 0) {
      for (int a = 0; a < num_children; ++a) descend(children[a], reach, own);
      return;
    }
    const RegretRow row{nullptr, walked_[node->actor].row(node->link), num_children};
    const double* strategy = row.strategy();
    if (node->actor != player) {
      for (int a = 0; a < num_children; ++a) {
        const double child_reach = reach * strategy[a];
        if (is_pruning && child_reach == 0.0) {
          --num_touched_;
        } else {
          descend(children[a], child_reach, own);
        }
      }
      return;
    }
    visited_[player].insert(node->link);
    row.reach() += node->weight * reach;
    double* value = row.value();
    for (int a = 0; a < num_children; ++a) {
      if (is_pruning && std::signbit(strategy[a])) {
        --num_touched_;
      } else {
        descend(children[a], reach, value + a);
      }
    }
  }

  double average_above(std::int32_t infoset) {
    const PruningInfoset& place = form_.infosets[infoset];
    return place.above < 0 ? average_[form_.owner(infoset)].sum : averages(place.above).average()[place.above_action];
  }
  double faced_above(std::int32_t infoset) {
    const PruningInfoset& place = form_.infosets[infoset];
    return place.above < 0 ? faced_[form_.owner(infoset)].sum : averages(place.above).faced()[place.above_action];
  }

  // Hands down what has come in above since the last time: the strategy has been the same all along. The rows above
  // must be up to date, and the strategy must not have been changed yet.
  void settle(std::int32_t infoset) {
    if (!has_average(infoset) || !has_regrets(infoset)) return;
    const AverageRow row = averages(infoset);
    const double* strategy = regrets(infoset).strategy();
    const auto hand_down = [&](double above, double& mark, double* sums) {
      const double difference = above - mark;
      if (difference == 0.0) return;
      for (int a = 0; a < row.num_actions; ++a) sums[a] += difference * strategy[a];
      mark = above;
    };
    hand_down(average_above(infoset), row[AverageRow::average_mark], row.average());
    if (row.has_faced) hand_down(faced_above(infoset), row[AverageRow::faced_mark], row.faced());
  }

  // Likewise, the rows above first; once a traversal.
  void settle_path(std::int32_t infoset) {
    if (!has_average(infoset)) return;
    const AverageRow row = averages(infoset);
    const auto traversal = static_cast<double>(traversal_);
    if (row[AverageRow::settled] == traversal) return;
    const std::int32_t up = form_.infosets[infoset].above;
    if (up >= 0) settle_path(up);
    settle(infoset);
    row[AverageRow::settled] = traversal;
  }

  // Factors on positive and negative regrets since a row was last brought up to date, this iteration's included.
  struct Decay {
    double positive;
    double negative;
  };
  Decay decay_since(const RegretRow& row) const {
    const double missed = static_cast<double>(t_) - row[RegretRow::stamp];
    if (missed == 1.0) return {discount_.positive, discount_.negative};
    if (missed == 0.0) return {1.0, 1.0};
    const auto product = [](double now, double before) { return now == before ? 1.0 : std::exp(now - before); };
    return {product(positive_log_, row[RegretRow::positive_log]), product(negative_log_, row[RegretRow::negative_log])};
  }

  // Discounts everything at an information set up to this iteration.
  void refresh(const RegretRow& row) {
    const Decay decay = decay_since(row);
    for (int a = 0; a < row.num_actions; ++a) {
      if (row.is_pruned(a)) {
        row.regret()[a] *= decay.negative;
        row.gate()[a] *= decay.negative;
      } else {
        row.regret()[a] *= row.regret()[a] > 0.0 ? decay.positive : decay.negative;
      }
    }
    row[RegretRow::cumulative_value] *= decay.negative;
    row[RegretRow::cumulative_reach] *= decay.negative;
    stamp(row);
  }
  void stamp(const RegretRow& row) {
    row[RegretRow::stamp] = static_cast<double>(t_);
    row[RegretRow::positive_log] = positive_log_;
    row[RegretRow::negative_log] = negative_log_;
  }

  void update(int player) {
    // in the first iteration an information set that nobody reaches leaves its initial strategy for the fallback
    if (t_ == 1) {
      const std::int32_t end = form_.infoset_start[player + 1];
      for (std::int32_t k = form_.infoset_start[player]; k < end; ++k) visited_[player].insert(k);
    }
    visited_[player].for_each([&](std::int32_t infoset) {
      settle(infoset);
      decide_response(infoset);
    });
    closing_.clear();
    opening_.clear();
    visited_[player].drain_backwards([&](std::int32_t infoset) { update_infoset(player, infoset); });
    if (!settings_.has_windows()) return;
    for (const Ending& ending : closing_) close(player, ending);
    // parents first: below what is pruned now nothing else needs to be
    for (std::size_t k = opening_.size(); k-- > 0;) {
      if (!is_below_pruned(opening_[k])) open(player, opening_[k]);
    }
  }

  // [B20] 3.3.1: whether the player is at this information set with probability 0 and may as well respond best.
  void decide_response(std::int32_t infoset) {
    if (settings_.zero_reach == ZeroReach::off) return;
    double responds = 0.0;
    const std::int32_t up = form_.infosets[infoset].above;
    if (up >= 0) {
      const RegretRow above = regrets(up);
      const int a = form_.infosets[infoset].above_action;
      const bool is_far = settings_.zero_reach == ZeroReach::all ||
                          above.regret()[a] * decay_since(above).negative <= -form_.range[up];
      if (above[RegretRow::responds] != 0.0 || (above.strategy()[a] == 0.0 && is_far)) responds = 1.0;
    }
    regrets(infoset)[RegretRow::responds] = responds;
  }

  double expected_value(int player, const RegretRow& row) const {
    const double* value = row.value();
    if (row[RegretRow::responds] == 0.0) {
      double expected = 0.0;
      for (int a = 0; a < row.num_actions; ++a) expected += row.strategy()[a] * value[a];
      return sign(player) * expected;
    }
    double best = -std::numeric_limits<double>::infinity();
    for (int a = 0; a < row.num_actions; ++a) {
      if (!row.is_pruned(a)) best = std::max(best, sign(player) * value[a]);
    }
    return best;
  }

  void update_infoset(int player, std::int32_t infoset) {
    const RegretRow row = regrets(infoset);
    const double expected = expected_value(player, row);
    const PruningInfoset& place = form_.infosets[infoset];
    if (place.above >= 0) regrets(place.above).value()[place.above_action] += sign(player) * expected;
    const Decay decay = decay_since(row);
    const double* largest = form_.largest.data() + form_.infosets[infoset].first_sequence;
    double* regret = row.regret();
    double* gate = row.gate();
    for (int a = 0; a < row.num_actions; ++a) {
      const double value = sign(player) * row.value()[a];
      row.value()[a] = 0.0;
      if (gate[a] <= 0.0) {
        // [B20] Eq. (3.19): what is not walked is worth nothing in the regret until it is caught up with, and the most
        // that it could be worth in the bound
        regret[a] = regret[a] * decay.negative - expected;
        gate[a] = gate[a] * decay.negative + row.reach() * largest[a] - expected;
        if (gate[a] > 0.0) {
          closing_.push_back({form_.infosets[infoset].first_sequence + a, gate[a]});
          gate[a] = 0.0;  // stays pruned until it has been caught up with
        }
      } else {
        regret[a] = add_instant(regret[a], value - expected, decay);
      }
    }
    row[RegretRow::cumulative_value] = row[RegretRow::cumulative_value] * decay.negative + expected;
    row[RegretRow::cumulative_reach] = row[RegretRow::cumulative_reach] * decay.negative + row.reach();
    row.reach() = 0.0;
    stamp(row);
    observe(infoset, 0.0, t_ - 1);
    observe(infoset, expected, t_);
    if (settings_.policy_map == PolicyMap::hedge) end_by_threshold(infoset, row);
    form_strategy(infoset, row);
    if (settings_.has_windows()) propose(infoset, row);
  }

  // The strategy of the next iteration, in which pruned actions have no part.
  void form_strategy(std::int32_t infoset, const RegretRow& row) const {
    if (settings_.policy_map == PolicyMap::hedge) {
      hedge_open_actions(step(infoset), row);
    } else {
      match_open_actions(settings_.fallback, row);
    }
    if (discount_.threshold > 0.0) cut_small(threshold(infoset), row.num_actions, row.strategy());
  }

  double threshold(std::int32_t infoset) const {
    const int num_actions = form_.infosets[infoset].num_actions;
    return settings_.policy_map == PolicyMap::hedge
               ? play_threshold<PolicyMap::hedge>(discount_, num_actions)
               : play_threshold<PolicyMap::regret_matching>(discount_, num_actions);
  }

  // Of v(I), up to an iteration.
  struct Moments {
    double mean = 0.0;
    double squares = 0.0;  // sum of squared deviations
    std::int64_t last_t = 0;
  };

  // Takes v(I) of the iterations since the last time up to t, the same in each, into the running variance.
  void observe(std::int32_t infoset, double value, std::int64_t t) {
    if (!settings_.tracks_variance) return;
    Moments& moments = moments_[infoset];
    if (t <= moments.last_t) return;
    const double delta = value - moments.mean;
    const double share = static_cast<double>(t - moments.last_t) / static_cast<double>(t);
    moments.squares += delta * delta * share * static_cast<double>(moments.last_t);
    moments.mean += delta * share;
    moments.last_t = t;
  }

  std::int64_t last_seen(std::int32_t infoset) const { return settings_.tracks_variance ? moments_[infoset].last_t : 0; }

  // Hedge's eta for the next strategy.
  double step(std::int32_t infoset) const {
    double scale = form_.range[infoset];
    if (settings_.tracks_variance) {
      const double deviation = std::sqrt(moments_[infoset].squares / static_cast<double>(t_));
      scale = std::max(3.0 * deviation, scale * settings_.scale_share);
    }
    return unit_step(discount_, form_.infosets[infoset].num_actions) / std::max(scale, 1e-150);
  }

  // Up to which regret an action is sure not to be played, at most 0. For Hedge [B20] Eq. (3.21), solved for the regret of
  // the numerator; other pruned actions are left out of the denominator, which can only be more than what is left.
  double ceiling(std::int32_t infoset, const RegretRow& row, int action) const {
    if (settings_.policy_map != PolicyMap::hedge) return 0.0;
    const double regret = threshold_regret(step(infoset), threshold(infoset), action, row.num_actions, row.regret(),
                                           [&](int a) { return !row.is_pruned(a); });
    return std::min(regret, 0.0);
  }

  // Ends windows whose bound does not keep Hedge below its threshold any more: steps and thresholds fall.
  void end_by_threshold(std::int32_t infoset, const RegretRow& row) {
    for (int a = 0; a < row.num_actions; ++a) {
      const std::int32_t sequence = form_.infosets[infoset].first_sequence + a;
      if (!row.is_pruned(a) || row.gate()[a] == 0.0) continue;  // 0: ends already
      if (row.gate()[a] > ceiling(infoset, row, a)) closing_.push_back({sequence, row.gate()[a]});
    }
  }

  double add_instant(double stored, double instant, const Decay& decay) const {
    if (settings_.floors_regrets) {
      if (!settings_.has_windows()) return std::max(stored * decay.positive + instant, 0.0);
      // [B20] 3.3.4: plays as if floored, and remembers how far below zero it would be
      if (stored <= 0.0 && instant > 0.0) return instant;
    }
    return stored * (stored > 0.0 ? decay.positive : decay.negative) + instant;
  }

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

  // Whether something else is played if an action is not. Where all regrets are negative regret-based pruning waits: they
  // rise and fall together there. Best-response pruning knows better than a regret how bad an action is.
  bool has_alternative(const RegretRow& row, int action) const {
    const bool is_by_regret = settings_.kind == PruningKind::regret && settings_.policy_map != PolicyMap::hedge;
    return is_by_regret ? has_positive(row, action) : row.strategy()[action] == 0.0;
  }

  void propose(std::int32_t infoset, const RegretRow& row) {
    for (int a = 0; a < row.num_actions; ++a) {
      const std::int32_t sequence = form_.infosets[infoset].first_sequence + a;
      if (row.is_pruned(a) || row.gate()[a] > static_cast<double>(t_) || !(row.regret()[a] < 0.0)) continue;
      if (!has_alternative(row, a)) continue;
      if (!settings_.prunes_leaves && form_.below[sequence].size() == 0) continue;
      // floored regrets do not say how bad an action is: best-response pruning finds out by its check
      const bool is_unknown = settings_.floors_regrets && settings_.kind == PruningKind::best_response;
      const double missing = row.regret()[a] - ceiling(infoset, row, a);
      const bool is_worth = missing < 0.0 && is_worth_pruning(row, missing, form_.largest[sequence]);
      if (is_unknown || is_worth) opening_.push_back(sequence);
    }
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

  // [B20] 3.5.2: forgets averages of pruned sequences that are hardly ever played, and frees what is below.
  void discard_averages() {
    const auto t = static_cast<double>(t_);
    next_discard_ = t + std::max(1.0, std::floor(t / 16.0));
    const double share = settings_.discard / std::pow(t, settings_.discard_exponent);
    for (std::int32_t infoset = 0; infoset < form_.num_infosets(); ++infoset) {
      settle(infoset);  // what is in proportion to sums wants all of them; parents come first
      if (has_average(infoset)) discard_at(infoset, share);
    }
  }

  bool is_discardable(std::int32_t infoset, int a, double share) {
    const InfosetSlice slice = form_.below[form_.infosets[infoset].first_sequence + a];
    if (slice.size() == 0 || !has_average(slice.begin)) return false;
    if (has_regrets(infoset) && !regrets(infoset).is_pruned(a)) return false;
    const AverageRow row = averages(infoset);
    const int player = form_.owner(infoset);
    return row.average()[a] <= share * average_[player].sum && row.faced()[a] <= share * faced_sum(player).sum;
  }

  // What is discarded goes to the other actions in proportion, and to everything below them: sums stay those of a
  // strategy, so that opponents who respond to them do not see play vanish.
  void discard_at(std::int32_t infoset, double share) {
    const AverageRow row = averages(infoset);
    const int player = form_.owner(infoset);
    double kept_average = 0.0, kept_faced = 0.0, lost_average = 0.0, lost_faced = 0.0;
    discarded_.clear();
    for (int a = 0; a < row.num_actions; ++a) {
      const bool is_lost = is_discardable(infoset, a, share);
      if (is_lost) discarded_.push_back(a);
      (is_lost ? lost_average : kept_average) += row.average()[a];
      (is_lost ? lost_faced : kept_faced) += row.faced()[a];
    }
    if (discarded_.empty()) return;
    if ((lost_average > 0.0 && !(kept_average > 0.0)) || (lost_faced > 0.0 && !(kept_faced > 0.0))) return;
    for (const int a : discarded_) {
      row.average()[a] = row.faced()[a] = 0.0;
      const InfosetSlice slice = form_.below[form_.infosets[infoset].first_sequence + a];
      for (std::int32_t below = slice.begin; below < slice.end; ++below) {
        if (has_average(below)) averages_[player].release(below);
      }
    }
    const double average_factor = lost_average > 0.0 ? 1.0 + lost_average / kept_average : 1.0;
    const double faced_factor = lost_faced > 0.0 ? 1.0 + lost_faced / kept_faced : 1.0;
    if (average_factor == 1.0 && faced_factor == 1.0) return;
    for (int a = 0; a < row.num_actions; ++a) {
      row.average()[a] *= average_factor;
      if (row.has_faced) row.faced()[a] *= faced_factor;
      const InfosetSlice slice = form_.below[form_.infosets[infoset].first_sequence + a];
      for (std::int32_t below = slice.begin; below < slice.end; ++below) {
        if (has_average(below)) scale_sums(averages(below), average_factor, faced_factor);
      }
    }
  }

  static void scale_sums(const AverageRow& row, double average_factor, double faced_factor) {
    for (int a = 0; a < row.num_actions; ++a) row.average()[a] *= average_factor;
    row[AverageRow::average_mark] *= average_factor;
    if (!row.has_faced) return;
    for (int a = 0; a < row.num_actions; ++a) row.faced()[a] *= faced_factor;
    row[AverageRow::faced_mark] *= faced_factor;
  }

  PruningForm form_;
  PruningSettings settings_;
  std::vector<RowStore> regrets_;   // of both players
  std::vector<RowStore> walked_;    // likewise, with rows for the same information sets
  std::vector<RowStore> averages_;  // of both players
  bool has_faced_[2] = {};
  WeightSum average_[2];
  WeightSum faced_[2];
  std::vector<Moments> moments_;  // [I] only for Hedge with a running variance
  std::vector<double> snapshot_;  // [Q] regret-based pruning: sums of values when a window began
  std::int64_t t_ = 0;
  std::int64_t traversal_ = 0;
  Discount discount_{};
  double positive_log_ = 0.0;
  double negative_log_ = 0.0;
  double total_ = 0.0;         // of weights in regrets, the present one being 1
  double next_discard_ = 1.0;  // iteration
  PruningCounters counters_;
  std::int64_t num_touched_ = 0;  // by the present walk
  std::vector<VisitedSet> visited_;  // of both players
  std::vector<Ending> closing_;
  std::vector<std::int32_t> opening_;
  std::vector<int> discarded_;
  double unowned_ = 0.0;  // value of the player's empty sequence, which nobody asks for
};

}  // namespace equipoise
