// SPDX-License-Identifier: Apache-2.0
// Full-width sweeps over a history tree, in its sequence form.
//
// Terminals stand in depth-first order with the last sequence of every player; a player's counterfactual values are
//     cfv[own(z)] += chance(z) * utility(z) * product of the others' realisation weights at z,
// followed by one backward walk over that player's information-set forest. No per-history state is written.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "rule.hpp"
#include "substitute.hpp"
#include "threads.hpp"

namespace equipoise {

inline constexpr int max_players = 10;

// Views of one tree. Sequences of all players share one numbering: player i owns [sequence_start[i],
// sequence_start[i+1]), the first of which is its empty sequence; information sets likewise, in forest pre-order.
struct HistoryForm {
  int num_players = 0;
  bool is_zero_sum = false;  // two players, weight[1] == -weight[0] (and not stored)
  std::int64_t num_terminals = 0;
  const std::int32_t* terminal_sequence[max_players] = {};  // each [Z]
  const double* weight[max_players] = {};                   // each [Z], chance times utility
  const std::int32_t* sequence_start = nullptr;             // [P+1]
  const std::int32_t* infoset_start = nullptr;              // [P+1]
  const std::int32_t* first_sequence = nullptr;             // [I]
  const std::int32_t* num_actions = nullptr;                // [I]
  const std::int32_t* parent_sequence = nullptr;            // [I]

  std::int32_t num_sequences() const { return sequence_start[num_players]; }
  std::int32_t num_sequences(int player) const { return sequence_start[player + 1] - sequence_start[player]; }
};

// Adds the counterfactual values of terminals [begin, end) into cfv, indexed by the player's own sequences.
inline void accumulate_terminals(const HistoryForm& form, int player, const double* __restrict realization,
                                 std::int64_t begin, std::int64_t end, double* __restrict cfv) {
  const std::int32_t* __restrict own = form.terminal_sequence[player];
  if (form.num_players == 2) {
    const std::int32_t* __restrict other = form.terminal_sequence[1 - player];
    const double* __restrict weight = form.weight[form.is_zero_sum ? 0 : player];
#pragma GCC unroll 4
    for (std::int64_t z = begin; z < end; ++z) cfv[own[z]] += weight[z] * realization[other[z]];
    return;
  }
  const double* __restrict weight = form.weight[player];
  for (std::int64_t z = begin; z < end; ++z) {
    double reach = weight[z];
    for (int other = 0; other < form.num_players; ++other) {
      if (other != player) reach *= realization[form.terminal_sequence[other][z]];
    }
    cfv[own[z]] += reach;
  }
}

// Sign that turns accumulated values into the player's own (zero-sum trees store player 0's weights alone).
inline double value_sign(const HistoryForm& form, int player) {
  return form.is_zero_sum && player == 1 ? -1.0 : 1.0;
}

// Overwrites the realisation weights of information sets [begin, end) with those of `strategy`.
inline void realize(const HistoryForm& form, std::int32_t begin, std::int32_t end, const double* strategy,
                    double* realization) {
  for (std::int32_t infoset = begin; infoset < end; ++infoset) {
    const double reach = realization[form.parent_sequence[infoset]];
    const std::int32_t first = form.first_sequence[infoset];
    const int num_actions = form.num_actions[infoset];
    for (int a = 0; a < num_actions; ++a) realization[first + a] = reach * strategy[first + a];
  }
}

// Splits [begin, end) of a player's forest into contiguous parts of whole top-level trees, about equal in sequences.
inline std::vector<std::int32_t> split_forest(const HistoryForm& form, int player, int num_parts) {
  const std::int32_t begin = form.infoset_start[player];
  const std::int32_t end = form.infoset_start[player + 1];
  std::vector<std::int32_t> bounds(static_cast<std::size_t>(num_parts) + 1, end);
  bounds[0] = begin;
  int part = 1;
  for (std::int32_t infoset = begin; infoset < end && part < num_parts; ++infoset) {
    if (form.parent_sequence[infoset] != form.sequence_start[player]) continue;
    const std::int64_t before = form.first_sequence[infoset] - form.sequence_start[player];
    if (before * num_parts >= static_cast<std::int64_t>(form.num_sequences(player)) * part) bounds[part++] = infoset;
  }
  return bounds;
}

// Calls `work` with the number of actions as a constant where information sets often have it, else with 0.
template <PolicyMap policy_map, typename Work>
[[gnu::always_inline]] inline void with_actions(int num_actions, Work&& work) {
  if constexpr (policy_map == PolicyMap::regret_matching) {
    if (num_actions == 2) return work.template operator()<2>();
    if (num_actions == 3) return work.template operator()<3>();
  }
  work.template operator()<0>();
}

// One player's regret and average update over information sets [begin, end), children before parents.
// `cfv` holds accumulated terminal values and is consumed; `sign` turns them into the player's own.
template <PolicyMap policy_map, bool is_optimistic>
void update_infosets(const HistoryForm& form, const Rule& rule, const Discount& discount, std::int64_t t, int player,
                     double sign, std::int32_t begin, std::int32_t end, const Tables& tables, double* __restrict cfv) {
  const std::int32_t empty = form.sequence_start[player];
  const double floor = rule.floor();
  const Tables own = tables;  // copies: as far as the compiler knows, numbers are stored anywhere
  const Discount row_discount = discount;
  for (std::int32_t infoset = end; infoset-- > begin;) {
    const std::int32_t first = form.first_sequence[infoset];
    const std::int32_t parent = form.parent_sequence[infoset];
    with_actions<policy_map>(form.num_actions[infoset], [&]<int fixed_actions>() {
      const int num_actions = fixed_actions > 0 ? fixed_actions : form.num_actions[infoset];
      double expected = 0.0;
      for (int a = 0; a < num_actions; ++a) expected += own.strategy[first + a] * cfv[first + a];
      if (parent != empty) cfv[parent] += expected;
      update_row<policy_map, is_optimistic, fixed_actions>(
          rule, row_discount, t, floor, sign, expected,
          Row{.num_actions = num_actions,
              .value = cfv + first,
              .reach = own.realization + first,
              .regret = own.regret_sum + first,
              .average = own.strategy_sum + first,
              .strategy = own.strategy + first,
              .scale = own.scale + infoset,
              .moments = own.value_moments + 2 * static_cast<std::ptrdiff_t>(infoset)});
    });
  }
}

using UpdateKernel = void (*)(const HistoryForm&, const Rule&, const Discount&, std::int64_t, int, double,
                              std::int32_t, std::int32_t, const Tables&, double*);

inline UpdateKernel choose_update(const Rule& rule) {
  switch (rule.policy_map) {
    case PolicyMap::hedge:
      return rule.is_optimistic ? update_infosets<PolicyMap::hedge, true> : update_infosets<PolicyMap::hedge, false>;
    case PolicyMap::normal_hedge:
      return rule.is_optimistic ? update_infosets<PolicyMap::normal_hedge, true>
                                : update_infosets<PolicyMap::normal_hedge, false>;
    default:
      return rule.is_optimistic ? update_infosets<PolicyMap::regret_matching, true>
                                : update_infosets<PolicyMap::regret_matching, false>;
  }
}

// How a team shares one player's work. A sequence belongs to one thread, which adds up all its terminals in their order:
// sums do not depend on the number of threads.
struct HistoryPlan {
  struct Run {
    std::int64_t begin, end;  // consecutive terminals
  };
  std::vector<std::vector<Run>> runs;   // [threads]
  std::vector<std::int32_t> sequences;  // [threads + 1] bounds of what a thread clears and adds up
  std::vector<std::int32_t> infosets;   // [threads + 1] bounds of what it updates
};

// Splits a player's sequences into contiguous parts with about as many terminals each.
inline std::vector<std::int32_t> split_sequences(const HistoryForm& form, int player, int num_parts) {
  const std::int32_t start = form.sequence_start[player];
  const std::int32_t* const own = form.terminal_sequence[player];
  std::vector<std::int64_t> work(static_cast<std::size_t>(form.num_sequences(player)), 1);  // to clear it
  for (std::int64_t z = 0; z < form.num_terminals; ++z) ++work[own[z] - start];
  const std::int64_t total = form.num_terminals + form.num_sequences(player);
  std::vector<std::int32_t> bounds(static_cast<std::size_t>(num_parts) + 1, form.sequence_start[player + 1]);
  bounds[0] = start;
  int part = 1;
  std::int64_t before = 0;
  for (std::int32_t q = start; q < form.sequence_start[player + 1]; ++q) {
    while (part < num_parts && before * num_parts >= total * part) bounds[part++] = q;
    before += work[q - start];
  }
  return bounds;
}

inline HistoryPlan plan_player(const HistoryForm& form, int player, int num_threads) {
  HistoryPlan plan;
  plan.infosets = split_forest(form, player, num_threads);
  plan.runs.resize(static_cast<std::size_t>(num_threads));
  if (num_threads == 1) {
    plan.sequences = {form.sequence_start[player], form.sequence_start[player + 1]};
    plan.runs[0] = {{0, form.num_terminals}};
    return plan;
  }
  plan.sequences = split_sequences(form, player, num_threads);
  std::vector<std::int16_t> owner(static_cast<std::size_t>(form.num_sequences(player)));
  for (int thread = 0; thread < num_threads; ++thread) {
    for (std::int32_t q = plan.sequences[thread]; q < plan.sequences[thread + 1]; ++q) {
      owner[q - form.sequence_start[player]] = static_cast<std::int16_t>(thread);
    }
  }
  for (std::int64_t z = 0; z < form.num_terminals; ++z) {
    auto& runs = plan.runs[owner[form.terminal_sequence[player][z] - form.sequence_start[player]]];
    if (!runs.empty() && runs.back().end == z) {
      runs.back().end = z + 1;
    } else {
      runs.push_back({z, z + 1});
    }
  }
  return plan;
}

inline std::vector<HistoryPlan> plan_team(const HistoryForm& form, int num_threads) {
  std::vector<HistoryPlan> plans;
  for (int player = 0; player < form.num_players; ++player) plans.push_back(plan_player(form, player, num_threads));
  return plans;
}

// Overwrites a thread's part of a player's values with those of terminals.
inline void accumulate_part(const HistoryForm& form, const HistoryPlan& plan, int player, int thread,
                            const double* realization, double* cfv) {
  const std::int32_t start = plan.sequences[thread], end = plan.sequences[thread + 1];
  std::memset(cfv + start, 0, sizeof(double) * (end - start));
  for (const HistoryPlan::Run& run : plan.runs[thread]) {
    accumulate_terminals(form, player, realization, run.begin, run.end, cfv);
  }
}

// Runs iterations first_t .. first_t + num_iterations - 1, each of which updates every player once. `plans` are all
// players', and their size is the team's; `cfv` [Q] is scratch.
inline void iterate(const HistoryForm& form, const std::vector<HistoryPlan>& plans, const Rule& rule,
                    const Discount* discounts, std::int64_t first_t, std::int64_t num_iterations, bool is_alternating,
                    const Tables& tables, Team& team, double* cfv) {
  const int num_threads = static_cast<int>(plans[0].runs.size());
  const UpdateKernel update = choose_update(rule);
  Barrier barrier(num_threads);

  team.run(num_threads, [&](int thread) {
    const auto accumulate = [&](int player) {
      accumulate_part(form, plans[player], player, thread, tables.realization, cfv);
    };
    const auto update_part = [&](int player, std::int64_t t) {
      const std::int32_t begin = plans[player].infosets[thread];
      const std::int32_t end = plans[player].infosets[thread + 1];
      update(form, rule, discounts[t - first_t], t, player, value_sign(form, player), begin, end, tables, cfv);
      realize(form, begin, end, tables.strategy, tables.realization);
    };

    for (std::int64_t t = first_t; t < first_t + num_iterations; ++t) {
      if (is_alternating) {
        for (int player = 0; player < form.num_players; ++player) {
          accumulate(player);
          barrier.wait();
          update_part(player, t);
          barrier.wait();
        }
      } else {
        for (int player = 0; player < form.num_players; ++player) accumulate(player);
        barrier.wait();
        for (int player = 0; player < form.num_players; ++player) update_part(player, t);
        barrier.wait();
      }
    }
  });
}

// Updates one player once per row of `discounts`, against others that stand still: their whole effect is in
// `terminal_values` [Q], the player's own. `cfv` [Q] is scratch; `utility` receives what the player earns in each update.
inline void learn(const HistoryForm& form, const Rule& rule, const Discount* discounts, std::int64_t first_t,
                  std::int64_t num_updates, int player, const double* terminal_values, const Tables& tables, double* cfv,
                  double* utility) {
  const UpdateKernel update = choose_update(rule);
  const std::int32_t start = form.sequence_start[player];
  const std::int32_t size = form.num_sequences(player);
  const std::int32_t begin = form.infoset_start[player];
  const std::int32_t end = form.infoset_start[player + 1];
  for (std::int64_t k = 0; k < num_updates; ++k) {
    double earned = 0.0;
    for (std::int32_t q = start; q < start + size; ++q) earned += tables.realization[q] * terminal_values[q];
    utility[k] = earned;
    std::memcpy(cfv + start, terminal_values + start, sizeof(double) * size);
    update(form, rule, discounts[k], first_t + k, player, 1.0, begin, end, tables, cfv);
    realize(form, begin, end, tables.strategy, tables.realization);
  }
}

// Overwrites `cfv` over the player's own sequences with terminal values against the others' realisation weights.
inline void evaluate_terminals(const HistoryForm& form, const std::vector<HistoryPlan>& plans, int player,
                               const double* realization, Team& team, double* cfv) {
  const double sign = value_sign(form, player);
  const HistoryPlan& plan = plans[player];
  team.run(static_cast<int>(plan.runs.size()), [&](int thread) {
    accumulate_part(form, plan, player, thread, realization, cfv);
    if (sign > 0.0) return;
    for (std::int32_t q = plan.sequences[thread]; q < plan.sequences[thread + 1]; ++q) cfv[q] = -cfv[q];
  });
}

// Backs terminal values up the player's forest; `choose(infoset, first, num_actions, cfv)` returns a set's value.
template <typename Choose>
void back_up(const HistoryForm& form, int player, double* cfv, Choose&& choose) {
  for (std::int32_t infoset = form.infoset_start[player + 1]; infoset-- > form.infoset_start[player];) {
    cfv[form.parent_sequence[infoset]] +=
        choose(infoset, form.first_sequence[infoset], form.num_actions[infoset], cfv);
  }
}

// Backs up the best action everywhere (reached or not) and writes it as a pure strategy into `best`.
inline void back_up_best(const HistoryForm& form, int player, bool, double* cfv, double* best) {
  back_up(form, player, cfv, [best](std::int32_t, std::int32_t first, int num_actions, const double* values) {
    int chosen = 0;
    for (int a = 1; a < num_actions; ++a) {
      if (values[first + a] > values[first + chosen]) chosen = a;
    }
    for (int a = 0; a < num_actions; ++a) best[first + a] = a == chosen ? 1.0 : 0.0;
    return values[first + chosen];
  });
}

// Backs up the value of playing `strategy`.
inline void back_up_strategy(const HistoryForm& form, int player, const double* strategy, double* cfv) {
  back_up(form, player, cfv, [strategy](std::int32_t, std::int32_t first, int num_actions, const double* values) {
    double expected = 0.0;
    for (int a = 0; a < num_actions; ++a) expected += strategy[first + a] * values[first + a];
    return expected;
  });
}

// Backs up the best action everywhere, but with probability `trust` [I] the one that `model` plays there: no strategy that
// follows the model as often earns more. Writes that strategy into `best`.
inline void back_up_biased(const HistoryForm& form, int player, const double* model, const double* trust, double* cfv,
                           double* best) {
  back_up(form, player, cfv, [&](std::int32_t infoset, std::int32_t first, int num_actions, const double* values) {
    int chosen = 0;
    double modelled = 0.0;
    for (int a = 0; a < num_actions; ++a) {
      if (values[first + a] > values[first + chosen]) chosen = a;
      modelled += model[first + a] * values[first + a];
    }
    const double share = trust[infoset];
    for (int a = 0; a < num_actions; ++a) best[first + a] = share * model[first + a] + (a == chosen ? 1.0 - share : 0.0);
    return share * modelled + (1.0 - share) * values[first + chosen];
  });
}

// Backs up substitute values: less than the best action's by what `budget` [I] allows. Writes them into `row_value` [I],
// and into `regret` what each action is worth beyond its information set.
inline void back_up_substitutes(const HistoryForm& form, int player, const double* budget, double* cfv,
                                double* row_value, double* regret) {
  std::vector<double> sorted;
  back_up(form, player, cfv, [&](std::int32_t infoset, std::int32_t first, int num_actions, const double* values) {
    sorted.assign(values + first, values + first + num_actions);
    const double level = solve_level(num_actions, sorted.data(), budget[infoset]);
    for (int a = 0; a < num_actions; ++a) regret[first + a] = values[first + a] - level;
    row_value[infoset] = level;
    return level;
  });
}

// Overwrites `out` with the sums normalised at every information set; uniform where nothing was summed.
inline void normalize_sums(const HistoryForm& form, const double* sums, double* out) {
  for (std::int32_t infoset = 0; infoset < form.infoset_start[form.num_players]; ++infoset) {
    const std::int32_t first = form.first_sequence[infoset];
    regret_matching(Fallback::uniform, form.num_actions[infoset], sums + first, out + first);
  }
}

}  // namespace equipoise
