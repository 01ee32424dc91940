// SPDX-License-Identifier: Apache-2.0
// Betting trees of two to six players and blueprints on them in the native module.
#include <memory>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "blueprint.hpp"
#include "blueprint_clusters.hpp"
#include "round_search.hpp"

namespace equipoise {

namespace {

using Wide = Array<std::int64_t>;
using Words = MutableWords;

// Keeps the arrays alive that a walk over a menu reads.
struct BoundMenus {
  NamedArrays arrays;
  BettingTerms terms;
  MenuTable menus{};

  explicit BoundMenus(const nb::dict& given) : arrays(given) {
    const std::int32_t* numbers = arrays.data<Ints>("terms");
    terms = {.num_players = numbers[0], .first_street = numbers[1], .last_street = numbers[2],
             .small_blind = numbers[3], .big_blind = numbers[4],    .ante = numbers[5],
             .pot = numbers[6],         .is_limit = numbers[7] != 0};
    std::copy_n(numbers + 8, kMaxBettors, terms.stacks.data());
    std::copy_n(numbers + 14, kNumStreets, terms.bet_sizes.data());
    std::copy_n(numbers + 18, kNumStreets, terms.max_raises.data());
    menus.sizes = reinterpret_cast<const BetSizeEntry*>(arrays.data<Doubles>("sizes"));
    menus.list_start = arrays.data<Ints>("list_start");
    menus.rounds = reinterpret_cast<const RoundTerms*>(arrays.data<Ints>("rounds"));
    menus.terms = reinterpret_cast<const MenuTerms*>(arrays.data<Doubles>("menus"));
    arrays.check_all_asked();
  }
};

struct BoundBlueprint {
  NamedArrays arrays;
  BlueprintForm form{};

  BoundBlueprint(const nb::dict& given, int num_players, int last_street, int walked_streets, bool has_snapshots)
      : arrays(given) {
    const auto nodes = arrays.view<Ints>("nodes");
    const auto width = arrays.view<Ints>("width");
    const auto arena = arrays.view<Array<std::int32_t>>("arena");
    form.nodes = reinterpret_cast<const BettingNode*>(nodes.data());
    form.num_nodes = static_cast<std::int64_t>(nodes.shape(0));
    form.width = width.data();
    form.num_slots = static_cast<std::int64_t>(width.shape(0));
    form.street = arrays.data<Cards>("street");
    form.side_pots = arrays.data<Ints>("side_pots");
    form.has_missed = arrays.has("rise");
    form.rise = form.has_missed ? arrays.data<Ints>("rise") : nullptr;
    form.base = arrays.view<Array<std::uint32_t>>("base").data();
    form.arena = arena.data();
    form.num_lines = static_cast<std::int64_t>(arena.shape(0)) / kLineCells;
    form.next_line = arrays.view<Wide>("next_line").data();
    form.num_players = num_players;
    form.last_street = last_street;
    form.walked_streets = walked_streets;
    form.has_snapshots = has_snapshots;
    const std::int32_t* buckets = arrays.data<Ints>("num_buckets");
    const std::int32_t* posted = arrays.data<Ints>("posted");
    for (int player = 0; player < num_players; ++player) {
      std::copy_n(buckets + player * kNumStreets, kNumStreets, form.num_buckets[player].data());
      form.posted[player] = posted[player];
    }
    arrays.check_all_asked();
  }
};

struct BoundCards {
  NamedArrays arrays;
  nb::object evaluator;
  std::array<std::unique_ptr<SuitBoards>, kNumStreets> boards;
  CardDealer::Tables tables{};

  BoundCards(nb::object evaluator_of, const nb::dict& given, int num_players, int first_street, int last_street)
      : arrays(given), evaluator(evaluator_of) {
    tables.evaluator = &nb::cast<const HandEvaluator&>(evaluator);
    const auto deck = arrays.view<Cards>("deck"), hole = arrays.view<Cards>("hole_cards");
    tables.cards.assign(deck.data(), deck.data() + deck.shape(0));
    tables.num_hands = static_cast<std::int64_t>(hole.shape(0));
    std::array<bool, kNumSuits> is_in_deck{};
    for (const std::uint8_t card : tables.cards) is_in_deck[card_suit(card)] = true;
    for (std::int64_t i = 0; i < tables.num_hands; ++i) {
      const int first = hole.data()[2 * i], second = hole.data()[2 * i + 1];
      tables.hand[first][second] = tables.hand[second][first] = static_cast<std::uint16_t>(i);
    }
    tables.num_players = num_players;
    if (arrays.has("cluster_of_flop")) {
      tables.cluster_of_flop = arrays.data<Array<const std::uint16_t>>("cluster_of_flop");
      std::copy_n(arrays.data<Ints>("num_within"), kNumStreets, tables.num_within.data());
    }
    tables.first_street = first_street;
    tables.last_street = last_street;
    for (int street = first_street; street <= last_street; ++street) {
      if (street > 0) {
        const auto sets = arrays.view<Cards>(("boards_" + std::to_string(street)).c_str());
        boards[street] = std::make_unique<SuitBoards>(sets.data(), static_cast<std::int64_t>(sets.shape(0)),
                                                      static_cast<int>(sets.shape(1)), is_in_deck);
        tables.boards[street] = boards[street].get();
      }
      for (int player = 0; player < num_players; ++player) {
        const std::string name = std::to_string(player) + "_" + std::to_string(street);
        BucketRows& rows = tables.rows[player][street];
        if (arrays.has(("narrow_" + name).c_str())) {
          rows.narrow = arrays.data<Cards>(("narrow_" + name).c_str());
        } else {
          rows.wide = arrays.data<Array<const std::uint16_t>>(("wide_" + name).c_str());
        }
      }
    }
    arrays.check_all_asked();
  }
};

struct BoundList {
  NamedArrays arrays;
  ListDealer::Tables tables{};

  explicit BoundList(const nb::dict& given) : arrays(given) {
    const auto strengths = arrays.view<Array<const std::uint16_t>>("strengths");
    tables.cumulative = arrays.data<Doubles>("cumulative");
    tables.buckets = arrays.data<Array<const std::uint16_t>>("buckets");
    tables.strengths = strengths.data();
    tables.num_deals = static_cast<int>(strengths.shape(0));
    tables.num_players = static_cast<int>(strengths.shape(1));
    arrays.check_all_asked();
  }
};

// A round of betting with its tables, on cards that are bound elsewhere.
struct BoundRound {
  NamedArrays arrays;
  nb::object cards_of;
  const BoundCards* cards;
  RoundForm form{};
  const double* cumulative;
  const std::uint8_t* hole_cards;
  const std::int32_t* paid;
  std::vector<std::uint8_t> board;

  BoundRound(const nb::dict& given, nb::object bound_cards, int street, std::uint32_t live) : arrays(given), cards_of(bound_cards) {
    cards = &nb::cast<const BoundCards&>(cards_of);
    const auto nodes = arrays.view<Ints>("nodes");
    const auto on_board = arrays.view<Cards>("board");
    const auto hole = arrays.view<Cards>("hole_cards");
    board.assign(on_board.data(), on_board.data() + on_board.shape(0));
    form.nodes = reinterpret_cast<const BettingNode*>(nodes.data());
    form.num_nodes = static_cast<std::int64_t>(nodes.shape(0));
    form.side_pots = arrays.data<Ints>("side_pots");
    form.num_players = cards->tables.num_players;
    form.street = street;
    form.num_hands = cards->tables.num_hands;
    form.live = live;
    form.width = arrays.data<Ints>("width");
    form.regrets = arrays.view<Array<float>>("regrets").data();
    form.averages = arrays.view<Array<float>>("averages").data();
    for (int player = 1; player < form.num_players; ++player) {
      form.start[player] = form.start[player - 1] + form.num_hands * form.width[player - 1];
    }
    form.fixed_row = arrays.data<Ints>("fixed_row");
    form.fixed = arrays.data<Array<const float>>("fixed");
    form.leaf_node = arrays.data<Ints>("leaf_node");
    form.leaf_offset = arrays.data<Ints>("leaf_offset");
    form.leaf_paid = arrays.data<Ints>("leaf_paid");
    form.image_paid = arrays.data<Ints>("image_paid");
    form.leaf_scale = arrays.data<Array<const float>>("leaf_scale");
    form.plan_nodes = reinterpret_cast<const BettingNode*>(arrays.data<Ints>("plan_nodes"));
    form.plan_side_pots = arrays.data<Ints>("plan_side_pots");
    form.plan_width = arrays.data<Ints>("plan_width");
    form.plan_start = arrays.data<Array<const std::int64_t>>("plan_start");
    form.plan_cells = arrays.data<Cards>("plan_cells");
    cumulative = arrays.data<Doubles>("cumulative");
    hole_cards = hole.data();
    paid = arrays.data<Ints>("paid");
    arrays.check_all_asked();
  }
};

nb::tuple as_tuple(const BlueprintCounts& counts) {
  return nb::make_tuple(counts.deals, counts.touched, counts.skipped, counts.is_full);
}

template <typename Dealer, typename Bound>
void bind_train(nb::module_& module) {
  module.def("train_blueprint", [](const BoundBlueprint& bound, const Bound& deals, const BlueprintSettings& settings,
                                   Words words, std::int64_t num_deals, std::int64_t walk_every) {
    BlueprintCounts counts;
    {
      nb::gil_scoped_release release;
      counts = train_blueprint<Dealer>(bound.form, settings, deals.tables, words.data(),
                                       static_cast<int>(words.shape(0)), num_deals, walk_every);
    }
    return as_tuple(counts);
  });
}

// Copies questions, which are four numbers each, into an array of bytes.
template <typename Entry>
nb::bytes as_bytes(const std::vector<Entry>& entries) {
  return nb::bytes(entries.data(), entries.size() * sizeof(Entry));
}

const ClusterQuestion* as_questions(const Ints& rows) { return reinterpret_cast<const ClusterQuestion*>(rows.data()); }

void bind_clusters(nb::module_& module) {
  module.def("ask_clusters", [](const BoundBlueprint& bound, const BoundCards& deals, const BlueprintSettings& settings,
                                Words words, std::int64_t first, std::int64_t walk_every, Array<std::uint8_t> hole) {
    ClusterQuestions questions;
    BlueprintCounts counts;
    with_random(words, [&](Random& random) {
      nb::gil_scoped_release release;
      ClusterHead head(bound.form, settings, deals.tables, random);
      for (std::int64_t deal = 0; deal < static_cast<std::int64_t>(hole.shape(0)); ++deal) {
        const bool walks = walk_every != 0 && (first + deal) % walk_every == 0;
        head.ask(static_cast<std::int32_t>(deal), walks, hole.data() + deal * 2 * bound.form.num_players, questions);
      }
      counts = head.counts;
      random = head.random();
    });
    return nb::make_tuple(as_bytes(questions.asked), as_bytes(questions.walks), as_bytes(questions.taken), counts.touched);
  },
      nb::arg("bound"), nb::arg("deals"), nb::arg("settings"), nb::arg("words"), nb::arg("first"), nb::arg("walk_every"),
      nb::kw_only(), nb::arg("hole"));
  module.def("learn_from_clusters", [](const BoundBlueprint& bound, const BoundCards& deals,
                                       const BlueprintSettings& settings, Cards hole, Cards taken,
                                       Array<const float> values) {
    nb::gil_scoped_release release;
    ClusterHead head(bound.form, settings, deals.tables, Random{{1, 0, 0, 0}});
    const float* value = values.data();
    const std::uint8_t* action = taken.data();
    for (std::int64_t deal = 0; deal < static_cast<std::int64_t>(hole.shape(0)); ++deal) {
      head.learn(hole.data() + deal * 2 * bound.form.num_players, value, action);
    }
    return head.counts.is_full;
  },
      nb::arg("bound"), nb::arg("deals"), nb::arg("settings"), nb::kw_only(), nb::arg("hole"), nb::arg("taken"),
      nb::arg("values"));
  module.def("answer_for_cluster", [](const BoundBlueprint& bound, const BoundCards& deals,
                                      const BlueprintSettings& settings, Words words, Cards flops, Cards hole, Ints asked,
                                      Ints walks, Array<float> values, Array<std::int32_t> fits) {
    BlueprintCounts counts;
    with_random(words, [&](Random& random) {
      nb::gil_scoped_release release;
      ClusterWorker worker(bound.form, settings, deals.tables, random, flops.data(),
                           static_cast<std::int64_t>(flops.shape(0)));
      const ClusterQuestion* const all = as_questions(asked);
      const ClusterQuestion* const all_walks = as_questions(walks);
      std::size_t next = 0, next_walk = 0;
      for (std::int32_t deal = 0; deal < static_cast<std::int32_t>(hole.shape(0)); ++deal) {
        fits.data()[deal] = worker.deal(hole.data() + deal * 2 * bound.form.num_players);
        for (; next < asked.shape(0) && all[next].deal == deal; ++next) {
          values.data()[next] = fits.data()[deal] > 0 ? worker.answer(all[next]) : 0.0F;
        }
        for (; next_walk < walks.shape(0) && all_walks[next_walk].deal == deal; ++next_walk) {
          if (fits.data()[deal] > 0) worker.walk(all_walks[next_walk]);
        }
      }
      counts = worker.counts;
      random = worker.random();
    });
    return as_tuple(counts);
  },
      nb::arg("bound"), nb::arg("deals"), nb::arg("settings"), nb::arg("words"), nb::kw_only(), nb::arg("flops"),
      nb::arg("hole"), nb::arg("asked"), nb::arg("walks"), nb::arg("values"), nb::arg("fits"));
}

void bind_betting(nb::module_& module) {
  nb::class_<BoundMenus>(module, "BettingMenus").def(nb::init<const nb::dict&>());
  module.def("count_betting", [](const BoundMenus& bound) {
    BettingCounts counts;
    {
      nb::gil_scoped_release release;
      counts = BettingWalk(bound.terms, bound.menus).count();
    }
    return nb::make_tuple(std::vector<std::int64_t>(counts.decisions.begin(), counts.decisions.end()),
                          std::vector<std::int64_t>(counts.actions.begin(), counts.actions.end()), counts.ends,
                          counts.subtrees, counts.side_pots, counts.widest);
  });
  module.def("build_betting", [](const BoundMenus& bound, Array<std::int32_t> nodes, Array<std::int32_t> width,
                                 Array<std::int32_t> side_pots) {
    nb::gil_scoped_release release;
    BettingWalk(bound.terms, bound.menus)
        .build(reinterpret_cast<BettingNode*>(nodes.data()), width.data(), side_pots.data());
  },
      nb::arg("bound"), nb::kw_only(), nb::arg("nodes"), nb::arg("width"), nb::arg("side_pots"));
  module.def("fill_rises", [](Ints nodes, Ints side_pots, Array<std::int32_t> out) {
    nb::gil_scoped_release release;
    fill_rises(reinterpret_cast<const BettingNode*>(nodes.data()), static_cast<std::int64_t>(nodes.shape(0)),
               side_pots.data(), static_cast<int>(side_pots.shape(1)), out.data());
  },
      nb::kw_only(), nb::arg("nodes"), nb::arg("side_pots"), nb::arg("out"));
}

}  // namespace

void bind_blueprint(nb::module_& module) {
  bind_betting(module);
  nb::class_<BlueprintSettings>(module, "BlueprintSettings")
      .def("__init__", [](BlueprintSettings* self, float scale, std::int32_t floor, int pruning, std::int32_t threshold,
                          float softness, float probability) {
        new (self) BlueprintSettings{scale, floor, static_cast<SkipKind>(pruning), threshold, softness, probability};
      });
  nb::class_<BoundBlueprint>(module, "BlueprintForm").def(nb::init<const nb::dict&, int, int, int, bool>());
  nb::class_<BoundCards>(module, "CardDeals").def(nb::init<nb::object, const nb::dict&, int, int, int>());
  nb::class_<BoundList>(module, "ListDeals").def(nb::init<const nb::dict&>());
  bind_train<CardDealer, BoundCards>(module);
  bind_train<ListDealer, BoundList>(module);
  module.def("look_up_deals", [](const BoundCards& bound, Cards boards, Cards hole_cards,
                                 Array<std::uint16_t> buckets, Array<std::uint16_t> strengths) {
    nb::gil_scoped_release release;
    const CardDealer dealer(bound.tables);
    const auto num_players = static_cast<std::size_t>(bound.tables.num_players);
    for (std::size_t i = 0; i < boards.shape(0); ++i) {
      BucketDeal deal{};
      dealer.look_up(boards.data() + i * boards.shape(1), hole_cards.data() + i * 2 * num_players, deal);
      for (std::size_t player = 0; player < num_players; ++player) {
        std::copy_n(deal.bucket[player].data(), kNumStreets, buckets.data() + (i * num_players + player) * kNumStreets);
        strengths.data()[i * num_players + player] = deal.strength[player];
      }
    }
  },
      nb::arg("bound"), nb::kw_only(), nb::arg("boards"), nb::arg("hole_cards"), nb::arg("buckets"),
      nb::arg("strengths"));
  bind_clusters(module);
  nb::class_<BoundRound>(module, "RoundForm").def(nb::init<const nb::dict&, nb::object, int, std::uint32_t>());
  module.def("train_round", [](const BoundRound& bound, Words words, std::int64_t num_deals, int num_rollouts, float bias) {
    RoundCounts counts;
    with_random(words, [&](Random& random) {
      nb::gil_scoped_release release;
      const RoundSettings settings{.num_rollouts = num_rollouts, .bias = bias};
      RoundWalker walker(bound.form, settings,
                         RangeDealer(bound.cards->tables, bound.hole_cards, bound.cumulative, bound.board.data(),
                                     static_cast<int>(bound.board.size()), bound.form.live, bound.form.street),
                         random);
      for (std::int64_t deal = 0; deal < num_deals && !walker.counts.is_stuck; ++deal) walker.iterate(bound.paid);
      counts = walker.counts;
      random = walker.random();
    });
    return nb::make_tuple(counts.touched, counts.is_stuck);
  });
  module.def("end_round_period", [](const BoundRound& bound, float weight, float factor) {
    nb::gil_scoped_release release;
    std::vector<float> reach(static_cast<std::size_t>(bound.form.num_nodes));
    end_period(bound.form, weight, factor, reach.data());
  });
  module.def("discount_blueprint", [](const BoundBlueprint& bound, double factor, int num_threads) {
    nb::gil_scoped_release release;
    discount_blueprint(bound.form, factor, num_threads);
  });
  module.def("snapshot_blueprint", [](const BoundBlueprint& bound, float share, int num_threads) {
    nb::gil_scoped_release release;
    snapshot_blueprint(bound.form, share, num_threads);
  });
  module.def("pack_blueprint", [](const BoundBlueprint& bound, bool has_average, Array<const std::int64_t> start,
                                  int num_threads, Array<std::uint8_t> out) {
    nb::gil_scoped_release release;
    pack_blueprint(bound.form, has_average, start.data(), num_threads, out.data());
  });
}

}  // namespace equipoise
