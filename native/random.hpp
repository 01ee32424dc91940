// SPDX-License-Identifier: Apache-2.0
// A small random generator whose whole state is four words, so that runs can be saved and resumed to the bit.
#pragma once

#include <bit>
#include <cstdint>

namespace equipoise {

// xoshiro256** (Blackman & Vigna 2018, "Scrambled linear pseudorandom number generators"); not all words may be zero.
struct Random {
  std::uint64_t state[4];

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state[1] * 5, 7) * 9;
    const std::uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = std::rotl(state[3], 45);
    return result;
  }

  // Uniform on [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
};

// Returns a generator that a single word decides (splitmix64, as the authors of xoshiro advise).
inline Random begin_stream(std::uint64_t word) {
  Random random{};
  for (std::uint64_t& part : random.state) {
    word += 0x9e3779b97f4a7c15ull;
    std::uint64_t mixed = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
    part = mixed ^ (mixed >> 31);
  }
  return random;
}

// Draws an index below `size`, each as likely as the others.
inline int draw_uniform(Random& random, int size) { return static_cast<int>(random.uniform() * size); }

// Draws among those indices below a size of which `is_among` holds, `count` of them, each as likely as the others.
template <typename Predicate>
int draw_among(Random& random, int count, Predicate&& is_among) {
  int left = draw_uniform(random, count);
  for (int index = 0;; ++index) {
    if (is_among(index) && left-- == 0) return index;
  }
}

// Draws an index below `size` with probabilities `probability(index)`, which sum to 1 up to rounding.
template <typename Probability>
int draw(Random& random, int size, Probability&& probability) {
  double left = random.uniform();
  int last = 0;  // what rounding may leave over falls to the last index that is possible at all
  for (int index = 0; index < size; ++index) {
    const double share = probability(index);
    if (share <= 0.0) continue;
    if (left < share) return index;
    left -= share;
    last = index;
  }
  return last;
}

// Draws an index from cumulative probabilities, whose last entry is 1 up to rounding.
inline int draw_cumulative(Random& random, const double* cumulative, int size) {
  const double point = random.uniform() * cumulative[size - 1];
  int low = 0;
  int high = size - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (point < cumulative[middle]) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace equipoise
