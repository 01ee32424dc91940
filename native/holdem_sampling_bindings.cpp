// SPDX-License-Identifier: Apache-2.0
// Monte Carlo CFR on hold'em trees and on runouts in the native module.
#include "holdem_sampling.hpp"

#include "holdem_bindings.hpp"
#include "skipping_bindings.hpp"

namespace equipoise {

namespace {

using Longs = Array<const std::int64_t>;

// Runs `work` with the sample that words and counter hold, and stores what it became.
template <typename Work>
auto with_sample(MutableWords& words, MutableWords& counter, Work&& work) {
  HoldemSample sample{{{words.data()[0], words.data()[1], words.data()[2], words.data()[3]}},
                      static_cast<std::int64_t>(counter.data()[0])};
  const auto result = work(sample);
  std::copy_n(sample.random.state, 4, words.data());
  counter.data()[0] = static_cast<std::uint64_t>(sample.nodes_touched);
  return result;
}

struct BoundBetting {
  BettingForm form;
  NamedArrays arrays;

  explicit BoundBetting(const nb::dict& given) : arrays(given) {
    static_assert(sizeof(BettingStep) == 4 * sizeof(std::int32_t));
    const auto scale = arrays.view<Doubles>("scale");
    form.nodes = reinterpret_cast<const BettingStep*>(arrays.data<Ints>("nodes"));
    form.children = arrays.data<Ints>("children");
    form.child_row = arrays.data<Ints>("child_row");
    form.scale[0] = scale.data();
    form.scale[1] = form.scale[0] + scale.shape(1);
    form.rake = arrays.data<Doubles>("rake");
    form.cumulative[0] = arrays.data<Doubles>("cumulative_0");
    form.cumulative[1] = arrays.data<Doubles>("cumulative_1");
    form.first_row = arrays.data<Longs>("first_row");
    arrays.check_all_asked();
  }
};

template <typename Real>
void bind_tree_sampling(nb::module_& module) {
  module.def("holdem_sample_public", [](const BoundHoldemForm& bound, std::int64_t nodes_per_sweep,
                                        std::int64_t num_iterations, std::int64_t node_limit, Array<Real> regret_sum,
                                        Array<Real> strategy_sum, MutableWords words, MutableWords counter) {
    nb::gil_scoped_release release;
    const FlushSubnormals flush;
    PublicSampler<Real> sampler(bound.form, nodes_per_sweep, regret_sum.data(), strategy_sum.data());
    return with_sample(words, counter, [&](HoldemSample& sample) {
      return sample_holdem(sampler, sample, num_iterations, node_limit);
    });
  },
      nb::arg("bound"), nb::arg("nodes_per_sweep"), nb::arg("num_iterations"), nb::arg("node_limit"), nb::kw_only(),
      nb::arg("regret_sum"), nb::arg("strategy_sum"), nb::arg("words"), nb::arg("counter"));
  module.def("holdem_sweep_public", [](const BoundHoldemForm& bound, Longs boards, int player, Array<Real> regret_sum,
                                       Array<Real> strategy_sum) {
    nb::gil_scoped_release release;
    const FlushSubnormals flush;
    PublicSampler<Real> sampler(bound.form, 0, regret_sum.data(), strategy_sum.data());
    HoldemSample sample{};
    sampler.sweep(boards.data(), player, sample);
  },
      nb::arg("bound"), nb::kw_only(), nb::arg("boards"), nb::arg("player"), nb::arg("regret_sum"),
      nb::arg("strategy_sum"));
  module.def("holdem_sample_external", [](const BoundHoldemForm& bound, const BoundBetting& betting,
                                          std::int64_t num_iterations, std::int64_t node_limit, Array<Real> regret_sum,
                                          Array<Real> strategy_sum, MutableWords words, MutableWords counter,
                                          const BoundSkipping& skipping, Array<Real> missed, MutableWords num_skipped) {
    nb::gil_scoped_release release;
    ExternalSampler<Real> sampler(bound.form, betting.form, skipping.rule, regret_sum.data(), strategy_sum.data(),
                                  missed.size() > 0 ? missed.data() : nullptr);
    return with_sample(words, counter, [&](HoldemSample& sample) {
      sample.skips.num_skipped = static_cast<std::int64_t>(*num_skipped.data());
      const std::int64_t done = sample_holdem(sampler, sample, num_iterations, node_limit);
      *num_skipped.data() = static_cast<std::uint64_t>(sample.skips.num_skipped);
      return done;
    });
  },
      nb::arg("bound"), nb::arg("betting"), nb::arg("num_iterations"), nb::arg("node_limit"), nb::kw_only(),
      nb::arg("regret_sum"), nb::arg("strategy_sum"), nb::arg("words"), nb::arg("counter"), nb::arg("skipping"),
      nb::arg("missed"), nb::arg("num_skipped"));
}

// The betting of streets, and the memory of sweeps over runouts.
struct BoundRunoutForm {
  NamedArrays arrays;
  std::vector<HoldemStreet> streets;
  RunoutSweep<float> narrow;
  RunoutSweep<double> wide;

  explicit BoundRunoutForm(const nb::dict& given)
      : arrays(given),
        streets(view_streets(arrays)),
        narrow(streets.data(), static_cast<std::int32_t>(streets.size())),
        wide(streets.data(), static_cast<std::int32_t>(streets.size())) {
    arrays.check_all_asked();
  }

  template <typename Real>
  RunoutSweep<Real>& sweep() {
    if constexpr (sizeof(Real) == sizeof(float)) {
      return narrow;
    } else {
      return wide;
    }
  }
};

// Both players' hands are the same: all that the board leaves.
struct BoundRunout {
  std::vector<RunoutBoard> boards;
  std::vector<NamedArrays> streets;

  BoundRunout(const std::vector<std::int32_t>& num_hands, const std::vector<nb::dict>& given,
              const std::vector<std::int64_t>& first_cells, const std::vector<std::int64_t>& table_rows)
      : boards(num_hands.size()), streets(given.begin(), given.end()) {
    for (std::size_t s = 0; s < boards.size(); ++s) {
      NamedArrays& arrays = streets[s];
      for (std::size_t player = 0; player < 2; ++player) {
        boards[s].sides[player] = {{num_hands[s], arrays.data<Cards>("cards"), arrays.data<Ints>("strength"),
                                    arrays.data<Ints>("same_hand")},
                                   arrays.data<Ints>("parent_row"),
                                   arrays.data<Ints>(player ? "table_row_1" : "table_row_0"),
                                   nullptr,
                                   first_cells[2 * s + player],
                                   table_rows[2 * s + player]};
      }
      arrays.check_all_asked();
    }
  }
};

template <typename Real>
RunoutTask<Real> make_task(RunoutPurpose purpose, int player, const Array<const Real>& first_sums,
                           const Array<const Real>& second_sums, const Doubles& first_reach,
                           const Doubles& second_reach) {
  RunoutTask<Real> task;
  task.purpose = purpose;
  task.player = player;
  task.sums[0] = first_sums.data();
  task.sums[1] = second_sums.data();
  task.root_reach[0] = first_reach.data();
  task.root_reach[1] = second_reach.data();
  return task;
}

template <typename Real>
void bind_runouts(nb::module_& module) {
  using Sums = Array<const Real>;
  module.def("runout_update", [](BoundRunoutForm& form, const BoundRunout& runout, int player, Sums first_sums, Sums second_sums,
                                 Doubles first_reach, Doubles second_reach, Doubles own_weight, Array<Real> regret_sum,
                                 Array<Real> strategy_sum) {
    nb::gil_scoped_release release;
    const FlushSubnormals flush;
    auto task = make_task<Real>(RunoutPurpose::update, player, first_sums, second_sums, first_reach, second_reach);
    task.own_weight = own_weight.data();
    task.regret_sum = regret_sum.data();
    task.strategy_sum = strategy_sum.data();
    form.sweep<Real>().run(runout.boards.data(), task);
  },
      nb::arg("form"), nb::arg("runout"), nb::arg("player"), nb::kw_only(), nb::arg("first_sums"),
      nb::arg("second_sums"), nb::arg("first_reach"), nb::arg("second_reach"), nb::arg("own_weight"),
      nb::arg("regret_sum"), nb::arg("strategy_sum"));
  module.def("runout_values", [](BoundRunoutForm& form, const BoundRunout& runout, int player, Sums first_sums, Sums second_sums,
                                 Doubles first_reach, Doubles second_reach, MutableDoubles out) {
    nb::gil_scoped_release release;
    const FlushSubnormals flush;
    auto task = make_task<Real>(RunoutPurpose::expected_value, player, first_sums, second_sums, first_reach, second_reach);
    task.root_value = out.data();
    form.sweep<Real>().run(runout.boards.data(), task);
  },
      nb::arg("form"), nb::arg("runout"), nb::arg("player"), nb::kw_only(), nb::arg("first_sums"),
      nb::arg("second_sums"), nb::arg("first_reach"), nb::arg("second_reach"), nb::arg("out"));
  module.def("runout_collect", [](BoundRunoutForm& form, const BoundRunout& runout, int player, Sums first_sums, Sums second_sums,
                                  Doubles first_reach, Doubles second_reach, Doubles own_weight,
                                  const std::vector<MutableDoubles>& flat_sums,
                                  const std::vector<MutableDoubles>& fold_sums) {
    std::vector<double*> flats, folds;
    for (const auto& sums : flat_sums) flats.push_back(sums.data());
    for (const auto& sums : fold_sums) folds.push_back(sums.data());
    nb::gil_scoped_release release;
    const FlushSubnormals flush;
    auto task = make_task<Real>(RunoutPurpose::collect, player, first_sums, second_sums, first_reach, second_reach);
    task.own_weight = own_weight.data();
    task.flat_sum = flats.data();
    task.fold_sum = folds.data();
    form.sweep<Real>().run(runout.boards.data(), task);
  },
      nb::arg("form"), nb::arg("runout"), nb::arg("player"), nb::kw_only(), nb::arg("first_sums"),
      nb::arg("second_sums"), nb::arg("first_reach"), nb::arg("second_reach"), nb::arg("own_weight"),
      nb::arg("flat_sums"), nb::arg("fold_sums"));
}

}  // namespace

void bind_holdem_sampling(nb::module_& module) {
  nb::class_<BoundBetting>(module, "HoldemBetting").def(nb::init<const nb::dict&>());
  nb::class_<BoundRunoutForm>(module, "RunoutForm")
      .def(nb::init<const nb::dict&>())
      .def("num_bytes", [](const BoundRunoutForm& form) { return form.narrow.num_bytes() + form.wide.num_bytes(); });
  nb::class_<BoundRunout>(module, "Runout")
      .def(nb::init<const std::vector<std::int32_t>&, const std::vector<nb::dict>&, const std::vector<std::int64_t>&,
                    const std::vector<std::int64_t>&>());
  bind_tree_sampling<float>(module);
  bind_tree_sampling<double>(module);
  bind_runouts<float>(module);
  bind_runouts<double>(module);
  module.def("draw_cards", [](MutableWords words, Array<std::uint8_t> cards, int count) {
    Random random{{words.data()[0], words.data()[1], words.data()[2], words.data()[3]}};
    draw_cards(random, cards.data(), static_cast<int>(cards.size()), count);
    std::copy_n(random.state, 4, words.data());
  });
}

}  // namespace equipoise
