# SPDX-License-Identifier: Apache-2.0
"""Playing agents, practising on solutions, following runs."""

from __future__ import annotations

import pytest

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser

OVER = "[data-testid=over]"
CHOICE = ".choice:not([disabled])"


def sit_down(page, game, agent):
    page.locator("select[name=game]").select_option(game)
    page.locator("select[name=agent]").select_option(agent)
    page.get_by_role("button", name="Sit down").click()
    page.wait_for_url("**/play/t*")


def play_a_hand(page):
    """Plays one hand to its end by the second choice that is offered: to call, mostly."""
    for _ in range(40):
        page.locator(f"{OVER}, {CHOICE}").first.wait_for()
        if page.locator(OVER).count():
            return
        offered = page.locator(CHOICE)
        before = page.locator(".log li").count()
        offered.nth(min(1, offered.count() - 1)).click()
        page.locator(OVER).or_(page.locator(".log li").nth(before)).first.wait_for()
    raise AssertionError("the hand does not end")


def play_hands(page, number):
    for hand in range(1, number + 1):
        expect(page.locator(".left-column .block h2")).to_have_text(f"Hand {hand}")
        play_a_hand(page)
        expect(page.locator(".stats dd").first).to_have_text(str(hand))
        if hand < number:
            page.get_by_role("button", name="Next hand").click()
            page.locator(OVER).wait_for(state="detached")


def test_ten_hands_of_leduc(visitor, server):
    page = visitor.open("/play")
    sit_down(page, "leduc", "file-leduc")
    play_hands(page, 10)
    table = server.get(f"/tables/{page.url.rsplit('/', 1)[1]}")
    assert table["result"]["hands"] == 10
    shown = page.locator(".stats dd").all_inner_texts()
    for text, estimate in zip(shown[1:], (table["result"], table["result"]["aivat"]), strict=True):
        low, high = estimate["interval"]
        assert text.replace("\u2212", "-") == f"{estimate['mean']:.2f} ± {(high - low) / 2:.2f}"
    page.get_by_text("what it was thinking").wait_for()


def test_dice_are_drawn_and_bids_said_as_people_say_them(visitor, server):
    page = visitor.open("/play")
    sit_down(page, "liars_dice", "uniform")
    page.locator(CHOICE).first.wait_for()
    seen = server.get(f"/tables/{page.url.rsplit('/', 1)[1]}")["view"].removeprefix("your dice ")[0]
    expect(page.get_by_label("Your dice").locator("svg")).to_have_attribute("aria-label", f"a die showing {seen}")
    bids = [text for text in page.locator(CHOICE).all_inner_texts() if not text.startswith("Liar")]
    assert all("\u00d7" in text for text in bids)
    play_a_hand(page)
    assert "\u00d7" in page.locator("[data-testid=over]").inner_text()


def test_five_hands_of_holdem(visitor, server):
    page = visitor.open("/play")
    sit_down(page, "holdem", "call")
    play_hands(page, 5)
    table = server.get(f"/tables/{page.url.rsplit('/', 1)[1]}")
    assert table["result"]["hands"] == 5
    assert (
        page.locator(".stats dd")
        .last.inner_text()
        .startswith(f"{table['result']['aivat']['mbb'] / 10:,.1f}".replace("-", "\u2212"))
    )
    assert page.locator(".board-row .card:not(.none)").count() == len(table["board"])


def test_a_bet_is_sized_by_preset_slider_and_key(visitor):
    page = visitor.open("/play")
    sit_down(page, "holdem", "call")
    page.locator(CHOICE).first.wait_for()
    page.get_by_role("button", name="Pot", exact=True).click()
    button = page.locator(".choice", has_text="Raise to").or_(page.locator(".choice", has_text="Bet"))
    named = button.last.inner_text()
    page.keyboard.press("ArrowUp")
    assert button.last.inner_text() != named
    page.keyboard.press("a")
    page.locator(OVER).wait_for()


@pytest.mark.parametrize("game", ["kuhn", "liars_dice"])
def test_small_games_are_played_to_the_end(visitor, game):
    page = visitor.open("/play")
    sit_down(page, game, "uniform")
    play_hands(page, 2)


def test_training_says_what_was_lost(visitor, server):
    before = server.get("/train/stats")["decisions"]
    page = visitor.open("/train?from=turn")
    page.locator(CHOICE).first.wait_for()
    page.keyboard.press("1")
    page.locator(".verdict").wait_for()
    stats = server.get("/train/stats")
    assert stats["decisions"] == before + 1
    assert page.locator(".stats dd").first.inner_text() == str(before + 1)
    assert page.locator(".verdict h2").inner_text().lower() == stats["last"][0]["verdict"]
    page.get_by_role("link", name="Open in Study").click()
    page.locator(".cell.held").wait_for()


def test_runs_are_drawn_in_the_lab(visitor, server):
    page = visitor.open("/lab")
    page.locator(".run-row", has_text="River example").wait_for()
    page.locator('.chart path[stroke-width="1.75"]:not([d=""])').first.wait_for()  # a report of flops has no curve
    page.keyboard.press("x")
    page.wait_for_url("**/lab?x=seconds")
