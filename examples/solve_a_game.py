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
queen = game.infostate(state, 0)
names = solution.strategy.action_names(0, queen)
opening = dict(zip(names, solution.strategy.probabilities(0, queen).tolist(), strict=True))
print("opening with a queen:", {name: round(probability, 3) for name, probability in opening.items()})

assert solution.exploitability <= 1e-3
assert abs(solution.evaluation.values[0] - (-0.0856)) < 2e-3
