# SPDX-License-Identifier: Apache-2.0
"""What pictures of studies show: bars for single points, and the paper's own figures."""

from equipoise.evaluation.plots import IN_PRINT, PanelLabels, plot_panels
from equipoise.studies.registry import STUDIES

LABELS = PanelLabels("", "value", is_log_y=False)


def test_single_points_are_bars_on_one_scale():
    figure = plot_panels(
        {"left": {"a": [(1, 0.5)], "b": [(1, -0.25)]}, "right": {"a": [(1, 0.0)], "b": [(1, 0.1)]}},
        labels=LABELS,
        printed={"left": {"a": [(1, 0.45)]}},
    )
    left, right = figure.axes
    assert [bar.get_width() for bar in left.patches] == [0.5, -0.25]
    assert left.get_xscale() == "linear"
    assert left.get_xlim() == right.get_xlim()
    assert [text.get_text() for text in left.get_legend().get_texts()] == [IN_PRINT]
    assert right.get_legend() is None


def test_what_a_paper_prints_is_drawn_on_curves():
    curves = {"panel": {"a": [(10, 2.0), (100, 1.0)]}}
    plain = plot_panels(curves, labels=LABELS).axes[0]
    drawn = plot_panels(curves, labels=LABELS, printed={"panel": {"a": [(100, 1.1), (None, 0.5)]}}).axes[0]
    assert len(drawn.lines) == len(plain.lines) + 2
    assert IN_PRINT in [text.get_text() for text in drawn.get_legend().get_texts()]


def test_printed_figures_belong_to_curves_of_their_study():
    for name in ("coin-toss", "is-mcts", "rl-baselines"):
        study = STUDIES[name]
        assert set(study.panels or study.printed) <= set(study.printed)
        assert all(points for curves in study.printed.values() for points in curves.values())
