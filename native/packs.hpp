// SPDX-License-Identifier: Apache-2.0
// Eight numbers as one value, one per hand of a tile or per column of a row, and the 8 x 8 transpose between the two.
#pragma once

#include <cstdint>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace equipoise {

constexpr int kPackSize = 8;

// GCC and Clang lower these to whatever vectors the target has. `Loose` may stand at any address.
template <typename Real>
struct PackOf;

template <>
struct PackOf<float> {
  typedef float Type __attribute__((vector_size(32)));
  typedef float Loose __attribute__((vector_size(32), aligned(4), may_alias));
};

template <>
struct PackOf<double> {
  typedef double Type __attribute__((vector_size(64)));
  typedef double Loose __attribute__((vector_size(64), aligned(8), may_alias));
};

template <typename Real>
using Pack = typename PackOf<Real>::Type;

template <typename Real, typename Cell>
[[gnu::always_inline]] inline Pack<Real> load_pack(const Cell* from) {
  const Pack<Cell> loaded = *reinterpret_cast<const typename PackOf<Cell>::Loose*>(from);
  return __builtin_convertvector(loaded, Pack<Real>);
}

template <typename Real, typename Cell>
[[gnu::always_inline]] inline void store_pack(Cell* to, const Pack<Real>& value) {
  *reinterpret_cast<typename PackOf<Cell>::Loose*>(to) = __builtin_convertvector(value, Pack<Cell>);
}

template <typename Real>
[[gnu::always_inline]] inline Pack<Real> fill_pack(Real value) {
  return Pack<Real>{value, value, value, value, value, value, value, value};
}

// Rows become columns: three rounds of interleaving row i with row i + 4.
template <typename Real>
[[gnu::always_inline]] inline void transpose(Pack<Real> (&rows)[kPackSize]) {
  Pack<Real> next[kPackSize];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      next[2 * i] = __builtin_shufflevector(rows[i], rows[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      next[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int i = 0; i < kPackSize; ++i) rows[i] = next[i];
  }
}

// While it lives, numbers too small to be normal count as zero: discounted regrets of hands that are never reached
// halve every iteration, and arithmetic on such numbers is a hundred times slower.
class FlushSubnormals {
 public:
#if defined(__SSE__)
  FlushSubnormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
  ~FlushSubnormals() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
#endif
};

}  // namespace equipoise
