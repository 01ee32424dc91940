# SPDX-License-Identifier: Apache-2.0
"""The list of solutions, walks of other games, the lab."""

from __future__ import annotations

import pytest

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser


def test_files_are_listed_opened_and_renamed(visitor, solved):
    page = visitor.open("/library")
    page.get_by_role("link", name="kuhn", exact=True).wait_for()
    page.locator("input[type=file]").set_input_files(solved["other"])
    page.get_by_text("other.eq opened").wait_for()
    page.get_by_role("button", name="Rename kuhn").click()
    page.locator("dialog[open] input").fill("kuhn, my first")
    page.locator("dialog[open] .button.main").click()
    page.get_by_role("link", name="kuhn, my first", exact=True).wait_for()


def test_kuhn_is_walked_and_drawn(visitor, server):
    page = visitor.open("/g/kuhn")
    page.get_by_role("link", name="Bet", exact=True).click()
    page.get_by_text("Player 2 to act").wait_for()
    page.get_by_role("radio", name="Tree").click()
    drawn = page.locator(".tree svg circle")
    drawn.first.wait_for()
    assert drawn.count() == len(server.get("/solutions/kuhn/tree")["nodes"])


def test_information_states_are_found(visitor):
    page = visitor.open("/g/leduc?m=table")
    page.get_by_label("Information states like").fill("K*")
    page.locator("td.strong", has_text="K").first.wait_for()
    assert page.locator("tbody tr").count() > 5


def test_many_flops_in_one_table(visitor, server):
    spot = {
        "pot": 6,
        "stacks": 6,
        "big_blind": 1,
        "ranges": {"oop": "AA, KQs", "ip": "QQ, AJs"},
        "menu": "a / a",
        "target": "1% pot",
    }
    job = server.post("/jobs", {"kind": "flops", "spot": spot, "flops": ["Ks7h2d", "QsJs4h"], "line": []})
    page = visitor.open(f"/flops/{job['id']}")
    expect(page.locator("tbody tr")).to_have_count(3, timeout=60_000)  # two flops and their average
    page.get_by_role("button", name="EV").click()
    report = server.get(f"/flops/{job['id']}")
    best = max(report["rows"], key=lambda row: row["ev"][0])
    first = page.locator("tbody tr").nth(1).inner_text()
    assert f"{best['ev'][0]:.2f}" in first


def test_a_server_that_does_not_answer_is_told(visitor):
    page = visitor.open("/library")
    page.get_by_role("link", name="leduc", exact=True).wait_for()
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_role("link", name="New spot", exact=True).first.click()
    page.get_by_text("The server does not answer").wait_for()
    page.unroute("**/api/**")
    page.get_by_text("The server does not answer").wait_for(state="detached")
    visitor.complaints.clear()
