// SPDX-License-Identifier: Apache-2.0
// Public chance sampling: one player's sweep over the boards of a single runout, all hands at once.
//
// Hands play rows of the tables: their own row where a board has tables of its own, the row of their bucket where hands
// share. Strategies are formed row by row, handed out to hands, and what hands earn is added up in rows.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "holdem_form.hpp"

namespace equipoise {

// One player's part of a runout's board. Arrays over hands are filled up to whole tiles by repeating the last hand.
struct RunoutSide {
  HandList hands;
  const std::int32_t* parent_row;  // [H] row of the hand on the board above
  const std::int32_t* table_row;   // [H] row of the tables that the hand plays; null: its own
  const std::int32_t* orbit_row;   // [H] first row that is the same hand but for the names of suits; null: its own
  std::int64_t first_cell;         // where the tables keep the rows: [tile, cell, row of the tile]
  std::int64_t num_table_rows;     // whole tiles

  std::int64_t num_tiles() const { return (hands.size + kPackSize - 1) / kPackSize; }
  std::int64_t num_rows() const { return num_tiles() * kPackSize; }
  std::int64_t row(std::int64_t hand) const { return table_row ? table_row[hand] : hand; }
  std::int64_t orbit(std::int64_t hand) const { return orbit_row ? orbit_row[hand] : hand; }
};

struct RunoutBoard {
  RunoutSide sides[2];
  double weight = 1.0;  // of what is handed up: one over the chance with which this board was drawn, given that above
};

enum class RunoutPurpose { update, expected_value, collect };

// Tables of the same numbers of rows, or nothing.
template <typename Real>
struct RunoutTask {
  RunoutPurpose purpose = RunoutPurpose::update;
  int player = 0;                           // whose values are computed
  const Real* sums[2] = {};                 // what each player plays in proportion to, uniformly where there is nothing
  const double* root_reach[2] = {};         // [rows of the first board]
  const double* own_weight = nullptr;       // [rows of the first board] of what hands add to rows; null: 1
  Real* regret_sum = nullptr;               // update: values above those of the strategy are added,
  Real* strategy_sum = nullptr;             //   and own reach times strategy
  double* root_value = nullptr;             // expected_value: [rows of the first board], overwritten
  double* const* flat_sum = nullptr;        // collect: by street [table rows, columns of its ends], added to;
  double* const* fold_sum = nullptr;        //   of flats only those of the last street
};

template <typename Real>
class RunoutSweep {
 public:
  RunoutSweep(const HoldemStreet* streets, std::int32_t num_streets)
      : streets_(streets), num_streets_(num_streets), buffers_(static_cast<std::size_t>(num_streets)) {
    std::int32_t slots = 0;
    for (std::int32_t s = 0; s < num_streets; ++s) {
      slots = std::max({slots, streets[s].num_slots(0), streets[s].num_slots(1)});
    }
    // cells are written in whole packs
    reach_.resize(static_cast<std::size_t>(slots + kPackSize));
    strategy_.resize(reach_.size());
    value_.resize(reach_.size());
  }

  // `boards` has one board for every street.
  void run(const RunoutBoard* boards, const RunoutTask<Real>& task) {
    for (std::int32_t s = 0; s < num_streets_; ++s) spread(boards, s, task);
    for (std::int32_t s = num_streets_; s-- > 0;) {
      evaluate(boards[s], s, task);
      if (task.purpose == RunoutPurpose::collect) {
        collect(boards[s], s, task);
      } else {
        back_up(boards, s, task);
      }
    }
  }

  std::size_t num_bytes() const {
    std::size_t total = (reach_.size() + strategy_.size() + value_.size()) * sizeof(Vector) + gains_.size() * sizeof(Real);
    for (const Buffers& b : buffers_) {
      for (const auto* part : {&b.flat_reach, &b.fold_reach, &b.own_reach, &b.flat_value, &b.fold_value, &b.weight,
                               &b.strategy[0], &b.strategy[1]}) {
        total += part->size() * sizeof(Real);
      }
    }
    return total;
  }

 private:
  static constexpr std::int32_t kBlockPacks = 4;  // 32 columns: the sums of 52 cards stay in the first-level cache
  using Vector = Pack<Real>;
  struct Box {
    Vector pack;
  };

  struct Buffers {
    std::vector<Real> flat_reach, fold_reach;  // of the opponent
    std::vector<Real> own_reach;               // at flats, times the weight of the hand
    std::vector<Real> flat_value, fold_value;  // of the player
    std::vector<Real> weight;                  // [rows] of the player's hands
    std::vector<Real> strategy[2];             // [table rows, cells]
  };

  const HoldemStreet* streets_;
  std::int32_t num_streets_;
  std::vector<Buffers> buffers_;
  std::vector<Box> reach_, strategy_, value_;  // of one tile, over slots or cells
  std::vector<Real> gains_;                    // [2, table rows, cells] regrets, then averages
  std::vector<std::int32_t> orbit_sizes_;      // [rows] hands of the orbit that begins there

  static void grow(std::vector<Real>& buffer, std::int64_t size) {
    if (static_cast<std::int64_t>(buffer.size()) < size) buffer.resize(static_cast<std::size_t>(size));
  }

  static std::int64_t padded(std::int64_t count) { return (count + kPackSize - 1) / kPackSize * kPackSize; }

  static BlockLayout end_layout(const RunoutSide& side, const HoldemEnds& ends, bool is_in_blocks) {
    return {side.num_rows(), ends.num_packs, is_in_blocks ? kBlockPacks : std::max(ends.num_packs, 1)};
  }

  // Flats of the last street are showdowns, in blocks; others are read a hand at a time.
  BlockLayout flat_layout(const RunoutSide& side, std::int32_t s) const {
    return end_layout(side, streets_[s].flats, streets_[s].is_last);
  }

  // --- reach ---

  void spread(const RunoutBoard* boards, std::int32_t s, const RunoutTask<Real>& task) {
    const HoldemStreet& street = streets_[s];
    const int player = task.player, opponent = 1 - player;
    const RunoutSide& own = boards[s].sides[player];
    const RunoutSide& other = boards[s].sides[opponent];
    Buffers& buffers = buffers_[s];
    const BlockLayout other_flats = flat_layout(other, s), other_folds = end_layout(other, street.folds, true);
    grow(buffers.flat_reach, other.num_rows() * other_flats.num_packs * kPackSize);
    grow(buffers.fold_reach, other.num_rows() * other_folds.num_packs * kPackSize);
    form_strategies(other, opponent, s, task.sums[opponent]);
    for (std::int64_t tile = 0; tile < other.num_tiles(); ++tile) {
      if (s == 0) {
        reach_[0].pack = load_pack<Real>(task.root_reach[opponent] + tile * kPackSize);
      } else {
        enter(boards, s, opponent, tile, buffers_[s - 1].flat_reach.data());
      }
      play(other, opponent, s, tile);
      leave(street.flats, opponent, other_flats, tile, buffers.flat_reach.data());
      leave(street.folds, opponent, other_folds, tile, buffers.fold_reach.data());
    }
    carry_weights(boards, s, task);
    if (task.purpose == RunoutPurpose::collect) return;
    form_strategies(own, player, s, task.sums[player]);
    if (task.purpose != RunoutPurpose::update || street.is_last) return;
    const BlockLayout own_flats = flat_layout(own, s);
    grow(buffers.own_reach, own.num_rows() * own_flats.num_packs * kPackSize);
    for (std::int64_t tile = 0; tile < own.num_tiles(); ++tile) {
      enter_own(boards, s, player, tile);
      play(own, player, s, tile);
      leave(street.flats, player, own_flats, tile, buffers.own_reach.data());
    }
  }

  void carry_weights(const RunoutBoard* boards, std::int32_t s, const RunoutTask<Real>& task) {
    const RunoutSide& own = boards[s].sides[task.player];
    std::vector<Real>& weight = buffers_[s].weight;
    grow(weight, own.num_rows());
    for (std::int64_t hand = 0; hand < own.num_rows(); ++hand) {
      const double first = task.own_weight ? task.own_weight[hand] : 1.0;
      weight[hand] = s == 0 ? static_cast<Real>(first) : buffers_[s - 1].weight[own.parent_row[hand]];
    }
  }

  // Fills the slots of entering lines.
  void enter(const RunoutBoard* boards, std::int32_t s, int player, std::int64_t tile, const Real* from) {
    const BlockLayout rows = flat_layout(boards[s - 1].sides[player], s - 1);
    const std::int32_t* const row = boards[s].sides[player].parent_row + tile * kPackSize;
    rows.for_packs([&](std::int32_t pack, std::int64_t start, std::int64_t stride) {
      Vector lines[kPackSize];
      for (int i = 0; i < kPackSize; ++i) lines[i] = load_pack<Real>(from + start + row[i] * stride);
      transpose(lines);
      const int count = std::min(kPackSize, streets_[s].num_lines - pack * kPackSize);
      for (int i = 0; i < count; ++i) reach_[pack * kPackSize + i].pack = lines[i];
    });
  }

  void enter_own(const RunoutBoard* boards, std::int32_t s, int player, std::int64_t tile) {
    if (s == 0) {
      reach_[0].pack = load_pack<Real>(buffers_[0].weight.data() + tile * kPackSize);
    } else {
      enter(boards, s, player, tile, buffers_[s - 1].own_reach.data());
    }
  }

  // Fills `strategy` of a street: probabilities in proportion to positive sums, row by row.
  void form_strategies(const RunoutSide& side, int player, std::int32_t s, const Real* sums) {
    const HoldemStreet& street = streets_[s];
    const std::int64_t num_cells = street.num_cells[player], stride = padded(num_cells);
    std::vector<Real>& out = buffers_[s].strategy[player];
    grow(out, side.num_table_rows * stride);
    for (std::int64_t first = 0; first < side.num_table_rows; first += kPackSize) {
      const Real* const tile = sums + side.first_cell + first * num_cells;
      for (std::int32_t n = 0; n < street.num_nodes[player]; ++n) match_sums(street.nodes[player][n], tile);
      for (std::int64_t cell = 0; cell < num_cells; cell += kPackSize) {
        Vector rows[kPackSize];
        for (int i = 0; i < kPackSize; ++i) rows[i] = strategy_[cell + i].pack;
        transpose(rows);
        for (int i = 0; i < kPackSize; ++i) store_pack<Real>(out.data() + (first + i) * stride + cell, rows[i]);
      }
    }
  }

  [[gnu::always_inline]] void match_sums(const HoldemNode& node, const Real* tile) {
    Box* const strategy = strategy_.data() + node.first_cell;
    Vector total{};
    for (std::int32_t a = 0; a < node.num_actions; ++a) {
      const Vector sums = load_pack<Real>(tile + (node.first_cell + a) * kPackSize);
      strategy[a].pack = choose(sums > Real{0}, sums, Vector{});
      total += strategy[a].pack;
    }
    const Vector inverse = Real{1} / total;
    const Vector share = fill_pack(Real{1} / static_cast<Real>(node.num_actions));
    // totals too small to be normal count as none: their inverse is infinite
    const auto is_matched = total >= std::numeric_limits<Real>::min();
    for (std::int32_t a = 0; a < node.num_actions; ++a) {
      strategy[a].pack = choose(is_matched, strategy[a].pack * inverse, share);
    }
  }

  // Hands out the strategies of a tile's hands, and fills the slots of own actions.
  void play(const RunoutSide& side, int player, std::int32_t s, std::int64_t tile) {
    const HoldemStreet& street = streets_[s];
    const std::int64_t num_cells = street.num_cells[player], stride = padded(num_cells);
    const Real* row[kPackSize];
    for (int i = 0; i < kPackSize; ++i) {
      row[i] = buffers_[s].strategy[player].data() + side.row(tile * kPackSize + i) * stride;
    }
    for (std::int64_t cell = 0; cell < num_cells; cell += kPackSize) {
      Vector cells[kPackSize];
      for (int i = 0; i < kPackSize; ++i) cells[i] = load_pack<Real>(row[i] + cell);
      transpose(cells);
      for (int i = 0; i < kPackSize; ++i) strategy_[cell + i].pack = cells[i];
    }
    Box* const actions = reach_.data() + street.num_lines;
    for (std::int32_t n = 0; n < street.num_nodes[player]; ++n) {
      const HoldemNode& node = street.nodes[player][n];
      const Vector arriving = reach_[node.source].pack;
      for (std::int32_t a = node.first_cell; a < node.first_cell + node.num_actions; ++a) {
        actions[a].pack = arriving * strategy_[a].pack;
      }
    }
  }

  // Writes reaches at the ends of a street as rows of terminals.
  void leave(const HoldemEnds& ends, int player, const BlockLayout& rows, std::int64_t tile, Real* out) const {
    const std::int32_t* const slot = ends.slot[player];
    rows.for_packs([&](std::int32_t pack, std::int64_t start, std::int64_t stride) {
      Vector columns[kPackSize];
      for (int i = 0; i < kPackSize; ++i) columns[i] = reach_[slot[pack * kPackSize + i]].pack;
      transpose(columns);
      Real* const to = out + start + tile * kPackSize * stride;
      for (int i = 0; i < kPackSize; ++i) store_pack<Real>(to + i * stride, columns[i]);
    });
  }

  // --- values ---

  void evaluate(const RunoutBoard& board, std::int32_t s, const RunoutTask<Real>& task) {
    const HoldemStreet& street = streets_[s];
    Buffers& buffers = buffers_[s];
    const std::int64_t rows = board.sides[task.player].num_rows();
    grow(buffers.fold_value, rows * street.folds.num_packs * kPackSize);
    evaluate_ends(TerminalKind::fold, board, task.player, street.folds, buffers.fold_reach, buffers.fold_value);
    if (!street.is_last) return;
    grow(buffers.flat_value, rows * street.flats.num_packs * kPackSize);
    evaluate_ends(TerminalKind::showdown, board, task.player, street.flats, buffers.flat_reach, buffers.flat_value);
  }

  static void evaluate_ends(TerminalKind kind, const RunoutBoard& board, int player, const HoldemEnds& ends,
                            const std::vector<Real>& reach, std::vector<Real>& value) {
    const RunoutSide& own = board.sides[player];
    const RunoutSide& other = board.sides[1 - player];
    const BlockLayout from = end_layout(other, ends, true), to = end_layout(own, ends, true);
    Ahead none;
    for (std::int32_t block = 0; block < to.num_blocks(); ++block) {
      const double* const rake = ends.rake ? ends.rake + block * to.block_packs * kPackSize : nullptr;
      evaluate_block<Real>(kind, to.width(block), own.hands, other.hands, rake, reach.data() + from.block_start(block),
                           value.data() + to.block_start(block), none);
    }
  }

  void back_up(const RunoutBoard* boards, std::int32_t s, const RunoutTask<Real>& task) {
    const HoldemStreet& street = streets_[s];
    const int player = task.player;
    const RunoutSide& side = boards[s].sides[player];
    Buffers& buffers = buffers_[s];
    const bool is_update = task.purpose == RunoutPurpose::update;
    const std::int64_t gain_size = side.num_table_rows * padded(street.num_cells[player]);
    if (is_update) {
      grow(gains_, 2 * gain_size);
      std::fill_n(gains_.begin(), 2 * gain_size, Real{0});
    }
    if (s > 0) {
      const BlockLayout above = flat_layout(boards[s - 1].sides[player], s - 1);
      grow(buffers_[s - 1].flat_value, above.num_rows * above.num_packs * kPackSize);
      std::fill_n(buffers_[s - 1].flat_value.begin(), above.num_rows * above.num_packs * kPackSize, Real{0});
    }
    for (std::int64_t tile = 0; tile < side.num_tiles(); ++tile) {
      std::fill_n(value_.begin(), street.num_slots(player), Box{});
      add_values(side, player, street.folds, end_layout(side, street.folds, true), tile, buffers.fold_value.data());
      add_values(side, player, street.flats, flat_layout(side, s), tile, buffers.flat_value.data());
      if (is_update) enter_own(boards, s, player, tile);
      play(side, player, s, tile);
      if (is_update) {
        weigh(street, player, load_pack<Real>(buffers.weight.data() + tile * kPackSize));
        add_gains(side, street, player, tile, gain_size);
      } else {
        expect(street, player);
      }
      hand_up(boards, s, player, tile, task);
    }
    if (is_update) add_to_tables(side, street.num_cells[player], gain_size, task);
    if (s > 0) average_orbits(boards[s - 1].sides[player], s - 1);
  }

  // Adds the values of a street's ends, times their scale, to the slots that lead to them.
  void add_values(const RunoutSide& side, int player, const HoldemEnds& ends, const BlockLayout& rows,
                  std::int64_t tile, const Real* from) {
    rows.for_packs([&](std::int32_t pack, std::int64_t start, std::int64_t stride) {
      Vector columns[kPackSize];
      for (int i = 0; i < kPackSize; ++i) {
        columns[i] = load_pack<Real>(from + start + side.orbit(valid_hand(side, tile * kPackSize + i)) * stride);
      }
      transpose(columns);
      const std::int32_t* const slot = ends.slot[player] + pack * kPackSize;
      const double* const scale = ends.scale[player] + pack * kPackSize;
      for (int i = 0; i < kPackSize; ++i) value_[slot[i]].pack += columns[i] * static_cast<Real>(scale[i]);
    });
  }

  // Values of rows beyond the last hand are not written.
  static std::int64_t valid_hand(const RunoutSide& side, std::int64_t hand) {
    return std::min<std::int64_t>(hand, side.hands.size - 1);
  }

  static int num_hands_of(const RunoutSide& side, std::int64_t tile) {
    return static_cast<int>(std::min<std::int64_t>(kPackSize, side.hands.size - tile * kPackSize));
  }

  // Turns values of own actions into weighted regrets, in place, and hands expected values to the slots above.
  void weigh(const HoldemStreet& street, int player, const Vector& weight) {
    for (std::int32_t n = street.num_nodes[player]; n-- > 0;) {
      const HoldemNode& node = street.nodes[player][n];
      Box* const value = value_.data() + street.num_lines + node.first_cell;
      const Box* const strategy = strategy_.data() + node.first_cell;
      Vector expected{};
      for (std::int32_t a = 0; a < node.num_actions; ++a) expected += strategy[a].pack * value[a].pack;
      for (std::int32_t a = 0; a < node.num_actions; ++a) value[a].pack = weight * (value[a].pack - expected);
      value_[node.source].pack += expected;
    }
  }

  void expect(const HoldemStreet& street, int player) {
    for (std::int32_t n = street.num_nodes[player]; n-- > 0;) {
      const HoldemNode& node = street.nodes[player][n];
      for (std::int32_t a = node.first_cell; a < node.first_cell + node.num_actions; ++a) {
        value_[node.source].pack += strategy_[a].pack * value_[street.num_lines + a].pack;
      }
    }
  }

  // Adds a tile's regrets and reaches to the rows that its hands play.
  void add_gains(const RunoutSide& side, const HoldemStreet& street, int player, std::int64_t tile,
                 std::int64_t gain_size) {
    const std::int64_t num_cells = street.num_cells[player], stride = padded(num_cells);
    const int count = num_hands_of(side, tile);
    Real* out = gains_.data();
    for (const Box* from : {value_.data() + street.num_lines, reach_.data() + street.num_lines}) {
      for (std::int64_t cell = 0; cell < num_cells; cell += kPackSize) {
        Vector rows[kPackSize];
        for (int i = 0; i < kPackSize; ++i) rows[i] = cell + i < num_cells ? from[cell + i].pack : Vector{};
        transpose(rows);
        for (int i = 0; i < count; ++i) {
          Real* const to = out + side.row(tile * kPackSize + i) * stride + cell;
          store_pack<Real>(to, load_pack<Real>(to) + rows[i]);
        }
      }
      out += gain_size;
    }
  }

  void add_to_tables(const RunoutSide& side, std::int64_t num_cells, std::int64_t gain_size,
                     const RunoutTask<Real>& task) const {
    const std::int64_t stride = padded(num_cells);
    const Real* from = gains_.data();
    for (Real* table : {task.regret_sum, task.strategy_sum}) {
      for (std::int64_t first = 0; first < side.num_table_rows; first += kPackSize) {
        for (std::int64_t cell = 0; cell < num_cells; cell += kPackSize) {
          Vector cells[kPackSize];
          for (int i = 0; i < kPackSize; ++i) cells[i] = load_pack<Real>(from + (first + i) * stride + cell);
          transpose(cells);
          Real* const to = table + side.first_cell + first * num_cells + cell * kPackSize;
          const std::int64_t count = std::min<std::int64_t>(kPackSize, num_cells - cell);
          for (std::int64_t i = 0; i < count; ++i) {
            store_pack<Real>(to + i * kPackSize, load_pack<Real>(to + i * kPackSize) + cells[i]);
          }
        }
      }
      from += gain_size;
    }
  }

  // Writes the values of entering lines where the board above reads them.
  void hand_up(const RunoutBoard* boards, std::int32_t s, int player, std::int64_t tile, const RunoutTask<Real>& task) {
    const RunoutSide& side = boards[s].sides[player];
    const int count = num_hands_of(side, tile);
    if (s == 0) {
      if (!task.root_value) return;
      for (int i = 0; i < count; ++i) task.root_value[tile * kPackSize + i] = static_cast<double>(value_[0].pack[i]);
      return;
    }
    const Real weight = static_cast<Real>(boards[s].weight);
    Real* const out = buffers_[s - 1].flat_value.data();
    flat_layout(boards[s - 1].sides[player], s - 1)
        .for_packs([&](std::int32_t pack, std::int64_t start, std::int64_t stride) {
          Vector lines[kPackSize];
          for (int i = 0; i < kPackSize; ++i) {
            const std::int32_t line = pack * kPackSize + i;
            lines[i] = line < streets_[s].num_lines ? value_[line].pack * weight : Vector{};
          }
          transpose(lines);
          const std::int32_t* const row = side.parent_row + tile * kPackSize;
          for (int i = 0; i < count; ++i) store_pack<Real>(out + start + row[i] * stride, lines[i]);
        });
  }

  // A board that stands for others hands up their mean: over the hands that the relabelled suits exchange.
  void average_orbits(const RunoutSide& above, std::int32_t s) {
    if (!above.orbit_row) return;
    const std::int64_t stride = streets_[s].flats.num_packs * kPackSize;
    Real* const value = buffers_[s].flat_value.data();
    for (std::int64_t hand = 0; hand < above.hands.size; ++hand) {
      const std::int64_t first = above.orbit_row[hand];
      if (first == hand) continue;
      for (std::int64_t k = 0; k < stride; ++k) value[first * stride + k] += value[hand * stride + k];
    }
    orbit_sizes_.assign(static_cast<std::size_t>(above.hands.size), 0);
    for (std::int64_t hand = 0; hand < above.hands.size; ++hand) ++orbit_sizes_[above.orbit_row[hand]];
    for (std::int64_t hand = 0; hand < above.hands.size; ++hand) {
      if (orbit_sizes_[hand] < 2) continue;
      const Real share = Real{1} / static_cast<Real>(orbit_sizes_[hand]);
      for (std::int64_t k = 0; k < stride; ++k) value[hand * stride + k] *= share;
    }
  }

  // Adds what ends are worth, times the weight of the hand, to the rows that hands play.
  void collect(const RunoutBoard& board, std::int32_t s, const RunoutTask<Real>& task) {
    const HoldemStreet& street = streets_[s];
    const RunoutSide& side = board.sides[task.player];
    const Buffers& buffers = buffers_[s];
    const int player = task.player;
    add_ends(side, player, street.folds, buffers.fold_value, buffers.weight, task.fold_sum[s]);
    if (street.is_last) add_ends(side, player, street.flats, buffers.flat_value, buffers.weight, task.flat_sum[s]);
  }

  static void add_ends(const RunoutSide& side, int player, const HoldemEnds& ends, const std::vector<Real>& value,
                       const std::vector<Real>& weight, double* out) {
    const std::int64_t num_columns = ends.num_packs * kPackSize;
    end_layout(side, ends, true).for_packs([&](std::int32_t pack, std::int64_t start, std::int64_t stride) {
      for (std::int32_t hand = 0; hand < side.hands.size; ++hand) {
        double* const to = out + side.row(hand) * num_columns + pack * kPackSize;
        const Real* const from = value.data() + start + hand * stride;
        const double factor = static_cast<double>(weight[hand]);
        for (int i = 0; i < kPackSize; ++i) {
          to[i] += factor * ends.scale[player][pack * kPackSize + i] * static_cast<double>(from[i]);
        }
      }
    });
  }
};

}  // namespace equipoise
