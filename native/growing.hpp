// SPDX-License-Identifier: Apache-2.0
// A public tree that grows while it is swept: append-only nodes, edges and tables; sweeps of CFR over what is there, and
// walks that say where it should grow. Children have larger numbers than their parents, so a sweep is a loop.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "policy.hpp"
#include "random.hpp"
#include "root_gate.hpp"
#include "rule.hpp"

namespace equipoise {

// actors that are nobody, as games number them
constexpr int kChance = -1;
constexpr int kTerminal = -2;
constexpr int kNowhere = -1;

// Where a private state goes along an edge.
struct GrowingEntry {
  int source;
  int action;  // column, or kNowhere for a player who did not move
  int target;
  double weight;
};

struct GrowingEdge {
  int child;  // kNowhere while it is not in the tree
  std::int64_t first[2];
  int size[2];
};

struct GrowingNode {
  int actor;
  int count[2];           // private states
  std::int64_t block[2];  // where each player's private states begin
  std::int64_t joint;     // [count 0, count 1]
  std::int64_t payoff;    // [2, count 0, count 1], terminals alone
  int num_actions;
  std::int64_t table;  // [count of the actor, num_actions], once it is opened
  std::int64_t first_edge;
  int num_edges;     // kNowhere until it is opened
  int leaf;          // its row of the batch, kNowhere if it is none
  bool is_inside;    // it has children in the tree
  bool has_unit;     // a leaf with one private state each, valued once and for all
  double unit[2];    // its values against a reach of 1
  double weight[2];  // of all values in the sums, by player
  int page;          // of the book, kNowhere if it came from elsewhere
  int parent, edge;  // by which it is reached
};

struct GrowingStep {
  int node;    // where the tree should grow; kNowhere if the walk ended
  int action;  // by which; kNowhere at chance
};

class GrowingArena {
 public:
  Rule rule;

  int add_node(int actor, int first_count, int second_count, const double* joint, const double* payoff) {
    GrowingNode node{};
    node.actor = actor;
    node.count[0] = first_count;
    node.count[1] = second_count;
    for (int player = 0; player < 2; ++player) {
      node.block[player] = static_cast<std::int64_t>(reach[player].size());
      const std::size_t size = reach[player].size() + static_cast<std::size_t>(node.count[player]);
      for (auto* cells : {&reach[player], &value[player], &value_sum[player]}) cells->resize(size, 0.0);
    }
    const std::int64_t pairs = static_cast<std::int64_t>(first_count) * second_count;
    node.joint = append(numbers, joint, pairs);
    node.payoff = actor == kTerminal ? append(numbers, payoff, 2 * pairs) : 0;
    node.num_edges = kNowhere;
    node.leaf = kNowhere;
    node.page = node.parent = node.edge = kNowhere;
    nodes.push_back(node);
    const int number = static_cast<int>(nodes.size()) - 1;
    if (actor != kTerminal) become_leaf(number);
    return number;
  }

  // Lays out what follows a node; none of its children is in the tree yet.
  void open(int number, int num_actions, const std::uint8_t* legal, const double* its_prior,
            const std::vector<GrowingEdge>& its_edges, const std::vector<GrowingEntry>& its_entries) {
    GrowingNode& node = nodes[number];
    node.first_edge = static_cast<std::int64_t>(edges.size());
    node.num_edges = static_cast<int>(its_edges.size());
    const auto first_entry = static_cast<std::int64_t>(entries.size());
    for (GrowingEdge edge : its_edges) {
      for (auto& first : edge.first) first += first_entry;
      edges.push_back(edge);
    }
    entries.insert(entries.end(), its_entries.begin(), its_entries.end());
    node.num_actions = num_actions;
    if (node.actor < 0) return;
    node.table = static_cast<std::int64_t>(regret.size());
    const std::int64_t cells = static_cast<std::int64_t>(node.count[node.actor]) * num_actions;
    const std::size_t size = regret.size() + static_cast<std::size_t>(cells);
    for (auto* table : {&regret, &average, &strategy, &action_value, &visits, &pending, &prior}) table->resize(size, 0.0);
    is_legal.insert(is_legal.end(), legal, legal + cells);
    is_played.resize(size, 0);
    std::copy_n(its_prior, cells, prior.begin() + node.table);
  }

  // Says which page of a book a node is, and what it follows.
  void set_origin(int number, int page, int parent, int edge) {
    nodes[number].page = page;
    nodes[number].parent = parent;
    nodes[number].edge = edge;
  }

  // Hands the root's values to a gate, which says with what reach its player enters next.
  void enter(const RootGate& gate, int player, const Discount& discount, std::int64_t t) {
    // the root's private states come first in both arrays
    std::copy_n(value[player].begin(), gate.num_private, reach[player].begin());
    pass_gate(gate, rule, discount, t, reach[player].data());
  }

  // Puts a child of an opened node into the tree.
  void attach(int number, int edge, int child) { edges[nodes[number].first_edge + edge].child = child; }

  // Looks which actions lead into the tree, once children have been put there.
  void settle_children(int number) {
    GrowingNode& node = nodes[number];
    stop_being_leaf(number);
    node.is_inside = true;
    if (node.actor < 0) return;
    std::vector<std::uint8_t> is_missing(static_cast<std::size_t>(node.num_actions), 0);
    for_each_edge(node, [&](const GrowingEdge& edge) {
      if (edge.child != kNowhere) return;
      for_each_entry(edge, node.actor, [&](const GrowingEntry& entry) { is_missing[entry.action] = 1; });
    });
    for (int own = 0; own < node.count[node.actor]; ++own) {
      const std::int64_t row = node.table + static_cast<std::int64_t>(own) * node.num_actions;
      for (int a = 0; a < node.num_actions; ++a) is_played[row + a] = is_legal[row + a] && !is_missing[a];
      form_strategy(node, row);
    }
  }

  void set_unit(int number, double first, double second) {
    nodes[number].has_unit = true;
    nodes[number].unit[0] = first;
    nodes[number].unit[1] = second;
    stop_being_leaf(number);
  }

  // Spreads the root's reaches over the tree.
  void descend() {
    for (int player = 0; player < 2; ++player) {
      const int own = nodes[0].count[player];
      std::fill(reach[player].begin() + own, reach[player].end(), 0.0);
    }
    for (const GrowingNode& node : nodes) {
      if (!node.is_inside) continue;
      for_each_edge(node, [&](const GrowingEdge& edge) {
        if (edge.child == kNowhere) return;
        for (int player = 0; player < 2; ++player) {
          const double* above = reach[player].data() + node.block[player];
          double* below = reach[player].data() + nodes[edge.child].block[player];
          for_each_entry(edge, player, [&](const GrowingEntry& entry) {
            double share = entry.weight * above[entry.source];
            if (player == node.actor) share *= strategy[cell(node, entry)];
            below[entry.target] += share;
          });
        }
      });
    }
  }

  // Writes the reaches of the leaves into `[B, H]` arrays.
  void gather(double* first, std::int64_t first_stride, double* second, std::int64_t second_stride) const {
    for (std::size_t row = 0; row < leaves.size(); ++row) {
      const GrowingNode& node = nodes[leaves[row]];
      const double* from[2] = {reach[0].data() + node.block[0], reach[1].data() + node.block[1]};
      std::copy_n(from[0], node.count[0], first + static_cast<std::int64_t>(row) * first_stride);
      std::copy_n(from[1], node.count[1], second + static_cast<std::int64_t>(row) * second_stride);
    }
  }

  // Brings values up from terminals and leaves; updates the tables of the players asked for.
  void ascend(const double* first, std::int64_t first_stride, const double* second, std::int64_t second_stride,
              const Discount& discount, bool updates_first, bool updates_second) {
    const bool updates[2] = {updates_first, updates_second};
    for (auto& cells : value) std::fill(cells.begin(), cells.end(), 0.0);
    for (int number = static_cast<int>(nodes.size()) - 1; number >= 0; --number) {
      GrowingNode& node = nodes[number];
      double* own[2] = {value[0].data() + node.block[0], value[1].data() + node.block[1]};
      if (node.actor == kTerminal) {
        pay(node, own);
      } else if (node.is_inside) {
        back_up(node, own, discount, updates);
      } else if (node.has_unit) {
        own[0][0] = node.unit[0] * reach[1][node.block[1]];
        own[1][0] = node.unit[1] * reach[0][node.block[0]];
      } else {
        std::copy_n(first + node.leaf * first_stride, node.count[0], own[0]);
        std::copy_n(second + node.leaf * second_stride, node.count[1], own[1]);
      }
      for (int player = 0; player < 2; ++player) {
        if (!updates[player]) continue;
        double* sum = value_sum[player].data() + node.block[player];
        for (int i = 0; i < node.count[player]; ++i) {
          sum[i] = sum[i] * discount.average_decay + discount.average_weight * own[player][i];
        }
        node.weight[player] = node.weight[player] * discount.average_decay + discount.average_weight;
      }
    }
  }

  // One walk from a node: a pair of private states by their reaches, then actions by PUCT or by the strategy, a coin
  // deciding, until something outside the tree is met.
  GrowingStep walk(int start, double exploration, double share_of_puct, double value_scale, Random& random) {
    int number = start;
    int own[2];
    draw_pair(nodes[start], own, random);
    for (;;) {
      GrowingNode& node = nodes[number];
      if (node.actor == kTerminal) return {kNowhere, kNowhere};
      if (node.num_edges == kNowhere || node.actor == kChance) {
        if (!node.is_inside) return {number, kNowhere};
      }
      int action = kNowhere;
      if (node.actor >= 0) {
        const std::int64_t row = node.table + static_cast<std::int64_t>(own[node.actor]) * node.num_actions;
        const bool by_value = !node.is_inside || random.uniform() < share_of_puct;
        action = by_value ? best_by_puct(node, own[node.actor], row, exploration, value_scale)
                          : draw(random, node.num_actions, [&](int a) { return strategy[row + a]; });
        visits[row + action] += 1.0;
        pending[row + action] += 1.0;
        touched.push_back(row + action);
        if (!is_played[row + action]) return {number, action};
      }
      number = follow(node, action, own, random);
      if (number == kNowhere) return {kNowhere, kNowhere};
    }
  }

  // Ends a batch of walks: those on their way no longer count as lost.
  void end_walks() {
    for (const std::int64_t place : touched) pending[place] = 0.0;
    touched.clear();
  }

  const std::vector<GrowingNode>& all_nodes() const { return nodes; }
  const std::vector<int>& all_leaves() const { return leaves; }
  int child_of(int number, int edge) const { return edges[nodes[number].first_edge + edge].child; }

  std::vector<double> reach[2], value[2], value_sum[2];                                      // private states
  std::vector<double> regret, average, strategy, action_value, visits, pending, prior;       // tables
  std::vector<std::uint8_t> is_legal, is_played;

 private:
  template <typename Visit>
  void for_each_edge(const GrowingNode& node, Visit&& visit) const {
    for (int e = 0; e < node.num_edges; ++e) visit(edges[node.first_edge + e]);
  }

  template <typename Visit>
  void for_each_entry(const GrowingEdge& edge, int player, Visit&& visit) const {
    for (int k = 0; k < edge.size[player]; ++k) visit(entries[edge.first[player] + k]);
  }

  static std::int64_t append(std::vector<double>& to, const double* from, std::int64_t size) {
    const auto place = static_cast<std::int64_t>(to.size());
    to.insert(to.end(), from, from + size);
    return place;
  }

  std::int64_t cell(const GrowingNode& node, const GrowingEntry& entry) const {
    return node.table + static_cast<std::int64_t>(entry.source) * node.num_actions + entry.action;
  }

  void become_leaf(int number) {
    nodes[number].leaf = static_cast<int>(leaves.size());
    leaves.push_back(number);
  }

  void stop_being_leaf(int number) {
    const int row = nodes[number].leaf;
    if (row == kNowhere) return;
    leaves[row] = leaves.back();
    nodes[leaves[row]].leaf = row;
    leaves.pop_back();
    nodes[number].leaf = kNowhere;
  }

  void form_strategy(const GrowingNode& node, std::int64_t row) {
    double total = 0.0;
    int among = 0;
    for (int a = 0; a < node.num_actions; ++a) {
      if (!is_played[row + a]) continue;
      ++among;
      total += std::max(regret[row + a], 0.0);
    }
    for (int a = 0; a < node.num_actions; ++a) {
      if (!is_played[row + a]) {
        strategy[row + a] = 0.0;
      } else {
        strategy[row + a] = total > 0.0 ? std::max(regret[row + a], 0.0) / total : 1.0 / among;
      }
    }
  }

  void pay(const GrowingNode& node, double* own[2]) const {
    const double* payoff = numbers.data() + node.payoff;
    const std::int64_t pairs = static_cast<std::int64_t>(node.count[0]) * node.count[1];
    const double* first = reach[0].data() + node.block[0];
    const double* second = reach[1].data() + node.block[1];
    for (int i = 0; i < node.count[0]; ++i) {
      for (int j = 0; j < node.count[1]; ++j) {
        const std::int64_t pair = static_cast<std::int64_t>(i) * node.count[1] + j;
        own[0][i] += payoff[pair] * second[j];
        own[1][j] += payoff[pairs + pair] * first[i];
      }
    }
  }

  void back_up(GrowingNode& node, double* own[2], const Discount& discount, const bool updates[2]) {
    if (node.actor >= 0) {
      const std::int64_t cells = static_cast<std::int64_t>(node.count[node.actor]) * node.num_actions;
      std::fill_n(action_value.begin() + node.table, cells, 0.0);
    }
    for_each_edge(node, [&](const GrowingEdge& edge) {
      if (edge.child == kNowhere) return;
      const GrowingNode& child = nodes[edge.child];
      for (int player = 0; player < 2; ++player) {
        const double* below = value[player].data() + child.block[player];
        for_each_entry(edge, player, [&](const GrowingEntry& entry) {
          double& to = player == node.actor ? action_value[cell(node, entry)] : own[player][entry.source];
          to += entry.weight * below[entry.target];
        });
      }
    });
    if (node.actor < 0) return;
    const double* acting = reach[node.actor].data() + node.block[node.actor];
    for (int i = 0; i < node.count[node.actor]; ++i) {
      const std::int64_t row = node.table + static_cast<std::int64_t>(i) * node.num_actions;
      double expected = 0.0;
      for (int a = 0; a < node.num_actions; ++a) expected += strategy[row + a] * action_value[row + a];
      own[node.actor][i] = expected;
      if (updates[node.actor]) update(node, row, expected, acting[i], discount);
    }
  }

  void update(const GrowingNode& node, std::int64_t row, double expected, double own_reach, const Discount& discount) {
    for (int a = 0; a < node.num_actions; ++a) {
      double& sum = average[row + a];
      sum = sum * discount.average_decay + discount.average_weight * own_reach * strategy[row + a];
      if (!is_played[row + a]) continue;
      const double stored = regret[row + a];
      const double updated =
          stored * (stored > 0.0 ? discount.positive : discount.negative) + (action_value[row + a] - expected);
      regret[row + a] = std::max(updated, rule.floor());
    }
    form_strategy(node, row);
  }

  // How much of the other player a private state meets.
  double mass(const GrowingNode& node, int player, int own) const {
    const double* joint = numbers.data() + node.joint;
    const double* other = reach[1 - player].data() + node.block[1 - player];
    double total = 0.0;
    for (int j = 0; j < node.count[1 - player]; ++j) {
      const std::int64_t pair = player == 0 ? static_cast<std::int64_t>(own) * node.count[1] + j
                                            : static_cast<std::int64_t>(j) * node.count[1] + own;
      total += joint[pair] * other[j];
    }
    return total;
  }

  int best_by_puct(const GrowingNode& node, int own, std::int64_t row, double exploration, double value_scale) const {
    const double met = mass(node, node.actor, own);
    // values are counterfactual: what somebody is worth who is here is that over how likely the others are
    const double to_mean = met > 0.0 ? value_scale / met : 0.0;
    const double expected = value[node.actor][node.block[node.actor] + own];
    double total = 1.0;
    for (int a = 0; a < node.num_actions; ++a) total += visits[row + a];
    int best = kNowhere;
    double highest = -INFINITY;
    for (int a = 0; a < node.num_actions; ++a) {
      if (!is_legal[row + a]) continue;
      const double mean = to_mean * (is_played[row + a] ? action_value[row + a] : expected);
      const double lost = pending[row + a] / (1.0 + visits[row + a]);
      const double score = mean - lost + exploration * prior[row + a] * std::sqrt(total) / (1.0 + visits[row + a]);
      if (score > highest) {
        highest = score;
        best = a;
      }
    }
    return best;
  }

  void draw_pair(const GrowingNode& node, int own[2], Random& random) const {
    const double* joint = numbers.data() + node.joint;
    const std::int64_t pairs = static_cast<std::int64_t>(node.count[0]) * node.count[1];
    const auto weigh = [&](std::int64_t pair, bool by_reach) {
      if (!by_reach) return joint[pair];
      return joint[pair] * reach[0][node.block[0] + pair / node.count[1]] * reach[1][node.block[1] + pair % node.count[1]];
    };
    double total = 0.0;
    for (std::int64_t pair = 0; pair < pairs; ++pair) total += weigh(pair, true);
    const bool by_reach = total > 0.0;
    if (!by_reach) {
      for (std::int64_t pair = 0; pair < pairs; ++pair) total += weigh(pair, false);
    }
    const int pair = draw(random, static_cast<int>(pairs), [&](int index) { return weigh(index, by_reach) / total; });
    own[0] = pair / node.count[1];
    own[1] = pair % node.count[1];
  }

  // Takes the edge on which both private states lie, after an action or by chance; draws where there are several.
  int follow(const GrowingNode& node, int action, int own[2], Random& random) {
    struct Way {
      int child;
      int own[2];
      double weight;
    };
    std::vector<Way> ways;
    double total = 0.0;
    for_each_edge(node, [&](const GrowingEdge& edge) {
      if (edge.child == kNowhere) return;
      const GrowingNode& child = nodes[edge.child];
      const double* joint = numbers.data() + child.joint;
      for_each_entry(edge, 0, [&](const GrowingEntry& first) {
        if (first.source != own[0] || (node.actor == 0 && first.action != action)) return;
        for_each_entry(edge, 1, [&](const GrowingEntry& second) {
          if (second.source != own[1] || (node.actor == 1 && second.action != action)) return;
          const double weight = first.weight * second.weight *
                                joint[static_cast<std::int64_t>(first.target) * child.count[1] + second.target];
          if (weight <= 0.0) return;
          ways.push_back({edge.child, {first.target, second.target}, weight});
          total += weight;
        });
      });
    });
    if (ways.empty()) return kNowhere;
    const int way = draw(random, static_cast<int>(ways.size()), [&](int index) { return ways[index].weight / total; });
    own[0] = ways[way].own[0];
    own[1] = ways[way].own[1];
    return ways[way].child;
  }

  std::vector<GrowingNode> nodes;
  std::vector<GrowingEdge> edges;
  std::vector<GrowingEntry> entries;
  std::vector<double> numbers;  // joint weights and payoffs
  std::vector<int> leaves;
  std::vector<std::int64_t> touched;
};

}  // namespace equipoise
