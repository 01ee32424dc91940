// SPDX-License-Identifier: Apache-2.0
// What stands above a subgame while it is solved again: a gate through which the opponent's private states enter. After
// every update of the opponent it takes what entering is worth and says how much of each private state enters next.
// Nothing here knows trees: values and reaches are one number per private state of the root.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "elementary.hpp"
#include "rule.hpp"

namespace equipoise {

enum class GateKind : std::int32_t {
  resolving = 0,      // each private state matches regrets of entering and of taking its alternative
  maxmargin = 1,      // one choice among all private states, each worth what it gains over its alternative
  best_response = 2,  // alternatives are drawn from normal distributions: enters where entering is worth more
  hedge = 3,          // likewise, softened by Hedge on the values seen so far
};

struct RootGate {
  GateKind kind;
  std::int64_t num_private;
  const double* mass;       // [H] how likely chance and the searcher are there, at least 0
  const double* alternative;  // [H] as a counterfactual value: times mass
  const double* deviation;  // [H] of the alternative, for the two kinds that draw it
  const double* prior;      // [H] reach that is mixed in
  double share;             // of the gate in what enters; the rest is the prior's
  double* regret;           // [2, H] entering and leaving; maxmargin has one row; hedge keeps mean and squares of values
};

inline double normal_below(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }

inline double add_regret(const Rule& rule, const Discount& discount, double stored, double instant) {
  const double updated = stored * (stored > 0.0 ? discount.positive : discount.negative) + instant;
  return updated > rule.floor() ? updated : rule.floor();
}

// Chance that a draw of the alternative is below `value`; without any deviation half of a tie enters.
inline double enter_below(double value, double mean, double deviation) {
  if (deviation > 0.0) return normal_below((value - mean) / deviation);
  return value > mean ? 1.0 : value < mean ? 0.0 : 0.5;
}

inline double match_two(double enter, double alternative) {
  const double gain = enter > 0.0 ? enter : 0.0;
  const double total = gain + (alternative > 0.0 ? alternative : 0.0);
  return total > 0.0 ? gain / total : 0.5;
}

// Share of a private state that enters next in the gates that decide for each one alone.
inline double pass_alone(const RootGate& gate, const Rule& rule, const Discount& discount, std::int64_t t,
                         std::int64_t k, double value) {
  double* const first = gate.regret + k;
  double* const second = gate.regret + gate.num_private + k;
  const double mass = gate.mass[k];
  if (gate.kind == GateKind::resolving) {
    const double entering = match_two(*first, *second);
    const double expected = entering * value + (1.0 - entering) * gate.alternative[k];
    *first = add_regret(rule, discount, *first, value - expected);
    *second = add_regret(rule, discount, *second, gate.alternative[k] - expected);
    return match_two(*first, *second);
  }
  if (!(mass > 0.0)) return 0.5;
  const double mean = gate.alternative[k] / mass;
  const double seen = value / mass;
  if (gate.kind == GateKind::best_response) return enter_below(seen, mean, gate.deviation[k]);
  const double delta = seen - *first;
  *first += delta / static_cast<double>(t);
  *second += delta * (seen - *first);
  // k = eta_t t with eta_t = sqrt(ln 2) / (3 sqrt(VAR_t) sqrt(t)); a logistic of that steepness is nearly a normal
  const double steepness = std::sqrt(logarithm(2.0) * static_cast<double>(t)) / 3.0;
  const double variance = *second / static_cast<double>(t);
  const double softness = 8.0 / (std::numbers::pi * steepness * steepness) * variance;
  return enter_below(*first, mean, std::sqrt(gate.deviation[k] * gate.deviation[k] + softness));
}

// Gain of a private state over its alternative, where anybody can be.
inline double margin_lost(const RootGate& gate, std::int64_t k, double value) {
  return (value - gate.alternative[k]) / gate.mass[k];
}

// Overwrites `reach` with what maxmargin's choice lets in; `reach` holds the values of entering before.
inline void pass_together(const RootGate& gate, const Rule& rule, const Discount& discount, double* reach) {
  double total = 0.0, expected = 0.0, num_possible = 0.0;
  const auto possible = [&](std::int64_t k) { return gate.mass[k] > 0.0; };
  for (std::int64_t k = 0; k < gate.num_private; ++k) {
    if (!possible(k)) continue;
    total += gate.regret[k] > 0.0 ? gate.regret[k] : 0.0;
    num_possible += 1.0;
  }
  const auto chosen = [&](std::int64_t k, double sum) {
    return sum > 0.0 ? (gate.regret[k] > 0.0 ? gate.regret[k] : 0.0) / sum : 1.0 / num_possible;
  };
  for (std::int64_t k = 0; k < gate.num_private; ++k) {
    if (possible(k)) expected += chosen(k, total) * margin_lost(gate, k, reach[k]);
  }
  double next = 0.0;
  for (std::int64_t k = 0; k < gate.num_private; ++k) {
    if (!possible(k)) continue;
    gate.regret[k] = add_regret(rule, discount, gate.regret[k], margin_lost(gate, k, reach[k]) - expected);
    next += gate.regret[k] > 0.0 ? gate.regret[k] : 0.0;
  }
  for (std::int64_t k = 0; k < gate.num_private; ++k) reach[k] = possible(k) ? chosen(k, next) / gate.mass[k] : 0.0;
}

// Takes the counterfactual values of entering, `values` [H], into the gate and overwrites them with what enters next.
inline void pass_gate(const RootGate& gate, const Rule& rule, const Discount& discount, std::int64_t t,
                      double* values) {
  if (gate.kind == GateKind::maxmargin) {
    pass_together(gate, rule, discount, values);
  } else {
    for (std::int64_t k = 0; k < gate.num_private; ++k) values[k] = pass_alone(gate, rule, discount, t, k, values[k]);
  }
  for (std::int64_t k = 0; k < gate.num_private; ++k) {
    values[k] = gate.share * values[k] + (1.0 - gate.share) * gate.prior[k];
  }
}

}  // namespace equipoise
