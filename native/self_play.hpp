// SPDX-License-Identifier: Apache-2.0
// Games played on a history tree by a fixed strategy, written down as learners read them: decision by decision.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "random.hpp"
#include "sampling.hpp"

namespace equipoise {

// Where decisions are written, game after game, in the order of play.
struct DecisionLog {
  std::int32_t* sequence;      // what was done
  std::int32_t* next_infoset;  // in which the same player decided next, -1: never again
  double* returns;             // what the game paid that player in the end
};

// Plays games and returns the number of decisions written; `log` must have room for the longest game each.
inline std::int64_t play_games(const SamplingForm& form, const double* strategy, std::int64_t num_games, Random& random,
                               const DecisionLog& log) {
  std::vector<std::int64_t> last(static_cast<std::size_t>(form.num_players));  // each player's last decision
  std::int64_t count = 0;
  for (std::int64_t game = 0; game < num_games; ++game) {
    const std::int64_t first = count;
    std::fill(last.begin(), last.end(), -1);
    std::int32_t node = 0;
    while (form.actor[node] != terminal_actor) {
      const std::int32_t begin = form.first_edge[node];
      const int actor = form.actor[node];
      if (actor == chance_actor) {
        const int size = form.first_edge[node + 1] - begin;
        node = form.edge_child[begin + draw_cumulative(random, form.edge_cumulative + begin, size)];
        continue;
      }
      const std::int32_t infoset = form.detail[node];
      const std::int32_t row = form.first_sequence[infoset];
      const int chosen = draw(random, form.num_actions[infoset], [&](int a) { return strategy[row + a]; });
      if (last[actor] >= 0) log.next_infoset[last[actor]] = infoset;
      log.sequence[count] = row + chosen;
      log.next_infoset[count] = -1;
      log.returns[count] = actor;  // until the game is over
      last[actor] = count++;
      node = form.edge_child[begin + chosen];
    }
    const double* const utility = form.utility + form.detail[node];
    for (std::int64_t i = first; i < count; ++i) {
      log.returns[i] = utility[static_cast<std::int64_t>(log.returns[i]) * form.num_terminals];
    }
  }
  return count;
}

}  // namespace equipoise
