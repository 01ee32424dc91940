# SPDX-License-Identifier: Apache-2.0
"""Help: what a command does, its options by panel, examples; of a group its commands. No terminal is too narrow."""

from __future__ import annotations

import enum
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from rich.console import Console
from rich.panel import Panel
from rich.text import Text
from typer.core import TyperArgument, TyperCommand, TyperGroup

from equipoise.apps.usage import spell_options
from equipoise.core.errors import EquipoiseError

__all__ = ["HelpfulCommand", "HelpfulGroup", "format_examples"]

EXAMPLES: Final = "Examples:"  # the first paragraph of an epilog; each other one is an example
ARGUMENTS, OPTIONS, COMMANDS = "Arguments", "Options", "Commands"
WIDEST: Final = 100  # letters in a line
MOST_NAMED: Final = 26  # letters of a name that has its help beside it
LEAST_BESIDE: Final = 60  # letters in a line, below which help stands under every name
WORD: Final = re.compile(r"(?:'[^']*'|\S)+")  # of a command; what is quoted stays together
MARGIN: Final = 6  # letters that a line of an example leaves free
FRAME: Final = 4  # letters that a panel takes
VALUES: Final = {"int": "N", "int range": "N", "float": "X", "float range": "X", "path": "PATH", "str": "TEXT"}


def format_examples(examples: Iterable[str]) -> str | None:
    """Returns examples as typer wants them below a command's help, None without any."""
    lines = [f"  {example}" for example in examples]
    return "\n\n".join([EXAMPLES, *lines]) if lines else None


class HelpfulCommand(TyperCommand):
    """A command with help of our own: typer's cuts what is longer than its columns."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command; errors that it raises name its options as they are typed."""
        try:
            return super().invoke(ctx)
        except EquipoiseError as error:
            error.args = (spell_options(str(error), self.params), *error.args[1:])
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Returns the words of the usage line that follow the name: options, then arguments in capitals."""
        arguments = [param for param in self.get_params(ctx) if isinstance(param, TyperArgument) and not param.hidden]
        return ["[OPTIONS]", *(_name_argument(param) for param in arguments)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Prints the help."""
        _print_page(self, ctx, _find_panels(self, ctx))


class HelpfulGroup(TyperGroup):
    """A group of commands with the same help, and its commands below."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Prints the help."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            title = getattr(command, "rich_help_panel", None) or COMMANDS
            panels.setdefault(title, []).append((name, next(iter(_list_paragraphs(command.help)), "")))
        _print_page(self, ctx, [*_find_panels(self, ctx), *panels.items()])


def _print_page(command: Any, ctx: Any, panels: Iterable[tuple[str, Sequence[tuple[str, str]]]]) -> None:
    """Prints usage, what a command does, panels of names with what is said of each, and examples."""
    console = Console(highlight=False, markup=False, emoji=False)
    console.width = min(console.width, WIDEST)
    width = console.width - FRAME
    usage = f"Usage: {ctx.command_path} {' '.join(command.collect_usage_pieces(ctx))}"
    console.print(Text(f"\n{_wrap(usage, width)}", style="bold"))
    for paragraph in _list_paragraphs(command.help):
        console.print(Text(f"\n{_wrap(paragraph, width)}"))
    console.print()
    for title, rows in panels:
        console.print(Panel(_lay_out(rows, width), title=title, title_align="left", border_style="dim"))
    if command.epilog:
        head, *examples = command.epilog.split("\n\n")
        shown = [line for example in examples for line in _wrap_command(example.strip(), width)]
        # no letter behind a line: a backslash is to be the last one
        console.print(Text("\n".join(["", f" {head}", *shown])), soft_wrap=True)
    console.print()


def _list_paragraphs(text: str | None) -> list[str]:
    """Returns the paragraphs of a command's help, each in one line."""
    shown = inspect.cleandoc(text or "").partition("\f")[0]
    return [" ".join(paragraph.split()) for paragraph in shown.split("\n\n")]


def _find_panels(command: Any, ctx: Any) -> list[tuple[str, list[tuple[str, str]]]]:
    """Returns by title what is listed, arguments first, then the panel of whatever is in no other."""
    found: dict[str, list[tuple[str, str]]] = {ARGUMENTS: [], OPTIONS: []}
    for param in command.get_params(ctx):
        if getattr(param, "hidden", False):
            continue
        usual = ARGUMENTS if isinstance(param, TyperArgument) else OPTIONS
        title = getattr(param, "rich_help_panel", None) or usual
        found.setdefault(title, []).append(_describe_parameter(param, ctx))
    return [(title, rows) for title, rows in found.items() if rows]


def _lay_out(rows: Sequence[tuple[str, str]], width: int) -> Text:
    """Returns names with what is said of each beside them, or below where there is no room."""
    beside = max((len(name) for name, _ in rows if len(name) <= MOST_NAMED), default=0) + 2
    is_narrow = width + FRAME < LEAST_BESIDE
    if is_narrow:
        beside = 2
    page = Text()
    for name, said in rows:
        lines = textwrap.wrap(said, width - beside, break_on_hyphens=False) or [""]
        is_above = is_narrow or len(name) + 2 > beside
        names = textwrap.wrap(name, width, break_on_hyphens=False) if is_above else []
        for line in names:
            page.append(f"{line}\n", style="bold")
        for place, line in enumerate(lines):
            shown = "" if is_above or place else name
            page.append(f"{shown:<{beside}}", style="bold").append(f"{line}\n")
    page.rstrip()
    return page


def _wrap(text: str, width: int) -> str:
    """Returns text over as many lines as it takes, a letter from the edge."""
    return textwrap.fill(text, width, initial_indent=" ", subsequent_indent=" ", break_on_hyphens=False)


def _wrap_command(command: str, width: int) -> Iterator[str]:
    """Yields a command over as many lines as it takes, each but the last with a backslash, so that it can be copied."""
    lines = [""]
    for word in WORD.findall(command):
        if lines[-1] and len(lines[-1]) + len(word) > width - MARGIN:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    for place, line in enumerate(lines):
        yield ("  " if place == 0 else "    ") + line + (" \\" if place < len(lines) - 1 else "")


def _describe_parameter(param: Any, ctx: Any) -> tuple[str, str]:
    """Returns how an argument or an option is typed, and what is said of it."""
    said = " ".join((param.help or "").split())
    if isinstance(param, TyperArgument):
        return _name_argument(param).strip("[]"), said
    names = " | ".join([", ".join(sorted(param.opts, key=len, reverse=True)), *param.secondary_opts])
    value = "" if getattr(param, "is_flag", False) else f" {_name_value(param, ctx)}"
    notes = _list_notes(param)
    return names + value, f"{said} [{'; '.join(notes)}]" if notes else said


def _name_argument(param: Any) -> str:
    name = param.metavar or str(param.name).upper()
    many = "..." if param.nargs != 1 and not name.endswith("...") else ""
    return f"{name}{many}" if param.required else f"[{name}{many}]"


def _name_value(param: Any, ctx: Any) -> str:
    """Returns what stands for an option's value: a letter for numbers, choices as they are typed."""
    if param.metavar:
        return str(param.metavar)
    kind = str(param.display_type(ctx)).strip("<>")
    return VALUES.get(kind, kind)


def _list_notes(param: Any) -> list[str]:
    """Returns whether an option is required, up to where it goes, and what it is if nobody says."""
    notes = ["required"] if param.required else []
    least, most = getattr(param, "min", None), getattr(param, "max", None)
    if most is not None:
        notes.append(f"at most {most}" if least is None else f"{least} to {most}")
    given = param.default() if callable(param.default) else param.default
    if getattr(param, "is_flag", False):
        if param.secondary_opts and given is not None and param.show_default:
            notes.append(f"default: {param.opts[0] if given else param.secondary_opts[0]}")
    elif given is not None and param.show_default and not (isinstance(given, (list, tuple)) and not given):
        notes.append(f"default: {_plain(given)}")
    return notes


def _plain(value: Any) -> Any:
    """Returns a value as it is typed."""
    if isinstance(value, enum.Enum):
        return value.value
    return ", ".join(str(_plain(one)) for one in value) if isinstance(value, (list, tuple)) else value
