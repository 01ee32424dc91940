# SPDX-License-Identifier: Apache-2.0
"""From forms to spots and back: fields named when they are wrong, ranges in both notations, what a solve would take."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import re
import threading
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from equipoise.apps.web.errors import ApiError
from equipoise.apps.web.models.spots import LockForm, SpotForm
from equipoise.core.errors import ConfigError, EquipoiseError, GameTooLargeError, ParseError
from equipoise.core.memory import available_bytes
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.betting_tree import betting_tree
from equipoise.games.holdem.cards import FULL_DECK, format_board, format_card, parse_board
from equipoise.games.holdem.hands import format_hand, hands_of, parse_hand
from equipoise.games.holdem.line_notation import name_actions, parse_decision
from equipoise.games.holdem.menu_notation import format_menu
from equipoise.games.holdem.ranges import Range, format_range, parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_file import SpotFile, SpotLock, check_locks, format_spot, parse_spot, parse_spot_table
from equipoise.runs.sizing import MENUS_BY_SIZE, choose_menu, measure_pace
from equipoise.solvers.cfr import estimate_bytes
from equipoise.solvers.driver import check_stopping
from equipoise.solvers.holdem.solved_spot import make_locks
from equipoise.solvers.methods import check_precision, find_method
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.rules import DCFR
from equipoise.trees.holdem.tree import HoldemPlan, plan_holdem_tree

__all__ = [
    "MOST_NODES",
    "Paces",
    "add_locks",
    "answer_board",
    "answer_range",
    "answer_spot",
    "check_wishes",
    "estimate_spot",
    "form_of",
    "naming",
    "plan_spot",
    "read_form",
    "read_locks",
    "read_range",
    "read_text",
]

MOST_NODES: Final = 60_000  # of betting that a form may ask for: about a second to list; `equipoise solve` takes more
TYPICAL_ITERATIONS: Final = 250  # to half a percent of the pot, by experience with turns and rivers
TYPICAL_PERCENT: Final = 0.5
SLOPE: Final = -1.5  # of log-log curves
MOST_REMEDIES: Final = 3
SURE_SHARE: Final = 1e-6
CUT_SHORT: Final = "; is the file cut short?"
MISSING: Final = re.compile(r"the spot has (?:a pot and )?no ([a-z_]+(?:\.[a-z]+)?)")
STARTS: Final = re.compile(r"([a-z_]+) must ")


def read_form(form: SpotForm) -> SpotFile:
    """Returns the spot of a form; what is wrong is refused under the name of its field."""
    table = form.model_dump(exclude_none=True, exclude={"locks"})
    if not table.get("board", "").strip():
        table.pop("board", None)
    if form.rake is not None and not form.rake.rate:
        table.pop("rake", None)
    try:
        file = parse_spot_table(table)
    except EquipoiseError as error:
        raise _explain(error) from None
    _check_wishes(file)
    if form.locks:  # they are found in the whole betting
        _check_betting(file.spot)
    return add_locks(file, form.locks or [])


def _check_betting(spot: HoldemSpot) -> None:
    try:
        betting_tree(spot.betting_rules, spot.menu, max_nodes=MOST_NODES)
    except GameTooLargeError as error:
        raise ApiError.of(error, field="menu") from None


def read_text(text: str) -> SpotFile:
    """Returns the spot of a file's text; files beside it are not looked for."""
    try:
        file = parse_spot(text)
    except EquipoiseError as error:
        raise _explain(error) from None
    _check_wishes(file)
    return file


def _explain(error: EquipoiseError) -> ApiError:
    """Returns what is wrong with a spot under the name of its field, also of one that is missing."""
    found = ApiError.of(error)
    if found.field is None:
        named = MISSING.match(found.message) or STARTS.match(found.message)
        if named is not None and named[1].partition(".")[0] in SpotForm.model_fields:
            found.field = named[1]
            found.message = found.message.replace(CUT_SHORT, ".", 1).removesuffix(".")
    return _name_hint(found) if (found.field or "").startswith("ranges.") else found


def _check_wishes(file: SpotFile) -> None:
    """Refuses what a spot says of its solve where that cannot be."""
    if file.precision is not None:
        with naming("precision"):
            check_precision(file.precision)
    check_wishes(rule=file.rule, iterations=file.iterations, seconds=file.seconds)


def check_wishes(
    *, rule: str | None = None, method: str | None = None, iterations: int | None = None, seconds: float | None = None
) -> None:
    """Refuses what a solve is asked for, under the name of its field, as far as that needs no tree."""
    if rule is not None:
        with naming("rule"):
            parse_rule(rule)
    if method is not None:
        with naming("method"):
            find_method(method)
    if iterations is not None:
        with naming("iterations"):
            check_stopping(iterations=iterations, target=None, seconds=None)
    if seconds is not None:
        with naming("seconds"):
            check_stopping(iterations=None, target=None, seconds=seconds)


@contextlib.contextmanager
def naming(field: str) -> Iterator[None]:
    """While entered, errors are refusals of a field."""
    try:
        yield
    except EquipoiseError as error:
        raise ApiError.of(error, field=field) from None


def read_range(text: str) -> Range:
    """Returns the range of a text."""
    try:
        return parse_range(text)
    except EquipoiseError as error:
        raise _name_hint(ApiError.of(error, field="text")) from None


def form_of(file: SpotFile) -> SpotForm:
    """Returns a spot as a form, from which `read_form` makes it again."""
    return SpotForm.model_validate(tomllib.loads(format_spot(file)))


def answer_spot(file: SpotFile) -> dict[str, Any]:
    """Returns what is said of a spot that can be solved."""
    combos = [float(file.spot.live_weights(player).sum()) for player in (0, 1)]
    return {"spot": form_of(file), "text": format_spot(file), "name": file.name, "combos": combos}


def add_locks(file: SpotFile, forms: Sequence[LockForm]) -> SpotFile:
    """Returns a spot with more locks; a later one of the same hands goes before an earlier one of the whole range."""
    found = (*file.locks, *read_locks(file, forms))
    changed = dataclasses.replace(file, locks=found, chooses_menu=file.chooses_menu and not found)
    try:
        check_locks(changed)
        make_locks(changed)
    except EquipoiseError as error:
        raise ApiError.of(error) from None
    return changed


def read_locks(file: SpotFile, forms: Sequence[LockForm]) -> tuple[SpotLock, ...]:
    """Returns the locks of forms, not yet looked at together."""
    found: list[SpotLock] = []
    for place, form in enumerate(forms):
        try:
            found += _read_lock(file.spot, form)
        except EquipoiseError as error:
            raise ApiError.of(error, field=f"locks[{place}]") from None
    return tuple(found)


def _read_lock(spot: HoldemSpot, form: LockForm) -> list[SpotLock]:
    """Returns the locks of a form: hands that play the same are one."""
    line = form.line if isinstance(form.line, str) else ", ".join(form.line)
    if isinstance(form.hands, str):
        if form.play is None:
            raise ConfigError("play is missing: how often each action is taken")
        _check_shares(list(form.play.values()))
        return [SpotLock(line=line, play=form.play, hands=form.hands)]
    tree = betting_tree(spot.betting_rules, spot.menu)
    names = name_actions(tree, parse_decision(line, tree, spot.board, spot.deck).node)
    hands = hands_of(spot.deck)
    by_play: dict[tuple[float, ...], Any] = {}
    for name, shares in form.hands.items():
        if len(shares) != len(names):
            raise ConfigError(f"{name} has {len(shares)} shares, there are {len(names)} actions: {', '.join(names)}")
        _check_shares(shares)
        weights = by_play.setdefault(tuple(shares), np.zeros(hands.num_hands))
        weights[parse_range(name, spot.deck).weights > 0] = 1.0
    return [
        SpotLock(
            line=line,
            play={name: share for name, share in zip(names, shares, strict=True) if share > 0},
            hands=format_range(Range(weights, spot.deck)),
        )
        for shares, weights in by_play.items()
    ]


def _check_shares(shares: Sequence[float]) -> None:
    if any(not 0 <= share <= 1 for share in shares) or abs(sum(shares) - 1) > SURE_SHARE:
        raise ConfigError(f"shares of actions must be from 0 to 1 and sum to 1, got {list(shares)}")


def answer_board(text: str) -> dict[str, Any]:
    """Returns the cards of a text."""
    with naming("board"):
        board = parse_board(text)
        streets = {street.num_board_cards: street.name.lower() for street in Street}
        if len(board) not in streets:
            raise ParseError(f"a board has 0, 3, 4 or 5 cards, got {len(board)}: {text!r}")
    return {"text": format_board(board), "cards": [format_card(card) for card in board], "street": streets[len(board)]}


def answer_range(text: str | None, weights: Mapping[str, float] | None, board: str) -> dict[str, Any]:
    """Returns a range in both notations; its text is tidied."""
    if (text is None) == (weights is None):
        raise ApiError(422, "give a text or weights", field="text")
    held = read_range(text) if text is not None else _read_weights(weights or {})
    cards = _find_cards(board)
    hands = hands_of(FULL_DECK)
    grid, present = {}, held.weights > 0
    mixed = []
    for number, name in enumerate(hands.class_names):
        own = held.weights[hands.classes == number]
        if own.any():
            grid[name] = float(own.mean())
        if own.any() and np.ptp(own) > 0:
            mixed.append(name)
    return {
        "text": format_range(held),
        "combos": held.without(cards).num_combos,
        "weights": {format_hand(hand): float(held.weights[hand]) for hand in np.flatnonzero(present).tolist()},
        "cells": grid,
        "mixed": mixed,
    }


def _find_cards(board: str) -> tuple[int, ...]:
    with naming("board"):
        return parse_board(board)


def _read_weights(given: Mapping[str, float]) -> Range:
    """Returns the range of weights of classes and combos, combos before classes."""
    weights = np.zeros(FULL_DECK.num_hands)
    try:
        for name, weight in sorted(given.items(), key=lambda item: len(item[0]) == 4):
            if not 0 <= weight <= 1:
                raise ConfigError(f"the weight of {name} must be from 0 to 1, got {weight}")
            where = [parse_hand(name)] if len(name) == 4 else np.flatnonzero(parse_range(name).weights > 0)
            weights[where] = weight
    except EquipoiseError as error:
        raise _name_hint(ApiError.of(error, field="weights")) from None
    return Range(weights)


def _name_hint(error: ApiError) -> ApiError:
    error.code, error.hint = "range", "AK, AKs, QQ+, A5s-A2s, AhKh, KQo:0.5"
    entry = re.match(r"range entry '([^']*)': ", error.message)
    if entry is not None:
        error.got, error.message = entry[1], error.message[entry.end() :].partition("; allowed:")[0]
    return error


def estimate_spot(file: SpotFile, paces: Paces, *, job_bytes: int, num_threads: int) -> dict[str, Any]:
    """Returns what solving a spot would take, and up to three changes by which it would take less."""
    file = choose_menu(file, precision=file.precision or "float32", num_threads=num_threads)
    precision = file.precision or "float32"
    plan = plan_spot(file)
    num_bytes = estimate_bytes(plan, DCFR(), dtype=precision, num_threads=num_threads)
    free = available_bytes()
    most = job_bytes if free is None else min(job_bytes, free)
    seconds = paces.find(file.spot, precision, num_threads) * plan.arrays.num_cells if file.spot.board else None
    root = plan.arrays.board(0)
    return {
        "betting_nodes": len(plan.betting.nodes),
        "boards": len(plan.arrays.boards),
        "hands": [int(root.num_hands_0), int(root.num_hands_1)],
        "cells": int(plan.arrays.num_cells),
        "bytes": int(num_bytes),
        "bytes_free": free,
        "job_bytes": job_bytes,
        "ms_per_iteration": None if seconds is None else 1e3 * seconds,
        "seconds_to_target": None if seconds is None else _foresee(file, seconds),
        "fits": num_bytes <= most,
        "menu": format_menu(file.spot.menu),
        "remedies": _find_remedies(file, plan, num_bytes, num_threads),
    }


def plan_spot(file: SpotFile, *, most_nodes: int = MOST_NODES) -> HoldemPlan:
    """Returns what a solve would work on; refuses what is too large under the name of its field."""
    try:
        return plan_holdem_tree(file.spot, locks=make_locks(file), max_nodes=most_nodes)
    except GameTooLargeError as error:
        raise ApiError.of(error, field="menu") from None


def _foresee(file: SpotFile, seconds: float) -> float | None:
    """Returns about how long a solve will take, by what solves usually take."""
    if file.iterations is not None:
        return min(file.iterations * seconds, file.seconds or math.inf)
    target = TYPICAL_PERCENT if file.target is None else 100 * file.target.chips(file.spot) / file.spot.root_pot
    if target <= 0:
        return file.seconds
    foreseen: float = TYPICAL_ITERATIONS * (target / TYPICAL_PERCENT) ** (1 / SLOPE) * seconds
    return foreseen if file.seconds is None else min(foreseen, file.seconds)


class Paces:
    """How long numbers of tables take, measured once for spots of a street and about as many hands."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # measured one at a time, or they would measure each other
        self._known: dict[tuple[Any, ...], float] = {}

    def find(self, spot: HoldemSpot, precision: str, num_threads: int) -> float:
        """Returns the seconds of an iteration for each number of a table."""
        sizes = [int(np.count_nonzero(spot.live_weights(player))).bit_length() for player in (0, 1)]
        key = (len(spot.board), *sizes, precision, num_threads)
        with self._lock:
            if key not in self._known:
                self._known[key] = measure_pace(spot, precision, num_threads=num_threads)
            return self._known[key]


def _find_remedies(file: SpotFile, plan: HoldemPlan, num_bytes: int, num_threads: int) -> list[dict[str, Any]]:
    """Returns changes by which a spot takes less, the mildest first."""
    found: list[dict[str, Any]] = []
    began = time.monotonic()
    if (file.precision or "float32") not in ("int16",):
        small = estimate_bytes(plan, DCFR(), dtype="int16", num_threads=num_threads)
        found.append({"name": "16-bit tables", "change": {"precision": "int16"}, "bytes": int(small)})
    if file.locks or file.spot.bet_sizes or not file.spot.board:
        return found
    for menu in MENUS_BY_SIZE[2:]:
        if len(found) >= MOST_REMEDIES or time.monotonic() - began > 1.0:
            break
        try:
            leaner = plan_holdem_tree(dataclasses.replace(file.spot, menu=menu))
        except EquipoiseError:
            continue
        less = estimate_bytes(leaner, DCFR(), dtype=file.precision or "float32", num_threads=num_threads)
        if less < 0.7 * min([num_bytes, *(one["bytes"] for one in found[1:])]):
            text = format_menu(menu)
            found.append({"name": f"menu {text}", "change": {"menu": text}, "bytes": int(less)})
    return found
