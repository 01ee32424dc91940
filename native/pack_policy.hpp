// SPDX-License-Identifier: Apache-2.0
// Policy maps for eight hands at a time: exponentials of packs, NormalHedge.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "packs.hpp"
#include "policy.hpp"

namespace equipoise {

// How a type splits exp(x) into 2^k times a polynomial in what is left, at most ln(2)/2 either way.
template <typename Real>
struct ExpParts;

template <>
struct ExpParts<float> {
  typedef std::int32_t Bits __attribute__((vector_size(32)));
  static constexpr int mantissa_bits = 23, bias = 127, degree = 7;
  static constexpr float lowest = -87.0f, highest = 88.0f, ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
};

template <>
struct ExpParts<double> {
  typedef std::int64_t Bits __attribute__((vector_size(64)));
  static constexpr int mantissa_bits = 52, bias = 1023, degree = 13;
  static constexpr double lowest = -708.0, highest = 709.0, ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
};

// exp of each lane to about the last bit; lanes beyond the range of the type get its ends.
template <typename Real>
[[gnu::always_inline]] inline Pack<Real> exp_pack(Pack<Real> x) {
  using Parts = ExpParts<Real>;
  using Bits = typename Parts::Bits;
  x = x > Parts::lowest ? x : fill_pack(Parts::lowest);
  x = x < Parts::highest ? x : fill_pack(Parts::highest);
  const Pack<Real> shift = x > Real{0} ? fill_pack(Real{0.5}) : fill_pack(Real{-0.5});
  const Bits power = __builtin_convertvector(x * static_cast<Real>(1.4426950408889634) + shift, Bits);  // to the nearest
  const Pack<Real> k = __builtin_convertvector(power, Pack<Real>);
  const Pack<Real> rest = x - k * Parts::ln2_high - k * Parts::ln2_low;
  Pack<Real> sum = fill_pack(Real{1});
#pragma GCC unroll 16
  for (int n = Parts::degree; n > 0; --n) sum = Real{1} + sum * rest * (Real{1} / static_cast<Real>(n));
  const Bits bits = (power + Parts::bias) << Parts::mantissa_bits;
  Pack<Real> scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return sum * scale;
}

// NormalHedge of policy.hpp lane by lane, without the fallback: lanes with no positive regret get a uniform strategy.
// Reads regrets from `strategy` and overwrites them.
template <typename Real>
void normal_hedge_packs(int num_actions, Pack<Real>* strategy) {
  Pack<Real> largest{};
  for (int a = 0; a < num_actions; ++a) largest = strategy[a] > largest ? strategy[a] : largest;
  const auto is_any = largest >= std::numeric_limits<Real>::min();
  const Pack<Real> unit = is_any ? Real{1} / largest : Pack<Real>{};
  for (int a = 0; a < num_actions; ++a) strategy[a] = strategy[a] > Real{0} ? strategy[a] * unit : Pack<Real>{};
  Pack<Real> y = fill_pack(Real{1} + std::log(static_cast<Real>(num_actions)));
  for (int step = 0; step < kMaxNewtonSteps; ++step) {
    Pack<Real> excess = fill_pack(static_cast<Real>(-num_actions));
    Pack<Real> slope{};
    for (int a = 0; a < num_actions; ++a) {
      const Pack<Real> square = strategy[a] * strategy[a];
      const Pack<Real> grown = exp_pack<Real>(y * square - Real{1});
      excess += grown;
      slope += grown * square;
    }
    const Pack<Real> step_down = is_any && excess > Real{0} ? excess / slope : Pack<Real>{};
    y -= step_down;
    const auto goes_on = step_down > y * (4 * std::numeric_limits<Real>::epsilon());
    bool is_done = true;
    for (int lane = 0; lane < kPackSize; ++lane) is_done &= goes_on[lane] == 0;
    if (is_done) break;
  }
  Pack<Real> total{};
  for (int a = 0; a < num_actions; ++a) {
    strategy[a] *= exp_pack<Real>(y * (strategy[a] * strategy[a] - Real{1}));
    total += strategy[a];
  }
  const Pack<Real> share = fill_pack(Real{1} / static_cast<Real>(num_actions));
  for (int a = 0; a < num_actions; ++a) strategy[a] = is_any ? strategy[a] / total : share;
}

}  // namespace equipoise
