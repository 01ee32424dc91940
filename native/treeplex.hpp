// SPDX-License-Identifier: Apache-2.0
// Dilated entropy over one player's forest of information sets (a treeplex).
//
// In behaviour form d(x) = sum_j beta_j x_parent(j) KL(b_j || prior_j); with uniform priors it is the dilated entropy
// shifted to have minimum 0, and with the behaviour of another point as prior it is the Bregman divergence from it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "elementary.hpp"
#include "history.hpp"

namespace equipoise {

// Overwrites `weights` `[I]` with beta_j = scale + growth * (largest, over actions, sum of beta_k over the sets k below).
inline void dilate_weights(const HistoryForm& form, double scale, double growth, double* weights) {
  std::vector<double> below(static_cast<std::size_t>(form.num_sequences()), 0.0);
  for (std::int32_t infoset = form.infoset_start[form.num_players]; infoset-- > 0;) {
    const double* first = below.data() + form.first_sequence[infoset];
    weights[infoset] = scale + growth * *std::max_element(first, first + form.num_actions[infoset]);
    below[form.parent_sequence[infoset]] += weights[infoset];
  }
}

// Returns the largest dilated entropy that a strategy of the player can have (the smallest is 0).
inline double dilated_diameter(const HistoryForm& form, int player, const double* weights) {
  std::vector<double> below(static_cast<std::size_t>(form.num_sequences()), 0.0);
  back_up(form, player, below.data(), [weights](std::int32_t infoset, std::int32_t first, int num_actions, double* d) {
    return weights[infoset] * logarithm_of_count(num_actions) +
           *std::max_element(d + first, d + first + num_actions);
  });
  return below[form.sequence_start[player]];
}

// Overwrites the player's parts of `log_strategy` and `realization` with those of
//     argmax_x <values, x> - mu * sum_j beta_j x_parent(j) KL(b_j || prior_j)
// and returns the maximum. `values` holds gains per sequence and is backed up in place.
inline double respond_smoothly(const HistoryForm& form, int player, double mu, const double* weights,
                               const double* log_prior, double* values, double* log_strategy, double* realization) {
  back_up(form, player, values, [=](std::int32_t infoset, std::int32_t first, int num_actions, const double* gain) {
    const double temperature = mu * weights[infoset];
    double* __restrict logit = log_strategy + first;
    double largest = -INFINITY;
    for (int a = 0; a < num_actions; ++a) {
      logit[a] = log_prior[first + a] + gain[first + a] / temperature;
      largest = std::max(largest, logit[a]);
    }
    double total = 0.0;
    for (int a = 0; a < num_actions; ++a) total += exponential(logit[a] - largest);
    const double log_total = largest + logarithm(total);
    for (int a = 0; a < num_actions; ++a) logit[a] -= log_total;
    return temperature * log_total;
  });
  realization[form.sequence_start[player]] = 1.0;
  for (std::int32_t infoset = form.infoset_start[player]; infoset < form.infoset_start[player + 1]; ++infoset) {
    const double reach = realization[form.parent_sequence[infoset]];
    const std::int32_t first = form.first_sequence[infoset];
    for (int a = 0; a < form.num_actions[infoset]; ++a) {
      realization[first + a] = reach * exponential(log_strategy[first + a]);
    }
  }
  return values[form.sequence_start[player]];
}

}  // namespace equipoise
