# SPDX-License-Identifier: Apache-2.0
import io
import sys
import types

import pytest

import equipoise
from equipoise.runs import progress_display
from equipoise.runs.progress_display import CLEAR, DisplayReporter, ProgressDisplay


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def notebook(monkeypatch):
    """Stands in for IPython in a notebook, and returns what its cell has shown."""
    shown = []
    cells = types.ModuleType("IPython.display")
    cells.HTML = str
    cells.display = lambda _first, display_id: types.SimpleNamespace(update=shown.append)
    shell = types.ModuleType("IPython")
    shell.get_ipython = lambda: types.SimpleNamespace(kernel=True)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", cells)
    monkeypatch.setattr(progress_display, "SECONDS_BETWEEN_PICTURES", 0.0)
    return shown


def test_a_terminal_has_a_bar_that_is_rewritten():
    stream = Terminal()
    with ProgressDisplay("leduc", stream=stream) as display:
        display.update(0.5, "iteration 10")
        display.update(None, "iteration 20")
    first, second, last = stream.getvalue().split(CLEAR)[1:]
    assert first == "██████████░░░░░░░░░░  50% leduc: iteration 10"
    assert second == "leduc: iteration 20"
    assert last == "leduc: iteration 20\n"


def test_a_file_has_a_line_now_and_then(monkeypatch):
    stream = io.StringIO()
    with ProgressDisplay("leduc", stream=stream) as display:
        display.update(0.1, "too early")
        monkeypatch.setattr(progress_display, "SECONDS_BETWEEN_LINES", 0.0)
        display.update(0.5, "iteration 10")
    assert stream.getvalue() == "leduc: iteration 10, 50%\n"


def test_a_closed_terminal_is_no_reason_to_end():
    stream = Terminal()
    display = ProgressDisplay("leduc", stream=stream)
    stream.close()
    display.update(0.5, "iteration 10")


def test_a_notebook_has_a_picture_of_the_curve(notebook):
    equipoise.solve("kuhn", iterations=50, progress=True)
    assert len(notebook) > 2
    assert "iteration 50" in notebook[-1]
    assert notebook[-1].count("<svg") == 2  # the bar and the curve
    assert "<polyline" in notebook[-1]


def test_matches_and_studies_are_shown_too(notebook):
    equipoise.match("call", "uniform", game="kuhn", hands=200, progress=True)
    assert "call wins" in notebook[-1]
    equipoise.reproduce("coin-toss", iterations=5, progress=True)
    assert "coin-toss" in notebook[-1]


def test_what_is_built_before_is_shown():
    stream = Terminal()
    reporter = DisplayReporter(ProgressDisplay("leduc", stream=stream))
    with reporter.growth("leduc") as on_growth, reporter.task("joint law") as on_step:
        on_growth(1000, 0.25)
        on_step(0.5, "pairs")
    reporter.warn("no exploitability")
    assert "building leduc, 1,000 histories" in stream.getvalue()
    assert "joint law, pairs" in stream.getvalue()
    assert "no exploitability" in stream.getvalue()


def test_nothing_is_written_unless_asked_for(capfd):
    equipoise.solve("kuhn", iterations=5)
    assert capfd.readouterr() == ("", "")
