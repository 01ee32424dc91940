// SPDX-License-Identifier: Apache-2.0
// Iterations of a run as they are bound once, with all that they read: a call of one iteration has nothing left to look up
// or to check.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "bindings.hpp"

namespace equipoise {

// Whether somebody is at work.
class Turn {
 public:
  bool take() { return !is_taken_.exchange(true, std::memory_order_acquire); }
  void give_back() { is_taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_taken_{false};
};

class BoundSteps {
 public:
  // Runs iterations t = first_t and on, one a row, without the interpreter's lock, and returns how many were done; -1 if it
  // takes another team, nothing done. What it points into is kept alive by whoever makes it.
  using Iterate = std::function<std::int64_t(const Discount* rows, std::int64_t first_t, std::int64_t num_iterations)>;

  BoundSteps(Turn& turn, Iterate iterate) : turn_(&turn), iterate_(std::move(iterate)) {}

  // With rows of discounts that are handed over; whoever calls has taken the turn.
  std::int64_t run(const Doubles& discounts, std::int64_t first_t) const {
    return iterate_(view_rows(discounts), first_t, static_cast<std::int64_t>(discounts.shape(0)));
  }

  // Hands over the rows that `step` reads, for iterations from `first_t` on.
  void know(Doubles discounts, std::int64_t first_t) {
    discounts_ = std::move(discounts);
    first_t_ = first_t;
  }

  // With rows that are known. Returns -1, nothing done, unless these are whole numbers of such rows and it is nobody's turn:
  // the caller then goes the long way, which says what is wrong.
  std::int64_t step(nb::handle first_t, nb::handle num_iterations) const {
    if (!PyLong_CheckExact(first_t.ptr()) || !PyLong_CheckExact(num_iterations.ptr())) return -1;
    int is_large = 0, is_long = 0;
    const std::int64_t first = PyLong_AsLongLongAndOverflow(first_t.ptr(), &is_large);
    const std::int64_t count = PyLong_AsLongLongAndOverflow(num_iterations.ptr(), &is_long);
    const auto num_known = discounts_.is_valid() ? static_cast<std::int64_t>(discounts_.shape(0)) : 0;
    if (is_large || is_long || first < first_t_ || count < 0) return -1;
    const std::int64_t skipped = first - first_t_;
    if (skipped > num_known || count > num_known - skipped) return -1;
    if (!turn_->take()) return -1;
    const struct Taken {
      Turn* turn;
      ~Taken() { turn->give_back(); }
    } taken{turn_};
    const Doubles rows = discounts_;  // another caller may hand over others meanwhile, before it is refused
    return iterate_(view_rows(rows) + skipped, first, count);
  }

 private:
  Turn* turn_;
  Iterate iterate_;
  Doubles discounts_;
  std::int64_t first_t_ = 0;
};

}  // namespace equipoise
