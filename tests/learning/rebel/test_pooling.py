# SPDX-License-Identifier: Apache-2.0
"""Self-play by workers: what is learnt depends on their number alone, and those that die are replaced."""

import dataclasses
import os
import signal

import numpy as np
import pytest

from equipoise.core.local_pool import LocalPool
from equipoise.games.registry import parse_game
from equipoise.learning.pooled_play import LAG
from equipoise.learning.rebel.pooling import PooledPlay, play_episodes
from equipoise.learning.rebel.settings import RebelSettings, SearchRecipe
from equipoise.search.belief_games import BeliefGame, parse_horizon
from tests.learning.list_pool import ListPool

training = pytest.importorskip("equipoise.learning.rebel.training", reason="training needs torch")

SETTINGS = RebelSettings(
    horizon="1", training=SearchRecipe(iterations=4), late_iterations=4, hidden=8, examples=800, cycle=100, batch=32
)


def make_trainer():
    game = parse_game("kuhn")
    return training.RebelTrainer(BeliefGame.of(game, parse_horizon("1")), SETTINGS, "kuhn")


def learn(pool):
    trainer = make_trainer()
    for _ in trainer.run(pool=pool):
        pass
    return trainer.stored().tensors


@pytest.mark.parametrize("num_ahead", [1, 3, 4])
def test_what_is_learnt_does_not_depend_on_when_tasks_are_handed_out(num_ahead):
    pool = ListPool(num_ahead)
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
    assert trainer.is_done
    assert all(np.array_equal(found[name], expected[name]) for name in found)


def test_players_have_the_weights_of_two_cycles_before():
    trainer, pool = make_trainer(), ListPool(1)
    nets = [trainer.stored()]
    played = PooledPlay(pool, SETTINGS, 0, net=nets[0])
    for _ in range(4):
        assert len(list(played.take_cycle())) == 2
        nets.append(dataclasses.replace(nets[0]))
        played.begin_cycle((nets[-1], None))
    assert [nets.index(task.net) for task in pool.tasks] == [0, 0, 0, 0, 0, 0, 1, 1]
    assert LAG == 2
    played.close()


def test_a_task_gives_the_same_examples_anywhere():
    pool = ListPool(1)
    list(PooledPlay(pool, SETTINGS, 0, net=make_trainer().stored()).take_cycle())
    first, second = (play_episodes(pool.tasks[0])[0] for _ in range(2))
    np.testing.assert_array_equal(first.value, second.value)
    assert len(first) >= 50
