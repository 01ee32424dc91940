// SPDX-License-Identifier: Apache-2.0
// External-sampling Monte Carlo CFR on betting trees for two to six players, regrets in 32-bit integers.
//
// A block holds the rows of one player in one street's subtree, `[bucket][node][action]`, in lines of 64 bytes of one
// arena, and comes into being when it is first visited: regrets; behind them the average (floats on the streets that are
// walked for it, else 16-bit means of snapshots) and, with regret-based sampling, the visits left out. Threads share the
// arena without locks: the same row may be read and written at once and an update may be lost, so that bits depend on
// the number of threads. One thread gives the same bits from the same words.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "betting_tree.hpp"
#include "blueprint_deals.hpp"
#include "random.hpp"
#include "sampled_pruning.hpp"
#include "threads.hpp"

namespace equipoise {

constexpr std::int64_t kLineCells = 16;  // of 32 bits
constexpr std::int32_t kMaxRegret = 2'000'000'000;

// A betting tree with its tables.
struct BlueprintForm {
  const BettingNode* nodes;
  const std::int32_t* width;      // [slots] cells of a row
  const std::uint8_t* street;     // [slots]
  const std::int32_t* side_pots;  // [rows, players]
  const std::int32_t* rise;       // [nodes] most chips at an end below; null unless sampling is regret-based
  std::int64_t num_nodes, num_slots, num_lines;
  std::uint32_t* base;            // [slots] line of the block, 0: none yet
  std::int32_t* arena;            // [lines * 16]
  std::int64_t* next_line;        // [1] first line that is free, from 1
  int num_players, last_street;
  int walked_streets;             // averages of streets below are walked for
  bool has_snapshots, has_missed;
  std::array<std::array<std::int32_t, kNumStreets>, kMaxBettors> num_buckets;
  std::array<std::int32_t, kMaxBettors> posted;  // chips in the pot before the first action

  int player_of(std::int64_t slot) const { return static_cast<int>(slot % num_players); }
  std::int64_t num_cells(std::int64_t slot) const {
    return std::int64_t{width[slot]} * num_buckets[player_of(slot)][street[slot]];
  }
  bool is_walked(std::int64_t slot) const { return street[slot] < walked_streets; }
  static std::int64_t lines_of(std::int64_t cells, std::int64_t to_a_line) { return (cells + to_a_line - 1) / to_a_line; }
  std::int64_t regret_lines(std::int64_t slot) const { return lines_of(num_cells(slot), kLineCells); }
  std::int64_t average_lines(std::int64_t slot) const {
    if (is_walked(slot)) return regret_lines(slot);
    return has_snapshots ? lines_of(num_cells(slot), 2 * kLineCells) : 0;
  }
  std::int64_t block_lines(std::int64_t slot) const {
    return regret_lines(slot) + average_lines(slot) + (has_missed ? lines_of(num_cells(slot), 2 * kLineCells) : 0);
  }
  std::int32_t* regrets(std::int64_t slot) const { return arena + base[slot] * kLineCells; }
  float* walked(std::int64_t slot) const {
    return reinterpret_cast<float*>(arena + (base[slot] + regret_lines(slot)) * kLineCells);
  }
  std::uint16_t* mean(std::int64_t slot) const {
    return reinterpret_cast<std::uint16_t*>(arena + (base[slot] + regret_lines(slot)) * kLineCells);
  }
  std::uint16_t* missed(std::int64_t slot) const {
    return reinterpret_cast<std::uint16_t*>(arena + (base[slot] + regret_lines(slot) + average_lines(slot)) * kLineCells);
  }
};

struct BlueprintSettings {
  float scale = 1.0F;  // regret of a chip
  std::int32_t floor = -kMaxRegret;
  SkipKind pruning = SkipKind::none;
  std::int32_t threshold = 0;  // regrets below may be left out
  float softness = 1.0F;       // probabilistic
  float probability = 0.0F;    // coin
};

struct BlueprintCounts {
  std::int64_t deals = 0, touched = 0, skipped = 0;
  bool is_full = false;
};

// Writes into `out` `[nodes]` the most chips in the pot at an end below each node; children come after parents.
inline void fill_rises(const BettingNode* nodes, std::int64_t num_nodes, const std::int32_t* side_pots, int num_players,
                       std::int32_t* out) {
  for (std::int64_t node = num_nodes - 1; node >= 0; --node) {
    const BettingNode& own = nodes[node];
    out[node] = 0;
    if (own.ending() == BettingEnd::side_pots) {
      for (int seat = 0; seat < num_players; ++seat) out[node] += side_pots[own.first * num_players + seat];
    } else if (own.ending() != BettingEnd::none) {
      out[node] = own.first;
    } else {
      for (int i = 0; i < own.num_actions(); ++i) out[node] = std::max(out[node], out[own.first + i]);
    }
  }
}

// What a row plays now: in proportion to positive regrets, else all actions alike.
inline void play_row(const std::int32_t* row, int num_actions, float* out) {
  float sum = 0.0F;
  for (int i = 0; i < num_actions; ++i) sum += out[i] = static_cast<float>(std::max(row[i], 0));
  for (int i = 0; i < num_actions; ++i) out[i] = sum > 0.0F ? out[i] / sum : 1.0F / static_cast<float>(num_actions);
}

// One thread's traversals.
template <typename Dealer>
class BlueprintWalker {
 public:
  BlueprintWalker(const BlueprintForm& form, const BlueprintSettings& settings, const typename Dealer::Tables& deals,
                  Random random)
      : form_(form), settings_(settings), dealer_(deals), random_(random) {}

  // One deal: every player traverses, and walks for the average.
  void iterate(bool walks) {
    dealer_.draw(random_, deal_);
    is_pruned_ = draws_pruning();
    for (int player = 0; player < form_.num_players; ++player) {
      me_ = player;
      traverse(0, form_.posted[player]);
      if (walks) walk_average(form_.nodes);
    }
    ++counts.deals;
  }

  const Random& random() const { return random_; }
  BlueprintCounts counts;

 protected:
  bool draws_pruning() {
    return settings_.pruning != SkipKind::none &&
           (settings_.pruning != SkipKind::coin || random_.uniform() < settings_.probability);
  }

  // The block of a slot; 0 where the arena is full.
  std::uint32_t allocate(std::uint32_t slot) {
    const std::int64_t lines = form_.block_lines(slot);
    const std::int64_t at = std::atomic_ref(*form_.next_line).fetch_add(lines, std::memory_order_relaxed);
    if (at + lines > form_.num_lines) {
      std::atomic_ref(*form_.next_line).fetch_sub(lines, std::memory_order_relaxed);
      counts.is_full = true;
      return 0;
    }
    std::uint32_t expected = 0;
    const auto own = static_cast<std::uint32_t>(at);
    return std::atomic_ref(form_.base[slot]).compare_exchange_strong(expected, own) ? own : expected;
  }

  std::uint32_t base_of(std::uint32_t slot) const {
    return std::atomic_ref(form_.base[slot]).load(std::memory_order_relaxed);
  }

  std::int64_t place_of(const BettingNode& node) const {
    return std::int64_t{deal_.bucket[node.player()][node.street()]} * form_.width[node.slot] + node.offset;
  }

  std::int32_t* row_of(const BettingNode& node, std::uint32_t base) const {
    return form_.arena + base * kLineCells + place_of(node);
  }

  // Chips that the traverser, who is still in, wins or loses.
  float payoff(const BettingNode& end, std::int32_t mine) const {
    return end_payoff(end, form_.side_pots, form_.num_players, deal_, me_, mine);
  }

  void prefetch_children(const BettingNode& node, const BettingNode* children) const {
    for (int i = node.has_fold() ? 1 : 0; i < node.num_actions(); ++i) {
      const BettingNode& child = children[i];
      if (child.ending() != BettingEnd::none) continue;
      __builtin_prefetch(form_.nodes + child.first);
      const std::uint32_t base = base_of(child.slot);
      if (base != 0) __builtin_prefetch(row_of(child, base));
    }
  }

  float traverse(std::int64_t at, std::int32_t mine) {
    const BettingNode* node = form_.nodes + at;
    while (true) {  // the others' moves
      ++counts.touched;
      if (node->ending() != BettingEnd::none) return payoff(*node, mine);
      if (node->player() == me_) break;
      node = form_.nodes + node->first + sample(*node);
    }
    const int num_actions = node->num_actions();
    const BettingNode* children = form_.nodes + node->first;
    std::uint32_t base = base_of(node->slot);
    if (base == 0) [[unlikely]] base = allocate(node->slot);
    std::int32_t nothing[kMostActions + 1] = {};  // where the arena is full
    std::int32_t* row = base != 0 ? row_of(*node, base) : nothing;
    __builtin_prefetch(row);
    prefetch_children(*node, children);
    float share[kMostActions + 1], value[kMostActions + 1], sum = 0.0F;
    for (int i = 0; i < num_actions; ++i) {
      share[i] = static_cast<float>(std::max(row[i], 0));
      sum += share[i];
    }
    const std::uint32_t skipped = is_pruned_ && base != 0 ? choose_skipped(*node, children, row, base) : 0;
    const int num_left = num_actions - std::popcount(skipped);
    const float factor = sum > 0.0F ? 1.0F / sum : 0.0F;
    const float uniform = sum > 0.0F ? 0.0F : 1.0F / static_cast<float>(num_left);
    float mean = 0.0F;
    for (int i = 0; i < num_actions; ++i) {
      if ((skipped >> i & 1U) != 0) continue;
      const bool is_fold = i == 0 && node->has_fold();
      value[i] = is_fold ? static_cast<float>(-mine) : traverse(children + i - form_.nodes, children[i].amount());
      counts.touched += is_fold;
      mean += (share[i] * factor + uniform) * value[i];
    }
    counts.skipped += std::popcount(skipped);
    for (int i = 0; i < num_actions; ++i) {
      if ((skipped >> i & 1U) == 0) add_regret(row[i], value[i] - mean);
    }
    return mean;
  }

  void add_regret(std::int32_t& cell, float chips) const {
    const std::int64_t regret = std::int64_t{cell} + std::lrintf(chips * settings_.scale);
    cell = static_cast<std::int32_t>(std::clamp<std::int64_t>(regret, settings_.floor, kMaxRegret));
  }

  // Actions that this visit leaves out, as bits; never all of them.
  std::uint32_t choose_skipped(const BettingNode& node, const BettingNode* children, const std::int32_t* row,
                               std::uint32_t base) {
    const int num_actions = node.num_actions();
    std::uint32_t skipped = 0;
    const bool is_coin = settings_.pruning == SkipKind::coin;
    if (is_coin && node.street() == form_.last_street) return 0;
    for (int i = node.has_fold() ? 1 : 0; i < num_actions; ++i) {
      if (row[i] >= settings_.threshold) continue;
      if (is_coin ? children[i].ending() == BettingEnd::none : is_left_out(node, children, row, i, base)) skipped |= 1U << i;
    }
    return skipped == (1U << num_actions) - 1 ? 0 : skipped;
  }

  bool is_left_out(const BettingNode& node, const BettingNode* children, const std::int32_t* row, int action,
                   std::uint32_t base) {
    const float regret = static_cast<float>(row[action]), threshold = static_cast<float>(settings_.threshold);
    if (settings_.pruning == SkipKind::probabilistic) {
      return random_.uniform() >= settings_.softness / (settings_.softness + threshold - regret);
    }
    std::uint16_t& visits = reinterpret_cast<std::uint16_t*>(
        form_.arena + (base + form_.regret_lines(node.slot) + form_.average_lines(node.slot)) * kLineCells)[place_of(node) + action];
    const std::int64_t below = children + action - form_.nodes;
    const float most = static_cast<float>(form_.rise[below] + form_.rise[&node - form_.nodes]) * settings_.scale;
    if (regret + static_cast<float>(visits + 1) * most <= threshold && visits < 0xFFFF) {
      ++visits;
      return true;
    }
    visits = 0;
    return false;
  }

  int sample(const BettingNode& node) {
    const int num_actions = node.num_actions();
    const std::uint32_t base = base_of(node.slot);
    if (base == 0) return static_cast<int>(draw_below(random_, static_cast<std::uint32_t>(num_actions)));
    const std::int32_t* row = row_of(node, base);
    float share[kMostActions + 1], sum = 0.0F;
    for (int i = 0; i < num_actions; ++i) {
      share[i] = static_cast<float>(std::max(row[i], 0));
      sum += share[i];
    }
    if (sum <= 0.0F) return static_cast<int>(draw_below(random_, static_cast<std::uint32_t>(num_actions)));
    float left = static_cast<float>(random_.next() >> 40) * 0x1p-24F * sum;
    int action = 0;
    while (action < num_actions - 1 && left >= share[action]) left -= share[action++];
    return action;
  }

  // Own actions by the strategy, the others' all alike: an information set of the player is come to in proportion to the
  // player's own reach and to nothing else that changes, whatever the number of players. Adds the strategy to the average.
  // Ends where averages are not walked for any more, or nothing is to be learnt: null.
  const BettingNode* walk_average(const BettingNode* node) {
    while (node->ending() == BettingEnd::none && node->street() < form_.walked_streets) {
      int action = 0;
      if (node->player() != me_) {
        action = static_cast<int>(draw_below(random_, static_cast<std::uint32_t>(node->num_actions())));
      } else {
        const std::uint32_t base = base_of(node->slot);
        if (base == 0) return nullptr;
        const std::int32_t* row = row_of(*node, base);
        float sum = 0.0F;
        for (int i = 0; i < node->num_actions(); ++i) sum += static_cast<float>(std::max(row[i], 0));
        float* average = form_.walked(node->slot) + place_of(*node);
        for (int i = 0; i < node->num_actions(); ++i) {
          const float share = static_cast<float>(std::max(row[i], 0));
          average[i] += sum > 0.0F ? share / sum : 1.0F / static_cast<float>(node->num_actions());
        }
        action = sample(*node);
        if (action == 0 && node->has_fold()) return nullptr;
      }
      node = form_.nodes + node->first + action;
    }
    return node;
  }

  const BlueprintForm& form_;
  const BlueprintSettings& settings_;
  Dealer dealer_;
  Random random_;
  BucketDeal deal_{};
  int me_ = 0;
  bool is_pruned_ = false;
};

// Draws so many deals on each thread, whose generators are `words` `[threads, 4]`; walks for the average every so many
// deals (0: never). Stops early when the arena is full.
template <typename Dealer>
BlueprintCounts train_blueprint(const BlueprintForm& form, const BlueprintSettings& settings,
                                const typename Dealer::Tables& deals, std::uint64_t* words, int num_threads,
                                std::int64_t num_deals, std::int64_t walk_every) {
  std::vector<BlueprintCounts> counts(static_cast<std::size_t>(num_threads));
  run_team(num_threads, [&](int thread) {
    std::uint64_t* const own = words + 4 * thread;
    BlueprintWalker<Dealer> walker(form, settings, deals, Random{{own[0], own[1], own[2], own[3]}});
    for (std::int64_t deal = 0; deal < num_deals && !walker.counts.is_full; ++deal) {
      walker.iterate(walk_every != 0 && deal % walk_every == 0);
    }
    std::copy_n(walker.random().state, 4, own);
    counts[static_cast<std::size_t>(thread)] = walker.counts;
  });
  BlueprintCounts all;
  for (const BlueprintCounts& one : counts) {
    all.deals += one.deals;
    all.touched += one.touched;
    all.skipped += one.skipped;
    all.is_full |= one.is_full;
  }
  return all;
}

// Calls `work(slot)` for every block, on a team; what blocks hold does not depend on its size.
template <typename Work>
void for_each_block(const BlueprintForm& form, int num_threads, Work&& work) {
  std::atomic<std::int64_t> next{0};
  constexpr std::int64_t step = 256;
  run_team(num_threads, [&](int) {
    for (std::int64_t first = next.fetch_add(step); first < form.num_slots; first = next.fetch_add(step)) {
      for (std::int64_t slot = first; slot < std::min(first + step, form.num_slots); ++slot) {
        if (form.base[slot] != 0) work(slot);
      }
    }
  });
}

// Multiplies regrets and averages that are walked for by a factor, regrets rounded to whole numbers.
inline void discount_blueprint(const BlueprintForm& form, double factor, int num_threads) {
  for_each_block(form, num_threads, [&](std::int64_t slot) {
    const std::int64_t size = form.num_cells(slot);
    std::int32_t* regrets = form.regrets(slot);
    for (std::int64_t i = 0; i < size; ++i) regrets[i] = static_cast<std::int32_t>(std::nearbyint(regrets[i] * factor));
    if (!form.is_walked(slot)) return;
    float* average = form.walked(slot);
    for (std::int64_t i = 0; i < size; ++i) average[i] = static_cast<float>(average[i] * factor);
  });
}

// Calls `work(node, first cell of a bucket's row)` for every bucket of every decision that has a block.
template <typename Work>
void for_each_row(const BlueprintForm& form, int num_threads, Work&& work) {
  std::atomic<std::int64_t> next{0};
  constexpr std::int64_t step = 4096;
  run_team(num_threads, [&](int) {
    for (std::int64_t first = next.fetch_add(step); first < form.num_nodes; first = next.fetch_add(step)) {
      for (std::int64_t at = first; at < std::min(first + step, form.num_nodes); ++at) {
        const BettingNode& node = form.nodes[at];
        if (node.ending() != BettingEnd::none || form.base[node.slot] == 0) continue;
        const std::int32_t num_buckets = form.num_buckets[node.player()][node.street()];
        for (std::int64_t bucket = 0; bucket < num_buckets; ++bucket) {
          work(node, bucket * form.width[node.slot] + node.offset);
        }
      }
    }
  });
}

// Moves the means of streets that are not walked for towards what is played now, by a share in (0, 1].
inline void snapshot_blueprint(const BlueprintForm& form, float share, int num_threads) {
  for_each_row(form, num_threads, [&](const BettingNode& node, std::int64_t place) {
    if (form.is_walked(node.slot)) return;
    float played[kMostActions + 1];
    play_row(form.regrets(node.slot) + place, node.num_actions(), played);
    std::uint16_t* mean = form.mean(node.slot) + place;
    for (int i = 0; i < node.num_actions(); ++i) {
      const float moved = static_cast<float>(mean[i]) + (played[i] * 65535.0F - static_cast<float>(mean[i])) * share;
      mean[i] = static_cast<std::uint16_t>(std::lrintf(moved));
    }
  });
}

// Probabilities in parts of 255 of every row that has a block: the average where there is one, else what is played now. `start`
// `[slots]` is where a slot's block begins in `out`, below 0 where it has none. Shares of a row sum to 255.
inline void pack_blueprint(const BlueprintForm& form, bool has_average, const std::int64_t* start, int num_threads,
                           std::uint8_t* out) {
  for_each_row(form, num_threads, [&](const BettingNode& node, std::int64_t place) {
    const int num_actions = node.num_actions();
    float played[kMostActions + 1], sum = 0.0F;
    for (int i = 0; i < num_actions; ++i) {
      played[i] = 0.0F;
      if (form.is_walked(node.slot)) played[i] = form.walked(node.slot)[place + i];
      if (!form.is_walked(node.slot) && has_average) played[i] = form.mean(node.slot)[place + i];
      sum += played[i];
    }
    if (sum <= 0.0F) {
      play_row(form.regrets(node.slot) + place, num_actions, played);
      sum = 1.0F;
    }
    std::uint8_t* row = out + start[node.slot] + place;
    float run = 0.0F;
    int given = 0;
    for (int i = 0; i < num_actions; ++i) {  // shares of the running sum: whatever is rounded, all of it is given
      run += played[i];
      const int until = i == num_actions - 1 ? 255 : std::min(255, static_cast<int>(std::lrintf(run / sum * 255.0F)));
      row[i] = static_cast<std::uint8_t>(std::max(until - given, 0));
      given = std::max(given, until);
    }
  });
}

}  // namespace equipoise
