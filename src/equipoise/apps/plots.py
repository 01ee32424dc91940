# SPDX-License-Identifier: Apache-2.0
"""Convergence curves as picture files, drawn without a screen."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from equipoise.core.errors import ConfigError
from equipoise.core.files import check_writable, write_atomically
from equipoise.core.progress import Progress

if TYPE_CHECKING:  # importing matplotlib takes longer than solving a small game
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["check_plot_path", "plot_convergence"]

SUFFIXES: Final = (".png", ".svg", ".pdf")
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6B4E9B", "#4D4D4D")
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "*")
INK: Final = "#333333"

Abscissa = Callable[[Progress], float]
ABSCISSAE: Final[Mapping[str, Abscissa]] = {
    "iterations": lambda record: record.iteration,
    "seconds of solving": lambda record: record.seconds,
}


def check_plot_path(path: Path) -> None:
    """Raises unless a picture can be written there; called before solving."""
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"a plot must end in {', '.join(SUFFIXES)}, got {path.name!r}")
    check_writable(path)


def plot_convergence(
    curves: Mapping[str, Sequence[Progress]], path: Path, *, title: str, target: float | None = None
) -> None:
    """Writes log-log curves of exploitability; a single curve against iterations, several against time as well.

    Args:
        curves: records by name, in the order in which they are drawn.
        path: a picture of type png, svg or pdf.
        title: what was solved.
        target: an exploitability to mark.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to import

    abscissae = dict(list(ABSCISSAE.items())[: 1 if len(curves) == 1 else 2])
    figure = Figure(figsize=(7.2 if len(abscissae) == 1 else 11.0, 4.8), layout="constrained")
    panels = figure.subplots(1, len(abscissae), squeeze=False, sharey=True)[0]
    for axes, (label, abscissa) in zip(panels, abscissae.items(), strict=True):
        _draw_panel(axes, curves, abscissa, target)
        axes.set_xlabel(label, color=INK)
    panels[0].set_ylabel("exploitability (units of utility per game)", color=INK)
    if len(curves) > 1:
        panels[0].legend(frameon=False, labelcolor=INK)
    figure.suptitle(title, color=INK, fontsize=12, x=0.02, ha="left")
    _write_figure(figure, path)


def _draw_panel(axes: Axes, curves: Mapping[str, Sequence[Progress]], abscissa: Abscissa, target: float | None) -> None:
    """Draws every curve of positive points on log-log axes."""
    for index, (name, records) in enumerate(curves.items()):
        points = [(abscissa(record), record.exploitability) for record in records if record.exploitability > 0]
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)],
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
    axes.set_yscale("log")
    axes.grid(True, which="major", color="#DDDDDD", linewidth=0.8)
    axes.grid(True, which="minor", color="#F0F0F0", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _write_figure(figure: Figure, path: Path) -> None:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lower().removeprefix("."), dpi=160)

    def write(file: BinaryIO) -> None:
        file.write(buffer.getvalue())

    write_atomically(path, write)
