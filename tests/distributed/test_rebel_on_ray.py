# SPDX-License-Identifier: Apache-2.0
"""`train rebel --ray`: self-play by Ray's actors, of which one is killed on the way."""

import json
import os
import signal

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("ray", reason="Ray is not installed: pip install 'equipoise[scale]'")
pytest.importorskip("equipoise.learning.rebel.training", reason="training needs torch")

from equipoise.apps.cli import app
from equipoise.distributed.ray_pool import RayPool
from equipoise.learning.rebel.runs import NET
from equipoise.learning.values.weights import StoredNet
from tests.learning.rebel.test_pooling import ListPool, learn, make_trainer

pytestmark = pytest.mark.ray


def test_actors_learn_the_same_after_one_is_killed():
    expected = learn(ListPool(1))
    with RayPool("local", num_workers=2) as pool:
        workers = set(pool.map(eval, ["(__import__('time').sleep(0.5), __import__('os').getpid())[1]"] * 4))
        trainer = make_trainer()
        for number, _ in enumerate(trainer.run(pool=pool)):
            if number == 1:
                os.kill(workers.pop(), signal.SIGKILL)
    found = trainer.stored().tensors
    assert trainer.is_done
    assert all(np.array_equal(found[name], expected[name]) for name in found)


def test_the_command_plays_on_ray_and_goes_on(tmp_path):
    options = [
        "-s",
        "checks=1",
        "-s",
        "late_iterations=4",
        "--horizon",
        "1",
        "--examples",
        "3000",
        "--playthroughs",
        "8",
        "--hidden",
        "8",
        "--iterations",
        "4",
    ]
    words = ["train", "rebel", "kuhn", "--ray", "local", "--workers", "2", "--out", str(tmp_path / "run"), *options]
    result = CliRunner().invoke(app, [*words, "--json", "--quiet"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["examples"] >= 3000
    assert "--ray ADDRESS" in StoredNet.load(tmp_path / "run" / NET).card["command"]
    assert CliRunner().invoke(app, [*words, "--resume", "--quiet"]).exit_code == 0
