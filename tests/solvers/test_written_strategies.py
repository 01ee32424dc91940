# SPDX-License-Identifier: Apache-2.0
"""Strategies that are written by hand or elsewhere, as dict, frame and CSV, and what is said of mistakes in them."""

import importlib
import math

import numpy as np
import pytest

import equipoise
from equipoise.core.errors import ConfigError, MissingExtraError, ParseError
from equipoise.games import make_game
from equipoise.solvers.strategy import TabularStrategy

ALWAYS_BET = {
    0: {name: {"bet": 1.0} for name in ("J:", "Q:", "K:")} | {f"{card}:pb": {"call": 1.0} for card in "JQK"},
    1: {f"{card}:{bets}": {word: 1.0} for card in "JQK" for bets, word in (("p", "bet"), ("b", "call"))},
}


@pytest.fixture(scope="module")
def strategy():
    """Returns a strategy of Kuhn with odd numbers in it."""
    return equipoise.solve("kuhn", iterations=7).strategy


def copy_of(table):
    return {player: {name: dict(row) for name, row in states.items()} for player, states in table.items()}


def same(first, second):
    assert (first.infostates, first.actions, first.game_label) == (second.infostates, second.actions, second.game_label)
    np.testing.assert_array_equal(first.probability, second.probability)


def test_a_dict_comes_back_to_the_bit(strategy):
    same(TabularStrategy.from_dict(strategy.to_dict(), "kuhn"), strategy)


def test_csv_comes_back_to_the_bit(strategy, tmp_path):
    strategy.to_csv(tmp_path / "kuhn.csv")
    assert (tmp_path / "kuhn.csv").read_text().startswith("player,infostate,action,probability\n0,J:,check,")
    same(TabularStrategy.from_csv(tmp_path / "kuhn.csv", make_game("kuhn")), strategy)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_comes_back_to_the_bit(strategy, library, tmp_path):
    module = pytest.importorskip(library)
    frame = strategy.to_frame(library)
    assert isinstance(frame, module.DataFrame)
    same(TabularStrategy.from_frame(frame, "kuhn"), strategy)
    strategy.to_csv(tmp_path / "kuhn.csv")
    same(TabularStrategy.from_frame(module.read_csv(tmp_path / "kuhn.csv"), "kuhn"), strategy)


def test_a_hand_written_strategy_is_evaluated():
    strategy = TabularStrategy.from_dict(ALWAYS_BET, "kuhn")
    tree = equipoise.build_history_tree(make_game("kuhn"))
    # whoever folds a jack and calls with a king, and a queen either way, wins (1/3)(2) + ... against this
    evaluation = equipoise.evaluate(tree, strategy.to_tree(tree))
    assert evaluation.values == pytest.approx((0.0, 0.0))
    assert evaluation.best_response_values == pytest.approx((1 / 3, 1 / 3))


def test_columns_may_stand_in_any_order_with_others_beside_them(tmp_path):
    file = tmp_path / "kuhn.csv"
    rows = [
        f"x,{p},{action},{q},{player}"
        for player, states in ALWAYS_BET.items()
        for q, row in states.items()
        for action, p in row.items()
    ]
    file.write_text("\n".join(["\ufeffnote,probability,action,infostate,player", *rows]), encoding="utf8")
    same(TabularStrategy.from_csv(file, "kuhn"), TabularStrategy.from_dict(ALWAYS_BET, "kuhn"))


def test_what_is_left_out_is_uniform_if_that_is_asked_for():
    strategy = TabularStrategy.from_dict({1: {"K:b": {"call": 1}}}, "kuhn", is_partial=True)
    assert strategy.probabilities(1, "K:b").tolist() == [0.0, 1.0]
    assert strategy.probabilities(0, "J:").tolist() == [0.5, 0.5]


def test_rounded_numbers_are_scaled():
    table = copy_of(ALWAYS_BET)
    table[0]["Q:"] = {"check": 0.3333333, "bet": 0.6666666}
    strategy = TabularStrategy.from_dict(table, "kuhn")
    assert strategy.probabilities(0, "Q:").sum() == pytest.approx(1.0, abs=1e-15)


def change(player, infostate, row):
    table = copy_of(ALWAYS_BET)
    table[player][infostate] = row
    return table


MISTAKES = [
    (change(0, "A:", {"bet": 1.0}), "there is no information state 'A:' of player 0$"),
    (change(0, "J:p", {"bet": 1.0}), "no information state 'J:p' of player 0, but player 1 has it"),
    (change(0, "J:", {"raise": 1.0}), "'J:' of player 0 has no action 'raise', it has check, bet"),
    (change(0, "J:", {"bet": 0.9}), "probabilities at 'J:' of player 0 must sum to 1, got 0.9"),
    (change(0, "J:", {"bet": 1.5, "check": -0.5}), "must be at least 0 and finite, got -0.5"),
    (change(0, "J:", {"bet": float("nan")}), "must be at least 0 and finite, got nan"),
    (change(0, "J:", {"bet": math.inf, "check": -math.inf}), "must be at least 0 and finite, got inf"),
    (change(0, "J:", {"bet": 1e308, "check": 1e308}), "must sum to 1, got inf"),
    ({0: ALWAYS_BET[0]}, "nothing is said of 'Q:p' of player 1; .*; and 1 more"),
    ({**ALWAYS_BET, 7: {"J:": {"bet": 1.0}}}, "there is no information state 'J:' of player 7, but player 0 has it"),
]


@pytest.mark.parametrize(("table", "message"), MISTAKES, ids=[message[:40] for _, message in MISTAKES])
def test_mistakes_are_named(table, message):
    with pytest.raises(ConfigError, match=rf"the strategy does not fit kuhn\(players=2\): .*{message}"):
        TabularStrategy.from_dict(table, "kuhn")


def test_all_mistakes_are_named_at_once():
    table = change(0, "A:", {"bet": 1.0}) | {1: {"J:b": {"fold": 0.5}}}
    with pytest.raises(ConfigError) as caught:
        TabularStrategy.from_dict(table, "kuhn")
    assert str(caught.value).count(";") == 5  # of 7: one unknown, one sum, five missing
    assert str(caught.value).endswith("; and 2 more")


@pytest.mark.parametrize("table", [{"J:": {"bet": 1.0}}, {0: {"J:": 1.0}}, {"first": {"J:": {"bet": 1.0}}}])
def test_another_shape_is_refused(table):
    with pytest.raises((ConfigError, ParseError), match=r"a strategy is written|player must be a whole number"):
        TabularStrategy.from_dict(table, "kuhn")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("player,infostate,action\n", "must have the columns player, infostate, action, probability; it lacks prob"),
        ("", "it lacks player, infostate, action, probability"),
        ("player,infostate,action,probability\n0,J:,bet,often\n", "line 2: probability must be a number, got 'often'"),
        ("player,infostate,action,probability\n0.5,J:,bet,1\n", "line 2: player must be a whole number from 0"),
        ("player,infostate,action,probability\n0,J:,bet,1\n0,J:,bet,0\n", "'J:' of player 0 has 'bet' twice"),
        (b"\xff\xfe\x00", "is not a table of text"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(tmp_path, text, message):
    file = tmp_path / "kuhn.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises((ConfigError, ParseError), match=message):
        TabularStrategy.from_csv(file, "kuhn")


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read .*none.csv: no such file"):
        TabularStrategy.from_csv(tmp_path / "none.csv", "kuhn")


def test_without_a_library_a_frame_is_refused(strategy, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr("equipoise.core.frames.sys.modules", {})
    with pytest.raises(MissingExtraError, match=r"a data frame needs pandas or polars.*equipoise\[frames\]"):
        strategy.to_frame()
