# SPDX-License-Identifier: Apache-2.0
"""The list of solutions, walks of other games, the lab."""

from __future__ import annotations

import re

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


@pytest.mark.parametrize(
    ("game", "typed", "name"),
    [("dice", "after 1 \u00d7 1, 1 \u00d7 2", "|1-1 1-2"), ("goofspiel", "2 against 1; prize 2", "2-1 2:")],
)
def test_information_states_are_found_by_the_words_shown(visitor, server, game, typed, name):
    found = server.get(f"/solutions/{game}/infostates", limit="1000")["rows"]
    page = visitor.open(f"/g/{game}?m=table")
    page.locator("td.strong").first.wait_for()
    page.get_by_label("Information states like").fill(typed)
    number = sum(name in row["infostate"] for row in found)
    assert 0 < number < len(found)
    page.get_by_text(re.compile(rf"^{number} fits?$")).wait_for()
    assert all(typed in shown for shown in page.locator("td.strong").all_inner_texts())


def test_a_removed_job_leaves_every_page(visitor, server):
    job = server.post("/jobs", {"kind": "solve", "game": "leduc", "target": "0", "iterations": 10_000_000})
    pages = [visitor.open("/library") for _ in range(2)]
    server.post(f"/jobs/{job['id']}/cancel", {})
    for page in pages:
        page.get_by_role("button", name="Remove this job").wait_for()
    pages[0].get_by_role("button", name="Remove this job").click()
    for page in pages:
        page.get_by_role("button", name="Remove this job").wait_for(state="detached")


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
    words = page.locator("section[aria-label=Decision]").inner_text()
    assert {"dice": "1 \u00d7 2", "goofspiel": "prize 1"}[game] in words
    assert {"dice": "1-2", "goofspiel": "1:"}[game] not in words
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


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/nowhere", "No view has the address /nowhere"),
        ("/%", "There is nothing here"),
        ("/s/%E0%A4%A", "there is no such solution"),
        ("/g/kuhn/50%25", "unknown public state '50%'"),
        ("/flops/nope", "there is no such job"),
        ("/play/t999", "there is no such table"),
    ],
)
def test_an_address_that_leads_nowhere_is_told(visitor, address, said):
    visitor.open(address).get_by_text(said).first.wait_for()


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


def test_a_file_that_was_refused_can_be_chosen_again_once_it_is_right(visitor, solved, tmp_path):
    page = visitor.open("/library")
    page.locator("tbody tr").first.wait_for()
    chosen = tmp_path / "again.eq"
    chosen.write_bytes(b"nonsense")
    page.locator("input[type=file]").set_input_files(chosen)
    page.get_by_text("the file is not an Equipoise file").first.wait_for()
    chosen.write_bytes(solved["kuhn"].read_bytes())
    page.locator("input[type=file]").set_input_files(chosen)
    page.get_by_text("again.eq opened").first.wait_for()
    page.locator("tr", has_text="again.eq").get_by_label("Delete kuhn").click()
    page.locator("dialog[open] .danger").click()
    page.locator("tr", has_text="again.eq").wait_for(state="detached")
