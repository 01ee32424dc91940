// SPDX-License-Identifier: Apache-2.0
// Hold'em trees as the native module's functions take them.
#pragma once

#include <memory>

#include "bindings.hpp"
#include "holdem_form.hpp"
#include "holdem_leaves.hpp"

namespace equipoise {

// The betting of each street, as views of arrays: fields, nodes and slots of ends; scales of ends; rake of showdowns.
inline std::vector<HoldemStreet> view_streets(const std::vector<Ints>& ints, const std::vector<Doubles>& doubles,
                                              const Doubles& rake) {
  std::vector<HoldemStreet> streets;
  const auto* node = reinterpret_cast<const HoldemNode*>(ints[1].data());
  const std::int32_t* slots[2] = {ints[2].data(), ints[3].data()};
  const double* scales[2] = {doubles[0].data(), doubles[1].data()};
  for (std::size_t s = 0; s < ints[0].shape(0); ++s) {
    const std::int32_t* field = ints[0].data() + 8 * s;
    HoldemStreet street{};
    street.num_lines = field[0];
    street.is_last = field[1] != 0;
    for (int player = 0; player < 2; ++player) {
      street.num_cells[player] = field[2 + player];
      street.num_nodes[player] = field[4 + player];
      street.nodes[player] = node;
      node += field[4 + player];
    }
    HoldemEnds* const ends[2] = {&street.flats, &street.folds};
    for (int kind = 0; kind < 2; ++kind) {
      const std::int32_t columns = field[6 + kind] * kPackSize;
      *ends[kind] = {.num_packs = field[6 + kind],
                     .slot = {slots[kind], slots[kind] + columns},
                     .scale = {scales[kind], scales[kind] + columns},
                     .rake = nullptr};
      slots[kind] += 2 * columns;
      scales[kind] += 2 * columns;
    }
    if (street.is_last && rake.size() > 0) street.flats.rake = rake.data();
    streets.push_back(street);
  }
  return streets;
}

// Keeps the arrays alive that its form points into; arrays in the order of HoldemKernel's constructor.
struct BoundHoldemForm {
  HoldemForm form;
  std::vector<HoldemStreet> streets;
  std::vector<std::int64_t> first_block;
  Array<const std::int64_t> boards;
  Cards cards;
  std::vector<Ints> ints;
  std::vector<Doubles> doubles;

  BoundHoldemForm(Array<const std::int64_t> board_fields, Cards hand_cards, std::vector<Ints> int_arrays,
                  std::vector<Doubles> double_arrays)
      : boards(board_fields), cards(hand_cards), ints(std::move(int_arrays)), doubles(std::move(double_arrays)) {
    static_assert(sizeof(HoldemBoard) == 10 * sizeof(std::int64_t));
    static_assert(sizeof(HoldemNode) == 3 * sizeof(std::int32_t));
    static_assert(sizeof(HoldemLock) == 3 * sizeof(std::int32_t));
    streets = view_streets(ints, doubles, doubles[4]);
    form.num_streets = static_cast<std::int32_t>(streets.size());
    form.streets = streets.data();
    form.num_boards = static_cast<std::int64_t>(boards.shape(0));
    form.boards = reinterpret_cast<const HoldemBoard*>(boards.data());
    number_blocks();
    form.cards = cards.data();
    form.strength = ints[4].data();
    form.same_hand = ints[5].data();
    form.parent_row = ints[6].data();
    form.value_row = ints[7].data();
    form.root_reach[0] = doubles[2].data();
    form.root_reach[1] = doubles[3].data();
    if (ints.size() > 8) {
      form.lock_start = ints[8].data();
      form.locks = reinterpret_cast<const HoldemLock*>(ints[9].data());
      form.locked_strategy = doubles[5].data();
    }
  }

 private:
  void number_blocks() {
    std::int64_t next = 0;
    for (std::int64_t b = 0; b < form.num_boards; ++b) {
      const HoldemBoard& board = form.boards[b];
      for (int player = 0; player < 2; ++player) {
        first_block.push_back(next);
        next += board.sides[player].num_tiles() * streets[static_cast<std::size_t>(board.street)].num_nodes[player];
      }
    }
    form.first_block = first_block.data();
  }
};

// Keeps the arrays alive that its leaves point into; without arrays there are no leaves.
struct BoundHoldemLeaves {
  HoldemLeaves leaves;
  std::vector<Ints> ints;                          // tables [T, 4], leaves [L, 3], rows and choices of players [4]
  std::vector<Array<const std::int64_t>> starts;   // [T] of entries by player, of units by player
  std::vector<Doubles> doubles;                    // units by player, scale of leaves
  std::vector<MutableDoubles> sums;                // regrets by player, averages by player
  std::vector<nb::object> entries;

  bool is_empty() const { return leaves.num_tables == 0; }

  void point(LeafEntry entry, const void* first, const void* second) {
    static_assert(sizeof(HoldemLeafTable) == 4 * sizeof(std::int32_t));
    static_assert(sizeof(HoldemLeaf) == 3 * sizeof(std::int32_t));
    leaves.entry = entry;
    leaves.num_tables = static_cast<std::int32_t>(ints[0].shape(0));
    leaves.tables = reinterpret_cast<const HoldemLeafTable*>(ints[0].data());
    leaves.leaves = reinterpret_cast<const HoldemLeaf*>(ints[1].data());
    leaves.scale = doubles[2].data();
    leaves.entries[0] = first;
    leaves.entries[1] = second;
    for (int player = 0; player < 2; ++player) {
      leaves.num_rows[player] = ints[2].data()[player];
      leaves.num_choices[player] = ints[2].data()[2 + player];
      leaves.first_entry[player] = starts[player].data();
      leaves.first_unit[player] = starts[2 + player].data();
      leaves.unit[player] = doubles[player].size() ? doubles[player].data() : nullptr;
      leaves.regret_sum[player] = sums[player].data();
      leaves.strategy_sum[player] = sums[2 + player].data();
    }
  }
};

// The game that is played at leaves, null if there are none.
template <typename Real>
std::unique_ptr<HoldemLeafGame<Real>> begin_leaves(const BoundHoldemLeaves& bound, int num_threads) {
  if (bound.is_empty()) return nullptr;
  return std::make_unique<HoldemLeafGame<Real>>(bound.leaves, num_threads);
}

}  // namespace equipoise
