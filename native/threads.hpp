// SPDX-License-Identifier: Apache-2.0
// A team of threads that runs one function and meets at barriers; nothing here knows what is computed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

#include <unistd.h>

namespace equipoise {

// Tells the processor that this is a waiting loop, so that the core's other thread gets on.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
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

// Threads that wait between calls for the next one, so that a call does not start them; they end with the team. One call
// at a time has them: whoever comes while they are at work gets threads of its own. After a fork the child begins anew.
class Team {
 public:
  Team() = default;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() { stop(); }

  // As `run_team`.
  template <typename Work>
  void run(int size, Work&& work) {
    if (size == 1) return work(0);
    const std::unique_lock<std::mutex> lock = take();
    if (!lock.owns_lock()) return run_team(size, work);
    Crew& crew = ready(size);
    crew.size = size;
    crew.work = [](void* context, int thread) { (*static_cast<std::remove_reference_t<Work>*>(context))(thread); };
    crew.context = const_cast<void*>(static_cast<const void*>(&work));
    crew.num_busy.store(static_cast<int>(crew.threads.size()), std::memory_order_relaxed);
    crew.call.fetch_add(1, std::memory_order_release);
    crew.call.notify_all();
    work(0);
    for (int busy = crew.num_busy.load(std::memory_order_acquire); busy > 0;
         busy = crew.num_busy.load(std::memory_order_acquire)) {
      crew.num_busy.wait(busy, std::memory_order_acquire);
    }
  }

 private:
  struct Crew {
    const pid_t process = getpid();
    std::mutex is_busy;
    std::vector<std::thread> threads;
    std::atomic<std::uint32_t> call{0};
    std::atomic<int> num_busy{0};
    int size = 0;
    void (*work)(void*, int) = nullptr;  // null: all threads end
    void* context = nullptr;

    void serve(int thread, std::uint32_t seen) {
      for (;;) {
        call.wait(seen, std::memory_order_acquire);
        ++seen;
        if (work == nullptr) return;
        if (thread < size) work(context, thread);
        if (num_busy.fetch_sub(1, std::memory_order_acq_rel) == 1) num_busy.notify_one();
      }
    }
  };

  std::mutex guard_;  // of the pointer alone
  Crew* crew_ = nullptr;

  std::unique_lock<std::mutex> take() {
    const std::lock_guard<std::mutex> lock(guard_);
    // threads do not survive a fork, nor can their locks be trusted: what the parent had is left behind
    if (crew_ == nullptr || crew_->process != getpid()) crew_ = new Crew;
    return {crew_->is_busy, std::try_to_lock};
  }

  Crew& ready(int size) {
    Crew& crew = *crew_;
    try {
      while (static_cast<int>(crew.threads.size()) < size - 1) {
        const int thread = static_cast<int>(crew.threads.size()) + 1;
        const std::uint32_t seen = crew.call.load(std::memory_order_relaxed);
        crew.threads.emplace_back([&crew, thread, seen] { crew.serve(thread, seen); });
      }
    } catch (const std::system_error& error) {
      throw std::runtime_error("cannot start thread " + std::to_string(crew.threads.size() + 2) + " of a team of " +
                               std::to_string(size) + " (" + error.what() + "); ask for fewer");
    }
    return crew;
  }

  void stop() {
    if (crew_ == nullptr || crew_->process != getpid()) return;
    crew_->work = nullptr;
    crew_->call.fetch_add(1, std::memory_order_release);
    crew_->call.notify_all();
    for (std::thread& thread : crew_->threads) thread.join();
    delete crew_;
  }
};

// What a call works with, kept for the next one. Who comes while it is out makes its own.
template <typename Workspace>
class Spare {
 public:
  // Calls `work` with a workspace for so many threads, which `prepare(workspace)` makes ready if it is new.
  template <typename Prepare, typename Work>
  void lend(int num_threads, Prepare&& prepare, Work&& work) {
    std::unique_ptr<Workspace> own = take(num_threads);
    if (!own) {
      own = std::make_unique<Workspace>();
      prepare(*own);
    }
    work(*own);
    const std::lock_guard<std::mutex> lock(guard_);
    kept_ = std::move(own);
    kept_threads_ = num_threads;
  }

 private:
  std::mutex guard_;
  std::unique_ptr<Workspace> kept_;
  int kept_threads_ = 0;

  std::unique_ptr<Workspace> take(int num_threads) {
    const std::lock_guard<std::mutex> lock(guard_);
    if (kept_threads_ != num_threads) kept_.reset();
    return std::move(kept_);
  }
};

}  // namespace equipoise
