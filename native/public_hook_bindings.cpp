// SPDX-License-Identifier: Apache-2.0
// Iterations over a public tree with hooks. Shapes and dtypes are checked by equipoise.kernels.public.
#include "frontier_bindings.hpp"
#include "public_bindings.hpp"
#include "steps.hpp"

namespace equipoise {

namespace {

// Keeps the arrays alive that its hooks point into.
struct BoundHooks {
  PublicHooks hooks;
  NamedArrays arrays;
  double* gate_reach;  // [H] what enters next, where callers read it
  double* watched_weight;  // of all iterations, 1 number

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
    gate_reach = arrays.view<MutableDoubles>("gate_reach").data();
    watched_weight = arrays.view<MutableDoubles>("watched_weight").data();
    arrays.check_all_asked();
  }

  // Writes what callers read once iterations are done.
  void finish(const Discount* rows, std::int64_t num_iterations, const double* realization) const {
    for (std::int64_t k = 0; k < hooks.gate.num_private; ++k) gate_reach[k] = realization[hooks.gate_cells[k]];
    add_average_weights(rows, num_iterations, *watched_weight);
  }
};

}  // namespace

void bind_public_hooks(nb::module_& module) {
  nb::class_<BoundFrontier>(module, "Frontier")
      .def(nb::init<>())
      .def(nb::init<const nb::dict&, nb::callable>())
      .def("take_done", &BoundFrontier::take_done);
  nb::class_<BoundHooks>(module, "PublicHooks").def(nb::init<int, int, double, const nb::dict&>());
  module.def(
      "bind_hooked_steps",
      [](BoundPublicForm& bound, const BoundRun& run, bool is_alternating, int num_threads, Turn& turn,
         const BoundHooks& hooks, BoundFrontier& frontier) {
        const TeamPlan* plans = bound.team(num_threads);
        return BoundSteps(turn, [&bound, &run, &hooks, &frontier, plans, is_alternating](
                                    const Discount* rows, std::int64_t first_t, std::int64_t num_iterations) {
          PublicHooks own = hooks.hooks;
          own.frontier = frontier.open();
          std::int64_t num_done = 0;
          {
            nb::gil_scoped_release release;
            num_done =
                bound.iterate_plans(plans, run.rule, rows, first_t, num_iterations, is_alternating, run.tables, own);
          }
          hooks.finish(rows, num_done, run.tables.realization);
          frontier.finish(num_done);
          return num_done;
        });
      },
      nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 5>(), nb::keep_alive<0, 6>(),
      nb::keep_alive<0, 7>());
}

}  // namespace equipoise
