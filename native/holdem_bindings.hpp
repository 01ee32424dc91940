// SPDX-License-Identifier: Apache-2.0
// Hold'em trees as the native module's functions take them.
#pragma once

#include <memory>

#include "bindings.hpp"
#include "holdem.hpp"
#include "holdem_form.hpp"
#include "holdem_leaves.hpp"
#include "holdem_pause.hpp"

namespace equipoise {

// Fields of a street in the order of StreetFields.
struct StreetFields {
  std::int32_t num_lines, is_last, num_cells[2], num_nodes[2], num_packs[2];
};

// The betting of each street as views of arrays: fields, nodes, slots and scales of ends; rake of showdowns may be empty.
inline std::vector<HoldemStreet> view_streets(NamedArrays& arrays) {
  const auto fields = arrays.view<Ints>("streets"), nodes = arrays.view<Ints>("nodes");
  const auto rake = arrays.view<Doubles>("flat_rake");
  std::vector<HoldemStreet> streets;
  static_assert(sizeof(StreetFields) == 8 * sizeof(std::int32_t));
  const auto* node = reinterpret_cast<const HoldemNode*>(nodes.data());
  const std::int32_t* slots[2] = {arrays.data<Ints>("flat_slot"), arrays.data<Ints>("fold_slot")};
  const double* scales[2] = {arrays.data<Doubles>("flat_scale"), arrays.data<Doubles>("fold_scale")};
  for (std::size_t s = 0; s < fields.shape(0); ++s) {
    const StreetFields& field = reinterpret_cast<const StreetFields*>(fields.data())[s];
    HoldemStreet street{};
    street.num_lines = field.num_lines;
    street.is_last = field.is_last != 0;
    for (int player = 0; player < 2; ++player) {
      street.num_cells[player] = field.num_cells[player];
      street.num_nodes[player] = field.num_nodes[player];
      street.nodes[player] = node;
      node += field.num_nodes[player];
    }
    HoldemEnds* const ends[2] = {&street.flats, &street.folds};
    for (int kind = 0; kind < 2; ++kind) {
      const std::int32_t columns = field.num_packs[kind] * kPackSize;
      *ends[kind] = {.num_packs = field.num_packs[kind],
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

// Keeps the arrays alive that its form points into, and what its calls work with.
struct BoundHoldemForm {
  HoldemForm form;
  NamedArrays arrays;
  std::vector<HoldemStreet> streets;
  std::vector<std::int64_t> first_block;
  std::vector<std::uint64_t> held;
  Team crew;
  Spare<HoldemWorkspace<float>> float_workspace;
  Spare<HoldemWorkspace<double>> double_workspace;

  explicit BoundHoldemForm(const nb::dict& given) : arrays(given) {
    static_assert(sizeof(HoldemBoard) == 10 * sizeof(std::int64_t));
    static_assert(sizeof(HoldemNode) == 3 * sizeof(std::int32_t));
    static_assert(sizeof(HoldemLock) == 3 * sizeof(std::int32_t));
    const auto boards = arrays.view<Array<const std::int64_t>>("boards");
    streets = view_streets(arrays);
    for (HoldemStreet& street : streets) street.find_lines();
    form.num_streets = static_cast<std::int32_t>(streets.size());
    form.streets = streets.data();
    form.num_boards = static_cast<std::int64_t>(boards.shape(0));
    form.boards = reinterpret_cast<const HoldemBoard*>(boards.data());
    number_blocks();
    form.cards = arrays.data<Cards>("cards");
    note_cards();
    form.strength = arrays.data<Ints>("strength");
    form.same_hand = arrays.data<Ints>("same_hand");
    form.parent_row = arrays.data<Ints>("parent_row");
    form.value_row = arrays.data<Ints>("value_row");
    form.root_reach[0] = arrays.data<Doubles>("root_reach_0");
    form.root_reach[1] = arrays.data<Doubles>("root_reach_1");
    if (arrays.has("tile_start")) {
      form.lock_start = arrays.data<Ints>("tile_start");
      form.locks = reinterpret_cast<const HoldemLock*>(arrays.data<Ints>("entries"));
      form.locked_strategy = arrays.data<Doubles>("strategy");
    }
    arrays.check_all_asked();
  }

  // Calls `work` with a workspace for sweeps from the root; it is kept for the next call.
  template <typename Real, typename Work>
  void lend(int num_threads, Work&& work) {
    const auto prepare = [&](HoldemWorkspace<Real>& own) { own.prepare(form, num_threads); };
    if constexpr (std::is_same_v<Real, float>) {
      float_workspace.lend(num_threads, prepare, work);
    } else {
      double_workspace.lend(num_threads, prepare, work);
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

  void note_cards() {
    for (std::int64_t b = 0; b < form.num_boards; ++b) {
      for (const HoldemSide& side : form.boards[b].sides) {
        std::uint64_t& cards = held.emplace_back(0);
        const std::uint8_t* const first = form.cards + 2 * side.first_hand;
        for (const std::uint8_t* card = first; card != first + 2 * side.num_hands; ++card) cards |= 1ull << *card;
      }
    }
    form.held = held.data();
  }
};

// An interrupted iteration as two arrays, for files, and back. Numbers of structure come first: the player, how many pieces
// and of what size each player has, how many threads, and of each the length of its way with piece, child and sizes.
template <typename Real>
struct BoundHoldemPause {
  static constexpr std::int64_t kMaxThreads = 256;  // as MAX_THREADS of kernels/calls.py

  HoldemPause<Real> pause;

  std::vector<std::int64_t> places() const {
    std::vector<std::int64_t> out{pause.player};
    for (int p = 0; p < 2; ++p) {
      out.push_back(static_cast<std::int64_t>(pause.pieces[p].size()));
      out.push_back(static_cast<std::int64_t>(pause.root_value[p].size()));
    }
    out.push_back(static_cast<std::int64_t>(pause.threads.size()));
    for (const auto& way : pause.threads) {
      out.push_back(static_cast<std::int64_t>(way.size()));
      for (const PauseLevel<Real>& level : way) {
        out.insert(out.end(), {level.piece, level.child, static_cast<std::int64_t>(level.sums[0].size()),
                               static_cast<std::int64_t>(level.sums[1].size())});
      }
    }
    return out;
  }

  std::vector<double> sums() const {
    std::vector<double> out;
    const auto add = [&](const std::vector<Real>& from) { out.insert(out.end(), from.begin(), from.end()); };
    for (int p = 0; p < 2; ++p) {
      for (const auto& piece : pause.pieces[p]) add(piece);
      add(pause.root_value[p]);
    }
    for (const auto& way : pause.threads) {
      for (const PauseLevel<Real>& level : way) {
        for (const auto& own : level.sums) add(own);
      }
    }
    return out;
  }

  // Returns whether the arrays are such a pause of a tree; if not, there is none.
  bool restore(const HoldemForm& form, const std::int64_t* places, std::size_t num_places, const double* sums,
               std::size_t num_sums) {
    pause.clear();
    bool is_whole = true;
    const auto next = [&](std::int64_t most) -> std::int64_t {  // a number from 0 on
      if (num_places == 0 || *places < 0 || *places > most) {
        is_whole = false;
        return 0;
      }
      --num_places;
      return *places++;
    };
    const auto most_sums = static_cast<std::int64_t>(num_sums);
    const auto take = [&](std::int64_t size, std::vector<Real>& out) {
      if (static_cast<std::size_t>(size) > num_sums) {
        is_whole = false;
        return;
      }
      out.assign(sums, sums + size);
      sums += size;
      num_sums -= static_cast<std::size_t>(size);
    };
    pause.player = static_cast<std::int32_t>(next(1));
    for (int p = 0; p < 2 && is_whole; ++p) {
      const std::int64_t num_pieces = next(pause.kMostPieces), size = next(most_sums);
      for (std::int64_t piece = 0; piece < num_pieces && is_whole; ++piece) take(size, pause.pieces[p].emplace_back());
      take(size, pause.root_value[p]);
    }
    const std::int64_t num_threads = next(kMaxThreads);
    for (std::int64_t thread = 0; thread < num_threads && is_whole; ++thread) {
      auto& way = pause.threads.emplace_back();
      const std::int64_t length = next(form.num_streets);
      for (std::int64_t depth = 0; depth < length && is_whole; ++depth) {
        PauseLevel<Real>& level = way.emplace_back();
        level.piece = next(depth == 0 ? pause.kMostPieces + num_threads : 0);
        level.child = next(form.num_boards);
        const std::int64_t sizes[2] = {next(most_sums), next(most_sums)};
        for (int p = 0; p < 2; ++p) take(sizes[p], level.sums[p]);
      }
    }
    if (is_whole && num_places == 0 && num_sums == 0 && pause.is_paused() && pause.fits(form)) return true;
    pause.clear();
    return false;
  }
};

// Keeps the arrays alive that its leaves point into; without arrays there are no leaves.
struct BoundHoldemLeaves {
  HoldemLeaves leaves;
  NamedArrays arrays;

  BoundHoldemLeaves() = default;
  // `Entry` is the type of the tables' entries.
  template <typename Entry>
  static BoundHoldemLeaves make(LeafEntry entry, const nb::dict& given) {
    static_assert(sizeof(HoldemLeafTable) == 4 * sizeof(std::int32_t));
    static_assert(sizeof(HoldemLeaf) == 3 * sizeof(std::int32_t));
    using Starts = Array<const std::int64_t>;
    BoundHoldemLeaves bound;
    bound.arrays = NamedArrays(given);
    NamedArrays& arrays = bound.arrays;
    HoldemLeaves& leaves = bound.leaves;
    leaves.entry = entry;
    const auto tables = arrays.view<Ints>("tables");
    leaves.num_tables = static_cast<std::int32_t>(tables.shape(0));
    leaves.tables = reinterpret_cast<const HoldemLeafTable*>(tables.data());
    leaves.leaves = reinterpret_cast<const HoldemLeaf*>(arrays.data<Ints>("leaves"));
    leaves.scale = arrays.data<Doubles>("scale");
    const std::int32_t* const num_rows = arrays.data<Ints>("num_rows");
    const std::int32_t* const num_choices = arrays.data<Ints>("num_choices");
    for (int player = 0; player < 2; ++player) {
      const auto name = [&](const char* of) { return std::string(of) + (player ? "_1" : "_0"); };
      leaves.num_rows[player] = num_rows[player];
      leaves.num_choices[player] = num_choices[player];
      leaves.entries[player] = arrays.data<Array<const Entry>>(name("entries").c_str());
      leaves.first_entry[player] = arrays.data<Starts>(name("first_entry").c_str());
      leaves.first_unit[player] = arrays.data<Starts>(name("first_unit").c_str());
      const auto unit = arrays.view<Doubles>(name("unit").c_str());
      leaves.unit[player] = unit.size() ? unit.data() : nullptr;
      leaves.regret_sum[player] = arrays.view<MutableDoubles>(name("regret_sum").c_str()).data();
      leaves.strategy_sum[player] = arrays.view<MutableDoubles>(name("strategy_sum").c_str()).data();
    }
    arrays.check_all_asked();
    return bound;
  }

  bool is_empty() const { return leaves.num_tables == 0; }
};

// The game that is played at leaves, null if there are none.
template <typename Real>
std::unique_ptr<HoldemLeafGame<Real>> begin_leaves(const BoundHoldemLeaves& bound, int num_threads) {
  if (bound.is_empty()) return nullptr;
  return std::make_unique<HoldemLeafGame<Real>>(bound.leaves, num_threads);
}

}  // namespace equipoise
