// SPDX-License-Identifier: Apache-2.0
// Information-set Monte Carlo tree search over a history tree: one search an information set, each from nothing.
//
// A simulation draws a history of the root's information set, goes down by upper confidence bounds over statistics that
// all histories of an information set share, rolls out uniformly from the first set that is new, and adds the returns to
// the actions taken. Rows of sets are valid while their stamp is the search's number, so that no search clears a table.
#pragma once

#include <cstdint>
#include <vector>

#include "random.hpp"
#include "sampling.hpp"
#include "ucb.hpp"

namespace equipoise {

// The histories of every information set, and how likely each is drawn.
struct WorldsForm {
  const std::int32_t* first_world = nullptr;  // [I+1]
  const std::int32_t* world_node = nullptr;   // [W]
  const double* world_cumulative = nullptr;   // [W] within the information set
};

struct SearchStep {
  std::int32_t sequence;
  int player;
};

// Memory of the search under way, kept between calls.
struct SearchScratch {
  std::int64_t search = 0;
  std::vector<std::int64_t> stamp;        // [I]
  std::vector<std::int64_t> set_visits;   // [I]
  std::vector<ActionStatistics> actions;  // [Q]
  std::vector<SearchStep> path;

  void prepare(std::size_t num_infosets, std::size_t num_sequences) {
    stamp.resize(num_infosets);
    set_visits.resize(num_infosets);
    actions.resize(num_sequences);
  }
};

struct SearchRun {
  const SamplingForm& form;
  const WorldsForm& worlds;
  SearchScratch& scratch;
  double exploration;
  Random random;

  // Returns the node of the terminal that uniform play ends in.
  std::int32_t roll_out(std::int32_t node) {
    while (form.actor[node] != terminal_actor) {
      const std::int32_t begin = form.first_edge[node];
      const int size = form.first_edge[node + 1] - begin;
      const int chosen = form.actor[node] == chance_actor ? draw_cumulative(random, form.edge_cumulative + begin, size)
                                                          : draw_uniform(random, size);
      node = form.edge_child[begin + chosen];
    }
    return node;
  }

  // Begins the statistics of a set that this search has not met before.
  void open(std::int32_t infoset) {
    scratch.stamp[infoset] = scratch.search;
    scratch.set_visits[infoset] = 0;
    const std::int32_t first = form.first_sequence[infoset];
    for (int a = 0; a < form.num_actions[infoset]; ++a) scratch.actions[first + a] = {};
  }

  // Returns the terminal at which a simulation from a node ends, and leaves the actions taken on the path.
  std::int32_t descend(std::int32_t node) {
    scratch.path.clear();
    while (form.actor[node] != terminal_actor) {
      const std::int32_t begin = form.first_edge[node];
      if (form.actor[node] == chance_actor) {
        const int size = form.first_edge[node + 1] - begin;
        node = form.edge_child[begin + draw_cumulative(random, form.edge_cumulative + begin, size)];
        continue;
      }
      const std::int32_t infoset = form.detail[node];
      if (scratch.stamp[infoset] != scratch.search) {
        open(infoset);
        return form.detail[roll_out(node)];
      }
      const std::int32_t first = form.first_sequence[infoset];
      const int chosen = choose_by_ucb(random, scratch.actions.data() + first, form.num_actions[infoset],
                                       scratch.set_visits[infoset], exploration);
      ++scratch.set_visits[infoset];
      scratch.path.push_back({first + chosen, form.actor[node]});
      node = form.edge_child[begin + chosen];
    }
    return form.detail[node];
  }

  void simulate(std::int32_t node) {
    const std::int32_t terminal = descend(node);
    for (const SearchStep step : scratch.path) {
      ActionStatistics& action = scratch.actions[step.sequence];
      ++action.visits;
      action.return_sum += form.utility[step.player * form.num_terminals + terminal];
    }
  }

  // Searches from one information set and overwrites its cells of `visits` and `return_sum`.
  void search(std::int32_t infoset, std::int64_t num_simulations, double* visits, double* return_sum) {
    ++scratch.search;
    const std::int32_t first_world = worlds.first_world[infoset];
    const int num_worlds = worlds.first_world[infoset + 1] - first_world;
    for (std::int64_t i = 0; i < num_simulations; ++i) {
      const int world = draw_cumulative(random, worlds.world_cumulative + first_world, num_worlds);
      simulate(worlds.world_node[first_world + world]);
    }
    const std::int32_t first = form.first_sequence[infoset];
    for (int a = 0; a < form.num_actions[infoset]; ++a) {
      visits[first + a] = static_cast<double>(scratch.actions[first + a].visits);
      return_sum[first + a] = scratch.actions[first + a].return_sum;
    }
  }
};

}  // namespace equipoise
