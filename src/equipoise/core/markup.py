# SPDX-License-Identifier: Apache-2.0
"""Results as HTML and SVG, which notebooks show in place of a `repr`: tables, curves, squares of hands, small trees.

Nothing here knows what it shows. Everything that comes from outside is escaped; pictures are plain SVG of fixed size on
white, so that they look the same on light and dark pages, and need no package. Figures for print: evaluation/plots.py.
"""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

__all__ = [
    "MOST_NODES",
    "MOST_ROWS",
    "TreeNode",
    "colour_actions",
    "html_facts",
    "html_line",
    "html_table",
    "join_html",
    "svg_bar",
    "svg_curve",
    "svg_grid",
    "svg_tree",
]

MOST_ROWS: Final = 20  # of a table; the others are counted
MOST_NODES: Final = 150  # of a tree that is drawn

FOLD_COLOUR: Final = "#4a6fa5"
CALL_COLOUR: Final = "#4c9f70"
RAISE_COLOURS: Final = ("#e8846b", "#d1495b", "#a4243b", "#7b1e3a", "#5c1a33", "#3d1127")  # smaller to larger
INK: Final = "#333333"
PALE: Final = "#dddddd"
CURVE: Final = "#0072B2"
CELL: Final = 32.0  # of a square of classes
FONT: Final = 'font-family="sans-serif"'


class TreeNode(NamedTuple):
    """A node of a tree that is drawn."""

    parent: int  # its index, less than the node's own; -1 at the root
    text: str
    edge: str = ""  # on the way from the parent
    colour: str = INK


def colour_actions(actions: Sequence[str]) -> list[str]:
    """Returns a colour for each action: folds and calls have their own, the others go from pale to dark in order.

    >>> colour_actions(["fold", "call", "raise 50%"])
    ['#4a6fa5', '#4c9f70', '#e8846b']
    """
    colours, num_raises = [], 0
    for action in actions:
        word = action.lower()
        if word.startswith("fold"):
            colours.append(FOLD_COLOUR)
        elif word.startswith(("check", "call")):
            colours.append(CALL_COLOUR)
        else:
            colours.append(RAISE_COLOURS[min(num_raises, len(RAISE_COLOURS) - 1)])
            num_raises += 1
    return colours


def html_table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, num_rows: int | None = None) -> str:
    """Returns a table; of a long one the first rows, and how many more there are.

    Args:
        columns: what they are called.
        rows: texts and numbers, which stand to the right.
        num_rows: how many rows there are in all, if not all are given.

    >>> html_table(["hand"], [["A<K"]])
    '<table><thead><tr><th>hand</th></tr></thead><tbody><tr><td>A&lt;K</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:MOST_ROWS])
    left = (len(rows) if num_rows is None else num_rows) - min(len(rows), MOST_ROWS)
    more = f'<tr><td colspan="{len(columns)}">and {left:,} more</td></tr>' if left > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}{more}</tbody></table>"


def _cell(value: object) -> str:
    if isinstance(value, float | int) and not isinstance(value, bool):
        return f'<td style="text-align:right">{value:,.4g}</td>' if math.isfinite(value) else "<td></td>"
    return f"<td>{html.escape(str(value))}</td>"


def html_facts(title: str, facts: Mapping[str, object]) -> str:
    """Returns a title over a table of names and what is said of them; facts that are None are left out."""
    rows = [(name, value) for name, value in facts.items() if value is not None]
    body = "".join(f"<tr><th>{html.escape(name)}</th>{_cell(value)}</tr>" for name, value in rows)
    return f"<b>{html.escape(title)}</b><table><tbody>{body}</tbody></table>"


def html_line(text: str) -> str:
    """Returns a line of text, without the angle brackets in which a `repr` stands.

    >>> html_line("<Range of 8 combinations: AA & AKs>")
    'Range of 8 combinations: AA &amp; AKs'
    """
    return html.escape(text.removeprefix("<").removesuffix(">"))


def join_html(*parts: str) -> str:
    """Returns parts beneath each other; empty ones take no room."""
    return "".join(f"<div>{part}</div>" for part in parts if part)


def _svg(width: float, height: float, *content: str) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    back = f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {FONT}>{back}{"".join(content)}</svg>'


def _text(x: float, y: float, text: str, *, size: float = 10, anchor: str = "start", colour: str = INK) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}" fill="{colour}"'
    return f"<text {place}>{html.escape(text)}</text>"


def svg_bar(share: float) -> str:
    """Returns a bar of which a share from 0 to 1 is full."""
    full = 300.0 * min(max(share, 0.0), 1.0)
    return _svg(300, 10, _rect(0, 0, 300, 10, PALE), _rect(0, 0, full, 10, CURVE))


def svg_curve(points: Sequence[tuple[float, float]], *, x: str, y: str) -> str:
    """Returns a curve on two logarithmic scales, points that have no logarithm left out; empty if two are not left.

    Args:
        points: in their order.
        x: what is counted.
        y: what is measured.
    """
    logs = [(math.log10(a), math.log10(b)) for a, b in points if 0 < a < math.inf and 0 < b < math.inf]
    if len(logs) < 2:
        return ""
    width, height, left, bottom = 420.0, 220.0, 60.0, 34.0
    (low_x, high_x), (low_y, high_y) = (_widen(min(axis), max(axis)) for axis in zip(*logs, strict=True))

    def across(value: float) -> float:
        return left + (value - low_x) / (high_x - low_x) * (width - left - 12)

    def up(value: float) -> float:
        return height - bottom - (value - low_y) / (high_y - low_y) * (height - bottom - 12)

    drawn = []
    for power in _powers(low_x, high_x):
        drawn.append(_line(across(power), 12, across(power), height - bottom))
        drawn.append(_text(across(power), height - bottom + 13, f"{10.0**power:g}", anchor="middle"))
    for power in _powers(low_y, high_y):
        drawn.append(_line(left, up(power), width - 12, up(power)))
        drawn.append(_text(left - 5, up(power) + 3, f"{10.0**power:g}", anchor="end"))
    path = " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in logs)
    drawn.append(f'<polyline points="{path}" fill="none" stroke="{CURVE}" stroke-width="1.6"/>')
    drawn.append(_text(left, height - 5, f"{y} by {x}"))
    return _svg(width, height, *drawn)


def _widen(low: float, high: float) -> tuple[float, float]:
    """Returns ends between which there is some room."""
    return (low, high) if high - low > 0.1 else (low - 0.5, high + 0.5)


def _powers(low: float, high: float) -> range:
    """Returns some powers of ten between two ends."""
    first, last = math.ceil(low), math.floor(high)
    return range(first, last + 1, max(1, (last - first) // 6 + 1))


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = PALE) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _rect(x: float, y: float, width: float, height: float, colour: str, told: str = "") -> str:
    """Returns a rectangle, and what a pointer that rests on it is told, escaped already."""
    place = f'x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="{colour}"'
    return f"<rect {place}><title>{told}</title></rect>" if told else f"<rect {place}/>"


def svg_grid(
    names: Sequence[str], shares: Sequence[Sequence[float]], weights: Sequence[float], actions: Sequence[str]
) -> str:
    """Returns a square of classes, each filled with the actions' colours as often as they are taken, and a legend.

    Args:
        names: of the classes, row by row.
        shares: how often each class takes each action, summing to 1.
        weights: how much of each class there is, 0 to 1: cells are filled to this height.
        actions: what they are called.
    """
    side, colours = math.isqrt(len(names)), colour_actions(actions)
    drawn = []
    for place, (name, row, weight) in enumerate(zip(names, shares, weights, strict=True)):
        drawn += _draw_class(place % side * CELL, place // side * CELL, name, row, weight, actions)
    below, begin = side * CELL + 16, 0.0
    for action, colour in zip(actions, colours, strict=True):
        drawn += [_rect(begin, below - 9, 10, 10, colour), _text(begin + 14, below, action)]
        begin += 26 + 6.2 * len(action)
    return _svg(max(side * CELL, begin), below + 8, *drawn)


def _draw_class(
    x: float, y: float, name: str, row: Sequence[float], weight: float, actions: Sequence[str]
) -> list[str]:
    """Returns one cell of a square of classes."""
    height, begin = CELL * min(max(weight, 0.0), 1.0), x
    drawn = [_rect(x, y, CELL, CELL, "#f4f4f4")]
    for share, colour in zip(row, colour_actions(actions), strict=True):
        if height > 0 and share > 0:
            drawn.append(_rect(begin, y + CELL - height, CELL * share, height, colour, _tell(name, row, actions)))
        begin += CELL * share
    drawn.append(_text(x + 3, y + CELL - 5, name, size=9, colour="white" if weight > 0.4 else "#888888"))
    drawn += [_line(x, y, x + CELL, y, "white"), _line(x, y, x, y + CELL, "white")]
    return drawn


def _tell(name: str, row: Sequence[float], actions: Sequence[str]) -> str:
    """Returns a class and what it does, as a pointer that rests on it is told."""
    played = ", ".join(f"{action} {share:.1%}" for action, share in zip(actions, row, strict=True))
    return html.escape(f"{name}: {played}")


def svg_tree(nodes: Sequence[TreeNode], *, most_nodes: int = MOST_NODES) -> str:
    """Returns a tree from left to right, nodes in an order in which parents come first; empty if it is too large."""
    if not 0 < len(nodes) <= most_nodes:
        return ""
    children: list[list[int]] = [[] for _ in nodes]
    depth = [0] * len(nodes)
    for index, node in enumerate(nodes):
        if node.parent >= 0:
            children[node.parent].append(index)
            depth[index] = depth[node.parent] + 1
    heights = _find_heights(children)
    levels = [[node for node, at in zip(nodes, depth, strict=True) if at == level] for level in range(max(depth) + 1)]
    texts = [max(len(node.text) for node in level) for level in levels]
    edges = [*(max(len(node.edge) for node in level) for level in levels[1:]), 0]
    widths = [6.4 * (text + edge) + 30 for text, edge in zip(texts, edges, strict=True)]
    begin, step = list(itertools.accumulate(widths, initial=10.0)), 17.0
    drawn = []
    for index, node in enumerate(nodes):
        x, y = begin[depth[index]], 14 + step * heights[index]
        if node.parent >= 0:
            above = nodes[node.parent]
            from_x = begin[depth[node.parent]] + 6.4 * len(above.text) + 4
            drawn.append(_line(from_x, 10 + step * heights[node.parent], x - 6.0 * len(node.edge) - 6, y - 4))
            drawn.append(_text(x - 4, y, node.edge, size=9, anchor="end", colour="#888888"))
        drawn.append(_text(x, y, node.text, colour=node.colour))
    return _svg(begin[-1] + 10, 14 + step * (max(heights) + 1), *drawn)


def _find_heights(children: Sequence[Sequence[int]]) -> list[float]:
    """Returns where nodes lie: leaves one below the other, others in the middle of their children."""
    heights, stack, num_leaves = [0.0] * len(children), [0], 0
    while stack:
        index = stack.pop()
        if children[index]:
            stack.extend(reversed(children[index]))
        else:
            heights[index], num_leaves = float(num_leaves), num_leaves + 1
    for index in range(len(children) - 1, -1, -1):
        if children[index]:
            below = [heights[child] for child in children[index]]
            heights[index] = (below[0] + below[-1]) / 2
    return heights
