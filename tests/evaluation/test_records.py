# SPDX-License-Identifier: Apache-2.0
"""A blueprint beside hands of others: agreement and habits, by hand."""

from __future__ import annotations

import dataclasses
import gzip
from pathlib import Path

import numpy as np
import pytest

from equipoise.abstraction.blueprints import BlueprintSpec, StoredBlueprint, make_deals, save_blueprint
from equipoise.agents.holdem.blueprint import BlueprintAgent, Sharpening
from equipoise.core.errors import ConfigError
from equipoise.evaluation.holdem.records import compare, compare_decisions, count_habits, habit_of
from equipoise.games.holdem.betting import BettingRules, Street
from equipoise.games.holdem.records import RecordedHand
from equipoise.solvers.blueprints.trainer import BlueprintConfig, BlueprintTrainer
from equipoise.studies.blueprints.pluribus_habits import PLURIBUS_HABITS, HabitsConfiguration

RULES = BettingRules(stacks=(1000, 1000, 1000), small_blind=5, big_blind=10)
NAMES = ("small", "big", "button")


def make_hand(actions: tuple[int, ...], rules: BettingRules = RULES, board: tuple[int, ...] = ()) -> RecordedHand:
    return RecordedHand(rules=rules, hole=((33, 38), (42, 44), (48, 50)), board=board, actions=actions, names=NAMES)


def test_habits_of_a_hand() -> None:
    limped = make_hand((1, 1, 1, 1, 30, 1, 1), board=(34, 39, 43))
    names = [habit and habit.name for habit in map(habit_of, limped.moments())]
    assert names == ["limp", None, None, None, None, None, None]  # nobody raised before the flop: no leader
    led = make_hand((30, 1, 1, 80, 0, 0), board=(34, 39, 43))
    names = [habit and habit.name for habit in map(habit_of, led.moments())]
    assert names == ["limp", None, None, "donk bet", None, None]
    folded = make_hand((0, 1, 1))
    assert [habit and habit.name for habit in map(habit_of, folded.moments())] == [
        "limp",
        "limp of the small blind",
        None,
    ]
    counts = count_habits([limped, led, folded])
    assert counts["button", "limp"] == (3, 1)
    assert counts["small", "limp of the small blind"] == (1, 1)
    assert counts["small", "donk bet"] == (1, 1)


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> BlueprintAgent:
    spec = BlueprintSpec(
        stacks=(1000,) * 3,
        small_blind=5,
        big_blind=10,
        deck="royal",
        menu="100%; cap: 1; turn: none; river: none",
        abstraction="percentile",
        buckets=(3, 3, 3),
    )
    trainer = BlueprintTrainer(spec.betting, make_deals(spec), spec.num_buckets, BlueprintConfig(period=500))
    trainer.train(2000)
    path = tmp_path_factory.mktemp("blueprint") / "three.eq"
    save_blueprint(path, spec, trainer, {})
    return BlueprintAgent(StoredBlueprint(path), Sharpening())


def test_what_was_done_is_followed(agent: BlueprintAgent) -> None:
    rules = agent.blueprint.spec.rules
    hands = [make_hand((0, 1, 1, 1, 40, 0), rules, board=(34, 39, 43)), make_hand((35, 0, 0), rules)]
    found = list(compare_decisions(agent, hands, "small"))
    assert [one.street for one in found] == [Street.PREFLOP, Street.FLOP, Street.FLOP, Street.PREFLOP]
    assert [one.done for one in found] == [1, 1, 0, 0]
    for one in found:
        assert one.shares.sum() == pytest.approx(1)
    compared = compare(found)
    assert compared is not None
    assert compared.num_decisions == 4
    agreed = sum(int(one.shares.argmax()) == one.done for one in found)
    assert compared.share == agreed / 4
    assert compared.mean_share == pytest.approx(np.mean([one.shares[one.done] for one in found]))
    assert compare([]) is None


def test_class_shares_are_those_of_the_row(agent: BlueprintAgent) -> None:
    blueprint = agent.blueprint
    bucket = int(blueprint.buckets.assign(())[agent._hand_of["AhAc"]])
    row, actions = blueprint.row(0, bucket), blueprint.actions(0)
    agent.begin_game(2)
    shares = agent.class_shares(2, "", (48, 50), rng=np.random.default_rng(0))
    assert shares.tolist() == pytest.approx([row[0], row[1], row[2:].sum()])
    assert actions[:2] == (0, 1)


def test_hands_of_other_chips_are_refused(agent: BlueprintAgent) -> None:
    with pytest.raises(ConfigError, match="has stacks"):
        list(compare_decisions(agent, [make_hand((0, 0), dataclasses.replace(RULES, big_blind=20))], "small"))


def test_the_study_says_what_it_needs() -> None:
    with pytest.raises(ConfigError, match="`data` DIR"):
        PLURIBUS_HABITS.run(HabitsConfiguration())
    with pytest.raises(ConfigError, match="blueprints=FILE"):
        PLURIBUS_HABITS.run(HabitsConfiguration(data="."))


def test_the_study_concludes(agent: BlueprintAgent, tmp_path: Path) -> None:
    hand = """variant = "NT"
blinds_or_straddles = [5, 10, 0]
starting_stacks = [1000, 1000, 1000]
actions = ["d dh p1 ThJc", "d dh p2 QcKc", "d dh p3 AcAh", "p3 cc", "p1 cc", "p2 cc", "d db JhTcQd", "p1 cbr 30",
  "p2 f", "p3 f"]
players = ["Pluribus", "a", "b"]
"""
    (tmp_path / "hands.phhs.gz").write_bytes(gzip.compress("".join(f"[{i}]\n{hand}" for i in (1, 2, 3)).encode()))
    configuration = HabitsConfiguration(blueprints=(str(agent.blueprint.path),), data=str(tmp_path))
    result = PLURIBUS_HABITS.run(configuration)
    assert not result.is_partial
    found = {row["what"]: row["ours"] for row in result.conclusion.rows}
    assert [found[f"decisions: {street}"] for street in ("preflop", "flop", "all decisions")] == [3, 3, 6]
    assert found["habits: limp, the professionals"] == 1.0
    shares = [found[f"agreement with Pluribus: {street}"] for street in ("preflop", "flop")]
    assert found["agreement with Pluribus: all decisions"] == pytest.approx(np.mean(shares))
    assert len(result.conclusion.claims) == 5
    few = PLURIBUS_HABITS.run(dataclasses.replace(configuration, hands=1)).conclusion.rows
    assert {row["ours"] for row in few if row["what"] == "decisions: all decisions"} == {2}
