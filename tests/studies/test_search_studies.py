# SPDX-License-Identifier: Apache-2.0
"""Studies of search at small sizes and on invented numbers."""

import itertools

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import parse_game
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.studies.orderings import Ordering, judge_ordering, sign_test
from equipoise.studies.registry import STUDIES
from equipoise.studies.search import safe_search
from equipoise.studies.search.cfr_avg import CFR_AVG, CFRAverageConfiguration
from equipoise.studies.search.coin_toss import COIN_TOSS, CoinTossConfiguration
from equipoise.studies.search.gift_scaling import GIFT_SCALING, GiftConfiguration
from equipoise.studies.search.multi_valued_states import MULTI_VALUED_STATES, MultiValuedConfiguration
from equipoise.studies.search.nested_search import METHODS as METHODS_OF_REPLY
from equipoise.studies.search.nested_search import NESTED_SEARCH, NestedConfiguration, ThreeSizes
from equipoise.studies.search.opening_bet import DepthLimitedReply, OpeningBet, fill_rare
from equipoise.studies.search.safe_search import METHODS, SAFE_SEARCH, TRUNK, SafeSearchConfiguration
from equipoise.studies.search.search_games import (
    ALL_IN,
    MIDDLE,
    STAND_INS,
    Bucketing,
    SecondRound,
    assign_buckets,
    bucket_rows,
    draw_all_bucketings,
    draw_bucketings,
    find_sizes,
    holdem_with_three_bets,
    leduc_with_three_bets,
    make_public_game,
    parse_bucketing,
    solve_in_buckets,
)
from equipoise.studies.study import Measured, Point, Size, Verdict
from equipoise.trees.public import build_public_tree
from equipoise.trees.subtree import cut_subtree

SMALL_GAME = "leduc(merge_suits=true)"
SMALL_FLOP_GAME = STAND_INS["flop-least"]
SMALL = {"games": (SMALL_GAME,), "buckets": (2,), "seeds": 1, "blueprint_iterations": 30, "search_iterations": 30}


def verdicts(result):
    return {claim.statement: claim.verdict for claim in result.conclusion.claims}


def invent(ratios, above="a", below="b"):
    measured = Measured()
    for run, ratio in enumerate(ratios):
        measured.add(Point(panel="p", curve=above, x=1, y=ratio, run=run))
        measured.add(Point(panel="p", curve=below, x=1, y=1.0, run=run))
    return measured


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ([2.0] * 5, Verdict.CONFIRMED),
        ([0.5] * 5, Verdict.DENIED),
        ([2.0] * 4, Verdict.UNDECIDED),  # too few to tell
        ([2.0, 0.5] * 5, Verdict.UNDECIDED),
        ([1.0] * 8, Verdict.DENIED),  # equal everywhere is not above
        ([], Verdict.NOT_MEASURED),
    ],
)
def test_orderings_are_judged_by_their_signs(ratios, expected):
    claim = judge_ordering(Ordering(above="a", below="b", source="x"), invent(ratios))
    assert claim.verdict is expected


def test_sign_test_is_the_tail_of_a_fair_coin():
    assert sign_test(3, 1) == pytest.approx(5 / 16)
    assert sign_test(0, 0) == 1.0


def test_buckets_forget_boards_and_order_strength():
    game = SecondRound(SMALL_GAME)
    rows = bucket_rows(game, assign_buckets(game, 2, np.random.default_rng(0)))
    by_label = dict(zip(game.tree.infoset_labels, rows, strict=True))
    assert by_label["K|cc/K:"] == "1|cc/"  # a pair of kings is in the better bucket
    assert by_label["J|cc/K:"] == "0|cc/"
    assert by_label["K|"] == "K|"  # the first round is seen as it is
    assert len(set(rows)) < len(set(game.tree.infoset_labels)) / 2


def test_hold_em_is_bucketed_by_strength_on_the_flop():
    game = SecondRound(SMALL_FLOP_GAME)
    for kind in Bucketing:
        rows = bucket_rows(game, assign_buckets(game, 4, np.random.default_rng(0), kind))
        by_label = dict(zip(game.tree.infoset_labels, rows, strict=True))
        found = {pair: by_label[f"{pair[0]}|cc/{pair[1]}:"] for pair in game.strengths}
        ordered = [
            found[pair] for pair in sorted(found, key=lambda pair: (round(game.strengths[pair], 6), found[pair]))
        ]
        assert ordered == sorted(ordered)
        assert set(ordered) == {"0|cc/", "1|cc/", "2|cc/", "3|cc/"}
        assert by_label["AdAc|"] == "AdAc|"  # before the flop hands are seen as they are


def test_buckets_that_cannot_be_are_refused():
    with pytest.raises(ConfigError, match="must be from 1 to 8, got 9"):
        assign_buckets(SecondRound(SMALL_GAME), 9, np.random.default_rng(0))
    with pytest.raises(ConfigError, match="must be cuts or kmeans, got 'x'"):
        parse_bucketing("x")
    with pytest.raises(ConfigError, match="leduc or hold'em"):
        SecondRound("kuhn")


def test_bucketings_are_drawn_that_differ():
    game = SecondRound(SMALL_FLOP_GAME)
    drawn = list(draw_bucketings(game, 3, 3, Bucketing.KMEANS))
    together = [bucket[:, None] == bucket for bucket in drawn]
    assert all((one != other).any() for one, other in itertools.combinations(together, 2))
    num_strengths = len({round(strength, 6) for strength in game.strengths.values()})
    with pytest.raises(ConfigError, match=r"find 1 different bucketings .* into 40, 2 are wanted"):
        list(draw_bucketings(game, 40, 2, Bucketing.KMEANS))
    assert num_strengths < 40


def test_blueprints_of_seeds_differ_and_cost():
    game = SecondRound(SMALL_FLOP_GAME)
    values = [
        solve_in_buckets(game, bucket, 50).exploitability for bucket in draw_bucketings(game, 3, 2, Bucketing.KMEANS)
    ]
    assert values[0] != values[1]
    solver = CFRSolver(game.tree, CFRPlus())
    solver.iterate(50)
    assert min(values) > 2 * solver.evaluate().exploitability


@pytest.mark.parametrize("text", [leduc_with_three_bets(3, 1), holdem_with_three_bets("QKA/cdh", 1, 0)])
def test_bets_are_told_apart_by_their_order(text):
    game = make_public_game(text)
    tree = build_public_tree(game)
    sizes = find_sizes(game, tree)
    opening = [int(size) for node, size in enumerate(sizes) if tree.parent[node] == 0 and 0 <= size < ALL_IN]
    assert opening == [0, 1, 2]
    assert (sizes == MIDDLE).sum() == (sizes == 0).sum() > 1


def test_bets_must_be_three():
    game = make_public_game("flop-least")
    with pytest.raises(ConfigError, match="must offer 3 bets or none beside all-in, it offers 1 at ''"):
        find_sizes(game, build_public_tree(game))


@pytest.mark.parametrize("game", [SMALL_GAME, SMALL_FLOP_GAME])
def test_safe_search_at_a_small_size(game):
    result = SAFE_SEARCH.run(SafeSearchConfiguration(**{**SMALL, "games": (game,)}))
    assert not result.is_partial
    assert [row["method"] for row in result.conclusion.rows] == [TRUNK, *METHODS]
    found = verdicts(result)
    for name in safe_search.SAFE:
        assert found[f"{game}: {name} is never more exploitable than the trunk"] is Verdict.CONFIRMED
    assert len(found) > 15


def test_gift_scaling_at_a_small_size():
    result = GIFT_SCALING.run(GiftConfiguration(**SMALL, scales=(0, 1, 10)))
    rows = [list(row.values())[2:] for row in result.conclusion.rows]
    assert len(rows) == 3
    assert rows[0][0] == rows[0][1]  # without gifts it does not matter what they would be measured from
    assert rows[2][0] != rows[2][1]
    safe = [verdict for statement, verdict in verdicts(result).items() if "never more exploitable" in statement]
    assert safe == [Verdict.CONFIRMED] * 2
    assert len(result.curves["by scale"]) == 2


def test_gifts_are_judged_as_the_thesis_measures_them():
    assert all(size.bounds[0] == "lower" for size in GIFT_SCALING.sizes.values())
    configuration = GiftConfiguration(games=("g",), scales=(0, 1, 1000, 100_000))
    measured = Measured()
    for bound, shares in {"lower": (0.62, 0.61, 0.58, 0.7), "exact": (0.62, 0.61, 1.6, 1.9)}.items():
        for scale, share in zip(configuration.scales, shares, strict=True):
            for run in range(8):
                measured.add(Point(panel="g", curve=f"scale {scale:,}, {bound}", x=1, y=share, run=run))
    conclusion = GIFT_SCALING.conclude(configuration, measured)
    (least,) = [claim for claim in conclusion.claims if "is least at" in claim.statement]
    assert (least.verdict, least.ours) == (Verdict.CONFIRMED, "1,000: 0.58")
    assert [list(row.values())[2:] for row in conclusion.rows][2] == [0.58, 1.6]


def test_scales_are_not_judged_where_there_is_nothing_to_scale():
    measured = Measured()
    for bound, scale in itertools.product(("lower", "exact"), (0, 1, 10)):
        share = 0.5 + 0.01 * scale * (bound == "exact")
        measured.add(Point(panel="g", curve=f"scale {scale:,}, {bound}", x=1, y=share))
    claims = GIFT_SCALING.conclude(GiftConfiguration(games=("g",), scales=(0, 1, 10)), measured).claims
    assert [claim.verdict for claim in claims] == [Verdict.NOT_MEASURED] * 3 + [Verdict.CONFIRMED] * 2


@pytest.mark.parametrize("bounds", [(), ("upper",), ("lower", "lower")])
def test_bounds_of_gifts_that_cannot_be_are_refused(bounds):
    with pytest.raises(ConfigError, match="must be some of lower, exact, each once"):
        GiftConfiguration(bounds=bounds)


def test_games_are_typed_with_their_commas():
    changed = SAFE_SEARCH.configure(Size.QUICK, {"games": f"flop-small, {SMALL_FLOP_GAME}", "buckets": "2, 5"})
    assert changed.games == ("flop-small", SMALL_FLOP_GAME)
    assert changed.buckets == (2, 5)
    assert all(parse_game(text) for text in STAND_INS.values())


def test_coin_toss_confirms_every_figure():
    result = COIN_TOSS.run(CoinTossConfiguration(iterations=3000))
    assert set(verdicts(result).values()) == {Verdict.CONFIRMED}
    assert len(result.conclusion.rows) == 7


def test_bucketings_differ_across_numbers_of_buckets():
    game = SecondRound(SMALL_FLOP_GAME)
    drawn = list(draw_all_bucketings(game, (3, 5), 2, Bucketing.KMEANS))
    assert [(number, index) for number, index, _ in drawn] == [(3, 0), (3, 1), (5, 0), (5, 1)]
    with pytest.raises(ConfigError, match=r"find 0 different bucketings .* into 50, 1 are wanted"):
        list(draw_all_bucketings(game, (40, 50), 1, Bucketing.KMEANS))  # both tell all strengths apart


def test_a_part_of_a_game_has_the_buckets_of_the_whole():
    game = SecondRound(leduc_with_three_bets(3, 1))
    part = cut_subtree(game.tree, 0, without=np.flatnonzero(find_sizes(game.form, game.tree) == MIDDLE))
    bucket = assign_buckets(game, 2, np.random.default_rng(0))
    on_part = game.on(part.tree)
    assert set(bucket_rows(on_part, bucket)) < set(bucket_rows(game, bucket))
    assert game.tree is part.whole
    assert [part.nodes[root] for root in on_part.roots] == [root for root in game.roots if root in part.nodes]


def test_nested_search_at_a_small_size():
    configuration = NestedConfiguration(
        flop_raises=(0,),
        bucketed_ranks=(3,),
        bucketed_decks=(),
        buckets=(2, 4),
        blueprint_iterations=150,
        search_iterations=40,
    )
    result = NESTED_SEARCH.run(configuration)
    assert not result.is_partial
    ours = {
        (row["game"], row["buckets"], row["method"]): (row["ours (thousandths)"], row["by the unknown bet"])
        for row in result.conclusion.rows
    }
    for panel, method in (("leduc, 1 raise", "maxmargin"), ("flop QKA/cdh, 0 raises", "resolve")):
        assert ours[panel, None, method][0] < ours[panel, None, "pseudo-harmonic translation"][0] / 2
    (panel,) = configuration.bucketed_leduc_games
    for number in configuration.buckets:
        known, _ = ours[panel, number, "known bets alone"]
        assert known > 20 * ours["leduc, 1 raise", None, "known bets alone"][0]  # buckets cost
        for method in METHODS_OF_REPLY:
            total, more = ours[panel, number, method]
            assert total == pytest.approx(known + more, rel=1e-3)
            assert more > -1e-6  # another bet never hurts whoever responds best
    assert len(verdicts(result)) == 3 * 6 + 3 * 8


@pytest.mark.parametrize(
    ("others", "ours", "verdict"),
    [
        (4.0, 4.1, Verdict.CONFIRMED),
        (4.0, 4.3, Verdict.DENIED),
        (0.0, 0.0, Verdict.CONFIRMED),
        (0.0, -0.1, Verdict.CONFIRMED),  # least, and less than nothing
        (-1.0, -0.9, Verdict.DENIED),
    ],
)
def test_who_costs_least_may_cost_nothing(others, ours, verdict):
    configuration, panel = NestedConfiguration(), "leduc, 1 raise"
    measured = Measured()
    prices = dict.fromkeys(METHODS_OF_REPLY, 50.0 + others) | {"reach-maxmargin": 50.0 + ours}
    for curve, price in ({"known bets alone": 50.0, "pseudo-harmonic translation": 90.0} | prices).items():
        measured.add(Point(panel=panel, curve=curve, x=1, y=price, run=0))
    claims = NESTED_SEARCH.conclude(configuration, measured).claims
    (found,) = [claim.verdict for claim in claims if claim.statement.startswith(f"{panel}: reach-maxmargin, ")]
    assert found is verdict


def test_a_price_is_the_exploitability_where_both_search():
    three = ThreeSizes(leduc_with_three_bets(3, 1))
    bucket = assign_buckets(three.cards, 3, np.random.default_rng(0))
    strategy = three.solve_in_buckets(bucket, 30)
    both = strategy.copy()
    for searcher in (0, 1):
        own = slice(*three.tree.cells.cell_start[searcher : searcher + 2].tolist())
        both[own] = three.translate(strategy, searcher)[own]
    price = three.price(lambda searcher: three.translate(strategy, searcher))
    assert price == pytest.approx(1000 * evaluate(three.tree, both).exploitability)


def test_multi_valued_states_at_a_small_size():
    configuration = MultiValuedConfiguration(
        ranks=(3,),
        bucketed_ranks=(3,),
        bucketed_decks=(),
        buckets=(3,),
        num_values=(1, 2),
        flop_raises=(0,),
        blueprint_iterations=200,
        search_iterations=(50,),
    )
    result = MULTI_VALUED_STATES.run(configuration)
    assert not result.is_partial
    rows = {(row["game"], row["values"]): row for row in result.conclusion.rows}
    assert len(rows) == 2 * 3
    assert all(row["ours (thousandths)"] > 0 for row in rows.values())
    (bucketed,) = configuration.bucketed_leduc_games
    for count in (1, 2):
        row = rows[bucketed, count]
        assert row["in all"] > row["known bets alone"] - 1e-6  # another bet never hurts whoever responds best
        assert row["known bets alone"] > 10 * abs(rows["3 ranks, 1 raises", count]["known bets alone"])
    counted = [claim.ours for claim in result.conclusion.claims if claim.statement.startswith("leduc in buckets: one")]
    assert counted[0].split(",")[0].endswith("of 2 blueprints")


def test_games_are_told_apart_by_whether_the_opening_bet_can_be_raised():
    configuration = MultiValuedConfiguration(decks=("QKA/cdh", "TJQKA/cd"), first_raises=(1, 2, 3), flop_raises=(1, 2))
    one_bet, raised = configuration.split_flop_games()
    assert one_bet | raised == configuration.flop_games
    assert {panel.split(", ")[1] for panel in one_bet} == {"1 and 1 raises", "1 and 2 raises"}
    assert len(set((one_bet | raised).values())) == 12


@pytest.mark.parametrize("setting", [{"num_values": ()}, {"num_values": (0,)}, {"rare": 2.0}])
def test_settings_of_multi_valued_states_that_cannot_be_are_refused(setting):
    with pytest.raises(ConfigError, match=next(iter(setting))):
        MultiValuedConfiguration(**setting)


def test_rare_rows_go_by_the_mean_that_reach_does_not_weigh():
    game = SecondRound(SMALL_GAME)
    tree = game.tree
    often = np.flatnonzero(np.array(tree.infoset_labels) == "J|")
    start, after = tree.infoset_start[often[0] : often[0] + 2]
    average = tree.legal_share.copy()
    average[tree.sequence_cell[start:after]] = np.array([0.999, 0.001])[: after - start]
    mean = np.full(average.size, 0.25)
    labels = np.array(tree.infoset_labels)
    rows = np.arange(labels.size)
    filled = fill_rare(tree, average, mean, rows, 0.01)
    changed = {
        labels[infoset] for infoset in rows if (filled != average)[tree.sequence_cell[tree.infoset_start[infoset]]]
    }
    assert changed
    assert all(label.startswith("J|r") for label in changed)  # what follows the bet that a jack hardly makes
    assert np.array_equal(fill_rare(tree, average, mean, rows, 0.0), average)
    together = fill_rare(tree, average, mean, np.zeros_like(rows), 0.01)
    assert np.array_equal(together, average)  # a row that some information state comes to is not rare


def test_the_reply_alone_costs_nothing_in_equilibrium_and_no_more_than_in_all():
    opening = OpeningBet(leduc_with_three_bets(3, 1), 500)
    assert opening.reply_price(opening.solution) == pytest.approx(opening.price(opening.solution), abs=1e-9)
    bucket = assign_buckets(opening.cards, 3, np.random.default_rng(0))
    made = opening.solve(200, bucket=bucket)
    assert np.array_equal(made.played.strategy, made.beyond.strategy)  # nothing is rare
    translated = opening.translate(made)
    assert opening.price(translated) >= opening.known_price(made) - 1e-9
    assert 0 < opening.reply_price(translated) < opening.price(translated)
    reply = DepthLimitedReply(opening, made)
    again = reply.go_on(translated, reply.generate(1, (), 50), 50)
    beside = opening.known
    assert np.array_equal(beside.restrict(again), beside.restrict(translated))  # only what follows the bet is new
    assert opening.reply_price(again) < opening.reply_price(translated)


def test_cfr_avg_at_a_small_size():
    configuration = CFRAverageConfiguration(marks=(3, 10), leaf_iterations=20, composed_iterations=30)
    result = CFR_AVG.run(configuration)
    assert not result.is_partial
    for game in configuration.games:
        for curve in result.curves[game].values():
            assert curve[1][1] < curve[0][1]  # every decomposition gets better


def test_an_empty_study_measures_nothing():
    for study in (SAFE_SEARCH, GIFT_SCALING, COIN_TOSS, NESTED_SEARCH, MULTI_VALUED_STATES, CFR_AVG):
        configuration = next(iter(study.sizes.values()))
        conclusion = study.conclude(configuration, Measured())
        assert {claim.verdict for claim in conclusion.claims} == {Verdict.NOT_MEASURED}
        assert study.name in STUDIES
