// SPDX-License-Identifier: Apache-2.0
// Terminal values of a two-player tree without its improbable branches, by a walk over histories in depth-first order.
#pragma once

#include <cstdint>

#include "history.hpp"

namespace equipoise {

// Beside a tree's sequence form, what a walk has to know of its histories.
struct HistoryNodes {
  std::int64_t num_nodes = 0;
  const std::int32_t* subtree_end = nullptr;       // [N] one past the last node below
  const std::int32_t* last_sequence[2] = {};       // [N] of each player, on the way to the node
  const double* chance = nullptr;                  // [N] chance's probabilities on the way to the node, multiplied
  const std::int32_t* terminal = nullptr;          // [N] its place among terminals, -1 at other nodes
};

// Adds the counterfactual values of terminals into `cfv`, but leaves out every branch that chance and the opponent reach
// with a probability below `least`. Returns the number of nodes that are not left out.
inline std::int64_t accumulate_likely(const HistoryForm& form, const HistoryNodes& nodes, int player, double least,
                                      const double* __restrict realization, double* __restrict cfv) {
  const std::int32_t* const own = form.terminal_sequence[player];
  const std::int32_t* const other = nodes.last_sequence[1 - player];
  const double* const weight = form.weight[form.is_zero_sum ? 0 : player];
  const double sign = value_sign(form, player);
  std::int64_t num_visited = 0;
  for (std::int64_t node = 0; node < nodes.num_nodes;) {
    const double reach = realization[other[node]];
    if (nodes.chance[node] * reach < least) {
      node = nodes.subtree_end[node];
      continue;
    }
    ++num_visited;
    const std::int32_t z = nodes.terminal[node++];
    if (z >= 0) cfv[own[z]] += weight[z] * (sign * reach);
  }
  return num_visited;
}

}  // namespace equipoise
