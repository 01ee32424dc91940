# SPDX-License-Identifier: Apache-2.0
"""A game that lives outside the package: written down, checked against the laws of games, solved, compared with the LP.

Player 0 hides a coin in one of two hands; player 1 points at a hand. Finding it in the left hand is worth one chip, in
the right hand three, or whatever `prize` says. `equipoise solve examples/your_own_game.py:CoinInHand` takes it too.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

import equipoise
from equipoise.games.base import TERMINAL, parameter
from equipoise.solvers.sequence_lp import solve_sequence_lp

HANDS = ("left", "right")


class Hiding(NamedTuple):
    """Which hand holds the coin and which was pointed at, as far as chosen."""

    moves: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class CoinInHand(equipoise.BaseGame[Hiding]):
    """The whole game: six methods, and two that make it read better and solve by public states too."""

    prize: float = parameter(3.0, "what the right hand is worth", low=0)

    def initial_state(self) -> Hiding:
        return Hiding()

    def actor(self, state: Hiding) -> int:
        return len(state.moves) if len(state.moves) < 2 else TERMINAL

    def legal_actions(self, state: Hiding) -> tuple[int, ...]:
        return (0, 1) if len(state.moves) < 2 else ()

    def next_state(self, state: Hiding, action: int) -> Hiding:
        return Hiding((*state.moves, action))

    def utilities(self, state: Hiding) -> tuple[float, ...]:
        hidden, pointed = state.moves
        won = (1.0, self.prize)[hidden] if hidden == pointed else 0.0
        return (-won, won)

    def infostate(self, state: Hiding, player: int) -> str:
        moves = state.moves
        own = HANDS[moves[player]] if len(moves) > player else "nothing yet"
        return f"player {player} chose {own}, {self.public_state(state)}"

    def public_state(self, state: Hiding) -> str:
        return f"{len(state.moves)} moves made"

    def action_name(self, state: Hiding, action: int) -> str:
        return HANDS[action]


if __name__ == "__main__":  # not where a command loads the class
    game = CoinInHand()
    print(equipoise.check_game(game, rng=np.random.default_rng(0)))
    exact = solve_sequence_lp(equipoise.build_history_tree(game))
    solution = equipoise.solve(game, equipoise.CFRPlus(), target=1e-4)
    print(f"LP {exact.value:.4f}, CFR+ {solution.evaluation.values[0]:.4f}")

    assert abs(exact.value - (-0.75)) < 1e-9
    assert abs(solution.evaluation.values[0] - exact.value) < 1e-3
