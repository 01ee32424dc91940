// SPDX-License-Identifier: Apache-2.0
// Deals for blueprints: every player's bucket on every street and strength at the showdown, all looked up at once.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "betting_tree.hpp"
#include "handeval.hpp"
#include "random.hpp"

namespace equipoise {

struct BucketDeal {
  std::array<std::array<std::uint16_t, kNumStreets>, kMaxBettors> bucket;
  std::array<std::uint16_t, kMaxBettors> strength;
};

// An index below `size`; each as likely as the others but for one part in 2^32 / size.
inline std::uint32_t draw_below(Random& random, std::uint32_t size) {
  return static_cast<std::uint32_t>((random.next() >> 32) * size >> 32);
}

// A showdown of players who have put in unlike amounts: level by level, as `side_pots` of the rules.
inline float split_payoff(const BettingNode& end, const std::int32_t* side_pots, int num_players, const BucketDeal& deal,
                          int player, std::int32_t paid) {
  const std::int32_t* committed = side_pots + std::int64_t{end.first} * num_players;
  float won = static_cast<float>(-paid);
  std::int32_t below = 0;
  while (below < paid) {
    std::int32_t level = std::numeric_limits<std::int32_t>::max();
    for (std::uint32_t left = end.slot; left != 0; left &= left - 1) {
      const std::int32_t chips = committed[std::countr_zero(left)];
      if (chips > below) level = std::min(level, chips);
    }
    std::int32_t chips = 0;
    for (int seat = 0; seat < num_players; ++seat) {
      chips += std::min(committed[seat], level) - std::min(committed[seat], below);
    }
    int num_ties = 0, num_better = 0;
    for (std::uint32_t left = end.slot; left != 0; left &= left - 1) {
      const int seat = std::countr_zero(left);
      if (committed[seat] < level) continue;
      num_better += deal.strength[seat] > deal.strength[player];
      num_ties += deal.strength[seat] == deal.strength[player];
    }
    if (num_better == 0) won += static_cast<float>(chips) / static_cast<float>(num_ties);
    below = level;
  }
  return won;
}

// Chips that a player who is still in, and has paid so much, wins or loses at an end.
inline float end_payoff(const BettingNode& end, const std::int32_t* side_pots, int num_players, const BucketDeal& deal,
                        int player, std::int32_t paid) {
  if (end.ending() == BettingEnd::fold) return static_cast<float>(end.first - paid);
  if (end.ending() == BettingEnd::side_pots) [[unlikely]] {
    return split_payoff(end, side_pots, num_players, deal, player, paid);
  }
  const std::uint16_t own = deal.strength[player];
  int num_ties = 0;
  for (std::uint32_t left = end.slot; left != 0; left &= left - 1) {
    const std::uint16_t strength = deal.strength[std::countr_zero(left)];
    if (strength > own) return static_cast<float>(-paid);
    num_ties += strength == own;
  }
  return static_cast<float>(end.first) / static_cast<float>(num_ties) - static_cast<float>(paid);
}

// Canonical sets of cards of a deck whose suits are interchangeable, found by the ranks of each suit.
class SuitBoards {
 public:
  struct Place {
    std::uint32_t set;
    std::array<std::uint8_t, kNumSuits> suits;  // what each suit is called in the canonical set
  };

  // `is_in_deck` by suit; `sets` `[num_sets, size]`.
  SuitBoards(const std::uint8_t* sets, std::int64_t num_sets, int size, const std::array<bool, kNumSuits>& is_in_deck)
      : size_(size), bits_(std::bit_width(static_cast<std::uint64_t>(2 * num_sets + 1))) {
    std::uint32_t next[2] = {0, 0};
    const auto num_absent = static_cast<std::uint32_t>(std::count(is_in_deck.begin(), is_in_deck.end(), false));
    for (int suit = 0; suit < kNumSuits; ++suit) {  // suits that are not in the deck come last among empty ones
      code_[suit] = is_in_deck[suit] ? num_absent + next[1]++ : next[0]++;
      suit_of_code_[code_[suit]] = static_cast<std::uint8_t>(suit);
    }
    entries_.assign(std::size_t{1} << bits_, {empty, 0});
    for (std::int64_t set = 0; set < num_sets; ++set) {
      const auto [key, suits] = sort(sets + set * size);
      std::uint32_t packed = 0;
      for (int i = 0; i < kNumSuits; ++i) packed |= static_cast<std::uint32_t>(suits[i]) << (2 * i);
      std::uint64_t at = start(key);
      while (entries_[at].key != empty) at = (at + 1) & mask();
      entries_[at] = {key, static_cast<std::uint32_t>(set) << 8 | packed};
    }
  }

  Place find(const std::uint8_t* cards) const {
    const auto [key, suits] = sort(cards);
    std::uint64_t at = start(key);
    while (entries_[at].key != key) at = (at + 1) & mask();
    Place place{entries_[at].value >> 8, {}};
    for (int i = 0; i < kNumSuits; ++i) place.suits[suits[i]] = entries_[at].value >> (2 * i) & 3U;
    return place;
  }

  int size() const { return size_; }

 private:
  struct Entry {
    std::uint64_t key;
    std::uint32_t value;  // set | suits in the order of the key
  };
  static constexpr std::uint64_t empty = ~std::uint64_t{0};

  std::uint64_t mask() const { return (std::uint64_t{1} << bits_) - 1; }
  std::uint64_t start(std::uint64_t key) const { return key * 0x9E3779B97F4A7C15ULL >> (64 - bits_); }

  // The suits' masks of ranks in descending order, and whose they are.
  std::pair<std::uint64_t, std::array<std::uint8_t, kNumSuits>> sort(const std::uint8_t* cards) const {
    std::uint32_t masks[kNumSuits];
    for (int suit = 0; suit < kNumSuits; ++suit) masks[suit] = code_[suit];
    for (int i = 0; i < size_; ++i) masks[cards[i] & 3] += 4U << (cards[i] >> 2);
    const auto order = [&](int first, int second) {
      const std::uint32_t high = std::max(masks[first], masks[second]), low = std::min(masks[first], masks[second]);
      masks[first] = high;
      masks[second] = low;
    };
    order(0, 1), order(2, 3), order(0, 2), order(1, 3), order(1, 2);
    std::uint64_t key = 0;
    std::array<std::uint8_t, kNumSuits> suits;
    for (int i = 0; i < kNumSuits; ++i) {
      suits[i] = suit_of_code_[masks[i] & 3U];
      key = key << 13 | masks[i] >> 2;
    }
    return {key, suits};
  }

  int size_;
  int bits_;
  std::array<std::uint32_t, kNumSuits> code_{};
  std::array<std::uint8_t, kNumSuits> suit_of_code_{};
  std::vector<Entry> entries_;
};

// Buckets `[boards, H]` of a player on a street, in one byte or two.
struct BucketRows {
  const std::uint8_t* narrow = nullptr;
  const std::uint16_t* wide = nullptr;
  std::uint16_t at(std::size_t place) const { return narrow != nullptr ? narrow[place] : wide[place]; }
};

// Draws hands and a board. One for each thread: it shuffles a deck of its own.
class CardDealer {
 public:
  struct Tables {
    const HandEvaluator* evaluator;
    std::vector<std::uint8_t> cards;  // of the deck
    std::array<std::array<std::uint16_t, kNumCards>, kNumCards> hand{};  // number of a pair
    std::int64_t num_hands = 0;
    int num_players = 2, first_street = 0, last_street = 3;
    std::array<const SuitBoards*, kNumStreets> boards{};
    std::array<std::array<BucketRows, kNumStreets>, kMaxBettors> rows{};
    const std::uint16_t* cluster_of_flop = nullptr;  // [flops] null: all alike
    std::array<std::int32_t, kNumStreets> num_within{};  // buckets of a cluster
  };

  static constexpr std::array<int, kNumStreets> kBoardCards{0, 3, 4, 5};

  explicit CardDealer(const Tables& tables) : tables_(tables), deck_(tables.cards) {}

  void draw(Random& random, BucketDeal& deal) {
    const int num_board = kBoardCards[tables_.last_street];
    draw_cards(random, num_board + 2 * tables_.num_players,
               [&](const std::uint8_t* cards) { look_up(cards, cards + num_board, deal); });
  }

  // Draws hole cards alone, and buckets of the street before any board.
  void draw_hole(Random& random, std::uint8_t* hole, BucketDeal& deal) {
    const int count = 2 * tables_.num_players;
    draw_cards(random, count, [&](const std::uint8_t* cards) { std::copy_n(cards, count, hole); });
    look_up_hole(hole, deal);
  }

  void look_up_hole(const std::uint8_t* hole, BucketDeal& deal) const {
    for (int player = 0; player < tables_.num_players; ++player) {
      const int hand = tables_.hand[hole[2 * player]][hole[2 * player + 1]];
      deal.bucket[player][0] = tables_.rows[player][0].at(static_cast<std::size_t>(hand));
    }
  }

  // Of a board as long as the last street's and the hole cards of all players.
  void look_up(const std::uint8_t* board, const std::uint8_t* hole, BucketDeal& deal) const {
    int cluster = 0;
    for (int street = tables_.first_street; street <= tables_.last_street; ++street) {
      SuitBoards::Place place{0, {0, 1, 2, 3}};
      if (street > 0) place = tables_.boards[street]->find(board);
      if (street == 1 && tables_.cluster_of_flop != nullptr) cluster = tables_.cluster_of_flop[place.set];
      const int first_bucket = cluster * tables_.num_within[street];
      const std::size_t start = place.set * static_cast<std::size_t>(tables_.num_hands);
      for (int player = 0; player < tables_.num_players; ++player) {
        const int first = hole[2 * player], second = hole[2 * player + 1];
        const int hand = tables_.hand[(first & ~3) | place.suits[first & 3]][(second & ~3) | place.suits[second & 3]];
        const int within = tables_.rows[player][street].at(start + static_cast<std::size_t>(hand));
        deal.bucket[player][street] = static_cast<std::uint16_t>(first_bucket + within);
      }
    }
    const BoardEvaluator on_board(*tables_.evaluator, board, kBoardCards[tables_.last_street]);
    for (int player = 0; player < tables_.num_players; ++player) {
      deal.strength[player] = on_board.strength(hole[2 * player], hole[2 * player + 1]);
    }
  }

 private:
  // Calls `read(cards)` with so many cards; the deck is in order again afterwards, so that a draw depends on nothing
  // but its random numbers.
  template <typename Read>
  void draw_cards(Random& random, int count, Read&& read) {
    std::array<std::uint8_t, 5 + 2 * kMaxBettors> other;
    const auto size = static_cast<std::uint32_t>(deck_.size());
    for (int i = 0; i < count; ++i) {
      other[i] = static_cast<std::uint8_t>(i + draw_below(random, size - static_cast<std::uint32_t>(i)));
      std::swap(deck_[i], deck_[other[i]]);
    }
    read(deck_.data());
    for (int i = count - 1; i >= 0; --i) std::swap(deck_[i], deck_[other[i]]);
  }

  const Tables& tables_;
  std::vector<std::uint8_t> deck_;
};

// Draws from a list of deals: small games, whose deals can all be written down.
class ListDealer {
 public:
  struct Tables {
    const double* cumulative;        // [deals]
    const std::uint16_t* buckets;    // [deals, players, streets]
    const std::uint16_t* strengths;  // [deals, players]
    int num_deals, num_players;
  };

  explicit ListDealer(const Tables& tables) : tables_(tables) {}

  void draw(Random& random, BucketDeal& deal) {
    const int chosen = draw_cumulative(random, tables_.cumulative, tables_.num_deals);
    for (int player = 0; player < tables_.num_players; ++player) {
      const std::int64_t at = std::int64_t{chosen} * tables_.num_players + player;
      std::copy_n(tables_.buckets + at * kNumStreets, kNumStreets, deal.bucket[player].data());
      deal.strength[player] = tables_.strengths[at];
    }
  }

 private:
  const Tables& tables_;
};

}  // namespace equipoise
