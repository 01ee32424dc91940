// SPDX-License-Identifier: Apache-2.0
// Hand strength, buckets and preflop showdowns in the native module.
#include "bindings.hpp"
#include "bucket_pairs.hpp"
#include "buckets.hpp"
#include "clusters.hpp"
#include "pair_showdowns.hpp"

namespace equipoise {

namespace {

using Wide = Array<const std::int64_t>;
using MutableWide = Array<std::int64_t>;
using Halves = Array<const std::uint16_t>;

std::int64_t rows_of(const Cards& array) { return static_cast<std::int64_t>(array.shape(0)); }

void bind_strength(nb::module_& module) {
  module.def("strength_levels", [](const HandEvaluator& evaluator, Cards hole_cards, Cards boards, Strengths out) {
    const std::int64_t num_hands = rows_of(hole_cards), num_boards = rows_of(boards);
    nb::gil_scoped_release release;
    StrengthLevels levels(evaluator, hole_cards.data(), num_hands);
    for (std::int64_t i = 0; i < num_boards; ++i) levels.evaluate(boards.data() + 5 * i, out.data() + i * num_hands);
  },
      nb::arg("evaluator"), nb::kw_only(), nb::arg("hole_cards"), nb::arg("boards"), nb::arg("out"));
  module.def("accumulate_levels", [](const HandEvaluator& evaluator, Cards hole_cards, Cards boards, Wide weights,
                                     MutableWide sum, MutableWide square_sum) {
    const std::int64_t num_hands = rows_of(hole_cards);
    nb::gil_scoped_release release;
    StrengthLevels levels(evaluator, hole_cards.data(), num_hands);
    accumulate_levels(levels, boards.data(), weights.data(), rows_of(boards), num_hands, sum.data(),
                      square_sum.data());
  },
      nb::arg("evaluator"), nb::kw_only(), nb::arg("hole_cards"), nb::arg("boards"), nb::arg("weights"),
      nb::arg("sum"), nb::arg("square_sum"));
  module.def("accumulate_bins", [](const HandEvaluator& evaluator, Cards hole_cards, Cards boards, Halves bin_of_level,
                                   std::int64_t num_bins, Array<std::uint32_t> counts) {
    const std::int64_t num_hands = rows_of(hole_cards);
    nb::gil_scoped_release release;
    StrengthLevels levels(evaluator, hole_cards.data(), num_hands);
    accumulate_bins(levels, boards.data(), rows_of(boards), num_hands, bin_of_level.data(), num_bins, counts.data());
  },
      nb::arg("evaluator"), nb::kw_only(), nb::arg("hole_cards"), nb::arg("boards"), nb::arg("bin_of_level"),
      nb::arg("num_bins"), nb::arg("counts"));
  module.def("accumulate_pair_wins",
             [](const HandEvaluator& evaluator, Cards hole_cards, Cards boards, Cards weights, MutableWide wins) {
               nb::gil_scoped_release release;
               PairShowdowns(evaluator, hole_cards.data(), rows_of(hole_cards))
                   .accumulate(boards.data(), weights.data(), rows_of(boards), wins.data());
             },
             nb::arg("evaluator"), nb::kw_only(), nb::arg("hole_cards"), nb::arg("boards"), nb::arg("weights"),
             nb::arg("wins"));
}

// Histograms over the next street's classes, with the arrays that they read.
struct BoundHistograms {
  NamedArrays arrays;
  SuitBoards next;
  NextHistograms histograms;

  explicit BoundHistograms(const nb::dict& given, int num_classes)
      : arrays(given), next(make_index(arrays)),
        histograms(next, arrays.data<Cards>("next_class"), num_classes, arrays.data<Cards>("deck"),
                   static_cast<int>(arrays.view<Cards>("deck").shape(0)), arrays.data<Cards>("hole_cards"),
                   rows_of(arrays.view<Cards>("hole_cards"))) {
    arrays.check_all_asked();
  }

  static SuitBoards make_index(NamedArrays& arrays) {
    const auto sets = arrays.view<Cards>("next_boards"), deck = arrays.view<Cards>("deck");
    std::array<bool, kNumSuits> is_in_deck{};
    for (std::size_t i = 0; i < deck.shape(0); ++i) is_in_deck[card_suit(deck.data()[i])] = true;
    return {sets.data(), rows_of(sets), static_cast<int>(sets.shape(1)), is_in_deck};
  }
};

void bind_clusters(nb::module_& module) {
  using MutableCards = Array<std::uint8_t>;
  nb::class_<BoundHistograms>(module, "NextHistograms").def(nb::init<const nb::dict&, int>());
  module.def("classify_levels", [](const HandEvaluator& evaluator, Cards hole_cards, Cards boards, Cards class_of_level,
                                   int num_threads, MutableCards out) {
    nb::gil_scoped_release release;
    classify_levels(evaluator, hole_cards.data(), rows_of(hole_cards), boards.data(), rows_of(boards),
                    class_of_level.data(), num_threads, out.data());
  },
      nb::arg("evaluator"), nb::kw_only(), nb::arg("hole_cards"), nb::arg("boards"), nb::arg("class_of_level"),
      nb::arg("num_threads"), nb::arg("out"));
  module.def("sample_histograms", [](const BoundHistograms& bound, Cards boards, Ints hands, int num_threads,
                                     MutableCards out) {
    nb::gil_scoped_release release;
    sample_histograms(bound.histograms, boards.data(), rows_of(boards), hands.data(),
                      static_cast<std::int64_t>(hands.shape(1)), num_threads, out.data());
  },
      nb::arg("bound"), nb::kw_only(), nb::arg("boards"), nb::arg("hands"), nb::arg("num_threads"), nb::arg("out"));
  module.def("assign_histograms", [](const BoundHistograms& bound, Cards boards, Cards centroids, int num_threads,
                                     MutableCards out) {
    nb::gil_scoped_release release;
    assign_histograms(bound.histograms, boards.data(), rows_of(boards), centroids.data(),
                      static_cast<int>(centroids.shape(0)), num_threads, out.data());
  },
      nb::arg("bound"), nb::kw_only(), nb::arg("boards"), nb::arg("centroids"), nb::arg("num_threads"), nb::arg("out"));
  module.def("move_centroids", [](Cards points, MutableCards centroids, int num_threads, Array<std::int32_t> nearest) {
    nb::gil_scoped_release release;
    return move_centroids(points.data(), rows_of(points), centroids.data(), static_cast<int>(centroids.shape(0)),
                          num_threads, nearest.data());
  },
      nb::kw_only(), nb::arg("points"), nb::arg("centroids"), nb::arg("num_threads"), nb::arg("nearest"));
  module.def("lower_gaps", [](Cards points, Cards centre, Array<std::uint32_t> gap) {
    nb::gil_scoped_release release;
    lower_gaps(points.data(), rows_of(points), centre.data(), gap.data());
  },
      nb::kw_only(), nb::arg("points"), nb::arg("centre"), nb::arg("gap"));
}

}  // namespace

void bind_buckets(nb::module_& module) {
  bind_strength(module);
  bind_clusters(module);
  nb::class_<CardSetIndex>(module, "CardSetIndex")
      .def("__init__", [](CardSetIndex* self, const nb::dict& given) {
        NamedArrays arrays(given);  // copied by the index
        const auto sets = arrays.view<Cards>("sets"), permutations = arrays.view<Cards>("permutations");
        arrays.check_all_asked();
        new (self) CardSetIndex(sets.data(), rows_of(sets), static_cast<int>(sets.shape(1)), permutations.data(),
                                static_cast<int>(permutations.shape(0)));
      });
  module.def("look_up_rows",
             [](const CardSetIndex& index, Halves hand_images, Halves table, Cards boards, Strengths out) {
               nb::gil_scoped_release release;
               return look_up_rows(index, hand_images.data(), table.data(), boards.data(), rows_of(boards),
                                   static_cast<std::int64_t>(boards.shape(1)),
                                   static_cast<std::int64_t>(table.shape(1)), out.data());
             },
             nb::arg("index"), nb::kw_only(), nb::arg("hand_images"), nb::arg("table"), nb::arg("boards"),
             nb::arg("out"));
  module.def("count_scores", [](Ints previous, Halves scores, Wide weights, MutableWide counts) {
    nb::gil_scoped_release release;
    return count_scores(previous.data(), scores.data(), weights.data(), static_cast<std::int64_t>(scores.shape(0)),
                        static_cast<std::int64_t>(scores.shape(1)), static_cast<std::int64_t>(counts.shape(0)),
                        static_cast<std::int64_t>(counts.shape(1)), counts.data());
  },
      nb::kw_only(), nb::arg("previous"), nb::arg("scores"), nb::arg("weights"), nb::arg("counts"));
  module.def("rank_scores", [](Ints previous, Halves scores, Halves ranks, int num_ranks, Array<std::int32_t> out) {
    nb::gil_scoped_release release;
    return rank_scores(previous.data(), scores.data(), static_cast<std::int64_t>(scores.size()), ranks.data(),
                       static_cast<std::int64_t>(ranks.shape(0)), static_cast<std::int64_t>(ranks.shape(1)), num_ranks,
                       out.data());
  },
      nb::kw_only(), nb::arg("previous"), nb::arg("scores"), nb::arg("ranks"), nb::arg("num_ranks"), nb::arg("out"));
  module.def("sum_bucket_pairs", [](Array<const double> values, Ints buckets, Cards cards, Array<const double> first,
                                    Array<const double> second, Array<double> out) {
    nb::gil_scoped_release release;
    const BucketRanges ranges{cards.data(), first.data(), second.data(), rows_of(cards)};
    return sum_bucket_pairs(values.data(), static_cast<std::int64_t>(values.shape(0)), buckets.data(),
                            static_cast<std::int64_t>(buckets.shape(0)), ranges, out.data());
  },
      nb::kw_only(), nb::arg("values"), nb::arg("buckets"), nb::arg("cards"), nb::arg("first"), nb::arg("second"),
      nb::arg("out"));
  module.def("find_nearest", [](Array<const float> points, Array<const float> centroids, Array<std::int32_t> nearest,
                                Array<float> distance) {
    nb::gil_scoped_release release;
    find_nearest(points.data(), static_cast<std::int64_t>(points.shape(0)), static_cast<std::int64_t>(points.shape(1)),
                 centroids.data(), static_cast<std::int64_t>(centroids.shape(1)), nearest.data(), distance.data());
  },
      nb::kw_only(), nb::arg("points"), nb::arg("centroids"), nb::arg("nearest"), nb::arg("distance"));
}

}  // namespace equipoise
