# SPDX-License-Identifier: Apache-2.0
"""Strategies as rows that people and other programs write: a line an action, checked against the game.

Everything that does not fit is said at once. Which tree or table the numbers end in is the business of
`TabularStrategy`.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.checks import check_path
from equipoise.core.errors import ConfigError, ParseError
from equipoise.core.files import StrPath, describe_os_error
from equipoise.core.formatting import show_given

__all__ = ["COLUMNS", "Row", "fill_probabilities", "format_csv", "read_csv", "read_dict", "read_frame"]

COLUMNS: Final = ("player", "infostate", "action", "probability")
TOLERANCE: Final = 1e-6  # by which written probabilities may miss 1; they are scaled to it
EXACT: Final = 1e-9  # nearer to 1 they stay as they are
MOST_SAID: Final = 5  # problems of one table that are spelt out

FloatArray = npt.NDArray[np.float64]
Labels = Sequence[tuple[int, str, Sequence[str]]]  # player, information state and its actions, in a tree's order


class Row(NamedTuple):
    """What a player does at an information state, one action of it."""

    player: int
    infostate: str
    action: str
    probability: float


def format_csv(rows: Iterable[Row]) -> str:
    """Returns rows as CSV with a line of names; `read_csv` reads the same numbers back, to the bit."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((row.player, row.infostate, row.action, repr(row.probability)) for row in rows)
    return buffer.getvalue()


def read_csv(path: StrPath) -> list[Row]:
    """Returns the rows of a CSV file; columns may stand in any order, and others beside them."""
    check_path(path)
    if "\0" in str(path):
        raise ConfigError(f"cannot read {str(path)!r}: embedded null byte")
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restval="")
            _check_columns(f"{path}", reader.fieldnames or ())
            return [_parse_row(f"{path} line {reader.line_num}", line) for line in reader]
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {describe_os_error(error)}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ParseError(f"{path} is not a table of text: {error}") from None


def read_dict(table: Mapping[Any, Mapping[str, Mapping[str, float]]]) -> list[Row]:
    """Returns the rows of `{player: {infostate: {action: probability}}}`."""
    if not isinstance(table, Mapping):
        raise ConfigError(
            f"a strategy is written {{player: {{infostate: {{action: probability}}}}}}, got {show_given(table)}"
        )
    rows = []
    for player, infostates in table.items():
        if not isinstance(infostates, Mapping) or not all(isinstance(one, Mapping) for one in infostates.values()):
            raise ConfigError(
                "a strategy is written {player: {infostate: {action: probability}}}, "
                f"got {type(infostates).__name__} at {player!r}"
            )
        for infostate, actions in infostates.items():
            for action, probability in actions.items():
                values = dict(zip(COLUMNS, (player, infostate, action, probability), strict=True))
                rows.append(_parse_row(f"{player}, {infostate!r}", values))
    return rows


def read_frame(frame: Any) -> list[Row]:
    """Returns the rows of a data frame of pandas or polars, or of anything else with columns by name."""
    if not hasattr(frame, "columns"):
        raise ConfigError(f"a frame has the columns {', '.join(COLUMNS)}, got {show_given(frame)}")
    _check_columns("the frame", list(frame.columns))
    columns = zip(*(list(frame[name]) for name in COLUMNS), strict=True)
    return [
        _parse_row(f"row {index} of the frame", dict(zip(COLUMNS, values, strict=True)))
        for index, values in enumerate(columns)
    ]


def fill_probabilities(rows: Iterable[Row], labels: Labels, *, label: str, is_partial: bool) -> FloatArray:
    """Returns `[E]` the probability of every action of a tree's information states.

    Args:
        rows: in any order; actions that are left out have probability 0.
        labels: of the tree.
        label: of the game, for messages.
        is_partial: whether information states that are left out are played uniformly; an error else.
    """
    written: dict[tuple[int, str], dict[str, float]] = {}
    problems: list[str] = []
    for row in rows:
        actions = written.setdefault((row.player, row.infostate), {})
        if row.action in actions:
            problems.append(f"{_name(row)} has {row.action!r} twice")
        actions[row.action] = row.probability
    problems += _find_problems(written, labels, is_partial=is_partial)
    if problems:
        more = len(problems) - MOST_SAID
        beyond = f"; and {more:,} more" if more > 0 else ""
        raise ConfigError(f"the strategy does not fit {label}: {'; '.join(problems[:MOST_SAID])}{beyond}")
    out: list[float] = []
    for player, infostate, names in labels:
        shares = written.get((player, infostate))
        out += _scale([1.0] * len(names) if shares is None else [shares.get(name, 0.0) for name in names])
    return np.array(out)


def _find_problems(
    written: Mapping[tuple[int, str], Mapping[str, float]], labels: Labels, *, is_partial: bool
) -> Iterator[str]:
    """Yields what is wrong with a table, in the order of the table; then what it lacks."""
    known = {(player, infostate): names for player, infostate, names in labels}
    for place, shares in written.items():
        if place not in known:
            owners = [player for player, infostate in known if infostate == place[1]]
            other = f", but player {owners[0]} has it" if owners else ""
            yield f"there is no information state {place[1]!r} of player {place[0]}{other}"
            continue
        for action in shares:
            if action not in known[place]:
                yield f"{_name(place)} has no action {action!r}, it has {', '.join(known[place])}"
        wrong = [value for value in shares.values() if not 0 <= value < math.inf]
        if wrong:
            yield f"probabilities at {_name(place)} must be at least 0 and finite, got {wrong[0]}"
        elif abs((total := sum(shares.values())) - 1) > TOLERANCE:
            yield f"probabilities at {_name(place)} must sum to 1, got {total:.9g}"
    if not is_partial:
        for place in known:
            if place not in written:
                yield f"nothing is said of {_name(place)}"


def _name(place: Sequence[Any]) -> str:
    return f"{place[1]!r} of player {place[0]}"


def _scale(values: list[float]) -> list[float]:
    """Returns numbers that sum to 1; those that do stay as they are."""
    total = math.fsum(values)
    return values if abs(total - 1) <= EXACT else [value / total for value in values]


def _check_columns(what: str, names: Sequence[str]) -> None:
    if missing := [name for name in COLUMNS if name not in names]:
        raise ParseError(f"{what} must have the columns {', '.join(COLUMNS)}; it lacks {', '.join(missing)}")


def _parse_row(where: str, values: Mapping[str, Any]) -> Row:
    """Returns one row from texts or numbers."""
    try:
        player = int(values["player"])
        if player != float(values["player"]):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise ParseError(f"{where}: player must be a whole number from 0, got {values['player']!r}") from None
    try:
        probability = float(values["probability"])
    except (TypeError, ValueError):
        raise ParseError(f"{where}: probability must be a number, got {values['probability']!r}") from None
    return Row(player, _as_text(values["infostate"]), _as_text(values["action"]), probability)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""  # what pandas reads from an empty cell is not a number
