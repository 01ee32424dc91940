# SPDX-License-Identifier: Apache-2.0
"""Help of commands: nothing is cut, whatever the terminal's width, and examples can be copied."""

import re
import shlex

import pytest

from equipoise.apps.commands import COMMANDS

GROUPS = {
    "train": ("values", "rebel", "pog", "deep-cfr", "blueprint"),
    "bench": ("tabular", "first-evening", "page", "decisions"),
}
MOST_TOGETHER = 10  # options under one heading
PAGES = [(name, *rest) for name in COMMANDS for rest in [(one,) for one in GROUPS.get(name, ())] or [()]]
LISTS = [(), *((name,) for name in GROUPS)]  # pages that list commands


@pytest.mark.parametrize("width", [80, 40])
@pytest.mark.parametrize("words", [*LISTS, *PAGES], ids=" ".join)
def test_nothing_is_cut(equipoise, monkeypatch, words, width):
    monkeypatch.setenv("COLUMNS", str(width))
    page = equipoise(*words, "--help").out
    assert "…" not in page
    longest = max(page.splitlines(), key=len)
    assert len(longest) <= width or longest.startswith("    '")  # what is quoted stays together
    assert "--help, -h" in page


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_every_command_has_examples_that_can_be_copied(equipoise, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    examples = equipoise(*words, "--help").out.partition("Examples:\n")[2]
    commands = [shlex.split(line) for line in examples.replace("\\\n", "").splitlines() if line.strip()]
    assert commands
    assert all(command[: len(words) + 1] == ["equipoise", *words] for command in commands)


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_lists_name_every_command_whole(equipoise, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "40")
    page = equipoise(*words, "--help").out
    assert all(
        re.search(rf"^│ {re.escape(name)} ", page, re.MULTILINE) for name in (GROUPS[words[0]] if words else COMMANDS)
    )


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_every_command_can_be_quiet(equipoise, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    assert "--quiet, -q" in equipoise(*words, "--help").out


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_one_thing_has_one_name(equipoise, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    page = equipoise(*words, "--help").out
    listed = {name: short for name, short in re.findall(r"^│ (--[a-z-]+)(?:, (-\w))?", page, re.MULTILINE)}
    assert listed.keys().isdisjoint({"--jobs", "--processes", "--cores", "--num-threads", "--num-workers"})
    assert listed.get("--threads", "-t") == "-t"
    assert listed.get("--workers", "-w") == "-w"


def test_names_from_before_are_still_taken(equipoise):
    assert "--workers must be at most 64, got '99'" in equipoise("serve", "--jobs", 99).err


def test_usage_and_values_are_named(equipoise, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    page = equipoise("match", "--help").out
    assert "Usage: equipoise match [OPTIONS] AGENT..." in page
    assert re.search(r"--workers, -w N +Processes that play\. \[1 to 256; default: 1\]", page)
    assert re.search(r"--runner auto\|batched\|hands", page)
    assert "--out, -o PATH" in page
    assert "[default: --duplicate]" in " ".join(page.replace("│", "").split())


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_long_pages_are_in_panels(equipoise, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "100")
    panels = equipoise(*words, "--help").out.split("╭─")[1:]
    assert all(len(re.findall(r"^│ --", panel, re.MULTILINE)) <= MOST_TOGETHER for panel in panels)


def test_notes_say_what_is_so(equipoise, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    blueprint = equipoise("train", "blueprint", "--help").out
    assert "[at most 0; default: -300000]" in blueprint
    assert "no-tensorboard]" not in equipoise("train", "pog", "--help").out  # it is there if it is installed
