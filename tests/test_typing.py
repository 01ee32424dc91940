# SPDX-License-Identifier: Apache-2.0
"""Programs of users under mypy: the package says its types, and no public name is of type Any."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise

PROGRAM = '''
from typing import Any, assert_type

import equipoise
from equipoise.core.progress import Progress


def report(record: Progress) -> None:
    """Prints where a run is."""
    print(record.iteration, record.exploitability)


game = equipoise.make_game("leduc")
solution = equipoise.solve(game, equipoise.DCFR(alpha=1.5), iterations=10, on_progress=report)
assert_type(solution, equipoise.Solution[equipoise.TabularStrategy])
assert_type(solution.exploitability, float)
assert_type(solution.strategy, equipoise.TabularStrategy)
tree = equipoise.build_history_tree(game)
assert_type(tree, equipoise.HistoryTree)
assert_type(equipoise.evaluate(tree, solution.strategy.to_tree(tree)), equipoise.Evaluation)
assert_type(equipoise.evaluate(solution), equipoise.Evaluation)
assert_type(solution.view("K"), equipoise.solvers.InfostateRows)
assert_type(solution.children(), tuple[str, ...])
spot = equipoise.load_spot("turn.toml")
solved = equipoise.solve(spot, "dcfr", target="0.5%", progress=True)
assert_type(solved.view("check, bet 50%"), equipoise.NodeView)
found = solved.search("check", "reach-maxmargin", iterations=100)
margin: float | None = found.least_margin
assert_type(equipoise.match(solved, "search:turn.eq", hands=1000, runner="hands"), equipoise.MatchResult)
assert_type(equipoise.agents.make("search:turn.eq"), equipoise.agents.Agent)
assert_type(equipoise.load("turn.eq"), equipoise.Solution[Any])
print(equipoise.load("turn.eq").resume(target="0.2%").search("check", "maxmargin").least_margin)
assert_type(equipoise.reproduce("coin-toss").is_partial, bool)
equipoise.plot_convergence({"dcfr": solution, "again": solved.progress}).savefig("curve.png")
try:
    solution.save("leduc.eq")
except equipoise.CheckpointError as error:
    print(error)
'''


@pytest.fixture(scope="module")
def check_types(tmp_path_factory):
    """Returns what mypy says, strictly, of a program beside which the package is installed."""
    directory = tmp_path_factory.mktemp("user")
    (directory / "site").mkdir()
    (directory / "site" / "equipoise").symlink_to(Path(equipoise.__file__).parent)

    def check(program):
        (directory / "program.py").write_text(program)
        command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir=cache", "program.py"]
        environment = {**os.environ, "PYTHONPATH": str(directory / "site")}
        done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
        assert not done.stderr
        return done.stdout

    return check


def test_a_program_passes(check_types):
    assert check_types(PROGRAM).startswith("Success")


def test_mistakes_are_found(check_types):
    program = ["import equipoise", "equipoise.slove", "equipoise.solve(7)", "equipoise.DCFR(alpha='one')"]
    program += ["equipoise.match('a', 'b', colour=1)", "equipoise.load('a.eq').search('', iterationz=1)"]
    said = check_types("\n".join(program))
    assert '2: error: Module has no attribute "slove"' in said
    assert '3: error: No overload variant of "solve" matches argument type "int"' in said
    assert '4: error: Argument "alpha"' in said
    assert '5: error: Unexpected keyword argument "colour"' in said
    assert '6: error: Unexpected keyword argument "iterationz"' in said


def test_no_public_name_is_of_type_any(check_types):
    names = [name for name in equipoise.__all__ if name != "__version__"]
    said = check_types("import equipoise\n" + "".join(f"reveal_type(equipoise.{name})\n" for name in names))
    types = re.findall(r'Revealed type is "(.*)"', said)
    assert len(types) == len(names)
    assert not [name for name, found in zip(names, types, strict=True) if re.fullmatch(r"Any|def \(.*\) -> Any", found)]
