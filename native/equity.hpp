// SPDX-License-Identifier: Apache-2.0
// How often the hands of one range beat and tie those of another over a list of complete boards, cards removed.
//
// Few hands meet each other one by one; many are sorted by strength, and one pass with running sums of reach, in all
// and per card, gives every hand what it beats and ties in O(hands).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "handeval.hpp"

namespace equipoise {

// One side's results, `[H]` each, summed over boards and the other side's reach.
struct Showdowns {
  double* wins;
  double* ties;
  double* total;
};

// The hands that at least one side holds, compactly.
struct EquityHands {
  std::vector<std::uint32_t> index;
  std::vector<std::array<std::uint8_t, 2>> cards;
  std::vector<std::uint64_t> mask;
  std::array<std::vector<double>, 2> reach;
  std::array<std::vector<std::uint32_t>, 2> own;  // positions of each side's hands

  EquityHands(const std::uint8_t* hole_cards, std::int64_t num_hands, const double* first, const double* second) {
    for (std::int64_t hand = 0; hand < num_hands; ++hand) {
      if (first[hand] == 0.0 && second[hand] == 0.0) continue;
      const std::uint8_t a = hole_cards[2 * hand], b = hole_cards[2 * hand + 1];
      if (first[hand] > 0.0) own[0].push_back(static_cast<std::uint32_t>(index.size()));
      if (second[hand] > 0.0) own[1].push_back(static_cast<std::uint32_t>(index.size()));
      index.push_back(static_cast<std::uint32_t>(hand));
      cards.push_back({a, b});
      mask.push_back(std::uint64_t{1} << a | std::uint64_t{1} << b);
      reach[0].push_back(first[hand]);
      reach[1].push_back(second[hand]);
    }
  }

  std::size_t size() const { return index.size(); }
};

// Running sums of one side's reach: in all, and of hands that hold a card.
struct ReachSums {
  double all = 0.0;
  std::array<double, kNumCards> by_card{};

  void add(const std::array<std::uint8_t, 2>& cards, double reach) {
    all += reach;
    by_card[cards[0]] += reach;
    by_card[cards[1]] += reach;
  }
  // Reach of the hands that share no card with these two, these two themselves not being among the sums.
  double compatible(const std::array<std::uint8_t, 2>& cards) const {
    return all - by_card[cards[0]] - by_card[cards[1]];
  }
};

class EquityPass {
 public:
  EquityPass(const HandEvaluator& evaluator, const EquityHands& hands, std::array<Showdowns, 2> out)
      : evaluator_(evaluator), hands_(hands), out_(out), strength_(hands.size()), entries_(hands.size()),
        sorted_(hands.size()) {
    const std::size_t num_pairs = hands.own[0].size() * hands.own[1].size();
    is_pairwise_ = num_pairs <= 4 * hands.size();  // a pair costs about a quarter of a hand's place in the sort
  }

  void add_board(const std::uint8_t* board, double weight) {
    const BoardEvaluator on_board(evaluator_, board, 5);
    if (is_pairwise_) {
      add_pairs(on_board, weight);
    } else {
      const std::size_t count = sort_live(on_board);
      add_sorted(count, weight);
    }
  }

 private:
  void add_pairs(const BoardEvaluator& on_board, double weight) {
    for (std::size_t i = 0; i < hands_.size(); ++i) {
      const bool is_live = !(hands_.mask[i] & on_board.cards());
      strength_[i] = is_live ? on_board.strength(hands_.cards[i][0], hands_.cards[i][1]) : 0;
    }
    for (const std::uint32_t a : hands_.own[0]) {
      if (strength_[a] == 0) continue;
      for (const std::uint32_t b : hands_.own[1]) {
        if (strength_[b] == 0 || (hands_.mask[a] & hands_.mask[b])) continue;
        const std::uint32_t first = hands_.index[a], second = hands_.index[b];
        const double to_first = weight * hands_.reach[1][b], to_second = weight * hands_.reach[0][a];
        out_[0].total[first] += to_first;
        out_[1].total[second] += to_second;
        if (strength_[a] > strength_[b]) {
          out_[0].wins[first] += to_first;
        } else if (strength_[a] < strength_[b]) {
          out_[1].wins[second] += to_second;
        } else {
          out_[0].ties[first] += to_first;
          out_[1].ties[second] += to_second;
        }
      }
    }
  }

  // Fills `sorted_` with (strength, position) of the live hands, weakest first: a radix sort of two passes.
  std::size_t sort_live(const BoardEvaluator& on_board) {
    constexpr int kBits = 7;
    std::array<std::uint32_t, (1 << kBits) + 1> low{}, high{};
    std::size_t count = 0;
    for (std::size_t i = 0; i < hands_.size(); ++i) {
      if (hands_.mask[i] & on_board.cards()) continue;
      const std::uint32_t strength = on_board.strength(hands_.cards[i][0], hands_.cards[i][1]);
      entries_[count++] = strength << 16 | static_cast<std::uint32_t>(i);
      ++low[(strength & ((1 << kBits) - 1)) + 1];
      ++high[(strength >> kBits) + 1];
    }
    for (int i = 0; i < 1 << kBits; ++i) {
      low[i + 1] += low[i];
      high[i + 1] += high[i];
    }
    for (std::size_t i = 0; i < count; ++i) sorted_[low[entries_[i] >> 16 & ((1 << kBits) - 1)]++] = entries_[i];
    for (std::size_t i = 0; i < count; ++i) entries_[high[sorted_[i] >> (16 + kBits)]++] = sorted_[i];
    sorted_.swap(entries_);
    return count;
  }

  void add_sorted(std::size_t count, double weight) {
    std::array<ReachSums, 2> sums{};
    for (std::size_t start = 0, end = 0; start < count; start = end) {
      const std::uint32_t strength = sorted_[start] >> 16;
      for (end = start; end < count && sorted_[end] >> 16 == strength; ++end) {
        const std::uint32_t hand = sorted_[end] & 0xFFFF;
        for (int side = 0; side < 2; ++side) {
          const double wins = weight * sums[1 - side].compatible(hands_.cards[hand]);
          out_[side].wins[hands_.index[hand]] += wins;
          out_[side].ties[hands_.index[hand]] -= wins;
        }
      }
      for (std::size_t i = start; i < end; ++i) {
        const std::uint32_t hand = sorted_[i] & 0xFFFF;
        for (int side = 0; side < 2; ++side) sums[side].add(hands_.cards[hand], hands_.reach[side][hand]);
      }
      // what is beaten or tied, less what is beaten; the hand itself was taken away twice
      for (std::size_t i = start; i < end; ++i) {
        const std::uint32_t hand = sorted_[i] & 0xFFFF;
        for (int side = 0; side < 2; ++side) {
          const double reach = sums[1 - side].compatible(hands_.cards[hand]) + hands_.reach[1 - side][hand];
          out_[side].ties[hands_.index[hand]] += weight * reach;
        }
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t hand = sorted_[i] & 0xFFFF;
      for (int side = 0; side < 2; ++side) {
        const double reach = sums[1 - side].compatible(hands_.cards[hand]) + hands_.reach[1 - side][hand];
        out_[side].total[hands_.index[hand]] += weight * reach;
      }
    }
  }

  const HandEvaluator& evaluator_;
  const EquityHands& hands_;
  std::array<Showdowns, 2> out_;
  bool is_pairwise_;
  std::vector<std::uint16_t> strength_;
  std::vector<std::uint32_t> entries_, sorted_;
};

// Adds to `out` what each side's hands win, tie and meet over boards `[B, 5]` of given weights `[B]`. Hands that neither
// side holds keep their zeros.
inline void accumulate_showdowns(const HandEvaluator& evaluator, const std::uint8_t* hole_cards, std::int64_t num_hands,
                                 const double* first_reach, const double* second_reach, const std::uint8_t* boards,
                                 const double* weights, std::int64_t num_boards, std::array<Showdowns, 2> out) {
  const EquityHands hands(hole_cards, num_hands, first_reach, second_reach);
  EquityPass pass(evaluator, hands, out);
  for (std::int64_t i = 0; i < num_boards; ++i) pass.add_board(boards + 5 * i, weights[i]);
}

}  // namespace equipoise
