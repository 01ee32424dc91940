// SPDX-License-Identifier: Apache-2.0
// Buckets of hands, as in DeepStack: masses of buckets in, a value for each bucket and player out.
#pragma once

#include "value_nets.hpp"

namespace equipoise {

struct BucketSettings {
  std::int64_t num_buckets;
  bool takes_roots;  // of masses
  bool adds_equity;  // outputs are added to what a showdown pays, else they stand for all of it
  bool times_mass;   // they speak of a unit of mass that a hand can meet
};

class BucketHead final : public ValueHead {
 public:
  explicit BucketHead(const BucketSettings& settings) : settings_(settings) {}

  CurveAxes axes() const override { return {.cells = 2, .potential_cells = 1, .segments = 0}; }
  bool adds_base() const override { return settings_.adds_equity; }
  std::int64_t num_inputs() const override { return 2 * settings_.num_buckets; }

  // Masses of buckets, in units of the mean one, or their roots.
  void write_inputs(const ValueQuery& query, std::int64_t index, const StateFeatures& state,
                    float* row) const override {
    const ValueBoard& board = query.board(index);
    const std::uint16_t* const bucket = query.buckets(index);
    const std::int64_t count = settings_.num_buckets;
    std::vector<double> mass(static_cast<std::size_t>(2 * count));
    for (std::int64_t i = 0; i < board.num_hands; ++i) {
      const std::int64_t own = bucket[board.deck_hand[i]];
      mass[own] += state.mass[i][0];
      mass[count + own] += state.mass[i][1];
    }
    for (std::int64_t i = 0; i < 2 * count; ++i) {
      const float relative = static_cast<float>(static_cast<double>(count) * mass[i]);
      row[i] = settings_.takes_roots ? std::sqrt(relative) : relative;
    }
  }

  void read_values(const ValueQuery& query, std::int64_t index, const StateFeatures& state, const float* outputs,
                   float share, float* values) const override {
    const ValueBoard& board = query.board(index);
    const std::uint16_t* const bucket = query.buckets(index);
    const std::int64_t n = board.num_hands;
    const float base = settings_.adds_equity ? 1.0F : 1.0F - share;  // of what a showdown pays
    for (int player = 0; player < 2; ++player) {
      for (std::int64_t i = 0; i < n; ++i) {
        float value = share * outputs[player * settings_.num_buckets + bucket[board.deck_hand[i]]];
        if (settings_.times_mass) value *= state.matched[player * n + i];
        if (base > 0.0F) value += base * state.base[player * n + i];
        values[player * n + i] = value;
      }
    }
    if (settings_.times_mass) {
      make_zero_sum(state, n, values);
    } else {
      split_rest(state, n, values);
    }
  }

 private:
  // Takes half of what values sum to under both ranges from every hand of both players.
  static void split_rest(const StateFeatures& state, std::int64_t num_hands, float* values) {
    double left = 0.0, mass = 0.0;
    for (std::int64_t i = 0; i < num_hands; ++i) {
      left += round_fine(state.mass[i][0] * static_cast<double>(values[i]));
      left += round_fine(state.mass[i][1] * static_cast<double>(values[num_hands + i]));
      mass += state.mass[i][0] + state.mass[i][1];
    }
    const float share = static_cast<float>(left / mass);
    for (std::int64_t i = 0; i < 2 * num_hands; ++i) values[i] -= share;
  }

  BucketSettings settings_;
};

}  // namespace equipoise
