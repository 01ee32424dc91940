# SPDX-License-Identifier: Apache-2.0
"""Examples assert what they print. The code of pages is run by tests/docs."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_example_holds(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_an_example_solves_a_spot_from_its_file():
    assert (EXAMPLES / "spots" / "river.toml").exists()
    assert '"river.toml"' in (EXAMPLES / "solve_a_spot.py").read_text()
