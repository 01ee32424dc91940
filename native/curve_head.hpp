// SPDX-License-Identifier: Apache-2.0
// Curves over strength, read at each hand's place.
//
// A hand is worth what a showdown pays (base), plus the curve times the opponent's mass it can meet, plus what the
// opponent's mass that it blocks, segment by segment of strength, differs from the mean; then the sum over both players is
// made zero.
#pragma once

#include "value_nets.hpp"

namespace equipoise {

class CurveHead final : public ValueHead {
 public:
  explicit CurveHead(const CurveAxes& axes) : axes_(axes) {}

  CurveAxes axes() const override { return axes_; }
  bool adds_base() const override { return true; }
  std::int64_t num_inputs() const override { return num_mass_inputs() * axes_.num_cells() + 3 * axes_.cells; }

  // Square roots of masses, then the middle of each cell in the distributions of strength, -1 to 1.
  void write_inputs(const ValueQuery& query, std::int64_t index, const StateFeatures& state,
                    float* out) const override {
    const std::int64_t num_hands = query.board(index).num_hands;
    const std::int64_t count = axes_.num_cells(), across = axes_.potential_cells;
    for (std::int64_t k = 0; k < 3; ++k) {
      const double unit = k == 2 ? 1.0 / static_cast<double>(num_hands) : 1.0;
      const double* const mass = state.cell_mass.data() + k * count;
      if (k < num_mass_inputs()) {
        for (std::int64_t i = 0; i < count; ++i) {
          out[k * count + i] = std::sqrt(static_cast<float>(static_cast<double>(count) * (mass[i] * unit)));
        }
      }
      float* const middle = out + num_mass_inputs() * count + k * axes_.cells;
      double below = 0.0;
      for (std::int64_t cell = 0; cell < axes_.cells; ++cell) {
        double own = 0.0;
        for (std::int64_t i = 0; i < across; ++i) own += mass[cell * across + i];
        middle[cell] = static_cast<float>(2.0 * ((below + 0.5 * own) * unit) - 1.0);
        below += own;
      }
    }
  }

  void read_values(const ValueQuery& query, std::int64_t index, const StateFeatures& state, const float* curves,
                   float share, float* values) const override {
    const ValueBoard& board = query.board(index);
    float row[max_row];
    std::int64_t begin = 0;
    for (const std::uint32_t end : board.group_end) {
      if (axes_.potential_cells == 1) read_row(curves, state.place[begin], row);
      for (std::int64_t i = begin; i < end; ++i) {
        if (axes_.potential_cells > 1) read_row(curves, state.place[i], board.potential[i], row);
        for (int player = 0; player < 2; ++player) {
          const float residual = read_hand(board, state, row + player * num_curves(), player, i);
          values[player * board.num_hands + i] = state.base[player * board.num_hands + i] + share * residual;
        }
      }
      begin = end;
    }
    make_zero_sum(state, board.num_hands, values);
  }

 private:
  static constexpr std::size_t max_row = 2 * (1 + CurveAxes::max_segments) + 14;  // read eight at once

  std::int64_t num_curves() const { return 1 + axes_.segments; }
  std::int64_t num_mass_inputs() const { return axes_.potential_cells > 1 ? 3 : 2; }

  // All curves between two cells of strength.
  void read_row(const float* curves, float place, float* row) const {
    const std::int64_t width = 2 * num_curves(), cell = lower_cell(place, axes_.cells);
    const float part = place - static_cast<float>(cell);
    const float *const here = curves + cell * width, *const there = here + width;
    for (std::int64_t i = 0; i < width; i += 8) store_oct(row + i, mix(load_oct(here + i), load_oct(there + i), part));
  }

  // The same between two cells of potential as well.
  void read_row(const float* curves, float place, float potential, float* row) const {
    const std::int64_t width = 2 * num_curves(), across = axes_.potential_cells, cell = lower_cell(place, axes_.cells);
    const float side_place = std::clamp(potential * static_cast<float>(across) - 0.5F, 0.0F,
                                        static_cast<float>(across - 1));
    const std::int64_t side = lower_cell(side_place, across);
    const float part = place - static_cast<float>(cell), side_part = side_place - static_cast<float>(side);
    const float *const here = curves + (cell * across + side) * width, *const there = here + across * width;
    for (std::int64_t i = 0; i < width; i += 8) {
      const Oct first = mix(load_oct(here + i), load_oct(there + i), part);
      const Oct second = mix(load_oct(here + width + i), load_oct(there + width + i), part);
      store_oct(row + i, mix(first, second, side_part));
    }
  }

  static std::int64_t lower_cell(float place, std::int64_t cells) {
    return std::min(static_cast<std::int64_t>(place), cells - 2);
  }

  static Oct mix(Oct here, Oct there, float part) { return spread_oct(1.0F - part) * here + spread_oct(part) * there; }

  // What a hand's curves are worth to a player: the first times the mass it meets, the others times blocked mass.
  float read_hand(const ValueBoard& board, const StateFeatures& state, const float* row, int player,
                  std::int64_t i) const {
    const float matched = state.matched[player * board.num_hands + i];
    float value = matched * row[0];
    if (axes_.segments == 0) return value;
    const std::int64_t count = axes_.segments;
    const float* const by_card = state.card_mass.data() + (1 - player) * num_value_cards * count;
    const float *const low = by_card + board.low[i] * count, *const high = by_card + board.high[i] * count;
    const float* const whole = state.segment_mass.data() + (1 - player) * count;
    const Oct blocked = spread_oct(1.0F - matched);
    Oct sums{};
    for (std::int64_t k = 0; k < count; k += 8) {
      const Oct more = (load_oct(low + k) + load_oct(high + k)) - blocked * load_oct(whole + k);
      sums += more * load_oct(row + 1 + k);
    }
    const float own = static_cast<float>(state.mass[i][1 - player]);  // is among the hands of both its cards
    return value + (sum_lanes(sums) - own * row[1 + state.segment[i]]);
  }

  CurveAxes axes_;
};

}  // namespace equipoise
