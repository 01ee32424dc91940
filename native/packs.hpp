// SPDX-License-Identifier: Apache-2.0
// Eight numbers as one value, one per hand of a tile or per column of a row, and the 8 x 8 transpose between the two.
#pragma once

#include <cstdint>
#include <type_traits>
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

// Eight doubles are two halves: a vector wider than the machine's is taken apart, number by number, where it is compared
// or shuffled.
struct DoublePack {
  typedef double Half __attribute__((vector_size(32)));
  typedef std::int64_t HalfMask __attribute__((vector_size(32)));
  struct Mask {
    HalfMask low, high;
  };
  Half low, high;

  double operator[](int lane) const { return lane < 4 ? low[lane] : high[lane - 4]; }

  DoublePack& operator+=(const DoublePack& b) { return *this = *this + b; }
  friend DoublePack operator+(const DoublePack& a, const DoublePack& b) { return {a.low + b.low, a.high + b.high}; }
  friend DoublePack operator-(const DoublePack& a, const DoublePack& b) { return {a.low - b.low, a.high - b.high}; }
  friend DoublePack operator*(const DoublePack& a, const DoublePack& b) { return {a.low * b.low, a.high * b.high}; }
  friend DoublePack operator*(const DoublePack& a, double b) { return {a.low * b, a.high * b}; }
  friend DoublePack operator/(double a, const DoublePack& b) { return {a / b.low, a / b.high}; }
  friend Mask operator>(const DoublePack& a, const DoublePack& b) { return {a.low > b.low, a.high > b.high}; }
  friend Mask operator>(const DoublePack& a, double b) { return {a.low > b, a.high > b}; }
  friend Mask operator>=(const DoublePack& a, double b) { return {a.low >= b, a.high >= b}; }
};

template <>
struct PackOf<double> {
  typedef DoublePack Type;
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

// Half a pack.
template <typename Cell>
struct QuadOf {
  typedef Cell Type __attribute__((vector_size(4 * sizeof(Cell))));
  typedef Cell Loose __attribute__((vector_size(4 * sizeof(Cell)), aligned(alignof(Cell)), may_alias));
};

template <typename Real, typename Quad>
[[gnu::always_inline]] inline Pack<Real> join_quads(const Quad& first, const Quad& second) {
  const auto low = __builtin_convertvector(first, typename QuadOf<Real>::Type);
  const auto high = __builtin_convertvector(second, typename QuadOf<Real>::Type);
  if constexpr (sizeof(Real) == sizeof(double)) {
    return {low, high};
  } else {
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  }
}

template <typename Real, typename Vector>
[[gnu::always_inline]] inline Pack<Real> convert_pack(const Vector& from) {
  return join_quads<Real>(__builtin_shufflevector(from, from, 0, 1, 2, 3), __builtin_shufflevector(from, from, 4, 5, 6, 7));
}

template <typename Real, typename Cell>
[[gnu::always_inline]] inline Pack<Real> load_pack(const Cell* from) {
  if constexpr (sizeof(Cell) < sizeof(std::int32_t)) {
    if constexpr (std::is_same_v<Real, float>) return __builtin_convertvector(load_words(from), Pack<float>);
    else return convert_pack<Real>(load_words(from));
  } else if constexpr (std::is_same_v<Real, float> && std::is_same_v<Cell, float>) {
    return *reinterpret_cast<const PackOf<float>::Loose*>(from);
  } else {
    using Quad = typename QuadOf<Cell>::Type;
    using Loose = typename QuadOf<Cell>::Loose;
    return join_quads<Real>(Quad(*reinterpret_cast<const Loose*>(from)), Quad(*reinterpret_cast<const Loose*>(from + 4)));
  }
}

template <typename Real, typename Cell>
[[gnu::always_inline]] inline void store_pack(Cell* to, const Pack<Real>& value) {
  if constexpr (std::is_same_v<Real, float> && std::is_same_v<Cell, float>) {
    *reinterpret_cast<PackOf<float>::Loose*>(to) = value;
  } else if constexpr (std::is_same_v<Real, float>) {
    store_pack<Cell>(to, convert_pack<Cell>(value));
  } else {
    using Loose = typename QuadOf<Cell>::Loose;
    *reinterpret_cast<Loose*>(to) = __builtin_convertvector(value.low, typename QuadOf<Cell>::Type);
    *reinterpret_cast<Loose*>(to + 4) = __builtin_convertvector(value.high, typename QuadOf<Cell>::Type);
  }
}

template <typename Real>
[[gnu::always_inline]] inline Pack<Real> fill_pack(Real value) {
  if constexpr (sizeof(Real) == sizeof(double)) {
    const DoublePack::Half half{value, value, value, value};
    return {half, half};
  } else {
    return Pack<Real>{value, value, value, value, value, value, value, value};
  }
}

// `mask ? first : second`, lane by lane.
[[gnu::always_inline]] inline Pack<float> choose(const Words& mask, const Pack<float>& first, const Pack<float>& second) {
  return mask ? first : second;
}
[[gnu::always_inline]] inline DoublePack choose(const DoublePack::Mask& mask, const DoublePack& first,
                                                const DoublePack& second) {
  return {mask.low ? first.low : second.low, mask.high ? first.high : second.high};
}

[[gnu::always_inline]] inline void set_lane(Pack<float>& pack, int lane, float value) { pack[lane] = value; }
[[gnu::always_inline]] inline void set_lane(DoublePack& pack, int lane, double value) {
  // by a reference: GCC 12's sanitizers write what is chosen and indexed at once to the first half whatever the lane
  DoublePack::Half& half = lane < 4 ? pack.low : pack.high;
  half[lane % 4] = value;
}

// Rows become columns: pairs, then pairs of pairs within each half of a row, then the halves. Written so that each step
// is one instruction where vectors have halves of four floats.
[[gnu::always_inline]] inline void transpose(Pack<float> (&rows)[kPackSize]) {
  Pack<float> next[kPackSize];
  for (int i = 0; i < kPackSize; i += 2) {
    next[i] = __builtin_shufflevector(rows[i], rows[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    next[i + 1] = __builtin_shufflevector(rows[i], rows[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < kPackSize; i += 4) {
    for (int j = 0; j < 2; ++j) {
      rows[i + 2 * j] = __builtin_shufflevector(next[i + j], next[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      rows[i + 2 * j + 1] = __builtin_shufflevector(next[i + j], next[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (int i = 0; i < 4; ++i) {
    next[i] = __builtin_shufflevector(rows[i], rows[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    next[i + 4] = __builtin_shufflevector(rows[i], rows[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  for (int i = 0; i < kPackSize; ++i) rows[i] = next[i];
}

// Four rows of four.
[[gnu::always_inline]] inline void transpose(DoublePack::Half (&rows)[4]) {
  const DoublePack::Half next[4] = {
      __builtin_shufflevector(rows[0], rows[1], 0, 4, 2, 6), __builtin_shufflevector(rows[0], rows[1], 1, 5, 3, 7),
      __builtin_shufflevector(rows[2], rows[3], 0, 4, 2, 6), __builtin_shufflevector(rows[2], rows[3], 1, 5, 3, 7)};
  for (int i = 0; i < 2; ++i) {
    rows[i] = __builtin_shufflevector(next[i], next[i + 2], 0, 1, 4, 5);
    rows[i + 2] = __builtin_shufflevector(next[i], next[i + 2], 2, 3, 6, 7);
  }
}

[[gnu::always_inline]] inline void transpose(DoublePack (&rows)[kPackSize]) {
  DoublePack next[kPackSize];
  for (int i = 0; i < kPackSize; i += 4) {
    DoublePack::Half low[4] = {rows[i].low, rows[i + 1].low, rows[i + 2].low, rows[i + 3].low};
    DoublePack::Half high[4] = {rows[i].high, rows[i + 1].high, rows[i + 2].high, rows[i + 3].high};
    transpose(low);
    transpose(high);
    for (int j = 0; j < 4; ++j) {
      (i ? next[j].high : next[j].low) = low[j];
      (i ? next[j + 4].high : next[j + 4].low) = high[j];
    }
  }
  for (int i = 0; i < kPackSize; ++i) rows[i] = next[i];
}

// How the processor treats numbers too small to be normal: two bits of a register on x86, for operands and for results,
// and one for both on ARM.
#if defined(__SSE__)
using ArithmeticMode = unsigned;
constexpr ArithmeticMode kFlush = 0x8040;
inline ArithmeticMode arithmetic_mode() { return _mm_getcsr(); }
inline void set_arithmetic_mode(ArithmeticMode mode) { _mm_setcsr(mode); }
#elif defined(__aarch64__)
using ArithmeticMode = std::uint64_t;
constexpr ArithmeticMode kFlush = 1U << 24;
inline ArithmeticMode arithmetic_mode() {
  ArithmeticMode mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode)::"memory");
  return mode;
}
inline void set_arithmetic_mode(ArithmeticMode mode) { __asm__ volatile("msr fpcr, %0" ::"r"(mode) : "memory"); }
#else
using ArithmeticMode = unsigned;
constexpr ArithmeticMode kFlush = 0;
inline ArithmeticMode arithmetic_mode() { return 0; }
inline void set_arithmetic_mode(ArithmeticMode) {}
#endif

// While it lives, numbers too small to be normal count as zero: discounted regrets of hands that are never reached
// halve every iteration, and arithmetic on such numbers is a hundred times slower.
class FlushSubnormals {
 public:
  FlushSubnormals() : saved_(arithmetic_mode()) { set_arithmetic_mode(saved_ | kFlush); }
  ~FlushSubnormals() { set_arithmetic_mode(saved_); }

 private:
  ArithmeticMode saved_;
};

// Within a scope, arithmetic as the rest of the program has it.
class KeepSubnormals {
 public:
  KeepSubnormals() : saved_(arithmetic_mode()) { set_arithmetic_mode(saved_ & ~kFlush); }
  ~KeepSubnormals() { set_arithmetic_mode(saved_); }

 private:
  ArithmeticMode saved_;
};

}  // namespace equipoise
