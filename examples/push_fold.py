# SPDX-License-Identifier: Apache-2.0
"""Solves heads-up push or fold exactly at several stacks and prints who should do what."""

from equipoise.games.holdem import format_range
from equipoise.games.holdem.class_showdowns import load_or_build_class_showdowns
from equipoise.solvers.holdem.push_fold import PushFold, solve_push_fold

showdowns = load_or_build_class_showdowns()  # ten seconds the first time, then from the cache
charts = {stack: solve_push_fold(PushFold(stack_bb=stack), showdowns=showdowns) for stack in (5.0, 10.0, 20.0)}
for stack, chart in charts.items():
    print(
        f"{stack:4g} bb: small blind pushes {chart.push_share:.1%}, big blind calls {chart.call_share:.1%}, "
        f"worth {chart.values_bb[0]:+.4f} bb to the small blind"
    )
ten = charts[10.0]
print("pushes with ten big blinds:", format_range(ten.push_range))
print("calls:", format_range(ten.call_range))

assert all(chart.exploitability_bb < 1e-9 for chart in charts.values())
assert abs(ten.push_share - 0.58) < 0.01
assert abs(ten.call_share - 0.37) < 0.01
