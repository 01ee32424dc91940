// SPDX-License-Identifier: Apache-2.0
// What a line that enters the last street pays every pair of hands, for every pair of strategies that go on: exact, from
// the last street of a tree, summed over the cards that may come. Strategies are a blueprint's, each action multiplied by
// a weight of its kind and all normalised again.
//
// On one board a pair of hands earns the sum over terminals of both players' reach times a stake, whose sign at showdowns
// is that of the stronger hand: two products of small matrices, hands in the order of their strength.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "holdem_form.hpp"
#include "threads.hpp"

namespace equipoise {

constexpr int kNumKinds = 3;  // of actions: fold, call, raise

// The part of the last street below one line.
struct LeafLine {
  std::int32_t line;
  std::int32_t first_node[2], end_node[2];  // by player
  std::int32_t first_flat, end_flat;        // showdowns
  std::int32_t first_fold, end_fold;
};

template <typename Real, typename Cell>
struct LeafTableTask {
  const Cell* sums;                       // [C] of the tree: what both play in proportion to
  const std::uint8_t* kinds[2];           // [cells of the last street] of each action
  std::int32_t num_choices[2];            // strategies of each player
  const double* weights[2];               // [choice, kind]
  LeafLine line;
  int player;                             // whose values
  std::int64_t num_cards;                 // that may come
  const std::int32_t* boards;             // [card] of the tree
  const std::int32_t* rows[2];            // [card, row of the table] the hand's row on that board, -1: it has none
  std::int64_t num_rows[2];               // of the table
  Real* out;                              // [other's choice, other's row, own choice, own row]
};

template <typename Real, typename Cell>
class LeafTableBuilder {
 public:
  LeafTableBuilder(const HoldemForm& form, const LeafTableTask<Real, Cell>& task) : form_(form), task_(task) {
    const HoldemStreet& street = form_.streets[form_.num_streets - 1];
    num_flats_ = task_.line.end_flat - task_.line.first_flat;
    num_folds_ = task_.line.end_fold - task_.line.first_fold;
    const HoldemEnds &flats = street.flats, &folds = street.folds;
    for (std::int32_t e = task_.line.first_flat; e < task_.line.end_flat; ++e) {
      const double stake = flats.scale[task_.player][e];
      stakes_.push_back(static_cast<Real>(stake));
      rakes_.push_back(static_cast<Real>(flats.rake ? stake * flats.rake[e] : 0.0));
    }
    for (std::int32_t e = task_.line.first_fold; e < task_.line.end_fold; ++e) {
      wins_.push_back(static_cast<Real>(folds.scale[task_.player][e]));
    }
    has_rake_ = flats.rake != nullptr;
    source_.resize(static_cast<std::size_t>(task_.num_rows[task_.player]));
  }

  // Adds what all cards pay; of the other's rows, those from `first_row` to before `end_row`.
  void build(std::int64_t first_row, std::int64_t end_row) {
    for (std::int64_t card = 0; card < task_.num_cards; ++card) {
      const HoldemBoard& board = form_.boards[task_.boards[card]];
      find_reaches(board, task_.player, own_);
      find_reaches(board, 1 - task_.player, other_);
      add_card(board, card, first_row, end_row);
    }
  }

 private:
  static constexpr int kRowsAtOnce = 4;
  static constexpr int kMaxActions = 64;

  // Of one player on a board: [choice, terminal, row], showdowns before folds.
  struct Reaches {
    std::vector<Real> ends;
    std::int64_t num_rows;
  };

  struct FoundHand {
    std::int32_t table_row, row;
  };

  const HoldemForm& form_;
  const LeafTableTask<Real, Cell>& task_;
  std::int32_t num_flats_, num_folds_;
  std::vector<Real> stakes_, rakes_, wins_;  // [terminal]
  bool has_rake_;
  Reaches own_, other_;
  std::vector<Real> slots_;
  std::vector<Real> coefficients_;  // [terminal, kRowsAtOnce]
  std::vector<Real> shown_, taken_, folded_;  // [kRowsAtOnce, row and one] of showdowns, of their rake, of folds
  std::vector<FoundHand> found_;              // the other's hands on a board
  std::vector<std::int32_t> source_;          // [own row of the table] row on a board
  std::vector<std::int32_t> with_card_[kDeckSize];  // own hands on a board by card

  void find_reaches(const HoldemBoard& board, int player, Reaches& out) {
    const HoldemStreet& street = form_.streets[board.street];
    const HoldemSide& side = board.sides[player];
    const std::int32_t num_ends = num_flats_ + num_folds_;
    out.num_rows = side.num_rows();
    out.ends.resize(static_cast<std::size_t>(task_.num_choices[player] * num_ends * out.num_rows));
    slots_.resize(static_cast<std::size_t>(street.num_slots(player)));
    const std::int32_t num_cells = street.num_cells[player];
    for (int choice = 0; choice < task_.num_choices[player]; ++choice) {
      const double* const weights = task_.weights[player] + choice * kNumKinds;
      Real* const ends = out.ends.data() + choice * num_ends * out.num_rows;
      for (std::int64_t row = 0; row < out.num_rows; ++row) {
        const Cell* const sums =
            task_.sums + side.first_cell + row / kPackSize * num_cells * kPackSize + row % kPackSize;
        slots_[task_.line.line] = Real{1};
        for (std::int32_t n = task_.line.first_node[player]; n < task_.line.end_node[player]; ++n) {
          play(street.nodes[player][n], sums, task_.kinds[player], weights, street.num_lines);
        }
        for (std::int32_t e = 0; e < num_flats_; ++e) {
          ends[e * out.num_rows + row] = slots_[street.flats.slot[player][task_.line.first_flat + e]];
        }
        for (std::int32_t e = 0; e < num_folds_; ++e) {
          ends[(num_flats_ + e) * out.num_rows + row] = slots_[street.folds.slot[player][task_.line.first_fold + e]];
        }
      }
    }
  }

  // Fills the slots of a decision's actions.
  void play(const HoldemNode& node, const Cell* sums, const std::uint8_t* kinds, const double* weights,
            std::int32_t num_lines) {
    double share[kMaxActions], total = 0.0, biased = 0.0;
    for (std::int32_t a = 0; a < node.num_actions; ++a) {
      share[a] = std::max(static_cast<double>(sums[(node.first_cell + a) * kPackSize]), 0.0);
      total += share[a];
    }
    for (std::int32_t a = 0; a < node.num_actions; ++a) {
      share[a] = (total > 0.0 ? share[a] : 1.0) * weights[kinds[node.first_cell + a]];
      biased += share[a];
    }
    for (std::int32_t a = 0; a < node.num_actions; ++a) {
      slots_[num_lines + node.first_cell + a] = static_cast<Real>(static_cast<double>(slots_[node.source]) * share[a] / biased);
    }
  }

  void add_card(const HoldemBoard& board, std::int64_t card, std::int64_t first_row, std::int64_t end_row) {
    const int other = 1 - task_.player;
    const std::int32_t* const source = task_.rows[other] + card * task_.num_rows[other];
    const std::int32_t* const own_source = task_.rows[task_.player] + card * task_.num_rows[task_.player];
    found_.clear();
    for (std::int64_t row = first_row; row < end_row; ++row) {
      if (source[row] >= 0) found_.push_back({static_cast<std::int32_t>(row), source[row]});
    }
    // hands that cannot be there read a number that stays 0
    for (std::int64_t row = 0; row < task_.num_rows[task_.player]; ++row) {
      source_[row] = own_source[row] < 0 ? static_cast<std::int32_t>(own_.num_rows) : own_source[row];
    }
    list_cards(board);
    for (auto* each : {&shown_, &taken_, &folded_}) each->assign(static_cast<std::size_t>(kRowsAtOnce * (own_.num_rows + 1)), Real{0});
    coefficients_.resize(static_cast<std::size_t>((num_flats_ + num_folds_) * kRowsAtOnce));
    for (std::size_t first = 0; first < found_.size(); first += kRowsAtOnce) {
      const int count = static_cast<int>(std::min<std::size_t>(kRowsAtOnce, found_.size() - first));
      add_hands(board, found_.data() + first, count);
    }
  }

  // Lists the own hands that hold each card.
  void list_cards(const HoldemBoard& board) {
    const HandList own = form_.hands(board, task_.player);
    for (auto& hands : with_card_) hands.clear();
    for (std::int32_t k = 0; k < own.size; ++k) {
      for (int i = 0; i < 2; ++i) with_card_[own.cards[2 * k + i]].push_back(k);
    }
  }

  // A few of the other's hands against all own ones.
  void add_hands(const HoldemBoard& board, const FoundHand* hands, int count) {
    const int other = 1 - task_.player, player = task_.player;
    const std::int32_t num_ends = num_flats_ + num_folds_;
    for (int theirs = 0; theirs < task_.num_choices[other]; ++theirs) {
      const Real* const from = other_.ends.data() + theirs * num_ends * other_.num_rows;
      for (int ours = 0; ours < task_.num_choices[player]; ++ours) {
        const Real* const own = own_.ends.data() + ours * num_ends * own_.num_rows;
        weigh(from, hands, count, 0, stakes_);
        multiply(own, 0, num_flats_, shown_.data());
        if (has_rake_) {
          weigh(from, hands, count, 0, rakes_);
          multiply(own, 0, num_flats_, taken_.data());
        }
        weigh(from, hands, count, num_flats_, wins_);
        multiply(own, num_flats_, num_folds_, folded_.data());
        for (int i = 0; i < count; ++i) {
          const std::int64_t row = theirs * task_.num_rows[other] + hands[i].table_row;
          add_row(board, hands[i].row, i, task_.out + (row * task_.num_choices[player] + ours) * task_.num_rows[player]);
        }
      }
    }
  }

  // Coefficients of terminals: the other's reach times what the terminal pays.
  void weigh(const Real* from, const FoundHand* hands, int count, std::int32_t first, const std::vector<Real>& pays) {
    for (std::size_t e = 0; e < pays.size(); ++e) {
      for (int i = 0; i < kRowsAtOnce; ++i) {
        coefficients_[e * kRowsAtOnce + i] =
            i < count ? from[(first + static_cast<std::int64_t>(e)) * other_.num_rows + hands[i].row] * pays[e] : Real{0};
      }
    }
  }

  // Overwrites `out` [kRowsAtOnce, row and one] with coefficients times own reaches; what stands behind rows stays 0.
  void multiply(const Real* own, std::int32_t first, std::int32_t count, Real* out) const {
    const std::int64_t num_rows = own_.num_rows;
    const Real* const begin = own + first * num_rows;
    std::int64_t row = 0;
    for (; row + 2 * kPackSize <= num_rows; row += 2 * kPackSize) multiply_packs<2>(begin, row, count, out);
    if (row < num_rows) multiply_packs<1>(begin, row, count, out);
  }

  template <int packs>
  [[gnu::always_inline]] void multiply_packs(const Real* begin, std::int64_t row, std::int32_t count, Real* out) const {
    const std::int64_t num_rows = own_.num_rows;
    const Real* const coefficients = coefficients_.data();
    Pack<Real> sum[kRowsAtOnce][packs] = {};
    for (std::int32_t e = 0; e < count; ++e) {
      Pack<Real> reach[packs];
      for (int k = 0; k < packs; ++k) reach[k] = load_pack<Real>(begin + e * num_rows + row + k * kPackSize);
      for (int i = 0; i < kRowsAtOnce; ++i) {
        for (int k = 0; k < packs; ++k) sum[i][k] += reach[k] * coefficients[e * kRowsAtOnce + i];
      }
    }
    for (int i = 0; i < kRowsAtOnce; ++i) {
      for (int k = 0; k < packs; ++k) store_pack<Real>(out + i * (num_rows + 1) + row + k * kPackSize, sum[i][k]);
    }
  }

  // Adds what one of the other's hands, the i-th of those at hand, pays every own hand.
  void add_row(const HoldemBoard& board, std::int32_t hand, int i, Real* __restrict out) {
    const int player = task_.player;
    const HandList own = form_.hands(board, player), other = form_.hands(board, 1 - player);
    const std::int64_t start = i * (own_.num_rows + 1);
    Real* const value = folded_.data() + start;
    const Real* const shown = shown_.data() + start;
    const std::int32_t* const end = own.strength + own.size;
    const auto weaker = std::lower_bound(own.strength, end, other.strength[hand]) - own.strength;
    const auto stronger = std::upper_bound(own.strength, end, other.strength[hand]) - own.strength;
    for (std::int64_t k = 0; k < weaker; ++k) value[k] -= shown[k];
    for (std::int64_t k = stronger; k < own.size; ++k) value[k] += shown[k];
    if (has_rake_) {
      const Real* const taken = taken_.data() + start;
      for (std::int32_t k = 0; k < own.size; ++k) value[k] -= taken[k];
    }
    for (int c = 0; c < 2; ++c) {
      for (const std::int32_t k : with_card_[other.cards[2 * hand + c]]) value[k] = Real{0};
    }
    const std::int32_t* const source = source_.data();
    for (std::int64_t row = 0; row < task_.num_rows[player]; ++row) out[row] += value[source[row]];
  }
};

template <typename Real, typename Cell>
void build_leaf_table(const HoldemForm& form, const LeafTableTask<Real, Cell>& task, int num_threads) {
  const std::int64_t num_rows = task.num_rows[1 - task.player];
  run_team(num_threads, [&](int thread) {
    LeafTableBuilder<Real, Cell> builder(form, task);
    builder.build(num_rows * thread / num_threads, num_rows * (thread + 1) / num_threads);
  });
}

}  // namespace equipoise
