# SPDX-License-Identifier: Apache-2.0
"""Every code block of every page: Python runs, spots are read, command lines are such as the program takes."""

import tomllib

import pytest

import equipoise
from equipoise.apps.bench.peers import load_peers
from equipoise.apps.commands import COMMANDS
from tests.docs.blocks import (
    INCOMPLETE,
    ROOT,
    complain,
    find_blocks,
    find_commands,
    find_mentions,
    find_pages,
    read_page,
    run_python,
    split_command,
)

PAGES = find_pages()
WHOLE = {"README.md", "docs/bots.md", "docs/own_games.md", "docs/quickstart.md"}
TYPED = [page for page in PAGES if page.startswith("docs/tutorials/") or page in WHOLE]
# a page of the options themselves, with usages that nobody types; and one of history, of what may be gone
NOT_TYPED = {"docs/options.md", "CHANGELOG.md"}
OTHER_LANGUAGES = {"", "text", "toml", "sh", "python"}
WHOLE_SPOT = 'board = "Ks7h2d5c"\npot = 20\nstacks = 90\nranges = {oop = "22+, AK", ip = "22+, AK"}\n'
SOME_MENU = 'menu = "50%, a / a"\n'


def blocks_of(page, language):
    return [block for block in find_blocks(read_page(page)) if block.language == language]


def pages_with(language):
    return [page for page in PAGES if blocks_of(page, language)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Returns the empty folder in which a reader types."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


@pytest.mark.parametrize("page", [page for page in pages_with("python") if page not in TYPED])
def test_python_of_pages_is_true(page, folder):
    namespace = {}
    for block in blocks_of(page, "python"):
        run_python(block, page, namespace)


@pytest.mark.parametrize("page", TYPED)
def test_pages_can_be_typed_from_top_to_bottom(page, folder, equipoise):
    namespace = {}
    for block in find_blocks(read_page(page)):
        if block.file is not None:
            (folder / block.file).write_text(block.text, encoding="utf8")
        elif block.language == "python":
            run_python(block, page, namespace)
        else:
            for line in find_commands(block):
                outcome = equipoise(*split_command(line))
                assert outcome.code == 0, f"{page}:{block.line}: {line}\n{outcome.err}"


def test_the_tutorials_are_there():
    assert {page.split("/")[-1] for page in TYPED} == {
        "README.md",
        "bots.md",
        "own_games.md",
        "more_than_two.md",
        "quickstart.md",
        "index.md",
        "solve_a_spot.md",
        "your_own_game.md",
        "compare_rules.md",
        "search_safely.md",
        "exploit_an_opponent.md",
        "train_against_a_response.md",
    }


def names_programs(said):
    """Returns whether a TOML file lists programs to run beside ours, in place of a spot."""
    return all(isinstance(table, dict) and "command" in table for table in said.values())


@pytest.mark.parametrize("page", pages_with("toml"))
def test_toml_of_pages_is_read(page, folder):
    (folder / "button.txt").write_text("1 " * 1326)
    for block in blocks_of(page, "toml"):
        said = tomllib.loads(block.text)
        if names_programs(said):
            (folder / "peers.toml").write_text(block.text)
            assert [peer.name for peer in load_peers("peers.toml")] == list(said)
            continue
        lacks = "" if "stacks" in said else WHOLE_SPOT + ("" if "menu" in said else SOME_MENU)
        (folder / "spot.toml").write_text(lacks + block.text)
        assert equipoise.load_spot("spot.toml").spot.stacks


@pytest.mark.parametrize("page", [page for page in PAGES if page not in NOT_TYPED])
def test_commands_of_pages_are_such_as_the_program_takes(page):
    text = read_page(page)
    commands = [line for block in find_blocks(text) for line in find_commands(block)]
    wrong = [(line, complain(line)) for line in commands]
    wrong += [(line, kind) for line in find_mentions(text) if (kind := complain(line)) not in INCOMPLETE]
    assert not [(line, kind) for line, kind in wrong if kind is not None]


def test_blocks_are_in_languages_that_are_tried():
    found = {(block.language, page) for page in PAGES for block in find_blocks(read_page(page))}
    assert not {(language, page) for language, page in found if language not in OTHER_LANGUAGES and "{" not in language}


def test_the_page_of_commands_has_the_options_of_each():
    sections = {part.split("`")[1]: part for part in read_page("docs/options.md").split("\n## ")[1:]}
    runs = {f"equipoise {name}": entry.load(name) for name, entry in COMMANDS.items()}
    groups = {
        f"{words} {name}": one.get_command(None, name)
        for words, one in runs.items()
        for name in getattr(one, "commands", {})
    }
    for words, command in {**runs, **groups}.items():
        for option in (one for one in command.params if not getattr(one, "hidden", False)):
            shown = getattr(option, "metavar", None) if option.param_type_name == "argument" else None
            assert (shown or max(option.opts, key=len)) in sections[words], f"{words} {option.opts}"
    assert len(groups) >= 2
    assert sum(len(command.params) for command in runs.values()) > 150


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("equipoise solve leduc --iterations 10  # a comment", None),
        ("equipoise --version", None),
        ("equipoise --install-completion", None),
        ("equipoise bench --signature > file.txt", None),
        ("equipoise train values --out nets --hours 2", None),
        ("equipoise slove leduc", "UsageError"),
        ("equipoise solve leduc --iteration-count 10", "NoSuchOption"),
        ("equipoise solve leduc --iterations ten", "BadParameter"),
        ("equipoise search", "MissingParameter"),
    ],
)
def test_what_is_wrong_with_a_command_is_seen(line, kind):
    assert complain(line) == kind
