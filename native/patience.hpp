// SPDX-License-Identifier: Apache-2.0
// Long native calls that can be given up: Python is asked now and then, and signal handlers run while it is.
#pragma once

#include "bindings.hpp"

namespace equipoise {

// Called without the interpreter's lock. Never throws, so that whoever asks can clear up; `finish` does it afterwards.
class Patience {
 public:
  explicit Patience(nb::callable is_interrupted) : is_interrupted_(std::move(is_interrupted)) {}

  // Returns whether to go on.
  bool operator()() {
    nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) return is_over_ = has_raised_ = true, false;
    PyObject* const answer = PyObject_CallNoArgs(is_interrupted_.ptr());
    const int truth = answer == nullptr ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    has_raised_ = truth < 0;
    is_over_ = truth != 0;
    return !is_over_;
  }

  // With the lock held again: throws what Python raised, else returns whether the call was done to its end.
  bool finish() const {
    if (has_raised_) throw nb::python_error();
    return !is_over_;
  }

 private:
  nb::callable is_interrupted_;
  bool is_over_ = false;
  bool has_raised_ = false;
};

// Calls `work` with a generator, without the interpreter's lock; returns whether it was done to its end.
template <typename Work>
bool call_patiently(nb::callable is_interrupted, const MutableWords& words, Work&& work) {
  Patience goes_on(std::move(is_interrupted));
  {
    nb::gil_scoped_release release;
    with_random(words, [&](Random& random) { work(random, goes_on); });
  }
  return goes_on.finish();
}

}  // namespace equipoise
