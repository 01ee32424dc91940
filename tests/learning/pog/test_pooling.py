# SPDX-License-Identifier: Apache-2.0
"""Sound self-play by workers: what is learnt depends on their number alone, and those that die are replaced."""

import os
import signal

import numpy as np
import pytest

from equipoise.core.local_pool import LocalPool
from equipoise.games.registry import parse_game
from equipoise.learning.pog.games import SelfPlayGame
from equipoise.learning.pog.pooling import PooledSearches, play_and_solve
from equipoise.learning.pog.settings import PogSettings
from tests.learning.list_pool import ListPool

training = pytest.importorskip("equipoise.learning.pog.training", reason="training needs torch")

SETTINGS = PogSettings(simulations=3, hidden=8, examples=240, cycle=40, batch=16, seed=5)


def make_trainer():
    return training.PogTrainer(SelfPlayGame(parse_game("kuhn")), SETTINGS)


def learn(pool):
    trainer = make_trainer()
    records = list(trainer.run(pool=pool))
    assert trainer.is_done
    assert records[-1].examples == trainer.examples
    return trainer.stored().tensors


def test_what_is_learnt_does_not_depend_on_when_tasks_are_handed_out():
    pool = ListPool(3)
    found, expected = learn(pool), learn(ListPool(1))
    assert all(np.array_equal(found[name], expected[name]) for name in found)
    seeds = [task.seed for task in pool.tasks]
    assert len(set(seeds)) == len(seeds)


def test_workers_learn_the_same_after_one_is_killed():
    expected = learn(ListPool(1))
    with LocalPool(2) as pool:
        trainer = make_trainer()
        for number, _ in enumerate(trainer.run(pool=pool)):
            if number == 1:
                (pid,) = set(pool.map(eval, ["__import__('os').getpid()"]))
                os.kill(pid, signal.SIGKILL)
    found = trainer.stored().tensors
    assert all(np.array_equal(found[name], expected[name]) for name in found)


def test_a_task_gives_the_same_examples_anywhere():
    pool = ListPool(1)
    list(PooledSearches(pool, SETTINGS, 0, net=make_trainer().stored()).take_cycle())
    assert [task.count for task in pool.tasks] == [20, 20]
    first, second = (play_and_solve(pool.tasks[0])[0] for _ in range(2))
    assert len(first["value"]) >= 20
    assert all(np.array_equal(first[name], second[name]) for name in first)
