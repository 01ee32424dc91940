# SPDX-License-Identifier: Apache-2.0
"""What is asked of a run, as it would be typed, and the game or the spot that it is about."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from equipoise.abstraction.solutions import is_spot_text
from equipoise.core.checks import check_flag, check_number, check_path, check_text
from equipoise.core.errors import ConfigError, EquipoiseError, ParseError, UnknownNameError
from equipoise.core.files import StrPath, describe_os_error
from equipoise.core.formatting import settings_repr, show_given
from equipoise.games.base import Game
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.spot import HoldemSpot, parse_endgame
from equipoise.games.holdem.spot_file import SpotFile, check_locks, parse_spot
from equipoise.games.holdem.spot_file import load_spot as load_spot_file
from equipoise.games.registry import parse_game_options
from equipoise.kernels.calls import check_integer, check_num_threads
from equipoise.solvers.baselines import BaselineKey
from equipoise.solvers.driver import MOST_ITERATIONS
from equipoise.solvers.methods import ALTERNATING, SIMULTANEOUS, find_method
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.stopping import Form
from equipoise.trees.history import DEFAULT_MAX_HISTORIES

__all__ = ["BEST", "LAST", "RunRequest", "Subject", "choose_spot_menu", "find_named_game", "find_subject", "load_spot"]

Subject = Game[Any] | SpotFile
LAST: Final = "last"  # what a run keeps: the profile of its last iteration
BEST: Final = "best"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What is asked of a run; None: what the saved run or the spot's file says, else the default.

    >>> RunRequest(rule="cfr+", target="1e-3").parse_target()
    0.001
    """

    rule: str | None = None
    method: str | None = None
    form: str | None = None
    prune: str | None = None
    updates: str | None = None
    baseline: str | None = None
    traversals: int | None = None
    against: str | None = None
    updates_per_response: int | None = None
    seat: int | None = None
    merge: str | None = None
    seed: int | None = None
    num_threads: int | None = None
    precision: str | None = None  # of a spot's tables
    keep: str | None = None  # of a game: last, or best, the evaluation with the lowest exploitability
    iterations: int | None = None
    target: str | float | None = None  # of a game in its unit of utility; of a spot in chips, as in 0.5% or 20mbb
    seconds: float | None = None
    has_warm_start: bool = False  # a strategy to begin from is named as well
    max_histories: int = DEFAULT_MAX_HISTORIES

    __repr__ = settings_repr

    @classmethod
    def restore(cls, kept: Mapping[str, Any]) -> RunRequest:
        """Returns the request that a run's folder keeps, also one written when a setting had another name."""
        settings = {name: value for name, value in kept.items() if value is not None}
        if "threads" in settings:  # the name of num_threads in older folders
            settings.setdefault("num_threads", settings.pop("threads"))
        return cls(**settings)

    def __post_init__(self) -> None:
        for name in ("rule", "method", "form", "prune", "updates", "baseline", "against", "merge", "precision"):
            if getattr(self, name) is not None:
                check_text(name, getattr(self, name))
                self._check_says_something(name)
        if self.updates not in (None, ALTERNATING, SIMULTANEOUS):
            raise ConfigError(f"updates must be {ALTERNATING} or {SIMULTANEOUS}, got {self.updates!r}")
        if self.keep not in (None, LAST, BEST):
            raise ConfigError(f"keep must be {LAST} or {BEST}, got {self.keep!r}")
        if self.form is not None and self.form not in set(Form):
            raise ConfigError(f"form must be {', '.join(Form)}, got {self.form!r}")
        if self.baseline is not None and self.baseline not in set(BaselineKey):
            raise UnknownNameError("baseline", self.baseline, BaselineKey)
        self._check_numbers()

    def _check_says_something(self, name: str) -> None:
        """Raises unless a text is not empty; where there are names to choose from, they are said."""
        if getattr(self, name).strip():
            return
        if name == "rule":
            parse_rule("")
        if name == "method":
            find_method("")
        raise ConfigError(f"{name} must say something, got {getattr(self, name)!r}")

    def _check_numbers(self) -> None:
        check_integer("max_histories", self.max_histories, 1)
        for name, most in (("iterations", MOST_ITERATIONS), ("updates_per_response", None), ("traversals", None)):
            value = getattr(self, name)
            if value is not None and (most is None or not isinstance(value, int) or value <= most):
                check_integer(name, value, 1)  # of too many iterations the driver speaks
        if self.seat is not None:
            check_integer("seat", self.seat, 0)
        if self.seconds is not None:
            check_number("seconds", self.seconds)
        if isinstance(self.target, bool):
            raise ConfigError(f"target must be a number or a text such as '0.5%', got {self.target}")
        check_flag("has_warm_start", self.has_warm_start)
        if self.seed is not None:
            check_integer("seed", self.seed, 0)
        if self.num_threads is not None:
            check_num_threads(self.num_threads)

    def parse_target(self) -> float | None:
        """Returns the target in a game's unit of utility."""
        if self.target is None:
            return None
        try:
            target = float(self.target)
        except (TypeError, ValueError):
            raise ConfigError(
                f"target of a game must be a number such as 1e-4, got {show_given(self.target)}"
            ) from None
        if not 0 <= target < math.inf:
            raise ConfigError(f"target must be at least 0 and finite, got {target}")
        return target


def find_subject(
    name: str | None, *, parameters: Iterable[str] = (), endgame: StrPath | None = None, menu: str | None = None
) -> Subject:
    """Returns the game or the spot that is asked for.

    Args:
        name: a game as registered, or the file of a spot.
        parameters: of a game, `key=value`.
        endgame: a spot in the public format of the Libratus endgames, in place of a name.
        menu: bets of a spot, in place of its file's.
    """
    if endgame is None and (name is None or not is_spot_text(name)):
        if name is None:
            raise ConfigError("name a game that `equipoise games` lists, a spot such as spot.toml, or `endgame` FILE")
        if menu is not None:
            raise ConfigError(f"`menu` is for hold'em spots, and {name} is a game")
        if name.endswith(".eq"):
            raise ConfigError(f"{name} is a file with a result: name the game or the spot that it is of")
        try:
            return parse_game_options(name, parameters)
        except UnknownNameError as error:
            if not name or not Path(name).exists():
                raise
            raise ConfigError(f"{error.args[0]}; there is a file {name}, but files of spots end in .toml") from None
    if list(parameters):
        raise ConfigError("parameters are for games; a spot has none")
    if endgame is not None and name is not None:
        raise ConfigError(f"give one spot: {name} or `endgame` {endgame}")
    try:
        if endgame is None:
            assert name is not None
            file = load_spot_file(name)
        else:
            file = SpotFile(spot=parse_endgame(_read_endgame(Path(endgame))))
        file = choose_spot_menu(file, menu)
    except EquipoiseError as error:
        message, given = str(error), str(endgame or name)
        is_named = message.startswith((f"cannot read {given}:", f"{given} "))
        raise ParseError(message if is_named else f"{given}: {message}") from None
    return file


def choose_spot_menu(file: SpotFile, menu: str | None) -> SpotFile:
    """Returns a spot with the bets that are asked for, if any are."""
    if menu is None:
        return file
    spot = dataclasses.replace(file.spot, menu=parse_menu(menu))
    changed = dataclasses.replace(file, spot=spot, chooses_menu=False)
    check_locks(changed)
    return changed


def find_named_game(name: str | None, parameters: Iterable[str] | None) -> Game[Any] | None:
    """Returns the game that `--game` and `-p` name, None where they do not."""
    if name is not None:
        return parse_game_options(name, parameters or [])
    if parameters:
        raise ConfigError("parameters are for the game that `game` names, and none is named")
    return None


def load_spot(what: StrPath | HoldemSpot) -> SpotFile:
    r"""Returns a spot from its file, or from the text of one.

    >>> load_spot("board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nranges = {oop = 'AA', ip = 'KK'}").spot.root_pot
    20
    """
    if isinstance(what, HoldemSpot):
        return SpotFile(spot=what)
    check_path(what)
    if isinstance(what, str) and ("\n" in what or "=" in what):
        return parse_spot(what)
    subject = find_subject(str(what)) if is_spot_text(str(what)) else load_spot_file(what)
    assert isinstance(subject, SpotFile)
    return subject


def _read_endgame(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError as error:
        raise ParseError(f"cannot be read: {describe_os_error(error)}") from None
    except UnicodeDecodeError:
        raise ParseError("is not text") from None
