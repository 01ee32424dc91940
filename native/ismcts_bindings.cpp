// SPDX-License-Identifier: Apache-2.0
// Information-set Monte Carlo tree search in the native module.
#include "ismcts.hpp"

#include "sampling_bindings.hpp"

namespace equipoise {

namespace {

// Keeps the arrays alive that its form points into, and the memory of its searches.
struct BoundSearchForm {
  WorldsForm worlds;
  SearchScratch scratch;
  NamedArrays arrays;

  BoundSearchForm(const nb::dict& given, std::int64_t num_sequences) : arrays(given) {
    const auto first_world = arrays.view<Ints>("first_world");
    worlds = {first_world.data(), arrays.data<Ints>("world_node"), arrays.data<Doubles>("world_cumulative")};
    arrays.check_all_asked();
    scratch.prepare(first_world.size() - 1, static_cast<std::size_t>(num_sequences));
  }
};

}  // namespace

void bind_ismcts(nb::module_& module) {
  nb::class_<BoundSearchForm>(module, "SearchForm").def(nb::init<const nb::dict&, std::int64_t>());
  module.def("search_infosets",
             [](const BoundSamplingForm& tree, BoundSearchForm& bound, Ints infosets, std::int64_t num_simulations,
                double exploration, MutableWords random, MutableDoubles visits, MutableDoubles return_sum) {
               nb::gil_scoped_release release;
               std::uint64_t* const state = random.data();
               SearchRun run{.form = tree.form,
                             .worlds = bound.worlds,
                             .scratch = bound.scratch,
                             .exploration = exploration,
                             .random = Random{{state[0], state[1], state[2], state[3]}}};
               for (std::size_t i = 0; i < infosets.size(); ++i) {
                 run.search(infosets.data()[i], num_simulations, visits.data(), return_sum.data());
               }
               for (int word = 0; word < 4; ++word) state[word] = run.random.state[word];
             },
             nb::arg("tree"), nb::arg("bound"), nb::kw_only(), nb::arg("infosets"), nb::arg("num_simulations"),
             nb::arg("exploration"), nb::arg("random"), nb::arg("visits"), nb::arg("return_sum"));
}

}  // namespace equipoise
