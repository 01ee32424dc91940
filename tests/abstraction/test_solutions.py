# SPDX-License-Identifier: Apache-2.0
"""Files of every kind are opened by one function; those that an earlier version wrote still open."""

from pathlib import Path

import numpy as np
import pytest

from equipoise.abstraction.bucketed_strategy import SolvedBuckets
from equipoise.abstraction.solutions import open_solution, open_subject
from equipoise.core import checkpoint
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.games.holdem.spot_file import SpotFile
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.solution_file import SolvedGame
from equipoise.trees.history import build_history_tree

FILES = Path(__file__).parents[1] / "golden" / "files"  # of format 2, written before kinds had one class
SPOTS = Path(__file__).parents[2] / "examples" / "spots"


@pytest.mark.parametrize(
    ("name", "expected"), [("kuhn", 0.011520633113767234), ("strategy", 0.011520633113767234), ("treeless", 19 / 48)]
)
def test_files_of_games_still_open(name, expected):
    with open_solution(FILES / f"{name}.eq") as solution:
        assert isinstance(solution, SolvedGame)
        assert solution.game.spec.label == solution.label == "kuhn(players=2)"
        tree = build_history_tree(solution.game)
        strategy = solution.table.to_tree(tree, is_partial=solution.is_partial)
    assert evaluate(tree, strategy).exploitability == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("name", "expected"), [("river", 0.3516892456277294), ("turn", 0.33618739237201223)])
def test_files_of_spots_still_open(name, expected):
    with open_solution(FILES / f"{name}.eq") as solution:
        assert isinstance(solution, SolvedSpot)
        assert len(solution.locks) == (name == "river")
        found = evaluate(solution.tree, solution.strategy.sums)
        place = solution.tree.root_place
        shares = solution.strategy.probabilities(place)
    assert found.exploitability == pytest.approx(expected, rel=1e-6)
    assert set(np.round(shares.sum(axis=1), 12)) == {0.0, 1.0}
    assert solution.game.betting_rules == solution.spot.betting_rules


def test_files_in_buckets_still_open():
    with open_solution(FILES / "bucketed.eq") as solution:
        assert isinstance(solution, SolvedBuckets)
        shares = solution.strategy.probabilities(solution.strategy.tree.root_place)
    assert shares.sum() == pytest.approx(190)
    assert shares[:, 0].sum() == pytest.approx(26.683307157251015)
    assert solution.label == "turn 9cTcJcQd in buckets (all, 3, 3, 3)"


def test_runs_of_old_files_go_on():
    with open_solution(FILES / "turn.eq") as solution:
        solver = CFRSolver(solution.tree)
        solver.restore(solution.state)
    before = solver.evaluate().exploitability
    assert before == pytest.approx(solution.progress[-1].exploitability, rel=1e-6)
    solver.iterate(20)
    assert solver.evaluate().exploitability < before / 2


def test_a_file_says_where_it_comes_from():
    solution = SolvedGame.load(FILES / "kuhn.eq")
    assert solution.state["iteration"] == solution.progress[-1].iteration == 20
    assert solution.describe()["solved_by_commit"] == "8137570df29d"


def test_a_strategy_alone_has_no_run():
    with open_solution(FILES / "strategy.eq") as solution:
        assert solution.run is None
        assert solution.describe()["rule"] is None
        with pytest.raises(CheckpointError, match="holds a strategy alone, expected a run"):
            _ = solution.config


def test_a_game_that_has_changed_names_the_command_that_solves_it_again(tmp_path):
    content = checkpoint.load(FILES / "kuhn.eq")
    path = tmp_path / "old.eq"
    changed = {**content.metadata, "game_version": 0}
    checkpoint.save(path, content.kind, changed, {**content.arrays, **content.strings})
    with (
        open_solution(path) as solution,
        pytest.raises(CheckpointError, match=r"`equipoise solve kuhn` solves it again"),
    ):
        _ = solution.game


def test_one_function_says_what_a_text_names():
    assert open_subject("leduc(ranks=4)").spec.parameters["ranks"] == 4
    assert open_subject("leduc", {"ranks": "4"}).spec.parameters["ranks"] == 4
    assert isinstance(open_subject(str(SPOTS / "river.toml")), SpotFile)
    with open_subject(FILES / "turn.eq") as solution:
        assert solution.kind is Kind.SPOT
    with pytest.raises(ConfigError, match="parameters are for games"):
        open_subject(FILES / "turn.eq", {"ranks": "4"})


def test_other_kinds_are_refused(tmp_path):
    checkpoint.save(tmp_path / "tree.eq", Kind.TREE, {}, {})
    with pytest.raises(CheckpointError, match="holds a tree, expected"):
        open_solution(tmp_path / "tree.eq")
    with pytest.raises(CheckpointError, match="holds a hold'em spot, expected a game's run"):
        open_solution(FILES / "turn.eq", Kind.RUN)
