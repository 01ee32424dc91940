// SPDX-License-Identifier: Apache-2.0
// Values of many terminals of one board at once: columns are terminals, rows are hands in the order of their strength,
// and one walk over the rows with running sums (all hands, and those with each card) serves every column of a block.
#pragma once

#include <cstdint>
#include <limits>

#include "ahead.hpp"
#include "packs.hpp"

namespace equipoise {

constexpr int kDeckSize = 52;
constexpr std::uint64_t kAllCards = (1ull << kDeckSize) - 1;

// The hands of one player on one board, weakest first.
struct HandList {
  std::int32_t size;
  const std::uint8_t* cards;      // [H, 2]
  const std::int32_t* strength;   // [H] only compared
  const std::int32_t* same_hand;  // [H] row of the same cards among the other player's hands, -1 if it has none
  std::uint64_t held = kAllCards;  // cards among these hands, as bits; more will do
};

// Running sums of rows of `width` packs by card. Those over all rows are the caller's, an array that stays in registers.
template <typename Real, int width>
struct CardSums {
  using Total = Pack<Real>[width];

  Total by_card[kDeckSize];

  // Only of cards that somebody holds.
  void clear(std::uint64_t cards) {
    for (; cards; cards &= cards - 1) {
      Pack<Real>* const sums = by_card[__builtin_ctzll(cards)];
      for (int k = 0; k < width; ++k) sums[k] = Pack<Real>{};
    }
  }

  [[gnu::always_inline]] void add(const Real* row, const std::uint8_t* cards, Total& total) {
    Pack<Real>* const first = by_card[cards[0]];
    Pack<Real>* const second = by_card[cards[1]];
#pragma GCC unroll 8
    for (int k = 0; k < width; ++k) {
      const Pack<Real> reach = load_pack<Real>(row + k * kPackSize);
      total[k] += reach;
      first[k] += reach;
      second[k] += reach;
    }
  }

  // what was added without hands that hold one of the cards; a hand with both is taken off twice
  [[gnu::always_inline]] Pack<Real> without(const std::uint8_t* cards, int k, const Total& total) const {
    return total[k] - by_card[cards[0]][k] - by_card[cards[1]][k];
  }

  // Differences no larger than rounding are zero: a hand that meets nobody must not play on noise.
  [[gnu::always_inline]] static Pack<Real> clean(const Pack<Real>& rest, const Pack<Real>& total) {
    return choose(rest > total * kNoise, rest, Pack<Real>{});
  }

  static constexpr Real kNoise = 16 * std::numeric_limits<Real>::epsilon();
};

// Overwrites `value` [own hands, columns] with the other's reach [other hands, columns] of weaker hands minus stronger
// ones. The same cards have the same strength, so no hand is taken off twice.
template <typename Real, int width>
void compare_hands(const HandList& own, const HandList& other, const Real* reach, Real* value, Ahead& given) {
  constexpr int columns = width * kPackSize;
  Ahead ahead = given;  // of its own: as far as the compiler knows, packs are stored anywhere
  CardSums<Real, width> sums;
  const std::uint64_t held = own.held | other.held;
  Pack<Real> total[width]{};
  sums.clear(held);
  for (std::int32_t i = 0, j = 0; i < own.size; ++i) {
    ahead.step();
    for (; j < other.size && other.strength[j] < own.strength[i]; ++j) {
      sums.add(reach + j * columns, other.cards + 2 * j, total);
    }
#pragma GCC unroll 8
    for (int k = 0; k < width; ++k) {
      store_pack<Real>(value + i * columns + k * kPackSize,
                       sums.clean(sums.without(own.cards + 2 * i, k, total), total[k]));
    }
  }
  sums.clear(held);
#pragma GCC unroll 8
  for (int k = 0; k < width; ++k) total[k] = Pack<Real>{};
  for (std::int32_t i = own.size, j = other.size; i-- > 0;) {
    ahead.step();
    for (; j > 0 && other.strength[j - 1] > own.strength[i]; --j) {
      sums.add(reach + (j - 1) * columns, other.cards + 2 * (j - 1), total);
    }
#pragma GCC unroll 8
    for (int k = 0; k < width; ++k) {
      Real* const at = value + i * columns + k * kPackSize;
      store_pack<Real>(at, load_pack<Real>(at) - sums.clean(sums.without(own.cards + 2 * i, k, total), total[k]));
    }
  }
  given = ahead;
}

// Calls `work(row, pack, sum)` with the reach of all the other's hands that share no card with each own hand.
template <typename Real, int width, typename Work>
[[gnu::always_inline]] inline void for_compatible(const HandList& own, const HandList& other, const Real* reach,
                                                  Work&& work) {
  constexpr int columns = width * kPackSize;
  CardSums<Real, width> sums;
  Pack<Real> total[width]{};
  sums.clear(own.held | other.held);
  for (std::int32_t j = 0; j < other.size; ++j) sums.add(reach + j * columns, other.cards + 2 * j, total);
  for (std::int32_t i = 0; i < own.size; ++i) {
    const std::int32_t same = own.same_hand[i];
#pragma GCC unroll 8
    for (int k = 0; k < width; ++k) {
      Pack<Real> compatible = sums.without(own.cards + 2 * i, k, total);
      if (same >= 0) compatible += load_pack<Real>(reach + same * columns + k * kPackSize);
      work(i, k, sums.clean(compatible, total[k]));
    }
  }
}

// Overwrites `value` with those sums.
template <typename Real, int width>
void count_hands(const HandList& own, const HandList& other, const Real* reach, Real* value, Ahead& given) {
  Ahead ahead = given;
  for_compatible<Real, width>(own, other, reach, [&](std::int32_t row, int k, const Pack<Real>& sum) {
    if (k == 0) ahead.step();
    store_pack<Real>(value + (row * width + k) * kPackSize, sum);
  });
  given = ahead;
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

// One block of 1 to 8 packs of columns. With rake a showdown is worth, in stakes, the reach of weaker hands minus
// that of stronger ones minus `rake` times that of all: winner, loser and who splits the pot are each short of the
// same chips, once the stake is what the winner gets beyond a split. Asks for the memory `ahead` as it goes.
template <typename Real>
void evaluate_block(TerminalKind kind, int width, const HandList& own, const HandList& other, const double* rake,
                    const Real* reach, Real* value, Ahead& ahead) {
  const auto evaluate = [&]<int packs>() {
    if (kind == TerminalKind::fold) return count_hands<Real, packs>(own, other, reach, value, ahead);
    compare_hands<Real, packs>(own, other, reach, value, ahead);
    if (rake) subtract_rake<Real, packs>(own, other, rake, reach, value);
  };
  switch (width) {
    case 1:
      return evaluate.template operator()<1>();
    case 2:
      return evaluate.template operator()<2>();
    case 3:
      return evaluate.template operator()<3>();
    case 4:
      return evaluate.template operator()<4>();
    case 5:
      return evaluate.template operator()<5>();
    case 6:
      return evaluate.template operator()<6>();
    case 7:
      return evaluate.template operator()<7>();
    default:
      return evaluate.template operator()<8>();
  }
}

}  // namespace equipoise
