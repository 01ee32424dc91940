// SPDX-License-Identifier: Apache-2.0
// What value networks read off two ranges on a board. Masses are multiples of 2^-32, so that sums of them are exact in
// doubles whatever their order: relabelling suits permutes all of this and changes not a bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lanes.hpp"
#include "value_boards.hpp"

namespace equipoise {

// How finely a network sees strength.
struct CurveAxes {
  static constexpr std::int64_t max_segments = 128;

  std::int64_t cells;            // of strength, at least 2
  std::int64_t potential_cells;  // 1: potential does not matter
  std::int64_t segments;         // of strength, for blocked mass; a multiple of 8, 0: none

  std::int64_t num_cells() const { return cells * potential_cells; }
};

// Both players' numbers, of player 0 first.
using Couple = double __attribute__((vector_size(16)));

inline constexpr int num_value_cards = 52;

// Adding and subtracting this rounds to a multiple of 2^-40, where sums below 8,192 are exact.
inline constexpr double fine_rounding = 0x1.8p12;
inline constexpr double whole_rounding = 0x1.8p52;

inline double round_whole(double value) { return (value + whole_rounding) - whole_rounding; }
inline double round_fine(double value) { return (value + fine_rounding) - fine_rounding; }

// The largest of some numbers, 0 if none is positive.
inline double largest_of(const double* values, std::int64_t count) {
  Quad lanes = broadcast<Quad>(0.0);
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) lanes = larger(load<Quad>(values + i), lanes);
  double most = larger(larger(lanes[0], lanes[1]), larger(lanes[2], lanes[3]));
  for (; i < count; ++i) most = larger(values[i], most);
  return most;
}

// The sum of numbers whose sums are exact, so that their order does not matter.
inline double sum_exact(const double* values, std::int64_t count) {
  Quad first = broadcast<Quad>(0.0), second = first;
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    first += load<Quad>(values + i);
    second += load<Quad>(values + i + 4);
  }
  first += second;
  double sum = (first[0] + first[1]) + (first[2] + first[3]);
  for (; i < count; ++i) sum += values[i];
  return sum;
}

// What is known of one public state; hands are places of its board.
struct StateFeatures {
  std::vector<Couple> mass;          // [n] of both players' ranges
  std::vector<float> matched;        // [2, n] opponent's mass that shares no card
  std::vector<float> base;           // [2, n] half of wins less losses, expected
  std::vector<float> place;          // [n] along cells of strength, 0 at the first one's centre
  std::vector<std::uint8_t> segment;  // [n]
  std::vector<double> cell_mass;     // [3, cells, potential cells] of both players and of all hands
  std::vector<float> card_mass;      // [2, 52, segments] mass of a player's hands with a card
  std::vector<float> segment_mass;   // [2, segments]
  double total[2];                   // reach of each player

  void prepare(const CurveAxes& axes, std::int64_t num_hands) {
    const auto n = static_cast<std::size_t>(num_hands);
    mass.resize(n);
    matched.resize(2 * n);
    base.resize(2 * n);
    place.resize(n);
    segment.resize(n);
    cell_mass.resize(static_cast<std::size_t>(3 * axes.num_cells()));
    card_mass.resize(static_cast<std::size_t>(2 * num_value_cards * axes.segments));
    segment_mass.resize(static_cast<std::size_t>(2 * axes.segments));
  }
};

// Writes one player's range from its reaches, unnormalised, of the deck's hands or of the live ones; without any, it is
// taken to hold all hands alike. Returns its reach.
inline double normalize_range(const ValueBoard& board, const double* reach, bool is_by_deck, int player,
                              double* __restrict gathered, Couple* __restrict mass) {
  const std::int64_t n = board.num_hands;
  const std::uint16_t* const source = is_by_deck ? board.deck_hand.data() : board.live_hand.data();
  for (std::int64_t i = 0; i < n; ++i) gathered[i] = reach[source[i]];
  const double most = largest_of(gathered, n);
  if (!(most > 0.0)) {
    const double even = round_whole(0x1p32 / static_cast<double>(n)) * 0x1p-32;
    for (std::int64_t i = 0; i < n; ++i) mass[i][player] = even;
    return 0.0;
  }
  for (std::int64_t i = 0; i < n; ++i) gathered[i] = round_whole(std::max(gathered[i], 0.0) / most * 0x1p40);
  const double sum = sum_exact(gathered, n);
  const double scale = 0x1p32 / sum;
  for (std::int64_t i = 0; i < n; ++i) mass[i][player] = round_whole(gathered[i] * scale) * 0x1p-32;
  return sum * 0x1p-40 * most;
}

// Walks a board's hands from weak to strong and reads off everything but what pairs are worth before the river.
class FeatureWalk {
 public:
  // `ahead` [n] is written to.
  FeatureWalk(const ValueBoard& board, const CurveAxes& axes, Couple* ahead, StateFeatures& out)
      : board_(board), axes_(axes), ahead_(ahead), out_(out), num_hands_(board.num_hands) {}

  void run() {
    std::fill(out_.cell_mass.begin(), out_.cell_mass.end(), 0.0);
    std::fill(out_.card_mass.begin(), out_.card_mass.end(), 0.0F);
    std::fill(out_.segment_mass.begin(), out_.segment_mass.end(), 0.0F);
    const bool is_river = board_.pair_unit == 0;
    std::int64_t begin = 0;
    for (const std::uint32_t end : board_.group_end) {
      walk_group(begin, end, is_river);
      begin = end;
    }
    if (axes_.segments > 0) close_segment();
    for (std::int64_t i = 0; i < num_hands_; ++i) finish_hand(i, is_river);
  }

 private:
  void walk_group(std::int64_t begin, std::int64_t end, bool is_river) {
    const Couple below = sum_;
    Couple group{};
    for (std::int64_t i = begin; i < end; ++i) group += out_.mass[i];
    place_group(begin, end, group);
    if (is_river) {
      for (std::int64_t i = begin; i < end; ++i) ahead_[i] = below - by_card_[low(i)] - by_card_[high(i)];
    }
    for (std::int64_t i = begin; i < end; ++i) {
      by_card_[low(i)] += out_.mass[i];
      by_card_[high(i)] += out_.mass[i];
    }
    sum_ += group;
    if (is_river) {  // what is beaten, plus what does not beat it
      for (std::int64_t i = begin; i < end; ++i) {
        ahead_[i] += sum_ - by_card_[low(i)] - by_card_[high(i)] + out_.mass[i];
      }
    }
  }

  // Finds the group's cell, segment and place; its mass is not yet among the sums.
  void place_group(std::int64_t begin, std::int64_t end, Couple group) {
    const double n = static_cast<double>(num_hands_), size = static_cast<double>(end - begin);
    const double first = sum_[0] + 0.5 * group[0], second = sum_[1] + 0.5 * group[1];
    const double even = (static_cast<double>(begin) + 0.5 * size) / n;
    const double middle = (first + second + even) / 3.0;
    const double cells = static_cast<double>(axes_.cells);
    const std::int64_t cell = std::min(static_cast<std::int64_t>(middle * cells), axes_.cells - 1);
    const double mixture = (group[0] + group[1] + size / n) / 3.0;
    const double along = mixture > 0.5 / cells ? static_cast<double>(cell)
                                               : std::clamp(middle * cells - 0.5, 0.0, cells - 1.0);
    std::fill(out_.place.begin() + begin, out_.place.begin() + end, static_cast<float>(along));
    add_to_cells(begin, end, cell, group);
    if (axes_.segments > 0) {
      const double segments = static_cast<double>(axes_.segments);
      const std::int64_t segment = std::min(static_cast<std::int64_t>(middle * segments), axes_.segments - 1);
      if (segment > segment_) close_segment();
      segment_ = segment;
      std::memset(out_.segment.data() + begin, static_cast<int>(segment), static_cast<std::size_t>(end - begin));
    }
  }

  // Of all hands the number is added; it is divided where it is read.
  void add_to_cells(std::int64_t begin, std::int64_t end, std::int64_t cell, Couple group) {
    const std::int64_t across = axes_.potential_cells;
    if (across == 1) return add_to_cell(cell, group, static_cast<double>(end - begin));
    for (std::int64_t i = begin; i < end; ++i) {
      add_to_cell(cell * across + potential_cell(board_.potential[i], across), out_.mass[i], 1.0);
    }
  }

  void add_to_cell(std::int64_t cell, Couple mass, double number) {
    double* const at = out_.cell_mass.data() + cell;
    const std::int64_t count = axes_.num_cells();
    at[0] += mass[0];
    at[count] += mass[1];
    at[2 * count] += number;
  }

  static std::int64_t potential_cell(float potential, std::int64_t across) {
    return std::min(static_cast<std::int64_t>(potential * static_cast<float>(across)), across - 1);
  }

  // Writes the masses of the segment that has ended: what has come since the one before it.
  void close_segment() {
    for (int player = 0; player < 2; ++player) {
      float* const by_card = out_.card_mass.data() + player * num_value_cards * axes_.segments + segment_;
      for (int card = 0; card < num_value_cards; ++card) {
        by_card[card * axes_.segments] = static_cast<float>(by_card_[card][player] - earlier_by_card_[card][player]);
      }
      out_.segment_mass[player * axes_.segments + segment_] = static_cast<float>(sum_[player] - earlier_sum_[player]);
    }
    std::copy(std::begin(by_card_), std::end(by_card_), std::begin(earlier_by_card_));
    earlier_sum_ = sum_;
  }

  // By now by_card_ and sum_ are those of whole ranges.
  void finish_hand(std::int64_t i, bool is_river) {
    const Couple met = sum_ - by_card_[low(i)] - by_card_[high(i)] + out_.mass[i];
    write(out_.matched, i, met);
    if (is_river) write(out_.base, i, 0.5 * (ahead_[i] - met));
  }

  std::uint8_t low(std::int64_t i) const { return board_.low[i]; }
  std::uint8_t high(std::int64_t i) const { return board_.high[i]; }

  // A couple of what players hold is about their opponents.
  void write(std::vector<float>& to, std::int64_t i, Couple value) const {
    to[i] = static_cast<float>(value[1]);
    to[num_hands_ + i] = static_cast<float>(value[0]);
  }

  const ValueBoard& board_;
  const CurveAxes& axes_;
  Couple* ahead_;
  StateFeatures& out_;
  std::int64_t num_hands_, segment_ = 0;
  Couple sum_{}, earlier_sum_{};
  Couple by_card_[num_value_cards]{}, earlier_by_card_[num_value_cards]{};
};

// Showdowns of all hands of one board against many ranges, over the run-outs that its pairs were counted on. Weights have
// 16 bits of the largest, and 16 more where one hand outweighs the mean by far, so that sums are whole numbers of 32 bits
// and their order does not matter.
class PairShowdownSums {
 public:
  // Writes `base` of features of states that share a board.
  void run(const ValueBoard& board, StateFeatures* const* states, std::int64_t num_states) {
    passes_.clear();
    weight_.clear();
    for (std::int64_t i = 0; i < num_states; ++i) add_passes(board, *states[i]);
    std::int64_t row = 0;
    for (; row + kRows <= board.num_hands; row += kRows) run_rows<kRows>(board, row);
    for (; row < board.num_hands; ++row) run_rows<1>(board, row);
  }

 private:
  static constexpr double most = 32767.0;
  static constexpr double largest_share = 128.0;  // of a hand, in mean ones; below, errors are within a thousandth of a pot
#ifdef __AVX512F__
  static constexpr std::int64_t kRows = 8;  // hands that share a pass over weights: what fills the registers
#else
  static constexpr std::int64_t kRows = 4;
#endif

  // Both players' weights of a state, or what rounding left of them.
  struct Pass {
    StateFeatures* state;
    double unit[2];
    bool is_rest;
  };

  void add_passes(const ValueBoard& board, StateFeatures& state) {
    const std::int64_t n = board.num_hands;
    Pass coarse{&state, {0.0, 0.0}, false}, rest{&state, {0.0, 0.0}, true};
    double share = 0.0;
    for (int player = 0; player < 2; ++player) {
      double largest = 0.0;
      for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, state.mass[i][player]);
      coarse.unit[player] = largest / most;
      rest.unit[player] = coarse.unit[player] / (2.0 * most);
      share = std::max(share, largest * static_cast<double>(n));
    }
    add_pass(board, coarse, coarse);
    if (share > largest_share) add_pass(board, coarse, rest);
  }

  void add_pass(const ValueBoard& board, const Pass& coarse, const Pass& pass) {
    const std::size_t begin = weight_.size();
    weight_.resize(begin + static_cast<std::size_t>(2 * board.pair_stride));
    for (int player = 0; player < 2; ++player) {
      std::int16_t* const to = weight_.data() + begin + player * board.pair_stride;
      for (std::int64_t i = 0; i < board.num_hands; ++i) {
        const double mass = pass.state->mass[i][player], whole = round_whole(mass / coarse.unit[player]);
        const double left = (mass - whole * coarse.unit[player]) / pass.unit[player];
        to[i] = static_cast<std::int16_t>(pass.is_rest ? std::clamp(round_whole(left), -most, most) : whole);
      }
    }
    passes_.push_back(pass);
  }

  template <std::int64_t kCount>
  void run_rows(const ValueBoard& board, std::int64_t row) {
    const std::int64_t n = board.num_hands, stride = board.pair_stride;
    const std::int16_t* weight = weight_.data();
    for (const Pass& pass : passes_) {
      std::int32_t sums[kCount][2];
      multiply_rows<kCount>(board.pairs.data() + row * stride, weight, stride, sums);
      weight += 2 * stride;
      for (std::int64_t k = 0; k < kCount; ++k) {
        for (int player = 0; player < 2; ++player) {
          const double unit = pass.unit[1 - player] / (2.0 * static_cast<double>(board.pair_unit));
          const auto value = static_cast<float>(static_cast<double>(sums[k][1 - player]) * unit);
          float& base = pass.state->base[player * n + row + k];
          base = pass.is_rest ? base + value : value;
        }
      }
    }
  }

  // Both players' weights at once.
  template <std::int64_t kCount>
  static void multiply_rows(const std::int16_t* __restrict pairs, const std::int16_t* __restrict weight,
                            std::int64_t stride, std::int32_t (*__restrict out)[2]) {
    const std::int16_t* __restrict const other = weight + stride;
    std::int32_t first[kCount]{}, second[kCount]{};
    for (std::int64_t i = 0; i < stride; ++i) {
      for (std::int64_t k = 0; k < kCount; ++k) {
        first[k] += static_cast<std::int32_t>(pairs[k * stride + i]) * static_cast<std::int32_t>(weight[i]);
        second[k] += static_cast<std::int32_t>(pairs[k * stride + i]) * static_cast<std::int32_t>(other[i]);
      }
    }
    for (std::int64_t k = 0; k < kCount; ++k) {
      out[k][0] = first[k];
      out[k][1] = second[k];
    }
  }

  std::vector<Pass> passes_;
  std::vector<std::int16_t> weight_;  // [passes, 2, stride]
};

}  // namespace equipoise
