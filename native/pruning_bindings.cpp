// SPDX-License-Identifier: Apache-2.0
// Pruned runs for the native module.
#include <memory>

#include "bindings.hpp"
#include "pruning.hpp"

namespace equipoise {

namespace {

template <typename T>
std::vector<std::remove_const_t<T>> copy(const Array<T>& array) {
  return {array.data(), array.data() + array.size()};
}

PruningForm make_form(const nb::dict& given) {
  NamedArrays arrays(given);  // copied below
  PruningForm form;
  std::copy_n(arrays.data<Ints>("infoset_start"), 3, form.infoset_start);
  std::copy_n(arrays.data<Ints>("sequence_start"), 3, form.sequence_start);
  form.parent_sequence = copy(arrays.view<Ints>("parent_sequence"));
  form.largest = copy(arrays.view<Doubles>("largest"));
  form.range = copy(arrays.view<Doubles>("payoff_range"));
  form.index_infosets(arrays.data<Ints>("first_sequence"), arrays.data<Ints>("num_actions"));
  const auto actor = arrays.view<Bytes>("actor");
  form.index_nodes(actor.size(), actor.data(), arrays.data<Ints>("parent"), arrays.data<Ints>("infoset"),
                   arrays.data<Doubles>("chance_probability"), arrays.data<Doubles>("utility"));
  arrays.check_all_asked();
  return form;
}

// Calls `work` with the arrays of PruningKernel.state.
template <typename Work>
void with_state(const nb::dict& given, Work&& work) {
  NamedArrays arrays(given);
  const auto find = [&](const char* name) { return arrays.view<MutableDoubles>(name).data(); };
  const PrunedRun::State state{.clock = find("clock"),
                               .regret_scalars = find("regret_scalars"),
                               .regret_cells = find("regret_cells"),
                               .average_scalars = find("average_scalars"),
                               .average_cells = find("average_cells"),
                               .snapshot = find("snapshot"),
                               .has_rows = find("has_rows"),
                               .moments = find("moments")};
  arrays.check_all_asked();
  work(state);
}

}  // namespace

void bind_pruning(nb::module_& module) {
  nb::class_<PrunedRun>(module, "PrunedRun")
      .def("__init__",
           [](PrunedRun* self, const nb::dict& arrays, int kind, int zero_reach, int policy_map, int fallback,
              bool tracks_variance, double scale_share, bool floors_regrets, bool is_alternating, bool shares_weights,
              bool walks_once, bool needs_positive, bool prunes_leaves, double threshold, double discard, double discard_exponent) {
             new (self) PrunedRun(make_form(arrays),
                                  PruningSettings{.kind = static_cast<PruningKind>(kind),
                                                  .zero_reach = static_cast<ZeroReach>(zero_reach),
                                                  .policy_map = static_cast<PolicyMap>(policy_map),
                                                  .fallback = static_cast<Fallback>(fallback),
                                                  .tracks_variance = tracks_variance,
                                                  .floors_regrets = floors_regrets,
                                                  .is_alternating = is_alternating,
                                                  .shares_weights = shares_weights,
                                                  .walks_once = walks_once,
                                                  .needs_positive = needs_positive,
                                                  .prunes_leaves = prunes_leaves,
                                                  .scale_share = scale_share,
                                                  .threshold = threshold,
                                                  .discard = discard,
                                                  .discard_exponent = discard_exponent});
           })
      .def("iterate",
           [](PrunedRun& run, Doubles discounts, std::int64_t first_t) {
             nb::gil_scoped_release release;
             run.iterate(reinterpret_cast<const Discount*>(discounts.data()), first_t,
                         static_cast<std::int64_t>(discounts.shape(0)));
           })
      .def("write_average", [](PrunedRun& run, MutableDoubles out) { run.write_average(out.data()); })
      .def("write_regrets", [](PrunedRun& run, MutableDoubles out) { run.write_regrets(out.data()); })
      .def("write_strategy", [](PrunedRun& run, MutableDoubles out) { run.write_strategy(out.data()); })
      .def_prop_ro_static("STATE_SIZES",
                          [](nb::handle) {
                            return nb::make_tuple(PrunedRun::num_clock, static_cast<int>(RegretRow::num_scalars),
                                                  static_cast<int>(AverageRow::num_scalars));
                          })
      .def("save", [](PrunedRun& run, const nb::dict& arrays) {
        with_state(arrays, [&](const PrunedRun::State& state) { run.save(state); });
      })
      .def("restore", [](PrunedRun& run, const nb::dict& arrays) {
        with_state(arrays, [&](const PrunedRun::State& state) { run.restore(state); });
      })
      .def("begin_after",
           [](PrunedRun& run, std::int64_t t, std::int64_t nodes_touched, double faced_weight, double average_weight,
              const nb::dict& given) {
             NamedArrays arrays(given);
             const double* const regret = arrays.data<Doubles>("regret");
             const double* const value = arrays.data<Doubles>("value");
             const double* const reach = arrays.data<Doubles>("reach");
             const double* const realization = arrays.data<Doubles>("realization");
             arrays.check_all_asked();
             run.begin_after({t, nodes_touched, faced_weight, average_weight, regret, value, reach, realization});
           })
      .def("num_snapshots", &PrunedRun::num_snapshots)
      .def("num_moments", &PrunedRun::num_moments)
      .def("num_bytes", &PrunedRun::num_bytes)
      .def("num_tree_bytes", [](const PrunedRun& run) { return run.form().num_bytes(); })
      .def("nodes_touched", [](const PrunedRun& run) { return run.counters().nodes_touched; })
      .def("statistics", [](PrunedRun& run) {
        const PruningCounters& counters = run.counters();
        const PrunedRun::PrunedNow now = run.count_pruned();
        nb::dict values;
        values["nodes_touched"] = counters.nodes_touched;
        values["nodes_last_iteration"] = counters.nodes_last_iteration;
        values["overhead_nodes"] = counters.overhead_nodes;
        values["num_pruned"] = now.num_sequences;
        values["num_infosets_pruned"] = now.num_infosets;
        values["num_opened"] = counters.num_opened;
        values["num_closed"] = counters.num_closed;
        values["num_extended"] = counters.num_extended;
        values["num_checks"] = counters.num_checks;
        values["largest_excess"] = counters.largest_excess;
        return values;
      });
}

}  // namespace equipoise
