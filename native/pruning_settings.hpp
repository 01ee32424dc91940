// SPDX-License-Identifier: Apache-2.0
// What a pruned run is asked for, and what it counts.
#pragma once

#include <cstdint>
#include <limits>

#include "policy.hpp"

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
  bool walks_once = false;      // for both players, where they are updated at once
  bool needs_positive = true;   // regret-based pruning: an action is pruned only beside one with a positive regret
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

}  // namespace equipoise
