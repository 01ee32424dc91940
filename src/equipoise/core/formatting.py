# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sized
from typing import Any, Final

__all__ = [
    "brief_repr",
    "format_duration",
    "format_estimate",
    "format_optional",
    "format_small",
    "format_utility",
    "run_repr",
    "settings_repr",
    "shorten_text",
    "show_given",
]

MOST_ITEMS: Final = 4  # of a field that are shown one by one
MOST_LETTERS: Final = 60
MOST_LINE: Final = 150  # of all fields


def format_duration(seconds: float) -> str:
    """Returns a time as people read it.

    >>> format_duration(0.0000123), format_duration(0.0042), format_duration(0.9), format_duration(7.31)
    ('0.0123 ms', '4.2 ms', '900 ms', '7.3 s')
    >>> format_duration(754), format_duration(90061)
    ('12:34', '25:01:01')
    """
    if seconds < 0.9995:
        return f"{seconds * 1e3:.3g} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def format_small(value: float) -> str:
    """Returns a number that may be tiny with three digits.

    >>> format_small(0.000123456), format_small(0.25), format_small(0.0)
    ('1.23e-04', '0.25', '0')
    """
    if value == 0 or abs(value) >= 1e-3:
        return f"{value:.3g}"
    return f"{value:.2e}"


def format_utility(value: float) -> str:
    """Returns a value of a game with its sign.

    >>> format_utility(-1 / 18), format_utility(1.5e9)
    ('-0.055556', '+1.5e+09')
    """
    return f"{value:+.6f}" if abs(value) < 1e6 else f"{value:+.6g}"


def format_optional(value: float | None) -> str:
    """Returns a number that may be tiny, or that it is not known.

    >>> format_optional(0.25), format_optional(None)
    ('0.25', 'not known')
    """
    return "not known" if value is None else format_small(value)


def format_estimate(mean: float, standard_error: float) -> str:
    """Returns an estimate with its standard error.

    >>> format_estimate(0.6065, 0.0162)
    '+0.607 ± 0.016'
    """
    return f"{mean:+.3f} ± {standard_error:.3f}"


def shorten_text(text: str, most: int = 60) -> str:
    """Returns a text for a message, its end left out where it is long: ranges may fill pages.

    >>> shorten_text("22+, A2s+, K9s+", 8)
    '22+, A2s...'
    """
    return text if len(text) <= most else f"{text[:most]}..."


def show_given(value: Any) -> str:
    """Returns what somebody gave for a message, in one line and not much of it: arrays fill pages.

    >>> show_given("x"), show_given([[1, 2]] * 100)
    ("'x'", '[[1, 2], [1, 2], [1, 2], [1, 2], [1, 2], [1, 2], [1, 2], [1,...')
    """
    return shorten_text(" ".join(repr(value).split()))


def brief_repr(value: Any) -> str:
    """Returns a dataclass in a line: small fields as they are, arrays and long ones by their size, defaults left out.

    >>> @dataclasses.dataclass
    ... class Found:
    ...     player: int
    ...     names: tuple[str, ...]
    ...     share: float = 1.0
    ...     __repr__ = brief_repr
    >>> Found(1, ("a", "b")), Found(0, ("a",) * 9, 1 / 3)
    (<Found player=1, names=('a', 'b')>, <Found player=0, names=9 items, share=0.333333>)
    """
    shown = ", ".join(f"{name}={_brief(field)}" for name, field in _changed_fields(value))
    return f"<{type(value).__name__} {shorten_text(shown, MOST_LINE)}>"


def settings_repr(value: Any) -> str:
    """Returns settings as they would be typed: those that are not the defaults.

    >>> @dataclasses.dataclass
    ... class Settings:
    ...     iterations: int = 500
    ...     names: list[str] = dataclasses.field(default_factory=list)
    ...     __repr__ = settings_repr
    >>> Settings(), Settings(iterations=20)
    (Settings(), Settings(iterations=20))
    """
    shown = ", ".join(f"{name}={field!r}" for name, field in _changed_fields(value))
    return f"{type(value).__name__}({shorten_text(shown, MOST_LINE)})"


def run_repr(value: Any) -> str:
    """Returns something that iterates by its kind and by how far it is."""
    return f"<{type(value).__name__} after {value.iteration:,} iterations>"


def _changed_fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Yields the fields of a dataclass that are not as they are by default, with what they hold."""
    for field in dataclasses.fields(value):
        held, default = getattr(value, field.name), field.default
        if default is dataclasses.MISSING and field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        is_default = type(held) is type(default) and not hasattr(held, "shape") and held == default
        if field.repr and not is_default:
            yield field.name, held


def _brief(value: Any) -> str:
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if isinstance(shape, tuple) and dtype is not None:
        return f"{dtype}[{', '.join(map(str, shape))}]"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Sized) and not isinstance(value, str) and len(value) > MOST_ITEMS:
        return f"{len(value):,} items"
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return f"({', '.join(map(_brief, value))}{',' * (len(value) == 1)})"
    text = repr(value)
    return text if len(text) <= MOST_LETTERS else f"<{type(value).__name__}>"
