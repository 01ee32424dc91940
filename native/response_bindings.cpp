// SPDX-License-Identifier: Apache-2.0
// Sampled responses for the native module.
#include "bindings.hpp"
#include "patience.hpp"
#include "uct.hpp"

namespace equipoise {

namespace {

struct BoundWalks {
  WalkForm form;
  UctScratch scratch;

  BoundWalks(const nb::dict& given, std::int64_t num_sequences) {
    NamedArrays arrays(given);  // copied below
    const auto actor = arrays.view<Bytes>("actor");
    const auto utility = arrays.view<Doubles>("utility");
    const auto first_sequence = arrays.view<Ints>("first_sequence"), num_actions = arrays.view<Ints>("num_actions");
    form.utility.assign(utility.data(), utility.data() + utility.size());
    form.first_sequence.assign(first_sequence.data(), first_sequence.data() + first_sequence.size());
    form.num_actions.assign(num_actions.data(), num_actions.data() + num_actions.size());
    form.num_terminals = static_cast<std::int64_t>(utility.shape(1));
    form.num_sequences = num_sequences;
    form.index_nodes(static_cast<std::int64_t>(actor.size()), actor.data(), arrays.data<Ints>("detail"),
                     arrays.data<Ints>("first_edge"), arrays.data<Ints>("edge_child"),
                     arrays.data<Doubles>("edge_probability"));
    arrays.check_all_asked();
  }
};

}  // namespace

void bind_responses(nb::module_& module) {
  nb::class_<BoundWalks>(module, "Walks")
      .def(nb::init<const nb::dict&, std::int64_t>())
      .def("search_uct",
           [](BoundWalks& bound, int player, std::int64_t num_iterations, double exploration, Doubles strategy,
              Ints fallback, MutableWords words, MutableDoubles out, nb::callable is_interrupted) {
             return call_patiently(is_interrupted, words, [&](Random& random, Patience& goes_on) {
               search_uct(bound.form, player, num_iterations, exploration, strategy.data(), fallback.data(), random,
                          bound.scratch, out.data(), goes_on);
             });
           },
           nb::arg("player"), nb::arg("num_iterations"), nb::arg("exploration"), nb::kw_only(),
           nb::arg("strategy"), nb::arg("fallback"), nb::arg("words"), nb::arg("out"), nb::arg("is_interrupted"))
      .def("count_actions", [](BoundWalks& bound, int player, std::int64_t num_hands, Doubles strategy,
                               MutableWords words, MutableDoubles counts, nb::callable is_interrupted) {
        return call_patiently(is_interrupted, words, [&](Random& random, Patience& goes_on) {
          count_actions(bound.form, player, num_hands, strategy.data(), random, bound.scratch, counts.data(), goes_on);
        });
      },
          nb::arg("player"), nb::arg("num_hands"), nb::kw_only(), nb::arg("strategy"), nb::arg("words"),
          nb::arg("counts"), nb::arg("is_interrupted"));
}

}  // namespace equipoise
