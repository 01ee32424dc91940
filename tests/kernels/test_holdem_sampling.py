# SPDX-License-Identifier: Apache-2.0
"""Sampled sweeps of hold'em trees: against full-width ones by enumeration, against their twins to the last digits."""

import dataclasses
import functools
import itertools

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range, parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.registry import make_game
from equipoise.kernels.holdem.sampling import HoldemSamplingKernel, draw_cards
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.kernels.sampling import Scheme
from equipoise.kernels.skipping import SkipKind
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem.mccfr import lay_out_betting, make_sampling_tables
from equipoise.solvers.rules import CFR
from equipoise.solvers.sampled_pruning import SampledPruning, prune_betting, prune_tree
from equipoise.trees.history import build_history_tree
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.reference.holdem import HoldemTwin, side_cells, spot_of
from tests.reference.holdem_sampling import ListedChance, NativeChance, ReferenceExternal
from tests.reference.regrets import by_label, exact_regrets, flatten, random_regrets
from tests.reference.sampling import ReferenceSkipping, Xoshiro, all_draws


def make_kernel(tree):
    return HoldemSamplingKernel(HoldemKernel(tree.arrays), lay_out_betting(tree))


def make_tables(tree, dtype=np.float64, seed=5):
    return make_sampling_tables(tree.arrays.num_cells, dtype, np.random.default_rng(seed))


def small_spot(board, ranges="AA, KQ, 99, JT:0.5|QQ+, AJ, T9", menu="100%, a / a; flop: a"):
    deck = DECKS["small"]
    first, second = (parse_range(text, deck) for text in ranges.split("|"))
    return HoldemSpot(
        board=parse_board(board, deck),
        pot=20,
        stacks=(60, 60),
        ranges=(first, second),
        menu=parse_menu(menu),
        big_blind=10,
        deck=deck,
    )


def list_runouts(tree):
    """Returns every runout of a tree with the probability with which it is drawn."""
    runouts = [((0,), 1.0)]
    for _ in range(tree.arrays.streets.shape[0] - 1):
        longer = []
        for path, probability in runouts:
            _, first, count, *_ = tree.arrays.boards[path[-1]].tolist()
            images = tree.arrays.boards[first : first + count, 3]
            longer += [((*path, first + child), probability * images[child] / images.sum()) for child in range(count)]
        runouts = longer
    return runouts


def board_chances(tree):
    """Returns `[C]` the probability with which the board of each cell is drawn."""
    chances = np.zeros(len(tree.boards))
    for path, probability in list_runouts(tree):
        chances[list(path)] += probability
    out = np.zeros(tree.arrays.num_cells)
    for board, player in itertools.product(range(len(tree.boards)), (0, 1)):
        out[side_cells(tree, board, player)] = chances[board]
    return out


SPOTS = {
    "river": small_spot("9hThQhKhAc"),
    "turn": small_spot("9hThQhKc"),
    "turn with equal suits": small_spot("9hThQhKh"),
    "flop": small_spot("9hTcQs", "AA, KQ|QQ, AJ"),
    "flop with equal suits": small_spot("9hThQh", "AA, KQ|QQ, AJ"),
    "one side empty on rivers": small_spot("9hTcQsKc", "AhAs|AcKh, JJ"),
    "turn with rake": dataclasses.replace(small_spot("9hThQhKc"), rake_rate=0.05, rake_cap=3.0),
    "before the flop": HoldemSpot(
        board=(),
        stacks=(40, 40),
        ranges=(Range.random(DECKS["tiny"]), parse_range("TT+, AKs, QJ:0.5", DECKS["tiny"])),
        menu=parse_menu("a"),
        big_blind=10,
        last_street=Street.FLOP,
        deck=DECKS["tiny"],
    ),
}


@pytest.mark.parametrize("merges_suits", [True, False])
@pytest.mark.parametrize("name", SPOTS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_the_mean_over_all_runouts_is_the_full_width_sweep(name, merges_suits, dtype, tolerance):
    tree = build_holdem_tree(SPOTS[name], merges_suits=merges_suits)
    full = CFRSolver(tree, CFR(), dtype=np.float64, is_alternating=False)
    full.iterate(3)  # regrets that are the same for hands that differ by suits' names
    start = full.tables.regret_sum.copy()
    full.tables.strategy_sum[:] = 0.0
    full.iterate(1)
    kernel = make_kernel(tree)
    regrets, averages = np.zeros_like(start), np.zeros_like(start)
    for (path, probability), player in itertools.product(list_runouts(tree), (0, 1)):
        tables = make_tables(tree, dtype)
        tables.regret_sum[:] = start
        kernel.sweep(tables, player, path)
        regrets += probability * (tables.regret_sum - start.astype(dtype))
        averages += probability * tables.strategy_sum
    chance = board_chances(tree)
    assert chance.max() == pytest.approx(1.0)
    used = chance > 0
    expected = (chance * (full.tables.regret_sum - start))[used]
    scale = np.abs(expected).max()
    np.testing.assert_allclose(regrets[used], expected, rtol=0, atol=tolerance * max(scale, 1.0))
    np.testing.assert_allclose(averages[used], (chance * full.tables.strategy_sum)[used], rtol=0, atol=tolerance)
    assert scale > 0.01


def test_without_chance_public_chance_sampling_is_full_width_cfr():
    tree = build_holdem_tree(SPOTS["river"])
    full = CFRSolver(tree, CFR(), dtype=np.float64)
    kernel, tables = make_kernel(tree), make_tables(tree)
    full.iterate(20)
    assert kernel.iterate(Scheme.PUBLIC_CHANCE, tables, 20) == 20
    used = board_chances(tree) > 0
    np.testing.assert_allclose(tables.regret_sum[used], full.tables.regret_sum[used], rtol=0, atol=1e-9)
    np.testing.assert_allclose(tables.strategy_sum[used], full.tables.strategy_sum[used], rtol=0, atol=1e-9)
    assert tables.nodes_touched[0] == 20 * 2 * len(tree.betting.nodes)


@pytest.mark.parametrize("name", ["flop with equal suits", "turn"])
def test_runouts_are_drawn_as_often_as_they_are_likely(name):
    tree = build_holdem_tree(SPOTS[name])
    kernel, tables = make_kernel(tree), make_tables(tree)
    count = 4_000
    drawn = np.zeros(len(tree.boards))
    first_cells = [side_cells(tree, board, 0).ravel() for board in range(len(tree.boards))]
    for _ in range(count):
        tables.strategy_sum[:] = 0.0
        kernel.iterate(Scheme.PUBLIC_CHANCE, tables, 1)
        tables.regret_sum[:] = 0.0  # uniform play reaches every board that is drawn
        drawn += [tables.strategy_sum[cells].any() for cells in first_cells]
    expected = np.zeros(len(tree.boards))
    for path, probability in list_runouts(tree):
        expected[list(path)] += probability
    seen = np.array([cells.size > 0 for cells in first_cells])
    error = 5 * np.sqrt(expected * (1 - expected) / count) + 1e-9
    assert (np.abs(drawn / count - expected) <= error)[seen].all()


ENDGAMES = {
    "river": {"deck": "tiny", "board": "ThTsJhQsKh", "menu": "50%, a / a"},
    "turn": {"deck": "tiny", "board": "ThTsJhKs", "stacks": (40, 30), "menu": "100%, a / a"},
    "weighted turn": {
        "deck": "small",
        "board": "ThJsQhKs",
        "stacks": (35, 60),
        "menu": "a",
        "ranges": "AA,AhKh:0.5,QJs|TT,AsJs,AhKh:0.25",
    },
}


@functools.cache
def endgame(name):
    game = make_game(
        "holdem_endgame", **{"pot": 20, "small_blind": 5, "big_blind": 10, "stacks": (40, 40), **ENDGAMES[name]}
    )
    return game, HoldemTwin(build_holdem_tree(spot_of(game), merges_suits=False), build_history_tree(game))


@pytest.mark.parametrize("name", ENDGAMES)
def test_external_sampling_equals_its_twin(name):
    game, pair = endgame(name)
    kernel, tables = make_kernel(pair.tree), make_tables(pair.tree)
    start = random_regrets(pair.history, 2)
    tables.regret_sum[:] = pair.to_cells(start)
    chance = NativeChance(pair.tree, tables.random_words)
    twin = ReferenceExternal(game, chance, regrets=by_label(pair.history, start))
    assert kernel.iterate(Scheme.EXTERNAL, tables, 50) == 50
    for _ in range(50):
        twin.iterate()
    owned = pair.sequences
    regrets, averages = pair.to_sequences(tables.regret_sum), pair.to_sequences(tables.strategy_sum)
    np.testing.assert_allclose(regrets[owned], flatten(pair.history, twin.regret_sum)[owned], atol=1e-9)
    np.testing.assert_allclose(averages[owned], flatten(pair.history, twin.strategy_sum)[owned], atol=1e-9)
    assert tables.nodes_touched[0] == twin.nodes_touched
    assert tables.random_words.tolist() == chance.generator.words


def prune(name, kind, **changes):
    """Returns a pruning over the betting of an endgame, and the same over the sequences of its history tree."""
    _, pair = endgame(name)
    pruning = SampledPruning(kind=kind, threshold=-0.004, softness=0.02, probability=0.6, **changes)
    rule, twin = prune_betting(pruning, lay_out_betting(pair.tree), name), prune_tree(pruning, pair.history)
    return rule, dataclasses.replace(rule, may_skip=twin.may_skip, rise=twin.rise)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("kind", [SkipKind.REGRET_BASED, SkipKind.PROBABILISTIC, SkipKind.COIN])
@pytest.mark.parametrize("name", ["river", "turn"])
def test_pruned_external_sampling_equals_its_twin(name, kind, is_weighted):
    game, pair = endgame(name)
    rule, over_sequences = prune(name, kind, is_weighted=is_weighted, floor=-3.0, first_node=50, end_node=500)
    kernel = make_kernel(pair.tree)
    tables = make_sampling_tables(pair.tree.arrays.num_cells, np.float64, np.random.default_rng(3), has_missed=True)
    start = 40 * random_regrets(pair.history, 2)
    tables.regret_sum[:] = pair.to_cells(start)
    may_skip, rise = by_label(pair.history, over_sequences.may_skip), by_label(pair.history, over_sequences.rise)
    # the betting's bounds do not know the hands: at least those of the histories, so the twin takes the betting's
    bound = betting_rise(pair, rule)
    assert all((bound[key] >= rise[key] - 1e-9).all() for key in rise)
    skipping = ReferenceSkipping(rule, lambda key, a: may_skip[key][a], lambda key, a: bound[key][a])
    chance = NativeChance(pair.tree, tables.random_words)
    twin = ReferenceExternal(game, chance, regrets=by_label(pair.history, start), skipping=skipping)
    kernel.iterate(Scheme.EXTERNAL, tables, 40, skipping=rule)
    for _ in range(40):
        twin.iterate()
    owned = pair.sequences
    regrets, averages = pair.to_sequences(tables.regret_sum), pair.to_sequences(tables.strategy_sum)
    np.testing.assert_allclose(regrets[owned], flatten(pair.history, twin.regret_sum)[owned], atol=1e-8)
    np.testing.assert_allclose(averages[owned], flatten(pair.history, twin.strategy_sum)[owned], atol=1e-8)
    assert tables.nodes_touched[0] == twin.nodes_touched
    assert tables.num_skipped[0] == skipping.num_skipped > 0
    assert tables.random_words.tolist() == chance.generator.words


def betting_rise(pair, rule):
    """Returns the most that a visit can add, by information state and action, from the arrays over the betting."""
    edges, betting = np.zeros(pair.tree.arrays.num_cells), lay_out_betting(pair.tree)
    for node, decision in pair.tree.decisions.items():
        first = betting.nodes[node, 2]
        for board in range(len(pair.tree.boards)):
            if pair.tree.arrays.boards[board, 0] == decision.street:
                cells = pair.tree.cells(board, node)
                edges[cells] = rule.rise[first : first + cells.shape[-1]]
    return by_label(pair.history, pair.to_sequences(edges))


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["river", "weighted turn"])
def test_the_twins_expected_regrets_over_all_deals_are_the_true_ones(name, player):
    game, pair = endgame(name)
    start = random_regrets(pair.history, 3)
    total, weight, mass = np.zeros_like(start), np.zeros_like(start), 0.0

    def run(draw):
        twin = ReferenceExternal(game, ListedChance(pair.tree, draw), regrets=by_label(pair.history, start))
        twin.traverse(player)
        added = flatten(pair.history, twin.regret_sum) - flatten(pair.history, by_label(pair.history, start))
        return added, flatten(pair.history, twin.strategy_sum)

    for probability, (added, averaged) in all_draws(run):
        total += probability * added
        weight += probability * averaged
        mass += probability
    assert mass == pytest.approx(1.0)
    expected, realization = exact_regrets(pair.history, start)
    own = slice(pair.history.sequence_start[player], pair.history.sequence_start[player + 1])
    np.testing.assert_allclose(total[own], expected[own], atol=1e-12)
    assert np.abs(expected[own]).max() > 1e-3
    # the other's strategies are added with its own reach, times a chance that its hand and the board decide
    other = weight > 0
    assert other.any()
    assert (realization[other] > 0).all()


def test_cards_are_drawn_from_what_is_left():
    words = np.random.default_rng(1).integers(1, 2**64 - 1, size=4, dtype=np.uint64)
    generator = Xoshiro(words)
    cards = [3, 7, 11, 20, 41]
    for _ in range(20):
        drawn = draw_cards(words, cards, 3)
        left = list(cards)
        for place in range(3):
            chosen = place + int((generator.next() >> 11) * 2.0**-53 * (5 - place))
            left[place], left[chosen] = left[chosen], left[place]
        assert drawn == tuple(left[:3])
    assert words.tolist() == generator.words
    with pytest.raises(ConfigError, match="cards drawn must be between 0 and 5, got 6"):
        draw_cards(words, cards, 6)


def test_wrong_tables_are_refused():
    tree = build_holdem_tree(SPOTS["turn"])
    kernel, tables = make_kernel(tree), make_tables(tree)
    with pytest.raises(ValueError, match="by external or public chance sampling, got OUTCOME"):
        kernel.iterate(Scheme.OUTCOME, tables, 1)
    with pytest.raises(ValueError, match="a runout has 2 boards, got 1"):
        kernel.sweep(tables, 0, [0])
    with pytest.raises(ConfigError, match="player must be between 0 and 1, got 2"):
        kernel.sweep(tables, 2, [0, 1])
    with pytest.raises(ConfigError, match="board must be between 0 and"):
        kernel.sweep(tables, 0, [0, 1000])
    with pytest.raises(TypeError, match="sampled tables are float32 or float64, got float16"):
        kernel.iterate(Scheme.EXTERNAL, make_tables(tree, np.float16), 1)
    tables.random_words[:] = 0
    with pytest.raises(ValueError, match="must not all be zero"):
        kernel.iterate(Scheme.EXTERNAL, tables, 1)
