// SPDX-License-Identifier: Apache-2.0
// Hold'em trees in the native module.
#include "holdem.hpp"
#include "holdem_bindings.hpp"

namespace equipoise {

namespace {

using Exponents = Array<std::uint8_t>;

// Keeps the arrays alive that its gate points into; without a gate arrays are empty.
struct BoundHoldemGate {
  HoldemGate gate;
  std::vector<Doubles> doubles;
  MutableDoubles regret, reach;

  BoundHoldemGate(int player, int kind, double share, std::vector<Doubles> double_arrays, MutableDoubles regret_of,
                  MutableDoubles reach_of, std::int64_t num_private)
      : doubles(std::move(double_arrays)), regret(regret_of), reach(reach_of) {
    gate.player = player;
    gate.reach = reach.data();
    gate.gate = {.kind = static_cast<GateKind>(kind),
                 .num_private = num_private,
                 .mass = doubles[0].data(),
                 .leave = doubles[1].data(),
                 .deviation = doubles[2].data(),
                 .prior = doubles[3].data(),
                 .share = share,
                 .regret = regret.data()};
  }
};

template <typename Real, typename Cell>
void bind_holdem_iterate(nb::module_& module, const char* name) {
  using Average = typename AverageOf<Cell>::Type;
  module.def(name, [](const BoundHoldemForm& bound, int policy_map, int fallback, bool is_optimistic,
                      bool floors_regrets, bool tracks_variance, Doubles discounts, std::int64_t first_t, bool is_alternating,
                      int num_threads, Array<Cell> regret_sum, Array<Average> strategy_sum, Array<Cell> last_regret,
                      Exponents regret_exponent, Exponents strategy_exponent, Exponents last_exponent,
                      Array<Cell> scale, Array<Cell> step, Array<Cell> value_moments, const BoundHoldemGate& gate,
                      const BoundHoldemLeaves& leaves) {
    const Rule rule = make_rule(policy_map, fallback, is_optimistic, floors_regrets, tracks_variance);
    const HoldemTables<Cell> tables{.regret_sum = {regret_sum.data(), regret_exponent.data()},
                                    .strategy_sum = {strategy_sum.data(), strategy_exponent.data()},
                                    .last_regret = {last_regret.data(), last_exponent.data()},
                                    .scale = scale.data(),
                                    .step = step.data(),
                                    .value_moments = value_moments.data()};
    const auto* rows = reinterpret_cast<const Discount*>(discounts.data());
    const auto num_iterations = static_cast<std::int64_t>(discounts.shape(0));
    nb::gil_scoped_release release;
    HoldemWorkspace<Real> workspace;
    workspace.prepare(bound.form, num_threads);
    iterate_holdem<Real, Cell>(bound.form, rule, rows, first_t, num_iterations, is_alternating, num_threads, tables,
                               workspace, gate.gate, begin_leaves<Real>(leaves, num_threads).get());
  });
}

template <typename Cell>
void bind_holdem_evaluate(nb::module_& module, const char* name) {
  module.def(name, [](const BoundHoldemForm& bound, bool is_best_response, bool respects_locks, Array<const Cell> sums,
                      int num_threads, const BoundHoldemLeaves& leaves, MutableDoubles first_out,
                      MutableDoubles second_out) {
    nb::gil_scoped_release release;
    HoldemWorkspace<double> workspace;
    workspace.prepare(bound.form, num_threads);
    const auto purpose = is_best_response ? HoldemPurpose::best_response : HoldemPurpose::expected_value;
    evaluate_holdem<double, Cell>(bound.form, purpose, respects_locks, sums.data(), HoldemStart::at_root(bound.form),
                                  num_threads, workspace, begin_leaves<double>(leaves, num_threads).get());
    std::copy_n(workspace.root_value[0].data(), first_out.size(), first_out.data());
    std::copy_n(workspace.root_value[1].data(), second_out.size(), second_out.data());
  });
}

// Values of every slot of a board, given both players' reach on one of the lines that enter it.
template <typename Cell>
void bind_holdem_slots(nb::module_& module, const char* name) {
  module.def(name, [](const BoundHoldemForm& bound, std::int64_t board, std::int32_t line, Array<const Cell> sums,
                      Doubles first_reach, Doubles second_reach, int num_threads, MutableDoubles first_out,
                      MutableDoubles second_out) {
    nb::gil_scoped_release release;
    HoldemWorkspace<double> workspace;
    workspace.prepare(bound.form, num_threads, board);
    const HoldemStart start{.board = board,
                            .line = line,
                            .reach = {first_reach.data(), second_reach.data()},
                            .slot_value = {first_out.data(), second_out.data()}};
    evaluate_holdem<double, Cell>(bound.form, HoldemPurpose::expected_value, true, sums.data(), start, num_threads,
                                  workspace);
  });
}

// Substitute values of a warm start; arrays may be empty, see HoldemKernel.substitute.
template <typename Cell>
void bind_holdem_substitute(nb::module_& module, const char* name) {
  module.def(name, [](const BoundHoldemForm& bound, Array<const Cell> sums, Array<const float> row_bound, double factor,
                      double positive_weight, double negative_weight, double average_weight, double trace,
                      bool floors_regrets, int num_threads, Array<float> row_value, Array<Cell> regret_sum, Array<Cell> strategy_sum,
                      MutableDoubles first_out, MutableDoubles second_out) {
    const HoldemSubstitution substitution{.bound = row_bound.size() ? row_bound.data() : nullptr,
                                          .factor = factor,
                                          .row_value = row_value.size() ? row_value.data() : nullptr,
                                          .positive_weight = positive_weight,
                                          .negative_weight = negative_weight,
                                          .average_weight = average_weight,
                                          .trace = trace};
    HoldemTables<Cell> tables;
    if (regret_sum.size()) {
      tables.regret_sum.cells = regret_sum.data();
      tables.strategy_sum.cells = strategy_sum.data();
    }
    Rule rule;
    rule.floors_regrets = floors_regrets;
    nb::gil_scoped_release release;
    HoldemWorkspace<double> workspace;
    workspace.prepare(bound.form, num_threads);
    substitute_holdem<double, Cell>(bound.form, sums.data(), substitution, rule, tables, num_threads, workspace);
    std::copy_n(workspace.root_value[0].data(), first_out.size(), first_out.data());
    std::copy_n(workspace.root_value[1].data(), second_out.size(), second_out.data());
  });
}

}  // namespace

void bind_holdem(nb::module_& module) {
  nb::class_<BoundHoldemForm>(module, "HoldemForm")
      .def(nb::init<Array<const std::int64_t>, Cards, std::vector<Ints>, std::vector<Doubles>>());
  nb::class_<BoundHoldemGate>(module, "HoldemGate")
      .def(nb::init<int, int, double, std::vector<Doubles>, MutableDoubles, MutableDoubles, std::int64_t>());
  bind_holdem_iterate<float, float>(module, "holdem_iterate_float32");
  bind_holdem_iterate<double, double>(module, "holdem_iterate_float64");
  bind_holdem_iterate<float, std::int16_t>(module, "holdem_iterate_int16");
  bind_holdem_evaluate<float>(module, "holdem_evaluate_float32");
  bind_holdem_evaluate<double>(module, "holdem_evaluate_float64");
  bind_holdem_evaluate<std::uint16_t>(module, "holdem_evaluate_uint16");
  bind_holdem_substitute<float>(module, "holdem_substitute_float32");
  bind_holdem_substitute<double>(module, "holdem_substitute_float64");
  bind_holdem_slots<std::uint16_t>(module, "holdem_slots_uint16");
  bind_holdem_slots<float>(module, "holdem_slots_float32");
  bind_holdem_slots<double>(module, "holdem_slots_float64");
}

}  // namespace equipoise
