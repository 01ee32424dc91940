# SPDX-License-Identifier: Apache-2.0
"""The page of every command with its arguments and options, from the same source as `--help`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import typer
from markdown_cells import escape_cell, format_table

from equipoise.apps.cli import app

__all__ = ["format_commands"]

LEAD = """\
What `--help` says, all on one page. [The command line](cli.md) has what scripts rely on: exit codes, JSON keys, files.
"""


def format_commands() -> str:
    """Returns a section for each command: what it does, how it is called, what it takes."""
    lines = [LEAD]
    for words, command in _walk("equipoise", typer.main.get_command(app)):
        context = command.context_class(command, info_name=words)
        usage = " ".join(command.collect_usage_pieces(context))
        paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
        lines += [f"## `{words}`", "", "\n\n".join(map(escape_cell, paragraphs)), "", f"`{words} {usage}`", ""]
        records = [record for one in command.params if (record := one.get_help_record(context))]
        examples = [
            line.strip() for line in (command.epilog or "").splitlines() if line.strip().startswith("equipoise")
        ]
        if records:
            cells = [[escape_cell(f"`{names}`"), escape_cell(text)] for names, text in records]
            lines += [*format_table(["argument or option", "what it is"], cells), ""]
        if examples:
            lines += ["```sh", *examples, "```", ""]
    return "\n".join(lines)


def _walk(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yields every command and group with the words that name it."""
    yield words, command
    context = command.context_class(command, info_name=words)
    for name in getattr(command, "commands", {}):  # outlines, of which this loads what is behind them
        yield from _walk(f"{words} {name}", command.get_command(context, name))
