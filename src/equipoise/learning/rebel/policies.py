# SPDX-License-Identifier: Apache-2.0
"""Strategies that a network proposes: what searches begin with, and what it learns from them. Without torch."""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.kernels.belief_search import BeliefPrior
from equipoise.kernels.value_nets import PerceptronKernel
from equipoise.learning.columns import ColumnMemory
from equipoise.learning.rebel.nets import encode_beliefs
from equipoise.learning.rebel.settings import RebelSettings
from equipoise.learning.values.configuration import NetKind, ValueNetConfig
from equipoise.learning.values.weights import StoredNet
from equipoise.search.belief_games import BeliefGame

__all__ = [
    "LEVELS",
    "PolicyExamples",
    "PolicyGuide",
    "PolicyMemory",
    "bind_guide",
    "collect_policies",
    "make_policy_config",
]

LEVELS: Final = 255  # that shares of strategies are rounded to where they are remembered
LEAST_REACH: Final = 1e-6  # of either player, with which a strategy is learnt from
LEAST_TOTAL: Final = np.float32(1e-3)  # of what the network says of all actions; uniform play where it is less

IntArray = npt.NDArray[np.int32]
SingleArray = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PolicyExamples:
    """Beliefs where somebody moves, and what searches found to be played there."""

    kind: IntArray  # [N] of all public states of the tree
    belief: SingleArray  # [N, 2, width] who moves first
    policy: npt.NDArray[np.uint8]  # [N, A, width] shares in `LEVELS` parts

    def __len__(self) -> int:
        return len(self.kind)

    @classmethod
    def join(cls, parts: list[PolicyExamples]) -> PolicyExamples:
        """Returns all of them, in order."""
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__})


class PolicyMemory(ColumnMemory):
    """A ring of examples of strategies."""

    def __init__(self, capacity: int, game: BeliefGame) -> None:
        """Makes room for so many."""
        actions = int(game.tree.num_actions.max())
        super().__init__(
            capacity,
            {
                "kind": ((), np.int32),
                "belief": ((2, game.width), np.float32),
                "policy": ((actions, game.width), np.uint8),
            },
        )

    def add(self, examples: PolicyExamples) -> None:
        """Adds examples, oldest first."""
        self.append({name: getattr(examples, name) for name in self.columns})


def make_policy_config(game: BeliefGame, settings: RebelSettings, label: str) -> ValueNetConfig:
    """Returns the shape of a network that proposes strategies."""
    actions = int(game.tree.num_actions.max())
    return ValueNetConfig(
        kind=NetKind.POLICY,
        game=label,
        hidden=settings.hidden,
        layers=settings.layers,
        is_residual=False,
        buckets=game.width,
        kinds=game.all_kinds.num_kinds,
        actions=(actions, actions),
        horizon=settings.horizon,
    )


def _root_reach(game: BeliefGame, kind: int, belief: SingleArray) -> FloatArray:
    """Returns `[n, 2, width]` reaches that beliefs come from."""
    weight = game.subgames[kind].arrays.root_weight
    out: FloatArray = np.where(weight > 0.0, belief / np.where(weight > 0.0, weight, 1.0), 0.0).astype(np.float64)
    return out


def _beliefs_at(game: BeliefGame, kind: int, number: int, cells: list[FloatArray]) -> tuple[SingleArray, FloatArray]:
    """Returns `[n, 2, width]` beliefs at a decision, who moves first, and `[n, 2]` how much each player comes there."""
    subgame = game.subgames[kind]
    node, mover = int(subgame.decisions[number]), int(subgame.arrays.decisions[number, 0])
    shares = game.shares_at(node)
    out = np.zeros((len(cells[0]), 2, game.width))
    masses = np.zeros((len(out), 2))
    for place, player in enumerate((mover, 1 - mover)):
        begin, hands = int(subgame.decision_cell[number, player]), _hands_at(game, node, place)
        own = shares[place, :hands] * cells[player][:, begin : begin + hands]
        mass = own.sum(axis=1, keepdims=True)
        out[:, place, :hands] = np.where(mass > LEAST_REACH, own / np.maximum(mass, LEAST_REACH), shares[place, :hands])
        masses[:, place] = mass[:, 0]
    return out.astype(np.float32), masses


def _hands_at(game: BeliefGame, node: int, place: int) -> int:
    first = game.first_player_at(node)
    return int(game.tree.num_private[node, first if place == 0 else 1 - first])


class PolicyGuide:
    """A network that proposes what searches begin with.

    Paper: Brown 2020, PhD thesis, sections 5.3.3 and 5.3.5; its section 3.2 on warm starts.
    Departs from the paper: searches begin with regrets in proportion to the proposals beside those of best responses,
        which alone keep nothing of an equilibrium; what the network says of illegal actions and below 0 is left out,
        the rest made to sum to 1.
    Checked by: tests/learning/rebel/test_policies.py, tests/kernels/test_belief_search.py.
    """

    def __init__(self, game: BeliefGame, stored: StoredNet, iterations: int) -> None:
        """Binds the network; its strategies count for so many iterations."""
        self.game, self.iterations, self.config = game, iterations, stored.config
        self._kernel = PerceptronKernel(stored.config.num_inputs, stored.config.num_outputs, stored.layers())

    def propose(self, kind: int, belief: SingleArray) -> BeliefPrior:
        """Returns what searches of a kind of subgame begin with for beliefs `[B, 2, width]`."""
        game, subgame = self.game, self.game.subgames[kind]
        out = np.zeros((len(belief), subgame.arrays.legal_share.size), np.float32)
        meeting = np.zeros_like(out)

        def choose(number: int, cells: list[FloatArray]) -> SingleArray:
            _, _, _, table, hands, actions = subgame.arrays.decisions[number].tolist()
            asked, masses = _beliefs_at(game, kind, number, cells)
            dealt = subgame.decision_scale[number] * game.shares_at(int(subgame.decisions[number]))[0, :hands]
            shown = np.full(len(asked), game.all_kinds.kind[subgame.decisions[number]], np.int32)
            block = slice(table, table + hands * actions)
            out[:, block] = self._shares(shown, asked, subgame.arrays.legal_share[block].reshape(actions, hands))
            meeting[:, block] = np.tile(masses[:, 1:] * dealt, (1, actions))
            return out[:, block]

        subgame.spread(_root_reach(game, kind, belief), choose)
        return BeliefPrior(policy=out, meeting=meeting, iterations=self.iterations)

    def _shares(self, kind: IntArray, belief: SingleArray, legal_share: SingleArray) -> SingleArray:
        """Returns `[n, A * H]` strategies at states of kinds, given uniform ones `[A, H]` over legal actions."""
        actions, hands = legal_share.shape
        found = self._kernel.run(encode_beliefs(self.config, kind, belief))
        said = found.reshape(len(kind), self.config.actions[0], -1)[:, :actions, :hands]
        positive = np.maximum(said, np.float32(0.0)) * (legal_share > 0.0)
        total = positive.sum(axis=1, keepdims=True)
        share = np.where(total > LEAST_TOTAL, positive / np.maximum(total, LEAST_TOTAL), legal_share)
        out: SingleArray = share.reshape(len(kind), -1).astype(np.float32)
        return out


def bind_guide(game: BeliefGame, stored: StoredNet | None, settings: RebelSettings) -> PolicyGuide | None:
    """Returns what proposes strategies, None if nothing does."""
    return None if stored is None else PolicyGuide(game, stored, settings.warm_start)


def collect_policies(game: BeliefGame, kind: int, belief: SingleArray, policy: SingleArray) -> PolicyExamples:
    """Returns what searches for beliefs `[B, 2, width]` say of every decision that both players come to.

    Args:
        game: what is played.
        kind: of the subgames.
        belief: of their roots.
        policy: `[B, C]` averages of the searches.
    """
    subgame, parts = game.subgames[kind], []
    shape = (int(game.tree.num_actions.max()), game.width)

    def choose(number: int, cells: list[FloatArray]) -> SingleArray:
        _, _, _, table, hands, actions = subgame.arrays.decisions[number].tolist()
        block = policy[:, table : table + hands * actions]
        asked, masses = _beliefs_at(game, kind, number, cells)
        is_met = (masses > LEAST_REACH).all(axis=1)
        shares = np.zeros((len(block), *shape), np.uint8)
        shares[:, :actions, :hands] = np.rint(LEVELS * block).reshape(len(block), actions, hands)
        shown = np.full(len(asked), game.all_kinds.kind[subgame.decisions[number]], np.int32)
        parts.append(PolicyExamples(kind=shown[is_met], belief=asked[is_met], policy=shares[is_met]))
        return block

    subgame.spread(_root_reach(game, kind, belief), choose)
    return PolicyExamples.join(parts)
