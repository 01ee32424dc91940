// SPDX-License-Identifier: Apache-2.0
// Sums of strategies that are handed down when somebody asks, and forgotten where they are too small to matter.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "elementary.hpp"
#include "pruning_store.hpp"

namespace equipoise {

class PrunedSums : public PrunedStore {
 public:
  using PrunedStore::PrunedStore;

 protected:
  static constexpr double largest_unit = 1e100;

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

  // [B20] 3.5.2: forgets averages of pruned sequences that are hardly ever played, and frees what is below.
  void discard_averages() {
    const auto t = static_cast<double>(t_);
    next_discard_ = t + std::max(1.0, std::floor(t / 16.0));
    const double share = settings_.discard / raise(t, settings_.discard_exponent);
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

  std::int64_t traversal_ = 0;
  double next_discard_ = 1.0;  // iteration
  std::vector<int> discarded_;
};

}  // namespace equipoise
