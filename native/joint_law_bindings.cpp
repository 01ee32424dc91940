// SPDX-License-Identifier: Apache-2.0
// Joint laws of two players' bucket paths in the native module.
#include "bindings.hpp"
#include "joint_law.hpp"

namespace equipoise {

void bind_joint_law(nb::module_& module) {
  module.def("accumulate_joint_counts",
             [](const HandEvaluator& evaluator, Cards hole_cards, Cards boards, Ints paths,
                Array<const std::int64_t> weights, Array<std::int64_t> wins, Array<std::int64_t> ties) {
               const auto num_hands = static_cast<std::int64_t>(hole_cards.shape(0));
               nb::gil_scoped_release release;
               JointCounter(evaluator, hole_cards.data(), num_hands, static_cast<std::int64_t>(wins.shape(0)))
                   .accumulate(boards.data(), static_cast<std::int64_t>(boards.shape(0)), paths.data(),
                               static_cast<std::int64_t>(paths.shape(1)), weights.data(), wins.data(), ties.data());
             },
             nb::arg("evaluator"), nb::kw_only(), nb::arg("hole_cards"), nb::arg("boards"), nb::arg("paths"),
             nb::arg("weights"), nb::arg("wins"), nb::arg("ties"));
}

}  // namespace equipoise
