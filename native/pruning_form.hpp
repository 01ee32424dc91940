// SPDX-License-Identifier: Apache-2.0
// A two-player history tree as pruned walks read it: from node to node along the edges that somebody plays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace equipoise {

inline constexpr int chance_actor = -1;    // as games number actors
inline constexpr int terminal_actor = -2;

// A chance or decision node; terminals are edges without a child.
struct PruningNode {
  std::int32_t infoset;       // of the actor; -1 at chance nodes
  std::int32_t first_edge;
  std::int16_t num_children;
  std::int16_t actor;
  double chance;              // chance's reach
};

// Edges of a node are consecutive, so that a walk looks at those it does not follow without going anywhere.
struct PruningEdge {
  std::int32_t child;  // -1: terminal
  double weight;       // of a terminal: chance's reach times player 0's utility
};

// Where an information set stands in its player's forest.
struct PruningInfoset {
  std::int32_t first_sequence;
  std::int32_t num_actions;
  std::int32_t above;         // information set of the parent sequence; -1 if that is the empty one
  std::int32_t above_action;  // the parent sequence's place there
};

// Information sets [begin, end) of one player.
struct InfosetSlice {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t size() const { return end - begin; }
};

// Numbering as in HistoryForm. Nothing here changes while a run goes on.
struct PruningForm {
  std::vector<PruningNode> nodes;  // in depth-first order, the root first
  std::vector<PruningEdge> edges;
  std::int32_t infoset_start[3] = {};
  std::int32_t sequence_start[3] = {};
  std::vector<PruningInfoset> infosets;       // [I]
  std::vector<std::int32_t> parent_sequence;  // [I]
  std::vector<std::int32_t> sequence_infoset; // [Q] -1 at empty sequences
  std::vector<InfosetSlice> below;            // [Q] the player's information sets below a sequence
  std::vector<double> largest;                // [Q] utility of the owner below a sequence
  std::vector<double> range;                  // [I] of the owner's utilities below
  std::vector<std::int32_t> entry_start;      // [Q+1] into the edges that are a sequence's last step
  std::vector<std::int32_t> entry_edge;
  std::vector<std::int32_t> entry_other;      // the other player's last sequence there

  std::int32_t num_infosets() const { return infoset_start[2]; }
  std::int32_t num_sequences() const { return sequence_start[2]; }
  int owner(std::int32_t infoset) const { return infoset < infoset_start[1] ? 0 : 1; }
  // Position of a sequence in its information set's rows.
  int action(std::int32_t sequence) const {
    return sequence - infosets[sequence_infoset[sequence]].first_sequence;
  }
  // Sequences of a slice's information sets are consecutive, too.
  std::int32_t first_below(InfosetSlice slice) const {
    return slice.size() == 0 ? 0 : infosets[slice.begin].first_sequence;
  }
  std::int32_t num_below(InfosetSlice slice) const {
    if (slice.size() == 0) return 0;
    const PruningInfoset& last = infosets[slice.end - 1];
    return last.first_sequence + last.num_actions - infosets[slice.begin].first_sequence;
  }

  void index_infosets(const std::int32_t* first_sequence, const std::int32_t* num_actions) {
    sequence_infoset.assign(static_cast<std::size_t>(num_sequences()), -1);
    below.assign(static_cast<std::size_t>(num_sequences()), {});
    infosets.resize(static_cast<std::size_t>(num_infosets()));
    for (std::int32_t k = 0; k < num_infosets(); ++k) {
      std::fill_n(sequence_infoset.begin() + first_sequence[k], num_actions[k], k);
      const std::int32_t above = sequence_infoset[parent_sequence[k]];
      infosets[k] = {first_sequence[k], num_actions[k], above, above < 0 ? 0 : action(parent_sequence[k])};
    }
    // children before parents: what is below an information set is known when its parent sequence asks for it
    for (std::int32_t k = num_infosets(); k-- > 0;) {
      std::int32_t end = k + 1;
      for (int a = 0; a < num_actions[k]; ++a) end = std::max(end, below[first_sequence[k] + a].end);
      InfosetSlice& slice = below[parent_sequence[k]];
      slice.end = std::max(slice.end, end);
      slice.begin = k;
    }
  }

  // From arrays over all histories, terminals included; `utility` is player 0's, one a terminal.
  void index_nodes(std::size_t num_histories, const std::int8_t* actor, const std::int32_t* parent,
                   const std::int32_t* infoset, const double* chance_probability, const double* utility) {
    std::vector<std::int32_t> num_children(num_histories, 0);
    std::vector<std::int32_t> inner(num_histories, -1);  // number among the nodes
    for (std::size_t h = 1; h < num_histories; ++h) ++num_children[parent[h]];
    std::int32_t num_edges = 0;
    for (std::size_t h = 0; h < num_histories; ++h) {
      if (actor[h] == terminal_actor) continue;
      inner[h] = static_cast<std::int32_t>(nodes.size());
      nodes.push_back({infoset[h], num_edges, static_cast<std::int16_t>(num_children[h]), actor[h], 1.0});
      num_edges += num_children[h];
    }
    edges.resize(static_cast<std::size_t>(num_edges));
    std::vector<std::int32_t> next(nodes.size());  // edge of a node's next child
    for (std::size_t n = 0; n < nodes.size(); ++n) next[n] = nodes[n].first_edge;
    std::vector<std::int32_t> last(2 * nodes.size());       // both players' last sequences
    std::vector<std::int32_t> edge_sequence(edges.size(), -1);
    std::vector<std::int32_t> edge_other(edges.size(), -1);
    std::copy_n(sequence_start, 2, last.begin());
    for (std::size_t h = 1; h < num_histories; ++h) {
      const std::int32_t up = inner[parent[h]];
      const PruningNode& above = nodes[up];
      const std::int32_t e = next[up]++;
      const double chance = above.chance * chance_probability[h];
      std::int32_t own[2] = {last[2 * up], last[2 * up + 1]};
      if (above.infoset >= 0) {
        own[above.actor] = infosets[above.infoset].first_sequence + e - above.first_edge;
        edge_sequence[e] = own[above.actor];
        edge_other[e] = own[1 - above.actor];
      }
      edges[e] = {inner[h], 0.0};
      if (inner[h] < 0) {
        edges[e].weight = chance * *utility++;
      } else {
        nodes[inner[h]].chance = chance;
        std::copy_n(own, 2, last.begin() + 2 * inner[h]);
      }
    }
    index_entries(edge_sequence, edge_other);
  }

 private:
  void index_entries(const std::vector<std::int32_t>& edge_sequence, const std::vector<std::int32_t>& edge_other) {
    entry_start.assign(static_cast<std::size_t>(num_sequences()) + 1, 0);
    for (const std::int32_t q : edge_sequence) {
      if (q >= 0) ++entry_start[q + 1];
    }
    for (std::size_t q = 1; q < entry_start.size(); ++q) entry_start[q] += entry_start[q - 1];
    std::vector<std::int32_t> next(entry_start.begin(), entry_start.end() - 1);
    entry_edge.resize(static_cast<std::size_t>(entry_start.back()));
    entry_other.resize(entry_edge.size());
    for (std::size_t e = 0; e < edge_sequence.size(); ++e) {
      if (edge_sequence[e] < 0) continue;
      const std::int32_t place = next[edge_sequence[e]]++;
      entry_edge[place] = static_cast<std::int32_t>(e);
      entry_other[place] = edge_other[e];
    }
  }
};

}  // namespace equipoise
