# SPDX-License-Identifier: Apache-2.0
"""The list of tests that take long."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
LISTED = [line for line in (ROOT / "tests" / "slow.txt").read_text().splitlines() if not line.startswith("#")]


def test_the_list_is_in_order_and_names_files_that_exist():
    assert sorted(set(LISTED)) == LISTED
    assert not [name for name in LISTED if not (ROOT / name.partition("::")[0]).is_file()]


def test_what_is_listed_is_left_out_of_the_fast_suite(pytester):
    pytester.makepyfile("def test_quick(): pass\ndef test_long(): pass\n")
    pytester.makeconftest((ROOT / "tests" / "conftest.py").read_text())
    pytester.path.joinpath("slow.txt").write_text("test_what_is_listed_is_left_out_of_the_fast_suite.py::test_long\n")
    pytester.makeini("[pytest]\nmarkers = slow: takes long\n")
    pytester.runpytest("-m", "not slow", "-p", "no:cacheprovider").assert_outcomes(passed=1, deselected=1)
