# SPDX-License-Identifier: Apache-2.0
"""Solves a hold'em spot from its file, looks at two places, saves it, and goes on to a better answer."""

import tempfile
from pathlib import Path

import equipoise
from equipoise.solvers.holdem.view import NodeView

SPOT = Path(__file__).parent / "spots" / "river.toml"

spot = equipoise.load_spot(SPOT)
solution = equipoise.solve(spot, rule="dcfr", target="0.5%")
print(solution)

for line in ("root", "check, bet 75%"):
    view = solution.view(line)
    assert isinstance(view, NodeView)
    print(f"{line}:", view)
    assert abs(view.frequencies.sum() - 1) < 1e-6
    assert abs(sum(player.value for player in view.players) - view.pot) < 1e-3  # no rake: they share the pot

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "river.eq"
    solution.save(path)
    better = equipoise.load(path).resume(target="0.1%")
print(better)

pot = spot.spot.root_pot
assert better.exploitability <= 0.001 * pot < solution.exploitability <= 0.005 * pot
