// SPDX-License-Identifier: Apache-2.0
// Rows of numbers by information set that can be given back: best-response pruning frees what it does not need.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace equipoise {

// One block of memory. Rows are appended; holes are closed when they are worth it, and the rest is given back.
class RowStore {
 public:
  // `widths` `[I]` numbers in each information set's row; the first of them is set `first`.
  RowStore(std::int32_t first, std::vector<std::int32_t> widths)
      : first_(first), width_(std::move(widths)), offset_(width_.size(), -1) {
    std::int64_t total = 0;
    for (std::size_t k = 0; k < width_.size(); ++k) {
      offset_[k] = static_cast<std::int32_t>(total);
      total += width_[k];
    }
    cells_.assign(static_cast<std::size_t>(total), 0.0);
  }

  bool has(std::int32_t infoset) const { return offset_[infoset - first_] >= 0; }
  double* row(std::int32_t infoset) { return cells_.data() + offset_[infoset - first_]; }
  const double* row(std::int32_t infoset) const { return cells_.data() + offset_[infoset - first_]; }

  // Gives a row of zeros; pointers into the store end here.
  void allocate(std::int32_t infoset) {
    const auto width = static_cast<std::size_t>(width_[infoset - first_]);
    const std::size_t size = cells_.size();
    if (size + width > cells_.capacity()) cells_.reserve(size + std::max(width, size / static_cast<std::size_t>(kHoleShare)));
    offset_[infoset - first_] = static_cast<std::int32_t>(size);
    cells_.resize(size + width, 0.0);
  }

  void release(std::int32_t infoset) {
    num_free_ += width_[infoset - first_];
    offset_[infoset - first_] = -1;
  }

  // Closes holes if they are worth it; pointers into the store end here.
  void compact() {
    if (num_free_ == 0 || kHoleShare * num_free_ < static_cast<std::int64_t>(cells_.size())) return;
    std::vector<double> kept;
    kept.reserve(cells_.size() - static_cast<std::size_t>(num_free_));
    for (std::size_t k = 0; k < width_.size(); ++k) {
      if (offset_[k] < 0) continue;
      const auto begin = cells_.begin() + offset_[k];
      offset_[k] = static_cast<std::int32_t>(kept.size());
      kept.insert(kept.end(), begin, begin + width_[k]);
    }
    cells_.swap(kept);
    num_free_ = 0;
  }

  std::int64_t num_bytes() const {
    return static_cast<std::int64_t>(cells_.capacity() * sizeof(double) + offset_.size() * sizeof(offset_[0]));
  }

 private:
  static constexpr std::int64_t kHoleShare = 32;  // holes are closed when they are one in so many cells

  std::int32_t first_;
  std::vector<std::int32_t> width_;
  std::vector<std::int32_t> offset_;  // -1: no row
  std::vector<double> cells_;
  std::int64_t num_free_ = 0;
};

// Which information sets of a player a walk has met; read in ascending order, parents first, or back.
class VisitedSet {
 public:
  VisitedSet(std::int32_t first, std::int32_t size) : first_(first), words_((static_cast<std::size_t>(size) + 63) / 64) {}

  void insert(std::int32_t infoset) {
    const auto place = static_cast<std::uint32_t>(infoset - first_);
    words_[place / 64] |= std::uint64_t{1} << (place % 64);
  }

  template <typename Use>
  void for_each(Use&& use) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) {
        use(first_ + static_cast<std::int32_t>(64 * w) + std::countr_zero(word));
      }
    }
  }

  // Takes every member out, the last first.
  template <typename Use>
  void drain_backwards(Use&& use) {
    for (std::size_t w = words_.size(); w-- > 0;) {
      for (std::uint64_t& word = words_[w]; word != 0;) {
        const int bit = 63 - std::countl_zero(word);
        word ^= std::uint64_t{1} << bit;
        use(first_ + static_cast<std::int32_t>(64 * w) + bit);
      }
    }
  }

  std::int64_t num_bytes() const { return static_cast<std::int64_t>(words_.size() * sizeof(words_[0])); }

 private:
  std::int32_t first_;
  std::vector<std::uint64_t> words_;
};

}  // namespace equipoise
