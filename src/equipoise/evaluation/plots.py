# SPDX-License-Identifier: Apache-2.0
"""Curves, intervals and squares of hands as Matplotlib figures, drawn without a screen; written to files on request."""

from __future__ import annotations

import functools
import io
import itertools
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, Protocol

from equipoise.core.checks import check_number, check_path, check_text
from equipoise.core.errors import ConfigError
from equipoise.core.files import StrPath, check_writable, write_atomically
from equipoise.core.formatting import show_given
from equipoise.core.markup import colour_actions
from equipoise.core.progress import Progress

if TYPE_CHECKING:  # importing matplotlib takes longer than solving a small game
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "PanelLabels",
    "check_plot_path",
    "plot_bars",
    "plot_convergence",
    "plot_grids",
    "plot_panels",
    "plot_shares",
]

SUFFIXES: Final = (".png", ".svg", ".pdf")
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6B4E9B", "#4D4D4D")
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES: Final = ("-", "--", ":")  # more curves than colours differ by these
INK: Final = "#333333"
FILE_DPI, NOTEBOOK_DPI = 160, 90
SHORT_DECADES: Final = 2.0  # of ordinates: with fewer powers of ten, numbers between them are written too
DARK: Final = 0.6  # values above it are shaded so that white is read

Curves = Mapping[str, Sequence[tuple[float, float]]]
PrintedCurves = Mapping[str, Sequence[tuple[float | None, float]]]
IN_PRINT: Final = "in the paper"
Abscissa = Callable[[Progress], float]
ABSCISSAE: Final[Mapping[str, Abscissa]] = {
    "iterations": lambda record: record.iteration,
    "seconds of solving": lambda record: record.seconds,
}


class HasProgress(Protocol):
    """What converged: a solution."""

    @property
    def progress(self) -> Sequence[Progress]:
        """Returns one record per evaluation."""
        ...


Converged = Sequence[Progress] | HasProgress


class PanelLabels(NamedTuple):
    """What the axes of a panel say.

    >>> PanelLabels("iterations", "exploitability").is_log_y
    True
    """

    x: str  # what is counted
    y: str  # what is measured
    is_log_y: bool = True  # whether values are drawn on a logarithmic scale, without those that are not positive


def check_plot_path(path: StrPath) -> None:
    """Raises unless a picture can be written there; called before solving."""
    check_path(path)
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"a plot must end in {', '.join(SUFFIXES)}, got {path.name!r}")
    check_writable(path)


def plot_convergence(
    curves: Converged | Mapping[str, Converged],
    path: StrPath | None = None,
    *,
    title: str = "",
    target: float | None = None,
    bands: Mapping[str, Sequence[Sequence[Progress]]] | None = None,
) -> Figure:
    """Returns log-log curves of exploitability; a single curve against iterations, several against time as well.

    Runs without an exact exploitability are drawn by their sampled regret bound, and the axis says so.

    Args:
        curves: a solution or its records; or several by name, in the order in which they are drawn.
        path: a picture of type png, svg or pdf to write as well.
        title: what was solved.
        target: an exploitability to mark.
        bands: repeated runs by the name of their curve, of which the room between the best and the worst is shaded.

    >>> import equipoise
    >>> solution = equipoise.solve("kuhn", "cfr+", iterations=50)
    >>> len(plot_convergence({"cfr+": solution, "again": solution}, title="Kuhn poker").axes)
    2
    """
    check_text("title", title)
    if target is not None:
        check_number("target", target)
        if not 0 <= target < math.inf:
            raise ConfigError(f"target must be at least 0 and finite, got {target}")
    if bands is not None and not isinstance(bands, Mapping):
        raise ConfigError(f"bands are repeated runs by the name of their curve, got {show_given(bands)}")
    named = curves if isinstance(curves, Mapping) else {"": curves}
    recorded = {name: _records_of(found) for name, found in named.items()}
    if not any(recorded.values()):
        raise ConfigError("nothing is computed yet: there is nothing to draw")
    return _plot_convergence(recorded, path, title=title, target=target, bands=bands or {})


def _records_of(found: Any) -> Sequence[Progress]:
    """Returns the records of a solution, or those that are given."""
    records = getattr(found, "progress", found)
    if not isinstance(records, Sequence) or not all(isinstance(record, Progress) for record in records):
        raise ConfigError(f"drawn are solutions and their records of progress, got {found!r}")
    return records


def _plot_convergence(
    curves: Mapping[str, Sequence[Progress]],
    path: StrPath | None,
    *,
    title: str,
    target: float | None,
    bands: Mapping[str, Sequence[Sequence[Progress]]],
) -> Figure:
    abscissae = dict(list(ABSCISSAE.items())[: 1 if len(curves) == 1 else 2])
    figure, grid = _make_figure(1, len(abscissae), width=7.2 if len(abscissae) == 1 else 5.5, height=4.8)
    for axes, (label, abscissa) in zip(grid, abscissae.items(), strict=True):
        points = {name: [(abscissa(one), _height(one)) for one in records] for name, records in curves.items()}
        _draw_panel(axes, points, target)
        for place, name in enumerate(curves):
            runs = [[(abscissa(one), _height(one)) for one in run] for run in bands.get(name, ())]
            _draw_band(axes, runs, COLOURS[place % len(COLOURS)])
        axes.set_xlabel(label, color=INK)
    is_sampled = any(one.sampled is not None for records in curves.values() for one in records)
    quantity = "sampled regret bound, not an exploitability" if is_sampled else "exploitability"
    grid[0].set_ylabel(f"{quantity} (units of utility per game)", color=INK)
    if len(curves) > 1:
        grid[0].legend(frameon=False, labelcolor=INK)
    return _finish_figure(figure, path, title)


def plot_panels(
    panels: Mapping[str, Curves],
    path: StrPath | None = None,
    *,
    title: str = "",
    labels: PanelLabels,
    own_labels: Callable[[str], PanelLabels] | None = None,
    printed: Mapping[str, PrintedCurves] | None = None,
) -> Figure:
    """Returns curves in panels side by side, two to a row; the same name has the same colour in each.

    Curves of one point each, at the same place, are drawn as bars.

    Args:
        panels: curves by panel and name, in the order in which they are drawn.
        path: a picture of type png, svg or pdf to write as well.
        title: of the whole.
        labels: of all panels, which then share their ordinates.
        own_labels: those of a panel by its name, if panels differ.
        printed: what a paper's text says, by panel and name: hollow marks, or a line where it says no abscissa.

    >>> curves = {"cfr": [(1, 0.5), (10, 0.1)], "cfr+": [(1, 0.5), (10, 0.02)]}
    >>> figure = plot_panels({"kuhn": curves}, labels=PanelLabels("iterations", "exploitability"))
    >>> [line.get_label() for line in figure.axes[0].lines]
    ['cfr', 'cfr+']
    """
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    width, height = 7.2 if columns == 1 else 5.5, 4.8 if rows == 1 else 3.9
    figure, grid = _make_figure(rows, columns, width=width, height=height, is_shared=own_labels is None)
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    explained: set[str] = set()
    are_bars = _are_single([points for curves in panels.values() for points in curves.values()])
    for index, (axes, (name, curves)) in enumerate(zip(grid, panels.items(), strict=False)):
        own = own_labels(name) if own_labels else labels
        if are_bars:
            _draw_bars(axes, curves, names=names, printed=(printed or {}).get(name, {}))
            axes.set_title(name, color=INK, fontsize=10, loc="left")
            axes.set_xlabel(own.y if own_labels else "", color=INK)
            continue
        _draw_panel(axes, curves, None, names=names, is_log_y=own.is_log_y)
        stated = (printed or {}).get(name, {})
        _draw_printed(axes, stated, names)
        if stated or not explained.issuperset(curves):
            axes.legend(frameon=False, labelcolor=INK, fontsize=9)
            explained.update(curves)
        axes.set_title(name, color=INK, fontsize=10, loc="left")
        if index % columns == 0 or own_labels:
            axes.set_ylabel(own.y, color=INK)
        if index >= len(panels) - columns or own_labels:
            axes.set_xlabel(own.x, color=INK)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    if are_bars and not own_labels:
        limits = [axes.get_xlim() for axes in grid[: len(panels)]]
        for axes in grid[: len(panels)]:
            axes.set_xlim(min(low for low, _ in limits), max(high for _, high in limits))
    return _finish_figure(figure, path, title)


def plot_bars(
    bars: Mapping[str, tuple[float, float]], path: StrPath | None = None, *, title: str = "", label: str
) -> Figure:
    """Returns values with their intervals as points over names, in the order given.

    Args:
        bars: a value and half the width of its interval, by name.
        path: a picture of type png, svg or pdf to write as well.
        title: of the whole.
        label: of the ordinate.

    >>> figure = plot_bars({"cfr": (0.2, 0.01), "cfr+": (0.1, 0.01)}, label="exploitability")
    >>> len(figure.axes)
    1
    """
    figure, (axes,) = _make_figure(1, 1, width=max(4.8, 0.9 * len(bars) + 2.0), height=4.8)
    places = list(range(len(bars)))
    axes.axhline(0.0, color=INK, linewidth=1, linestyle=(0, (4, 3)))
    axes.errorbar(
        places,
        [value for value, _ in bars.values()],
        yerr=[half_width for _, half_width in bars.values()],
        color=COLOURS[0],
        marker=MARKERS[0],
        markersize=5,
        linewidth=1.6,
        capsize=3,
    )
    axes.set_xticks(places, [name if len(name) <= 24 else f"{name[:21]}..." for name in bars], rotation=30, ha="right")
    axes.set_ylabel(label, color=INK)
    axes.grid(True, axis="y", color="#DDDDDD", linewidth=0.8)
    axes.tick_params(colors=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return _finish_figure(figure, path, title)


def plot_grids(grids: Mapping[str, Curves], path: StrPath | None = None, *, title: str = "") -> Figure:
    """Returns squares of classes of hands side by side, shaded from 0 to 1.

    Args:
        grids: by name, classes in the order of `Hands.class_names`, each with one point whose ordinate is shown.
        path: a picture of type png, svg or pdf to write as well.
        title: of the whole.

    >>> classes = {"AA": [(0, 1.0)], "AKs": [(0, 0.8)], "AKo": [(0, 0.5)], "KK": [(0, 1.0)]}
    >>> len(plot_grids({"raises": classes}).axes)
    1
    """
    figure, panels = _make_figure(1, len(grids), width=5.6, height=5.4)
    for axes, (name, classes) in zip(panels, grids.items(), strict=True):
        size = math.isqrt(len(classes))
        values = [points[0][1] for points in classes.values()]
        rows = [values[row * size : (row + 1) * size] for row in range(size)]
        axes.imshow(rows, cmap="Blues", vmin=0.0, vmax=1.0)
        for place, (label, value) in enumerate(zip(classes, values, strict=True)):
            ink = "white" if value > DARK else INK
            axes.text(
                place % size, place // size, f"{label}\n{value:.0%}", ha="center", va="center", fontsize=5, color=ink
            )
        axes.set_title(name, color=INK, fontsize=10, loc="left")
        axes.set_xticks([])
        axes.set_yticks([])
    return _finish_figure(figure, path, title)


def plot_shares(
    panels: Mapping[str, tuple[Sequence[str], Sequence[Sequence[float | None]]]],
    names: Sequence[str],
    path: StrPath | None = None,
    *,
    title: str = "",
) -> Figure:
    """Returns stacked columns of shares, a panel below the other: how often each action is taken, by card or by board.

    Args:
        panels: by name, actions `[A]` and shares `[columns, A]` in the order of `names`; None where nobody comes.
        names: `[columns]` of the columns.
        path: a picture of type png, svg or pdf to write as well.
        title: of the whole.
    """
    figure, rows = _make_figure(len(panels), 1, width=max(6.0, 0.2 * len(names) + 2.0), height=2.6)
    places = list(range(len(names)))
    for axes, (name, (actions, shares)) in zip(rows, panels.items(), strict=True):
        bottom = [0.0] * len(names)
        for column, (action, colour) in enumerate(zip(actions, colour_actions(list(actions)), strict=True)):
            heights = [row[column] or 0.0 for row in shares]
            axes.bar(
                places, heights, bottom=bottom, color=colour, width=0.85, label=action, edgecolor="white", linewidth=0.3
            )
            bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
        axes.set_title(name, color=INK, fontsize=10, loc="left")
        axes.set_ylim(0, 1)
        axes.set_yticks([0, 0.5, 1], ["0", "50%", "100%"])
        axes.set_xticks(places, names, rotation=90, fontsize=6)
        axes.set_xlim(-0.7, len(names) - 0.3)
        axes.tick_params(colors=INK)
        axes.legend(frameon=False, labelcolor=INK, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return _finish_figure(figure, path, title)


def _height(record: Progress) -> float:
    """Returns what is drawn of a record; points that are not positive are left out."""
    value = record.exploitability if record.sampled is None else record.sampled.regret_bound
    return value or 0.0


@functools.cache
def _figure_class() -> type[Figure]:
    """Returns figures that notebooks show by themselves, whether or not `pyplot` was imported."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to import

    class NotebookFigure(Figure):
        def _repr_png_(self) -> bytes:
            return _encode(self, "png", NOTEBOOK_DPI)

    return NotebookFigure


def _quieten() -> None:
    """Keeps Matplotlib from advising people whose home cannot be written to; who has set a level keeps it."""
    logger = logging.getLogger("matplotlib")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.ERROR)


def _make_figure(
    rows: int, columns: int, *, width: float, height: float, is_shared: bool = True
) -> tuple[Figure, list[Axes]]:
    """Returns a figure without a screen and its panels, row by row; sizes are inches of one panel."""
    _quieten()
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - slow to import

    figure = _figure_class()(figsize=(width * columns, height * rows), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(rows, columns, squeeze=False, sharey=is_shared).flat)


def _draw_panel(
    axes: Axes, curves: Curves, target: float | None, *, names: Sequence[str] | None = None, is_log_y: bool = True
) -> None:
    """Draws every curve, the abscissa logarithmic; points without a logarithm are left out.

    A curve looks as its place among `names` says, those of the panel itself unless given.
    """
    places = {name: place for place, name in enumerate(curves if names is None else names)}
    # a game solved exactly from the start has no positive point: zeros are drawn on a linear scale
    is_log_y = is_log_y and any(y > 0 for points in curves.values() for _, y in points)
    for name, points in curves.items():
        index = places[name]
        drawn = [(x, y) for x, y in points if y > 0 or not is_log_y]
        axes.plot(
            [x for x, _ in drawn],
            [y for _, y in drawn],
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)],
            linestyle=LINES[index // len(COLOURS) % len(LINES)],
            markersize=3.5,
            linewidth=1.6,
            label=name,
        )
    if target:
        axes.axhline(target, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        axes.annotate(
            f"target {target:.3g}",
            (1, target),
            xycoords=("axes fraction", "data"),
            xytext=(-4, 4),
            textcoords="offset points",
            ha="right",
            color=INK,
            fontsize=9,
        )
    axes.set_xscale("log")
    if is_log_y:
        axes.set_yscale("log")
    axes.grid(True, which="major", color="#DDDDDD", linewidth=0.8)
    axes.grid(True, which="minor", color="#F0F0F0", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _label_short_range(axes: Axes) -> None:
    """Writes numbers also between the powers of ten, on ordinates that span too few of them to be read."""
    low, high = axes.get_ylim()
    if not 0 < low < high or math.log10(high / low) > SHORT_DECADES:
        return
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter  # noqa: PLC0415 - slow to import

    steps = LogLocator(base=10, subs=(1, 2, 5))
    is_enough = sum(low <= place <= high for place in steps.tick_values(low, high)) > 1
    axes.yaxis.set_major_locator(steps if is_enough else MaxNLocator(nbins=5, min_n_ticks=2))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _are_single(curves: Sequence[Sequence[tuple[float, float]]]) -> bool:
    """Returns whether curves are one point each, all at the same place: a line would be a lone dot."""
    return all(len(points) == 1 for points in curves) and len({points[0][0] for points in curves}) == 1


def _draw_band(axes: Axes, runs: Sequence[Sequence[tuple[float, float]]], colour: str) -> None:
    """Shades the room between the lowest and the highest of several curves, where all of them are."""
    drawn = [[(math.log(x), math.log(y)) for x, y in run if x > 0 and y > 0] for run in runs]
    if len(drawn) < 2 or not all(drawn):
        return
    first, last = max(run[0][0] for run in drawn), min(run[-1][0] for run in drawn)
    places = sorted({x for run in drawn for x, _ in run if first <= x <= last})
    heights = [[_interpolate(run, x) for run in drawn] for x in places]
    axes.fill_between(
        [math.exp(x) for x in places],
        [math.exp(min(one)) for one in heights],
        [math.exp(max(one)) for one in heights],
        color=colour,
        alpha=0.2,
        linewidth=0,
    )


def _interpolate(points: Sequence[tuple[float, float]], x: float) -> float:
    """Returns the ordinate at an abscissa between the first and the last point."""
    for (left, low), (right, high) in itertools.pairwise(points):
        if left <= x <= right and right > left:
            return low + (high - low) * (x - left) / (right - left)
    return points[0][1] if x <= points[0][0] else points[-1][1]


def _draw_printed(axes: Axes, printed: PrintedCurves, names: Sequence[str]) -> None:
    """Draws what a paper says of some curves, in their colours."""
    label: str | None = IN_PRINT
    for name, points in printed.items():
        colour = COLOURS[names.index(name) % len(COLOURS)] if name in names else INK
        for x, y in points:
            if x is None:
                axes.axhline(y, color=colour, linewidth=1, linestyle=(0, (1, 2)), label=label)
            else:
                axes.plot([x], [y], marker="o", markersize=8, fillstyle="none", color=colour, linestyle="", label=label)
            label = None


def _draw_bars(axes: Axes, curves: Curves, *, names: Sequence[str], printed: PrintedCurves) -> None:
    """Draws one bar a curve, from top to bottom in the order of `names`, with its value and that of the paper."""
    for name, points in curves.items():
        place, value = names.index(name), points[0][1]
        axes.barh(place, value, color=COLOURS[place % len(COLOURS)], height=0.7)
        axes.annotate(
            f"  {value:.3f} ", (value, place), va="center", ha="left" if value >= 0 else "right", color=INK, fontsize=8
        )
    label: str | None = IN_PRINT
    stated = {name: points for name, points in printed.items() if name in names}  # a run may have left some out
    for name, figures in stated.items():
        values = [y for _, y in figures]
        axes.plot(values, [names.index(name)] * len(values), "D", color=INK, fillstyle="none", label=label)
        label = None
    if stated:
        axes.legend(frameon=False, labelcolor=INK, fontsize=8, loc="lower right")
    axes.set_yticks(range(len(names)), names, fontsize=9)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.margins(x=0.15)
    axes.grid(True, axis="x", color="#DDDDDD", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _finish_figure(figure: Figure, path: StrPath | None, title: str) -> Figure:
    """Returns a figure under its title, written to a file if one is named."""
    for axes in figure.axes:
        if axes.get_yscale() == "log":
            _label_short_range(axes)
    if title:
        figure.suptitle(title, color=INK, fontsize=12, x=0.02, ha="left")
    if path is not None:
        check_plot_path(path)
        _write_figure(figure, Path(path))
    return figure


def _encode(figure: Figure, kind: str, dpi: int) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=dpi)
    return buffer.getvalue()


def _write_figure(figure: Figure, path: Path) -> None:
    content = _encode(figure, path.suffix.lower().removeprefix("."), FILE_DPI)

    def write(file: BinaryIO) -> None:
        file.write(content)

    write_atomically(path, write)
