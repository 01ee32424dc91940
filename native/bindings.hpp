// SPDX-License-Identifier: Apache-2.0
// What the files of the native module share: array views and the calls that add each room's functions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include "random.hpp"
#include "rule.hpp"
#include "sampled_pruning.hpp"

namespace nb = nanobind;

namespace equipoise {

template <typename T>
using Array = nb::ndarray<T, nb::c_contig, nb::device::cpu>;
using Ints = Array<const std::int32_t>;
using Doubles = Array<const double>;
using MutableDoubles = Array<double>;
using Bytes = Array<const std::int8_t>;
using MutableWords = Array<std::uint64_t>;
using Cards = Array<const std::uint8_t>;
using Strengths = Array<std::uint16_t>;

inline Rule make_rule(int policy_map, int fallback, bool is_optimistic, bool floors_regrets, bool tracks_variance) {
  return Rule{.policy_map = static_cast<PolicyMap>(policy_map),
              .fallback = static_cast<Fallback>(fallback),
              .is_optimistic = is_optimistic,
              .floors_regrets = floors_regrets,
              .tracks_variance = tracks_variance};
}

// Keeps the arrays alive that its rule points into.
struct BoundSkipping {
  Skipping rule;
  Cards may_skip;
  Doubles rise;

  BoundSkipping(int kind, bool is_weighted, const std::vector<double>& numbers, std::int64_t first_node,
                std::int64_t end_node, Cards may_skip_of, Doubles rise_of)
      : may_skip(may_skip_of), rise(rise_of) {
    rule = {.kind = static_cast<SkipKind>(kind),
            .is_weighted = is_weighted,
            .threshold = numbers[0],
            .softness = numbers[1],
            .probability = numbers[2],
            .floor = numbers[3],
            .first_node = first_node,
            .end_node = end_node,
            .may_skip = may_skip.data(),
            .rise = rise.data()};
  }
};

// Calls `work` with a generator that comes from, and goes back to, the given words.
template <typename Work>
void with_random(const MutableWords& words, Work&& work) {
  std::uint64_t* const state = words.data();
  Random random{{state[0], state[1], state[2], state[3]}};
  work(random);
  for (int word = 0; word < 4; ++word) state[word] = random.state[word];
}

void bind_buckets(nb::module_& module);
void bind_holdem(nb::module_& module);
void bind_holdem_leaves(nb::module_& module);
void bind_holdem_play(nb::module_& module);
void bind_holdem_sampling(nb::module_& module);
void bind_ismcts(nb::module_& module);
void bind_joint_law(nb::module_& module);
void bind_learning(nb::module_& module);
void bind_lines(nb::module_& module);
void bind_pruning(nb::module_& module);
void bind_public_hooks(nb::module_& module);
void bind_responses(nb::module_& module);

}  // namespace equipoise
