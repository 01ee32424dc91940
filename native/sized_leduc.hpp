// SPDX-License-Identifier: Apache-2.0
// Leduc hold'em in which any share of the pot may be bet, and an abstraction of it that grows while it is solved.
//
// Three ranks twice, hands as vectors of three; nodes are public, an abstraction offers some sizes at each of them. What a
// bet is worth is kept in two parts: what an immediate fold wins, whatever the size, and the rest, in proportion to the
// stake that the bet makes. From them follow the regrets of sizes that the abstraction lacks.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace equipoise {

inline constexpr int leduc_ranks = 3;
using Hands = std::array<double, leduc_ranks>;

enum class SizedKind : std::int8_t { decision, fold, showdown, chance, unused };

// Who answers a bet between two sizes how: by the randomised pseudo-harmonic mapping, or the nearer by its midpoint.
enum class Translation : int { none, randomized, rounded };

struct SizedNode {
  SizedKind kind = SizedKind::unused;
  std::int8_t player = 0;  // who acts, or who folded
  std::int8_t round = 0;
  std::int8_t board = -1;
  std::int8_t num_raises = 0;
  bool is_facing = false;   // a bet is to be called
  bool is_seeded = false;   // plays its average while it has no regrets at all
  double stake = 0.0;       // that the other one has put in, or that is won
  double called = 0.0;      // what both have in once a bet is called
  std::vector<double> size;         // by action: -1 fold, 0 check or call, else the share of the pot
  std::vector<std::int32_t> child;  // by action, or by board
  std::vector<Hands> fold_sum;      // by action: what an immediate fold won, or all of what is no bet
  std::vector<Hands> rest_sum;      // by action: what else a bet was worth
  std::vector<Hands> strategy_sum;  // by action
  Hands value_sum{};                // of the actor
  Hands reach_sum{};                // of the other one
  double waits_until = 0.0;         // iterations run before sizes here are considered again
};

// How actions are added.
struct GrowthSettings {
  double threshold = 1.01;    // by how much a size must be worth its nodes
  bool transfers = false;     // replay the nearest size's subgame in place of a recovery game
  bool is_linear = false;     // later rounds of a recovery game weigh more
  int least_rounds = 50;      // of a recovery game
  int most_rounds = 800;      // four times as many are played while the addition would cost more than `fair_weight`
  double fair_weight = 0.97;  // of what was done before
  double most_given = 0.5;    // of the iterations run that discounts may take back; what would take more waits
  bool by_slope = true;       // the size that lets regrets fall fastest comes first, else that worth most a node
  double least_weight = 0.0;  // additions that would leave less are put off until half as many iterations again are done
};

struct SizedAddition {
  std::int32_t node;
  double size;
  std::int32_t num_nodes;
  double weight;  // by which everything so far was multiplied
};

inline double find_share(double low, double high, double size, Translation translation) {
  if (translation == Translation::rounded) return size < (low + high + 2 * low * high) / (low + high + 2) ? 1.0 : 0.0;
  return (high - size) * (1.0 + low) / ((high - low) * (1.0 + size));
}

inline bool is_zero(const Hands& hands) { return hands[0] == 0.0 && hands[1] == 0.0 && hands[2] == 0.0; }

class SizedLeduc {
 public:
  SizedLeduc(std::vector<double> menu, double ante, bool skips_unreached)
      : menu_(std::move(menu)), skips_unreached_(skips_unreached) {
    for (int own = 0; own < leduc_ranks; ++own) {
      for (int other = 0; other < leduc_ranks; ++other) {
        const double deal = (own == other ? 1.0 : 2.0) / 15.0;
        joint_[0][own][other] = deal;
        for (int board = 0; board < leduc_ranks; ++board) {
          joint_[1 + board][own][other] = deal * (2 - (board == own) - (board == other)) / 4.0;
        }
      }
    }
    root_ = build_decision(0, 0, -1, 0, false, ante, ante, menu_, false);
  }

  // One iteration updates the first player, then the second.
  void iterate(std::int64_t num_iterations) {
    for (std::int64_t t = 0; t < num_iterations; ++t) {
      for (int player = 0; player < 2; ++player) walk(root_, player, {1, 1, 1}, {1, 1, 1});
      iterations_ += 1.0;
      run_ += 1.0;
      saved_ += 1.0;
    }
  }

  double iterations() const { return iterations_; }
  std::int64_t touched() const { return touched_; }
  std::int64_t num_nodes() const { return num_nodes_; }
  const std::vector<SizedNode>& nodes() const { return nodes_; }
  std::int32_t root() const { return root_; }

  std::int64_t num_infosets() const {
    std::int64_t count = 0;
    for (const SizedNode& node : nodes_) count += node.kind == SizedKind::decision ? leduc_ranks : 0;
    return count;
  }

  std::int64_t num_bytes() const {
    std::int64_t bytes = 0;
    for (const SizedNode& node : nodes_) {
      if (node.kind == SizedKind::unused) continue;
      bytes += static_cast<std::int64_t>(sizeof(SizedNode) + node.size.size() * (sizeof(double) + 3 * sizeof(Hands)) +
                                         node.child.size() * sizeof(std::int32_t));
    }
    return bytes;
  }

  // The value of a best response to the other's average strategy; any size may be bet unless there is no translation.
  double respond(int player, Translation translation) const {
    const Hands value = respond_at(root_, player, {1, 1, 1}, translation, translation != Translation::none).total;
    return value[0] + value[1] + value[2];
  }

  // Multiplies everything so far.
  void discount(double weight) {
    for (SizedNode& node : nodes_) {
      for (auto* table : {&node.fold_sum, &node.rest_sum, &node.strategy_sum}) {
        for (Hands& hands : *table) scale(hands, weight);
      }
      scale(node.value_sum, weight);
      scale(node.reach_sum, weight);
    }
    iterations_ *= weight;
  }

  // Adds sizes wherever that is worth its nodes, the best first; see `consider`.
  std::vector<SizedAddition> grow(const GrowthSettings& settings, int most_additions) {
    std::vector<SizedAddition> added;
    for (int tried = 0; tried < most_additions; ++tried) {
      const Candidate best = consider(settings.threshold, settings.by_slope);
      if (best.node < 0) break;
      const SizedAddition one = add(best.node, best.size, settings);
      if (one.num_nodes > 0) added.push_back(one);
    }
    return added;
  }

  // Adds one size at a node, whatever it is worth; no nodes come if it was put off.
  SizedAddition add(std::int32_t node, double size, const GrowthSettings& settings) {
    return settings.transfers ? add_by_transfer(node, size, settings) : add_by_recovery(node, size, settings);
  }

  // Removes sizes (but the menu's ends) that the average plays with less than limit / sqrt(T) and that no best response
  // below would have made worth while; their memory is given back. Returns how many.
  int remove(double limit) {
    int count = 0;
    const double least = limit / std::sqrt(std::max(iterations_, 1.0));
    for (std::size_t index = 0; index < nodes_.size(); ++index) {
      for (std::size_t a = 0; nodes_[index].kind == SizedKind::decision && a < nodes_[index].size.size();) {
        if (is_removable(static_cast<std::int32_t>(index), a, least)) {
          erase_action(static_cast<std::int32_t>(index), a);
          ++count;
        } else {
          ++a;
        }
      }
    }
    return count;
  }

  // What the regret of betting a size was, [3] by hand: of sizes between two of the abstraction a mixture.
  Hands regret_of_size(const SizedNode& node, std::size_t low, double size) const {
    const std::size_t high = low + 1;
    const double share = find_share(node.size[low], node.size[high], size, Translation::randomized);
    const double below = (1 + 2 * size) / (1 + 2 * node.size[low]);
    const double above = (1 + 2 * size) / (1 + 2 * node.size[high]);
    Hands found;
    for (int h = 0; h < leduc_ranks; ++h) {
      found[h] = share * (node.fold_sum[low][h] + below * node.rest_sum[low][h]) +
                 (1 - share) * (node.fold_sum[high][h] + above * node.rest_sum[high][h]) - node.value_sum[h];
    }
    return found;
  }

 private:
  struct Walked {
    Hands total{};
    Hands fold{};  // of it, what an immediate fold wins
  };
  struct Candidate {
    std::int32_t node = -1;
    double size = 0.0;
    double merit = 0.0;
  };
  using Play = std::vector<Hands>;  // by action

  static constexpr int grid_ = 16;        // sizes looked at between two of the abstraction when it may grow
  static constexpr int fine_grid_ = 64;   // and in best responses

  static void scale(Hands& hands, double factor) {
    for (double& value : hands) value *= factor;
  }

  std::int32_t allocate() {
    ++num_nodes_;
    if (!unused_.empty()) {
      const std::int32_t index = unused_.back();
      unused_.pop_back();
      nodes_[index] = SizedNode{};
      return index;
    }
    nodes_.emplace_back();
    return static_cast<std::int32_t>(nodes_.size()) - 1;
  }

  void free_subtree(std::int32_t index) {
    for (const std::int32_t child : nodes_[index].child) free_subtree(child);
    nodes_[index] = SizedNode{};
    unused_.push_back(index);
    --num_nodes_;
  }

  // `stake` is what the actor has put in, `called` what it has once it called.
  std::int32_t build_decision(int player, int round, int board, int num_raises, bool has_checked, double stake,
                              double called, const std::vector<double>& menu, bool is_seeded) {
    const std::int32_t index = allocate();
    const bool is_facing = called > stake;
    std::vector<double> size;
    std::vector<std::int32_t> child;
    if (is_facing) {
      size.push_back(-1.0);
      const std::int32_t end = allocate();
      nodes_[end].kind = SizedKind::fold;
      nodes_[end].player = static_cast<std::int8_t>(player);
      nodes_[end].board = static_cast<std::int8_t>(board);
      nodes_[end].stake = stake;
      child.push_back(end);
    }
    size.push_back(0.0);
    child.push_back(is_facing || has_checked
                        ? build_closing(round, board, called, menu, is_seeded)
                        : build_decision(1 - player, round, board, num_raises, true, stake, called, menu, is_seeded));
    if (num_raises < 2) {
      for (const double share : menu) {
        size.push_back(share);
        child.push_back(build_decision(1 - player, round, board, num_raises + 1, false, called, called * (1 + 2 * share),
                                       menu, is_seeded));
      }
    }
    SizedNode& node = nodes_[index];
    node.kind = SizedKind::decision;
    node.player = static_cast<std::int8_t>(player);
    node.round = static_cast<std::int8_t>(round);
    node.board = static_cast<std::int8_t>(board);
    node.num_raises = static_cast<std::int8_t>(num_raises);
    node.is_facing = is_facing;
    node.is_seeded = is_seeded;
    node.stake = stake;
    node.called = called;
    node.fold_sum.assign(size.size(), Hands{});
    node.rest_sum.assign(size.size(), Hands{});
    node.strategy_sum.assign(size.size(), Hands{});
    node.size = std::move(size);
    node.child = std::move(child);
    return index;
  }

  std::int32_t build_closing(int round, int board, double called, const std::vector<double>& menu, bool is_seeded) {
    const std::int32_t index = allocate();
    nodes_[index].board = static_cast<std::int8_t>(board);
    nodes_[index].stake = called;
    if (round == 1) {
      nodes_[index].kind = SizedKind::showdown;
      return index;
    }
    std::vector<std::int32_t> child;
    for (int next = 0; next < leduc_ranks; ++next) {
      child.push_back(build_decision(0, 1, next, 0, false, called, called, menu, is_seeded));
    }
    nodes_[index].kind = SizedKind::chance;
    nodes_[index].child = std::move(child);
    return index;
  }

  const std::array<Hands, leduc_ranks>& joint(int board) const { return joint_[1 + board]; }

  // Values at an end of the hand, for each hand of the player, against the other's reach.
  Hands end_values(const SizedNode& node, int player, const Hands& other) const {
    const auto& deal = joint(node.board);
    Hands value{};
    if (node.kind == SizedKind::fold) {
      const double won = node.player == player ? -node.stake : node.stake;
      for (int h = 0; h < leduc_ranks; ++h) {
        double mass = 0.0;
        for (int o = 0; o < leduc_ranks; ++o) mass += deal[h][o] * other[o];
        value[h] = won * mass;
      }
      return value;
    }
    for (int h = 0; h < leduc_ranks; ++h) {
      const int strength = h == node.board ? leduc_ranks : h;
      double mass = 0.0;
      for (int o = 0; o < leduc_ranks; ++o) {
        const int theirs = o == node.board ? leduc_ranks : o;
        mass += deal[h][o] * other[o] * ((strength > theirs) - (strength < theirs));
      }
      value[h] = node.stake * mass;
    }
    return value;
  }

  static double regret(const SizedNode& node, std::size_t action, int hand) {
    return node.fold_sum[action][hand] + node.rest_sum[action][hand] - node.value_sum[hand];
  }

  // Regret matching; without any regrets what is seeded plays its average.
  static void form_play(const SizedNode& node, Play& play) {
    const std::size_t num_actions = node.size.size();
    play.assign(num_actions, Hands{});
    for (int h = 0; h < leduc_ranks; ++h) {
      double total = 0.0;
      bool has_regrets = false;
      for (std::size_t a = 0; a < num_actions; ++a) {
        const double value = regret(node, a, h);
        has_regrets = has_regrets || value != 0.0;
        play[a][h] = value > 0.0 ? value : 0.0;
        total += play[a][h];
      }
      if (total > 0.0) {
        for (std::size_t a = 0; a < num_actions; ++a) play[a][h] /= total;
      } else if (node.is_seeded && !has_regrets) {
        average_hand(node, h, play);
      } else {
        for (std::size_t a = 0; a < num_actions; ++a) play[a][h] = 1.0 / static_cast<double>(num_actions);
      }
    }
  }

  static void average_hand(const SizedNode& node, int h, Play& play) {
    double total = 0.0;
    for (const Hands& sum : node.strategy_sum) total += sum[h];
    for (std::size_t a = 0; a < node.size.size(); ++a) {
      play[a][h] = total > 0.0 ? node.strategy_sum[a][h] / total : 1.0 / static_cast<double>(node.size.size());
    }
  }

  static Hands times(const Hands& reach, const Hands& play) {
    return {reach[0] * play[0], reach[1] * play[1], reach[2] * play[2]};
  }

  static void add_to(Hands& sum, const Hands& value) {
    for (int h = 0; h < leduc_ranks; ++h) sum[h] += value[h];
  }

  // Updates the player below a node and returns its counterfactual values.
  Walked walk(std::int32_t index, int player, const Hands& own, const Hands& other) {
    Walked out;
    if (skips_unreached_ && is_zero(own) && is_zero(other)) return out;
    ++touched_;
    SizedNode& node = nodes_[index];
    if (node.kind == SizedKind::fold || node.kind == SizedKind::showdown) {
      out.total = end_values(node, player, other);
      return out;
    }
    if (node.kind == SizedKind::chance) {
      for (const std::int32_t child : node.child) add_to(out.total, walk(child, player, own, other).total);
      return out;
    }
    const std::size_t num_actions = node.size.size();
    Play play;
    form_play(node, play);
    if (node.player != player) {
      for (std::size_t a = 0; a < num_actions; ++a) {
        const Walked below = walk(node.child[a], player, own, times(other, play[a]));
        add_to(out.total, below.total);
        if (node.size[a] < 0.0) out.fold = below.total;
      }
      return out;
    }
    std::vector<Walked> found(num_actions);
    for (std::size_t a = 0; a < num_actions; ++a) {
      found[a] = walk(node.child[a], player, times(own, play[a]), other);
      for (int h = 0; h < leduc_ranks; ++h) out.total[h] += play[a][h] * found[a].total[h];
    }
    for (std::size_t a = 0; a < num_actions; ++a) {
      const bool is_bet = node.size[a] > 0.0;
      for (int h = 0; h < leduc_ranks; ++h) {
        const double fold = is_bet ? found[a].fold[h] : found[a].total[h];
        node.fold_sum[a][h] += fold;
        node.rest_sum[a][h] += is_bet ? found[a].total[h] - fold : 0.0;
        node.strategy_sum[a][h] += own[h] * play[a][h];
      }
    }
    add_to(node.value_sum, out.total);
    add_to(node.reach_sum, other);
    return out;
  }

  Walked respond_at(std::int32_t index, int player, const Hands& other, Translation translation, bool is_free) const {
    Walked out;
    const SizedNode& node = nodes_[index];
    if (node.kind == SizedKind::fold || node.kind == SizedKind::showdown) {
      out.total = end_values(node, player, other);
      return out;
    }
    if (node.kind == SizedKind::chance) {
      for (const std::int32_t child : node.child) {
        add_to(out.total, respond_at(child, player, other, translation, is_free).total);
      }
      return out;
    }
    const std::size_t num_actions = node.size.size();
    if (node.player != player) {
      Play play(num_actions, Hands{});
      for (int h = 0; h < leduc_ranks; ++h) average_hand(node, h, play);
      for (std::size_t a = 0; a < num_actions; ++a) {
        const Walked below = respond_at(node.child[a], player, times(other, play[a]), translation, is_free);
        add_to(out.total, below.total);
        if (node.size[a] < 0.0) out.fold = below.total;
      }
      return out;
    }
    std::vector<Walked> found(num_actions);
    out.total.fill(-INFINITY);
    for (std::size_t a = 0; a < num_actions; ++a) {
      found[a] = respond_at(node.child[a], player, other, translation, is_free);
      for (int h = 0; h < leduc_ranks; ++h) out.total[h] = std::max(out.total[h], found[a].total[h]);
    }
    if (!is_free) return out;
    for (std::size_t a = 0; a + 1 < num_actions; ++a) {
      if (node.size[a] <= 0.0) continue;
      const double low = node.size[a], high = node.size[a + 1];
      for (int k = 1; k < fine_grid_; ++k) {
        const double size = low + (high - low) * k / fine_grid_;
        const double share = find_share(low, high, size, translation);
        const double below = (1 + 2 * size) / (1 + 2 * low), above = (1 + 2 * size) / (1 + 2 * high);
        for (int h = 0; h < leduc_ranks; ++h) {
          const double value =
              share * (found[a].fold[h] + below * (found[a].total[h] - found[a].fold[h])) +
              (1 - share) * (found[a + 1].fold[h] + above * (found[a + 1].total[h] - found[a + 1].fold[h]));
          out.total[h] = std::max(out.total[h], value);
        }
      }
    }
    return out;
  }

  // Nodes below a new bet after which a round has so many raises, with the ends of the menu everywhere.
  std::int32_t count_below(int round, int num_raises) const {
    const auto closing = [&]() -> std::int32_t {
      return round == 1 ? 1 : 1 + leduc_ranks * count_open(1);
    };
    return 2 + closing() + (num_raises < 2 ? 2 * count_below(round, num_raises + 1) : 0);
  }

  std::int32_t count_open(int round) const {
    const std::int32_t closing = round == 1 ? 1 : 1 + leduc_ranks * count_open(1);
    const std::int32_t bets = 2 * count_below(round, 1);
    return 1 + bets + 1 + closing + bets;
  }

  static double largest_regret(const SizedNode& node, int hand) {
    double largest = 0.0;
    for (std::size_t a = 0; a < node.size.size(); ++a) largest = std::max(largest, regret(node, a, hand));
    return largest;
  }

  // The best of the sizes whose addition makes the sum of average regrets fall faster a node ([B20] Proposition 2).
  Candidate consider(double threshold, bool by_slope) {
    std::array<double, 2> sum{};
    for (const SizedNode& node : nodes_) {
      if (node.kind != SizedKind::decision) continue;
      ++touched_;
      for (int h = 0; h < leduc_ranks; ++h) sum[node.player] += largest_regret(node, h);
    }
    const double size_now = static_cast<double>(num_nodes_);
    Candidate best;
    for (std::size_t index = 0; index < nodes_.size(); ++index) {
      const SizedNode& node = nodes_[index];
      if (node.kind != SizedKind::decision || node.num_raises >= 2 || run_ < node.waits_until) continue;
      const double cost = count_below(node.round, node.num_raises + 1);
      for (std::size_t a = 0; a + 1 < node.size.size(); ++a) {
        if (node.size[a] <= 0.0) continue;
        for (int k = 1; k < grid_; ++k) {
          const double size = node.size[a] + (node.size[a + 1] - node.size[a]) * k / grid_;
          double benefit = 0.0;
          for (const double value : regret_of_size(node, a, size)) benefit += std::max(value, 0.0);
          benefit *= 2.0 - 1.0 / std::max(iterations_, 1.0);
          const double before = sum[node.player];
          const double slope = (before + benefit) / (size_now + cost);
          if (!(threshold * before / size_now < slope)) continue;
          const double merit = by_slope ? slope * size_now / before : benefit / cost;
          if (merit > best.merit) best = {static_cast<std::int32_t>(index), size, merit};
        }
      }
    }
    return best;
  }

  double potential(int player) const {
    double sum = 0.0;
    for (const SizedNode& node : nodes_) {
      if (node.kind != SizedKind::decision || node.player != player) continue;
      for (std::size_t a = 0; a < node.size.size(); ++a) {
        for (int h = 0; h < leduc_ranks; ++h) {
          const double value = std::max(regret(node, a, h), 0.0);
          sum += value * value;
        }
      }
    }
    return sum;
  }

  // Puts an action in its place among a node's sizes.
  void insert_action(std::int32_t index, double size, std::int32_t child, const Hands& fold, const Hands& rest) {
    SizedNode& node = nodes_[index];
    const auto place = std::upper_bound(node.size.begin(), node.size.end(), size) - node.size.begin();
    node.size.insert(node.size.begin() + place, size);
    node.child.insert(node.child.begin() + place, child);
    node.fold_sum.insert(node.fold_sum.begin() + place, fold);
    node.rest_sum.insert(node.rest_sum.begin() + place, rest);
    node.strategy_sum.insert(node.strategy_sum.begin() + place, Hands{});
  }

  // The ratio of potentials, (4.78): only the new action's regrets are in one and not in the other.
  double find_weight(std::int32_t index, double before, const Hands& fold, const Hands& rest) const {
    double excess = 0.0;
    for (int h = 0; h < leduc_ranks; ++h) {
      const double value = std::max(fold[h] + rest[h] - nodes_[index].value_sum[h], 0.0);
      excess += value * value;
    }
    return excess > 0.0 ? before / (before + excess) : 1.0;
  }

  // Takes a new subgame in, or gives it up where it would cost too much of what was done.
  SizedAddition settle_addition(std::int32_t index, double size, std::int32_t child, const Hands& fold, const Hands& rest,
                                double weight, std::int64_t num_before, const GrowthSettings& settings) {
    const double cost = (1.0 - weight) * iterations_;
    if (weight < settings.least_weight || cost > settings.most_given * saved_) {
      free_subtree(child);
      nodes_[index].waits_until = 1.25 * run_;
      return {index, size, 0, 1.0};
    }
    if (settings.most_given > 0.0) saved_ -= std::isfinite(settings.most_given) ? cost / settings.most_given : 0.0;
    settle_subgame(child, nodes_[index].player);
    insert_action(index, size, child, fold, rest);
    if (weight < 1.0) discount(weight);
    return {index, size, static_cast<std::int32_t>(num_nodes_ - num_before), weight};
  }

  // Keeps of a new subgame what its identity with play that never entered it allows.
  void settle_subgame(std::int32_t index, int player) {
    SizedNode& node = nodes_[index];
    for (const std::int32_t child : node.child) settle_subgame(child, player);
    if (node.kind != SizedKind::decision) return;
    if (node.player == player) {
      for (Hands& sum : node.strategy_sum) sum.fill(0.0);
      return;
    }
    for (Hands& sum : node.fold_sum) sum.fill(0.0);
    for (Hands& sum : node.rest_sum) sum.fill(0.0);
    node.value_sum.fill(0.0);
    node.reach_sum.fill(0.0);
    node.is_seeded = true;
  }

  SizedAddition add_by_recovery(std::int32_t index, double size, const GrowthSettings& settings) {
    const std::int64_t before = num_nodes_;
    const SizedNode& place = nodes_[index];
    const int player = place.player;
    const double called = place.called;
    const std::vector<double> ends = {menu_.front(), menu_.back()};
    const Hands entered = place.reach_sum, declined = place.value_sum;
    const std::int32_t child = build_decision(1 - player, place.round, place.board, place.num_raises + 1, false, called,
                                              called * (1 + 2 * size), ends, false);
    const auto& deal = joint(nodes_[index].board);
    double mass = 0.0;  // Z: of all that came to the head
    for (int h = 0; h < leduc_ranks; ++h) {
      for (int o = 0; o < leduc_ranks; ++o) mass += deal[h][o] * entered[o];
    }
    Hands fold{}, rest{};
    double weight = 1.0;
    int rounds = std::max(settings.least_rounds, std::min(static_cast<int>(std::ceil(mass)), settings.most_rounds));
    while (mass > 0.0) {
      fold.fill(0.0);
      rest.fill(0.0);
      recover(child, player, entered, declined, rounds, settings.is_linear, fold, rest);
      weight = find_weight(index, potential(player), fold, rest);
      rounds *= 4;
      if (weight >= settings.fair_weight || rounds > settings.most_rounds) break;
      clear_subgame(child);
    }
    return settle_addition(index, size, child, fold, rest, weight, before, settings);
  }

  // Plays the recovery game: who may enter takes what it had instead, if that is more ([B20] section 4.3.1). All rounds
  // together weigh what came to the head.
  void recover(std::int32_t child, int player, const Hands& entered, const Hands& declined, int rounds, bool is_linear,
               Hands& fold, Hands& rest) {
    Hands enter_regret{}, decline_regret{};
    for (int t = 1; t <= rounds; ++t) {
      const double weight = is_linear ? 2.0 * t / (static_cast<double>(rounds) * (rounds + 1)) : 1.0 / rounds;
      Hands share = entered;
      scale(share, weight);
      Hands enter = choose_entry(enter_regret, decline_regret);
      const Walked found = walk(child, player, enter, share);
      for (int h = 0; h < leduc_ranks; ++h) {
        const double other = declined[h] * weight;
        const double mean = enter[h] * found.total[h] + (1 - enter[h]) * other;
        enter_regret[h] += found.total[h] - mean;
        decline_regret[h] += other - mean;
        fold[h] += found.fold[h];
        rest[h] += found.total[h] - found.fold[h];
      }
      enter = choose_entry(enter_regret, decline_regret);
      scale(enter, weight);  // the other's regrets weigh as much
      walk(child, 1 - player, share, enter);
    }
  }

  static Hands choose_entry(const Hands& enter_regret, const Hands& decline_regret) {
    Hands enter;
    for (int h = 0; h < leduc_ranks; ++h) {
      const double yes = std::max(enter_regret[h], 0.0), no = std::max(decline_regret[h], 0.0);
      enter[h] = yes + no > 0.0 ? yes / (yes + no) : 0.5;
    }
    return enter;
  }

  void clear_subgame(std::int32_t index) {
    SizedNode& node = nodes_[index];
    for (const std::int32_t child : node.child) clear_subgame(child);
    for (auto* table : {&node.fold_sum, &node.rest_sum, &node.strategy_sum}) {
      for (Hands& sum : *table) sum.fill(0.0);
    }
    node.value_sum.fill(0.0);
    node.reach_sum.fill(0.0);
  }

  std::int32_t copy_subtree(std::int32_t from, double factor) {
    const std::int32_t index = allocate();
    SizedNode copy = nodes_[from];
    for (std::int32_t& child : copy.child) child = copy_subtree(child, factor);
    copy.stake *= factor;
    copy.called *= factor;
    for (auto* table : {&copy.fold_sum, &copy.rest_sum}) {
      for (Hands& sum : *table) scale(sum, factor);
    }
    scale(copy.value_sum, factor);
    nodes_[index] = std::move(copy);
    return index;
  }

  // Replays the subgame of the nearest size ([B20] section 4.3.2).
  SizedAddition add_by_transfer(std::int32_t index, double size, const GrowthSettings& settings) {
    const std::int64_t before = num_nodes_;
    std::size_t nearest = 0;
    double distance = INFINITY;
    for (std::size_t a = 0; a < nodes_[index].size.size(); ++a) {
      const double here = nodes_[index].size[a];
      if (here > 0.0 && std::fabs(here - size) < distance) {
        distance = std::fabs(here - size);
        nearest = a;
      }
    }
    const int player = nodes_[index].player;
    const double factor = (1 + 2 * size) / (1 + 2 * nodes_[index].size[nearest]);
    const Hands fold = nodes_[index].fold_sum[nearest];
    Hands rest = nodes_[index].rest_sum[nearest];
    scale(rest, factor);
    const std::int32_t child = copy_subtree(nodes_[index].child[nearest], factor);
    // who answers has in what it had: only what calling takes is more
    nodes_[child].stake = nodes_[index].called;
    for (const std::int32_t below : nodes_[child].child) {
      if (nodes_[below].kind == SizedKind::fold && nodes_[below].player != player) {
        nodes_[below].stake = nodes_[index].called;
      }
    }
    touched_ += num_nodes_ - before;
    const double weight = find_weight(index, potential(player), fold, rest);
    return settle_addition(index, size, child, fold, rest, weight, before, settings);
  }

  bool is_removable(std::int32_t index, std::size_t action, double least) const {
    const SizedNode& node = nodes_[index];
    const double size = node.size[action];
    if (size <= 0.0 || size == menu_.front() || size == menu_.back()) return false;
    Play average(node.size.size(), Hands{});
    for (int h = 0; h < leduc_ranks; ++h) {
      average_hand(node, h, average);
      if (average[action][h] >= least || regret(node, action, h) >= 0.0) return false;
    }
    const Hands best = respond_at(node.child[action], node.player, node.reach_sum, Translation::none, false).total;
    for (int h = 0; h < leduc_ranks; ++h) {
      if (best[h] >= node.value_sum[h]) return false;
    }
    return true;
  }

  void erase_action(std::int32_t index, std::size_t action) {
    free_subtree(nodes_[index].child[action]);
    SizedNode& node = nodes_[index];
    const auto place = static_cast<std::ptrdiff_t>(action);
    node.size.erase(node.size.begin() + place);
    node.child.erase(node.child.begin() + place);
    node.fold_sum.erase(node.fold_sum.begin() + place);
    node.rest_sum.erase(node.rest_sum.begin() + place);
    node.strategy_sum.erase(node.strategy_sum.begin() + place);
  }

  std::vector<double> menu_;
  bool skips_unreached_;
  std::array<std::array<Hands, leduc_ranks>, 1 + leduc_ranks> joint_{};
  std::vector<SizedNode> nodes_;
  std::vector<std::int32_t> unused_;
  std::int32_t root_ = 0;
  std::int64_t num_nodes_ = 0;
  std::int64_t touched_ = 0;
  double iterations_ = 0.0;  // weighted
  double run_ = 0.0;         // all of them
  double saved_ = 0.0;       // of these, those of which discounts have not yet taken their share
};

}  // namespace equipoise
