// SPDX-License-Identifier: Apache-2.0
// Blueprints whose streets from the flop on are trained apart, disjoint by cluster of flops: a head has the first street.
//
// For each deal the head draws hole cards and walks the first street for every player; each place where it cannot go on
// alone is a question. Every cluster draws one of its flops for each deal, goes on from there on tables of its own, and
// answers with what the traverser wins; the head weighs clusters by how many of their flops the hands leave, and learns.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "blueprint.hpp"
#include "blueprint_deals.hpp"

namespace equipoise {

// Where a traversal leaves the first street: the tables of a cluster are asked what the player wins, who has paid so much.
struct ClusterQuestion {
  std::int32_t deal, player, node, paid;
};

struct ClusterQuestions {
  std::vector<ClusterQuestion> asked;  // in the order of the head's walk
  std::vector<ClusterQuestion> walks;  // for the average, that go on behind the first street
  std::vector<std::uint8_t> taken;     // what others did, in the order of the head's walk
};

class ClusterHead : public BlueprintWalker<CardDealer> {
 public:
  using BlueprintWalker::BlueprintWalker;

  // One deal of hole cards `[2 * players]`, which every player traverses as far as the first street goes.
  void ask(std::int32_t deal, bool walks, std::uint8_t* hole, ClusterQuestions& out) {
    dealer_.draw_hole(random_, hole, deal_);
    for (int player = 0; player < form_.num_players; ++player) {
      me_ = player;
      walk_down(deal, 0, form_.posted[player], out);
      if (!walks) continue;
      const BettingNode* const end = walk_average(form_.nodes);
      if (end == nullptr || end->ending() != BettingEnd::none) continue;
      out.walks.push_back({deal, player, static_cast<std::int32_t>(end - form_.nodes), 0});
    }
    ++counts.deals;
  }

  // Takes in what its questions about a deal are worth; `values` and `taken` go on to what the next deal reads.
  void learn(const std::uint8_t* hole, const float*& values, const std::uint8_t*& taken) {
    dealer_.look_up_hole(hole, deal_);
    for (int player = 0; player < form_.num_players; ++player) {
      me_ = player;
      back_up(0, form_.posted[player], values, taken);
    }
  }

 private:
  bool is_here(const BettingNode& node) const { return node.ending() == BettingEnd::none && node.street() == 0; }

  void walk_down(std::int32_t deal, std::int64_t at, std::int32_t mine, ClusterQuestions& out) {
    const BettingNode* node = form_.nodes + at;
    ++counts.touched;
    while (is_here(*node) && node->player() != me_) {
      const int action = sample(*node);
      out.taken.push_back(static_cast<std::uint8_t>(action));
      node = form_.nodes + node->first + action;
      ++counts.touched;
    }
    if (node->ending() == BettingEnd::fold) return;
    if (!is_here(*node)) {
      out.asked.push_back({deal, me_, static_cast<std::int32_t>(node - form_.nodes), mine});
      return;
    }
    for (int i = 0; i < node->num_actions(); ++i) {
      const bool is_fold = i == 0 && node->has_fold();
      counts.touched += is_fold;
      if (!is_fold) walk_down(deal, node->first + i, form_.nodes[node->first + i].amount(), out);
    }
  }

  float back_up(std::int64_t at, std::int32_t mine, const float*& values, const std::uint8_t*& taken) {
    const BettingNode* node = form_.nodes + at;
    while (is_here(*node) && node->player() != me_) node = form_.nodes + node->first + *taken++;
    if (node->ending() == BettingEnd::fold) return payoff(*node, mine);
    if (!is_here(*node)) return *values++;
    std::uint32_t base = base_of(node->slot);
    if (base == 0) base = allocate(node->slot);
    std::int32_t nothing[kMostActions + 1] = {};  // where the arena is full
    std::int32_t* const row = base != 0 ? row_of(*node, base) : nothing;
    float share[kMostActions + 1], value[kMostActions + 1], mean = 0.0F;
    play_row(row, node->num_actions(), share);
    for (int i = 0; i < node->num_actions(); ++i) {
      const bool is_fold = i == 0 && node->has_fold();
      value[i] = is_fold ? static_cast<float>(-mine)
                         : back_up(node->first + i, form_.nodes[node->first + i].amount(), values, taken);
      mean += share[i] * value[i];
    }
    for (int i = 0; i < node->num_actions(); ++i) add_regret(row[i], value[i] - mean);
    return mean;
  }
};

// One cluster, whose buckets are those within it.
class ClusterWorker : public BlueprintWalker<CardDealer> {
 public:
  // `flops` `[num_flops, 3]`: all of the cluster, every order of suits by itself.
  ClusterWorker(const BlueprintForm& form, const BlueprintSettings& settings, const CardDealer::Tables& tables,
                Random random, const std::uint8_t* flops, std::int64_t num_flops)
      : BlueprintWalker(form, settings, tables, random), tables_(tables), flops_(flops), num_flops_(num_flops) {}

  // Deals a board to hole cards `[2 * players]`; returns how many flops of the cluster they leave, of which it is one.
  std::int32_t deal(const std::uint8_t* hole) {
    std::uint64_t used = 0;
    for (int i = 0; i < 2 * form_.num_players; ++i) used |= std::uint64_t{1} << hole[i];
    std::int32_t num_fits = 0;
    for (std::int64_t flop = 0; flop < num_flops_; ++flop) num_fits += (used & mask_of(flop)) == 0;
    if (num_fits == 0) return 0;
    auto left = static_cast<std::int32_t>(draw_below(random_, static_cast<std::uint32_t>(num_fits)));
    std::int64_t flop = 0;
    while ((used & mask_of(flop)) != 0 || left-- > 0) ++flop;
    std::array<std::uint8_t, 5> board;
    std::copy_n(flops_ + 3 * flop, 3, board.data());
    used |= mask_of(flop);
    for (int i = 3; i < CardDealer::kBoardCards[tables_.last_street]; ++i) {
      do {
        board[i] = tables_.cards[draw_below(random_, static_cast<std::uint32_t>(tables_.cards.size()))];
      } while ((used >> board[i] & 1U) != 0);
      used |= std::uint64_t{1} << board[i];
    }
    dealer_.look_up(board.data(), hole, deal_);
    is_pruned_ = draws_pruning();
    ++counts.deals;
    return num_fits;
  }

  float answer(const ClusterQuestion& question) {
    me_ = question.player;
    return traverse(question.node, question.paid);
  }

  void walk(const ClusterQuestion& question) {
    me_ = question.player;
    walk_average(form_.nodes + question.node);
  }

 private:
  std::uint64_t mask_of(std::int64_t flop) const {
    const std::uint8_t* const cards = flops_ + 3 * flop;
    return std::uint64_t{1} << cards[0] | std::uint64_t{1} << cards[1] | std::uint64_t{1} << cards[2];
  }

  const CardDealer::Tables& tables_;
  const std::uint8_t* flops_;
  std::int64_t num_flops_;
};

}  // namespace equipoise
