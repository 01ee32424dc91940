# SPDX-License-Identifier: Apache-2.0
"""Heads-up push or fold: the small blind moves all in or folds, the big blind calls or folds.

Exact before the flop: all classes of hands with card removal, all boards. Without rake the game is zero-sum and a
linear program of two numbers a class solves it; with rake it is not, and regret minimization finds which classes mix.
Either way the exploitability of the result comes from exact best responses.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy

from equipoise.core.errors import ConfigError, NotConvergedError
from equipoise.core.formatting import brief_repr, settings_repr
from equipoise.games.holdem.betting import CALL, FOLD, Street
from equipoise.games.holdem.betting_tree import NodeKind, betting_tree
from equipoise.games.holdem.cards import FULL_DECK, Deck, format_deck
from equipoise.games.holdem.class_showdowns import ClassShowdowns, load_or_build_class_showdowns
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot

__all__ = ["PushFold", "PushFoldChart", "find_push_fold", "solve_push_fold"]

TOLERANCE: Final = 1e-10  # of feasibility, the tightest that HiGHS takes
MAX_ITERATIONS: Final = 20_000  # with rake
ITERATIONS_PER_CHECK: Final = 500
TARGET_BB: Final = 1e-12  # exploitability at which a raked game is done
MARGINS: Final = (1e-1, 1e-2, 1e-3, 1e-4)  # nearer to 0 or 1 than this may be dust of an average

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PushFold:
    """Stakes of a heads-up push-or-fold game, all in big blinds.

    >>> game = PushFold(stack_bb=10)
    >>> float(game.called_bb(0.6)), game.folded_bb  # a push called with 60 % equity, and the small blind given up
    (2.0, 0.5)
    """

    stack_bb: float = 10.0  # of either player before blinds and antes; the smaller one if they differ
    small_blind_bb: float = 0.5  # above 0, at most 1
    ante_bb: float = 0.0  # of either player
    rake: float = 0.0  # share of a called pot that the house takes, 0 to below 1
    rake_cap_bb: float = math.inf  # the most it takes
    deck: Deck = FULL_DECK

    __repr__ = settings_repr

    def __post_init__(self) -> None:
        for name in ("stack_bb", "small_blind_bb", "ante_bb", "rake"):
            if not math.isfinite(getattr(self, name)):
                raise ConfigError(f"{name} must be a finite number, got {getattr(self, name)}")
        if not 0 < self.small_blind_bb <= 1:
            raise ConfigError(f"small_blind_bb must be above 0 and at most 1, got {self.small_blind_bb:g}")
        if self.ante_bb < 0:
            raise ConfigError(f"ante_bb must not be negative, got {self.ante_bb:g}")
        if self.stack_bb <= 1 + self.ante_bb:
            raise ConfigError(
                f"stack_bb must exceed the big blind and the ante ({1 + self.ante_bb:g}), got {self.stack_bb:g}"
            )
        if not 0 <= self.rake < 1:
            raise ConfigError(f"rake must be 0 to below 1, as in 0.05 for 5 %, got {self.rake:g}")
        if not self.rake_cap_bb >= 0:
            raise ConfigError(f"rake_cap_bb must not be negative, got {self.rake_cap_bb:g}")

    @property
    def rake_bb(self) -> float:
        """What the house takes of a called push."""
        return min(2 * self.stack_bb * self.rake, self.rake_cap_bb)

    @property
    def folded_bb(self) -> float:
        """What the small blind loses by folding."""
        return self.small_blind_bb + self.ante_bb

    @property
    def stolen_bb(self) -> float:
        """What the small blind wins when the big blind folds to a push."""
        return 1 + self.ante_bb

    def called_bb(self, equity: npt.ArrayLike) -> FloatArray:
        """Returns what a player wins on average when a push is called, given the share of the pot it wins."""
        return np.asarray(equity, np.float64) * (2 * self.stack_bb - self.rake_bb) - self.stack_bb


@dataclasses.dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PushFoldChart:
    """A solved game: what each class of hands does, and what that is worth.

    >>> from equipoise.games.holdem import DECKS
    >>> chart = solve_push_fold(PushFold(stack_bb=8, deck=DECKS["royal"]))
    >>> round(chart.values_bb[0] + chart.values_bb[1], 9)
    0.0
    """

    game: PushFold
    push: FloatArray  # [classes] how often the small blind pushes; classes as in `Hands.class_names`
    call: FloatArray  # [classes] how often the big blind calls a push
    values_bb: tuple[float, float]  # of the small and the big blind per hand dealt
    nash_conv_bb: float  # sum over players of what a best response would gain
    exploitability_bb: float  # half of it

    __repr__ = brief_repr

    @property
    def push_range(self) -> Range:
        """The hands that push, as a range."""
        return self._range(self.push)

    @property
    def call_range(self) -> Range:
        """The hands that call, as a range."""
        return self._range(self.call)

    @property
    def push_share(self) -> float:
        """The share of all dealt hands that the small blind pushes."""
        return self.push_range.num_combos / self.game.deck.num_hands

    @property
    def call_share(self) -> float:
        """The share of all hands that the big blind calls with."""
        return self.call_range.num_combos / self.game.deck.num_hands

    def _range(self, frequencies: FloatArray) -> Range:
        return Range(frequencies[hands_of(self.game.deck).classes], self.game.deck)


def find_push_fold(spot: HoldemSpot) -> PushFold | None:
    """Returns the stakes of a spot that is push or fold with every hand, None for any other spot."""
    if (
        spot.board
        or spot.last_street is not Street.RIVER
        or any(held != Range.random(spot.deck) for held in spot.ranges)
    ):
        return None
    tree = betting_tree(spot.betting_rules, spot.menu)
    decisions = [node for node in tree.nodes if node.kind is NodeKind.DECISION]
    if [node.actions[0] for node in decisions] != [FOLD, FOLD] or any(len(node.actions) != 2 for node in decisions):
        return None
    push, call = decisions[0].actions[1], decisions[1].actions[1]
    if push == CALL or call != CALL or 0 not in tree.nodes[decisions[1].children[1]].state.stacks:
        return None
    big_blind = spot.big_blind
    return PushFold(
        stack_bb=min(spot.stacks) / big_blind,
        small_blind_bb=spot.betting_rules.small_blind / big_blind,
        ante_bb=spot.ante / big_blind,
        rake=spot.rake_rate,
        rake_cap_bb=spot.rake_cap / big_blind,
        deck=spot.deck,
    )


def solve_push_fold(
    game: PushFold | None = None,
    *,
    showdowns: ClassShowdowns | None = None,
    on_progress: Callable[[float], None] | None = None,
    directory: Path | None = None,
) -> PushFoldChart:
    """Returns an equilibrium of a push-or-fold game.

    Args:
        game: the stakes; ten big blinds, no ante and no rake if None.
        showdowns: of the game's deck; loaded or counted if None.
        on_progress: called with the share done while showdowns are counted.
        directory: where they are kept; `default_cache_directory()` if None.

    >>> from equipoise.games.holdem import DECKS
    >>> chart = solve_push_fold(PushFold(stack_bb=8, deck=DECKS["royal"]))
    >>> chart.exploitability_bb < 1e-6
    True
    """
    game = game or PushFold()
    if showdowns is None:
        showdowns = load_or_build_class_showdowns(game.deck, on_progress=on_progress, directory=directory)
    elif showdowns.deck != game.deck:
        raise ConfigError(
            f"showdowns must be of the game's deck {format_deck(game.deck)}, got {format_deck(showdowns.deck)}"
        )
    payoffs = _Payoffs.of(game, showdowns)
    push, call = payoffs.solve_lp() if game.rake_bb == 0 else payoffs.minimize_regret()
    values, best = payoffs.values(push, call), payoffs.best_values(push, call)
    nash_conv = max(sum(best) - sum(values), 0.0)  # a last bit may be left over
    return PushFoldChart(
        game=game,
        push=push,
        call=call,
        values_bb=values,
        nash_conv_bb=nash_conv,
        exploitability_bb=nash_conv / 2,
    )


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Payoffs:
    """What actions of classes earn, weighted by the chance of the classes."""

    own_chance: FloatArray  # [classes] of a class, the same for either player
    chance: FloatArray  # [classes, classes] small blind's by big blind's
    folded: float
    stolen: float
    pusher: FloatArray  # [classes, classes] chance times what the small blind wins when called
    caller: FloatArray  # [classes, classes] chance times what the big blind wins when it calls

    @classmethod
    def of(cls, game: PushFold, showdowns: ClassShowdowns) -> _Payoffs:
        chance = showdowns.pairs / showdowns.pairs.sum()
        equities = np.nan_to_num(showdowns.equities)
        return cls(
            chance.sum(axis=0),
            chance,
            game.folded_bb,
            game.stolen_bb,
            chance * game.called_bb(equities),
            chance * game.called_bb(1 - equities),
        )

    def push_gains(self, call: FloatArray) -> FloatArray:
        """Returns `[classes]` what a push earns the small blind more than a fold."""
        return self.stolen * self.chance @ (1 - call) + self.pusher @ call + self.folded * self.own_chance

    def call_gains(self, push: FloatArray) -> FloatArray:
        """Returns `[classes]` what a call earns the big blind more than a fold."""
        return push @ self.caller + self.stolen * (push @ self.chance)

    def values(self, push: FloatArray, call: FloatArray) -> tuple[float, float]:
        """Returns what both players earn."""
        first = -self.folded + float(push @ self.push_gains(call))
        second = self._unpaid(push) + float(call @ self.call_gains(push))
        return first, second

    def best_values(self, push: FloatArray, call: FloatArray) -> tuple[float, float]:
        """Returns what a best response earns either player against the other's strategy."""
        first = -self.folded + float(np.maximum(self.push_gains(call), 0.0).sum())
        second = self._unpaid(push) + float(np.maximum(self.call_gains(push), 0.0).sum())
        return first, second

    def _unpaid(self, push: FloatArray) -> float:
        """Returns what the big blind earns by never calling."""
        pushed = float(push @ self.own_chance)
        return self.folded * (1 - pushed) - self.stolen * pushed

    def solve_lp(self) -> tuple[FloatArray, FloatArray]:
        """Returns an equilibrium of the zero-sum game.

        The small blind chooses how often to push so that what the big blind leaves it, class by class the least of
        what folding and calling leave, is greatest; how often the big blind calls is the dual of that.
        """
        size = len(self.own_chance)
        held = np.maximum(self.own_chance, np.finfo(np.float64).tiny)  # one suit leaves classes without hands
        # per hand of the big blind's class, so that all rows are of one scale: left <= what fold, call leave
        left = np.eye(size)
        rows = np.block([[-(self.stolen * self.chance / held).T, left], [-(self.pusher / held).T, left]])
        result = scipy.optimize.linprog(
            -np.concatenate([self.folded * self.own_chance, self.own_chance]),
            A_ub=rows,
            b_ub=np.zeros(2 * size),
            bounds=[(0.0, 1.0)] * size + [(None, None)] * size,
            method="highs",
            options={"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE},
        )
        if result.x is None or result.status != 0:
            raise NotConvergedError(f"the linear program of push or fold was not solved: {result.message}")
        call = -result.ineqlin.marginals[size:] / held
        return np.clip(result.x[:size], 0.0, 1.0), np.clip(call, 0.0, 1.0)

    def minimize_regret(self) -> tuple[FloatArray, FloatArray]:
        """Returns the best of what averages of CFR+ with quadratic weights lead to, both players moving in turn."""
        size = len(self.own_chance)
        regrets, sums = np.zeros((2, 2, size)), np.zeros((2, size))
        played = np.full((2, size), 0.5)
        best = (math.inf, played)
        for t in range(1, MAX_ITERATIONS + 1):
            for player, gains_of in enumerate((self.push_gains, self.call_gains)):
                gains = gains_of(played[1 - player])
                regrets[player] = np.maximum(
                    regrets[player] + np.stack([gains * (1 - played[player]), -gains * played[player]]), 0.0
                )
                positive = regrets[player].sum(axis=0)
                played[player] = np.divide(regrets[player, 0], positive, out=np.full(size, 0.5), where=positive > 0)
            sums += t * t * played
            if t % ITERATIONS_PER_CHECK == 0:
                average = sums * 6 / (t * (t + 1) * (2 * t + 1))
                candidates = [average, *(self.polish(average, margin) for margin in MARGINS)]
                best = min([best, *((self.nash_conv(pair), pair) for pair in candidates)], key=lambda entry: entry[0])
                if best[0] / 2 <= TARGET_BB:
                    break
        return best[1][0], best[1][1]

    def nash_conv(self, played: FloatArray) -> float:
        """Returns what best responses to both rows of `[2, classes]` gain in sum."""
        push, call = played
        return sum(self.best_values(push, call)) - sum(self.values(push, call))

    def polish(self, played: FloatArray, margin: float) -> FloatArray:
        """Returns strategies without dust: what is nearly pure is pure, what mixes makes the other side indifferent.

        An equilibrium has as many classes that mix on one side as on the other, save for coincidences; their
        frequencies solve two systems of linear equations. Where they do not, the strategies come back rounded.
        """
        pure = np.where(played > 0.5, 1.0, 0.0)
        push_mixes, call_mixes = mixes = np.abs(played - pure) > margin
        if push_mixes.sum() != call_mixes.sum():
            return pure
        polished = np.where(mixes, 0.0, pure)
        call_slopes = (self.pusher - self.stolen * self.chance)[np.ix_(push_mixes, call_mixes)]
        push_slopes = (self.caller + self.stolen * self.chance)[np.ix_(push_mixes, call_mixes)].T
        try:
            call = np.linalg.solve(call_slopes, -self.push_gains(polished[1])[push_mixes])
            push = np.linalg.solve(push_slopes, -self.call_gains(polished[0])[call_mixes])
        except np.linalg.LinAlgError:
            return pure
        polished[0, push_mixes], polished[1, call_mixes] = np.clip(push, 0.0, 1.0), np.clip(call, 0.0, 1.0)
        return polished
