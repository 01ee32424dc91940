# SPDX-License-Identifier: Apache-2.0
"""axe-core looks at every view in both themes and on a phone, and at what opens in them: no serious fault."""

from __future__ import annotations

import pytest

from tests.page.conftest import ROOT
from tests.page.test_play import CHOICE, OVER, play_a_hand, sit_down

pytestmark = pytest.mark.browser

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
VIEWS = {
    "study": ("/s/turn/x-b50p", "h1:has-text('to act')"),
    "values": ("/s/turn/x?m=ev&h=AA", "h1:has-text('to act')"),
    "runouts": ("/s/turn/x-x", "h1:has-text('rivers')"),
    "compare": ("/s/example-river?with=other", "h1:has-text('Differences')"),
    "new": ("/new", ".range-count:has-text('combos')"),
    "library": ("/library", "td a"),
    "game": ("/g/kuhn", "h2"),
    "tree": ("/g/kuhn?m=tree", ".tree svg"),
    "states": ("/g/leduc?m=table", "td.strong"),
    "own": ("/g/coin", ".tree svg"),
    "gain": ("/s/example-river/b75p?m=gain", "text=could win"),
    "train": ("/train", ".choice"),
    "play": ("/play", "select"),
    "lab": ("/lab", "h1"),
    "flops": ("/flops", "h1"),
}


SIZES = {"light": (1440, 900), "dark": (1440, 900), "phone": (390, 844)}


def find_faults(page):
    """Returns what axe-core finds to be serious."""
    assert AXE.exists(), "axe-core is not installed: run `npm ci` in web/"
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{fault['id']}: {fault['help']}: {node['target']} {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in {"serious", "critical"}
        for node in fault["nodes"][:3]
    ]


def check(page):
    assert find_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"


@pytest.mark.parametrize("look", SIZES)
@pytest.mark.parametrize("view", VIEWS)
def test_no_serious_fault(visitor, view, look):
    path, sign = VIEWS[view]
    page = visitor.open(path, theme="light" if look == "phone" else look, size=SIZES[look])
    page.locator(sign).first.wait_for()
    check(page)


@pytest.mark.parametrize("look", ["dark", "phone"])
def test_no_serious_fault_in_what_opens(visitor, look):
    page = visitor.open("/s/example-river", theme="light" if look == "phone" else look, size=SIZES[look])
    page.locator("h1", has_text="to act").wait_for()
    page.keyboard.press("?")
    page.locator("dialog[open] h2", has_text="Keys").wait_for()
    check(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Lock this decision").click()
    page.locator(".brushes [role=radio]", has_text="Check").click()
    page.locator('[role=gridcell][data-cell="KK"]').click()
    page.get_by_role("button", name="Re-solve with 1 locked").wait_for()
    check(page)
    page.get_by_role("button", name="Best answer").click()
    page.get_by_role("heading", name="hands win more").wait_for()
    check(page)


@pytest.mark.parametrize("look", ["dark", "phone"])
def test_no_serious_fault_at_a_table_and_after_an_answer(visitor, look):
    page = visitor.open("/play", theme="light" if look == "phone" else look, size=SIZES[look])
    sit_down(page, "leduc", "file-leduc")
    page.locator(f"{OVER}, {CHOICE}").first.wait_for()
    check(page)
    play_a_hand(page)
    page.get_by_text("what it was thinking").wait_for()
    check(page)
    page.goto("/train?from=turn")
    page.locator(CHOICE).first.wait_for()
    page.keyboard.press("1")
    page.locator(".verdict").wait_for()
    check(page)
