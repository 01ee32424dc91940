# SPDX-License-Identifier: Apache-2.0
"""The list of solutions, walks of other games, the lab."""

from __future__ import annotations

import pytest

from tests.page.test_study import percent

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser


def written(value):
    """Returns a number with three decimals as the page writes it: a true minus, none before zero."""
    text = f"{value:,.3f}"
    return (text if text.strip("-0.,") else text.strip("-")).replace("-", "\u2212")


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


@pytest.mark.parametrize("game", ["dice", "goofspiel"])
def test_other_games_show_what_the_server_says(visitor, server, game):
    state = server.get(f"/solutions/{game}/state")
    page = visitor.open(f"/g/{game}")
    rows = page.locator("section[aria-label=Decision] tbody tr")
    rows.first.wait_for()
    actor = state["players"][state["player"]]
    assert rows.count() == len(actor["infostates"])
    shown = rows.first.locator("td").all_inner_texts()[3:]
    assert shown == [*map(percent, state["strategy"][0]), written(actor["ev"][0])]
    page.get_by_role("radio", name="Regret").click()
    assert rows.first.locator("td").all_inner_texts()[3:] != shown
    page.locator("section[aria-label=Actions] tbody a").last.click()
    page.get_by_text("Player 2 to act").or_(page.get_by_text("Chance")).first.wait_for()


def test_a_game_of_ones_own_without_public_states_is_drawn_and_listed(visitor, server):
    page = visitor.open("/g/coin")
    drawn = page.locator(".tree svg circle")
    drawn.first.wait_for()
    assert drawn.count() == 7
    page.get_by_role("radio", name="All information states").click()
    rows = page.locator("tbody tr")
    rows.nth(1).wait_for()
    listed = server.get("/solutions/coin/infostates")["rows"]
    assert f"left {percent(listed[0]['strategy'][0])}\u2009%" in rows.first.inner_text()
    page.get_by_role("radio", name="Regret").click()
    assert f"left {written(listed[0]['regret'][0])}" in rows.first.inner_text()


def test_a_state_that_there_is_not_is_told(visitor):
    page = visitor.open("/g/leduc/nowhere")
    page.locator(".note", has_text="unknown public state").wait_for()


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
