# SPDX-License-Identifier: Apache-2.0
"""What strategies earn against responses: v_f, and its mean and spread where the response is drawn."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.responses.forms import Table
from equipoise.responses.on_tree import OnTree
from equipoise.responses.protocol import Response
from equipoise.responses.streams import Purpose, spawn_stream

__all__ = ["ResponseValue", "estimate_deviation", "response_value"]

FloatArray = npt.NDArray[np.float64]

FEWEST_DRAWS = 5
NORMAL_95 = 1.959963984540054  # standard errors on each side of an interval of 95 %


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ResponseValue:
    """What the evaluated player earns, in units of utility; up is good.

    >>> value = ResponseValue(mean=0.25, half_width=0.02, num_responses=100)
    >>> value.mean - value.half_width > 0.2
    True
    """

    mean: float
    half_width: float  # of the interval of 95 %; 0 for deterministic responses, infinite after a single draw of others
    num_responses: int  # independent draws, each evaluated exactly

    @classmethod
    def of(cls, samples: FloatArray, response: Response) -> ResponseValue:
        """Returns the mean of exact values of independent draws of a response, with its interval."""
        error = math.inf
        if response.deterministic:
            error = 0.0
        elif samples.size > 1:
            error = float(np.std(samples, ddof=1)) / math.sqrt(samples.size)
        return cls(mean=float(np.mean(samples)), half_width=NORMAL_95 * error, num_responses=int(samples.size))


def response_value(
    on_tree: OnTree,
    strategy: Table,
    response: Response,
    seats: tuple[int, ...] = (0, 1),
    *,
    seed: int = 0,
    num_responses: int = 100,
    seconds: float = math.inf,
) -> ResponseValue:
    """Returns v_f of a strategy `[Q]`: its own utility against the answer, as a mean over its seats.

    Args:
        on_tree: the tree.
        strategy: both players' parts; in seat s only that of s is used.
        response: answers in the other seat.
        seats: in which the strategy plays.
        seed: of the draws, which no training run shares.
        num_responses: draws of a response that is not deterministic; each is evaluated exactly.
        seconds: after which no draw is begun beyond the first few.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import BestResponse
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> uniform = CFRSolver(tree).average_strategy()
    >>> round(response_value(OnTree(tree), uniform, BestResponse(tree)).mean, 4)
    -0.4583
    """
    began = time.perf_counter()
    if num_responses < 1:
        raise ConfigError(f"num_responses must be at least 1, got {num_responses}")
    count = 1 if response.deterministic else num_responses
    values = np.zeros(count)
    for draw in range(count):
        if draw >= FEWEST_DRAWS and time.perf_counter() - began > seconds:
            return ResponseValue.of(values[:draw], response)
        for seat in seats:
            rng = spawn_stream(seed, Purpose.EVALUATION, seat, draw)
            profile = response.respond(strategy, 1 - seat, rng)
            values[draw] += on_tree.value(profile, seat) / len(seats)
    return ResponseValue.of(values, response)


def estimate_deviation(
    on_tree: OnTree,
    strategies: Sequence[Table],
    response: Response,
    seat: int,
    *,
    seed: int = 0,
    num_responses: int = 100,
) -> float:
    """Returns a lower bound, up to sampling error, on the delta with which a response is pretty good on average.

    That is the most that the responder would have gained, over pairs of the given strategies, had it answered the other
    one of the pair ([D15] definition 16). Other strategies may show more: this never proves that a response is good.

    Args:
        on_tree: the tree.
        strategies: `[Q]` each, to be answered.
        response: in `seat`.
        seat: of the responder.
        seed: of the draws.
        num_responses: to each strategy, if the response is not deterministic.
    """
    count = 1 if response.deterministic else num_responses
    form = on_tree.form
    plans = [
        np.mean(
            [
                form.realize(response.respond(strategy, seat, spawn_stream(seed, Purpose.EVALUATION, place, draw)))
                for draw in range(count)
            ],
            axis=0,
        )
        for place, strategy in enumerate(strategies)
    ]
    worst = 0.0
    for truth, own in enumerate(strategies):
        facing = form.face(form.realize(own), seat)
        values = [form.earn(plan, seat, facing) for plan in plans]
        worst = max(worst, max(values) - values[truth])
    return worst
