# SPDX-License-Identifier: Apache-2.0
"""The part of `equipoise bench page` that needs a browser: first paint, a grid after a click, weight of the page.

Chromium is driven by playwright; where one of them is missing, the bench says so and measures the rest.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib
import os
import shutil
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Any, Final

import numpy as np

from equipoise.core.errors import ConfigError

__all__ = ["FLAGS", "find_browser", "measure_file", "measure_page", "weigh_page"]

FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WANTED_PAINT_MS: Final = 1000.0
WANTED_GRID_MS: Final = 100.0
WANTED_LARGE_MS: Final = 300.0  # of a file as large as flops are
WALKS: Final = ((0, 1, -1), (1, -1))  # actions clicked on from the root; each leads to another decision of the street
WANTED_KB: Final = 120.0
PACKED: Final = (".woff2", ".png")  # compressed already
NOTE_GRID: Final = """
new MutationObserver((_, watcher) => {
  if (!document.querySelector('.square .fill')) return;
  watcher.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { window.gridDrawn = performance.now(); }));
}).observe(document, { subtree: true, childList: true });
"""
CLICK: Final = """
(place) => new Promise((resolve) => {
  const facts = () => document.querySelector('.facts').textContent + document.querySelector('.who').textContent;
  const before = facts();
  const began = performance.now();
  new MutationObserver((_, watcher) => {
    if (facts() === before) return;
    watcher.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - began)));
  }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  [...document.querySelectorAll('.acts .action-name:not([disabled])')].at(place).click();
})
"""


def find_browser() -> str:
    """Returns the browser to drive: the one named in EQUIPOISE_CHROMIUM, else Chromium on the path."""
    found = os.environ.get("EQUIPOISE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        raise ConfigError(
            "no Chromium found: install Debian's package chromium, name one in EQUIPOISE_CHROMIUM, or say --no-browser"
        )
    return found


def weigh_page() -> float:
    """Returns the kilobytes of the whole page as it is sent compressed."""
    folder = resources.files("equipoise.apps.web") / "page"
    files = [*folder.iterdir(), *(folder / "assets").iterdir()]
    contents = [(file.name, file.read_bytes()) for file in files if file.is_file()]
    return sum(len(data if name.endswith(PACKED) else gzip.compress(data, 9)) for name, data in contents) / 1e3


def measure_page(address: str, solution: str, lines: Sequence[str], *, repeats: int = 5) -> list[dict[str, Any]]:
    """Returns rows of what a reader waits for; `lines` are addresses of decisions, each left by its first action."""
    with _driving() as browser:
        paints, grids = zip(*[_open(browser, f"{address}/s/{solution}") for _ in range(repeats)], strict=True)
        clicks = [_click(browser, f"{address}/s/{solution}{line}") for line in lines for _ in range(repeats)]
    return [
        _row("first paint", float(np.median(paints)), "ms, median", WANTED_PAINT_MS),
        _row("first grid", float(np.median(grids)), "ms, median", WANTED_PAINT_MS),
        _row("grid after a click", float(np.median(clicks)), "ms, median", WANTED_GRID_MS),
        _row("grid after a click, worst", float(np.max(clicks)), "ms", None),
        _row("page, compressed", weigh_page(), "kB", WANTED_KB),
    ]


def measure_file(address: str, solution: str) -> list[dict[str, Any]]:
    """Returns rows of what a reader waits for who clicks through a file at once, not waiting for values."""
    grids, clicks = list[float](), list[float]()
    with _driving() as browser:
        for walk in WALKS:
            page = _visit(browser, f"{address}/s/{solution}", is_patient=False)
            grids.append(page.evaluate("window.gridDrawn"))
            clicks += [page.evaluate(CLICK, place) for place in walk]
            page.context.close()
    return [
        _row("first grid of the file", grids[0], "ms", WANTED_PAINT_MS),
        _row("grid of the file after a click", float(np.median(clicks)), "ms, median", WANTED_LARGE_MS),
        _row("grid of the file after a click, worst", float(np.max(clicks)), "ms", WANTED_LARGE_MS),
    ]


@contextlib.contextmanager
def _driving() -> Iterator[Any]:
    """Gives a browser for as long as it is entered."""
    try:
        sync_api = importlib.import_module("playwright.sync_api")
    except ModuleNotFoundError:
        raise ConfigError("playwright is not installed: pip install playwright, or say --no-browser") from None
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def _row(what: str, value: float, unit: str, wanted: float | None) -> dict[str, Any]:
    return {"what": what, "value": value, "unit": unit, "wanted": wanted}


def _visit(browser: Any, address: str, *, is_patient: bool = True) -> Any:
    """Returns a page with its grid drawn; who is patient waits until nothing more comes."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.add_init_script(NOTE_GRID)
    page.goto(address)
    page.locator(".square .fill").first.wait_for()
    if is_patient:
        page.wait_for_load_state("networkidle")
    else:
        page.wait_for_function("window.gridDrawn")
    return page


def _open(browser: Any, address: str) -> tuple[float, float]:
    """Returns milliseconds to the first paint and to the first grid of a browser that was never here."""
    page = _visit(browser, address)
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    grid = page.evaluate("window.gridDrawn")
    page.context.close()
    return float(paint), float(grid)


def _click(browser: Any, address: str) -> float:
    """Returns milliseconds from a click on the first action to the next decision's painted grid."""
    page = _visit(browser, address)
    waited = page.evaluate(CLICK, 0)
    page.context.close()
    return float(waited)
