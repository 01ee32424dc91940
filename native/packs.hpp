// SPDX-License-Identifier: Apache-2.0
// Eight numbers as one value, one per hand of a tile or per column of a row, and the 8 x 8 transpose between the two.
#pragma once

#include <cstdint>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE__)
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

template <>
struct PackOf<std::int16_t> {
  typedef std::int16_t Type __attribute__((vector_size(16)));
  typedef std::int16_t Loose __attribute__((vector_size(16), aligned(2), may_alias));
};

template <>
struct PackOf<std::uint16_t> {
  typedef std::uint16_t Type __attribute__((vector_size(16)));
  typedef std::uint16_t Loose __attribute__((vector_size(16), aligned(2), may_alias));
};

template <>
struct PackOf<std::uint8_t> {
  typedef std::uint8_t Type __attribute__((vector_size(8)));
  typedef std::uint8_t Loose __attribute__((vector_size(8), aligned(1), may_alias));
};

template <typename Real>
using Pack = typename PackOf<Real>::Type;

typedef std::int32_t Words __attribute__((vector_size(32)));
typedef std::uint32_t UnsignedWords __attribute__((vector_size(32)));

// Eight short integers as words, and back. Where AVX2 has an instruction it is named: GCC takes such vectors apart.
[[gnu::always_inline]] inline Words load_words(const std::int16_t* from) {
#if defined(__AVX2__)
  return (Words)_mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#else
  return __builtin_convertvector(*reinterpret_cast<const PackOf<std::int16_t>::Loose*>(from), Words);
#endif
}

[[gnu::always_inline]] inline Words load_words(const std::uint16_t* from) {
#if defined(__AVX2__)
  return (Words)_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#else
  return __builtin_convertvector(*reinterpret_cast<const PackOf<std::uint16_t>::Loose*>(from), Words);
#endif
}

[[gnu::always_inline]] inline Words load_words(const std::uint8_t* from) {
#if defined(__AVX2__)
  return (Words)_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
#else
  return __builtin_convertvector(*reinterpret_cast<const PackOf<std::uint8_t>::Loose*>(from), Words);
#endif
}

// Words must fit.
template <typename Cell>
[[gnu::always_inline]] inline void store_words(Cell* to, const Words& words) {
#if defined(__AVX2__)
  const __m128i low = _mm256_castsi256_si128((__m256i)words), high = _mm256_extracti128_si256((__m256i)words, 1);
  if constexpr (sizeof(Cell) == 1) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(_mm_packus_epi32(low, high), __m128i{}));
  } else if constexpr (static_cast<Cell>(-1) < 0) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_packs_epi32(low, high));
  } else {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_packus_epi32(low, high));
  }
#else
  *reinterpret_cast<typename PackOf<Cell>::Loose*>(to) = __builtin_convertvector(words, typename PackOf<Cell>::Type);
#endif
}

template <typename Real, typename Cell>
[[gnu::always_inline]] inline Pack<Real> load_pack(const Cell* from) {
  if constexpr (sizeof(Cell) < sizeof(std::int32_t)) {
    return __builtin_convertvector(load_words(from), Pack<Real>);
  } else {
    return __builtin_convertvector(Pack<Cell>(*reinterpret_cast<const typename PackOf<Cell>::Loose*>(from)), Pack<Real>);
  }
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
