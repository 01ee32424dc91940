// SPDX-License-Identifier: Apache-2.0
// Hands of a board in the order of their strength, and where hands of equal strength end.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace equipoise {

// Filled hand by hand, then sorted by a radix sort of two passes; nothing is allocated after the constructor.
class StrengthOrder {
 public:
  explicit StrengthOrder(std::size_t max_hands) : hand(max_hands), group_end(max_hands), entries_(max_hands) {}

  void clear() {
    num_hands = 0;
    low_.fill(0);
    high_.fill(0);
  }

  // Strengths have 14 bits at most, hands 16.
  void add(std::uint32_t strength, std::uint32_t index) {
    entries_[num_hands++] = strength << 16 | index;
    ++low_[(strength & kMask) + 1];
    ++high_[(strength >> kBits) + 1];
  }

  void sort() {
    for (int i = 0; i < 1 << kBits; ++i) {
      low_[i + 1] += low_[i];
      high_[i + 1] += high_[i];
    }
    for (std::size_t i = 0; i < num_hands; ++i) hand[low_[entries_[i] >> 16 & kMask]++] = entries_[i];
    for (std::size_t i = 0; i < num_hands; ++i) entries_[high_[hand[i] >> (16 + kBits)]++] = hand[i];
    num_groups = 0;
    for (std::size_t i = 0; i < num_hands; ++i) {
      hand[i] = entries_[i] & 0xFFFF;
      group_end[num_groups] = static_cast<std::uint32_t>(i + 1);
      num_groups += i + 1 == num_hands || entries_[i] >> 16 != entries_[i + 1] >> 16;
    }
  }

  std::vector<std::uint32_t> hand;       // [num_hands] weakest first
  std::vector<std::uint32_t> group_end;  // [num_groups] one past the last hand of each strength
  std::size_t num_hands = 0, num_groups = 0;

 private:
  static constexpr int kBits = 7;
  static constexpr std::uint32_t kMask = (1U << kBits) - 1;

  std::vector<std::uint32_t> entries_;  // strength << 16 | hand
  std::array<std::uint32_t, (1 << kBits) + 1> low_{}, high_{};
};

}  // namespace equipoise
