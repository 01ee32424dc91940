// SPDX-License-Identifier: Apache-2.0
// A pruned run as arrays, from which it goes on to the bit, and as sums, from which it begins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "pruning_policy.hpp"

namespace equipoise {

class PrunedState : public PrunedPolicy {
 public:
  using PrunedPolicy::PrunedPolicy;

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

 protected:
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
};

}  // namespace equipoise
