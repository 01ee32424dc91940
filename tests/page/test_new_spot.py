# SPDX-License-Identifier: Apache-2.0
"""A spot of one's own: ranges, boards, solving, locking, comparing."""

from __future__ import annotations

import re

import pytest

from equipoise.games.holdem.ranges import parse_range

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser


def example(page, name):
    page.get_by_label("Start from an example").select_option(name)
    page.locator(".range-count", has_text="combos").wait_for()


def solve(page):
    page.get_by_role("button", name="Solve", exact=True).click()
    page.wait_for_url("**/new?job=*")


def test_river_example_is_solved_to_its_target(visitor, server):
    page = visitor.open("/new")
    example(page, "river")
    page.locator(".pairs", has_text="1 board").wait_for()
    solve(page)
    page.locator('.job-panel[data-state="done"]').wait_for()
    page.get_by_role("link", name="Walk it").click()
    page.wait_for_url("**/s/*")
    page.locator("h1", has_text="to act").wait_for()
    card = server.get(f"/solutions/{page.url.rsplit('/', 1)[1]}")
    assert card["percent_of_pot"] <= 0.1
    assert card["stopped_by"] == "target"


def test_painted_range_goes_out_as_text_and_comes_back(visitor):
    page = visitor.open("/new")
    example(page, "river")
    page.get_by_role("button", name="Clear the range").click()
    page.locator(".range-count", has_text="0 combos").wait_for()
    for cell in ("AA", "KK", "AKs"):
        page.locator(f'.paint [data-cell="{cell}"]').click()
    slider = page.get_by_label("Weight of the brush in percent")
    slider.fill("50")
    page.locator('.paint [data-cell="QJs"]').click()
    text = page.get_by_label("As text", exact=True)
    expect(text).to_have_value(re.compile("QJs:0.5"))
    written = text.input_value()
    assert parse_range(written) == parse_range("KK+, AKs, QJs:0.5")
    text.fill("22")
    page.locator(".range-count", has_text="3.0 combos").wait_for()  # a deuce is on the board
    text.fill(written)
    page.locator('.paint [data-cell="QJs"]:not(.out)').wait_for()
    assert page.locator(".paint .cell:not(.out)").count() == 4


def test_single_suits_are_painted(visitor):
    page = visitor.open("/new")
    example(page, "river")
    page.get_by_role("button", name="Clear the range").click()
    page.locator('.paint [data-cell="AQs"]').click(button="right")
    page.get_by_label("AhQh, 0 %").click()
    expect(page.get_by_label("As text", exact=True)).to_have_value("AhQh")


def test_bad_ranges_and_boards_are_refused_beside_their_field(visitor):
    page = visitor.open("/new")
    example(page, "river")
    text = page.get_by_label("As text", exact=True)
    text.fill("AA, AKx")
    page.locator("#range-fault", has_text="AKx").wait_for()
    assert text.get_attribute("aria-invalid") == "true"
    text.fill("AA, KQs")
    page.locator("#range-fault").wait_for(state="detached")
    board = page.get_by_label("Board as text")
    board.fill("Ks7h2dKs")
    page.locator("#board-fault", has_text="twice").wait_for()
    assert board.get_attribute("aria-invalid") == "true"
    board.fill("Ks7h")
    page.locator("#board-fault", has_text="got 2").wait_for()
    page.get_by_role("button", name="Solve", exact=True).click()
    assert board.evaluate("field => field === document.activeElement")


def test_an_answer_that_comes_late_takes_no_fault_away(visitor):
    page = visitor.open("/new")
    page.get_by_text("nodes").first.wait_for()
    held = []

    def hold(route):
        held.append(route)

    page.route("**/api/estimate", hold)
    page.get_by_role("textbox", name="Pot").fill("7")
    page.wait_for_timeout(600)  # until it is asked what the spot takes
    page.get_by_role("textbox", name="Pot").fill("0")
    fault = page.get_by_text("A number above 0, got '0'")
    fault.wait_for()
    assert held
    with page.expect_response("**/api/estimate"):
        held[0].continue_()
    page.wait_for_timeout(300)
    assert fault.is_visible()


def test_what_makes_a_solve_smaller_stands_in_the_form_and_goes_with_it(visitor):
    def say_too_large(route):
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"fits": False})

    page = visitor.open("/new")
    page.route("**/api/estimate", say_too_large)
    example(page, "turn")
    with page.expect_request(lambda request: "int16" in (request.post_data or "")):
        page.get_by_role("button", name="16-bit tables").click()
    page.get_by_text("Tables in int16").wait_for()
    with page.expect_request("**/api/estimate") as asked:
        example(page, "river")
    assert "int16" not in asked.value.post_data
    page.unroute_all(behavior="ignoreErrors")


def test_a_game_is_no_spot_to_begin_with(visitor):
    page = visitor.open("/new?from=kuhn")
    page.get_by_text("is no spot").wait_for()  # another test renames it
    assert page.get_by_role("textbox", name="Pot").input_value()


def test_a_blocked_range_is_refused_by_the_server(visitor):
    page = visitor.open("/new")
    example(page, "river")
    page.get_by_label("As text", exact=True).fill("KsKh")
    page.locator("#range-fault, .new-range .fault, .solve-block .fault", has_text="blocks").first.wait_for()


def test_a_solve_goes_on_while_the_page_is_loaded_again(visitor, server):
    page = visitor.open("/new")
    example(page, "turn")
    page.get_by_label("Until exploitable for").select_option("0.05% pot")
    page.wait_for_timeout(400)  # the estimate asks 300 ms after the last change
    solve(page)
    page.locator(".job-text", has_text="iterations").wait_for()
    page.reload()
    page.locator(".job-text", has_text="iterations").wait_for()
    assert page.get_by_role("button", name="Stop and keep").is_visible()
    assert page.locator(".pill", has_text="Solving").is_visible()
    page.get_by_role("button", name="Pause").click()
    page.locator('.job-panel[data-state="paused"]').wait_for()
    page.get_by_role("button", name="Go on").click()
    page.locator('.job-panel[data-state="running"]').wait_for()
    page.get_by_role("button", name="Stop and keep").click()
    page.get_by_role("link", name="Walk it").click()
    page.locator("h1", has_text="to act").wait_for()


def test_locked_cells_are_kept_when_it_is_solved_again(visitor, server):
    page = visitor.open("/s/example-river")
    page.get_by_role("button", name="Lock this decision").click()
    page.locator(".brushes [role=radio]", has_text="Check").click()
    for cell in ("KK", "AKs"):
        page.locator(f'[role=gridcell][data-cell="{cell}"]').click()
    page.get_by_role("button", name="Best answer").click()
    page.get_by_text("more with the best answer to what is painted").wait_for()
    hands = {name: [1, 0, 0, 0, 0] for name in ("KK", "AKs")}
    asked = server.post("/solutions/example-river/gain", {"locks": [{"hands": hands}]})
    won = asked["players"][1]["summary"]["gain"] / asked["big_blind"]
    assert f"IP could win {won:.3f} bb more" in page.locator(".node .note").inner_text()
    page.get_by_role("button", name="Paint on").click()
    page.get_by_role("button", name="Re-solve with 2 locked").click()
    page.get_by_role("link", name="Walk it").click()
    page.locator("h1", has_text="to act").wait_for()
    label = page.locator('[role=gridcell][data-cell="KK"]').get_attribute("aria-label")
    assert "Check 100\u2009%" in label
    name = page.url.rsplit("/s/", 1)[1].split("/")[0].split("?")[0]
    node = server.get(f"/solutions/{name}/node", line="")
    assert set(node["locked"]) >= {"KdKc", "KhKc", "KhKd"} or len(node["locked"]) >= 3
    assert page.locator(".cell .lock-mark").count() == 2


def test_two_solutions_side_by_side(visitor, server):
    page = visitor.open("/s/example-river/b75p")
    page.get_by_role("button", name="Compare with another solution").click()
    page.locator("dialog[open] .pick-list button", has_text="other.eq").last.click()
    page.wait_for_url("**/s/example-river/b75p?with=other*")
    page.locator("h1", has_text="Differences").wait_for()
    assert page.get_by_role("grid").count() == 2
    asked = server.get("/solutions/example-river/compare", line="b75p", **{"with": "other"})
    fold = next(action for action in asked["actions"] if action["id"] == "f")
    row = page.locator(".compare-table tr", has_text="Fold").inner_text()
    assert f"{100 * fold['first']:.1f}" in row
    assert f"{100 * fold['second']:.1f}" in row
