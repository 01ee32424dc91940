# SPDX-License-Identifier: Apache-2.0
"""Commands that pages and help show are run, page by page in their order, in a scratch folder; see `shortened`.

Pages that `test_pages` types as they are, unshortened, are left to it. What takes long even if shortened (training,
most of bench, blueprints, reports, studies) is run by `make test-long`, a part of `make test-all`.
"""

import functools
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apps.commands import QUIET, run_command
from tests.docs.blocks import INCOMPLETE, ROOT, complain, find_blocks, find_commands, find_mentions, read_page
from tests.docs.shortened import fill_command, format_command, is_endless, is_long, shorten_command
from tests.docs.test_pages import NOT_TYPED, PAGES, TYPED

HISTORY = "CHANGELOG.md"
NEEDS_DATA = ("--data", "--endgames", "data=")  # files that nobody may pass on: refused in one line without them
NEEDS_OTHERS = ("seat ", "improve ", "model ", "match libratus:", "match pluribus:")  # a dealer, a blueprint, hands
ACTS_ON_READER = {"equipoise --install-completion"}  # writes to the reader's shell; looked up by `test_pages`
WAITING = ("http://", "waiting for")  # what says that a command listens
PARTS = {  # that pass for whole commands when they are parsed
    "equipoise solve",
    "equipoise report",
    "equipoise match",
    "equipoise solve --warm-start FILE",
    "equipoise search FILE --method reach-estimate+distribution",
    "equipoise search FILE --line ... --leaves opponent",
}
SPOT = """
board = "Ks7s2d5d9h"
pot = 20
stacks = 20
menu = "50%, a / a"
[ranges]
oop = "AA, KK, QJs"
ip = "QQ, AQ, 76s"
"""
PEERS = f"""[other]\ncommand = ["{sys.executable}", "-c", 'print("{{\\"exploitability\\": 0}}")']\n"""
OWN_GAME = "from equipoise.games.kuhn import Kuhn as MyGame\n"
KITCHEN = (  # what a reader of a single sentence has from the page before
    "solve kuhn --iterations 50 --out kuhn.eq",
    "solve kuhn --iterations 50 --rule cfr --out a.eq",
    "solve kuhn --iterations 50 --rule cfr+ --out b.eq",
    "solve leduc --iterations 20 --out leduc.eq",
    "solve examples/spots/turn.toml --iterations 2 --out turn.eq",
    "solve spot.toml --iterations 5 --out villain.eq",
)


@functools.cache
def list_commands():
    """Returns pages with the commands that are tried here, in order: those of blocks, then mentions that are new."""
    found, seen = {}, set(ACTS_ON_READER)
    for page in PAGES:
        text = read_page(page)
        lines = [] if page in TYPED else [line for block in find_blocks(text) for line in find_commands(block)]
        if page not in NOT_TYPED:
            lines += [line for line in find_mentions(text) if is_whole(line)]
        fresh = [line for line in dict.fromkeys(lines) if line not in seen and not opens_browser(line)]
        seen.update(fresh)
        if fresh and page != HISTORY:
            found[page] = fresh
    return found


def opens_browser(line):
    """Returns whether a command shows its file in a browser: the tests of the page do that."""
    return line.startswith("equipoise show ") and "--open" in line


def is_whole(line):
    """Returns whether a sentence says a whole command, and not only a part of one."""
    return complain(line) not in INCOMPLETE and line not in PARTS


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory):
    """Returns a folder with what pages take for granted, all made by commands."""
    folder = tmp_path_factory.mktemp("kitchen")
    (folder / "examples").symlink_to(ROOT / "examples")
    shutil.copytree(ROOT / "docs" / "results", folder / "docs" / "results")  # studies write there
    (folder / "spot.toml").write_text(SPOT)
    (folder / "mine.py").write_text(OWN_GAME)
    (folder / "peers.toml").write_text(PEERS)
    for line in KITCHEN:
        done = run_command(QUIET, folder, *line.split(), EQUIPOISE_CACHE="off")
        assert done.returncode == 0, f"{line}\n{done.stderr}"
    (folder / "out").mkdir()
    shutil.copy(folder / "turn.eq", folder / "out")
    return folder


@pytest.fixture
def folder(kitchen, tmp_path):
    """Returns a copy of the kitchen's folder for one page."""
    return Path(shutil.copytree(kitchen, tmp_path / "page", symlinks=True))


def run_until_it_waits(words, folder):
    """Starts what goes on until Ctrl-C, waits for its address, ends it."""
    environment = {**os.environ, "BROWSER": "true", "EQUIPOISE_CACHE": "off", "XDG_DATA_HOME": str(folder / "data")}
    command = [sys.executable, "-c", QUIET, *words, "--port", "0"]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        said = ""
        for line in process.stdout:
            said += line
            if any(word in line for word in WAITING):
                break
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
    assert any(word in said for word in WAITING), said
    return process.returncode, said


def try_command(line, folder):
    """Runs a command of a page and fails if it does not end as it should."""
    words = shorten_command(fill_command(line))
    if "--out" in words and "--resume" not in words:  # readers do not have what they are about to make
        made = folder / words[words.index("--out") + 1]
        if made.is_file():
            made.unlink()
    if is_endless(words):
        code, said = run_until_it_waits(words, folder)
        assert code in (0, 130), f"{line}\n{said}"
        return
    done = run_command(QUIET, folder, *words, EQUIPOISE_CACHE="off")
    if any(word.startswith(NEEDS_DATA) for word in words) or " ".join(words).startswith(NEEDS_OTHERS):
        assert (done.returncode, done.stderr.strip().count("\n")) == (2, 0), f"{line}\n{done.stderr}"
    else:
        assert done.returncode == 0, f"{line}\n{format_command(words)}\n{done.stdout[-500:]}\n{done.stderr[-2000:]}"


def write_files(page, folder):
    """Writes what a page says to save."""
    for block in find_blocks(read_page(page)):
        if block.file is not None:
            (folder / block.file).write_text(block.text, encoding="utf8")


def is_study(line):
    """Returns whether a command computes a study: it needs nothing from the lines before it."""
    return line.startswith("equipoise reproduce ")


def list_long(*, are_studies):
    """Returns the long commands with their pages, those that come to the same once; pages have what they build on."""
    found = {}
    for page, lines in list_commands().items():
        for line in lines:
            words = fill_command(line)
            if is_long(words) and is_study(line) == are_studies:
                found.setdefault((None if are_studies else page, *shorten_command(words)), (page, line))
    return list(found.values())


@pytest.mark.slow
@pytest.mark.parametrize("page", list(list_commands()))
def test_commands_of_a_page_run(page, folder):
    write_files(page, folder)
    for line in list_commands()[page]:
        if not is_long(fill_command(line)):
            try_command(line, folder)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("page", list(dict.fromkeys(page for page, _ in list_long(are_studies=False))))
def test_long_commands_of_a_page_run(page, folder):
    write_files(page, folder)
    for where, line in list_long(are_studies=False):
        if where == page:
            try_command(line, folder)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("line", [line for _, line in list_long(are_studies=True)])
def test_studies_of_pages_run(line, folder):
    try_command(line, folder)


def test_shortening_leaves_a_command_what_it_is():
    words = shorten_command(fill_command("equipoise match A B --game G --hands 1000"))
    assert words == ["match", "call", "uniform", "--game", "kuhn", "--hands", "50"]
    assert shorten_command(["solve", "leduc", "--target", "1e-4"]) == ["solve", "leduc", "--target", "1e-4"]
    assert shorten_command(["reproduce", "rbp", "--full"]) == ["reproduce", "rbp"]
    assert is_long(["reproduce", "rbp"])
    assert not is_long(["reproduce", "coin-toss"])
