// SPDX-License-Identifier: Apache-2.0
// What learners need of the native module: tabular Q-learning, games played by a given strategy, toy games.
#include "q_learning.hpp"
#include "sampling_bindings.hpp"
#include "self_play.hpp"
#include "toy_games.hpp"

namespace equipoise {

void bind_learning(nb::module_& module) {
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
