// SPDX-License-Identifier: Apache-2.0
// Public trees that grow, in the native module.
#include "growing.hpp"
#include "growing_run.hpp"

#include "bindings.hpp"
#include "root_gate.hpp"

namespace equipoise {

namespace {

using Flags = Array<const std::uint8_t>;

const std::vector<double>& find_table(const GrowingSide& side, const std::string& name) {
  if (name == "regret") return side.regret;
  if (name == "average") return side.average;
  if (name == "strategy") return side.strategy;
  if (name == "action_value") return side.cfv;
  if (name == "visits") return side.visits;
  if (name == "prior") return side.prior;
  throw nb::key_error(name.c_str());
}

// Copies a decision's table, an action of a private state after the other.
void read_table(const GrowingArena& arena, const std::string& name, int number, MutableDoubles out) {
  const GrowingNode& node = arena.all_nodes()[number];
  const std::vector<double>& from = find_table(arena.side[node.actor], name);
  if (static_cast<std::int64_t>(out.size()) != static_cast<std::int64_t>(node.count[node.actor]) * node.num_actions) {
    throw nb::value_error("the array has another size than the table");
  }
  double* to = out.data();
  for (int i = 0; i < node.count[node.actor]; ++i) {
    for (int a = 0; a < node.num_actions; ++a) *to++ = from[arena.cell(node, i, a)];
  }
}

// Copies what a player's private states have: reaches, and at nodes that are watched values.
void read_block(const GrowingArena& arena, const std::string& name, int player, int number, MutableDoubles out) {
  const GrowingNode& node = arena.all_nodes()[number];
  const GrowingSide& side = arena.side[player];
  if (static_cast<int>(out.size()) != node.count[player]) throw nb::value_error("the array has another size than the block");
  if (name == "reach") return arena.copy_cells(number, player, side.reach, out.data());
  if (node.sum[player] == kNowhere) throw nb::value_error("the values of this node are not watched");
  if (name == "value") return arena.copy_cells(number, player, side.cfv, out.data());
  if (name != "value_sum") throw nb::key_error(name.c_str());
  std::copy_n(side.value_sum.begin() + node.sum[player], node.count[player], out.data());
}

// Sizes [E, 2] are entries of each player; places [K, 3] source, action and target, edge by edge, player 0 first.
void read_edges(const Ints& sizes, const Ints& places, const Doubles& weights, std::vector<GrowingEdge>& edges,
                std::vector<GrowingEntry>& entries) {
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
}

void open_node(GrowingArena& arena, int number, int num_actions, Flags legal, Doubles prior, Ints sizes, Ints places,
               Doubles weights) {
  std::vector<GrowingEdge> edges;
  std::vector<GrowingEntry> entries;
  read_edges(sizes, places, weights, edges, entries);
  arena.open(number, num_actions, legal.data(), prior.data(), edges, entries);
}

RootGate make_gate(int kind, double share, const Doubles& mass, const Doubles& alternative, const Doubles& deviation,
                   const Doubles& prior, const MutableDoubles& regret) {
  return {.kind = static_cast<GateKind>(kind),
          .num_private = static_cast<std::int64_t>(mass.size()),
          .mass = mass.data(),
          .alternative = alternative.data(),
          .deviation = deviation.data(),
          .prior = prior.data(),
          .share = share,
          .regret = regret.data()};
}

template <typename T>
std::vector<std::remove_const_t<T>> copy_all(const Array<T>& from) {
  return {from.data(), from.data() + from.size()};
}

int add_page(GrowingBook& book, int actor, Doubles joint, Doubles payoff, Ints feature, Array<const float> amount,
             Ints first_place, Ints second_place, double unit) {
  GrowingPage page;
  page.actor = actor;
  page.count[0] = static_cast<int>(joint.shape(0));
  page.count[1] = static_cast<int>(joint.shape(1));
  page.joint = copy_all(joint);
  page.payoff = copy_all(payoff);
  page.inputs.feature = copy_all(feature);
  page.inputs.amount = copy_all(amount);
  page.inputs.place[0] = copy_all(first_place);
  page.inputs.place[1] = copy_all(second_place);
  page.inputs.unit = unit;
  book.pages.push_back(std::move(page));
  return static_cast<int>(book.pages.size()) - 1;
}

void open_page(GrowingBook& book, int number, int num_actions, Flags legal, Doubles uniform, Ints sizes, Ints places,
               Doubles weights, Ints actions) {
  GrowingPage& page = book.pages[number];
  page.num_actions = num_actions;
  page.legal = copy_all(legal);
  page.uniform = copy_all(uniform);
  read_edges(sizes, places, weights, page.edges, page.entries);
  page.children.assign(page.edges.size(), kNowhere);
  page.inputs.action = copy_all(actions);
  page.edges_of.resize(static_cast<std::size_t>(num_actions));
  for (std::size_t edge = 0; edge < page.edges.size() && page.actor >= 0; ++edge) {
    const std::int64_t first = page.edges[edge].first[page.actor];
    for (int k = 0; k < page.edges[edge].size[page.actor]; ++k) {
      auto& among = page.edges_of[page.entries[first + k].action];
      if (among.empty() || among.back() != static_cast<int>(edge)) among.push_back(static_cast<int>(edge));
    }
  }
  page.is_open = true;
}

void bind_runs(nb::module_& module) {
  nb::class_<GrowingBook>(module, "GrowingBook")
      .def(nb::init<>())
      .def("add_page", &add_page, nb::arg("actor"), nb::kw_only(), nb::arg("joint"), nb::arg("payoff"), nb::arg("feature"),
           nb::arg("amount"), nb::arg("first_place"), nb::arg("second_place"), nb::arg("unit"))
      .def("open_page", &open_page, nb::arg("number"), nb::arg("num_actions"), nb::kw_only(), nb::arg("legal"),
           nb::arg("uniform"), nb::arg("sizes"), nb::arg("places"), nb::arg("weights"), nb::arg("actions"))
      .def("set_child", [](GrowingBook& book, int page, int edge, int child) { book.pages[page].children[edge] = child; })
      .def("is_open", [](const GrowingBook& book, int page) { return book.pages[page].is_open; });
  nb::class_<PublicNet>(module, "PublicNet")
      .def("__init__",
           [](PublicNet* self, std::vector<std::int64_t> places, std::vector<std::int64_t> actions, bool takes_roots) {
             new (self) PublicNet();
             std::copy_n(places.begin(), 2, self->num_places);
             std::copy_n(actions.begin(), 2, self->num_actions);
             self->takes_roots = takes_roots;
           })
      .def("add_layer",
           [](PublicNet& net, Array<const float> weight, Array<const float> bias, Array<const float> slope,
              bool is_residual) {
             net.trunk.add({static_cast<std::int64_t>(weight.shape(0)), static_cast<std::int64_t>(weight.shape(1)),
                            weight.data(), bias.data(), slope.size() == 0 ? nullptr : slope.data(), is_residual});
           },
           nb::kw_only(), nb::arg("weight"), nb::arg("bias"), nb::arg("slope"), nb::arg("is_residual"))
      .def("set_features",
           [](PublicNet& net, Array<const float> weight, Array<const float> bias) {
             net.set_features(weight.data(), static_cast<std::int64_t>(weight.shape(0)),
                              static_cast<std::int64_t>(weight.shape(1)), bias.data());
           },
           nb::kw_only(), nb::arg("weight"), nb::arg("bias"))
      .def("set_heads",
           [](PublicNet& net, Array<const float> values, Array<const float> value_bias, Array<const float> policies,
              Array<const float> policy_bias) {
             const auto head = [](const Array<const float>& weight, const Array<const float>& bias) {
               return DenseLayer(static_cast<std::int64_t>(weight.shape(0)), static_cast<std::int64_t>(weight.shape(1)),
                                 weight.data(), bias.data(), nullptr, false);
             };
             net.values = head(values, value_bias);
             net.policies = head(policies, policy_bias);
           },
           nb::kw_only(), nb::arg("values"), nb::arg("value_bias"), nb::arg("policies"), nb::arg("policy_bias"))
      .def("forget_starts", &PublicNet::forget_starts);
  nb::class_<GrowingRun>(module, "GrowingRun")
      .def(
          "__init__",
          [](GrowingRun* self, GrowingArena& arena, const GrowingBook& book, const PublicNet& net,
             const std::vector<int>& numbers, const std::vector<double>& weights, Doubles rows, int start,
             MutableWords random, int num_queries, MutableWords query_random) {
            const GrowingBudget budget{.num_rounds = numbers[0],
                                       .sweeps = numbers[1],
                                       .walks = numbers[2],
                                       .simulations = numbers[3],
                                       .is_alternating = numbers[4] != 0,
                                       .has_last_sweep = numbers[5] != 0,
                                       .uses_prior = numbers[6] != 0,
                                       .first_children = numbers[7],
                                       .exploration = weights[0],
                                       .share_of_values = weights[1],
                                       .value_scale = weights[2]};
            const auto words = [](const MutableWords& from) {
              return Random{{from.data()[0], from.data()[1], from.data()[2], from.data()[3]}};
            };
            new (self) GrowingRun(arena, book, net, budget, view_rows(rows), start, words(random), num_queries,
                                  words(query_random));
          },
          // the arena's nodes point into the book
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<2, 3>(),
          nb::arg("arena"), nb::arg("book"), nb::arg("net"), nb::arg("numbers"), nb::arg("weights"), nb::kw_only(),
          nb::arg("rows"), nb::arg("start"), nb::arg("random"), nb::arg("num_queries"), nb::arg("query_random"))
      .def("set_gate",
           [](GrowingRun& run, int player, int kind, double share, Doubles mass, Doubles alternative, Doubles deviation,
              Doubles prior, MutableDoubles regret) {
             run.set_gate(make_gate(kind, share, mass, alternative, deviation, prior, regret), player);
           },
           nb::arg("player"), nb::arg("kind"), nb::arg("share"), nb::kw_only(), nb::arg("mass"),
           nb::arg("alternative"), nb::arg("deviation"), nb::arg("prior"), nb::arg("regret"))
      .def("run", [](GrowingRun& run) { return run.run(); }, nb::call_guard<nb::gil_scoped_release>())
      .def("missing_edges", [](const GrowingRun& run) { return run.missing_edges; })
      .def("counts", [](const GrowingRun& run) { return nb::make_tuple(run.num_sweeps, run.num_walks, run.num_asked); })
      .def("query_page", [](const GrowingRun& run, int index) { return run.queries[index].page; })
      .def("query_reach", [](const GrowingRun& run, int index, int player, MutableDoubles out) {
        const auto& from = run.queries[index].reach[player];
        if (out.size() != from.size()) throw nb::value_error("the array has another size than the reaches");
        std::copy(from.begin(), from.end(), out.data());
      });
}

}  // namespace

void bind_growing(nb::module_& module) {
  bind_runs(module);
  nb::class_<GrowingArena>(module, "GrowingArena")
      .def("__init__",
           [](GrowingArena* arena, int policy_map, int fallback, bool is_optimistic, bool floors, bool tracks_variance) {
             new (arena) GrowingArena();
             arena->rule = make_rule(policy_map, fallback, is_optimistic, floors, tracks_variance);
           })
      .def("add_node",
           [](GrowingArena& arena, int actor, int first, int second, Doubles joint, Doubles payoff) {
             return arena.add_node(actor, first, second, arena.keep(joint.data(), joint.size()),
                                   arena.keep(payoff.data(), payoff.size()));
           },
           nb::arg("actor"), nb::arg("first"), nb::arg("second"), nb::kw_only(), nb::arg("joint"),
           nb::arg("payoff"))
      .def("open", &open_node, nb::arg("number"), nb::arg("num_actions"), nb::kw_only(), nb::arg("legal"),
           nb::arg("prior"), nb::arg("sizes"), nb::arg("places"), nb::arg("weights"))
      .def("attach", &GrowingArena::attach)
      .def("settle_children", &GrowingArena::settle_children)
      .def("set_unit", &GrowingArena::set_unit)
      .def("set_reach",
           [](GrowingArena& arena, int player, Doubles reach) {
             std::copy_n(reach.data(), reach.size(), arena.side[player].reach.begin());
           })
      .def("set_focus", [](GrowingArena& arena, int node, int watched) {
        arena.set_focus(node, static_cast<Watched>(watched));
      })
      .def("descend",
           [](GrowingArena& arena, MutableDoubles first, MutableDoubles second) {
             nb::gil_scoped_release release;
             for (int player = 0; player < 2; ++player) arena.descend(player);
             arena.gather(0, first.data(), static_cast<std::int64_t>(first.shape(1)));
             arena.gather(1, second.data(), static_cast<std::int64_t>(second.shape(1)));
           },
           nb::kw_only(), nb::arg("first"), nb::arg("second"))
      .def("ascend",
           [](GrowingArena& arena, Doubles first, Doubles second, Doubles discount, bool updates_first,
              bool updates_second) {
             nb::gil_scoped_release release;
             const Discount& row = *view_rows(discount);
             if (updates_first) arena.ascend(0, first.data(), static_cast<std::int64_t>(first.shape(1)), row);
             if (updates_second) arena.ascend(1, second.data(), static_cast<std::int64_t>(second.shape(1)), row);
           },
           nb::kw_only(), nb::arg("first"), nb::arg("second"), nb::arg("discount"), nb::arg("updates_first"),
           nb::arg("updates_second"))
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
             const RootGate gate = make_gate(kind, share, mass, alternative, deviation, prior, regret);
             arena.enter(gate, player, *view_rows(discount), t);
           },
           nb::arg("player"), nb::arg("kind"), nb::arg("share"), nb::kw_only(), nb::arg("mass"),
           nb::arg("alternative"), nb::arg("deviation"), nb::arg("prior"), nb::arg("regret"), nb::arg("discount"),
           nb::arg("t"))
      .def("set_origin", &GrowingArena::set_origin)
      .def("num_nodes", [](const GrowingArena& arena) { return static_cast<int>(arena.all_nodes().size()); })
      .def("shape",
           [](const GrowingArena& arena, int number) {
             const GrowingNode& node = arena.all_nodes()[number];
             return nb::make_tuple(node.count[0], node.count[1], node.actor, node.num_actions);
           })
      .def("origin",
           [](const GrowingArena& arena, int number) {
             const GrowingNode& node = arena.all_nodes()[number];
             return nb::make_tuple(node.page, node.parent, node.edge);
           })
      .def("end_walks", &GrowingArena::end_walks)
      .def("child", &GrowingArena::child_of)
      .def("leaves", [](const GrowingArena& arena) { return arena.all_leaves(); })
      .def("value_weight", [](const GrowingArena& arena, int node,
                              int player) { return arena.all_nodes()[node].weight[player]; })
      .def("is_watched",
           [](const GrowingArena& arena, int node) { return arena.all_nodes()[node].sum[0] != kNowhere; })
      .def("read_table", &read_table)
      .def("read_block", &read_block);
}

}  // namespace equipoise
