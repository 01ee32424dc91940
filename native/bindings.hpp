// SPDX-License-Identifier: Apache-2.0
// What the files of the native module share: array views and the calls that add each room's functions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <map>
#include <set>
#include <string>

#include "random.hpp"
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

// A rule and the tables of a run over a history tree or a public tree, kept alive: a call of one iteration has only its
// row of discounts to look at.
struct BoundRun {
  Rule rule;
  Tables tables;
  std::array<MutableDoubles, 6> arrays;

  BoundRun(int policy_map, int fallback, bool is_optimistic, bool floors_regrets, bool tracks_variance,
           MutableDoubles regret_sum, MutableDoubles strategy_sum, MutableDoubles strategy, MutableDoubles realization,
           MutableDoubles scale, MutableDoubles value_moments)
      : rule(make_rule(policy_map, fallback, is_optimistic, floors_regrets, tracks_variance)),
        tables{regret_sum.data(),  strategy_sum.data(), strategy.data(),
               realization.data(), scale.data(),        value_moments.data()},
        arrays{regret_sum, strategy_sum, strategy, realization, scale, value_moments} {}
};

// Rows of discounts as iterations read them.
inline const Discount* view_rows(const Doubles& discounts) {
  static_assert(sizeof(Discount) == 6 * sizeof(double));
  return reinterpret_cast<const Discount*>(discounts.data());
}

// Arrays by name, kept alive as long as it is. Throws on names that are missing, of another dtype, or not asked for.
class NamedArrays {
 public:
  NamedArrays() = default;
  explicit NamedArrays(const nb::dict& arrays) {
    for (const auto& [name, array] : arrays) given_.emplace(nb::cast<std::string>(name), nb::borrow(array));
  }

  template <typename View>
  const auto* data(const char* name) {
    return view<View>(name).data();
  }

  template <typename View>
  View view(const char* name) {
    const auto found = given_.find(name);
    if (found == given_.end()) throw nb::key_error((std::string("no array named ") + name).c_str());
    View array;
    if (!nb::try_cast(found->second, array, false)) {
      throw nb::type_error((std::string("array ") + name + " has another dtype or is not contiguous").c_str());
    }
    asked_.insert(name);
    return array;
  }

  bool has(const char* name) const { return given_.contains(name); }

  // To be called when all are known.
  void check_all_asked() const {
    for (const auto& [name, array] : given_) {
      if (!asked_.contains(name)) throw nb::key_error(("array " + name + " is not known").c_str());
    }
  }

 private:
  std::map<std::string, nb::object> given_;
  std::set<std::string> asked_;
};

// Calls `work` with a generator that comes from, and goes back to, the given words.
template <typename Work>
void with_random(const MutableWords& words, Work&& work) {
  std::uint64_t* const state = words.data();
  Random random{{state[0], state[1], state[2], state[3]}};
  work(random);
  for (int word = 0; word < 4; ++word) state[word] = random.state[word];
}

void bind_arithmetic(nb::module_& module);
void bind_belief_search(nb::module_& module);
void bind_blueprint(nb::module_& module);
void bind_buckets(nb::module_& module);
void bind_cards(nb::module_& module);
void bind_growing(nb::module_& module);
void bind_holdem(nb::module_& module);
void bind_holdem_leaves(nb::module_& module);
void bind_holdem_play(nb::module_& module);
void bind_holdem_sampling(nb::module_& module);
void bind_ismcts(nb::module_& module);
void bind_joint_law(nb::module_& module);
void bind_learning(nb::module_& module);
void bind_lines(nb::module_& module);
void bind_parametric(nb::module_& module);
void bind_policy(nb::module_& module);
void bind_pruning(nb::module_& module);
void bind_public_hooks(nb::module_& module);
void bind_responses(nb::module_& module);
void bind_sampling(nb::module_& module);
void bind_sized_leduc(nb::module_& module);
void bind_value_nets(nb::module_& module);

}  // namespace equipoise
