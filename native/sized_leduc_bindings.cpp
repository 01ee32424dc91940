// SPDX-License-Identifier: Apache-2.0
// Leduc with any share of the pot as a bet, in abstractions that grow.
#include "sized_leduc.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings.hpp"

namespace equipoise {

namespace {

using Rows = std::vector<std::vector<double>>;

std::vector<double> as_row(const Hands& hands) { return {hands.begin(), hands.end()}; }

Rows as_rows(const std::vector<Hands>& table) {
  Rows rows;
  for (const Hands& hands : table) rows.push_back(as_row(hands));
  return rows;
}

nb::dict describe_node(const SizedLeduc& run, std::int32_t index) {
  const SizedNode& node = run.nodes().at(static_cast<std::size_t>(index));
  nb::dict found;
  found["kind"] = static_cast<int>(node.kind);
  found["player"] = static_cast<int>(node.player);
  found["round"] = static_cast<int>(node.round);
  found["board"] = static_cast<int>(node.board);
  found["num_raises"] = static_cast<int>(node.num_raises);
  found["stake"] = node.stake;
  found["called"] = node.called;
  found["size"] = nb::cast(node.size);
  found["child"] = nb::cast(node.child);
  found["fold_sum"] = nb::cast(as_rows(node.fold_sum));
  found["rest_sum"] = nb::cast(as_rows(node.rest_sum));
  found["strategy_sum"] = nb::cast(as_rows(node.strategy_sum));
  found["value_sum"] = nb::cast(as_row(node.value_sum));
  found["reach_sum"] = nb::cast(as_row(node.reach_sum));
  return found;
}

using Addition = std::tuple<std::int32_t, double, std::int32_t, double>;

Addition as_tuple(const SizedAddition& one) { return {one.node, one.size, one.num_nodes, one.weight}; }

}  // namespace

void bind_sized_leduc(nb::module_& module) {
  nb::class_<SizedLeduc>(module, "SizedLeduc")
      .def(nb::init<std::vector<double>, double, bool>(), nb::arg("menu"), nb::arg("ante"), nb::arg("skips_unreached"))
      .def("iterate",
           [](SizedLeduc& run, std::int64_t num_iterations) {
             nb::gil_scoped_release release;
             run.iterate(num_iterations);
           })
      .def("respond",
           [](const SizedLeduc& run, int player, int translation) {
             nb::gil_scoped_release release;
             return run.respond(player, static_cast<Translation>(translation));
           })
      .def("grow",
           [](SizedLeduc& run, int most_additions, double threshold, bool transfers, bool is_linear, int least_rounds,
              int most_rounds, double fair_weight, double least_weight, double most_given, bool by_slope) {
             const GrowthSettings settings{threshold,   transfers,   is_linear, least_rounds,
                                           most_rounds, fair_weight, most_given, by_slope,  least_weight};
             std::vector<Addition> added;
             for (const SizedAddition& one : run.grow(settings, most_additions)) added.push_back(as_tuple(one));
             return added;
           },
           nb::arg("most_additions"), nb::kw_only(), nb::arg("threshold"), nb::arg("transfers"), nb::arg("is_linear"),
           nb::arg("least_rounds"), nb::arg("most_rounds"), nb::arg("fair_weight"), nb::arg("least_weight"), nb::arg("most_given"), nb::arg("by_slope"))
      .def("add",
           [](SizedLeduc& run, std::int32_t node, double size, bool transfers, bool is_linear, int rounds) {
             const GrowthSettings settings{.transfers = transfers,
                                           .is_linear = is_linear,
                                           .least_rounds = rounds,
                                           .most_rounds = rounds,
                                           .fair_weight = 0.0,
                                           .most_given = INFINITY};
             return as_tuple(run.add(node, size, settings));
           },
           nb::arg("node"), nb::arg("size"), nb::kw_only(), nb::arg("transfers"), nb::arg("is_linear"), nb::arg("rounds"))
      .def("remove", &SizedLeduc::remove)
      .def("discount", &SizedLeduc::discount)
      .def("describe", describe_node)
      .def_prop_ro("iterations", &SizedLeduc::iterations)
      .def_prop_ro("touched", &SizedLeduc::touched)
      .def_prop_ro("num_nodes", &SizedLeduc::num_nodes)
      .def_prop_ro("num_slots", [](const SizedLeduc& run) { return run.nodes().size(); })
      .def_prop_ro("num_infosets", &SizedLeduc::num_infosets)
      .def_prop_ro("num_bytes", &SizedLeduc::num_bytes)
      .def_prop_ro("root", &SizedLeduc::root);
}

}  // namespace equipoise
