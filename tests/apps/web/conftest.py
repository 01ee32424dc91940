# SPDX-License-Identifier: Apache-2.0
import contextlib

import pytest
from fastapi.testclient import TestClient

from equipoise import solve
from equipoise.apps.web.server import make_app
from equipoise.apps.web.settings import ServerSettings
from tests.apps.web.asking import BASE, TOML


@pytest.fixture(scope="session")
def solved(tmp_path_factory):
    """Returns a folder with a small river, a turn, Kuhn and Leduc, solved a little."""
    folder = tmp_path_factory.mktemp("solved")
    (folder / "river.toml").write_text(TOML)
    turn = TOML.replace("Ks7h2d5cJs", "Ks7h2d5c").replace('"75%, a / a; cap: 2"', '"75%; cap: 1"')
    (folder / "turn.toml").write_text(turn)
    solve(folder / "river.toml", iterations=30).save(folder / "river.eq")
    solve(folder / "turn.toml", iterations=10).save(folder / "turn.eq")
    solve("kuhn", iterations=30).save(folder / "kuhn.eq")
    solve("leduc", iterations=10).save(folder / "leduc.eq")
    return folder


@contextlib.contextmanager
def serving(folder, solved):
    """Gives what starts a server and gives a client; several may run, one after the other on the same folder."""
    stack = contextlib.ExitStack()

    def start(*, base_url=BASE, files=("river.eq", "turn.eq", "kuhn.eq", "leduc.eq"), page=None, **changes):
        paths = tuple(solved / name for name in files)
        settings = ServerSettings(**{"runs": folder / "runs", "files": paths, "solves_example": False} | changes)
        return stack.enter_context(TestClient(make_app(settings, page=page), base_url=base_url))

    start.stop = stack.close
    with stack:
        yield start


@pytest.fixture
def serve(tmp_path, solved):
    with serving(tmp_path, solved) as start:
        yield start


@pytest.fixture(scope="module")
def client(tmp_path_factory, solved):
    """Returns a client of a server that the tests of a file share."""
    with serving(tmp_path_factory.mktemp("server"), solved) as start:
        yield start()
