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
  Bytes actor;
  std::vector<Ints> ints;
  std::vector<Doubles> doubles;

  BoundSamplingForm(Bytes actor_of, Ints detail, Ints first_edge, Ints edge_child, Doubles edge_probability,
                    Doubles edge_cumulative, Ints edge_slot, Ints first_slot, Doubles slot_probability, Doubles utility,
                    Ints first_sequence, Ints num_actions, std::int64_t num_sequences)
      : actor(actor_of) {
    form.num_players = static_cast<int>(utility.shape(0));
    form.num_terminals = static_cast<std::int64_t>(utility.shape(1));
    form.actor = actor.data();
    form.detail = detail.data();
    form.first_edge = first_edge.data();
    form.edge_child = edge_child.data();
    form.edge_probability = edge_probability.data();
    form.edge_cumulative = edge_cumulative.data();
    form.edge_slot = edge_slot.data();
    form.first_slot = first_slot.data();
    form.slot_probability = slot_probability.data();
    form.utility = utility.data();
    form.first_sequence = first_sequence.data();
    form.num_actions = num_actions.data();
    ints = {detail, first_edge, edge_child, edge_slot, first_slot, first_sequence, num_actions};
    doubles = {edge_probability, edge_cumulative, slot_probability, utility};
    scratch.prepare(static_cast<std::size_t>(num_sequences), num_actions.size(), first_slot.size() - 1);
  }
};

}  // namespace equipoise
