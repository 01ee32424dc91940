# SPDX-License-Identifier: Apache-2.0
"""Hold'em turns without their rivers: tables of leaves against a plain walk, runs against the game written out."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting_tree import cut_betting
from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.holdem.hands import format_hand
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range, parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_game import game_of_spot
from equipoise.search.gadgets import Given, Maxmargin, Resolve, Unsafe
from equipoise.search.holdem.depth_limit import (
    BIASES,
    Bias,
    LeafChoices,
    estimate_leaf_bytes,
    limit_depth,
    solve_blueprint,
)
from equipoise.search.holdem.profile import HoldemProfile, has_leaves
from equipoise.search.limits import RoundLimit
from equipoise.search.multi_valued import Continuations, bias_continuations, depth_limited_subgame
from equipoise.search.nested import NestedSearch
from equipoise.search.posing import pose
from equipoise.search.public import PublicProfile
from equipoise.search.resolving import SubgameSolver
from equipoise.search.settings import SearchSettings
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import DCFR, CFRPlus
from equipoise.trees.derive import derive_public_game
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.public import build_public_tree
from equipoise.trees.vector import TreeStrategy
from tests.reference.holdem import public_text
from tests.reference.holdem_leaves import LeafTwin

DECK = DECKS["royal"]
SPOT = HoldemSpot(
    deck=DECK,
    board=parse_board("ThJhQsKc", DECK),
    pot=20,
    big_blind=2,
    stacks=(47, 47),  # with rounder numbers actions tie, and the last bit decides what is played
    menu=parse_menu("100%, a; turn cap: 2; river cap: 1"),
    ranges=(parse_range("AcAd,AhTs:0.93,JJ:0.53,KdQd:0.81", DECK), parse_range("AhKh:0.91,TT,AsJs:0.37", DECK)),
)
MODICUM = LeafChoices()
PLURIBUS = LeafChoices.both()


def solver_of(limited, rule=None, **options):
    """Returns a run between the spot's own ranges, without a gate."""
    return CFRSolver(limited.tree, rule, frontier=limited.frontier, **options)


def random_blueprint(spot, seed=3):
    tree = build_holdem_tree(spot)
    return TreeStrategy(tree=tree, sums=np.random.default_rng(seed).random(tree.arrays.num_cells) ** 4)


@pytest.fixture(scope="module")
def blueprint():
    return random_blueprint(SPOT)


@pytest.fixture(scope="module")
def written_out(blueprint):
    return write_out(blueprint)


def write_out(blueprint):
    """Returns a spot's public game, and its tree with the blueprint's strategy."""
    game = derive_public_game(game_of_spot(blueprint.tree.spot))
    tree = build_public_tree(game)
    strategy = tree.legal_share.copy()
    for label, probabilities in decisions(blueprint.tree, blueprint.sums).items():
        strategy[cells_of(tree, label)] = probabilities
    return game, PublicProfile(tree, strategy)


def decisions(tree, sums, players=(0, 1)):
    """Returns what a table plays, by the label of an information state."""
    found = {}
    for index, decision in tree.decisions.items():
        for board, cards in enumerate(tree.boards):
            if decision.player in players and tree.arrays.boards[board, 0] == decision.street:
                rows = tree.normalize(sums, board, index)
                hands = tree.hands[board][decision.player]
                text = public_text(tree, cards, index)
                found |= {f"{format_hand(hand, DECK)}|{text}": row for hand, row in zip(hands, rows, strict=True)}
    return found


def cells_of(tree, label):
    infoset = tree.infoset_labels.index(label)
    return tree.sequence_cell[tree.infoset_start[infoset] : tree.infoset_start[infoset + 1]]


def assert_pays_like_twin(spot, blueprint, choices, searcher, *, dtype=np.float64, atol=1e-9):
    limited = limit_depth(spot, blueprint, searcher, choices, dtype=dtype, num_threads=2)
    tables, twin = limited.frontier.tables, LeafTwin(blueprint)
    biases = (choices.searcher, choices.opponent) if searcher == 0 else (choices.opponent, choices.searcher)
    hands = limited.tree.hands[0]
    rng = np.random.default_rng(0)
    for table, (first, count, *num_choices) in enumerate(tables.tables.tolist()):
        for player in (0, 1):
            payoffs = tables.payoffs(player, table)
            for leaf in range(first, first + count):
                rows = [int(rng.integers(held.size)) for held in hands]
                picks = [int(rng.integers(size)) for size in num_choices]
                expected = twin.value(
                    int(tables.lines[leaf]),
                    [int(held[row]) for held, row in zip(hands, rows, strict=True)],
                    [biases[each][picks[each]] for each in (0, 1)],
                    player,
                )
                other = 1 - player
                found = payoffs[picks[other], rows[other], picks[player], rows[player]] * tables.scale[leaf]
                assert found == pytest.approx(expected, abs=atol)


@pytest.mark.parametrize("seed", range(4))
def test_tables_equal_their_twin(seed):
    assert_pays_like_twin(SPOT, random_blueprint(SPOT, seed), PLURIBUS, searcher=seed % 2)


def test_rake_and_merged_suits_are_in_the_tables():
    everybody = Range.random(DECK)
    symmetric = dataclasses.replace(
        SPOT, board=parse_board("ThJhQhTs", DECK), ranges=(everybody, everybody), rake_rate=0.1, rake_cap=5.0
    )
    blueprint = random_blueprint(symmetric)
    assert len(blueprint.tree.boards) < 17  # suits that the board does not tell apart share rivers
    narrow = dataclasses.replace(symmetric, ranges=SPOT.ranges)  # rows of the search are others than the blueprint's
    for spot in (symmetric, narrow):
        assert_pays_like_twin(spot, blueprint, LeafChoices(searcher=(Bias(), Bias(bet=0.2))), searcher=1)


def test_smaller_numbers_are_nearly_as_good(blueprint):
    assert_pays_like_twin(SPOT, blueprint, PLURIBUS, 0, dtype=np.float32, atol=1e-4)
    assert_pays_like_twin(SPOT, blueprint, PLURIBUS, 0, dtype=np.int16, atol=0.1)  # 16 cards of stakes up to 60
    sizes = [estimate_leaf_bytes(SPOT, PLURIBUS, dtype=dtype) for dtype in (np.float64, np.int16)]
    assert sizes[0] == 4 * sizes[1]
    tables = limit_depth(SPOT, blueprint, 0, PLURIBUS, dtype=np.float64).frontier.tables
    assert sum(entries.nbytes for entries in tables.entries) == sizes[0]


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("is_alternating", [True, False])
@pytest.mark.parametrize(
    ("choices", "searcher", "rule"),
    [(MODICUM, 0, CFRPlus(gamma=1.0)), (MODICUM, 1, DCFR()), (PLURIBUS, 1, CFRPlus(gamma=1.0))],
    ids=["modicum-0", "modicum-1", "pluribus-1"],
)
def test_runs_equal_the_game_written_out(blueprint, written_out, choices, searcher, rule, is_alternating, num_threads):
    game, whole = written_out
    strategies = dict(zip(BIASES, bias_continuations(game, whole.tree, whole.strategy), strict=True))
    continuations = Continuations(
        tuple(strategies[bias] for bias in choices.opponent), tuple(strategies[bias] for bias in choices.searcher)
    )
    leaves = RoundLimit().leaves(whole.tree, 0)
    subgame = depth_limited_subgame(whole, 0, searcher, leaves, continuations)
    plain = SubgameSolver(subgame, pose(whole, subgame, searcher, Unsafe()), rule=rule, is_alternating=is_alternating)
    plain.iterate(20)

    limited = limit_depth(SPOT, blueprint, searcher, choices, dtype=np.float64)
    solver = solver_of(limited, rule, dtype=np.float64, num_threads=num_threads)
    solver.is_alternating = is_alternating
    solver.iterate(20)
    assert_same_averages(limited.tree, solver.tables.strategy_sum, subgame, plain)


def assert_same_averages(tree, sums, subgame, plain, players=(0, 1)):
    average = plain.average_strategy()
    found = decisions(tree, sums, players)
    assert len(found) > 10 * len(players)
    for label, probabilities in found.items():
        np.testing.assert_allclose(probabilities, average[cells_of(subgame.tree, label)], atol=1e-9)


@pytest.fixture(scope="module")
def even():
    """Returns a spot in which the opponent's hands are equally likely: a gate asks nothing else of its range."""
    blueprint = random_blueprint(
        dataclasses.replace(SPOT, ranges=(parse_range("AcAd,AhTs,JJ,KdQd", DECK), SPOT.ranges[1]))
    )
    return blueprint, *write_out(blueprint)


@pytest.mark.parametrize("method", [Resolve, Maxmargin])
def test_gates_stand_above_leaves(even, method):
    blueprint, game, whole = even
    continuations = Continuations(bias_continuations(game, whole.tree, whole.strategy), (whole.strategy,))
    subgame = depth_limited_subgame(whole, 0, 1, RoundLimit().leaves(whole.tree, 0), continuations)
    limited = limit_depth(blueprint.tree.spot, blueprint, 1, MODICUM, dtype=np.float64)
    names = [f"{format_hand(hand, DECK)}|ThJhQsKc:" for hand in limited.tree.hands[0][0]]
    order = [subgame.tree.infoset_labels.index(name) for name in names]
    hands = limited.tree.hands[0][0]
    alternatives = np.zeros(DECK.num_hands)
    alternatives[hands] = np.linspace(-5.0, 8.0, len(names))
    by_private = np.empty(len(names))
    by_private[order] = alternatives[hands]
    plain = SubgameSolver(subgame, pose(whole, subgame, 1, method(alternatives=Given(by_private))))
    plain.iterate(20)

    profile = HoldemProfile(TreeStrategy(blueprint.tree, blueprint.sums))
    problem = pose(profile, limited, 1, method(alternatives=Given(alternatives)))
    solver = SubgameSolver(limited, problem, dtype=np.float64)
    solver.iterate(20)
    # the opponent's averages are weighted by what enters in one form and not in the other; nobody plays them
    assert_same_averages(limited.tree, solver.tables.strategy_sum, subgame, plain, players=(1,))
    np.testing.assert_allclose(solver.result().margin[hands], plain.result().margin[order], atol=1e-9)


def test_the_game_with_choices_is_solved():
    spot = dataclasses.replace(SPOT, ranges=(Range.random(DECK), Range.random(DECK)))
    limited = limit_depth(spot, solve_blueprint(spot, iterations=10), 0, PLURIBUS, dtype=np.float32)
    solver = solver_of(limited, CFRPlus(gamma=1.0))
    solver.iterate(20)
    early = solver.evaluate().exploitability
    solver.iterate(280)
    assert solver.evaluate().exploitability < min(0.01 * spot.pot, early / 5)
    assert sum(solver.evaluate().values) == pytest.approx(0.0, abs=1e-4)


def test_one_continuation_is_the_blueprint_locked(blueprint):
    """With nothing to choose, leaves are worth what the blueprint's river is worth in the whole tree."""
    limited = limit_depth(SPOT, blueprint, 0, LeafChoices(opponent=(Bias(),)), dtype=np.float64)
    solver = solver_of(limited, dtype=np.float64)
    solver.iterate(5)
    sums = blueprint.sums.copy()
    for index, decision in limited.tree.decisions.items():
        sums[blueprint.tree.cells(0, index)] = place_rows(
            limited.tree, blueprint.tree, solver.tables.strategy_sum, index, decision.player
        )
    whole = evaluate(blueprint.tree, sums).values
    np.testing.assert_allclose(solver.evaluate().values, whole, atol=1e-9)


def place_rows(tree, other, sums, index, player):
    """Returns `[H, A]` what a table plays at a decision, hands in the order of another tree."""
    rows = dict(zip(tree.hands[0][player].tolist(), tree.normalize(sums, 0, index), strict=True))
    return np.array([rows[hand] for hand in other.hands[0][player].tolist()])


def test_runs_begin_again(blueprint):
    solver = solver_of(limit_depth(SPOT, blueprint, 0, PLURIBUS))
    solver.iterate(6)
    first = solver.tables.strategy_sum.copy(), solver.frontier.strategy_sum[1].copy()
    solver.reset()
    solver.iterate(6)
    np.testing.assert_array_equal(solver.tables.strategy_sum, first[0])
    np.testing.assert_array_equal(solver.frontier.strategy_sum[1], first[1])


def test_leaves_do_not_depend_on_the_number_of_threads(blueprint):
    tables = []
    for num_threads in (1, 2, 3, 40):  # more threads than tables: some have nothing to do
        solver = solver_of(limit_depth(SPOT, blueprint, 0, PLURIBUS, num_threads=num_threads), num_threads=num_threads)
        solver.iterate(6)
        tables.append((solver.tables.strategy_sum, *solver.frontier.strategy_sum, *solver.frontier.regret_sum))
    for other in tables[1:]:
        for expected, found in zip(tables[0], other, strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("dtype", "slack"), [(np.float32, 1e-6), (np.int16, 2e-4)])
@pytest.mark.parametrize("rake", [0.0, 0.1])
def test_runs_on_smaller_numbers_find_nearly_the_same(dtype, slack, rake):
    """What choices regret after one iteration, from uniform play on: linear in the tables."""
    everybody = Range.random(DECK)
    board = parse_board("ThJhQhTs", DECK)
    spot = dataclasses.replace(SPOT, board=board, ranges=(everybody, SPOT.ranges[1]), rake_rate=rake)
    known = random_blueprint(dataclasses.replace(spot, ranges=(everybody, everybody)))
    found = []
    for kind in (np.float64, dtype):
        solver = solver_of(
            limit_depth(spot, known, 1, PLURIBUS, dtype=kind), CFRPlus(), dtype=np.float64, num_threads=2
        )
        solver.is_alternating = False
        solver.iterate(1)
        found.append(solver.frontier.regret_sum)
    for exact, rounded in zip(*found, strict=True):
        assert np.abs(exact).max() > 1.0
        np.testing.assert_allclose(rounded, exact, atol=slack * np.abs(exact).max())


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_blueprints_know_the_ranges_and_a_share_of_all_hands(share):
    made = solve_blueprint(SPOT, iterations=1, share_of_all=share)
    possible = Range.random(DECK).without(SPOT.board).weights
    for player, mixed in enumerate(made.tree.spot.ranges):
        known = SPOT.live_weights(player)  # hands that the board blocks are nobody's share
        expected = (1 - share) * known / known.sum() + share * possible / possible.sum()
        np.testing.assert_allclose(mixed.weights / mixed.weights.sum(), expected, atol=1e-15)


def test_wrong_shares_of_all_hands_are_refused():
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(ConfigError, match="the share of all hands is a number from 0 to 1, got"):
            solve_blueprint(SPOT, share_of_all=share)


def test_blueprints_of_something_else_are_refused(blueprint):
    everybody = (Range.random(DECK), Range.random(DECK))
    for change, message in (
        ({"board": parse_board("ThJhQsAc", DECK)}, "the blueprint is of turn ThJhQsKc, the search of turn ThJhQsAc"),
        ({"pot": 30}, "another pot than the search: 20 and 30"),
        ({"ranges": everybody}, "the blueprint lacks .* hands that player 0 holds"),
        ({"board": parse_board("ThJhQs", DECK)}, "needs a spot of two streets"),
        ({"board": parse_board("ThJhQsKcKd", DECK)}, "needs a spot of two streets"),
    ):
        with pytest.raises(ConfigError, match=message):
            limit_depth(dataclasses.replace(SPOT, **change), blueprint, 0)
    with pytest.raises(ConfigError, match="player 0 or 1, got 2"):
        limit_depth(SPOT, blueprint, 2)
    with pytest.raises(ConfigError, match="float32, float64 or int16, got int8"):
        limit_depth(SPOT, blueprint, 0, dtype=np.int8)


def test_choices_are_checked():
    for arguments, message in (
        ({"opponent": ()}, "the opponent chooses among 1 to 16 biases, got 0"),
        ({"searcher": (Bias(),) * 17}, "the searcher chooses among 1 to 16 biases, got 17"),
        ({"opponent": (Bias(fold=0.0),)}, "three positive factors"),
    ):
        with pytest.raises(ConfigError, match=message):
            LeafChoices(**arguments)


@pytest.fixture(scope="module")
def policy():
    spot = dataclasses.replace(SPOT, ranges=(Range.random(DECK), SPOT.ranges[1]))
    solver = CFRSolver(build_holdem_tree(spot, merges_suits=False), CFRPlus())
    solver.iterate(5)
    return TreeStrategy(solver.tree, solver.tables.strategy_sum)


def test_nested_searches_may_end_with_the_street(policy):
    spot, board = policy.tree.spot, SPOT.board
    settings = SearchSettings(method=Unsafe(), leaf_choices=PLURIBUS, leaf_iterations=40)
    search = NestedSearch(HoldemProfile(policy), 1, settings)
    found = search.search(search.begin(), HoldemPlace(0, board))
    # what the search is made of
    solver = solver_of(limit_depth(spot, TreeStrategy(tree=policy.tree, sums=policy.sums), 1, PLURIBUS), settings.rule)
    solver.iterate(40)
    direct = TreeStrategy(solver.tree, solver.tables.strategy_sum)
    for node, decision in solver.tree.decisions.items():
        held = solver.tree.hands[0][decision.player]
        ours, theirs = (each.probabilities(HoldemPlace(node, board))[held] for each in (found.stage.profile, direct))
        np.testing.assert_allclose(ours, theirs, atol=1e-4)
    river = policy.tree.boards[-1]
    node = next(node for node, decision in policy.tree.decisions.items() if decision.street == 1)
    held = policy.tree.hands[policy.tree.locate(river)[0]][policy.tree.decisions[node].player]
    kept, before = (each.probabilities(HoldemPlace(node, river))[held] for each in (found.stage.profile, policy))
    np.testing.assert_allclose(kept, before, atol=1e-6)


@pytest.mark.parametrize("method", [Resolve(), Maxmargin()])
def test_nested_searches_begin_within_the_street(policy, method):
    settings = SearchSettings(method=method, leaf_choices=MODICUM, leaf_iterations=100)
    search = NestedSearch(HoldemProfile(policy), 1, settings)
    node = policy.tree.betting.nodes[0].children[1]  # player 0 bets
    found = search.search(search.begin(), HoldemPlace(node, SPOT.board))
    strategy = found.stage.profile.probabilities(HoldemPlace(0, SPOT.board))[policy.tree.hands[0][1]]
    np.testing.assert_allclose(strategy.sum(axis=1), 1.0, atol=1e-6)
    before = policy.probabilities(HoldemPlace(node, SPOT.board))[policy.tree.hands[0][1]]
    assert np.abs(strategy - before).max() > 0.005
    # four forms of a blueprint are not every answer to the street: margins are kept nearly
    assert (found.value - found.alternative)[found.possible].max() < 0.05 * SPOT.pot
    part = cut_betting(policy.tree.betting, node)
    assert has_leaves(part, settings)
    assert search.profile.estimate_leaves(part, SPOT.board, settings) > 0


def test_leaves_and_menus_exclude_each_other():
    with pytest.raises(ConfigError, match="leave menu out"):
        SearchSettings(leaf_choices=MODICUM, menu=SPOT.menu)
