// SPDX-License-Identifier: Apache-2.0
// Matrix products in a fixed order: a library for them adds up as the processor at hand likes it best.
#pragma once

#include <algorithm>
#include <cstdint>

namespace equipoise {

// Overwrites `out` [rows, columns] with first [rows, inner] times second [inner, columns]. Each number is added up in the
// order of `inner`; zeros of the first matrix are passed over.
inline void multiply(std::int64_t num_rows, std::int64_t num_inner, std::int64_t num_columns,
                     const double* __restrict first, const double* __restrict second, double* __restrict out) {
  std::fill_n(out, num_rows * num_columns, 0.0);
  for (std::int64_t row = 0; row < num_rows; ++row) {
    double* __restrict const sums = out + row * num_columns;
    for (std::int64_t inner = 0; inner < num_inner; ++inner) {
      const double factor = first[row * num_inner + inner];
      if (factor == 0.0) continue;
      const double* __restrict const addends = second + inner * num_columns;
      for (std::int64_t column = 0; column < num_columns; ++column) sums[column] += factor * addends[column];
    }
  }
}

}  // namespace equipoise
