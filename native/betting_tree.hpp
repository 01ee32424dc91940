// SPDX-License-Identifier: Apache-2.0
// Betting of two to six players as flat arrays, without cards: counted without being built, or built into arrays.
//
// The rules are those of games/holdem/betting.py and menus.py, whose trees are the twin; stacks may differ. A street's
// subtree stands together, then what follows it, and children of a node side by side.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

namespace equipoise {

constexpr int kMaxBettors = 6;
constexpr int kNumStreets = 4;
constexpr int kMostActions = 31;             // actions of a decision: five bits
constexpr std::int32_t kMaxAmount = 1 << 17;  // chips of a player: eighteen bits, and raises may not overflow them

enum class BettingEnd : std::uint8_t { none = 0, fold = 1, showdown = 2, side_pots = 3 };

// One decision or end, in sixteen bytes.
//
// A decision: the first child; the slot of its block (a street's subtree and a player) and its place in a row of that.
// An end: chips in the pot, or the row of side pots; the mask of players left; nothing.
struct BettingNode {
  std::int32_t first;
  std::uint32_t slot;
  std::uint32_t offset;
  std::uint32_t packed;

  BettingEnd ending() const { return static_cast<BettingEnd>(packed & 3U); }
  int street() const { return static_cast<int>(packed >> 2 & 3U); }
  int player() const { return static_cast<int>(packed >> 4 & 7U); }
  bool has_fold() const { return (packed >> 7 & 1U) != 0; }
  bool has_call() const { return (packed >> 8 & 1U) != 0; }
  int num_actions() const { return static_cast<int>(packed >> 9 & 31U); }
  std::int32_t amount() const { return static_cast<std::int32_t>(packed >> 14); }  // that the actor before has put in
};
static_assert(sizeof(BettingNode) == 16);

// As `BettingRules`; sizes 0 and caps beyond all raises where there are none.
struct BettingTerms {
  int num_players = 2, first_street = 0, last_street = 3;
  std::int32_t small_blind = 0, big_blind = 1, ante = 0, pot = 0;
  bool is_limit = false;
  std::array<std::int32_t, kMaxBettors> stacks{};
  std::array<std::int32_t, kNumStreets> bet_sizes{}, max_raises{};
};

struct BetSizeEntry {
  double kind;  // SizeKind by number, see below
  double amount;
};
enum class SizeUnit : int { pot = 0, multiple = 1, chips = 2, geometric = 3, smallest = 4, all_in = 5 };

struct RoundTerms {
  std::int32_t first_list, num_lists, donk_list, max_raises;  // -1: none
};
struct MenuTerms {
  double counts_actions, merge_percent, force_percent, has_limps;
};

// Menus by the number of players left; pointers into arrays of the caller's.
struct MenuTable {
  const BetSizeEntry* sizes;
  const std::int32_t* list_start;  // [lists + 1]
  const RoundTerms* rounds;        // [num_players + 1, streets, 2]
  const MenuTerms* terms;          // [num_players + 1]
};

struct BettingCounts {
  std::array<std::int64_t, kNumStreets> decisions{}, actions{};
  std::int64_t ends = 0, subtrees = 0, side_pots = 0, widest = 0;

  void add(const BettingCounts& other) {
    for (int street = 0; street < kNumStreets; ++street) {
      decisions[street] += other.decisions[street];
      actions[street] += other.actions[street];
    }
    ends += other.ends;
    subtrees += other.subtrees;
    side_pots += other.side_pots;
    widest = std::max(widest, other.widest);
  }
};

struct BettingPlace {
  std::array<std::int32_t, kMaxBettors> committed{}, stacks{};
  std::int32_t price = 0, base = 0, raise_size = 0;
  int street = 0, actor = 0, num_raises = 0, num_acted = 0, aggressor = -1, initiative = -1;
  std::uint32_t folded = 0, acted = 0;
};

class BettingWalk {
 public:
  enum class Stage { act, deal, fold, showdown };
  using Totals = std::array<std::int32_t, 64>;

  BettingWalk(const BettingTerms& terms, const MenuTable& menus) : terms_(terms), menus_(menus) {
    for (int left = 2; left <= terms.num_players; ++left) {
      for (int i = 0; i < 2 * kNumStreets; ++i) has_donks_ |= menus.rounds[left * 2 * kNumStreets + i].donk_list >= 0;
    }
  }

  // Nodes of each kind; subtrees that begin alike are counted once and added.
  BettingCounts count() {
    BettingPlace place;
    const Stage stage = open(place);
    if (stage == Stage::act) return count_street(place);
    BettingCounts counts;
    counts.ends = 1;
    return counts;
  }

  // Writes arrays of the sizes that `count` told: nodes, by slot the width of a row and the street, side pots
  // `[rows, players]`. The root must be a decision.
  void build(BettingNode* nodes, std::int32_t* width, std::int32_t* side_pots) {
    nodes_ = nodes;
    width_ = width;
    side_pots_ = side_pots;
    num_nodes_ = 1;
    num_slots_ = num_side_pots_ = 0;
    BettingPlace root;
    open(root);
    nodes_[0] = {};
    std::vector<std::pair<std::int64_t, BettingPlace>> pending{{0, root}};
    while (!pending.empty()) {
      const auto [node, place] = pending.back();
      pending.pop_back();
      first_slot_ = num_slots_;
      num_slots_ += terms_.num_players;
      std::fill(width_ + first_slot_, width_ + num_slots_, 0);
      grow(node, place, pending);
    }
  }

 private:
  struct Key {
    std::array<std::int32_t, kMaxBettors> committed;
    std::int32_t price;
    std::uint32_t rest;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash = 0x9E3779B97F4A7C15ULL ^ key.rest;
      for (const std::int32_t chips : key.committed) hash = (hash ^ static_cast<std::uint64_t>(chips)) * 0xD6E8FEB86659FD93ULL;
      hash = (hash ^ static_cast<std::uint64_t>(key.price)) * 0xD6E8FEB86659FD93ULL;
      return static_cast<std::size_t>(hash ^ hash >> 32);
    }
  };
  static constexpr std::size_t most_kept = 8'000'000;  // subtrees whose counts are kept: half a gigabyte or so

  bool is_folded(const BettingPlace& place, int seat) const { return (place.folded >> seat & 1U) != 0; }
  int num_left(const BettingPlace& place) const { return terms_.num_players - std::popcount(place.folded); }

  std::int32_t pot(const BettingPlace& place) const {
    std::int32_t chips = 0;
    for (int seat = 0; seat < terms_.num_players; ++seat) chips += place.committed[seat];
    return chips;
  }

  std::int32_t to_call(const BettingPlace& place, int player) const {
    std::int32_t contested = 0;
    for (int seat = 0; seat < terms_.num_players; ++seat) {
      if (seat != player && !is_folded(place, seat)) {
        contested = std::max(contested, place.committed[seat] + place.stacks[seat]);
      }
    }
    const std::int32_t missing = std::min(place.price, contested) - place.committed[player];
    return std::min(std::max(missing, 0), place.stacks[player]);
  }

  std::int32_t pot_after_call(const BettingPlace& place) const { return pot(place) + to_call(place, place.actor); }

  bool can_be_called(const BettingPlace& place, int player) const {
    for (int seat = 0; seat < terms_.num_players; ++seat) {
      if (seat != player && place.stacks[seat] != 0 && !is_folded(place, seat)) return true;
    }
    return false;
  }

  bool must_act(const BettingPlace& place, int player) const {
    if (is_folded(place, player) || place.stacks[player] == 0) return false;
    if (to_call(place, player) != 0) return true;
    return (place.acted >> player & 1U) == 0 && can_be_called(place, player);
  }

  Stage pass_turn(BettingPlace& place, int first) const {
    if (num_left(place) == 1) return Stage::fold;
    for (int step = 0; step < terms_.num_players; ++step) {
      const int seat = (first + step) % terms_.num_players;
      if (!must_act(place, seat)) continue;
      place.actor = seat;
      return Stage::act;
    }
    return place.street == terms_.last_street ? Stage::showdown : Stage::deal;
  }

  std::int32_t street_bet(int street) const { return terms_.is_limit ? terms_.bet_sizes[street] : terms_.big_blind; }

  Stage open(BettingPlace& place) const {
    const bool is_preflop = terms_.first_street == 0;
    const int small = terms_.num_players == 2 ? 1 : 0, big = 1 - small;
    const std::int32_t share = terms_.pot / terms_.num_players;
    for (int seat = 0; seat < terms_.num_players; ++seat) {
      const std::int32_t blind = seat == small ? terms_.small_blind : seat == big ? terms_.big_blind : 0;
      place.committed[seat] = is_preflop ? std::min(terms_.ante + blind, terms_.stacks[seat]) : share;
      place.stacks[seat] = terms_.stacks[seat] - (is_preflop ? place.committed[seat] : 0);
    }
    place.street = terms_.first_street;
    place.base = is_preflop ? terms_.ante : share;
    place.price = is_preflop ? place.base + terms_.big_blind : place.base;
    place.raise_size = street_bet(place.street);
    return through(place, pass_turn(place, is_preflop ? big + 1 : 0));
  }

  // Deals on where nobody can bet any more.
  Stage through(BettingPlace& place, Stage stage) const {
    while (stage == Stage::deal) {
      stage = next_street(place);
      if (stage == Stage::act) return Stage::deal;  // a street begins
    }
    return stage;
  }

  Stage next_street(BettingPlace& place) const {
    ++place.street;
    place.acted = 0;
    place.base = place.price;
    place.raise_size = street_bet(place.street);
    place.num_raises = place.num_acted = 0;
    place.initiative = place.aggressor;
    place.aggressor = -1;
    return pass_turn(place, 0);
  }

  // Fold 0, call 1, or a total; the place is at the next decision if there is one, and `deal` says it begins a street.
  Stage apply(BettingPlace& place, std::int32_t action) const {
    const int actor = place.actor;
    std::int32_t paid = 0;
    if (action == 0) {
      place.folded |= 1U << actor;
    } else if (action == 1) {
      paid = to_call(place, actor);
    } else {
      paid = action - place.committed[actor];
      if (!terms_.is_limit) place.raise_size = std::max(place.raise_size, action - place.price);
      place.price = action;
      ++place.num_raises;
      place.aggressor = actor;
    }
    place.committed[actor] += paid;
    place.stacks[actor] -= paid;
    place.acted |= 1U << actor;
    ++place.num_acted;
    return through(place, pass_turn(place, actor + 1));
  }

  // Totals that the rules allow, first and last; first above last: none.
  std::pair<std::int32_t, std::int32_t> legal_raises(const BettingPlace& place) const {
    constexpr std::pair<std::int32_t, std::int32_t> none{1, 0};
    const int actor = place.actor;
    const std::int32_t all_in = place.committed[actor] + place.stacks[actor];
    if (all_in <= place.price || !can_be_called(place, actor)) return none;
    if (place.num_raises >= terms_.max_raises[place.street]) return none;
    const std::int32_t facing = place.price - place.committed[actor];
    const bool is_full = (terms_.is_limit ? 2 * facing : facing) >= place.raise_size;
    if ((place.acted >> actor & 1U) != 0 && !is_full) return none;
    const std::int32_t smallest = std::min(place.price + place.raise_size, all_in);
    return {smallest, terms_.is_limit ? smallest : all_in};
  }

  int position(const BettingPlace& place) const {
    for (int seat = place.actor + 1; seat < terms_.num_players; ++seat) {
      if (!is_folded(place, seat)) return 0;
    }
    return 1;
  }

  int list_of_sizes(const BettingPlace& place, const MenuTerms& menu, const RoundTerms& round) const {
    const bool has_initiative = place.initiative >= 0 && !is_folded(place, place.initiative);
    const bool is_donk = has_initiative && place.initiative > place.actor && place.num_raises == 0;
    if (round.donk_list >= 0 && is_donk) return round.donk_list;
    if (round.num_lists == 0) return -1;
    const int number = menu.counts_actions != 0.0 ? place.num_acted : place.num_raises;
    return round.first_list + std::min(number, round.num_lists - 1);
  }

  static std::int32_t round_half_up(double chips) { return static_cast<std::int32_t>(std::floor(chips + 0.5)); }

  // Before it is fitted to the rules; -1 where the size says nothing.
  std::int32_t total_of(const BettingPlace& place, const BetSizeEntry& size, std::int32_t all_in) const {
    const double most = all_in;
    switch (static_cast<SizeUnit>(static_cast<int>(size.kind))) {
      case SizeUnit::pot:
        return place.price + round_half_up(std::min(size.amount * pot_after_call(place) / 100, most));
      case SizeUnit::multiple: {
        const std::int32_t bet = place.price - place.base;
        return bet != 0 ? place.base + round_half_up(std::min(size.amount * bet, most)) : -1;
      }
      case SizeUnit::chips: {
        const double total = place.base + std::floor(size.amount + 0.5);
        const bool is_legal = total >= std::min(place.price + place.raise_size, all_in);
        return is_legal ? static_cast<std::int32_t>(std::min(total, most)) : -1;
      }
      case SizeUnit::geometric: {
        const int stated = static_cast<int>(size.amount);
        const int num_bets = stated != 0 ? stated : terms_.last_street - place.street + 1;
        const double in_pot = pot_after_call(place);
        const double growth = (in_pot + 2.0 * (all_in - place.price)) / in_pot;
        const double fraction = (std::pow(growth, 1.0 / num_bets) - 1.0) / 2.0;
        return place.price + round_half_up(fraction * in_pot);
      }
      case SizeUnit::smallest:
        return place.price;
      case SizeUnit::all_in:
        break;
    }
    return all_in;
  }

  // Writes the raises that the menu lets the actor choose from, ascending; returns how many.
  int raises(const BettingPlace& place, std::int32_t* out) const {
    const auto [lowest, highest] = legal_raises(place);
    if (lowest > highest) return 0;
    const int left = num_left(place);
    const MenuTerms& menu = menus_.terms[left];
    const RoundTerms& round = menus_.rounds[(left * kNumStreets + place.street) * 2 + position(place)];
    if (round.max_raises >= 0 && place.num_raises >= round.max_raises) return 0;
    const int list = list_of_sizes(place, menu, round);
    if (list < 0) return 0;
    std::int32_t all_in = lowest;
    for (int seat = 0; seat < terms_.num_players; ++seat) {
      if (seat != place.actor && !is_folded(place, seat)) {
        all_in = std::max(all_in, place.committed[seat] + place.stacks[seat]);
      }
    }
    all_in = std::min(all_in, highest);
    int count = 0;
    for (std::int32_t i = menus_.list_start[list]; i < menus_.list_start[list + 1]; ++i) {
      std::int32_t total = total_of(place, menus_.sizes[i], all_in);
      if (total < 0) continue;
      total = std::min(std::max(total, lowest), all_in);
      const double called_pot = pot_after_call(place) + 2.0 * (total - place.price);
      if (menu.force_percent != 0.0 && all_in - total < menu.force_percent / 100 * called_pot) total = all_in;
      out[count++] = total;
    }
    std::sort(out, out + count);
    count = static_cast<int>(std::unique(out, out + count) - out);
    if (menu.merge_percent == 0.0) return count;
    return merge(out, count, pot_after_call(place) - place.price, 1 + menu.merge_percent / 100);
  }

  // Of two totals whose pots are closer than the factor the smaller goes.
  static int merge(std::int32_t* totals, int count, std::int32_t offset, double factor) {
    int first = count;
    for (int i = count - 1; i >= 0; --i) {
      if (first == count || totals[first] + offset >= factor * (totals[i] + offset)) totals[--first] = totals[i];
    }
    std::copy(totals + first, totals + count, totals);
    return count - first;
  }

  // Fold 0, call 1, totals.
  int actions(const BettingPlace& place, std::int32_t* out) const {
    Totals found;
    const int num_raises = raises(place, found.data());
    int count = 0;
    const bool faces_bet = to_call(place, place.actor) != 0;
    if (faces_bet) out[count++] = 0;
    const bool is_limp = faces_bet && place.street == 0 && place.num_raises == 0;
    const bool is_barred = is_limp && num_raises != 0 && menus_.terms[num_left(place)].has_limps == 0.0;
    if (!is_barred) out[count++] = 1;
    std::copy(found.data(), found.data() + num_raises, out + count);
    return count + num_raises;
  }

  bool has_side_pots(const BettingPlace& place) const {
    std::int32_t level = -1;
    for (int seat = 0; seat < terms_.num_players; ++seat) {
      if (is_folded(place, seat)) continue;
      if (level >= 0 && place.committed[seat] != level) return true;
      level = place.committed[seat];
    }
    return false;
  }

  BettingCounts count_street(const BettingPlace& place) {
    Key key{place.committed, place.price, place.folded | static_cast<std::uint32_t>(place.street) << 8};
    if (has_donks_) key.rest |= static_cast<std::uint32_t>(place.initiative + 1) << 16;
    if (const auto found = kept_.find(key); found != kept_.end()) return found->second;
    BettingCounts counts;
    counts.subtrees = 1;
    count_below(place, counts);
    if (kept_.size() < most_kept) kept_.emplace(key, counts);
    return counts;
  }

  void count_below(const BettingPlace& place, BettingCounts& counts) {
    Totals choices;
    const int num_actions = actions(place, choices.data());
    ++counts.decisions[place.street];
    counts.actions[place.street] += num_actions;
    counts.widest = std::max<std::int64_t>(counts.widest, num_actions);
    for (int i = 0; i < num_actions; ++i) {
      BettingPlace next = place;
      const Stage stage = apply(next, choices[i]);
      if (stage == Stage::act) {
        count_below(next, counts);
      } else if (stage == Stage::deal) {
        counts.add(count_street(next));
      } else {
        ++counts.ends;
        counts.side_pots += stage == Stage::showdown && has_side_pots(next);
      }
    }
  }

  void grow(std::int64_t node, const BettingPlace& place, std::vector<std::pair<std::int64_t, BettingPlace>>& pending) {
    Totals choices;
    const int num_actions = actions(place, choices.data());
    const std::int64_t first = num_nodes_;
    num_nodes_ += num_actions;
    const std::int64_t slot = first_slot_ + place.actor;
    BettingNode& own = nodes_[node];
    own.first = static_cast<std::int32_t>(first);
    own.slot = static_cast<std::uint32_t>(slot);
    own.offset = static_cast<std::uint32_t>(width_[slot]);
    const bool has_fold = choices[0] == 0, has_call = choices[has_fold ? 1 : 0] == 1;
    own.packed |= static_cast<std::uint32_t>(place.street) << 2 | static_cast<std::uint32_t>(place.actor) << 4 |
                  static_cast<std::uint32_t>(has_fold) << 7 | static_cast<std::uint32_t>(has_call) << 8 |
                  static_cast<std::uint32_t>(num_actions) << 9;
    width_[slot] += num_actions;
    for (int i = 0; i < num_actions; ++i) {
      BettingPlace next = place;
      const Stage stage = apply(next, choices[i]);
      BettingNode& child = nodes_[first + i];
      child = {};
      child.packed = static_cast<std::uint32_t>(next.committed[place.actor]) << 14;
      if (stage == Stage::act) {
        grow(first + i, next, pending);
      } else if (stage == Stage::deal) {
        pending.emplace_back(first + i, next);
      } else {
        finish(child, next, stage);
      }
    }
  }

  void finish(BettingNode& end, const BettingPlace& place, Stage stage) {
    const bool is_split = stage == Stage::showdown && has_side_pots(place);
    const BettingEnd ending = stage == Stage::fold ? BettingEnd::fold : is_split ? BettingEnd::side_pots : BettingEnd::showdown;
    end.packed |= static_cast<std::uint32_t>(ending) | static_cast<std::uint32_t>(place.street) << 2;
    end.slot = ~place.folded & ((1U << terms_.num_players) - 1);
    end.first = pot(place);
    if (!is_split) return;
    end.first = static_cast<std::int32_t>(num_side_pots_);
    std::copy_n(place.committed.data(), terms_.num_players, side_pots_ + num_side_pots_++ * terms_.num_players);
  }

  BettingTerms terms_;
  MenuTable menus_;
  bool has_donks_ = false;
  std::unordered_map<Key, BettingCounts, KeyHash> kept_;
  BettingNode* nodes_ = nullptr;
  std::int32_t* width_ = nullptr;
  std::int32_t* side_pots_ = nullptr;
  std::int64_t num_nodes_ = 0, num_slots_ = 0, num_side_pots_ = 0, first_slot_ = 0;
};

}  // namespace equipoise
