// SPDX-License-Identifier: Apache-2.0
// Memory that is needed soon, asked for a little at every step of other work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace equipoise {

constexpr std::int64_t kCacheLine = 64;  // bytes

// Asks for the cache line of an address, which need not be anybody's.
template <bool is_written>
[[gnu::always_inline]] inline void ask_for(std::uintptr_t address) {
  __builtin_prefetch(reinterpret_cast<const void*>(address), is_written ? 1 : 0, 2);
}

// Two runs of memory, one after the other: what is read first and what is written first.
class Ahead {
 public:
  void set(const void* read, std::int64_t read_bytes, const void* written, std::int64_t written_bytes) {
    read_ = reinterpret_cast<std::uintptr_t>(read);
    written_ = reinterpret_cast<std::uintptr_t>(written);
    read_left_ = std::min(read_bytes, kMostBytes);
    written_left_ = std::min(written_bytes, kMostBytes);
  }

  // Asks for the next few lines.
  [[gnu::always_inline]] void step() {
    if (read_left_ > 0) {
      take<false>(read_, read_left_);
    } else if (written_left_ > 0) {
      take<true>(written_, written_left_);
    }
  }

  void finish() {
    while (read_left_ > 0 || written_left_ > 0) step();
  }

 private:
  static constexpr int kLinesAtOnce = 4;
  static constexpr std::int64_t kMostBytes = 1 << 17;  // more would drive out what showdowns work with

  std::uintptr_t read_ = 0, written_ = 0;
  std::int64_t read_left_ = 0, written_left_ = 0;  // bytes

  template <bool is_written>
  [[gnu::always_inline]] static void take(std::uintptr_t& at, std::int64_t& left) {
#pragma GCC unroll 4
    for (int line = 0; line < kLinesAtOnce; ++line) ask_for<is_written>(at + static_cast<std::uintptr_t>(line * kCacheLine));
    at += static_cast<std::uintptr_t>(kLinesAtOnce * kCacheLine);
    left -= kLinesAtOnce * kCacheLine;
  }
};

}  // namespace equipoise
