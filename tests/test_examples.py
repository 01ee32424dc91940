# SPDX-License-Identifier: Apache-2.0
"""Examples assert what they print; the Python of pages is run as it stands."""

import doctest
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
METHODS = ("ismcts", "reinforcement_learning", "value_networks")
PAGES = ("README.md", *(f"docs/methods/{name}.md" for name in METHODS))


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_example_holds(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES)
def test_python_of_pages_is_true(page):
    result = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted >= 4
    assert result.failed == 0
