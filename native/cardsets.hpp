// SPDX-License-Identifier: Apache-2.0
// Sets of cards up to a group of relabellings of suits: one set for each class and the size of the class.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "handeval.hpp"

namespace equipoise {

// Lists subsets of `cards` (ascending) of `size` cards depth first, keeping those that come first in dictionary order
// among their relabellings. A set is a word with bit `51 - card` for each card: the earlier set has the greater word.
class CardSetLister {
 public:
  // `permutations` `[G, 4]` is a group with the identity first.
  CardSetLister(const std::uint8_t* cards, int num_cards, int size, const std::uint8_t* permutations,
                int num_permutations, std::uint8_t* sets, std::uint8_t* counts)
      : num_cards_(num_cards), size_(size), order_(num_permutations), cards_(cards), sets_(sets), counts_(counts),
        bits_(static_cast<std::size_t>(num_cards * num_permutations)),
        words_(static_cast<std::size_t>((size + 1) * num_permutations), 0) {
    for (int i = 0; i < num_cards; ++i) {
      for (int g = 0; g < order_; ++g) {
        const int image = card_rank(cards[i]) * kNumSuits + permutations[g * kNumSuits + card_suit(cards[i])];
        bits_[i * order_ + g] = std::uint64_t{1} << (kNumCards - 1 - image);
      }
    }
  }

  // Returns how many sets were written.
  std::int64_t list() {
    extend(0, 0);
    return num_sets_;
  }

 private:
  void extend(int depth, int first) {
    std::uint64_t* words = words_.data() + depth * order_;
    if (depth == size_) return keep_if_first(words);
    for (int i = first; i <= num_cards_ - (size_ - depth); ++i) {
      chosen_[depth] = cards_[i];
      for (int g = 0; g < order_; ++g) words[order_ + g] = words[g] | bits_[i * order_ + g];
      extend(depth + 1, i + 1);
    }
  }

  void keep_if_first(const std::uint64_t* words) {
    int num_fixing = 0;
    for (int g = 0; g < order_; ++g) {
      if (words[g] > words[0]) return;
      num_fixing += words[g] == words[0];
    }
    for (int i = 0; i < size_; ++i) sets_[num_sets_ * size_ + i] = chosen_[i];
    counts_[num_sets_++] = static_cast<std::uint8_t>(order_ / num_fixing);
  }

  int num_cards_, size_, order_;
  const std::uint8_t* cards_;
  std::uint8_t* sets_;
  std::uint8_t* counts_;
  std::vector<std::uint64_t> bits_;   // [num_cards, G]
  std::vector<std::uint64_t> words_;  // [size + 1, G] the cards chosen so far, relabelled
  std::array<std::uint8_t, kMaxHandCards> chosen_{};
  std::int64_t num_sets_ = 0;
};

}  // namespace equipoise
