# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a command line, in one line: typer's own words are many, in a frame, and name no value.

Errors from below name what they are told by its name in Python, as in `max_histories`: here it becomes an option.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import typer

__all__ = ["USAGE_ERROR", "describe_usage_error", "is_call_for_help", "say_missing", "spell_options"]

USAGE_ERROR: Final[Any] = typer.BadParameter.__base__  # the class of all of them, which typer does not export
POSSIBLE: Final = re.compile(r" \(Possible options: (.*)\)$")
NAMED: Final = re.compile(r"`(?:num_)?([a-z_]+)`")  # a parameter of Python's in a message
MOST_MEANT: Final = 80  # letters of help in a message
EXPECTED: Final[Mapping[str, str]] = {  # by what typer's choice of a checker calls a problem
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "finite_number": "a number",
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
}


def describe_usage_error(error: Any) -> str:
    """Returns what was wrong, what was given, what was expected, and where the command's help is."""
    context = error.ctx
    said = _describe_value(error) or _describe_missing(error) or _soften(error.format_message())
    return said if context is None else f"{said}; see `{context.command_path} {context.help_option_names[-1]}`"


def spell_options(message: str, params: Iterable[Any]) -> str:
    """Returns a message in which parameters that a command takes are named as they are typed.

    >>> class Option:
    ...     name, opts, param_type_name = "max_histories", ["--max-histories"], "option"
    >>> spell_options("`max_histories` is for games, see `solve`", [Option()])
    '--max-histories is for games, see `solve`'
    """
    spelt = {param.name: _name(param) for param in params}
    return NAMED.sub(lambda found: spelt.get(found[1], found[0]), message)


def is_call_for_help(error: Any) -> bool:
    """Returns whether nothing is wrong: a group of commands was named alone, and its help is what it says."""
    return type(error).__name__ == "NoArgsIsHelpError"


def _describe_value(error: Any) -> str | None:
    """Returns which value an option or an argument cannot take, None where the problem is another one."""
    problems: list[dict[str, Any]] = getattr(error.__cause__, "errors", list)()
    if not problems or getattr(error, "param", None) is None:
        return None
    kind, given = problems[0].get("type", ""), problems[0].get("input")
    if kind not in EXPECTED:
        return None
    return f"{_name(error.param)} must be {EXPECTED[kind].format(**problems[0].get('ctx', {}))}, got {str(given)!r}"


def _describe_missing(error: Any) -> str | None:
    """Returns which option or argument is required and was not given, None where the problem is another one."""
    param = getattr(error, "param", None)
    if param is None or not type(error).__name__.startswith("Missing"):
        return None
    return say_missing(_name(param), getattr(param, "help", None))


def say_missing(name: str, said: str | None) -> str:
    """Returns that something is missing, and what it is if its help says so in a few words.

    >>> say_missing("--line", "The public state, as `show` writes it; of a spot a line of play.")
    '--line is missing: the public state, as `show` writes it; of a spot a line of play'
    """
    meant = " ".join((said or "").split()).rstrip(".")
    if len(meant) > MOST_MEANT:
        meant = re.split("[:;]", meant)[0]  # what it is, without all that it may be
    return f"{name} is missing" + (f": {meant[:1].lower()}{meant[1:]}" if 0 < len(meant) <= MOST_MEANT else "")


def _name(param: Any) -> str:
    """Returns a parameter as help writes it."""
    if param.param_type_name == "argument":
        return str(param.metavar or param.name.upper()).strip("[]").removesuffix("...")
    return str(max(param.opts, key=len))


def _soften(message: str) -> str:
    """Returns a message of typer's as ours begin and end."""
    said = " ".join(message.replace("Invalid value: ", "").replace("Value error, ", "").split()).rstrip(".")
    said = said.replace(". Did you mean", "; did you mean").replace("argument(s)", "words")
    said = POSSIBLE.sub(r"; did you mean \1?", said)
    return said[:1].lower() + said[1:]
