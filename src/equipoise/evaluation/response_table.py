# SPDX-License-Identifier: Apache-2.0
"""What a strategy earns against graded responses, from weak ones to the best: how hard it is to exploit.

Paper: Davis 2015, MSc thesis [D15], 3.3 and 3.4.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import AbandonedError, ConfigError
from equipoise.core.interruption import IsInterrupted, Listener, never
from equipoise.responses.on_tree import OnTree
from equipoise.responses.protocol import Response, StatefulResponse
from equipoise.responses.streams import Purpose, spawn_stream
from equipoise.responses.values import ResponseValue

__all__ = ["GradedRow", "grade_strategy"]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GradedRow:
    """One response, as far as it was drawn."""

    response: str
    value: ResponseValue  # mean over both seats
    seat_values: tuple[float, float]  # means with the strategy in seats 0 and 1
    is_pretty_good: bool  # so that the value is that of the best in a fixed set
    num_wanted: int  # draws
    seconds: float

    @property
    def is_done(self) -> bool:
        """Returns whether all draws were made."""
        return self.value.num_responses == self.num_wanted

    def as_json(self) -> dict[str, Any]:
        """Returns the row as JSON values."""
        return {
            "response": self.response,
            "mean": self.value.mean,
            "half_width": self.value.half_width,
            "num_responses": self.value.num_responses,
            "seat_values": list(self.seat_values),
            "is_pretty_good": self.is_pretty_good,
            "seconds": self.seconds,
        }


def grade_strategy(
    on_tree: OnTree,
    strategy: FloatArray,
    responses: Sequence[Response],
    *,
    num_responses: int = 100,
    seed: int = 0,
    is_interrupted: IsInterrupted = never,
) -> Iterator[GradedRow]:
    """Yields the row of each response after every draw, the last of which is the whole.

    Args:
        on_tree: the tree.
        strategy: `[Q]` evaluated in both seats.
        responses: in the order of the rows.
        num_responses: draws of those that are not deterministic, each evaluated exactly in both seats.
        seed: of the draws; training never shares any.
        is_interrupted: asked within draws that take long, too; once true, the rows end.
    """
    if num_responses < 1:
        raise ConfigError(f"num_responses must be at least 1, got {num_responses}")
    for response in responses:
        if isinstance(response, StatefulResponse):
            raise ConfigError(f"{response.name} learns as it plays: it is for training, not for evaluation")
        if isinstance(response, Listener):
            response.listen(is_interrupted)
        began = time.perf_counter()
        count = 1 if response.deterministic else num_responses
        values = np.zeros((count, 2))
        for draw in range(count):
            if is_interrupted():
                return
            try:
                for seat in (0, 1):
                    rng = spawn_stream(seed, Purpose.EVALUATION, seat, draw)
                    values[draw, seat] = on_tree.value(response.respond(strategy, 1 - seat, rng), seat)
            except AbandonedError:
                return
            made = values[: draw + 1]
            yield GradedRow(
                response=response.name,
                value=ResponseValue.of(made.mean(axis=1), response),
                seat_values=(float(made[:, 0].mean()), float(made[:, 1].mean())),
                is_pretty_good=response.is_pretty_good,
                num_wanted=count,
                seconds=time.perf_counter() - began,
            )
