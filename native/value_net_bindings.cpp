// SPDX-License-Identifier: Apache-2.0
// Value networks in the native module: boards, features of ranges, and the forward pass.
#include "bindings.hpp"
#include "bucket_head.hpp"
#include "curve_head.hpp"

namespace equipoise {

namespace {

using Floats = Array<const float>;
using MutableFloats = Array<float>;

ValueQuery make_query(std::vector<const ValueBoard*> boards, const Ints& board_of, const Doubles& first,
                      const Doubles& second, bool is_by_deck) {
  return {.boards = std::move(boards),
          .board_of = board_of.data(),
          .reach = {first.data(), second.data()},
          .num_states = static_cast<std::int64_t>(first.shape(0)),
          .width = static_cast<std::int64_t>(first.shape(1)),
          .is_by_deck = is_by_deck};
}

// Where features go, by live hands in the order of the deck.
struct FeatureArrays {
  MutableFloats mass, range, matched, base, place, card_mass;
  Array<std::uint8_t> segment;

  explicit FeatureArrays(const nb::dict& given) {
    NamedArrays arrays(given);
    mass = arrays.view<MutableFloats>("mass");
    range = arrays.view<MutableFloats>("range");
    matched = arrays.view<MutableFloats>("matched");
    base = arrays.view<MutableFloats>("base");
    place = arrays.view<MutableFloats>("place");
    card_mass = arrays.view<MutableFloats>("card_mass");
    segment = arrays.view<Array<std::uint8_t>>("segment");
    arrays.check_all_asked();
  }

  void write(std::int64_t index, const ValueBoard& board, const CurveAxes& axes, const StateFeatures& state) const {
    const std::int64_t n = board.num_hands, count = axes.num_cells();
    for (std::int64_t i = 0; i < 3 * count; ++i) {
      const double unit = i < 2 * count ? 1.0 : 1.0 / static_cast<double>(n);
      mass.data()[index * 3 * count + i] = static_cast<float>(state.cell_mass[i] * unit);
    }
    std::copy(state.card_mass.begin(), state.card_mass.end(),
              card_mass.data() + index * 2 * num_value_cards * axes.segments);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t live = board.live_hand[i];
      place.data()[index * n + live] = state.place[i];
      segment.data()[index * n + live] = axes.segments > 0 ? state.segment[i] : 0;
      for (int player = 0; player < 2; ++player) {
        const std::int64_t to = (2 * index + player) * n + live, from = player * n + i;
        range.data()[to] = static_cast<float>(state.mass[i][player]);
        matched.data()[to] = state.matched[from];
        base.data()[to] = state.base[from];
      }
    }
  }
};

DenseLayer make_layer(const Floats& weight, const Floats& bias, const Floats& slope, bool is_residual) {
  return {static_cast<std::int64_t>(weight.shape(0)),  static_cast<std::int64_t>(weight.shape(1)), weight.data(),
          bias.data(), slope.size() == 0 ? nullptr : slope.data(), is_residual};
}

void bind_boards(nb::module_& module) {
  nb::class_<ValueBoard>(module, "ValueBoard")
      .def("__init__",
           [](ValueBoard* self, Array<const std::uint16_t> strength, Cards cards, Floats potential) {
             new (self) ValueBoard(strength.data(), cards.data(), potential.size() == 0 ? nullptr : potential.data(),
                                   static_cast<std::int64_t>(strength.size()));
           })
      .def_prop_ro("num_hands", [](const ValueBoard& board) { return board.num_hands; })
      .def("order",
           [](const ValueBoard& board, Strengths out) {
             std::copy(board.deck_hand.begin(), board.deck_hand.end(), out.data());
           })
      .def("set_pairs", [](ValueBoard& board, Array<const std::int64_t> wins, std::int64_t total) {
        nb::gil_scoped_release release;
        board.set_pairs(wins.data(), total);
      });
}

}  // namespace

void bind_value_nets(nb::module_& module) {
  bind_boards(module);
  module.def("value_features",
             [](const std::vector<std::int64_t>& axes_of, std::vector<const ValueBoard*> boards, Ints board_of,
                Doubles first_reach, Doubles second_reach, bool is_by_deck, const nb::dict& out) {
               const CurveAxes axes{axes_of[0], axes_of[1], axes_of[2]};
               const FeatureArrays arrays(out);
               const ValueQuery query = make_query(std::move(boards), board_of, first_reach, second_reach, is_by_deck);
               nb::gil_scoped_release release;
               FeatureBlock block;
               for (std::int64_t begin = 0; begin < query.num_states; begin += value_block) {
                 const std::int64_t end = std::min(begin + value_block, query.num_states);
                 block.run(axes, query, begin, end);
                 for (std::int64_t i = begin; i < end; ++i) arrays.write(i, query.board(i), axes, block[i - begin]);
               }
             },
             nb::arg("axes_of"), nb::arg("boards"), nb::kw_only(), nb::arg("board_of"), nb::arg("first_reach"),
             nb::arg("second_reach"), nb::arg("is_by_deck"), nb::arg("out"));
  nb::class_<Perceptron>(module, "Perceptron")
      .def(nb::init<>())
      .def("add_layer", [](Perceptron& net, Floats weight, Floats bias, Floats slope,
                           bool is_residual) { net.add(make_layer(weight, bias, slope, is_residual)); },
                           nb::kw_only(), nb::arg("weight"), nb::arg("bias"), nb::arg("slope"), nb::arg("is_residual"))
      .def("run", [](const Perceptron& net, Floats inputs, MutableFloats out) {
        const auto num_rows = static_cast<std::int64_t>(inputs.shape(0));
        nb::gil_scoped_release release;
        std::vector<float> first(static_cast<std::size_t>(num_rows * net.stride())), second(first.size());
        std::vector<float> packed(first.size());
        for (std::int64_t row = 0; row < num_rows; ++row) {
          std::copy_n(inputs.data() + row * net.num_inputs(), net.num_inputs(), first.data() + row * net.stride());
        }
        const float* const found = net.run(num_rows, first.data(), second.data(), packed.data());
        for (std::int64_t row = 0; row < num_rows; ++row) {
          std::copy_n(found + row * net.stride(), net.num_outputs(), out.data() + row * net.num_outputs());
        }
      },
          nb::kw_only(), nb::arg("inputs"), nb::arg("out"));
  nb::class_<ValueNet>(module, "ValueNet")
      .def_static("of_curves",
                  [](const std::vector<std::int64_t>& axes_of, std::int64_t num_extra) {
                    const CurveAxes axes{axes_of[0], axes_of[1], axes_of[2]};
                    return new ValueNet(std::make_unique<CurveHead>(axes), num_extra);
                  })
      .def_static("of_buckets",
                  [](std::int64_t num_buckets, bool takes_roots, bool adds_equity, bool times_mass,
                     std::int64_t num_extra) {
                    const BucketSettings settings{num_buckets, takes_roots, adds_equity, times_mass};
                    return new ValueNet(std::make_unique<BucketHead>(settings), num_extra);
                  })
      .def("add_layer",
           [](ValueNet& net, Floats weight, Floats bias, Floats slope, bool is_residual) {
             net.trunk.add(make_layer(weight, bias, slope, is_residual));
           },
           nb::kw_only(), nb::arg("weight"), nb::arg("bias"), nb::arg("slope"), nb::arg("is_residual"))
      .def("evaluate", [](ValueNet& net, std::vector<const ValueBoard*> boards, Ints board_of, Doubles first_reach,
                          Doubles second_reach, bool is_by_deck, Array<const std::uint16_t> bucket, Floats extra, Floats share,
                          Doubles scale, int num_threads, MutableDoubles first_out, MutableDoubles second_out) {
        ValueQuery query = make_query(std::move(boards), board_of, first_reach, second_reach, is_by_deck);
        query.bucket = bucket.data();
        double* const out[2] = {first_out.data(), second_out.data()};
        nb::gil_scoped_release release;
        net.evaluate(query, extra.data(), share.data(), scale.data(), num_threads, out);
      },
          nb::arg("boards"), nb::kw_only(), nb::arg("board_of"), nb::arg("first_reach"), nb::arg("second_reach"),
          nb::arg("is_by_deck"), nb::arg("bucket"), nb::arg("extra"), nb::arg("share"), nb::arg("scale"),
          nb::arg("num_threads"), nb::arg("first_out"), nb::arg("second_out"));
}

}  // namespace equipoise
