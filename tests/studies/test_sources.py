# SPDX-License-Identifier: Apache-2.0
"""Which modules a study measures with, on sources made up for it and on our own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from equipoise.studies.registry import STUDIES
from equipoise.studies.report import write_result
from equipoise.studies.search.coin_toss import CoinTossConfiguration
from equipoise.studies.sources import describe_changes, hash_modules, read_commit, read_sources

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "stale-results"
IMPORTS = """from typing import TYPE_CHECKING
from equipoise.solvers import Solver
if TYPE_CHECKING:
    from equipoise.apps.server import Server
def measure():
    from equipoise.kernels.sums import add  # when it is needed
    return add
"""
MADE_UP = {
    "equipoise.studies.registry": 'TABLE = {\n    "one": "equipoise.studies.one:ONE",\n}\n',
    "equipoise.studies.one": IMPORTS + 'GAMES = ("leduc(ranks=4)",)\n',
    "equipoise.solvers": "if TYPE_CHECKING:\n    from equipoise.solvers.cfr import Solver\n",
    "equipoise.solvers.cfr": "import equipoise.games.catalogue\nSolver = 1\n",
    "equipoise.solvers.other": "x = 1\n",
    "equipoise.kernels.sums": "import equipoise._native as _native\n\ndef add(a, b):\n    return a + b\n",
    "equipoise.games.catalogue": '{"kuhn": "equipoise.games.kuhn:Kuhn", "leduc": "equipoise.games.leduc:Leduc"}\n',
    "equipoise.games.kuhn": "class Kuhn: ...\n",
    "equipoise.games.leduc": "class Leduc: ...\n",
    "equipoise.apps.server": "class Server: ...\n",
    "native/sums.cpp": "// adds\nint add(int a, int b) { return a + b; }\n",
}


@pytest.mark.parametrize(
    ("name", "text", "counts"),
    [
        ("equipoise.solvers.cfr", "import equipoise.games.catalogue\nSolver = 2\n", True),
        ("equipoise.solvers.cfr", '"""Solves."""\n\nimport equipoise.games.catalogue\nSolver = 1  # one\n', False),
        (
            "equipoise.kernels.sums",
            "import equipoise._native\n\ndef add(a, b):\n    return b + a\n",
            True,
        ),  # imported within a function
        ("equipoise.games.leduc", "class Leduc: x = 1\n", True),  # named by the study
        ("equipoise.games.kuhn", "class Kuhn: x = 1\n", False),
        ("equipoise.solvers.other", "x = 2\n", False),
        ("equipoise.apps.server", "class Server: x = 1\n", False),  # for type checkers alone
        ("native/sums.cpp", "// adds up\n\nint add(int a, int b) { return a + b; }\n", False),
        ("native/sums.cpp", "int add(int a, int b) { return b + a; }\n", True),
    ],
)
def test_a_hash_changes_with_what_is_measured_alone(name, text, counts):
    before, now = MADE_UP, {**MADE_UP, name: text}
    assert (hash_modules("one", {}, before) != hash_modules("one", {}, now)) is counts
    changed = "equipoise._native" if name.startswith("native/") else name
    assert describe_changes("one", {}, before, now) == ([changed] if counts else [])


def test_games_of_a_configuration_count():
    now = {**MADE_UP, "equipoise.games.kuhn": "class Kuhn: x = 1\n"}
    asked = {"games": ["kuhn"]}
    assert hash_modules("one", asked, MADE_UP) != hash_modules("one", asked, now)


def test_an_unknown_study_has_no_hash():
    assert hash_modules("two", {}, MADE_UP) is None


def test_studies_are_found_before_there_was_a_table_of_them():
    older = {**MADE_UP, "equipoise.studies.registry": "from equipoise.studies.one import ONE\n"}
    older["equipoise.studies.one"] += 'ONE = Study(\n    name="one",\n)\n'
    changed = {**older, "equipoise.solvers.cfr": "Solver = 3\n"}
    assert hash_modules("one", {}, older) not in (None, hash_modules("one", {}, changed))


def test_every_study_has_a_hash_of_its_own():
    sources = read_sources()
    assert sources is not None
    found = [hash_modules(name, {}, sources) for name in STUDIES]
    assert None not in found
    assert len(set(found)) > len(found) / 2  # those of one module have the same


def test_a_commit_that_is_not_there_has_no_sources():
    assert read_commit(ROOT, "0" * 12) is None


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
