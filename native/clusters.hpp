// SPDX-License-Identifier: Apache-2.0
// Clusters of hands by where the next card may take them: histograms over the next street's classes in bytes, compared by
// the earth mover's distance in one dimension.
//
// A histogram is kept as counts of its classes so far, padded to 64 bytes: whole numbers, so nothing is rounded, and the
// distance of two is the sum of absolute differences. Centroids are medians of each byte, the exact centre of that distance.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "blueprint_deals.hpp"
#include "hand_strength.hpp"
#include "threads.hpp"

namespace equipoise {

constexpr int kHistogramBytes = 64;
constexpr int kHistogramCounts = 64;  // next cards are fewer

// Overwrites `out` `[B, H]` with the class of every hand's level on complete boards `[B, 5]`, 255 where the board blocks it.
inline void classify_levels(const HandEvaluator& evaluator, const std::uint8_t* hole_cards, std::int64_t num_hands,
                            const std::uint8_t* boards, std::int64_t num_boards, const std::uint8_t* class_of_level,
                            int num_threads, std::uint8_t* out) {
  std::atomic<std::int64_t> next{0};
  run_team(num_threads, [&](int) {
    StrengthLevels levels(evaluator, hole_cards, num_hands);
    std::vector<std::uint16_t> row(static_cast<std::size_t>(num_hands));
    for (std::int64_t board = next.fetch_add(1); board < num_boards; board = next.fetch_add(1)) {
      levels.evaluate(boards + 5 * board, row.data());
      std::uint8_t* target = out + board * num_hands;
      for (std::int64_t hand = 0; hand < num_hands; ++hand) {
        target[hand] = row[hand] == kBlocked ? 255 : class_of_level[row[hand]];
      }
    }
  });
}

inline std::uint32_t distance_of(const std::uint8_t* first, const std::uint8_t* second) {
  std::uint32_t sum = 0;
  for (int i = 0; i < kHistogramBytes; ++i) sum += static_cast<std::uint32_t>(std::abs(first[i] - second[i]));
  return sum;
}

inline std::uint32_t sum_of(const std::uint8_t* point) {
  std::uint32_t sum = 0;
  for (int i = 0; i < kHistogramBytes; ++i) sum += point[i];
  return sum;
}

// The nearest of centroids `[centroids, 64]` in ascending order of their sums, the first of several.
class NearestHistogram {
 public:
  NearestHistogram(const std::uint8_t* centroids, int size) : centroids_(centroids), size_(size) {
    for (int k = 0; k < size; ++k) sums_.push_back(sum_of(centroids + std::int64_t{k} * kHistogramBytes));
  }

  struct Found {
    int index;
    std::uint32_t distance;
  };

  // Sums differ at most by the distance: what lies further away than the best one found is not looked at.
  Found find(const std::uint8_t* point) const {
    const std::uint32_t sum = sum_of(point);
    const int middle = static_cast<int>(std::lower_bound(sums_.begin(), sums_.end(), sum) - sums_.begin());
    Found best{0, std::numeric_limits<std::uint32_t>::max()};
    for (int k = middle; k < size_ && sums_[k] - sum <= best.distance; ++k) look(point, k, best);
    for (int k = middle - 1; k >= 0 && sum - sums_[k] <= best.distance; --k) look(point, k, best);
    return best;
  }

 private:
  void look(const std::uint8_t* point, int k, Found& best) const {
    const std::uint32_t distance = distance_of(point, centroids_ + std::int64_t{k} * kHistogramBytes);
    if (distance < best.distance || (distance == best.distance && k < best.index)) best = {k, distance};
  }

  const std::uint8_t* centroids_;
  int size_;
  std::vector<std::uint32_t> sums_;
};

// Histograms of all hands on a board over the classes of the next street `[next boards, H]`, below `num_classes`.
class NextHistograms {
 public:
  NextHistograms(const SuitBoards& next, const std::uint8_t* next_class, int num_classes, const std::uint8_t* deck,
                 int deck_size, const std::uint8_t* hole_cards, std::int64_t num_hands)
      : next_(next), next_class_(next_class), num_classes_(num_classes), deck_(deck), deck_size_(deck_size),
        hole_cards_(hole_cards), num_hands_(num_hands) {
    for (std::int64_t hand = 0; hand < num_hands; ++hand) {
      const int first = hole_cards[2 * hand], second = hole_cards[2 * hand + 1];
      hand_[first][second] = hand_[second][first] = static_cast<std::uint16_t>(hand);
    }
  }

  // Overwrites `out` `[H, 64]`; what blocked hands get means nothing.
  void fill(const std::uint8_t* board, std::uint8_t* out) const {
    const int size = next_.size() - 1;
    std::fill(out, out + num_hands_ * kHistogramBytes, std::uint8_t{0});
    std::array<std::uint8_t, 5> cards{};
    std::copy_n(board, size, cards.data());
    for (int i = 0; i < deck_size_; ++i) {
      const std::uint8_t card = deck_[i];
      if (std::find(board, board + size, card) != board + size) continue;
      cards[size] = card;
      const SuitBoards::Place place = next_.find(cards.data());
      const std::uint8_t* row = next_class_ + place.set * num_hands_;
      for (std::int64_t hand = 0; hand < num_hands_; ++hand) {
        const int first = hole_cards_[2 * hand], second = hole_cards_[2 * hand + 1];
        const int image = hand_[(first & ~3) | place.suits[first & 3]][(second & ~3) | place.suits[second & 3]];
        const std::uint8_t reached = row[image];
        if (reached != 255) ++out[hand * kHistogramBytes + reached];
      }
    }
    for (std::int64_t hand = 0; hand < num_hands_; ++hand) {
      std::uint8_t* counts = out + hand * kHistogramBytes;
      for (int k = 1; k < num_classes_; ++k) counts[k] = static_cast<std::uint8_t>(counts[k] + counts[k - 1]);
    }
  }

  bool is_blocked(const std::uint8_t* board, std::int64_t hand) const {
    for (int i = 0; i < next_.size() - 1; ++i) {
      if (board[i] == hole_cards_[2 * hand] || board[i] == hole_cards_[2 * hand + 1]) return true;
    }
    return false;
  }

  std::int64_t num_hands() const { return num_hands_; }
  int board_size() const { return next_.size() - 1; }

 private:
  const SuitBoards& next_;
  const std::uint8_t* next_class_;
  int num_classes_;
  const std::uint8_t* deck_;
  int deck_size_;
  const std::uint8_t* hole_cards_;
  std::int64_t num_hands_;
  std::array<std::array<std::uint16_t, kNumCards>, kNumCards> hand_{};
};

// Overwrites `out` `[B, per_board, 64]` with histograms of some hands `[B, per_board]` of boards `[B, cards]`.
inline void sample_histograms(const NextHistograms& histograms, const std::uint8_t* boards, std::int64_t num_boards,
                              const std::int32_t* hands, std::int64_t per_board, int num_threads, std::uint8_t* out) {
  std::atomic<std::int64_t> next{0};
  run_team(num_threads, [&](int) {
    std::vector<std::uint8_t> all(static_cast<std::size_t>(histograms.num_hands() * kHistogramBytes));
    for (std::int64_t board = next.fetch_add(1); board < num_boards; board = next.fetch_add(1)) {
      histograms.fill(boards + board * histograms.board_size(), all.data());
      for (std::int64_t i = board * per_board; i < (board + 1) * per_board; ++i) {
        std::copy_n(all.data() + std::int64_t{hands[i]} * kHistogramBytes, kHistogramBytes, out + i * kHistogramBytes);
      }
    }
  });
}

// Overwrites `out` `[B, H]` with the nearest centroid of every hand, 255 where the board blocks it.
inline void assign_histograms(const NextHistograms& histograms, const std::uint8_t* boards, std::int64_t num_boards,
                              const std::uint8_t* centroids, int num_clusters, int num_threads, std::uint8_t* out) {
  const NearestHistogram nearest(centroids, num_clusters);
  std::atomic<std::int64_t> next{0};
  run_team(num_threads, [&](int) {
    std::vector<std::uint8_t> all(static_cast<std::size_t>(histograms.num_hands() * kHistogramBytes));
    for (std::int64_t board = next.fetch_add(1); board < num_boards; board = next.fetch_add(1)) {
      const std::uint8_t* cards = boards + board * histograms.board_size();
      histograms.fill(cards, all.data());
      for (std::int64_t hand = 0; hand < histograms.num_hands(); ++hand) {
        const bool is_blocked = histograms.is_blocked(cards, hand);
        out[board * histograms.num_hands() + hand] =
            is_blocked ? 255 : static_cast<std::uint8_t>(nearest.find(all.data() + hand * kHistogramBytes).index);
      }
    }
  });
}

// One of Lloyd's iterations over points `[B, 64]`: writes each point's centroid, moves centroids
// `[centroids, 64]` to the medians of their points (one without points stays), and returns the sum of distances before
// the move. Sums are of whole numbers: the same for any number of threads.
inline std::uint64_t move_centroids(const std::uint8_t* points, std::int64_t num_points, std::uint8_t* centroids,
                                    int num_clusters, int num_threads, std::int32_t* nearest_of) {
  const NearestHistogram nearest(centroids, num_clusters);
  const std::size_t size = static_cast<std::size_t>(num_clusters) * kHistogramBytes * kHistogramCounts;
  std::vector<std::vector<std::uint32_t>> counts(static_cast<std::size_t>(num_threads));
  std::atomic<std::uint64_t> cost{0};
  run_team(num_threads, [&](int thread) {
    std::vector<std::uint32_t>& own = counts[static_cast<std::size_t>(thread)];
    own.assign(size, 0);
    std::uint64_t sum = 0;
    for (std::int64_t i = num_points * thread / num_threads; i < num_points * (thread + 1) / num_threads; ++i) {
      const std::uint8_t* point = points + i * kHistogramBytes;
      const NearestHistogram::Found found = nearest.find(point);
      nearest_of[i] = found.index;
      sum += found.distance;
      std::uint32_t* histogram = own.data() + static_cast<std::int64_t>(found.index) * kHistogramBytes * kHistogramCounts;
      for (int k = 0; k < kHistogramBytes; ++k) ++histogram[k * kHistogramCounts + point[k]];
    }
    cost += sum;
  });
  for (std::size_t thread = 1; thread < counts.size(); ++thread) {
    for (std::size_t i = 0; i < size; ++i) counts[0][i] += counts[thread][i];
  }
  for (int cell = 0; cell < num_clusters * kHistogramBytes; ++cell) {
    const std::uint32_t* histogram = counts[0].data() + static_cast<std::int64_t>(cell) * kHistogramCounts;
    std::uint64_t total = 0, run = 0;
    for (int value = 0; value < kHistogramCounts; ++value) total += histogram[value];
    if (total == 0) continue;
    int value = 0;
    while ((run += histogram[value]) * 2 < total) ++value;
    centroids[cell] = static_cast<std::uint8_t>(value);
  }
  return cost;
}

// Lowers `gap` `[B]` to the distance from one more centre.
inline void lower_gaps(const std::uint8_t* points, std::int64_t num_points, const std::uint8_t* centre,
                       std::uint32_t* gap) {
  for (std::int64_t i = 0; i < num_points; ++i) {
    gap[i] = std::min(gap[i], distance_of(points + i * kHistogramBytes, centre));
  }
}

}  // namespace equipoise
