// SPDX-License-Identifier: Apache-2.0
// Buckets of hands: rows of canonical boards found for any board, ranks within earlier buckets, nearest centroids.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "hand_strength.hpp"

namespace equipoise {

// Finds a set of cards among canonical sets; words and their order as in cardsets.hpp: bit `51 - card`, greatest first.
class CardSetIndex {
 public:
  CardSetIndex(const std::uint8_t* sets, std::int64_t num_sets, int size, const std::uint8_t* permutations,
               int num_permutations)
      : size_(size), order_(num_permutations), bits_(static_cast<std::size_t>(num_permutations * kNumCards)) {
    for (int g = 0; g < order_; ++g) {
      for (int card = 0; card < kNumCards; ++card) {
        const int image = card_rank(card) * kNumSuits + permutations[g * kNumSuits + card_suit(card)];
        bits_[g * kNumCards + card] = std::uint64_t{1} << (kNumCards - 1 - image);
      }
    }
    words_.reserve(static_cast<std::size_t>(num_sets));
    for (std::int64_t i = 0; i < num_sets; ++i) words_.push_back(word(0, sets + i * size));
  }

  struct Place {
    std::int64_t set;  // index of the canonical set; the number of sets if there is none
    int permutation;   // that maps the cards to it
  };

  Place find(const std::uint8_t* cards) const {
    int best = 0;
    std::uint64_t greatest = word(0, cards);
    for (int g = 1; g < order_; ++g) {
      const std::uint64_t image = word(g, cards);
      if (image > greatest) {
        greatest = image;
        best = g;
      }
    }
    const auto place = std::lower_bound(words_.begin(), words_.end(), greatest, std::greater<>());
    const bool is_found = place != words_.end() && *place == greatest;
    return {is_found ? place - words_.begin() : static_cast<std::int64_t>(words_.size()), best};
  }

  int size() const { return size_; }
  std::int64_t num_sets() const { return static_cast<std::int64_t>(words_.size()); }

 private:
  std::uint64_t word(int permutation, const std::uint8_t* cards) const {
    std::uint64_t word = 0;
    for (int i = 0; i < size_; ++i) word |= bits_[permutation * kNumCards + cards[i]];
    return word;
  }

  int size_, order_;
  std::vector<std::uint64_t> bits_;   // [G, 52]
  std::vector<std::uint64_t> words_;  // [sets]
};

// Overwrites `out` `[B, H]` with the rows that `table` `[sets, H]` has for boards `[B, stride]`, by their first cards;
// returns how many boards were found before one was not. `hand_images` `[G, H]` numbers hands after relabelling.
inline std::int64_t look_up_rows(const CardSetIndex& index, const std::uint16_t* hand_images,
                                 const std::uint16_t* table, const std::uint8_t* boards, std::int64_t num_boards,
                                 std::int64_t stride, std::int64_t num_hands, std::uint16_t* out) {
  for (std::int64_t board = 0; board < num_boards; ++board) {
    const CardSetIndex::Place place = index.find(boards + board * stride);
    if (place.set == index.num_sets()) return board;
    const std::uint16_t* row = table + place.set * num_hands;
    const std::uint16_t* images = hand_images + place.permutation * num_hands;
    std::uint16_t* target = out + board * num_hands;
    for (std::int64_t hand = 0; hand < num_hands; ++hand) target[hand] = row[images[hand]];
  }
  return num_boards;
}

// Adds weights `[B]` into `counts` `[num_previous, num_scores]` at each hand's previous bucket and score `[B, H]`;
// returns whether all of them lay within.
inline bool count_scores(const std::int32_t* previous, const std::uint16_t* scores, const std::int64_t* weights,
                         std::int64_t num_boards, std::int64_t num_hands, std::int64_t num_previous,
                         std::int64_t num_scores, std::int64_t* counts) {
  for (std::int64_t board = 0; board < num_boards; ++board) {
    for (std::int64_t i = board * num_hands; i < (board + 1) * num_hands; ++i) {
      if (scores[i] == kBlocked) continue;
      if (previous[i] < 0 || previous[i] >= num_previous || scores[i] >= num_scores) [[unlikely]] return false;
      counts[previous[i] * num_scores + scores[i]] += weights[board];
    }
  }
  return true;
}

// Overwrites `out` `[B]` with `previous * num_ranks + ranks[previous, score]`, -1 where blocked; returns whether
// previous buckets and scores lay within `[num_previous, num_scores]`.
inline bool rank_scores(const std::int32_t* previous, const std::uint16_t* scores, std::int64_t size,
                        const std::uint16_t* ranks, std::int64_t num_previous, std::int64_t num_scores,
                        std::int32_t num_ranks, std::int32_t* out) {
  for (std::int64_t i = 0; i < size; ++i) {
    out[i] = -1;
    if (scores[i] == kBlocked) continue;
    if (previous[i] < 0 || previous[i] >= num_previous || scores[i] >= num_scores) [[unlikely]] return false;
    out[i] = previous[i] * num_ranks + ranks[previous[i] * num_scores + scores[i]];
  }
  return true;
}

// Overwrites `nearest` and `distance` `[B]` with the centroid of the least L1 distance to each point, the first if
// several are. `points` `[B, F]`; `centroids` `[F, centroids]`: the innermost loop runs over centroids.
inline void find_nearest(const float* points, std::int64_t num_points, std::int64_t num_features,
                         const float* centroids, std::int64_t num_centroids, std::int32_t* nearest, float* distance) {
  std::vector<float> sums(static_cast<std::size_t>(num_centroids));
  for (std::int64_t point = 0; point < num_points; ++point) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (std::int64_t feature = 0; feature < num_features; ++feature) {
      const float value = points[point * num_features + feature];
      const float* row = centroids + feature * num_centroids;
      for (std::int64_t k = 0; k < num_centroids; ++k) sums[k] += std::abs(value - row[k]);
    }
    const auto least = std::min_element(sums.begin(), sums.end());
    nearest[point] = static_cast<std::int32_t>(least - sums.begin());
    distance[point] = *least;
  }
}

}  // namespace equipoise
