# SPDX-License-Identifier: Apache-2.0
"""The code of pages: blocks between fences, commands in the text, and how each is tried."""

import contextlib
import doctest
import functools
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import typer

from equipoise.apps.cli import app

ROOT = Path(__file__).parent.parent.parent
FENCE = re.compile(r"^ *```(\S*)[^\n]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"[Ss]ave (?:it|this)\s+as\s+`([^`]+)`:\s*\Z")
MENTION = re.compile(r"`(equipoise [^`]*)`")
SHELL_WORDS = {">", "|", "&&", ";"}  # behind which the shell's own business begins
INCOMPLETE = {"MissingParameter", "BadOptionUsage", "NoArgsIsHelpError"}  # what a mention may be, and a command may not


class Block(NamedTuple):
    language: str
    text: str
    line: int  # of the page, where its fence is
    file: str | None  # what the page says to save it as


def find_pages():
    """Returns every page that people read; those that the site's build writes are left out."""
    found = [*ROOT.glob("*.md"), *(ROOT / "benchmarks").glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    generated = (ROOT / "docs" / "results", ROOT / "docs" / "api")
    return sorted(str(path.relative_to(ROOT)) for path in found if path.parent not in generated)


def read_page(page):
    """Returns the text of a page by its path in the repository."""
    return (ROOT / page).read_text(encoding="utf8")


def find_blocks(text):
    """Returns the fenced blocks of a page in their order."""
    blocks = []
    for match in FENCE.finditer(text):
        named = FILE_NAME.search(text[: match.start()])
        line = text.count("\n", 0, match.start()) + 1
        blocks.append(Block(match[1], match[2], line, named[1] if named else None))
    return blocks


def find_commands(block):
    """Returns the command lines of a block, without their comments."""
    return [line.strip() for line in block.text.splitlines() if line.strip().startswith("equipoise ")]


def find_mentions(text):
    """Returns the command lines within the text of a page, as far as they are written out."""
    return [" ".join(words.split()) for words in MENTION.findall(FENCE.sub("", text)) if "COMMAND" not in words]


def run_python(block, page, namespace):
    """Runs a block: what has prompts is compared with what it prints, what has none is executed."""
    examples = doctest.DocTestParser().get_examples(block.text)
    if not examples:
        exec(compile(block.text, f"{page}:{block.line}", "exec"), namespace)
        return
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    test = doctest.DocTest(examples, namespace, page, page, block.line, None)
    runner.run(test, out=said.append, clear_globs=False)
    namespace.update(test.globs)
    assert not runner.failures, "".join(said)


def split_command(line):
    """Returns the words of a command line that are for `equipoise`."""
    words = shlex.split(line, comments=True)[1:]
    end = next((index for index, word in enumerate(words) if word in SHELL_WORDS), None)
    return words[:end]


def complain(line):
    """Returns what kind of error the command line has for a line, None for one that it would run; runs nothing."""
    command, context, path, words = _program(), None, "equipoise", split_command(line)
    if words in (["--install-completion"], ["--show-completion"]):  # they act when they are read
        return None if any(words[0] in option.opts for option in command.params) else "NoSuchOption"
    try:
        with contextlib.suppress(typer.Exit):  # --version has said it all
            while words and hasattr(command, "commands"):
                context = command.make_context(path, words, parent=context)
                rest = [*context._protected_args, *context.args]
                if not rest:  # an option of a group that needs no command
                    return None
                path, command, words = command.resolve_command(context, rest)
            command.make_context(path, words, parent=context)
    except Exception as error:
        return type(error).__name__
    return None


@functools.cache
def _program():
    return typer.main.get_command(app)
