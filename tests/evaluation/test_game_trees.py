# SPDX-License-Identifier: Apache-2.0
"""Small games as trees to look at: every history, values as the solver has them, refusals."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from equipoise.core.errors import GameTooLargeError, ParseError
from equipoise.evaluation.game_trees import build_game_tree
from equipoise.games.registry import make_game, parse_game
from equipoise.runs.solution import solve

BLUEPRINTS = Path(__file__).parents[2] / "examples" / "blueprints"


def test_values_are_those_of_the_strategy():
    solution = solve("kuhn", iterations=300)
    tree = build_game_tree(make_game("kuhn"), solution.strategy)
    assert tree.histories[0].values == pytest.approx(solution.evaluation.values)
    assert tree.histories[0].values[0] == pytest.approx(-1 / 18, abs=2e-3)
    assert all(one.probability is not None for one in tree.histories[1:])


def test_every_history_is_there_once():
    tree = build_game_tree(make_game("kuhn"))
    assert len(tree.histories) == 58
    assert sum(one.actor == -2 for one in tree.histories) == 30
    assert tree.histories[0].values is None  # players do not say what they do
    assert all(tree.histories[one.parent].depth == one.depth - 1 for one in tree.histories[1:])


def test_a_tree_may_begin_later():
    tree = build_game_tree(make_game("leduc"), after=("Jh", "qh", "check", "check", "Ks"))
    assert tree.histories[0].infostate == "Jh|cc/Ks:"
    assert tree.label.endswith("after Jh, qh, check, check, Ks")


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (("Jh", "Zz"), "'Zz' is no action of chance"),
        (("Jh", "Qh", "fly"), "no action of player 0 there; there are check"),
    ],
)
def test_unknown_actions_are_refused(after, said):
    with pytest.raises(ParseError, match=said):
        build_game_tree(make_game("leduc"), after=after)


def test_large_games_are_refused_with_what_to_do():
    for name in ("leduc", "holdem"):
        with pytest.raises(GameTooLargeError, match=r"a picture holds 400: `after`"):
            build_game_tree(parse_game(name))


def test_general_sums_show_everybody():
    tree = build_game_tree(parse_game("kuhn(players=3)"), after=("J", "Q", "K"), most_histories=100)
    end = next(one for one in tree.histories if one.actor == -2)
    assert tree._say(end).count(",") == 2


def test_the_command_writes_a_picture(equipoise, tmp_path):
    assert equipoise("solve", "kuhn", "--iterations", 100, "--out", "kuhn.eq", "-q").code == 0
    done = equipoise("tree", "kuhn", "--strategy", "kuhn.eq", "-o", "kuhn.svg")
    assert "58 histories drawn in kuhn.svg" in done.err
    root = ElementTree.parse(tmp_path / "kuhn.svg").getroot()
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "chance (-0.056)" in texts
    assert sum("player 0" in text for text in texts) == 12
    shown = equipoise("tree", "kuhn")
    assert shown.out.splitlines()[:2] == ["kuhn(players=2): 58 histories", "chance"]
    assert len(equipoise("tree", "kuhn", "--json").json["histories"]) == 58


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("leduc",), "a picture holds 400"),
        (("kuhn", "-o", "kuhn.png"), "drawn as FILE.svg"),
        (("kuhn", "-o", "no/such/kuhn.svg"), "does not exist"),
        (("kuhn", "--strategy", "nowhere.eq"), "nowhere.eq"),
        (("nim",), "unknown game"),
        (("kuhn", "--after", "J, Q, check, check, check"), "the game is over before"),
    ],
)
def test_what_cannot_be_drawn_is_said(equipoise, arguments, said):
    done = equipoise("tree", *arguments)
    assert done.code == 2
    assert said in " ".join(done.err.split())


def test_a_strategy_of_another_game_is_refused(equipoise):
    assert equipoise("solve", "kuhn", "--iterations", 10, "--out", "kuhn.eq", "-q").code == 0
    assert equipoise("tree", "coin_toss", "--strategy", "kuhn.eq").code == 2


def test_a_flawed_blueprint_shows_why_safety_matters(equipoise):
    path = BLUEPRINTS / "coin_toss.csv"
    found = {
        method: equipoise(
            *(
                "search",
                path,
                "--game",
                "coin_toss",
                "--line",
                "guess",
                "--method",
                method,
                "--iterations",
                3000,
                "--json",
            )
        ).json["best_response_after"]
        for method in ("unsafe", "maxmargin", "reach-maxmargin")
    }
    assert found["unsafe"] == pytest.approx(3 / 4, abs=0.01)  # worse than the blueprint's 1/2
    assert found["maxmargin"] == pytest.approx(3 / 8, abs=0.01)
    assert found["reach-maxmargin"] == pytest.approx(1 / 4, abs=0.01)
    assert "--game" in equipoise("search", path, "--line", "guess").err


def test_states_are_said_in_words(equipoise):
    assert equipoise("solve", "kuhn", "--iterations", 10, "--out", "kuhn.eq", "-q").code == 0
    assert "holds K; player 0 checked, player 1 bet" in equipoise("show", "kuhn.eq").out
    assert "player 0 checked" in equipoise("show", "kuhn.eq", "--line", "p").out
