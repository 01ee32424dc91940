# SPDX-License-Identifier: Apache-2.0
import re
from xml.etree import ElementTree

import pytest

from equipoise.core.markup import (
    MOST_NODES,
    MOST_ROWS,
    TreeNode,
    html_facts,
    html_table,
    join_html,
    svg_bar,
    svg_curve,
    svg_grid,
    svg_tree,
)

SVG = "{http://www.w3.org/2000/svg}"


def test_tables_escape_what_they_show_and_count_what_they_leave_out():
    table = ElementTree.fromstring(html_table(["<a>", "b"], [["x & y", 0.123456]] * (MOST_ROWS + 5)))
    assert table.find("thead/tr/th").text == "<a>"
    rows = table.findall("tbody/tr")
    assert len(rows) == MOST_ROWS + 1
    assert [cell.text for cell in rows[0]] == ["x & y", "0.1235"]
    assert rows[-1][0].text == "and 5 more"


def test_facts_leave_out_what_is_not_known():
    parts = ElementTree.fromstring(
        f"<div>{html_facts('<leduc>', {'value': 1.5, 'left': None, 'nan': float('nan')})}</div>"
    )
    assert parts.find("b").text == "<leduc>"
    assert [row[0].text for row in parts.findall("table/tbody/tr")] == ["value", "nan"]
    assert join_html("a", "", "b") == "<div>a</div><div>b</div>"


def test_curves_fall_where_values_fall():
    drawn = ElementTree.fromstring(svg_curve([(1, 1.0), (10, 0.1), (100, 0.01), (200, 0.0)], x="t", y="e"))
    points = [tuple(map(float, pair.split(","))) for pair in drawn.find(f"{SVG}polyline").get("points").split()]
    assert len(points) == 3  # 0 has no logarithm
    (x0, y0), (x1, y1), (x2, y2) = points
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y1 - y0 == pytest.approx(y2 - y1, abs=0.2)
    assert y0 < y1
    assert svg_curve([(1, 0.0), (2, 0.0)], x="t", y="e") == ""


def test_cells_of_a_grid_are_filled_as_often_as_actions_are_taken():
    drawn = ElementTree.fromstring(svg_grid(["AA"], [[0.25, 0.75]], [0.5], ["fold", "call <x>"]))
    filled = [one for one in drawn.findall(f"{SVG}rect") if one.find(f"{SVG}title") is not None]
    assert [float(one.get("width")) for one in filled] == [8.0, 24.0]
    assert {float(one.get("height")) for one in filled} == {16.0}
    assert filled[0].find(f"{SVG}title").text == "AA: fold 25.0%, call <x> 75.0%"


def test_leaves_of_a_tree_do_not_overlap():
    nodes = [TreeNode(-1, "root"), TreeNode(0, "a", "left"), TreeNode(0, "b", "right"), TreeNode(2, "c")]
    drawn = ElementTree.fromstring(svg_tree(nodes))
    heights = {text.text: float(text.get("y")) for text in drawn.findall(f"{SVG}text")}
    assert heights["a"] < heights["root"] < heights["b"] == heights["c"]
    assert svg_tree([]) == ""
    assert svg_tree([TreeNode(-1, "root"), *[TreeNode(0, "x")] * MOST_NODES]) == ""


@pytest.mark.parametrize(("share", "width"), [(-1, 0), (0.5, 150), (7, 300)])
def test_bars_stay_within_their_frame(share, width):
    assert re.findall(r'width="([\d.]+)"', svg_bar(share))[-1] == f"{width:.2f}"
