// SPDX-License-Identifier: Apache-2.0
// What learners need of the native module: tabular Q-learning, games played by a given strategy, what traversals find
// under one, toy games.
#include "q_learning.hpp"
#include "sampling_bindings.hpp"
#include "self_play.hpp"
#include "toy_games.hpp"

namespace equipoise {

namespace {

using Words = Array<const std::uint64_t>;

// Returns what was found as an array that owns its memory.
template <typename Number>
auto hand_over(std::vector<Number>& found) {
  auto* const kept = new std::vector<Number>(std::move(found));
  const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<Number>*>(memory); });
  return nb::ndarray<nb::numpy, Number, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

void bind_collecting(nb::module_& module) {
  module.def("sampling_words", [](MutableWords random, MutableWords out) {
    with_random(random, [&](Random& generator) {
      for (std::size_t k = 0; k < out.size(); ++k) out.data()[k] = generator.next();
    });
  },
      nb::kw_only(), nb::arg("random"), nb::arg("out"));
  module.def("sampling_collect", [](BoundSamplingForm& bound, int scheme, int player, double exploration,
                                    bool is_recorded, Doubles strategy, Cards is_known, Words word,
                                    Array<std::uint8_t> is_wanted, Array<std::uint8_t> is_whole) {
    Collector collector;
    collector.strategy = strategy.data();
    collector.is_known = is_known.data();
    collector.is_wanted = is_wanted.data();
    SamplingRun run{.form = bound.form,
                    .scratch = bound.scratch,
                    .exploration = exploration,
                    .regret_sum = nullptr,
                    .strategy_sum = nullptr,
                    .random = {},
                    .nodes_touched = 0,
                    .skipping = {},
                    .missed = nullptr,
                    .skips = {},
                    .baselines = {},
                    .collector = &collector};
    {
      nb::gil_scoped_release release;
      const auto count = static_cast<std::int64_t>(word.size());
      with_scheme(static_cast<Scheme>(scheme), [&]<Scheme chosen>() {
        collect<chosen>(run, player, word.data(), count, is_recorded, is_whole.data());
        return 0;
      });
    }
    return nb::make_tuple(run.nodes_touched, hand_over(collector.regret_infoset), hand_over(collector.regret),
                          hand_over(collector.met_infoset), hand_over(collector.met_weight));
  },
      nb::arg("form"), nb::kw_only(), nb::arg("scheme"), nb::arg("player"), nb::arg("exploration"),
      nb::arg("is_recorded"), nb::arg("strategy"), nb::arg("is_known"), nb::arg("word"), nb::arg("is_wanted"),
      nb::arg("is_whole"));
}

}  // namespace

void bind_learning(nb::module_& module) {
  bind_collecting(module);
  module.def("q_learning_play", [](const BoundSamplingForm& tree, std::int64_t num_games, double step_size,
                                   double exploration, MutableWords random, MutableDoubles value) {
    nb::gil_scoped_release release;
    std::uint64_t* const state = random.data();
    QLearningRun run{.form = tree.form,
                     .step_size = step_size,
                     .exploration = exploration,
                     .value = value.data(),
                     .random = Random{{state[0], state[1], state[2], state[3]}},
                     .last = std::vector<std::int32_t>(static_cast<std::size_t>(tree.form.num_players))};
    for (std::int64_t game = 0; game < num_games; ++game) run.play_game();
    for (int word = 0; word < 4; ++word) state[word] = run.random.state[word];
  });
  module.def("self_play", [](const BoundSamplingForm& tree, Doubles strategy, std::int64_t num_games,
                             MutableWords random, Array<std::int32_t> sequence, Array<std::int32_t> next_infoset,
                             MutableDoubles returns) {
    nb::gil_scoped_release release;
    std::uint64_t* const state = random.data();
    Random generator{{state[0], state[1], state[2], state[3]}};
    const DecisionLog log{sequence.data(), next_infoset.data(), returns.data()};
    const std::int64_t count = play_games(tree.form, strategy.data(), num_games, generator, log);
    for (int word = 0; word < 4; ++word) state[word] = generator.state[word];
    return count;
  },
      nb::arg("tree"), nb::kw_only(), nb::arg("strategy"), nb::arg("num_games"), nb::arg("random"),
      nb::arg("sequence"), nb::arg("next_infoset"), nb::arg("returns"));
  module.def("toy_games_solve", [](const nb::dict& given, Array<const float> discounts, Array<const float> mass,
                                   Array<float> out) {
    NamedArrays arrays(given);
    const Ints kind = arrays.view<Ints>("kind");
    const ToyBetting betting{.num_nodes = static_cast<std::int64_t>(kind.size()),
                             .kind = kind.data(),
                             .player = arrays.data<Ints>("player"),
                             .first_child = arrays.data<Ints>("first_child"),
                             .child = arrays.data<Ints>("child"),
                             .amount = arrays.data<Array<const float>>("amount")};
    arrays.check_all_asked();
    nb::gil_scoped_release release;
    const auto size = static_cast<std::int64_t>(mass.shape(2));
    ToySolver solver(betting, static_cast<std::int32_t>(size));
    for (std::int64_t game = 0; game < static_cast<std::int64_t>(mass.shape(0)); ++game) {
      solver.solve(mass.data() + 2 * size * game, discounts.data(), static_cast<std::int64_t>(discounts.shape(0)),
                   out.data() + 2 * size * game);
    }
  },
      nb::arg("given"), nb::kw_only(), nb::arg("discounts"), nb::arg("mass"), nb::arg("out"));
}

}  // namespace equipoise
