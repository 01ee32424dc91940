# SPDX-License-Identifier: Apache-2.0
import functools

import numpy as np
import pytest
from scipy import optimize

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    BettingRules,
    Stage,
    Street,
    apply_action,
    initial_betting,
    next_street,
    payoffs,
)
from equipoise.games.holdem.betting_tree import betting_tree
from equipoise.games.holdem.cards import DECKS, FULL_DECK, Deck
from equipoise.games.holdem.class_showdowns import load_or_build_class_showdowns
from equipoise.games.holdem.equity import compute_equity
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import MENUS, parse_menu
from equipoise.games.holdem.ranges import Range, parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem.push_fold import PushFold, find_push_fold, solve_push_fold
from equipoise.trees.holdem.tree import build_holdem_tree

SMALL, TINY = DECKS["small"], DECKS["tiny"]


showdowns_of = functools.cache(load_or_build_class_showdowns)


@functools.cache
def solved(deck=SMALL, **options):
    return solve_push_fold(PushFold(deck=deck, **options), showdowns=showdowns_of(deck))


def all_in_payoffs(ante_chips, *actions, strengths=()):
    """Returns what the small and the big blind win by the betting rules, a big blind being 100 chips."""
    rules = BettingRules(stacks=(1000, 1000), ante=ante_chips)
    state = initial_betting(rules)
    for action in actions:
        state = apply_action(rules, state, action)
    while state.stage is Stage.DEAL:
        state = next_street(rules, state)
    big_blind, small_blind = payoffs(state, strengths)
    return small_blind / 100, big_blind / 100


def push_fold_spot(**changes):
    fields = {"stacks": (20, 24), "big_blind": 4, "small_blind": 1, "ante": 1, "menu": MENUS["push_fold"], "deck": TINY}
    fields |= changes
    everything = Range.random(fields["deck"])
    return HoldemSpot(board=(), **{"ranges": (everything, everything), **fields})


@pytest.mark.parametrize("changes", [{}, {"rake_rate": 0.1, "rake_cap": 3.0}], ids=["no rake", "rake"])
def test_the_tree_of_the_same_spot_agrees(changes):
    """On ten cards every board fits a tree, which knows nothing of classes of hands or of tables of showdowns."""
    spot = push_fold_spot(**changes)
    chart = solve_push_fold(find_push_fold(spot), showdowns=showdowns_of(TINY))
    solver = CFRSolver(build_holdem_tree(spot), dtype=np.float64)
    solver.iterate(400)
    found = solver.evaluate()
    assert found.exploitability < 2e-3
    small_blind, big_blind = (spot.big_blind * value for value in chart.values_bb)
    assert found.values == pytest.approx([big_blind, small_blind], abs=4e-3)


def test_the_stakes_of_a_spot_in_big_blinds():
    game = find_push_fold(push_fold_spot(rake_rate=0.1, rake_cap=3.0))
    assert (game.stack_bb, game.small_blind_bb, game.ante_bb, game.deck) == (5, 0.25, 0.25, TINY)
    assert (game.rake, game.rake_cap_bb) == (0.1, 0.75)


@pytest.mark.parametrize(
    "changes",
    [
        {"menu": parse_menu("a")},  # with limps
        {"menu": parse_menu("3x, a / a; limp: none")},
        {"menu": parse_menu("preflop: 2x; preflop cap: 1; flop: none; turn: none; river: none; limp: none")},
        {"ranges": (parse_range("AA", TINY), parse_range("random", TINY))},
        {"last_street": Street.FLOP},
        {"stacks": (20, 5)},  # the small blind can only call
        {"small_blind": 4},  # nothing to fold to
        {"bet_sizes": (4,), "max_raises": (1,)},
    ],
)
def test_other_spots_are_not_push_or_fold(changes):
    assert find_push_fold(push_fold_spot(**changes)) is None


@pytest.mark.parametrize("ante_bb", [0.0, 0.25])
def test_stakes_are_those_of_the_betting_rules(ante_bb):
    game, ante = PushFold(stack_bb=10, ante_bb=ante_bb), int(100 * ante_bb)
    rules = BettingRules(stacks=(1000, 1000), ante=ante)
    push = betting_tree(rules, MENUS["push_fold"]).root.actions[-1]
    assert all_in_payoffs(ante, FOLD) == (-game.folded_bb, game.folded_bb)
    assert all_in_payoffs(ante, push, FOLD) == (game.stolen_bb, -game.stolen_bb)
    for strengths, share in (((1, 2), 1.0), ((2, 2), 0.5), ((2, 1), 0.0)):  # of the big and the small blind
        won, lost = all_in_payoffs(ante, push, CALL, strengths=strengths)
        assert won == pytest.approx(float(game.called_bb(share)))
        assert lost == pytest.approx(float(game.called_bb(1 - share)))


def test_a_program_over_single_hands_agrees():
    """The big blind's program over the hands of a tiny deck, with equities taken one by one."""
    hands, game = hands_of(TINY), PushFold(stack_bb=3, deck=TINY)
    size = hands.num_hands
    is_apart = (hands.masks[:, None] & hands.masks[None, :]) == 0
    called = np.zeros((size, size))
    for i, j in np.argwhere(is_apart):
        ranges = [np.eye(size)[hand] for hand in (i, j)]
        equity = compute_equity(*(Range(weights, TINY) for weights in ranges), deck=TINY)
        called[i, j] = game.called_bb(equity.equity[0])
    chance = is_apart / is_apart.sum()
    # least sum of w subject to w_i >= what push and fold earn hand i against calls y
    push = chance * (called - game.stolen_bb)
    rows = np.block([[push, -np.eye(size)], [np.zeros((size, size)), -np.eye(size)]])
    right = np.concatenate([-game.stolen_bb * chance.sum(1), game.folded_bb * chance.sum(1)])
    bounds = [(0, 1)] * size + [(None, None)] * size
    result = optimize.linprog(np.concatenate([np.zeros(size), np.ones(size)]), rows, right, bounds=bounds)
    assert solved(TINY, stack_bb=3.0).values_bb[0] == pytest.approx(result.fun, abs=1e-9)


@pytest.mark.parametrize("options", [{}, {"ante_bb": 0.5}, {"rake": 0.05}, {"rake": 0.1, "rake_cap_bb": 0.3}], ids=str)
@pytest.mark.parametrize("stack_bb", [2.0, 7.0, 25.0])
def test_nobody_can_gain(stack_bb, options):
    chart = solved(stack_bb=stack_bb, **options)
    assert chart.exploitability_bb < 1e-9
    assert chart.nash_conv_bb == 2 * chart.exploitability_bb
    assert ((chart.push >= 0) & (chart.push <= 1) & (chart.call >= 0) & (chart.call <= 1)).all()


def test_showdowns_are_loaded_when_none_are_given():
    np.testing.assert_array_equal(solve_push_fold(PushFold(stack_bb=6.0, deck=SMALL)).push, solved(stack_bb=6.0).push)


def test_showdowns_of_another_deck_are_refused():
    with pytest.raises(ConfigError, match="the game's deck full, got small"):
        solve_push_fold(showdowns=showdowns_of(SMALL))


def test_only_the_house_takes_money():
    assert sum(solved(stack_bb=6.0).values_bb) == pytest.approx(0.0, abs=1e-12)
    chart = solved(stack_bb=6.0, rake=0.05)
    hands = hands_of(SMALL)
    is_apart = (hands.masks[:, None] & hands.masks[None, :]) == 0
    called = chart.push_range.weights @ is_apart @ chart.call_range.weights / is_apart.sum()
    assert sum(chart.values_bb) == pytest.approx(-called * 0.05 * 12, abs=1e-12)


def test_a_cap_of_nothing_is_no_rake():
    capped, free = solved(stack_bb=6.0, rake=0.05, rake_cap_bb=0.0), solved(stack_bb=6.0)
    np.testing.assert_array_equal(capped.push, free.push)


def test_aces_always_play_and_deep_stacks_tighten():
    deep, shallow = solved(stack_bb=25.0), solved(stack_bb=3.0)
    assert deep.push_share < shallow.push_share
    assert deep.call_share < shallow.call_share
    assert deep.push[0] == deep.call[0] == 1.0


def test_more_dead_money_loosens():
    assert solved(stack_bb=10.0, ante_bb=1.0).push_share > solved(stack_bb=10.0).push_share


def test_one_suit_leaves_classes_without_hands():
    chart = solved(Deck("89TJQKA", "hs"), stack_bb=4.0)
    assert chart.exploitability_bb < 1e-9
    chart = solved(Deck("56789TJQKA", "s"), stack_bb=4.0)
    assert chart.exploitability_bb < 1e-9


@pytest.mark.slow
def test_the_full_deck_as_published():
    """Heads-up Nash charts: stacks in big blinds up to which hands push or call.

    From holdemresources.net, "Using the Nash Charts" (2014): T3s pushes up to 7.7 (it mixes there), 63s from 5.1 to 7.1
    and below 2.3, Q2o calls up to 5.6; poker.com's chart: at 12 Q8o pushes, Q7o does not. At 10 some
    58 % push and 37 % call.
    """

    def plays(name, action, stack_bb):
        return getattr(solved(FULL_DECK, stack_bb=stack_bb), action)[hands_of().class_names.index(name)]

    assert plays("T3s", "push", 7.7) > 0.5
    assert plays("T3s", "push", 7.8) == 0.0
    assert [plays("63s", "push", stack) for stack in (7.2, 7.0, 5.2, 5.0, 2.4, 2.2)] == [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]
    assert [plays("Q2o", "call", stack) for stack in (5.5, 5.7)] == [1.0, 0.0]
    assert [plays(name, "push", 12.0) for name in ("Q8o", "Q7o")] == [1.0, 0.0]
    chart = solved(FULL_DECK, stack_bb=10.0)
    assert chart.exploitability_bb < 1e-12
    assert chart.push_share == pytest.approx(0.58, abs=0.01)
    assert chart.call_share == pytest.approx(0.37, abs=0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stack_bb": 1.0}, r"stack_bb must exceed the big blind and the ante \(1\), got 1"),
        ({"stack_bb": 2.0, "ante_bb": 1.0}, r"ante \(2\), got 2"),
        ({"stack_bb": float("nan")}, "stack_bb must be a finite number, got nan"),
        ({"small_blind_bb": 0.0}, "small_blind_bb must be above 0 and at most 1, got 0"),
        ({"ante_bb": -1.0}, "ante_bb must not be negative, got -1"),
        ({"rake": 1.0}, "rake must be 0 to below 1.*got 1"),
        ({"rake_cap_bb": -1.0}, "rake_cap_bb must not be negative, got -1"),
    ],
)
def test_bad_stakes_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        PushFold(**options)
