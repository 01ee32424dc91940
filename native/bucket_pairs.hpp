// SPDX-License-Identifier: Apache-2.0
// What pairs of hands that share no card are worth by their buckets, summed over two ranges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "handeval.hpp"

namespace equipoise {

// Two ranges `[H]` on boards of one street; hands with a negative bucket are blocked.
struct BucketRanges {
  const std::uint8_t* cards;  // [H, 2]
  const double* first;
  const double* second;
  std::int64_t num_hands;
};

// Adds up one board: what the second range is worth to each bucket of the first, in all and with each card, then hands.
// Sums run over hands in their order. `columns` `[buckets, buckets]`: row b is what bucket b of the second range is worth to
// all of the first's. `sums` has `[kNumCards + 1, buckets]` cells.
inline double sum_board_pairs(const double* columns, std::int64_t num_buckets, const std::int32_t* buckets,
                              const BucketRanges& ranges, std::vector<double>& sums) {
  std::fill(sums.begin(), sums.end(), 0.0);
  double* all = sums.data() + kNumCards * num_buckets;
  for (std::int64_t hand = 0; hand < ranges.num_hands; ++hand) {
    const double weight = ranges.second[hand];
    if (weight == 0.0 || buckets[hand] < 0) continue;
    const double* column = columns + buckets[hand] * num_buckets;
    double* low = sums.data() + ranges.cards[2 * hand] * num_buckets;
    double* high = sums.data() + ranges.cards[2 * hand + 1] * num_buckets;
    for (std::int64_t k = 0; k < num_buckets; ++k) {
      const double worth = weight * column[k];
      all[k] += worth;
      low[k] += worth;
      high[k] += worth;
    }
  }
  double total = 0.0;
  for (std::int64_t hand = 0; hand < ranges.num_hands; ++hand) {
    const double weight = ranges.first[hand];
    const std::int64_t bucket = buckets[hand];
    if (weight == 0.0 || bucket < 0) continue;
    const double* low = sums.data() + ranges.cards[2 * hand] * num_buckets;
    const double* high = sums.data() + ranges.cards[2 * hand + 1] * num_buckets;
    // the hand itself has both cards and was taken off twice
    const double own = ranges.second[hand] * columns[bucket * num_buckets + bucket];
    total += weight * (all[bucket] - low[bucket] - high[bucket] + own);
  }
  return total;
}

// Overwrites `out` `[B]` with the sums on boards whose buckets are `[B, H]`; returns whether these were below K.
inline bool sum_bucket_pairs(const double* values, std::int64_t num_buckets, const std::int32_t* buckets,
                             std::int64_t num_boards, BucketRanges ranges, double* out) {
  const std::int64_t size = num_boards * ranges.num_hands;
  if (std::any_of(buckets, buckets + size, [=](std::int32_t bucket) { return bucket >= num_buckets; })) return false;
  std::vector<double> columns(values, values + num_buckets * num_buckets);
  const auto count = [&](const double* range) {
    return ranges.num_hands - std::count(range, range + ranges.num_hands, 0.0);
  };
  if (count(ranges.first) < count(ranges.second)) {  // the dear loop is that over the second range
    std::swap(ranges.first, ranges.second);
  } else {
    for (std::int64_t row = 0; row < num_buckets; ++row) {
      for (std::int64_t k = 0; k < num_buckets; ++k) columns[k * num_buckets + row] = values[row * num_buckets + k];
    }
  }
  std::vector<double> sums(static_cast<std::size_t>((kNumCards + 1) * num_buckets));
  for (std::int64_t board = 0; board < num_boards; ++board) {
    out[board] = sum_board_pairs(columns.data(), num_buckets, buckets + board * ranges.num_hands, ranges, sums);
  }
  return true;
}

}  // namespace equipoise
