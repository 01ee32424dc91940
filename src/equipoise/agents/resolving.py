# SPDX-License-Identifier: Apache-2.0
"""DeepStack and Supremus: continual re-solving of whole hands of hold'em, put together from parts by name.

What differs between the two is data (`PRESETS`): menu, rule, which streets end with values and which are solved. The
options of an agent's text change any of it.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import re
from collections.abc import Mapping
from typing import Any, Final, get_type_hints

import numpy as np

from equipoise.agents.continual import ContinualAgent
from equipoise.agents.value_nets import NetFolder, digest_nets
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.games.base import Game
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.menus import Counting
from equipoise.games.holdem.rules import ALL_RAISES, Holdem
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_game import spot_of_game
from equipoise.games.parameters import parse_parameters, parse_value
from equipoise.learning.values.bucketed_rivers import BucketedRivers
from equipoise.search.continual import ContinualSettings
from equipoise.search.gadgets import Resolve
from equipoise.search.holdem.equity_leaves import equity_leaves
from equipoise.search.holdem.leaves import AfterDeal, HoldemRest
from equipoise.search.holdem.streets import StreetLeaves
from equipoise.search.leaves import HeldLeaves, LeafEvaluator, ResolvedLeaves, SwitchedLeaves, ZeroLeaves
from equipoise.search.running import run_for
from equipoise.search.settings import SearchSettings
from equipoise.solvers.rules import DCFRPlus, Rule

__all__ = [
    "OPTIONS",
    "PRESETS",
    "LeafKind",
    "Resolving",
    "digest_resolving",
    "make_resolving_agent",
    "parse_resolving",
]

SHARE_OF_START: Final = 0.25  # of a decision's iterations and seconds, for a street's beginning that no network values
EARLY: Final = (Street.PREFLOP, Street.FLOP, Street.TURN)
HYBRID: Final = DCFRPlus(alpha=math.inf, beta=-math.inf, average_exponent=0.0)  # DeepStack: RM+, late uniform average


class LeafKind(enum.StrEnum):
    """What values the ends of streets."""

    NETS = "nets"
    EQUITY = "equity"  # nobody bets again
    ZERO = "zero"


class Cards(enum.StrEnum):
    """When the networks of a street's end are asked."""

    BEFORE = "before"  # the next card
    AFTER = "after"  # about all that may come
    SOME = "some"  # about a few of these in each iteration, all in turn


class Updates(enum.StrEnum):
    """How players take turns in an iteration."""

    ONCE = "once"  # in turn, and leaves are asked about for the first player alone (`HeldLeaves`)
    ALTERNATING = "alternating"  # leaves are asked about twice
    SIMULTANEOUS = "simultaneous"


class Turn(enum.StrEnum):
    """How far a search of the turn looks."""

    VALUES = "values"  # its lines end with values
    BUCKETS = "buckets"  # to the end of the hand, rivers in buckets of strength
    SOLVED = "solved"  # to the end of the hand, with all hands


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Resolving:
    """How an agent searches whole hands.

    Paper: Moravcik et al. 2017, "DeepStack"; Zarick et al. 2020, "Unlocking the Potential of Deep Counterfactual Value
        Networks", sections 2.3, 3 and 4.
    Departs from the paper: DeepStack's rivers in buckets (`BucketedRivers`) are solved behind a few cards an iteration,
        for the ranges that come there, instead of along with the turn; its flop network is asked at the end of searches
        before the flop only if `flops` says so. After the flop networks are
        asked behind a few cards an iteration, all in turn (`AfterDeal`), and searches end after 1.5 seconds: with more
        or less time, on another machine, an agent plays otherwise (`seconds=0` plays the same everywhere). Players are
        updated in turn, and leaves are asked about once an iteration (`HeldLeaves`): for as many questions, 100
        iterations in turn instead of 200 at once, a turn with equity at its lines came to
        0.4 % of the pot instead of 2.5 (nash_conv), with a network to 1.9 instead of 3.3.
    Checked by: tests/agents/test_resolving.py.
    """

    menu: str = ""  # bets that searches consider; empty: the preset's if the game offers all, else the game's
    iterations: int = 100  # of each search
    updates: Updates = Updates.ONCE
    seconds: float = 1.5  # for the search of a decision; 0: no limit
    threads: int = 1
    leaves: LeafKind = LeafKind.NETS
    nets: str = ""  # folder with their weights; empty: those of the package
    cards: Cards = Cards.SOME  # when networks are asked; a street that has only one of the two has that
    sample: int = 2  # cards that some are
    turn: Turn = Turn.VALUES
    early: int = 50  # iterations where the turn is solved to the end
    flops: int = 0  # last iterations before the flop in which every flop is asked about
    share: float = 0.2  # of the gadget in the opponent's range
    rule: Rule = dataclasses.field(default_factory=DCFRPlus)

    def __post_init__(self) -> None:
        for name in ("iterations", "threads", "early", "sample"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 <= self.seconds < math.inf:
            raise ConfigError(f"seconds must be 0 (no limit) or more, got {self.seconds}")
        if self.flops < 0:
            raise ConfigError(f"flops must be at least 0, got {self.flops}")


PRESETS: Final[Mapping[str, Resolving]] = {
    "supremus": Resolving(menu="supremus"),
    "deepstack": Resolving(menu="deepstack", turn=Turn.BUCKETS, rule=HYBRID),
}
OPTIONS: Final = tuple(field.name for field in dataclasses.fields(Resolving) if field.name != "rule")


def parse_resolving(name: str, text: str) -> Resolving:
    """Returns a preset with the changes that a text such as `iterations=100,menu=50%,100%,a,seconds=1` names.

    A comma that no option follows belongs to the value before it.
    """
    preset = dataclasses.replace(PRESETS[name], menu="")
    if not text:
        return preset
    kinds = get_type_hints(Resolving)
    given = parse_parameters(re.split(r",(?=\s*[a-z]+\s*=)", text))
    changes: dict[str, Any] = {}
    for option, value in given.items():
        if option not in OPTIONS:
            raise UnknownNameError(f"option of {name}", option, OPTIONS)
        kind = kinds[option]
        if issubclass(kind, enum.StrEnum):
            if value not in list(kind):
                raise UnknownNameError(f"{option} of {name}", value, list(kind))
            changes[option] = kind(value)
        else:
            changes[option] = parse_value(option, value, kind)
    return dataclasses.replace(preset, **changes)


def digest_resolving(name: str, text: str = "") -> str | None:
    """Returns a short hash over the networks that an agent plays with, None if it has none."""
    how = parse_resolving(name, text)
    return digest_nets(how.nets) if how.leaves is LeafKind.NETS else None


def make_resolving_agent(name: str, game: Game[Any], text: str = "") -> ContinualAgent:
    """Returns the agent of a preset for a heads-up game of hold'em.

    Args:
        name: of the preset.
        game: what is played, from whatever street on.
        text: options, see `parse_resolving`.
    """
    if not isinstance(game, Holdem) or game.spec.num_players != 2:
        raise ConfigError(f"{name} plays hold'em heads-up, got {game.spec.label}")
    how = parse_resolving(name, text)
    spot = _find_spot(name, game, how)
    streets = _find_streets(name, spot, how)
    search = SearchSettings(
        menu=spot.menu,
        streets=streets,
        is_alternating=how.updates is not Updates.SIMULTANEOUS,
        early_iterations=how.early,
        num_threads=how.threads,
        seconds=how.seconds or None,
    )
    settings = ContinualSettings(
        iterations=how.iterations, method=Resolve(share=how.share), rule=how.rule, holdem=search
    )
    return ContinualAgent(spot, rules=game, search=settings, name=name)


def _find_spot(name: str, game: Holdem, how: Resolving) -> HoldemSpot:
    """Returns where hands begin, with the bets that searches consider: the game must offer them."""
    own = PRESETS[name].menu if game.menu == ALL_RAISES else game.menu
    spot = spot_of_game(dataclasses.replace(game, menu=how.menu or own))
    if game.menu != ALL_RAISES and spot.menu.counting is Counting.ACTIONS:
        raise ConfigError(
            f"{name} counts the actions of its menu from where it searches, the game from where a round begins: let "
            "the game offer every bet, menu=all"
        )
    return spot


def _find_streets(name: str, spot: HoldemSpot, how: Resolving) -> StreetLeaves:
    """Returns what streets are worth: who values their ends and their beginnings."""
    first, last = spot.betting_rules.first_street, spot.last_street
    ending = [street for street in EARLY if first <= street < last]
    if how.turn is Turn.SOLVED:
        ending = [street for street in ending if street is not Street.TURN]
    starting = [street for street in Street if first < street <= last]
    if how.leaves is LeafKind.NETS:
        nets = NetFolder(name, spot, how.nets, num_threads=how.threads)
        num_cards = how.sample if how.cards is Cards.SOME else 0
        is_after = how.cards is not Cards.BEFORE
        asked = [street for street in ending if not (how.turn is Turn.BUCKETS and street is Street.TURN)]
        ends = {street: nets.find_end(street, is_after=is_after, num_cards=num_cards) for street in asked}
        starts = nets.find_starts(starting)
    else:
        plain: LeafEvaluator = equity_leaves(spot) if how.leaves is LeafKind.EQUITY else ZeroLeaves()
        ends, starts = dict.fromkeys(ending, plain), dict[Street, LeafEvaluator]()
    if how.turn is Turn.BUCKETS and Street.TURN in ending:  # DeepStack has no network of the river
        rivers = BucketedRivers(spot)
        some, every = AfterDeal(rivers, spot, num_cards=how.sample), AfterDeal(rivers, spot)
        ends[Street.TURN] = SwitchedLeaves(some, every, num_last=1)
        starts[Street.RIVER] = rivers
    if how.updates is Updates.ONCE:
        ends = {street: _hold(leaves) for street, leaves in ends.items()}
    missing = [street for street in starting if street not in starts]
    starts |= {street: _solve_start(street, spot, ends, how) for street in missing}
    if how.flops and Street.PREFLOP in ends:
        if Street.FLOP in missing:
            raise ConfigError(f"flops={how.flops} asks a network of the flop, flop.safetensors, and there is none")
        flop = AfterDeal(starts[Street.FLOP], spot)
        before = ends[Street.PREFLOP]
        most = before.first if isinstance(before, SwitchedLeaves) else before
        ends[Street.PREFLOP] = SwitchedLeaves(most, flop, num_last=how.flops)
    return StreetLeaves(ends=ends, starts=starts)


def _hold(leaves: LeafEvaluator) -> SwitchedLeaves:
    """Returns an evaluator that is asked once an iteration; at last, and by whoever asks afterwards, as it is."""
    if isinstance(leaves, SwitchedLeaves):
        return SwitchedLeaves(HeldLeaves(leaves.first), leaves.last, num_last=leaves.num_last)
    return SwitchedLeaves(HeldLeaves(leaves), leaves, num_last=1)


def _solve_start(
    street: Street, spot: HoldemSpot, ends: Mapping[Street, LeafEvaluator], how: Resolving
) -> ResolvedLeaves:
    """Returns what values the beginning of a street by solving it, with the same ends as searches."""
    is_short = street in ends or street is spot.last_street
    return ResolvedLeaves(
        HoldemRest(spot, menu=spot.menu, ends=ends),
        iterations=max(int(SHARE_OF_START * (how.iterations if is_short else how.early)), 1),
        rule=how.rule,
        is_alternating=how.updates is not Updates.SIMULTANEOUS,
        dtype=np.float32,
        run=run_for(SHARE_OF_START * how.seconds if how.seconds else None),
        is_kept=False,
    )
