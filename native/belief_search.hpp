// SPDX-License-Identifier: Apache-2.0
// Depth-limited subgames solved for many beliefs in lock step: every number is there once a lane, lanes innermost, and all
// leaves of all lanes are one batch of a network. Lanes never meet: what comes of one does not depend on how many there are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <vector>

#include "packs.hpp"
#include "perceptron.hpp"
#include "rule.hpp"

namespace equipoise {

// A player's cells hold its reach and its values: private states of a node, or of an action. What only passes on has no cells
// of its own. Steps lead from parents to children: decisions spread a node's cells over actions, transfers are relations.
struct BeliefForm {
  struct Decision {
    std::int32_t player, node_cell, action_cell, table_cell, num_hands, num_actions;
  };
  struct Transfer {
    std::int32_t player, begin, end;  // entries
  };
  // What a player's cell earns: weighted reaches of the other player's cells.
  struct Gains {
    std::int64_t num_rows;
    const std::int32_t *cell, *start, *other;
    const float* weight;
  };

  std::int64_t num_cells[2], num_table_cells;
  std::int64_t num_steps;
  const std::int32_t* steps;  // [steps, 2] 0 for a decision or 1 for a transfer, and its number
  const Decision* decisions;
  const Transfer* transfers;
  const std::int32_t *entry_source, *entry_target;
  const float* entry_weight;
  Gains gains[2];
  const float* legal_share;  // [table cells] 1 / legal actions, 0 where illegal

  std::int64_t num_leaves, width;  // hands of a row of the network
  const std::int32_t* leaf_cell;  // [leaves, 2] by player of the subgame
  const std::int32_t* leaf_kind;  // [leaves] of the form's kinds
  const std::int8_t* leaf_swapped;  // [leaves] whether the network's first player is player 1
  const float* leaf_scale;  // [leaves] chance of a leaf beyond reaches
  const std::int32_t* kind_row;  // [kinds] which kind it is to the network
  const std::int32_t* kind_hands;  // [kinds, 2]
  const float* kind_weight;  // [kinds, 2, width] share of each private state in chance's weights
  const double* kind_joint;  // [kinds, width, width] chance's weights of pairs, in sum 1
  std::int64_t root_hands[2];
  const float* root_weight;  // [2, width]
  const double* root_joint;  // [width, width]
};

// A perceptron on two ranges, whose first layer begins with what it says of the kind of public state. Inputs are shares times
// the number of private states, or roots of that.
struct BeliefNet {
  Perceptron trunk;
  bool takes_roots = true;
  std::vector<float> starts;  // [kinds, first layer's outputs, padded]
  std::int64_t start_stride = 0;

  const float* start(std::int32_t kind) const { return starts.data() + kind * start_stride; }
};

// Time that this thread has worked, whoever else does.
inline double processor_seconds() {
  std::timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

enum class BeliefMode : int { cfr_d = 0, cfr_avg = 1, modified_cfr_avg = 2, fictitious_play = 3 };

struct BeliefSettings {
  BeliefMode mode;
  bool is_alternating, is_optimistic, floors_regrets;
  const Discount* rows;  // [iterations]
  std::int64_t num_iterations;
  double exploration;
  const float* prior;        // [lanes, table cells] strategies that searches begin with, or null
  const float* meeting;      // [lanes, table cells] how much each private state meets there
  std::int64_t num_assumed;  // iterations that these count for
};

// Iterations at which something of a lane is wanted, in order of time.
struct BeliefDraws {
  std::int64_t count;
  const std::int32_t *lane, *iteration;  // from 1
  const std::int8_t* explorer;           // player who explores, or -1
  const double* point;                   // on [0, 1): which leaf
  std::int32_t* leaf;                    // out: -1 where the game ends
  float* belief;                         // out: [draws, 2, width] there, the network's first player first
  float* policy;                         // out: [draws, table cells] or null
};

struct BeliefResults {
  float* value;     // [lanes, 2, width] what private states are worth on average, or null: searches end with their last draw
  float* policy;    // [lanes, table cells] averages, or null; only with values
};

template <int kLanes>
class BeliefSearch {
 public:
  BeliefSearch(const BeliefForm& form, const BeliefNet* net, const BeliefSettings& settings)
      : form_(form), net_(net), settings_(settings) {
    const auto lanes = [](std::int64_t count) { return static_cast<std::size_t>(count * kLanes); };
    for (int player = 0; player < 2; ++player) {
      reach_[player].resize(lanes(form.num_cells[player]));
      mean_reach_[player].resize(lanes(form.num_cells[player]));
      value_[player].resize(lanes(form.num_cells[player]));
      root_value_[player].resize(lanes(form.width));
    }
    for (auto* table : {&regret_, &sum_, &policy_}) table->resize(lanes(form.num_table_cells));
    leaf_value_.resize(lanes(form.num_leaves * 2 * form.width));
    if (settings.mode == BeliefMode::modified_cfr_avg) leaf_before_.resize(leaf_value_.size());
    if (net != nullptr) {
      first_.resize(static_cast<std::size_t>((kRows + 1) * net->trunk.stride() + DenseLayer::panel));
      second_.resize(first_.size());
      packed_.resize(first_.size());
      waiting_.resize(kRows);
    }
    starts_.resize(kRows);
  }

  double net_seconds() const { return net_seconds_; }

  // `belief` is [lanes, 2, width]; draws are those of lanes [first_lane, first_lane + count).
  void run(std::int64_t first_lane, std::int64_t count, const float* belief, const BeliefDraws& draws,
           const BeliefResults& out) {
    begin(first_lane, count, belief);
    const bool is_fictitious = settings_.mode == BeliefMode::fictitious_play;
    const std::int64_t last = out.value == nullptr ? last_draw(first_lane, count, draws) : settings_.num_iterations;
    std::int64_t next = 0, done = 0;
    if (settings_.prior != nullptr) {
      done = settings_.num_assumed;
      start_warm(first_lane, count);
    }
    for (std::int64_t t = done + 1; t <= last; ++t) {
      const Discount& row = settings_.rows[t - 1];
      if (is_fictitious) respond(t, row);
      find_means(row, is_fictitious);
      for (; next < draws.count && draws.iteration[next] <= t; ++next) {
        const std::int64_t lane = draws.lane[next] - first_lane;
        if (lane >= 0 && lane < count) draw(draws, next, static_cast<int>(lane), row);
      }
      if (!is_fictitious && (t < last || out.value != nullptr)) iterate(row);
      for (int player = 0; player < 2; ++player) {
        weight_[player] = weight_[player] * row.average_decay + row.average_weight;
      }
    }
    if (out.value == nullptr) return;
    if (is_fictitious) value_means();
    write(first_lane, count, out);
  }

 private:
  static constexpr std::int64_t kRows = kLanes >= 64 ? 2 * kLanes : 64;  // rows of one pass over weights, at most
  using Lanes = float[kLanes];
  using Table = std::vector<float>;

  // A leaf that the network is asked about.
  struct Waiting {
    std::int64_t leaf;
    Lanes asked[2], met[2];       // weighted reach by the network's players, in the beliefs and of those who are met
    std::int32_t place[kLanes];   // where each lane's row begins
  };

  static float* at(Table& table, std::int64_t cell) { return table.data() + cell * kLanes; }
  static const float* at(const Table& table, std::int64_t cell) { return table.data() + cell * kLanes; }

  // The last iteration of which something is wanted.
  static std::int64_t last_draw(std::int64_t first_lane, std::int64_t count, const BeliefDraws& draws) {
    std::int64_t last = 0;
    for (std::int64_t i = 0; i < draws.count; ++i) {
      if (draws.lane[i] >= first_lane && draws.lane[i] < first_lane + count) last = draws.iteration[i];
    }
    return last;
  }

  void begin(std::int64_t first_lane, std::int64_t count, const float* belief) {
    std::fill(regret_.begin(), regret_.end(), 0.0F);
    std::fill(sum_.begin(), sum_.end(), 0.0F);
    for (std::int64_t i = 0; i < form_.num_table_cells; ++i) std::fill_n(at(policy_, i), kLanes, form_.legal_share[i]);
    has_before_ = false;
    for (int player = 0; player < 2; ++player) {
      std::fill(reach_[player].begin(), reach_[player].end(), 0.0F);
      std::fill(root_value_[player].begin(), root_value_[player].end(), 0.0F);
      weight_[player] = 0.0;
      for (std::int64_t h = 0; h < form_.root_hands[player]; ++h) {
        const float weight = form_.root_weight[player * form_.width + h];
        for (int lane = 0; lane < kLanes; ++lane) {
          const std::int64_t from = first_lane + std::min<std::int64_t>(lane, count - 1);
          const float own = belief[(from * 2 + player) * form_.width + h];
          at(reach_[player], h)[lane] = weight > 0.0F ? own / weight : 0.0F;
        }
      }
      spread(player, policy_, reach_[player]);
    }
  }

  // Begins as if the given strategies had been played for some iterations: averages and values are theirs; regrets are those of
  // each player who goes on with a best response, against what the strategies earn, and more in proportion to the strategies: what
  // regrets grow to in so many iterations where a value is of the size of 1. Without it those of an equilibrium would be next to
  // nothing, and searches would leave it at once.
  void start_warm(std::int64_t first_lane, std::int64_t count) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::int64_t from = (first_lane + std::min<std::int64_t>(lane, count - 1)) * form_.num_table_cells;
      for (std::int64_t i = 0; i < form_.num_table_cells; ++i) {
        at(policy_, i)[lane] = settings_.prior[from + i];
        at(regret_, i)[lane] = settings_.prior[from + i] * settings_.meeting[from + i];
      }
    }
    Start start;
    Discount whole{.positive = 0, .negative = 0, .average_decay = 0, .average_weight = 0, .eta_scale = 0, .threshold = 0};
    for (std::int64_t t = 0; t < settings_.num_assumed; ++t) {
      const Discount& row = settings_.rows[t];
      start.gained = start.gained * static_cast<float>(row.positive) + 1.0F;
      start.lost = start.lost * static_cast<float>(row.negative) + 1.0F;
      whole.average_weight = whole.average_weight * row.average_decay + row.average_weight;
    }
    start.kept = start.gained / std::sqrt(static_cast<float>(settings_.num_assumed));
    for (int player = 0; player < 2; ++player) {
      spread(player, policy_, reach_[player]);
      mean_reach_[player] = reach_[player];
      for_steps(player, [&](const auto& step) {
        add_step(step, 0.0F, static_cast<float>(whole.average_weight), reach_[player]);
      });
      weight_[player] = whole.average_weight;
    }
    ask(whole, 3);
    for (int player = 0; player < 2; ++player) {
      collect(player, reach_);
      for_steps_back(player, [&](const auto& step) { pass_step(step, player); });
      add_root(player, whole);
    }
    for (int player = 0; player < 2; ++player) {
      collect(player, reach_);
      for_steps_back(player, [&](const auto& step) { warm_step(step, player, start); });
    }
    for (int player = 0; player < 2; ++player) spread(player, policy_, reach_[player]);
  }

  // What iterations before the first weigh in regrets that are positive, negative, and in those that strategies are given.
  struct Start {
    float gained = 0.0F, lost = 0.0F, kept = 0.0F;
  };

  void warm_step(const BeliefForm::Transfer& step, int player, const Start&) { update_step(step, player, Discount{}); }

  void warm_step(const BeliefForm::Decision& step, int player, const Start& start) {
    for (std::int32_t h = 0; h < step.num_hands; ++h) {
      Lanes expected, total = {}, most;
      expect(step, h, policy_, value_[player], expected);
      std::fill_n(most, kLanes, -INFINITY);
      for (int a = 0; a < step.num_actions; ++a) {
        const std::int64_t cell = step.table_cell + a * step.num_hands + h;
        if (form_.legal_share[cell] == 0.0F) continue;
        const float* __restrict value = at(value_[player], step.action_cell + a * step.num_hands + h);
        float* __restrict regret = at(regret_, cell);
        for (int lane = 0; lane < kLanes; ++lane) {
          const float instant = value[lane] - expected[lane];
          const float found = instant * (instant > 0.0F ? start.gained : start.lost) + start.kept * regret[lane];
          most[lane] = std::max(most[lane], value[lane]);
          regret[lane] = settings_.floors_regrets && found < 0.0F ? 0.0F : found;
          total[lane] += regret[lane] > 0.0F ? regret[lane] : 0.0F;
        }
      }
      for (int a = 0; a < step.num_actions; ++a) {
        const std::int64_t cell = step.table_cell + a * step.num_hands + h;
        if (form_.legal_share[cell] == 0.0F) continue;
        for (int lane = 0; lane < kLanes; ++lane) {
          const float counted = at(regret_, cell)[lane] > 0.0F ? at(regret_, cell)[lane] : 0.0F;
          if (total[lane] > kLeastMass) at(policy_, cell)[lane] = counted / total[lane];
        }
      }
      float* __restrict node = at(value_[player], step.node_cell + h);
      for (int lane = 0; lane < kLanes; ++lane) node[lane] += most[lane];
    }
  }

  // Carries a player's reach from the root down.
  void spread(int player, const Table& policy, Table& reach) const {
    for_steps(player, [&](const auto& step) { spread_step(step, policy, reach); });
  }

  template <typename Visit>
  void for_steps(int player, Visit&& visit) const {
    for (std::int64_t i = 0; i < form_.num_steps; ++i) visit_step(i, player, visit);
  }

  template <typename Visit>
  void for_steps_back(int player, Visit&& visit) const {
    for (std::int64_t i = form_.num_steps; i-- > 0;) visit_step(i, player, visit);
  }

  template <typename Visit>
  void visit_step(std::int64_t index, int player, Visit&& visit) const {
    const std::int32_t number = form_.steps[2 * index + 1];
    if (form_.steps[2 * index] == 0) {
      if (form_.decisions[number].player == player) visit(form_.decisions[number]);
    } else if (form_.transfers[number].player == player) {
      visit(form_.transfers[number]);
    }
  }

  void spread_step(const BeliefForm::Decision& step, const Table& policy, Table& reach) const {
    const std::int64_t size = static_cast<std::int64_t>(step.num_hands) * kLanes;
    const float* __restrict above = at(reach, step.node_cell);
    for (int a = 0; a < step.num_actions; ++a) {
      const float* __restrict share = at(policy, step.table_cell + a * step.num_hands);
      float* __restrict below = at(reach, step.action_cell + a * step.num_hands);
      for (std::int64_t i = 0; i < size; ++i) below[i] = above[i] * share[i];
    }
  }

  void spread_step(const BeliefForm::Transfer& step, const Table&, Table& reach) const {
    for (std::int32_t i = step.begin; i < step.end; ++i) std::fill_n(at(reach, form_.entry_target[i]), kLanes, 0.0F);
    for (std::int32_t i = step.begin; i < step.end; ++i) {
      const float* from = at(reach, form_.entry_source[i]);
      float* to = at(reach, form_.entry_target[i]);
      for (int lane = 0; lane < kLanes; ++lane) to[lane] += form_.entry_weight[i] * from[lane];
    }
  }

  // Writes the reach of averages, in which the present iteration counts as its row says; fictitious play has added it.
  void find_means(const Discount& row, bool has_present) {
    if (settings_.mode == BeliefMode::cfr_d) return;
    for (int player = 0; player < 2; ++player) mean_of(player, row, has_present);
  }

  void mean_of(int player, const Discount& row, bool has_present) {
    const double total = weight_[player] * row.average_decay + row.average_weight;
    const auto decay = static_cast<float>(has_present ? 1.0 / total : row.average_decay / total);
    const auto present = static_cast<float>(has_present ? 0.0 : row.average_weight / total);
    Table& mean = mean_reach_[player];
    std::copy_n(at(reach_[player], 0), form_.root_hands[player] * kLanes, at(mean, 0));
    for_steps(player, [&](const auto& step) { mean_step(step, decay, present, reach_[player], mean); });
  }

  void mean_step(const BeliefForm::Decision& step, float decay, float present, const Table& reach, Table& mean) const {
    const std::int64_t size = static_cast<std::int64_t>(step.num_actions) * step.num_hands * kLanes;
    const float* __restrict kept = at(sum_, step.table_cell);
    const float* __restrict now = at(reach, step.action_cell);
    float* __restrict to = at(mean, step.action_cell);
    for (std::int64_t i = 0; i < size; ++i) to[i] = decay * kept[i] + present * now[i];
  }

  void mean_step(const BeliefForm::Transfer& step, float, float, const Table&, Table& mean) const {
    spread_step(step, mean, mean);
  }

  // One iteration of CFR: both players are updated, in turn or at once.
  void iterate(const Discount& row) {
    if (settings_.is_alternating) {
      for (int player = 0; player < 2; ++player) {
        ask(row, 1 << player);
        back_up(player, row);
        spread(player, policy_, reach_[player]);
      }
      return;
    }
    ask(row, 3);
    for (int player = 0; player < 2; ++player) back_up(player, row);
    for (int player = 0; player < 2; ++player) spread(player, policy_, reach_[player]);
  }

  // Asks the network about the leaves, and writes counterfactual values of the players of a set. What nobody meets is worth
  // nothing, whatever the network says: such rows are left out.
  void ask(const Discount& row, int players) {
    if (form_.num_leaves == 0) return;
    const bool is_present = settings_.mode == BeliefMode::cfr_d;
    const Table* asked = is_present ? reach_ : mean_reach_;
    const Table* met = settings_.mode == BeliefMode::cfr_avg ? reach_ : asked;
    std::int64_t num_rows = 0, num_waiting = 0;
    for (std::int64_t leaf = 0; leaf < form_.num_leaves; ++leaf) {
      Waiting& waiting = waiting_[static_cast<std::size_t>(num_waiting)];
      waiting.leaf = leaf;
      const std::int64_t count = add_rows(waiting, asked, met, players, num_rows);
      if (count == 0) {
        clear_leaf(leaf, players);
        continue;
      }
      num_rows += count;
      ++num_waiting;
      if (num_rows + kLanes <= kRows) continue;
      answer(num_rows, num_waiting, asked, players);
      num_rows = num_waiting = 0;
    }
    answer(num_rows, num_waiting, asked, players);
    if (settings_.mode == BeliefMode::modified_cfr_avg) extrapolate(row);
  }

  // Returns how many rows a leaf adds: those lanes where somebody meets a player whose values are wanted.
  std::int64_t add_rows(Waiting& waiting, const Table* asked, const Table* met, int players, std::int64_t first_row) {
    const std::int64_t leaf = waiting.leaf, stride = net_->trunk.stride(), width = form_.width;
    Lanes mass[2];
    for (int place = 0; place < 2; ++place) {
      find_mass(leaf, place, asked, waiting.asked[place]);
      if (met == asked) {
        std::copy_n(waiting.asked[place], kLanes, waiting.met[place]);
      } else {
        find_mass(leaf, place, met, waiting.met[place]);
      }
      const bool is_wanted = players >> player_at(leaf, 1 - place) & 1;
      for (int lane = 0; lane < kLanes; ++lane) mass[place][lane] = is_wanted ? waiting.met[place][lane] : 0.0F;
    }
    std::int64_t count = 0;
    const float* const start = net_->start(form_.kind_row[form_.leaf_kind[leaf]]);
    for (int lane = 0; lane < kLanes; ++lane) {
      const bool is_met = mass[0][lane] != 0.0F || mass[1][lane] != 0.0F;
      waiting.place[lane] = static_cast<std::int32_t>((is_met ? first_row + count : kRows) * stride);
      if (!is_met) continue;
      starts_[static_cast<std::size_t>(first_row + count)] = start;
      ++count;
    }
    if (count == 0) return 0;
    for (int place = 0; place < 2; ++place) write_range(waiting, place, asked, first_.data() + place * width);
    return count;
  }

  void clear_leaf(std::int64_t leaf, int players) {
    for (int player = 0; player < 2; ++player) {
      if (players >> player & 1) std::fill_n(at(leaf_value_, (leaf * 2 + player) * form_.width), form_.width * kLanes, 0.0F);
    }
  }

  // Runs the network on what waits, and writes its values.
  void answer(std::int64_t num_rows, std::int64_t num_waiting, const Table* asked, int players) {
    if (num_rows == 0) return;
    const double began = processor_seconds();
    const float* const found = net_->trunk.run(num_rows, first_.data(), second_.data(), packed_.data(), starts_.data());
    net_seconds_ += processor_seconds() - began;
    for (std::int64_t i = 0; i < num_waiting; ++i) read_leaf(waiting_[static_cast<std::size_t>(i)], found, asked, players);
  }

  int player_at(std::int64_t leaf, int place) const { return form_.leaf_swapped[leaf] ? 1 - place : place; }

  const float* weights(std::int64_t leaf, int place) const {
    return form_.kind_weight + (form_.leaf_kind[leaf] * 2 + place) * form_.width;
  }

  std::int64_t hands(std::int64_t leaf, int place) const { return form_.kind_hands[form_.leaf_kind[leaf] * 2 + place]; }

  // How much a player's weighted reach of a leaf comes to.
  void find_mass(std::int64_t leaf, int place, const Table* reach, Lanes& mass) const {
    const int player = player_at(leaf, place);
    const float* const weight = weights(leaf, place);
    const float* own = at(reach[player], form_.leaf_cell[2 * leaf + player]);
    std::fill_n(mass, kLanes, 0.0F);
    for (std::int64_t h = 0; h < hands(leaf, place); ++h) {
      for (int lane = 0; lane < kLanes; ++lane) mass[lane] += weight[h] * own[h * kLanes + lane];
    }
  }

  // A range: shares of the weighted reach; where nobody comes, what chance deals.
  void find_range(std::int64_t leaf, int place, const Table* reach, std::int64_t hand, const Lanes& mass,
                  Lanes& range) const {
    const int player = player_at(leaf, place);
    const float weight = weights(leaf, place)[hand];
    const float* own = at(reach[player], form_.leaf_cell[2 * leaf + player] + hand);
    for (int lane = 0; lane < kLanes; ++lane) {
      range[lane] = mass[lane] > kLeastMass ? weight * own[lane] / mass[lane] : weight;
    }
  }

  // Writes a player's range into the rows of its lanes; those of lanes that are left out have a row of their own.
  void write_range(const Waiting& waiting, int place, const Table* reach, float* to) const {
    const std::int64_t leaf = waiting.leaf;
    Lanes range;
    for (std::int64_t h = 0; h < form_.width; ++h) {
      if (h < hands(leaf, place)) {
        find_range(leaf, place, reach, h, waiting.asked[place], range);
      } else {
        std::fill_n(range, kLanes, 0.0F);
      }
      for (int lane = 0; lane < kLanes; ++lane) {
        const float scaled = static_cast<float>(form_.width) * range[lane];
        range[lane] = net_->takes_roots ? std::sqrt(scaled) : scaled;
      }
      for (int lane = 0; lane < kLanes; ++lane) to[waiting.place[lane] + h] = range[lane];
    }
  }

  // Values of a leaf: zero-sum under the ranges that were asked about, times the reach of the other player that is met.
  void read_leaf(const Waiting& waiting, const float* found, const Table* asked, int players) {
    const std::int64_t leaf = waiting.leaf, width = form_.width;
    const std::int64_t unasked = kRows * net_->trunk.stride();
    Lanes left, range;
    std::int32_t from[kLanes];
    // lanes that were left out read any row: their values are multiplied by nothing
    for (int lane = 0; lane < kLanes; ++lane) from[lane] = waiting.place[lane] == unasked ? 0 : waiting.place[lane];
    std::fill_n(left, kLanes, 0.0F);
    for (int place = 0; place < 2; ++place) {
      for (std::int64_t h = 0; h < hands(leaf, place); ++h) {
        find_range(leaf, place, asked, h, waiting.asked[place], range);
        for (int lane = 0; lane < kLanes; ++lane) left[lane] += range[lane] * found[from[lane] + place * width + h];
      }
    }
    for (int place = 0; place < 2; ++place) {
      const int player = player_at(leaf, place);
      if (!(players >> player & 1)) continue;
      for (std::int64_t h = 0; h < hands(leaf, place); ++h) {
        const float scale = form_.leaf_scale[leaf] * weights(leaf, place)[h];
        float* const to = at(leaf_value_, (leaf * 2 + player) * width + h);
        for (int lane = 0; lane < kLanes; ++lane) {
          const float value = found[from[lane] + place * width + h] - 0.5F * left[lane];
          to[lane] = scale * waiting.met[1 - place][lane] * value;
        }
      }
    }
  }

  // Turns values of the averages into those of the present strategies, of which the averages are made.
  void extrapolate(const Discount& row) {
    const double total = weight_[0] * row.average_decay + row.average_weight;
    const auto share = static_cast<float>(row.average_weight / total);
    for (std::size_t i = 0; i < leaf_value_.size(); ++i) {
      const float now = leaf_value_[i];
      if (has_before_) leaf_value_[i] = (now - (1.0F - share) * leaf_before_[i]) / share;
      leaf_before_[i] = now;
    }
    has_before_ = true;
  }

  // Writes what terminals and leaves earn a player's cells.
  void collect(int player, const Table* reach) {
    std::fill(value_[player].begin(), value_[player].end(), 0.0F);
    const BeliefForm::Gains& gains = form_.gains[player];
    for (std::int64_t i = 0; i < gains.num_rows; ++i) {
      Lanes sum = {};
      for (std::int32_t k = gains.start[i]; k < gains.start[i + 1]; ++k) {
        const float* __restrict other = at(reach[1 - player], gains.other[k]);
        for (int lane = 0; lane < kLanes; ++lane) sum[lane] += gains.weight[k] * other[lane];
      }
      std::copy_n(sum, kLanes, at(value_[player], gains.cell[i]));
    }
    for (std::int64_t leaf = 0; leaf < form_.num_leaves; ++leaf) {
      const int place = player_at(leaf, 0) == player ? 0 : 1;
      const std::int64_t size = hands(leaf, place) * kLanes;
      const float* __restrict from = at(leaf_value_, (leaf * 2 + player) * form_.width);
      float* __restrict to = at(value_[player], form_.leaf_cell[2 * leaf + player]);
      for (std::int64_t i = 0; i < size; ++i) to[i] += from[i];
    }
  }

  void back_up(int player, const Discount& row) {
    collect(player, reach_);
    for_steps_back(player, [&](const auto& step) { update_step(step, player, row); });
    add_root(player, row);
  }

  void add_root(int player, const Discount& row) {
    const auto decay = static_cast<float>(row.average_decay), weight = static_cast<float>(row.average_weight);
    float* __restrict to = root_value_[player].data();
    const float* __restrict from = value_[player].data();
    for (std::int64_t i = 0; i < form_.root_hands[player] * kLanes; ++i) to[i] = to[i] * decay + weight * from[i];
  }

  void update_step(const BeliefForm::Transfer& step, int player, const Discount&) {
    for (std::int32_t i = step.begin; i < step.end; ++i) {
      const float* from = at(value_[player], form_.entry_target[i]);
      float* to = at(value_[player], form_.entry_source[i]);
      for (int lane = 0; lane < kLanes; ++lane) to[lane] += form_.entry_weight[i] * from[lane];
    }
  }

  void update_step(const BeliefForm::Decision& step, int player, const Discount& row) {
    const auto positive = static_cast<float>(row.positive), negative = static_cast<float>(row.negative);
    const auto decay = static_cast<float>(row.average_decay), weight = static_cast<float>(row.average_weight);
    const float floor = settings_.floors_regrets ? 0.0F : -INFINITY;
    for (std::int32_t h = 0; h < step.num_hands; ++h) {
      Lanes expected, total = {};
      expect(step, h, policy_, value_[player], expected);
      const float* __restrict own = at(reach_[player], step.node_cell + h);
      for (int a = 0; a < step.num_actions; ++a) {
        const std::int64_t cell = step.table_cell + a * step.num_hands + h;
        if (form_.legal_share[cell] == 0.0F) continue;
        const float* __restrict value = at(value_[player], step.action_cell + a * step.num_hands + h);
        float* __restrict regret = at(regret_, cell);
        float* __restrict sum = at(sum_, cell);
        float* __restrict share = at(policy_, cell);
        for (int lane = 0; lane < kLanes; ++lane) {
          const float instant = value[lane] - expected[lane];
          const float stored = regret[lane];
          const float added = stored * (stored > 0.0F ? positive : negative) + instant;
          const float kept = added > floor ? added : floor;
          regret[lane] = kept;
          sum[lane] = sum[lane] * decay + weight * (own[lane] * share[lane]);
          const float basis = settings_.is_optimistic ? kept + instant : kept;
          const float counted = basis > 0.0F ? basis : 0.0F;
          share[lane] = counted;
          total[lane] += counted;
        }
      }
      normalize(step, h, total, policy_);
      float* __restrict node = at(value_[player], step.node_cell + h);
      for (int lane = 0; lane < kLanes; ++lane) node[lane] += expected[lane];
    }
  }

  // What a private state earns if it acts by a policy.
  void expect(const BeliefForm::Decision& step, std::int32_t hand, const Table& policy, const Table& value,
              Lanes& expected) const {
    std::fill_n(expected, kLanes, 0.0F);
    for (int a = 0; a < step.num_actions; ++a) {
      const float* __restrict share = at(policy, step.table_cell + a * step.num_hands + hand);
      const float* __restrict own = at(value, step.action_cell + a * step.num_hands + hand);
      for (int lane = 0; lane < kLanes; ++lane) expected[lane] += share[lane] * own[lane];
    }
  }

  // Divides what a private state's actions have by their total; uniform play where it is nothing.
  void normalize(const BeliefForm::Decision& step, std::int32_t hand, const Lanes& total, Table& policy) const {
    for (int a = 0; a < step.num_actions; ++a) {
      const std::int64_t cell = step.table_cell + a * step.num_hands + hand;
      const float legal = form_.legal_share[cell];
      if (legal == 0.0F) continue;
      float* __restrict share = at(policy, cell);
      for (int lane = 0; lane < kLanes; ++lane) {
        share[lane] = total[lane] > kLeastMass ? share[lane] / total[lane] : legal;
      }
    }
  }

  // Fictitious play: the first strategies are uniform, later ones best responses to the other's average, in which its last one
  // counts once more if play is optimistic. Sums then have the new strategies in them.
  void respond(std::int64_t t, const Discount& row) {
    for (int player = 0; player < 2; ++player) {
      if (t > 1 && (player == 0 || settings_.is_alternating)) {
        for (int each = 0; each < 2; ++each) mean_for_response(each, row, settings_.is_alternating && each < player);
        ask(row, settings_.is_alternating ? 1 << player : 3);
      }
      if (t > 1) {
        collect(player, mean_reach_);
        for_steps_back(player, [&](const auto& step) { respond_step(step, player); });
      }
      if (settings_.is_alternating || t == 1) add_response(player, row);
    }
    if (!settings_.is_alternating && t > 1) {
      for (int player = 0; player < 2; ++player) add_response(player, row);
    }
  }

  // The average that is responded to; `is_new`: this iteration's strategy is already in the sums.
  void mean_for_response(int player, const Discount& row, bool is_new) {
    if (is_new) {
      mean_of(player, row, true);
    } else if (settings_.is_optimistic) {
      mean_of(player, row, false);
    } else {
      mean_of(player, Discount{.positive = 0, .negative = 0, .average_decay = 1, .average_weight = 0, .eta_scale = 0, .threshold = 0},
              true);
    }
  }

  void respond_step(const BeliefForm::Transfer& step, int player) { update_step(step, player, Discount{}); }

  void respond_step(const BeliefForm::Decision& step, int player) {
    for (std::int32_t h = 0; h < step.num_hands; ++h) {
      for (int lane = 0; lane < kLanes; ++lane) {
        int best = -1;
        float most = 0.0F;
        for (int a = 0; a < step.num_actions; ++a) {
          const std::int64_t cell = step.table_cell + a * step.num_hands + h;
          if (form_.legal_share[cell] == 0.0F) continue;
          at(policy_, cell)[lane] = 0.0F;
          const float value = at(value_[player], step.action_cell + a * step.num_hands + h)[lane];
          if (best < 0 || value > most) {
            best = a;
            most = value;
          }
        }
        at(policy_, step.table_cell + best * step.num_hands + h)[lane] = 1.0F;
        at(value_[player], step.node_cell + h)[lane] += most;
      }
    }
  }

  void add_response(int player, const Discount& row) {
    spread(player, policy_, reach_[player]);
    const auto decay = static_cast<float>(row.average_decay), weight = static_cast<float>(row.average_weight);
    for_steps(player, [&](const auto& step) { add_step(step, decay, weight, reach_[player]); });
  }

  void add_step(const BeliefForm::Transfer&, float, float, const Table&) const {}
  void add_step(const BeliefForm::Decision& step, float decay, float weight, const Table& reach) {
    const std::int64_t size = static_cast<std::int64_t>(step.num_actions) * step.num_hands * kLanes;
    float* __restrict to = at(sum_, step.table_cell);
    const float* __restrict now = at(reach, step.action_cell);
    for (std::int64_t i = 0; i < size; ++i) to[i] = to[i] * decay + weight * now[i];
  }

  // What private states are worth if both play their averages: the target of fictitious play.
  void value_means() {
    const Discount last{.positive = 0, .negative = 0, .average_decay = 1, .average_weight = 0, .eta_scale = 0, .threshold = 0};
    const Discount whole{.positive = 0, .negative = 0, .average_decay = 0, .average_weight = 1, .eta_scale = 0, .threshold = 0};
    for (int player = 0; player < 2; ++player) mean_of(player, last, true);
    ask(last, 3);
    average_policy();
    for (int player = 0; player < 2; ++player) {
      collect(player, mean_reach_);
      for_steps_back(player, [&](const auto& step) { pass_step(step, player); });
      add_root(player, whole);
      weight_[player] = 1.0;
    }
  }

  void pass_step(const BeliefForm::Transfer& step, int player) { update_step(step, player, Discount{}); }
  void pass_step(const BeliefForm::Decision& step, int player) {
    for (std::int32_t h = 0; h < step.num_hands; ++h) {
      Lanes expected;
      expect(step, h, policy_, value_[player], expected);
      float* __restrict node = at(value_[player], step.node_cell + h);
      for (int lane = 0; lane < kLanes; ++lane) node[lane] += expected[lane];
    }
  }

  // Overwrites strategies with their averages.
  void average_policy() {
    policy_ = sum_;
    for (int player = 0; player < 2; ++player) {
      for_steps(player, [&](const auto& step) { normalize_step(step); });
    }
  }

  void normalize_step(const BeliefForm::Transfer&) const {}
  void normalize_step(const BeliefForm::Decision& step) {
    for (std::int32_t h = 0; h < step.num_hands; ++h) {
      Lanes total = {};
      for (int a = 0; a < step.num_actions; ++a) {
        const float* share = at(policy_, step.table_cell + a * step.num_hands + h);
        for (int lane = 0; lane < kLanes; ++lane) total[lane] += share[lane];
      }
      normalize(step, h, total, policy_);
    }
  }

  // --- draws ---

  void draw(const BeliefDraws& draws, std::int64_t index, int lane, const Discount&) {
    if (draws.policy != nullptr) write_policy(lane, draws.policy + index * form_.num_table_cells);
    const std::int32_t leaf = draws.leaf == nullptr ? -1 : find_leaf(draws.explorer[index], draws.point[index], lane);
    if (draws.leaf == nullptr) return;
    draws.leaf[index] = leaf;
    float* const belief = draws.belief + index * 2 * form_.width;
    std::fill_n(belief, 2 * form_.width, 0.0F);
    if (leaf < 0) return;
    const Table* believed = settings_.mode == BeliefMode::cfr_d ? reach_ : mean_reach_;
    for (int place = 0; place < 2; ++place) {
      const int player = player_at(leaf, place);
      const float* const weight = weights(leaf, place);
      const std::int64_t first = form_.leaf_cell[2 * leaf + player];
      float mass = 0.0F;
      for (std::int64_t h = 0; h < hands(leaf, place); ++h) mass += weight[h] * at(believed[player], first + h)[lane];
      for (std::int64_t h = 0; h < hands(leaf, place); ++h) {
        const float own = weight[h] * at(believed[player], first + h)[lane];
        belief[place * form_.width + h] = mass > kLeastMass ? own / mass : weight[h];
      }
    }
  }

  // What is played in an iteration: its strategies, or the averages so far.
  void write_policy(int lane, float* out) const {
    for (int player = 0; player < 2; ++player) {
      for_steps(player, [&](const auto& step) { write_policy_step(step, player, lane, out); });
    }
  }

  void write_policy_step(const BeliefForm::Transfer&, int, int, float*) const {}
  void write_policy_step(const BeliefForm::Decision& step, int player, int lane, float* out) const {
    for (std::int32_t h = 0; h < step.num_hands; ++h) {
      float total = 0.0F;
      for (int a = 0; a < step.num_actions; ++a) {
        const std::int64_t offset = a * step.num_hands + h;
        const bool is_present = settings_.mode == BeliefMode::cfr_d;
        const float own = is_present ? at(policy_, step.table_cell + offset)[lane]
                                     : at(mean_reach_[player], step.action_cell + offset)[lane];
        out[step.table_cell + offset] = own;
        total += own;
      }
      for (int a = 0; a < step.num_actions; ++a) {
        const std::int64_t cell = step.table_cell + a * step.num_hands + h;
        out[cell] = total > kLeastMass ? out[cell] / total : form_.legal_share[cell];
      }
    }
  }

  // Draws a leaf as play leads there, one player exploring; -1 where the game ends before.
  std::int32_t find_leaf(int explorer, double point, int lane) {
    std::vector<double> played[2];
    for (int player = 0; player < 2; ++player) {
      played[player].assign(static_cast<std::size_t>(form_.num_cells[player]), 0.0);
      const bool plays_mean = settings_.mode == BeliefMode::fictitious_play && explorer != player;
      const Table& table = plays_mean ? mean_reach_[player] : reach_[player];
      for (std::int64_t i = 0; i < form_.num_cells[player]; ++i) played[player][i] = at(table, i)[lane];
    }
    if (explorer >= 0) for_steps(explorer, [&](const auto& step) { explore_step(step, lane, played[explorer]); });
    double left = point * pair_mass(played, 0, 0, form_.root_joint, form_.root_hands[0], form_.root_hands[1]);
    for (std::int64_t leaf = 0; leaf < form_.num_leaves; ++leaf) {
      const int first = player_at(leaf, 0);
      std::vector<double>* const ordered[2] = {&played[first], &played[1 - first]};
      const double* joint = form_.kind_joint + form_.leaf_kind[leaf] * form_.width * form_.width;
      const double* rows = ordered[0]->data() + form_.leaf_cell[2 * leaf + first];
      const double* columns = ordered[1]->data() + form_.leaf_cell[2 * leaf + 1 - first];
      double mass = 0.0;
      for (std::int64_t i = 0; i < hands(leaf, 0); ++i) {
        double sum = 0.0;
        for (std::int64_t j = 0; j < hands(leaf, 1); ++j) sum += joint[i * form_.width + j] * columns[j];
        mass += rows[i] * sum;
      }
      mass *= static_cast<double>(form_.leaf_scale[leaf]);
      if (left < mass) return static_cast<std::int32_t>(leaf);
      left -= mass;
    }
    return -1;
  }

  double pair_mass(const std::vector<double>* played, std::int64_t first, std::int64_t second, const double* joint,
                   std::int64_t num_rows, std::int64_t num_columns) const {
    double mass = 0.0;
    for (std::int64_t i = 0; i < num_rows; ++i) {
      double sum = 0.0;
      for (std::int64_t j = 0; j < num_columns; ++j) sum += joint[i * form_.width + j] * played[1][second + j];
      mass += played[0][first + i] * sum;
    }
    return mass;
  }

  void explore_step(const BeliefForm::Transfer& step, int, std::vector<double>& reach) const {
    for (std::int32_t i = step.begin; i < step.end; ++i) reach[form_.entry_target[i]] = 0.0;
    for (std::int32_t i = step.begin; i < step.end; ++i) {
      reach[form_.entry_target[i]] += static_cast<double>(form_.entry_weight[i]) * reach[form_.entry_source[i]];
    }
  }

  void explore_step(const BeliefForm::Decision& step, int lane, std::vector<double>& reach) const {
    const double explored = settings_.exploration;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(step.num_actions) * step.num_hands; ++i) {
      const double share = at(policy_, step.table_cell + i)[lane];
      const double uniform = form_.legal_share[step.table_cell + i];
      reach[step.action_cell + i] =
          reach[step.node_cell + i % step.num_hands] * ((1.0 - explored) * share + explored * uniform);
    }
  }

  void write(std::int64_t first_lane, std::int64_t count, const BeliefResults& out) {
    for (std::int64_t lane = 0; lane < count; ++lane) {
      for (int player = 0; player < 2; ++player) {
        float* const to = out.value + ((first_lane + lane) * 2 + player) * form_.width;
        std::fill_n(to, form_.width, 0.0F);
        for (std::int64_t h = 0; h < form_.root_hands[player]; ++h) {
          const float unit = form_.root_weight[player * form_.width + h] * static_cast<float>(weight_[player]);
          to[h] = unit > 0.0F ? at(root_value_[player], h)[lane] / unit : 0.0F;
        }
      }
    }
    if (out.policy == nullptr) return;
    average_policy();
    for (std::int64_t lane = 0; lane < count; ++lane) {
      float* const to = out.policy + (first_lane + lane) * form_.num_table_cells;
      for (std::int64_t i = 0; i < form_.num_table_cells; ++i) to[i] = at(policy_, i)[lane];
    }
  }

  static constexpr float kLeastMass = 1e-20F;

  const BeliefForm& form_;
  const BeliefNet* net_;
  const BeliefSettings& settings_;
  Table reach_[2], mean_reach_[2], value_[2], root_value_[2];
  Table regret_, sum_, policy_;
  Table leaf_value_, leaf_before_;  // [leaves, 2, width]
  std::vector<float> first_, second_, packed_;
  std::vector<const float*> starts_;
  std::vector<Waiting> waiting_;
  double weight_[2] = {0.0, 0.0};
  double net_seconds_ = 0.0;
  bool has_before_ = false;
};

// Solves a subgame for `num_beliefs` beliefs [B, 2, width], as many lanes at a time; returns seconds within the network.
template <int kLanes>
double search_beliefs(const BeliefForm& form, const BeliefNet* net, const BeliefSettings& settings,
                      std::int64_t num_beliefs, const float* belief, const BeliefDraws& draws,
                      const BeliefResults& out) {
  const FlushSubnormals flush;
  BeliefSearch<kLanes> search(form, net, settings);
  for (std::int64_t first = 0; first < num_beliefs; first += kLanes) {
    search.run(first, std::min<std::int64_t>(kLanes, num_beliefs - first), belief, draws, out);
  }
  return search.net_seconds();
}

}  // namespace equipoise
