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
#include "strength_order.hpp"

namespace equipoise {

// A number for each side. Both sides go through every loop together: two lanes of one register.
struct Both {
  double first = 0.0, second = 0.0;

  Both& operator+=(const Both& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
  friend Both operator+(Both a, const Both& b) { return a += b; }
  friend Both operator-(const Both& a, const Both& b) { return {a.first - b.first, a.second - b.second}; }
  friend Both operator*(double factor, const Both& a) { return {factor * a.first, factor * a.second}; }
};

// The hands that at least one side holds, compactly.
struct EquityHands {
  std::vector<std::uint32_t> index;
  std::vector<std::array<std::uint8_t, 2>> cards;
  std::vector<std::uint64_t> mask;
  std::vector<Both> met;  // reach of each hand as each side meets it: the other side's
  std::vector<std::uint32_t> first, second;  // positions of each side's hands

  EquityHands(const std::uint8_t* hole_cards, std::int64_t num_hands, const double* first_reach,
              const double* second_reach) {
    for (std::int64_t hand = 0; hand < num_hands; ++hand) {
      if (first_reach[hand] == 0.0 && second_reach[hand] == 0.0) continue;
      const std::uint8_t a = hole_cards[2 * hand], b = hole_cards[2 * hand + 1];
      if (first_reach[hand] > 0.0) first.push_back(static_cast<std::uint32_t>(index.size()));
      if (second_reach[hand] > 0.0) second.push_back(static_cast<std::uint32_t>(index.size()));
      index.push_back(static_cast<std::uint32_t>(hand));
      cards.push_back({a, b});
      mask.push_back(std::uint64_t{1} << a | std::uint64_t{1} << b);
      met.push_back({second_reach[hand], first_reach[hand]});
    }
  }

  std::size_t size() const { return index.size(); }
};

// Running sums of reach: in all, and of hands that hold a card.
struct ReachSums {
  Both all;
  std::array<Both, kNumCards> by_card{};

  void add(const std::array<std::uint8_t, 2>& cards, const Both& reach) {
    all += reach;
    by_card[cards[0]] += reach;
    by_card[cards[1]] += reach;
  }
  // Reach of the hands that share no card with these two, these two themselves not being among the sums.
  Both compatible(const std::array<std::uint8_t, 2>& cards) const {
    return all - by_card[cards[0]] - by_card[cards[1]];
  }
};

class EquityPass {
 public:
  EquityPass(const HandEvaluator& evaluator, const EquityHands& hands)
      : evaluator_(evaluator), hands_(hands), wins_(hands.size()), ties_(hands.size()), total_(hands.size()),
        strength_(hands.size()), order_(hands.size()), beaten_(hands.size()) {
    const std::size_t num_pairs = hands.first.size() * hands.second.size();
    is_pairwise_ = num_pairs <= 4 * hands.size();  // a pair costs about a quarter of a hand's place in the sort
  }

  void add_board(const std::uint8_t* board, double weight) {
    const BoardEvaluator on_board(evaluator_, board, 5);
    if (is_pairwise_) {
      add_pairs(on_board, weight);
    } else {
      sort_live(on_board);
      add_sorted(weight);
    }
  }

  // Adds into `out` `[2, 3, H]`: by side wins, ties and totals.
  void write(std::int64_t num_hands, double* out) const {
    const std::array<const std::vector<Both>*, 3> rows{&wins_, &ties_, &total_};
    for (std::size_t row = 0; row < 3; ++row) {
      double* first = out + static_cast<std::int64_t>(row) * num_hands;
      double* second = first + 3 * num_hands;
      for (const std::uint32_t hand : hands_.first) first[hands_.index[hand]] += (*rows[row])[hand].first;
      for (const std::uint32_t hand : hands_.second) second[hands_.index[hand]] += (*rows[row])[hand].second;
    }
  }

 private:
  void add_pairs(const BoardEvaluator& on_board, double weight) {
    for (std::size_t i = 0; i < hands_.size(); ++i) {
      const bool is_live = !(hands_.mask[i] & on_board.cards());
      strength_[i] = is_live ? on_board.strength(hands_.cards[i][0], hands_.cards[i][1]) : 0;
    }
    for (const std::uint32_t a : hands_.first) {
      if (strength_[a] == 0) continue;
      for (const std::uint32_t b : hands_.second) {
        if (strength_[b] == 0 || (hands_.mask[a] & hands_.mask[b])) continue;
        const double to_first = weight * hands_.met[b].first, to_second = weight * hands_.met[a].second;
        total_[a].first += to_first;
        total_[b].second += to_second;
        if (strength_[a] > strength_[b]) {
          wins_[a].first += to_first;
        } else if (strength_[a] < strength_[b]) {
          wins_[b].second += to_second;
        } else {
          ties_[a].first += to_first;
          ties_[b].second += to_second;
        }
      }
    }
  }

  void sort_live(const BoardEvaluator& on_board) {
    order_.clear();
    for (std::size_t i = 0; i < hands_.size(); ++i) {
      if (hands_.mask[i] & on_board.cards()) continue;
      order_.add(on_board.strength(hands_.cards[i][0], hands_.cards[i][1]), static_cast<std::uint32_t>(i));
    }
    order_.sort();
  }

  void add_sorted(double weight) {
    ReachSums sums;
    const std::uint32_t* sorted = order_.hand.data();
    std::uint32_t start = 0;
    for (std::size_t group = 0; group < order_.num_groups; ++group) {
      const std::uint32_t end = order_.group_end[group];
      for (std::uint32_t i = start; i < end; ++i) {
        const std::uint32_t hand = sorted[i];
        beaten_[i - start] = weight * sums.compatible(hands_.cards[hand]);
        wins_[hand] += beaten_[i - start];
      }
      for (std::uint32_t i = start; i < end; ++i) sums.add(hands_.cards[sorted[i]], hands_.met[sorted[i]]);
      for (std::uint32_t i = start; i < end; ++i) {
        ties_[sorted[i]] += weight * met_so_far(sums, sorted[i]) - beaten_[i - start];
      }
      start = end;
    }
    for (std::size_t i = 0; i < order_.num_hands; ++i) total_[sorted[i]] += weight * met_so_far(sums, sorted[i]);
  }

  // What a hand meets among sums that hold it too: it was taken away with both of its cards, once too often.
  Both met_so_far(const ReachSums& sums, std::uint32_t hand) const {
    return sums.compatible(hands_.cards[hand]) + hands_.met[hand];
  }

  const HandEvaluator& evaluator_;
  const EquityHands& hands_;
  std::vector<Both> wins_, ties_, total_;  // by position in `hands_`
  bool is_pairwise_;
  std::vector<std::uint16_t> strength_;
  StrengthOrder order_;  // of positions in `hands_`
  std::vector<Both> beaten_;
};

// Adds into `out` `[2, 3, H]` what the hands of each side win, tie and meet over boards `[B, 5]` of weights `[B]`.
inline void accumulate_showdowns(const HandEvaluator& evaluator, const std::uint8_t* hole_cards, std::int64_t num_hands,
                                 const double* first_reach, const double* second_reach, const std::uint8_t* boards,
                                 const double* weights, std::int64_t num_boards, double* out) {
  const EquityHands hands(hole_cards, num_hands, first_reach, second_reach);
  EquityPass pass(evaluator, hands);
  for (std::int64_t i = 0; i < num_boards; ++i) pass.add_board(boards + 5 * i, weights[i]);
  pass.write(num_hands, out);
}

}  // namespace equipoise
