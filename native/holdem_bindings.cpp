// SPDX-License-Identifier: Apache-2.0
// Hold'em trees in the native module.
#include "holdem.hpp"
#include "holdem_bindings.hpp"

namespace equipoise {

namespace {

template <typename Real>
void bind_holdem_iterate(nb::module_& module, const char* name) {
  module.def(name, [](const BoundHoldemForm& bound, int policy_map, int fallback, bool is_optimistic,
                      bool floors_regrets, Doubles discounts, std::int64_t first_t, bool is_alternating,
                      int num_threads, Array<Real> regret_sum, Array<Real> strategy_sum, Array<Real> last_regret) {
    const Rule rule = make_rule(policy_map, fallback, is_optimistic, floors_regrets, false);
    const HoldemTables<Real> tables{regret_sum.data(), strategy_sum.data(), last_regret.data()};
    const auto* rows = reinterpret_cast<const Discount*>(discounts.data());
    const auto num_iterations = static_cast<std::int64_t>(discounts.shape(0));
    nb::gil_scoped_release release;
    HoldemWorkspace<Real> workspace;
    workspace.prepare(bound.form, num_threads);
    iterate_holdem<Real>(bound.form, rule, rows, first_t, num_iterations, is_alternating, num_threads, tables,
                         workspace);
  });
}

template <typename Cell>
void bind_holdem_evaluate(nb::module_& module, const char* name) {
  module.def(name, [](const BoundHoldemForm& bound, bool is_best_response, Array<const Cell> sums, int num_threads,
                      MutableDoubles first_out, MutableDoubles second_out) {
    nb::gil_scoped_release release;
    HoldemWorkspace<double> workspace;
    workspace.prepare(bound.form, num_threads);
    const auto purpose = is_best_response ? HoldemPurpose::best_response : HoldemPurpose::expected_value;
    evaluate_holdem<double, Cell>(bound.form, purpose, sums.data(), num_threads, workspace);
    std::copy_n(workspace.root_value[0].data(), first_out.size(), first_out.data());
    std::copy_n(workspace.root_value[1].data(), second_out.size(), second_out.data());
  });
}

}  // namespace

void bind_holdem(nb::module_& module) {
  nb::class_<BoundHoldemForm>(module, "HoldemForm")
      .def(nb::init<Array<const std::int64_t>, Cards, std::vector<Ints>, std::vector<Doubles>>());
  bind_holdem_iterate<float>(module, "holdem_iterate_float32");
  bind_holdem_iterate<double>(module, "holdem_iterate_float64");
  bind_holdem_evaluate<float>(module, "holdem_evaluate_float32");
  bind_holdem_evaluate<double>(module, "holdem_evaluate_float64");
}

}  // namespace equipoise
