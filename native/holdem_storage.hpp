// SPDX-License-Identifier: Apache-2.0
// How tables keep their numbers: as they are, or in 16 bits with an exponent for every row, a hand at a decision.
//
// A sweep reads packs, and writes a decision's packs together: only then is the largest number of each row known.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "packs.hpp"

namespace equipoise {

// Averages have no sign.
template <typename Cell>
struct AverageOf {
  using Type = Cell;
};

template <>
struct AverageOf<std::int16_t> {
  using Type = std::uint16_t;
};

template <typename Cell>
constexpr bool kIsScaled = std::numeric_limits<Cell>::is_integer;

// Whether sweeps that work in `Real` may write such cells: in the type of the cells, in float if they have 16 bits.
template <typename Real, typename Cell>
constexpr bool kIsWritable = std::is_same_v<Real, std::conditional_t<kIsScaled<Cell>, float, Cell>>;

// A table and, where its cells are integers, the exponents of its rows: [block, hand of the tile].
template <typename Cell>
struct HoldemTable {
  Cell* cells = nullptr;
  std::uint8_t* exponents = nullptr;
};

// Eight streams of random numbers from 0 to 1, exclusive, one for each hand of a tile.
class Dither {
 public:
  // Streams follow from the seed and the row alone: hands that share a row round alike.
  Dither(std::uint64_t seed, const std::int32_t* rows) {
    std::uint64_t mixed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    const UnsignedWords lanes = *reinterpret_cast<const LooseWords*>(rows);
    state_ = lanes * 0x9E3779B9u + static_cast<std::uint32_t>(mixed >> 32);
    state_ = (state_ ^ (state_ >> 16)) * 0x7FEB352Du;
    state_ = (state_ ^ (state_ >> 15)) * 0x846CA68Bu;
    state_ |= 1u;  // never zero, where it would stay
  }

  [[gnu::always_inline]] Pack<float> next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    // as signed numbers: not every target converts unsigned ones
    return __builtin_convertvector(std::bit_cast<Words>(state_ >> 9), Pack<float>) * 0x1p-23f;
  }

 private:
  typedef std::uint32_t LooseWords __attribute__((vector_size(32), aligned(4), may_alias));
  UnsignedWords state_;
};

// Powers of two by their biased exponents; 0 gives zero.
[[gnu::always_inline]] inline Pack<float> load_powers(const std::uint8_t* exponents) {
  return std::bit_cast<Pack<float>>(load_words(exponents) << 23);
}

// A row's numbers are `cell * power * kUnit<Cell>`, the power of two being no more than its largest number.
template <typename Cell>
constexpr float kUnit = std::numeric_limits<Cell>::is_signed ? 0x1p-14f : 0x1p-15f;

// Takes the new numbers of one block of `most` actions or fewer.
template <typename Real, typename Cell, int most>
class BlockWriter {
 public:
  BlockWriter(const HoldemTable<Cell>& table, std::int64_t cell, std::int64_t) : cells_(table.cells + cell) {}

  [[gnu::always_inline]] Pack<Real> load(int action) const { return load_pack<Real>(cells_ + action * kPackSize); }
  [[gnu::always_inline]] void put(int action, const Pack<Real>& value) {
    store_pack<Real>(cells_ + action * kPackSize, value);
  }
  void finish(int, Dither&) {}

 private:
  Cell* const cells_;
};

template <typename Cell, int most>
  requires kIsScaled<Cell>
class BlockWriter<float, Cell, most> {
 public:
  BlockWriter(const HoldemTable<Cell>& table, std::int64_t cell, std::int64_t block)
      : cells_(table.cells + cell),
        exponents_(table.exponents + block * kPackSize),
        scale_(load_powers(exponents_) * kUnit<Cell>) {}

  [[gnu::always_inline]] Pack<float> load(int action) const {
    return load_pack<float>(cells_ + action * kPackSize) * scale_;
  }

  [[gnu::always_inline]] void put(int action, const Pack<float>& value) {
    values_[action] = value;
    const Pack<float> size = value > 0.0f ? value : -value;
    largest_ = size > largest_ ? size : largest_;
  }

  // Rounds up or down at random, so that what is lost is made up for on average.
  [[gnu::always_inline]] void finish(int num_actions, Dither& dither) {
    const Words found = std::bit_cast<Words>(largest_) >> 23;
    const Words exponents = found < kLeastExponent ? Words{} : found;  // rows that are next to nothing are nothing
    const Words inverse = exponents == 0 ? Words{} : (254 - exponents) << 23;
    store_words(exponents_, exponents);
    const Pack<float> factor = std::bit_cast<Pack<float>>(inverse) * (1 / kUnit<Cell>);
    for (int a = 0; a < num_actions; ++a) {
      // shifted to be positive, where cutting off is rounding down
      const Pack<float> shifted = values_[a] * factor + (dither.next() + kShift);
      const Words rounded = __builtin_convertvector(shifted, Words);
      const Words bounded = rounded > 0xFFFF ? Words{} + 0xFFFF : rounded;
      store_words(cells_ + a * kPackSize, bounded - static_cast<int>(kShift));
    }
  }

 private:
  static constexpr int kLeastExponent = 32;  // scales below stay normal numbers
  static constexpr float kShift = std::numeric_limits<Cell>::is_signed ? 0x1p15f : 0.0f;

  Cell* const cells_;
  std::uint8_t* const exponents_;
  const Pack<float> scale_;
  Pack<float> values_[most];
  Pack<float> largest_{};
};

}  // namespace equipoise
