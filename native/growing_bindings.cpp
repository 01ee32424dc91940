// SPDX-License-Identifier: Apache-2.0
// Public trees that grow, in the native module.
#include "growing.hpp"

#include "bindings.hpp"
#include "root_gate.hpp"

namespace equipoise {

namespace {

using Flags = Array<const std::uint8_t>;

// A copy of part of a table, which may move when the tree grows.
nb::object copy_cells(const std::vector<double>& from, std::int64_t first, std::int64_t size, MutableDoubles out) {
  if (static_cast<std::int64_t>(out.size()) != size) throw nb::value_error("the array has another size than the cells");
  std::copy_n(from.begin() + first, size, out.data());
  return nb::none();
}

const std::vector<double>& find_table(const GrowingArena& arena, const std::string& name) {
  if (name == "regret") return arena.regret;
  if (name == "average") return arena.average;
  if (name == "strategy") return arena.strategy;
  if (name == "action_value") return arena.action_value;
  if (name == "visits") return arena.visits;
  if (name == "prior") return arena.prior;
  throw nb::key_error(name.c_str());
}

const std::vector<double>& find_block(const GrowingArena& arena, const std::string& name, int player) {
  if (name == "reach") return arena.reach[player];
  if (name == "value") return arena.value[player];
  if (name == "value_sum") return arena.value_sum[player];
  throw nb::key_error(name.c_str());
}

void open_node(GrowingArena& arena, int number, int num_actions, Flags legal, Doubles prior, Ints sizes, Ints places,
               Doubles weights) {
  // sizes [E, 2] entries of each player; places [K, 3] source, action and target, edge by edge, player 0 first
  std::vector<GrowingEdge> edges;
  std::vector<GrowingEntry> entries;
  std::int64_t first = 0;
  for (std::size_t e = 0; e < sizes.shape(0); ++e) {
    const int first_size = sizes.data()[2 * e];
    const int second_size = sizes.data()[2 * e + 1];
    edges.push_back({kNowhere, {first, first + first_size}, {first_size, second_size}});
    first += first_size + second_size;
  }
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const std::int32_t* place = places.data() + 3 * k;
    entries.push_back({place[0], place[1], place[2], weights.data()[k]});
  }
  arena.open(number, num_actions, legal.data(), prior.data(), edges, entries);
}

}  // namespace

void bind_growing(nb::module_& module) {
  nb::class_<GrowingArena>(module, "GrowingArena")
      .def("__init__",
           [](GrowingArena* arena, int policy_map, int fallback, bool is_optimistic, bool floors, bool tracks_variance) {
             new (arena) GrowingArena();
             arena->rule = make_rule(policy_map, fallback, is_optimistic, floors, tracks_variance);
           })
      .def("add_node",
           [](GrowingArena& arena, int actor, int first, int second, Doubles joint, Doubles payoff) {
             return arena.add_node(actor, first, second, joint.data(), payoff.data());
           })
      .def("open", &open_node)
      .def("attach", &GrowingArena::attach)
      .def("settle_children", &GrowingArena::settle_children)
      .def("set_unit", &GrowingArena::set_unit)
      .def("set_reach",
           [](GrowingArena& arena, int player, Doubles reach) {
             std::copy_n(reach.data(), reach.size(), arena.reach[player].begin());
           })
      .def("descend",
           [](GrowingArena& arena, MutableDoubles first, MutableDoubles second) {
             nb::gil_scoped_release release;
             arena.descend();
             arena.gather(first.data(), static_cast<std::int64_t>(first.shape(1)), second.data(),
                          static_cast<std::int64_t>(second.shape(1)));
           })
      .def("ascend",
           [](GrowingArena& arena, Doubles first, Doubles second, Doubles discount, bool updates_first,
              bool updates_second) {
             nb::gil_scoped_release release;
             arena.ascend(first.data(), static_cast<std::int64_t>(first.shape(1)), second.data(),
                          static_cast<std::int64_t>(second.shape(1)), *view_rows(discount), updates_first,
                          updates_second);
           })
      .def("walk",
           [](GrowingArena& arena, int start, double exploration, double share_of_puct, double value_scale,
              MutableWords random) {
             std::uint64_t* const state = random.data();
             Random generator{{state[0], state[1], state[2], state[3]}};
             const GrowingStep step = arena.walk(start, exploration, share_of_puct, value_scale, generator);
             for (int word = 0; word < 4; ++word) state[word] = generator.state[word];
             return nb::make_tuple(step.node, step.action);
           })
      .def("pass_gate",
           [](GrowingArena& arena, int player, int kind, double share, Doubles mass, Doubles alternative,
              Doubles deviation, Doubles prior, MutableDoubles regret, Doubles discount, std::int64_t t) {
             const RootGate gate{.kind = static_cast<GateKind>(kind),
                                 .num_private = static_cast<std::int64_t>(mass.size()),
                                 .mass = mass.data(),
                                 .alternative = alternative.data(),
                                 .deviation = deviation.data(),
                                 .prior = prior.data(),
                                 .share = share,
                                 .regret = regret.data()};
             // the root's private states come first in both arrays
             std::copy_n(arena.value[player].begin(), gate.num_private, arena.reach[player].begin());
             pass_gate(gate, arena.rule, *view_rows(discount), t, arena.reach[player].data());
           })
      .def("end_walks", &GrowingArena::end_walks)
      .def("child", &GrowingArena::child_of)
      .def("leaves", [](const GrowingArena& arena) { return arena.all_leaves(); })
      .def("value_weight", [](const GrowingArena& arena, int node,
                              int player) { return arena.all_nodes()[node].weight[player]; })
      .def("read_table",
           [](const GrowingArena& arena, const std::string& name, int number, MutableDoubles out) {
             const GrowingNode& node = arena.all_nodes()[number];
             const std::int64_t size = static_cast<std::int64_t>(node.count[node.actor]) * node.num_actions;
             return copy_cells(find_table(arena, name), node.table, size, out);
           })
      .def("read_block", [](const GrowingArena& arena, const std::string& name, int player, int number,
                            MutableDoubles out) {
        const GrowingNode& node = arena.all_nodes()[number];
        return copy_cells(find_block(arena, name, player), node.block[player], node.count[player], out);
      });
}

}  // namespace equipoise
