# SPDX-License-Identifier: Apache-2.0
"""Places of solved spots and games as JSON: they agree with themselves, with the tables and with evaluations."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from equipoise.abstraction.solutions import open_solution
from equipoise.core.errors import ConfigError, ParseError
from equipoise.games.holdem.hands import hands_of, parse_hand
from equipoise.games.holdem.line_notation import parse_line
from equipoise.games.registry import parse_game
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.solvers.best_response import bind_public_kernel, evaluate
from equipoise.solvers.description import describe_node
from equipoise.solvers.game_views import GameViews, describe_state
from equipoise.solvers.holdem.view import view_node
from equipoise.trees.derive import derive_public_game
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.public import build_public_tree

FILES = Path(__file__).parents[1] / "golden" / "files"
PLACES = ["", "x", "a", "x,a", "x,x,Ah", "x,x,9d,x", "x,x,9d,a"]


@pytest.fixture(scope="module")
def turn():
    with open_solution(FILES / "turn.eq") as solution:
        yield solution


def place_of(solved, text):
    return HoldemPlace(*parse_line(text, solved.tree.betting, solved.spot.board, solved.spot.deck))


@pytest.mark.parametrize("text", PLACES)
def test_a_decision_agrees_with_itself(turn, text):
    found = describe_node(turn, text)
    json.dumps(found, allow_nan=False)
    assert found["line"] == ([] if not text else text.split(","))
    assert parse_line(found["text"], turn.tree.betting, turn.spot.board, turn.spot.deck) == place_of(turn, text)
    own = found["players"][found["player"]]
    odds, strategy, values = np.array(own["odds"]), np.array(found["strategy"]), np.array(found["action_ev"])
    assert [action["frequency"] for action in found["actions"]] == pytest.approx(list(odds @ strategy / odds.sum()))
    assert sum(action["combos"] for action in found["actions"]) == pytest.approx(own["summary"]["combos"])
    np.testing.assert_allclose((strategy * values).sum(axis=1), own["ev"], rtol=1e-9)
    assert sum(player["summary"]["ev"] for player in found["players"]) == pytest.approx(found["pot"])
    assert sum(player["summary"]["equity"] for player in found["players"]) == pytest.approx(1)
    steps = [step for step in found["path"] if step["kind"] == "decision"]
    assert found["reach"] == pytest.approx(
        np.prod([dict(zip(step["ids"], step["frequency"], strict=True))[step["taken"]] for step in steps])
    )
    hands = [parse_hand(hand, turn.spot.deck) for hand in own["hands"]]
    expected = turn.strategy.probabilities(place_of(turn, text))
    np.testing.assert_allclose(strategy, expected[hands], atol=1e-12)


@pytest.mark.parametrize("text", PLACES)
def test_what_is_kept_does_not_change_what_is_found(turn, text):
    """Places visited before share values of lines and equities; a view from scratch is the same."""
    place = place_of(turn, text)
    kept = turn.views.view(place)
    fresh = view_node(turn.tree, turn.strategy.sums, place.board, place.node, kernel=HoldemKernel(turn.tree.arrays))
    np.testing.assert_array_equal(kept.action_values, fresh.action_values)
    for first, second in zip(kept.players, fresh.players, strict=True):
        np.testing.assert_array_equal(first.values, second.values)
        np.testing.assert_array_equal(first.equities, second.equities)
    np.testing.assert_allclose(turn.views.frequencies(place), fresh.frequencies, rtol=1e-9)


def test_decisions_of_a_street_share_one_sweep(turn, monkeypatch):
    sweeps = []
    original = HoldemKernel.slot_values
    monkeypatch.setattr(HoldemKernel, "slot_values", lambda *a, **k: sweeps.append(a[2:4]) or original(*a, **k))
    with open_solution(FILES / "turn.eq") as solved:
        for text in ("", "x", "x,a", "a", "", "x,x,Ah", "x,x,Ah,x"):
            describe_node(solved, text)
    assert len(sweeps) == 2  # the turn, and one river


def test_children_are_places(turn):
    for text in ("", "x", "x,x,Ah"):
        for action in describe_node(turn, text)["actions"]:
            below = describe_node(turn, ",".join(action["line"]))
            assert below["kind"] == action["next"]
            assert below["path"][-1]["taken"] == action["id"]


def test_a_street_s_end_says_which_cards_may_come(turn):
    found = describe_node(turn, "x,x")
    assert (found["kind"], found["player"], found["strategy"]) == ("deal", None, None)
    assert len(found["cards"]) == 20
    assert found["cards"][0]["line"] == ["x", "x", found["cards"][0]["card"]]
    after = describe_node(turn, ",".join(found["cards"][0]["line"]))
    assert after["board"][-1] == found["cards"][0]["card"]
    assert 0 < after["players"][1]["summary"]["combos"] < 18
    over = describe_node(turn, "x,a,f")
    assert (over["kind"], over["cards"], over["actions"]) == ("fold", None, [])


def test_the_grid_is_an_average_over_hands(turn):
    found = describe_node(turn, "x")
    hands, own = hands_of(turn.spot.deck), found["players"][1]
    cell = own["grid"]["names"].index("KK")
    rows = [row for row, hand in enumerate(own["hands"]) if hands.classes[parse_hand(hand, turn.spot.deck)] == cell]
    odds = np.array(own["odds"])[rows]
    assert own["grid"]["ev"][cell] == pytest.approx(odds @ np.array(own["ev"])[rows] / odds.sum())
    shares = odds @ np.array(found["strategy"])[rows] / odds.sum()
    assert own["grid"]["frequency"][cell] == pytest.approx(list(shares))
    assert own["grid"]["weight"][cell] == pytest.approx(1.0)
    assert own["grid"]["weight"][own["grid"]["names"].index("99")] == 0.0
    assert found["players"][0]["grid"]["frequency"] is None


def test_hands_have_classes(turn):
    found = describe_node(turn, "x")
    own = found["players"][1]
    named = dict(zip(own["hands"], (found["classes"][number] for number in own["class"]), strict=True))
    # the ace stands below the nine of this deck
    assert (named["QsQh"], named["AsAh"], named["KsKh"], named["AcQc"]) == (
        "set",
        "straight",
        "straight",
        "straight flush",
    )


def test_locked_hands_are_named():
    with open_solution(FILES / "river.eq") as solved:
        assert describe_node(solved)["locked"] is None
        found = describe_node(solved, "check")
    assert "AhQs" in found["locked"]
    own = found["players"][1]
    row = own["hands"].index("AhQs")
    assert found["strategy"][row][0] == pytest.approx(1.0, abs=1e-6)


def test_four_readers_see_what_one_sees():
    with open_solution(FILES / "turn.eq") as solved, ThreadPoolExecutor(4) as pool:
        expected = [describe_node(solved, text) for text in PLACES]
    with open_solution(FILES / "turn.eq") as solved, ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: describe_node(solved, text), 4 * PLACES)) == 4 * expected


def test_unknown_places_are_refused(turn):
    with pytest.raises(ParseError, match="none of the actions"):
        describe_node(turn, "x,b33p")
    with open_solution(FILES / "bucketed.eq") as solved, pytest.raises(ConfigError, match="holds a blueprint"):
        describe_node(solved)


# --- games ---


def random_views(name):
    game = derive_public_game(parse_game(name))
    tree = build_public_tree(game)
    strategy = bind_public_kernel(tree).normalize(np.random.default_rng(3).random(tree.cells.num_table_cells))
    return GameViews(tree, strategy, lambda: game), strategy


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel(cards=3)", "liars_dice(faces=2)"])
def test_public_states_agree_with_the_evaluation_and_with_each_other(name):
    views, strategy = random_views(name)
    root = describe_state(views, "root")
    values = evaluate(views.tree, strategy).values
    assert [player["summary"]["ev"] for player in root["players"]] == pytest.approx(values, abs=1e-12)
    assert root["reach"] == pytest.approx(1)
    for node in np.flatnonzero(views.tree.num_private.prod(axis=1) > 0)[:60].tolist():
        view = views.view(node)
        below = [views.view(child) for child in np.flatnonzero(views.tree.parent == node).tolist()]
        if view.strategy is not None:
            mixed = np.nansum(view.strategy * np.nan_to_num(view.action_values), axis=1)
            own = view.values[views.tree.actor[node]]
            np.testing.assert_allclose(mixed[~np.isnan(own)], own[~np.isnan(own)], atol=1e-12)
        if below:
            assert sum(child.probability for child in below) == pytest.approx(view.probability)
            for player in (0, 1):
                odds = [one.reach[player] * one.mass[player] for one in (view, *below)]
                values = [np.nan_to_num(one.values[player]) for one in (view, *below)]
                earned = [chance @ value for chance, value in zip(odds, values, strict=True)]
                assert sum(earned[1:]) == pytest.approx(earned[0], abs=1e-12)


def test_a_game_s_place_has_names_and_children():
    with open_solution(FILES / "kuhn.eq") as solved:
        root, bet = describe_node(solved), describe_node(solved, "b")
    json.dumps([root, bet], allow_nan=False)
    assert [child["line"] for child in root["children"]] == ["p", "b"]
    assert [action["name"] for action in bet["actions"]] == ["fold", "call"]
    assert bet["path"] == [{"line": "", "kind": "decision", "player": 0, "taken": ["bet"]}]
    assert sorted(bet["players"][0]["infostates"]) == ["J:b", "K:b", "Q:b"]
    king = bet["players"][1]["infostates"].index("K:b")
    assert bet["action_ev"][king] == pytest.approx([-1, 2])
    assert bet["strategy"][king][1] == pytest.approx(1, abs=1e-3)
    with open_solution(FILES / "kuhn.eq") as solved, pytest.raises(ConfigError, match="unknown public state 'bx'"):
        describe_node(solved, "bx")
