// SPDX-License-Identifier: Apache-2.0
// Hold'em players with tables of their own: what one of them earns, learns and answers against the other.
#include <string>

#include "holdem.hpp"
#include "holdem_bindings.hpp"

namespace equipoise {

namespace {

template <typename Number>
Number* data_or_null(const Array<Number>& array) {
  return array.size() ? array.data() : nullptr;
}

// Runs one sweep for some players, each from a policy of its own.
template <typename Real, typename Cell>
void sweep_once(const HoldemForm& form, const HoldemTask<Cell>& task, int num_threads, HoldemWorkspace<Real>& workspace) {
  workspace.prepare(form, num_threads);
  Barrier barrier(num_threads);
  run_team(num_threads, [&](int thread) {
    const FlushSubnormals flush;
    HoldemSweep<Real, Cell> sweep(form, task, workspace);
    sweep.run({thread, num_threads, &barrier});
  });
}

// A player's values at the root from its own table, or of its best response if there is none; and what it writes down.
template <typename Cell>
void bind_pair_values(nb::module_& module, const char* name) {
  module.def(name, [](const BoundHoldemForm& bound, int player, Array<const Cell> own, Array<const Cell> other,
                      Array<const Cell> model, Array<const Cell> trust, int num_threads, Array<Cell> answer,
                      Array<Cell> action_value, MutableDoubles value) {
    nb::gil_scoped_release release;
    HoldemTask<Cell> task;
    task.purpose = own.size() ? HoldemPurpose::expected_value : HoldemPurpose::best_response;
    task.is_active[player] = true;
    task.policy[player].sums = {data_or_null(own), nullptr};
    task.policy[1 - player].sums = {other.data(), nullptr};
    task.play = {.strategy = data_or_null(answer),
                 .action_value = data_or_null(action_value),
                 .model = data_or_null(model),
                 .trust = data_or_null(trust)};
    HoldemWorkspace<double> workspace;
    sweep_once<double, Cell>(bound.form, task, num_threads, workspace);
    std::copy_n(workspace.root_value[player].data(), value.size(), value.data());
  },
      nb::arg("bound"), nb::arg("player"), nb::kw_only(), nb::arg("own"), nb::arg("other"), nb::arg("model"),
      nb::arg("trust"), nb::arg("num_threads"), nb::arg("answer"), nb::arg("action_value"), nb::arg("value"));
}

// Own reach and probabilities of both players, from what a rule makes of sums.
template <typename Cell>
void bind_realize(nb::module_& module, const char* name) {
  module.def(name, [](const BoundHoldemForm& bound, int policy_map, int fallback, bool is_optimistic,
                      bool floors_regrets, bool tracks_variance, Array<const Cell> sums, Array<const Cell> last_regret,
                      Array<const Cell> step, int num_threads, Array<Cell> plan, Array<Cell> strategy) {
    nb::gil_scoped_release release;
    const Rule rule = make_rule(policy_map, fallback, is_optimistic, floors_regrets, tracks_variance);
    HoldemTask<Cell> task;
    task.purpose = HoldemPurpose::realize;
    task.is_active[0] = task.is_active[1] = true;
    task.set_policies({.sums = {sums.data(), nullptr},
                       .last_regret = {data_or_null(last_regret), nullptr},
                       .step = data_or_null(step),
                       .policy_map = rule.policy_map,
                       .fallback = rule.fallback});
    task.play = {.plan = data_or_null(plan), .strategy = data_or_null(strategy)};
    HoldemWorkspace<double> workspace;
    sweep_once<double, Cell>(bound.form, task, num_threads, workspace);
  },
      nb::arg("bound"), nb::arg("policy_map"), nb::arg("fallback"), nb::arg("is_optimistic"),
      nb::arg("floors_regrets"), nb::arg("tracks_variance"), nb::kw_only(), nb::arg("sums"), nb::arg("last_regret"),
      nb::arg("step"), nb::arg("num_threads"), nb::arg("plan"), nb::arg("strategy"));
}

// One player's part of a run, once per row of discounts, against what stands still; its values at the root each time.
template <typename Cell>
void bind_learn(nb::module_& module, const char* name) {
  module.def(name, [](const BoundHoldemForm& bound, int policy_map, int fallback, bool is_optimistic,
                      bool floors_regrets, bool tracks_variance, Doubles discounts, std::int64_t first_t, int player,
                      Array<const Cell> other, int num_threads, Array<Cell> regret_sum, Array<Cell> strategy_sum,
                      Array<Cell> last_regret, Array<Cell> scale, Array<Cell> step, Array<Cell> value_moments,
                      MutableDoubles value) {
    const auto* rows = reinterpret_cast<const Discount*>(discounts.data());
    const auto num_updates = static_cast<std::int64_t>(discounts.shape(0));
    const auto num_rows = static_cast<std::int64_t>(value.shape(1));
    nb::gil_scoped_release release;
    const HoldemTables<Cell> tables{.regret_sum = {regret_sum.data(), nullptr},
                                    .strategy_sum = {strategy_sum.data(), nullptr},
                                    .last_regret = {last_regret.data(), nullptr},
                                    .scale = scale.data(),
                                    .step = step.data(),
                                    .value_moments = value_moments.data()};
    HoldemTask<Cell> task;
    task.is_active[player] = true;
    task.tables = tables;
    task.rule = make_rule(policy_map, fallback, is_optimistic, floors_regrets, tracks_variance);
    task.policy[player] = policy_of(task.rule, tables);
    task.policy[1 - player].sums = {other.data(), nullptr};
    HoldemWorkspace<Cell> workspace;
    for (std::int64_t update = 0; update < num_updates; ++update) {
      task.t = first_t + update;
      task.discount = rows[update];
      task.policy[player].fallback = task.t > 1 ? task.rule.fallback : Fallback::uniform;
      sweep_once<Cell, Cell>(bound.form, task, num_threads, workspace);
      std::copy_n(workspace.root_value[player].data(), num_rows, value.data() + update * num_rows);
    }
  },
      nb::arg("bound"), nb::arg("policy_map"), nb::arg("fallback"), nb::arg("is_optimistic"),
      nb::arg("floors_regrets"), nb::arg("tracks_variance"), nb::kw_only(), nb::arg("discounts"), nb::arg("first_t"),
      nb::arg("player"), nb::arg("other"), nb::arg("num_threads"), nb::arg("regret_sum"), nb::arg("strategy_sum"),
      nb::arg("last_regret"), nb::arg("scale"), nb::arg("step"), nb::arg("value_moments"), nb::arg("value"));
}

template <typename Cell>
void bind_play(nb::module_& module, const std::string& dtype) {
  bind_pair_values<Cell>(module, ("holdem_pair_values_" + dtype).c_str());
  bind_realize<Cell>(module, ("holdem_realize_" + dtype).c_str());
  bind_learn<Cell>(module, ("holdem_learn_" + dtype).c_str());
}

}  // namespace

void bind_holdem_play(nb::module_& module) {
  bind_play<float>(module, "float32");
  bind_play<double>(module, "float64");
}

}  // namespace equipoise
