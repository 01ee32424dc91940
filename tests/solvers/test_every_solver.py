# SPDX-License-Identifier: Apache-2.0
"""Laws that hold for every solver at every moment, not only at its end."""

import numpy as np
import pytest

from equipoise.games.registry import make_game
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.egt import EGTSolver
from equipoise.solvers.fictitious_play import FLOP, FictitiousPlay, FictitiousPlaySolver, LinearFictitiousPlay
from equipoise.solvers.lp_run import SequenceLPRun
from equipoise.solvers.mccfr import MCCFRConfig, MCCFRSolver, Scheme
from equipoise.solvers.pruning import PrunedSolver, Pruning, PruningKind
from equipoise.solvers.sequence_lp import solve_sequence_lp
from equipoise.solvers.treeless_mccfr import TreelessMCCFRSolver
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree
from equipoise.trees.public import build_public_tree
from tests.reference.rules import RULES

GAMES = {
    "kuhn": make_game("kuhn"),
    "leduc": make_game("leduc", ranks=2, merge_suits=True),
    "goofspiel": make_game("goofspiel", cards=3, prizes="random"),
}
TREES = {name: build_history_tree(game) for name, game in GAMES.items()}
VALUES = {name: solve_sequence_lp(tree).value for name, tree in TREES.items()}


def sampled(scheme):
    return lambda name: MCCFRSolver(TREES[name], MCCFRConfig(scheme=scheme), rng=np.random.default_rng(3))


SOLVERS = {
    **{f"{rule.name}": lambda name, rule=rule: CFRSolver(TREES[name], rule) for rule in RULES},
    "simultaneous": lambda name: CFRSolver(TREES[name], RULES[0], is_alternating=False),
    "vector": lambda name: CFRSolver(build_public_tree(derive_public_game(GAMES[name])), RULES[0]),
    "fp": lambda name: FictitiousPlaySolver(TREES[name], FictitiousPlay()),
    "linear-fp": lambda name: FictitiousPlaySolver(TREES[name], LinearFictitiousPlay()),
    "flop": lambda name: FictitiousPlaySolver(TREES[name], FLOP()),
    "egt": lambda name: EGTSolver(TREES[name]),
    "external": sampled(Scheme.EXTERNAL),
    "outcome": sampled(Scheme.OUTCOME),
    "chance": sampled(Scheme.CHANCE),
    "treeless": lambda name: TreelessMCCFRSolver(GAMES[name], rng=np.random.default_rng(3), tree=TREES[name]),
    **{
        kind.value: lambda name, kind=kind: PrunedSolver(
            TREES[name], RULES[0], pruning=Pruning(kind=kind, threshold=3.0)
        )
        for kind in PruningKind
    },
    "lp": lambda name: SequenceLPRun(TREES[name]),
}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("solver_name", SOLVERS)
def test_best_responses_enclose_the_value_of_the_game(solver_name, name):
    solver = SOLVERS[solver_name](name)
    for num_iterations in (0, 1, 6, 60):
        solver.iterate(num_iterations)
        result = solver.evaluate()
        # no strategy holds its opponent below the opponent's value, and none earns more than a best response
        assert -result.best_response_values[1] <= VALUES[name] + 1e-9
        assert VALUES[name] <= result.best_response_values[0] + 1e-9
        assert result.exploitability >= -1e-12
        assert result.values[0] == pytest.approx(VALUES[name], abs=result.nash_conv + 1e-9)
