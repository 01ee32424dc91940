# SPDX-License-Identifier: Apache-2.0
"""What theory promises of a strategy that was trained against a response, in words and numbers.

Paper: [D15] theorems 6 to 11 and 13, with two corrections: the exponent of theorem 10 has T, not T squared (it is
    Hoeffding's for a mean), and theorem 12 and corollary 1 allow phi / p, not phi.
"""

from __future__ import annotations

import dataclasses
import math

from equipoise.responses.protocol import Response, StatefulResponse

__all__ = ["Guarantee", "failure_probability", "state_guarantee"]

CONFIDENCE = 0.95  # with which the slack of sampled responses is stated


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """How far a learner's average can be from the best against its response.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import BestResponse, solve_against
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> solve_against(tree, BestResponse(tree), iterations=10).seats[0].guarantee.probability
    1.0
    """

    theorem: str | None  # of [D15]; None: no theorem applies
    shortfall: float | None  # the average earns at least the optimum less this, in units of utility
    probability: float  # with which that holds
    statement: str  # in words


def failure_probability(num_iterations: int, gamma: float, utility_range: float) -> float:
    """Returns the most that theorem 10 leaves to chance: 2 exp(-T gamma^2 / (2 Delta^2)).

    The paper prints T^2. Its proof applies Hoeffding's inequality to a mean of T draws, which gives T; since iterates
    depend on earlier draws it is Azuma's, with the same exponent.

    >>> round(failure_probability(100, 0.2, 1.0), 4)
    0.2707
    """
    return min(1.0, 2.0 * math.exp(-num_iterations * gamma**2 / (2.0 * utility_range**2)))


def state_guarantee(
    response: Response,
    *,
    epsilon: float,
    num_iterations: float,
    updates_per_response: int,
    utility_range: float,
    is_abstracted: bool = False,
    forgets: bool = False,
) -> Guarantee:
    """Returns what holds for the average of a run whose measured regret is `epsilon`.

    Args:
        response: the opponent.
        epsilon: measured regret.
        num_iterations: of equal weight; where weights differ, as many as leave a mean as much to chance.
        updates_per_response: how many updates an answer stood for.
        utility_range: of the game.
        is_abstracted: whether the learner's strategies, and so the best of them, are those of an abstraction.
        forgets: whether that abstraction forgets what it has seen.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import BestResponse
    >>> from equipoise.trees import build_history_tree
    >>> response = BestResponse(build_history_tree(make_game("kuhn")))
    >>> state_guarantee(
    ...     response, epsilon=0.01, num_iterations=100, updates_per_response=1, utility_range=4.0
    ... ).shortfall
    0.01
    """
    if num_iterations <= 0:
        return _nothing("none: nothing was learnt yet", response)
    best = f"the best value {'in its abstraction ' if is_abstracted else ''}against {response.name}"
    if forgets:
        return _nothing("none: the learner's buckets forget those of earlier streets", response)
    if updates_per_response > 1:
        return _nothing(
            f"none: each answer stood for {updates_per_response} updates, so it did not answer what was played",
            response,
        )
    if isinstance(response, StatefulResponse):
        return Guarantee(
            theorem="Theorem 13",
            shortfall=None,
            probability=1.0,
            statement=f"optimal against {response.name} with a best response in the mimic's place as iterations grow "
            "(Theorem 13); nothing is said of this many",
        )
    if not response.is_pretty_good:
        return _nothing("none: the response is not known to be pretty good, and epsilon bounds regret alone", response)
    if response.deterministic:
        return Guarantee(
            theorem="Theorem 6",
            shortfall=epsilon,
            probability=1.0,
            statement=f"the average earns at least {best} less {epsilon:.4g}, the measured regret (Theorem 6)",
        )
    gamma = utility_range * math.sqrt(2.0 * math.log(2.0 / (1.0 - CONFIDENCE)) / num_iterations)
    return Guarantee(
        theorem="Theorem 10",
        shortfall=epsilon + gamma,
        probability=CONFIDENCE,
        statement=f"with probability {CONFIDENCE:g} the average earns at least {best}, on average over draws, less "
        f"{epsilon + gamma:.4g}: measured regret {epsilon:.4g} and chance {gamma:.4g} "
        "(Theorem 10, with T for T^2 in its exponent)",
    )


def _nothing(reason: str, response: Response) -> Guarantee:
    return Guarantee(theorem=None, shortfall=None, probability=0.0, statement=f"{reason} ({response.name})")
