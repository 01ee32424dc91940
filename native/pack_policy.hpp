// SPDX-License-Identifier: Apache-2.0
// Policy maps for eight hands at a time: exponentials of packs, Hedge, NormalHedge.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#include "elementary.hpp"
#include "packs.hpp"
#include "policy.hpp"

namespace equipoise {

constexpr int kMaxPackActions = 64;  // of one decision

// How a type splits exp(x) into 2^k times a polynomial in what is left, at most ln(2)/2 either way.
template <typename Real>
struct ExpParts;

template <>
struct ExpParts<float> {
  typedef float Vector __attribute__((vector_size(32)));
  typedef std::int32_t Bits __attribute__((vector_size(32)));
  static constexpr int mantissa_bits = 23, bias = 127, degree = 7;
  static constexpr float lowest = -87.0f, highest = 88.0f, ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
};

template <>
struct ExpParts<double> {
  typedef double Vector __attribute__((vector_size(32)));
  typedef std::int64_t Bits __attribute__((vector_size(32)));
  static constexpr int mantissa_bits = 52, bias = 1023, degree = 13;
  static constexpr double lowest = -708.0, highest = 709.0, ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
};

template <typename Real>
using ExpVector = typename ExpParts<Real>::Vector;  // eight floats or four doubles

template <typename Real>
[[gnu::always_inline]] inline ExpVector<Real> fill_lanes(Real value) {
  return ExpVector<Real>{} + value;
}

// exp of each lane to about the last bit; lanes beyond the range of the type get its ends.
template <typename Real>
[[gnu::always_inline]] inline ExpVector<Real> exp_lanes(ExpVector<Real> x) {
  using Parts = ExpParts<Real>;
  using Bits = typename Parts::Bits;
  x = x > Parts::lowest ? x : fill_lanes<Real>(Parts::lowest);
  x = x < Parts::highest ? x : fill_lanes<Real>(Parts::highest);
  const ExpVector<Real> shift = x > Real{0} ? fill_lanes<Real>(Real{0.5}) : fill_lanes<Real>(Real{-0.5});
  const Bits power = __builtin_convertvector(x * static_cast<Real>(1.4426950408889634) + shift, Bits);  // to the nearest
  const ExpVector<Real> k = __builtin_convertvector(power, ExpVector<Real>);
  const ExpVector<Real> rest = x - k * Parts::ln2_high - k * Parts::ln2_low;
  ExpVector<Real> sum = fill_lanes<Real>(Real{1});
#pragma GCC unroll 16
  for (int n = Parts::degree; n > 0; --n) sum = Real{1} + sum * rest * (Real{1} / static_cast<Real>(n));
  const Bits bits = (power + Parts::bias) << Parts::mantissa_bits;
  ExpVector<Real> scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return sum * scale;
}

// NormalHedge of policy.hpp lane by lane, without the fallback: lanes with no positive regret get a uniform strategy.
// Reads regrets from `strategy` and overwrites them.
template <typename Real>
void normal_hedge_lanes(int num_actions, ExpVector<Real>* strategy) {
  ExpVector<Real> largest{};
  for (int a = 0; a < num_actions; ++a) largest = strategy[a] > largest ? strategy[a] : largest;
  const auto is_any = largest >= std::numeric_limits<Real>::min();
  const ExpVector<Real> unit = is_any ? Real{1} / largest : ExpVector<Real>{};
  for (int a = 0; a < num_actions; ++a) strategy[a] = strategy[a] > Real{0} ? strategy[a] * unit : ExpVector<Real>{};
  ExpVector<Real> y = fill_lanes<Real>(Real{1} + static_cast<Real>(logarithm_of_count(num_actions)));
  for (int step = 0; step < kMaxNewtonSteps; ++step) {
    ExpVector<Real> excess = fill_lanes<Real>(static_cast<Real>(-num_actions));
    ExpVector<Real> slope{};
    for (int a = 0; a < num_actions; ++a) {
      const ExpVector<Real> square = strategy[a] * strategy[a];
      const ExpVector<Real> grown = exp_lanes<Real>(y * square - Real{1});
      excess += grown;
      slope += grown * square;
    }
    const ExpVector<Real> step_down = is_any && excess > Real{0} ? excess / slope : ExpVector<Real>{};
    y -= step_down;
    const auto goes_on = step_down > y * (4 * std::numeric_limits<Real>::epsilon());
    bool is_done = true;
    for (int lane = 0; lane < static_cast<int>(sizeof y / sizeof(Real)); ++lane) is_done &= goes_on[lane] == 0;
    if (is_done) break;
  }
  ExpVector<Real> total{};
  for (int a = 0; a < num_actions; ++a) {
    strategy[a] *= exp_lanes<Real>(y * (strategy[a] * strategy[a] - Real{1}));
    total += strategy[a];
  }
  const ExpVector<Real> share = fill_lanes<Real>(Real{1} / static_cast<Real>(num_actions));
  for (int a = 0; a < num_actions; ++a) strategy[a] = is_any ? strategy[a] / total : share;
}

// Hedge of policy.hpp lane by lane, each with its own step. Reads regrets from `strategy` and overwrites them.
template <typename Real>
void hedge_lanes(int num_actions, const ExpVector<Real>& eta, ExpVector<Real>* strategy) {
  ExpVector<Real> largest = strategy[0];
  for (int a = 1; a < num_actions; ++a) largest = strategy[a] > largest ? strategy[a] : largest;
  ExpVector<Real> total{};
  for (int a = 0; a < num_actions; ++a) {
    strategy[a] = exp_lanes<Real>(eta * (strategy[a] - largest));
    total += strategy[a];
  }
  for (int a = 0; a < num_actions; ++a) strategy[a] /= total;
}

// Calls `work(half, regrets)` for both halves of a decision's packs.
template <typename Work>
void map_halves(int num_actions, Pack<double>* strategy, Work&& work) {
  DoublePack::Half halves[2][kMaxPackActions];
  for (int a = 0; a < num_actions; ++a) {
    halves[0][a] = strategy[a].low;
    halves[1][a] = strategy[a].high;
  }
  for (int half = 0; half < 2; ++half) work(half, halves[half]);
  for (int a = 0; a < num_actions; ++a) strategy[a] = {halves[0][a], halves[1][a]};
}

inline void normal_hedge_packs(int num_actions, Pack<float>* strategy) {
  normal_hedge_lanes<float>(num_actions, strategy);
}

inline void normal_hedge_packs(int num_actions, Pack<double>* strategy) {
  map_halves(num_actions, strategy,
             [&](int, DoublePack::Half* regrets) { normal_hedge_lanes<double>(num_actions, regrets); });
}

inline void hedge_packs(int num_actions, const Pack<float>& eta, Pack<float>* strategy) {
  hedge_lanes<float>(num_actions, eta, strategy);
}

inline void hedge_packs(int num_actions, const Pack<double>& eta, Pack<double>* strategy) {
  map_halves(num_actions, strategy, [&](int half, DoublePack::Half* regrets) {
    hedge_lanes<double>(num_actions, half ? eta.high : eta.low, regrets);
  });
}

}  // namespace equipoise
