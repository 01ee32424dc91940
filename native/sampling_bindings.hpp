// SPDX-License-Identifier: Apache-2.0
// A history tree as everything that samples it reads it, with the arrays that it points into.
#pragma once

#include "bindings.hpp"
#include "sampling.hpp"

namespace equipoise {

// Keeps the arrays alive that its form points into, and the scratch memory of its traversals.
struct BoundSamplingForm {
  SamplingForm form;
  SamplingScratch scratch;
  NamedArrays arrays;

  BoundSamplingForm(const nb::dict& given, std::int64_t num_sequences) : arrays(given) {
    const auto utility = arrays.view<Doubles>("utility");
    const auto first_slot = arrays.view<Ints>("first_slot"), num_actions = arrays.view<Ints>("num_actions");
    form.num_players = static_cast<int>(utility.shape(0));
    form.num_terminals = static_cast<std::int64_t>(utility.shape(1));
    form.actor = arrays.data<Bytes>("actor");
    form.detail = arrays.data<Ints>("detail");
    form.first_edge = arrays.data<Ints>("first_edge");
    form.edge_child = arrays.data<Ints>("edge_child");
    form.edge_probability = arrays.data<Doubles>("edge_probability");
    form.edge_cumulative = arrays.data<Doubles>("edge_cumulative");
    form.edge_slot = arrays.data<Ints>("edge_slot");
    form.first_slot = first_slot.data();
    form.slot_probability = arrays.data<Doubles>("slot_probability");
    form.utility = utility.data();
    form.first_sequence = arrays.data<Ints>("first_sequence");
    form.num_actions = num_actions.data();
    arrays.check_all_asked();
    scratch.prepare(static_cast<std::size_t>(num_sequences), num_actions.size(), first_slot.size() - 1);
  }
};

}  // namespace equipoise
