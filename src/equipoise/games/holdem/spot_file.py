# SPDX-License-Identifier: Apache-2.0
"""Spots as TOML files: what is on the table, who may hold what, which bets there are, and how far to solve.

What a file says of the solver (rule, precision) stays text here; whoever solves knows what there is.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from equipoise.core.errors import ConfigError, ParseError, UnknownNameError
from equipoise.core.files import StrPath
from equipoise.games.holdem.amounts import DEFAULT_BIG_BLIND, cut_chips, scale_menu
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.betting_tree import betting_tree
from equipoise.games.holdem.cards import FULL_DECK, Deck, format_board, format_deck, parse_board, parse_deck
from equipoise.games.holdem.line_notation import find_action, parse_decision
from equipoise.games.holdem.menu_notation import MENUS, SETTINGS, STREETS, format_menu, parse_menu
from equipoise.games.holdem.menus import POSITIONS, Menu
from equipoise.games.holdem.ranges import Range, check_ranges, format_range, parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.targets import Target, TargetUnit, format_target, parse_target

__all__ = [
    "SpotFile",
    "SpotLock",
    "check_locks",
    "format_locks",
    "format_spot",
    "load_spot",
    "parse_spot",
    "parse_spot_table",
    "read_label",
]

RANGE_NAMES: Final = (("oop", "ip"), ("first", "second"))  # of the player who acts first, and of the other
NEEDED: Final = ("board", "pot", "stacks", "ranges")
NEEDED_BEFORE_THE_FLOP: Final = ("stacks",)
LAST_STREETS: Final = {street.name.lower(): street for street in Street if street is not Street.PREFLOP}
BETTING_FIELDS: Final = ("big_blind", "small_blind", "ante", "bet_sizes", "max_raises", "last_street")
MOST_CHIPS: Final = 10**12  # of a pot or a stack: tables of 32 bits tell no more apart
LONGEST_LABEL: Final = 80
SIZES, DONK, CAP = "sizes", "donk", "cap"  # of a menu's table


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SpotLock:
    """A decision at which some hands play what is given."""

    line: str  # where, as `line_notation` reads it
    play: Mapping[str, float]  # how often each action is taken, in sum 1; actions not named never
    hands: str = "random"  # in the notation of ranges


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SpotFile:
    r"""A spot and what is asked of its solver; None: not said.

    >>> from equipoise.runs import load_spot
    >>> text = "board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\ntarget = '1%'\nranges = {oop = 'AA', ip = 'KK'}"
    >>> file = load_spot(text)
    >>> file.target.amount, file.spot.stacks
    (1.0, (30, 30))
    """

    spot: HoldemSpot
    rule: str | None = None
    precision: str | None = None
    target: Target | None = None
    iterations: int | None = None
    seconds: float | None = None
    threads: int | None = None
    locks: tuple[SpotLock, ...] = ()
    title: str | None = None  # for people
    seats: tuple[str, str] | None = None  # what the players out of position and in position are called
    # no menu was said: who solves it may take another than the spot's
    chooses_menu: bool = dataclasses.field(default=False, compare=False)

    @property
    def seat_names(self) -> tuple[str, str]:
        """Returns what both players are called, by their positions if the file does not say."""
        return self.seats or (POSITIONS[0], POSITIONS[1])

    @property
    def name(self) -> str:
        """Returns the title, if there is one, with the street and the board."""
        return f"{self.title} ({self.spot.name})" if self.title else self.spot.name

    def __repr__(self) -> str:
        given = {name: getattr(self, name) for name in ("rule", "precision", "iterations", "seconds", "threads")}
        given["target"] = None if self.target is None else format_target(self.target)
        said = [f"{name} {value}" for name, value in given.items() if value is not None]
        said += [f"{len(self.locks)} locks"] if self.locks else []
        return f"<SpotFile of {', '.join([repr(self.spot)[1:-1], *said])}>"

    def _repr_html_(self) -> str:
        return self.spot.as_html(repr(self))


def load_spot(path: StrPath) -> SpotFile:
    """Returns the spot in a file; ranges that it keeps in files of their own are looked for beside it."""
    place = Path(path)
    return parse_spot(_read_text(place), folder=place.parent)


def parse_spot(text: str, *, folder: Path | None = None) -> SpotFile:
    """Returns the spot that a TOML text describes; every error names its field, what it has and what it should be.

    Args:
        text: see docs/spots.md.
        folder: where ranges given as `{file = "..."}` are; None: such ranges are refused.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ParseError(f"the spot is not TOML: {error}; is the file cut short, or a text without quotes?") from None
    except (ValueError, RecursionError) as error:  # thousands of digits or brackets
        raise ParseError(f"the spot is no TOML that can be read: {error}") from None
    return parse_spot_table(table, folder=folder)


def parse_spot_table(table: Mapping[str, Any], *, folder: Path | None = None) -> SpotFile:
    """Returns the spot that the table of a TOML text describes, see `parse_spot`."""
    if "boards" in table:
        raise ParseError(
            "boards = ... asks for many boards, which `equipoise report` solves one by one; write "
            "board = 'Ks7h2d' for a single one"
        )
    fields = {field.name for field in dataclasses.fields(SpotFile)} - {"spot", "chooses_menu"}
    _check_keys(table, {*NEEDED, *BETTING_FIELDS, "deck", "menu", "rake", *fields}, "")
    _check_needed(table)
    table, scale = cut_chips(table)
    spot = _parse_table(table, folder, scale)
    file = SpotFile(
        spot=spot,
        rule=_optional(table, "rule", _text),
        precision=_optional(table, "precision", _text),
        target=_scale_target(_optional(table, "target", _target), scale),
        iterations=_optional(table, "iterations", _count),
        seconds=_optional(table, "seconds", _positive),
        threads=_optional(table, "threads", _count),
        chooses_menu="menu" not in table,
        title=_optional(table, "title", read_label),
        seats=_optional(table, "seats", _seats),
        locks=tuple(_parse_lock(lock, f"locks[{place}]") for place, lock in enumerate(_tables(table, "locks"))),
    )
    check_locks(file)
    return file


def format_spot(file: SpotFile) -> str:
    """Returns a TOML text from which `parse_spot` makes the same spot, weight for weight."""
    spot = file.spot
    table = {
        "board": _quote(format_board(spot.board)) if spot.board else None,
        "pot": spot.pot or None,
        "stacks": spot.stacks[0] if spot.stacks[0] == spot.stacks[1] else list(spot.stacks),
        "big_blind": spot.big_blind,
        "small_blind": None if spot.board else spot.small_blind,
        "ante": spot.ante or None,
        "bet_sizes": list(spot.bet_sizes) or None,
        "max_raises": list(spot.max_raises) or None,
        "last_street": None if spot.last_street is Street.RIVER else _quote(spot.last_street.name.lower()),
    }
    lines = [f"title = {_quote(file.title)}"] if file.title else []
    lines += [f"seats = [{', '.join(map(_quote, file.seats))}]"] if file.seats else []
    lines += [f"{name} = {value}" for name, value in table.items() if value is not None]
    if spot.deck != FULL_DECK:
        lines.append(f"deck = {_quote(format_deck(spot.deck))}")
    lines.append(f"menu = {_quote(format_menu(spot.menu))}")
    said = {
        "rule": None if file.rule is None else _quote(file.rule),
        "precision": None if file.precision is None else _quote(file.precision),
        "target": file.target and _quote(format_target(file.target)),
        "iterations": file.iterations,
        "seconds": file.seconds,
        "threads": file.threads,
    }
    lines += [f"{name} = {value}" for name, value in said.items() if value is not None]
    if spot.rake_rate:
        cap = "" if math.isinf(spot.rake_cap) else f", cap = {spot.rake_cap}"
        lines.append(f"rake = {{rate = {spot.rake_rate}{cap}}}")
    lines += ["", "[ranges]"]
    lines += [f"{name} = {_quote(format_range(held))}" for name, held in zip(RANGE_NAMES[0], spot.ranges, strict=True)]
    return "\n".join(lines) + "\n" + format_locks(file.locks)


def format_locks(locks: Sequence[SpotLock]) -> str:
    """Returns the part of a spot's TOML that says which decisions are locked."""
    lines = []
    for lock in locks:
        play = ", ".join(f"{_quote(action)} = {share}" for action, share in lock.play.items())
        lines += ["", "[[locks]]", f"line = {_quote(lock.line)}", f"hands = {_quote(lock.hands)}", f"play = {{{play}}}"]
    return "\n".join([*lines, ""])


def _read_text(path: Path) -> str:
    try:
        return path.expanduser().read_text(encoding="utf-8")
    except OSError as error:
        raise ParseError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise ParseError(f"{path} is not text: it has bytes that are not UTF-8") from None
    except (ValueError, RuntimeError) as error:  # a zero byte in a name, the home of a user who is not there
        raise ParseError(f"cannot read {str(path)!r}: {str(error).lower()}") from None


@contextlib.contextmanager
def _naming(field: str) -> Iterator[None]:
    """Puts the name of a field before whatever is wrong with it."""
    try:
        yield
    except (ParseError, ConfigError) as error:
        raise ParseError(f"{field}: {error}") from None


def _check_keys(table: Mapping[str, Any], known: set[str], place: str) -> None:
    for key in table:
        if key not in known:
            raise ParseError(f"{place}{': ' * bool(place)}{UnknownNameError('field', key, known)}")


def _check_needed(table: Mapping[str, Any]) -> None:
    """Raises if fields are missing, or are there that the spot's street does not have."""
    board = table.get("board", "")
    is_preflop = isinstance(board, str) and not board.strip(" ,")
    if is_preflop and "pot" in table:
        raise ParseError(
            "the spot has a pot and no board; is the file cut short? Before the flop leave out the pot: blinds and "
            "antes make it"
        )
    missing = [name for name in (NEEDED_BEFORE_THE_FLOP if is_preflop else NEEDED) if name not in table]
    if missing:
        raise ParseError(f"the spot has no {', '.join(missing)}; is the file cut short?")
    for name in () if is_preflop else ("small_blind", "ante"):
        if name in table:
            raise ParseError(f"{name}: is paid before the flop, and the spot has a board; add it to the pot")


def _parse_table(table: Mapping[str, Any], folder: Path | None, scale: int) -> HoldemSpot:
    """Returns the spot itself; chips of menu and rake are cut into `scale` smaller ones."""
    with _naming("deck"):
        deck = parse_deck(_text(table["deck"])) if "deck" in table else FULL_DECK
    with _naming("board"):
        board = parse_board(_text(table.get("board", "")), deck)
    with _naming("pot"):
        pot = _chips(table["pot"]) if board else 0
    with _naming("stacks"):
        stacks = _parse_stacks(table["stacks"])
    with _naming("big_blind"):
        big_blind = _chips(table.get("big_blind", DEFAULT_BIG_BLIND))
    bet_sizes = _optional(table, "bet_sizes", _fixed_bets) or ()
    with _naming("menu"):
        menu = _parse_menu(table["menu"]) if "menu" in table else MENUS["limit" if bet_sizes else "libratus"]
        menu = scale_menu(menu, scale)
    everything = Range.random(deck)
    ranges = _parse_ranges(table["ranges"], board, deck, folder) if "ranges" in table else (everything, everything)
    rate, cap = _parse_rake(table.get("rake", {}))
    try:
        return HoldemSpot(
            board=board,
            pot=pot,
            stacks=stacks,
            ranges=ranges,
            menu=menu,
            big_blind=big_blind,
            small_blind=_optional(table, "small_blind", _chips),
            ante=_optional(table, "ante", _chips_or_none) or 0,
            bet_sizes=bet_sizes,
            max_raises=_optional(table, "max_raises", _caps) or (),
            last_street=_optional(table, "last_street", _last_street) or Street.RIVER,
            deck=deck,
            rake_rate=rate,
            rake_cap=cap * scale,
        )
    except ConfigError as error:
        raise ParseError(str(error)) from None


def _parse_stacks(value: Any) -> tuple[int, int]:
    """Returns the chips behind of both players, given once or for each."""
    given = value if isinstance(value, list) else [value, value]
    if len(given) != 2:
        raise ParseError(f"must be one number of chips, or two as in [900, 1100], got {value}")
    return _chips(given[0]), _chips(given[1])


def _parse_ranges(table: Any, board: Sequence[int], deck: Deck, folder: Path | None) -> tuple[Range, Range]:
    """Returns the ranges of both players, checked against the board and each other."""
    if not isinstance(table, dict):
        raise ParseError(f"ranges: must be a table with oop and ip, got {_show(table)}")
    # before the flop the button acts first and after it last: only positions are clear
    names = RANGE_NAMES[bool(board) and any(name in table for name in RANGE_NAMES[1])]
    _check_keys(table, set(names if any(name in table for name in names) else RANGE_NAMES[0]), "ranges")
    for name in names:
        if name not in table:
            raise ParseError(f"the spot has no ranges.{name}; is the file cut short?")
    held = []
    for name in names:
        with _naming(f"ranges.{name}"):
            held.append(_parse_weights(table[name], deck, folder))
    with _naming("ranges"):
        check_ranges(held, board, names)
    return held[0], held[1]


def _parse_weights(value: Any, deck: Deck, folder: Path | None) -> Range:
    """Returns a range from its notation, or from a file with a weight for every hand."""
    if not isinstance(value, dict):
        return parse_range(_text(value), deck)
    _check_keys(value, {"file"}, "")
    if folder is None or "file" not in value:
        raise ParseError(f"must be a range such as 'QQ+, AKs', or {{file = \"weights.txt\"}}, got {_show(value)}")
    name = _text(value["file"])
    numbers = _read_text(folder / name).replace(",", " ").split()
    if len(numbers) != deck.num_hands:
        raise ParseError(
            f"{name} must have {deck.num_hands:,} weights, one for each hand in the order 2d2c, 2h2c, 2h2d, 2s2c, ..., "
            f"got {len(numbers):,}; is the file cut short?"
        )
    weights = []
    for place, number in enumerate(numbers):
        try:
            weights.append(float(number))
        except ValueError:
            raise ParseError(
                f"weight {place + 1} of {name} must be a number from 0 to 1, got {number[:20]!r}"
            ) from None
    return Range(weights, deck)  # type: ignore[arg-type]  # anything that becomes an array


def _parse_menu(value: Any) -> Menu:
    """Returns a menu from its name or notation, or from a table with a clause for each place, the wider ones first."""
    if isinstance(value, str):
        return parse_menu(value)
    if not isinstance(value, dict):
        raise ParseError(f"must be a text such as '50%, 100%, a', or a table, got {_show(value)}")
    clauses = sorted(_flatten(value, ()), key=lambda clause: sum(word in (*STREETS, *POSITIONS) for word in clause[0]))
    texts = []
    for words, given in clauses:
        head = " ".join(word for word in words if word != SIZES)
        is_cap = words[-1] == CAP and isinstance(given, int) and not isinstance(given, bool)
        if not isinstance(given, str) and not is_cap:
            raise ParseError(f"{'.'.join(words)} must be a text such as '50%, a', got {_show(given)}")
        texts.append(f"{head}: {given}" if head else str(given))
    return parse_menu("; ".join(texts))


def _flatten(table: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yields the words that lead to each value of a table of tables."""
    known = {SIZES, DONK, CAP}
    if not above:
        known |= {*STREETS, *SETTINGS}
    if not above or above[-1] in STREETS:
        known |= {*POSITIONS}
    _check_keys(table, known, ".".join(above))
    for key, value in table.items():
        if isinstance(value, dict):
            if key not in (*STREETS, *POSITIONS):
                raise ParseError(f"{'.'.join((*above, key))} must be a text, got a table")
            yield from _flatten(value, (*above, key))
        else:
            yield (*above, key), value


def _parse_rake(table: Any) -> tuple[float, float]:
    if not isinstance(table, dict):
        raise ParseError(f"rake: must be a table such as {{rate = 0.05, cap = 30}}, got {_show(table)}")
    _check_keys(table, {"rate", "cap"}, "rake")
    with _naming("rake.rate"):
        rate = _number(table.get("rate", 0.0))
        if not 0 <= rate < 1:
            raise ParseError(f"must be a share of the pot from 0 to below 1, such as 0.05, got {_show(table['rate'])}")
    with _naming("rake.cap"):
        cap = _number(table.get("cap", math.inf))
        if cap < 0:
            raise ParseError(f"must not be negative, got {_show(table['cap'])}")
    if "cap" in table and "rate" not in table:
        raise ParseError("rake.rate: is missing; a cap alone takes nothing")
    return rate, cap


def _parse_lock(table: Any, place: str) -> SpotLock:
    if not isinstance(table, dict):
        raise ParseError(f"{place}: must be a table with line and play, got {_show(table)}")
    _check_keys(table, {"line", "play", "hands"}, place)
    for name in ("line", "play"):
        if name not in table:
            raise ParseError(f"{place}: has no {name}")
    with _naming(f"{place}.line"):
        line = _text(table["line"])
    with _naming(f"{place}.hands"):
        hands = _text(table.get("hands", "random"))
    with _naming(f"{place}.play"):
        if not isinstance(table["play"], dict):
            raise ParseError(f'must be a table such as {{check = 0.5, "bet 50%" = 0.5}}, got {_show(table["play"])}')
        play = {action: _number(share) for action, share in table["play"].items()}
        if any(share < 0 for share in play.values()) or not math.isclose(sum(play.values()), 1.0, abs_tol=1e-6):
            raise ParseError(f"must be shares from 0 to 1 that sum to 1, got {_show(table['play'])}")
    return SpotLock(line=line, play=play, hands=hands)


def check_locks(file: SpotFile) -> None:
    """Raises unless every lock is at a decision, and names its actions and hands."""
    if not file.locks:
        return
    spot = file.spot
    tree = betting_tree(spot.betting_rules, spot.menu)
    for place, lock in enumerate(file.locks):
        with _naming(f"locks[{place}].line"):
            line = parse_decision(lock.line, tree, spot.board, spot.deck)
        with _naming(f"locks[{place}].play"):
            found = [find_action(action, tree, line.node) for action in lock.play]
            if len(set(found)) < len(found):
                raise ParseError(f"names one action twice: {', '.join(lock.play)}")
        with _naming(f"locks[{place}].hands"):
            held = spot.ranges[tree.nodes[line.node].state.actor].without(line.board)
            if not (parse_range(lock.hands, spot.deck).weights * held.weights).any():
                raise ParseError(f"the player's range on this board has no hand of {lock.hands!r}")


def _tables(table: Mapping[str, Any], field: str) -> list[Any]:
    value = table.get(field, [])
    if not isinstance(value, list):
        raise ParseError(f"{field}: must be a list of tables, each under [[{field}]], got {_show(value)}")
    return value


def _optional(table: Mapping[str, Any], field: str, read: Any) -> Any:
    """Returns a field that need not be there."""
    if field not in table:
        return None
    with _naming(field):
        return read(table[field])


def _target(value: Any) -> Target:
    return parse_target(value if isinstance(value, str) else repr(_number(value)))


def _scale_target(target: Target | None, scale: int) -> Target | None:
    if target is None or target.unit is not TargetUnit.CHIPS:
        return target
    return Target(target.amount * scale, target.unit)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ParseError(f"must be a text in quotes, got {_show(value)}")
    return value


def read_label(value: Any) -> str:
    """Returns a text of a line that has letters in it."""
    text = _text(value).strip()
    if not 0 < len(text) <= LONGEST_LABEL or not text.isprintable():
        raise ParseError(f"must be a line of 1 to {LONGEST_LABEL} characters, got {_show(value)}")
    return text


def _seats(value: Any) -> tuple[str, str]:
    if not isinstance(value, list) or len(value) != 2:
        raise ParseError(
            f'must name both players, who acts first after the flop first, as in ["BB", "BTN"], got {_show(value)}'
        )
    first, second = (read_label(name) for name in value)
    if first == second:
        raise ParseError(f"must be two names, got {_show(value)}")
    return first, second


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParseError(f"must be a number, got {_show(value)}")
    try:
        number = float(value)
    except OverflowError:
        raise ParseError(f"must be a number of a sensible size, got {_show(value)}") from None
    if math.isnan(number):
        raise ParseError(f"must be a number, got {_show(value)}")
    return number


def _positive(value: Any) -> float:
    number = _number(value)
    if not 0 < number < math.inf:
        raise ParseError(f"must be positive and finite, got {_show(value)}")
    return number


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParseError(f"must be a whole number from 1, got {_show(value)}")
    return value


def _last_street(value: Any) -> Street:
    if value not in tuple(LAST_STREETS):
        raise ParseError(
            f"must be {', '.join(map(_quote, LAST_STREETS))}, the street after which hands are shown, got "
            f"{_show(value)}"
        )
    return LAST_STREETS[value]


def _fixed_bets(value: Any) -> tuple[int, ...]:
    return tuple(map(_chips, _by_street(value)))


def _caps(value: Any) -> tuple[int, ...]:
    found = _by_street(value)
    for cap in found:
        if isinstance(cap, bool) or not isinstance(cap, int) or cap < 0:
            raise ParseError(f"must be whole numbers from 0, got {_show(cap)}")
    return tuple(found)


def _by_street(value: Any) -> list[Any]:
    """Returns one number, or one for each street from before the flop on."""
    found = value if isinstance(value, list) else [value]
    if not 1 <= len(found) <= len(Street):
        raise ParseError(
            f"must be one number, or up to four from before the flop on as in [2, 2, 4, 4], got {_show(value)}"
        )
    return found


def _chips_or_none(value: Any) -> int:
    return 0 if _number(value) == 0 else _chips(value)


def _chips(value: Any) -> int:
    number = _number(value)
    if not number.is_integer():
        raise ParseError(f"must be whole chips, got {_show(value)}")
    if number <= 0:
        raise ParseError(f"must be positive, got {_show(value)}")
    if number > MOST_CHIPS:
        raise ParseError(f"must be at most {MOST_CHIPS:,} chips, got {_show(value)}")
    return int(number)


def _show(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python writes no numbers of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= 60 else text[:57] + "..."


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
