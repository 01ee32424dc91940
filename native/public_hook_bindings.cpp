// SPDX-License-Identifier: Apache-2.0
// Iterations over a public tree with hooks. Shapes and dtypes are checked by equipoise.kernels.public.
#include "frontier_bindings.hpp"
#include "public_bindings.hpp"

namespace equipoise {

namespace {

// Keeps the arrays alive that its hooks point into.
struct BoundHooks {
  PublicHooks hooks;
  NamedArrays arrays;

  BoundHooks(int gate_player, int gate_kind, double share, const nb::dict& given) : arrays(given) {
    hooks.gate_player = gate_player;
    const auto cells = arrays.view<Ints>("gate_cells");
    hooks.gate_cells = cells.data();
    hooks.gate = {.kind = static_cast<GateKind>(gate_kind),
                  .num_private = static_cast<std::int64_t>(cells.size()),
                  .mass = arrays.data<Doubles>("mass"),
                  .alternative = arrays.data<Doubles>("alternative"),
                  .deviation = arrays.data<Doubles>("deviation"),
                  .prior = arrays.data<Doubles>("prior"),
                  .share = share,
                  .regret = arrays.view<MutableDoubles>("regret").data()};
    hooks.gate_values = arrays.view<MutableDoubles>("gate_values").data();
    const auto watched = arrays.view<Ints>("watched_cells");
    const std::int32_t* const start = arrays.data<Ints>("watched_start");
    if (watched.size() > 0) hooks.watched = {start, watched.data()};
    hooks.value_sum = arrays.view<MutableDoubles>("value_sum").data();
    arrays.check_all_asked();
  }
};

}  // namespace

void bind_public_hooks(nb::module_& module) {
  nb::class_<BoundFrontier>(module, "Frontier").def(nb::init<>()).def(nb::init<const nb::dict&, nb::callable>());
  nb::class_<BoundHooks>(module, "PublicHooks").def(nb::init<int, int, double, const nb::dict&>());
  module.def("public_iterate_hooked",
             [](BoundPublicForm& bound, const BoundHooks& bound_hooks, BoundFrontier& frontier, const BoundRun& run,
                Doubles discounts, std::int64_t first_t, bool is_alternating, int num_threads) {
               const auto num_iterations = static_cast<std::int64_t>(discounts.shape(0));
               const TeamPlan* plans = bound.team(num_threads);
               PublicHooks hooks = bound_hooks.hooks;
               hooks.frontier = frontier.open();
               {
                 nb::gil_scoped_release release;
                 bound.iterate_plans(plans, run.rule, view_rows(discounts), first_t, num_iterations, is_alternating, run.tables,
                                     hooks);
               }
               frontier.finish();
             });
}

}  // namespace equipoise
