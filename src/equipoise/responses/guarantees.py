# SPDX-License-Identifier: Apache-2.0
"""What theory promises of a strategy that was trained against a response, in words and numbers.

Paper: [D15] theorems 6 to 11 and 13, with two corrections: the exponent of theorem 10 has T, not T squared (it is
    Hoeffding's for a mean), and theorem 12 and corollary 1 allow phi / p, not phi.
"""

from __future__ import annotations

import dataclasses
import math

from equipoise.core.errors import ConfigError
from equipoise.responses.protocol import Response, StatefulResponse

__all__ = ["Guarantee", "failure_probability", "state_guarantee", "state_iterates"]

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
    delta: float | None = None,
    failing: float | None = None,
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
        delta: utility within which the response is pretty good, in the mean of its draws; `estimate_deviation` shows
            how large it is at least. None: what the response says of itself.
        failing: the probability with which a draw is not pretty good at all, for theorem 11; None: unknown.

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
    delta = _find_delta(delta, failing, utility_range)
    if not response.is_pretty_good and delta is None:
        return _nothing("none: the response is not known to be pretty good, and epsilon bounds regret alone", response)
    if response.deterministic and failing is None:
        if delta is not None:
            return Guarantee(
                theorem="Theorem 8",
                shortfall=epsilon + 2.0 * delta,
                probability=1.0,
                statement=f"if {response.name} is pretty good to within {delta:.4g}, the average earns at least {best} "
                f"less {epsilon + 2.0 * delta:.4g}: measured regret {epsilon:.4g} and twice that (Theorem 8)",
            )
        return Guarantee(
            theorem="Theorem 6",
            shortfall=epsilon,
            probability=1.0,
            statement=f"the average earns at least {best} less {epsilon:.4g}, the measured regret (Theorem 6)",
        )
    return _state_of_draws(best, epsilon, num_iterations, utility_range, delta, failing)


def state_iterates(response: Response, *, epsilon: float, share: float, delta: float | None = None) -> Guarantee:
    """Returns what holds for an iterate drawn at random, all weighing alike: theorem 7, or 9 with a delta.

    Args:
        response: the opponent, deterministic.
        epsilon: measured regret.
        share: of iterates that may be worse, above 0 and at most 1.
        delta: utility within which the response is pretty good; None: what it says of itself.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import BestResponse
    >>> from equipoise.trees import build_history_tree
    >>> response = BestResponse(build_history_tree(make_game("kuhn")))
    >>> state_iterates(response, epsilon=0.01, share=0.25).shortfall
    0.04
    """
    if not 0 < share <= 1:
        raise ConfigError(f"share must be above 0 and at most 1, got {share}")
    if isinstance(response, StatefulResponse) or not response.deterministic:
        return _nothing("none: theorems 7 and 9 are of responses that draw nothing", response)
    if not response.is_pretty_good and delta is None:
        return _nothing("none: the response is not known to be pretty good", response)
    shortfall = (epsilon + (delta or 0.0)) / share
    theorem = "Theorem 7" if delta is None else "Theorem 9"
    return Guarantee(
        theorem=theorem,
        shortfall=shortfall,
        probability=1.0 - share,
        statement=f"at most {share:.0%} of the iterates earn less than the best value against {response.name} less "
        f"{shortfall:.4g} ({theorem})",
    )


def _find_delta(delta: float | None, failing: float | None, utility_range: float) -> float | None:
    """Returns the delta that is given, or that a probability of failing amounts to."""
    if delta is not None and failing is not None:
        raise ConfigError(f"a guarantee takes delta or failing, got delta {delta:g} and failing {failing:g}")
    if delta is not None and not 0 <= delta < math.inf:
        raise ConfigError(f"delta must be at least 0 and finite, got {delta}")
    if failing is None:
        return delta
    if not 0 <= failing <= 1:
        raise ConfigError(f"failing must be from 0 to 1, got {failing}")
    return failing * utility_range


def _state_of_draws(
    best: str,
    epsilon: float,
    num_iterations: float,
    utility_range: float,
    delta: float | None,
    failing: float | None,
) -> Guarantee:
    """Returns theorem 10, or 11 where draws fail with a known probability."""
    gamma = utility_range * math.sqrt(2.0 * math.log(2.0 / (1.0 - CONFIDENCE)) / num_iterations)
    theorem = "Theorem 10" if failing is None else "Theorem 11"
    slack = 0.0 if delta is None else 2.0 * delta
    parts = [f"measured regret {epsilon:.4g}"]
    if failing is not None:
        parts.append(f"{slack:.4g} for draws that fail with probability {failing:g}")
    elif slack:
        parts.append(f"twice the {delta:.4g} within which draws are pretty good")
    return Guarantee(
        theorem=theorem,
        shortfall=epsilon + slack + gamma,
        probability=CONFIDENCE,
        statement=f"with probability {CONFIDENCE:g} the average earns at least {best}, on average over draws, less "
        f"{epsilon + slack + gamma:.4g}: {', '.join(parts)} and chance {gamma:.4g} "
        f"({theorem}, with T for T^2 in its exponent)",
    )


def _nothing(reason: str, response: Response) -> Guarantee:
    return Guarantee(theorem=None, shortfall=None, probability=0.0, statement=f"{reason} ({response.name})")
