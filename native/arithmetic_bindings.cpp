// SPDX-License-Identifier: Apache-2.0
// Arithmetic with the same bits everywhere, and the maps from regrets to policies.
#include <algorithm>

#include "bindings.hpp"
#include "elementary.hpp"
#include "policy.hpp"
#include "products.hpp"

namespace equipoise {

void bind_arithmetic(nb::module_& module) {
  module.def("multiply", [](Doubles first, Doubles second, MutableDoubles out) {
    multiply(static_cast<std::int64_t>(first.shape(0)), static_cast<std::int64_t>(first.shape(1)),
             static_cast<std::int64_t>(second.shape(1)), first.data(), second.data(), out.data());
  },
      nb::kw_only(), nb::arg("first"), nb::arg("second"), nb::arg("out"));
  module.def("exponential", [](Doubles values, MutableDoubles out) {
    std::transform(values.data(), values.data() + values.size(), out.data(), exponential);
  },
      nb::kw_only(), nb::arg("values"), nb::arg("out"));
  module.def("logarithm", [](Doubles values, MutableDoubles out) {
    std::transform(values.data(), values.data() + values.size(), out.data(), logarithm);
  },
      nb::kw_only(), nb::arg("values"), nb::arg("out"));
  module.def("raise_to", [](double base, double exponent) { return raise(base, exponent); });
}

void bind_policy(nb::module_& module) {
  module.def("apply_policy_map",
             [](int policy_map, int fallback, double eta, double threshold, Doubles regret, MutableDoubles out) {
               const int num_actions = static_cast<int>(regret.size());
               const auto chosen = static_cast<Fallback>(fallback);
               switch (static_cast<PolicyMap>(policy_map)) {
                 case PolicyMap::hedge:
                   hedge(eta, num_actions, regret.data(), out.data());
                   break;
                 case PolicyMap::normal_hedge:
                   normal_hedge(chosen, num_actions, regret.data(), out.data());
                   break;
                 default:
                   regret_matching(chosen, num_actions, regret.data(), out.data());
               }
               cut_small(threshold, num_actions, out.data());
             },
             nb::arg("policy_map"), nb::arg("fallback"), nb::arg("eta"), nb::arg("threshold"), nb::kw_only(),
             nb::arg("regret"), nb::arg("out"));
}

}  // namespace equipoise
