# SPDX-License-Identifier: Apache-2.0
"""Monte Carlo tree search of games that hide nothing, ended by values and policies instead of playouts.

With playouts it is `equipoise.search.rules_ismcts`, whose information states are then states.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.perfect_information import OpenState, PerfectInformationGame
from equipoise.kernels.calls import check_integer
from equipoise.kernels.frontier import BeliefBatch
from equipoise.search.leaves import LeafEvaluator
from equipoise.solvers.playouts import draw_chance
from equipoise.trees.joint import DenseJoint

__all__ = ["OpenMCTS", "OpenMCTSConfig"]

FloatArray = npt.NDArray[np.float64]
CHANCE_BASE: Final = 19_652.0  # AlphaZero's, by which exploration grows
ONE: Final = np.ones((1, 1))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OpenMCTSConfig:
    """How a search is run.

    >>> OpenMCTSConfig(num_simulations=400).num_simulations
    400
    """

    num_simulations: int = 100  # each asks about one state at most
    exploration: float = 1.25  # weight of the prior at the beginning; values lie between -1 and 1

    def __post_init__(self) -> None:
        check_integer("num_simulations", self.num_simulations, 1)
        if not 0 <= self.exploration < math.inf:
            raise ConfigError(f"exploration must be finite and at least 0, got {self.exploration}")


class _Node:
    """A state that was asked about."""

    __slots__ = ("actions", "actor", "children", "prior", "state", "total", "value", "visits")

    def __init__(self, state: OpenState, actor: int, actions: tuple[int, ...], prior: list[float], value: float):
        self.state, self.actor, self.actions, self.prior = state, actor, actions, prior
        self.value = value  # to player 0
        self.visits = [0] * len(actions)
        self.total = [0.0] * len(actions)  # to player 0
        self.children: dict[Any, _Node] = {}


class OpenMCTS:
    """AlphaZero's search: priors and values of states from an evaluator, no playouts.

    Paper: Silver et al. 2018, "A general reinforcement learning algorithm that masters chess, shogi, and Go through
        self-play", Science 362, as the baseline of Schmid et al. 2021, "Player of Games", arXiv:2112.03178.
    Symbols: P(s, a) -> prior; N(s, a) -> visits; Q(s, a) -> total / visits; C(s) -> `_weight`.
    Departs from the paper: no noise at the root, as in play; an action that was not tried is worth what its state is.
    Checked by: tests/search/test_open_mcts.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.search.leaves import ZeroLeaves
    >>> form = PerfectInformationGame(make_game("tic_tac_toe"))
    >>> search = OpenMCTS(form, ZeroLeaves(), OpenMCTSConfig(num_simulations=20))
    >>> float(search.visits(form.initial_state(), rng=np.random.default_rng(0)).sum())
    19.0
    """

    def __init__(
        self, form: PerfectInformationGame, evaluator: LeafEvaluator, config: OpenMCTSConfig | None = None
    ) -> None:
        self.form, self.evaluator = form, evaluator
        self.config = config or OpenMCTSConfig()
        self._scale = 2.0 / form.spec.utility_range
        self.num_asked = 0

    def visits(self, state: OpenState, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[A]` how often each action was taken; the first simulation opens the state and takes none.

        Args:
            state: somebody's decision.
            rng: draws chance alone.
        """
        root = self._open(OpenState(state.inside))
        for _ in range(self.config.num_simulations - 1):
            self._simulate(root, rng)
        return np.array(root.visits, np.float64)

    def _simulate(self, node: _Node, rng: np.random.Generator) -> None:
        game, path = self.form.game, list[tuple[_Node, int]]()
        while True:
            place = self._choose(node)
            path.append((node, place))
            state = game.apply(node.state.inside, node.actions[place])
            drawn = []
            while game.actor(state) == CHANCE:
                drawn.append(draw_chance(game, state, rng.random()))
                state = game.apply(state, drawn[-1])
            if game.actor(state) == TERMINAL:
                value = game.returns(state)[0] * self._scale
                break
            key = (place, *drawn)
            if key not in node.children:
                node.children[key] = self._open(OpenState(state))
                value = node.children[key].value
                break
            node = node.children[key]
        for above, place in path:
            above.visits[place] += 1
            above.total[place] += value

    def _choose(self, node: _Node) -> int:
        """Returns the first place of the largest bound."""
        sign = 1.0 if node.actor == 0 else -1.0
        count = sum(node.visits)
        weight = self._weight(count)
        best, chosen = -math.inf, 0
        for place, visits in enumerate(node.visits):
            mean = node.total[place] / visits if visits else node.value
            bound = sign * mean + weight * node.prior[place] / (1 + visits)
            if bound > best:
                best, chosen = bound, place
        return chosen

    def _weight(self, count: int) -> float:
        grown = self.config.exploration + math.log((1 + count + CHANCE_BASE) / CHANCE_BASE)
        return grown * math.sqrt(max(count, 1))

    def _open(self, state: OpenState) -> _Node:
        """Asks what a state is worth and what its actor would do."""
        self.num_asked += 1
        batch = BeliefBatch(
            states=[state], reach=(ONE, ONE), num_private=np.ones((1, 2), np.int32), joint=[DenseJoint(ONE)]
        )
        found = self.evaluator.evaluate(batch)
        actions = self.form.legal_actions(state)
        prior = np.ones(len(actions)) if found.prior is None else found.prior[0, 0, : len(actions)]
        value = float(found.cfv[0][0, 0]) * self._scale
        return _Node(state, self.form.actor(state), actions, (prior / prior.sum()).tolist(), value)
