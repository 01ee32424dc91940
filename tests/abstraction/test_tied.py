# SPDX-License-Identifier: Apache-2.0
"""CFR in an abstraction of a public tree: alone in its row it is CFR; together rows play alike."""

import numpy as np
import pytest

from equipoise.abstraction.tied import TiedSolver
from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, Hedge
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree

TREE = build_public_tree(derive_public_game(make_game("leduc")))
SUITLESS = [label.replace("s|", "|").replace("h|", "|") for label in TREE.infoset_labels]


@pytest.mark.parametrize("rule", [CFRPlus(gamma=1.0), DCFR(), CFR()], ids=lambda rule: rule.name)
def test_rows_of_one_are_plain_cfr(rule):
    tied = TiedSolver(TREE, np.arange(TREE.infoset_node.size), rule=rule)
    plain = CFRSolver(TREE, rule)
    for solver in (tied, plain):
        solver.iterate(15)
    np.testing.assert_allclose(tied.average_strategy(), plain.average_strategy(), atol=1e-9)
    cells = TREE.sequence_cell  # padding is nobody's
    np.testing.assert_allclose(tied.current_strategy()[cells], plain.current_strategy()[cells], atol=1e-9)


def test_suits_of_a_card_may_share_a_row_without_loss():
    tied = TiedSolver(TREE, SUITLESS)
    tied.iterate(300)
    assert tied.evaluate().exploitability < 0.01
    rows = dict(zip(SUITLESS, range(len(SUITLESS)), strict=True))
    average = tied.average_strategy()
    for infoset, name in enumerate(SUITLESS):
        own, other = (
            average[TREE.sequence_cell[TREE.infoset_start[k] : TREE.infoset_start[k + 1]]]
            for k in (infoset, rows[name])
        )
        np.testing.assert_array_equal(own, other)


def test_a_coarse_abstraction_costs():
    blind = [label.split("|")[1] for label in TREE.infoset_labels]
    solver = TiedSolver(TREE, blind)
    solver.iterate(200)
    assert solver.evaluate().exploitability > 0.5


def test_what_cannot_share_a_row_is_refused():
    with pytest.raises(ConfigError, match="must have the same number of actions"):
        TiedSolver(TREE, np.zeros(TREE.infoset_node.size))
    with pytest.raises(ConfigError, match="must have the same player"):
        TiedSolver(TREE, np.diff(TREE.infoset_start))
    with pytest.raises(ConfigError, match="information states needs a row, got 3"):
        TiedSolver(TREE, np.zeros(3))
    with pytest.raises(ConfigError, match="match regrets, got hedge"):
        TiedSolver(TREE, SUITLESS, rule=Hedge())


@pytest.mark.parametrize("count", [None, 2.5, -1])
def test_what_is_no_count_of_iterations_is_refused(count):
    with pytest.raises(ConfigError, match="num_iterations must be"):
        TiedSolver(TREE, np.arange(TREE.infoset_node.size)).iterate(count)
