// SPDX-License-Identifier: Apache-2.0
// A hold'em spot as the sweep reads it: the betting of a street once, and for each board the hands that it leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "packs.hpp"
#include "showdown.hpp"

namespace equipoise {

// A player's reach at a line is kept in slots: first the street's entering lines, then the player's own actions
// (cells). Slots are read by the player's decisions below and by the ends of the street.
struct HoldemNode {
  std::int32_t first_cell;
  std::int32_t num_actions;
  std::int32_t source;  // slot
};

// Ends of a street: columns, padded to whole packs. Padding has scale 0 and slot 0.
struct HoldemEnds {
  std::int32_t num_packs;
  const std::int32_t* slot[2];  // by player
  const double* scale[2];       // folds: what the player wins; showdowns: the stake; deals: the chance of each card
  const double* rake;           // showdowns: what each player loses to the house, in stakes; null without rake
};

struct HoldemStreet {
  std::int32_t num_lines;  // that enter
  bool is_last;
  std::int32_t num_cells[2];
  std::int32_t num_nodes[2];
  const HoldemNode* nodes[2];  // parents first
  HoldemEnds flats;            // showdowns on the last street, on others the lines that enter the next one, in its order
  HoldemEnds folds;

  // what find_lines finds
  std::vector<std::int32_t> flat_line, fold_line;  // [columns] entering line of each end, without padding behind them

  std::int32_t num_slots(int player) const { return num_lines + num_cells[player]; }

  // Finds which ends are reached by which entering line.
  void find_lines() {
    std::vector<std::int32_t> line_of(static_cast<std::size_t>(num_slots(0)));  // by slot of the first player
    for (std::int32_t line = 0; line < num_lines; ++line) line_of[line] = line;
    for (std::int32_t n = 0; n < num_nodes[0]; ++n) {
      const HoldemNode& node = nodes[0][n];
      for (int a = 0; a < node.num_actions; ++a) line_of[num_lines + node.first_cell + a] = line_of[node.source];
    }
    const auto find = [&](const HoldemEnds& ends, std::vector<std::int32_t>& lines) {
      std::int32_t size = ends.num_packs * kPackSize;
      while (size > 0 && ends.scale[0][size - 1] == 0.0 && ends.scale[1][size - 1] == 0.0) --size;
      lines.clear();
      for (std::int32_t i = 0; i < size; ++i) lines.push_back(line_of[ends.slot[0][i]]);
    };
    find(flats, flat_line);
    find(folds, fold_line);
  }
};

// The ends of a street on some of the lines that enter it, in their order.
class LiveEnds {
 public:
  LiveEnds() = default;
  LiveEnds(const LiveEnds&) = delete;  // `ends` points into this one
  LiveEnds& operator=(const LiveEnds&) = delete;
  LiveEnds(LiveEnds&&) = default;  // what vectors hold stays where it is
  LiveEnds& operator=(LiveEnds&&) = default;

  HoldemEnds ends{};

  // Takes memory for all ends of a street.
  void prepare(const HoldemEnds& all) {
    const auto columns = static_cast<std::size_t>(all.num_packs * kPackSize);
    for (int player = 0; player < 2; ++player) {
      slot_[player].resize(columns);
      scale_[player].resize(columns);
    }
    rake_.resize(all.rake ? columns : 0);
  }

  // Takes the ends of lines that are live; `lines` are those of the street's ends.
  void gather(const HoldemEnds& all, const std::vector<std::int32_t>& lines, const std::vector<std::uint8_t>& is_live) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (is_live[static_cast<std::size_t>(lines[i])]) put(all, i, size++);
    }
    const std::size_t padded = (size + kPackSize - 1) / kPackSize * kPackSize;
    for (; size < padded; ++size) {
      for (int player = 0; player < 2; ++player) slot_[player][size] = 0, scale_[player][size] = 0.0;
      if (all.rake) rake_[size] = 0.0;
    }
    ends = {.num_packs = static_cast<std::int32_t>(padded / kPackSize),
            .slot = {slot_[0].data(), slot_[1].data()},
            .scale = {scale_[0].data(), scale_[1].data()},
            .rake = all.rake ? rake_.data() : nullptr};
  }

 private:
  std::vector<std::int32_t> slot_[2];
  std::vector<double> scale_[2], rake_;

  void put(const HoldemEnds& all, std::size_t from, std::size_t to) {
    for (int player = 0; player < 2; ++player) {
      slot_[player][to] = all.slot[player][from];
      scale_[player][to] = all.scale[player][from];
    }
    if (all.rake) rake_[to] = all.rake[from];
  }
};

// What a sweep for one player's values sees of the street below a board: lines that the other player reaches with no hand
// are left out, for whatever is done there is worth nothing.
struct LiveLines {
  std::vector<std::uint8_t> is_live;  // [lines] that enter the street
  LiveEnds flats, folds;

  void prepare(const HoldemStreet& street) {
    is_live.resize(static_cast<std::size_t>(street.num_lines));
    folds.prepare(street.folds);
    if (street.is_last) flats.prepare(street.flats);
  }

  void gather(const HoldemStreet& street) {
    folds.gather(street.folds, street.fold_line, is_live);
    if (street.is_last) flats.gather(street.flats, street.flat_line, is_live);
  }
};

// One player's part of a board. Hands come in tiles of eight, the last one filled up by repeating its last hand.
struct HoldemSide {
  std::int64_t num_hands;
  std::int64_t first_hand;  // into the arrays over hands
  std::int64_t first_cell;  // into the tables: [tile, cell, hand of the tile]

  std::int64_t num_tiles() const { return (num_hands + kPackSize - 1) / kPackSize; }
  std::int64_t num_rows() const { return num_tiles() * kPackSize; }
};

struct HoldemBoard {
  std::int64_t street;
  std::int64_t first_child;
  std::int64_t num_children;
  std::int64_t num_images;  // boards that this one stands for, suits relabelled
  HoldemSide sides[2];
};

// A decision at which some hands of a tile play what is given.
struct HoldemLock {
  std::int32_t first_cell;      // of the decision
  std::int32_t hands;           // as bits
  std::int32_t first_strategy;  // [action, hand of the tile]

  bool holds(int hand) const { return hands >> hand & 1; }
};

// The locks of one tile that a walk over its decisions has not met yet; decisions ascend as locks do, or both descend.
struct HoldemLockWalk {
  const HoldemLock* begin = nullptr;
  const HoldemLock* end = nullptr;

  const HoldemLock* meet(const HoldemNode& node) {
    return begin != end && begin->first_cell == node.first_cell ? begin++ : nullptr;
  }
  const HoldemLock* meet_backwards(const HoldemNode& node) {
    return begin != end && end[-1].first_cell == node.first_cell ? --end : nullptr;
  }
};

struct HoldemForm {
  std::int32_t num_streets = 0;
  const HoldemStreet* streets = nullptr;
  std::int64_t num_boards = 0;
  const HoldemBoard* boards = nullptr;      // the root first
  const std::uint8_t* cards = nullptr;      // [X, 2] of each hand
  const std::int32_t* strength = nullptr;   // [X] ascending on boards of the last street
  const std::int32_t* same_hand = nullptr;  // [X] row of the same cards on the other side of the board, or -1
  const std::int32_t* parent_row = nullptr;  // [X] row of the hand on the board above
  // [X] row of the first hand that is the same but for the names of suits; where cards follow, such hands are neighbours
  const std::int32_t* value_row = nullptr;
  const std::uint64_t* held = nullptr;  // [B, 2] cards of a player's hands, as bits; null: any
  const double* root_reach[2] = {};  // [rows] weights of the ranges, scaled
  const std::int64_t* first_block = nullptr;  // [B, 2] into arrays over rows: [tile, decision]
  const std::int32_t* lock_start = nullptr;   // [X / 8 + 1] first lock of each tile; null without locks
  const HoldemLock* locks = nullptr;
  const double* locked_strategy = nullptr;

  HandList hands(const HoldemBoard& board, int player) const {
    const HoldemSide& side = board.sides[player];
    return {static_cast<std::int32_t>(side.num_hands), cards + 2 * side.first_hand, strength + side.first_hand,
            same_hand + side.first_hand, held ? held[2 * (&board - boards) + player] : kAllCards};
  }

  HoldemLockWalk tile_locks(const HoldemSide& side, std::int64_t tile) const {
    if (!lock_start) return {};
    const std::int32_t* const start = lock_start + side.first_hand / kPackSize + tile;
    return {locks + start[0], locks + start[1]};
  }
};

// Where a buffer keeps row and column: blocks of columns after each other, rows within a block.
struct BlockLayout {
  std::int64_t num_rows;
  std::int32_t num_packs;
  std::int32_t block_packs;

  std::int32_t num_blocks() const { return (num_packs + block_packs - 1) / block_packs; }
  std::int32_t width(std::int32_t block) const { return std::min(block_packs, num_packs - block * block_packs); }
  std::int64_t block_start(std::int32_t block) const { return num_rows * block * block_packs * kPackSize; }

  // Calls `work(pack, offset of row 0, distance of rows)` for every pack of columns.
  template <typename Work>
  [[gnu::always_inline]] void for_packs(Work&& work) const {
    for (std::int32_t first = 0; first < num_packs; first += block_packs) {
      const std::int32_t packs = std::min(block_packs, num_packs - first);
      const std::int64_t start = num_rows * first * kPackSize;
      for (std::int32_t k = 0; k < packs; ++k) work(first + k, start + k * kPackSize, packs * kPackSize);
    }
  }
};

}  // namespace equipoise
