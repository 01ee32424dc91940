// SPDX-License-Identifier: Apache-2.0
// Monte Carlo CFR over a history tree: one traversal, specialised on what is sampled and what is enumerated.
//
// `traverse` returns an unbiased estimate of the traverser's value of a history. `cf_reach` is the product, over
// everything on the path but the traverser's own probabilities, of true probability over sampling probability; the
// traverser's own sampling probabilities divide it too. An information set that is met again in the same traversal
// plays the strategy, and where it samples the action, of the first meeting: stamps carry the traversal's number.
//
// Baselines are guesses of the values that sampling leaves out: what was sampled only corrects them. Any guess leaves the
// estimate unbiased as long as it does not depend on the traversal under way, so guesses are changed when it is over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "policy.hpp"
#include "random.hpp"
#include "sampled_pruning.hpp"

namespace equipoise {

enum class Scheme : int { external = 0, outcome = 1, chance = 2, public_chance = 3 };

constexpr bool samples_own(Scheme scheme) { return scheme == Scheme::outcome; }
constexpr bool samples_opponents(Scheme scheme) { return scheme == Scheme::external || scheme == Scheme::outcome; }

inline constexpr int chance_actor = -1;
inline constexpr int terminal_actor = -2;

// Views of one tree; N nodes, E = N - 1 edges, I information sets, Z terminals, S public states.
struct SamplingForm {
  int num_players = 0;
  std::int64_t num_terminals = 0;
  const std::int8_t* actor = nullptr;            // [N]
  const std::int32_t* detail = nullptr;          // [N] information set, terminal, or public state of a chance node (or -1)
  const std::int32_t* first_edge = nullptr;      // [N+1]
  const std::int32_t* edge_child = nullptr;      // [E]
  const double* edge_probability = nullptr;      // [E] of chance; 1 elsewhere
  const double* edge_cumulative = nullptr;       // [E] of chance, within siblings
  const std::int32_t* edge_slot = nullptr;       // [E] of public chance: which of the public state's outcomes
  const std::int32_t* first_slot = nullptr;      // [J+1] into slot_probability
  const double* slot_probability = nullptr;      // with which each outcome of a public state is drawn
  const double* utility = nullptr;               // [P, Z]
  const std::int32_t* first_sequence = nullptr;  // [I]
  const std::int32_t* num_actions = nullptr;     // [I]
};

// Guesses of the value of edges, for each player.
struct Baselines {
  const std::int32_t* edge_guess = nullptr;  // [E] which guess is the edge's, -1: none; null: there are none at all
  std::int64_t num_guesses = 0;
  double rate = 0.0;        // share of a guess that a sample replaces, in (0, 1]
  double* guess = nullptr;  // [P, num_guesses]
};

struct BaselineSample {
  std::int32_t guess;
  double value;
};

// What traversals find under strategies that somebody else keeps: regrets and meetings as they come, nothing is added up.
//
// Not every strategy need be known. A traversal that meets an information set without one leaves it out, notes it and
// goes on beside it; it is then not whole, and is run again once the strategies are there.
struct Collector {
  const double* strategy = nullptr;       // [Q]
  const std::uint8_t* is_known = nullptr;  // [I] whether the strategy is there
  std::uint8_t* is_wanted = nullptr;      // [I] set where one was missed
  bool is_whole = true;                   // whether the traversal under way missed none
  std::vector<std::int32_t> regret_infoset;
  std::vector<double> regret;             // of their actions, set after set
  std::vector<std::int32_t> met_infoset;  // where averages are kept
  std::vector<double> met_weight;

  double* add_regrets(std::int32_t infoset, int num_actions) {
    regret_infoset.push_back(infoset);
    regret.resize(regret.size() + static_cast<std::size_t>(num_actions), 0.0);
    return regret.data() + regret.size() - num_actions;
  }
};

// Memory of the traversal under way, kept between calls: stamps equal to `traversal` are fresh, all others stale. A block
// is what a strategy is frozen over: one traversal, or several.
struct SamplingScratch {
  std::int64_t traversal = 0;
  std::int64_t block = 0;
  std::vector<double> strategy;            // [Q] frozen at the first meeting of a block
  std::vector<std::int64_t> frozen;        // [I] the block of the strategy
  std::vector<std::int64_t> stamp;         // [I]
  std::vector<std::int32_t> drawn_action;  // [I] where actions are sampled
  std::vector<std::int64_t> public_stamp;  // [public states]
  std::vector<std::int32_t> drawn_slot;    // [public states]
  std::vector<double> stack;               // of the actions of the traverser's nodes on the path: values, then reaches
  std::size_t stack_top = 0;
  std::vector<BaselineSample> samples;     // of the traversal

  void prepare(std::size_t num_sequences, std::size_t num_infosets, std::size_t num_public_states) {
    strategy.resize(num_sequences);
    stamp.resize(num_infosets);
    frozen.resize(num_infosets);
    drawn_action.resize(num_infosets);
    public_stamp.resize(num_public_states);
    drawn_slot.resize(num_public_states);
  }

  // Returns where the stack has room for so many numbers.
  std::size_t push(int count) {
    const std::size_t base = stack_top;
    stack_top += static_cast<std::size_t>(count);
    if (stack.size() < stack_top) stack.resize(2 * stack_top);  // in first traversals alone
    return base;
  }
};

// One run: its tables, its randomness and its counter.
struct SamplingRun {
  const SamplingForm& form;
  SamplingScratch& scratch;
  double exploration;  // of outcome sampling, in [0, 1]
  double* regret_sum;  // [Q]
  double* strategy_sum;  // [Q]
  Random random;
  std::int64_t nodes_touched;
  Skipping skipping;
  double* missed;  // [Q] see `weigh_action`
  SkippingState skips;
  Baselines baselines;
  double weight = 1.0;                // of what the iteration under way adds
  Collector* collector = nullptr;     // null: the tables are strategy and memory
  int traverser = 0;

  // Two players: the opponent's nodes are met with its own reach. With more, the others' reach would weigh in as well,
  // and cannot be divided out where it is zero: `walk_average` takes over.
  bool averages_at_opponents() const { return form.num_players == 2; }

  // Returns whether an information set has no strategy; what is below it is then left out of the traversal.
  bool misses(std::int32_t infoset) {
    if (collector == nullptr || collector->is_known[infoset] != 0) return false;
    collector->is_wanted[infoset] = 1;
    collector->is_whole = false;
    return true;
  }

  // Freezes the strategy of an information set for this block; returns whether the traversal meets it first. A table of
  // regrets changes after that meeting alone, so that this is the strategy of the block's beginning.
  bool freeze(std::int32_t infoset) {
    if (scratch.stamp[infoset] == scratch.traversal) return false;
    scratch.stamp[infoset] = scratch.traversal;
    if (scratch.frozen[infoset] == scratch.block) return true;
    scratch.frozen[infoset] = scratch.block;
    const std::int32_t first = form.first_sequence[infoset];
    const int num_actions = form.num_actions[infoset];
    if (collector != nullptr) {
      std::copy_n(collector->strategy + first, num_actions, scratch.strategy.data() + first);
    } else {
      regret_matching(Fallback::uniform, num_actions, regret_sum + first, scratch.strategy.data() + first);
    }
    return true;
  }

  // Returns where the regrets of an information set are added; good until the next one is asked for.
  double* regret_row(std::int32_t infoset) {
    if (collector != nullptr) return collector->add_regrets(infoset, form.num_actions[infoset]);
    return regret_sum + form.first_sequence[infoset];
  }

  void add_to_average(std::int32_t infoset, double weight) {
    if (collector != nullptr) {
      collector->met_infoset.push_back(infoset);
      collector->met_weight.push_back(weight);
      return;
    }
    const std::int32_t first = form.first_sequence[infoset];
    for (int a = 0; a < form.num_actions[infoset]; ++a) strategy_sum[first + a] += weight * scratch.strategy[first + a];
  }

  bool has_baselines() const { return baselines.edge_guess != nullptr; }

  // The traverser's guess of an edge.
  double guess(std::int32_t edge) const {
    const std::int32_t place = baselines.edge_guess[edge];
    return place < 0 ? 0.0 : baselines.guess[traverser * baselines.num_guesses + place];
  }

  void remember(std::int32_t edge, double value) {
    if (baselines.edge_guess[edge] >= 0) scratch.samples.push_back({baselines.edge_guess[edge], value});
  }

  // Moves the guesses towards what the traversal found.
  void learn_baselines() {
    double* const row = baselines.guess + traverser * baselines.num_guesses;
    for (const BaselineSample& sample : scratch.samples) {
      row[sample.guess] += baselines.rate * (sample.value - row[sample.guess]);
    }
    scratch.samples.clear();
  }
};

// The value of a node one of whose edges was drawn from `probability`: the guesses', corrected by what was found.
template <typename Probability>
double correct(SamplingRun& run, std::int32_t begin, int size, int chosen, double found, Probability&& probability) {
  double value = found - run.guess(begin + chosen);
  for (int a = 0; a < size; ++a) value += probability(a) * run.guess(begin + a);
  run.remember(begin + chosen, found);
  return value;
}

template <Scheme scheme>
double traverse(SamplingRun& run, std::int32_t node, double own_reach, double cf_reach);

// A chance node: one outcome, one outcome per public state, or (private chance under public-chance sampling) all.
template <Scheme scheme>
double traverse_chance(SamplingRun& run, std::int32_t node, double own_reach, double cf_reach) {
  const SamplingForm& form = run.form;
  const std::int32_t begin = form.first_edge[node];
  const int size = form.first_edge[node + 1] - begin;
  if constexpr (scheme != Scheme::public_chance) {
    const int outcome = draw_cumulative(run.random, form.edge_cumulative + begin, size);
    const double found = traverse<scheme>(run, form.edge_child[begin + outcome], own_reach, cf_reach);
    if (!run.has_baselines() || run.baselines.edge_guess[begin] < 0) return found;
    return correct(run, begin, size, outcome, found, [&](int a) { return form.edge_probability[begin + a]; });
  }
  const std::int32_t public_state = form.detail[node];
  if (public_state < 0) {
    double value = 0.0;
    for (int outcome = 0; outcome < size; ++outcome) {
      const double probability = form.edge_probability[begin + outcome];
      value += probability * traverse<scheme>(run, form.edge_child[begin + outcome], own_reach, cf_reach * probability);
    }
    return value;
  }
  const std::int32_t first = form.first_slot[public_state];
  SamplingScratch& scratch = run.scratch;
  if (scratch.public_stamp[public_state] != scratch.traversal) {
    scratch.public_stamp[public_state] = scratch.traversal;
    scratch.drawn_slot[public_state] = draw(run.random, form.first_slot[public_state + 1] - first,
                                            [&](int slot) { return form.slot_probability[first + slot]; });
  }
  const std::int32_t slot = scratch.drawn_slot[public_state];
  for (int outcome = 0; outcome < size; ++outcome) {
    if (form.edge_slot[begin + outcome] != slot) continue;
    const double ratio = form.edge_probability[begin + outcome] / form.slot_probability[first + slot];
    return ratio * traverse<scheme>(run, form.edge_child[begin + outcome], own_reach, cf_reach * ratio);
  }
  return 0.0;  // the drawn outcome cannot happen here: its true probability is zero
}

template <Scheme scheme>
double traverse_opponent(SamplingRun& run, std::int32_t node, double own_reach, double cf_reach) {
  const SamplingForm& form = run.form;
  const std::int32_t infoset = form.detail[node];
  const std::int32_t begin = form.first_edge[node];
  const int num_actions = form.num_actions[infoset];
  if (run.misses(infoset)) return 0.0;
  const bool is_first = run.freeze(infoset);
  const double* strategy = run.scratch.strategy.data() + form.first_sequence[infoset];
  if constexpr (samples_opponents(scheme)) {
    if (is_first) {
      // reached with the owner's own probability times 1 / cf_reach (and a constant of chance)
      if (run.averages_at_opponents()) run.add_to_average(infoset, cf_reach);
      run.scratch.drawn_action[infoset] = draw(run.random, num_actions, [&](int a) { return strategy[a]; });
    }
    const int chosen = run.scratch.drawn_action[infoset];
    const double found = traverse<scheme>(run, form.edge_child[begin + chosen], own_reach, cf_reach);
    if (!run.has_baselines()) return found;
    return correct(run, begin, num_actions, chosen, found, [&](int a) { return strategy[a]; });
  }
  double value = 0.0;
  for (int a = 0; a < num_actions; ++a) {
    const double reach = cf_reach * strategy[a];
    // nothing below can change a regret, a value or the average: exact
    if (reach == 0.0 && own_reach == 0.0) continue;
    value += strategy[a] * traverse<scheme>(run, form.edge_child[begin + a], own_reach, reach);
  }
  return value;
}

// The traverser samples one action, exploring: outcome sampling alone.
template <Scheme scheme>
double traverse_own_sampled(SamplingRun& run, std::int32_t node, double own_reach, double cf_reach) {
  const SamplingForm& form = run.form;
  const std::int32_t infoset = form.detail[node];
  const std::int32_t first = form.first_sequence[infoset];
  const int num_actions = form.num_actions[infoset];
  if (run.misses(infoset)) return 0.0;
  run.freeze(infoset);
  const double* strategy = run.scratch.strategy.data() + first;
  const auto sampling = [&](int a) {
    return run.exploration / num_actions + (1.0 - run.exploration) * strategy[a];
  };
  const int chosen = draw(run.random, num_actions, sampling);
  const double probability = sampling(chosen);
  const std::int32_t begin = form.first_edge[node];
  const double found = traverse<scheme>(run, form.edge_child[begin + chosen], own_reach, cf_reach / probability);
  if (run.has_baselines()) {
    const double sampled = run.guess(begin + chosen) + (found - run.guess(begin + chosen)) / probability;
    const auto corrected = [&](int a) { return a == chosen ? sampled : run.guess(begin + a); };
    double value = 0.0;
    for (int a = 0; a < num_actions; ++a) value += strategy[a] * corrected(a);
    double* const regret = run.regret_row(infoset);
    for (int a = 0; a < num_actions; ++a) regret[a] += cf_reach * (corrected(a) - value);
    run.remember(begin + chosen, found);
    return value;
  }
  const double sampled = found / probability;
  const double value = strategy[chosen] * sampled;
  double* const regret = run.regret_row(infoset);
  for (int a = 0; a < num_actions; ++a) regret[a] += cf_reach * ((a == chosen ? sampled : 0.0) - value);
  return value;
}

// All of the traverser's actions but those that their regrets leave out.
template <Scheme scheme>
double traverse_own_skipping(SamplingRun& run, std::int32_t node, double own_reach, double cf_reach) {
  const SamplingForm& form = run.form;
  const std::int32_t infoset = form.detail[node];
  const std::int32_t first = form.first_sequence[infoset];
  const std::int32_t begin = form.first_edge[node];
  const int num_actions = form.num_actions[infoset];
  run.freeze(infoset);
  SamplingScratch& scratch = run.scratch;
  const std::size_t base = scratch.push(2 * num_actions);
  double value = 0.0;
  for (int a = 0; a < num_actions; ++a) {
    const double probability = scratch.strategy[first + a];
    double* const missed = run.missed ? run.missed + first + a : nullptr;
    const double weight = weigh_action(run.skipping, run.skips, run.random, first + a, run.regret_sum[first + a],
                                       probability, cf_reach, missed);
    const double reach = weight * cf_reach;
    scratch.stack[base + num_actions + a] = reach;
    if (weight == 0.0) continue;
    const double sampled = traverse<scheme>(run, form.edge_child[begin + a], own_reach * probability, reach);
    scratch.stack[base + a] = sampled;
    value += probability * sampled;
  }
  for (int a = 0; a < num_actions; ++a) {
    const double reach = scratch.stack[base + num_actions + a];
    if (reach == 0.0) continue;
    double& regret = run.regret_sum[first + a];
    regret = std::max(regret + reach * (scratch.stack[base + a] - value), run.skipping.floor);
  }
  scratch.stack_top = base;
  return value;
}

template <Scheme scheme>
double traverse_own(SamplingRun& run, std::int32_t node, double own_reach, double cf_reach) {
  const SamplingForm& form = run.form;
  const std::int32_t infoset = form.detail[node];
  const std::int32_t first = form.first_sequence[infoset];
  const std::int32_t begin = form.first_edge[node];
  const int num_actions = form.num_actions[infoset];
  if (run.misses(infoset)) return 0.0;
  const bool is_first = run.freeze(infoset);
  if constexpr (!samples_opponents(scheme)) {
    if (is_first) run.add_to_average(infoset, own_reach);
  }
  SamplingScratch& scratch = run.scratch;
  const std::size_t base = scratch.push(num_actions);
  double value = 0.0;
  for (int a = 0; a < num_actions; ++a) {
    const double probability = scratch.strategy[first + a];
    const double sampled = traverse<scheme>(run, form.edge_child[begin + a], own_reach * probability, cf_reach);
    scratch.stack[base + a] = sampled;
    value += probability * sampled;
  }
  double* const regret = run.regret_row(infoset);
  for (int a = 0; a < num_actions; ++a) regret[a] += cf_reach * (scratch.stack[base + a] - value);
  scratch.stack_top = base;
  return value;
}

template <Scheme scheme>
double traverse(SamplingRun& run, std::int32_t node, double own_reach, double cf_reach) {
  ++run.nodes_touched;
  const SamplingForm& form = run.form;
  const int actor = form.actor[node];
  if (actor == terminal_actor) return form.utility[run.traverser * form.num_terminals + form.detail[node]];
  if (actor == chance_actor) return traverse_chance<scheme>(run, node, own_reach, cf_reach);
  if (actor != run.traverser) return traverse_opponent<scheme>(run, node, own_reach, cf_reach);
  if constexpr (samples_own(scheme)) return traverse_own_sampled<scheme>(run, node, own_reach, cf_reach);
  if constexpr (scheme == Scheme::external) {
    if (run.skipping.kind != SkipKind::none) return traverse_own_skipping<scheme>(run, node, own_reach, cf_reach);
  }
  return traverse_own<scheme>(run, node, own_reach, cf_reach);
}

// One path on which `player` follows its strategy, chance its probabilities and the others move uniformly, so that a
// set is met with the player's own probability times a constant: its strategy is added with the iteration's weight.
inline void walk_average(SamplingRun& run, int player) {
  const SamplingForm& form = run.form;
  std::int32_t node = 0;
  for (++run.nodes_touched; form.actor[node] != terminal_actor; ++run.nodes_touched) {
    const std::int32_t begin = form.first_edge[node];
    const int size = form.first_edge[node + 1] - begin;
    int chosen = 0;
    if (form.actor[node] == chance_actor) {
      chosen = draw_cumulative(run.random, form.edge_cumulative + begin, size);
    } else if (form.actor[node] == player) {
      const std::int32_t infoset = form.detail[node];
      if (run.misses(infoset)) return;
      run.freeze(infoset);
      run.add_to_average(infoset, run.weight);
      const double* strategy = run.scratch.strategy.data() + form.first_sequence[infoset];
      chosen = draw(run.random, size, [&](int a) { return strategy[a]; });
    } else {
      chosen = draw_uniform(run.random, size);
    }
    node = form.edge_child[begin + chosen];
  }
}

// A traversal, and the path that keeps the average where that is not done on the way. `is_alone`: the path follows what
// the traversal has changed, it is no part of the block.
template <Scheme scheme>
void sample_traversal(SamplingRun& run, int player, bool is_alone) {
  run.traverser = player;
  run.scratch.stack_top = 0;  // not where a traversal that ran out of memory left it
  ++run.scratch.traversal;
  run.scratch.samples.clear();  // likewise
  traverse<scheme>(run, 0, run.weight, run.weight);
  if (run.has_baselines()) run.learn_baselines();
  if (samples_opponents(scheme) && !run.averages_at_opponents()) {
    ++run.scratch.traversal;
    if (is_alone) ++run.scratch.block;
    walk_average(run, player);
  }
}

// Traversals for one player under one strategy. A single one draws from the run's own stream; of several each draws from
// a stream that a word of the run's begins, so that any of them can be run alone.
template <Scheme scheme>
void sample_player(SamplingRun& run, int player, std::int64_t num_traversals) {
  ++run.scratch.block;
  if (num_traversals == 1) {
    sample_traversal<scheme>(run, player, true);
    return;
  }
  Random words = run.random;
  for (std::int64_t k = 0; k < num_traversals; ++k) {
    run.random = begin_stream(words.next());
    sample_traversal<scheme>(run, player, false);
  }
  run.random = words;
}

// How iterations are made of traversals.
struct Iterating {
  std::int64_t num_iterations = 0;
  std::int64_t node_limit = 0;       // no iteration begins beyond it
  std::int64_t num_traversals = 1;   // of each player in an iteration, under one strategy
  double first_weight = 1.0;         // of the first iteration ...
  double weight_step = 0.0;          // ... and what each weighs more than the one before
};

// Runs iterations, each of traversals for every player, until their number or the limit of nodes is reached; returns how
// many were completed.
template <Scheme scheme>
std::int64_t sample_iterations(SamplingRun& run, const Iterating& plan) {
  std::int64_t done = 0;
  run.weight = plan.first_weight;
  while (done < plan.num_iterations && run.nodes_touched < plan.node_limit) {
    run.skips.begin_iteration(run.skipping, run.nodes_touched, run.random);
    for (int player = 0; player < run.form.num_players; ++player) sample_player<scheme>(run, player, plan.num_traversals);
    run.weight += plan.weight_step;
    ++done;
  }
  return done;
}

// Runs the traversals of one player that begin with the given words, under the collector's strategies; where
// `is_recorded`, what they find is kept, else only what they miss. Returns how many were whole, and which.
template <Scheme scheme>
void collect(SamplingRun& run, int player, const std::uint64_t* word, std::int64_t count, bool is_recorded,
             std::uint8_t* is_whole) {
  Collector& collector = *run.collector;
  ++run.scratch.block;
  for (std::int64_t k = 0; k < count; ++k) {
    run.random = begin_stream(word[k]);
    collector.is_whole = true;
    sample_traversal<scheme>(run, player, false);
    is_whole[k] = collector.is_whole ? 1 : 0;
    if (is_recorded) continue;
    run.nodes_touched = 0;
    collector.regret_infoset.clear();
    collector.regret.clear();
    collector.met_infoset.clear();
    collector.met_weight.clear();
  }
}

// Calls `work` with the scheme as a compile-time constant.
template <typename Work>
auto with_scheme(Scheme scheme, Work&& work) {
  switch (scheme) {
    case Scheme::outcome:
      return work.template operator()<Scheme::outcome>();
    case Scheme::chance:
      return work.template operator()<Scheme::chance>();
    case Scheme::public_chance:
      return work.template operator()<Scheme::public_chance>();
    default:
      return work.template operator()<Scheme::external>();
  }
}

// Returns the edges on the longest path down; children come after their parents.
inline std::int64_t find_depth(const std::int32_t* first_edge, const std::int32_t* edge_child, std::int64_t num_nodes) {
  std::vector<std::int32_t> depth(static_cast<std::size_t>(num_nodes), 0);
  std::int32_t largest = 0;
  for (std::int64_t node = 0; node < num_nodes; ++node) {
    largest = std::max(largest, depth[node]);
    for (std::int32_t edge = first_edge[node]; edge < first_edge[node + 1]; ++edge) {
      depth[edge_child[edge]] = std::max(depth[edge_child[edge]], depth[node] + 1);
    }
  }
  return largest;
}

// Overwrites `out` with the running sum of chance probabilities within each chance node's children.
inline void accumulate_chance(const std::int32_t* first_edge, const double* edge_probability, std::int64_t num_nodes,
                              double* out) {
  for (std::int64_t node = 0; node < num_nodes; ++node) {
    double total = 0.0;
    for (std::int32_t edge = first_edge[node]; edge < first_edge[node + 1]; ++edge) {
      total += edge_probability[edge];
      out[edge] = total;
    }
  }
}

}  // namespace equipoise
