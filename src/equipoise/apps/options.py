# SPDX-License-Identifier: Apache-2.0
"""Commands from dataclasses: each field with its `typer` annotation is one argument or option."""

from __future__ import annotations

import copy
import inspect
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Protocol, TypeVar

import typer

from equipoise.apps.usage import say_missing
from equipoise.core.errors import ConfigError

__all__ = ["make_command"]

ALIAS_SUFFIX: Final = "_alias"  # of parameters


class DataclassType(Protocol):
    """What `make_command` asks of an options class."""

    __dataclass_fields__: typing.ClassVar[dict[str, Any]]


Options = TypeVar("Options", bound=DataclassType)


def make_command(options_class: type[Options], run: Callable[[Options], None]) -> Callable[..., None]:
    """Returns a function that typer reads as a command: it fills `options_class` and calls `run`.

    Args:
        options_class: a dataclass whose fields are `Annotated` with `typer.Argument` or `typer.Option`. Two class
            variables may say more: `panels` which fields help lists under which heading, in its order, and `aliases`
            by which other names, which help does not list, an option goes.
        run: what the command does.
    """
    aliases: Mapping[str, tuple[str, ...]] = getattr(options_class, "aliases", {})
    panels: Mapping[str, tuple[str, ...]] = getattr(options_class, "panels", {})
    known = inspect.signature(options_class).parameters

    def command(**values: Any) -> None:
        given = {name: _expand(value) for name, value in values.items()}
        for name, spellings in aliases.items():
            found = [given.pop(_alias_name(name, place)) for place in range(len(spellings))]
            given[name] = next((value for value in (*found, given[name]) if value is not None), None)
            if given[name] is None and known[name].default is inspect.Parameter.empty:
                raise typer.BadParameter(say_missing(f"--{name}", hints[name].__metadata__[0].help))
        run(options_class(**given))

    hints = typing.get_type_hints(options_class, include_extras=True)
    for panel, names in panels.items():
        for name in names:
            hints[name] = _put_into_panel(hints[name], panel)
    for name, spellings in aliases.items():
        for place, spelling in enumerate(spellings):
            hints[_alias_name(name, place)] = _name_otherwise(hints[name], spelling)
        hints[name] = Annotated[hints[name].__origin__ | None, hints[name].__metadata__[0]]
    listed = [name for names in panels.values() for name in names]
    ordered = [*(name for name in known if name not in listed), *listed]
    parameters = [known[name].replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name]) for name in ordered]
    parameters = [
        one.replace(default=None) if one.name in aliases and one.default is inspect.Parameter.empty else one
        for one in parameters
    ]
    for name in hints:
        if name not in known and name.endswith(ALIAS_SUFFIX):
            hidden = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hints[name])
            parameters.append(hidden)
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # how inspect is told
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__doc__ = run.__doc__
    command.__name__ = run.__name__
    return command


def _alias_name(name: str, place: int) -> str:
    return f"{name}_{place}{ALIAS_SUFFIX}"


def _name_otherwise(hint: Any, spelling: str) -> Any:
    """Returns the annotation of another name of an option, which help does not list."""
    option = copy.copy(hint.__metadata__[0])
    option.param_decls, option.hidden = (spelling,), True
    return Annotated[hint.__origin__ | None, option]


def _put_into_panel(hint: Any, panel: str) -> Any:
    """Returns an annotation whose option help lists under a heading."""
    option = copy.copy(hint.__metadata__[0])
    option.rich_help_panel = panel
    return Annotated[hint.__origin__, option]


def _expand(value: Any) -> Any:
    """Returns a path with the home directory for ~, which shells leave alone in --out=~/FILE; else the value."""
    if not isinstance(value, Path):
        return value
    try:
        return value.expanduser()
    except RuntimeError as error:
        raise ConfigError(f"cannot find the home directory of {str(value)!r}: {error}") from None
