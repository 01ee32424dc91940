// SPDX-License-Identifier: Apache-2.0
// Iterations over a public tree with hooks. Shapes and dtypes are checked by equipoise.kernels.public_hooks.
#include "public_bindings.hpp"

namespace equipoise {

namespace {

// Keeps the arrays alive that its hooks point into; empty arrays stand for hooks that are not there.
struct BoundHooks {
  PublicHooks hooks;
  std::vector<Ints> ints;
  std::vector<Doubles> doubles;
  std::vector<MutableDoubles> tables;

  BoundHooks(int gate_player, int gate_kind, double share, std::vector<Ints> int_arrays,
             std::vector<Doubles> double_arrays, std::vector<MutableDoubles> table_arrays)
      : ints(std::move(int_arrays)), doubles(std::move(double_arrays)), tables(std::move(table_arrays)) {
    hooks.gate_player = gate_player;
    hooks.gate_cells = ints[0].data();
    hooks.gate = {.kind = static_cast<GateKind>(gate_kind),
                  .num_private = static_cast<std::int64_t>(ints[0].size()),
                  .mass = doubles[0].data(),
                  .leave = doubles[1].data(),
                  .deviation = doubles[2].data(),
                  .prior = doubles[3].data(),
                  .share = share,
                  .regret = tables[0].data()};
    hooks.gate_values = tables[1].data();
    if (ints[2].size() > 0) hooks.watched = {ints[1].data(), ints[2].data()};
    hooks.value_sum = tables[2].data();
    if (ints[4].size() > 0) hooks.given = {ints[3].data(), ints[4].data()};
    hooks.given_value = doubles[4].data();
  }
};

}  // namespace

void bind_public_hooks(nb::module_& module) {
  nb::class_<BoundHooks>(module, "PublicHooks")
      .def(nb::init<int, int, double, std::vector<Ints>, std::vector<Doubles>, std::vector<MutableDoubles>>());
  module.def("public_iterate_hooked",
             [](BoundPublicForm& bound, const BoundHooks& bound_hooks, int only_player, int policy_map, int fallback,
                bool is_optimistic, bool floors_regrets, bool tracks_variance, Doubles discounts, std::int64_t first_t,
                bool is_alternating, int num_threads, MutableDoubles regret_sum, MutableDoubles strategy_sum,
                MutableDoubles strategy, MutableDoubles realization, MutableDoubles scale,
                MutableDoubles value_moments) {
               const Rule rule = make_rule(policy_map, fallback, is_optimistic, floors_regrets, tracks_variance);
               const Tables tables{regret_sum.data(),  strategy_sum.data(), strategy.data(),
                                   realization.data(), scale.data(),        value_moments.data()};
               const auto* rows = reinterpret_cast<const Discount*>(discounts.data());
               const auto num_iterations = static_cast<std::int64_t>(discounts.shape(0));
               const TeamPlan* plans = bound.team(num_threads);
               PublicHooks hooks = bound_hooks.hooks;
               hooks.only_player = only_player;
               nb::gil_scoped_release release;
               PublicWorkspace workspace;
               iterate(bound.form, plans, rule, rows, first_t, num_iterations, is_alternating, tables, workspace, hooks);
             });
}

}  // namespace equipoise
