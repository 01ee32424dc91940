// SPDX-License-Identifier: Apache-2.0
// A two-player history tree as pruned walks read it: nodes in depth-first order, each with the place to jump to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace equipoise {

inline constexpr int chance_actor = -1;    // as games number actors
inline constexpr int terminal_actor = -2;

struct PruningNode {
  std::int32_t end;      // one past the last node below
  std::int32_t infoset;  // of the actor; -1 at chance and terminal nodes
  double weight;         // chance's reach; at terminals times player 0's utility
  std::int32_t depth;    // 0 at the root
  std::int16_t action;   // by which the parent is left, counted from 0
  std::int16_t actor;
};

// Information sets [begin, end) of one player.
struct InfosetSlice {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t size() const { return end - begin; }
};

// Numbering as in HistoryForm. Nothing here changes while a run goes on.
struct PruningForm {
  std::vector<PruningNode> nodes;
  std::int32_t max_depth = 0;
  std::int32_t infoset_start[3] = {};
  std::int32_t sequence_start[3] = {};
  std::vector<std::int32_t> first_sequence;   // [I]
  std::vector<std::int32_t> num_actions;      // [I]
  std::vector<std::int32_t> parent_sequence;  // [I]
  std::vector<std::int32_t> sequence_infoset; // [Q] -1 at empty sequences
  std::vector<InfosetSlice> below;            // [Q] the player's information sets below a sequence
  std::vector<double> largest;                // [Q] utility of the owner below a sequence
  std::vector<double> range;                  // [I] of the owner's utilities below
  std::vector<std::int32_t> entry_start;      // [Q+1] into the nodes to which a sequence leads
  std::vector<std::int32_t> entry_node;
  std::vector<std::int32_t> entry_other;      // the other player's last sequence there

  std::int32_t num_infosets() const { return infoset_start[2]; }
  std::int32_t num_sequences() const { return sequence_start[2]; }
  int owner(std::int32_t infoset) const { return infoset < infoset_start[1] ? 0 : 1; }
  // Position of a sequence in its information set's rows.
  int action(std::int32_t sequence) const { return sequence - first_sequence[sequence_infoset[sequence]]; }
  std::int32_t above(std::int32_t infoset) const { return sequence_infoset[parent_sequence[infoset]]; }
  // Sequences of a slice's information sets are consecutive, too.
  std::int32_t first_below(InfosetSlice slice) const { return slice.size() == 0 ? 0 : first_sequence[slice.begin]; }
  std::int32_t num_below(InfosetSlice slice) const {
    if (slice.size() == 0) return 0;
    return first_sequence[slice.end - 1] + num_actions[slice.end - 1] - first_sequence[slice.begin];
  }

  void index_sequences() {
    sequence_infoset.assign(static_cast<std::size_t>(num_sequences()), -1);
    below.assign(static_cast<std::size_t>(num_sequences()), {});
    for (std::int32_t infoset = 0; infoset < num_infosets(); ++infoset) {
      std::fill_n(sequence_infoset.begin() + first_sequence[infoset], num_actions[infoset], infoset);
    }
    // children before parents: what is below an information set is known when its parent sequence asks for it
    for (std::int32_t infoset = num_infosets(); infoset-- > 0;) {
      std::int32_t end = infoset + 1;
      for (int a = 0; a < num_actions[infoset]; ++a) end = std::max(end, below[first_sequence[infoset] + a].end);
      InfosetSlice& slice = below[parent_sequence[infoset]];
      slice.end = std::max(slice.end, end);
      slice.begin = infoset;
    }
  }

  // Depths, actions, chance's reach and the entries of sequences, from parents, actors and weights of single edges.
  void index_nodes(const std::int32_t* parent, const double* chance_probability, const double* utility) {
    const auto num_nodes = nodes.size();
    std::vector<std::int16_t> children(num_nodes, 0);
    std::vector<double> chance(num_nodes, 1.0);
    std::vector<std::int32_t> last(2 * num_nodes);  // both players' last sequences
    std::vector<std::int32_t> edge(num_nodes, -1);  // sequence of the edge into a node
    entry_start.assign(static_cast<std::size_t>(num_sequences()) + 1, 0);
    for (std::size_t n = 0; n < num_nodes; ++n) {
      PruningNode& node = nodes[n];
      const std::int32_t up = parent[n];
      for (int player = 0; player < 2; ++player) last[2 * n + player] = up < 0 ? sequence_start[player] : last[2 * up + player];
      if (up >= 0) {
        node.depth = nodes[up].depth + 1;
        node.action = children[up]++;
        chance[n] = chance[up] * chance_probability[n];
        if (nodes[up].infoset >= 0) {
          edge[n] = first_sequence[nodes[up].infoset] + node.action;
          last[2 * n + nodes[up].actor] = edge[n];
          ++entry_start[edge[n] + 1];
        }
      }
      max_depth = std::max(max_depth, node.depth);
      node.weight = node.actor == terminal_actor ? chance[n] * *utility++ : chance[n];
    }
    for (std::size_t q = 1; q < entry_start.size(); ++q) entry_start[q] += entry_start[q - 1];
    std::vector<std::int32_t> next(entry_start.begin(), entry_start.end() - 1);
    entry_node.resize(static_cast<std::size_t>(entry_start.back()));
    entry_other.resize(entry_node.size());
    for (std::size_t n = 0; n < num_nodes; ++n) {
      if (edge[n] < 0) continue;
      const std::int32_t place = next[edge[n]]++;
      entry_node[place] = static_cast<std::int32_t>(n);
      entry_other[place] = last[2 * n + 1 - owner(sequence_infoset[edge[n]])];
    }
  }
};

}  // namespace equipoise
