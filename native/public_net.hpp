// SPDX-License-Identifier: Apache-2.0
// Values and policies of public belief states: a perceptron on features of a public state and on both players' ranges.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "elementary.hpp"
#include "perceptron.hpp"

namespace equipoise {

// What a network is told of a public state, and where its private states and actions stand in inputs and outputs.
struct PublicInputs {
  std::vector<std::int32_t> feature;  // ascending
  std::vector<float> amount;
  std::vector<std::int32_t> place[2];  // of each private state
  std::vector<std::int32_t> action;    // of each column of the actor
  double unit = 1.0;                   // what values are multiplied by, beside the other player's reach
};

class PublicNet {
 public:
  // the first layer is on ranges alone: what features add is where its sums begin
  Perceptron trunk;
  // What the trunk's outputs are worth, for both players, and their policies, worked out for single private states.
  std::optional<DenseLayer> values, policies;
  std::int64_t num_places[2] = {0, 0};
  std::int64_t num_actions[2] = {0, 0};
  bool takes_roots = true;

  // `weight` is [features, outputs of the first layer].
  void set_features(const float* weight, std::int64_t num_features, std::int64_t num_outputs, const float* bias) {
    width_ = trunk.first_layer().padded();
    weight_.assign(static_cast<std::size_t>(num_features * width_), 0.0F);
    for (std::int64_t f = 0; f < num_features; ++f) std::copy_n(weight + f * num_outputs, num_outputs, &weight_[f * width_]);
    bias_.assign(static_cast<std::size_t>(width_), 0.0F);
    std::copy_n(bias, num_outputs, bias_.begin());
  }

  // Adds what features say of a state to the bias, in their order.
  std::vector<float> start(const PublicInputs& inputs) const {
    std::vector<float> sums = bias_;
    for (std::size_t k = 0; k < inputs.feature.size(); ++k) {
      const float* const row = weight_.data() + inputs.feature[k] * width_;
      for (std::int64_t i = 0; i < width_; ++i) sums[i] += inputs.amount[k] * row[i];
    }
    return sums;
  }

  // The same, kept by the number of a state in one book.
  const float* start(std::size_t page, const PublicInputs& inputs) const {
    if (kept_.size() <= page) kept_.resize(std::max(page + 1, 2 * kept_.size()));
    if (kept_[page].empty()) kept_[page] = start(inputs);
    return kept_[page].data();
  }
  void forget_starts() const { kept_.clear(); }

  std::int64_t num_ranges() const { return num_places[0] + num_places[1]; }
  // Where a player's policies begin: rows of places, each of its actions.
  std::int64_t first_policy(int player) const { return player == 0 ? 0 : num_places[0] * num_actions[0]; }
  // Of rows of numbers that the trunk and the values take turns with.
  std::int64_t stride() const { return std::max(trunk.stride(), values->padded()); }

 private:
  std::vector<float> weight_, bias_;
  std::int64_t width_ = 0;
  mutable std::vector<std::vector<float>> kept_;
};

// Writes both players' shares of their reaches into a row of inputs, and how much they are in all.
inline void write_ranges(const PublicNet& net, const PublicInputs& inputs, const double* const reach[2], float* row,
                         double mass[2]) {
  std::fill_n(row, net.num_ranges(), 0.0F);
  for (int player = 0; player < 2; ++player) {
    const auto& place = inputs.place[player];
    mass[player] = 0.0;
    for (std::size_t k = 0; k < place.size(); ++k) mass[player] += reach[player][k];
    float* const to = row + (player == 0 ? 0 : net.num_places[0]);
    for (std::size_t k = 0; k < place.size(); ++k) {
      const double share = mass[player] > 1e-20 ? reach[player][k] / mass[player] : 1.0 / static_cast<double>(place.size());
      const auto given = static_cast<float>(share);
      to[place[k]] = net.takes_roots ? std::sqrt(given) : given;
    }
  }
}

// Reads counterfactual values off a row of outputs; shares of both players' values are made to sum to zero.
inline void read_values(const PublicNet& net, const PublicInputs& inputs, const double* const reach[2],
                        const double mass[2], const float* row, double* const value[2]) {
  double left = 0.0;
  for (int player = 0; player < 2; ++player) {
    const auto& place = inputs.place[player];
    const float* const found = row + (player == 0 ? 0 : net.num_places[0]);
    double sum = 0.0;
    for (std::size_t k = 0; k < place.size(); ++k) {
      const double share = mass[player] > 1e-20 ? reach[player][k] / mass[player] : 1.0 / static_cast<double>(place.size());
      sum += share * static_cast<double>(found[place[k]]);
    }
    left += sum;
  }
  for (int player = 0; player < 2; ++player) {
    const auto& place = inputs.place[player];
    const float* const found = row + (player == 0 ? 0 : net.num_places[0]);
    const double unit = inputs.unit * mass[1 - player];
    for (std::size_t k = 0; k < place.size(); ++k) {
      value[player][k] = (static_cast<double>(found[place[k]]) - 0.5 * left) * unit;
    }
  }
}

// Where the outputs stand that say what the actor's private states should do, by panels, ascending.
inline std::vector<std::int64_t> find_panels(const PublicNet& net, const PublicInputs& inputs, int actor) {
  std::vector<std::int64_t> panels;
  for (const std::int32_t place : inputs.place[actor]) {
    const std::int64_t row = net.first_policy(actor) + place * net.num_actions[actor];
    for (const std::int32_t action : inputs.action) panels.push_back((row + action) / DenseLayer::panel);
  }
  std::sort(panels.begin(), panels.end());
  panels.erase(std::unique(panels.begin(), panels.end()), panels.end());
  return panels;
}

// Turns the trunk's numbers into shares of the actor's legal actions, [rows, actions]; `room` is for logits.
inline void read_prior(const PublicNet& net, const PublicInputs& inputs, int actor, int num_actions,
                       const std::uint8_t* legal, const float* hidden, std::vector<float>& room, double* out) {
  room.resize(static_cast<std::size_t>(net.policies->padded()));
  net.policies->run_some(find_panels(net, inputs, actor), hidden, room.data());
  const auto& place = inputs.place[actor];
  const float* const found = room.data() + net.first_policy(actor);
  for (std::size_t k = 0; k < place.size(); ++k) {
    const float* const logit = found + place[k] * net.num_actions[actor];
    double highest = -INFINITY;
    for (int a = 0; a < num_actions; ++a) {
      if (legal[k * num_actions + a]) highest = std::max(highest, static_cast<double>(logit[inputs.action[a]]));
    }
    double total = 0.0;
    for (int a = 0; a < num_actions; ++a) {
      double& share = out[k * num_actions + a];
      share = legal[k * num_actions + a] ? exponential(static_cast<double>(logit[inputs.action[a]]) - highest) : 0.0;
      total += share;
    }
    for (int a = 0; a < num_actions; ++a) out[k * num_actions + a] /= total > 0.0 ? total : 1.0;
  }
}

}  // namespace equipoise
