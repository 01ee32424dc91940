# SPDX-License-Identifier: Apache-2.0
"""The excessive gap technique for two-player zero-sum trees, smoothed by dilated entropy."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import run_repr
from equipoise.kernels.arithmetic import dot
from equipoise.kernels.calls import check_integer, check_num_threads
from equipoise.kernels.history import HistoryKernel
from equipoise.kernels.likely import LikelyKernel
from equipoise.kernels.treeplex import TreeplexKernel
from equipoise.solvers.best_response import Evaluation, bind_history_kernel, evaluate
from equipoise.solvers.saved_state import SavedArrays, overwrite_tables, read_count, read_number
from equipoise.trees.history import HistoryTree, check_tree
from equipoise.trees.node_reach import find_node_reach

__all__ = ["EGTConfig", "EGTSolver"]

FloatArray = npt.NDArray[np.float64]

SMALLEST_STEP = 1e-9  # below it rounding decides the excessive-gap condition: the run stands still
ROUNDING = 1e-15  # of the utility range: what the condition may be missed by


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EGTConfig:
    """How strategies are smoothed and steps are chosen.

    >>> import equipoise
    >>> equipoise.solve("kuhn", method="egt", iterations=100).exploitability < 0.01
    True
    """

    # beta_j = 1 + weight_growth * (largest, over actions, sum of beta below), at least 0; on Kuhn, Leduc, Goofspiel-4
    # and Liar's Dice 1x4, 0.5 was as good as any of 0, 0.5, 1, 2 within the noise of the curves
    weight_growth: float = 0.5
    initial_mu: float = 1e-3  # of the utility range, positive; doubled until the excessive-gap condition holds
    initial_step: float = 0.5  # tau, in (0, 1); halved whenever the condition would break
    # c of [B20] 3.4.3, at least 0: gradients of iteration T leave out the branches that chance and the opponent reach
    # with a probability below c/T; 0: none
    threshold: float = 0.0

    def __post_init__(self) -> None:
        if not self.weight_growth >= 0:
            raise ConfigError(f"weight_growth must be at least 0, got {self.weight_growth}")
        if not self.initial_mu > 0:
            raise ConfigError(f"initial_mu must be positive, got {self.initial_mu}")
        if not 0 < self.initial_step < 1:
            raise ConfigError(f"initial_step must be above 0 and below 1, got {self.initial_step}")
        if not 0 <= self.threshold < math.inf:
            raise ConfigError(f"threshold must be at least 0 and finite, got {self.threshold}")


def bind_likely_kernel(tree: HistoryTree, kernel: HistoryKernel) -> LikelyKernel:
    """Returns the histories of a bound tree as walks read them."""
    reach = find_node_reach(tree)
    return LikelyKernel(
        kernel,
        subtree_end=tree.subtree_end,
        last_sequence=reach.last_sequence,
        chance=reach.chance,
        terminal=reach.terminal,
    )


class EGTSolver:
    """A run of the excessive gap technique; an iteration shrinks the smoothing of one player.

    Both players maximise here: with smoothed best-response values phi_i, the excessive-gap condition reads
    `phi_0 + phi_1 <= 0`, and while it holds NashConv is at most `mu_0 D_0 + mu_1 D_1` (`gap_bound`).

    Paper: Nesterov 2005, "Excessive Gap Technique in Nonsmooth Convex Minimization"; Hoda, Gilpin, Pena & Sandholm
        2010, "Smoothing Techniques for Computing Nash Equilibria of Sequential Games"; Kroer, Farina & Sandholm 2018,
        "Solving Large Sequential Games with the Excessive Gap Technique", arXiv:1810.03063.
    Symbols: x, y -> the players' parts of realization; A y, -A'x -> of gains; mu_1, mu_2 -> mu; tau -> step_size; d ->
        dilated entropy with weights beta; D -> diameter.
    Departs from the paper: weights beta are a practical choice without its strong-convexity constant, so neither the
        initial mu nor tau = 2/(k+3) is given by theory: mu is doubled until the condition holds, tau is halved whenever
        a step would break it, and every step is checked. The player with the larger mu D is shrunk next. Gradients
        of mixtures are mixed instead of recomputed. With thresholds (Brown 2020, thesis section 3.4.3, without theory)
        the condition and its bound are those of gradients without improbable branches.
    Checked by: tests/solvers/test_egt.py, tests/kernels/test_treeplex.py, tests/kernels/test_likely.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> solver = EGTSolver(build_history_tree(make_game("kuhn")), EGTConfig(initial_step=0.25))
    >>> solver.iterate(100)
    >>> solver.evaluate().nash_conv <= solver.gap_bound
    True
    """

    def __init__(self, tree: HistoryTree, config: EGTConfig | None = None, *, num_threads: int = 1) -> None:
        check_tree(tree, HistoryTree)
        if tree.num_players != 2 or not tree.is_zero_sum:
            raise ConfigError(
                f"the excessive gap technique needs a two-player zero-sum game, and {tree.game_label} is not one"
            )
        check_num_threads(num_threads)
        self.tree = tree
        self.config = config or EGTConfig()
        self.num_threads = num_threads
        self.kernel = bind_history_kernel(tree)
        self.treeplex = TreeplexKernel(self.kernel, growth=self.config.weight_growth)
        self.walk = bind_likely_kernel(tree, self.kernel) if self.config.threshold > 0 else None
        self.diameters = np.array([self.treeplex.diameter(player) for player in range(2)])
        self.tolerance = ROUNDING * tree.utility_range
        self.iteration = 0
        self.nodes_touched = 0  # histories visited by gradients
        self.step_size = self.config.initial_step
        self.mu = np.full(2, self.config.initial_mu * (tree.utility_range or 1.0))  # [P] smoothing of each player
        self.realization = np.zeros(self.kernel.num_sequences)  # [Q] reach of both players' sequences
        self.gains = np.zeros(self.kernel.num_sequences)  # [Q] terminal values against the other's realization
        self.find_start()

    __repr__ = run_repr

    @property
    def excess(self) -> float:
        """Returns the sum of smoothed best-response values: not above zero, up to rounding."""
        return self.smoothed_gap(self.gains, self.mu)

    @property
    def gap_bound(self) -> float:
        """Returns what NashConv is at most while the excessive-gap condition holds."""
        return dot(self.mu, self.diameters)

    def find_start(self) -> None:
        """Doubles the smoothing until one response to the centre each way satisfies the excessive-gap condition."""
        centre = self.kernel.realize(self.kernel.normalize(np.zeros(self.kernel.num_sequences)))
        while True:
            _, _, y = self.treeplex.respond(1, self.gradient(1, centre), self.mu[1])
            gains0 = self.gradient(0, y)
            _, _, x = self.treeplex.respond(0, gains0, self.mu[0])
            gains = gains0 + self.gradient(1, x)
            if self.smoothed_gap(gains, self.mu) <= self.tolerance:
                self.realization[:], self.gains[:] = x + y, gains
                return
            self.mu *= 2.0

    def gradient(self, player: int, realization: FloatArray) -> FloatArray:
        """Returns `[Q]` the player's terminal values against the other's reach, 0 at the other's sequences."""
        if self.walk is None:
            self.nodes_touched += self.tree.actor.size
            return self.kernel.terminal_values(player, realization, num_threads=self.num_threads)
        least = self.config.threshold / (self.iteration + 1)
        num_visited, gains = self.walk.terminal_values(player, realization, least)
        self.nodes_touched += num_visited
        return gains

    def smoothed_gap(self, gains: FloatArray, mu: FloatArray) -> float:
        """Returns the sum of both players' smoothed best-response values."""
        return sum(self.treeplex.respond(player, gains, float(mu[player]))[0] for player in range(2))

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, each of which shrinks the smoothing of one player."""
        check_integer("num_iterations", num_iterations, 0)
        for _ in range(num_iterations):
            self.shrink(int(np.argmax(self.mu * self.diameters)))
            self.iteration += 1

    def shrink(self, player: int) -> None:
        """Multiplies a player's smoothing by 1 - tau and moves both strategies so that the condition still holds."""
        other, mu = 1 - player, self.mu
        _, log_bar, x_bar = self.treeplex.respond(player, self.gains, mu[player])
        gains_bar = self.gradient(other, x_bar)
        while self.step_size >= SMALLEST_STEP:
            tau = self.step_size
            gains_hat = (1 - tau) * self.gains + tau * gains_bar  # against x_hat = (1 - tau) x + tau x_bar
            _, _, y_bar = self.treeplex.respond(other, gains_hat, mu[other])
            gains_y = self.gradient(player, y_bar)
            _, _, x_tilde = self.treeplex.respond(player, gains_y, (1 - tau) * mu[player] / tau, log_bar)
            gains = (1 - tau) * self.gains + tau * (gains_y + self.gradient(other, x_tilde))
            shrunk = mu.copy()
            shrunk[player] *= 1 - tau
            if self.smoothed_gap(gains, shrunk) <= self.tolerance:
                self.realization[:] = (1 - tau) * self.realization + tau * (x_tilde + y_bar)
                self.gains[:], self.mu[:] = gains, shrunk
                return
            self.step_size /= 2.0

    def average_strategy(self) -> FloatArray:
        """Returns `[Q]` the strategies that converge; a mixture of all responses so far."""
        return self.kernel.normalize(self.realization)

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the strategies."""
        return evaluate(self.tree, self.average_strategy(), kernel=self.kernel, num_threads=self.num_threads)

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which the run goes on to the bit."""
        return {
            **self._saved_tables(),
            "step_size": np.array(self.step_size),
            "nodes_touched": np.array(self.nodes_touched),
            "iteration": np.array(self.iteration),
        }

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the run with a saved state of the same tree and configuration."""
        iteration, nodes_touched = read_count(state, "iteration"), read_count(state, "nodes_touched")
        step_size = read_number(state, "step_size")
        overwrite_tables(self._saved_tables(), state)
        self.iteration, self.nodes_touched, self.step_size = iteration, nodes_touched, step_size

    def _saved_tables(self) -> dict[str, npt.NDArray[np.generic]]:
        return {"realization": self.realization, "gains": self.gains, "mu": self.mu}
