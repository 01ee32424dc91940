// SPDX-License-Identifier: Apache-2.0
// Networks that say what hands are worth at a public state of hold'em, and how many states are asked about at once: in
// blocks, features one by one, the perceptron and pairs of hands for the whole block.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "perceptron.hpp"
#include "threads.hpp"
#include "value_features.hpp"

namespace equipoise {

// States to be valued: `reach` of both players [B, width], of the deck's hands or of the live ones.
struct ValueQuery {
  std::vector<const ValueBoard*> boards;
  const std::int32_t* board_of;  // [B]
  const double* reach[2];
  std::int64_t num_states, width;
  bool is_by_deck;
  const std::uint16_t* bucket = nullptr;  // [boards, deck's hands], for networks that see buckets

  const ValueBoard& board(std::int64_t state) const { return *boards[board_of[state]]; }
  const std::uint16_t* buckets(std::int64_t state) const {
    return bucket + board_of[state] * board(state).num_deck_hands;
  }
};

inline constexpr std::int64_t value_block = 32;  // states that share a pass over weights and pairs

// Features of up to a block of states, and what is needed to find them.
class FeatureBlock {
 public:
  // Finds the features of states [begin, end).
  void run(const CurveAxes& axes, const ValueQuery& query, std::int64_t begin, std::int64_t end,
           bool needs_base = true) {
    states_.resize(static_cast<std::size_t>(value_block));
    for (std::int64_t i = begin; i < end; ++i) {
      const ValueBoard& board = query.board(i);
      StateFeatures& state = states_[i - begin];
      state.prepare(axes, board.num_hands);
      gathered_.resize(static_cast<std::size_t>(board.num_hands));
      ahead_.resize(static_cast<std::size_t>(board.num_hands));
      for (int player = 0; player < 2; ++player) {
        state.total[player] = normalize_range(board, query.reach[player] + i * query.width, query.is_by_deck, player,
                                              gathered_.data(), state.mass.data());
      }
      FeatureWalk(board, axes, ahead_.data(), state).run();
    }
    for (std::int64_t first = begin, last; first < end; first = last) {
      for (last = first + 1; last < end && query.board_of[last] == query.board_of[first];) ++last;
      if (!needs_base || query.board(first).pair_unit == 0) continue;
      std::vector<StateFeatures*> shared;
      for (std::int64_t i = first; i < last; ++i) shared.push_back(&states_[i - begin]);
      pairs_.run(query.board(first), shared.data(), last - first);
    }
  }

  StateFeatures& operator[](std::int64_t place) { return states_[static_cast<std::size_t>(place)]; }

 private:
  std::vector<StateFeatures> states_;
  std::vector<double> gathered_;
  std::vector<Couple> ahead_;
  PairShowdownSums pairs_;
};

// Makes the values [2, n] of a state sum to zero under its ranges: what is left over goes from both players, in proportion
// to the mass that a hand can meet. Products are rounded to where their sums are exact in any order.
inline void make_zero_sum(const StateFeatures& state, std::int64_t num_hands, float* __restrict values) {
  const Couple rounding = {fine_rounding, fine_rounding};
  Couple left{}, met{};  // of both players; of even and odd hands
  for (std::int64_t i = 0; i < num_hands; ++i) {
    const Couple value = {static_cast<double>(values[i]), static_cast<double>(values[num_hands + i])};
    left += (state.mass[i] * value + rounding) - rounding;
    met[i & 1] += round_fine(state.mass[i][0] * static_cast<double>(state.matched[i]));
  }
  const double total = met[0] + met[1];
  if (!(total > 0.0)) return;  // no two hands of the ranges go together
  const float share = static_cast<float>((left[0] + left[1]) / (2.0 * total));
  for (std::int64_t i = 0; i < 2 * num_hands; ++i) values[i] -= share * state.matched[i];
}

// How a network sees a state and says what hands are worth: what comes before and behind the perceptron.
class ValueHead {
 public:
  virtual ~ValueHead() = default;
  virtual CurveAxes axes() const = 0;           // that features are found with
  virtual bool adds_base() const = 0;           // whether outputs come on top of what a showdown pays
  virtual std::int64_t num_inputs() const = 0;  // those apart that come with a state

  // Writes inputs of the perceptron.
  virtual void write_inputs(const ValueQuery& query, std::int64_t index, const StateFeatures& state,
                            float* row) const = 0;
  // Writes values [2, n] by places of the board, zero-sum; `share` is how much the outputs count.
  virtual void read_values(const ValueQuery& query, std::int64_t index, const StateFeatures& state,
                           const float* outputs, float share, float* values) const = 0;
};

// A perceptron with its head.
class ValueNet {
 public:
  ValueNet(std::unique_ptr<ValueHead> head, std::int64_t num_extra) : num_extra_(num_extra), head_(std::move(head)) {}

  Perceptron trunk;

  // What one thread works with.
  struct Workspace {
    FeatureBlock features;
    std::vector<float> first, second, packed, values;
  };

  // Writes values [B, width] of both players: `scale` [B] times the opponent's reach times what the net says. `share` [B] is
  // how much of the net counts, 0 for showdowns alone; `extra` is [B, num_extra].
  void evaluate(const ValueQuery& query, const float* extra, const float* share, const double* scale, int num_threads,
                double* const out[2]) {
    const std::int64_t num_blocks = (query.num_states + value_block - 1) / value_block;
    std::atomic<std::int64_t> next{0};
    spare_.lend(
        num_threads, [&](std::vector<Workspace>& kept) { kept.resize(static_cast<std::size_t>(num_threads)); },
        [&](std::vector<Workspace>& kept) {
          crew_.run(num_threads, [&](int thread) {
            for (std::int64_t block; (block = next.fetch_add(1)) < num_blocks;) {
              run_block(query, block * value_block, std::min((block + 1) * value_block, query.num_states), extra, share,
                        scale, kept[static_cast<std::size_t>(thread)], out);
            }
          });
        });
  }

 private:
  void run_block(const ValueQuery& query, std::int64_t begin, std::int64_t end, const float* extra, const float* share,
                 const double* scale, Workspace& work, double* const out[2]) const {
    const std::int64_t stride = trunk.stride();
    work.first.resize(static_cast<std::size_t>(value_block * stride + 8));  // eight floats are read at once
    work.second.resize(work.first.size());
    work.packed.resize(work.first.size());
    const bool is_whole = std::all_of(share + begin, share + end, [](float part) { return part == 1.0F; });
    work.features.run(head_->axes(), query, begin, end, head_->adds_base() || !is_whole);
    for (std::int64_t i = begin; i < end; ++i) {
      float* const row = work.first.data() + (i - begin) * stride;
      head_->write_inputs(query, i, work.features[i - begin], row);
      std::copy_n(extra + i * num_extra_, num_extra_, row + head_->num_inputs());
    }
    const float* const outputs = trunk.run(end - begin, work.first.data(), work.second.data(), work.packed.data());
    for (std::int64_t i = begin; i < end; ++i) {
      const ValueBoard& board = query.board(i);
      const StateFeatures& state = work.features[i - begin];
      work.values.resize(static_cast<std::size_t>(2 * board.num_hands));
      head_->read_values(query, i, state, outputs + (i - begin) * stride, share[i], work.values.data());
      write_values(query, i, state, work.values.data(), scale[i], out);
    }
  }

  static void write_values(const ValueQuery& query, std::int64_t index, const StateFeatures& state, const float* values,
                           double scale, double* const out[2]) {
    const ValueBoard& board = query.board(index);
    const std::uint16_t* const target = query.is_by_deck ? board.deck_hand.data() : board.live_hand.data();
    for (int player = 0; player < 2; ++player) {
      double* const row = out[player] + index * query.width;
      if (query.width > board.num_hands) std::fill_n(row, query.width, 0.0);
      const double factor = scale * state.total[1 - player];
      const float* const own = values + player * board.num_hands;
      for (std::int64_t i = 0; i < board.num_hands; ++i) row[target[i]] = factor * static_cast<double>(own[i]);
    }
  }

  std::int64_t num_extra_;  // inputs that come with a state: features of its stacks and pot
  std::unique_ptr<ValueHead> head_;
  Team crew_;
  Spare<std::vector<Workspace>> spare_;
};

}  // namespace equipoise
