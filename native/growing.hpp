// SPDX-License-Identifier: Apache-2.0
// A public tree that grows while it is swept: append-only nodes, edges and cells; sweeps of CFR over what is there, and
// walks that say where it should grow.
//
// Cells and steps are those of public.hpp, a player's in arrays of their own: an edge that only selects private states or
// passes an action's row on is a view of cells further up. Blocks are appended, and so are steps: a node's step is
// appended when it gets its first children, after those of all nodes above it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy.hpp"
#include "public.hpp"
#include "random.hpp"
#include "root_gate.hpp"
#include "rule.hpp"

namespace equipoise {

// actors that are nobody, as games number them
constexpr int kChance = -1;
constexpr int kTerminal = -2;
constexpr int kNowhere = -1;

// Where a private state goes along an edge.
struct GrowingEntry {
  int source;
  int action;  // column, or kNowhere for a player who did not move
  int target;
  double weight;
};

struct GrowingEdge {
  int child;  // kNowhere while it is not in the tree
  std::int64_t first[2];
  int size[2];
};

// Where a player's private states stand.
struct GrowingView {
  std::int32_t start;   // first cell
  std::int32_t extent;  // cells to the last private state
  std::int32_t end;     // of the block: a row of whole vectors must not go beyond it
  std::int64_t slots;   // into the list of cells from the first one, kNowhere if they stand side by side
};

// Of which nodes counterfactual values will be asked for, beside the first one's: of what follows the focus, by chance too;
// of what follows that by moves of one player alone; or of all below the focus.
enum class Watched : int { next = 0, moves = 1, all = 2 };

// What of that a node is.
enum class Watch : std::int8_t { nothing = -2, focus = -1, first = 0, second = 1, anybody = 2 };

struct GrowingNode {
  int actor;
  int count[2];         // private states
  GrowingView view[2];  // once it is in the tree
  const double* joint;  // [count 0, count 1]
  const double* payoff;  // [2, count 0, count 1], terminals alone
  int num_actions;
  std::int32_t table;   // the actor's first cell once it is opened: [num_actions, stride]
  std::int32_t stride;
  std::int32_t step;    // the actor's, of its decision
  std::int64_t first_edge;
  int num_edges;        // kNowhere until it is opened
  int leaf;             // its row of the batch, kNowhere if it is none
  int point;            // its place among leaves that were valued once and for all, kNowhere if it is none
  bool is_inside;       // it has children in the tree
  double unit[2];       // values of a point against a reach of 1
  double weight[2];     // of all values in the sums, by player
  std::int64_t sum[2];  // where the sums of its values are, kNowhere unless they are watched
  Watch watch;
  int page;             // of the book, kNowhere if it came from elsewhere
  int parent, edge;     // by which it is reached
};

struct GrowingStep {
  int node;    // where the tree should grow; kNowhere if the walk ended
  int action;  // by which; kNowhere at chance
};

// Terminals that pay a player by one matrix, but for a scale.
struct GrowingPayments {
  DenseGroup group;
  std::vector<std::int32_t> own, other;
  std::vector<double> scale;
};

// A player's cells, and the steps of its sweeps.
struct GrowingSide {
  std::int32_t num_cells = 0;
  std::vector<double> reach, cfv;                                // cells
  std::vector<double> regret, average, strategy, share;          // cells of decisions; shares of what may be played
  std::vector<double> visits, pending, prior;                    // likewise
  std::vector<std::uint8_t> is_legal;                            // likewise
  std::vector<PublicStep> steps;
  std::vector<std::int32_t> source, entry_source, entry_target;
  std::vector<double> entry_weight;
  // what the player is paid: matrices of terminals with many private states, products of the others
  std::vector<GrowingPayments> payments;
  std::unordered_map<std::uint64_t, std::vector<int>> payments_of;  // by their matrices
  std::vector<double> matrix;
  std::vector<std::int32_t> sparse_own, sparse_other;
  std::vector<double> sparse_weight;
  std::vector<double> value_sum;  // of nodes that are watched

  // Appends a block and returns its first cell; long ones begin where vectors do.
  std::int32_t add_block(std::int32_t size) {
    const std::int32_t first = size > 2 ? (num_cells + 3) / 4 * 4 : num_cells;
    num_cells = first + size;
    const auto room = static_cast<std::size_t>(num_cells);
    for (auto* cells : {&reach, &cfv, &regret, &average, &strategy, &share, &visits, &pending, &prior}) {
      cells->resize(room, 0.0);
    }
    is_legal.resize(room, 0);
    return first;
  }

  // Appends a terminal: where its private states begin, a matrix of whole vectors and one of its entries, over which the
  // matrix is kept if that is exact.
  void add_terminal(std::int32_t first, std::int32_t other_first, std::int32_t width, std::vector<double> wanted, double scale) {
    const auto is_exact = [&](double entry) { return entry / scale * scale == entry; };
    if (!std::all_of(wanted.begin(), wanted.end(), is_exact)) scale = 1.0;
    std::uint64_t hash = static_cast<std::uint64_t>(width);
    for (double& entry : wanted) {
      entry = entry / scale + 0.0;  // no negative zeros
      hash = (hash ^ std::bit_cast<std::uint64_t>(entry)) * 0x9e3779b97f4a7c15U;
      hash ^= hash >> 32;
    }
    std::vector<int>& alike = payments_of[hash];
    const auto is_same = [&](int number) {
      const DenseGroup& group = payments[number].group;
      const bool fits = static_cast<std::size_t>(group.num_rows) * group.num_columns == wanted.size() && group.num_rows == width;
      return fits && std::equal(wanted.begin(), wanted.end(), matrix.begin() + group.matrix_start);
    };
    auto found = std::find_if(alike.begin(), alike.end(), is_same);
    if (found == alike.end()) {
      found = alike.insert(alike.end(), static_cast<int>(payments.size()));
      GrowingPayments fresh{};
      fresh.group.num_rows = width;
      fresh.group.num_columns = static_cast<std::int32_t>(wanted.size()) / width;
      fresh.group.matrix_start = static_cast<std::int32_t>(matrix.size());
      payments.push_back(std::move(fresh));
      matrix.insert(matrix.end(), wanted.begin(), wanted.end());
    }
    GrowingPayments& to = payments[*found];
    to.own.push_back(first);
    to.other.push_back(other_first);
    to.scale.push_back(scale);
  }

  // As kernels read it, until something is appended.
  PublicForm form() const {
    PublicForm found;
    found.source = source.data();
    found.entry_source = entry_source.data();
    found.entry_target = entry_target.data();
    found.entry_weight = entry_weight.data();
    found.legal_share = share.data();
    found.matrix = matrix.data();
    found.sparse_own = sparse_own.data();
    found.sparse_other = sparse_other.data();
    found.sparse_weight = sparse_weight.data();
    return found;
  }
};

// How long rows are that hold so many numbers: whole vectors, but for one or two.
inline std::int32_t pad_row(std::int32_t count) { return count <= 2 ? count : (count + 3) / 4 * 4; }

class GrowingArena {
 public:
  Rule rule;
  GrowingSide side[2];

  // The first node is the root; others are in the tree once they are attached. Chance's weights and payoffs stay where
  // they are: whoever owns them keeps them as long as the tree, or has them kept here.
  int add_node(int actor, int first_count, int second_count, const double* joint, const double* payoff) {
    GrowingNode node{};
    node.actor = actor;
    node.count[0] = first_count;
    node.count[1] = second_count;
    node.joint = joint;
    node.payoff = payoff;
    node.num_edges = node.leaf = node.point = node.page = node.parent = node.edge = node.step = kNowhere;
    node.sum[0] = node.sum[1] = kNowhere;
    node.watch = Watch::nothing;
    nodes.push_back(node);
    const int number = static_cast<int>(nodes.size()) - 1;
    if (number == 0) {
      for (int player = 0; player < 2; ++player) {
        nodes[0].view[player] = open_block(player, node.count[player]);
        watch(nodes[0], player);
      }
      enter_tree(0);
    }
    return number;
  }

  // Keeps numbers as long as the tree.
  const double* keep(const double* from, std::size_t size) { return kept.emplace_back(from, from + size).data(); }

  // Says that values will be asked for of what follows a node.
  void set_focus(int number, Watched watched_nodes) {
    nodes[number].watch = Watch::focus;
    watched_nodes_ = watched_nodes;
  }

  // Lays out what follows a node; none of its children is in the tree yet.
  void open(int number, int num_actions, const std::uint8_t* legal, const double* its_prior,
            const std::vector<GrowingEdge>& its_edges, const std::vector<GrowingEntry>& its_entries) {
    GrowingNode& node = nodes[number];
    node.first_edge = static_cast<std::int64_t>(edges.size());
    node.num_edges = static_cast<int>(its_edges.size());
    const auto first_entry = static_cast<std::int64_t>(entries.size());
    for (GrowingEdge edge : its_edges) {
      for (auto& first : edge.first) first += first_entry;
      edges.push_back(edge);
    }
    entries.insert(entries.end(), its_entries.begin(), its_entries.end());
    node.num_actions = num_actions;
    if (node.actor < 0) return;
    GrowingSide& own = side[node.actor];
    const GrowingView& view = node.view[node.actor];
    node.stride = pad_row(view.extent);
    node.table = own.add_block(node.num_actions * node.stride);
    node.step = static_cast<std::int32_t>(own.steps.size());
    own.steps.push_back({.kind = StepKind::decision,
                         .first_cell = node.table,
                         .num_items = 1,
                         .num_actions = num_actions,
                         .stride = node.stride,
                         .first_index = static_cast<std::int32_t>(own.source.size()),
                         .is_masked = 1,
                         .first_row = 0});
    own.source.push_back(view.start);
    for (int i = 0; i < node.count[node.actor]; ++i) {
      for (int a = 0; a < num_actions; ++a) {
        const std::int64_t to = cell(node, i, a), from = static_cast<std::int64_t>(i) * num_actions + a;
        own.is_legal[to] = legal[from];
        own.prior[to] = its_prior[from];
      }
    }
  }

  // Says which page of a book a node is, and what it follows.
  void set_origin(int number, int page, int parent, int edge) {
    nodes[number].page = page;
    nodes[number].parent = parent;
    nodes[number].edge = edge;
  }

  // Hands the root's values to a gate, which says with what reach its player enters next.
  void enter(const RootGate& gate, int player, const Discount& discount, std::int64_t t) {
    // the root's private states come first in both arrays
    std::copy_n(side[player].cfv.begin(), gate.num_private, side[player].reach.begin());
    pass_gate(gate, rule, discount, t, side[player].reach.data());
  }

  // Puts a child of an opened node into the tree.
  void attach(int number, int edge, int child) {
    edges[nodes[number].first_edge + edge].child = child;
    nodes[child].watch = watch_below(nodes[number]);
    for (int player = 0; player < 2; ++player) place(number, edges[nodes[number].first_edge + edge], child, player);
    enter_tree(child);
  }

  // Looks which actions lead into the tree, once children have been put there.
  void settle_children(int number) {
    GrowingNode& node = nodes[number];
    stop_being_leaf(number);
    stop_being_point(number);
    node.is_inside = true;
    if (node.actor < 0) return;
    std::vector<std::uint8_t> is_missing(static_cast<std::size_t>(node.num_actions), 0);
    for_each_edge(node, [&](const GrowingEdge& edge) {
      if (edge.child != kNowhere) return;
      for_each_entry(edge, node.actor, [&](const GrowingEntry& entry) { is_missing[entry.action] = 1; });
    });
    GrowingSide& own = side[node.actor];
    bool is_masked = false;
    for (int i = 0; i < node.count[node.actor]; ++i) {
      const auto plays = [&](int a) { return own.is_legal[cell(node, i, a)] != 0 && !is_missing[a]; };
      int among = 0;
      for (int a = 0; a < node.num_actions; ++a) among += plays(a);
      is_masked = is_masked || among < node.num_actions;
      for (int a = 0; a < node.num_actions; ++a) own.share[cell(node, i, a)] = plays(a) ? 1.0 / among : 0.0;
      form_strategy(node, i);
    }
    own.steps[node.step].is_masked = is_masked;
  }

  void set_unit(int number, double first, double second) {
    GrowingNode& node = nodes[number];
    if (node.is_inside) return;  // it has grown since it was asked about
    node.unit[0] = first;
    node.unit[1] = second;
    stop_being_leaf(number);
    node.point = static_cast<int>(points.size());
    points.push_back(number);
  }

  // Spreads a player's reach over the tree, from the root's.
  void descend(int player) {
    GrowingSide& own = side[player];
    const PublicForm form = own.form();
    const double* const strategy = own.strategy.data();
    double* const reach = own.reach.data();
    for (const PublicStep& step : own.steps) step_reach(form, step, {0, step.num_items}, strategy, reach);
  }

  // Writes a player's reaches of the leaves into a `[B, H]` array.
  void gather(int player, double* out, std::int64_t stride) const {
    for (std::size_t row = 0; row < leaves.size(); ++row) {
      copy_cells(leaves[row], player, side[player].reach, out + static_cast<std::int64_t>(row) * stride);
    }
  }

  // Brings a player's values up from terminals and leaves, `[B, H]`, and updates its tables.
  void ascend(int player, const double* leaf_values, std::int64_t stride, const Discount& discount) {
    GrowingSide& own = side[player];
    const GrowingSide& other = side[1 - player];
    PublicForm form = own.form();
    double* const cfv = own.cfv.data();
    std::fill(own.cfv.begin(), own.cfv.end(), 0.0);
    for (const GrowingPayments& alike : own.payments) {
      form.dense_own = alike.own.data();
      form.dense_other = alike.other.data();
      form.dense_scale = alike.scale.data();
      evaluate_group(alike.group, {0, static_cast<std::int64_t>(alike.own.size())}, form, other.reach.data(), cfv);
    }
    evaluate_entries(form, {0, static_cast<std::int64_t>(own.sparse_own.size())}, other.reach.data(), cfv);
    for (const int number : points) {
      const GrowingNode& node = nodes[number];
      cfv[node.view[player].start] += node.unit[player] * other.reach[node.view[1 - player].start];
    }
    for (std::size_t row = 0; row < leaves.size(); ++row) {
      const GrowingNode& node = nodes[leaves[row]];
      const double* const from = leaf_values + static_cast<std::int64_t>(row) * stride;
      for (int i = 0; i < node.count[player]; ++i) cfv[cell_of(node, player, i)] += from[i];
    }
    Discount weights = discount;
    weights.threshold = 0.0;  // small shares are not cut while a tree grows
    const Rule plain{.floors_regrets = rule.floors_regrets};
    const Tables tables{.regret_sum = own.regret.data(),
                        .strategy_sum = own.average.data(),
                        .strategy = own.strategy.data(),
                        .realization = own.reach.data(),
                        .scale = nullptr,
                        .value_moments = nullptr};
    const PublicUpdate update{
        .form = form, .rule = plain, .discount = weights, .t = 0, .tables = tables, .cfv = cfv, .scratch = nullptr};
    for (std::size_t s = own.steps.size(); s-- > 0;) update_step(update, own.steps[s], {0, own.steps[s].num_items});
    for (const int number : watched) {
      GrowingNode& node = nodes[number];
      double* const sum = own.value_sum.data() + node.sum[player];
      const double* const found = cfv + node.view[player].start;
      for (int i = 0; i < node.count[player]; ++i) {
        sum[i] = sum[i] * discount.average_decay + discount.average_weight * found[i];
      }
      node.weight[player] = node.weight[player] * discount.average_decay + discount.average_weight;
    }
  }

  // One walk from a node: a pair of private states by their reaches, then actions by PUCT or by the strategy, a coin
  // deciding, until something outside the tree is met.
  GrowingStep walk(int start, double exploration, double share_of_puct, double value_scale, Random& random) {
    int number = start;
    int own[2];
    draw_pair(nodes[start], own, random);
    for (;;) {
      GrowingNode& node = nodes[number];
      if (node.actor == kTerminal) return {kNowhere, kNowhere};
      if (node.num_edges == kNowhere || node.actor == kChance) {
        if (!node.is_inside) return {number, kNowhere};
      }
      int action = kNowhere;
      if (node.actor >= 0) {
        GrowingSide& acting = side[node.actor];
        const int private_state = own[node.actor];
        const bool by_value = !node.is_inside || random.uniform() < share_of_puct;
        action = by_value ? best_by_puct(node, private_state, exploration, value_scale)
                          : draw(random, node.num_actions, [&](int a) { return acting.strategy[cell(node, private_state, a)]; });
        const std::int64_t place = cell(node, private_state, action);
        acting.visits[place] += 1.0;
        acting.pending[place] += 1.0;
        touched.push_back({node.actor, place});
        if (!(acting.share[place] > 0.0)) return {number, action};
      }
      number = follow(node, action, own, random);
      if (number == kNowhere) return {kNowhere, kNowhere};
    }
  }

  // Ends a batch of walks: those on their way no longer count as lost.
  void end_walks() {
    for (const auto& [player, place] : touched) side[player].pending[place] = 0.0;
    touched.clear();
  }

  const std::vector<GrowingNode>& all_nodes() const { return nodes; }
  const std::vector<int>& all_leaves() const { return leaves; }
  int child_of(int number, int edge) const { return edges[nodes[number].first_edge + edge].child; }

  // Where a private state's share of an action stands among the actor's cells.
  std::int64_t cell(const GrowingNode& node, int private_state, int action) const {
    return node.table + static_cast<std::int64_t>(action) * node.stride + slot(node.view[node.actor], private_state);
  }

  // Copies what a player's private states have, from cells.
  void copy_cells(int number, int player, const std::vector<double>& from, double* out) const {
    const GrowingNode& node = nodes[number];
    for (int i = 0; i < node.count[player]; ++i) out[i] = from[cell_of(node, player, i)];
  }

  // A player's reaches of a node: where they stand, or copied into some room.
  const double* reach_at(int number, int player, std::vector<double>& room) const {
    const GrowingView& view = nodes[number].view[player];
    if (view.slots == kNowhere) return side[player].reach.data() + view.start;
    room.resize(static_cast<std::size_t>(nodes[number].count[player]));
    copy_cells(number, player, side[player].reach, room.data());
    return room.data();
  }

 private:
  template <typename Visit>
  void for_each_edge(const GrowingNode& node, Visit&& visit) const {
    for (int e = 0; e < node.num_edges; ++e) visit(edges[node.first_edge + e]);
  }

  template <typename Visit>
  void for_each_entry(const GrowingEdge& edge, int player, Visit&& visit) const {
    for (int k = 0; k < edge.size[player]; ++k) visit(entries[edge.first[player] + k]);
  }

  std::int32_t slot(const GrowingView& view, int private_state) const {
    return view.slots == kNowhere ? private_state : slots[view.slots + private_state];
  }
  std::int64_t cell_of(const GrowingNode& node, int player, int private_state) const {
    return node.view[player].start + slot(node.view[player], private_state);
  }

  GrowingView open_block(int player, int count) {
    const std::int32_t size = pad_row(count);
    const std::int32_t first = side[player].add_block(size);
    return {.start = first, .extent = count, .end = first + size, .slots = kNowhere};
  }

  void watch(GrowingNode& node, int player) {
    auto& sums = side[player].value_sum;
    node.sum[player] = static_cast<std::int64_t>(sums.size());
    sums.resize(sums.size() + static_cast<std::size_t>(node.count[player]), 0.0);
  }

  Watch watch_below(const GrowingNode& node) const {
    if (node.watch == Watch::focus) return Watch::anybody;
    if (node.watch == Watch::nothing || node.actor == kChance || watched_nodes_ == Watched::all) return node.watch;
    if (watched_nodes_ == Watched::next) return Watch::nothing;
    const auto mover = static_cast<Watch>(node.actor);
    return node.watch == Watch::anybody || node.watch == mover ? mover : Watch::nothing;
  }

  // Says where a player's private states stand below an edge: in cells above, or in a block of their own.
  void place(int number, const GrowingEdge& edge, int child, int player) {
    const GrowingNode& node = nodes[number];
    GrowingNode& below = nodes[child];
    const bool is_own = player == node.actor;
    const GrowingView& above = node.view[player];
    const bool is_watched = below.watch != Watch::nothing;
    if (!is_watched && is_selection(edge, player, below.count[player])) {
      const GrowingEntry* const first = &entries[edge.first[player]];
      const int count = below.count[player];
      const std::int32_t low = slot(above, first[0].source);
      const std::int32_t extent = slot(above, first[count - 1].source) - low + 1;
      const std::int32_t start = (is_own ? node.table + first[0].action * node.stride : above.start) + low;
      const std::int32_t end = is_own ? node.table + node.num_actions * node.stride : above.end;
      if (start + pad_row(extent) <= end && pad_row(extent) <= 2 * pad_row(count)) {
        below.view[player] = {.start = start, .extent = extent, .end = end, .slots = kNowhere};
        if (extent == count) return;
        below.view[player].slots = static_cast<std::int64_t>(slots.size());
        for (int i = 0; i < count; ++i) slots.push_back(slot(above, first[i].source) - low);
        return;
      }
    }
    below.view[player] = open_block(player, below.count[player]);
    if (is_watched) watch(below, player);
    relate(node, edge, below, player);
  }

  // Whether private states below are some of those above, in their order, after one action if their player moved.
  bool is_selection(const GrowingEdge& edge, int player, int count) const {
    if (edge.size[player] != count || count == 0) return false;
    const GrowingEntry* const first = &entries[edge.first[player]];
    for (int k = 0; k < count; ++k) {
      if (first[k].weight != 1.0 || first[k].target != k || first[k].action != first[0].action) return false;
      if (k > 0 && first[k].source <= first[k - 1].source) return false;
    }
    return true;
  }

  // Appends what an edge's relation computes of cells above, in the order of its targets.
  void relate(const GrowingNode& node, const GrowingEdge& edge, const GrowingNode& below, int player) {
    GrowingSide& own = side[player];
    const GrowingView& above = node.view[player];
    std::vector<GrowingEntry> sorted(entries.begin() + edge.first[player],
                                     entries.begin() + edge.first[player] + edge.size[player]);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const GrowingEntry& a, const GrowingEntry& b) { return a.target < b.target; });
    own.steps.push_back({.kind = StepKind::relation,
                         .first_cell = below.view[player].start,
                         .num_items = static_cast<std::int32_t>(sorted.size()),
                         .num_actions = 0,
                         .stride = pad_row(below.count[player]),
                         .first_index = static_cast<std::int32_t>(own.entry_source.size()),
                         .is_masked = 0,
                         .first_row = 0});
    for (const GrowingEntry& entry : sorted) {
      const std::int64_t from = player == node.actor ? cell(node, entry.source, entry.action)
                                                     : above.start + slot(above, entry.source);
      own.entry_source.push_back(static_cast<std::int32_t>(from));
      own.entry_target.push_back(below.view[player].start + entry.target);
      own.entry_weight.push_back(entry.weight);
    }
  }

  // What a node does in sweeps as long as nothing follows it.
  void enter_tree(int number) {
    const GrowingNode& node = nodes[number];
    if (node.sum[0] != kNowhere) watched.push_back(number);
    if (node.actor != kTerminal) {
      nodes[number].leaf = static_cast<int>(leaves.size());
      leaves.push_back(number);
      return;
    }
    for (int player = 0; player < 2; ++player) pay(node, player);
  }

  void pay(const GrowingNode& node, int player) {
    GrowingSide& own = side[player];
    const int rows = node.count[player], columns = node.count[1 - player];
    const double* const payoff = node.payoff + (player == 0 ? 0 : static_cast<std::int64_t>(rows) * columns);
    const auto paid = [&](int i, int j) {
      return player == 0 ? payoff[static_cast<std::int64_t>(i) * columns + j] : payoff[static_cast<std::int64_t>(j) * rows + i];
    };
    const GrowingView& mine = node.view[player];
    const GrowingView& others = node.view[1 - player];
    const std::int32_t width = pad_row(mine.extent);
    if (width <= 2 || others.extent == 1) {
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
          if (paid(i, j) == 0.0) continue;
          own.sparse_own.push_back(mine.start + slot(mine, i));
          own.sparse_other.push_back(others.start + slot(others, j));
          own.sparse_weight.push_back(paid(i, j));
        }
      }
      return;
    }
    std::vector<double> matrix(static_cast<std::size_t>(width) * others.extent, 0.0);
    double scale = 0.0;
    for (int j = 0; j < columns; ++j) {
      double* const column = matrix.data() + static_cast<std::int64_t>(slot(others, j)) * width;
      for (int i = 0; i < rows; ++i) {
        column[slot(mine, i)] = paid(i, j);
        if (scale == 0.0) scale = paid(i, j);
      }
    }
    if (scale != 0.0) own.add_terminal(mine.start, others.start, width, std::move(matrix), scale);
  }

  void stop_being_leaf(int number) { leave(leaves, number, &GrowingNode::leaf); }
  void stop_being_point(int number) { leave(points, number, &GrowingNode::point); }

  // Takes a node off a list; the last one of it gets its place.
  void leave(std::vector<int>& list, int number, int GrowingNode::*place) {
    const int row = nodes[number].*place;
    if (row == kNowhere) return;
    list[row] = list.back();
    nodes[list[row]].*place = row;
    list.pop_back();
    nodes[number].*place = kNowhere;
  }

  void form_strategy(const GrowingNode& node, int private_state) {
    GrowingSide& own = side[node.actor];
    double total = 0.0;
    for (int a = 0; a < node.num_actions; ++a) {
      const std::int64_t at = cell(node, private_state, a);
      if (own.share[at] > 0.0) total += std::max(own.regret[at], 0.0);
    }
    for (int a = 0; a < node.num_actions; ++a) {
      const std::int64_t at = cell(node, private_state, a);
      if (total > 0.0) {
        own.strategy[at] = own.share[at] > 0.0 ? std::max(own.regret[at], 0.0) / total : 0.0;
      } else {
        own.strategy[at] = own.share[at];
      }
    }
  }

  // How much of the other player a private state meets.
  double mass(const GrowingNode& node, int player, int own) const {
    const double* const joint = node.joint;
    const double* other = side[1 - player].reach.data();
    double total = 0.0;
    for (int j = 0; j < node.count[1 - player]; ++j) {
      const std::int64_t pair = player == 0 ? static_cast<std::int64_t>(own) * node.count[1] + j
                                            : static_cast<std::int64_t>(j) * node.count[1] + own;
      total += joint[pair] * other[cell_of(node, 1 - player, j)];
    }
    return total;
  }

  int best_by_puct(const GrowingNode& node, int own, double exploration, double value_scale) const {
    const GrowingSide& acting = side[node.actor];
    const double met = mass(node, node.actor, own);
    // values are counterfactual: what somebody is worth who is here is that over how likely the others are
    const double to_mean = met > 0.0 ? value_scale / met : 0.0;
    double expected = 0.0, total = 1.0;
    for (int a = 0; a < node.num_actions; ++a) {
      const std::int64_t at = cell(node, own, a);
      expected += acting.strategy[at] * acting.cfv[at];
      total += acting.visits[at];
    }
    int best = kNowhere;
    double highest = -INFINITY;
    for (int a = 0; a < node.num_actions; ++a) {
      const std::int64_t at = cell(node, own, a);
      if (!acting.is_legal[at]) continue;
      const double mean = to_mean * (acting.share[at] > 0.0 ? acting.cfv[at] : expected);
      const double lost = acting.pending[at] / (1.0 + acting.visits[at]);
      const double score = mean - lost + exploration * acting.prior[at] * std::sqrt(total) / (1.0 + acting.visits[at]);
      if (score > highest) {
        highest = score;
        best = a;
      }
    }
    return best;
  }

  void draw_pair(const GrowingNode& node, int own[2], Random& random) const {
    const double* const joint = node.joint;
    const std::int64_t pairs = static_cast<std::int64_t>(node.count[0]) * node.count[1];
    const auto weigh = [&](std::int64_t pair, bool by_reach) {
      if (!by_reach) return joint[pair];
      const int i = static_cast<int>(pair / node.count[1]), j = static_cast<int>(pair % node.count[1]);
      return joint[pair] * side[0].reach[cell_of(node, 0, i)] * side[1].reach[cell_of(node, 1, j)];
    };
    double total = 0.0;
    for (std::int64_t pair = 0; pair < pairs; ++pair) total += weigh(pair, true);
    const bool by_reach = total > 0.0;
    if (!by_reach) {
      for (std::int64_t pair = 0; pair < pairs; ++pair) total += weigh(pair, false);
    }
    const int pair = draw(random, static_cast<int>(pairs), [&](int index) { return weigh(index, by_reach) / total; });
    own[0] = pair / node.count[1];
    own[1] = pair % node.count[1];
  }

  // Takes the edge on which both private states lie, after an action or by chance; draws where there are several.
  int follow(const GrowingNode& node, int action, int own[2], Random& random) {
    struct Way {
      int child;
      int own[2];
      double weight;
    };
    std::vector<Way> ways;
    double total = 0.0;
    for_each_edge(node, [&](const GrowingEdge& edge) {
      if (edge.child == kNowhere) return;
      const GrowingNode& child = nodes[edge.child];
      const double* const joint = child.joint;
      for_each_entry(edge, 0, [&](const GrowingEntry& first) {
        if (first.source != own[0] || (node.actor == 0 && first.action != action)) return;
        for_each_entry(edge, 1, [&](const GrowingEntry& second) {
          if (second.source != own[1] || (node.actor == 1 && second.action != action)) return;
          const double weight = first.weight * second.weight *
                                joint[static_cast<std::int64_t>(first.target) * child.count[1] + second.target];
          if (weight <= 0.0) return;
          ways.push_back({edge.child, {first.target, second.target}, weight});
          total += weight;
        });
      });
    });
    if (ways.empty()) return kNowhere;
    const int way = draw(random, static_cast<int>(ways.size()), [&](int index) { return ways[index].weight / total; });
    own[0] = ways[way].own[0];
    own[1] = ways[way].own[1];
    return ways[way].child;
  }

  std::vector<GrowingNode> nodes;
  std::vector<GrowingEdge> edges;
  std::vector<GrowingEntry> entries;
  std::deque<std::vector<double>> kept;  // joint weights and payoffs
  std::vector<std::int32_t> slots;
  std::vector<int> leaves, points, watched;
  std::vector<std::pair<int, std::int64_t>> touched;  // by player
  Watched watched_nodes_ = Watched::next;
};

}  // namespace equipoise
