// SPDX-License-Identifier: Apache-2.0
// Hold'em trees in the native module.
#include "bindings.hpp"
#include "holdem.hpp"

namespace equipoise {

namespace {

// Keeps the arrays alive that its form points into; arrays in the order of HoldemKernel's constructor.
struct BoundHoldemForm {
  HoldemForm form;
  std::vector<HoldemStreet> streets;
  std::vector<std::int64_t> first_block;
  Array<const std::int64_t> boards;
  Cards cards;
  std::vector<Ints> ints;
  std::vector<Doubles> doubles;

  BoundHoldemForm(Array<const std::int64_t> board_fields, Cards hand_cards, std::vector<Ints> int_arrays,
                  std::vector<Doubles> double_arrays)
      : boards(board_fields), cards(hand_cards), ints(std::move(int_arrays)), doubles(std::move(double_arrays)) {
    static_assert(sizeof(HoldemBoard) == 10 * sizeof(std::int64_t));
    static_assert(sizeof(HoldemNode) == 3 * sizeof(std::int32_t));
    static_assert(sizeof(HoldemLock) == 3 * sizeof(std::int32_t));
    bind_streets();
    form.num_streets = static_cast<std::int32_t>(streets.size());
    form.streets = streets.data();
    form.num_boards = static_cast<std::int64_t>(boards.shape(0));
    form.boards = reinterpret_cast<const HoldemBoard*>(boards.data());
    number_blocks();
    form.cards = cards.data();
    form.strength = ints[4].data();
    form.same_hand = ints[5].data();
    form.parent_row = ints[6].data();
    form.value_row = ints[7].data();
    form.root_reach[0] = doubles[2].data();
    form.root_reach[1] = doubles[3].data();
    if (ints.size() > 8) {
      form.lock_start = ints[8].data();
      form.locks = reinterpret_cast<const HoldemLock*>(ints[9].data());
      form.locked_strategy = doubles[5].data();
    }
  }

 private:
  void number_blocks() {
    std::int64_t next = 0;
    for (std::int64_t b = 0; b < form.num_boards; ++b) {
      const HoldemBoard& board = form.boards[b];
      for (int player = 0; player < 2; ++player) {
        first_block.push_back(next);
        next += board.sides[player].num_tiles() * streets[static_cast<std::size_t>(board.street)].num_nodes[player];
      }
    }
    form.first_block = first_block.data();
  }

  void bind_streets() {
    const auto* node = reinterpret_cast<const HoldemNode*>(ints[1].data());
    const std::int32_t* slots[2] = {ints[2].data(), ints[3].data()};
    const double* scales[2] = {doubles[0].data(), doubles[1].data()};
    for (std::size_t s = 0; s < ints[0].shape(0); ++s) {
      const std::int32_t* field = ints[0].data() + 8 * s;
      HoldemStreet street{};
      street.num_lines = field[0];
      street.is_last = field[1] != 0;
      for (int player = 0; player < 2; ++player) {
        street.num_cells[player] = field[2 + player];
        street.num_nodes[player] = field[4 + player];
        street.nodes[player] = node;
        node += field[4 + player];
      }
      HoldemEnds* const ends[2] = {&street.flats, &street.folds};
      for (int kind = 0; kind < 2; ++kind) {
        const std::int32_t columns = field[6 + kind] * kPackSize;
        *ends[kind] = {.num_packs = field[6 + kind],
                       .slot = {slots[kind], slots[kind] + columns},
                       .scale = {scales[kind], scales[kind] + columns},
                       .rake = nullptr};
        slots[kind] += 2 * columns;
        scales[kind] += 2 * columns;
      }
      if (street.is_last && doubles[4].size() > 0) street.flats.rake = doubles[4].data();
      streets.push_back(street);
    }
  }
};

using Exponents = Array<std::uint8_t>;

template <typename Real, typename Cell>
void bind_holdem_iterate(nb::module_& module, const char* name) {
  using Average = typename AverageOf<Cell>::Type;
  module.def(name, [](const BoundHoldemForm& bound, int policy_map, int fallback, bool is_optimistic,
                      bool floors_regrets, Doubles discounts, std::int64_t first_t, bool is_alternating,
                      int num_threads, Array<Cell> regret_sum, Array<Average> strategy_sum, Array<Cell> last_regret,
                      Exponents regret_exponent, Exponents strategy_exponent, Exponents last_exponent) {
    const Rule rule = make_rule(policy_map, fallback, is_optimistic, floors_regrets, false);
    const HoldemTables<Cell> tables{.regret_sum = {regret_sum.data(), regret_exponent.data()},
                                    .strategy_sum = {strategy_sum.data(), strategy_exponent.data()},
                                    .last_regret = {last_regret.data(), last_exponent.data()}};
    const auto* rows = reinterpret_cast<const Discount*>(discounts.data());
    const auto num_iterations = static_cast<std::int64_t>(discounts.shape(0));
    nb::gil_scoped_release release;
    HoldemWorkspace<Real> workspace;
    workspace.prepare(bound.form, num_threads);
    iterate_holdem<Real, Cell>(bound.form, rule, rows, first_t, num_iterations, is_alternating, num_threads, tables,
                               workspace);
  });
}

template <typename Cell>
void bind_holdem_evaluate(nb::module_& module, const char* name) {
  module.def(name, [](const BoundHoldemForm& bound, bool is_best_response, bool respects_locks, Array<const Cell> sums,
                      int num_threads, MutableDoubles first_out, MutableDoubles second_out) {
    nb::gil_scoped_release release;
    HoldemWorkspace<double> workspace;
    workspace.prepare(bound.form, num_threads);
    const auto purpose = is_best_response ? HoldemPurpose::best_response : HoldemPurpose::expected_value;
    evaluate_holdem<double, Cell>(bound.form, purpose, respects_locks, sums.data(), HoldemStart::at_root(bound.form),
                                  num_threads, workspace);
    std::copy_n(workspace.root_value[0].data(), first_out.size(), first_out.data());
    std::copy_n(workspace.root_value[1].data(), second_out.size(), second_out.data());
  });
}

// Values of every slot of a board, given both players' reach on one of the lines that enter it.
template <typename Cell>
void bind_holdem_slots(nb::module_& module, const char* name) {
  module.def(name, [](const BoundHoldemForm& bound, std::int64_t board, std::int32_t line, Array<const Cell> sums,
                      Doubles first_reach, Doubles second_reach, int num_threads, MutableDoubles first_out,
                      MutableDoubles second_out) {
    nb::gil_scoped_release release;
    HoldemWorkspace<double> workspace;
    workspace.prepare(bound.form, num_threads);
    const HoldemStart start{.board = board,
                            .line = line,
                            .reach = {first_reach.data(), second_reach.data()},
                            .slot_value = {first_out.data(), second_out.data()}};
    evaluate_holdem<double, Cell>(bound.form, HoldemPurpose::expected_value, true, sums.data(), start, num_threads,
                                  workspace);
  });
}

}  // namespace

void bind_holdem(nb::module_& module) {
  nb::class_<BoundHoldemForm>(module, "HoldemForm")
      .def(nb::init<Array<const std::int64_t>, Cards, std::vector<Ints>, std::vector<Doubles>>());
  bind_holdem_iterate<float, float>(module, "holdem_iterate_float32");
  bind_holdem_iterate<double, double>(module, "holdem_iterate_float64");
  bind_holdem_iterate<float, std::int16_t>(module, "holdem_iterate_int16");
  bind_holdem_evaluate<float>(module, "holdem_evaluate_float32");
  bind_holdem_evaluate<double>(module, "holdem_evaluate_float64");
  bind_holdem_evaluate<std::uint16_t>(module, "holdem_evaluate_uint16");
  bind_holdem_slots<std::uint16_t>(module, "holdem_slots_uint16");
  bind_holdem_slots<float>(module, "holdem_slots_float32");
  bind_holdem_slots<double>(module, "holdem_slots_float64");
}

}  // namespace equipoise
