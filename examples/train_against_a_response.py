# SPDX-License-Identifier: Apache-2.0
"""Trains against opponents that answer: one that searches a little, and the best there is."""

import equipoise
from equipoise.responses.on_tree import OnTree
from equipoise.responses.values import response_value

tree = equipoise.build_history_tree(equipoise.make_game("leduc", merge_suits=True))
on_tree = OnTree(tree)
uct = equipoise.UCTResponse(tree, 300)
earned: dict[str, dict[str, float]] = {}
for opponent in (uct, equipoise.BestResponse(tree)):
    solution = equipoise.solve_against(tree, opponent, iterations=1500)
    earned[opponent.name] = {
        "uct:300": response_value(on_tree, solution.table, uct, num_responses=40).mean,
        "best": response_value(on_tree, solution.table, equipoise.BestResponse(tree)).mean,
    }
    print(f"trained against {opponent.name}: {solution.seats[0].guarantee.statement}")
    print("  earns", ", ".join(f"{value:+.3f} against {name}" for name, value in earned[opponent.name].items()))

# what was trained against the weak opponent takes more from it, and is easier to exploit
assert earned["uct:300"]["uct:300"] > earned["best"]["uct:300"]
assert earned["uct:300"]["best"] < earned["best"]["best"] < 0
