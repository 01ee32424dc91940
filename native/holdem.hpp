// SPDX-License-Identifier: Apache-2.0
// Full-width CFR and best responses on hold'em trees, board by board.
//
// On a board a sweep takes eight hands at a time through all lines of the street: regrets become a strategy and reaches,
// which are transposed on their way out into rows of terminals, where showdowns and folds want them; values come
// back the same way. Strategies are not stored: they follow from the regrets wherever they are needed.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "holdem_form.hpp"
#include "frontier.hpp"
#include "holdem_leaves.hpp"
#include "holdem_pause.hpp"
#include "holdem_storage.hpp"
#include "pack_policy.hpp"
#include "root_gate.hpp"
#include "rule.hpp"
#include "substitute.hpp"
#include "threads.hpp"

namespace equipoise {

// How sums become probabilities.
template <typename Cell>
struct HoldemPolicy {
  HoldemTable<const Cell> sums;         // only the proportions of rows count, so that exponents may be missing
  HoldemTable<const Cell> last_regret{};  // added to the sums where given, in which case there are exponents
  const Cell* step = nullptr;           // [rows] only for Hedge
  PolicyMap policy_map = PolicyMap::regret_matching;
  Fallback fallback = Fallback::uniform;
};

template <typename Cell>
struct HoldemTables {
  HoldemTable<Cell> regret_sum;
  HoldemTable<typename AverageOf<Cell>::Type> strategy_sum;
  HoldemTable<Cell> last_regret;  // only for optimistic rules
  // only for Hedge and only with cells of floats, over rows in the order of exponents
  const Cell* scale = nullptr;
  Cell* step = nullptr;  // eta of the next strategy
  Cell* value_moments = nullptr;  // [rows, 2] mean and sum of squared deviations of v(I), if the variance is tracked
};

enum class HoldemPurpose { update, best_response, expected_value, substitute, realize };

// Substitute values of a warm start, less than the best action's by what `bound` times `factor` allows; and the regrets
// and averages that tables, if there are any, get from them. Only with cells of floats.
struct HoldemSubstitution {
  const float* bound = nullptr;  // [rows] or null: best responses
  double factor = 0.0;
  float* row_value = nullptr;  // [rows] of the values, or null
  double positive_weight = 0.0, negative_weight = 0.0, average_weight = 0.0;  // of regrets by sign, and of own reach
  double trace = 0.0;  // what regrets of exactly zero become
};

// What a sweep writes down of play, into tables of floats; whatever is null is not written.
template <typename Cell>
struct HoldemPlay {
  Cell* plan = nullptr;      // [cells] own reach, without the range's weights
  Cell* strategy = nullptr;  // [cells] probabilities; of a best response they are all on the first of the best actions
  Cell* action_value = nullptr;  // [cells] counterfactual values of actions, given what the player does below
  // a best response that follows a model with the probability that each row trusts it
  const Cell* model = nullptr;  // [cells] probabilities
  const Cell* trust = nullptr;  // [rows]
};

// Where a sweep starts, by default at the root of the tree, and what is kept of the values there.
struct HoldemStart {
  std::int64_t board = 0;
  std::int32_t line = 0;        // of those that enter the board's street
  const double* reach[2] = {};  // [rows] of each player on that line
  double* slot_value[2] = {};   // [tile, slot, hand of the tile] of values that are kept, or null

  static HoldemStart at_root(const HoldemForm& form) { return {.reach = {form.root_reach[0], form.root_reach[1]}}; }
};

// One sweep: whose values are computed, and what is done with them.
template <typename Cell>
struct HoldemTask {
  HoldemPurpose purpose = HoldemPurpose::update;
  bool respects_locks = true;  // whether best responses keep to locks; strategies always do
  bool is_active[2] = {};  // players whose values are computed
  HoldemPolicy<Cell> policy[2];  // by player
  HoldemTables<Cell> tables;     // for updates
  HoldemPlay<Cell> play;
  std::int64_t t = 0;
  Discount discount{};
  Rule rule;
  HoldemSubstitution substitution;

  bool writes_averages() const {
    return purpose == HoldemPurpose::update || (purpose == HoldemPurpose::substitute && tables.strategy_sum.cells);
  }
  void set_policies(const HoldemPolicy<Cell>& both) { policy[0] = policy[1] = both; }
};

// Buffers of one street, by player: reaches that leave the street, values that come back.
template <typename Real>
struct HoldemBuffers {
  LiveLines live[2];  // by the player whose values are computed, for all boards below one
  std::vector<Real> flat_reach[2];
  std::vector<Real> fold_reach[2];
  std::vector<Real> own_reach[2];  // without the range's weights; what averages are weighted by
  std::vector<Real> flat_value[2];
  std::vector<Real> fold_value[2];
};

// What one thread works with.
template <typename Real>
struct HoldemWorker {
  std::vector<HoldemBuffers<Real>> streets;
  Ahead ahead;
  // of one tile, over slots or cells
  Pack<Real>* reach = nullptr;
  Pack<Real>* strategy = nullptr;
  Pack<Real>* value = nullptr;
  Real* sums[2] = {};  // of the piece of the team's board that it works on
  const std::vector<PauseLevel<Real>>* way = nullptr;  // down which an interrupted sweep is entered again
  std::vector<PauseLevel<Real>> left;  // by this one where it was interrupted, from the bottom up

  void prepare(std::size_t num_slots) {
    memory_.resize(3 * num_slots);
    reach = &memory_[0].pack;
    strategy = reach + num_slots;
    value = strategy + num_slots;
  }

 private:
  struct Box {
    Pack<Real> pack;
  };
  std::vector<Box> memory_;
};

// What the children of the team's board hand up is added up in so many pieces, and these in their order, whatever the
// number of threads: sums do not depend on it. Two, three, four, six, eight and twelve threads get as many pieces each.
inline std::int64_t count_pieces(std::int64_t num_children) {
  return std::min(num_children, HoldemPause<float>::kMostPieces);
}

template <typename Real>
struct HoldemWorkspace {
  std::vector<HoldemWorker<Real>> workers;
  std::vector<Real> root_value[2];  // [rows]
  std::vector<std::vector<Real>> pieces[2];  // [piece] of values that the children of the team's board hand up

  // Every byte that sweeps from a board need beside the tables; counted by kernels/holdem/arrays.py for the root.
  void prepare(const HoldemForm& form, int num_threads, std::int64_t start = 0) {
    std::size_t slots = 0;
    for (std::int32_t s = 0; s < form.num_streets; ++s) {
      for (int player = 0; player < 2; ++player) {
        slots = std::max(slots, static_cast<std::size_t>(form.streets[s].num_slots(player)));
      }
    }
    workers.resize(static_cast<std::size_t>(num_threads));
    for (int thread = 0; thread < num_threads; ++thread) {
      HoldemWorker<Real>& worker = workers[thread];
      worker.streets.resize(static_cast<std::size_t>(form.num_streets));
      worker.prepare(slots);
      for (std::int32_t s = 0; s < form.num_streets; ++s) prepare_street(form, s, thread, worker.streets[s]);
    }
    for (int player = 0; player < 2; ++player) {
      root_value[player].resize(static_cast<std::size_t>(form.boards[0].sides[player].num_rows()));
      prepare_pieces(form, form.boards[start], player);
    }
  }

 private:
  void prepare_pieces(const HoldemForm& form, const HoldemBoard& board, int player) {
    const std::int64_t row_size = form.streets[board.street].flats.num_packs * kPackSize;
    const auto size = static_cast<std::size_t>(board.sides[player].num_rows() * row_size);
    pieces[player].resize(static_cast<std::size_t>(count_pieces(board.num_children)));
    for (std::vector<Real>& piece : pieces[player]) piece.resize(size);
  }

  static void prepare_street(const HoldemForm& form, std::int32_t s, int thread, HoldemBuffers<Real>& buffers) {
    const HoldemStreet& street = form.streets[s];
    for (int player = 0; player < 2; ++player) {
      std::int64_t rows = 0;
      for (std::int64_t b = 0; b < form.num_boards; ++b) {
        if (form.boards[b].street == s) rows = std::max(rows, form.boards[b].sides[player].num_rows());
      }
      const auto flats = static_cast<std::size_t>(rows * street.flats.num_packs * kPackSize);
      const auto folds = static_cast<std::size_t>(rows * street.folds.num_packs * kPackSize);
      const bool is_shared = s == 0 && thread > 0;  // the root's buffers are the first thread's, but for values of leaves
      const bool has_leaves = !street.is_last && form.boards[0].num_children == 0;
      if (!is_shared || has_leaves) buffers.flat_value[player].resize(flats);
      if (is_shared) continue;
      buffers.flat_reach[player].resize(flats);
      buffers.fold_reach[player].resize(folds);
      buffers.fold_value[player].resize(folds);
      if (!street.is_last) buffers.own_reach[player].resize(flats);
      if (s > 0) buffers.live[player].prepare(street);
    }
  }
};

// Where tables keep a decision of a tile.
struct HoldemPlace {
  std::int64_t cell;   // of the first action
  std::int64_t block;  // of rows
};

// A thread of the team that works on one board.
struct HoldemMember {
  int thread;
  int size;
  Barrier* barrier;

  void wait() const {
    if (barrier) barrier->wait();
  }
  std::int64_t begin(std::int64_t count) const { return count * thread / size; }
  std::int64_t end(std::int64_t count) const { return count * (thread + 1) / size; }
};

// Lines that leave a street whose tree ends there, valued from outside.
struct HoldemFrontier {
  Frontier frontier;
  std::int32_t num_lines = 0;  // cells are row * num_lines + line
  bool has_failed = false;
};

// Values that are averaged as strategies are: cells are (1 + line) * rows + row for lines that leave the first street,
// row for the root.
struct HoldemWatch {
  const std::int32_t* start = nullptr;  // [3] segments of players, null: nothing is watched
  const std::int32_t* cells = nullptr;
  double* value_sum = nullptr;
};

template <typename Real, typename Cell>
class HoldemSweep {
 public:
  HoldemSweep(const HoldemForm& form, const HoldemTask<Cell>& task, HoldemWorkspace<Real>& workspace)
      : HoldemSweep(form, task, workspace, HoldemStart::at_root(form)) {}
  HoldemSweep(const HoldemForm& form, const HoldemTask<Cell>& task, HoldemWorkspace<Real>& workspace,
              const HoldemStart& start, HoldemLeafGame<Real>* leaves = nullptr, HoldemFrontier* frontier = nullptr,
              HoldemPause<Real>* pause = nullptr)
      : form_(form), task_(task), workspace_(workspace), start_(start), leaves_(leaves), frontier_(frontier),
        pause_(pause), asks_ahead_(count_table_bytes(form) > kCachedBytes) {}

  // The whole tree below the start, or as much of it as is done when a stop is asked for; called by every thread of the
  // team. Returns whether all of it was done.
  bool run(const HoldemMember& member) {
    const bool is_done = visit(start_.board, -1, workspace_.workers[member.thread], member);
    member.wait();
    return is_done;
  }

 private:
  static constexpr std::int64_t kCachedBytes = 6 << 20;
  static constexpr std::int64_t kAheadBytes = 8192;  // how far ahead tables are asked for
  static constexpr std::int32_t kBlockPacks = 8;  // 64 columns: the sums of 52 cards stay in the first-level cache
  using Vector = Pack<Real>;

  const HoldemForm& form_;
  const HoldemTask<Cell>& task_;
  HoldemWorkspace<Real>& workspace_;
  const HoldemStart start_;
  HoldemLeafGame<Real>* const leaves_;  // null: the tree goes down to the last street
  HoldemFrontier* const frontier_;      // likewise; values of the lines that leave come from outside
  HoldemPause<Real>* const pause_;      // null: nobody interrupts
  const bool asks_ahead_;               // for tables; smaller ones are in the cache, and asking for them costs 4 %

  static std::int64_t count_table_bytes(const HoldemForm& form) {
    const HoldemBoard& last = form.boards[form.num_boards - 1];
    const HoldemSide& side = last.sides[1];
    const std::int64_t cells = side.first_cell + side.num_rows() * form.streets[last.street].num_cells[1];
    return cells * static_cast<std::int64_t>(sizeof(Cell) + sizeof(typename AverageOf<Cell>::Type));
  }

  // The team's board is the first thread's, every other one its own thread's.
  HoldemWorker<Real>& owner(std::int64_t board, HoldemWorker<Real>& worker) const {
    return board == start_.board ? workspace_.workers[0] : worker;
  }

  // Returns whether the board was done: not if a stop is asked for below it, or by another thread of the team.
  bool visit(std::int64_t index, std::int64_t parent, HoldemWorker<Real>& worker, const HoldemMember& member,
             std::size_t depth = 0) {
    const HoldemBoard& board = form_.boards[index];
    const HoldemStreet& street = form_.streets[board.street];
    HoldemBuffers<Real>& buffers = owner(index, worker).streets[board.street];
    if (task_.purpose == HoldemPurpose::realize) {
      realize(board, parent, buffers, worker, member);
      return true;
    }
    const PauseLevel<Real>* const again = take_level(worker, depth);
    for (int player = 0; player < 2; ++player) spread(board, parent, player, buffers, worker, member);
    member.wait();
    for (int player = 0; player < 2; ++player) {
      if (!task_.is_active[player]) continue;
      if (board.num_children) find_live(board, player, buffers, worker);
      if (street.is_last && parent >= 0) look_ahead(board, player, worker.ahead);
      evaluate(TerminalKind::fold, board, player, folds_of(board, parent, player, worker),
               buffers.fold_reach[1 - player].data(), buffers.fold_value[player].data(), member, worker.ahead);
      if (street.is_last) {
        evaluate(TerminalKind::showdown, board, player, flats_of(board, parent, player, worker),
                 buffers.flat_reach[1 - player].data(), buffers.flat_value[player].data(), member, worker.ahead);
        worker.ahead.finish();
      } else if (index != start_.board || board.num_children == 0) {
        auto& sums = worker.streets[board.street].flat_value[player];
        std::fill(sums.begin(), sums.end(), Real{0});
      }
    }
    if (index == start_.board) {
      visit_pieces(board, worker, member, again);
    } else if (!visit_children(board, worker, again, depth)) {
      return false;
    }
    if (leaves_) evaluate_leaves(board, buffers, worker, member);
    if (frontier_ && member.thread == 0) consult(board, buffers);
    member.wait();
    if (frontier_ && frontier_->has_failed) return false;
    if (index == start_.board && pause_ && pause_->has_stopped.load(std::memory_order_relaxed)) return false;
    if (!street.is_last) {
      for (int player = 0; player < 2; ++player) {
        if (task_.is_active[player]) average_orbits(board, player, buffers, member);
      }
      member.wait();
    }
    for (int player = 0; player < 2; ++player) {
      if (task_.is_active[player]) back_up(board, parent, player, buffers, worker, member);
    }
    return true;
  }

  // Returns where an interrupted sweep left a board on this thread's way down, null elsewhere.
  const PauseLevel<Real>* take_level(HoldemWorker<Real>& worker, std::size_t depth) const {
    if (!worker.way || depth >= worker.way->size()) return nullptr;
    const PauseLevel<Real>* const level = &(*worker.way)[depth];
    if (depth + 1 == worker.way->size()) worker.way = nullptr;  // the next boards are new
    return level;
  }

  // Nobody stops on the way down again: what lies below has begun.
  bool is_stopped(const HoldemWorker<Real>& worker) const { return pause_ && !worker.way && pause_->request.look(); }

  // The boards below one that a single thread works on; returns whether all were done.
  bool visit_children(const HoldemBoard& board, HoldemWorker<Real>& worker, const PauseLevel<Real>* again,
                      std::size_t depth) {
    std::int64_t child = 0;
    auto& sums = worker.streets[board.street].flat_value;
    if (again) {
      child = again->child;
      for (int player = 0; player < 2; ++player) {
        if (task_.is_active[player]) std::copy(again->sums[player].begin(), again->sums[player].end(), sums[player].begin());
      }
    }
    for (; child < board.num_children; ++child) {
      if (!is_stopped(worker) &&
          visit(board.first_child + child, &board - form_.boards, worker, {0, 1, nullptr}, depth + 1)) {
        continue;
      }
      if (task_.purpose == HoldemPurpose::update) {
        PauseLevel<Real>& level = worker.left.emplace_back();
        level.child = child;
        for (int player = 0; player < 2; ++player) {
          if (task_.is_active[player]) level.sums[player] = sums[player];
        }
      }
      return false;
    }
    return true;
  }

  // Writes down what active players do and their own reach, board by board; nothing comes back up.
  void realize(const HoldemBoard& board, std::int64_t parent, HoldemBuffers<Real>& buffers, HoldemWorker<Real>& worker,
               const HoldemMember& member) {
    const HoldemStreet& street = form_.streets[board.street];
    for (int player = 0; player < 2; ++player) {
      if (!task_.is_active[player]) continue;
      const std::int64_t num_tiles = board.sides[player].num_tiles();
      for (std::int64_t tile = member.begin(num_tiles); tile < member.end(num_tiles); ++tile) {
        enter(board, parent, player, tile, true, worker);
        play(board, player, tile, worker);
        write_cells(task_.play.plan, board, player, tile, worker.reach + street.num_lines);
        write_cells(task_.play.strategy, board, player, tile, worker.strategy);
        if (!street.is_last) {
          leave(street.flats, player, row_layout(board.sides[player], street.flats), tile, worker,
                buffers.own_reach[player].data());
        }
      }
    }
    member.wait();
    for (std::int64_t child = member.thread; child < board.num_children; child += member.size) {
      visit(board.first_child + child, &board - form_.boards, worker, {0, 1, nullptr});
    }
  }

  // Writes a tile's numbers over (decision, action) into a table, if there is one.
  void write_cells(Cell* table, const HoldemBoard& board, int player, std::int64_t tile, const Vector* numbers) const {
    if constexpr (!kIsScaled<Cell>) {
      if (!table) return;
      Cell* const out = table + first_cell(board, player, tile);
      const std::int32_t num_cells = form_.streets[board.street].num_cells[player];
      for (std::int32_t cell = 0; cell < num_cells; ++cell) store_pack<Real>(out + cell * kPackSize, numbers[cell]);
    }
  }

  // The children of the team's board, each piece of them by one thread into sums of its own. One thread alone adds pieces
  // up as they come, in the same order: it has one buffer for all, which stays in the cache.
  void visit_pieces(const HoldemBoard& board, HoldemWorker<Real>& worker, const HoldemMember& member,
                    const PauseLevel<Real>* again) {
    const std::int64_t num_pieces = count_pieces(board.num_children);
    std::int64_t piece = again ? again->piece : member.thread;
    for (; piece < num_pieces; piece += member.size) {
      for (int player = 0; player < 2; ++player) {
        if (!task_.is_active[player]) continue;
        auto& sums = workspace_.pieces[player][member.size == 1 ? 0 : piece];
        if (!again) std::fill(sums.begin(), sums.end(), Real{0});
        worker.sums[player] = sums.data();
      }
      const std::int64_t end = board.num_children * (piece + 1) / num_pieces;
      for (std::int64_t child = again ? again->child : board.num_children * piece / num_pieces; child < end; ++child) {
        if (is_stopped(worker) || !visit(board.first_child + child, start_.board, worker, {0, 1, nullptr}, 1)) {
          return leave_at(piece, child, worker);
        }
      }
      again = nullptr;
      if (member.size > 1) continue;
      for (int player = 0; player < 2; ++player) {
        if (task_.is_active[player]) add_piece(board, player, worker, piece == 0, piece + 1 == num_pieces);
      }
    }
    if (pause_) worker.left.push_back({.piece = piece});  // in case another thread stops
  }

  // Notes where this thread stops; the others see it when they have stopped too, or are done.
  void leave_at(std::int64_t piece, std::int64_t child, HoldemWorker<Real>& worker) {
    worker.left.push_back({.piece = piece, .child = child});
    pause_->has_stopped.store(true, std::memory_order_relaxed);
  }

  // Whether pieces are added up as they come.
  bool adds_pieces(const HoldemBoard& board, const HoldemMember& member) const {
    return member.size == 1 && board.num_children > 0 && &board == form_.boards + start_.board;
  }

  // Adds a piece to the values of orbits; the last one leaves their means.
  void add_piece(const HoldemBoard& board, int player, HoldemWorker<Real>& worker, bool is_first, bool is_last) {
    const std::int64_t stride = line_stride(form_.streets[board.street]);
    const Real* const from = worker.sums[player];
    Real* const out = worker.streets[board.street].flat_value[player].data();
    for_orbits(board.sides[player], [&](std::int64_t row, std::int64_t next) {
      const Vector share = fill_pack(is_last ? Real{1} / static_cast<Real>(next - row) : Real{1});
      for (std::int64_t at = row * stride; at < (row + 1) * stride; at += kPackSize) {
        Vector total = is_first ? Vector{} : load_pack<Real>(out + at);
        for (std::int64_t same = 0; same < next - row; ++same) total += load_pack<Real>(from + at + same * stride);
        store_pack<Real>(out + at, total * share);
      }
    });
  }

  // Calls `work(first row, row after the last)` for hands that are the same but for the names of suits.
  template <typename Work>
  [[gnu::always_inline]] void for_orbits(const HoldemSide& side, Work&& work) const {
    const std::int32_t* const first_row = form_.value_row + side.first_hand;
    for (std::int64_t row = 0, next = 0; row < side.num_hands; row = next) {
      for (next = row + 1; next < side.num_hands && first_row[next] == row;) ++next;
      work(row, next);
    }
  }

  // --- lines that are left out: below a board, those that the other player of `player` reaches with no hand ---

  void find_live(const HoldemBoard& board, int player, const HoldemBuffers<Real>& buffers, HoldemWorker<Real>& worker) {
    const HoldemStreet& below = form_.streets[board.street + 1];
    const std::int32_t packs = form_.streets[board.street].flats.num_packs;
    LiveLines& live = worker.streets[board.street + 1].live[player];
    const Real* const from = buffers.flat_reach[1 - player].data();
    const std::int64_t num_rows = board.sides[1 - player].num_rows();
    for (std::int32_t pack = 0; pack < packs; ++pack) {
      Vector total{};
      for (std::int64_t row = 0; row < num_rows; ++row) total += load_pack<Real>(from + (row * packs + pack) * kPackSize);
      const std::int32_t first = pack * kPackSize, count = std::min(kPackSize, below.num_lines - first);
      for (int i = 0; i < count; ++i) live.is_live[first + i] = total[i] > Real{0};
    }
    live.gather(below);
  }

  const HoldemEnds& flats_of(const HoldemBoard& board, std::int64_t parent, int player,
                             const HoldemWorker<Real>& worker) const {
    const HoldemStreet& street = form_.streets[board.street];
    return parent < 0 || !street.is_last ? street.flats : worker.streets[board.street].live[player].flats.ends;
  }

  const HoldemEnds& folds_of(const HoldemBoard& board, std::int64_t parent, int player,
                             const HoldemWorker<Real>& worker) const {
    return parent < 0 ? form_.streets[board.street].folds : worker.streets[board.street].live[player].folds.ends;
  }

  // Lets what a player's update of a board begins with be asked for while terminals are evaluated.
  void look_ahead(const HoldemBoard& board, int player, Ahead& ahead) const {
    if (task_.purpose != HoldemPurpose::update || !asks_ahead_) return;
    const HoldemSide& side = board.sides[player];
    const std::int64_t size = side.num_tiles() * form_.streets[board.street].num_cells[player] * kPackSize;
    const auto bytes = static_cast<std::int64_t>(size * sizeof(Cell));
    ahead.set(task_.tables.regret_sum.cells + side.first_cell, bytes, task_.tables.strategy_sum.cells + side.first_cell,
              bytes);
  }

  // Asks for what the next board's sweep begins with: the other player's strategy.
  void ask_for_next(const HoldemBoard& board, int player) const {
    const HoldemBoard* const next = &board + 1;  // most often
    if (task_.purpose != HoldemPurpose::update || !asks_ahead_ || next == form_.boards + form_.num_boards) return;
    const auto at = reinterpret_cast<std::uintptr_t>(task_.tables.regret_sum.cells + next->sides[1 - player].first_cell);
    for (std::uintptr_t byte = 0; byte < kAheadBytes; byte += kCacheLine) ask_for<false>(at + byte);
  }

  BlockLayout layout(const HoldemBoard& board, int player, const HoldemEnds& ends, const HoldemMember& member) const {
    // fewer columns a block where a team would have nothing to share
    const std::int32_t share = (ends.num_packs + member.size - 1) / member.size;
    return {board.sides[player].num_rows(), ends.num_packs, std::clamp(share, 1, kBlockPacks)};
  }

  static BlockLayout row_layout(const HoldemSide& side, const HoldemEnds& ends) {
    return {side.num_rows(), ends.num_packs, std::max(ends.num_packs, 1)};
  }

  BlockLayout flat_layout(const HoldemBoard& board, int player, const HoldemEnds& flats,
                          const HoldemMember& member) const {
    const bool is_last = form_.streets[board.street].is_last;
    return is_last ? layout(board, player, flats, member) : row_layout(board.sides[player], flats);
  }

  // --- reach: from the entering lines down to the ends of the street ---

  void spread(const HoldemBoard& board, std::int64_t parent, int player, HoldemBuffers<Real>& buffers,
              HoldemWorker<Real>& worker, const HoldemMember& member) {
    const HoldemStreet& street = form_.streets[board.street];
    const bool is_opponent = task_.is_active[1 - player] || frontier_;  // who values lines asks for both reaches
    const bool is_averaged = task_.is_active[player] && task_.writes_averages() && !street.is_last;
    const std::int64_t num_tiles = board.sides[player].num_tiles();
    const HoldemEnds& flat_ends = flats_of(board, parent, 1 - player, worker);
    const HoldemEnds& fold_ends = folds_of(board, parent, 1 - player, worker);
    const BlockLayout flats = flat_layout(board, player, flat_ends, member);
    const BlockLayout folds = layout(board, player, fold_ends, member);
    for (std::int64_t tile = member.begin(num_tiles); tile < member.end(num_tiles); ++tile) {
      if (is_opponent) {
        enter(board, parent, player, tile, false, worker);
        play(board, player, tile, worker);
        leave(flat_ends, player, flats, tile, worker, buffers.flat_reach[player].data());
        leave(fold_ends, player, folds, tile, worker, buffers.fold_reach[player].data());
      }
      if (is_averaged) {
        enter(board, parent, player, tile, true, worker);
        play(board, player, tile, worker);
        leave(street.flats, player, flats, tile, worker, buffers.own_reach[player].data());
      }
    }
    if (leaves_ && is_opponent) {
      leaves_->spread(leaf_task(), player, member.begin(num_tiles), member.end(num_tiles),
                      {buffers.flat_reach[player].data(), line_stride(street)});
    }
  }

  // --- leaves: where the tree ends before the last street ---

  HoldemLeafTask leaf_task() const {
    const LeafPurpose purpose = task_.purpose == HoldemPurpose::update          ? LeafPurpose::update
                                : task_.purpose == HoldemPurpose::best_response ? LeafPurpose::best_response
                                                                                : LeafPurpose::expected_value;
    return {.purpose = purpose, .rule = task_.rule, .discount = task_.discount};
  }

  static std::int64_t line_stride(const HoldemStreet& street) {
    return static_cast<std::int64_t>(street.flats.num_packs) * kPackSize;
  }

  // Every thread writes the values of some leaves, into sums of its own; those of the others stay 0 there.
  void evaluate_leaves(const HoldemBoard& board, HoldemBuffers<Real>& buffers, HoldemWorker<Real>& worker,
                       const HoldemMember& member) {
    const std::int64_t stride = line_stride(form_.streets[board.street]);
    for (int player = 0; player < 2; ++player) {
      if (!task_.is_active[player]) continue;
      leaves_->evaluate(leaf_task(), player, {buffers.own_reach[player].data(), stride},
                        {worker.streets[board.street].flat_value[player].data(), stride}, member.thread);
    }
  }

  // Asks for the values of lines that leave the street; cells of the frontier are [row, line].
  void consult(const HoldemBoard& board, HoldemBuffers<Real>& buffers) const {
    const std::int64_t stride = line_stride(form_.streets[board.street]);
    const auto place = [&](std::int32_t cell) {
      return cell / frontier_->num_lines * stride + cell % frontier_->num_lines;
    };
    const Frontier& frontier = frontier_->frontier;
    const KeepSubnormals keep;  // who is asked may be anybody
    frontier_->has_failed = !frontier.consult([&](int player, std::int32_t cell) {
      return static_cast<double>(buffers.flat_reach[player][place(cell)]);
    });
    for (int player = 0; player < 2; ++player) {
      if (!task_.is_active[player]) continue;
      frontier.give(player, [&](std::int32_t cell, double value) {
        buffers.flat_value[player][place(cell)] = static_cast<Real>(value);
      });
    }
  }

  // Fills the slots of entering lines.
  void enter(const HoldemBoard& board, std::int64_t parent, int player, std::int64_t tile, bool is_own,
             HoldemWorker<Real>& worker) const {
    const HoldemSide& side = board.sides[player];
    if (parent < 0) {
      std::fill_n(worker.reach, form_.streets[board.street].num_lines, Vector{});
      worker.reach[start_.line] =
          is_own ? fill_pack(Real{1}) : load_pack<Real>(start_.reach[player] + tile * kPackSize);
      return;
    }
    const HoldemBoard& above = form_.boards[parent];
    const HoldemStreet& street = form_.streets[above.street];
    const HoldemBuffers<Real>& buffers = owner(parent, worker).streets[above.street];
    const BlockLayout rows = row_layout(above.sides[player], street.flats);
    const Real* const from = (is_own ? buffers.own_reach : buffers.flat_reach)[player].data();
    const std::int32_t* const row = form_.parent_row + side.first_hand + tile * kPackSize;
    const std::int32_t num_lines = form_.streets[board.street].num_lines;
    rows.for_packs([&](std::int32_t pack, std::int64_t start, std::int64_t stride) {
      Vector lines[kPackSize];
      for (int i = 0; i < kPackSize; ++i) lines[i] = load_pack<Real>(from + start + row[i] * stride);
      transpose(lines);
      const int count = std::min(kPackSize, num_lines - pack * kPackSize);
      for (int i = 0; i < count; ++i) worker.reach[pack * kPackSize + i] = lines[i];
    });
  }

  // Calls `work` with the number of actions as a constant where decisions often have it, else with 0.
  template <typename Work>
  [[gnu::always_inline]] static void with_actions(int num_actions, Work&& work) {
    switch (num_actions) {
      case 2:
        return work.template operator()<2>();
      case 3:
        return work.template operator()<3>();
      case 4:
        return work.template operator()<4>();
      default:
        return work.template operator()<0>();
    }
  }

  // What is asked for ahead of play.
  enum class Asking { nothing, sums, sums_and_averages };

  // Fills strategy and the slots of own actions.
  template <Asking asking = Asking::sums>
  void play(const HoldemBoard& board, int player, std::int64_t tile, HoldemWorker<Real>& worker) const {
    const HoldemStreet& street = form_.streets[board.street];
    const HoldemPolicy<Cell>& policy = task_.policy[player];
    const HoldemLockWalk locks = form_.tile_locks(board.sides[player], tile);
    const bool is_plain = policy.policy_map == PolicyMap::regret_matching && !policy.last_regret.cells &&
                          policy.fallback == Fallback::uniform && locks.begin == locks.end;
    if (!is_plain) return play_by_rule(board, player, tile, locks, worker);
    if (!asks_ahead_) return play_plain<Asking::nothing>(street, player, first_cell(board, player, tile), worker);
    play_plain<asking>(street, player, first_cell(board, player, tile), worker);
  }

  // The same in proportion to positive regrets alone. Asks for sums some way ahead, and as far ahead for averages.
  template <Asking asking>
  void play_plain(const HoldemStreet& street, int player, std::int64_t first, HoldemWorker<Real>& worker) const {
    // pointers of its own: as far as the compiler knows, packs are stored anywhere
    const Cell* const sums = task_.policy[player].sums.cells + first;
    const auto sums_ahead = reinterpret_cast<std::uintptr_t>(sums) + kAheadBytes;
    [[maybe_unused]] std::uintptr_t averages_ahead = 0;
    if constexpr (asking == Asking::sums_and_averages) {
      averages_ahead = reinterpret_cast<std::uintptr_t>(task_.tables.strategy_sum.cells + first) + kAheadBytes;
    }
    Vector* const reach = worker.reach;
    Vector* const actions = reach + street.num_lines;
    Vector* const strategy = worker.strategy;
    const HoldemNode* const end = street.nodes[player] + street.num_nodes[player];
    for (const HoldemNode* next = street.nodes[player]; next != end; ++next) {
      const HoldemNode node = *next;
      if constexpr (asking != Asking::nothing) {
        constexpr auto pack_bytes = static_cast<std::uintptr_t>(kPackSize * sizeof(Cell));
        constexpr int step = std::max<int>(kCacheLine / pack_bytes, 1);
        for (int a = 0; a < node.num_actions; a += step) {
          const std::uintptr_t at = static_cast<std::uintptr_t>(node.first_cell + a) * pack_bytes;
          ask_for<false>(sums_ahead + at);
          if constexpr (asking == Asking::sums_and_averages) ask_for<true>(averages_ahead + at);
        }
      }
      with_actions(node.num_actions, [&]<int fixed_actions>() {
        const int num_actions = fixed_actions > 0 ? fixed_actions : node.num_actions;
        const Vector arriving = reach[node.source];
        Vector* const chosen = strategy + node.first_cell;
        match_regrets<fixed_actions>(
            num_actions, [&](int a) { return load_pack<Real>(sums + (node.first_cell + a) * kPackSize); }, chosen);
        for (int a = 0; a < num_actions; ++a) actions[node.first_cell + a] = arriving * chosen[a];
      });
    }
  }

  // The same under any rule and with locks.
  [[gnu::noinline]] void play_by_rule(const HoldemBoard& board, int player, std::int64_t tile, HoldemLockWalk locks,
                                      HoldemWorker<Real>& worker) const {
    const HoldemStreet& street = form_.streets[board.street];
    const std::int64_t first = first_cell(board, player, tile);
    const std::int64_t block = first_block(board, player, tile);
    const HoldemPolicy<Cell>& policy = task_.policy[player];
    Vector* const actions = worker.reach + street.num_lines;
    for (std::int32_t n = 0; n < street.num_nodes[player]; ++n) {
      const HoldemNode& node = street.nodes[player][n];
      const Vector arriving = worker.reach[node.source];
      const HoldemPlace place{first + node.first_cell * kPackSize, block + n};
      form_strategy(policy, node, place, worker.strategy + node.first_cell);
      if (const HoldemLock* lock = locks.meet(node)) lock_strategy(*lock, node, worker.strategy + node.first_cell);
      for (std::int32_t a = node.first_cell; a < node.first_cell + node.num_actions; ++a) {
        actions[a] = arriving * worker.strategy[a];
      }
    }
  }

  [[gnu::noinline]] void lock_strategy(const HoldemLock& lock, const HoldemNode& node, Vector* strategy) const {
    for (int a = 0; a < node.num_actions; ++a) {
      const Vector given = load_pack<Real>(form_.locked_strategy + lock.first_strategy + a * kPackSize);
      for (int hand = 0; hand < kPackSize; ++hand) {
        if (lock.holds(hand)) set_lane(strategy[a], hand, given[hand]);
      }
    }
  }

  [[gnu::always_inline]] static Vector load_sums(const HoldemPolicy<Cell>& policy, const HoldemPlace& place,
                                                 int action) {
    const std::int64_t cell = place.cell + action * kPackSize;
    const Vector sums = load_pack<Real>(policy.sums.cells + cell);
    if (!policy.last_regret.cells) return sums;
    const Vector last = load_pack<Real>(policy.last_regret.cells + cell);
    if constexpr (!kIsScaled<Cell>) return sums + last;
    const auto powers = [&](const HoldemTable<const Cell>& table) {
      return convert_pack<Real>(load_powers(table.exponents + place.block * kPackSize));
    };
    return sums * powers(policy.sums) + last * powers(policy.last_regret);
  }

  [[gnu::always_inline]] static void form_strategy(const HoldemPolicy<Cell>& policy, const HoldemNode& node,
                                                   const HoldemPlace& place, Vector* __restrict strategy) {
    if (policy.policy_map != PolicyMap::regret_matching) return hedge_regrets(policy, node, place, strategy);
    match_regrets<0>(node.num_actions, [&](int a) { return load_sums(policy, place, a); }, strategy);
    if (policy.fallback == Fallback::argmax) play_best(policy, node, place, strategy);
  }

  // Overwrites `strategy` with the positive sums, `load(action)`, in proportion.
  template <int fixed_actions, typename Load>
  [[gnu::always_inline]] static void match_regrets(int num_actions, Load&& load, Vector* __restrict strategy) {
    Vector kept[std::max(fixed_actions, 1)];  // in registers, if their number is known
    Vector* const positive = fixed_actions > 0 ? kept : strategy;
    Vector total{};
    for (int a = 0; a < num_actions; ++a) {
      const Vector sum = load(a);
      positive[a] = choose(sum > Real{0}, sum, Vector{});
      total += positive[a];
    }
    const Vector inverse = Real{1} / total;
    const Vector share = fill_pack(Real{1} / static_cast<Real>(num_actions));
    // totals too small to be normal count as none: their inverse is infinite
    const auto is_matched = total >= std::numeric_limits<Real>::min();
    for (int a = 0; a < num_actions; ++a) strategy[a] = choose(is_matched, positive[a] * inverse, share);
  }

  [[gnu::noinline]] static void hedge_regrets(const HoldemPolicy<Cell>& policy, const HoldemNode& node,
                                              const HoldemPlace& place, Vector* __restrict strategy) {
    for (int a = 0; a < node.num_actions; ++a) strategy[a] = load_sums(policy, place, a);
    if (policy.policy_map == PolicyMap::hedge) {
      return hedge_packs(node.num_actions, load_pack<Real>(policy.step + place.block * kPackSize), strategy);
    }
    normal_hedge_packs(node.num_actions, strategy);
    if (policy.fallback == Fallback::argmax) play_best(policy, node, place, strategy);
  }

  // Where no regret is positive, plays the largest.
  [[gnu::noinline]] static void play_best(const HoldemPolicy<Cell>& policy, const HoldemNode& node,
                                          const HoldemPlace& place, Vector* __restrict strategy) {
    for (int hand = 0; hand < kPackSize; ++hand) {
      double row[kMaxActions], chosen[kMaxActions];
      double largest = 0.0;
      for (int a = 0; a < node.num_actions; ++a) {
        row[a] = static_cast<double>(load_sums(policy, place, a)[hand]);
        largest = std::max(largest, row[a]);
      }
      if (largest >= std::numeric_limits<Real>::min()) continue;
      fall_back(Fallback::argmax, node.num_actions, row, chosen);
      for (int a = 0; a < node.num_actions; ++a) set_lane(strategy[a], hand, static_cast<Real>(chosen[a]));
    }
  }

  // Writes reaches at the ends of a street as rows of terminals.
  void leave(const HoldemEnds& ends, int player, const BlockLayout& rows, std::int64_t tile,
             const HoldemWorker<Real>& worker, Real* out) const {
    const Vector* const reach = worker.reach;
    const std::int32_t* const slot = ends.slot[player];
    rows.for_packs([&](std::int32_t pack, std::int64_t start, std::int64_t stride) {
      Vector columns[kPackSize];
      for (int i = 0; i < kPackSize; ++i) columns[i] = reach[slot[pack * kPackSize + i]];
      transpose(columns);
      Real* const to = out + start + tile * kPackSize * stride;
      for (int i = 0; i < kPackSize; ++i) store_pack<Real>(to + i * stride, columns[i]);
    });
  }

  // --- terminals ---

  void evaluate(TerminalKind kind, const HoldemBoard& board, int player, const HoldemEnds& ends, const Real* reach,
                Real* value, const HoldemMember& member, Ahead& ahead) const {
    const BlockLayout from = layout(board, 1 - player, ends, member);
    const BlockLayout to = layout(board, player, ends, member);
    const HandList own = form_.hands(board, player), other = form_.hands(board, 1 - player);
    // where blocks do not come out even, folds give the one more to the first thread and showdowns to the last
    const int first = kind == TerminalKind::fold ? member.thread : member.size - 1 - member.thread;
    for (std::int32_t block = first; block < to.num_blocks(); block += member.size) {
      const double* const rake = ends.rake ? ends.rake + block * to.block_packs * kPackSize : nullptr;
      evaluate_block<Real>(kind, to.width(block), own, other, rake, reach + from.block_start(block),
                           value + to.block_start(block), ahead);
    }
  }

  // --- values: from the ends of the street up to the entering lines ---

  void back_up(const HoldemBoard& board, std::int64_t parent, int player, HoldemBuffers<Real>& buffers,
               HoldemWorker<Real>& worker, const HoldemMember& member) {
    const HoldemStreet& street = form_.streets[board.street];
    const std::int64_t num_tiles = board.sides[player].num_tiles();
    const HoldemEnds& flat_ends = flats_of(board, parent, player, worker);
    const HoldemEnds& fold_ends = folds_of(board, parent, player, worker);
    const BlockLayout flats = flat_layout(board, player, flat_ends, member);
    const BlockLayout folds = layout(board, player, fold_ends, member);
    for (std::int64_t tile = member.begin(num_tiles); tile < member.end(num_tiles); ++tile) {
      if (street.is_last && parent >= 0 && tile + 1 == num_tiles) ask_for_next(board, player);
      std::fill_n(worker.value, street.num_slots(player), Vector{});
      add_values(board, player, fold_ends, folds, tile, buffers.fold_value[player].data(), worker);
      add_values(board, player, flat_ends, flats, tile, buffers.flat_value[player].data(), worker);
      switch (task_.purpose) {
        case HoldemPurpose::update:
          if constexpr (kIsWritable<Real, Cell>) {
            enter(board, parent, player, tile, true, worker);
            play<Asking::sums_and_averages>(board, player, tile, worker);
            update(board, player, tile, worker);
          }
          break;
        case HoldemPurpose::expected_value:
          play(board, player, tile, worker);
          expect(street, player, worker);
          write_cells(task_.play.action_value, board, player, tile, worker.value + street.num_lines);
          break;
        case HoldemPurpose::best_response:
          respond(board, player, tile, worker);
          break;
        case HoldemPurpose::realize:
          break;
        case HoldemPurpose::substitute:
          if constexpr (!kIsScaled<Cell>) {
            if (task_.writes_averages()) {
              enter(board, parent, player, tile, true, worker);
              play(board, player, tile, worker);
            }
            substitute(board, player, tile, worker);
          }
          break;
      }
      if (parent < 0 && start_.slot_value[player]) keep_slots(street, player, tile, worker);
      hand_up(board, parent, player, tile, worker);
    }
  }

  // Where a board's values stand before they are added up: a child's board has one place, the team's has its pieces, or
  // where there are leaves in place of children the threads' own, of which all but one hold zeros.
  std::vector<const Real*> list_addends(const HoldemBoard& board, int player, const HoldemMember& member) const {
    if (&board != form_.boards + start_.board) return {};
    std::vector<const Real*> addends;
    for (const std::vector<Real>& piece : workspace_.pieces[player]) addends.push_back(piece.data());
    if (!addends.empty() || member.size == 1) return addends;
    for (int thread = 0; thread < member.size; ++thread) {
      addends.push_back(workspace_.workers[thread].streets[board.street].flat_value[player].data());
    }
    return addends;
  }

  // Adds up what children handed up, and leaves in the first row of each orbit the mean of its rows: the group moves a
  // child through the boards that it stands for, and a hand through its orbit, as often to each.
  void average_orbits(const HoldemBoard& board, int player, HoldemBuffers<Real>& buffers, const HoldemMember& member) {
    if (adds_pieces(board, member)) return;
    const HoldemSide& side = board.sides[player];
    const std::int32_t num_packs = form_.streets[board.street].flats.num_packs;
    const std::int64_t stride = static_cast<std::int64_t>(num_packs) * kPackSize;
    const auto begin = member.begin(num_packs), end = member.end(num_packs);
    Real* const out = buffers.flat_value[player].data();
    std::vector<const Real*> addends = list_addends(board, player, member);
    const bool is_in_place = addends.empty();
    if (is_in_place) addends = {out};
    for_orbits(side, [&](std::int64_t row, std::int64_t next) {
      if (next == row + 1 && is_in_place) return;
      const Real share = Real{1} / static_cast<Real>(next - row);
      for (std::int64_t at = row * stride + begin * kPackSize; at < row * stride + end * kPackSize; at += kPackSize) {
        Vector total{};
        for (const Real* const from : addends) {
          for (std::int64_t same = 0; same < next - row; ++same) total += load_pack<Real>(from + at + same * stride);
        }
        store_pack<Real>(out + at, total * share);
      }
    });
  }

  // Adds the values of a street's ends, scaled, to the slots that lead to them.
  void add_values(const HoldemBoard& board, int player, const HoldemEnds& ends, const BlockLayout& rows,
                  std::int64_t tile, const Real* from, HoldemWorker<Real>& worker) const {
    const std::int32_t* const row = form_.value_row + board.sides[player].first_hand + tile * kPackSize;
    Vector* const value = worker.value;
    rows.for_packs([&](std::int32_t pack, std::int64_t start, std::int64_t stride) {
      Vector columns[kPackSize];
      const Vector scale = load_pack<Real>(ends.scale[player] + pack * kPackSize);
      for (int i = 0; i < kPackSize; ++i) columns[i] = load_pack<Real>(from + start + row[i] * stride) * scale;
      transpose(columns);
      const std::int32_t* const slot = ends.slot[player] + pack * kPackSize;
      for (int i = 0; i < kPackSize; ++i) value[slot[i]] += columns[i];
    });
  }

  void update(const HoldemBoard& board, int player, std::int64_t tile, HoldemWorker<Real>& worker) {
    const HoldemStreet& street = form_.streets[board.street];
    const std::int64_t first = first_cell(board, player, tile);
    const std::int64_t block = first_block(board, player, tile);
    HoldemLockWalk locks = form_.tile_locks(board.sides[player], tile);
    const HoldemSide& side = board.sides[player];
    // the same hands but for the names of suits round alike, and stay the same
    Dither dither(static_cast<std::uint64_t>(side.first_hand) ^ static_cast<std::uint64_t>(task_.t) << 40,
                  form_.value_row + side.first_hand + tile * kPackSize);
    const Step step(task_, street.num_lines, worker);
    const HoldemNode* const nodes = street.nodes[player];
    const bool is_hedge = task_.rule.policy_map == PolicyMap::hedge;
    for (std::int32_t n = street.num_nodes[player]; n-- > 0;) {
      const HoldemNode node = nodes[n];
      const HoldemPlace place{first + node.first_cell * kPackSize, block + n};
      if (is_hedge) set_steps(step, node, place);
      if (const HoldemLock* lock = locks.meet_backwards(node)) {
        update_locked(street.num_lines, node, *lock, place, dither, worker);
        continue;
      }
      with_actions(node.num_actions, [&]<int fixed_actions>() { update_node<fixed_actions>(step, node, place, dither); });
    }
  }

  // What all decisions of a tile share; a copy, because as far as the compiler knows packs are stored anywhere.
  struct Step {
    Vector positive, negative, floor;
    Real decay, weight;
    bool is_optimistic;
    HoldemTables<Cell> tables;
    const Vector* strategy;  // over cells
    const Vector* reach;
    Vector* value;
    Vector* slot_value;

    Step(const HoldemTask<Cell>& task, std::int32_t num_lines, const HoldemWorker<Real>& worker)
        : positive(fill_pack(static_cast<Real>(task.discount.positive))),
          negative(fill_pack(static_cast<Real>(task.discount.negative))),
          floor(fill_pack(static_cast<Real>(task.rule.floor()))),
          decay(static_cast<Real>(task.discount.average_decay)),
          weight(static_cast<Real>(task.discount.average_weight)),
          is_optimistic(task.rule.is_optimistic),
          tables(task.tables),
          strategy(worker.strategy),
          reach(worker.reach + num_lines),
          value(worker.value + num_lines),
          slot_value(worker.value) {}
  };

  // Hedge's steps after this iteration, from the values of the strategy that it played.
  [[gnu::noinline]] void set_steps(const Step& step, const HoldemNode& node, const HoldemPlace& place) const {
    if constexpr (!kIsScaled<Cell>) {
      Vector expected{};
      for (int a = node.first_cell; a < node.first_cell + node.num_actions; ++a) {
        expected += step.strategy[a] * step.value[a];
      }
      const double unit = unit_step(task_.discount, node.num_actions);
      for (int hand = 0; hand < kPackSize; ++hand) {
        const std::int64_t row = place.block * kPackSize + hand;
        const double scale = hedge_scale(task_.rule, task_.t, static_cast<double>(expected[hand]),
                                         static_cast<double>(step.tables.scale[row]),
                                         step.tables.value_moments + 2 * row);
        step.tables.step[row] = static_cast<Cell>(unit / scale);
      }
    }
  }

  // Leaves the rows of locked hands as they are.
  [[gnu::noinline]] void update_locked(std::int32_t num_lines, const HoldemNode& node, const HoldemLock& lock,
                                       const HoldemPlace& place, Dither& dither, const HoldemWorker<Real>& worker) {
    const Step step(task_, num_lines, worker);
    const HoldemTables<Cell>& tables = step.tables;
    Cell regrets[kMaxActions * kPackSize], last[kMaxActions * kPackSize];
    typename AverageOf<Cell>::Type averages[kMaxActions * kPackSize];
    const int size = node.num_actions * kPackSize;
    std::copy_n(tables.regret_sum.cells + place.cell, size, regrets);
    std::copy_n(tables.strategy_sum.cells + place.cell, size, averages);
    if (step.is_optimistic) std::copy_n(tables.last_regret.cells + place.cell, size, last);
    update_node<0>(step, node, place, dither);
    for (int i = 0; i < size; ++i) {
      if (!lock.holds(i % kPackSize)) continue;
      tables.regret_sum.cells[place.cell + i] = regrets[i];
      tables.strategy_sum.cells[place.cell + i] = averages[i];
      if (step.is_optimistic) tables.last_regret.cells[place.cell + i] = last[i];
    }
  }

  template <int fixed_actions>
  [[gnu::always_inline]] static void update_node(const Step& step, const HoldemNode& node, const HoldemPlace& place,
                                                 Dither& dither) {
    constexpr int most = fixed_actions > 0 ? fixed_actions : kMaxActions;
    const int num_actions = fixed_actions > 0 ? fixed_actions : node.num_actions;
    const Vector* const value = step.value + node.first_cell;
    const Vector* const reach = step.reach + node.first_cell;
    const Vector* const strategy = step.strategy + node.first_cell;
    BlockWriter<Real, Cell, most> regrets(step.tables.regret_sum, place.cell, place.block);
    BlockWriter<Real, typename AverageOf<Cell>::Type, most> averages(step.tables.strategy_sum, place.cell, place.block);
    Vector expected{};
    for (int a = 0; a < num_actions; ++a) expected += strategy[a] * value[a];
    for (int a = 0; a < num_actions; ++a) {
      const Vector stored = regrets.load(a);
      const Vector updated = stored * choose(stored > Real{0}, step.positive, step.negative) + (value[a] - expected);
      regrets.put(a, choose(updated > step.floor, updated, step.floor));
      averages.put(a, averages.load(a) * step.decay + reach[a] * step.weight);
    }
    regrets.finish(num_actions, dither);
    averages.finish(num_actions, dither);
    if (step.is_optimistic) {
      BlockWriter<Real, Cell, most> last(step.tables.last_regret, place.cell, place.block);
      for (int a = 0; a < num_actions; ++a) last.put(a, value[a] - expected);
      last.finish(num_actions, dither);
    }
    step.slot_value[node.source] += expected;
  }

  void expect(const HoldemStreet& street, int player, HoldemWorker<Real>& worker) const {
    for (std::int32_t n = street.num_nodes[player]; n-- > 0;) {
      const HoldemNode& node = street.nodes[player][n];
      for (std::int32_t a = node.first_cell; a < node.first_cell + node.num_actions; ++a) {
        worker.value[node.source] += worker.strategy[a] * worker.value[street.num_lines + a];
      }
    }
  }

  void respond(const HoldemBoard& board, int player, std::int64_t tile, HoldemWorker<Real>& worker) const {
    const HoldemStreet& street = form_.streets[board.street];
    HoldemLockWalk locks = task_.respects_locks ? form_.tile_locks(board.sides[player], tile) : HoldemLockWalk{};
    for (std::int32_t n = street.num_nodes[player]; n-- > 0;) {
      const HoldemNode& node = street.nodes[player][n];
      const Vector* const value = worker.value + street.num_lines + node.first_cell;
      Vector best = value[0];
      for (std::int32_t a = 1; a < node.num_actions; ++a) best = choose(value[a] > best, value[a], best);
      if constexpr (!kIsScaled<Cell>) {
        if (task_.play.strategy) {
          write_answer(node, {first_cell(board, player, tile) + node.first_cell * kPackSize,
                              first_block(board, player, tile) + n}, value, best);
        }
      }
      if (const HoldemLock* lock = locks.meet_backwards(node)) keep_locked(*lock, node, value, best);
      worker.value[node.source] += best;
    }
  }

  // Writes down the first of the best actions; a row that trusts a model follows it as often, and `best` with it.
  [[gnu::noinline]] void write_answer(const HoldemNode& node, const HoldemPlace& place, const Vector* value,
                                      Vector& best) const {
    const HoldemPlay<Cell>& play = task_.play;
    Vector trust{}, followed{};
    if (play.trust) trust = load_pack<Real>(play.trust + place.block * kPackSize);
    const Vector zero{}, one = fill_pack(Real{1});
    Vector left = one - trust;  // of probability, until the best action is found
    for (int a = 0; a < node.num_actions; ++a) {
      const std::int64_t cell = place.cell + a * kPackSize;
      const auto is_worse = best > value[a];
      Vector share = choose(is_worse, zero, left);
      left = choose(is_worse, left, zero);
      if (play.trust) {
        const Vector model = load_pack<Real>(play.model + cell);
        followed += model * value[a];
        share += trust * model;
      }
      store_pack<Real>(play.strategy + cell, share);
    }
    if (play.trust) best = trust * followed + (one - trust) * best;
  }

  void substitute(const HoldemBoard& board, int player, std::int64_t tile, HoldemWorker<Real>& worker) const {
    const HoldemStreet& street = form_.streets[board.street];
    const HoldemSubstitution& given = task_.substitution;
    const std::int64_t first = first_cell(board, player, tile);
    const std::int64_t block = first_block(board, player, tile);
    HoldemLockWalk locks = form_.tile_locks(board.sides[player], tile);
    for (std::int32_t n = street.num_nodes[player]; n-- > 0;) {
      const HoldemNode& node = street.nodes[player][n];
      const Vector* const value = worker.value + street.num_lines + node.first_cell;
      const std::int64_t row = (block + n) * kPackSize;
      Vector sorted[kMaxActions];
      sorted[0] = value[0];  // there is always one, which compilers do not know
      for (std::int32_t a = 1; a < node.num_actions; ++a) sorted[a] = value[a];
      Vector budget{};
      if (given.bound) budget = load_pack<Real>(given.bound + row) * static_cast<Real>(given.factor);
      Vector level = solve_levels<Real>(node.num_actions, sorted, budget);
      if (const HoldemLock* lock = locks.meet_backwards(node)) keep_locked(*lock, node, value, level);
      if (given.row_value) store_pack<Real>(given.row_value + row, level);
      if (task_.writes_averages()) write_substitutes(street, node, first + node.first_cell * kPackSize, level, worker);
      worker.value[node.source] += level;
    }
  }

  void write_substitutes(const HoldemStreet& street, const HoldemNode& node, std::int64_t cell, const Vector& level,
                         const HoldemWorker<Real>& worker) const {
    const HoldemSubstitution& given = task_.substitution;
    const Vector zero{}, floor = fill_pack(static_cast<Real>(task_.rule.floor()));
    const Vector trace = fill_pack(static_cast<Real>(given.trace));
    for (std::int32_t a = 0; a < node.num_actions; ++a) {
      const std::int32_t slot = street.num_lines + node.first_cell + a;
      const Vector gain = worker.value[slot] - level;
      const Vector loss = choose(zero > gain, gain * static_cast<Real>(given.negative_weight), trace);
      const Vector regret = choose(gain > zero, gain * static_cast<Real>(given.positive_weight), loss);
      store_pack<Real>(task_.tables.regret_sum.cells + cell + a * kPackSize, choose(regret > floor, regret, floor));
      store_pack<Real>(task_.tables.strategy_sum.cells + cell + a * kPackSize,
                       worker.reach[slot] * static_cast<Real>(given.average_weight));
    }
  }

  // Overwrites the values of locked hands with those of what they play.
  [[gnu::noinline]] void keep_locked(const HoldemLock& lock, const HoldemNode& node, const Vector* value,
                                     Vector& best) const {
    Vector expected{};
    for (int a = 0; a < node.num_actions; ++a) {
      expected += value[a] * load_pack<Real>(form_.locked_strategy + lock.first_strategy + a * kPackSize);
    }
    for (int hand = 0; hand < kPackSize; ++hand) {
      if (lock.holds(hand)) set_lane(best, hand, expected[hand]);
    }
  }

  void keep_slots(const HoldemStreet& street, int player, std::int64_t tile, const HoldemWorker<Real>& worker) const {
    const std::int32_t num_slots = street.num_slots(player);
    double* const out = start_.slot_value[player] + tile * num_slots * kPackSize;
    for (std::int32_t slot = 0; slot < num_slots; ++slot) store_pack<Real>(out + slot * kPackSize, worker.value[slot]);
  }

  // Adds the values of entering lines to the board above, times the boards that this one stands for.
  void hand_up(const HoldemBoard& board, std::int64_t parent, int player, std::int64_t tile,
               HoldemWorker<Real>& worker) {
    const HoldemSide& side = board.sides[player];
    if (parent < 0) {
      store_pack<Real>(workspace_.root_value[player].data() + tile * kPackSize, worker.value[0]);
      return;
    }
    const HoldemBoard& above = form_.boards[parent];
    const BlockLayout rows = row_layout(above.sides[player], form_.streets[above.street].flats);
    Real* const out =
        parent == start_.board ? worker.sums[player] : worker.streets[above.street].flat_value[player].data();
    const auto num_hands = static_cast<int>(std::min<std::int64_t>(kPackSize, side.num_hands - tile * kPackSize));
    const std::int32_t* const row = form_.parent_row + side.first_hand + tile * kPackSize;
    const std::int32_t num_lines = form_.streets[board.street].num_lines;
    const Real num_images = static_cast<Real>(board.num_images);
    rows.for_packs([&](std::int32_t pack, std::int64_t start, std::int64_t stride) {
      Vector lines[kPackSize];
      for (int i = 0; i < kPackSize; ++i) {
        const std::int32_t line = pack * kPackSize + i;
        lines[i] = line < num_lines ? worker.value[line] : Vector{};
      }
      transpose(lines);
      for (int i = 0; i < num_hands; ++i) {
        Real* const to = out + start + row[i] * stride;
        store_pack<Real>(to, load_pack<Real>(to) + lines[i] * num_images);
      }
    });
  }

  std::int64_t first_cell(const HoldemBoard& board, int player, std::int64_t tile) const {
    return board.sides[player].first_cell + tile * form_.streets[board.street].num_cells[player] * kPackSize;
  }

  std::int64_t first_block(const HoldemBoard& board, int player, std::int64_t tile) const {
    const std::int64_t place = 2 * (&board - form_.boards) + player;
    return form_.first_block[place] + tile * form_.streets[board.street].num_nodes[player];
  }

 public:
  static constexpr int kMaxActions = kMaxPackActions;
};

// A gate through which one player's hands enter the tree, in place of its range; see root_gate.hpp.
struct HoldemGate {
  int player = -1;          // -1: none, both ranges are given
  RootGate gate{};          // over rows of the root; padding has no mass
  double* reach = nullptr;  // [rows] what enters

  // Takes what entering was worth into the gate and sets what enters next.
  template <typename Real>
  void pass(const Rule& rule, const Discount& discount, std::int64_t t, const std::vector<Real>& value) const {
    std::copy_n(value.data(), gate.num_private, reach);
    pass_gate(gate, rule, discount, t, reach);
  }
};

// What may happen inside iterations beside the sweep.
template <typename Real>
struct HoldemHooks {
  HoldemStart start{};
  HoldemGate gate{};
  HoldemLeafGame<Real>* leaves = nullptr;
  HoldemFrontier* frontier = nullptr;
  HoldemWatch watch{};

  // Looks at the values of players that were updated, and sets what enters through the gate.
  void pass(const HoldemForm& form, const Rule& rule, const Discount& discount, std::int64_t t, const bool* is_active,
            const HoldemWorkspace<Real>& workspace) const {
    const HoldemBoard& root = form.boards[0];
    for (int player = 0; player < 2; ++player) {
      if (!is_active[player]) continue;
      if (watch.start) {
        const HoldemSide& side = root.sides[player];
        const HoldemEnds& ends = form.streets[root.street].flats;
        const std::int64_t num_rows = side.num_rows(), stride = static_cast<std::int64_t>(ends.num_packs) * kPackSize;
        for (std::int32_t k = watch.start[player]; k < watch.start[player + 1]; ++k) {
          const std::int64_t line = watch.cells[k] / num_rows - 1, row = watch.cells[k] % num_rows;
          double value = static_cast<double>(workspace.root_value[player][row]);
          if (line >= 0) {
            const std::int64_t first = form.value_row[side.first_hand + row];
            value = ends.scale[player][line] *
                    static_cast<double>(workspace.workers[0].streets[0].flat_value[player][first * stride + line]);
          }
          watch.value_sum[k] = watch.value_sum[k] * discount.average_decay + discount.average_weight * value;
        }
      }
      if (player == gate.player) gate.pass(rule, discount, t, workspace.root_value[player]);
    }
  }
};

// What a run plays, but for its fallback.
template <typename Cell>
HoldemPolicy<Cell> policy_of(const Rule& rule, const HoldemTables<Cell>& tables) {
  HoldemPolicy<Cell> policy;
  policy.sums = {tables.regret_sum.cells, tables.regret_sum.exponents};
  if (rule.is_optimistic) policy.last_regret = {tables.last_regret.cells, tables.last_regret.exponents};
  policy.step = tables.step;
  policy.policy_map = rule.policy_map;
  return policy;
}

// Begins a call that may be interrupted: an iteration that was goes on where the workspace and the ways down were.
template <typename Real>
void enter_again(const HoldemPause<Real>& pause, HoldemWorkspace<Real>& workspace) {
  for (std::size_t thread = 0; thread < workspace.workers.size(); ++thread) {
    HoldemWorker<Real>& worker = workspace.workers[thread];
    worker.left.clear();
    worker.way = pause.is_paused() ? &pause.threads[thread] : nullptr;
  }
  if (!pause.is_paused()) return;
  for (int player = 0; player < 2; ++player) {
    for (std::size_t piece = 0; piece < pause.pieces[player].size(); ++piece) {
      workspace.pieces[player][piece] = pause.pieces[player][piece];
    }
    const std::vector<Real>& value = pause.root_value[player];
    std::copy(value.begin(), value.end(), workspace.workers[0].streets[0].flat_value[player].begin());
  }
}

// Writes down where a sweep was interrupted.
template <typename Real>
void keep_pause(HoldemWorkspace<Real>& workspace, const bool* is_active, int player, HoldemPause<Real>& pause) {
  pause.clear();
  pause.player = player;
  for (HoldemWorker<Real>& worker : workspace.workers) {
    std::reverse(worker.left.begin(), worker.left.end());
    pause.threads.push_back(std::move(worker.left));
    worker.left.clear();
  }
  for (int p = 0; p < 2; ++p) {
    if (!is_active[p]) continue;
    const std::size_t num_pieces = workspace.workers.size() == 1 ? 1 : workspace.pieces[p].size();
    pause.pieces[p].assign(workspace.pieces[p].begin(), workspace.pieces[p].begin() + static_cast<std::ptrdiff_t>(num_pieces));
    pause.root_value[p] = workspace.workers[0].streets[0].flat_value[p];
  }
}

// Runs iterations first_t .. first_t + num_iterations - 1, each of which updates both players once. Returns how many were
// done; with a pause, fewer if a stop is asked for: the rest of the iteration under way is then done first by the next call.
template <typename Real, typename Cell>
std::int64_t iterate_holdem(const HoldemForm& form, const Rule& rule, const Discount* discounts, std::int64_t first_t,
                    std::int64_t num_iterations, bool is_alternating, int num_threads, const HoldemTables<Cell>& tables,
                            HoldemWorkspace<Real>& workspace, Team& team, const HoldemHooks<Real>& hooks = {},
                            HoldemPause<Real>* pause = nullptr) {
  Barrier barrier(num_threads);
  const bool is_entered_again = pause && pause->is_paused();
  std::int64_t num_done = num_iterations;
  if (pause) {
    enter_again(*pause, workspace);
    pause->has_stopped = false;
  }
  const HoldemGate& gate = hooks.gate;
  HoldemStart start = hooks.start;
  if (gate.player >= 0) start.reach[gate.player] = gate.reach;
  team.run(num_threads, [&](int thread) {
    const FlushSubnormals flush;
    HoldemTask<Cell> task;
    task.tables = tables;
    task.rule = rule;
    task.set_policies(policy_of(rule, tables));
    HoldemSweep<Real, Cell> sweep(form, task, workspace, start, hooks.leaves, hooks.frontier, pause);
    const HoldemMember member{thread, num_threads, &barrier};
    const auto set_fallback = [&](int player, bool has_played) {  // whatever the rule, the first strategy is uniform
      task.policy[player].fallback = has_played ? rule.fallback : Fallback::uniform;
    };
    for (std::int64_t t = first_t; t < first_t + num_iterations; ++t) {
      task.t = t;
      task.discount = discounts[t - first_t];
      set_fallback(0, t > 1);
      set_fallback(1, t > 1);
      const int first_player = is_entered_again && t == first_t ? pause->player : 0;
      if (first_player == 1) set_fallback(0, true);
      for (int player = first_player; player < 2; ++player) {
        task.is_active[player] = true;
        task.is_active[1 - player] = !is_alternating;
        if (pause) workspace.workers[thread].left.clear();
        if (!sweep.run(member)) {
          if (thread == 0 && pause && pause->has_stopped) {
            num_done = t - first_t;
            keep_pause(workspace, task.is_active, player, *pause);
          } else if (thread == 0 && hooks.frontier && hooks.frontier->has_failed) {
            num_done = t - first_t;
          }
          return;
        }
        if (hooks.watch.start || (gate.player >= 0 && task.is_active[gate.player])) {
          barrier.wait([&] { hooks.pass(form, rule, task.discount, t, task.is_active, workspace); });
        }
        if (!is_alternating) break;
        set_fallback(player, true);
      }
    }
  });
  if (pause && num_done == num_iterations) pause->clear();
  return num_done;
}

// Leaves in `workspace.root_value` (or where the start says) each player's counterfactual values: of the strategy that
// `sums` give, or of a best response to it. Returns whether that was done: not if a stop is asked for.
template <typename Real, typename Cell>
bool evaluate_holdem(const HoldemForm& form, HoldemPurpose purpose, bool respects_locks, const Cell* sums,
                     const HoldemStart& start, int num_threads, HoldemWorkspace<Real>& workspace, Team& team,
                     HoldemLeafGame<Real>* leaves = nullptr, HoldemFrontier* frontier = nullptr,
                     HoldemPause<Real>* pause = nullptr) {
  Barrier barrier(num_threads);
  if (pause) {
    pause->has_stopped = false;
    for (HoldemWorker<Real>& worker : workspace.workers) worker.way = nullptr;
  }
  team.run(num_threads, [&](int thread) {
    const FlushSubnormals flush;
    HoldemTask<Cell> task;
    task.purpose = purpose;
    task.respects_locks = respects_locks;
    task.set_policies({.sums = {sums, nullptr}});
    HoldemSweep<Real, Cell> sweep(form, task, workspace, start, leaves, frontier, pause);
    for (int player = 0; player < 2; ++player) {
      task.is_active[player] = true;
      task.is_active[1 - player] = false;
      if (pause) workspace.workers[thread].left.clear();
      if (!sweep.run({thread, num_threads, &barrier})) return;
    }
  });
  return !pause || !pause->has_stopped;
}

// Backs substitute values up: each player's at the root are left in `workspace.root_value`. With tables these become a
// run that a warm start begins with; `sums` may be its averages, which keep their proportions where own reach has any.
template <typename Real, typename Cell>
void substitute_holdem(const HoldemForm& form, const Cell* sums, const HoldemSubstitution& substitution,
                       const Rule& rule, const HoldemTables<Cell>& tables, int num_threads,
                       HoldemWorkspace<Real>& workspace, Team& team) {
  Barrier barrier(num_threads);
  team.run(num_threads, [&](int thread) {
    const FlushSubnormals flush;
    HoldemTask<Cell> task;
    task.purpose = HoldemPurpose::substitute;
    task.set_policies({.sums = {sums, nullptr}});
    task.substitution = substitution;
    task.rule = rule;
    task.tables = tables;
    HoldemSweep<Real, Cell> sweep(form, task, workspace);
    for (int player = 0; player < 2; ++player) {
      task.is_active[player] = true;
      task.is_active[1 - player] = false;
      sweep.run({thread, num_threads, &barrier});
    }
  });
}

}  // namespace equipoise
