// SPDX-License-Identifier: Apache-2.0
// Leaves whose values come from outside: both players' reaches of all leaves in two contiguous arrays, one question a
// sweep, counterfactual values back in two arrays of the same shapes. Nothing here knows trees or Python.
#pragma once

#include <cmath>
#include <cstdint>

namespace equipoise {

struct Frontier {
  const std::int32_t* start = nullptr;   // [3] segments of players, null: no leaves
  const std::int32_t* cells = nullptr;   // [K] where the sweep keeps reach and values of each private state
  const std::int32_t* places = nullptr;  // [K] where it stands in the player's arrays [B, H]
  double* reach[2] = {};
  const double* value[2] = {};
  bool (*ask)(void*) = nullptr;  // has `value` filled from `reach`; false: give up
  void* context = nullptr;

  bool is_empty() const { return start == nullptr; }

  // Asks for values, `load(player, cell)` being a reach; returns whether they are numbers.
  template <typename Load>
  bool consult(Load&& load) const {
    for (int player = 0; player < 2; ++player) {
      for (std::int32_t k = start[player]; k < start[player + 1]; ++k) reach[player][places[k]] = load(player, cells[k]);
    }
    return ask(context);
  }

  // Calls `add(cell, value)` for the leaves of one player.
  template <typename Add>
  void give(int player, Add&& add) const {
    for (std::int32_t k = start[player]; k < start[player + 1]; ++k) add(cells[k], value[player][places[k]]);
  }

  bool is_finite() const {
    for (int player = 0; player < 2; ++player) {
      for (std::int32_t k = start[player]; k < start[player + 1]; ++k) {
        if (!std::isfinite(value[player][places[k]])) return false;
      }
    }
    return true;
  }
};

}  // namespace equipoise
