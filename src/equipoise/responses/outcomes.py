# SPDX-License-Identifier: Apache-2.0
"""One call from a game and a response to a strategy trained against it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.checks import check_callable
from equipoise.core.errors import AbandonedError, ConfigError
from equipoise.core.formatting import brief_repr, format_small, format_utility, show_given
from equipoise.core.progress import Progress
from equipoise.games.base import Game
from equipoise.games.public import HasPublicForm
from equipoise.games.registry import take_game
from equipoise.kernels.calls import check_integer
from equipoise.responses.against import AgainstSolver, SeatLearner
from equipoise.responses.exact import StaticResponse
from equipoise.responses.forms import PlayTree, Table
from equipoise.responses.guarantees import Guarantee, state_guarantee
from equipoise.responses.hand_buckets import BucketForm, HandBuckets
from equipoise.responses.notation import parse_response
from equipoise.responses.protocol import Response, StatefulResponse
from equipoise.responses.values import ResponseValue, response_value
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.driver import run
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.rules import Rule
from equipoise.solvers.stopping import DEFAULT_SECONDS, Stopping, StopReason
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.cache import load_or_build_history_tree, load_or_build_public_tree
from equipoise.trees.history import HistoryTree
from equipoise.trees.holdem.tree import HoldemTree
from equipoise.trees.public import PublicTree
from equipoise.trees.vector import TreeStrategy

__all__ = ["REPORT_SECONDS", "AgainstSolution", "SeatOutcome", "report_seats", "solve_against"]


REPORT_SECONDS: Final = 2.0  # that drawing responses to the result of a run may take


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SeatOutcome:
    """How one seat's learner fared.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import BestResponse
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> seat = solve_against(tree, BestResponse(tree), iterations=100).seats[1]
    >>> seat.seat, seat.epsilon < 0.1
    (1, True)
    """

    seat: int
    epsilon: float  # measured regret, in units of utility
    average_value: ResponseValue | None  # v_f of the average; None for opponents that are no functions, or interrupted
    current_value: ResponseValue | None  # v_f of what would be played next
    guarantee: Guarantee  # of the average
    worst_value: float  # of the average, against a best response
    model_values: dict[str, float]  # of the average, against each strategy that the response is made of, by its name

    __repr__ = brief_repr

    def describe(self, against: str | None) -> str:
        """Returns in words what the average and the current strategy earn, and what theory says."""
        parts = []
        for name, value in (("average", self.average_value), ("current", self.current_value)):
            if value is not None:
                error = f" ± {format_small(value.half_width)}" if 0 < value.half_width < math.inf else ""
                parts.append(f"{name} earns {format_utility(value.mean)}{error}")
        earned = f"against {against}: {', '.join(parts)}; " if parts else ""
        models = "".join(f"{format_utility(value)} against {name}; " for name, value in self.model_values.items())
        sure = (
            f"loses at most {-self.worst_value:.6g}"
            if self.worst_value < 0
            else f"earns at least {self.worst_value:.6g}"
        )
        worst = f"{sure}, against a best response; "
        regret = f"measured regret {format_small(self.epsilon)}"
        return f"{earned}{models}{worst}{regret}; guarantee: {self.guarantee.statement}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AgainstSolution:
    """What training against a response gave.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import FBRResponse
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> solution = solve_against(tree, FBRResponse(tree, 100), iterations=50)
    >>> len(solution.seats), solution.stopped_by.value
    (2, 'iterations')
    """

    strategy: TabularStrategy | TreeStrategy[HoldemTree]  # the average
    current: TabularStrategy | TreeStrategy[HoldemTree]  # what would be played next
    table: Table  # [Q] the average, as the tree numbers it
    evaluation: Evaluation  # exact, of the average as a profile
    seats: tuple[SeatOutcome, ...]
    progress: tuple[Progress, ...]
    stopped_by: StopReason

    __repr__ = brief_repr


def solve_against(
    game: Game[Any] | PlayTree | str,
    response: Response | Callable[[Any], Response] | str,
    *,
    rule: Rule | str | None = None,
    updates_per_response: int = 1,
    seat: int | None = None,
    groups: npt.ArrayLike | HandBuckets | None = None,
    iterations: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    on_progress: Callable[[Progress], None] | None = None,
) -> AgainstSolution:
    """Returns a strategy trained by CFR-f, with its measured regret and the guarantee that applies.

    Args:
        game: two players, zero sum, or its name; or its tree, of histories, public states or hold'em hands.
        response: over the tree, or a function that makes one from it (the class `BestResponse` will do), or as it is
            typed: `"uct:1000"`.
        rule: of CFR, or its name; `CFR()` if None, the paper's.
        updates_per_response: how many updates an answer stands for; above 1 no theorem applies.
        seat: of the learner; None: one learner in each seat.
        groups: `[I]` information sets that learners cannot tell apart (CFR-BR in an abstraction), or the buckets of
            their hands; None: they see everything.
        iterations: stop after so many updates.
        seconds: stop after this time; a minute if neither is given.
        seed: of all draws.
        on_progress: called with each record.

    >>> solution = solve_against("kuhn", "best", iterations=1000)
    >>> solution.seats[0].guarantee.theorem, solution.evaluation.exploitability < 0.05
    ('Theorem 6', True)
    """
    tree = game if isinstance(game, PlayTree) else _build_tree(take_game(game))
    bound: Any = response(tree) if callable(response) else response
    if isinstance(bound, str):
        bound = parse_response(bound).bind(tree, seat=seat)
    elif not callable(getattr(bound, "respond", None)):
        raise ConfigError(f"response must be a response such as BestResponse, or its name, got {response!r}")
    chosen = parse_rule(rule) if isinstance(rule, str) else rule
    if chosen is not None and (isinstance(chosen, type) or not isinstance(chosen, Rule)):
        raise ConfigError(f"rule must be a rule such as DCFR(), or its name, got {show_given(rule)}")
    check_callable("on_progress", on_progress)
    if seat is not None:
        check_integer("seat", seat, 0)
    if iterations is None and seconds is None:
        seconds = DEFAULT_SECONDS
    stopping = Stopping(iterations=iterations, seconds=seconds)
    solver = AgainstSolver(
        tree,
        bound,
        rule=chosen,
        seat=seat,
        updates_per_response=updates_per_response,
        seed=seed,
        groups=groups,
    )
    records = []
    for record in run(solver, iterations=stopping.iterations, seconds=stopping.seconds):
        records.append(record)
        if on_progress is not None:
            on_progress(record)
    average = solver.average_strategy()
    return AgainstSolution(
        strategy=_hold(tree, average),
        table=average,
        current=_hold(tree, solver.current_strategy()),
        evaluation=solver.evaluate(),
        seats=report_seats(solver, seed=seed),
        progress=tuple(records),
        stopped_by=stopping.reason(records[-1]) or StopReason.INTERRUPTED,
    )


def _hold(tree: PlayTree, table: Table) -> TabularStrategy | TreeStrategy[HoldemTree]:
    """Returns a table `[Q]` as the strategy that users ask."""
    if isinstance(tree, HoldemTree):
        return TreeStrategy(tree, table)
    return TabularStrategy.from_tree(tree, table)


def _build_tree(game: Game[Any]) -> HistoryTree | PublicTree:
    """Returns the history tree, or the public tree of a game that says its public states itself."""
    return load_or_build_public_tree(game) if isinstance(game, HasPublicForm) else load_or_build_history_tree(game)


def find_models(response: object) -> tuple[StaticResponse, ...]:
    """Returns the strategies that a response is made of, itself among them."""
    if isinstance(response, StaticResponse):
        return (response,)
    return tuple(model for part in getattr(response, "parts", ()) for model in find_models(part))


def report_seats(
    solver: AgainstSolver, *, seed: int = 0, num_responses: int = 100, seconds: float = math.inf
) -> tuple[SeatOutcome, ...]:
    """Returns how each learner of a run fared; responses of the evaluation are drawn apart from those of training.

    Args:
        solver: the run.
        seed: of the draws.
        num_responses: draws behind each value against a response that is not deterministic.
        seconds: that the draws may take in all, a few for each value apart.
    """
    share = seconds / (2 * len(solver.learners))
    return tuple(_report_seat(solver, learner, seed, num_responses, share) for learner in solver.learners)


def _report_seat(
    solver: AgainstSolver, learner: SeatLearner, seed: int, num_responses: int, seconds: float
) -> SeatOutcome:
    epsilon = learner.measure_regret()
    average = learner.average_strategy()

    def value(strategy: npt.NDArray[np.float64]) -> ResponseValue | None:
        if isinstance(solver.response, StatefulResponse):
            return None
        try:
            return response_value(
                solver.full,
                strategy,
                solver.response,
                (learner.seat,),
                seed=seed,
                num_responses=num_responses,
                seconds=seconds,
            )
        except AbandonedError:  # an interrupted run does not wait for answers that take long
            return None

    return SeatOutcome(
        seat=learner.seat,
        epsilon=epsilon,
        average_value=value(average),
        current_value=value(learner.current_strategy()),
        guarantee=state_guarantee(
            solver.response,
            epsilon=epsilon,
            num_iterations=learner.effective_iterations,
            updates_per_response=learner.updates_per_response,
            utility_range=solver.full.form.utility_range,
            is_abstracted=learner.is_abstracted,
            forgets=isinstance(learner.form, BucketForm) and not learner.form.buckets.remembers,
        ),
        worst_value=-solver.full.form.answer(average, 1 - learner.seat)[0],
        model_values={
            model.name: solver.full.value(solver.full.combine(average, model.strategy, 1 - learner.seat), learner.seat)
            for model in find_models(solver.response)
        },
    )
