// SPDX-License-Identifier: Apache-2.0
// Subgames under many beliefs in the native module: their form, the network at their leaves, the search.
#include "belief_search.hpp"
#include "bindings.hpp"

namespace equipoise {

namespace {

using Floats = Array<const float>;

// Keeps the arrays alive that the form points into.
struct BoundBeliefForm {
  NamedArrays arrays;
  BeliefForm form;

  explicit BoundBeliefForm(const nb::dict& given) : arrays(given) {
    static_assert(sizeof(BeliefForm::Decision) == 6 * sizeof(std::int32_t));
    static_assert(sizeof(BeliefForm::Transfer) == 3 * sizeof(std::int32_t));
    const Ints cells = arrays.view<Ints>("num_cells"), hands = arrays.view<Ints>("root_hands");
    const Ints steps = arrays.view<Ints>("steps"), kind = arrays.view<Ints>("leaf_kind");
    const Floats legal = arrays.view<Floats>("legal_share"), weight = arrays.view<Floats>("root_weight");
    form.num_table_cells = static_cast<std::int64_t>(legal.size());
    form.num_steps = static_cast<std::int64_t>(steps.shape(0));
    form.steps = steps.data();
    form.decisions = reinterpret_cast<const BeliefForm::Decision*>(arrays.data<Ints>("decisions"));
    form.transfers = reinterpret_cast<const BeliefForm::Transfer*>(arrays.data<Ints>("transfers"));
    form.entry_source = arrays.data<Ints>("entry_source");
    form.entry_target = arrays.data<Ints>("entry_target");
    form.entry_weight = arrays.data<Floats>("entry_weight");
    form.legal_share = legal.data();
    form.num_leaves = static_cast<std::int64_t>(kind.size());
    form.width = static_cast<std::int64_t>(weight.shape(1));
    form.leaf_cell = arrays.data<Ints>("leaf_cell");
    form.leaf_kind = kind.data();
    form.leaf_swapped = arrays.data<Bytes>("leaf_swapped");
    form.leaf_scale = arrays.data<Floats>("leaf_scale");
    form.kind_row = arrays.data<Ints>("kind_row");
    form.kind_hands = arrays.data<Ints>("kind_hands");
    form.kind_weight = arrays.data<Floats>("kind_weight");
    form.kind_joint = arrays.data<Doubles>("kind_joint");
    form.root_weight = weight.data();
    form.root_joint = arrays.data<Doubles>("root_joint");
    for (int player = 0; player < 2; ++player) {
      form.num_cells[player] = cells.data()[player];
      form.root_hands[player] = hands.data()[player];
      const std::string suffix = player == 0 ? "_0" : "_1";
      const Ints cell = arrays.view<Ints>(("gain_cell" + suffix).c_str());
      form.gains[player] = {.num_rows = static_cast<std::int64_t>(cell.size()),
                            .cell = cell.data(),
                            .start = arrays.data<Ints>(("gain_start" + suffix).c_str()),
                            .other = arrays.data<Ints>(("gain_other" + suffix).c_str()),
                            .weight = arrays.data<Floats>(("gain_weight" + suffix).c_str())};
    }
    arrays.check_all_asked();
  }
};

template <typename... Rest>
double search_with(int num_lanes, const Rest&... rest) {
  switch (num_lanes) {
    case 1: return search_beliefs<1>(rest...);
    case 4: return search_beliefs<4>(rest...);
    case 64: return search_beliefs<64>(rest...);
    default: return search_beliefs<16>(rest...);
  }
}

}  // namespace

void bind_belief_search(nb::module_& module) {
  nb::class_<BeliefNet>(module, "BeliefNet")
      .def("__init__",
           [](BeliefNet* self, bool takes_roots) {
             new (self) BeliefNet();
             self->takes_roots = takes_roots;
           })
      .def("add_layer",
           [](BeliefNet& net, Floats weight, Floats bias, Floats slope, bool is_residual) {
             net.trunk.add({static_cast<std::int64_t>(weight.shape(0)), static_cast<std::int64_t>(weight.shape(1)),
                            weight.data(), bias.data(), slope.size() == 0 ? nullptr : slope.data(), is_residual});
           },
           nb::kw_only(), nb::arg("weight"), nb::arg("bias"), nb::arg("slope"), nb::arg("is_residual"))
      .def("set_starts", [](BeliefNet& net, Floats starts) {  // [kinds, first layer's outputs], once layers are there
        const auto num_outputs = static_cast<std::int64_t>(starts.shape(1));
        net.start_stride = net.trunk.first_layer().padded();
        net.starts.assign(static_cast<std::size_t>(net.start_stride * static_cast<std::int64_t>(starts.shape(0))), 0.0F);
        for (std::size_t kind = 0; kind < starts.shape(0); ++kind) {
          std::copy_n(starts.data() + static_cast<std::int64_t>(kind) * num_outputs, num_outputs,
                      net.starts.data() + static_cast<std::int64_t>(kind) * net.start_stride);
        }
      });
  nb::class_<BoundBeliefForm>(module, "BeliefForm").def(nb::init<const nb::dict&>());
  module.def(
      "search_beliefs",
      [](const BoundBeliefForm& bound, const BeliefNet* net, int mode, bool is_alternating, bool is_optimistic,
         bool floors_regrets, Doubles discounts, double exploration, int num_lanes, Floats belief, Floats prior,
         Floats meeting, int num_assumed, Ints draw_lane,
         Ints draw_iteration, Bytes draw_explorer, Doubles draw_point, Array<std::int32_t> leaf, Array<float> next,
         Array<float> draw_policy, Array<float> value, Array<float> policy) {
        const BeliefSettings settings{.mode = static_cast<BeliefMode>(mode),
                                      .is_alternating = is_alternating,
                                      .is_optimistic = is_optimistic,
                                      .floors_regrets = floors_regrets,
                                      .rows = view_rows(discounts),
                                      .num_iterations = static_cast<std::int64_t>(discounts.shape(0)),
                                      .exploration = exploration,
                                      .prior = prior.size() == 0 ? nullptr : prior.data(),
                                      .meeting = meeting.data(),
                                      .num_assumed = num_assumed};
        const BeliefDraws draws{.count = static_cast<std::int64_t>(draw_lane.size()),
                                .lane = draw_lane.data(),
                                .iteration = draw_iteration.data(),
                                .explorer = draw_explorer.data(),
                                .point = draw_point.data(),
                                .leaf = leaf.size() == 0 ? nullptr : leaf.data(),
                                .belief = next.data(),
                                .policy = draw_policy.size() == 0 ? nullptr : draw_policy.data()};
        const BeliefResults out{.value = value.size() == 0 ? nullptr : value.data(),
                                .policy = policy.size() == 0 ? nullptr : policy.data()};
        const auto num_beliefs = static_cast<std::int64_t>(belief.shape(0));
        nb::gil_scoped_release release;
        return search_with(num_lanes, bound.form, net, settings, num_beliefs, belief.data(), draws, out);
      },
      nb::arg("form"), nb::arg("net").none(), nb::arg("mode"), nb::arg("is_alternating"), nb::arg("is_optimistic"),
      nb::arg("floors_regrets"), nb::kw_only(), nb::arg("discounts"), nb::arg("exploration"), nb::arg("num_lanes"),
      nb::arg("belief"), nb::arg("prior"), nb::arg("meeting"), nb::arg("num_assumed"),
      nb::arg("draw_lane"), nb::arg("draw_iteration"), nb::arg("draw_explorer"),
      nb::arg("draw_point"), nb::arg("leaf"), nb::arg("next"), nb::arg("draw_policy"), nb::arg("value"),
      nb::arg("policy"));
}

}  // namespace equipoise
