// SPDX-License-Identifier: Apache-2.0
// How a team of threads shares one player's walk over a public tree: a trunk that one thread does, and subtrees below it
// that threads own from the trunk down, with the terminals below them. An update meets at two barriers however deep the
// tree is. A cell's values are added up by one thread and in the order of a team of one, whatever the size of the team:
// what subtrees are worth is handed over and added by who does the trunk. Each thread has a value table of its own,
// because terminals may add zeros past the cells that they are about.
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
  std::int32_t num_handed = 0;     // cells past all others of the thread's table, for values that are handed over
};

// A value that a thread leaves for the trunk.
struct Handover {
  int thread;
  std::int32_t from;  // cell of the thread's table
  std::int32_t to;    // of the trunk
};

struct TeamPlan {
  std::vector<Part> parts;  // [threads]
  Part trunk;               // above all parts; its terminals are in the parts, and runs of step `handing_over` in it
  std::vector<Handover> handovers;
  // where values go in place of `source` and `entry_source`; empty if there is nothing to hand over
  std::vector<std::int32_t> above, entry_above;
  std::vector<std::int16_t> owner;  // [C] thread whose table has a cell's values, `trunk_owner`: the trunk's

  void find_owners(std::int32_t num_cells) {
    owner.assign(static_cast<std::size_t>(num_cells), -1);
    for (std::size_t thread = 0; thread < parts.size(); ++thread) {
      for (const Share& cells : parts[thread].cells) {
        for (std::int64_t cell = cells.begin; cell < cells.end; ++cell) owner[cell] = static_cast<std::int16_t>(thread);
      }
    }
  }
};

constexpr std::int32_t handing_over = -1;

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

// Items of all decision steps, or entries of all relation steps.
inline std::int32_t count_indices(const PublicForm& form, StepKind kind) {
  std::int32_t count = 0;
  for (std::int32_t s = 0; s < form.step_start[2]; ++s) {
    const PublicStep& step = form.steps[s];
    if (step.kind == kind) count = std::max(count, step.first_index + step.num_items);
  }
  return count;
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
  return {.parts = {part}, .trunk = {}, .handovers = {}, .above = {}, .entry_above = {}, .owner = {}};
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

// Deals the terminals of the trunk to threads. Those that write to the same row, or below the same relation, stay together.
class TrunkTerminals {
 public:
  TrunkTerminals(const PublicForm& form, const Walk& walk, int num_threads)
      : form_(form), walk_(walk), work_(walk.item_of_cell.size()), owner_(walk.item_of_cell.size()),
        num_threads_(num_threads) {}

  bool holds(std::int32_t cell) const {
    const std::int32_t item = walk_.item_of_cell[cell];
    return item < 0 || walk_.items[item].owner == trunk_owner;
  }
  void add(std::int32_t cell, std::int64_t work) {
    if (holds(cell)) work_[first_cell(cell)] += work;
  }
  void deal() {
    std::int64_t total = 0, before = 0;
    for (const std::int64_t work : work_) total += work;
    for (std::size_t cell = 0; cell < work_.size(); ++cell) {
      if (work_[cell] == 0) continue;
      owner_[cell] = static_cast<int>((before + work_[cell] / 2) * num_threads_ / total);
      before += work_[cell];
    }
  }
  int owner(std::int32_t cell) const {
    return holds(cell) ? owner_[first_cell(cell)] : walk_.items[walk_.item_of_cell[cell]].owner;
  }

 private:
  const PublicForm& form_;
  const Walk& walk_;
  std::vector<std::int64_t> work_;  // by first cell
  std::vector<int> owner_;
  int num_threads_;

  std::int32_t first_cell(std::int32_t cell) const {
    const std::int32_t index = walk_.item_of_cell[cell];
    if (index < 0) return 0;  // the root
    const WalkItem& item = walk_.items[index];
    const PublicStep& step = form_.steps[item.run.step];
    if (step.kind == StepKind::relation) return item.first_cell;
    return cell - (cell - item.first_cell) % step.stride;
  }
};

// Calls `work(cell, group, place, work of one)` for a player's terminals of dense groups, in order.
template <typename Work>
void for_dense_terminals(const PublicForm& form, int player, Work&& work) {
  for (std::int32_t g = form.group_start[player]; g < form.group_start[player + 1]; ++g) {
    const DenseGroup& group = form.groups[g];
    const std::int64_t size = static_cast<std::int64_t>(group.num_rows) * group.num_columns;
    for (std::int32_t k = 0; k < group.num_terminals; ++k) work(form.dense_own[group.first_terminal + k], g, k, size);
  }
}

// Shares the terminals out to the parts, each part's in the order of a team of one.
inline void share_terminals(const PublicForm& form, int player, const Walk& walk, TeamPlan& plan) {
  const std::int32_t start = form.sparse_start[player], end = form.sparse_start[player + 1];
  TrunkTerminals trunk(form, walk, static_cast<int>(plan.parts.size()));
  for_dense_terminals(form, player, [&](std::int32_t cell, std::int32_t, std::int32_t, std::int64_t work) {
    trunk.add(cell, work);
  });
  for (std::int32_t k = start; k < end; ++k) trunk.add(form.sparse_own[k], entry_work);
  trunk.deal();
  for_dense_terminals(form, player, [&](std::int32_t cell, std::int32_t g, std::int32_t k, std::int64_t) {
    std::vector<TerminalRun>& runs = plan.parts[trunk.owner(cell)].dense;
    if (!runs.empty() && runs.back().group == g && runs.back().share.end == k) {
      runs.back().share.end = k + 1;
    } else {
      runs.push_back({g, {k, k + 1}});
    }
  });
  for (std::int32_t k = start; k < end; ++k) extend(plan.parts[trunk.owner(form.sparse_own[k])].sparse, k, k + 1);
}

// Appends a run of items, or of handovers, to the last one if it follows on it.
inline void append_run(Part& part, std::int32_t step, Share share) {
  if (!part.runs.empty() && part.runs.back().step == step && part.runs.back().share.end == share.begin) {
    part.runs.back().share.end = share.end;
  } else {
    part.runs.push_back({step, share});
  }
}

// Has what an item is worth handed over to the trunk above it.
inline void hand_over(const PublicForm& form, const WalkItem& item, TeamPlan& plan) {
  Part& part = plan.parts[item.owner];
  const auto first = static_cast<std::int64_t>(plan.handovers.size());
  const auto add = [&](std::int32_t to) {
    const std::int32_t from = form.num_cells() + part.num_handed++;
    plan.handovers.push_back({item.owner, from, to});
    return from;
  };
  const PublicStep& step = form.steps[item.run.step];
  for (std::int64_t k = step.first_index + item.run.share.begin; k < step.first_index + item.run.share.end; ++k) {
    if (step.kind == StepKind::relation) {
      plan.entry_above[k] = add(form.entry_source[k]);
    } else {
      plan.above[k] = add(form.source[k]);
      for (std::int32_t column = 1; column < step.stride; ++column) add(form.source[k] + column);
    }
  }
  append_run(plan.trunk, handing_over, {first, static_cast<std::int64_t>(plan.handovers.size())});
}

inline TeamPlan plan_team(const PublicForm& form, int player, int num_threads) {
  if (num_threads == 1) return plan_alone(form, player);
  Walk walk = list_items(form, player);
  share_out(walk.items, num_threads);
  TeamPlan plan;
  plan.parts.resize(static_cast<std::size_t>(num_threads));
  plan.above.assign(form.source, form.source + count_indices(form, StepKind::decision));
  plan.entry_above.assign(form.entry_source, form.entry_source + count_indices(form, StepKind::relation));
  for (const WalkItem& item : walk.items) {
    const bool is_trunk = item.owner == trunk_owner;
    Part& part = is_trunk ? plan.trunk : plan.parts[item.owner];
    append_run(part, item.run.step, item.run.share);
    extend(part.cells, item.first_cell, item.end_cell);
    if (!is_trunk && (item.parent < 0 || walk.items[item.parent].owner == trunk_owner)) hand_over(form, item, plan);
  }
  for (const int run : {player, player + 2}) {  // the root's cells
    for (std::int32_t cell = form.cell_start[run]; cell < form.cell_start[run + 1]; ++cell) {
      if (walk.item_of_cell[cell] < 0) extend(plan.trunk.cells, cell, cell + 1);
    }
  }
  share_terminals(form, player, walk, plan);
  return plan;
}

}  // namespace equipoise
