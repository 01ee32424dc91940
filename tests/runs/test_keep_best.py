# SPDX-License-Identifier: Apache-2.0
"""Runs that go back to their best profile when they end."""

from pathlib import Path

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.runs import RunRequest, load, prepare_run, solve

RIVER = Path(__file__).parents[2] / "examples" / "spots" / "river.toml"
NOISY = {"rule": "cfr+linear", "prune": "eager-zero-reach-rbp(1)", "updates": "simultaneous", "seed": 1}


def run_to(iterations, **changes):
    run = prepare_run("leduc(merge_suits=True)", RunRequest(iterations=iterations, **NOISY, **changes))
    return run, [record.exploitability for record in run.advance()]


def test_the_best_profile_is_kept_and_what_came_after_it_dropped():
    run, seen = run_to(2000, keep="best")
    assert seen[-1] > min(seen)  # else there would be nothing to see
    assert run.records[-1].exploitability == min(seen)
    assert run.measure().exploitability == pytest.approx(min(seen), rel=1e-12)
    assert run.solver.iteration == run.records[-1].iteration < 2000
    last, _ = run_to(2000)
    assert last.solver.iteration == 2000
    assert last.measure().exploitability == pytest.approx(seen[-1], rel=1e-12)


def test_a_kept_run_goes_on_from_its_best_profile_as_if_it_had_ended_there(tmp_path):
    best, _ = run_to(2000, keep="best")
    best.save(tmp_path / "best.eq")
    there, _ = run_to(best.solver.iteration)
    resumed = load(tmp_path / "best.eq")
    assert resumed.progress[-1].iteration == there.solver.iteration
    expected = there.strategy().encode()
    for name, array in best.strategy().encode().items():
        np.testing.assert_array_equal(array, expected[name])


def test_a_resumed_run_does_not_forget_what_was_best():
    run, _ = run_to(2000, keep="best")
    before = run.records[-1]
    run.set_limits(RunRequest(iterations=before.iteration + 1))
    list(run.advance())
    assert run.records[-1].exploitability <= before.exploitability


def test_what_keeps_nothing_better_is_refused():
    with pytest.raises(ConfigError, match="keep must be last or best, got 'first'"):
        RunRequest(keep="first")
    with pytest.raises(ConfigError, match="keep best is for games"):
        solve(RIVER, keep="best")
