// SPDX-License-Identifier: Apache-2.0
// Sampled traversals over game trees.
#include "sampling_bindings.hpp"
#include "skipping_bindings.hpp"

using namespace equipoise;

namespace {

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

}  // namespace

namespace equipoise {

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

}  // namespace equipoise
