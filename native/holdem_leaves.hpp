// SPDX-License-Identifier: Apache-2.0
// Where a sweep over a hold'em street ends although the hand goes on: every line that leaves the street is a leaf at
// which each hand of both players chooses how it goes on, among a few strategies. What a pair of choices pays a pair of
// hands stands in a table, so that a leaf's values are rows of the table times the other's reach. Only rows that somebody
// stands at are read: under regret matching most hands are certain of their choice, and many never come to a leaf.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "packs.hpp"
#include "rule.hpp"

namespace equipoise {

enum class LeafEntry : std::int32_t { float32 = 0, float64 = 1, int16 = 2 };

// What leaves pay; leaves that pay alike up to a factor share it.
struct HoldemLeafTable {
  std::int32_t first_leaf;
  std::int32_t num_leaves;
  std::int32_t num_choices[2];
};

struct HoldemLeaf {
  std::int32_t line;  // of those that leave the street
  std::int32_t first_choice[2];  // into arrays over [choice, row], by player
};

struct HoldemLeaves {
  LeafEntry entry = LeafEntry::float32;
  std::int32_t num_tables = 0;
  const HoldemLeafTable* tables = nullptr;
  const HoldemLeaf* leaves = nullptr;  // by table
  const double* scale = nullptr;       // [leaf] factor on what the table says
  std::int64_t num_rows[2] = {};       // of each player, in whole packs
  std::int64_t num_choices[2] = {};    // of all leaves
  const void* entries[2] = {};         // by player: tables [other's choice, other's row, own choice, own row]
  const std::int64_t* first_entry[2] = {};  // [table]
  const double* unit[2] = {};               // [other's choice, other's row] of all tables: what an entry of 1 pays
  const std::int64_t* first_unit[2] = {};   // [table]
  double* regret_sum[2] = {};               // [choice, row]
  double* strategy_sum[2] = {};             // [choice, row] weighted by own reach
};

// What a task does at leaves.
enum class LeafPurpose { update, expected_value, best_response };

struct HoldemLeafTask {
  LeafPurpose purpose = LeafPurpose::update;
  Rule rule;
  Discount discount{};
};

// Reaches and values of lines as the sweep keeps them: [row, column], columns being lines.
template <typename Real>
struct LineRows {
  Real* cells;
  std::int64_t stride;

  Real& at(std::int64_t row, std::int32_t line) const { return cells[row * stride + line]; }
};

template <typename Real>
class HoldemLeafGame {
 public:
  using Vector = Pack<Real>;

  HoldemLeafGame(const HoldemLeaves& leaves, int num_threads) : leaves_(leaves), workers_(num_threads) {
    std::int64_t most_sums = 0, most_rows = 0;
    for (std::int32_t t = 0; t < leaves_.num_tables; ++t) {
      const HoldemLeafTable& table = leaves_.tables[t];
      for (int player = 0; player < 2; ++player) {
        most_sums = std::max(most_sums, table.num_leaves * table.num_choices[player] * leaves_.num_rows[player]);
        most_rows = std::max(most_rows, table.num_choices[player] * leaves_.num_rows[player]);
      }
    }
    for (Worker& worker : workers_) {
      worker.sums.resize(static_cast<std::size_t>(most_sums));
      worker.rows.resize(static_cast<std::size_t>(most_rows + kRowsAtOnce));
      worker.work.resize(static_cast<std::size_t>(leaves_.num_tables));
      worker.order.resize(static_cast<std::size_t>(leaves_.num_tables));
      worker.takers.resize(static_cast<std::size_t>(leaves_.num_tables));
      worker.load.resize(static_cast<std::size_t>(num_threads));
    }
    for (int player = 0; player < 2; ++player) {
      reach_[player].resize(static_cast<std::size_t>(leaves_.num_choices[player] * leaves_.num_rows[player]));
    }
  }

  // Splits a player's reach of every leaf by what its hands choose there; rows are those of some packs.
  void spread(const HoldemLeafTask& task, int player, std::int64_t first_pack, std::int64_t end_pack,
              const LineRows<const Real>& reach) {
    for_leaves([&](std::int32_t t, std::int32_t leaf) {
      const int num_choices = leaves_.tables[t].num_choices[player];
      const HoldemLeaf& place = leaves_.leaves[leaf];
      for (std::int64_t pack = first_pack; pack < end_pack; ++pack) {
        const auto scale = static_cast<Real>(leaves_.scale[leaf]);
        const Vector arriving = gather_pack([&](int lane) { return reach.at(pack * kPackSize + lane, place.line) * scale; });
        Vector chosen[kMaxChoices];
        choose_strategy(task, player, place, num_choices, pack, chosen);
        Real* const out = reach_[player].data() + place_of(player, place, 0, pack);
        for (int c = 0; c < num_choices; ++c) {
          store_pack<Real>(out + c * leaves_.num_rows[player], arriving * chosen[c]);
        }
      }
    });
  }

  // Writes a player's values of the leaves of one thread's share of the tables; updates take them into the player's
  // choices, `own_reach` being what averages are weighted by. `spread` was called for all rows of the other player before.
  //
  // Tables are dealt, not rows: a thread that reads a part of each row waits for memory where the part ends, and two of
  // them are slower than one. Nor do values then depend on the number of threads.
  void evaluate(const HoldemLeafTask& task, int player, const LineRows<const Real>& own_reach,
                const LineRows<Real>& value, int thread) {
    Worker& worker = workers_[thread];
    deal_tables(player, worker);
    for (std::int32_t t = 0; t < leaves_.num_tables; ++t) {
      if (worker.takers[t] != thread) continue;
      switch (leaves_.entry) {
        case LeafEntry::float32:
          add_rows<float>(t, player, worker);
          break;
        case LeafEntry::float64:
          add_rows<double>(t, player, worker);
          break;
        case LeafEntry::int16:
          add_rows<std::int16_t>(t, player, worker);
          break;
      }
      const HoldemLeafTable& table = leaves_.tables[t];
      const std::int64_t num_rows = leaves_.num_rows[player];
      for (std::int32_t k = 0; k < table.num_leaves; ++k) {
        const Real* const sums = worker.sums.data() + k * table.num_choices[player] * num_rows;
        for (std::int64_t pack = 0; pack < num_rows / kPackSize; ++pack) {
          finish(task, player, table, leaves_.leaves[table.first_leaf + k], pack, sums + pack * kPackSize, own_reach,
                 value);
        }
      }
    }
  }

  static constexpr int kMaxChoices = 16;

 private:
  static constexpr int kRowsAtOnce = 4;

  struct Worker {
    std::vector<Real> sums;          // [leaf, own choice, rows] of one table
    std::vector<std::int32_t> rows;  // of one table that somebody stands at
    std::vector<std::int64_t> work;  // [table] entries to read
    std::vector<std::int32_t> order;   // tables, those with most work first
    std::vector<std::int32_t> takers;  // [table] the thread that evaluates it
    std::vector<std::int64_t> load;    // [thread] entries dealt so far
  };

  const HoldemLeaves leaves_;
  std::vector<Worker> workers_;
  std::vector<Real> reach_[2];  // [choice, row]

  template <typename Find>
  static Vector gather_pack(Find&& find) {
    Real lanes[kPackSize];
    for (int lane = 0; lane < kPackSize; ++lane) lanes[lane] = find(lane);
    return load_pack<Real>(lanes);
  }

  template <typename Work>
  void for_leaves(Work&& work) const {
    for (std::int32_t t = 0; t < leaves_.num_tables; ++t) {
      const HoldemLeafTable& table = leaves_.tables[t];
      for (std::int32_t k = 0; k < table.num_leaves; ++k) work(t, table.first_leaf + k);
    }
  }

  std::int64_t place_of(int player, const HoldemLeaf& leaf, int choice, std::int64_t pack) const {
    return (leaf.first_choice[player] + choice) * leaves_.num_rows[player] + pack * kPackSize;
  }

  void choose_strategy(const HoldemLeafTask& task, int player, const HoldemLeaf& leaf, int num_choices,
                       std::int64_t pack, Vector* chosen) const {
    const double* const sums =
        (task.purpose == LeafPurpose::update ? leaves_.regret_sum : leaves_.strategy_sum)[player] +
        place_of(player, leaf, 0, pack);
    Vector total{};
    for (int c = 0; c < num_choices; ++c) {
      const Vector sum = load_pack<Real>(sums + c * leaves_.num_rows[player]);
      chosen[c] = choose(sum > Real{0}, sum, Vector{});
      total += chosen[c];
    }
    const Vector inverse = Real{1} / total;
    const Vector share = fill_pack(Real{1} / static_cast<Real>(num_choices));
    const auto is_matched = total >= std::numeric_limits<Real>::min();
    for (int c = 0; c < num_choices; ++c) chosen[c] = choose(is_matched, chosen[c] * inverse, share);
  }

  // Deals tables to threads, the largest first to whoever has least; every thread comes to the same result.
  void deal_tables(int player, Worker& worker) const {
    std::iota(worker.order.begin(), worker.order.end(), 0);
    if (workers_.size() == 1) return;  // all are the first thread's
    for (std::int32_t t = 0; t < leaves_.num_tables; ++t) {
      worker.work[t] = list_rows(leaves_.tables[t], 1 - player, worker) * leaves_.tables[t].num_choices[player];
    }
    std::stable_sort(worker.order.begin(), worker.order.end(),
                     [&](std::int32_t a, std::int32_t b) { return worker.work[a] > worker.work[b]; });
    std::fill(worker.load.begin(), worker.load.end(), 0);
    for (const std::int32_t t : worker.order) {
      const auto least = std::min_element(worker.load.begin(), worker.load.end());
      *least += worker.work[t];
      worker.takers[t] = static_cast<std::int32_t>(least - worker.load.begin());
    }
  }

  // Lists the rows of a table that the other player stands at in some leaf; the list goes on with row 0.
  std::int64_t list_rows(const HoldemLeafTable& table, int other, Worker& worker) const {
    const std::int64_t num_rows = table.num_choices[other] * leaves_.num_rows[other];
    std::int64_t count = 0;
    for (std::int64_t row = 0; row < num_rows; ++row) {
      bool is_reached = false;
      for (std::int32_t k = 0; k < table.num_leaves; ++k) is_reached |= reach_at(table, k, other)[row] != Real{0};
      worker.rows[count] = static_cast<std::int32_t>(row);
      count += is_reached;
    }
    std::fill_n(worker.rows.begin() + count, kRowsAtOnce, 0);
    return count;
  }

  const Real* reach_at(const HoldemLeafTable& table, std::int32_t k, int player) const {
    return reach_[player].data() + place_of(player, leaves_.leaves[table.first_leaf + k], 0, 0);
  }

  // Fills `worker.sums` with the values of a table's leaves.
  template <typename Entry>
  void add_rows(std::int32_t t, int player, Worker& worker) const {
    const HoldemLeafTable& table = leaves_.tables[t];
    const int other = 1 - player, num_choices = table.num_choices[player];
    const std::int64_t num_own = leaves_.num_rows[player];
    const Entry* const first = static_cast<const Entry*>(leaves_.entries[player]) + leaves_.first_entry[player][t];
    const double* const unit = leaves_.unit[player] ? leaves_.unit[player] + leaves_.first_unit[player][t] : nullptr;
    std::fill_n(worker.sums.data(), table.num_leaves * num_choices * num_own, Real{0});
    const std::int64_t count = list_rows(table, other, worker);
    for (std::int64_t n = 0; n < count; n += kRowsAtOnce) {
      const std::int32_t* const row = worker.rows.data() + n;
      const Entry* from[kRowsAtOnce];
      for (int i = 0; i < kRowsAtOnce; ++i) from[i] = first + row[i] * num_choices * num_own;
      for (std::int32_t k = 0; k < table.num_leaves; ++k) {
        const Real* const reach = reach_at(table, k, other);
        Real weight[kRowsAtOnce];
        bool is_reached = false;
        for (int i = 0; i < kRowsAtOnce; ++i) {
          weight[i] = n + i < count ? reach[row[i]] : Real{0};
          if (unit) weight[i] *= static_cast<Real>(unit[row[i]]);
          is_reached |= weight[i] != Real{0};
        }
        if (!is_reached) continue;
        Real* const out = worker.sums.data() + k * num_choices * num_own;
        for (std::int64_t at = 0; at < num_choices * num_own; at += kPackSize) {
          Vector sum = load_pack<Real>(out + at);
          for (int i = 0; i < kRowsAtOnce; ++i) sum += load_pack<Real>(from[i] + at) * weight[i];
          store_pack<Real>(out + at, sum);
        }
      }
    }
  }

  // One leaf and pack: from the values of choices, `sums` [choice, row], to the value of the leaf.
  void finish(const HoldemLeafTask& task, int player, const HoldemLeafTable& table, const HoldemLeaf& leaf,
              std::int64_t pack, const Real* sums, const LineRows<const Real>& own_reach,
              const LineRows<Real>& value) const {
    const int num_choices = table.num_choices[player];
    Vector of_choice[kMaxChoices], chosen[kMaxChoices];
    of_choice[0] = load_pack<Real>(sums);  // there is always one, which compilers do not know
    for (int c = 1; c < num_choices; ++c) of_choice[c] = load_pack<Real>(sums + c * leaves_.num_rows[player]);
    Vector result = of_choice[0];
    if (num_choices > 1 && task.purpose == LeafPurpose::best_response) {
      for (int c = 1; c < num_choices; ++c) result = choose(of_choice[c] > result, of_choice[c], result);
    } else if (num_choices > 1) {
      choose_strategy(task, player, leaf, num_choices, pack, chosen);
      result = Vector{};
      for (int c = 0; c < num_choices; ++c) result += chosen[c] * of_choice[c];
      if (task.purpose == LeafPurpose::update) {
        update(task, player, leaf, num_choices, pack, of_choice, chosen, result, own_reach);
      }
    }
    for (int lane = 0; lane < kPackSize; ++lane) value.at(pack * kPackSize + lane, leaf.line) = result[lane];
  }

  void update(const HoldemLeafTask& task, int player, const HoldemLeaf& leaf, int num_choices, std::int64_t pack,
              const Vector* of_choice, const Vector* chosen, const Vector& expected,
              const LineRows<const Real>& own_reach) const {
    const Discount& discount = task.discount;
    const Vector positive = fill_pack(static_cast<Real>(discount.positive));
    const Vector negative = fill_pack(static_cast<Real>(discount.negative));
    const Vector floor = fill_pack(static_cast<Real>(task.rule.floor()));
    const auto average_weight = static_cast<Real>(discount.average_weight);
    const Vector weight =
        gather_pack([&](int lane) { return own_reach.at(pack * kPackSize + lane, leaf.line) * average_weight; });
    for (int c = 0; c < num_choices; ++c) {
      const std::int64_t at = place_of(player, leaf, c, pack);
      const Vector stored = load_pack<Real>(leaves_.regret_sum[player] + at);
      const Vector updated = stored * choose(stored > Real{0}, positive, negative) + (of_choice[c] - expected);
      store_pack<Real>(leaves_.regret_sum[player] + at, choose(updated > floor, updated, floor));
      const Vector average = load_pack<Real>(leaves_.strategy_sum[player] + at);
      store_pack<Real>(leaves_.strategy_sum[player] + at,
                       average * static_cast<Real>(discount.average_decay) + chosen[c] * weight);
    }
  }
};

}  // namespace equipoise
