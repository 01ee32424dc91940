// SPDX-License-Identifier: Apache-2.0
// Values of many terminals of one board at once: columns are terminals, rows are hands in the order of their strength,
// and one walk over the rows with running sums (all hands, and those with each card) serves every column of a block.
#pragma once

#include <cstdint>
#include <limits>

#include "packs.hpp"

namespace equipoise {

constexpr int kDeckSize = 52;

// The hands of one player on one board, weakest first.
struct HandList {
  std::int32_t size;
  const std::uint8_t* cards;      // [H, 2]
  const std::int32_t* strength;   // [H] only compared
  const std::int32_t* same_hand;  // [H] row of the same cards among the other player's hands, -1 if it has none
};

// Running sums of rows of `width` packs.
template <typename Real, int width>
struct CardSums {
  Pack<Real> total[width];
  Pack<Real> by_card[kDeckSize][width];

  void clear() {
    for (int k = 0; k < width; ++k) total[k] = Pack<Real>{};
    for (auto& card : by_card) {
      for (int k = 0; k < width; ++k) card[k] = Pack<Real>{};
    }
  }

  [[gnu::always_inline]] void add(const Real* row, const std::uint8_t* cards) {
    Pack<Real>* const first = by_card[cards[0]];
    Pack<Real>* const second = by_card[cards[1]];
    for (int k = 0; k < width; ++k) {
      const Pack<Real> reach = load_pack<Real>(row + k * kPackSize);
      total[k] += reach;
      first[k] += reach;
      second[k] += reach;
    }
  }

  // what was added without hands that hold one of the cards; a hand with both is taken off twice
  [[gnu::always_inline]] Pack<Real> without(const std::uint8_t* cards, int k) const {
    return total[k] - by_card[cards[0]][k] - by_card[cards[1]][k];
  }

  // Differences no larger than rounding are zero: a hand that meets nobody must not play on noise.
  [[gnu::always_inline]] Pack<Real> clean(const Pack<Real>& rest, int k) const {
    return rest > total[k] * kNoise ? rest : Pack<Real>{};
  }

  static constexpr Real kNoise = 16 * std::numeric_limits<Real>::epsilon();
};

// Overwrites `value` [own hands, columns] with the other's reach [other hands, columns] of weaker hands minus stronger
// ones. The same cards have the same strength, so no hand is taken off twice.
template <typename Real, int width>
void compare_hands(const HandList& own, const HandList& other, const Real* reach, Real* value) {
  constexpr int columns = width * kPackSize;
  CardSums<Real, width> sums;
  sums.clear();
  for (std::int32_t i = 0, j = 0; i < own.size; ++i) {
    for (; j < other.size && other.strength[j] < own.strength[i]; ++j) sums.add(reach + j * columns, other.cards + 2 * j);
    for (int k = 0; k < width; ++k) {
      store_pack<Real>(value + i * columns + k * kPackSize, sums.clean(sums.without(own.cards + 2 * i, k), k));
    }
  }
  sums.clear();
  for (std::int32_t i = own.size, j = other.size; i-- > 0;) {
    for (; j > 0 && other.strength[j - 1] > own.strength[i]; --j) {
      sums.add(reach + (j - 1) * columns, other.cards + 2 * (j - 1));
    }
    for (int k = 0; k < width; ++k) {
      Real* const at = value + i * columns + k * kPackSize;
      store_pack<Real>(at, load_pack<Real>(at) - sums.clean(sums.without(own.cards + 2 * i, k), k));
    }
  }
}

// Calls `work(row, pack, sum)` with the reach of all the other's hands that share no card with each own hand.
template <typename Real, int width, typename Work>
[[gnu::always_inline]] inline void for_compatible(const HandList& own, const HandList& other, const Real* reach,
                                                  Work&& work) {
  constexpr int columns = width * kPackSize;
  CardSums<Real, width> sums;
  sums.clear();
  for (std::int32_t j = 0; j < other.size; ++j) sums.add(reach + j * columns, other.cards + 2 * j);
  for (std::int32_t i = 0; i < own.size; ++i) {
    const std::int32_t same = own.same_hand[i];
    for (int k = 0; k < width; ++k) {
      Pack<Real> compatible = sums.without(own.cards + 2 * i, k);
      if (same >= 0) compatible += load_pack<Real>(reach + same * columns + k * kPackSize);
      work(i, k, sums.clean(compatible, k));
    }
  }
}

// Overwrites `value` with those sums.
template <typename Real, int width>
void count_hands(const HandList& own, const HandList& other, const Real* reach, Real* value) {
  for_compatible<Real, width>(own, other, reach, [&](std::int32_t row, int k, const Pack<Real>& sum) {
    store_pack<Real>(value + (row * width + k) * kPackSize, sum);
  });
}

// Subtracts from `value` those sums times `rake` [columns].
template <typename Real, int width>
void subtract_rake(const HandList& own, const HandList& other, const double* rake, const Real* reach, Real* value) {
  Pack<Real> share[width];
  for (int k = 0; k < width; ++k) share[k] = load_pack<Real>(rake + k * kPackSize);
  for_compatible<Real, width>(own, other, reach, [&](std::int32_t row, int k, const Pack<Real>& sum) {
    Real* const at = value + (row * width + k) * kPackSize;
    store_pack<Real>(at, load_pack<Real>(at) - share[k] * sum);
  });
}

enum class TerminalKind { showdown, fold };

// One block of 1 to 4 packs of columns. With rake a showdown is worth, in stakes, the reach of weaker hands minus
// that of stronger ones minus `rake` times that of all: winner, loser and who splits the pot are each short of the
// same chips, once the stake is what the winner gets beyond a split.
template <typename Real>
void evaluate_block(TerminalKind kind, int width, const HandList& own, const HandList& other, const double* rake,
                    const Real* reach, Real* value) {
  const auto evaluate = [&]<int packs>() {
    if (kind == TerminalKind::fold) return count_hands<Real, packs>(own, other, reach, value);
    compare_hands<Real, packs>(own, other, reach, value);
    if (rake) subtract_rake<Real, packs>(own, other, rake, reach, value);
  };
  switch (width) {
    case 1:
      return evaluate.template operator()<1>();
    case 2:
      return evaluate.template operator()<2>();
    case 3:
      return evaluate.template operator()<3>();
    default:
      return evaluate.template operator()<4>();
  }
}

}  // namespace equipoise
