// SPDX-License-Identifier: Apache-2.0
// What an information state is worth to a warm start: less than its best action by as much as a bound on regrets allows.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "packs.hpp"

namespace equipoise {

// The level v at which the squares of what sticks out, max(0, value - v), sum to `budget`; the largest value if that is
// 0. Overwrites `values` with themselves in descending order.
inline double solve_level(int num_actions, double* values, double budget) {
  std::sort(values, values + num_actions, std::greater<>());
  const double top = values[0];  // as differences to it values do not cancel
  double sum = 0.0, squares = 0.0;
  for (int count = 1;; ++count) {
    const double value = values[count - 1] - top;
    sum += value;
    squares += value * value;
    const double level = (sum - std::sqrt(std::max(0.0, sum * sum - count * (squares - budget)))) / count;
    if (count == num_actions || !(values[count] - top > level)) return top + level;
  }
}

[[gnu::always_inline]] inline Pack<float> sqrt_pack(Pack<float> pack) {
  for (int lane = 0; lane < kPackSize; ++lane) pack[lane] = std::sqrt(pack[lane]);
  return pack;
}

[[gnu::always_inline]] inline DoublePack sqrt_pack(DoublePack pack) {
  for (int lane = 0; lane < kPackSize / 2; ++lane) {
    pack.low[lane] = std::sqrt(pack.low[lane]);
    pack.high[lane] = std::sqrt(pack.high[lane]);
  }
  return pack;
}

// The same for eight hands at a time, whose orders differ: lane by lane the first count that does is kept.
template <typename Real>
inline Pack<Real> solve_levels(int num_actions, Pack<Real>* values, const Pack<Real>& budget) {
  using Vector = Pack<Real>;
  for (int end = num_actions; end > 1; --end) {
    for (int a = 1; a < end; ++a) {
      const auto is_swapped = values[a] > values[a - 1];
      const Vector larger = choose(is_swapped, values[a], values[a - 1]);
      values[a] = choose(is_swapped, values[a - 1], values[a]);
      values[a - 1] = larger;
    }
  }
  const Vector top = values[0], zero{};
  Vector sum{}, squares{}, found{}, is_open = fill_pack(Real{1});
  for (int count = 1; count <= num_actions; ++count) {
    const Vector value = values[count - 1] - top;
    sum += value;
    squares += value * value;
    const Vector inside = sum * sum - (squares - budget) * static_cast<Real>(count);
    const Vector root = sqrt_pack(choose(inside > zero, inside, zero));
    const Vector level = (sum - root) * (Real{1} / static_cast<Real>(count));
    found = choose(is_open > zero, level, found);
    if (count < num_actions) is_open = choose(values[count] - top > level, is_open, zero);
  }
  return top + found;
}

}  // namespace equipoise
