// SPDX-License-Identifier: Apache-2.0
// Walks down lines of betting in the native module.
#include "bindings.hpp"
#include "line_uct.hpp"
#include "line_walks.hpp"
#include "patience.hpp"

namespace equipoise {

namespace {

struct BoundLines {
  LineForm form;
  std::vector<double> counts;  // [cells] zero between calls
  std::vector<UctAction> actions;  // [cells] likewise
  std::vector<LineRow> met;

  BoundLines(const nb::dict& given, std::int64_t num_cells)
      : counts(static_cast<std::size_t>(num_cells)), actions(static_cast<std::size_t>(num_cells)) {
    NamedArrays arrays(given);  // copied below
    const auto actor = arrays.view<Bytes>("actor");
    const auto num_actions = arrays.view<Ints>("num_actions"), child = arrays.view<Ints>("child");
    const auto first_cell = arrays.view<Ints>("first_cell"), stride = arrays.view<Ints>("stride");
    const auto level = arrays.view<Ints>("level"), ancestor = arrays.view<Ints>("ancestor");
    const auto call = arrays.view<Ints>("call"), raise = arrays.view<Ints>("raise_");
    const auto is_showdown = arrays.view<Cards>("is_showdown");
    const auto stake = arrays.view<Doubles>("stake"), cumulative = arrays.view<Doubles>("cumulative");
    arrays.check_all_asked();
    std::int32_t first_child = 0;
    for (std::size_t n = 0; n < actor.size(); ++n) {
      form.nodes.push_back({actor.data()[n], num_actions.data()[n], first_child, first_cell.data()[n],
                            stride.data()[n], level.data()[n], call.data()[n], raise.data()[n]});
      form.ends.push_back({stake.data()[n], is_showdown.data()[n] != 0});
      first_child += num_actions.data()[n];
    }
    form.child.assign(child.data(), child.data() + child.size());
    form.cumulative.assign(cumulative.data(), cumulative.data() + cumulative.size());
    form.ancestor.assign(ancestor.data(), ancestor.data() + ancestor.size());
    form.num_private = static_cast<std::int32_t>(ancestor.shape(1));
  }
};

}  // namespace

void bind_lines(nb::module_& module) {
  nb::class_<BoundLines>(module, "Lines")
      .def(nb::init<const nb::dict&, std::int64_t>())
      .def("model_by_probe", [](BoundLines& bound, int target, std::int64_t num_hands, Doubles strategy,
                                MutableWords words, MutableDoubles model, nb::callable is_interrupted) {
        return call_patiently(is_interrupted, words, [&](Random& random, Patience& goes_on) {
          model_by_probe(bound.form, target, num_hands, strategy.data(), random, bound.counts.data(), bound.met,
                         model.data(), goes_on);
        });
      },
          nb::arg("target"), nb::arg("num_hands"), nb::kw_only(), nb::arg("strategy"), nb::arg("words"),
          nb::arg("model"), nb::arg("is_interrupted"))
      .def("search_uct", [](BoundLines& bound, int player, std::int64_t num_iterations, double exploration,
                            Doubles strategy, MutableWords words, MutableDoubles out, nb::callable is_interrupted) {
        return call_patiently(is_interrupted, words, [&](Random& random, Patience& goes_on) {
          search_uct(bound.form, player, num_iterations, exploration, strategy.data(), random, bound.actions.data(),
                     bound.met, out.data(), goes_on);
        });
      },
          nb::arg("player"), nb::arg("num_iterations"), nb::arg("exploration"), nb::kw_only(), nb::arg("strategy"),
          nb::arg("words"), nb::arg("out"), nb::arg("is_interrupted"));
}

}  // namespace equipoise
