// SPDX-License-Identifier: Apache-2.0
// A history tree laid out for many short walks from its root: what a step needs of a node lies in one place.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "random.hpp"
#include "sampling.hpp"

namespace equipoise {

// Children lie side by side, so that an action's number leads to its child without a look-up.
struct WalkNode {
  std::int32_t first_child;
  std::int32_t actor : 8;       // player, chance_actor or terminal_actor
  std::int32_t num_edges : 24;
  std::int32_t detail;          // information set, terminal, or at chance: where cumulative probabilities begin, -1: equal
  std::int32_t first_sequence;  // of the information set
};
static_assert(sizeof(WalkNode) == 16);

// Owns its arrays; players' sequences are numbered as in a history tree.
struct WalkForm {
  std::vector<WalkNode> nodes;                 // level by level
  std::vector<double> cumulative;              // of chance that is not uniform
  std::vector<double> utility;                 // [P, Z]
  std::vector<std::int32_t> first_sequence;    // [I]
  std::vector<std::int32_t> num_actions;       // [I]
  std::int64_t num_terminals = 0;
  std::int64_t num_sequences = 0;
  std::int32_t depth = 0;

  void index_nodes(std::int64_t num_nodes, const std::int8_t* actor, const std::int32_t* detail,
                   const std::int32_t* first_edge, const std::int32_t* edge_child, const double* edge_probability) {
    std::vector<std::int32_t> order{0};  // old numbers of nodes
    order.reserve(static_cast<std::size_t>(num_nodes));
    nodes.resize(static_cast<std::size_t>(num_nodes));
    for (std::size_t place = 0; place < order.size(); ++place) {
      const std::int32_t n = order[place];
      const std::int32_t begin = first_edge[n];
      const std::int32_t size = first_edge[n + 1] - begin;
      WalkNode& node = nodes[place];
      node.first_child = static_cast<std::int32_t>(order.size());
      node.actor = actor[n];
      node.num_edges = size;
      node.detail = detail[n];
      node.first_sequence = actor[n] >= 0 ? first_sequence[detail[n]] : -1;
      order.insert(order.end(), edge_child + begin, edge_child + begin + size);
      if (actor[n] != chance_actor) continue;
      bool is_uniform = true;
      for (std::int32_t e = 1; e < size; ++e) is_uniform &= edge_probability[begin + e] == edge_probability[begin];
      node.detail = is_uniform ? -1 : static_cast<std::int32_t>(cumulative.size());
      double total = 0.0;
      for (std::int32_t e = 0; e < size && !is_uniform; ++e) cumulative.push_back(total += edge_probability[begin + e]);
    }
    depth = static_cast<std::int32_t>(find_depth(first_edge, edge_child, num_nodes));
  }

  int draw_chance(Random& random, const WalkNode& node) const {
    if (node.detail < 0) return draw_uniform(random, node.num_edges);
    return draw_cumulative(random, cumulative.data() + node.detail, node.num_edges);
  }
};

// A strategy as walks draw from it: an action is the number of bounds that a uniform number has reached, and from the
// last possible action on bounds are out of reach.
inline void accumulate_strategy(const WalkForm& form, const double* strategy, double* bound) {
  for (std::size_t infoset = 0; infoset < form.num_actions.size(); ++infoset) {
    const std::int32_t first = form.first_sequence[infoset];
    int last = form.num_actions[infoset] - 1;
    while (last > 0 && strategy[first + last] <= 0.0) --last;
    double total = 0.0;
    for (int a = 0; a < form.num_actions[infoset]; ++a) {
      total += strategy[first + a];
      bound[first + a] = a < last ? total : INFINITY;
    }
  }
}

// Which way a uniform number falls is a coin's toss: sums of comparisons cost no mispredicted branch. Two and three actions
// are one case, because the bound of the last action is out of reach.
inline int draw_bounded(Random& random, const double* bound, int num_actions) {
  const double point = random.uniform();
  if (num_actions == 2 || num_actions == 3) return (point >= bound[0]) + (point >= bound[1]);
  int action = 0;
  for (int a = 0; a + 1 < num_actions; ++a) action += point >= bound[a];
  return action;
}

}  // namespace equipoise
