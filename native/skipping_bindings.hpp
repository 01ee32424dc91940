// SPDX-License-Identifier: Apache-2.0
// What sampled traversals skip, as Python hands it over.
#pragma once

#include <vector>

#include "bindings.hpp"
#include "sampled_pruning.hpp"

namespace equipoise {

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

}  // namespace equipoise
