// SPDX-License-Identifier: Apache-2.0
// What a CFR variant does at one information state: discount, add, average, form the next strategy.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "elementary.hpp"
#include "policy.hpp"

namespace equipoise {

// What one iteration does to the sums: stored values are multiplied, then the iteration's are added.
struct Discount {
  double positive;        // factor on positive regrets
  double negative;        // factor on negative regrets
  double average_decay;   // factor on the strategy sum
  double average_weight;  // weight of this iteration in the strategy sum
  double eta_scale;       // Hedge alone: eta = eta_scale * sqrt(ln n) / scale(I)
  double threshold;       // of the next strategy, see play_threshold; 0: whatever is positive is played
};

// Takes iterations into the sum of weights of an average.
inline void add_average_weights(const Discount* rows, std::int64_t num_iterations, double& weight) {
  for (std::int64_t k = 0; k < num_iterations; ++k) weight = weight * rows[k].average_decay + rows[k].average_weight;
}

struct Rule {
  PolicyMap policy_map = PolicyMap::regret_matching;
  Fallback fallback = Fallback::uniform;
  bool is_optimistic = false;     // the last instantaneous regret counts twice when the strategy is formed
  bool floors_regrets = false;    // regrets below zero are forgotten
  bool tracks_variance = false;   // Hedge alone: scale(I) = 3 standard deviations of v(I) instead of a constant

  double floor() const { return floors_regrets ? 0.0 : -INFINITY; }
};

// Tables of a run, over the cells of a form's numbering (or its information states, where said).
struct Tables {
  double* regret_sum;     // [Q]
  double* strategy_sum;   // [Q] weighted by own reach
  double* strategy;       // [Q] current probabilities
  double* realization;    // [Q] own reach of each sequence under `strategy`; 1 at empty sequences
  double* scale;          // [I] only for Hedge
  double* value_moments;  // [I, 2] mean and sum of squared deviations of v(I), only when the variance is tracked
};

// One information state's share of the tables, actions consecutive.
struct Row {
  int num_actions;
  double* value;        // counterfactual values; consumed
  const double* reach;  // own reach of each action
  double* regret;
  double* average;
  double* strategy;
  double* scale;        // only for Hedge
  double* moments;      // only when the variance is tracked
};

// Hedge's step size at an information state of scale 1.
inline double unit_step(const Discount& discount, int num_actions) {
  return discount.eta_scale * std::sqrt(logarithm_of_count(num_actions));
}

// Below which probability an action of the next strategy is not played at an information state of so many actions.
template <PolicyMap policy_map>
inline double play_threshold(const Discount& discount, int num_actions) {
  const double share = discount.threshold / (static_cast<double>(num_actions) * num_actions);
  return policy_map == PolicyMap::hedge ? share * std::sqrt(logarithm_of_count(num_actions)) : share;
}

// What Hedge divides its step by at one information state, at least `scale`; takes `seen`, this iteration's v(I), into
// the running variance first.
template <typename Real>
inline double hedge_scale(const Rule& rule, std::int64_t t, double seen, double scale, Real* moments) {
  if (!rule.tracks_variance) return scale;
  const double delta = seen - moments[0];
  const double mean = moments[0] + delta / static_cast<double>(t);
  const double squares = moments[1] + delta * (seen - mean);
  moments[0] = static_cast<Real>(mean);
  moments[1] = static_cast<Real>(squares);
  // three standard deviations; the lower clamp keeps eta finite until two values differ
  return std::max(3.0 * std::sqrt(squares / static_cast<double>(t)), scale);
}

// One information state's regret and average update, and its next strategy. `expected` is the value of the present
// strategy; `sign` turns values into the player's own. With `fixed_actions` their number is known to the compiler.
template <PolicyMap policy_map, bool is_optimistic, int fixed_actions = 0>
[[gnu::always_inline]] inline void update_row(const Rule& rule, const Discount& discount, std::int64_t t, double floor, double sign,
                       double expected, const Row& row) {
  const int num_actions = fixed_actions > 0 ? fixed_actions : row.num_actions;
  double* __restrict value = row.value;
  double* __restrict regret = row.regret;
  double* __restrict average = row.average;
  const double* __restrict reach = row.reach;
  for (int a = 0; a < num_actions; ++a) {
    const double instant = sign * (value[a] - expected);
    const double stored = regret[a];
    const double updated = stored * (stored > 0.0 ? discount.positive : discount.negative) + instant;
    regret[a] = updated > floor ? updated : floor;
    average[a] = average[a] * discount.average_decay + discount.average_weight * reach[a];
    if constexpr (is_optimistic) value[a] = regret[a] + instant;
  }
  const double* basis = is_optimistic ? value : regret;
  if constexpr (policy_map == PolicyMap::regret_matching) {
    regret_matching(rule.fallback, num_actions, basis, row.strategy);
  } else if constexpr (policy_map == PolicyMap::normal_hedge) {
    normal_hedge(rule.fallback, num_actions, basis, row.strategy);
  } else {
    const double scale = hedge_scale(rule, t, sign * expected, *row.scale, row.moments);
    hedge(unit_step(discount, num_actions) / scale, num_actions, basis, row.strategy);
  }
  if (discount.threshold > 0.0) cut_small(play_threshold<policy_map>(discount, num_actions), num_actions, row.strategy);
}

}  // namespace equipoise
