# SPDX-License-Identifier: Apache-2.0
"""Pictures of every view for the documentation, written into docs/images where EQUIPOISE_PICTURES is set."""

from __future__ import annotations

import io
import os

import pytest

from tests.page.conftest import PATIENCE, ROOT
from tests.page.test_play import CHOICE, OVER, play_a_hand, sit_down

Image = pytest.importorskip("PIL.Image")
expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser
COLOURS = 256
MOST_BYTES = 200_000
STEADY = 400  # milliseconds after the last sign: charts measure their width


def keep_picture(page, name, tmp_path):
    """Writes a picture of what is seen, with few colours, so that it is small."""
    page.wait_for_timeout(STEADY)
    folder = ROOT / "docs" / "images" if os.environ.get("EQUIPOISE_PICTURES") else tmp_path
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = folder / f"page-{name}.png"
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    assert path.stat().st_size < MOST_BYTES


VIEWS = {
    "study": ("/s/turn/x-b50p-c/As/x?h=QJo", "h1:has-text('to act')", (1440, 900), "light"),
    "study-dark": ("/s/turn/x-b50p?m=ev", "h1:has-text('to act')", (1440, 900), "dark"),
    "study-phone": ("/s/turn/x-b50p", "h1:has-text('to act')", (390, 844), "dark"),
    "runouts": ("/s/turn/x-b50p-c", "h1:has-text('rivers')", (1440, 900), "light"),
    "gain": ("/s/example-river/b75p?m=gain", "text=could win", (1440, 900), "light"),
    "compare": ("/s/example-river/b75p?with=other", "h1:has-text('Differences')", (1440, 900), "light"),
    "library": ("/library", "td a", (1440, 900), "light"),
    "game": ("/g/leduc", "h2", (1440, 900), "light"),
    "tree": ("/g/kuhn?m=tree", ".tree svg", (1440, 900), "light"),
    "dice": ("/g/dice", "h2", (1440, 900), "dark"),
    "own-game": ("/g/coin", ".tree svg", (1440, 900), "light"),
}


@pytest.mark.parametrize("name", VIEWS)
def test_picture_of_a_view(visitor, tmp_path, name):
    path, sign, size, theme = VIEWS[name]
    page = visitor.open(path, size=size, theme=theme)
    page.locator(sign).first.wait_for()
    keep_picture(page, name, tmp_path)


def test_picture_of_a_report_over_flops(visitor, server, tmp_path):
    spot = {
        "pot": 6,
        "stacks": 20,
        "big_blind": 1,
        "ranges": {"oop": "JJ-77, AJs, KQs, KJs, QJs, JTs, T9s", "ip": "AA-TT, AKs, AQs, AJs, KQs"},
        "menu": "50%, a / a; cap: 2",
        "target": "1% pot",
    }
    flops = ["Ks7h2d", "QsJs4h", "Ah8h5h", "9c8d7h", "6s6d3c", "AdKcQh", "Tc7c2s", "5d4h3s"]
    job = server.post("/jobs", {"kind": "flops", "spot": spot, "flops": flops, "line": []})
    page = visitor.open(f"/flops/{job['id']}")
    expect(page.locator("tbody tr")).to_have_count(len(flops) + 1, timeout=10 * PATIENCE)
    page.get_by_role("button", name="EV").click()
    keep_picture(page, "flops", tmp_path)


def test_picture_of_a_solve(visitor, tmp_path):
    page = visitor.open("/new")
    page.get_by_label("Start from an example").select_option("turn")
    page.get_by_label("Until exploitable for").select_option("0.05% pot")
    page.wait_for_timeout(600)
    page.get_by_role("button", name="Solve", exact=True).click()
    page.locator(".job-text", has_text="iterations").wait_for()
    page.wait_for_timeout(3000)
    keep_picture(page, "new", tmp_path)
    page.get_by_role("button", name="Stop and keep").click()
    page.get_by_role("link", name="Walk it").wait_for()


def test_picture_of_a_lock(visitor, tmp_path):
    page = visitor.open("/s/example-river")
    page.get_by_role("button", name="Lock this decision").click()
    page.locator(".brushes [role=radio]", has_text="Check").click()
    for cell in ("KK", "AKs", "AKo"):
        page.locator(f'[role=gridcell][data-cell="{cell}"]').click()
    keep_picture(page, "lock", tmp_path)


def test_picture_of_a_table(visitor, tmp_path):
    page = visitor.open("/play")
    sit_down(page, "holdem", "supremus")
    page.locator(f"{OVER}, {CHOICE}").first.wait_for()
    keep_picture(page, "play", tmp_path)
    play_a_hand(page)
    keep_picture(page, "thoughts", tmp_path)


def test_picture_of_a_drill(visitor, tmp_path):
    page = visitor.open("/train?from=turn")
    for _ in range(3):
        page.locator(CHOICE).first.wait_for()
        page.keyboard.press("2")
        page.locator(".verdict").wait_for()
        keep_picture(page, "train", tmp_path)
        page.get_by_role("button", name="Next hand").click()
        page.locator(".verdict").wait_for(state="detached")


def test_picture_of_the_lab(visitor, server, tmp_path):
    jobs = [
        server.post("/jobs", {"kind": "solve", "game": "leduc", "rule": rule, "iterations": 500})
        for rule in ("cfr", "lcfr", "cfr+", "dcfr")
    ]
    page = visitor.open("/lab")
    expect(page.locator(".run-row", has_text="leduc")).to_have_count(len(jobs), timeout=PATIENCE)
    page.locator(".run-row", has_text="leduc").locator("text=running").wait_for(state="detached")
    runs = [run["id"] for run in server.get("/runs")["runs"] if "leduc" in run["title"]]
    page.goto("/lab?runs=" + ",".join(runs))
    expect(page.locator('.chart path[stroke-width="1.75"]')).to_have_count(len(jobs))
    keep_picture(page, "lab", tmp_path)
