# SPDX-License-Identifier: Apache-2.0
"""One seeded game of every registered game must read as it did when it was last looked at."""

import runpy
from pathlib import Path

import pytest

from equipoise.games import game_names

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "golden"))


@pytest.mark.parametrize("name", game_names())
def test_playthrough_is_golden(name):
    golden = (ROOT / "tests" / "golden" / f"{name}.txt").read_text(encoding="utf-8")

    assert SCRIPT["golden_text"](name) == golden, "if this is meant, run scripts/golden and say why in the commit"


def test_no_golden_file_is_left_over():
    assert {path.stem for path in (ROOT / "tests" / "golden").glob("*.txt")} == set(game_names())
