# SPDX-License-Identifier: Apache-2.0
"""Solves Leduc hold'em and looks at what the equilibrium does with a queen."""

import equipoise

game = equipoise.make_game("leduc", merge_suits=True)
solution = equipoise.solve(game, equipoise.DCFR(), target=1e-3)

print(f"{len(solution.progress)} records, exploitability {solution.exploitability:.2e} chips")
print(f"value for the first player {solution.evaluation.values[0]:.4f} chips")

state = game.initial_state()
for card in (1, 0):  # a queen for player 0, a jack for player 1
    state = game.apply(state, card)
names = [game.action_name(state, action) for action in game.legal_actions(state)]
opening = dict(zip(names, solution.strategy.probabilities(0, game.infostate(state, 0)), strict=True))
print("opening with a queen:", {name: round(float(probability), 3) for name, probability in opening.items()})

assert solution.exploitability <= 1e-3
assert abs(solution.evaluation.values[0] - (-0.0856)) < 2e-3
