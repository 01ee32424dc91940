// SPDX-License-Identifier: Apache-2.0
// UCT down lines of betting against a fixed strategy: one player's information states are the nodes of a search tree.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "line_walks.hpp"
#include "uct.hpp"

namespace equipoise {

constexpr int kMostLineActions = 3;  // fold, call, raise

// Searches from nothing for `player` and overwrites the rows of `out` [cells] that it reached with the action of the best
// mean. `actions` [cells] is zero before and after; beyond the search tree the player calls. Ends early once `goes_on`
// says no.
template <typename GoesOn>
void search_uct(const LineForm& form, int player, std::int64_t num_iterations, double exploration,
                const double* strategy, Random& random, UctAction* actions, std::vector<LineRow>& met, double* out,
                GoesOn&& goes_on) {
  met.clear();
  std::vector<std::int64_t> path;
  const double sign = player == 0 ? 1.0 : -1.0;
  const auto walk = [&](Random& own) {
    const LineForm::Deal deal = form.deal(own);
    bool is_rolling = false;
    path.clear();
    const LineNode* node = form.nodes.data();
    while (node->actor != kLineEnd) {
      int action;
      if (node->actor != player) {
        action = draw_action(own, form.row(*node, deal), strategy);
      } else if (is_rolling) {
        action = node->call;
      } else {
        const LineRow row = form.row(*node, deal);
        UctAction tried[kMostLineActions];
        double visits = 0.0;
        for (int a = 0; a < row.num_actions; ++a) visits += (tried[a] = actions[row.at(a)]).visits;
        if (visits == 0.0) {
          is_rolling = true;
          met.push_back(row);
          action = node->call;
        } else {
          action = choose_uct(own, tried, row.num_actions, visits, exploration);
        }
        path.push_back(row.at(action));
      }
      node = &form.below(*node, action);
    }
    const double earned = sign * form.payoff(*node, deal);
    for (const std::int64_t cell : path) {
      actions[cell].visits += 1.0;
      actions[cell].return_sum += earned;
    }
  };
  repeat_walks(num_iterations, random, walk, goes_on);
  for (const LineRow& row : met) {
    int best = -1;
    double highest = -INFINITY;
    for (int a = 0; a < row.num_actions; ++a) {
      UctAction& tried = actions[row.at(a)];
      const double mean = tried.visits > 0.0 ? tried.return_sum / tried.visits : -INFINITY;
      if (mean > highest) {
        highest = mean;
        best = a;
      }
      tried = {};
    }
    for (int a = 0; a < row.num_actions; ++a) out[row.at(a)] = a == best ? 1.0 : 0.0;
  }
}

}  // namespace equipoise
