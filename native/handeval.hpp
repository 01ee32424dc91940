// SPDX-License-Identifier: Apache-2.0
// Strength of 5-, 6- and 7-card poker hands as an integer: 1 (weakest) to 7,462 (strongest), 0 for "no hand".
//
// A card is rank * 4 + suit. Each adds its key to a 64-bit sum that holds the counts of ranks 0-5 and of ranks 6-12 as
// base-5 numbers and the counts of suits in four-bit fields. A perfect hash without a search follows: the two base-5
// numbers give two indices whose sum is the position of the hand's ranks in a table of strengths. Tables fill
// in a few milliseconds and what 7-card hands touch of them (about 270 kB) stays in a second-level cache.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace equipoise {

constexpr int kNumRanks = 13;
constexpr int kNumSuits = 4;
constexpr int kNumCards = kNumRanks * kNumSuits;
constexpr int kMinHandCards = 5;
constexpr int kMaxHandCards = 7;
constexpr int kNumStrengths = 7463;  // 0 included

enum class HandCategory : std::uint8_t {
  high_card,
  pair,
  two_pair,
  trips,
  straight,
  flush,
  full_house,
  quads,
  straight_flush,
};
constexpr int kNumCategories = 9;

struct HandRules {
  std::uint32_t rank_mask = (1U << kNumRanks) - 1;  // ranks of the deck: straights are runs of these
  bool flush_beats_full_house = false;
  bool trips_beat_straight = false;
};

inline int card_rank(int card) { return card / kNumSuits; }
inline int card_suit(int card) { return card % kNumSuits; }

class HandEvaluator {
 public:
  explicit HandEvaluator(const HandRules& rules) : rules_(rules) {
    rank_categories();
    find_straights();
    number_classes();
    fill_keys();
    fill_tables();
  }

  // What a card adds to the sum of a hand; bytes that are no card add to a field of their own.
  std::uint64_t key(std::uint8_t card) const { return card_key_[card]; }

  // What the sum of a hand starts from: five cards of a suit set the top bit of its field.
  static constexpr std::uint64_t start_key() { return std::uint64_t{0x3333} << kSuitShift; }
  static constexpr std::uint64_t flush_bits() { return std::uint64_t{0x8888} << kSuitShift; }
  static constexpr int flush_suit(std::uint64_t sum) {
    return (static_cast<int>(std::bit_width(sum & flush_bits())) - 1 - kSuitShift) / 4;
  }

  // Strength of `num_cards` cards by their ranks alone.
  std::uint16_t rank_strength(int num_cards, std::uint64_t sum) const {
    const int size = num_cards - kMinHandCards;
    const std::uint32_t position = low_index_[size][(sum >> kLowShift) & kLowMask] + high_index_[sum & kHighMask];
    return rank_strength_[size][position];
  }

  // Strength of a flush or straight flush by the ranks of its suit; 0 if they are fewer than five.
  std::uint16_t flush_strength(std::uint32_t ranks) const { return flush_strength_[ranks]; }

  // Strength of a hand; 0 if a byte is no card.
  template <int num_cards>
  std::uint16_t strength(const std::uint8_t* cards) const {
    std::uint64_t sum = start_key();
    for (int i = 0; i < num_cards; ++i) sum += card_key_[cards[i]];
    if (sum & (flush_bits() | kForeignBits)) [[unlikely]] {
      if (sum & kForeignBits) return 0;
      const int suit = flush_suit(sum);
      std::uint32_t ranks = 0;
      for (int i = 0; i < num_cards; ++i) ranks |= std::uint32_t{card_suit(cards[i]) == suit} << card_rank(cards[i]);
      return flush_strength_[ranks];
    }
    return rank_strength(num_cards, sum);
  }

  HandCategory category(int strength) const { return static_cast<HandCategory>(category_[strength]); }

 private:
  static constexpr int kNumLow = 6, kNumHigh = kNumRanks - kNumLow;
  static constexpr std::uint32_t kLowCodes = 15625, kHighCodes = 78125;  // 5^6, 5^7
  static constexpr int kLowShift = 17, kSuitShift = 32, kForeignShift = 48;
  static constexpr std::uint64_t kForeignBits = std::uint64_t{7} << kForeignShift;  // up to seven of them
  static constexpr std::uint64_t kHighMask = (1U << 17) - 1, kLowMask = (1U << 15) - 1;
  static constexpr std::uint32_t kRanksMask = (1U << kNumRanks) - 1;

  using Counts = std::array<int, kNumRanks>;

  // Where each category stands in the order, weakest 0.
  void rank_categories() {
    for (int i = 0; i < kNumCategories; ++i) place_[i] = i;
    const auto swap = [this](HandCategory a, HandCategory b) {
      std::swap(place_[static_cast<int>(a)], place_[static_cast<int>(b)]);
    };
    if (rules_.flush_beats_full_house) swap(HandCategory::flush, HandCategory::full_house);
    if (rules_.trips_beat_straight) swap(HandCategory::trips, HandCategory::straight);
  }

  // Five neighbours among the deck's ranks, the ace also below the lowest. The last entries are the strongest.
  void find_straights() {
    std::vector<int> ranks;
    if (rules_.rank_mask >> (kNumRanks - 1) & 1) ranks.push_back(kNumRanks - 1);
    for (int rank = 0; rank < kNumRanks; ++rank) {
      if (rules_.rank_mask >> rank & 1) ranks.push_back(rank);
    }
    for (std::size_t first = 0; first + 5 <= ranks.size(); ++first) {
      std::uint32_t mask = 0;
      for (std::size_t i = first; i < first + 5; ++i) mask |= 1U << ranks[i];
      if (std::popcount(mask) == 5) straights_.push_back({mask, ranks[first + 4]});
    }
  }

  int straight_top(std::uint32_t ranks) const {
    for (std::size_t i = straights_.size(); i-- > 0;) {
      if ((ranks & straights_[i].ranks) == straights_[i].ranks) return straights_[i].top;
    }
    return -1;
  }

  // One number that compares as hands do: the category's place, then ranks in the order in which they decide.
  std::uint32_t order(HandCategory category, const std::vector<int>& ranks) const {
    std::uint32_t value = static_cast<std::uint32_t>(place_[static_cast<int>(category)]);
    for (std::size_t i = 0; i < 5; ++i) value = value << 4 | (i < ranks.size() ? static_cast<unsigned>(ranks[i]) : 0U);
    return value;
  }

  // The best five cards of a hand by its counts of ranks; suits do not matter.
  std::uint32_t best_order(const Counts& counts) const {
    // ranks in groups: the most numerous first, then the highest; a third pair or second trips only fill up
    std::vector<int> grouped;
    std::uint32_t mask = 0;
    for (int size = 4; size > 0; --size) {
      for (int rank = kNumRanks; rank-- > 0;) {
        if (counts[rank] == size) grouped.push_back(rank);
      }
    }
    for (int rank = 0; rank < kNumRanks; ++rank) mask |= std::uint32_t{counts[rank] > 0} << rank;
    const auto kickers = [&](std::vector<int> chosen, std::size_t wanted) {
      for (int rank = kNumRanks; rank-- > 0 && chosen.size() < wanted;) {
        if (counts[rank] > 0 && std::find(chosen.begin(), chosen.end(), rank) == chosen.end()) chosen.push_back(rank);
      }
      return chosen;
    };
    const int first = counts[grouped[0]], second = grouped.size() > 1 ? counts[grouped[1]] : 0;
    std::uint32_t best = 0;
    if (first == 4) {
      best = order(HandCategory::quads, kickers({grouped[0]}, 2));
    } else if (first == 3 && second >= 2) {
      best = order(HandCategory::full_house, {grouped[0], grouped[1]});
    } else if (first == 3) {
      best = order(HandCategory::trips, kickers({grouped[0]}, 3));
    } else if (first == 2 && second == 2) {
      best = order(HandCategory::two_pair, kickers({grouped[0], grouped[1]}, 3));
    } else if (first == 2) {
      best = order(HandCategory::pair, kickers({grouped[0]}, 4));
    } else {
      best = order(HandCategory::high_card, kickers({}, 5));
    }
    const int top = straight_top(mask);
    return top < 0 ? best : std::max(best, order(HandCategory::straight, {top}));
  }

  std::uint32_t flush_order(std::uint32_t ranks) const {
    const int top = straight_top(ranks);
    if (top >= 0) return order(HandCategory::straight_flush, {top});
    std::vector<int> highest;
    for (int rank = kNumRanks; rank-- > 0 && highest.size() < 5;) {
      if (ranks >> rank & 1) highest.push_back(rank);
    }
    return order(HandCategory::flush, highest);
  }

  // Calls `visit(code, counts)` for the counts of `width` ranks from `first` on with at most seven cards in all.
  template <typename Visit>
  static void for_each_counts(int first, int width, std::uint32_t num_codes, Visit&& visit) {
    for (std::uint32_t code = 0; code < num_codes; ++code) {
      Counts counts{};
      int total = 0;
      std::uint32_t rest = code;
      for (int i = 0; i < width; ++i, rest /= 5) total += counts[first + i] = static_cast<int>(rest % 5);
      if (total <= kMaxHandCards) visit(code, total, counts);
    }
  }

  // Lists all classes of five cards in their order; a strength is a position in the list, from 1.
  void number_classes() {
    std::vector<std::uint32_t>& orders = orders_;
    Counts counts{};
    const auto choose = [&](auto&& self, int rank, int left) -> void {
      if (rank == kNumRanks) {
        if (left == 0) orders.push_back(best_order(counts));
        return;
      }
      for (int count = 0; count <= std::min(left, 4); ++count) {
        counts[rank] = count;
        self(self, rank + 1, left - count);
      }
      counts[rank] = 0;
    };
    choose(choose, 0, 5);
    for (std::uint32_t ranks = 0; ranks <= kRanksMask; ++ranks) {
      if (std::popcount(ranks) == 5) orders.push_back(flush_order(ranks));
    }
    std::sort(orders.begin(), orders.end());
    std::array<int, kNumCategories> category_at{};
    for (int i = 0; i < kNumCategories; ++i) category_at[place_[i]] = i;
    category_.assign(kNumStrengths, 0);
    for (std::size_t i = 0; i < orders.size(); ++i) {
      category_[i + 1] = static_cast<std::uint8_t>(category_at[orders[i] >> 20]);
    }
  }

  std::uint16_t number_of(std::uint32_t order) const {
    return static_cast<std::uint16_t>(std::lower_bound(orders_.begin(), orders_.end(), order) - orders_.begin() + 1);
  }

  void fill_keys() {
    card_key_.fill(std::uint64_t{1} << kForeignShift);
    std::uint64_t power = 1;
    for (int rank = 0; rank < kNumRanks; ++rank, power *= 5) {
      if (rank == kNumLow) power = 1;
      for (int suit = 0; suit < kNumSuits; ++suit) {
        const std::uint64_t ranks = rank < kNumLow ? power << kLowShift : power;
        card_key_[rank * kNumSuits + suit] = ranks + (std::uint64_t{1} << (kSuitShift + 4 * suit));
      }
    }
  }

  // Tables are as long as seven cards of one rank would need, so that no input reads past them.
  void fill_tables() {
    std::array<std::vector<Counts>, kMaxHandCards + 1> highs;
    high_index_.assign(kMaxHandCards * (kHighCodes / 5) + 1, 0);
    for_each_counts(kNumLow, kNumHigh, kHighCodes, [&](std::uint32_t code, int total, const Counts& counts) {
      high_index_[code] = static_cast<std::uint16_t>(highs[total].size());
      highs[total].push_back(counts);
    });
    std::size_t most = 0;
    for (const auto& list : highs) most = std::max(most, list.size());
    for (int num_cards = kMinHandCards; num_cards <= kMaxHandCards; ++num_cards) {
      std::vector<std::uint16_t>& low_index = low_index_[num_cards - kMinHandCards];
      std::vector<std::uint16_t>& strengths = rank_strength_[num_cards - kMinHandCards];
      low_index.assign(kMaxHandCards * (kLowCodes / 5) + 1, 0);
      for_each_counts(0, kNumLow, kLowCodes, [&](std::uint32_t code, int total, const Counts& low) {
        if (total > num_cards) return;
        low_index[code] = static_cast<std::uint16_t>(strengths.size());
        for (const Counts& high : highs[num_cards - total]) {
          Counts counts = low;
          for (int rank = kNumLow; rank < kNumRanks; ++rank) counts[rank] = high[rank];
          strengths.push_back(number_of(best_order(counts)));
        }
      });
      strengths.resize(strengths.size() + most, 0);
    }
    flush_strength_.assign(kRanksMask + 1, 0);
    for (std::uint32_t ranks = 0; ranks <= kRanksMask; ++ranks) {
      const int num_cards = std::popcount(ranks);
      if (num_cards >= kMinHandCards && num_cards <= kMaxHandCards) {
        flush_strength_[ranks] = number_of(flush_order(ranks));
      }
    }
  }

  struct Straight {
    std::uint32_t ranks;
    int top;
  };

  HandRules rules_;
  std::array<int, kNumCategories> place_{};
  std::vector<Straight> straights_;
  std::vector<std::uint32_t> orders_;
  std::vector<std::uint8_t> category_;
  std::array<std::uint64_t, 256> card_key_;
  std::vector<std::uint16_t> high_index_;
  std::array<std::vector<std::uint16_t>, 3> low_index_;
  std::array<std::vector<std::uint16_t>, 3> rank_strength_;
  std::vector<std::uint16_t> flush_strength_;
};

// Overwrites `out` `[B]` with the strengths of hands `[B, num_cards]`; returns the lowest: 0 if a byte was no card.
template <int num_cards>
std::uint16_t evaluate_hands(const HandEvaluator& evaluator, const std::uint8_t* cards, std::int64_t num_hands,
                             std::uint16_t* out) {
  std::uint16_t lowest = kNumStrengths;
  for (std::int64_t i = 0; i < num_hands; ++i) {
    out[i] = evaluator.strength<num_cards>(cards + i * num_cards);
    lowest = std::min(lowest, out[i]);
  }
  return lowest;
}

// A board of three to five cards, prepared for many hole cards.
class BoardEvaluator {
 public:
  BoardEvaluator(const HandEvaluator& evaluator, const std::uint8_t* board, int num_board)
      : evaluator_(evaluator), num_cards_(num_board + 2), sum_(HandEvaluator::start_key()) {
    std::array<std::uint32_t, kNumSuits> ranks{};
    for (int i = 0; i < num_board; ++i) {
      sum_ += evaluator.key(board[i]);
      cards_ |= std::uint64_t{1} << board[i];
      ranks[card_suit(board[i])] |= 1U << card_rank(board[i]);
    }
    for (int suit = 0; suit < kNumSuits; ++suit) {
      if (std::popcount(ranks[suit]) < 3) continue;  // three at least, since hole cards bring two
      has_flush_ = true;
      flush_ranks_ = ranks[suit];
      flush_suit_ = suit;
    }
  }

  std::uint64_t cards() const { return cards_; }
  bool has_flush() const { return has_flush_; }

  // Strength with two hole cards that are not on the board.
  std::uint16_t strength(std::uint8_t first, std::uint8_t second) const {
    const std::uint16_t by_rank = rank_strength(first, second);
    return has_flush_ ? std::max(by_rank, flush_strength(first, second)) : by_rank;
  }

  std::uint16_t rank_strength(std::uint8_t first, std::uint8_t second) const {
    return evaluator_.rank_strength(num_cards_, sum_ + evaluator_.key(first) + evaluator_.key(second));
  }

  // 0 without a flush; a flush beats whatever else its own seven cards make, also when full houses rank below it.
  std::uint16_t flush_strength(std::uint8_t first, std::uint8_t second) const {
    return evaluator_.flush_strength(flush_ranks_ | flush_bit(first) | flush_bit(second));
  }

 private:
  std::uint32_t flush_bit(std::uint8_t card) const {
    return std::uint32_t{card_suit(card) == flush_suit_} << card_rank(card);
  }

  const HandEvaluator& evaluator_;
  int num_cards_;
  std::uint64_t sum_;
  std::uint64_t cards_ = 0;
  bool has_flush_ = false;
  std::uint32_t flush_ranks_ = 0;
  int flush_suit_ = 0;
};

// Overwrites `out` `[H]` with the strengths of hole cards `[H, 2]` on a board; 0 where they share a card with it.
// Ranks are evaluated once per pair of ranks (91), not per pair of cards.
inline void evaluate_hole_cards(const HandEvaluator& evaluator, const std::uint8_t* board, int num_board,
                                const std::uint8_t* hole_cards, std::int64_t num_hands, std::uint16_t* out) {
  const BoardEvaluator on_board(evaluator, board, num_board);
  std::array<std::uint16_t, kNumRanks * 16> by_ranks;
  for (int high = 0; high < kNumRanks; ++high) {
    for (int low = 0; low <= high; ++low) {
      const std::uint16_t strength = on_board.rank_strength(static_cast<std::uint8_t>(high * kNumSuits),
                                                            static_cast<std::uint8_t>(low * kNumSuits));
      by_ranks[high * 16 + low] = by_ranks[low * 16 + high] = strength;
    }
  }
  std::array<std::uint16_t, 64> live;  // all ones unless the card is on the board
  for (int card = 0; card < kNumCards; ++card) live[card] = on_board.cards() >> card & 1 ? 0 : 0xFFFF;
  const auto fill = [&](auto with_flush) {
    for (std::int64_t i = 0; i < num_hands; ++i) {
      const std::uint8_t first = hole_cards[2 * i], second = hole_cards[2 * i + 1];
      std::uint16_t strength = by_ranks[card_rank(first) * 16 + card_rank(second)];
      if constexpr (with_flush) strength = std::max(strength, on_board.flush_strength(first, second));
      out[i] = strength & live[first] & live[second];
    }
  };
  if (on_board.has_flush()) {
    fill(std::true_type{});
  } else {
    fill(std::false_type{});
  }
}

}  // namespace equipoise
