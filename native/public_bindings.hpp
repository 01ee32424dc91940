// SPDX-License-Identifier: Apache-2.0
// A public tree as the files of the native module share it.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "bindings.hpp"
#include "public.hpp"

namespace equipoise {

// Keeps the arrays alive that its form points into, and what its calls work with.
struct BoundPublicForm {
  PublicForm form;
  NamedArrays arrays;
  std::map<int, std::array<TeamPlan, 2>> teams;  // by number of threads: who does what, for both players
  Team crew;
  Spare<PublicWorkspace> workspace;

  explicit BoundPublicForm(const nb::dict& given) : arrays(given) {
    static_assert(sizeof(PublicStep) == 8 * sizeof(std::int32_t));
    static_assert(sizeof(DenseGroup) == 6 * sizeof(std::int32_t));
    form.cell_start = arrays.data<Ints>("cell_start");
    form.steps = reinterpret_cast<const PublicStep*>(arrays.data<Ints>("steps"));
    form.step_start = arrays.data<Ints>("step_start");
    form.source = arrays.data<Ints>("source");
    form.entry_source = arrays.data<Ints>("entry_source");
    form.entry_target = arrays.data<Ints>("entry_target");
    form.groups = reinterpret_cast<const DenseGroup*>(arrays.data<Ints>("groups"));
    form.group_start = arrays.data<Ints>("group_start");
    form.dense_own = arrays.data<Ints>("dense_own");
    form.dense_other = arrays.data<Ints>("dense_other");
    form.sparse_start = arrays.data<Ints>("sparse_start");
    form.sparse_own = arrays.data<Ints>("sparse_own");
    form.sparse_other = arrays.data<Ints>("sparse_other");
    form.entry_weight = arrays.data<Doubles>("entry_weight");
    form.legal_share = arrays.data<Doubles>("legal_share");
    form.matrix = arrays.data<Doubles>("matrix");
    form.dense_scale = arrays.data<Doubles>("dense_scale");
    form.sparse_weight = arrays.data<Doubles>("sparse_weight");
    if (arrays.has("lock_start")) {
      form.lock_start = arrays.data<Ints>("lock_start");
      form.locked_cell = arrays.data<Ints>("locked_cell");
      form.locked_share = arrays.data<Doubles>("locked_share");
      form.is_locked = arrays.data<Cards>("is_locked");
      form.locked_strategy = arrays.data<Doubles>("locked_strategy");
    }
    arrays.check_all_asked();
    for (std::int32_t s = 0; s < form.step_start[2]; ++s) {
      form.max_actions = std::max(form.max_actions, static_cast<int>(form.steps[s].num_actions));
    }
  }

  // With the interpreter's lock held, which is what keeps callers apart here.
  const TeamPlan* team(int num_threads) {
    if (!teams.contains(num_threads)) {
      teams[num_threads] = {plan_team(form, 0, num_threads), plan_team(form, 1, num_threads)};
      for (TeamPlan& plan : teams[num_threads]) plan.find_owners(form.num_cells());
    }
    return teams[num_threads].data();
  }

  std::int64_t iterate_plans(const TeamPlan* plans, const Rule& rule, const Discount* rows, std::int64_t first_t,
                             std::int64_t num_iterations, bool is_alternating, const Tables& tables,
                             const PublicHooks& hooks = {}) {
    std::int64_t num_done = 0;
    workspace.lend(
        static_cast<int>(plans[0].parts.size()), [&](PublicWorkspace& own) { own.prepare(form, plans); },
        [&](PublicWorkspace& own) {
          num_done =
              iterate(form, plans, rule, rows, first_t, num_iterations, is_alternating, tables, own, crew, hooks);
        });
    return num_done;
  }
};

}  // namespace equipoise
