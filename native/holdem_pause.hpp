// SPDX-License-Identifier: Apache-2.0
// A sweep over boards that is interrupted between two of them, and finished later to the bit.
//
// Tables of a board change only when all boards below it are done. So what an interrupted sweep leaves behind is, for
// each thread, the way down to the board that would have come next, and what the boards on that way had added up.
// Reaches are not kept: on the way down again they come out as they were.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "holdem_form.hpp"

namespace equipoise {

// A board on the way down.
template <typename Real>
struct PauseLevel {
  std::int64_t piece = 0;       // of the first board's children; 0 further down
  std::int64_t child = 0;       // the next one, begun or not
  std::vector<Real> sums[2]{};  // of active players; empty at the first board, whose sums are by piece
};

// A request to stop. It counts looks, so that tests can stop anywhere: 0 is no request, 1 stops whoever looks next.
class StopRequest {
 public:
  void set(std::int32_t num_looks) { looks_.store(num_looks, std::memory_order_relaxed); }

  bool look() {
    std::int32_t left = looks_.load(std::memory_order_relaxed);
    while (left > 1 && !looks_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) {
    }
    return left == 1;
  }

 private:
  std::atomic<std::int32_t> looks_{0};
};

template <typename Real>
struct HoldemPause {
  StopRequest request;
  std::atomic<bool> has_stopped{false};  // this sweep, in some thread

  // what an interrupted iteration left; nothing if there are no threads
  std::int32_t player = 0;                             // whose sweep it was, the first one's if both were updated
  std::vector<std::vector<PauseLevel<Real>>> threads;  // [thread] from the first board down
  std::vector<std::vector<Real>> pieces[2];            // of active players, as in the workspace
  std::vector<Real> root_value[2];                     // sums of the first board, which a lone thread adds pieces to

  bool is_paused() const { return !threads.empty(); }

  void clear() {
    threads.clear();
    for (int p = 0; p < 2; ++p) {
      pieces[p].clear();
      root_value[p].clear();
    }
  }

  // Whether this was left by a sweep over such a tree: every index and size is one that the sweep will meet.
  bool fits(const HoldemForm& form) const {
    const HoldemBoard& root = form.boards[0];
    const std::int64_t num_pieces = std::min(root.num_children, kMostPieces);
    if (player < 0 || player > 1 || num_pieces == 0 || (pieces[0].empty() && pieces[1].empty())) return false;
    std::vector<std::size_t> sizes[2];
    for (int p = 0; p < 2; ++p) {
      sizes[p] = sums_by_street(form, p);
      const std::size_t expected = threads.size() == 1 ? 1 : static_cast<std::size_t>(num_pieces);
      if (!pieces[p].empty() && pieces[p].size() != expected) return false;
      if (root_value[p].size() != (pieces[p].empty() ? 0 : sizes[p][0])) return false;
      for (const auto& piece : pieces[p]) {
        if (piece.size() != sizes[p][0]) return false;
      }
    }
    for (std::size_t thread = 0; thread < threads.size(); ++thread) {
      if (!fits_way(form, threads[thread], static_cast<std::int64_t>(thread), num_pieces, sizes)) return false;
    }
    return true;
  }

  static constexpr std::int64_t kMostPieces = 24;

 private:
  // Numbers that a thread adds up on a street, of the largest board.
  static std::vector<std::size_t> sums_by_street(const HoldemForm& form, int player) {
    std::vector<std::size_t> sizes(static_cast<std::size_t>(form.num_streets), 0);
    for (std::int64_t b = 0; b < form.num_boards; ++b) {
      const HoldemBoard& board = form.boards[b];
      const std::int64_t packs = board.sides[player].num_rows() * form.streets[board.street].flats.num_packs;
      std::size_t& size = sizes[static_cast<std::size_t>(board.street)];
      size = std::max(size, static_cast<std::size_t>(packs * kPackSize));
    }
    return sizes;
  }

  bool fits_way(const HoldemForm& form, const std::vector<PauseLevel<Real>>& way, std::int64_t thread,
                std::int64_t num_pieces, const std::vector<std::size_t>* sizes) const {
    if (way.empty()) return false;
    const HoldemBoard* board = &form.boards[0];
    const PauseLevel<Real>& first = way[0];
    const auto size = static_cast<std::int64_t>(threads.size());
    if (first.piece < 0 || first.piece >= num_pieces + size || first.piece % size != thread) return false;
    if (first.piece >= num_pieces) return way.size() == 1;
    if (first.child < board->num_children * first.piece / num_pieces ||
        first.child >= board->num_children * (first.piece + 1) / num_pieces) {
      return false;
    }
    for (std::size_t depth = 1; depth < way.size(); ++depth) {
      board = &form.boards[board->first_child + way[depth - 1].child];
      if (way[depth].child < 0 || way[depth].child >= board->num_children) return false;
      for (int p = 0; p < 2; ++p) {
        const std::size_t expected = pieces[p].empty() ? 0 : sizes[p][static_cast<std::size_t>(board->street)];
        if (way[depth].sums[p].size() != expected) return false;
      }
    }
    return true;
  }
};

}  // namespace equipoise
