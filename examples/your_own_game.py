# SPDX-License-Identifier: Apache-2.0
"""A game that lives outside the package: written down, checked against the protocol, solved, compared with the LP.

Player 0 hides a coin in one of two hands; player 1 points at a hand. Finding it in the left hand is worth one chip, in
the right hand three.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

import equipoise
from equipoise.core.errors import IllegalActionError, InvalidStateError
from equipoise.games.base import TERMINAL, ActionClass, GameSpec
from equipoise.solvers.sequence_lp import solve_sequence_lp

HANDS = ("left", "right")
PRIZES = (1.0, 3.0)


class Hiding(NamedTuple):
    """Which hand holds the coin and which was pointed at, as far as chosen."""

    moves: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CoinInHand:
    """The whole game; a game with parameters would have them as fields."""

    @property
    def spec(self) -> GameSpec:
        return GameSpec(
            name="coin_in_hand",
            version=1,
            num_players=2,
            parameters={},
            is_zero_sum=True,
            min_utility=-3.0,
            max_utility=3.0,
            max_length=2,
        )

    def initial_state(self) -> Hiding:
        return Hiding()

    def actor(self, state: Hiding) -> int:
        return len(state.moves) if len(state.moves) < 2 else TERMINAL

    def legal_actions(self, state: Hiding) -> tuple[int, ...]:
        return (0, 1) if len(state.moves) < 2 else ()

    def chance_outcomes(self, state: Hiding) -> tuple[tuple[int, float], ...]:
        return ()

    def apply(self, state: Hiding, action: int) -> Hiding:
        if action not in self.legal_actions(state):
            raise IllegalActionError(f"action must be one of {self.legal_actions(state)}, got {action}")
        return Hiding((*state.moves, action))

    def returns(self, state: Hiding) -> tuple[float, ...]:
        if len(state.moves) < 2:
            raise InvalidStateError("only a finished game has returns")
        hidden, pointed = state.moves
        prize = PRIZES[hidden] if hidden == pointed else 0.0
        return (-prize, prize)

    def infostate(self, state: Hiding, player: int) -> str:
        moves = state.moves
        own = HANDS[moves[player]] if len(moves) > player else "nothing yet"
        seen = f", {self.public_state(state)}"
        return f"player {player} chose {own}{seen}"

    def public_state(self, state: Hiding) -> str:
        return f"{len(state.moves)} moves made"

    def action_name(self, state: Hiding, action: int) -> str:
        return HANDS[action]

    def action_class(self, state: Hiding, action: int) -> ActionClass:
        return ActionClass.OTHER

    def describe(self, state: Hiding) -> str:
        return " then ".join(HANDS[move] for move in state.moves) or "nothing chosen"


game = CoinInHand()
# the declared range must be attained: the smallest and the largest return are -3 and 3
print(equipoise.check_game(game, rng=np.random.default_rng(0)))
tree = equipoise.build_history_tree(game)
exact = solve_sequence_lp(tree)
solution = equipoise.solve(game, equipoise.CFRPlus(), target=1e-4)
print(f"LP {exact.value:.4f}, CFR+ {solution.evaluation.values[0]:.4f}")

assert abs(exact.value - (-0.75)) < 1e-9
assert abs(solution.evaluation.values[0] - exact.value) < 1e-3
