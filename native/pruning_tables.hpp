// SPDX-License-Identifier: Apache-2.0
// What a pruned run keeps at one information set, and how the numbers lie in its rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "elementary.hpp"
#include "policy.hpp"

namespace equipoise {

// What forms strategies and decides on pruning. Freed below best-response pruned sequences. What walks read lies apart
// from the rest, because they come by in no order and memory is what they wait for.
struct RegretRow {
  enum Scalar : int {
    responds,          // 1: a best response is played here, nobody comes by
    stamp,             // iteration up to which discounts are applied
    positive_log,      // logarithm of the product of factors on positive regrets up to there
    negative_log,      // likewise on negative ones
    cumulative_value,  // sum of v(I), weighed as negative regrets are
    cumulative_reach,  // sum of pi_-i(I), likewise
    num_scalars
  };

  double* base;
  double* walked;
  int num_actions;

  double& operator[](Scalar scalar) const { return base[scalar]; }
  double* regret() const { return base + num_scalars; }
  // At most 0: pruned, and an upper bound on the regret. Above: open, and the first iteration that may ask again.
  double* gate() const { return regret() + num_actions; }
  bool is_pruned(int a) const { return gate()[a] <= 0.0; }
  bool has_pruned() const {
    for (int a = 0; a < num_actions; ++a) {
      if (is_pruned(a)) return true;
    }
    return false;
  }

  double& reach() const { return walked[0]; }  // pi_-i(I) of the present iteration, chance included; 0 between them
  double* strategy() const { return walked + 1; }  // -0.0 where pruned: its owner does not go there either
  double* value() const { return strategy() + num_actions; }  // 0 between iterations

  static std::int32_t width(int num_actions) { return num_scalars + 2 * num_actions; }
  static std::int32_t walked_width(int num_actions) { return 1 + 2 * num_actions; }
};

// Sums of strategies weighed by own reach. They are brought up to date when somebody asks: until then the difference
// between the sum above and `mark` has not been handed down.
struct AverageRow {
  enum Scalar : int {
    average_mark,
    faced_mark,
    settled,  // last traversal that brought the row up to date
    num_scalars
  };

  double* base;
  int num_actions;
  bool has_faced;  // else what the opponent has faced and the average are the same sum

  double& operator[](Scalar scalar) const { return base[scalar]; }
  double* average() const { return base + num_scalars; }  // weighed for the result
  double* faced() const { return has_faced ? average() + num_actions : average(); }  // weighed as regrets

  static std::int32_t width(int num_actions, bool has_faced) { return num_scalars + (has_faced ? 2 : 1) * num_actions; }
};

// Of v(I) at an information set, up to an iteration.
struct Moments {
  double mean = 0.0;
  double squares = 0.0;  // sum of squared deviations
  std::int64_t last_t = 0;
};

// Hedge in which pruned actions have no part.
inline void hedge_open_actions(double eta, const RegretRow& row) {
  const double* regret = row.regret();
  double* strategy = row.strategy();
  double largest = -INFINITY;
  for (int a = 0; a < row.num_actions; ++a) {
    if (!row.is_pruned(a)) largest = std::max(largest, regret[a]);
  }
  double total = 0.0;
  for (int a = 0; a < row.num_actions; ++a) {
    strategy[a] = row.is_pruned(a) ? -0.0 : exponential(eta * (regret[a] - largest));
    total += strategy[a];
  }
  for (int a = 0; a < row.num_actions; ++a) strategy[a] /= total;
}

// Regret matching in which pruned actions have no part.
inline void match_open_actions(Fallback fallback, const RegretRow& row) {
  const double* regret = row.regret();
  double* strategy = row.strategy();
  if (!row.has_pruned()) return regret_matching(fallback, row.num_actions, regret, strategy);
  double total = 0.0;
  int num_open = 0;
  int best = -1;
  for (int a = 0; a < row.num_actions; ++a) {
    strategy[a] = -0.0;
    if (row.is_pruned(a)) continue;
    ++num_open;
    if (best < 0 || regret[a] > regret[best]) best = a;
    strategy[a] = regret[a] > 0.0 ? regret[a] : 0.0;
    total += strategy[a];
  }
  for (int a = 0; a < row.num_actions; ++a) {
    if (total > 0.0) {
      strategy[a] /= total;
    } else if (!row.is_pruned(a)) {
      strategy[a] = fallback == Fallback::argmax ? (a == best ? 1.0 : 0.0) : 1.0 / num_open;
    }
  }
}

}  // namespace equipoise
