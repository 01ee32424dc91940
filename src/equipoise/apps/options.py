# SPDX-License-Identifier: Apache-2.0
"""Commands from dataclasses: each field with its `typer` annotation is one argument or option."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from equipoise.core.errors import ConfigError

__all__ = ["make_command"]


class DataclassType(Protocol):
    """What `make_command` asks of an options class."""

    __dataclass_fields__: typing.ClassVar[dict[str, Any]]


Options = TypeVar("Options", bound=DataclassType)


def make_command(options_class: type[Options], run: Callable[[Options], None]) -> Callable[..., None]:
    """Returns a function that typer reads as a command: it fills `options_class` and calls `run`.

    Args:
        options_class: a dataclass whose fields are `Annotated` with `typer.Argument` or `typer.Option`.
        run: what the command does.
    """

    def command(**values: Any) -> None:
        run(options_class(**{name: _expand(value) for name, value in values.items()}))

    hints = typing.get_type_hints(options_class, include_extras=True)
    parameters = [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(options_class).parameters.items()
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # how inspect is told
    command.__annotations__ = {name: hints[name] for name in hints}
    command.__doc__ = run.__doc__
    command.__name__ = run.__name__
    return command


def _expand(value: Any) -> Any:
    """Returns a path with the home directory for ~, which shells leave alone in --out=~/FILE; else the value."""
    if not isinstance(value, Path):
        return value
    try:
        return value.expanduser()
    except RuntimeError as error:
        raise ConfigError(f"cannot find the home directory of {str(value)!r}: {error}") from None
