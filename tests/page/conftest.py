# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: a server of its own, Debian's Chromium, a visitor who has been here before.

`make test-page` runs these; the ordinary suite leaves them out, as they need a browser.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from equipoise.apps.bench.browser import FLAGS, find_browser
from equipoise.apps.bench.page import serving
from equipoise.core.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
COMMAND = str(Path(sys.executable).with_name("equipoise"))
OWN_GAME = """
from equipoise import BaseGame
from equipoise.games import TERMINAL


class Coin(BaseGame):
    \"\"\"One hides a coin in a hand, the other points at a hand.\"\"\"

    def initial_state(self):
        return ()

    def actor(self, state):
        return len(state) if len(state) < 2 else TERMINAL

    def legal_actions(self, state):
        return (0, 1) if len(state) < 2 else ()

    def next_state(self, state, action):
        return (*state, action)

    def utilities(self, state):
        won = (1.0, 3.0)[state[0]] if state[0] == state[1] else 0.0
        return (-won, won)

    def infostate(self, state, player):
        return f"{len(state)} moves made"

    def action_name(self, state, action):
        return ("left", "right")[action]
"""
PATIENCE = 1000 * int(os.environ.get("EQUIPOISE_PAGE_PATIENCE", "30"))  # milliseconds; more on a busy machine


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves these tests out unless they are asked for by their marker."""
    return None if "browser" in config.getoption("markexpr") else True


@dataclass
class Server:
    """A running server, and how to ask it without the page."""

    address: str

    def get(self, path: str, **query: str) -> Any:
        return json.loads(self.read(path, **query))

    def read(self, path: str, **query: str) -> bytes:
        answer = httpx.get(f"{self.address}/api{path}", params=query, timeout=60)
        answer.raise_for_status()
        return answer.content

    def post(self, path: str, body: object) -> Any:
        answer = httpx.post(f"{self.address}/api{path}", json=body, timeout=60)
        answer.raise_for_status()
        return answer.json()


def run(*words: str) -> None:
    subprocess.run([COMMAND, *words], check=True, capture_output=True, cwd=ROOT)


@pytest.fixture(scope="session")
def solved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Returns solved files to serve: a turn, a river with other sizes, small games, one of somebody's own."""
    folder = tmp_path_factory.mktemp("solved")
    spots = ROOT / "examples" / "spots"
    target = os.environ.get("EQUIPOISE_PAGE_TARGET", "2% pot")
    river = (spots / "river.toml").read_text().replace("33%, 75%, 150%, a / 60%, a", "33%, 75%, 150%, a / 100%, a")
    (folder / "other.toml").write_text(river)
    (folder / "coin.py").write_text(OWN_GAME)
    files = {name: folder / f"{name}.eq" for name in ("turn", "other", "kuhn", "leduc", "dice", "goofspiel", "coin")}
    run("solve", str(spots / "turn.toml"), "--target", target, "--out", str(files["turn"]), "--quiet")
    run("solve", str(folder / "other.toml"), "--out", str(files["other"]), "--quiet")
    run("solve", "kuhn", "--target", "1e-4", "--out", str(files["kuhn"]), "--quiet")
    run("solve", "leduc", "--target", "1e-3", "--out", str(files["leduc"]), "--quiet")
    run("solve", "liars_dice", "-p", "faces=3", "--target", "1e-3", "--out", str(files["dice"]), "--quiet")
    run("solve", "goofspiel", "-p", "cards=3", "--target", "1e-3", "--out", str(files["goofspiel"]), "--quiet")
    run("solve", f"{folder / 'coin.py'}:Coin", "--target", "1e-3", "--out", str(files["coin"]), "--quiet")
    return files


@pytest.fixture(scope="session")
def server(solved: dict[str, Path]) -> Iterator[Server]:
    with serving(*map(str, solved.values())) as (address, _):
        yield Server(wait_until_up(address))


def wait_until_up(address: str) -> str:
    """Returns the address of a server once it answers and has its example solved."""
    for _ in range(300):
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{address}/api/status").json()["first"]:
                return address
        time.sleep(0.1)
    raise TimeoutError(f"nothing answers at {address}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    try:
        executable = find_browser()
    except ConfigError as error:
        pytest.skip(str(error))
    with sync_api.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield chromium
        chromium.close()


class Visitor:
    """Opens pages of the server and notes what the browser complains about."""

    def __init__(self, browser: Any, server: Server) -> None:
        self.browser, self.server = browser, server
        self.complaints: list[str] = []
        self.contexts: list[Any] = []

    def open(
        self, path: str, *, size: tuple[int, int] = (1440, 900), theme: str = "light", is_first: bool = False
    ) -> Any:
        width, height = size
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, base_url=self.server.address
        )
        self.contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        if not is_first:
            page.add_init_script("localStorage.setItem('equipoise.visited', '1')")
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._note)
        page.goto(path)
        return page

    def _note(self, message: Any) -> None:
        if message.type == "error" and "status of 4" not in message.text:  # refusals are part of the tests
            self.complaints.append(message.text)


@pytest.fixture
def visitor(browser: Any, server: Server) -> Iterator[Visitor]:
    found = Visitor(browser, server)
    yield found
    for context in found.contexts:
        context.close()
    assert found.complaints == []
