// SPDX-License-Identifier: Apache-2.0
// Many short walks down a public tree whose private states are dealt at once: hands of a probe against a fixed strategy.
//
// Both players' last private states and the result of a showdown are one draw from their joint law; what a player holds
// at a line further up is an ancestor of it. Strategies are over a public tree's cells: an action's row, a private
// state's column.
#pragma once

#include <cstdint>
#include <vector>

#include "random.hpp"
#include "repeat.hpp"

namespace equipoise {

constexpr std::int32_t kLineEnd = -2;  // actor of a line that is over

struct LineNode {
  std::int32_t actor;        // player or kLineEnd
  std::int32_t num_actions;
  std::int32_t first_child;  // into `child`
  std::int32_t first_cell;   // of the actor's table
  std::int32_t stride;       // cells from one action to the next
  std::int32_t level;        // how many deals came before it
  std::int32_t call;         // column
  std::int32_t raise;        // column; that of calling where nobody may raise
};

// What the end of a line pays player 0: the stake, or at a showdown the stake if it wins and less it if it loses.
struct LineEnd {
  double stake;
  bool is_showdown;
};

// An information state's cells.
struct LineRow {
  std::int64_t cell;
  std::int32_t num_actions;
  std::int32_t stride;

  std::int64_t at(int action) const { return cell + action * static_cast<std::int64_t>(stride); }
};

struct LineForm {
  std::vector<LineNode> nodes;
  std::vector<LineEnd> ends;           // [nodes]
  std::vector<std::int32_t> child;
  std::vector<double> cumulative;      // [H, H, 3] pairs of private states, then player 0 wins, ties or loses
  std::vector<std::int32_t> ancestor;  // [levels, H] private state at a level
  std::int32_t num_private = 0;        // H, at the last level

  struct Deal {
    std::int32_t path[2];
    std::int32_t result;
  };

  Deal deal(Random& random) const {
    const std::int32_t index = draw_cumulative(random, cumulative.data(), static_cast<int>(cumulative.size()));
    const std::int32_t pair = index / 3;
    return {{pair / num_private, pair % num_private}, index % 3};
  }

  LineRow row(const LineNode& node, const Deal& deal) const {
    const std::int32_t place = ancestor[static_cast<std::size_t>(node.level * num_private + deal.path[node.actor])];
    return {node.first_cell + place, node.num_actions, node.stride};
  }

  // What player 0 gets.
  double payoff(const LineNode& node, const Deal& deal) const {
    const LineEnd& end = ends[static_cast<std::size_t>(&node - nodes.data())];
    return end.is_showdown ? end.stake * (1 - deal.result) : end.stake;
  }

  const LineNode& below(const LineNode& node, int action) const {
    return nodes[static_cast<std::size_t>(child[static_cast<std::size_t>(node.first_child + action)])];
  }
};

inline int draw_action(Random& random, const LineRow& row, const double* strategy) {
  return draw(random, row.num_actions, [&](int a) { return strategy[row.at(a)]; });
}

// Lets a probe, which calls or raises with equal probability and never folds, play hands against `target` as `strategy`
// [cells] has it, and overwrites the rows of `model` [cells] that were met with how often each action was taken there.
// `counts` [cells] is zero before and after. Ends early once `goes_on` says no.
template <typename GoesOn>
void model_by_probe(const LineForm& form, int target, std::int64_t num_hands, const double* strategy, Random& random,
                    double* counts, std::vector<LineRow>& met, double* model, GoesOn&& goes_on) {
  met.clear();
  const auto walk = [&](Random& own) {
    const LineForm::Deal deal = form.deal(own);
    const LineNode* node = form.nodes.data();
    while (node->actor != kLineEnd) {
      int action;
      if (node->actor == target) {
        const LineRow row = form.row(*node, deal);
        double total = 0.0;
        for (int a = 0; a < row.num_actions; ++a) total += counts[row.at(a)];
        if (total == 0.0) met.push_back(row);
        action = draw_action(own, row, strategy);
        counts[row.at(action)] += 1.0;
      } else {
        action = own.uniform() < 0.5 ? node->call : node->raise;
      }
      node = &form.below(*node, action);
    }
  };
  repeat_walks(num_hands, random, walk, goes_on);
  for (const LineRow& row : met) {
    double total = 0.0;
    for (int a = 0; a < row.num_actions; ++a) total += counts[row.at(a)];
    for (int a = 0; a < row.num_actions; ++a) {
      const std::int64_t cell = row.at(a);
      model[cell] = counts[cell] / total;
      counts[cell] = 0.0;
    }
  }
}

}  // namespace equipoise
