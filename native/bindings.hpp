// SPDX-License-Identifier: Apache-2.0
// What the files of the native module share: array views and the calls that add each room's functions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include "rule.hpp"

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

void bind_buckets(nb::module_& module);
void bind_holdem(nb::module_& module);
void bind_holdem_sampling(nb::module_& module);
void bind_pruning(nb::module_& module);

}  // namespace equipoise
