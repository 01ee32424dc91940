// SPDX-License-Identifier: Apache-2.0
// Full-width sweeps over a public tree: one number per private state, whole rows at a time.
//
// A player's reach and counterfactual values live in cells. A decision's cells are an [A, stride] block, a row per action,
// a column per private state; its reach is read from `source`, a run of cells further up, and its value is added there.
// Edges that only select private states or pass a row on need no work at all: below them, `source` points above them.
// What remains besides decisions are relations (cells computed from cells by weighted entries) and terminals.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lanes.hpp"
#include "public_form.hpp"
#include "public_hooks.hpp"
#include "public_team.hpp"
#include "rule.hpp"
#include "substitute.hpp"
#include "threads.hpp"

namespace equipoise {

// --- terminals ---

// What a run of terminals of one group reads and writes, from a row on; passed as a copy, because as far as the compiler
// knows vectors are stored anywhere.
struct DenseRun {
  const double* matrix;
  std::ptrdiff_t num_rows;
  int num_columns;
  const std::int32_t* own;  // of terminals, as the next two
  const std::int32_t* other;
  const double* scale;
  const double* reach;
  double* cfv;  // from the row on
};

// Adds scale * matrix * reach of `batch` terminals from one on into cfv, over `vectors` vectors of rows. With
// `fixed_columns` the sum is unrolled and there are no other rows (instructions, not loads, are the limit on small
// matrices); 0 reads both numbers from the run. A sum waits for its own last addition: two terminals at a time keep the
// adders of large matrices busy.
template <int vectors, int fixed_columns, int batch>
[[gnu::always_inline]] inline void multiply_batch(const DenseRun run, std::int64_t terminal) {
  const int num_columns = fixed_columns > 0 ? fixed_columns : run.num_columns;
  const std::ptrdiff_t num_rows = fixed_columns > 0 ? 4 * vectors : run.num_rows;
  const double* other[batch];
  for (int b = 0; b < batch; ++b) other[b] = run.reach + run.other[terminal + b];
  Quad sum[batch][vectors] = {};
  for (int column = 0; column < num_columns; ++column) {
    for (int v = 0; v < vectors; ++v) {
      const Quad entry = load<Quad>(run.matrix + column * num_rows + 4 * v);
      for (int b = 0; b < batch; ++b) {
        const Quad product = entry * broadcast<Quad>(other[b][column]);
        // a zero's sign, the one thing that adding to nothing may change, is lost in the sums in cfv, which begin at 0
        sum[b][v] = fixed_columns > 0 && column == 0 ? product : sum[b][v] + product;
      }
    }
  }
  for (int b = 0; b < batch; ++b) {
    double* const own = run.cfv + run.own[terminal + b];
    const Quad scale = broadcast<Quad>(run.scale[terminal + b]);
    for (int v = 0; v < vectors; ++v) store<Quad>(own + 4 * v, load<Quad>(own + 4 * v) + scale * sum[b][v]);
  }
}

// The same over a run of terminals.
template <int vectors, int fixed_columns>
void multiply_rows(const DenseGroup& group, std::int32_t row, Share share, const PublicForm& form, const double* reach,
                   double* cfv) {
  const DenseRun run{.matrix = form.matrix + group.matrix_start + row,
                     .num_rows = group.num_rows,
                     .num_columns = group.num_columns,
                     .own = form.dense_own,
                     .other = form.dense_other,
                     .scale = form.dense_scale,
                     .reach = reach,
                     .cfv = cfv + row};
  std::int64_t terminal = group.first_terminal + share.begin;
  const std::int64_t end = group.first_terminal + share.end;
  if constexpr (fixed_columns == 0) {
    for (; terminal + 1 < end; terminal += 2) multiply_batch<vectors, 0, 2>(run, terminal);
  }
  for (; terminal < end; ++terminal) multiply_batch<vectors, fixed_columns, 1>(run, terminal);
}

// All rows of small groups.
template <int vectors>
void multiply_rows_by_columns(const DenseGroup& group, Share share, const PublicForm& form, const double* reach,
                              double* cfv) {
  switch (group.num_columns) {
    case 3:
      return multiply_rows<vectors, 3>(group, 0, share, form, reach, cfv);
    case 4:
      return multiply_rows<vectors, 4>(group, 0, share, form, reach, cfv);
    case 5:
      return multiply_rows<vectors, 5>(group, 0, share, form, reach, cfv);
    case 6:
      return multiply_rows<vectors, 6>(group, 0, share, form, reach, cfv);
    default:
      return multiply_rows<vectors, 0>(group, 0, share, form, reach, cfv);
  }
}

inline void evaluate_group(const DenseGroup& group, Share share, const PublicForm& form, const double* reach,
                           double* cfv) {
  if (group.num_rows == 8) return multiply_rows_by_columns<2>(group, share, form, reach, cfv);
  if (group.num_rows == 4) return multiply_rows_by_columns<1>(group, share, form, reach, cfv);
  std::int32_t row = 0;
  for (; group.num_rows - row >= 16; row += 16) multiply_rows<4, 0>(group, row, share, form, reach, cfv);
  switch ((group.num_rows - row) / 4) {
    case 3:
      return multiply_rows<3, 0>(group, row, share, form, reach, cfv);
    case 2:
      return multiply_rows<2, 0>(group, row, share, form, reach, cfv);
    case 1:
      return multiply_rows<1, 0>(group, row, share, form, reach, cfv);
    default:
      return;
  }
}

// Adds the products of entries of the sparse list into cfv.
inline void evaluate_entries(const PublicForm& form, Share share, const double* __restrict reach,
                             double* __restrict cfv) {
  for (std::int64_t k = share.begin; k < share.end; ++k) {
    cfv[form.sparse_own[k]] += form.sparse_weight[k] * reach[form.sparse_other[k]];
  }
}

// --- reach ---

template <typename Lane>
void spread_reach(const PublicForm& form, const PublicStep& step, Share share, const double* __restrict strategy,
                  double* reach) {
  const std::ptrdiff_t stride = step.stride;
  const std::ptrdiff_t block = stride * step.num_actions;
  for (std::int64_t k = share.begin; k < share.end; ++k) {
    const double* __restrict above = reach + form.source[step.first_index + k];
    const double* __restrict probability = strategy + step.first_cell + k * block;
    double* __restrict below = reach + step.first_cell + k * block;
    for (std::ptrdiff_t column = 0; column < stride; column += lane_count<Lane>) {
      const Lane mass = load<Lane>(above + column);
      for (std::ptrdiff_t cell = column; cell < block; cell += stride) {
        store<Lane>(below + cell, mass * load<Lane>(probability + cell));
      }
    }
  }
}

// Entries stand in the order of their targets: the first one of a target overwrites, the others add.
inline void relate_reach(const PublicForm& form, const PublicStep& step, Share share, double* reach) {
  std::int32_t last = -1;
  for (std::int64_t k = step.first_index + share.begin; k < step.first_index + share.end; ++k) {
    const std::int32_t target = form.entry_target[k];
    const double mass = form.entry_weight[k] * reach[form.entry_source[k]];
    reach[target] = target == last ? reach[target] + mass : mass;
    last = target;
  }
}

inline void step_reach(const PublicForm& form, const PublicStep& step, Share share, const double* strategy,
                       double* reach) {
  if (step.kind == StepKind::relation) {
    relate_reach(form, step, share, reach);
  } else if (step.stride % 4 == 0) {
    spread_reach<Quad>(form, step, share, strategy, reach);
  } else {
    spread_reach<double>(form, step, share, strategy, reach);
  }
}

// Overwrites a player's reach with that of `strategy`; the root's cells are kept.
inline void spread(const PublicForm& form, int player, const double* strategy, double* reach) {
  for (std::int32_t s = form.step_start[player]; s < form.step_start[player + 1]; ++s) {
    step_reach(form, form.steps[s], {0, form.steps[s].num_items}, strategy, reach);
  }
}

// --- back-up and update ---

inline void relate_values(const PublicForm& form, const PublicStep& step, Share share, const std::int32_t* above,
                          double* cfv) {
  for (std::int64_t k = step.first_index + share.end; k-- > step.first_index + share.begin;) {
    cfv[above[k]] += form.entry_weight[k] * cfv[form.entry_target[k]];
  }
}

// Everything that updates of one player in one iteration read beside the step.
struct PublicUpdate {
  const PublicForm& form;
  const Rule& rule;
  const Discount& discount;
  std::int64_t t;
  const Tables& tables;
  double* cfv;
  double* scratch;  // [5, A]
  const std::int32_t* above = form.source;  // where values of decisions and of entries are added
  const std::int32_t* entry_above = form.entry_source;
};

// Regret matching's fallback where it depends on the regrets: per private state without a positive regret.
inline void fall_back_columns(const PublicForm& form, const PublicStep& step, std::ptrdiff_t first, int num_columns,
                              const double* basis, std::ptrdiff_t basis_stride, double* strategy) {
  for (std::ptrdiff_t column = 0; column < num_columns; ++column) {
    int best = -1;
    bool has_positive = false;
    for (int a = 0; a < step.num_actions; ++a) {
      if (step.is_masked && form.legal_share[first + a * step.stride + column] == 0.0) continue;
      const double regret = basis[a * basis_stride + column];
      has_positive = has_positive || regret > 0.0;
      if (best < 0 || regret > basis[best * basis_stride + column]) best = a;
    }
    if (has_positive || best < 0) continue;
    for (int a = 0; a < step.num_actions; ++a) strategy[first + a * step.stride + column] = a == best ? 1.0 : 0.0;
  }
}

// Divides by totals whose inverse overflows.
inline void divide_columns(std::ptrdiff_t first, std::ptrdiff_t stride, int num_actions, int num_columns,
                           const double* basis, std::ptrdiff_t basis_stride, double* strategy) {
  for (std::ptrdiff_t column = 0; column < num_columns; ++column) {
    double total = 0.0;
    for (int a = 0; a < num_actions; ++a) total += larger(basis[a * basis_stride + column], 0.0);
    if (!(total > 0.0)) continue;
    for (int a = 0; a < num_actions; ++a) {
      strategy[first + a * stride + column] = larger(basis[a * basis_stride + column], 0.0) / total;
    }
  }
}

// Regret matching over blocks of a step, a vector of private states at a time. With `fixed_actions` a block's values and
// gains stay in registers; 0 reads the number of actions from the step, and the values and gains from memory.
template <typename Lane, int fixed_actions, bool is_masked, bool is_optimistic>
void match_regrets(const PublicUpdate& update, const PublicStep& step, Share share) {
  const PublicForm& form = update.form;
  const std::ptrdiff_t stride = step.stride;
  const int num_actions = fixed_actions > 0 ? fixed_actions : step.num_actions;
  const std::ptrdiff_t block = stride * num_actions;
  const Lane zero = broadcast<Lane>(0.0);
  const Lane floor = broadcast<Lane>(update.rule.floor());
  const Lane positive = broadcast<Lane>(update.discount.positive);
  const Lane negative = broadcast<Lane>(update.discount.negative);
  const Lane decay = broadcast<Lane>(update.discount.average_decay);
  const Lane weight = broadcast<Lane>(update.discount.average_weight);
  const Lane even_share = broadcast<Lane>(1.0 / num_actions);
  const bool is_argmax = update.rule.fallback == Fallback::argmax;
  double* __restrict const strategy = update.tables.strategy;
  double* __restrict const regret = update.tables.regret_sum;
  double* __restrict const average = update.tables.strategy_sum;
  const double* __restrict const reach = update.tables.realization;
  double* __restrict const cfv = update.cfv;
  for (std::int64_t k = share.end; k-- > share.begin;) {
    double* const above = cfv + update.above[step.first_index + k];
    for (std::ptrdiff_t column = 0; column < stride; column += lane_count<Lane>) {
      const std::ptrdiff_t first = step.first_cell + k * block + column;
      Lane value[fixed_actions > 0 ? fixed_actions : 1];
      Lane gain[fixed_actions > 0 ? fixed_actions : 1];
      const auto value_of = [&](int a) { return fixed_actions > 0 ? value[a] : load<Lane>(cfv + first + a * stride); };
      const auto gain_of = [&](int a) {
        return fixed_actions > 0 ? gain[a] : load<Lane>(strategy + first + a * stride);
      };
      Lane expected = zero;
      for (int a = 0; a < num_actions; ++a) {
        if constexpr (fixed_actions > 0) value[a] = load<Lane>(cfv + first + a * stride);
        expected += load<Lane>(strategy + first + a * stride) * value_of(a);
      }
      store<Lane>(above + column, load<Lane>(above + column) + expected);
      Lane total = zero;
      for (int a = 0; a < num_actions; ++a) {
        const std::ptrdiff_t cell = first + a * stride;
        Lane instant = value_of(a) - expected;
        if constexpr (is_masked) instant = load<Lane>(form.legal_share + cell) > zero ? instant : zero;
        const Lane stored = load<Lane>(regret + cell);
        const Lane updated = larger(stored * (stored > zero ? positive : negative) + instant, floor);
        store<Lane>(regret + cell, updated);
        store<Lane>(average + cell, load<Lane>(average + cell) * decay + weight * load<Lane>(reach + cell));
        Lane basis = updated;
        if constexpr (is_optimistic) {
          basis += instant;
          store<Lane>(cfv + cell, basis);  // this block's values are read; the fallbacks below want the basis
        }
        const Lane positive_part = larger(basis, zero);
        if constexpr (fixed_actions > 0) {
          gain[a] = positive_part;
        } else {
          store<Lane>(strategy + cell, positive_part);
        }
        total += positive_part;
      }
      const Lane inverse = broadcast<Lane>(1.0) / total;
      for (int a = 0; a < num_actions; ++a) {
        const std::ptrdiff_t cell = first + a * stride;
        const Lane fallback = is_masked ? load<Lane>(form.legal_share + cell) : even_share;
        store<Lane>(strategy + cell, total > zero ? gain_of(a) * inverse : fallback);
      }
      const double* const basis = is_optimistic ? cfv + first : regret + first;
      if (any_between(total, 0.0, 1e-300)) {
        divide_columns(first, stride, num_actions, lane_count<Lane>, basis, stride, strategy);
      }
      if (is_argmax) {
        fall_back_columns(form, step, first, lane_count<Lane>, basis, stride, strategy);
      }
    }
  }
}

// Any policy map, a private state at a time: its actions are gathered into a row that the shared update reads.
template <PolicyMap policy_map, bool is_optimistic>
void update_columns(const PublicUpdate& update, const PublicStep& step, Share share) {
  const PublicForm& form = update.form;
  const Tables& tables = update.tables;
  const std::ptrdiff_t stride = step.stride;
  const double floor = update.rule.floor();
  const auto scratch = [&](int index) { return update.scratch + index * form.max_actions; };
  double* const row_reach = scratch(1);
  Row row{.num_actions = 0,
          .value = scratch(0),
          .reach = row_reach,
          .regret = scratch(2),
          .average = scratch(3),
          .strategy = scratch(4),
          .scale = nullptr,
          .moments = nullptr};
  for (std::int64_t k = share.end; k-- > share.begin;) {
    for (std::ptrdiff_t column = 0; column < stride; ++column) {
      const std::ptrdiff_t first = step.first_cell + k * stride * step.num_actions + column;
      double expected = 0.0;
      row.num_actions = 0;
      for (int a = 0; a < step.num_actions; ++a) {
        const std::ptrdiff_t cell = first + a * stride;
        if (form.legal_share[cell] == 0.0) continue;
        const int index = row.num_actions++;
        row.value[index] = update.cfv[cell];
        row_reach[index] = tables.realization[cell];
        row.regret[index] = tables.regret_sum[cell];
        row.average[index] = tables.strategy_sum[cell];
        expected += tables.strategy[cell] * update.cfv[cell];
      }
      if (row.num_actions == 0) continue;
      update.cfv[update.above[step.first_index + k] + column] += expected;
      const std::ptrdiff_t table_row = step.first_row + k * stride + column;
      row.scale = tables.scale + table_row;
      row.moments = tables.value_moments + 2 * table_row;
      update_row<policy_map, is_optimistic>(update.rule, update.discount, update.t, floor, 1.0, expected, row);
      for (int a = 0, index = 0; a < step.num_actions; ++a) {
        const std::ptrdiff_t cell = first + a * stride;
        if (form.legal_share[cell] == 0.0) continue;
        tables.regret_sum[cell] = row.regret[index];
        tables.strategy_sum[cell] = row.average[index];
        tables.strategy[cell] = row.strategy[index];
        ++index;
      }
    }
  }
}

template <typename Lane, bool is_masked, bool is_optimistic>
void match_regrets_by_actions(const PublicUpdate& update, const PublicStep& step, Share share) {
  switch (step.num_actions) {
    case 1:
      return match_regrets<Lane, 1, is_masked, is_optimistic>(update, step, share);
    case 2:
      return match_regrets<Lane, 2, is_masked, is_optimistic>(update, step, share);
    case 3:
      return match_regrets<Lane, 3, is_masked, is_optimistic>(update, step, share);
    case 4:
      return match_regrets<Lane, 4, is_masked, is_optimistic>(update, step, share);
    default:
      return match_regrets<Lane, 0, is_masked, is_optimistic>(update, step, share);
  }
}

template <bool is_optimistic>
void update_decisions(const PublicUpdate& update, const PublicStep& step, Share share) {
  switch (update.rule.policy_map) {
    case PolicyMap::hedge:
      return update_columns<PolicyMap::hedge, is_optimistic>(update, step, share);
    case PolicyMap::normal_hedge:
      return update_columns<PolicyMap::normal_hedge, is_optimistic>(update, step, share);
    default:
      if (update.discount.threshold > 0.0) {
        return update_columns<PolicyMap::regret_matching, is_optimistic>(update, step, share);
      }
      break;
  }
  const bool is_wide = step.stride % 4 == 0;
  if (is_wide && step.is_masked) return match_regrets_by_actions<Quad, true, is_optimistic>(update, step, share);
  if (is_wide) return match_regrets_by_actions<Quad, false, is_optimistic>(update, step, share);
  if (step.is_masked) return match_regrets_by_actions<double, true, is_optimistic>(update, step, share);
  return match_regrets_by_actions<double, false, is_optimistic>(update, step, share);
}

inline void update_step(const PublicUpdate& update, const PublicStep& step, Share share) {
  if (step.kind == StepKind::relation) return relate_values(update.form, step, share, update.entry_above, update.cfv);
  if (update.rule.is_optimistic) return update_decisions<true>(update, step, share);
  return update_decisions<false>(update, step, share);
}

// --- iterations ---

// Working memory of a run: per thread one value table over all cells, and room for one information state.
struct PublicWorkspace {
  std::vector<std::vector<double>> cfv;
  std::vector<std::vector<double>> scratch;

  void prepare(const PublicForm& form, int num_threads, std::int32_t num_handed = 0) {
    cfv.resize(static_cast<std::size_t>(num_threads));
    for (auto& table : cfv) table.assign(static_cast<std::size_t>(form.num_cells() + num_handed), 0.0);
    scratch.resize(static_cast<std::size_t>(num_threads));
    for (auto& row : scratch) row.assign(5 * static_cast<std::size_t>(form.max_actions), 0.0);
  }

  void prepare(const PublicForm& form, const TeamPlan* plans) {
    std::int32_t num_handed = 0;
    for (int player = 0; player < 2; ++player) {
      for (const Part& part : plans[player].parts) num_handed = std::max(num_handed, part.num_handed);
    }
    prepare(form, static_cast<int>(plans[0].parts.size()), num_handed);
  }

  // Adds the other threads' values of a part's cells into `thread`'s. All but one are zeros: the order does not matter.
  void gather(const Part& part, int thread) {
    double* const sum = cfv[thread].data();
    for (std::size_t other = 0; other < cfv.size(); ++other) {
      if (other == static_cast<std::size_t>(thread)) continue;
      for (const Share& cells : part.cells) {
        for (std::int64_t cell = cells.begin; cell < cells.end; ++cell) sum[cell] += cfv[other][cell];
      }
    }
  }

  // Adds values that threads left for the trunk into `thread`'s, the last first.
  void take_handovers(const TeamPlan& plan, Share share, int thread) {
    double* const sum = cfv[thread].data();
    for (std::int64_t k = share.end; k-- > share.begin;) {
      const Handover& handover = plan.handovers[k];
      sum[handover.to] += cfv[handover.thread][handover.from];
    }
  }
};

// A player's cells are two runs: its decisions' and the others.
inline void clear_values(const PublicForm& form, int player, double* cfv) {
  for (const int run : {player, player + 2}) {
    const std::int32_t start = form.cell_start[run];
    std::memset(cfv + start, 0, sizeof(double) * (form.cell_start[run + 1] - start));
  }
}

inline void clear_part(const Part& part, double* cfv) {
  for (const Share& cells : part.cells) std::memset(cfv + cells.begin, 0, sizeof(double) * (cells.end - cells.begin));
}

inline void evaluate_part(const PublicForm& form, const Part& part, const double* reach, double* cfv) {
  for (const TerminalRun& run : part.dense) evaluate_group(form.groups[run.group], run.share, form, reach, cfv);
  for (const Share& entries : part.sparse) evaluate_entries(form, entries, reach, cfv);
}

inline void update_part(const PublicUpdate& update, const Part& part) {
  for (std::size_t r = part.runs.size(); r-- > 0;) {
    update_step(update, update.form.steps[part.runs[r].step], part.runs[r].share);
  }
}

// The same for the trunk, with what the parts hand over.
inline void update_trunk(const PublicUpdate& update, const TeamPlan& plan, PublicWorkspace& workspace, int thread) {
  workspace.gather(plan.trunk, thread);
  for (std::size_t r = plan.trunk.runs.size(); r-- > 0;) {
    const Run& run = plan.trunk.runs[r];
    if (run.step == handing_over) {
      workspace.take_handovers(plan, run.share, thread);
    } else {
      update_step(update, update.form.steps[run.step], run.share);
    }
  }
}

inline void spread_part(const PublicForm& form, const Part& part, const double* strategy, double* reach) {
  for (const Run& run : part.runs) {
    if (run.step != handing_over) step_reach(form, form.steps[run.step], run.share, strategy, reach);
  }
}

// Puts what a player is locked to back where an update has overwritten it; `kept` [locked cells] are its regrets. Only
// cells of one owner, see TeamPlan.
inline void restore_locks(const PublicForm& form, const TeamPlan& plan, int player, int owner, const double* kept,
                          const Tables& tables) {
  for (std::int32_t k = form.lock_start[player]; k < form.lock_start[player + 1]; ++k) {
    const std::int32_t cell = form.locked_cell[k];
    if (plan.owner[cell] != owner) continue;
    tables.regret_sum[cell] = kept[k];
    tables.strategy_sum[cell] = tables.strategy[cell] = form.locked_share[k];
  }
}

// Runs iterations first_t .. first_t + num_iterations - 1, each of which updates both players once. `plans` are both
// players', and their size is the team's; a prepared `workspace`. Ends early where the frontier gives up.
inline std::int64_t iterate(const PublicForm& form, const TeamPlan* plans, const Rule& rule, const Discount* discounts,
                            std::int64_t first_t, std::int64_t num_iterations, bool is_alternating,
                            const Tables& tables, PublicWorkspace& workspace, Team& team,
                            const PublicHooks& hooks = {}) {
  const int num_threads = static_cast<int>(plans[0].parts.size());
  Barrier barrier(num_threads);
  const Frontier& frontier = hooks.frontier;
  bool has_failed = false;
  std::int64_t num_done = num_iterations;
  std::vector<double> kept;
  if (form.lock_start) {
    for (std::int32_t k = 0; k < form.lock_start[2]; ++k) kept.push_back(tables.regret_sum[form.locked_cell[k]]);
  }

  team.run(num_threads, [&](int thread) {
    double* const cfv = workspace.cfv[thread].data();
    double* const reach = tables.realization;

    // all threads have met before: nobody writes reaches while one thread reads them
    const auto consult = [&](std::int64_t t) {
      if (frontier.is_empty()) return true;
      if (thread == 0 && !frontier.consult([&](int, std::int32_t cell) { return reach[cell]; })) {
        has_failed = true;
        num_done = t - first_t;
      }
      barrier.wait();
      return !has_failed;
    };
    const auto evaluate = [&](int player) {
      const TeamPlan& plan = plans[player];
      clear_part(plan.parts[thread], cfv);
      clear_part(plan.trunk, cfv);
      evaluate_part(form, plan.parts[thread], reach, cfv);
      if (frontier.is_empty()) return;
      frontier.give(player, [&](std::int32_t cell, double value) {
        if (std::max<int>(plan.owner[cell], 0) == thread) cfv[cell] += value;
      });
    };
    const auto update_player = [&](int player, std::int64_t t) {
      const TeamPlan& plan = plans[player];
      PublicUpdate update{form, rule, discounts[t - first_t], t, tables, cfv, workspace.scratch[thread].data()};
      if (num_threads > 1) {
        update.above = plan.above.data();
        update.entry_above = plan.entry_above.data();
        std::memset(cfv + form.num_cells(), 0, sizeof(double) * plan.parts[thread].num_handed);
      }
      update_part(update, plan.parts[thread]);
      if (form.lock_start) restore_locks(form, plan, player, thread, kept.data(), tables);
      barrier.wait([&] {
        update_trunk(update, plan, workspace, thread);
        if (form.lock_start) restore_locks(form, plan, player, trunk_owner, kept.data(), tables);
        hooks.pass(player, rule, update.discount, t, [&](std::int32_t cell) {
          const int owner = plan.owner[cell];
          return owner < 0 ? cfv[cell] : workspace.cfv[owner][cell];
        }, reach);
        spread_part(form, plan.trunk, tables.strategy, reach);
      });
      spread_part(form, plan.parts[thread], tables.strategy, reach);
      barrier.wait();
    };

    for (std::int64_t t = first_t; t < first_t + num_iterations; ++t) {
      if (is_alternating) {
        for (int player = 0; player < 2; ++player) {
          if (!consult(t)) return;
          evaluate(player);
          update_player(player, t);
        }
        continue;
      }
      if (!consult(t)) return;
      for (int player = 0; player < 2; ++player) evaluate(player);
      barrier.wait();
      for (int player = 0; player < 2; ++player) update_player(player, t);
    }
  });
  return num_done;
}

// Updates one player once per row of `discounts`, as the function of this name does on a history tree. `cfv` is over all
// cells; `scratch` has room for one information state.
inline void learn(const PublicForm& form, const Rule& rule, const Discount* discounts, std::int64_t first_t,
                  std::int64_t num_updates, int player, const double* terminal_values, const Tables& tables, double* cfv,
                  double* scratch, double* utility) {
  for (std::int64_t k = 0; k < num_updates; ++k) {
    double earned = 0.0;
    for (const int run : {player, player + 2}) {
      for (std::int32_t cell = form.cell_start[run]; cell < form.cell_start[run + 1]; ++cell) {
        earned += tables.realization[cell] * terminal_values[cell];
        cfv[cell] = terminal_values[cell];
      }
    }
    utility[k] = earned;
    const PublicUpdate update{form, rule, discounts[k], first_t + k, tables, cfv, scratch};
    for (std::int32_t s = form.step_start[player + 1]; s-- > form.step_start[player];) {
      update_step(update, form.steps[s], {0, form.steps[s].num_items});
    }
    spread(form, player, tables.strategy, tables.realization);
  }
}

// --- values and best responses of fixed strategies ---

// Overwrites a player's cells of `cfv` with terminal values against the other's reach.
inline void evaluate_terminals(const PublicForm& form, const TeamPlan* plans, int player, const double* reach,
                               Team& team, double* cfv) {
  const TeamPlan& plan = plans[player];
  clear_values(form, player, cfv);
  if (plan.parts.size() == 1) return evaluate_part(form, plan.parts[0], reach, cfv);
  const auto size = static_cast<std::size_t>(form.num_cells());
  std::vector<std::vector<double>> partial(plan.parts.size(), std::vector<double>(size));
  team.run(static_cast<int>(plan.parts.size()), [&](int thread) {
    evaluate_part(form, plan.parts[thread], reach, partial[thread].data());
  });
  for (const auto& table : partial) {  // zeros, all but one of a cell
    for (std::size_t cell = 0; cell < size; ++cell) cfv[cell] += table[cell];
  }
}

// Backs values up to the root; `choose(row, cells, num_actions, values)` returns what one information state is worth.
template <typename Choose>
void back_up(const PublicForm& form, int player, double* cfv, Choose&& choose) {
  std::vector<std::ptrdiff_t> cells(static_cast<std::size_t>(form.max_actions));
  for (std::int32_t s = form.step_start[player + 1]; s-- > form.step_start[player];) {
    const PublicStep& step = form.steps[s];
    if (step.kind == StepKind::relation) {
      relate_values(form, step, {0, step.num_items}, form.entry_source, cfv);
      continue;
    }
    for (std::int64_t k = 0; k < step.num_items; ++k) {
      for (std::ptrdiff_t column = 0; column < step.stride; ++column) {
        int count = 0;
        for (int a = 0; a < step.num_actions; ++a) {
          const std::ptrdiff_t cell = step.first_cell + (k * step.num_actions + a) * step.stride + column;
          if (form.legal_share[cell] > 0.0) cells[count++] = cell;
        }
        const std::ptrdiff_t row = step.first_row + k * step.stride + column;
        if (count > 0) cfv[form.source[step.first_index + k] + column] += choose(row, cells.data(), count, cfv);
      }
    }
  }
}

// Backs up the best action everywhere (reached or not) and writes it as a pure strategy into `best`; where rows are
// locked, what they play if locks count.
inline void back_up_best(const PublicForm& form, int player, bool respects_locks, double* cfv, double* best) {
  const std::uint8_t* const is_locked = respects_locks ? form.is_locked : nullptr;
  back_up(form, player, cfv, [&](std::ptrdiff_t row, const std::ptrdiff_t* cells, int num_actions,
                                 const double* values) {
    if (is_locked && is_locked[row]) {
      double expected = 0.0;
      for (int a = 0; a < num_actions; ++a) {
        best[cells[a]] = form.locked_strategy[cells[a]];
        expected += best[cells[a]] * values[cells[a]];
      }
      return expected;
    }
    std::ptrdiff_t chosen = cells[0];
    for (int a = 1; a < num_actions; ++a) {
      if (values[cells[a]] > values[chosen]) chosen = cells[a];
    }
    for (int a = 0; a < num_actions; ++a) best[cells[a]] = cells[a] == chosen ? 1.0 : 0.0;
    return values[chosen];
  });
}

// Backs up the value of playing `strategy`.
inline void back_up_strategy(const PublicForm& form, int player, const double* strategy, double* cfv) {
  back_up(form, player, cfv, [strategy](std::ptrdiff_t, const std::ptrdiff_t* cells, int num_actions,
                                        const double* values) {
    double expected = 0.0;
    for (int a = 0; a < num_actions; ++a) expected += strategy[cells[a]] * values[cells[a]];
    return expected;
  });
}

// Backs up substitute values, as the function of this name does for a history tree; [I] over rows.
inline void back_up_substitutes(const PublicForm& form, int player, const double* budget, double* cfv,
                                double* row_value, double* regret) {
  std::vector<double> sorted(static_cast<std::size_t>(form.max_actions));
  back_up(form, player, cfv,
          [&](std::ptrdiff_t row, const std::ptrdiff_t* cells, int num_actions, const double* values) {
            for (int a = 0; a < num_actions; ++a) sorted[a] = values[cells[a]];
            const double level = solve_level(num_actions, sorted.data(), budget[row]);
            for (int a = 0; a < num_actions; ++a) regret[cells[a]] = values[cells[a]] - level;
            row_value[row] = level;
            return level;
          });
}

// Overwrites `out` with the sums normalised at every information state; uniform where nothing was summed.
inline void normalize_sums(const PublicForm& form, const double* sums, double* out) {
  std::vector<double> row(2 * static_cast<std::size_t>(form.max_actions));
  double* const normal = row.data() + form.max_actions;
  std::vector<std::ptrdiff_t> cells(static_cast<std::size_t>(form.max_actions));
  for (std::int32_t s = 0; s < form.step_start[2]; ++s) {
    const PublicStep& step = form.steps[s];
    if (step.kind == StepKind::relation) continue;
    for (std::int64_t k = 0; k < step.num_items; ++k) {
      for (std::ptrdiff_t column = 0; column < step.stride; ++column) {
        int count = 0;
        for (int a = 0; a < step.num_actions; ++a) {
          const std::ptrdiff_t cell = step.first_cell + (k * step.num_actions + a) * step.stride + column;
          if (form.legal_share[cell] > 0.0) cells[count++] = cell;
        }
        for (int a = 0; a < count; ++a) row[a] = sums[cells[a]];
        regret_matching(Fallback::uniform, count, row.data(), normal);
        for (int a = 0; a < count; ++a) out[cells[a]] = normal[a];
      }
    }
  }
}

}  // namespace equipoise
