// SPDX-License-Identifier: Apache-2.0
// Which of the traverser's actions external sampling leaves out because of their regrets, and what the others weigh.
//
// Only actions that are played with probability 0 are ever left out, so the value of their information set does not
// depend on them. A weight above 1 makes up for traversals in which an action was left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "random.hpp"

namespace equipoise {

enum class SkipKind : int { none = 0, regret_based = 1, probabilistic = 2, coin = 3 };

struct Skipping {
  SkipKind kind = SkipKind::none;
  bool is_weighted = false;  // what is explored stands for what was left out
  double threshold = 0.0;    // at most 0: actions with regrets below it may be left out
  double softness = 1.0;     // probabilistic: positive
  double probability = 0.0;  // coin: with which an iteration leaves actions out, below 1
  double floor = -std::numeric_limits<double>::infinity();  // of regrets
  std::int64_t first_node = 0;                               // iterations that begin before, or
  std::int64_t end_node = 0;                                 //   from here on, explore everything
  const std::uint8_t* may_skip = nullptr;                    // by action
  const double* rise = nullptr;                              // regret based: most that a visit can add to the regret
};

// A run's state of it.
struct SkippingState {
  bool is_open = false;  // between the first and the last node
  bool is_skipped = false;  // coin: this iteration leaves actions out
  std::int64_t num_skipped = 0;

  void begin_iteration(const Skipping& rule, std::int64_t nodes_touched, Random& random) {
    is_open = rule.kind != SkipKind::none && nodes_touched >= rule.first_node && nodes_touched < rule.end_node;
    is_skipped = is_open && rule.kind == SkipKind::coin && random.uniform() < rule.probability;
  }
};

// Returns the weight with which an action is explored below a reach, 0 if it is left out.
//
// `action` is its place in the rule's arrays. `missed` is the reach of the visits in which it was left out since it was
// last explored; written by regret-based skipping alone, which is not given null.
template <typename Real>
double weigh_action(const Skipping& rule, SkippingState& state, Random& random, std::int64_t action, double regret,
                    double probability, double reach, Real* missed) {
  const bool is_candidate = state.is_open && probability == 0.0 && rule.may_skip[action] != 0;
  double weight = 1.0;
  if (rule.kind == SkipKind::regret_based) {
    const double left_out = static_cast<double>(*missed);
    // earned in every visit since, this one included, the most that it can earn would not take the regret above
    if (is_candidate && regret + (left_out + reach) * rule.rise[action] <= rule.threshold) {
      *missed = static_cast<Real>(left_out + reach);
      ++state.num_skipped;
      return 0.0;
    }
    if (rule.is_weighted) weight += left_out / reach;
    *missed = Real{0};
    return weight;
  }
  if (!is_candidate || regret >= rule.threshold) return weight;
  if (rule.kind == SkipKind::coin) {
    if (state.is_skipped) {
      ++state.num_skipped;
      return 0.0;
    }
    // one coin for the whole iteration: what is below an action that was weighted up has its weight already
    const double full = 1.0 / (1.0 - rule.probability);
    return rule.is_weighted && reach < full ? full / reach : weight;
  }
  const double explored = rule.softness / (rule.softness + rule.threshold - regret);
  if (random.uniform() >= explored) {
    ++state.num_skipped;
    return 0.0;
  }
  return rule.is_weighted ? 1.0 / explored : weight;
}

}  // namespace equipoise
