# SPDX-License-Identifier: Apache-2.0
"""Opponents that are one thing with some probability and another else: restricted Nash and data-biased responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.checks import check_number
from equipoise.core.errors import ConfigError
from equipoise.core.formatting import show_given
from equipoise.core.interruption import IsInterrupted, Listener
from equipoise.responses.forms import PlayForm, PlayTree, Table, Updates
from equipoise.responses.on_tree import OnTree
from equipoise.responses.protocol import Response
from equipoise.solvers.rules import CFR, Rule
from equipoise.solvers.saved_state import SavedArrays, name_tables, overwrite_tables, read_count

__all__ = ["AverageResponse", "DataBiasedResponse", "MimicResponse", "MixedResponse", "trust_counts"]


def _check_probability(probability: float) -> None:
    check_number("the probability of the first response", probability)
    if not 0 <= probability <= 1:
        raise ConfigError(f"the probability of the first response must be from 0 to 1, got {probability}")


class _Mix(OnTree):
    """What mixtures share: strategies are mixed as whole plans, so that values are mixed too."""

    parts: tuple[Response, ...]  # whose answers are mixed

    def listen(self, is_interrupted: IsInterrupted) -> None:
        """Lets the long answers of all parts ask whether they are still wanted."""
        super().listen(is_interrupted)
        for part in self.parts:
            if isinstance(part, Listener):
                part.listen(is_interrupted)

    def mix(self, first: Table, second: Table, probability: float, seat: int) -> Table:
        """Returns `[Q]` what plays `first` with a probability and else `second`, in `seat`; `first` elsewhere."""
        plan = probability * self.form.realize(first) + (1.0 - probability) * self.form.realize(second)
        return self.combine(first, self.form.play(plan), seat)


class MixedResponse(_Mix):
    """One response with probability p, another else: with a model and a best response, restricted Nash response.

    Paper: [D15] 2.6 and 4.3; Johanson, Zinkevich & Bowling 2007, "Computing Robust Counter-Strategies".
    Symbols: f o^p g -> first, probability, second.
    Departs from the paper: nothing; the equivalent behaviour strategy is played rather than a coin tossed.
    Checked by: tests/responses/test_mixtures.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import BestResponse, StaticResponse
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> model = StaticResponse(tree, CFRSolver(tree).average_strategy())
    >>> MixedResponse(tree, model, BestResponse(tree), 0.8).name
    '0.8 static + 0.2 best'
    """

    def __init__(
        self, tree: PlayTree | PlayForm, first: Response, second: Response, probability: float, *, name: str = ""
    ) -> None:
        super().__init__(tree)
        _check_probability(probability)
        for part in (first, second):
            if not callable(getattr(part, "respond", None)):
                raise ConfigError(f"mixed are responses such as BestResponse(tree), got {show_given(part)}")
        self.first, self.second, self.probability = first, second, probability
        self.parts = first, second
        self.name = name or f"{probability:g} {first.name} + {1 - probability:g} {second.name}"

    @property
    def deterministic(self) -> bool:
        """Returns whether both parts are."""
        return self.first.deterministic and self.second.deterministic

    @property
    def is_pretty_good(self) -> bool:
        """Returns whether both parts are: then so is the mixture ([D15] corollary 1)."""
        return self.first.is_pretty_good and self.second.is_pretty_good

    def respond(self, strategy: Table, seat: int, rng: np.random.Generator) -> Table:
        """Returns `[Q]` the mixture of both answers."""
        first, second = (part.respond(strategy, seat, rng) for part in self.parts)
        return self.mix(first, second, self.probability, seat)


class AverageResponse(_Mix):
    """Each of some responses as often: the mean of their plans, as `MixedResponse` mixes two.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import BestResponse, StaticResponse
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> model = StaticResponse(tree, CFRSolver(tree).average_strategy())
    >>> AverageResponse(tree, [model, BestResponse(tree)]).name
    'average of static, best'
    """

    def __init__(self, tree: PlayTree | PlayForm, parts: Sequence[Response], *, name: str = "") -> None:
        super().__init__(tree)
        if not parts:
            raise ConfigError("an average needs at least one response, got none")
        self.parts = tuple(parts)
        self.name = name or f"average of {', '.join(part.name for part in parts)}"

    @property
    def deterministic(self) -> bool:
        """Returns whether all parts are."""
        return all(part.deterministic for part in self.parts)

    @property
    def is_pretty_good(self) -> bool:
        """Returns whether all parts are: then so is their mixture ([D15] corollary 1)."""
        return all(part.is_pretty_good for part in self.parts)

    def respond(self, strategy: Table, seat: int, rng: np.random.Generator) -> Table:
        """Returns `[Q]` the mean of all answers."""
        answers = [part.respond(strategy, seat, rng) for part in self.parts]
        plan = self.form.realize(answers[0])
        for answer in answers[1:]:
            plan += self.form.realize(answer)
        return self.combine(strategy, self.form.play(plan / len(answers)), seat)


class MimicResponse(_Mix):
    """One response with probability p, else a regret minimiser that learns against what it meets.

    It remembers, so it is no response function; in training it takes the place of a best response at less cost.

    Paper: [D15] 4.3.1, theorem 13.
    Symbols: A -> the tables of CFR in the responder's seat.
    Departs from the paper: by default both parts play and A learns in every iteration, weighted; `is_sampled` tosses
        the paper's coin, and A plays and learns on its own iterations alone.
    Checked by: tests/responses/test_mixtures.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import BestResponse
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> MimicResponse(tree, BestResponse(tree), 0.5, seat=0).name
    '0.5 best + 0.5 mimic'
    """

    deterministic = False
    is_pretty_good = False

    def __init__(
        self,
        tree: PlayTree | PlayForm,
        first: Response,
        probability: float,
        *,
        seat: int,
        rule: Rule | None = None,
        is_sampled: bool = False,
    ) -> None:
        """Begins without regrets.

        Args:
            tree: the game.
            first: the response with probability `probability`.
            probability: in [0, 1].
            seat: of the responder, the only one that it can play in.
            rule: of the regret minimiser, `CFR()` if None.
            is_sampled: whether a coin decides who plays.
        """
        super().__init__(tree)
        _check_probability(probability)
        self.first, self.probability, self.seat = first, probability, seat
        self.parts = (first,)
        self.rule = rule or CFR()
        self.is_sampled = is_sampled
        kind = "sampled mimic" if is_sampled else "mimic"
        self.name = f"{probability:g} {first.name} + {1 - probability:g} {kind}"
        self.tables: Any = self.form.allocate(self.rule)
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        overwrite_tables(name_tables(self.tables), name_tables(self.form.allocate(self.rule)))
        self.num_updates = 0

    def respond(self, strategy: Table, seat: int, rng: np.random.Generator) -> Table:
        """Returns `[Q]` the mixture, and lets the regret minimiser learn from `strategy`."""
        if seat != self.seat:
            raise ConfigError(f"a mimic made for seat {self.seat} cannot play in seat {seat}")
        if self.is_sampled and rng.random() < self.probability:
            return self.first.respond(strategy, seat, rng)
        learnt = self.form.current(self.rule, self.tables, has_played=self.num_updates > 0)
        answer = self.combine(strategy, learnt, seat)
        if not self.is_sampled:
            answer = self.mix(self.first.respond(strategy, seat, rng), answer, self.probability, seat)
        self._learn(strategy)
        return answer

    def _learn(self, strategy: Table) -> None:
        self.num_updates += 1
        facing = self.form.face(self.form.realize(strategy), self.seat)
        self.form.learn(Updates.tabulate(self.rule, self.num_updates, 1), self.tables, self.seat, facing)

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which it goes on to the bit."""
        return {**name_tables(self.tables), "num_updates": np.array(self.num_updates)}

    def restore(self, state: SavedArrays) -> None:
        """Overwrites what it has learnt with a saved state."""
        num_updates = read_count(state, "num_updates")
        overwrite_tables(name_tables(self.tables), state)
        self.num_updates = num_updates


class DataBiasedResponse(OnTree):
    """The best of the strategies that follow a model at every information set with a probability of its own.

    Paper: Johanson & Bowling 2009, "Data Biased Robust Counter Strategies" (not in [D15]).
    Symbols: P_conf(I) -> trust; sigma_fix -> model.
    Departs from the paper: the free part is a best response, not a regret minimiser.
    Checked by: tests/responses/test_mixtures.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> model = CFRSolver(tree).average_strategy()
    >>> DataBiasedResponse(tree, model, np.full(tree.size.num_infosets, 0.5)).name
    'data-biased'
    """

    deterministic = True
    is_pretty_good = True

    def __init__(self, tree: PlayTree | PlayForm, model: Table, trust: Table, *, name: str = "data-biased") -> None:
        """Checks the model.

        Args:
            tree: the game.
            model: `[Q]` what the responder is believed to play.
            trust: `[I]` with which probability it does, at each information set.
            name: as tables print it.
        """
        super().__init__(tree)
        self.check_strategy("a model", model)
        num_rows = self.form.row_totals(model).size
        if trust.shape != (num_rows,) or not ((trust >= 0) & (trust <= 1)).all():
            raise ConfigError(
                f"trust must be a probability for each of {num_rows} information sets, got shape "
                f"{trust.shape} with values from {trust.min(initial=0):g} to {trust.max(initial=0):g}"
            )
        self.name, self.model, self.trust = name, model, trust

    def respond(self, strategy: Table, seat: int, rng: np.random.Generator) -> Table:
        """Returns `[Q]` model and best response, mixed at every information set."""
        return self.combine(strategy, self.form.biased_response(strategy, seat, self.model, self.trust), seat)


def trust_counts(tree: PlayTree | PlayForm, counts: Table, *, most: float, full_at: int = 10) -> Table:
    """Returns `[I]` a trust that grows with what was seen: linearly up to `most` at `full_at` observations.

    Johanson & Bowling 2009 call this the 0-10 linear rule.

    Args:
        tree: the game.
        counts: `[Q]` how often each action was seen.
        most: largest trust.
        full_at: observations of an information set that earn it.
    """
    _check_probability(most)
    seen = OnTree(tree).form.row_totals(counts)
    trust: Table = most * np.minimum(seen / full_at, 1.0)
    return trust
