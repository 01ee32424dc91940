// SPDX-License-Identifier: Apache-2.0
// Every hand against every hand over many boards: how often each beats each.
//
// A pair costs one comparison of 16-bit strengths a board, made for 64 opponents at once: boards are taken in blocks, the
// strengths of 64 opponents on a block's boards stay in the first-level cache while every hand meets them, and a hand's
// wins stay in registers until the block is done.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "handeval.hpp"

namespace equipoise {

class PairShowdowns {
 public:
  PairShowdowns(const HandEvaluator& evaluator, const std::uint8_t* hole_cards, std::int64_t num_hands)
      : evaluator_(evaluator), hole_cards_(hole_cards), num_hands_(num_hands),
        num_tiles_((num_hands + kTile - 1) / kTile), row_(static_cast<std::size_t>(num_hands)),
        own_(static_cast<std::size_t>(num_hands * kBlock)),
        others_(static_cast<std::size_t>(num_tiles_ * kBlock * kTile), kNeverBeaten) {}

  // Adds to `wins` `[H, H]` the weights `[B]` of the boards `[B, 5]` on which the row's hand beats the column's. Pairs
  // that share a card are counted as if they did not. Weights are at most 24, so that sums of a block fit 16 bits.
  void accumulate(const std::uint8_t* boards, const std::uint8_t* weights, std::int64_t num_boards,
                  std::int64_t* wins) {
    for (std::int64_t begin = 0; begin < num_boards; begin += kBlock) {
      const std::int64_t size = std::min(kBlock, num_boards - begin);
      load_block(boards + 5 * begin, size);
      for (std::int64_t tile = 0; tile < num_tiles_; ++tile) {
        for (std::int64_t hand = 0; hand < num_hands_; ++hand) {
          meet(hand, tile, weights + begin, size, wins + hand * num_hands_ + tile * kTile);
        }
      }
    }
  }

 private:
  static constexpr std::int64_t kTile = 64, kBlock = 128;
  static constexpr std::int16_t kNeverBeaten = std::numeric_limits<std::int16_t>::max(), kNeverBeats = -1;

  // GCC and Clang lower this to whatever vectors the target has.
  typedef std::int16_t Lanes __attribute__((vector_size(32)));
  typedef std::int16_t LooseLanes __attribute__((vector_size(32), aligned(2), may_alias));
  static constexpr std::int64_t kLanes = sizeof(Lanes) / sizeof(std::int16_t), kVectors = kTile / kLanes;

  void load_block(const std::uint8_t* boards, std::int64_t size) {
    for (std::int64_t b = 0; b < size; ++b) {
      evaluate_hole_cards(evaluator_, boards + 5 * b, 5, hole_cards_, num_hands_, row_.data());
      for (std::int64_t hand = 0; hand < num_hands_; ++hand) {
        const auto strength = static_cast<std::int16_t>(row_[hand]);
        own_[hand * kBlock + b] = strength == 0 ? kNeverBeats : strength;
        others_[(hand / kTile * kBlock + b) * kTile + hand % kTile] = strength == 0 ? kNeverBeaten : strength;
      }
    }
  }

  void meet(std::int64_t hand, std::int64_t tile, const std::uint8_t* weights, std::int64_t size, std::int64_t* wins) {
    const std::int16_t* own = own_.data() + hand * kBlock;
    const std::int16_t* others = others_.data() + tile * kBlock * kTile;
    std::array<Lanes, kVectors> sums{};
    for (std::int64_t b = 0; b < size; ++b) {
      const Lanes mine = own[b] - Lanes{}, weight = static_cast<std::int16_t>(weights[b]) - Lanes{};
      for (std::int64_t i = 0; i < kVectors; ++i) {
        const Lanes theirs = *reinterpret_cast<const LooseLanes*>(others + b * kTile + i * kLanes);
        sums[i] += (mine > theirs) & weight;
      }
    }
    const std::int64_t end = std::min(kTile, num_hands_ - tile * kTile);
    for (std::int64_t j = 0; j < end; ++j) wins[j] += sums[j / kLanes][j % kLanes];
  }

  const HandEvaluator& evaluator_;
  const std::uint8_t* hole_cards_;
  std::int64_t num_hands_, num_tiles_;
  std::vector<std::uint16_t> row_;
  std::vector<std::int16_t> own_;     // [H, board of the block]
  std::vector<std::int16_t> others_;  // [tile, board of the block, hand of the tile]
};

}  // namespace equipoise
