// SPDX-License-Identifier: Apache-2.0
// What a pruned run plays: strategies from regrets, in which pruned actions have no part.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "policy.hpp"
#include "pruning_sums.hpp"

namespace equipoise {

class PrunedPolicy : public PrunedSums {
 public:
  using PrunedSums::PrunedSums;

 protected:
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

  double add_instant(double stored, double instant, const Decay& decay) const {
    if (settings_.floors_regrets) {
      if (!settings_.has_windows()) return std::max(stored * decay.positive + instant, 0.0);
      // [B20] 3.3.4: plays as if floored, and remembers how far below zero it would be
      if (stored <= 0.0 && instant > 0.0) return instant;
    }
    return stored * (stored > 0.0 ? decay.positive : decay.negative) + instant;
  }
};

}  // namespace equipoise
