// SPDX-License-Identifier: Apache-2.0
// The native module: array views in, array views out. Shapes and dtypes are checked by the Python wrappers in
// equipoise.kernels, which are the only importers.
#include <algorithm>
#include <map>
#include <vector>

#include "bindings.hpp"
#include "cardsets.hpp"
#include "elementary.hpp"
#include "equity.hpp"
#include "handeval.hpp"
#include "history.hpp"
#include "likely.hpp"
#include "products.hpp"
#include "public_bindings.hpp"
#include "sampling_bindings.hpp"
#include "steps.hpp"
#include "treeplex.hpp"

using namespace equipoise;

namespace {

// Keeps the arrays alive that its form points into, and what its calls work with.
struct BoundHistoryForm {
  HistoryForm form;
  NamedArrays arrays;
  std::map<int, std::vector<HistoryPlan>> teams;  // by number of threads: who does what, for each player
  Team crew;
  Spare<std::vector<double>> workspace;

  explicit BoundHistoryForm(const nb::dict& given) : arrays(given) {
    const auto terminal_sequence = arrays.view<Ints>("terminal_sequence");
    const auto weight = arrays.view<Doubles>("weight");
    form.num_players = static_cast<int>(terminal_sequence.shape(0));
    form.is_zero_sum = form.num_players == 2 && weight.shape(0) == 1;
    form.num_terminals = static_cast<std::int64_t>(terminal_sequence.shape(1));
    for (int player = 0; player < form.num_players; ++player) {
      form.terminal_sequence[player] = terminal_sequence.data() + player * form.num_terminals;
    }
    for (std::size_t row = 0; row < weight.shape(0); ++row) form.weight[row] = weight.data() + row * form.num_terminals;
    form.sequence_start = arrays.data<Ints>("sequence_start");
    form.infoset_start = arrays.data<Ints>("infoset_start");
    form.first_sequence = arrays.data<Ints>("first_sequence");
    form.num_actions = arrays.data<Ints>("num_actions");
    form.parent_sequence = arrays.data<Ints>("parent_sequence");
    arrays.check_all_asked();
  }

  const std::vector<HistoryPlan>& team(int num_threads) {
    if (!teams.contains(num_threads)) teams[num_threads] = plan_team(form, num_threads);
    return teams[num_threads];
  }
};

// Overwrites the own reach of everything with that of `strategy`.
void realize_all(const HistoryForm& form, const double* strategy, double* realization) {
  for (int player = 0; player < form.num_players; ++player) realization[form.sequence_start[player]] = 1.0;
  realize(form, 0, form.infoset_start[form.num_players], strategy, realization);
}

// The root's cells are given.
void realize_all(const PublicForm& form, const double* strategy, double* realization) {
  for (int player = 0; player < 2; ++player) spread(form, player, strategy, realization);
}

// What a team shares is planned here, before iterations give up the interpreter's lock.
BoundSteps::Iterate bind_iterations(BoundHistoryForm& bound, const BoundRun& run, bool is_alternating, int num_threads) {
  const std::vector<HistoryPlan>& plans = bound.team(num_threads);
  return [&bound, &plans, &run, is_alternating](const Discount* rows, std::int64_t first_t, std::int64_t num_iterations) {
    nb::gil_scoped_release release;
    bound.workspace.lend(
        1, [&](std::vector<double>& cfv) { cfv.resize(static_cast<std::size_t>(bound.form.num_sequences())); },
        [&](std::vector<double>& cfv) {
          iterate(bound.form, plans, run.rule, rows, first_t, num_iterations, is_alternating, run.tables, bound.crew,
                  cfv.data());
        });
    return num_iterations;
  };
}

BoundSteps::Iterate bind_iterations(BoundPublicForm& bound, const BoundRun& run, bool is_alternating, int num_threads) {
  const TeamPlan* plans = bound.team(num_threads);
  return [&bound, plans, &run, is_alternating](const Discount* rows, std::int64_t first_t, std::int64_t num_iterations) {
    nb::gil_scoped_release release;
    bound.iterate_plans(plans, run.rule, rows, first_t, num_iterations, is_alternating, run.tables);
    return num_iterations;
  };
}

void run_learning(const BoundHistoryForm& bound, const Rule& rule, const Discount* rows, std::int64_t first_t,
                  std::int64_t num_updates, int player, const double* terminal_values, const Tables& tables,
                  double* utility) {
  std::vector<double> cfv(static_cast<std::size_t>(bound.form.num_sequences()));
  learn(bound.form, rule, rows, first_t, num_updates, player, terminal_values, tables, cfv.data(), utility);
}

void run_learning(const BoundPublicForm& bound, const Rule& rule, const Discount* rows, std::int64_t first_t,
                  std::int64_t num_updates, int player, const double* terminal_values, const Tables& tables,
                  double* utility) {
  PublicWorkspace workspace;
  workspace.prepare(bound.form, 1);
  learn(bound.form, rule, rows, first_t, num_updates, player, terminal_values, tables, workspace.cfv[0].data(),
        workspace.scratch[0].data(), utility);
}

// What sweeps over any form of tree offer, as methods of its class.
template <typename Bound>
void bind_sweeps(nb::class_<Bound> bound_class) {
  bound_class.def(
      "bind_steps",
      [](Bound& bound, const BoundRun& run, bool is_alternating, int num_threads, Turn& turn) {
        return BoundSteps(turn, bind_iterations(bound, run, is_alternating, num_threads));
      },
      nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 5>());
  bound_class.def("learn", [](const Bound& bound, const BoundRun& run, Doubles discounts, std::int64_t first_t,
                              int player, Doubles terminal_values, MutableDoubles utility) {
    nb::gil_scoped_release release;
    run_learning(bound, run.rule, view_rows(discounts), first_t, static_cast<std::int64_t>(discounts.shape(0)), player,
                 terminal_values.data(), run.tables, utility.data());
  },
      nb::arg("run"), nb::kw_only(), nb::arg("discounts"), nb::arg("first_t"), nb::arg("player"),
      nb::arg("terminal_values"), nb::arg("utility"));
  bound_class.def("realize", [](const Bound& bound, Doubles strategy, MutableDoubles realization) {
    realize_all(bound.form, strategy.data(), realization.data());
  },
      nb::kw_only(), nb::arg("strategy"), nb::arg("realization"));
  bound_class.def("normalize", [](const Bound& bound, Doubles sums, MutableDoubles out) {
    normalize_sums(bound.form, sums.data(), out.data());
  },
      nb::kw_only(), nb::arg("sums"), nb::arg("out"));
  bound_class.def("terminal_values", [](Bound& bound, int player, Doubles realization, int num_threads,
                                        MutableDoubles cfv) {
    const auto& plans = bound.team(num_threads);
    nb::gil_scoped_release release;
    evaluate_terminals(bound.form, plans, player, realization.data(), bound.crew, cfv.data());
  },
      nb::arg("player"), nb::kw_only(), nb::arg("realization"), nb::arg("num_threads"), nb::arg("cfv"));
  bound_class.def("back_up_best", [](const Bound& bound, int player, bool respects_locks, MutableDoubles cfv,
                                     MutableDoubles best) {
    back_up_best(bound.form, player, respects_locks, cfv.data(), best.data());
  },
      nb::arg("player"), nb::arg("respects_locks"), nb::kw_only(), nb::arg("cfv"), nb::arg("best"));
  bound_class.def("back_up_strategy", [](const Bound& bound, int player, Doubles strategy, MutableDoubles cfv) {
    back_up_strategy(bound.form, player, strategy.data(), cfv.data());
  },
      nb::arg("player"), nb::kw_only(), nb::arg("strategy"), nb::arg("cfv"));
  bound_class.def("back_up_substitutes", [](const Bound& bound, int player, Doubles budget, MutableDoubles cfv,
                                            MutableDoubles row_value, MutableDoubles regret) {
    back_up_substitutes(bound.form, player, budget.data(), cfv.data(), row_value.data(), regret.data());
  },
      nb::arg("player"), nb::kw_only(), nb::arg("budget"), nb::arg("cfv"), nb::arg("row_value"), nb::arg("regret"));
}

void bind_steps(nb::module_& module) {
  nb::class_<Turn>(module, "Turn").def(nb::init<>()).def("take", &Turn::take).def("give_back", &Turn::give_back);
  nb::class_<BoundSteps>(module, "Steps")
      .def("run", &BoundSteps::run)
      .def("know", &BoundSteps::know)
      .def("step", &BoundSteps::step);
}

void bind_history(nb::module_& module) {
  module.attr("MAX_PLAYERS") = max_players;
  nb::class_<BoundRun>(module, "SweepRun")
      .def("__init__", [](BoundRun* self, int policy_map, int fallback, bool is_optimistic, bool floors_regrets,
                          bool tracks_variance, const nb::dict& given) {
        NamedArrays arrays(given);
        const auto table = [&](const char* name) { return arrays.view<MutableDoubles>(name); };
        BoundRun run(policy_map, fallback, is_optimistic, floors_regrets, tracks_variance, table("regret_sum"),
                     table("strategy_sum"), table("strategy"), table("realization"), table("scale"),
                     table("value_moments"));
        arrays.check_all_asked();
        new (self) BoundRun(std::move(run));
      });
  nb::class_<BoundHistoryForm> history(module, "HistoryForm");
  history.def(nb::init<const nb::dict&>());
  bind_sweeps(history);
  history.def("back_up_biased", [](const BoundHistoryForm& bound, int player, Doubles model, Doubles trust,
                                   MutableDoubles cfv, MutableDoubles best) {
    back_up_biased(bound.form, player, model.data(), trust.data(), cfv.data(), best.data());
  },
      nb::arg("player"), nb::kw_only(), nb::arg("model"), nb::arg("trust"), nb::arg("cfv"), nb::arg("best"));
}

void bind_public(nb::module_& module) {
  nb::class_<BoundPublicForm> form(module, "PublicForm");
  form.def(nb::init<const nb::dict&>());
  bind_sweeps(form);
}

// What a run of sampled traversals reads and writes.
struct SamplingCall {
  double exploration, rate;
  NamedArrays arrays;
  MutableDoubles regret_sum, strategy_sum, missed, guess;
  MutableWords random, nodes_touched, num_skipped;
  Ints edge_guess;

  SamplingCall(double explored, double guess_rate, const nb::dict& given)
      : exploration(explored),
        rate(guess_rate),
        arrays(given),
        regret_sum(arrays.view<MutableDoubles>("regret_sum")),
        strategy_sum(arrays.view<MutableDoubles>("strategy_sum")),
        missed(arrays.view<MutableDoubles>("missed")),
        guess(arrays.view<MutableDoubles>("baseline")),
        random(arrays.view<MutableWords>("random_words")),
        nodes_touched(arrays.view<MutableWords>("nodes_touched")),
        num_skipped(arrays.view<MutableWords>("num_skipped")),
        edge_guess(arrays.view<Ints>("edge_guess")) {
    arrays.check_all_asked();
  }
};

// Runs `work` on a run whose generator and counters come from, and go back to, the given words.
template <typename Work>
void with_run(BoundSamplingForm& bound, const BoundSkipping& skipping, const SamplingCall& call, Work&& work) {
  std::uint64_t* state = call.random.data();
  SamplingRun run{.form = bound.form,
                  .scratch = bound.scratch,
                  .exploration = call.exploration,
                  .regret_sum = call.regret_sum.data(),
                  .strategy_sum = call.strategy_sum.data(),
                  .random = Random{{state[0], state[1], state[2], state[3]}},
                  .nodes_touched = static_cast<std::int64_t>(*call.nodes_touched.data()),
                  .skipping = skipping.rule,
                  .missed = call.missed.size() > 0 ? call.missed.data() : nullptr,
                  .skips = {.num_skipped = static_cast<std::int64_t>(*call.num_skipped.data())},
                  .baselines = {.edge_guess = call.edge_guess.size() > 0 ? call.edge_guess.data() : nullptr,
                                .num_guesses = static_cast<std::int64_t>(call.guess.shape(1)),
                                .rate = call.rate,
                                .guess = call.guess.data()}};
  work(run);
  for (int word = 0; word < 4; ++word) state[word] = run.random.state[word];
  *call.nodes_touched.data() = static_cast<std::uint64_t>(run.nodes_touched);
  *call.num_skipped.data() = static_cast<std::uint64_t>(run.skips.num_skipped);
}

void bind_sampling(nb::module_& module) {
  nb::class_<BoundSamplingForm>(module, "SamplingForm").def(nb::init<const nb::dict&, std::int64_t>());
  module.def("sampling_depth", [](Ints first_edge, Ints edge_child) {
    return find_depth(first_edge.data(), edge_child.data(), static_cast<std::int64_t>(first_edge.size()) - 1);
  },
      nb::kw_only(), nb::arg("first_edge"), nb::arg("edge_child"));
  module.def("sampling_accumulate_chance", [](Ints first_edge, Doubles edge_probability, MutableDoubles out) {
    accumulate_chance(first_edge.data(), edge_probability.data(), static_cast<std::int64_t>(first_edge.size()) - 1,
                      out.data());
  },
      nb::kw_only(), nb::arg("first_edge"), nb::arg("edge_probability"), nb::arg("out"));
  nb::class_<BoundSkipping>(module, "Skipping")
      .def(nb::init<int, bool, const std::vector<double>&, std::int64_t, std::int64_t, Cards, Doubles>());
  nb::class_<SamplingCall>(module, "SamplingCall").def(nb::init<double, double, const nb::dict&>());
  nb::class_<Iterating>(module, "SamplingPlan")
      .def("__init__", [](Iterating* self, std::int64_t num_iterations, std::int64_t node_limit,
                          std::int64_t num_traversals, double first_weight, double weight_step) {
        new (self) Iterating{num_iterations, node_limit, num_traversals, first_weight, weight_step};
      },
          nb::kw_only(), nb::arg("num_iterations"), nb::arg("node_limit"), nb::arg("num_traversals"),
          nb::arg("first_weight"), nb::arg("weight_step"));
  module.def("sampling_iterate", [](BoundSamplingForm& bound, int scheme, const Iterating& plan,
                                    const BoundSkipping& skipping, const SamplingCall& call) {
    nb::gil_scoped_release release;
    std::int64_t done = 0;
    with_run(bound, skipping, call, [&](SamplingRun& run) {
      done = with_scheme(static_cast<Scheme>(scheme),
                         [&]<Scheme chosen>() { return sample_iterations<chosen>(run, plan); });
    });
    return done;
  });
  module.def("sampling_traverse", [](BoundSamplingForm& bound, int scheme, int player, const BoundSkipping& skipping,
                                     const SamplingCall& call) {
    nb::gil_scoped_release release;
    with_run(bound, skipping, call, [&](SamplingRun& run) {
      run.skips.begin_iteration(run.skipping, run.nodes_touched, run.random);
      with_scheme(static_cast<Scheme>(scheme), [&]<Scheme chosen>() { sample_player<chosen>(run, player, 1); });
    });
  });
}

void bind_treeplex(nb::module_& module) {
  module.def("treeplex_weights",
             [](const BoundHistoryForm& bound, double scale, double growth, MutableDoubles weights) {
               dilate_weights(bound.form, scale, growth, weights.data());
             });
  module.def("treeplex_diameter", [](const BoundHistoryForm& bound, int player, Doubles weights) {
    return dilated_diameter(bound.form, player, weights.data());
  });
  module.def("treeplex_respond",
             [](const BoundHistoryForm& bound, int player, double mu, Doubles weights, Doubles log_prior,
                MutableDoubles values, MutableDoubles log_strategy, MutableDoubles realization) {
               nb::gil_scoped_release release;
               return respond_smoothly(bound.form, player, mu, weights.data(), log_prior.data(), values.data(),
                                       log_strategy.data(), realization.data());
             },
             nb::arg("bound"), nb::arg("player"), nb::arg("mu"), nb::kw_only(), nb::arg("weights"),
             nb::arg("log_prior"), nb::arg("values"), nb::arg("log_strategy"), nb::arg("realization"));
}

// Keeps the arrays alive that its nodes point into.
struct BoundHistoryNodes {
  HistoryNodes nodes;
  NamedArrays arrays;

  explicit BoundHistoryNodes(const nb::dict& given) : arrays(given) {
    const auto subtree_end = arrays.view<Ints>("subtree_end");
    nodes.num_nodes = static_cast<std::int64_t>(subtree_end.size());
    nodes.subtree_end = subtree_end.data();
    nodes.last_sequence[0] = arrays.data<Ints>("last_sequence");  // [2, nodes]
    nodes.last_sequence[1] = nodes.last_sequence[0] + nodes.num_nodes;
    nodes.chance = arrays.data<Doubles>("chance");
    nodes.terminal = arrays.data<Ints>("terminal");
    arrays.check_all_asked();
  }
};

void bind_likely(nb::module_& module) {
  nb::class_<BoundHistoryNodes>(module, "HistoryNodes").def(nb::init<const nb::dict&>());
  module.def("likely_terminal_values",
             [](const BoundHistoryForm& bound, const BoundHistoryNodes& walked, int player, double least,
                Doubles realization, MutableDoubles cfv) {
               nb::gil_scoped_release release;
               return accumulate_likely(bound.form, walked.nodes, player, least, realization.data(), cfv.data());
             },
             nb::arg("bound"), nb::arg("walked"), nb::arg("player"), nb::arg("least"), nb::kw_only(),
             nb::arg("realization"), nb::arg("cfv"));
}

void bind_policy(nb::module_& module) {
  module.def("apply_policy_map",
             [](int policy_map, int fallback, double eta, double threshold, Doubles regret, MutableDoubles out) {
               const int num_actions = static_cast<int>(regret.size());
               const auto chosen = static_cast<Fallback>(fallback);
               switch (static_cast<PolicyMap>(policy_map)) {
                 case PolicyMap::hedge:
                   hedge(eta, num_actions, regret.data(), out.data());
                   break;
                 case PolicyMap::normal_hedge:
                   normal_hedge(chosen, num_actions, regret.data(), out.data());
                   break;
                 default:
                   regret_matching(chosen, num_actions, regret.data(), out.data());
               }
               cut_small(threshold, num_actions, out.data());
             },
             nb::arg("policy_map"), nb::arg("fallback"), nb::arg("eta"), nb::arg("threshold"), nb::kw_only(),
             nb::arg("regret"), nb::arg("out"));
}

void bind_cards(nb::module_& module) {
  nb::class_<HandEvaluator>(module, "HandEvaluator")
      .def("__init__",
           [](HandEvaluator* self, std::uint32_t rank_mask, bool flush_beats_full_house, bool trips_beat_straight) {
             new (self) HandEvaluator({rank_mask, flush_beats_full_house, trips_beat_straight});
           });

  module.def("hand_categories", [](const HandEvaluator& evaluator, Array<std::uint8_t> out) {
    for (int strength = 0; strength < kNumStrengths; ++strength) {
      out.data()[strength] = static_cast<std::uint8_t>(evaluator.category(strength));
    }
  });
  module.def("evaluate_hands", [](const HandEvaluator& evaluator, Cards cards, Strengths out) {
    const auto num_hands = static_cast<std::int64_t>(cards.shape(0));
    nb::gil_scoped_release release;
    switch (cards.shape(1)) {
      case 5:
        return evaluate_hands<5>(evaluator, cards.data(), num_hands, out.data());
      case 6:
        return evaluate_hands<6>(evaluator, cards.data(), num_hands, out.data());
      default:
        return evaluate_hands<7>(evaluator, cards.data(), num_hands, out.data());
    }
  });
  module.def("evaluate_hole_cards", [](const HandEvaluator& evaluator, Cards boards, Cards hole_cards, Strengths out) {
    const auto num_boards = static_cast<std::int64_t>(boards.shape(0));
    const auto num_board = static_cast<std::int64_t>(boards.shape(1));
    const auto num_hands = static_cast<std::int64_t>(hole_cards.shape(0));
    nb::gil_scoped_release release;
    for (std::int64_t i = 0; i < num_boards; ++i) {
      evaluate_hole_cards(evaluator, boards.data() + i * num_board, static_cast<int>(num_board), hole_cards.data(),
                          num_hands, out.data() + i * num_hands);
    }
  },
      nb::arg("evaluator"), nb::kw_only(), nb::arg("boards"), nb::arg("hole_cards"), nb::arg("out"));
  module.def("list_card_sets", [](Cards cards, int size, Cards permutations, Array<std::uint8_t> sets,
                                  Array<std::uint8_t> counts) {
    nb::gil_scoped_release release;
    return CardSetLister(cards.data(), static_cast<int>(cards.size()), size, permutations.data(),
                         static_cast<int>(permutations.shape(0)), sets.data(), counts.data())
        .list();
  },
      nb::kw_only(), nb::arg("cards"), nb::arg("size"), nb::arg("permutations"), nb::arg("sets"), nb::arg("counts"));
  module.def("accumulate_showdowns",
             [](const HandEvaluator& evaluator, Cards hole_cards, Doubles first_reach, Doubles second_reach,
                Cards boards, Doubles weights, MutableDoubles out) {
               const auto num_hands = static_cast<std::int64_t>(hole_cards.shape(0));
               nb::gil_scoped_release release;
               accumulate_showdowns(evaluator, hole_cards.data(), num_hands, first_reach.data(), second_reach.data(),
                                    boards.data(), weights.data(), static_cast<std::int64_t>(boards.shape(0)), out.data());
             },
             nb::arg("evaluator"), nb::kw_only(), nb::arg("hole_cards"), nb::arg("first_reach"),
             nb::arg("second_reach"), nb::arg("boards"), nb::arg("weights"), nb::arg("out"));
}

void bind_arithmetic(nb::module_& module) {
  module.def("multiply", [](Doubles first, Doubles second, MutableDoubles out) {
    multiply(static_cast<std::int64_t>(first.shape(0)), static_cast<std::int64_t>(first.shape(1)),
             static_cast<std::int64_t>(second.shape(1)), first.data(), second.data(), out.data());
  },
      nb::kw_only(), nb::arg("first"), nb::arg("second"), nb::arg("out"));
  module.def("exponential", [](Doubles values, MutableDoubles out) {
    std::transform(values.data(), values.data() + values.size(), out.data(), exponential);
  },
      nb::kw_only(), nb::arg("values"), nb::arg("out"));
  module.def("logarithm", [](Doubles values, MutableDoubles out) {
    std::transform(values.data(), values.data() + values.size(), out.data(), logarithm);
  },
      nb::kw_only(), nb::arg("values"), nb::arg("out"));
  module.def("raise_to", [](double base, double exponent) { return raise(base, exponent); });
}

}  // namespace

#ifndef EQUIPOISE_MODULE  // a portable wheel has this module several times, under a name for each instruction set
#define EQUIPOISE_MODULE _native
#endif

NB_MODULE(EQUIPOISE_MODULE, module) {
  // caches of Python modules hold forms until the interpreter ends; that is no leak worth a message
  nb::set_leak_warnings(false);
  bind_arithmetic(module);
  bind_belief_search(module);
  bind_blueprint(module);
  bind_buckets(module);
  bind_cards(module);
  bind_policy(module);
  bind_growing(module);
  bind_history(module);
  bind_holdem_leaves(module);
  bind_holdem(module);
  bind_holdem_play(module);
  bind_holdem_sampling(module);
  bind_ismcts(module);
  bind_learning(module);
  bind_likely(module);
  bind_joint_law(module);
  bind_lines(module);
  bind_pruning(module);
  bind_public(module);
  bind_public_hooks(module);
  bind_responses(module);
  bind_sampling(module);
  bind_steps(module);
  bind_treeplex(module);
  bind_value_nets(module);
}
