# SPDX-License-Identifier: Apache-2.0
"""All cards at once and gains of best responses: they agree with single places, evaluations and replayed answers."""

import json
from pathlib import Path

import numpy as np
import pytest

from equipoise.abstraction.solutions import open_solution
from equipoise.core.errors import ConfigError, ParseError
from equipoise.games.holdem.cards import DECKS
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.solvers.best_response import bind_kernel, evaluate
from equipoise.solvers.description import describe_node
from equipoise.solvers.holdem.gains import describe_gain
from equipoise.solvers.holdem.runouts import describe_runouts, runout_columns
from equipoise.solvers.holdem.view import SpotViews
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.solvers.test_holdem import spot

FILES = Path(__file__).parents[1] / "golden" / "files"
SMALL = {"deck": DECKS["small"], "pot": 20, "stacks": (60, 60), "menu": "100%, a / a"}


@pytest.fixture(scope="module")
def turn():
    with open_solution(FILES / "turn.eq") as solution:
        yield solution


def test_every_card_is_what_its_own_place_says(turn):
    report = describe_runouts(turn, "x,x")
    json.dumps(report, allow_nan=False)
    assert len(report["cards"]) == turn.spot.deck.num_cards - 4
    assert report["cards"] == describe_runouts(turn, "check, check, [*]")["cards"]
    for card in report["cards"][::5]:
        place = describe_node(turn, f"x,x,{card['card']}")
        assert card["line"] == place["line"]
        assert card["frequency"] == pytest.approx([action["frequency"] for action in place["actions"]])
        for key in ("ev", "equity", "eqr", "combos"):
            assert card[key] == pytest.approx([player["summary"][key] for player in place["players"]])
        reply = describe_node(turn, f"x,x,{card['card']},x")
        assert card["reply"] == pytest.approx([action["frequency"] for action in reply["actions"]])
        assert report["reply"]["ids"] == [action["id"] for action in reply["actions"]]


def test_cards_add_up_to_the_place_before_them(turn):
    """After two checks nobody has won or lost anything: values before the cards are the means of those after them."""
    report = describe_runouts(turn, "x,x")
    before = describe_node(turn, "x")
    check = before["actions"][0]
    assert check["id"] == "x"
    taken = np.array(before["players"][1]["odds"]) * np.array(before["strategy"])[:, 0]
    values = np.array([row[0] for row in before["action_ev"]])
    assert report["average"]["ev"][1] == pytest.approx(taken @ values / taken.sum())
    assert sum(report["average"]["ev"]) == pytest.approx(report["pot"])
    assert sum(report["average"]["equity"]) == pytest.approx(1)


def test_columns_have_a_row_for_each_card(turn):
    columns = runout_columns(describe_runouts(turn, "x,x"))
    assert {len(column) for column in columns.values()} == {turn.spot.deck.num_cards - 4}
    assert {"card", "ev oop", "equity ip", "oop check", "ip check"} <= set(columns)


@pytest.mark.parametrize(
    ("text", "message"),
    [("x", "no card comes"), ("x,[*]", "a player acts"), ("x,x,x", "as in"), ("a,f,[*]", "the hand is over by fold")],
)
def test_cards_are_refused_where_none_comes(turn, text, message):
    with pytest.raises((ConfigError, ParseError), match=message):
        describe_runouts(turn, text)


def test_gains_at_the_root_are_those_of_the_evaluation(turn):
    found = describe_gain(turn)
    json.dumps(found, allow_nan=False)
    whole = evaluate(turn.tree, turn.strategy.sums, kernel=turn.kernel)
    gains = np.array(whole.best_response_values) - np.array(whole.values)
    assert [player["summary"]["gain"] for player in found["players"]] == pytest.approx(gains, abs=1e-9)
    assert min(gain for player in found["players"] for gain in player["gain"]) >= 0
    assert sum(action["best_frequency"] for action in found["actions"]) == pytest.approx(1)


@pytest.mark.parametrize("is_locked", [False, True])
def test_answers_that_are_played_are_worth_what_was_said(is_locked):
    """Whoever takes the first best action everywhere gets the best values, by the code that plays averages."""
    table = spot("Kh9c9sTs", "AA, KQ, JTs, QJ|AK, QQ, QJs, AT", **SMALL)
    locks = [NodeLock(node=1, strategy=[0.25, 0.5, 0.25])] if is_locked else []
    tree = build_holdem_tree(table, locks=locks)
    kernel = bind_kernel(tree, locks=locks)
    sums = np.random.default_rng(6).uniform(size=tree.arrays.num_cells) ** 2
    if kernel.locks is not None:
        sums[kernel.locks.cells] = kernel.locks.probabilities
    views = SpotViews(tree, sums, kernel=kernel)
    for player in (0, 1):
        answered = sums.copy()
        for board, cards in enumerate(tree.boards):
            for node, decision in tree.decisions.items():
                if decision.player != player or decision.street != tree.arrays.board(board).street:
                    continue
                cells = tree.cells(board, node)
                order = np.argsort(tree.hands[board][player])
                best = views.view_best(HoldemPlace(node, cards)).action_values
                rows = np.zeros(best.shape)
                rows[np.arange(len(best)), np.nan_to_num(best, nan=-1e9).argmax(axis=1)] = 1.0
                free = ~np.isin(cells[:, 0], [] if kernel.locks is None else kernel.locks.cells)
                ordered = np.empty_like(rows)
                ordered[order] = rows
                answered[cells[free]] = ordered[free]
        played = SpotViews(tree, answered, kernel=kernel)
        for node in tree.decisions:
            board = next(
                cards
                for b, cards in enumerate(tree.boards)
                if tree.arrays.board(b).street == tree.decisions[node].street
            )
            place = HoldemPlace(node, board)
            known = views.view(place).players[player]
            is_met = (known.matches > 0) & (known.weights > 0)
            got, best = played.view(place).players[player].values, views.view_best(place).values[player]
            np.testing.assert_allclose(got[is_met], best[is_met], rtol=0, atol=1e-9)


def test_locked_hands_gain_nothing_where_they_are_locked_unless_they_may():
    table = spot("Kh9c9sTsQs", "AA, KQ, JTs|AK, QQ, QJs", **SMALL)
    locks = [NodeLock(node=0, strategy=[0.0, 0.0, 1.0])]
    tree = build_holdem_tree(table, locks=locks)
    kernel = bind_kernel(tree, locks=locks)
    sums = np.ones(tree.arrays.num_cells)
    sums[kernel.locks.cells] = kernel.locks.probabilities
    views = SpotViews(tree, sums, kernel=kernel)
    place = HoldemPlace(0, tree.boards[0])
    kept, free = (views.view_best(place, respects_locks=keeps) for keeps in (True, False))
    np.testing.assert_allclose(kept.values[0], kept.action_values[:, 2])
    assert (free.values[0] >= kept.values[0] - 1e-12).all()
    assert (free.values[0] > kept.values[0] + 1e-6).any()


def test_without_values_there_are_no_best_responses():
    tree = build_holdem_tree(spot("Kh9c9sTsQs", "AA, KQ|AK, QQ", **SMALL))
    views = SpotViews(tree, np.ones(tree.arrays.num_cells), kernel=None)
    with pytest.raises(ConfigError, match="whole table"):
        views.view_best(HoldemPlace(0, tree.boards[0]))
    with pytest.raises(ConfigError, match="decision"):
        SpotViews(tree, np.ones(tree.arrays.num_cells), kernel=HoldemKernel(tree.arrays)).view_best(
            HoldemPlace(tree.betting.nodes[-1].index, tree.boards[0])
        )
