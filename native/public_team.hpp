// SPDX-License-Identifier: Apache-2.0
// How a team of threads shares one player's walk over a public tree: a trunk that one thread does, and subtrees below it
// that threads own from the trunk down, with the terminals below them. An update meets at two barriers however deep the
// tree is. Each thread has a value table of its own, so that several may add to the same cells of the trunk.
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

// What one thread does in a walk.
struct Part {
  std::vector<Run> runs;           // in the order of a forward walk
  std::vector<TerminalRun> dense;
  std::vector<Share> sparse;       // entries of the list
  std::vector<Share> cells;        // of the runs
};

struct TeamPlan {
  std::vector<Part> parts;  // [threads]
  Part trunk;               // above all parts; its terminals are in the parts
};

// A decision, or all entries of a relation step that read the same item.
struct WalkItem {
  Run run;
  std::int32_t first_cell;
  std::int32_t end_cell;
  std::int32_t source;  // first cell that it reads
  std::int32_t parent;  // item of that cell, to which its values are added; -1 for the root's cells
  std::int64_t weight;  // work of it and of everything below
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
  const auto add = [&](Run run, std::int32_t first_cell, std::int32_t end_cell, std::int32_t source) {
    const auto index = static_cast<std::int32_t>(items.size());
    items.push_back({run, first_cell, end_cell, source, item_of_cell[source], cell_work * (end_cell - first_cell), 0});
    for (std::int32_t cell = first_cell; cell < end_cell; ++cell) item_of_cell[cell] = index;
  };
  for (std::int32_t s = form.step_start[player]; s < form.step_start[player + 1]; ++s) {
    const PublicStep& step = form.steps[s];
    if (step.kind == StepKind::decision) {
      const std::int32_t block = step.num_actions * step.stride;
      for (std::int32_t k = 0; k < step.num_items; ++k) {
        const std::int32_t first = step.first_cell + k * block;
        add({s, {k, k + 1}}, first, first + block, form.source[step.first_index + k]);
      }
      continue;
    }
    const std::int32_t* source = form.entry_source + step.first_index;
    const std::int32_t* target = form.entry_target + step.first_index;
    for (std::int32_t begin = 0, end = 0; begin < step.num_items; begin = end) {
      const std::int32_t parent = item_of_cell[source[begin]];
      while (end < step.num_items && item_of_cell[source[end]] == parent) ++end;
      add({s, {begin, end}}, target[begin], target[end - 1] + 1, source[begin]);
    }
  }
  add_terminal_work(form, player, walk);
  for (std::size_t index = items.size(); index-- > 0;) {
    if (items[index].parent >= 0) items[items[index].parent].weight += items[index].weight;
  }
  return walk;
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
constexpr std::int64_t subtrees_per_thread = 8;  // at least: the shares differ by less than one of them

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
  // What is heavier than a small part of a thread's share belongs to the trunk; the subtrees below are dealt in
  // depth-first order, a run to each thread, so that a thread's items stand together in the steps too.
  std::vector<std::int32_t> subtrees;
  std::int64_t subtrees_weight = 0;
  std::vector<std::int32_t> pending;
  const auto push = [&](std::vector<std::int32_t>& children) {
    std::sort(children.begin(), children.end(), [&](std::int32_t a, std::int32_t b) {
      return items[a].source != items[b].source ? items[a].source > items[b].source : a > b;
    });
    pending.insert(pending.end(), children.begin(), children.end());
  };
  push(below[0]);
  while (!pending.empty()) {
    const std::int32_t item = pending.back();
    pending.pop_back();
    if (items[item].weight * num_threads * subtrees_per_thread > total) {
      items[item].owner = trunk_owner;
      push(below[item + 1]);
    } else {
      subtrees.push_back(item);
      subtrees_weight += items[item].weight;
    }
  }
  std::int64_t before = 0;
  for (const std::int32_t item : subtrees) {
    items[item].owner = static_cast<int>((before + items[item].weight / 2) * num_threads / subtrees_weight);
    before += items[item].weight;
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
  // the trunk's terminals are shared out evenly, the k-th of `count` to
  const auto part_of_terminal = [&](std::int32_t cell, std::int64_t k, std::int64_t count) -> Part& {
    const std::int32_t item = walk.item_of_cell[cell];
    const int owner = item < 0 ? trunk_owner : walk.items[item].owner;
    return plan.parts[owner == trunk_owner ? k * num_threads / count : owner];
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
      const std::int32_t cell = form.dense_own[group.first_terminal + k];
      std::vector<TerminalRun>& runs = part_of_terminal(cell, k, group.num_terminals).dense;
      if (!runs.empty() && runs.back().group == g && runs.back().share.end == k) {
        runs.back().share.end = k + 1;
      } else {
        runs.push_back({g, {k, k + 1}});
      }
    }
  }
  const std::int32_t start = form.sparse_start[player], end = form.sparse_start[player + 1];
  for (std::int32_t k = start; k < end; ++k) {
    extend(part_of_terminal(form.sparse_own[k], k - start, end - start).sparse, k, k + 1);
  }
  return plan;
}

}  // namespace equipoise
