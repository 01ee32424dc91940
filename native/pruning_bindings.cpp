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

PruningForm make_form(Bytes actor, Ints parent, Ints infoset, Doubles chance_probability, Doubles utility,
                      Ints infoset_start, Ints sequence_start, Ints first_sequence, Ints num_actions,
                      Ints parent_sequence, Doubles largest, Doubles range) {
  PruningForm form;
  std::copy_n(infoset_start.data(), 3, form.infoset_start);
  std::copy_n(sequence_start.data(), 3, form.sequence_start);
  form.parent_sequence = copy(parent_sequence);
  form.largest = copy(largest);
  form.range = copy(range);
  form.index_infosets(first_sequence.data(), num_actions.data());
  form.index_nodes(actor.size(), actor.data(), parent.data(), infoset.data(), chance_probability.data(),
                   utility.data());
  return form;
}

// Arrays in the order of PruningKernel.state.
PrunedRun::State make_state(const std::vector<MutableDoubles>& arrays) {
  return {arrays[0].data(), arrays[1].data(), arrays[2].data(), arrays[3].data(),
          arrays[4].data(), arrays[5].data(), arrays[6].data(), arrays[7].data()};
}

}  // namespace

void bind_pruning(nb::module_& module) {
  nb::class_<PrunedRun>(module, "PrunedRun")
      .def("__init__",
           [](PrunedRun* self, Bytes actor, Ints parent, Ints infoset, Doubles chance_probability, Doubles utility,
              Ints infoset_start, Ints sequence_start, Ints first_sequence, Ints num_actions, Ints parent_sequence,
              Doubles largest, Doubles range, int kind, int zero_reach, int policy_map, int fallback,
              bool tracks_variance, double scale_share, bool floors_regrets, bool is_alternating, bool shares_weights,
              bool prunes_leaves, double threshold, double discard, double discard_exponent) {
             new (self) PrunedRun(make_form(actor, parent, infoset, chance_probability, utility,
                                            infoset_start, sequence_start, first_sequence, num_actions,
                                            parent_sequence, largest, range),
                                  PruningSettings{.kind = static_cast<PruningKind>(kind),
                                                  .zero_reach = static_cast<ZeroReach>(zero_reach),
                                                  .policy_map = static_cast<PolicyMap>(policy_map),
                                                  .fallback = static_cast<Fallback>(fallback),
                                                  .tracks_variance = tracks_variance,
                                                  .floors_regrets = floors_regrets,
                                                  .is_alternating = is_alternating,
                                                  .shares_weights = shares_weights,
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
      .def("save", [](PrunedRun& run, std::vector<MutableDoubles> arrays) { run.save(make_state(arrays)); })
      .def("restore", [](PrunedRun& run, std::vector<MutableDoubles> arrays) { run.restore(make_state(arrays)); })
      .def("begin_after",
           [](PrunedRun& run, std::int64_t t, std::int64_t nodes_touched, double faced_weight, double average_weight,
              Doubles regret, Doubles value, Doubles reach, Doubles realization) {
             run.begin_after({t, nodes_touched, faced_weight, average_weight, regret.data(), value.data(), reach.data(),
                              realization.data()});
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
