// SPDX-License-Identifier: Apache-2.0
// CFR under payoffs that depend on parameters.
#include "parametric.hpp"

#include "bindings.hpp"

namespace equipoise {

namespace {

// Keeps the arrays alive that its form points into.
struct BoundParametricForm {
  ParametricForm form;
  NamedArrays arrays;

  explicit BoundParametricForm(const nb::dict& given) : arrays(given) {
    const auto terminal_sequence = arrays.view<Ints>("terminal_sequence");
    const auto payoff = arrays.view<Doubles>("payoff");
    HistoryForm& history = form.history;
    history.num_players = 2;
    history.is_zero_sum = true;
    history.num_terminals = static_cast<std::int64_t>(terminal_sequence.shape(1));
    for (int player = 0; player < 2; ++player) {
      history.terminal_sequence[player] = terminal_sequence.data() + player * history.num_terminals;
    }
    history.sequence_start = arrays.data<Ints>("sequence_start");
    history.infoset_start = arrays.data<Ints>("infoset_start");
    history.first_sequence = arrays.data<Ints>("first_sequence");
    history.num_actions = arrays.data<Ints>("num_actions");
    history.parent_sequence = arrays.data<Ints>("parent_sequence");
    form.num_terms = static_cast<int>(payoff.shape(1));
    form.payoff = payoff.data();
    form.weight = arrays.data<Doubles>("weight");
    form.groups = {.first_child = arrays.data<Ints>("first_child"),
                   .child = arrays.data<Ints>("child"),
                   .probability = arrays.data<Doubles>("probability"),
                   .first_terminal = arrays.data<Ints>("first_terminal"),
                   .terminal = arrays.data<Ints>("terminal")};
    arrays.check_all_asked();
  }
};

ParametricTables view_tables(const nb::dict& given, NamedArrays& arrays) {
  arrays = NamedArrays(given);
  const ParametricTables tables{.regret_sum = arrays.view<MutableDoubles>("regret_sum").data(),
                                .strategy_sum = arrays.view<MutableDoubles>("strategy_sum").data(),
                                .strategy = arrays.view<MutableDoubles>("strategy").data(),
                                .realization = arrays.view<MutableDoubles>("realization").data()};
  arrays.check_all_asked();
  return tables;
}

}  // namespace

void bind_parametric(nb::module_& module) {
  nb::class_<BoundParametricForm>(module, "ParametricForm")
      .def(nb::init<const nb::dict&>())
      .def("iterate",
           [](const BoundParametricForm& bound, const nb::dict& given, Doubles term, std::int64_t num_iterations,
              bool is_alternating, bool is_sampled, MutableWords words) {
             NamedArrays arrays;
             const ParametricTables tables = view_tables(given, arrays);
             nb::gil_scoped_release release;
             with_random(words, [&](Random& random) {
               iterate_parametric(bound.form, term.data(), num_iterations, is_alternating, is_sampled ? &random : nullptr,
                                  tables);
             });
           },
           nb::arg("tables"), nb::kw_only(), nb::arg("term"), nb::arg("num_iterations"), nb::arg("is_alternating"),
           nb::arg("is_sampled"), nb::arg("random"))
      .def("play",
           [](const BoundParametricForm& bound, const nb::dict& given, Doubles term) {
             NamedArrays arrays;
             play_parametric(bound.form, term.data(), view_tables(given, arrays));
           },
           nb::arg("tables"), nb::kw_only(), nb::arg("term"));
}

}  // namespace equipoise
