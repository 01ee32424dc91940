// SPDX-License-Identifier: Apache-2.0
// The tables of a pruned run, the clock by which they are discounted, and what readers are told of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "elementary.hpp"
#include "pruning_form.hpp"
#include "pruning_rows.hpp"
#include "pruning_settings.hpp"
#include "pruning_tables.hpp"
#include "rule.hpp"

namespace equipoise {

// Rows of both players. An information set that nobody meets is not discounted until somebody asks.
class PrunedStore {
 public:
  PrunedStore(PruningForm form, const PruningSettings& settings) : form_(std::move(form)), settings_(settings) {
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

  // Of all that depends on what is pruned, not of the tree.
  std::int64_t num_bytes() const {
    auto total = static_cast<std::int64_t>(snapshot_.capacity() * sizeof(double) + moments_.capacity() * sizeof(Moments));
    for (int player = 0; player < 2; ++player) {
      total += regrets_[player].num_bytes() + walked_[player].num_bytes() + averages_[player].num_bytes();
      total += visited_[player].num_bytes();
    }
    return total;
  }

 protected:
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

  void compact() {
    for (int player = 0; player < 2; ++player) {
      regrets_[player].compact();
      walked_[player].compact();
      averages_[player].compact();
    }
  }

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
    positive_log_ += discount_.positive > 0.0 ? logarithm(discount_.positive) : 0.0;
    negative_log_ += discount_.negative > 0.0 ? logarithm(discount_.negative) : 0.0;
    total_ = total_ * discount_.negative + 1.0;
    counters_.nodes_last_iteration = 0;
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
    const auto product = [](double now, double before) { return now == before ? 1.0 : exponential(now - before); };
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
  std::vector<VisitedSet> visited_;  // of both players
  std::int64_t t_ = 0;
  Discount discount_{};
  double positive_log_ = 0.0;
  double negative_log_ = 0.0;
  double total_ = 0.0;         // of weights in regrets, the present one being 1
  PruningCounters counters_;
};

}  // namespace equipoise
