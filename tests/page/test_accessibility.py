# SPDX-License-Identifier: Apache-2.0
"""axe-core looks at every view in both themes: no serious fault of accessibility."""

from __future__ import annotations

import pytest

from tests.page.conftest import ROOT

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
    "train": ("/train", ".choice"),
    "play": ("/play", "select"),
    "lab": ("/lab", "h1"),
    "flops": ("/flops", "h1"),
}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_no_serious_fault(visitor, view, theme):
    assert AXE.exists(), "axe-core is not installed: run `npm ci` in web/"
    path, sign = VIEWS[view]
    page = visitor.open(path, theme=theme)
    page.locator(sign).first.wait_for()
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    faults = [
        f"{fault['id']}: {fault['help']}: {node['target']} {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in {"serious", "critical"}
        for node in fault["nodes"][:3]
    ]
    assert faults == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
