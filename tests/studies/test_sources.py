# SPDX-License-Identifier: Apache-2.0
"""Which modules a study measures with, on sources made up for it and on our own."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from equipoise.studies.native_sources import find_native
from equipoise.studies.registry import STUDIES
from equipoise.studies.report import write_result
from equipoise.studies.search.coin_toss import CoinTossConfiguration
from equipoise.studies.sources import describe_changes, hash_modules, read_commit, read_sources

ROOT = Path(__file__).resolve().parents[2]
from_checkout = pytest.mark.skipif(read_sources() is None, reason="an installed package has no sources of its core")
SCRIPT = ROOT / "scripts" / "stale-results"
ONE = """from typing import TYPE_CHECKING
from equipoise.solvers import Solver
if TYPE_CHECKING:
    from equipoise.apps.server import Server
GAMES = ("leduc(ranks=4)",)
def measure(server: Server):
    from equipoise.kernels.sums import add  # when it is needed
    return add(Solver(), GAMES)
def unused():
    return 1
ONE = Study(measure)
"""
SOLVERS = """import equipoise.games.catalogue
from equipoise.trees import Large, Small
KINDS = Large | Small
class Solver:
    def solve(self, tree: KINDS):
        if isinstance(tree, Large):
            return tree.cut()
        return Small()
class Other(Solver):
    pass
"""
SUMS = """import equipoise._native as _native
def add(a, b):
    return _native.add(a, getattr(_native, f"scale_{b}"))
def cut(a):
    return _native.cut(a)
"""
MADE_UP = {
    "equipoise.studies.registry": 'TABLE = {\n    "one": "equipoise.studies.one:ONE",\n}\n',
    "equipoise.studies.one": ONE,
    "equipoise.solvers": "if TYPE_CHECKING:\n    from equipoise.solvers.cfr import Solver\n",
    "equipoise.solvers.cfr": SOLVERS,
    "equipoise.solvers.other": "x = 1\n",
    "equipoise.trees": "class Large:\n    x = 1\nclass Small:\n    x = 1\nprepare()\n",
    "equipoise.kernels.sums": SUMS,
    "equipoise.games.catalogue": '{\n"kuhn": "equipoise.games.kuhn:Kuhn",\n"leduc": "equipoise.games.leduc:Leduc"\n}\n',
    "equipoise.games.kuhn": "class Kuhn: ...\n",
    "equipoise.games.leduc": "class Leduc: ...\n",
    "equipoise.apps.server": "class Server: ...\n",
    "native/sums.cpp": '// adds\n#include "sums.hpp"\nmodule.def("add", add, nb::arg("cut"));\n',
    "native/sums.hpp": '#include "lanes.hpp"\nint add(int a, int b);\n',
    "native/lanes.hpp": "constexpr int lanes = 4;\n",
    "native/scales.cpp": 'module.def("scale_float32", scale);\n',
    "native/cuts.cpp": '#include "cuts.hpp"\nmodule.def("cut", cut);\n',
    "native/cuts.hpp": "int cut(int a);\n",
}


@pytest.mark.parametrize(
    ("name", "old", "new", "changed"),
    [
        ("equipoise.solvers.cfr", "return Small()", "return Small", "equipoise.solvers.cfr.Solver"),
        ("equipoise.solvers.cfr", "class Solver:", 'class Solver:\n    """Solves."""  # one\n', None),
        ("equipoise.solvers.cfr", "pass", "x = 2", None),  # another class of that module
        ("equipoise.trees", "Small:\n    x = 1", "Small:\n    x = 2", "equipoise.trees.Small"),
        ("equipoise.trees", "Large:\n    x = 1", "Large:\n    x = 2", None),  # asked about, never made
        ("equipoise.trees", "prepare()", "prepare(1)", "equipoise.trees.<body>"),  # runs when it is imported
        ("equipoise.kernels.sums", "add(a, get", "add(b, get", "equipoise.kernels.sums.add"),  # imported in a function
        ("equipoise.kernels.sums", "cut(a)\n", "cut(b)\n", None),
        ("equipoise.studies.one", "return 1", "return 2", None),
        ("equipoise.studies.one", "server: Server", "server: None", "equipoise.studies.one.measure"),  # its own line
        ("equipoise.games.leduc", "...", "x = 1", "equipoise.games.leduc.Leduc"),  # named by the study
        ("equipoise.games.kuhn", "...", "x = 1", None),
        ("equipoise.games.catalogue", "{\n", '{\n"go": "equipoise.games.go:Go",\n', None),  # a game more
        ("equipoise.solvers.other", "1", "2", None),
        ("equipoise.apps.server", "...", "x = 1", None),  # for type checkers alone
        ("native/sums.cpp", "// adds", "// adds up\n", None),
        ("native/sums.cpp", "add, ", "sum, ", "native/sums.cpp"),
        ("native/lanes.hpp", "4", "8", "native/lanes.hpp"),  # included by what is included
        ("native/scales.cpp", "scale)", "stretch)", "native/scales.cpp"),  # by a name put together
        ("native/cuts.hpp", "a", "b", None),  # bound for others; a keyword is no binding
    ],
)
def test_a_hash_changes_with_what_is_measured_alone(name, old, new, changed):
    assert old in MADE_UP[name]
    before, now = MADE_UP, {**MADE_UP, name: MADE_UP[name].replace(old, new, 1)}
    assert describe_changes("one", {}, before, now) == ([changed] if changed else [])
    assert (hash_modules("one", {}, before) != hash_modules("one", {}, now)) is (changed is not None)


def test_a_condition_is_met_by_what_comes_later():
    makes = {**MADE_UP, "equipoise.studies.one": ONE.replace("return add", "return Solver.solve(Large), add")}
    makes["equipoise.studies.one"] += "from equipoise.trees import Large\n"
    changed = {**makes, "equipoise.trees": makes["equipoise.trees"].replace("Large:\n    x = 1", "Large:\n    x = 2")}
    assert describe_changes("one", {}, makes, changed) == ["equipoise.trees.Large"]
    cuts = "if isinstance(tree, Large):\n            import equipoise.solvers.other as other\n            other.x"
    asked, made = (
        {**found, "equipoise.solvers.cfr": SOLVERS.replace("if isinstance(tree, Large):", cuts)}
        for found in (MADE_UP, makes)
    )
    other = {"equipoise.solvers.other": "x = 2\n"}
    assert describe_changes("one", {}, asked, asked | other) == []
    assert describe_changes("one", {}, made, made | other) == ["equipoise.solvers.other.x"]


def test_a_native_name_that_is_bound_nowhere_has_the_whole_core_behind_it():
    lost = {**MADE_UP, "native/sums.cpp": ""}
    now = {**lost, "native/cuts.hpp": "int cut(int b);\n"}
    assert describe_changes("one", {}, lost, now) == ["native/cuts.hpp"]


def test_every_native_name_that_is_asked_for_is_bound_by_a_file_that_is_seen():
    sources = read_sources()
    core = sum(name.startswith("native/") for name in sources)
    for name, text in sources.items():
        if name.startswith("equipoise.kernels."):
            for asked in re.findall(r"(?<!equipoise)\b_native\.(\w+)", text):
                assert 0 < len(find_native(asked, sources)) < core, (name, asked)


def test_a_change_of_the_sweeps_of_holdem_leaves_small_games_as_they_are():
    sources = read_sources()
    now = {**sources, "native/holdem.hpp": sources["native/holdem.hpp"] + "int more;\n"}
    assert describe_changes("rbp", {}, sources, now) == []
    assert describe_changes("turn-search", {}, sources, now) == ["native/holdem.hpp"]
    now = {**sources, "native/pruning.hpp": sources["native/pruning.hpp"] + "int more;\n"}
    assert describe_changes("rbp", {}, sources, now) == ["native/pruning.hpp"]


def test_games_of_a_configuration_count():
    now = {**MADE_UP, "equipoise.games.kuhn": "class Kuhn:\n    x = 1\n"}
    asked = {"games": ["kuhn"]}
    assert hash_modules("one", asked, MADE_UP) != hash_modules("one", asked, now)


def test_an_unknown_study_has_no_hash():
    assert hash_modules("two", {}, MADE_UP) is None


def test_studies_are_found_before_there_was_a_table_of_them():
    older = {**MADE_UP, "equipoise.studies.registry": "from equipoise.studies.one import ONE\n"}
    older["equipoise.studies.one"] += 'ONE = Study(\n    name="one",\n)\n'
    changed = {**older, "equipoise.solvers.cfr": "Solver = 3\n"}
    assert hash_modules("one", {}, older) not in (None, hash_modules("one", {}, changed))


@from_checkout
def test_every_study_has_a_hash_of_its_own():
    sources = read_sources()
    assert sources is not None
    found = [hash_modules(name, {}, sources) for name in STUDIES]
    assert None not in found
    assert len(set(found)) == len(found)


def test_a_commit_that_is_not_there_has_no_sources():
    assert read_commit(ROOT, "0" * 12) is None


@from_checkout
def test_written_results_say_their_modules_and_the_stale_are_listed(tmp_path):
    study = STUDIES["coin-toss"]
    write_result(study, study.run(CoinTossConfiguration(iterations=100)), tmp_path)
    path = tmp_path / "coin-toss.json"
    stored = json.loads(path.read_text())
    assert stored["modules"] == hash_modules("coin-toss", stored["configuration"], read_sources())
    assert "coin-toss" not in list_stale(tmp_path)
    path.write_text(json.dumps({**stored, "modules": "0" * 16}))
    assert f"coin-toss: changed since {stored['commit']}\n1 of 1" in list_stale(tmp_path)
    path.write_text(json.dumps({key: value for key, value in stored.items() if key != "modules"}))
    assert "coin-toss: says no hash of its modules\n1 of 1" in list_stale(tmp_path)


def list_stale(folder):
    command = [sys.executable, str(SCRIPT), "--results", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
