// SPDX-License-Identifier: Apache-2.0
// How a team of threads shares one player's walk over a public tree: a trunk that one thread does, and subtrees below it
// that threads own from the trunk down, with the terminals below them, so that an update meets at two barriers however deep
// the tree is, and no two threads write the same cell between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "public_form.hpp"

namespace equipoise {

// Consecutive items of a step.
struct Run {
  std::int32_t step;
  Share share;
};

// Consecutive terminals of a group.
struct TerminalRun {
  std::int32_t group;
  Share share;
};

// What one thread does in a walk: no other one writes its cells.
struct Part {
  std::vector<Run> runs;           // in the order of a forward walk
  std::vector<TerminalRun> dense;  // terminals that write cells of the part
  std::vector<Share> sparse;       // likewise, entries of the list
  std::vector<Share> cells;
};

struct TeamPlan {
  std::vector<Part> parts;  // [threads]
  Part trunk;               // above all parts, and terminals that write cells of several
};

// A decision, or all entries of a relation step that read the same item.
struct WalkItem {
  Run run;
  std::int32_t first_cell;
  std::int32_t end_cell;
  std::int32_t parent;        // item that it reads, -1 for the root's cells
  std::int32_t source_begin;  // cells that it reads, and adds its values to
  std::int32_t source_end;
  std::int64_t weight;        // work of it and of everything below
  int owner;
};

// Work in units of one number of a dense matrix, as measured on Leduc.
constexpr std::int64_t cell_work = 16;
constexpr std::int64_t entry_work = 16;

// The items of a player's walk, and which item each cell belongs to (-1: none).
struct Walk {
  std::vector<WalkItem> items;
  std::vector<std::int32_t> item_of_cell;
};

inline void add_terminal_work(const PublicForm& form, int player, Walk& walk) {
  const auto add = [&](std::int32_t cell, std::int64_t work) {
    const std::int32_t item = walk.item_of_cell[cell];
    if (item >= 0) walk.items[item].weight += work;
  };
  for (std::int32_t g = form.group_start[player]; g < form.group_start[player + 1]; ++g) {
    const DenseGroup& group = form.groups[g];
    const std::int64_t work = static_cast<std::int64_t>(group.num_rows) * group.num_columns;
    for (std::int32_t k = 0; k < group.num_terminals; ++k) add(form.dense_own[group.first_terminal + k], work);
  }
  for (std::int32_t k = form.sparse_start[player]; k < form.sparse_start[player + 1]; ++k) {
    add(form.sparse_own[k], entry_work);
  }
}

inline Walk list_items(const PublicForm& form, int player) {
  Walk walk;
  walk.item_of_cell.assign(static_cast<std::size_t>(form.num_cells()), -1);
  std::vector<WalkItem>& items = walk.items;
  std::vector<std::int32_t>& item_of_cell = walk.item_of_cell;
  const auto add = [&](std::int32_t step, Share share, std::int32_t first_cell, std::int32_t end_cell,
                       std::int32_t source_begin, std::int32_t source_end) {
    const auto index = static_cast<std::int32_t>(items.size());
    items.push_back({{step, share}, first_cell, end_cell, item_of_cell[source_begin], source_begin, source_end,
                     cell_work * (end_cell - first_cell), 0});
    for (std::int32_t cell = first_cell; cell < end_cell; ++cell) item_of_cell[cell] = index;
  };
  for (std::int32_t s = form.step_start[player]; s < form.step_start[player + 1]; ++s) {
    const PublicStep& step = form.steps[s];
    if (step.kind == StepKind::decision) {
      const std::int32_t block = step.num_actions * step.stride;
      for (std::int32_t k = 0; k < step.num_items; ++k) {
        const std::int32_t source = form.source[step.first_index + k];
        const std::int32_t first = step.first_cell + k * block;
        add(s, {k, k + 1}, first, first + block, source, source + step.stride);
      }
      continue;
    }
    const std::int32_t* source = form.entry_source + step.first_index;
    const std::int32_t* target = form.entry_target + step.first_index;
    for (std::int32_t begin = 0, end = 0; begin < step.num_items; begin = end) {
      const std::int32_t parent = item_of_cell[source[begin]];
      while (end < step.num_items && item_of_cell[source[end]] == parent) ++end;
      const auto [low, high] = std::minmax_element(source + begin, source + end);
      add(s, {begin, end}, target[begin], target[end - 1] + 1, *low, *high + 1);
    }
  }
  add_terminal_work(form, player, walk);
  for (std::size_t index = items.size(); index-- > 0;) {
    if (items[index].parent >= 0) items[items[index].parent].weight += items[index].weight;
  }
  return walk;
}

// Items whose parents are in the trunk and which add to the same cells of it: one thread must do them all.
struct WalkGroup {
  std::vector<std::int32_t> items;
  std::int64_t weight = 0;
};

inline void add_groups(const std::vector<WalkItem>& items, std::vector<std::int32_t> members,
                       std::vector<WalkGroup>& groups) {
  std::sort(members.begin(), members.end(),
            [&](std::int32_t a, std::int32_t b) { return items[a].source_begin < items[b].source_begin; });
  std::int32_t end = -1;
  for (const std::int32_t member : members) {
    if (items[member].source_begin >= end) groups.emplace_back();
    groups.back().items.push_back(member);
    groups.back().weight += items[member].weight;
    end = std::max(end, items[member].source_end);
  }
}

// One thread does everything.
inline TeamPlan plan_alone(const PublicForm& form, int player) {
  Part part;
  for (std::int32_t s = form.step_start[player]; s < form.step_start[player + 1]; ++s) {
    part.runs.push_back({s, {0, form.steps[s].num_items}});
  }
  for (std::int32_t g = form.group_start[player]; g < form.group_start[player + 1]; ++g) {
    part.dense.push_back({g, {0, form.groups[g].num_terminals}});
  }
  part.sparse.push_back({form.sparse_start[player], form.sparse_start[player + 1]});
  for (const int run : {player, player + 2}) part.cells.push_back({form.cell_start[run], form.cell_start[run + 1]});
  return {{part}, {}};
}

constexpr int trunk_owner = -1;

// Decides who does each item: `owner` is a thread or `trunk_owner`, and what is below an item that is not in the trunk
// belongs to the same thread.
inline void share_out(std::vector<WalkItem>& items, int num_threads) {
  std::vector<std::vector<std::int32_t>> below(items.size() + 1);
  std::int64_t total = 0;
  for (std::size_t index = 0; index < items.size(); ++index) {
    below[items[index].parent + 1].push_back(static_cast<std::int32_t>(index));
    if (items[index].parent < 0) total += items[index].weight;
  }
  constexpr int inherited = -2;
  for (WalkItem& item : items) item.owner = inherited;
  std::vector<WalkGroup> groups;
  add_groups(items, below[0], groups);
  const auto is_lighter = [](const WalkGroup& a, const WalkGroup& b) { return a.weight < b.weight; };
  // groups are split until each is a small part of a thread's share
  while (!groups.empty()) {
    const auto heaviest = std::max_element(groups.begin(), groups.end(), is_lighter);
    if (heaviest->weight * num_threads * 4 <= total) break;
    const WalkGroup split = *heaviest;
    groups.erase(heaviest);
    std::vector<std::int32_t> members;
    for (const std::int32_t item : split.items) {
      items[item].owner = trunk_owner;
      members.insert(members.end(), below[item + 1].begin(), below[item + 1].end());
    }
    add_groups(items, members, groups);
  }
  std::sort(groups.begin(), groups.end(), [&](const WalkGroup& a, const WalkGroup& b) { return is_lighter(b, a); });
  std::vector<std::int64_t> load(static_cast<std::size_t>(num_threads), 0);
  for (const WalkGroup& group : groups) {
    const auto thread = std::min_element(load.begin(), load.end()) - load.begin();
    load[thread] += group.weight;
    for (const std::int32_t item : group.items) items[item].owner = static_cast<int>(thread);
  }
  for (WalkItem& item : items) {
    if (item.owner == inherited) item.owner = items[item.parent].owner;
  }
}

// Appends one item to the last of `runs`, or as a new one if it does not follow on it.
inline void extend(std::vector<Share>& runs, std::int64_t begin, std::int64_t end) {
  if (!runs.empty() && runs.back().end == begin) {
    runs.back().end = end;
  } else {
    runs.push_back({begin, end});
  }
}

inline TeamPlan plan_team(const PublicForm& form, int player, int num_threads) {
  if (num_threads == 1) return plan_alone(form, player);
  Walk walk = list_items(form, player);
  share_out(walk.items, num_threads);
  TeamPlan plan;
  plan.parts.resize(static_cast<std::size_t>(num_threads));
  const auto part_of = [&](int owner) -> Part& { return owner == trunk_owner ? plan.trunk : plan.parts[owner]; };
  const auto owner_of = [&](std::int32_t cell) {
    return walk.item_of_cell[cell] < 0 ? trunk_owner : walk.items[walk.item_of_cell[cell]].owner;
  };
  for (const WalkItem& item : walk.items) {
    Part& part = part_of(item.owner);
    if (!part.runs.empty() && part.runs.back().step == item.run.step &&
        part.runs.back().share.end == item.run.share.begin) {
      part.runs.back().share.end = item.run.share.end;
    } else {
      part.runs.push_back(item.run);
    }
    extend(part.cells, item.first_cell, item.end_cell);
  }
  for (const int run : {player, player + 2}) {  // the root's cells
    for (std::int32_t cell = form.cell_start[run]; cell < form.cell_start[run + 1]; ++cell) {
      if (walk.item_of_cell[cell] < 0) extend(plan.trunk.cells, cell, cell + 1);
    }
  }
  for (std::int32_t g = form.group_start[player]; g < form.group_start[player + 1]; ++g) {
    const DenseGroup& group = form.groups[g];
    for (std::int32_t k = 0; k < group.num_terminals; ++k) {
      const std::int32_t first = form.dense_own[group.first_terminal + k];
      // whole vectors are written: the last one may reach into the next block
      const int owner = owner_of(first) == owner_of(first + group.num_rows - 1) ? owner_of(first) : trunk_owner;
      std::vector<TerminalRun>& runs = part_of(owner).dense;
      if (!runs.empty() && runs.back().group == g && runs.back().share.end == k) {
        runs.back().share.end = k + 1;
      } else {
        runs.push_back({g, {k, k + 1}});
      }
    }
  }
  for (std::int32_t k = form.sparse_start[player]; k < form.sparse_start[player + 1]; ++k) {
    extend(part_of(owner_of(form.sparse_own[k])).sparse, k, k + 1);
  }
  return plan;
}

}  // namespace equipoise
