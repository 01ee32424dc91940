# SPDX-License-Identifier: Apache-2.0
"""The studies is-mcts and rl-baselines at small sizes and on invented numbers."""

import pytest

from equipoise.studies.learning.rl_baselines import A2C, DQN, Q_LEARNING, RL_BASELINES, RLConfiguration
from equipoise.studies.search.is_mcts import FINALS, IS_MCTS, PRINTED, ISMCTSStudyConfiguration
from equipoise.studies.study import Measured, Point, Size, Verdict

SMALL_RL = RLConfiguration(
    q_games=20_000,
    step_sizes=(0.1, 0.5),
    hidden=("8", "8-8"),
    a2c_kuhn_updates=20,
    a2c_leduc_updates=4,
    a2c_batch=64,
    actor_rates=(1e-3,),
    critic_rates=(1e-2, 1e-3),
    critic_updates=(4,),
    dqn_games=128,
    dqn_rates=(1e-2,),
    explorations=(0.2,),
    replay_sizes=(100, 1000),
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path / "cache"))


def verdicts(conclusion):
    return [claim.verdict for claim in conclusion.claims]


def invent_table(factor, runs=5):
    """Returns measurements that are the printed ones times a factor, with a little spread."""
    measured = Measured()
    for (count, constant), cells in PRINTED.items():
        for name, printed in zip(FINALS.values(), cells, strict=True):
            for run in range(runs):
                value = printed * factor(count, constant, name) * (1 + 0.001 * (run - runs // 2))
                measured.add(Point(panel=f"C = {constant:g}", curve=name, x=count, y=value, run=run))
    return measured


def test_cells_of_few_simulations_are_measured():
    result = IS_MCTS.run(ISMCTSStudyConfiguration(simulations=(10, 100), constants=(13.0, 26.0), runs=2))
    assert not result.is_partial
    assert len(result.conclusion.rows) == 12
    visits = [row for row in result.conclusion.rows if row["policy"] == "mvd"]
    assert all(0.8 < row["ratio"] < 1.2 for row in visits)
    assert verdicts(result.conclusion)[1:] == [Verdict.NOT_MEASURED, Verdict.NOT_MEASURED]  # not the whole table


def test_the_printed_table_is_confirmed():
    conclusion = IS_MCTS.conclude(IS_MCTS.sizes[Size.FULL], invent_table(lambda *_: 1.0))
    assert verdicts(conclusion) == [Verdict.CONFIRMED] * 3
    assert {row["agrees"] for row in conclusion.rows} == {"yes"}


@pytest.mark.parametrize(
    ("is_wrong", "expected"),
    [
        (lambda count, constant, name: name == "mvd" and constant == 10 and count == 10, (False, True)),
        (lambda count, constant, name: name == "mval" and count == 10, (True, False)),
        (lambda count, constant, name: name == "mvis" and constant == 1 and count == 10, (True, True)),
    ],
)
def test_cells_apart_are_counted_and_listed(is_wrong, expected):
    measured = invent_table(lambda *cell: 1.2 if is_wrong(*cell) else 1.0)
    conclusion = IS_MCTS.conclude(IS_MCTS.sizes[Size.FULL], measured)
    assert [verdict is Verdict.CONFIRMED for verdict in verdicts(conclusion)[:2]] == list(expected)
    assert "10 simulations" in conclusion.claims[1].ours


def test_learners_are_trained_and_the_best_setting_is_drawn():
    result = RL_BASELINES.run(SMALL_RL)
    assert not result.is_partial
    found = {(row["game"], row["method"]): row for row in result.conclusion.rows}
    assert set(found) == {(game, method) for game in ("kuhn", "leduc") for method in (Q_LEARNING, A2C, DQN)}
    assert [found["kuhn", method]["settings"] for method in (Q_LEARNING, A2C, DQN)] == [2, 4, 4]
    open_claims = [claim for claim in result.conclusion.claims if claim.verdict is Verdict.NOT_MEASURED]
    assert [claim.statement.split(" mbb")[0] for claim in open_claims] == ["leduc: the best A2C converges to about 78"]
    assert result.curves["kuhn"]["uniform"] == [(1, pytest.approx(458.33, abs=0.01))]
    assert result.curves["leduc"]["uniform"] == [(1, pytest.approx(2373.61, abs=0.01))]
    drawn, tried = result.curves["kuhn"][Q_LEARNING], result.curves["kuhn: Q-learning"]
    assert drawn == tried[found["kuhn", Q_LEARNING]["best setting"]]
    assert len(tried) == 2


def invent_levels(levels):
    measured = Measured()
    for (game, method), settings in levels.items():
        for place, value in enumerate(settings):
            for x, y in ((10, 5 * value), (80, 1.1 * value), (100, 0.9 * value)):
                measured.add(Point(panel=f"{game}: {method}", curve=f"setting {place}", x=x, y=y))
                if value == min(settings):
                    measured.add(Point(panel=game, curve=method, x=x, y=y))
    for game, value in (("kuhn", 458.3), ("leduc", 2373.6)):
        measured.add(Point(panel=game, curve="uniform", x=1, y=value))
    return measured


PAPER = {
    ("kuhn", Q_LEARNING): [250, 300],
    ("kuhn", A2C): [52, 100],
    ("kuhn", DQN): [250],
    ("leduc", Q_LEARNING): [1300],
    ("leduc", A2C): [78],
    ("leduc", DQN): [1000, 900],
}


def test_levels_are_means_of_the_last_quarter_of_the_best_setting():
    conclusion = RL_BASELINES.conclude(RLConfiguration(), invent_levels(PAPER))
    assert set(verdicts(conclusion)) == {Verdict.CONFIRMED}
    assert [row["ratio"] for row in conclusion.rows] == [1.0] * 6


def test_levels_elsewhere_and_other_orders_are_denied():
    changed = {**PAPER, ("leduc", A2C): [200], ("leduc", DQN): [1400]}
    conclusion = RL_BASELINES.conclude(RLConfiguration(), invent_levels(changed))
    denied = [claim.statement for claim in conclusion.claims if claim.verdict is Verdict.DENIED]
    assert [statement.split(" (")[0] for statement in denied] == [
        "leduc: the best A2C converges to about 78 mbb/h",
        "leduc: the best DQN converges to about 900 mbb/h",
        "leduc: the best DQN is less exploitable than Q-learning",
    ]


def test_an_interrupted_study_claims_nothing_of_unfinished_sweeps():
    result = RL_BASELINES.run(SMALL_RL, is_interrupted=lambda: True)
    assert result.is_partial
    assert set(verdicts(result.conclusion)) == {Verdict.NOT_MEASURED}
