// SPDX-License-Identifier: Apache-2.0
// A two-player history tree as pruned walks read it: from node to node along the edges that somebody plays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace equipoise {

inline constexpr int chance_actor = -1;    // as games number actors
inline constexpr int terminal_actor = -2;

// The tree is one array of cells: a chance or decision node, then one cell for each of its children. Walks wait for
// memory more than for anything else, and so find a node and what they need of its children side by side.
struct PruningCell {
  std::int32_t link;          // of a node: its information set, -1 at chance; of a child: its cell, -1 if terminal
  std::int16_t num_children;  // of a node
  std::int16_t actor;         // of a node
  double weight;              // of a node: chance's reach; of a terminal child: the same times player 0's utility
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
  std::vector<PruningCell> cells;  // nodes in depth-first order, the root first
  std::int32_t infoset_start[3] = {};
  std::int32_t sequence_start[3] = {};
  std::vector<PruningInfoset> infosets;       // [I]
  std::vector<std::int32_t> parent_sequence;  // [I]
  std::vector<std::int32_t> sequence_infoset; // [Q] -1 at empty sequences
  std::vector<InfosetSlice> below;            // [Q] the player's information sets below a sequence
  std::vector<double> largest;                // [Q] utility of the owner below a sequence
  std::vector<double> range;                  // [I] of the owner's utilities below
  std::vector<std::int32_t> entry_start;      // [Q+1] into the children to which a sequence leads
  std::vector<std::int32_t> entry_child;      // its cell
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

  std::int64_t num_bytes() const {
    const auto count = [](const auto& array) { return static_cast<std::int64_t>(array.capacity() * sizeof(array[0])); };
    return count(cells) + count(infosets) + count(parent_sequence) + count(sequence_infoset) + count(below) +
           count(largest) + count(range) + count(entry_start) + count(entry_child) + count(entry_other);
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
    for (std::size_t h = 1; h < num_histories; ++h) ++num_children[parent[h]];
    std::vector<std::int32_t> cell(num_histories, -1);  // of a history's node; none at terminals
    std::int32_t num_cells = 0;
    for (std::size_t h = 0; h < num_histories; ++h) {
      if (actor[h] == terminal_actor) continue;
      cell[h] = num_cells;
      num_cells += 1 + num_children[h];
    }
    cells.resize(static_cast<std::size_t>(num_cells));
    std::vector<std::int32_t> next(num_histories);         // cell of a node's next child
    std::vector<std::int32_t> last(2 * num_histories);     // both players' last sequences
    std::vector<std::int32_t> step(cells.size(), -1);      // of a child: the sequence that leads there
    std::vector<std::int32_t> other(cells.size(), -1);     // the other player's last
    for (std::size_t h = 0; h < num_histories; ++h) {
      double chance = 1.0;
      std::copy_n(sequence_start, 2, last.begin() + 2 * h);
      if (h > 0) {
        const auto up = static_cast<std::size_t>(parent[h]);
        const std::int32_t child = next[up]++;
        chance = cells[cell[up]].weight * chance_probability[h];
        std::copy_n(last.begin() + 2 * up, 2, last.begin() + 2 * h);
        if (actor[up] >= 0) {
          step[child] = last[2 * h + actor[up]] = infosets[infoset[up]].first_sequence + child - cell[up] - 1;
          other[child] = last[2 * h + 1 - actor[up]];
        }
        cells[child] = {cell[h], 0, 0, cell[h] < 0 ? chance * *utility++ : 0.0};
      }
      if (cell[h] < 0) continue;
      cells[cell[h]] = {infoset[h], static_cast<std::int16_t>(num_children[h]), actor[h], chance};
      next[h] = cell[h] + 1;
    }
    index_entries(step, other);
  }

 private:
  void index_entries(const std::vector<std::int32_t>& step, const std::vector<std::int32_t>& other) {
    entry_start.assign(static_cast<std::size_t>(num_sequences()) + 1, 0);
    for (const std::int32_t q : step) {
      if (q >= 0) ++entry_start[q + 1];
    }
    for (std::size_t q = 1; q < entry_start.size(); ++q) entry_start[q] += entry_start[q - 1];
    std::vector<std::int32_t> next(entry_start.begin(), entry_start.end() - 1);
    entry_child.resize(static_cast<std::size_t>(entry_start.back()));
    entry_other.resize(entry_child.size());
    for (std::size_t c = 0; c < step.size(); ++c) {
      if (step[c] < 0) continue;
      const std::int32_t place = next[step[c]]++;
      entry_child[place] = static_cast<std::int32_t>(c);
      entry_other[place] = other[c];
    }
  }
};

}  // namespace equipoise
