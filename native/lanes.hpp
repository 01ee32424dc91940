// SPDX-License-Identifier: Apache-2.0
// Four doubles as one value, and the same operations on a single double, so that kernels are written once for rows of
// whole vectors and for rows too short to fill one.
#pragma once

#include <cstdint>
#ifdef __AVX__
#include <immintrin.h>
#endif

namespace equipoise {

// GCC and Clang lower this to whatever vectors the target has.
using Quad = double __attribute__((vector_size(32)));

template <typename Lane>
inline constexpr int lane_count = sizeof(Lane) / sizeof(double);

template <typename Lane>
inline Lane load(const double* from) {
  using Unaligned [[gnu::aligned(8), gnu::may_alias]] = Lane;
  return *reinterpret_cast<const Unaligned*>(from);
}

template <typename Lane>
inline void store(double* to, Lane value) {
  using Unaligned [[gnu::aligned(8), gnu::may_alias]] = Lane;
  *reinterpret_cast<Unaligned*>(to) = value;
}

template <typename Lane>
inline Lane broadcast(double value) {
  if constexpr (lane_count<Lane> == 1) {
    return value;
  } else {
    return Quad{value, value, value, value};
  }
}

inline double larger(double a, double b) { return a > b ? a : b; }
inline Quad larger(Quad a, Quad b) { return a > b ? a : b; }

// whether any lane lies strictly between two bounds
inline bool any_between(double value, double low, double high) { return value > low && value < high; }
inline bool any_between(Quad value, double low, double high) {
  const auto inside = (value > broadcast<Quad>(low)) & (value < broadcast<Quad>(high));
#ifdef __AVX__
  return _mm256_movemask_pd(reinterpret_cast<__m256d>(inside)) != 0;
#else
  return (inside[0] | inside[1] | inside[2] | inside[3]) != 0;
#endif
}

}  // namespace equipoise
