# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import ParseError
from equipoise.games.holdem.betting import CALL, FOLD, BettingRules, Street, all_in_to
from equipoise.games.holdem.betting_tree import DEALING, NodeKind, betting_tree
from equipoise.games.holdem.cards import FULL_DECK, format_board, parse_board, parse_card
from equipoise.games.holdem.line_notation import (
    Line,
    find_action,
    format_address,
    format_line,
    name_actions,
    parse_deal,
    parse_decision,
    parse_line,
    parse_stretches,
    shorten_line,
)
from equipoise.games.holdem.menu_notation import parse_menu

MENUS = ["50%, 100%, a / 100%, a", "33%, 75%, 150% / 2.5x, a", "10%, 20%, 30%, 40% / a", "250c, 300c, a; cap: 2"]


def tree_of(menu="50%, 100%, a / 100%, a", *, street=Street.TURN, pot=200, stacks=(1000, 1000), big_blind=10):
    rules = BettingRules(stacks=stacks, small_blind=0, big_blind=big_blind, first_street=street, pot=pot)
    return betting_tree(rules, parse_menu(menu))


TURN = parse_board("Ks7h2d5c")


def actions_to(tree, node):
    found = []
    while tree.nodes[node].parent >= 0:
        found.append(tree.nodes[node].action)
        node = tree.nodes[node].parent
    return found[::-1]


def test_a_line_leads_through_bets_and_cards():
    tree = tree_of()
    line = parse_line("check, bet 50%, call, [7d], check", tree, TURN)
    assert actions_to(tree, line.node) == [CALL, 200, CALL, DEALING, CALL]  # 100 chips each in the pot already
    assert line.board == (*TURN, parse_board("7d9c9d")[0])
    assert format_line(tree, line) == "check, bet 50%, call, [7d], check"


@pytest.mark.parametrize("text", ["", "root", "  "])
def test_nothing_is_the_root(text):
    assert parse_line(text, tree_of(), TURN) == Line(0, TURN)
    assert format_line(tree_of(), Line(0, TURN)) == ""


@pytest.mark.parametrize(
    ("step", "total"),
    [
        ("bet 50%", 200),
        ("bet 52%", 200),
        ("b50%", 200),
        ("Bet 50 % of pot", 200),
        ("bet 100", 200),
        ("bet 100 chips", 200),
        ("bets 95", 200),
        ("bet 100%", 300),
        ("all-in", 1100),
        ("allin", 1100),
        ("bet 1000%", 1100),
        ("bet 5000", 1100),
        ("x", CALL),
        ("CHECK", CALL),
    ],
)
def test_sizes_mean_the_nearest_bet(step, total):
    assert find_action(step, tree_of(), 0) == total


@pytest.mark.parametrize(
    ("step", "total"),
    [("raise 100%", 600), ("raise to 500", 600), ("raise 5x", 600), ("r 480", 600), ("c", CALL), ("f", FOLD)],
)
def test_raises_are_of_the_bet_or_the_pot_after_calling(step, total):
    tree = tree_of()
    assert find_action(step, tree, parse_line("bet 50%", tree, TURN).node) == total


@pytest.mark.parametrize(
    "step", ["bet 75%", "bet", "call", "fold", "raise 100%", "bet 2x", "bet %", "bat 50%", "", "check call"]
)
def test_what_there_is_not_is_answered_with_what_there_is(step):
    with pytest.raises(ParseError, match="at the root: check, bet 50%, bet 100%, all-in"):
        find_action(step, tree_of(), 0)


@pytest.mark.parametrize("step", ["bet 99999", "bet 5000%", f"bet {'9' * 400}", f"bet {'9' * 400}%"])
def test_sizes_beyond_the_stacks_are_not_taken_for_a_small_bet(step):
    tree = tree_of("50%")
    assert all_in_to(tree.root.state) not in tree.root.actions
    with pytest.raises(ParseError, match="at the root: check, bet 50%"):
        find_action(step, tree, 0)
    with pytest.raises(ParseError, match="at the root"):
        parse_stretches(step, tree, TURN)


def test_a_lone_bet_needs_no_size():
    tree = tree_of("75%; cap: 1")
    assert find_action("bet", tree, 0) == tree.nodes[0].actions[1]


def test_two_bets_about_as_near_are_not_chosen_between():
    tree = tree_of("40%, 44%, a")
    with pytest.raises(ParseError, match="none of the actions"):
        find_action("bet 42%", tree, 0)
    assert find_action("bet 40%", tree, 0) == 180


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("check, check, bet 50%", r"needs the river, as in \[7h\], before it"),
        ("check, [7d]", "deals cards after 'check', where a player acts"),
        ("check, check, [7dAc]", "the river has 1 card, got"),
        ("check, check, [Ks]", "got Ks twice"),
        ("check, check, [1s]", "needs the river|a card is a rank"),
        ("check, check, []", "the river has 1 card"),
        ("bet 50%, fold, check", "nobody acts after 'bet 50%, fold', the hand is over by fold"),
        ("check,, check", "'' is none of the actions after 'check'"),
    ],
)
def test_impossible_lines_are_refused(text, message):
    with pytest.raises(ParseError, match=message):
        parse_line(text, tree_of(), TURN)


@pytest.mark.parametrize(
    ("line", "message"),
    [("check, check", "it is a street end; add the river"), ("all-in, fold", "it is a fold")],
)
def test_places_where_nobody_acts_are_no_decisions(line, message):
    with pytest.raises(ParseError, match=message):
        parse_decision(line, tree_of(), TURN)
    assert parse_decision("check", tree_of(), TURN) == parse_line("check", tree_of(), TURN)


def test_cards_of_another_deck_are_refused():
    with pytest.raises(ParseError, match="the deck has ranks"):
        parse_line("check, check, [7d]", tree_of(), TURN, deck=type(FULL_DECK)("89TJQKA"))


def test_cards_may_stand_without_brackets_and_in_any_case():
    tree = tree_of()
    assert parse_line("x, x, 7D, x", tree, TURN) == parse_line("check, check, [7d], check", tree, TURN)


def test_an_all_in_call_goes_on_to_the_cards():
    tree = tree_of(street=Street.FLOP)
    line = parse_line("all-in, call, [5c], [7d]", tree, TURN[:3])
    assert tree.nodes[line.node].kind is NodeKind.SHOWDOWN
    assert format_board(line.board) == "Ks7h2d5c7d"


@pytest.mark.parametrize("menu", MENUS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_every_node_can_be_written_and_read(menu, data):
    pot, stack = 2 * data.draw(st.integers(1, 300)), data.draw(st.integers(1, 3000))
    tree = tree_of(
        menu, pot=pot, stacks=(stack, data.draw(st.integers(1, 3000))), big_blind=data.draw(st.integers(1, 20))
    )
    node = data.draw(st.sampled_from(tree.nodes))
    board = (*TURN, 30) if node.state.street is Street.RIVER else TURN
    line = Line(node.index, board)
    assert parse_line(format_line(tree, line), tree, TURN) == line
    assert parse_line(",".join(shorten_line(tree, line)), tree, TURN) == line
    assert len(set(name_actions(tree, node.index))) == len(node.actions)


def test_limit_bets_have_one_size_and_need_no_amount():
    rules = BettingRules(stacks=(7, 9), small_blind=1, big_blind=2, bet_sizes=(2,), max_raises=(1, 2))
    tree = betting_tree(rules, parse_menu("limit"))
    assert name_actions(tree, 0) == ("fold", "call", "raise")
    line = parse_line("raise, call, [Ks7h2d], bet", tree, ())
    assert line.board == parse_board("Ks7h2d")
    assert format_line(tree, line) == "raise, call, [Ks7h2d], bet"
    assert tree.nodes[line.node].state.committed == (6, 4)
    assert name_actions(tree, line.node) == ("fold", "call", "all-in")  # the other player's last chip
    with pytest.raises(ParseError, match="none of the actions at the root: fold, call, raise"):
        parse_line("all-in", tree, ())


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("check, bet 33%", 166),
        ("check, bet 66", 166),
        ("bet 50%, raise 75%", 500),
        ("bet 50%, raise 2x", 300),
        ("bet 50%, raise to 201", 301),
    ],
)
def test_the_last_bet_may_be_one_that_the_tree_lacks(text, total):
    tree = tree_of("50%, 100% / 100%")
    (stretch,) = parse_stretches(text, tree, TURN)
    assert stretch == (tree, parse_decision(text.rpartition(",")[0], tree, TURN), total)


def test_all_in_may_be_a_bet_that_the_tree_lacks():
    tree = tree_of("50%")
    assert parse_stretches("all-in", tree, TURN) == ((tree, Line(0, TURN), 1100),)


@pytest.mark.parametrize(
    "text", ["", "root", "check", "check, bet 52%", "bet 50%, call, [7c]", "check, check, 7c, bet 100%"]
)
def test_known_last_steps_are_read_as_ever(text):
    tree = tree_of()
    assert parse_stretches(text, tree, TURN) == ((tree, parse_decision(text, tree, TURN), None),)


def test_lines_go_on_behind_bets_that_the_tree_lacks():
    tree = tree_of("50%, 100% / 100%")
    first, second, last = parse_stretches("check, bet 33%, raise 20%, call, [7c], check", tree, TURN)
    assert (first.line, first.total) == (parse_decision("check", tree, TURN), 166)
    assert second.tree.root.state.committed == (100, 166)
    assert (second.line, second.total) == (Line(0, TURN), 166 + round(0.2 * (166 + 166)))
    assert last.total is None
    assert last.line.board == (*TURN, parse_card("7c"))
    assert last.tree.nodes[last.line.node].state.committed == (second.total, second.total)
    assert format_line(last.tree, last.line) == "call, [7c], check"
    other = parse_stretches("check, bet 33%, call, 7c, check", tree, TURN, menu=parse_menu("75%"))[-1]
    assert "bet 75%" in name_actions(other.tree, other.line.node)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bet 33%, check", "'check' is none of the actions .*: fold, call, .*behind 'bet 33%'"),
        ("bet 33%, call", "nobody acts after 'call', it is a street end; add the river"),
        ("bet 33%, raise to 67", "'raise to 67' at the root is not legal: it must be from .*behind 'bet 33%'"),
    ],
)
def test_what_is_wrong_behind_such_a_bet_says_where(text, message):
    with pytest.raises(ParseError, match=message):
        parse_stretches(text, tree_of("50%, 100% / 100%"), TURN)


@pytest.mark.parametrize(
    "text", ["check, bet 50%, call, [7d], check", "check, check, [As], all-in, call", "all-in", "", "bet 100%, all-in"]
)
def test_addresses_lead_where_lines_do(text):
    tree = tree_of()
    line = parse_line(text, tree, TURN)
    address = format_address(shorten_line(tree, line))
    assert not set(address) - set("abcdefghijklmnopqrstuvwxyzAKQJT0123456789.-/")
    assert parse_line(address, tree, TURN) == line


def test_addresses_keep_cards_apart():
    assert format_address(["x", "b50p", "c", "As", "x", "x", "2d"]) == "x-b50p-c/As/x-x/2d"
    tree = tree_of(street=Street.FLOP)
    assert parse_line("x-x/As/x-all-in-c", tree, TURN[:3]) == parse_line("x,x,As,x,a,c", tree, TURN[:3])


@pytest.mark.parametrize("text", ["check, check, [*]", "x,x,*", "x-x/*", "x , x , [ * ]"])
def test_a_star_is_every_card(text):
    tree = tree_of()
    assert parse_deal(text, tree, TURN) == parse_line("check, check", tree, TURN)


@pytest.mark.parametrize(
    ("text", "message"),
    [("[*]", "at the root a player acts"), ("x,[*]", "a player acts"), ("b50%, f, [*]", "the hand is over by fold")],
)
def test_a_star_stands_where_a_card_comes(text, message):
    with pytest.raises(ParseError, match=message):
        parse_deal(text, tree_of(), TURN)
    assert parse_deal("check, check", tree_of(), TURN) is None
