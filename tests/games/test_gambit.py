# SPDX-License-Identifier: Apache-2.0
"""Extensive games of Gambit: files written by hand after its manual, round trips of our games, and mistakes."""

import numpy as np
import pytest

import equipoise
from equipoise.core.errors import (
    ConfigError,
    GameTooLargeError,
    InvalidGameError,
    InvalidStateError,
    ParseError,
)
from equipoise.games import check_game, make_game, parse_game
from equipoise.games.gambit import format_efg, load_efg, save_efg
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.sequence_lp import solve_sequence_lp
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.history import build_history_tree

# a card is high or low; its owner bets (2) or not (1), the other, who does not see it, calls or folds
BLUFFING = r"""
EFG 2 R "One card, \"poker\"" { "Owner" "Other" }
"Comments are allowed
over several lines"

c "deal" 1 "card" { "high" 1/2 "low" 1/2 } 0
p "" 1 1 "high card" { "bet" "check" } 0
p "" 2 1 "a bet" { "call" "fold" } 0
t "" 1 "big win" { 2, -2 }
t "" 2 "win" { 1 -1 }
t "" 2
p "" 1 2 "low card" { "bet" "check" } 0
p "" 2 1 0
t "" 3 "big loss" { -2.0 2.0 }
t "" 2 "win" { 1, -1 }
t "" 4 "loss" { -1 1 }
"""

# payoffs at nodes that are no ends are added; numbers with exponents; nameless sets and actions; an impossible outcome
STAGES = """EFG 2 D "stages" { "A" "B" } c "" 7 "" { "x" .25 "y" 7.5e-1 "never" 0 } 9 "ante" { 1 1 }
p "" 1 3 "" { "" "" } 8 "fee" { -1/2 0 } t "" 1 "" { 1 2 } t "" 0
p "" 2 5 "" { "a" } 0 t "" 2 "" { 3 .5 } t "" 3 "" { 100 100 }"""

ABSENT_MINDED = """EFG 2 R "driver" { "Driver" }
p "" 1 1 "corner" { "exit" "on" } 0
t "" 1 "" { 0 }
p "" 1 1 "corner" { "exit" "on" } 0
t "" 2 "" { 4 }
t "" 3 "" { 1 }
"""


@pytest.fixture
def load(tmp_path):
    """Returns the game of a file with this text."""

    def write(text, name="game.efg"):
        (tmp_path / name).write_text(text, encoding="utf8")
        return load_efg(tmp_path / name)

    return write


def test_a_hand_written_file_is_solved(load):
    game = load(BLUFFING)
    assert (game.title, game.player_names) == ('One card, "poker"', ("Owner", "Other"))
    check_game(game, rng=np.random.default_rng(0))
    # the other is indifferent if a third of bets are bluffs; betting low is worth as much as giving up
    assert solve_sequence_lp(build_history_tree(game)).value == pytest.approx(1 / 3)
    solution = equipoise.solve(game, target=1e-4)
    assert solution.strategy.row(solution.strategy.infostates.index("low card"))["bet"] == pytest.approx(
        1 / 3, abs=0.01
    )


def test_payoffs_on_the_way_are_added_up(load):
    game = load(STAGES)
    check_game(game, rng=np.random.default_rng(0))
    ends = {game.describe(state): game.returns(state) for state in range(7) if game.actor(state) == -2}
    assert ends == {"x, 1": (1.5, 3.0), "x, 2": (0.5, 1.0), "y, a": (4.0, 1.5), "never": (101.0, 101.0)}
    assert game.chance_outcomes(0) == ((0, 0.25), (1, 0.75))
    assert (game.spec.is_zero_sum, game.spec.max_utility, game.spec.max_length) == (False, 4.0, 2)
    assert game.infostate(1, 0) == "3"


def test_a_file_without_perfect_recall_is_refused_and_why_is_said(load):
    with pytest.raises(
        InvalidGameError, match=r"game.efg, line 4: player 1 \(Driver\) has no perfect recall.*'corner'"
    ):
        load(ABSENT_MINDED)


def test_what_is_public_is_not_known(load):
    with pytest.raises(InvalidStateError, match="files of Gambit do not say what everybody sees"):
        load(BLUFFING).public_state(0)


GAMES = [
    "kuhn",
    "kuhn(players=3)",
    "leduc(ranks=2,merge_suits=true,max_raises=1)",
    "goofspiel(cards=3,prizes=random)",
    "matrix(payoffs=3,0;5,1,column_payoffs=3,5;0,1,row_names=silent,talk)",
    "liars_dice(dice=1,faces=3)",
    "coin_toss",
    "tic_tac_toe(rows=2,columns=2)",
]


@pytest.mark.parametrize("text", GAMES)
def test_a_game_comes_back_with_the_same_values(text, tmp_path):
    game = parse_game(text)
    save_efg(game, tmp_path / "back.efg")
    back = load_efg(tmp_path / "back.efg")
    ours, theirs = build_history_tree(game), build_history_tree(back)
    strategy = equipoise.solve(game, iterations=20).strategy  # goes over by the names of information states
    assert evaluate(theirs, strategy.to_tree(theirs)) == evaluate(ours, strategy.to_tree(ours))
    assert back.spec.is_zero_sum == game.spec.is_zero_sum
    assert back.spec.max_length == check_game(game, rng=np.random.default_rng(0)).longest
    assert format_efg(back).splitlines()[2:] == format_efg(game).splitlines()[2:]


def test_openspiel_reads_what_we_write(tmp_path):
    pyspiel = pytest.importorskip("pyspiel")
    save_efg(make_game("kuhn"), tmp_path / "kuhn.efg")
    tree = build_history_tree(make_game(f"openspiel:efg_game(filename={tmp_path / 'kuhn.efg'})"))
    assert pyspiel.load_efg_game((tmp_path / "kuhn.efg").read_text()).num_players() == 2
    assert solve_sequence_lp(tree).value == pytest.approx(-1 / 18)


def test_a_file_is_solved_evaluated_and_its_change_is_noticed(equipoise, tmp_path):
    (tmp_path / "card.efg").write_text(BLUFFING)
    solved = equipoise("solve", "card.efg", "--target", "1e-5", "--out", "card.eq", "--json").json
    assert solved["game_value"] == pytest.approx(1 / 3, abs=1e-4)
    assert equipoise("evaluate", "card.eq", "--json").json["game_value"] == solved["game_value"]
    assert equipoise("match", "file:card.eq", "uniform", "-n", 100).code == 0
    assert "One card" in equipoise("games", "card.efg").out
    (tmp_path / "card.efg").write_text(BLUFFING.replace("2, -2", "3, -3"))
    changed = equipoise("evaluate", "card.eq")
    assert (changed.code, "was solved under version" in changed.err) == (2, True)


def test_a_game_is_written_on_the_command_line(equipoise, tmp_path):
    assert equipoise("games", "kuhn", "-p", "players=3", "--efg", "three.efg").code == 0
    assert load_efg(tmp_path / "three.efg").spec.num_players == 3
    assert equipoise("games", "three.efg", "--check").code == 0


def test_large_games_are_not_written():
    with pytest.raises(GameTooLargeError, match="more than 10 histories, too many for a file"):
        format_efg(make_game("kuhn"), max_histories=10)


HEAD = 'EFG 2 R "x" { "A" "B" } '
MISTAKES = [
    ("NFG 1 R", "line 1: expected EFG"),
    ('EFG 1 R "x"', "expected version 2"),
    ('EFG 2 Q "x"', "expected R or D, got 'Q'"),
    ("EFG 2 R x", "the title in quotation marks, got 'x'"),
    ('EFG 2 R "x', "a text in quotation marks does not end"),
    ('EFG 2 R "x" { "A"', "the file ends within the players"),
    ('EFG 2 R "x" { } t "" 0', "has no players"),
    (HEAD, "ends before all nodes are there"),
    (HEAD + 'x ""', "expected c, p or t, with which a node begins, got 'x'"),
    (HEAD + '\np "" 3 1 "" { "a" } 0', "line 2: there are 2 players, got player 3"),
    (HEAD + 'p "" 1 0', "the information set, a whole number from 1, got '0'"),
    (HEAD + 'p "" 1 1 0', "information set 1 of player 1 is named without its actions before"),
    (HEAD + 'p "" 1 1 "" { } 0', "information set 1 of player 1 has no actions"),
    (HEAD + 'p "" 1 1 "" { "a" "b" } 0 p "" 1 1 "" { "a" } 0', "has other actions than before: a"),
    (HEAD + 'p "" 1 1 "" { "a" "b" } 0\nt "" 0', "one is missing of the node in line 1"),
    (HEAD + 't "" 0\nt "" 0', "line 2: the tree is complete, and another node follows"),
    (HEAD + 't "" 1', "outcome 1 is named before its payoffs"),
    (HEAD + 't "" 1 "" { 1 }', "expected 2 payoffs, got 1"),
    (HEAD + 't "" 0 "" { 1 1 }', "outcome 0 is none, and must not have payoffs"),
    (HEAD + 't "" 1 "" { 1 x }', "a payoff, a number, got 'x'"),
    (HEAD + 't "" 1 "" { 1 1/0 }', "a payoff, a number, got '1/0'"),
    (HEAD + 't "" 1 "" { 1 1e999999999 }', "a payoff, a number, got '1e999999999'"),
    (HEAD + 'p "" 1 1 "" { "a" "b" } 0 t "" 1 "" { 1 1 } t "" 1 "" { 2 2 }', "outcome 1 has other payoffs than before"),
    (
        HEAD + 'c "" 1 "" { "a" 1/2 "b" 1/3 } 0 t "" 0 t "" 0',
        "probabilities must be at least 0 and sum to 1, got 1/2, 1/3",
    ),
    (
        HEAD + 'c "" 1 "" { "a" 3/2 "b" -1/2 } 0 t "" 0 t "" 0',
        "probabilities must be at least 0 and sum to 1, got 3/2, -1/2",
    ),
    (HEAD + 't ""', "the file ends where the number of an outcome is expected"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES, ids=[message[:30] for _, message in MISTAKES])
def test_mistakes_are_said_with_their_line(load, text, message):
    with pytest.raises(ParseError, match=rf"game\.efg.*{message}") as caught:
        load(text)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_missing_or_no_text_is_said(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read .*none\.efg: no such file"):
        make_game(str(tmp_path / "none.efg"))
    (tmp_path / "bytes.efg").write_bytes(b"\xff\xfe")
    with pytest.raises(ParseError, match=r"bytes\.efg is not text"):
        load_efg(tmp_path / "bytes.efg")
    with pytest.raises(ConfigError, match="a file has no parameters, got ranks"):
        make_game("leduc.efg", ranks=4)


def test_strategies_of_files_can_be_written_by_hand(load):
    game = load(BLUFFING)
    table = {0: {"high card": {"bet": 1}, "low card": {"bet": 1 / 3, "check": 2 / 3}}, 1: {"a bet": {"call": 1}}}
    strategy = TabularStrategy.from_dict(table, game)
    tree = build_history_tree(game)
    assert evaluate(tree, strategy.to_tree(tree)).values[0] == pytest.approx(0.5 * 2 + 0.5 * (-2 / 3 - 2 / 3))
