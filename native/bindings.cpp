// SPDX-License-Identifier: Apache-2.0
// The native module: array views in, array views out. Shapes and dtypes are checked by the Python wrappers in
// equipoise.kernels, which are the only importers.
#include <map>
#include <vector>

#include "bindings.hpp"
#include "history.hpp"
#include "likely.hpp"
#include "public_bindings.hpp"
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
  bind_parametric(module);
  bind_pruning(module);
  bind_public(module);
  bind_public_hooks(module);
  bind_responses(module);
  bind_sized_leduc(module);
  bind_sampling(module);
  bind_steps(module);
  bind_treeplex(module);
  bind_value_nets(module);
}
