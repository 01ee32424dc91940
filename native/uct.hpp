// SPDX-License-Identifier: Apache-2.0
// UCT against a fixed opponent: one player's information sets are the nodes of a search tree, everything else is drawn.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "elementary.hpp"
#include "repeat.hpp"
#include "walk_form.hpp"

namespace equipoise {

struct UctAction {
  double visits;
  double return_sum;
};

// Memory of searches, kept between calls; nothing in it outlives a call.
struct UctScratch {
  std::vector<double> bound;         // [Q] of the opponent's strategy
  std::vector<UctAction> actions;    // [Q]
  std::vector<double> visits;        // [I]
  std::vector<std::int32_t> path;    // sequences chosen, then the information set of each

  void prepare(const WalkForm& form) {
    bound.resize(static_cast<std::size_t>(form.num_sequences));
    actions.assign(static_cast<std::size_t>(form.num_sequences), UctAction{});
    visits.assign(form.num_actions.size(), 0.0);
    path.resize(2 * static_cast<std::size_t>(form.depth) + 2);
  }
};

// Returns an action that was not tried yet, drawn among those; else the first of the largest upper confidence bounds.
inline int choose_uct(Random& random, const UctAction* actions, int num_actions, double visits, double exploration) {
  int num_untried = 0;
  for (int a = 0; a < num_actions; ++a) num_untried += actions[a].visits == 0.0;
  if (num_untried > 0) return draw_among(random, num_untried, [&](int a) { return actions[a].visits == 0.0; });
  const double log_visits = logarithm(visits);
  int chosen = 0;
  double best = -INFINITY;
  for (int a = 0; a < num_actions; ++a) {
    const double inverse = 1.0 / actions[a].visits;
    const double bound = actions[a].return_sum * inverse + exploration * std::sqrt(log_visits * inverse);
    if (bound > best) {
      best = bound;
      chosen = a;
    }
  }
  return chosen;
}

// Searches from nothing for `player`. `strategy` [Q] is the opponent's, `fallback` [I] what is played where the search
// tree ends. Writes the pure strategy of the best means into `out` [Q], the fallback where nothing was tried. Ends early
// once `goes_on` says no.
template <typename GoesOn>
void search_uct(const WalkForm& form, int player, std::int64_t num_iterations, double exploration,
                const double* strategy, const std::int32_t* fallback, Random& random, UctScratch& scratch, double* out,
                GoesOn&& goes_on) {
  scratch.prepare(form);
  accumulate_strategy(form, strategy, scratch.bound.data());
  const WalkNode* const nodes = form.nodes.data();
  const double* const utility = form.utility.data() + player * form.num_terminals;
  const double* const bound = scratch.bound.data();
  double* const visits = scratch.visits.data();
  UctAction* const actions = scratch.actions.data();
  std::int32_t* const path = scratch.path.data();
  const auto walk = [&](Random& own) {
    std::int32_t length = 0;
    bool is_rolling = false;
    const WalkNode* node = nodes;
    while (node->actor != terminal_actor) {
      int action;
      if (node->actor == chance_actor) {
        action = form.draw_chance(own, *node);
      } else if (node->actor != player) {
        action = draw_bounded(own, bound + node->first_sequence, node->num_edges);
      } else if (is_rolling) {
        action = fallback[node->detail];
      } else {
        const std::int32_t infoset = node->detail;
        const std::int32_t first = node->first_sequence;
        if (visits[infoset] == 0.0) {
          is_rolling = true;
          action = fallback[infoset];
        } else {
          action = choose_uct(own, actions + first, node->num_edges, visits[infoset], exploration);
        }
        path[2 * length] = first + action;
        path[2 * length + 1] = infoset;
        ++length;
      }
      node = nodes + node->first_child + action;
    }
    const double earned = utility[node->detail];
    for (std::int32_t k = 0; k < length; ++k) {
      UctAction& taken = actions[path[2 * k]];
      taken.visits += 1.0;
      taken.return_sum += earned;
      visits[path[2 * k + 1]] += 1.0;
    }
  };
  repeat_walks(num_iterations, random, walk, goes_on);
  for (std::size_t infoset = 0; infoset < form.num_actions.size(); ++infoset) {
    const std::int32_t first = form.first_sequence[infoset];
    int chosen = fallback[infoset];
    double best = -INFINITY;
    for (int a = 0; a < form.num_actions[infoset]; ++a) {
      if (actions[first + a].visits == 0.0) continue;
      const double mean = actions[first + a].return_sum / actions[first + a].visits;
      if (mean > best) {
        best = mean;
        chosen = a;
      }
    }
    for (int a = 0; a < form.num_actions[infoset]; ++a) out[first + a] = a == chosen ? 1.0 : 0.0;
  }
}

// Plays hands of a profile [Q] and adds what `player` did into `counts` [Q]. Ends early once `goes_on` says no.
template <typename GoesOn>
void count_actions(const WalkForm& form, int player, std::int64_t num_hands, const double* strategy, Random& random,
                   UctScratch& scratch, double* counts, GoesOn&& goes_on) {
  scratch.bound.resize(static_cast<std::size_t>(form.num_sequences));
  accumulate_strategy(form, strategy, scratch.bound.data());
  const WalkNode* const nodes = form.nodes.data();
  const double* const bound = scratch.bound.data();
  const auto walk = [&](Random& own) {
    const WalkNode* node = nodes;
    while (node->actor != terminal_actor) {
      int action;
      if (node->actor == chance_actor) {
        action = form.draw_chance(own, *node);
      } else {
        const std::int32_t first = node->first_sequence;
        action = draw_bounded(own, bound + first, node->num_edges);
        if (node->actor == player) counts[first + action] += 1.0;
      }
      node = nodes + node->first_child + action;
    }
  };
  repeat_walks(num_hands, random, walk, goes_on);
}

}  // namespace equipoise
