# SPDX-License-Identifier: Apache-2.0
"""The list of solutions, walks of other games, the lab."""

from __future__ import annotations

import pytest

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
