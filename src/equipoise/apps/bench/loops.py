# SPDX-License-Identifier: Apache-2.0
"""Rivers iterated by the native module and in torch: iterations a second by rule, and time to 3 mbb a game.

The second is the sum of what both players' best responses gain, as in Supremus's paper; evaluations are not counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from equipoise.core.errors import MissingExtraError
from equipoise.kernels.vector import VectorKernel
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, DCFRPlus, LinearCFR, Rule
from equipoise.trees.holdem.tree import HoldemTree

__all__ = ["LOOPS", "LOOP_RULES", "TARGET_MBB", "measure_loop"]

LOOPS: Final = ("core", "torch")
LOOP_RULES: Final[dict[str, Rule]] = {
    "CFR": CFR(),
    "CFR+": CFRPlus(),
    "LCFR": LinearCFR(),
    "DCFR": DCFR(),
    "DCFR+": DCFRPlus(),
}
TARGET_MBB: Final = 3.0  # a game, of both players together
FIRST_LOOK: Final = 50  # iterations before the first evaluation
MBB: Final = 1000


def measure_loop(
    tree: HoldemTree, loop: str, name: str, *, iterations: int, threads: int, limit_seconds: float
) -> dict[str, Any] | None:
    """Returns what a loop takes, None if torch is not installed.

    Args:
        tree: of a river.
        loop: `core` or `torch`.
        name: of the rule.
        iterations: that are timed.
        threads: of either loop.
        limit_seconds: after which the target is given up.
    """
    kernel = None
    if loop == "torch":
        bind = _find_torch()
        if bind is None:
            return None
        kernel = bind(tree.arrays)
    solver = CFRSolver(tree, LOOP_RULES[name], num_threads=threads, kernel=kernel)
    solver.iterate(1)
    began = time.perf_counter()
    solver.iterate(iterations)
    rate = iterations / (time.perf_counter() - began)
    solver.reset()
    return {
        "loop": loop,
        "rule": name,
        "iterations_per_second": rate,
        "seconds_to_target": _time_to_target(solver, limit_seconds),
        "target_iterations": solver.iteration,
    }


def _time_to_target(solver: CFRSolver[HoldemTree], limit_seconds: float) -> float | None:
    """Returns the seconds of iterations until best responses gain little enough; None if that takes too long."""
    seconds, step = 0.0, FIRST_LOOK
    while seconds < limit_seconds:
        began = time.perf_counter()
        solver.iterate(step)
        seconds += time.perf_counter() - began
        if solver.evaluate().nash_conv * MBB <= TARGET_MBB * solver.tree.spot.big_blind:
            return seconds
        step = max(FIRST_LOOK, solver.iteration // 4)
    return None


def _find_torch() -> Callable[..., VectorKernel] | None:
    try:
        from equipoise.learning.device.kernel import TorchKernel  # noqa: PLC0415  # an extra
    except MissingExtraError:
        return None
    return TorchKernel
