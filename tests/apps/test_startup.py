# SPDX-License-Identifier: Apache-2.0
"""The command line starts quickly: what a command does not need is not loaded."""

import inspect
import subprocess
import sys

import pytest

from equipoise.apps import names
from equipoise.apps.commands import COMMANDS
from equipoise.apps.groups import BenchGroup, TrainGroup
from equipoise.core.lazy import LazyTable
from equipoise.games.registry import GAMES, game_names
from equipoise.responses.notation import RESPONSES
from equipoise.solvers.methods import METHODS
from equipoise.solvers.pruning_notation import PRUNINGS, SAMPLED_PRUNINGS
from equipoise.solvers.rule_notation import rule_names
from equipoise.solvers.stopping import Form
from equipoise.solvers.substitution import RegretBound
from equipoise.trees.history import DEFAULT_MAX_HISTORIES


def load(code: str) -> set[str]:
    """Returns the modules that a fresh Python has after running some code, of ours and the heavy ones of others."""
    listing = f"import sys, contextlib, io\n{code}\nprint('MODULES', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.rpartition("MODULES ")[2].split())


def command(*words: str) -> str:
    return (
        "from equipoise.apps.cli import app\n"
        f"with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): app({list(words)!r})"
    )


@pytest.mark.parametrize(
    "words", [("--help",), ("--version",), ("solve", "--help"), ("games",), ("games", "--help"), ("bench",), ("train",)]
)
def test_help_and_lists_need_no_numbers(words):
    assert not load(command(*words)) & {"numpy", "scipy", "matplotlib", "equipoise._native"}


def test_games_are_described_without_solvers():
    loaded = load(command("games", "--json"))
    assert not [name for name in loaded if name.startswith(("scipy.", "equipoise.solvers.", "equipoise.search."))]


def test_a_game_is_solved_without_what_searches_and_plays():
    loaded = load(command("solve", "kuhn", "-n", "1", "--quiet"))
    assert not loaded & {"scipy.optimize", "matplotlib", "equipoise.agents.notation", "equipoise.search.public"}


def test_names_in_help_are_those_of_the_tables():
    assert rule_names() == names.RULES
    assert tuple(METHODS) == names.METHODS
    assert tuple(PRUNINGS) == names.PRUNINGS
    assert tuple(SAMPLED_PRUNINGS) == names.SAMPLED_PRUNINGS
    assert tuple(RESPONSES) == names.RESPONSES
    assert list(names.Forms) == list(Form)
    assert list(names.Bound) == list(RegretBound)
    assert names.MAX_HISTORIES == DEFAULT_MAX_HISTORIES


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_list_can_be_loaded(name, equipoise):
    assert f"equipoise {name} " in equipoise(name, "--help").out


def test_games_are_loaded_by_name():
    assert game_names() == tuple(sorted(game_names()))
    assert all(GAMES[name].__module__.startswith("equipoise.games.") for name in game_names())
    assert "chess" not in GAMES


@pytest.mark.parametrize("name", game_names())
def test_what_is_read_of_a_game_is_what_it_says_of_itself(name):
    assert GAMES.describe(name) == inspect.getdoc(GAMES[name]).partition("\n")[0]


def test_of_a_class_without_words_of_its_own_its_parent_speaks():
    table = LazyTable({"silent": f"{__name__}:Silent"})
    assert table.describe("silent") == "Nothing is said below."


class Talkative:
    """Nothing is said below."""


class Silent(Talkative):
    pass


@pytest.mark.parametrize(
    ("name", "entry"), [*TrainGroup.entries.items(), *BenchGroup.entries.items()], ids=lambda part: str(part)[:20]
)
def test_lists_of_groups_say_what_commands_say(name, entry):
    said = inspect.cleandoc(entry.load(name).help).partition("\n\n")[0]
    assert entry.summary == " ".join(said.split())
