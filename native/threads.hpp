// SPDX-License-Identifier: Apache-2.0
// A team of threads that runs one function and meets at barriers; nothing here knows what is computed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace equipoise {

// Tells the processor that this is a waiting loop, so that the core's other thread gets on.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Meeting point of a fixed number of threads. Spins briefly, then yields: phases last microseconds to milliseconds,
// and a machine may have fewer free cores than the team has threads.
class Barrier {
 public:
  explicit Barrier(int size) : size_(size) {}

  void wait() {
    wait([] {});
  }

  // The last thread to arrive runs `alone` before all go on.
  template <typename Alone>
  void wait(Alone&& alone) {
    if (size_ == 1) return alone();
    const std::uint32_t phase = phase_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
      alone();
      arrived_.store(0, std::memory_order_relaxed);
      phase_.fetch_add(1, std::memory_order_release);
      return;
    }
    for (int spin = 0; phase_.load(std::memory_order_acquire) == phase; ++spin) {
      if (spin > max_spins) {
        std::this_thread::yield();
      } else {
        relax();
      }
    }
  }

 private:
  static constexpr int max_spins = 100;  // some two microseconds: where cores are shared, somebody waits for this one

  int size_;
  std::atomic<int> arrived_{0};
  std::atomic<std::uint32_t> phase_{0};
};

// Runs `work(thread)` on threads 0..size-1, the caller being thread 0, and returns when all are done. `work` must not throw.
// Nobody begins before all threads exist: a team that lacks one would wait at its first barrier for ever. Throws
// std::runtime_error if a thread cannot be had, nothing done.
template <typename Work>
void run_team(int size, Work&& work) {
  enum Signal : int { wait, go, give_up };
  std::atomic<int> signal{wait};
  std::vector<std::thread> others;
  others.reserve(static_cast<std::size_t>(size - 1));
  const auto release = [&](Signal sent) {
    signal.store(sent, std::memory_order_release);
    signal.notify_all();
  };
  const auto join_all = [&] {
    for (std::thread& other : others) other.join();
  };
  try {
    for (int thread = 1; thread < size; ++thread) {
      others.emplace_back([&work, &signal, thread] {
        signal.wait(wait, std::memory_order_acquire);
        if (signal.load(std::memory_order_acquire) == go) work(thread);
      });
    }
  } catch (const std::system_error& error) {
    release(give_up);
    join_all();
    throw std::runtime_error("cannot start thread " + std::to_string(others.size() + 2) + " of a team of " +
                             std::to_string(size) + " (" + error.what() + "); ask for fewer");
  }
  release(go);
  work(0);
  join_all();
}

}  // namespace equipoise
