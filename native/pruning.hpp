// SPDX-License-Identifier: Apache-2.0
// CFR that does not go where it need not: partial, regret-based and best-response pruning on a history tree.
//
// A walk visits the nodes that the opponent reaches and that the player has not pruned, and looks at no others; its
// cost is what it visits. Information sets that no walk meets keep their regrets, up to
// discounts, and so their strategy: sums of strategies and discounts are applied when somebody asks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "pruning_windows.hpp"

namespace equipoise {

class PrunedRun : public PrunedWindows {
 public:
  using PrunedWindows::PrunedWindows;

  void iterate(const Discount* discounts, std::int64_t first_t, std::int64_t num_iterations) {
    for (std::int64_t k = 0; k < num_iterations; ++k) {
      begin_iteration(discounts[k], first_t + k);
      if (settings_.is_alternating) {
        for (int player = 0; player < 2; ++player) {
          face(1 - player);
          walk(player);
          add_to_average(player);
          update(player);
        }
      } else {
        for (int player = 0; player < 2; ++player) face(player);
        for (int player = 0; player < 2; ++player) add_to_average(player);
        if (settings_.walks_once) {
          walk_both();
        } else {
          for (int player = 0; player < 2; ++player) walk(player);
        }
        for (int player = 0; player < 2; ++player) update(player);
      }
      end_iteration();
    }
  }

 private:
  void end_iteration() {
    counters_.nodes_touched += counters_.nodes_last_iteration;
    if (settings_.kind != PruningKind::best_response) return;
    if (static_cast<double>(t_) >= next_discard_) discard_averages();
    compact();
  }

  // Adds the values of terminals to the player's sequences, and its information sets met to `visited_`.
  void walk(int player) {
    num_touched_ = 1;
    if (settings_.kind == PruningKind::none) {
      visit<false>(player, form_.cells.data(), 1.0, &unowned_);
    } else {
      visit<true>(player, form_.cells.data(), 1.0, &unowned_);
    }
    counters_.nodes_last_iteration += num_touched_;
  }

  // `reach` is the opponent's, `own` the value of the player's last sequence.
  template <bool is_pruning>
  void visit(int player, const PruningCell* node, double reach, double* own) {
    const PruningCell* children = node + 1;
    const int num_children = node->num_children;
    num_touched_ += num_children;
    const auto descend = [&](const PruningCell& child, double child_reach, double* child_own) {
      if (child.link < 0) {
        *child_own += child.weight * child_reach;
      } else {
        visit<is_pruning>(player, form_.cells.data() + child.link, child_reach, child_own);
      }
    };
    if (node->link < 0) {
      for (int a = 0; a < num_children; ++a) descend(children[a], reach, own);
      return;
    }
    const RegretRow row{nullptr, walked_[node->actor].row(node->link), num_children};
    const double* strategy = row.strategy();
    if (node->actor != player) {
      for (int a = 0; a < num_children; ++a) {
        const double child_reach = reach * strategy[a];
        if (is_pruning && child_reach == 0.0) {
          --num_touched_;
        } else {
          descend(children[a], child_reach, own);
        }
      }
      return;
    }
    visited_[player].insert(node->link);
    row.reach() += node->weight * reach;
    double* value = row.value();
    for (int a = 0; a < num_children; ++a) {
      if (is_pruning && std::signbit(strategy[a])) {
        --num_touched_;
      } else {
        descend(children[a], reach, value + a);
      }
    }
  }

  // Does what a walk of each player does, to the bit, in one that goes where either of them has to.
  void walk_both() {
    num_touched_ = 1;
    const Paths paths{.reach = {1.0, 1.0}, .own = {&unowned_, &unowned_}, .goes = {true, true}};
    if (settings_.kind == PruningKind::none) {
      visit_both<false>(form_.cells.data(), paths);
    } else {
      visit_both<true>(form_.cells.data(), paths);
    }
    counters_.nodes_last_iteration += num_touched_;
  }

  // Where the walks of both players are at a node.
  struct Paths {
    double reach[2];  // of the player's opponent
    double* own[2];   // value of the player's last sequence
    bool goes[2];     // whether the player's walk comes here
  };

  template <bool is_pruning>
  void visit_both(const PruningCell* node, const Paths& paths) {
    const PruningCell* children = node + 1;
    const int num_children = node->num_children;
    const auto descend = [&](const PruningCell& child, const Paths& below) {
      ++num_touched_;
      if (child.link >= 0) {
        visit_both<is_pruning>(form_.cells.data() + child.link, below);
        return;
      }
      for (int player = 0; player < 2; ++player) {
        if (below.goes[player]) *below.own[player] += child.weight * below.reach[player];
      }
    };
    if (node->link < 0) {
      for (int a = 0; a < num_children; ++a) descend(children[a], paths);
      return;
    }
    const int actor = node->actor, other = 1 - actor;
    const RegretRow row{nullptr, walked_[actor].row(node->link), num_children};
    if (paths.goes[actor]) {
      visited_[actor].insert(node->link);
      row.reach() += node->weight * paths.reach[actor];
    }
    for (int a = 0; a < num_children; ++a) {
      const double probability = row.strategy()[a];
      Paths below = paths;
      below.reach[other] = paths.reach[other] * probability;
      below.own[actor] = row.value() + a;
      if (is_pruning) {
        below.goes[actor] = paths.goes[actor] && !std::signbit(probability);
        below.goes[other] = paths.goes[other] && below.reach[other] != 0.0;
      }
      if (below.goes[actor] || below.goes[other]) descend(children[a], below);
    }
  }

  void update(int player) {
    // in the first iteration an information set that nobody reaches leaves its initial strategy for the fallback
    if (t_ == 1) {
      const std::int32_t end = form_.infoset_start[player + 1];
      for (std::int32_t k = form_.infoset_start[player]; k < end; ++k) visited_[player].insert(k);
    }
    visited_[player].for_each([&](std::int32_t infoset) {
      settle(infoset);
      decide_response(infoset);
    });
    closing_.clear();
    opening_.clear();
    visited_[player].drain_backwards([&](std::int32_t infoset) { update_infoset(player, infoset); });
    if (!settings_.has_windows()) return;
    for (const Ending& ending : closing_) close(player, ending);
    // parents first: below what is pruned now nothing else needs to be
    for (std::size_t k = opening_.size(); k-- > 0;) {
      if (!is_below_pruned(opening_[k])) open(player, opening_[k]);
    }
  }

  // [B20] 3.3.1: whether the player is at this information set with probability 0 and may as well respond best.
  void decide_response(std::int32_t infoset) {
    if (settings_.zero_reach == ZeroReach::off) return;
    double responds = 0.0;
    const std::int32_t up = form_.infosets[infoset].above;
    if (up >= 0) {
      const RegretRow above = regrets(up);
      const int a = form_.infosets[infoset].above_action;
      const bool is_far = settings_.zero_reach == ZeroReach::all ||
                          above.regret()[a] * decay_since(above).negative <= -form_.range[up];
      if (above[RegretRow::responds] != 0.0 || (above.strategy()[a] == 0.0 && is_far)) responds = 1.0;
    }
    regrets(infoset)[RegretRow::responds] = responds;
  }

  double expected_value(int player, const RegretRow& row) const {
    const double* value = row.value();
    if (row[RegretRow::responds] == 0.0) {
      double expected = 0.0;
      for (int a = 0; a < row.num_actions; ++a) expected += row.strategy()[a] * value[a];
      return sign(player) * expected;
    }
    double best = -std::numeric_limits<double>::infinity();
    for (int a = 0; a < row.num_actions; ++a) {
      if (!row.is_pruned(a)) best = std::max(best, sign(player) * value[a]);
    }
    return best;
  }

  void update_infoset(int player, std::int32_t infoset) {
    const RegretRow row = regrets(infoset);
    const double expected = expected_value(player, row);
    const PruningInfoset& place = form_.infosets[infoset];
    if (place.above >= 0) regrets(place.above).value()[place.above_action] += sign(player) * expected;
    const Decay decay = decay_since(row);
    const double* largest = form_.largest.data() + form_.infosets[infoset].first_sequence;
    double* regret = row.regret();
    double* gate = row.gate();
    for (int a = 0; a < row.num_actions; ++a) {
      const double value = sign(player) * row.value()[a];
      row.value()[a] = 0.0;
      if (gate[a] <= 0.0) {
        // [B20] Eq. (3.19): what is not walked is worth nothing in the regret until it is caught up with, and the most
        // that it could be worth in the bound
        regret[a] = regret[a] * decay.negative - expected;
        gate[a] = gate[a] * decay.negative + row.reach() * largest[a] - expected;
        if (gate[a] > 0.0) {
          closing_.push_back({form_.infosets[infoset].first_sequence + a, gate[a]});
          gate[a] = 0.0;  // stays pruned until it has been caught up with
        }
      } else {
        regret[a] = add_instant(regret[a], value - expected, decay);
      }
    }
    row[RegretRow::cumulative_value] = row[RegretRow::cumulative_value] * decay.negative + expected;
    row[RegretRow::cumulative_reach] = row[RegretRow::cumulative_reach] * decay.negative + row.reach();
    row.reach() = 0.0;
    stamp(row);
    observe(infoset, 0.0, t_ - 1);
    observe(infoset, expected, t_);
    if (settings_.policy_map == PolicyMap::hedge) end_by_threshold(infoset, row);
    form_strategy(infoset, row);
    if (settings_.has_windows()) propose(infoset, row);
  }

  // Ends windows whose bound does not keep Hedge below its threshold any more: steps and thresholds fall.
  void end_by_threshold(std::int32_t infoset, const RegretRow& row) {
    for (int a = 0; a < row.num_actions; ++a) {
      const std::int32_t sequence = form_.infosets[infoset].first_sequence + a;
      if (!row.is_pruned(a) || row.gate()[a] == 0.0) continue;  // 0: ends already
      if (row.gate()[a] > ceiling(infoset, row, a)) closing_.push_back({sequence, row.gate()[a]});
    }
  }

  void propose(std::int32_t infoset, const RegretRow& row) {
    for (int a = 0; a < row.num_actions; ++a) {
      const std::int32_t sequence = form_.infosets[infoset].first_sequence + a;
      if (row.is_pruned(a) || row.gate()[a] > static_cast<double>(t_) || !(row.regret()[a] < 0.0)) continue;
      if (!has_alternative(row, a)) continue;
      if (!settings_.prunes_leaves && form_.below[sequence].size() == 0) continue;
      // floored regrets do not say how bad an action is: best-response pruning finds out by its check
      const bool is_unknown = settings_.floors_regrets && settings_.kind == PruningKind::best_response;
      const double missing = row.regret()[a] - ceiling(infoset, row, a);
      const bool is_worth = missing < 0.0 && is_worth_pruning(row, missing, form_.largest[sequence]);
      if (is_unknown || is_worth) opening_.push_back(sequence);
    }
  }

  std::vector<Ending> closing_;
  std::vector<std::int32_t> opening_;
  double unowned_ = 0.0;  // value of the player's empty sequence, which nobody asks for
};

}  // namespace equipoise
