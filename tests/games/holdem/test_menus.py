# SPDX-License-Identifier: Apache-2.0
"""Menus of bets: what they offer, how they are written, which ones are refused, and the trees they make."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError, GameTooLargeError, ParseError, UnknownNameError
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    NOBODY,
    BettingRules,
    Street,
    apply_action,
    initial_betting,
    is_legal,
    next_street,
    pot,
)
from equipoise.games.holdem.betting_tree import DEALING, NodeKind, betting_tree, count_nodes
from equipoise.games.holdem.menu_notation import MENUS, format_menu, parse_menu
from equipoise.games.holdem.menus import (
    BetSize,
    Counting,
    Menu,
    RoundMenu,
    SizeKind,
    check_menu,
    menu_actions,
    raise_options,
)

HEADS_UP = BettingRules()
LIMIT = BettingRules(stacks=(1000, 1000), small_blind=1, big_blind=2, bet_sizes=(2, 2, 4, 4), max_raises=(3, 4, 4, 4))
DEAL = "deal"


def root(street, pot_chips, *stacks, **kwargs):
    return BettingRules(first_street=street, pot=pot_chips, stacks=stacks, **kwargs)


RIVER = root(Street.RIVER, 500, 19_750, 19_750)  # 250 put in by each
FLOP = root(Street.FLOP, 500, 19_750, 19_750)


def options(rules, text, *actions, **kwargs):
    """Returns the bets that a menu offers after actions, counted from the start of the hand's pot."""
    state = initial_betting(rules)
    for action in actions:
        state = next_street(rules, state) if action == DEAL else apply_action(rules, state, action)
    return tuple(total - state.base for total in raise_options(rules, parse_menu(text), state, **kwargs))


@pytest.mark.parametrize(
    ("text", "first", "after_a_bet_of_500"),
    [
        ("50%, 100%, a", (250, 500, 19_750), (1250, 2000, 19_750)),
        ("100% / 50% / none", (500,), (1250,)),
        ("75%, 2.5x", (375,), (1250, 1625)),
        ("300c, 1200c, 5000c", (300, 1200, 5000), (1200, 5000)),
        ("1e", (19_750,), (19_750,)),
        ("3e", (827,), (1991,)),  # 500 * 4.309 ** 3 = 40,000
        ("min", (100,), (1000,)),
        ("1%", (100,), (1000,)),  # the smallest legal raise
        ("4000%", (19_750,), (19_750,)),
        ("1e+308%", (19_750,), (19_750,)),  # times the pot no number
        ("50%, 1e+308x", (250,), (1250, 19_750)),
        ("none", (), ()),
        ("12.5%, 14.5%", (100,), (1000,)),
    ],
)
def test_sizes(text, first, after_a_bet_of_500):
    assert options(RIVER, text) == first
    assert options(RIVER, text, 750) == after_a_bet_of_500


def test_geometric_sizes_reach_all_in_on_the_last_street():
    state = initial_betting(FLOP)
    fractions = []
    for _ in range(3):
        (total,) = raise_options(FLOP, parse_menu("e"), state)
        fractions.append((total - state.price) / pot(state))
        state = apply_action(FLOP, apply_action(FLOP, state, total), CALL)
        state = state if state.street == Street.RIVER else next_street(FLOP, state)

    assert state.stacks == (0, 0)
    assert fractions == pytest.approx([1.654] * 3, abs=2e-3)


def test_halves_of_chips_are_rounded_up():
    rules = root(Street.RIVER, 1000, 9_500, 9_500, big_blind=1, small_blind=0)

    assert options(rules, "0.25%, 14.45%") == (3, 145)


def test_before_the_flop_the_blind_is_the_bet_that_is_multiplied():
    assert options(HEADS_UP, "2.5x, a") == (250, 20_000)
    assert options(HEADS_UP, "2.5x, a / 3x", 250) == (750,)


def test_lists_are_numbered_by_bets_or_by_actions():
    by_bets, by_actions = "50% / 100% / 200%", "50% / 100% / 200%; count: actions"

    assert options(RIVER, by_bets, CALL) == (250,)
    assert options(RIVER, by_actions, CALL) == (500,)
    assert options(RIVER, by_actions, CALL, 750) == (500 + 3000,)
    assert options(RIVER, by_actions, CALL, 750, num_actions_before=1) == (500 + 1500,)


def test_positions_have_their_own_menus():
    text = "oop: 50%; ip: 100%"

    assert options(RIVER, text) == (250,)
    assert options(RIVER, text, CALL) == (500,)


def test_of_several_players_the_last_one_left_is_in_position():
    rules = BettingRules(stacks=(10_000,) * 4)
    text = "oop: 100%; ip: 200%"

    assert options(rules, text, FOLD) == (100 + 250 * 2,)  # the button, with two blinds behind it
    assert options(rules, text) == (100 + 250,)
    assert options(rules, text, CALL, FOLD, CALL, CALL, DEAL, CALL, CALL) == (600,)  # the button folded


def test_donk_bets_are_those_into_the_last_aggressor():
    text = "50%; donk: 25%"
    donk = (700, CALL, DEAL)  # the button raised before the flop

    assert options(HEADS_UP, text, *donk) == (350,)
    assert options(HEADS_UP, text, *donk, CALL) == (700,)
    assert options(HEADS_UP, text, CALL, CALL, DEAL) == (100,)
    assert options(HEADS_UP, text, 300, 1000, CALL, DEAL) == (1000,)  # the big blind raised last itself
    assert options(HEADS_UP, text, *donk, CALL, CALL, DEAL) == (700,)  # checked through: no donk bet any more
    assert options(HEADS_UP, "50%; donk: none", *donk) == ()


def test_cap_counts_bets_of_the_round():
    assert options(RIVER, "100%; cap: 2", 750) == (2000,)
    assert options(RIVER, "100%; cap: 2", 750, 2250) == ()
    assert options(RIVER, "100%; cap: 0") == ()
    assert options(HEADS_UP, "100%; preflop cap: 1", 300) == ()


def test_bets_that_leave_little_behind_go_all_in():
    rules = root(Street.RIVER, 200, 400, 400)

    assert options(rules, "100%, 150%") == (200, 300)
    assert options(rules, "100%, 150%; force: 12%") == (200, 300)  # 100 behind into a pot of 800 is 12.5 %
    assert options(rules, "100%, 150%; force: 13%") == (200, 400)


def test_sizes_close_together_merge_into_the_larger():
    assert options(RIVER, "50%, 52%, 75%, 80%, a; merge: 5%") == (260, 400, 19_750)
    assert options(RIVER, "50%, 52%; merge: 1%") == (250, 260)


def test_all_in_is_what_the_opponent_can_call():
    rules = root(Street.RIVER, 200, 1000, 300)

    assert options(rules, "100%, 200%, a") == (200, 300)
    # a raise to 400 would put the opponent all-in; the rules ask for a full raise of 250
    assert options(rules, "a", CALL, 350) == (500,)


def test_limit_betting_offers_its_one_size_whatever_the_menu():
    for text in ("limit", "50%", "min, 3x, a"):
        assert options(LIMIT, text) == (4,)
        assert options(LIMIT, text, 4, 6, 8) == ()


@pytest.mark.parametrize(
    ("name", "opening", "facing_a_pot_bet"),
    [
        ("libratus", (250, 500, 19_750), (2000, 19_750)),
        ("deepstack", (250, 500, 1000, 19_750), (1250, 2000, 3500, 19_750)),
        ("supremus", (165, 250, 375, 500, 625, 1000, 19_750), (1000, 1250, 2000, 19_750)),
        ("fcpa", (500, 19_750), (2000, 19_750)),
        ("push_fold", (19_750,), (19_750,)),
    ],
)
def test_published_menus(name, opening, facing_a_pot_bet):
    assert options(RIVER, name) == opening
    assert options(RIVER, name, 750) == facing_a_pot_bet


def test_without_limps_the_big_blind_is_not_called():
    rules = BettingRules(stacks=(1000, 1000), small_blind=50, big_blind=100)
    menu = parse_menu("3x, a / a; limp: none")
    start = initial_betting(rules)
    assert menu_actions(rules, menu, start) == (FOLD, 300, 1000)
    assert menu_actions(rules, menu, apply_action(rules, start, 300)) == (FOLD, CALL, 1000)
    assert menu_actions(rules, parse_menu("3x, a / a"), start) == (FOLD, CALL, 300, 1000)
    after = initial_betting(RIVER)
    assert menu_actions(RIVER, menu, apply_action(RIVER, after, 750))[:2] == (FOLD, CALL)


def test_who_cannot_raise_may_call_without_limps():
    rules = BettingRules(stacks=(1000, 80), small_blind=50, big_blind=100)
    assert menu_actions(rules, MENUS["push_fold"], initial_betting(rules)) == (FOLD, CALL)


def test_push_or_fold_has_two_decisions():
    tree = betting_tree(BettingRules(stacks=(1000, 700), small_blind=50, big_blind=100), MENUS["push_fold"])
    decisions = [node.actions for node in tree.nodes if node.kind is NodeKind.DECISION]
    assert decisions == [(FOLD, 700), (FOLD, CALL)]


def test_limps_are_ruled_out_or_not_spoken_of():
    with pytest.raises(ParseError, match="limp must be none, or not be said where limps are allowed, got 'some'"):
        parse_menu("a; limp: some")


def test_supremus_third_and_later_actions():
    assert options(RIVER, "supremus", CALL, 350) == (275, 19_750)  # call 100, add a quarter of 700
    assert options(RIVER, "supremus", CALL, 350, 450) == (1100, 19_750)
    assert options(RIVER, "deepstack", CALL, 350) == (800, 19_750)


LIBRATUS_ENDGAMES = [  # street, pot, behind; decision, showdown, fold nodes with 48 river cards
    (Street.TURN, 500, 19_750, (12_320, 12_336, 10_878)),
    (Street.TURN, 4_780, 17_610, (3_088, 3_120, 2_414)),
    (Street.RIVER, 500, 19_750, (32, 31, 30)),
    (Street.RIVER, 3_750, 18_125, (20, 19, 18)),
]


@pytest.mark.parametrize(("street", "pot_chips", "behind", "counts"), LIBRATUS_ENDGAMES)
def test_size_of_the_libratus_endgames(street, pot_chips, behind, counts):
    tree = betting_tree(root(street, pot_chips, behind, behind), MENUS["libratus"])

    assert count_nodes(tree, {Street.RIVER: 48})[:3] == counts


def test_size_of_limit_holdem():
    tree = betting_tree(LIMIT, MENUS["limit"])
    decisions = [node.state.street for node in tree.nodes if node.kind is NodeKind.DECISION]

    assert [decisions.count(street) for street in Street] == [8, 70, 630, 5_670]


def test_tree_is_in_pre_order_and_knows_pots_and_folders():
    tree = betting_tree(root(Street.TURN, 200, 300, 300), parse_menu("100%, a"))

    assert tree.root.parent == DEALING
    for node in tree.nodes[1:]:
        parent = tree.nodes[node.parent]
        assert node.index in parent.children
        assert node.parent < node.index
        assert sum(node.state.stacks) + pot(node.state) == 800
        if node.kind is NodeKind.FOLD:
            assert parent.actions[parent.children.index(node.index)] == FOLD
            assert node.folder == parent.state.actor
            assert node.state.is_folded[node.folder]
        else:
            assert node.folder == NOBODY
        if parent.kind is NodeKind.STREET_END:
            assert (node.action, parent.children) == (DEALING, (node.index,))
    assert all(node.actions == () for node in tree.nodes if node.kind is not NodeKind.DECISION)


def test_tree_may_start_within_a_round_and_stop_at_its_end():
    state = apply_action(FLOP, initial_betting(FLOP), 750)

    tree = betting_tree(FLOP, MENUS["deepstack"], root=state, is_one_round=True)

    assert tree.root.actions == (FOLD, CALL, 1500, 2250, 3750, 20_000)  # the first action from the root
    assert {node.state.street for node in tree.nodes} == {Street.FLOP}
    ends = [node for node in tree.nodes if node.kind is NodeKind.STREET_END]
    assert ends
    assert all(node.children == () for node in ends)


def test_all_in_on_the_turn_is_a_showdown_on_every_river():
    tree = betting_tree(root(Street.TURN, 200, 300, 300), MENUS["push_fold"])

    assert count_nodes(tree) == (4 + 4, 2 + 3, 2 + 2, 3)
    all_in = tree.nodes[tree.root.children[1]].children[1]
    assert tree.nodes[all_in].kind is NodeKind.STREET_END
    assert tree.nodes[tree.nodes[all_in].children[0]].kind is NodeKind.SHOWDOWN


def test_tree_for_three_players():
    rules = BettingRules(stacks=(200, 200, 200))

    tree = betting_tree(rules, parse_menu("preflop: a; flop: none; turn: none; river: none"))

    # 18 decisions before the flop; the three limped pots are checked down by 2, 2 and 3 players
    assert count_nodes(tree)[:3] == (18 + 3 * (2 + 2 + 3), 15, 7)


sizes = st.one_of(
    st.sampled_from([BetSize(SizeKind.ALL_IN), BetSize(SizeKind.SMALLEST), BetSize(SizeKind.GEOMETRIC)]),
    st.builds(BetSize, st.just(SizeKind.POT), st.floats(1e-3, 1e20)),
    st.builds(BetSize, st.just(SizeKind.MULTIPLE), st.floats(1.001, 100)),
    st.builds(BetSize, st.just(SizeKind.CHIPS), st.integers(1, 10**18).map(float)),
    st.builds(BetSize, st.just(SizeKind.GEOMETRIC), st.integers(1, 9).map(float)),
)
size_lists = st.lists(sizes, max_size=2).map(tuple)
firsts = size_lists.map(lambda found: (*found, BetSize(SizeKind.ALL_IN)))
stated = st.one_of(st.tuples(firsts), st.tuples(firsts, size_lists), st.just(((),)))


def round_menus(lists):
    return st.builds(
        RoundMenu,
        sizes=lists,
        donk=st.one_of(st.none(), st.just(()), firsts),
        max_raises=st.one_of(st.none(), st.integers(0, 9)),
    )


pairs = st.one_of(
    round_menus(stated).map(lambda menu: (menu, menu)),
    st.tuples(round_menus(stated), round_menus(st.one_of(stated, st.just(())))),
)
menus = st.builds(
    Menu,
    rounds=st.one_of(pairs.map(lambda pair: (pair,) * 4), st.tuples(pairs, pairs).map(lambda two: two * 2)),
    counting=st.sampled_from(Counting),
    merge_percent=st.floats(0, 50),
    force_percent=st.floats(0, 50),
    has_limps=st.booleans(),
)


@settings(max_examples=80, deadline=None)
@given(menus)
def test_menus_survive_being_written_and_read(menu):
    assert parse_menu(format_menu(menu)) == menu


@settings(max_examples=60, deadline=None)
@given(menus, st.integers(1, 60), st.integers(1, 3000), st.integers(1, 3000), st.lists(st.integers(0, 9), max_size=8))
def test_what_a_menu_offers_is_legal(menu, half_pot, first, second, choices):
    rules = root(Street.RIVER, 2 * half_pot, first, second, big_blind=7, small_blind=3)
    state = initial_betting(rules)

    for choice in choices:
        if state.actor == NOBODY:
            break
        offered = raise_options(rules, menu, state)
        assert list(offered) == sorted(set(offered))
        assert all(is_legal(rules, state, total) for total in offered)
        state = apply_action(rules, state, (CALL, *offered)[choice % (1 + len(offered))])


@pytest.mark.parametrize("name", MENUS)
def test_names_are_read_in_any_case(name):
    assert parse_menu(f" {name.upper()} ") == MENUS[name] == parse_menu(format_menu(MENUS[name]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("50", "bet size '50' is not understood; write 33% (of the pot)"),
        ("50%, 1.2.3x", "bet size '1.2.3x' is not understood"),
        ("50%,", "bet size '' is not understood"),
        ("flop: 50%; rover: 75%", "menu clause 'rover: 75%' begins with 'rover', expected [preflop|flop|turn|river]"),
        ("50%; cap: many", "cap must be a whole number such as 4, got 'many'"),
        ("50%; merge: 10", "merge must be a percentage such as 10%, got '10'"),
        ("50%; count: chips", "count must be bets or actions, got 'chips'"),
        ("", "menu '' offers nothing"),
        ("merge: 10%", "menu 'merge: 10%' offers nothing"),
    ],
)
def test_text_that_is_no_menu_is_refused(text, message):
    with pytest.raises(ParseError) as caught:
        parse_menu(text)

    assert message in str(caught.value)


def test_unknown_name_offers_the_nearest():
    with pytest.raises(UnknownNameError, match="unknown menu 'libratos'; did you mean libratus"):
        parse_menu("libratos")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0%", "bet size 0% bets nothing"),
        ("0c", "bet size 0c bets nothing"),
        ("1x, a", "bet size 1x does not raise; write a multiple above 1, such as 2.5x"),
        ("2.5e", "bet size 2.5e must count whole bets"),
        ("flop: 2.5x", "flop oop offers only multiples as its first bet, .* add a size such as 50%"),
        ("50%; river donk: 3x", "river oop offers only multiples"),
    ],
)
def test_sizes_that_cannot_be_bet_are_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_menu(text)


def test_values_that_make_no_menu_are_refused():
    with pytest.raises(ConfigError, match="rounds must hold four streets"):
        Menu(rounds=())
    with pytest.raises(ConfigError, match="merge_percent must be finite and not negative, got -1"):
        Menu(merge_percent=-1)
    with pytest.raises(ConfigError, match="preflop oop cap must not be negative, got -1"):
        Menu(rounds=((RoundMenu(max_raises=-1), RoundMenu()),) * 4)
    with pytest.raises(ConfigError, match="bet sizes must be finite and not negative, got inf%"):
        BetSize(SizeKind.POT, float("inf"))


@pytest.mark.parametrize("text", ["min", "0.5%", "1.001x, 50%", "oop: 50%, min; ip: min", "min; preflop cap: 4"])
def test_menu_that_never_closes_is_refused(text):
    with pytest.raises(ConfigError, match=r"menu never closes: .* on the (preflop|flop); add 'cap: 4'"):
        check_menu(HEADS_UP, parse_menu(text))


@pytest.mark.parametrize("text", ["min; cap: 4", "min / a", "oop: min; ip: a", "100c, 200c, 300c", "10%"])
def test_menu_that_closes_is_accepted(text):
    check_menu(HEADS_UP, parse_menu(text))


def test_street_without_sizes_is_named():
    with pytest.raises(ConfigError, match="menu has no sizes for turn oop; add 'turn: 50%, a', or 'turn: none'"):
        check_menu(FLOP, parse_menu("flop: 50%; river: a"))
    check_menu(RIVER, parse_menu("flop: 50%; river: a"))


def test_tree_that_is_too_large_is_refused():
    with pytest.raises(GameTooLargeError, match="more than 1000 nodes; offer fewer sizes, or add 'cap: 3'"):
        betting_tree(FLOP, parse_menu("25%, 50%, 75%, 100%, a"), max_nodes=1000)
