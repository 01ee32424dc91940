// SPDX-License-Identifier: Apache-2.0
// Hold'em trees in the native module.
#include <tuple>

#include "frontier_bindings.hpp"
#include "holdem.hpp"
#include "holdem_bindings.hpp"
#include "steps.hpp"

namespace equipoise {

namespace {

using Exponents = Array<std::uint8_t>;

// Keeps the arrays alive that its hooks point into; empty arrays stand for hooks that are not there.
struct BoundHoldemHooks {
  HoldemGate gate;
  HoldemWatch watch;
  HoldemStart start;
  NamedArrays arrays;
  std::int32_t num_lines;
  double* gate_reach;      // [H] what enters next, where callers read and write it
  double* watched_weight;  // of all iterations, 1 number

  BoundHoldemHooks(int player, int kind, double share, std::int32_t lines, const nb::dict& given)
      : arrays(given), num_lines(lines) {
    gate.player = player;
    gate.reach = arrays.view<MutableDoubles>("reach").data();
    const auto mass = arrays.view<Doubles>("mass");
    gate.gate = {.kind = static_cast<GateKind>(kind),
                 .num_private = static_cast<std::int64_t>(mass.size()),
                 .mass = mass.data(),
                 .alternative = arrays.data<Doubles>("alternative"),
                 .deviation = arrays.data<Doubles>("deviation"),
                 .prior = arrays.data<Doubles>("prior"),
                 .share = share,
                 .regret = arrays.view<MutableDoubles>("regret").data()};
    const auto watched = arrays.view<Ints>("watched_cells");
    const std::int32_t* const first = arrays.data<Ints>("watched_start");
    if (watched.size() > 0) watch = {first, watched.data(), arrays.view<MutableDoubles>("value_sum").data()};
    if (watched.size() == 0) arrays.view<MutableDoubles>("value_sum");
    start.reach[0] = arrays.data<Doubles>("root_reach_0");
    start.reach[1] = arrays.data<Doubles>("root_reach_1");
    gate_reach = arrays.view<MutableDoubles>("gate_reach").data();
    watched_weight = arrays.view<MutableDoubles>("watched_weight").data();
    arrays.check_all_asked();
  }

  void begin() const { std::copy_n(gate_reach, gate.gate.num_private, gate.reach); }

  // Writes what callers read once iterations are done.
  void finish(const Discount* rows, std::int64_t num_iterations) const {
    std::copy_n(gate.reach, gate.gate.num_private, gate_reach);
    add_average_weights(rows, num_iterations, *watched_weight);
  }
};

// Opens a frontier for one call; null if there is none.
HoldemFrontier* open_frontier(BoundFrontier& bound, const BoundHoldemHooks& hooks, HoldemFrontier& out) {
  out.frontier = bound.open();
  out.num_lines = hooks.num_lines;
  return out.frontier.is_empty() ? nullptr : &out;
}

// A rule and the tables of a run, kept alive.
template <typename Cell>
struct BoundHoldemRun {
  using Average = typename AverageOf<Cell>::Type;
  Rule rule;
  HoldemTables<Cell> tables;
  std::tuple<Array<Cell>, Array<Average>, Array<Cell>, Exponents, Exponents, Exponents, Array<Cell>, Array<Cell>,
             Array<Cell>> arrays;

  BoundHoldemRun(int policy_map, int fallback, bool is_optimistic, bool floors_regrets, bool tracks_variance,
                 Array<Cell> regret_sum, Array<Average> strategy_sum, Array<Cell> last_regret,
                 Exponents regret_exponent, Exponents strategy_exponent, Exponents last_exponent, Array<Cell> scale,
                 Array<Cell> step, Array<Cell> value_moments)
      : rule(make_rule(policy_map, fallback, is_optimistic, floors_regrets, tracks_variance)),
        tables{.regret_sum = {regret_sum.data(), regret_exponent.data()},
               .strategy_sum = {strategy_sum.data(), strategy_exponent.data()},
               .last_regret = {last_regret.data(), last_exponent.data()},
               .scale = scale.data(),
               .step = step.data(),
               .value_moments = value_moments.data()},
        arrays{regret_sum,    strategy_sum, last_regret, regret_exponent, strategy_exponent,
               last_exponent, scale,        step,        value_moments} {}
};

// Where sweeps over a tree are interrupted: iterations by what they compute in, evaluations of the tree and of one board.
struct BoundHoldemPauses {
  BoundHoldemPause<float> single_pause;
  BoundHoldemPause<double> double_pause, evaluation, viewing;
  BoundHoldemPause<float> quick_evaluation;

  template <typename Real>
  BoundHoldemPause<Real>& of() {
    if constexpr (std::is_same_v<Real, float>) {
      return single_pause;
    } else {
      return double_pause;
    }
  }

  // Lets sweeps end after so many looks; 0: not at all.
  void stop(std::int32_t num_looks) {
    single_pause.pause.request.set(num_looks);
    double_pause.pause.request.set(num_looks);
    evaluation.pause.request.set(num_looks);
    quick_evaluation.pause.request.set(num_looks);
    viewing.pause.request.set(num_looks);
  }
};

template <typename Real, typename Cell>
void bind_holdem_run(nb::module_& module, const char* name) {
  using Average = typename AverageOf<Cell>::Type;
  nb::class_<BoundHoldemRun<Cell>>(module, name)
      .def("__init__",
           [](BoundHoldemRun<Cell>* self, int policy_map, int fallback, bool is_optimistic, bool floors_regrets,
              bool tracks_variance, const nb::dict& given) {
             NamedArrays arrays(given);
             const auto table = [&](const char* name) { return arrays.view<Array<Cell>>(name); };
             const auto exponents = [&](const char* name) { return arrays.view<Exponents>(name); };
             BoundHoldemRun<Cell> run(policy_map, fallback, is_optimistic, floors_regrets, tracks_variance,
                                      table("regret_sum"), arrays.view<Array<Average>>("strategy_sum"),
                                      table("last_regret"), exponents("regret_exponent"),
                                      exponents("strategy_exponent"), exponents("last_exponent"), table("scale"),
                                      table("step"), table("value_moments"));
             arrays.check_all_asked();
             new (self) BoundHoldemRun<Cell>(std::move(run));
           })
      .def(
          "bind_steps",
          [](const BoundHoldemRun<Cell>& run, BoundHoldemForm& bound, bool is_alternating, int num_threads, Turn& turn,
             const BoundHoldemHooks& given, const BoundHoldemLeaves& leaves, BoundFrontier& frontier,
             BoundHoldemPauses& pauses, bool can_stop) {
            return BoundSteps(turn, [&, is_alternating, num_threads, can_stop](
                                        const Discount* rows, std::int64_t first_t, std::int64_t num_iterations) {
              HoldemPause<Real>* const pause = can_stop ? &pauses.of<Real>().pause : nullptr;
              // an iteration that was interrupted is finished by as many threads as began it
              if (pause && pause->is_paused() && static_cast<int>(pause->threads.size()) != num_threads) return std::int64_t{-1};
              std::int64_t num_done = 0;
              HoldemFrontier opened;
              HoldemHooks<Real> hooks{.start = given.start, .gate = given.gate, .watch = given.watch};
              hooks.frontier = open_frontier(frontier, given, opened);
              given.begin();
              {
                nb::gil_scoped_release release;
                const auto game = begin_leaves<Real>(leaves, num_threads);
                hooks.leaves = game.get();
                bound.lend<Real>(num_threads, [&](HoldemWorkspace<Real>& workspace) {
                  num_done = iterate_holdem<Real, Cell>(bound.form, run.rule, rows, first_t, num_iterations,
                                                        is_alternating, num_threads, run.tables, workspace, bound.crew,
                                                        hooks, pause);
                });
              }
              pauses.stop(0);
              given.finish(rows, num_done);
              frontier.finish(num_done);
              return num_done;
            });
          },
          nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 5>(), nb::keep_alive<0, 6>(),
          nb::keep_alive<0, 7>(), nb::keep_alive<0, 8>(), nb::keep_alive<0, 9>());
}

// Values at the root, computed in `Real`.
template <typename Real, typename Cell>
void bind_holdem_evaluate(nb::module_& module, const char* name) {
  module.def(name, [](BoundHoldemForm& bound, bool is_best_response, bool respects_locks, Array<const Cell> sums,
                      int num_threads, const BoundHoldemHooks& given, const BoundHoldemLeaves& leaves,
                      BoundFrontier& frontier, MutableDoubles first_out, MutableDoubles second_out,
                      BoundHoldemPause<Real>& pause) {
    bool is_done = false;
    HoldemFrontier opened;
    HoldemFrontier* const lines = open_frontier(frontier, given, opened);
    {
      nb::gil_scoped_release release;
      const auto purpose = is_best_response ? HoldemPurpose::best_response : HoldemPurpose::expected_value;
      bound.lend<Real>(num_threads, [&](HoldemWorkspace<Real>& workspace) {
        is_done = evaluate_holdem<Real, Cell>(bound.form, purpose, respects_locks, sums.data(), given.start,
                                              num_threads, workspace, bound.crew,
                                              begin_leaves<Real>(leaves, num_threads).get(), lines, &pause.pause);
        std::copy_n(workspace.root_value[0].data(), first_out.size(), first_out.data());
        std::copy_n(workspace.root_value[1].data(), second_out.size(), second_out.data());
      });
    }
    frontier.finish();
    return is_done;
  },
      nb::arg("bound"), nb::arg("is_best_response"), nb::arg("respects_locks"), nb::kw_only(), nb::arg("sums"),
      nb::arg("num_threads"), nb::arg("given"), nb::arg("leaves"), nb::arg("frontier"), nb::arg("first_out"),
      nb::arg("second_out"), nb::arg("pause"));
}

// Values of every slot of a board, given both players' reach on one of the lines that enter it; says whether it was done.
template <typename Cell>
void bind_holdem_slots(nb::module_& module, const char* name) {
  module.def(name, [](BoundHoldemForm& bound, std::int64_t board, std::int32_t line, bool is_best_response,
                      bool respects_locks, Array<const Cell> sums, Doubles first_reach, Doubles second_reach,
                      int num_threads, MutableDoubles first_out, MutableDoubles second_out,
                      BoundHoldemPause<double>& pause) {
    nb::gil_scoped_release release;
    HoldemWorkspace<double> workspace;
    workspace.prepare(bound.form, num_threads, board);
    const HoldemStart start{.board = board,
                            .line = line,
                            .reach = {first_reach.data(), second_reach.data()},
                            .slot_value = {first_out.data(), second_out.data()}};
    const auto purpose = is_best_response ? HoldemPurpose::best_response : HoldemPurpose::expected_value;
    return evaluate_holdem<double, Cell>(bound.form, purpose, respects_locks, sums.data(), start, num_threads,
                                         workspace, bound.crew, nullptr, nullptr, &pause.pause);
  },
      nb::arg("bound"), nb::arg("board"), nb::arg("line"), nb::arg("is_best_response"), nb::arg("respects_locks"),
      nb::kw_only(), nb::arg("sums"), nb::arg("first_reach"), nb::arg("second_reach"), nb::arg("num_threads"),
      nb::arg("first_out"), nb::arg("second_out"), nb::arg("pause"));
}

// Substitute values of a warm start; arrays may be empty, see HoldemKernel.substitute.
template <typename Cell>
void bind_holdem_substitute(nb::module_& module, const char* name) {
  module.def(name, [](BoundHoldemForm& bound, Array<const Cell> sums, Array<const float> row_bound, double factor,
                      double positive_weight, double negative_weight, double average_weight, double trace,
                      bool floors_regrets, int num_threads, Array<float> row_value, Array<Cell> regret_sum, Array<Cell> strategy_sum,
                      MutableDoubles first_out, MutableDoubles second_out) {
    const HoldemSubstitution substitution{.bound = row_bound.size() ? row_bound.data() : nullptr,
                                          .factor = factor,
                                          .row_value = row_value.size() ? row_value.data() : nullptr,
                                          .positive_weight = positive_weight,
                                          .negative_weight = negative_weight,
                                          .average_weight = average_weight,
                                          .trace = trace};
    HoldemTables<Cell> tables;
    if (regret_sum.size()) {
      tables.regret_sum.cells = regret_sum.data();
      tables.strategy_sum.cells = strategy_sum.data();
    }
    Rule rule;
    rule.floors_regrets = floors_regrets;
    nb::gil_scoped_release release;
    HoldemWorkspace<double> workspace;
    workspace.prepare(bound.form, num_threads);
    substitute_holdem<double, Cell>(bound.form, sums.data(), substitution, rule, tables, num_threads, workspace, bound.crew);
    std::copy_n(workspace.root_value[0].data(), first_out.size(), first_out.data());
    std::copy_n(workspace.root_value[1].data(), second_out.size(), second_out.data());
  },
      nb::arg("bound"), nb::kw_only(), nb::arg("sums"), nb::arg("row_bound"), nb::arg("factor"),
      nb::arg("positive_weight"), nb::arg("negative_weight"), nb::arg("average_weight"), nb::arg("trace"),
      nb::arg("floors_regrets"), nb::arg("num_threads"), nb::arg("row_value"), nb::arg("regret_sum"),
      nb::arg("strategy_sum"), nb::arg("first_out"), nb::arg("second_out"));
}

}  // namespace

template <typename Real>
void bind_holdem_pause(nb::module_& module, const char* name) {
  using Bound = BoundHoldemPause<Real>;
  nb::class_<Bound>(module, name)
      .def(nb::init<>())
      .def("stop", [](Bound& bound, std::int32_t num_looks) { bound.pause.request.set(num_looks); })
      .def("clear", [](Bound& bound) { bound.pause.clear(); })
      .def("num_threads", [](const Bound& bound) { return bound.pause.threads.size(); })
      .def("places", &Bound::places)
      .def("sums", &Bound::sums)
      .def("restore", [](Bound& bound, const BoundHoldemForm& form, Array<const std::int64_t> places, Doubles sums) {
        return bound.restore(form.form, places.data(), places.size(), sums.data(), sums.size());
      });
}

void bind_holdem(nb::module_& module) {
  bind_holdem_pause<float>(module, "HoldemPause_float32");
  bind_holdem_pause<double>(module, "HoldemPause_float64");
  nb::class_<BoundHoldemPauses>(module, "HoldemPauses")
      .def(nb::init<>())
      .def("stop", &BoundHoldemPauses::stop)
      .def_ro("float32", &BoundHoldemPauses::single_pause)
      .def_ro("float64", &BoundHoldemPauses::double_pause)
      .def_ro("evaluation", &BoundHoldemPauses::evaluation)
      .def_ro("quick_evaluation", &BoundHoldemPauses::quick_evaluation)
      .def_ro("viewing", &BoundHoldemPauses::viewing);
  nb::class_<BoundHoldemForm>(module, "HoldemForm")
      .def(nb::init<const nb::dict&>());
  nb::class_<BoundHoldemHooks>(module, "HoldemHooks").def(nb::init<int, int, double, std::int32_t, const nb::dict&>());
  bind_holdem_run<float, float>(module, "HoldemRun_float32");
  bind_holdem_run<double, double>(module, "HoldemRun_float64");
  bind_holdem_run<float, std::int16_t>(module, "HoldemRun_int16");
  bind_holdem_evaluate<double, float>(module, "holdem_evaluate_float32");
  bind_holdem_evaluate<double, double>(module, "holdem_evaluate_float64");
  bind_holdem_evaluate<double, std::uint16_t>(module, "holdem_evaluate_uint16");
  bind_holdem_evaluate<float, float>(module, "holdem_evaluate_quickly_float32");
  bind_holdem_evaluate<float, std::uint16_t>(module, "holdem_evaluate_quickly_uint16");
  bind_holdem_substitute<float>(module, "holdem_substitute_float32");
  bind_holdem_substitute<double>(module, "holdem_substitute_float64");
  bind_holdem_slots<std::uint16_t>(module, "holdem_slots_uint16");
  bind_holdem_slots<float>(module, "holdem_slots_float32");
  bind_holdem_slots<double>(module, "holdem_slots_float64");
}

}  // namespace equipoise
