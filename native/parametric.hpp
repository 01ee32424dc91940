// SPDX-License-Identifier: Apache-2.0
// CFR over a history tree whose payoffs are polynomials of parameters: regrets are kept as coefficients of the
// polynomials' terms, so that the regrets of the same play under other parameters are read off the tables.
//
// Two players, zero-sum. Chance is taken whole, or sampled: its outcomes are then a tree of their own (the cards, whatever
// the betting), one path of which is drawn an update and only the terminals along it are walked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "history.hpp"
#include "random.hpp"

namespace equipoise {

// What chance does, apart from what players do; group 0 is where nothing has been dealt yet.
struct ChanceGroups {
  const std::int32_t* first_child = nullptr;     // [G+1] into `child`
  const std::int32_t* child = nullptr;           // groups after one more outcome
  const double* probability = nullptr;           // of each child, given the group
  const std::int32_t* first_terminal = nullptr;  // [G+1] into `terminal`
  const std::int32_t* terminal = nullptr;        // [Z] terminals by group
};

struct ParametricForm {
  HistoryForm history;             // its weights are not read
  int num_terms = 0;               // K
  const double* payoff = nullptr;  // [Z, K] player 0's utility as coefficients of the terms
  const double* weight = nullptr;  // [Z, K] the same times chance
  ChanceGroups groups;
};

struct ParametricTables {
  double* regret_sum;    // [Q, K] coefficients
  double* strategy_sum;  // [Q]
  double* strategy;      // [Q]
  double* realization;   // [Q]
};

// Adds one terminal's payoffs into the cells of the player's last sequence there.
template <int fixed_terms>
inline void add_terminal(const ParametricForm& form, const double* __restrict value, double reach, double* __restrict cfv) {
  const int num_terms = fixed_terms > 0 ? fixed_terms : form.num_terms;
  for (int k = 0; k < num_terms; ++k) cfv[k] += reach * value[k];
}

template <int fixed_terms>
void accumulate_payoffs(const ParametricForm& form, int player, const double* realization, Random* random,
                        double* __restrict cfv) {
  const std::int64_t terms = fixed_terms > 0 ? fixed_terms : form.num_terms;
  const std::int32_t* const own = form.history.terminal_sequence[player];
  const std::int32_t* const other = form.history.terminal_sequence[1 - player];
  std::fill(cfv + terms * form.history.sequence_start[player], cfv + terms * form.history.sequence_start[player + 1], 0.0);
  if (random == nullptr) {
    for (std::int64_t z = 0; z < form.history.num_terminals; ++z) {
      add_terminal<fixed_terms>(form, form.weight + terms * z, realization[other[z]], cfv + terms * own[z]);
    }
    return;
  }
  for (std::int32_t group = 0;;) {
    for (std::int32_t k = form.groups.first_terminal[group]; k < form.groups.first_terminal[group + 1]; ++k) {
      const std::int64_t z = form.groups.terminal[k];
      add_terminal<fixed_terms>(form, form.payoff + terms * z, realization[other[z]], cfv + terms * own[z]);
    }
    const std::int32_t first = form.groups.first_child[group];
    const int count = form.groups.first_child[group + 1] - first;
    if (count == 0) return;
    group = form.groups.child[first + draw(*random, count, [&](int k) { return form.groups.probability[first + k]; })];
  }
}

// One player's update at the parameters whose terms are `term` [K]; children before parents.
template <int fixed_terms>
void update_coefficients(const ParametricForm& form, int player, const double* term, const ParametricTables& tables,
                         double* __restrict cfv, std::vector<double>& scratch) {
  const HistoryForm& history = form.history;
  const std::int64_t terms = fixed_terms > 0 ? fixed_terms : form.num_terms;
  const double sign = player == 1 ? -1.0 : 1.0;
  const std::int32_t empty = history.sequence_start[player];
  double* const expected = scratch.data();
  double* const regret = expected + terms;
  for (std::int32_t infoset = history.infoset_start[player + 1]; infoset-- > history.infoset_start[player];) {
    const std::int32_t first = history.first_sequence[infoset];
    const std::int32_t parent = history.parent_sequence[infoset];
    const int num_actions = history.num_actions[infoset];
    for (std::int64_t k = 0; k < terms; ++k) expected[k] = 0.0;
    for (int a = 0; a < num_actions; ++a) {
      const double share = tables.strategy[first + a];
      for (std::int64_t k = 0; k < terms; ++k) expected[k] += share * cfv[terms * (first + a) + k];
    }
    if (parent != empty) {
      for (std::int64_t k = 0; k < terms; ++k) cfv[terms * parent + k] += expected[k];
    }
    for (int a = 0; a < num_actions; ++a) {
      const std::int64_t cell = terms * (first + a);
      double total = 0.0;
      for (std::int64_t k = 0; k < terms; ++k) {
        tables.regret_sum[cell + k] += sign * (cfv[cell + k] - expected[k]);
        total += tables.regret_sum[cell + k] * term[k];
      }
      regret[a] = total;
      tables.strategy_sum[first + a] += tables.realization[first + a];
    }
    regret_matching(Fallback::uniform, num_actions, regret, tables.strategy + first);
  }
  realize(history, history.infoset_start[player], history.infoset_start[player + 1], tables.strategy, tables.realization);
}

template <int fixed_terms>
void iterate_terms(const ParametricForm& form, const double* term, std::int64_t num_iterations, bool is_alternating,
                   Random* random, const ParametricTables& tables) {
  const HistoryForm& history = form.history;
  std::vector<double> cfv(static_cast<std::size_t>(history.num_sequences()) * form.num_terms);
  const int most_actions = history.infoset_start[2] == 0
                               ? 1
                               : *std::max_element(history.num_actions, history.num_actions + history.infoset_start[2]);
  std::vector<double> scratch(static_cast<std::size_t>(form.num_terms) + most_actions);
  for (std::int64_t t = 0; t < num_iterations; ++t) {
    for (int player = 0; player < 2; ++player) {
      accumulate_payoffs<fixed_terms>(form, player, tables.realization, random, cfv.data());
      if (is_alternating) update_coefficients<fixed_terms>(form, player, term, tables, cfv.data(), scratch);
    }
    for (int player = 0; player < 2 && !is_alternating; ++player) {
      update_coefficients<fixed_terms>(form, player, term, tables, cfv.data(), scratch);
    }
  }
}

// Runs iterations at one point of the parameters; `random` null: chance is not sampled.
inline void iterate_parametric(const ParametricForm& form, const double* term, std::int64_t num_iterations,
                               bool is_alternating, Random* random, const ParametricTables& tables) {
  switch (form.num_terms) {
    case 1: return iterate_terms<1>(form, term, num_iterations, is_alternating, random, tables);
    case 2: return iterate_terms<2>(form, term, num_iterations, is_alternating, random, tables);
    case 3: return iterate_terms<3>(form, term, num_iterations, is_alternating, random, tables);
    default: return iterate_terms<0>(form, term, num_iterations, is_alternating, random, tables);
  }
}

// Overwrites the strategies by regret matching on the regrets at these terms, and the own reach of everything.
inline void play_parametric(const ParametricForm& form, const double* term, const ParametricTables& tables) {
  const HistoryForm& history = form.history;
  std::vector<double> regret;
  for (std::int32_t infoset = 0; infoset < history.infoset_start[2]; ++infoset) {
    const std::int32_t first = history.first_sequence[infoset];
    const int num_actions = history.num_actions[infoset];
    regret.assign(static_cast<std::size_t>(num_actions), 0.0);
    for (int a = 0; a < num_actions; ++a) {
      for (int k = 0; k < form.num_terms; ++k) {
        regret[a] += tables.regret_sum[static_cast<std::int64_t>(form.num_terms) * (first + a) + k] * term[k];
      }
    }
    regret_matching(Fallback::uniform, num_actions, regret.data(), tables.strategy + first);
  }
  for (int player = 0; player < 2; ++player) tables.realization[history.sequence_start[player]] = 1.0;
  realize(history, 0, history.infoset_start[2], tables.strategy, tables.realization);
}

}  // namespace equipoise
