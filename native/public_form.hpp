// SPDX-License-Identifier: Apache-2.0
// A public tree as sweeps read it: steps over runs of cells, and terminals. See public.hpp for what cells are.
#pragma once

#include <cstdint>

namespace equipoise {

enum class StepKind : std::int32_t { decision = 0, relation = 1 };

// Blocks of one kind and shape, their cells in one run. Later steps of a player read earlier ones alone.
struct PublicStep {
  StepKind kind;
  std::int32_t first_cell;
  std::int32_t num_items;    // decisions, or entries
  std::int32_t num_actions;  // decisions alone
  std::int32_t stride;       // decisions: cells of a row; relations: cells of the run
  std::int32_t first_index;  // into `source`, or the entries
  std::int32_t is_masked;    // decisions alone: some private state lacks some action
  std::int32_t first_row;    // decisions alone: into the tables that are kept per private state
};

// Terminals that share a matrix up to a scale.
struct DenseGroup {
  std::int32_t player;
  std::int32_t num_rows;     // a multiple of four
  std::int32_t num_columns;
  std::int32_t matrix_start;
  std::int32_t first_terminal;
  std::int32_t num_terminals;
};

struct PublicForm {
  int max_actions = 0;
  const std::int32_t* cell_start = nullptr;    // [5] decisions of players 0, 1; other cells of players 0, 1
  const PublicStep* steps = nullptr;
  const std::int32_t* step_start = nullptr;    // [3]
  const std::int32_t* source = nullptr;        // [D]
  const std::int32_t* entry_source = nullptr;  // [K]
  const std::int32_t* entry_target = nullptr;  // [K]
  const double* entry_weight = nullptr;        // [K]
  const double* legal_share = nullptr;         // [table cells] 1 / legal actions, 0 where illegal
  const DenseGroup* groups = nullptr;
  const std::int32_t* group_start = nullptr;   // [3]
  const double* matrix = nullptr;              // [columns, rows] each
  const std::int32_t* dense_own = nullptr;
  const std::int32_t* dense_other = nullptr;
  const double* dense_scale = nullptr;
  const std::int32_t* sparse_start = nullptr;  // [3]
  const std::int32_t* sparse_own = nullptr;
  const std::int32_t* sparse_other = nullptr;
  const double* sparse_weight = nullptr;
  // what is locked: cells of tables by player, what is played there; null if nothing is
  const std::int32_t* lock_start = nullptr;    // [3]
  const std::int32_t* locked_cell = nullptr;
  const double* locked_share = nullptr;        // [locked cells]
  const std::uint8_t* is_locked = nullptr;     // [rows]
  const double* locked_strategy = nullptr;     // [table cells], where rows are locked

  std::int32_t num_cells() const { return cell_start[4]; }
};

// Consecutive ones of something that a team shares.
struct Share {
  std::int64_t begin;
  std::int64_t end;
};

}  // namespace equipoise
