// SPDX-License-Identifier: Apache-2.0
// How often two players' hands take two paths of buckets, and who wins: counts over complete boards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "handeval.hpp"
#include "strength_order.hpp"

namespace equipoise {

// Walks a board's hands from the weakest and keeps a histogram of the paths of those below, and one for each card: what a
// hand beats is the histogram of all less those of its own two cards.
class JointCounter {
 public:
  JointCounter(const HandEvaluator& evaluator, const std::uint8_t* hole_cards, std::int64_t num_hands,
               std::int64_t num_paths)
      : evaluator_(evaluator), hole_cards_(hole_cards), num_hands_(num_hands), num_paths_(num_paths),
        stride_((num_paths + kLanes - 1) / kLanes * kLanes), strength_(static_cast<std::size_t>(num_hands)),
        order_(static_cast<std::size_t>(num_hands)), below_(static_cast<std::size_t>((kNumCards + 1) * stride_)),
        wins_(static_cast<std::size_t>(num_paths * stride_)), ties_(static_cast<std::size_t>(num_paths * stride_)) {}

  // Adds weights `[B]` into `wins` and `ties` `[paths, paths]` for every pair of hands on boards `[B, 5]`, once for each of
  // `num_rows` rows of paths `[B, num_rows, H]`: rows are the winner's path, columns the loser's. Ties count both ways.
  void accumulate(const std::uint8_t* boards, std::int64_t num_boards, const std::int32_t* paths,
                  std::int64_t num_rows, const std::int64_t* weights, std::int64_t* wins, std::int64_t* ties) {
    std::int64_t weight = 0, pending = 0;
    for (std::int64_t board = 0; board < num_boards; ++board) {
      sort_hands(boards + 5 * board);
      for (std::int64_t row = 0; row < num_rows; ++row) {
        if (weights[board] != weight || pending == kMaxPending) {
          flush(weight, wins, ties);
          weight = weights[board];
          pending = 0;
        }
        count_pairs(paths + (board * num_rows + row) * num_hands_);
        ++pending;
      }
    }
    flush(weight, wins, ties);
  }

 private:
  static constexpr std::int64_t kLanes = 16;
  static constexpr std::int64_t kPairCost = 8;         // entries of a row that cost as much as a pair, about
  static constexpr std::int64_t kMaxPending = 2'000;  // 1326 * 1325 pairs each stay within 32 bits

  void sort_hands(const std::uint8_t* board) {
    evaluate_hole_cards(evaluator_, board, 5, hole_cards_, num_hands_, strength_.data());
    order_.clear();
    for (std::int64_t hand = 0; hand < num_hands_; ++hand) {
      if (strength_[hand] != 0) order_.add(strength_[hand], static_cast<std::uint32_t>(hand));
    }
    order_.sort();
  }

  void count_pairs(const std::int32_t* path) {
    std::fill(below_.begin(), below_.end(), std::uint16_t{0});
    std::uint32_t start = 0;
    for (std::size_t group = 0; group < order_.num_groups; ++group) {
      const std::uint32_t end = order_.group_end[group];
      // few hands of a strength are compared pair by pair, many by what the histograms gain from them
      const bool has_pairs = static_cast<std::int64_t>(end - start) * kPairCost < stride_;
      for (std::uint32_t i = start; i < end; ++i) {
        add_below(path, order_.hand[i], wins_.data(), 1U);
        if (!has_pairs) add_below(path, order_.hand[i], ties_.data(), -1U);
      }
      for (std::uint32_t i = start; i < end; ++i) {
        const std::uint32_t hand = order_.hand[i];
        ++histogram(kNumCards)[path[hand]];
        ++histogram(hole_cards_[2 * hand])[path[hand]];
        ++histogram(hole_cards_[2 * hand + 1])[path[hand]];
        for (std::uint32_t j = start; has_pairs && j < i; ++j) add_tie(path, hand, order_.hand[j]);
      }
      for (std::uint32_t i = start; !has_pairs && i < end; ++i) {
        const std::uint32_t hand = order_.hand[i];
        // the hand itself is in all and went with both of its cards, once too often
        ++histogram(kNumCards)[path[hand]];
        add_below(path, hand, ties_.data(), 1U);
        --histogram(kNumCards)[path[hand]];
      }
      start = end;
    }
  }

  // Adds the histogram of the hands so far that share no card with this one, times 1 or -1 modulo 2^32, to its path's row.
  void add_below(const std::int32_t* path, std::uint32_t hand, std::uint32_t* counts, std::uint32_t sign) {
    const std::uint16_t* __restrict all = histogram(kNumCards);
    const std::uint16_t* __restrict first = histogram(hole_cards_[2 * hand]);
    const std::uint16_t* __restrict second = histogram(hole_cards_[2 * hand + 1]);
    std::uint32_t* __restrict row = counts + path[hand] * stride_;
    for (std::int64_t p = 0; p < stride_; ++p) {
      row[p] += sign * static_cast<std::uint16_t>(all[p] - first[p] - second[p]);
    }
  }

  void add_tie(const std::int32_t* path, std::uint32_t hand, std::uint32_t other) {
    const std::uint8_t* one = hole_cards_ + 2 * hand;
    const std::uint8_t* two = hole_cards_ + 2 * other;
    if (one[0] == two[0] || one[0] == two[1] || one[1] == two[0] || one[1] == two[1]) return;
    ++ties_[static_cast<std::size_t>(path[hand] * stride_ + path[other])];
    ++ties_[static_cast<std::size_t>(path[other] * stride_ + path[hand])];
  }

  void flush(std::int64_t weight, std::int64_t* wins, std::int64_t* ties) {
    for (std::int64_t p = 0; p < num_paths_; ++p) {
      for (std::int64_t q = 0; q < num_paths_; ++q) {
        wins[p * num_paths_ + q] += weight * wins_[static_cast<std::size_t>(p * stride_ + q)];
        ties[p * num_paths_ + q] += weight * ties_[static_cast<std::size_t>(p * stride_ + q)];
      }
    }
    std::fill(wins_.begin(), wins_.end(), 0U);
    std::fill(ties_.begin(), ties_.end(), 0U);
  }

  std::uint16_t* histogram(int card) { return below_.data() + card * stride_; }

  const HandEvaluator& evaluator_;
  const std::uint8_t* hole_cards_;
  std::int64_t num_hands_, num_paths_, stride_;
  std::vector<std::uint16_t> strength_;
  StrengthOrder order_;
  std::vector<std::uint16_t> below_;         // [52 + 1, stride] weaker hands by path that hold a card; last: all
  std::vector<std::uint32_t> wins_, ties_;   // [paths, stride] since the last flush
};

}  // namespace equipoise
