// SPDX-License-Identifier: Apache-2.0
// Upper confidence bounds over the actions of one information set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "elementary.hpp"
#include "random.hpp"

namespace equipoise {

struct ActionStatistics {
  double return_sum = 0.0;
  std::int64_t visits = 0;
};

inline constexpr double ucb_tie_tolerance = 1e-5;  // bounds this close count as equal

// The mean of what an action returned, and what the doubt about it is worth; it must have been tried.
inline double ucb(const ActionStatistics& action, double log_total, double exploration) {
  const auto visits = static_cast<double>(action.visits);
  return action.return_sum / visits + exploration * std::sqrt(log_total / visits);
}

// Returns an action that was never tried, drawn among all of them, or else one of the largest bound; ties are drawn too.
inline int choose_by_ucb(Random& random, const ActionStatistics* actions, int num_actions, std::int64_t total,
                         double exploration) {
  int num_untried = 0;
  for (int a = 0; a < num_actions; ++a) num_untried += actions[a].visits == 0;
  if (num_untried > 0) return draw_among(random, num_untried, [&](int a) { return actions[a].visits == 0; });
  const double log_total = logarithm(static_cast<double>(total));
  double best = ucb(actions[0], log_total, exploration);
  for (int a = 1; a < num_actions; ++a) best = std::max(best, ucb(actions[a], log_total, exploration));
  int num_best = 0, last = 0;
  for (int a = 0; a < num_actions; ++a) {
    if (ucb(actions[a], log_total, exploration) <= best - ucb_tie_tolerance) continue;
    ++num_best;
    last = a;
  }
  if (num_best == 1) return last;
  return draw_among(random, num_best, [&](int a) {
    return ucb(actions[a], log_total, exploration) > best - ucb_tie_tolerance;
  });
}

}  // namespace equipoise
