// SPDX-License-Identifier: Apache-2.0
// Growing-tree CFR from beginning to end within the core: public states that are known are pages of a book, which many
// searches share; leaves are rows of one batch of a network. Whoever asks is told which page is missing, writes it, and
// lets the run go on where it stopped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "growing.hpp"
#include "public_net.hpp"
#include "root_gate.hpp"

namespace equipoise {

struct GrowingPage {
  int actor = kTerminal;
  int count[2] = {0, 0};
  std::vector<double> joint, payoff;
  PublicInputs inputs;
  // what follows, once it is known
  bool is_open = false;
  int num_actions = 0;
  std::vector<std::uint8_t> legal;
  std::vector<double> uniform;  // [count of the actor, actions] shares of legal actions
  std::vector<GrowingEdge> edges;
  std::vector<GrowingEntry> entries;
  std::vector<int> children;               // [E] pages, kNowhere where none was asked for yet
  std::vector<std::vector<int>> edges_of;  // [A] edges to which an action may lead
};

struct GrowingBook {
  std::vector<GrowingPage> pages;
};

struct GrowingBudget {
  int num_rounds, sweeps, walks, simulations;
  bool is_alternating, has_last_sweep, uses_prior;
  int first_children;  // 0: all; kNowhere: as many as private states
  double exploration, share_of_values, value_scale;
};

// A belief about which the network was asked.
struct GrowingQuery {
  int page = kNowhere;
  std::vector<double> reach[2];
};

class GrowingRun {
 public:
  GrowingRun(GrowingArena& arena, const GrowingBook& book, const PublicNet& net, const GrowingBudget& budget,
             const Discount* rows, int start, Random random, int num_queries, Random query_random)
      : queries(static_cast<std::size_t>(num_queries)), arena_(arena), book_(book), net_(net), budget_(budget),
        rows_(rows), start_(start), random_(random), query_random_(query_random) {}

  // Goes on until everything is done and returns kNowhere, or returns a page of which it is not known what follows, or
  // at which edges (`missing_edges`) lead to no page yet.
  int run() {
    if (waiting_.node != kNowhere && !finish_walk()) return page_of(waiting_.node);
    for (; round_ < budget_.num_rounds; ++round_) {
      while (sweep_ < budget_.sweeps) {
        sweep();
        ++sweep_;
      }
      while (walk_ < budget_.walks && num_walks < budget_.simulations) {
        ++walk_;
        ++num_walks;
        waiting_ = arena_.walk(start_, budget_.exploration, budget_.share_of_values, budget_.value_scale, random_);
        if (waiting_.node != kNowhere && !finish_walk()) return page_of(waiting_.node);
      }
      arena_.end_walks();
      sweep_ = walk_ = 0;
    }
    if (budget_.has_last_sweep || num_sweeps == 0) sweep();
    return kNowhere;
  }

  void set_gate(const RootGate& gate, int player) {
    gate_ = gate;
    gate_player_ = player;
  }

  Random& random() { return random_; }

  std::vector<GrowingQuery> queries;  // drawn from all that was asked, each as likely, with repetition
  int num_sweeps = 0, num_walks = 0;
  std::int64_t num_asked = 0;
  std::vector<int> missing_edges;  // of the page that `run` returned, if it is known what follows

 private:
  GrowingArena& arena_;
  const GrowingBook& book_;
  const PublicNet& net_;
  GrowingBudget budget_;
  const Discount* rows_;
  int start_;
  Random random_, query_random_;
  RootGate gate_{};
  int gate_player_ = kNowhere;
  int round_ = 0, sweep_ = 0, walk_ = 0;
  GrowingStep waiting_{kNowhere, kNowhere};
  std::vector<int> row_of_;  // [N] row of the last batch, kNowhere where a node was none
  std::unordered_map<int, std::vector<float>> point_hidden_;
  int num_seen_ = 0;  // nodes that were looked at for points
  std::vector<float> first_, second_, packed_, said_, logits_;
  std::vector<const float*> starts_;
  std::vector<double> mass_, value_[2], room_[2];
  const float* hidden_ = nullptr;  // [rows of the last batch, stride] what the trunk says
  double num_drawn_ = 0.0;

  int page_of(int node) const { return arena_.all_nodes()[node].page; }
  const GrowingPage& page_at(int node) const { return book_.pages[page_of(node)]; }

  void sweep() {
    value_points();
    ++num_sweeps;
    const Discount& discount = rows_[num_sweeps - 1];
    for (int player = 0; player < 2; ++player) arena_.descend(player);
    for (int player = 0; player < 2; ++player) {
      if (player == 0 || budget_.is_alternating) ask(arena_.all_leaves());
      arena_.ascend(player, value_[player].data(), stride(player), discount);
      if (gate_player_ == player) arena_.enter(gate_, player, discount, num_sweeps);
      if (player == 0 && budget_.is_alternating) arena_.descend(0);
    }
  }

  std::int64_t stride(int player) const { return net_.num_places[player]; }

  // Fills `value_` with what leaves are worth.
  void ask(const std::vector<int>& leaves) {
    const auto count = static_cast<std::int64_t>(leaves.size());
    run_net(leaves, [&](int node, int player) { return arena_.reach_at(node, player, room_[player]); });
    row_of_.assign(arena_.all_nodes().size(), kNowhere);
    for (std::int64_t row = 0; row < count; ++row) row_of_[leaves[row]] = static_cast<int>(row);
    draw_queries(leaves);
  }

  template <typename Reach>
  void run_net(const std::vector<int>& leaves, Reach&& reach_of) {
    const auto count = static_cast<std::int64_t>(leaves.size());
    const std::int64_t width = net_.stride();
    const auto size = static_cast<std::size_t>(count * width + DenseLayer::panel);
    for (auto* buffer : {&first_, &second_, &packed_, &said_}) {
      if (buffer->size() < size) buffer->resize(2 * size);
    }
    for (int player = 0; player < 2; ++player) value_[player].resize(static_cast<std::size_t>(count * stride(player)));
    mass_.resize(static_cast<std::size_t>(2 * count));
    starts_.resize(static_cast<std::size_t>(count));
    for (std::int64_t row = 0; row < count; ++row) {
      const int node = leaves[row];
      const double* const reach[2] = {reach_of(node, 0), reach_of(node, 1)};
      write_ranges(net_, page_at(node).inputs, reach, first_.data() + row * width, mass_.data() + 2 * row);
      starts_[row] = net_.start(static_cast<std::size_t>(page_of(node)), page_at(node).inputs);
    }
    hidden_ = net_.trunk.run(count, first_.data(), second_.data(), packed_.data(), starts_.data(), width);
    net_.values->run(count, hidden_, width, packed_.data(), said_.data(), width);
    for (std::int64_t row = 0; row < count; ++row) {
      const int node = leaves[row];
      const double* const reach[2] = {reach_of(node, 0), reach_of(node, 1)};
      double* const value[2] = {value_[0].data() + row * stride(0), value_[1].data() + row * stride(1)};
      read_values(net_, page_at(node).inputs, reach, mass_.data() + 2 * row, said_.data() + row * width, value);
    }
    num_asked += count;
  }

  // Asks once about leaves with one private state each: their values only scale with reaches.
  void value_points() {
    std::vector<int> points;
    const auto& nodes = arena_.all_nodes();
    for (; num_seen_ < static_cast<int>(nodes.size()); ++num_seen_) {
      const GrowingNode& node = nodes[num_seen_];
      if (node.actor != kTerminal && node.count[0] == 1 && node.count[1] == 1) points.push_back(num_seen_);
    }
    if (points.empty()) return;
    static constexpr double kOne = 1.0;
    run_net(points, [](int, int) { return &kOne; });
    for (std::size_t row = 0; row < points.size(); ++row) {
      const float* const from = hidden_ + static_cast<std::int64_t>(row) * net_.stride();
      point_hidden_[points[row]].assign(from, from + net_.trunk.num_outputs());
      arena_.set_unit(points[row], value_[0][row * static_cast<std::size_t>(stride(0))],
                      value_[1][row * static_cast<std::size_t>(stride(1))]);
    }
    std::fill(row_of_.begin(), row_of_.end(), kNowhere);
    draw_queries(points);
  }

  // Each query of a run is one of those so far with the same chance.
  void draw_queries(const std::vector<int>& leaves) {
    if (leaves.empty() || queries.empty()) return;
    num_drawn_ += static_cast<double>(leaves.size());
    for (GrowingQuery& query : queries) {
      if (query_random_.uniform() * num_drawn_ >= static_cast<double>(leaves.size())) continue;
      const int leaf = leaves[static_cast<std::size_t>(draw_uniform(query_random_, static_cast<int>(leaves.size())))];
      const GrowingNode& node = arena_.all_nodes()[leaf];
      query.page = node.page;
      for (int player = 0; player < 2; ++player) {
        query.reach[player].resize(static_cast<std::size_t>(node.count[player]));
        arena_.copy_cells(leaf, player, arena_.side[player].reach, query.reach[player].data());
      }
    }
  }

  // Lets the tree grow where a walk left it; false if it is not known what follows.
  bool finish_walk() {
    const int node = waiting_.node;
    missing_edges.clear();
    if (!page_at(node).is_open) return false;
    if (waiting_.action == kNowhere) {
      if (!expand_leaf(node)) return false;
    } else {
      std::vector<int> edges = edges_for(node, {waiting_.action});
      const auto is_there = [&](int edge) { return arena_.child_of(node, edge) != kNowhere; };
      edges.erase(std::remove_if(edges.begin(), edges.end(), is_there), edges.end());
      if (!has_pages(node, edges)) return false;
      attach(node, edges);
    }
    waiting_ = {kNowhere, kNowhere};
    return true;
  }

  // Nothing is changed unless every child that the leaf gets has a page.
  bool expand_leaf(int node) {
    const GrowingPage& page = page_at(node);
    std::vector<double> prior = page.uniform;
    std::vector<int> edges(page.edges.size());
    std::iota(edges.begin(), edges.end(), 0);
    if (page.actor >= 0) {
      if (const float* const row = hidden_of(node)) {
        read_prior(net_, page.inputs, page.actor, page.num_actions, page.legal.data(), row, logits_, prior.data());
      }
      edges = edges_for(node, choose_first(node, page, prior));
    }
    if (!has_pages(node, edges)) return false;
    arena_.open(node, page.num_actions, page.legal.data(), prior.data(), page.edges, page.entries);
    attach(node, edges);
    return true;
  }

  bool has_pages(int node, const std::vector<int>& edges) {
    const GrowingPage& page = page_at(node);
    for (const int edge : edges) {
      if (page.children[edge] == kNowhere) missing_edges.push_back(edge);
    }
    return missing_edges.empty();
  }

  const float* hidden_of(int node) const {
    if (!budget_.uses_prior) return nullptr;
    const auto point = point_hidden_.find(node);
    if (point != point_hidden_.end()) return point->second.data();
    const bool has_row = node < static_cast<int>(row_of_.size()) && row_of_[node] != kNowhere;
    return has_row ? hidden_ + row_of_[node] * net_.stride() : nullptr;
  }

  // The best actions by prior, enough for every private state.
  std::vector<int> choose_first(int node, const GrowingPage& page, const std::vector<double>& prior) {
    const int rows = page.count[page.actor], columns = page.num_actions;
    const double* const reach = arena_.reach_at(node, page.actor, room_[page.actor]);
    std::vector<double> weight(static_cast<std::size_t>(columns), 0.0);
    for (int own = 0; own < rows; ++own) {
      for (int a = 0; a < columns; ++a) weight[a] += reach[own] * prior[static_cast<std::size_t>(own) * columns + a];
    }
    std::vector<int> order(static_cast<std::size_t>(columns));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return weight[a] > weight[b]; });
    const int wanted = budget_.first_children == kNowhere ? std::max(rows, 1) : budget_.first_children;
    const int among = wanted == 0 ? columns : std::min(wanted, columns);
    std::vector<int> chosen(order.begin(), order.begin() + among);
    for (int own = 0; own < rows; ++own) {
      const std::uint8_t* const legal = page.legal.data() + static_cast<std::int64_t>(own) * columns;
      const auto may = [&](int a) { return legal[a] != 0; };
      if (std::any_of(chosen.begin(), chosen.end(), may)) continue;
      const auto first = std::find_if(order.begin(), order.end(), may);
      if (first != order.end()) chosen.push_back(*first);
    }
    return chosen;
  }

  // Edges to which some actions may lead, ascending.
  std::vector<int> edges_for(int node, const std::vector<int>& actions) const {
    const GrowingPage& page = page_at(node);
    std::vector<int> edges;
    for (const int action : actions) edges.insert(edges.end(), page.edges_of[action].begin(), page.edges_of[action].end());
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
  }

  void attach(int node, const std::vector<int>& edges) {
    const GrowingPage& page = page_at(node);
    for (const int edge : edges) {
      const GrowingPage& below = book_.pages[page.children[edge]];
      const int child = arena_.add_node(below.actor, below.count[0], below.count[1], below.joint.data(),
                                        below.payoff.data());
      arena_.set_origin(child, page.children[edge], node, edge);
      arena_.attach(node, edge, child);
    }
    arena_.settle_children(node);
  }
};

}  // namespace equipoise
