# SPDX-License-Identifier: Apache-2.0
"""Tables of results on terminals of any width."""

import io

import pytest
from rich.console import Console

from equipoise.apps import output

COLUMNS = {"hand": ["AsKs"], "weight": ["100.0%"], "EV bb": ["0.77"], "check": ["6.1% -1.98"]}


@pytest.fixture
def terminal(monkeypatch):
    """Returns a function that shows a table on a terminal of some width."""

    def show(width, *, is_terminal=True):
        monkeypatch.setattr(
            output, "make_console", lambda **_: Console(file=io.StringIO(), force_terminal=is_terminal, width=width)
        )
        console = Console(file=io.StringIO(), width=200)
        console.print(output.make_table(COLUMNS, spare=("weight", "EV bb")))
        return console.file.getvalue()

    return show


def test_a_narrow_terminal_does_without_what_can_be_spared(terminal):
    assert "too narrow" not in terminal(80)
    assert terminal(36).rstrip().endswith("too narrow for: weight")
    shown = terminal(20)
    assert "100.0%" not in shown
    assert "AsKs" in shown
    assert "6.1% -1.98" in shown


def test_columns_that_cannot_be_spared_stand_in_a_table_below(monkeypatch):
    monkeypatch.setattr(output, "make_console", lambda **_: Console(file=io.StringIO(), force_terminal=True, width=24))
    console = Console(file=io.StringIO(), width=24)
    console.print(output.make_table(COLUMNS))
    shown = console.file.getvalue()
    assert shown.count("AsKs") == 3
    assert all(cells[0] in shown for cells in COLUMNS.values())
    assert max(map(len, shown.splitlines())) <= 24


def test_a_file_has_all_columns(terminal):
    assert "100.0%" in terminal(20, is_terminal=False)


def test_long_first_cells_stand_on_several_lines_before_numbers_are_broken(monkeypatch):
    monkeypatch.setattr(output, "make_console", lambda **_: Console(file=io.StringIO(), force_terminal=True, width=30))
    console = Console(file=io.StringIO(), width=30)
    console.print(output.make_table({"line": ["check, bet 33%, raise 60%, fold"], "reach": ["100.000%"]}))
    shown = console.file.getvalue()
    assert "100.000%" in shown
    assert max(map(len, shown.splitlines())) <= 30
    assert " ".join(line.split("│")[1].strip() for line in shown.splitlines() if "│" in line) == (
        "check, bet 33%, raise 60%, fold"
    )
