// SPDX-License-Identifier: Apache-2.0
// Maps from regrets to probabilities at one information state: regret matching, Hedge, NormalHedge; dynamic thresholds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "elementary.hpp"

namespace equipoise {

enum class PolicyMap : int { regret_matching = 0, hedge = 1, normal_hedge = 2 };
enum class Fallback : int { uniform = 0, argmax = 1 };

constexpr int kMaxNewtonSteps = 100;  // five or six do for a handful of actions

inline void fall_back(Fallback fallback, int num_actions, const double* regret, double* out) {
  if (fallback == Fallback::argmax) {
    const auto best = std::max_element(regret, regret + num_actions) - regret;
    for (int a = 0; a < num_actions; ++a) out[a] = a == best ? 1.0 : 0.0;
    return;
  }
  const double share = 1.0 / num_actions;
  for (int a = 0; a < num_actions; ++a) out[a] = share;
}

inline void regret_matching(Fallback fallback, int num_actions, const double* regret, double* out) {
  double total = 0.0;
  for (int a = 0; a < num_actions; ++a) {
    const double positive = regret[a] > 0.0 ? regret[a] : 0.0;
    out[a] = positive;
    total += positive;
  }
  if (total > 0.0) {
    const double scale = 1.0 / total;
    for (int a = 0; a < num_actions; ++a) out[a] *= scale;
    // a subnormal total has an infinite inverse: divide instead
    if (!(scale < 1e300)) {
      for (int a = 0; a < num_actions; ++a) out[a] = (regret[a] > 0.0 ? regret[a] : 0.0) / total;
    }
    return;
  }
  fall_back(fallback, num_actions, regret, out);
}

// softmax(eta * regret), shifted by the largest regret so that nothing overflows
inline void hedge(double eta, int num_actions, const double* regret, double* out) {
  const double largest = *std::max_element(regret, regret + num_actions);
  double total = 0.0;
  for (int a = 0; a < num_actions; ++a) {
    out[a] = exponential(eta * (regret[a] - largest));
    total += out[a];
  }
  for (int a = 0; a < num_actions; ++a) out[a] /= total;
}

// probability of a proportional to (R+/c) exp(R+^2 / 2c), c > 0 solving mean(exp(R+^2 / 2c)) = e
inline void normal_hedge(Fallback fallback, int num_actions, const double* regret, double* out) {
  double largest = 0.0;
  for (int a = 0; a < num_actions; ++a) largest = std::max(largest, regret[a]);
  if (!(largest > 0.0)) {
    fall_back(fallback, num_actions, regret, out);
    return;
  }
  // in units of the largest regret: y = 1/2c lies in [1, 1 + ln n], because mean >= exp(y)/n and mean <= exp(y). The mean
  // is convex in y, so Newton's steps from the right end come down to the root without passing it.
  double y = 1.0 + logarithm_of_count(num_actions);
  for (int step = 0; step < kMaxNewtonSteps; ++step) {
    double excess = -num_actions;
    double slope = 0.0;
    for (int a = 0; a < num_actions; ++a) {
      const double u = regret[a] > 0.0 ? regret[a] / largest : 0.0;
      const double grown = exponential(y * u * u - 1.0);
      excess += grown;
      slope += grown * u * u;
    }
    const double next = y - excess / slope;
    if (!(y - next > 1e-15 * y)) break;
    y = next;
  }
  double total = 0.0;
  for (int a = 0; a < num_actions; ++a) {
    const double u = regret[a] > 0.0 ? regret[a] / largest : 0.0;
    out[a] = u * exponential(y * (u * u - 1.0));
    total += out[a];
  }
  for (int a = 0; a < num_actions; ++a) out[a] /= total;
}

// The regret at which Hedge gives an action exactly the threshold, against the regrets of the others that count; at less it
// gives less. Infinite where everything is below the threshold, -infinity where nothing is or no other action counts.
template <typename Counts>
inline double threshold_regret(double eta, double threshold, int action, int num_actions, const double* regret,
                               Counts&& counts) {
  if (threshold >= 1.0) return INFINITY;
  double largest = -INFINITY;
  for (int a = 0; a < num_actions; ++a) {
    if (a != action && counts(a)) largest = std::max(largest, regret[a]);
  }
  double total = 0.0;  // of exp(eta * (regret - largest))
  for (int a = 0; a < num_actions; ++a) {
    if (a != action && counts(a)) total += exponential(eta * (regret[a] - largest));
  }
  return largest + logarithm(threshold / (1.0 - threshold) * total) / eta;
}

// Overwrites probabilities below the threshold with zero and the others in proportion. The most probable stay whatever the
// threshold; where nothing positive is cut, no bit changes.
inline void cut_small(double threshold, int num_actions, double* probability) {
  const double least = std::min(threshold, *std::max_element(probability, probability + num_actions));
  double kept = 0.0;
  bool has_cut = false;
  for (int a = 0; a < num_actions; ++a) {
    if (probability[a] > 0.0 && probability[a] < least) {
      has_cut = true;
      probability[a] = 0.0;
    }
    kept += probability[a];
  }
  if (!has_cut) return;
  for (int a = 0; a < num_actions; ++a) probability[a] /= kept;
}

}  // namespace equipoise
