// SPDX-License-Identifier: Apache-2.0
// Hand strength: how many of the hands that an opponent may hold a hand beats on complete boards, ties half.
//
// A level is twice the hands beaten plus the hands tied: a whole number, 0 to twice the number of opponents' hands.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "handeval.hpp"
#include "strength_order.hpp"

namespace equipoise {

constexpr std::uint16_t kBlocked = 0xFFFF;  // in the place of a level, a score or a bucket: the board holds a card of it

class StrengthLevels {
 public:
  StrengthLevels(const HandEvaluator& evaluator, const std::uint8_t* hole_cards, std::int64_t num_hands)
      : evaluator_(evaluator), hole_cards_(hole_cards), num_hands_(num_hands),
        strength_(static_cast<std::size_t>(num_hands)), order_(static_cast<std::size_t>(num_hands)) {}

  // Overwrites `out` `[H]` with the levels of all hands on a board of five cards.
  void evaluate(const std::uint8_t* board, std::uint16_t* out) {
    evaluate_hole_cards(evaluator_, board, 5, hole_cards_, num_hands_, strength_.data());
    order_.clear();
    for (std::int64_t hand = 0; hand < num_hands_; ++hand) {
      if (strength_[hand] != 0) order_.add(strength_[hand], static_cast<std::uint32_t>(hand));
    }
    order_.sort();
    std::fill(out, out + num_hands_, kBlocked);
    std::int32_t all = 0;
    std::array<std::int32_t, kNumCards> by_card{};  // hands so far that hold a card
    const auto met = [&](std::uint32_t hand) {
      return all - by_card[hole_cards_[2 * hand]] - by_card[hole_cards_[2 * hand + 1]];
    };
    std::uint32_t start = 0;
    for (std::size_t group = 0; group < order_.num_groups; ++group) {
      const std::uint32_t end = order_.group_end[group];
      for (std::uint32_t i = start; i < end; ++i) out[order_.hand[i]] = static_cast<std::uint16_t>(met(order_.hand[i]));
      for (std::uint32_t i = start; i < end; ++i) {
        const std::uint32_t hand = order_.hand[i];
        ++by_card[hole_cards_[2 * hand]];
        ++by_card[hole_cards_[2 * hand + 1]];
      }
      all += static_cast<std::int32_t>(end - start);
      for (std::uint32_t i = start; i < end; ++i) {
        // what is beaten or tied; the hand itself was taken away with both of its cards, once too often
        out[order_.hand[i]] += static_cast<std::uint16_t>(met(order_.hand[i]) + 1);
      }
      start = end;
    }
  }

 private:
  const HandEvaluator& evaluator_;
  const std::uint8_t* hole_cards_;
  std::int64_t num_hands_;
  std::vector<std::uint16_t> strength_;
  StrengthOrder order_;
};

// Adds levels and their squares over boards `[B, 5]` of weights `[B]` into `sum` and `square_sum` `[H]`.
inline void accumulate_levels(StrengthLevels& levels, const std::uint8_t* boards, const std::int64_t* weights,
                              std::int64_t num_boards, std::int64_t num_hands, std::int64_t* sum,
                              std::int64_t* square_sum) {
  std::vector<std::uint16_t> row(static_cast<std::size_t>(num_hands));
  for (std::int64_t board = 0; board < num_boards; ++board) {
    levels.evaluate(boards + 5 * board, row.data());
    const std::int64_t weight = weights[board];
    for (std::int64_t hand = 0; hand < num_hands; ++hand) {
      const std::int64_t level = row[hand] == kBlocked ? 0 : row[hand];
      sum[hand] += weight * level;
      square_sum[hand] += weight * level * level;
    }
  }
}

// Adds to `counts` `[H, num_bins]` on how many of the boards `[B, 5]` the level of a hand is in each bin.
inline void accumulate_bins(StrengthLevels& levels, const std::uint8_t* boards, std::int64_t num_boards,
                            std::int64_t num_hands, const std::uint16_t* bin_of_level, std::int64_t num_bins,
                            std::uint32_t* counts) {
  std::vector<std::uint16_t> row(static_cast<std::size_t>(num_hands));
  for (std::int64_t board = 0; board < num_boards; ++board) {
    levels.evaluate(boards + 5 * board, row.data());
    for (std::int64_t hand = 0; hand < num_hands; ++hand) {
      if (row[hand] != kBlocked) ++counts[hand * num_bins + bin_of_level[row[hand]]];
    }
  }
}

}  // namespace equipoise
