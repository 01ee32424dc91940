# SPDX-License-Identifier: Apache-2.0
"""Which sizes a blueprint lacks before the flop, by what opponents have bet: Libratus's self-improver, first half."""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from equipoise.abstraction.blueprints import BlueprintSpec
from equipoise.abstraction.translation import pot_fraction
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import CALL, BettingState, Street
from equipoise.games.holdem.menu_notation import format_menu, parse_menu
from equipoise.games.holdem.menus import BetSize, Menu, RoundMenu, SizeKind, menu_actions
from equipoise.games.holdem.records import RecordedHand
from equipoise.trees.holdem.flat_betting import MenuByPlayers

__all__ = ["Gap", "NewSize", "add_sizes", "choose_sizes", "count_sizes", "midpoint", "score_gaps"]

SAME: Final = 0.02  # of the pot: a bet so near to a known size has no gap
NEAR: Final = 0.05  # of the pot: of two new sizes so near to each other the first is enough
DIGITS: Final = 2  # sizes are told apart by whole percents of the pot


class Gap(NamedTuple):
    """Two neighbouring sizes of a blueprint, as fractions of the pot, and how far opponents' bets fell between them."""

    raise_number: int  # bets and raises before it in the round
    below: float  # 0: no bet
    above: float
    score: float
    num_bets: int


class NewSize(NamedTuple):
    """A size that a blueprint is to have."""

    raise_number: int
    size: float  # fraction of the pot
    is_offensive: bool  # what opponents bet most, not the middle of a gap


def midpoint(below: float, above: float) -> float:
    """Returns the size that the pseudo-harmonic mapping takes for either neighbour as often.

    >>> round(midpoint(0.5, 1.0), 4)
    0.7143
    """
    return (below + above + 2 * below * above) / (below + above + 2)


def score_gaps(hands: Iterable[RecordedHand], spec: BlueprintSpec, me: Collection[str]) -> list[Gap]:
    """Returns the gaps into which opponents have bet before the flop, the highest score first.

    Paper: Brown 2020 (thesis) [B20], section 6.4, "self-improver".
    Symbols: A, B, x -> below, above, the bet; score[(A, B)] += min(x - A, B - x).
    Departs from the paper: bets below the smallest size fall between no bet and it; an all-in above counts as it
        stood in the hand.
    Checked by: tests/abstraction/test_improvement.py.

    Args:
        hands: of a log, with the blueprint's chips.
        spec: of the blueprint.
        me: names under which it played itself.
    """
    scores: dict[tuple[int, float, float], list[float]] = collections.defaultdict(list)
    for betting, size in _raises(hands, spec, me):
        known = _known_sizes(spec, betting)
        below = max((one for one in known if one <= size), default=0.0)
        above = min((one for one in known if one > size), default=math.inf)
        if above < math.inf and min(size - below, above - size) > SAME:
            key = betting.num_raises, round(below, DIGITS), round(above, DIGITS)
            scores[key].append(min(size - below, above - size))
    gaps = [Gap(*key, score=math.fsum(found), num_bets=len(found)) for key, found in scores.items()]
    return sorted(gaps, key=lambda gap: (-gap.score, gap))


def count_sizes(
    hands: Iterable[RecordedHand], spec: BlueprintSpec, me: Collection[str]
) -> list[tuple[int, float, int]]:
    """Returns what opponents have bet before the flop and the blueprint lacks: raise number, size, how often."""
    counts: collections.Counter[tuple[int, float]] = collections.Counter()
    for betting, size in _raises(hands, spec, me):
        known = _known_sizes(spec, betting)
        if size < max(known, default=0.0) and min(abs(size - one) for one in known) > SAME:
            counts[betting.num_raises, round(size, DIGITS)] += 1
    return sorted(((*key, number) for key, number in counts.items()), key=lambda row: (-row[2], row))


def _raises(
    hands: Iterable[RecordedHand], spec: BlueprintSpec, me: Collection[str]
) -> Iterable[tuple[BettingState, float]]:
    """Yields where opponents have raised before the flop, and by which fraction of the pot."""
    for hand in hands:
        if hand.rules != spec.rules:
            raise ConfigError(
                f"hand {hand.number} has stacks {hand.rules.stacks} and blinds {hand.rules.small_blind} and "
                f"{hand.rules.big_blind}, the blueprint {spec.stacks}, {spec.small_blind} and {spec.big_blind}"
            )
        for moment in hand.moments():
            if moment.betting.street is not Street.PREFLOP:
                break
            if moment.action > CALL and hand.names[moment.seat] not in me:
                yield moment.betting, pot_fraction(moment.betting, moment.action)


def _known_sizes(spec: BlueprintSpec, betting: BettingState) -> list[float]:
    """Returns the fractions of the pot that the blueprint's menu offers where the betting stands; 0 is no bet."""
    menus = MenuByPlayers.parse(spec.menu, dict(spec.crowded))
    menu = menus.at(len(betting.is_folded) - sum(betting.is_folded))
    return [0.0, *(pot_fraction(betting, total) for total in menu_actions(spec.rules, menu, betting) if total > CALL)]


def choose_sizes(
    gaps: Iterable[Gap], counted: Iterable[tuple[int, float, int]], *, defensive: int = 2, offensive: int = 1
) -> list[NewSize]:
    """Returns the middles of the worst gaps and the sizes that opponents bet most, none of them twice."""
    chosen = [NewSize(gap.raise_number, round(midpoint(gap.below, gap.above), DIGITS), False) for gap in gaps][
        :defensive
    ]
    for number, size, _ in counted:
        if sum(new.is_offensive for new in chosen) >= offensive:
            break
        if not any(new.raise_number == number and abs(new.size - size) <= NEAR for new in chosen):
            chosen.append(NewSize(number, size, True))
    return chosen


def add_sizes(spec: BlueprintSpec, sizes: Iterable[NewSize]) -> BlueprintSpec:
    """Returns a spec with sizes added before the flop, whoever is in position and however many are left.

    >>> from equipoise.abstraction.blueprints import BlueprintSpec
    >>> add_sizes(BlueprintSpec(menu="100%, a; cap: 3"), [NewSize(1, 0.71, False)]).menu
    'preflop: 100%, a / 71%, 100%, a / 100%, a; flop: 100%, a; turn: 100%, a; river: 100%, a; cap: 3'
    """
    sizes = list(sizes)
    crowded = {number: _extend(menu, sizes) for number, menu in spec.crowded.items()}
    return dataclasses.replace(spec, menu=_extend(spec.menu, sizes), crowded=crowded)


def _extend(text: str, sizes: Iterable[NewSize]) -> str:
    menu = parse_menu(text)
    for new in sizes:
        first, second = (_with_size(own, new) for own in menu.rounds[Street.PREFLOP])
        menu = _replace_preflop(menu, (first, second))
    return format_menu(menu)


def _replace_preflop(menu: Menu, rounds: tuple[RoundMenu, RoundMenu]) -> Menu:
    return dataclasses.replace(menu, rounds=(rounds, *menu.rounds[Street.FLOP :]))


def _with_size(own: RoundMenu, new: NewSize) -> RoundMenu:
    if not own.sizes:
        return own
    lists = list(own.sizes)
    lists += [lists[-1]] * (new.raise_number + 2 - len(lists))  # the last list goes on: what follows keeps what it had
    added = BetSize(SizeKind.POT, round(100 * new.size, DIGITS))
    lists[new.raise_number] = tuple(sorted({*lists[new.raise_number], added}, key=_order))
    while len(lists) > 1 and lists[-1] == lists[-2]:
        lists.pop()
    return dataclasses.replace(own, sizes=tuple(lists))


def _order(size: BetSize) -> tuple[bool, float]:
    return size.kind is not SizeKind.POT, size.amount
