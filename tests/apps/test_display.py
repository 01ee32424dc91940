# SPDX-License-Identifier: Apache-2.0
import dataclasses
import io

import pytest
from rich.console import Console

from equipoise.apps import display
from equipoise.apps.display import BuildDisplay, SolveDisplay, sparkline
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.progress import Progress, SampledFigures
from equipoise.evaluation import plots
from equipoise.games.holdem.units import format_net

RECORD = Progress(
    iteration=1234,
    seconds=61.0,
    exploitability=3.2e-5,
    nash_conv=6.4e-5,
    game_value=-0.0555,
    iterations_per_second=120_000.0,
    seconds_left=59.0,
    nodes_touched=10,
)


FIGURES = SampledFigures(
    num_infostates=80_123,
    regret_bound=123.4,
    values_against_uniform=(0.61, -0.02),
    standard_errors=(0.017, 0.021),
    uniform_values=(0.3, -0.3),
    num_playouts=500,
)
SAMPLED = dataclasses.replace(RECORD, exploitability=None, nash_conv=None, game_value=None, sampled=FIGURES)


def make_console(*, is_terminal):
    return Console(file=io.StringIO(), force_terminal=is_terminal, width=100)


def test_lines_break_between_words_but_commands_stay_whole(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    console = display.make_console(is_stderr=False)
    said = "solving to exploitability 0.3 chips; Ctrl-C stops it and keeps the work"
    console.print(said)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    assert " ".join(line.strip() for line in lines) == said
    console.print(f"go on with: equipoise solve {'x' * 40} --resume")
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_terminal_sees_every_figure():
    console = make_console(is_terminal=True)
    with SolveDisplay(console, "kuhn · dcfr") as shown:
        shown.update(RECORD)
    text = console.file.getvalue()
    for figure in ("kuhn · dcfr", "1,234", "3.20e-05", "120,000 /s", "-0.055500", "1:01", "59.0 s"):
        assert figure in text


def test_a_terminal_keeps_the_word_that_work_stops():
    console = make_console(is_terminal=True)
    with SolveDisplay(console, "kuhn") as shown:
        shown.update(RECORD)
        shown.say_stopping()
    assert "stopping" in console.file.getvalue().rpartition("\x1b[?25h")[2]  # behind the live figures, which go


def test_values_have_the_unit_of_what_is_solved():
    console = make_console(is_terminal=True)
    with SolveDisplay(console, "turn", format_value=format_net) as shown:
        shown.update(dataclasses.replace(RECORD, game_value=-8.967534))
    assert "-8.968 chips" in console.file.getvalue()


@pytest.mark.parametrize("seconds", [0.0, 1000.0])
def test_a_file_sees_a_line_now_and_then(monkeypatch, seconds):
    monkeypatch.setattr(display, "SECONDS_BETWEEN_LINES", seconds)
    console = make_console(is_terminal=False)
    with SolveDisplay(console, "kuhn") as shown:
        shown.update(RECORD)
    line = "kuhn: iteration 1,234, exploitability 3.20e-05, 120,000 iterations/s, 1:01, 59.0 s left\n"
    assert console.file.getvalue() == ("" if seconds else line)


def test_sampled_figures_say_that_they_are(monkeypatch):
    monkeypatch.setattr(display, "SECONDS_BETWEEN_LINES", 0.0)
    terminal, file = make_console(is_terminal=True), make_console(is_terminal=False)
    for console in (terminal, file):
        with SolveDisplay(console, "phantom") as shown:
            shown.update(SAMPLED)
    for text in ("regret bound, sampled", "123", "value against uniform, sampled", "+0.610 ± 0.017", "80,123"):
        assert text in terminal.file.getvalue()
    line = " ".join(file.file.getvalue().split())
    assert "80,123 information states, player 0 against uniform +0.610 ± 0.017 (sampled)" in line
    assert "exploitability" not in line + terminal.file.getvalue()


def test_a_growing_tree_is_shown(monkeypatch):
    monkeypatch.setattr(display, "SECONDS_BETWEEN_LINES", 0.0)
    terminal, file = make_console(is_terminal=True), make_console(is_terminal=False)
    for console in (terminal, file):
        with BuildDisplay(console, "leduc") as shown:
            shown.update(16384, 0.25)
    assert "16,384 histories" in terminal.file.getvalue()
    assert file.file.getvalue() == "building leduc: 16,384 histories, 25%\n"


def test_sparklines_of_little():
    assert sparkline([]) == ""
    assert sparkline([0.0]) == ""
    assert len(sparkline([1.0] * 100)) == display.SPARKLINE_WIDTH


def test_a_curve_looks_the_same_in_every_panel_and_like_no_other(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(plots, "_write_figure", lambda figure, path: drawn.append(figure))
    names = [f"rule {n}" for n in range(11)]
    panels = {
        "first": {name: [(1, 1.0), (2, 0.5)] for name in names},
        "second": {names[9]: [(1, 1.0)], "other": [(1, 2.0)]},
    }
    plots.plot_panels(panels, tmp_path / "a.png", title="t", labels=plots.PanelLabels("x", "y"))
    first, second = drawn[0].axes

    def looks(axes):
        return {line.get_label(): (line.get_color(), line.get_marker(), line.get_linestyle()) for line in axes.lines}

    assert len(set(looks(first).values())) == len(names)
    assert looks(second)[names[9]] == looks(first)[names[9]]
    assert looks(second)["other"] not in looks(first).values()
    assert second.get_legend() is not None


def test_on_a_narrow_terminal_the_figures_of_a_task_stay_whole():
    console = Console(file=io.StringIO(), force_terminal=True, width=40, color_system=None)
    with TaskDisplay(console, "blueprint:long-name v uniform") as shown:
        shown.update(0.5, "+200 ± 333 mbb/h", 12.0)
        shown.bar.refresh()
    assert " 50 % 12.0 s left +200 ± 333 mbb/h" in console.file.getvalue()
