// SPDX-License-Identifier: Apache-2.0
// What a board fixes for value networks: its live hands from weak to strong, and how pairs of them fare.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "strength_order.hpp"

namespace equipoise {

// Live hands in the order of a strength, weakest first; a hand's place in it is what arrays below are indexed by.
struct ValueBoard {
  static constexpr std::int32_t pair_limit = 44;  // products with 16-bit weights of 1,326 hands add up within 32 bits
  static constexpr std::int64_t row_multiple = 32, pair_tile = 64;  // tiles: both triangles stay in the cache

  // `strength` [H] has 14 bits at most, 0 for hands that the board blocks; `potential` [H] is a share of 1.
  ValueBoard(const std::uint16_t* strength, const std::uint8_t* cards, const float* potential, std::int64_t num_deck)
      : num_deck_hands(num_deck) {
    StrengthOrder order(static_cast<std::size_t>(num_deck));
    order.clear();
    std::vector<std::uint16_t> live(static_cast<std::size_t>(num_deck));
    for (std::int64_t i = 0; i < num_deck; ++i) {
      live[i] = static_cast<std::uint16_t>(order.num_hands);
      if (strength[i] != 0) order.add(strength[i], static_cast<std::uint32_t>(i));
    }
    order.sort();
    num_hands = static_cast<std::int64_t>(order.num_hands);
    group_end.assign(order.group_end.begin(), order.group_end.begin() + static_cast<std::ptrdiff_t>(order.num_groups));
    for (std::size_t i = 0; i < order.num_hands; ++i) {
      const std::uint32_t number = order.hand[i];
      deck_hand.push_back(static_cast<std::uint16_t>(number));
      live_hand.push_back(live[number]);
      low.push_back(cards[2 * number]);
      high.push_back(cards[2 * number + 1]);
      if (potential != nullptr) this->potential.push_back(potential[number]);
    }
  }

  // Keeps wins less losses of all pairs of hands over `total` run-outs, from `wins` [n, n] of places: whole counts if
  // they are few, else rounded to so many of `pair_limit`. Pairs that share a card count nothing.
  void set_pairs(const std::int64_t* wins, std::int64_t total) {
    pair_unit = total <= pair_limit ? static_cast<std::int32_t>(total) : pair_limit;
    pair_stride = (num_hands + row_multiple - 1) / row_multiple * row_multiple;
    pairs.assign(static_cast<std::size_t>(num_hands * pair_stride), 0);
    const double scale = static_cast<double>(pair_unit) / static_cast<double>(total);
    for (std::int64_t rows = 0; rows < num_hands; rows += pair_tile) {
      for (std::int64_t columns = 0; columns <= rows; columns += pair_tile) {
        for (std::int64_t i = rows; i < std::min(rows + pair_tile, num_hands); ++i) {
          for (std::int64_t j = columns; j < std::min(columns + pair_tile, i); ++j) {
            if (shares_card(i, j)) continue;
            const double ahead = static_cast<double>(wins[i * num_hands + j] - wins[j * num_hands + i]);
            const auto entry = static_cast<std::int16_t>(std::nearbyint(ahead * scale));
            pairs[i * pair_stride + j] = entry;
            pairs[j * pair_stride + i] = static_cast<std::int16_t>(-entry);
          }
        }
      }
    }
  }

  bool shares_card(std::int64_t i, std::int64_t j) const {
    return low[i] == low[j] || low[i] == high[j] || high[i] == low[j] || high[i] == high[j];
  }

  std::int64_t num_deck_hands, num_hands = 0, pair_stride = 0;
  std::int32_t pair_unit = 0;            // 0: the river, no pairs are kept
  std::vector<std::uint16_t> deck_hand;  // [n] number in the deck
  std::vector<std::uint16_t> live_hand;  // [n] number among live hands
  std::vector<std::uint8_t> low, high;   // [n] cards
  std::vector<std::uint32_t> group_end;  // one past the last place of hands that are equally strong
  std::vector<float> potential;          // [n], empty: there is none
  std::vector<std::int16_t> pairs;       // [n, pair_stride] wins less losses, of pair_unit run-outs
};

}  // namespace equipoise
