// SPDX-License-Identifier: Apache-2.0
// Tabular Q-learning by self-play on a history tree: every seat has a learner of its own, one game after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "random.hpp"
#include "sampling.hpp"

namespace equipoise {

struct QLearningRun {
  const SamplingForm& form;
  double step_size;         // share of a value that a target replaces
  double exploration;       // probability of a uniform move
  double* value;            // [Q] of each action of each information set
  Random random;
  std::vector<std::int32_t> last;  // [P] each player's last sequence in this game, -1: none yet

  double largest(std::int32_t infoset) const {
    const double* const row = value + form.first_sequence[infoset];
    return *std::max_element(row, row + form.num_actions[infoset]);
  }

  // Moves the value of a player's last action towards a target.
  void learn(int player, double target) {
    if (last[player] >= 0) value[last[player]] += step_size * (target - value[last[player]]);
  }

  // Draws uniformly with the probability of exploration, else among the actions of the largest value.
  int choose(std::int32_t infoset) {
    const int num_actions = form.num_actions[infoset];
    if (random.uniform() < exploration) return draw_uniform(random, num_actions);
    const double best = largest(infoset);
    const double* const row = value + form.first_sequence[infoset];
    const auto num_best = static_cast<int>(std::count(row, row + num_actions, best));
    return draw_among(random, num_best, [&](int a) { return row[a] == best; });
  }

  void play_game() {
    std::fill(last.begin(), last.end(), -1);
    std::int32_t node = 0;
    while (form.actor[node] != terminal_actor) {
      const std::int32_t begin = form.first_edge[node];
      const int actor = form.actor[node];
      int chosen;
      if (actor == chance_actor) {
        chosen = draw_cumulative(random, form.edge_cumulative + begin, form.first_edge[node + 1] - begin);
      } else {
        const std::int32_t infoset = form.detail[node];
        learn(actor, largest(infoset));
        chosen = choose(infoset);
        last[actor] = form.first_sequence[infoset] + chosen;
      }
      node = form.edge_child[begin + chosen];
    }
    for (int player = 0; player < form.num_players; ++player) {
      learn(player, form.utility[player * form.num_terminals + form.detail[node]]);
    }
  }
};

}  // namespace equipoise
