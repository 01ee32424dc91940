// SPDX-License-Identifier: Apache-2.0
// Many short walks that can be given up between any two of them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace equipoise {

// Between two questions: some milliseconds of walks down a small tree, and well below a second down a large one.
constexpr std::int64_t kWalksPerQuestion = 1 << 16;

// Calls `walk` so many times, each with the generator, until `goes_on` says no. Walks draw from a copy of it, which the
// compiler may keep in registers where nothing else can see it.
template <typename Generator, typename Walk, typename GoesOn>
void repeat_walks(std::int64_t num_walks, Generator& random, Walk&& walk, GoesOn&& goes_on) {
  for (std::int64_t done = 0; done < num_walks;) {
    const std::int64_t end = done + std::min(kWalksPerQuestion, num_walks - done);
    Generator own = random;
    for (; done < end; ++done) walk(own);
    random = own;
    if (done < num_walks && !goes_on()) return;
  }
}

}  // namespace equipoise
