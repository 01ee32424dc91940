// SPDX-License-Identifier: Apache-2.0
// A frontier as the native module's functions take it: arrays, and a Python function that fills in values.
#pragma once

#include <cstdint>
#include <exception>
#include <utility>

#include "bindings.hpp"
#include "frontier.hpp"

namespace equipoise {

// Keeps the arrays alive that its frontier points into; without arrays there are no leaves.
class BoundFrontier {
 public:
  BoundFrontier() = default;
  BoundFrontier(const nb::dict& given, nb::callable ask) : arrays_(given), ask_(std::move(ask)) {
    frontier_.start = arrays_.data<Ints>("start");
    frontier_.cells = arrays_.data<Ints>("cells");
    frontier_.places = arrays_.data<Ints>("places");
    frontier_.reach[0] = arrays_.view<MutableDoubles>("reach_0").data();
    frontier_.reach[1] = arrays_.view<MutableDoubles>("reach_1").data();
    frontier_.value[0] = arrays_.data<Doubles>("cfv_0");
    frontier_.value[1] = arrays_.data<Doubles>("cfv_1");
    arrays_.check_all_asked();
  }

  // For one call, without the interpreter's lock; what Python raises is kept for `finish`.
  Frontier open() {
    Frontier frontier = frontier_;
    frontier.context = this;
    frontier.ask = [](void* context) { return static_cast<BoundFrontier*>(context)->call(); };
    return frontier;
  }

  // With the lock held again: throws what was raised; `take_done` then tells how many iterations had been done by then.
  void finish(std::int64_t num_done = 0) {
    if (!raised_) return;
    num_done_ = num_done;
    std::rethrow_exception(std::exchange(raised_, nullptr));
  }

  // How many iterations the call did whose exception came out last; 0 once that has been asked.
  std::int64_t take_done() { return std::exchange(num_done_, 0); }

 private:
  Frontier frontier_;
  NamedArrays arrays_;
  nb::object ask_;
  std::exception_ptr raised_;
  std::int64_t num_done_ = 0;

  bool call() {
    try {
      {
        const nb::gil_scoped_acquire lock;
        ask_();
      }
      if (!frontier_.is_finite()) throw std::invalid_argument("values of leaves must be finite numbers");
    } catch (...) {
      raised_ = std::current_exception();
      return false;
    }
    return true;
  }
};

}  // namespace equipoise
