// SPDX-License-Identifier: Apache-2.0
// Perceptrons for many inputs at a time. Each number is added up from the bias on, in the order of a layer's inputs:
// vectors run over outputs, so that neither their width nor the size of a batch changes a bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace equipoise {

// Eight floats; GCC and Clang lower this to whatever vectors the target has.
using Oct = float __attribute__((vector_size(32)));

inline Oct load_oct(const float* from) {
  using Unaligned [[gnu::aligned(4), gnu::may_alias]] = Oct;
  return *reinterpret_cast<const Unaligned*>(from);
}

inline void store_oct(float* to, Oct value) {
  using Unaligned [[gnu::aligned(4), gnu::may_alias]] = Oct;
  *reinterpret_cast<Unaligned*>(to) = value;
}

inline Oct spread_oct(float value) { return Oct{value, value, value, value, value, value, value, value}; }

// Lanes of a layer's outputs, and how many inputs share a pass over weights: what fills the registers.
#ifdef __AVX512F__
using LayerLanes = float __attribute__((vector_size(64)));
inline constexpr int layer_rows = 8;
#else
using LayerLanes = Oct;
inline constexpr int layer_rows = 4;
#endif
inline constexpr int layer_lane_count = sizeof(LayerLanes) / sizeof(float);

inline LayerLanes load_lanes(const float* from) {
  using Unaligned [[gnu::aligned(4), gnu::may_alias]] = LayerLanes;
  return *reinterpret_cast<const Unaligned*>(from);
}

inline void store_lanes(float* to, LayerLanes value) {
  using Unaligned [[gnu::aligned(4), gnu::may_alias]] = LayerLanes;
  *reinterpret_cast<Unaligned*>(to) = value;
}

// The sum of eight lanes: opposite ones of both halves first, and so on.
inline float sum_lanes(Oct value) {
  using Four = float __attribute__((vector_size(16)));
  const Four four = __builtin_shufflevector(value, value, 0, 1, 2, 3) + __builtin_shufflevector(value, value, 4, 5, 6, 7);
  const Four two = four + __builtin_shufflevector(four, four, 2, 3, 2, 3);
  return two[0] + two[1];
}

// One layer: a linear map, then PReLU unless it is the last, then the layer's input again if it is residual.
class DenseLayer {
 public:
  static constexpr std::int64_t panel = 16;  // outputs that are computed together

  // `weight` is [inputs, outputs]; `slope` [outputs] or null.
  DenseLayer(std::int64_t num_inputs, std::int64_t num_outputs, const float* weight, const float* bias,
             const float* slope, bool is_residual)
      : num_inputs_(num_inputs), num_outputs_(num_outputs), is_rectified_(slope != nullptr), is_residual_(is_residual),
        weight_(static_cast<std::size_t>(num_inputs * padded())), bias_(static_cast<std::size_t>(padded())),
        slope_(static_cast<std::size_t>(padded())) {
    for (std::int64_t out = 0; out < num_outputs; ++out) {
      float* const column = weight_.data() + out / panel * num_inputs * panel + out % panel;
      for (std::int64_t in = 0; in < num_inputs; ++in) column[in * panel] = weight[in * num_outputs + out];
      bias_[out] = bias[out];
      if (is_rectified_) slope_[out] = slope[out];
    }
  }

  std::int64_t num_inputs() const { return num_inputs_; }
  std::int64_t num_outputs() const { return num_outputs_; }
  // Outputs with those that fill the last panel: rows have room for them.
  std::int64_t padded() const { return (num_outputs_ + panel - 1) / panel * panel; }

  // Writes the panels that hold some outputs of one row; `panels` are their numbers, each once.
  void run_some(const std::vector<std::int64_t>& panels, const float* in, float* out) const {
    for (const std::int64_t number : panels) run_panel<1>(number * panel, in, in, 0, out, 0, nullptr);
  }

  // Writes rows of `out` from as many rows of `in`, which `packed` gets in the order in which they are read. Sums begin with the
  // bias, or with a row of `starts` of their own (padded).
  void run(std::int64_t num_rows, const float* in, std::int64_t in_stride, float* packed, float* out,
           std::int64_t out_stride, const float* const* starts = nullptr) const {
    const std::int64_t num_full = num_rows / layer_rows * layer_rows;
    for (std::int64_t row = 0; row < num_full; row += layer_rows) {
      float* const to = packed + row * num_inputs_;
      for (int k = 0; k < layer_rows; ++k) {
        for (std::int64_t i = 0; i < num_inputs_; ++i) to[i * layer_rows + k] = in[(row + k) * in_stride + i];
      }
    }
    for (std::int64_t begin = 0; begin < padded(); begin += panel) {
      for (std::int64_t row = 0; row < num_full; row += layer_rows) {
        run_panel<layer_rows>(begin, packed + row * num_inputs_, in + row * in_stride, in_stride,
                              out + row * out_stride, out_stride, starts == nullptr ? nullptr : starts + row);
      }
      for (std::int64_t row = num_full; row < num_rows; ++row) {
        run_panel<1>(begin, in + row * in_stride, in + row * in_stride, in_stride, out + row * out_stride, out_stride,
                     starts == nullptr ? nullptr : starts + row);
      }
    }
  }

 private:
  static constexpr int vectors = panel / layer_lane_count;

  // `packed` is [inputs, rows].
  template <int kRows>
  void run_panel(std::int64_t begin, const float* __restrict packed, const float* __restrict in, std::int64_t in_stride,
                 float* __restrict out, std::int64_t out_stride, const float* const* starts) const {
    const float* __restrict weight = weight_.data() + begin * num_inputs_;
    LayerLanes sums[kRows][vectors];
    for (int row = 0; row < kRows; ++row) {
      const float* const start = (starts == nullptr ? bias_.data() : starts[row]) + begin;
      for (int k = 0; k < vectors; ++k) sums[row][k] = load_lanes(start + k * layer_lane_count);
    }
    for (std::int64_t i = 0; i < num_inputs_; ++i, weight += panel, packed += kRows) {
      LayerLanes factor[vectors];
      for (int k = 0; k < vectors; ++k) {
        factor[k] = load_lanes(weight + k * layer_lane_count);
#ifdef __AVX__
        asm("" : "+x"(factor[k]));  // stays in its register: it would be loaded anew for every row
#endif
      }
      for (int row = 0; row < kRows; ++row) {
        for (int k = 0; k < vectors; ++k) sums[row][k] += packed[row] * factor[k];
      }
    }
    for (int row = 0; row < kRows; ++row) {
      for (int k = 0; k < vectors; ++k) {
        const std::int64_t at = begin + k * layer_lane_count;
        LayerLanes value = sums[row][k];
        if (is_rectified_) value = value > 0.0F ? value : value * load_lanes(slope_.data() + at);
        if (is_residual_) value += load_lanes(in + row * in_stride + at);
        store_lanes(out + row * out_stride + at, value);
      }
    }
  }

  std::int64_t num_inputs_, num_outputs_;
  bool is_rectified_, is_residual_;
  std::vector<float> weight_;  // [panels, inputs, panel]
  std::vector<float> bias_, slope_;
};

// Layers one after the other.
class Perceptron {
 public:
  void add(DenseLayer layer) {
    widest_ = std::max({widest_, layer.num_inputs() + DenseLayer::panel, layer.padded()});
    layers_.push_back(std::move(layer));
  }

  std::int64_t num_inputs() const { return layers_.front().num_inputs(); }
  std::int64_t num_outputs() const { return layers_.back().num_outputs(); }
  std::int64_t stride() const { return widest_; }  // of rows

  const DenseLayer& first_layer() const { return layers_.front(); }

  // Returns rows of outputs: one of the first two buffers [rows, stride], the first of which holds the inputs. Sums of the
  // first layer begin with `starts` [rows], if there are any, instead of its bias. Rows may be further apart than needed.
  const float* run(std::int64_t num_rows, float* first, float* second, float* packed,
                   const float* const* starts = nullptr, std::int64_t width = 0) const {
    width = std::max(width, widest_);
    for (const DenseLayer& layer : layers_) {
      layer.run(num_rows, first, width, packed, second, width, starts);
      std::swap(first, second);
      starts = nullptr;
    }
    return first;
  }

 private:
  std::vector<DenseLayer> layers_;
  std::int64_t widest_ = 0;
};

}  // namespace equipoise
