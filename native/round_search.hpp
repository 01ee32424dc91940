// SPDX-License-Identifier: Apache-2.0
// One round of betting for two to six players, solved for their hands by external-sampling Monte Carlo CFR.
//
// Where the round ends and bets may follow is a leaf: everybody who is left chooses, for the hand held, among four
// continuations of a blueprint (as it is, and biased towards folds, calls and raises), and the rest of the hand is
// played out by them. Deals are drawn from ranges. Decisions may be fixed: their rows are followed and learn nothing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "betting_tree.hpp"
#include "blueprint_deals.hpp"
#include "random.hpp"

namespace equipoise {

constexpr int kContinuations = 4;  // as it is; towards folds, calls, raises

// Nodes are those of a betting tree with one subtree: a decision's slot is its player. A leaf has neither an ending nor
// actions, and its number stands in `first`. Children come after their parents.
struct RoundForm {
  const BettingNode* nodes;
  const std::int32_t* side_pots;  // [rows, players]
  std::int64_t num_nodes;
  int num_players, street;
  std::int64_t num_hands;
  std::uint32_t live;             // who holds cards
  const std::int32_t* width;      // [players] cells of a hand's row
  float* regrets;                 // players one after the other, [H, width]
  float* averages;                // in the same way
  std::array<std::int64_t, kMaxBettors> start{};
  const std::int32_t* fixed_row;  // [nodes] -1: free
  const float* fixed;             // [rows, H, A] one behind the other, at the places that `fixed_row` says
  // leaves
  const std::int32_t* leaf_node;    // [leaves] in the blueprint's tree
  const std::int32_t* leaf_offset;  // [leaves, players] in a hand's row; -1: does not choose
  const std::int32_t* leaf_paid;    // [leaves, players]
  const std::int32_t* image_paid;   // [leaves, players] in the blueprint
  const float* leaf_scale;          // [leaves] chips of the hand to one of the blueprint
  // the blueprint
  const BettingNode* plan_nodes;
  const std::int32_t* plan_side_pots;
  const std::int32_t* plan_width;   // [slots]
  const std::int64_t* plan_start;   // [slots] -1: never visited
  const std::uint8_t* plan_cells;   // parts of 255

  std::int64_t row(int player, std::int64_t hand) const { return start[player] + hand * width[player]; }
};

struct RoundSettings {
  int num_rollouts = 1;  // of a leaf's continuation
  float bias = 5.0F;     // by how much an action is likelier in a continuation that leans to it
};

struct RoundCounts {
  std::int64_t touched = 0;
  bool is_stuck = false;  // ranges that never fit together
};

// Draws hands from ranges that share no card, and the cards that are still to come.
class RangeDealer {
 public:
  // `cumulative` `[players, H]`: of who holds cards; `board`: what lies there.
  RangeDealer(const CardDealer::Tables& tables, const std::uint8_t* hole_cards, const double* cumulative,
              const std::uint8_t* board, int num_board, std::uint32_t live, int street)
      : tables_(tables), dealer_(tables), hole_cards_(hole_cards), cumulative_(cumulative), num_board_(num_board),
        live_(live), street_(street) {
    for (int i = 0; i < num_board; ++i) {
      cards_[i] = board[i];
      on_board_ |= std::uint64_t{1} << board[i];
    }
  }

  // Buckets of this round are numbers of hands. False: no hands were found that fit.
  bool draw(Random& random, BucketDeal& deal) {
    std::array<int, kMaxBettors> hand{};
    std::uint8_t hole[2 * kMaxBettors];
    std::uint64_t used = 0;
    for (int attempt = 0;; ++attempt) {
      if (attempt == most_attempts) return false;
      used = on_board_;
      if (draw_hands(random, hand, hole, used)) break;
    }
    for (int player = 0; player < tables_.num_players; ++player) {
      if ((live_ >> player & 1U) != 0) continue;
      for (int i = 0; i < 2; ++i) hole[2 * player + i] = draw_card(random, used);
    }
    for (int i = num_board_; i < 5; ++i) cards_[i] = draw_card(random, used);
    dealer_.look_up(cards_.data(), hole, deal);
    for (int player = 0; player < tables_.num_players; ++player) {
      deal.bucket[player][street_] = static_cast<std::uint16_t>(hand[player]);
    }
    return true;
  }

 private:
  static constexpr int most_attempts = 100'000;

  bool draw_hands(Random& random, std::array<int, kMaxBettors>& hand, std::uint8_t* hole, std::uint64_t& used) {
    for (int player = 0; player < tables_.num_players; ++player) {
      if ((live_ >> player & 1U) == 0) continue;
      hand[player] = draw_cumulative(random, cumulative_ + player * tables_.num_hands, static_cast<int>(tables_.num_hands));
      const std::uint8_t* own = hole_cards_ + 2 * hand[player];
      const std::uint64_t mask = std::uint64_t{1} << own[0] | std::uint64_t{1} << own[1];
      if ((used & mask) != 0) return false;
      used |= mask;
      hole[2 * player] = own[0];
      hole[2 * player + 1] = own[1];
    }
    return true;
  }

  std::uint8_t draw_card(Random& random, std::uint64_t& used) {
    while (true) {
      const std::uint8_t card = tables_.cards[draw_below(random, static_cast<std::uint32_t>(tables_.cards.size()))];
      if ((used >> card & 1U) != 0) continue;
      used |= std::uint64_t{1} << card;
      return card;
    }
  }

  const CardDealer::Tables& tables_;
  CardDealer dealer_;
  const std::uint8_t* hole_cards_;
  const double* cumulative_;
  int num_board_;
  std::uint32_t live_;
  int street_;
  std::uint64_t on_board_ = 0;
  std::array<std::uint8_t, 5> cards_{};
};

class RoundWalker {
 public:
  RoundWalker(const RoundForm& form, const RoundSettings& settings, RangeDealer dealer, Random random)
      : form_(form), settings_(settings), dealer_(dealer), random_(random) {}

  // One deal, which everybody who holds cards traverses.
  void iterate(const std::int32_t* paid) {
    if (!dealer_.draw(random_, deal_)) {
      counts.is_stuck = true;
      return;
    }
    for (int player = 0; player < form_.num_players; ++player) {
      if ((form_.live >> player & 1U) == 0) continue;
      me_ = player;
      traverse(0, paid[player]);
    }
  }

  const Random& random() const { return random_; }
  RoundCounts counts;

 private:
  std::int64_t hand_of(int player) const { return deal_.bucket[player][form_.street]; }
  float* row_of(int player, std::int64_t offset) const { return form_.regrets + form_.row(player, hand_of(player)) + offset; }

  const float* fixed_row_of(std::int64_t at) const {
    const BettingNode& node = form_.nodes[at];
    if (form_.fixed_row[at] < 0) return nullptr;
    return form_.fixed + form_.fixed_row[at] + hand_of(node.player()) * node.num_actions();
  }

  // What regrets play: their positive parts, or all alike.
  static void match(const float* regrets, int size, float* out) {
    float sum = 0.0F;
    for (int i = 0; i < size; ++i) sum += out[i] = std::max(regrets[i], 0.0F);
    for (int i = 0; i < size; ++i) out[i] = sum > 0.0F ? out[i] / sum : 1.0F / static_cast<float>(size);
  }

  int draw_share(const float* share, int size) {
    float left = static_cast<float>(random_.next() >> 40) * 0x1p-24F;
    int action = 0;
    while (action < size - 1 && left >= share[action]) left -= share[action++];
    return action;
  }

  float traverse(std::int64_t at, std::int32_t mine) {
    float share[kMostActions + 1];
    while (true) {  // the others' moves
      ++counts.touched;
      const BettingNode& node = form_.nodes[at];
      if (node.ending() != BettingEnd::none) {
        return end_payoff(node, form_.side_pots, form_.num_players, deal_, me_, mine);
      }
      if (node.num_actions() == 0) return leaf(node.first);
      if (node.num_actions() > 1 && node.player() == me_) break;
      at = node.first + (node.num_actions() == 1 ? 0 : choose(at, share));
    }
    const BettingNode& node = form_.nodes[at];
    const int num_actions = node.num_actions();
    const float* const fixed = fixed_row_of(at);
    float* const row = row_of(me_, node.offset);
    if (fixed != nullptr) {
      std::copy_n(fixed, num_actions, share);
    } else {
      match(row, num_actions, share);
    }
    float value[kMostActions + 1], mean = 0.0F;
    for (int i = 0; i < num_actions; ++i) {
      value[i] = 0.0F;
      if (fixed != nullptr && share[i] <= 0.0F) continue;
      const bool is_fold = i == 0 && node.has_fold();
      value[i] = is_fold ? static_cast<float>(-mine) : traverse(node.first + i, form_.nodes[node.first + i].amount());
      mean += share[i] * value[i];
    }
    if (fixed != nullptr) return mean;
    for (int i = 0; i < num_actions; ++i) row[i] += value[i] - mean;
    return mean;
  }

  int choose(std::int64_t at, float* share) {
    const BettingNode& node = form_.nodes[at];
    const float* shares = fixed_row_of(at);
    if (shares == nullptr) {
      match(row_of(node.player(), node.offset), node.num_actions(), share);
      shares = share;
    }
    return draw_share(shares, node.num_actions());
  }

  // Everybody chooses a continuation without seeing the others' choices; all of the traverser's are played out with the
  // same numbers.
  float leaf(std::int64_t number) {
    std::array<int, kMaxBettors> choice{};
    float share[kContinuations], value[kContinuations], mean = 0.0F;
    const std::int32_t* const offset = form_.leaf_offset + number * form_.num_players;
    for (int player = 0; player < form_.num_players; ++player) {
      if (player == me_ || offset[player] < 0) continue;
      match(row_of(player, offset[player]), kContinuations, share);
      choice[player] = draw_share(share, kContinuations);
    }
    if (offset[me_] < 0) return play_out_often(number, choice);
    float* const row = row_of(me_, offset[me_]);
    match(row, kContinuations, share);
    const Random before = random_;
    for (int own = 0; own < kContinuations; ++own) {
      random_ = before;
      choice[me_] = own;
      value[own] = play_out_often(number, choice);
      mean += share[own] * value[own];
    }
    for (int own = 0; own < kContinuations; ++own) row[own] += value[own] - mean;
    return mean;
  }

  float play_out_often(std::int64_t number, const std::array<int, kMaxBettors>& choice) {
    float sum = 0.0F;
    for (int i = 0; i < settings_.num_rollouts; ++i) sum += play_out(number, choice);
    return sum / static_cast<float>(settings_.num_rollouts);
  }

  // Chips that the traverser wins if the rest of the hand is played like that.
  float play_out(std::int64_t number, const std::array<int, kMaxBettors>& choice) {
    const std::int64_t place = number * form_.num_players + me_;
    const std::int32_t begun = form_.image_paid[place];
    std::int32_t mine = begun;
    const BettingNode* node = form_.plan_nodes + form_.leaf_node[number];
    while (node->ending() == BettingEnd::none) {
      ++counts.touched;
      const int action = follow(*node, choice[node->player()]);
      const bool is_fold = action == 0 && node->has_fold();
      const bool is_mine = node->player() == me_;
      if (is_mine && is_fold) return won(number, place, static_cast<float>(begun - mine));
      node = form_.plan_nodes + node->first + action;
      if (is_mine) mine = node->amount();
    }
    const float payoff = end_payoff(*node, form_.plan_side_pots, form_.num_players, deal_, me_, mine);
    return won(number, place, payoff + static_cast<float>(begun));
  }

  float won(std::int64_t number, std::int64_t place, float since) const {
    return form_.leaf_scale[number] * since - static_cast<float>(form_.leaf_paid[place]);
  }

  // An action of the blueprint, those of a kind so many times as likely.
  int follow(const BettingNode& node, int continuation) {
    const int num_actions = node.num_actions(), player = node.player();
    const std::int64_t start = form_.plan_start[node.slot];
    const std::int64_t bucket = deal_.bucket[player][node.street()];
    const std::uint8_t* const cells =
        start < 0 ? nullptr : form_.plan_cells + start + bucket * form_.plan_width[node.slot] + node.offset;
    float share[kMostActions + 1], sum = 0.0F;
    for (int i = 0; i < num_actions; ++i) {
      const int kind = i == 0 && node.has_fold() ? 1 : i == (node.has_fold() ? 1 : 0) && node.has_call() ? 2 : 3;
      share[i] = (cells == nullptr ? 1.0F : static_cast<float>(cells[i])) * (kind == continuation ? settings_.bias : 1.0F);
      sum += share[i];
    }
    float left = static_cast<float>(random_.next() >> 40) * 0x1p-24F * sum;
    int action = 0;
    while (action < num_actions - 1 && left >= share[action]) left -= share[action++];
    return action;
  }

  const RoundForm& form_;
  const RoundSettings& settings_;
  RangeDealer dealer_;
  Random random_;
  BucketDeal deal_{};
  int me_ = 0;
};

// Adds what is played now to the averages, weighed by each hand's own reach and by `weight`, then multiplies regrets and
// averages by `factor`. `reach` `[nodes]` is scratch.
inline void end_period(const RoundForm& form, float weight, float factor, float* reach) {
  for (int player = 0; player < form.num_players; ++player) {
    if ((form.live >> player & 1U) == 0) continue;
    for (std::int64_t hand = 0; hand < form.num_hands; ++hand) {
      float* const regrets = form.regrets + form.row(player, hand);
      float* const averages = form.averages + form.row(player, hand);
      reach[0] = weight;
      for (std::int64_t at = 0; at < form.num_nodes; ++at) {
        const BettingNode& node = form.nodes[at];
        const int num_actions = node.ending() == BettingEnd::none ? node.num_actions() : 0;
        if (node.player() != player || num_actions < 2) {
          for (int i = 0; i < num_actions; ++i) reach[node.first + i] = reach[at];
          continue;
        }
        float share[kMostActions + 1], sum = 0.0F;
        const float* const fixed =
            form.fixed_row[at] < 0 ? nullptr : form.fixed + form.fixed_row[at] + hand * num_actions;
        for (int i = 0; i < num_actions; ++i) {
          sum += share[i] = fixed != nullptr ? fixed[i] : std::max(regrets[node.offset + i], 0.0F);
        }
        for (int i = 0; i < num_actions; ++i) {
          share[i] = sum > 0.0F ? share[i] / sum : 1.0F / static_cast<float>(num_actions);
          averages[node.offset + i] += reach[at] * share[i];
          reach[node.first + i] = reach[at] * share[i];
        }
      }
      for (std::int32_t i = 0; i < form.width[player]; ++i) {
        regrets[i] *= factor;
        averages[i] *= factor;
      }
    }
  }
}

}  // namespace equipoise
