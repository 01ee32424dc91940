// SPDX-License-Identifier: Apache-2.0
// A public tree as the files of the native module share it.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "bindings.hpp"
#include "public.hpp"

namespace equipoise {

// Keeps the arrays alive that its form points into; arrays in the order of PublicKernel's constructor.
struct BoundPublicForm {
  PublicForm form;
  std::vector<Ints> ints;
  std::vector<Doubles> doubles;
  std::map<int, std::array<TeamPlan, 2>> teams;  // by number of threads: who does what, for both players

  BoundPublicForm(std::vector<Ints> int_arrays, std::vector<Doubles> double_arrays)
      : ints(std::move(int_arrays)), doubles(std::move(double_arrays)) {
    static_assert(sizeof(PublicStep) == 8 * sizeof(std::int32_t));
    static_assert(sizeof(DenseGroup) == 6 * sizeof(std::int32_t));
    form.cell_start = ints[0].data();
    form.steps = reinterpret_cast<const PublicStep*>(ints[1].data());
    form.step_start = ints[2].data();
    form.source = ints[3].data();
    form.entry_source = ints[4].data();
    form.entry_target = ints[5].data();
    form.groups = reinterpret_cast<const DenseGroup*>(ints[6].data());
    form.group_start = ints[7].data();
    form.dense_own = ints[8].data();
    form.dense_other = ints[9].data();
    form.sparse_start = ints[10].data();
    form.sparse_own = ints[11].data();
    form.sparse_other = ints[12].data();
    form.entry_weight = doubles[0].data();
    form.legal_share = doubles[1].data();
    form.matrix = doubles[2].data();
    form.dense_scale = doubles[3].data();
    form.sparse_weight = doubles[4].data();
    for (std::int32_t s = 0; s < form.step_start[2]; ++s) {
      form.max_actions = std::max(form.max_actions, static_cast<int>(form.steps[s].num_actions));
    }
  }

  const TeamPlan* team(int num_threads) {
    if (!teams.contains(num_threads)) {
      teams[num_threads] = {plan_team(form, 0, num_threads), plan_team(form, 1, num_threads)};
    }
    return teams[num_threads].data();
  }
};

}  // namespace equipoise
