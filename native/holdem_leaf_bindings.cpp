// SPDX-License-Identifier: Apache-2.0
// Tables of what leaves of depth-limited hold'em pay, in the native module.
#include "holdem_bindings.hpp"
#include "holdem_leaf_tables.hpp"

namespace equipoise {

namespace {

// Integers of the line: line, first and end of nodes by player, of showdowns, of folds.
LeafLine read_line(const std::vector<std::int32_t>& given) {
  return {.line = given[0],
          .first_node = {given[1], given[3]},
          .end_node = {given[2], given[4]},
          .first_flat = given[5],
          .end_flat = given[6],
          .first_fold = given[7],
          .end_fold = given[8]};
}

template <typename Real, typename Cell>
void bind_leaf_table(nb::module_& module, const char* name) {
  module.def(name, [](const BoundHoldemForm& bound, Array<const Cell> sums, Cards first_kinds, Cards second_kinds,
                      Doubles first_weights, Doubles second_weights, const std::vector<std::int32_t>& line, int player,
                      Ints boards, Ints first_rows, Ints second_rows, int num_threads, Array<Real> out) {
    const LeafTableTask<Real, Cell> task{
        .sums = sums.data(),
        .kinds = {first_kinds.data(), second_kinds.data()},
        .num_choices = {static_cast<std::int32_t>(first_weights.shape(0)),
                        static_cast<std::int32_t>(second_weights.shape(0))},
        .weights = {first_weights.data(), second_weights.data()},
        .line = read_line(line),
        .player = player,
        .num_cards = static_cast<std::int64_t>(boards.shape(0)),
        .boards = boards.data(),
        .rows = {first_rows.data(), second_rows.data()},
        .num_rows = {static_cast<std::int64_t>(first_rows.shape(1)), static_cast<std::int64_t>(second_rows.shape(1))},
        .out = out.data()};
    nb::gil_scoped_release release;
    build_leaf_table<Real, Cell>(bound.form, task, num_threads);
  },
      nb::arg("bound"), nb::kw_only(), nb::arg("sums"), nb::arg("first_kinds"), nb::arg("second_kinds"),
      nb::arg("first_weights"), nb::arg("second_weights"), nb::arg("line"), nb::arg("player"), nb::arg("boards"),
      nb::arg("first_rows"), nb::arg("second_rows"), nb::arg("num_threads"), nb::arg("out"));
}

// Entries of both players' tables, whatever their type.
template <typename Entry>
void bind_leaves(nb::module_& module, LeafEntry entry, const char* name) {
  module.def(name, [entry](const nb::dict& arrays) { return BoundHoldemLeaves::make<Entry>(entry, arrays); });
}

}  // namespace

void bind_holdem_leaves(nb::module_& module) {
  nb::class_<BoundHoldemLeaves>(module, "HoldemLeaves").def(nb::init<>());
  bind_leaves<float>(module, LeafEntry::float32, "holdem_leaves_float32");
  bind_leaves<double>(module, LeafEntry::float64, "holdem_leaves_float64");
  bind_leaves<std::int16_t>(module, LeafEntry::int16, "holdem_leaves_int16");
  bind_leaf_table<float, float>(module, "holdem_leaf_table_float32_float32");
  bind_leaf_table<float, double>(module, "holdem_leaf_table_float32_float64");
  bind_leaf_table<float, std::uint16_t>(module, "holdem_leaf_table_float32_uint16");
  bind_leaf_table<double, float>(module, "holdem_leaf_table_float64_float32");
  bind_leaf_table<double, double>(module, "holdem_leaf_table_float64_float64");
  bind_leaf_table<double, std::uint16_t>(module, "holdem_leaf_table_float64_uint16");
}

}  // namespace equipoise
