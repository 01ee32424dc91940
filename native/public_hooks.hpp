// SPDX-License-Identifier: Apache-2.0
// What may happen inside the iterations over a public tree beside the sweep itself: a gate at the root, values that are
// averaged as strategies are, and values that come from outside.
#pragma once

#include <cstdint>

#include "frontier.hpp"
#include "root_gate.hpp"

namespace equipoise {

// Cells of both players, player 0's first.
struct CellList {
  const std::int32_t* start = nullptr;  // [3] segments of players
  const std::int32_t* cells = nullptr;
};

struct PublicHooks {
  int gate_player = -1;          // whose root reach the gate sets, -1: no gate
  RootGate gate{};
  const std::int32_t* gate_cells = nullptr;  // [H] its cells of the root
  double* gate_values = nullptr;             // [H] scratch
  CellList watched;              // cells whose values are averaged
  double* value_sum = nullptr;   // decays and grows as strategy sums do
  Frontier frontier;             // cells that are worth something beside what is below them

  // Looks at a player's values, `value(cell)`, once they are backed up, and sets its root reach if there is a gate for it.
  template <typename Value>
  void pass(int player, const Rule& rule, const Discount& discount, std::int64_t t, Value&& value, double* reach) const {
    if (watched.start != nullptr) {
      for (std::int32_t k = watched.start[player]; k < watched.start[player + 1]; ++k) {
        value_sum[k] = value_sum[k] * discount.average_decay + discount.average_weight * value(watched.cells[k]);
      }
    }
    if (player != gate_player) return;
    for (std::int64_t k = 0; k < gate.num_private; ++k) gate_values[k] = value(gate_cells[k]);
    pass_gate(gate, rule, discount, t, gate_values);
    for (std::int64_t k = 0; k < gate.num_private; ++k) reach[gate_cells[k]] = gate_values[k];
  }
};

}  // namespace equipoise
