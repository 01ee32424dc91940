// SPDX-License-Identifier: Apache-2.0
// Monte Carlo CFR on hold'em trees: public chance sampling (a runout, all hands) and external sampling (one deal).
#pragma once

#include <vector>

#include "policy.hpp"
#include "random.hpp"
#include "runout.hpp"
#include "sampled_pruning.hpp"

namespace equipoise {

// What a sampled run changes beside its tables.
struct HoldemSample {
  Random random;
  std::int64_t nodes_touched;
  SkippingState skips = {};
};

// --- public chance sampling ---

// Which of a board's children comes next, each as likely as the boards that it stands for are many.
inline std::int64_t draw_child(const HoldemForm& form, const HoldemBoard& board, Random& random) {
  std::int64_t total = 0;
  for (std::int64_t c = 0; c < board.num_children; ++c) total += form.boards[board.first_child + c].num_images;
  auto left = static_cast<std::int64_t>(random.uniform() * static_cast<double>(total));
  std::int64_t child = board.first_child;
  while (left >= form.boards[child].num_images) left -= form.boards[child++].num_images;
  return child;
}

// A board of a tree as part of a runout; `num_siblings` boards could have come in its place, itself included.
inline RunoutBoard to_runout(const HoldemForm& form, const HoldemBoard& board, std::int64_t num_siblings) {
  RunoutBoard out;
  for (int player = 0; player < 2; ++player) {
    const HoldemSide& side = board.sides[player];
    out.sides[player] = {form.hands(board, player),           form.parent_row + side.first_hand, nullptr,
                         form.value_row + side.first_hand,    side.first_cell,                   side.num_rows()};
  }
  out.weight = static_cast<double>(num_siblings);
  return out;
}

// Fills `out` with a runout through the boards given, one for each street.
inline void trace_runout(const HoldemForm& form, const std::int64_t* boards, RunoutBoard* out) {
  for (std::int32_t s = 0; s < form.num_streets; ++s) {
    std::int64_t num_siblings = 1;
    if (s > 0) {
      const HoldemBoard& above = form.boards[boards[s - 1]];
      num_siblings = 0;
      for (std::int64_t c = 0; c < above.num_children; ++c) num_siblings += form.boards[above.first_child + c].num_images;
    }
    out[s] = to_runout(form, form.boards[boards[s]], num_siblings);
  }
}

template <typename Real>
class PublicSampler {
 public:
  PublicSampler(const HoldemForm& form, std::int64_t nodes_per_sweep, Real* regret_sum, Real* strategy_sum)
      : form_(form), nodes_per_sweep_(nodes_per_sweep), sweep_(form.streets, form.num_streets),
        boards_(static_cast<std::size_t>(form.num_streets)), runout_(boards_.size()) {
    task_.sums[0] = task_.sums[1] = regret_sum;
    task_.root_reach[0] = form.root_reach[0];
    task_.root_reach[1] = form.root_reach[1];
    task_.regret_sum = regret_sum;
    task_.strategy_sum = strategy_sum;
  }

  // One player's sweep over the boards given, one for each street.
  void sweep(const std::int64_t* boards, int player, HoldemSample& sample) {
    trace_runout(form_, boards, runout_.data());
    task_.player = player;
    sweep_.run(runout_.data(), task_);
    sample.nodes_touched += nodes_per_sweep_;
  }

  // Both players' sweeps, each over a runout of its own: a player's estimate must not depend on what the other's
  // update has just learnt about the same cards.
  void iterate(HoldemSample& sample) {
    for (int player = 0; player < 2; ++player) {
      boards_[0] = 0;
      for (std::size_t s = 1; s < boards_.size(); ++s) {
        boards_[s] = draw_child(form_, form_.boards[boards_[s - 1]], sample.random);
      }
      sweep(boards_.data(), player, sample);
    }
  }

 private:
  const HoldemForm& form_;
  std::int64_t nodes_per_sweep_;
  RunoutSweep<Real> sweep_;
  std::vector<std::int64_t> boards_;
  std::vector<RunoutBoard> runout_;
  RunoutTask<Real> task_;
};

// --- external sampling ---

enum class BettingKind : std::int32_t { first_player = 0, second_player = 1, fold = 2, showdown = 3, deal = 4 };

// A node of the betting tree.
struct BettingStep {
  std::int32_t kind;
  std::int32_t first_cell;   // of a decision, within the player's cells of the street
  std::int32_t first_child;  // into `children`
  std::int32_t num_children;
};

struct BettingForm {
  const BettingStep* nodes = nullptr;
  const std::int32_t* children = nullptr;
  const double* scale[2] = {};              // [N] folds: what each player wins; showdowns: the stake
  const double* rake = nullptr;             // [N] showdowns: what each player loses to the house, in stakes
  const std::int64_t* first_row = nullptr;  // [B, 2] into child_row, -1 at the root
  const std::int32_t* child_row = nullptr;  // rows of a board's hands by their rows on the board above; -1: blocked
  const double* cumulative[2] = {};         // [hands of the root] running sums of the ranges' weights
};

// One deal at a time: both hands, the board and the opponent's actions are drawn, the traverser's actions all tried.
template <typename Real>
class ExternalSampler {
 public:
  // `missed`, by cell, is null unless skipping is regret based; its arrays go by `BettingForm::children`.
  ExternalSampler(const HoldemForm& form, const BettingForm& betting, const Skipping& skipping, Real* regret_sum,
                  Real* strategy_sum, Real* missed)
      : form_(form), betting_(betting), skipping_(skipping), regret_sum_(regret_sum), strategy_sum_(strategy_sum),
        missed_(missed) {}

  void iterate(HoldemSample& sample) {
    sample.skips.begin_iteration(skipping_, sample.nodes_touched, sample.random);
    for (int player = 0; player < 2; ++player) traverse(player, sample);
  }

  void traverse(int player, HoldemSample& sample) {
    player_ = player;
    Deal deal{0, {}};
    const HoldemBoard& root = form_.boards[0];
    const std::uint8_t* held[2];
    do {  // pairs that share a card do not occur
      for (int side = 0; side < 2; ++side) {
        const auto size = static_cast<int>(root.sides[side].num_hands);
        deal.row[side] = draw_cumulative(sample.random, betting_.cumulative[side], size);
        held[side] = form_.cards + 2 * (root.sides[side].first_hand + deal.row[side]);
      }
    } while (held[0][0] == held[1][0] || held[0][0] == held[1][1] || held[0][1] == held[1][0] ||
             held[0][1] == held[1][1]);
    ++sample.nodes_touched;  // the deal
    visit(0, deal, 1.0, sample);
  }

 private:
  struct Deal {
    std::int64_t board;
    std::int32_t row[2];
  };
  static constexpr int kMaxActions = 64;

  const HoldemForm& form_;
  const BettingForm& betting_;
  const Skipping& skipping_;
  Real* regret_sum_;
  Real* strategy_sum_;
  Real* missed_;
  int player_ = 0;

  // Returns an unbiased estimate of the traverser's value; `reach` is above 1 where visits stand for others.
  double visit(std::int32_t index, const Deal& deal, double reach, HoldemSample& sample) {
    ++sample.nodes_touched;
    const BettingStep& node = betting_.nodes[index];
    switch (static_cast<BettingKind>(node.kind)) {
      case BettingKind::fold:
        return betting_.scale[player_][index];
      case BettingKind::showdown:
        return betting_.scale[player_][index] * (compare(deal) - betting_.rake[index]);
      case BettingKind::deal:
        return visit(betting_.children[node.first_child], draw_next(deal, sample.random), reach, sample);
      default:
        return decide(node, deal, reach, sample);
    }
  }

  // 1 if the traverser has the better hand, -1 if the worse.
  int compare(const Deal& deal) const {
    const HoldemBoard& board = form_.boards[deal.board];
    const std::int32_t own = form_.strength[board.sides[player_].first_hand + deal.row[player_]];
    const std::int32_t other = form_.strength[board.sides[1 - player_].first_hand + deal.row[1 - player_]];
    return (own > other) - (own < other);
  }

  // Draws until the board blocks neither hand: every card that is left is as likely.
  Deal draw_next(const Deal& deal, Random& random) const {
    const HoldemBoard& board = form_.boards[deal.board];
    for (;;) {
      const auto child = static_cast<std::int64_t>(random.uniform() * static_cast<double>(board.num_children));
      Deal next{board.first_child + child, {}};
      for (int side = 0; side < 2; ++side) {
        next.row[side] = betting_.child_row[betting_.first_row[2 * next.board + side] + deal.row[side]];
      }
      if (next.row[0] >= 0 && next.row[1] >= 0) return next;
    }
  }

  double decide(const BettingStep& node, const Deal& deal, double reach, HoldemSample& sample) {
    const int actor = node.kind;
    const HoldemBoard& board = form_.boards[deal.board];
    const std::int64_t num_cells = form_.streets[board.street].num_cells[actor];
    const std::int64_t row = deal.row[actor];
    const std::int64_t first = board.sides[actor].first_cell + row / kPackSize * num_cells * kPackSize +
                               node.first_cell * kPackSize + row % kPackSize;
    double regret[kMaxActions], strategy[kMaxActions], value[kMaxActions], below[kMaxActions];
    for (int a = 0; a < node.num_children; ++a) regret[a] = static_cast<double>(regret_sum_[first + a * kPackSize]);
    regret_matching(Fallback::uniform, node.num_children, regret, strategy);
    if (actor != player_) {
      // met with the actor's own probability times a constant of chance, over the reach
      for (int a = 0; a < node.num_children; ++a) {
        strategy_sum_[first + a * kPackSize] += static_cast<Real>(reach * strategy[a]);
      }
      const int chosen = draw(sample.random, node.num_children, [&](int a) { return strategy[a]; });
      return visit(betting_.children[node.first_child + chosen], deal, reach, sample);
    }
    double expected = 0.0;
    for (int a = 0; a < node.num_children; ++a) {
      below[a] = reach;
      if (skipping_.kind != SkipKind::none) {
        Real* const missed = missed_ ? missed_ + first + a * kPackSize : nullptr;
        below[a] *= weigh_action(skipping_, sample.skips, sample.random, node.first_child + a, regret[a], strategy[a],
                                 reach, missed);
        if (below[a] == 0.0) continue;
      }
      value[a] = visit(betting_.children[node.first_child + a], deal, below[a], sample);
      expected += strategy[a] * value[a];
    }
    for (int a = 0; a < node.num_children; ++a) {
      if (below[a] == 0.0) continue;
      const double added = std::max(regret[a] + below[a] * (value[a] - expected), skipping_.floor);
      regret_sum_[first + a * kPackSize] = static_cast<Real>(added);
    }
    return expected;
  }
};

// Runs iterations until their number or the limit of nodes is reached; returns how many were completed.
template <typename Sampler>
std::int64_t sample_holdem(Sampler& sampler, HoldemSample& sample, std::int64_t num_iterations, std::int64_t node_limit) {
  std::int64_t done = 0;
  for (; done < num_iterations && sample.nodes_touched < node_limit; ++done) sampler.iterate(sample);
  return done;
}

// --- runouts of a deck without a tree ---

// Moves `count` cards, drawn one after the other from those given, to the front.
inline void draw_cards(Random& random, std::uint8_t* cards, int size, int count) {
  for (int i = 0; i < count; ++i) {
    const int chosen = i + static_cast<int>(random.uniform() * static_cast<double>(size - i));
    std::swap(cards[i], cards[chosen]);
  }
}

}  // namespace equipoise
