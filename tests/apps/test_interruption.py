# SPDX-License-Identifier: Apache-2.0
"""Real processes: what a signal leaves behind, and that the run goes on from there to the bit."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from equipoise.apps.signals import SignalFlag
from equipoise.solvers.saved_run import SavedRun

# lines of progress at once, so that a test can wait for a run that is well under way
PROGRAM = "from equipoise.apps import cli, display; display.SECONDS_BETWEEN_LINES = 0.01; cli.main()"
COMMAND = [sys.executable, "-c", PROGRAM]
ENVIRONMENT = {**os.environ, "EQUIPOISE_CACHE": "off"}


def start(directory, *arguments):
    """Returns a process that has solved for a while."""
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=directory,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stderr:
        if "iterations/s" in line:
            return process
    pytest.fail("the process ended before it began to solve")


def run(directory, *arguments):
    return subprocess.run(
        [*COMMAND, *arguments], cwd=directory, env=ENVIRONMENT, capture_output=True, text=True, check=True
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("method", [["cfr"], ["external"], ["outcome", "--form", "game"]], ids=" ".join)
def test_an_interrupted_run_is_kept_and_goes_on_to_the_bit(tmp_path, number, code, method):
    solve = ("solve", "leduc", "-p", "merge_suits=true", "--method", *method)
    process = start(tmp_path, *solve, "--iterations", "1000000000", "--out", "halted.eq", "--json")
    process.send_signal(number)
    out, err = process.communicate(timeout=30)

    result = json.loads(out)
    assert process.returncode == code
    assert result["stopped_by"] == "interrupted"
    assert "go on with: equipoise solve leduc --out halted.eq --resume --iterations 1000000000" in err
    assert "Traceback" not in err
    assert os.listdir(tmp_path) == ["halted.eq"]
    assert SavedRun.load(tmp_path / "halted.eq").progress[-1].iteration == result["iterations"]

    goal = str(result["iterations"] + 50)
    run(tmp_path, "solve", "leduc", "--out", "halted.eq", "--resume", "--iterations", goal)
    run(tmp_path, *solve, "--out", "straight.eq", "--iterations", goal)
    halted, straight = SavedRun.load(tmp_path / "halted.eq"), SavedRun.load(tmp_path / "straight.eq")
    for name, table in straight.state.items():
        np.testing.assert_array_equal(halted.state[name], table, err_msg=name)
    np.testing.assert_array_equal(halted.strategy.probability, straight.strategy.probability)


def test_without_a_file_the_result_is_still_told(tmp_path):
    process = start(tmp_path, "solve", "kuhn", "--iterations", "1000000000", "--json")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert json.loads(out)["iterations"] > 0
    assert "nothing was saved (--out FILE keeps a run)" in err


def test_an_interrupted_comparison_tells_what_it_has(tmp_path):
    process = start(tmp_path, "compare", "kuhn", "--rules", "dcfr,cfr", "--iterations", "1000000000", "--json")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert [row["rule"] for row in json.loads(out)["rows"]] == ["dcfr"]
    assert "interrupted after 1 of 2" in err


def test_the_first_signal_is_a_flag_and_the_second_an_exception():
    with SignalFlag() as flag:
        assert not flag()
        assert flag.exit_code == 0
        os.kill(os.getpid(), signal.SIGINT)
        assert flag()
        assert flag.exit_code == 130
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
