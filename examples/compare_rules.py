# SPDX-License-Identifier: Apache-2.0
"""Runs four rules side by side on one tree: the rule is an argument, the traversal is shared."""

import equipoise
from equipoise.solvers.cfr import CFRSolver

tree = equipoise.build_history_tree(equipoise.make_game("leduc", merge_suits=True))
exploitability: dict[str, float] = {}
for rule in (equipoise.CFR(), equipoise.CFRPlus(), equipoise.LinearCFR(), equipoise.DCFR()):
    solver = CFRSolver(tree, rule)
    solver.iterate(200)
    exploitability[rule.name] = solver.evaluate().exploitability

for name, value in sorted(exploitability.items(), key=lambda item: item[1]):
    print(f"{name:6} {value:.5f}")

assert min(exploitability, key=lambda name: exploitability[name]) == "dcfr"
assert max(exploitability, key=lambda name: exploitability[name]) == "cfr"
