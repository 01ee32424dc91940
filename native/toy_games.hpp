// SPDX-License-Identifier: Apache-2.0
// Betting on strengths alone: both players hold one of a few strengths, nobody's cards block another's. Many such games
// are solved by discounted CFR, one after the other, each with masses of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace equipoise {

// One street of betting in pre-order: children come after their parents.
struct ToyBetting {
  static constexpr std::int32_t kDecision = 0, kFold = 1, kShowdown = 2;
  std::int64_t num_nodes;
  const std::int32_t* kind;         // [N]
  const std::int32_t* player;       // [N] who decides, or who has folded
  const std::int32_t* first_child;  // [N] into `child`, and one more at the end: [N + 1]
  const std::int32_t* child;        // [edges]
  const float* amount;              // [N] at ends: what the loser loses

  std::int32_t num_actions(std::int64_t node) const { return first_child[node + 1] - first_child[node]; }
};

class ToySolver {
 public:
  ToySolver(const ToyBetting& betting, std::int32_t num_strengths)
      : betting_(betting), size_(num_strengths), regret_(table_size()), average_(table_size()),
        strategy_(table_size()), value_(node_size()), sum_(static_cast<std::size_t>(num_strengths)),
        nobody_(static_cast<std::size_t>(num_strengths), 1.0f) {
    for (auto& reach : reach_) reach.resize(node_size());
  }

  // `mass` is `[2, strengths]`, each adding up to 1; `discounts` `[iterations, 3]`: of positive regrets, of
  // negative ones, of averages.
  // Overwrites `out` `[2, strengths]` with what each strength of both players earns under the average strategies.
  void solve(const float* mass, const float* discounts, std::int64_t num_iterations, float* out) {
    std::fill(regret_.begin(), regret_.end(), 0.0f);
    std::fill(average_.begin(), average_.end(), 0.0f);
    for (std::int64_t t = 0; t < num_iterations; ++t) {
      const float* discount = discounts + 3 * t;
      for (int player = 0; player < 2; ++player) {
        form_strategy(regret_);
        spread(1 - player, mass + (1 - player) * size_);
        back_up(player, discount);
        spread(player, nobody_.data());
        add_averages(player, discount[2]);
      }
    }
    form_strategy(average_);
    for (int player = 0; player < 2; ++player) {
      spread(1 - player, mass + (1 - player) * size_);
      back_up(player, nullptr);
      std::copy_n(value_.data(), size_, out + player * size_);
    }
  }

 private:
  std::size_t table_size() const {
    return static_cast<std::size_t>(betting_.first_child[betting_.num_nodes]) * static_cast<std::size_t>(size_);
  }
  std::size_t node_size() const {
    return static_cast<std::size_t>(betting_.num_nodes) * static_cast<std::size_t>(size_);
  }
  float* row(std::vector<float>& table, std::int64_t index) const { return table.data() + index * size_; }

  // Plays in proportion to the positive numbers of a table.
  void form_strategy(std::vector<float>& table) {
    for (std::int64_t node = 0; node < betting_.num_nodes; ++node) {
      const std::int32_t begin = betting_.first_child[node], end = betting_.first_child[node + 1];
      if (begin == end) continue;
      std::fill(sum_.begin(), sum_.end(), 0.0f);
      for (std::int32_t edge = begin; edge < end; ++edge) {
        const float* from = row(table, edge);
        for (std::int32_t i = 0; i < size_; ++i) sum_[i] += std::max(from[i], 0.0f);
      }
      const float alike = 1.0f / static_cast<float>(end - begin);
      for (std::int32_t edge = begin; edge < end; ++edge) {
        const float* from = row(table, edge);
        float* to = row(strategy_, edge);
        for (std::int32_t i = 0; i < size_; ++i) to[i] = sum_[i] > 0.0f ? std::max(from[i], 0.0f) / sum_[i] : alike;
      }
    }
  }

  void spread(int player, const float* root) {
    std::vector<float>& reach = reach_[player];
    std::copy_n(root, size_, reach.data());
    for (std::int64_t node = 0; node < betting_.num_nodes; ++node) {
      const float* here = row(reach, node);
      for (std::int32_t edge = betting_.first_child[node]; edge < betting_.first_child[node + 1]; ++edge) {
        float* below = row(reach, betting_.child[edge]);
        if (betting_.player[node] == player) {
          const float* share = row(strategy_, edge);
          for (std::int32_t i = 0; i < size_; ++i) below[i] = here[i] * share[i];
        } else {
          std::copy_n(here, size_, below);
        }
      }
    }
  }

  // Values of a player at all nodes; with discounts its regrets are updated.
  void back_up(int player, const float* discount) {
    for (std::int64_t node = betting_.num_nodes; node-- > 0;) {
      float* value = row(value_, node);
      if (betting_.kind[node] != ToyBetting::kDecision) {
        end_value(node, player, row(reach_[1 - player], node), value);
        continue;
      }
      const bool is_own = betting_.player[node] == player;
      std::fill_n(value, size_, 0.0f);
      for (std::int32_t edge = betting_.first_child[node]; edge < betting_.first_child[node + 1]; ++edge) {
        const float *below = row(value_, betting_.child[edge]), *share = row(strategy_, edge);
        if (is_own) {
          for (std::int32_t i = 0; i < size_; ++i) value[i] += below[i] * share[i];
        } else {
          for (std::int32_t i = 0; i < size_; ++i) value[i] += below[i];
        }
      }
      if (!is_own || discount == nullptr) continue;
      for (std::int32_t edge = betting_.first_child[node]; edge < betting_.first_child[node + 1]; ++edge) {
        const float* below = row(value_, betting_.child[edge]);
        float* regret = row(regret_, edge);
        for (std::int32_t i = 0; i < size_; ++i) {
          const float kept = regret[i] * (regret[i] > 0.0f ? discount[0] : discount[1]);
          regret[i] = kept + (below[i] - value[i]);
        }
      }
    }
  }

  void end_value(std::int64_t node, int player, const float* met, float* value) const {
    const float amount = betting_.amount[node];
    float all = 0.0f;
    for (std::int32_t i = 0; i < size_; ++i) all += met[i];
    if (betting_.kind[node] == ToyBetting::kFold) {
      std::fill_n(value, size_, betting_.player[node] == player ? -amount * all : amount * all);
      return;
    }
    float below = 0.0f;
    for (std::int32_t i = 0; i < size_; ++i) {
      value[i] = amount * ((below + below) + (met[i] - all));  // beats those below, ties its own kind
      below += met[i];
    }
  }

  void add_averages(int player, float kept) {
    for (std::int64_t node = 0; node < betting_.num_nodes; ++node) {
      if (betting_.kind[node] != ToyBetting::kDecision || betting_.player[node] != player) continue;
      for (std::int32_t edge = betting_.first_child[node]; edge < betting_.first_child[node + 1]; ++edge) {
        float* average = row(average_, edge);
        const float* reach = row(reach_[player], betting_.child[edge]);
        for (std::int32_t i = 0; i < size_; ++i) average[i] = average[i] * kept + reach[i];
      }
    }
  }

  ToyBetting betting_;
  std::int32_t size_;
  std::vector<float> regret_, average_, strategy_;  // [edges, strengths]
  std::vector<float> reach_[2], value_;             // [N, strengths]
  std::vector<float> sum_, nobody_;                 // [strengths]; every strength with weight 1
};

}  // namespace equipoise
