# SPDX-License-Identifier: Apache-2.0
"""What a response is: a rule that answers a fixed strategy with one of its own.

Paper: Davis 2015, "Using Response Functions for Strategy Training and Evaluation", MSc thesis, University of Alberta
    [D15], chapter 3.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from equipoise.responses.forms import Table
from equipoise.solvers.saved_state import SavedArrays

__all__ = ["Response", "StatefulResponse"]


class Response(Protocol):
    """A response function over one tree: f of [D15] 3.3, or a draw from a distribution F of them.

    A response is pretty good ([D15] definition 12) if answering the truth never hurts the responder: no answer to
    another strategy would have earned it more. That is so exactly if it picks the best from a fixed set.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import BestResponse
    >>> from equipoise.trees import build_history_tree
    >>> response: Response = BestResponse(build_history_tree(make_game("kuhn")))
    >>> response.deterministic, response.is_pretty_good
    (True, True)
    """

    @property
    def name(self) -> str:
        """Returns a short name with the numbers that matter, as tables print it."""
        ...

    @property
    def deterministic(self) -> bool:
        """Returns whether equal strategies always get equal answers, whatever `rng` is."""
        ...

    @property
    def is_pretty_good(self) -> bool:
        """Returns whether every draw is known to be a pretty-good response; False: nothing is known."""
        ...

    def respond(self, strategy: Table, seat: int, rng: np.random.Generator) -> Table:
        """Returns `[Q]` an answer for the player in `seat` to what the other plays in `strategy` `[Q]`.

        The other's part of the answer is that of `strategy`, so that the answer is a profile. `strategy` is left alone,
        and nothing is remembered from one call to the next.
        """
        ...


@runtime_checkable
class StatefulResponse(Protocol):
    """An opponent that learns from call to call: no response function, but it can stand in for one in training.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import BestResponse, MimicResponse
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> isinstance(MimicResponse(tree, BestResponse(tree), 0.5, seat=0), StatefulResponse)
    True
    """

    def reset(self) -> None:
        """Forgets everything."""
        ...

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which it goes on to the bit."""
        ...

    def restore(self, state: SavedArrays) -> None:
        """Overwrites what it has learnt with a saved state."""
        ...
