// SPDX-License-Identifier: Apache-2.0
// How a team of threads shares one player's walk over a public tree: a trunk that one thread does, and subtrees below it
// that threads own from the trunk down, so that an update meets at a handful of barriers however deep the tree is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "public_form.hpp"

namespace equipoise {

// Consecutive items of a step that one thread does, and the cells they write.
struct Run {
  std::int32_t step;
  Share share;
  std::int32_t first_cell;
  std::int32_t end_cell;
};

struct TeamPlan {
  std::vector<std::vector<Run>> parts;  // [threads] in the order of a forward walk
  std::vector<Run> trunk;
};

// A decision, or all entries of a relation step that read the same item.
struct WalkItem {
  Run run;
  std::int32_t parent;        // item that it reads, -1 for the root's cells
  std::int32_t source_begin;  // cells that it reads, and adds its values to
  std::int32_t source_end;
  std::int64_t weight;        // cells of it and of everything below
  int owner;
};

inline std::vector<WalkItem> list_items(const PublicForm& form, int player) {
  std::vector<WalkItem> items;
  std::vector<std::int32_t> item_of_cell(static_cast<std::size_t>(form.num_cells()), -1);
  const auto add = [&](std::int32_t step, Share share, std::int32_t first_cell, std::int32_t end_cell,
                       std::int32_t source_begin, std::int32_t source_end) {
    const auto index = static_cast<std::int32_t>(items.size());
    items.push_back({{step, share, first_cell, end_cell}, item_of_cell[source_begin], source_begin, source_end,
                     end_cell - first_cell, 0});
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
  for (std::size_t index = items.size(); index-- > 0;) {
    if (items[index].parent >= 0) items[items[index].parent].weight += items[index].weight;
  }
  return items;
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

inline TeamPlan plan_team(const PublicForm& form, int player, int num_threads) {
  TeamPlan plan;
  plan.parts.resize(static_cast<std::size_t>(num_threads));
  if (num_threads == 1) {
    for (std::int32_t s = form.step_start[player]; s < form.step_start[player + 1]; ++s) {
      plan.parts[0].push_back({s, {0, form.steps[s].num_items}, 0, 0});  // nothing to gather: no cells
    }
    return plan;
  }
  std::vector<WalkItem> items = list_items(form, player);
  std::vector<std::vector<std::int32_t>> below(items.size() + 1);
  std::int64_t total = 0;
  for (std::size_t index = 0; index < items.size(); ++index) {
    below[items[index].parent + 1].push_back(static_cast<std::int32_t>(index));
    if (items[index].parent < 0) total += items[index].weight;
  }
  constexpr int trunk = -1;
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
      items[item].owner = trunk;
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
    std::vector<Run>& runs = item.owner == trunk ? plan.trunk : plan.parts[item.owner];
    if (!runs.empty() && runs.back().step == item.run.step && runs.back().share.end == item.run.share.begin) {
      runs.back().share.end = item.run.share.end;
      runs.back().end_cell = item.run.end_cell;
    } else {
      runs.push_back(item.run);
    }
  }
  return plan;
}

}  // namespace equipoise
