# SPDX-License-Identifier: Apache-2.0
"""The walk of a solved spot: lines, numbers, addresses, keys."""

from __future__ import annotations

import csv
import io
import re

import pytest

from equipoise.abstraction.solutions import open_solution
from equipoise.games.holdem.spot_file import parse_spot
from equipoise.solvers.description import describe_node

Image = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.browser


def cell_text(page, name):
    return page.locator(f'[role=gridcell][data-cell="{name}"]').get_attribute("aria-label")


def take(page, action):
    page.locator(".acts .action-name", has_text=re.compile(f"^{action}$")).click()


def percent(share):
    return "100" if share >= 0.9995 else "0" if share < 0.0005 else f"{100 * share:.1f}"


def test_first_visit_opens_a_solved_example(visitor):
    page = visitor.open("/", is_first=True)
    page.wait_for_url("**/s/*")
    page.get_by_text("Take an action, or").wait_for()
    assert page.locator("h1").inner_text().endswith("to act")


def test_three_actions_and_a_card(visitor):
    page = visitor.open("/s/turn")
    for action, who in (("Check", "BTN"), ("Bet 50\u2009%", "BB")):
        take(page, action)
        page.locator("h1", has_text=f"{who} to act").wait_for()
    take(page, "Call")
    page.wait_for_url("**/s/turn/x-b50p-c")
    page.get_by_role("button", name="A of spades").click()
    page.wait_for_url("**/s/turn/x-b50p-c/As")
    page.locator("h1", has_text="BB to act").wait_for()
    assert page.locator(".who").inner_text().count("A") >= 1
    page.go_back()
    page.wait_for_url("**/s/turn/x-b50p-c")
    page.reload()
    page.locator("h1", has_text="48 rivers after").wait_for()


def test_a_cell_shows_what_the_server_and_the_library_say(visitor, server, solved):
    page = visitor.open("/s/turn/x-b50p")
    shown = cell_text(page, "KQo")
    asked = server.get("/solutions/turn/node", line="x,b50p")
    with open_solution(solved["turn"]) as file:
        described = describe_node(file, "check, bet 50%")
    squares = [node["players"][0]["grid"] for node in (asked, described)]
    places = [square["names"].index("KQo") for square in squares]
    for square, place in zip(squares, places, strict=True):
        ev, equity, shares = square["ev"][place], square["equity"][place], square["frequency"][place]
        names = ("Fold", "Call", "Raise 100\u2009%", "All-in")
        played = ", ".join(f"{name} {percent(share)}\u2009%" for name, share in zip(names, shares, strict=True))
        assert shown == f"KQo, EV {ev / 10:.2f}, equity {100 * equity:.0f} %, {played}"


def test_names_of_curves_do_not_cover_each_other(visitor):
    page = visitor.open("/s/example-river/x")
    names = page.locator(".end-name")
    names.nth(1).wait_for()
    first, second = (float(names.nth(place).get_attribute("y")) for place in (0, 1))
    assert abs(first - second) >= 15


def test_keys_walk_hold_and_change_the_mode(visitor):
    page = visitor.open("/s/turn")
    page.locator("h1", has_text="BB to act").wait_for()
    page.keyboard.press("1")
    page.wait_for_url("**/s/turn/x")
    page.locator("h1", has_text="BTN to act").wait_for()
    page.keyboard.press("e")
    page.wait_for_url("**/s/turn/x?m=ev")
    page.keyboard.press("g")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/turn/x?m=ev&h=AA")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**/s/turn?m=ev&h=AA")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/s/turn/x?m=ev&h=AA")
    page.keyboard.press("?")
    assert page.locator("dialog[open] h2", has_text="Keys").is_visible()


def test_an_address_gives_the_same_picture(visitor):
    page = visitor.open("/s/turn/x-b50p?m=equity&h=KQs&p=ip&c=top-pair")
    page.locator('.classes [aria-pressed="true"]', has_text="Top pair").wait_for()
    assert page.locator('[role=radio][aria-checked="true"]', has_text="Equity").is_visible()
    assert page.locator('.range [role=radio][aria-checked="true"]', has_text="BTN").is_visible()
    assert page.locator(".cell.held").get_attribute("data-cell") == "KQs"
    assert page.locator(".inspect h2").inner_text() == "KQs"


def test_hovering_shows_the_hands_of_a_cell(visitor):
    page = visitor.open("/s/turn/x-b50p")
    page.locator('[data-cell="77"][role=gridcell]').hover()
    page.locator(".inspect h2", has_text="77").wait_for()
    assert page.locator(".hands tbody tr").count() == 3
    page.mouse.move(5, 5)
    page.locator(".inspect h2", has_text="All hands").wait_for()


def test_gain_of_a_best_response(visitor, server):
    page = visitor.open("/s/turn/x?m=gain")
    page.get_by_text("could win").wait_for()
    asked = server.get("/solutions/turn/gain", line="x")
    gain = asked["players"][1]["summary"]["gain"] / asked["big_blind"]
    assert f"{gain:.3f} bb more" in page.locator(".node .note").inner_text()


def test_hands_grid_and_spot_are_saved(visitor, server):
    page = visitor.open("/s/turn/x")
    page.locator("h1", has_text="to act").wait_for()

    def save(name):
        with page.expect_download() as found:
            page.get_by_label(name, exact=True).click()
        return found.value.path().read_bytes()

    assert save("Save hands as CSV") == server.read("/solutions/turn/csv", line="x")
    assert parse_spot(save("Save the spot file").decode()) == parse_spot(server.get("/solutions/turn")["text"])
    picture = Image.open(io.BytesIO(save("Save the grid as PNG")))
    assert picture.format == "PNG"
    assert len(picture.convert("RGB").getcolors(1 << 20)) > 20  # fills, names, a caption


def test_the_cards_of_a_street_are_saved(visitor, server):
    page = visitor.open("/s/turn/x-x")
    page.locator("h1", has_text="48 rivers").wait_for()
    with page.expect_download() as found:
        page.get_by_role("button", name="Save the table as CSV").click()
    head, *rows = csv.reader(found.value.path().read_text().splitlines())
    report = server.get("/solutions/turn/cards", line="x,x")
    assert head[: 1 + len(report["ids"])] == ["card", *(f"BB {id}" for id in report["ids"])]
    assert [row[0] for row in rows] == [one["card"] for one in report["cards"]]
    shares = [[float(cell) for cell in row[1 : 1 + len(report["ids"])]] for row in rows]
    assert shares == [one["frequency"] for one in report["cards"]]


def test_a_phone_shows_the_keys_from_their_beginning(visitor):
    page = visitor.open("/s/example-river", size=(390, 844))
    page.get_by_role("button", name="Keys").click()
    heading = page.locator("dialog[open] h2", has_text="Keys")
    assert heading.bounding_box()["y"] >= 0
    assert page.locator("dialog[open]").evaluate("box => box.scrollTop") == 0


def test_a_solution_that_is_not_there_is_told(visitor):
    page = visitor.open("/s/nothing/x")
    page.get_by_text("there is no such solution").wait_for()
    assert page.get_by_role("link", name="To the root").count() == 0
    page.get_by_role("link", name="To the library").click()
    page.get_by_role("heading", name="Library").wait_for()


def test_a_wrong_line_is_told(visitor):
    page = visitor.open("/s/turn/x-b999p")
    page.get_by_text("This place cannot be shown").wait_for()
    page.get_by_role("link", name="To the root").click()
    page.locator("h1", has_text="BB to act").wait_for()


def test_a_phone_shows_the_hands_in_a_sheet(visitor):
    page = visitor.open("/s/turn/x-b50p", size=(390, 844))
    page.locator('[data-cell="KQo"][role=gridcell]').click()
    page.get_by_role("dialog", name="Hands of KQo").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_amounts_are_in_the_unit_that_was_chosen(visitor, server):
    node = server.get("/solutions/turn/node")
    page = visitor.open("/s/turn")
    heading = page.locator(".pair th").last
    value = page.locator(".pair tbody tr").first.locator("td").last
    worth = node["players"][0]["summary"]["ev"]
    assert heading.inner_text() == "EV bb"
    assert value.inner_text() == f"{worth / node['big_blind']:,.2f}"
    page.keyboard.press("u")
    assert heading.inner_text() == "EV chips"
    assert value.inner_text() == f"{worth:,.2f}"
    page.reload()
    page.locator(".pair th").last.wait_for()
    assert heading.inner_text() == "EV chips"
    page.get_by_role("button", name="Amounts in chips").click()
    assert heading.inner_text() == "EV % pot"
    assert value.inner_text() == f"{100 * worth / node['pot']:,.2f}"
