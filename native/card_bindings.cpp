// SPDX-License-Identifier: Apache-2.0
// Hands of cards: their ranks, sets of cards, showdowns.
#include "bindings.hpp"
#include "cardsets.hpp"
#include "equity.hpp"
#include "handeval.hpp"

namespace equipoise {

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

}  // namespace equipoise
