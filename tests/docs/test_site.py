# SPDX-License-Identifier: Apache-2.0
"""The site: built without a warning, a page for every public name, results that say where they come from."""

import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise
from equipoise.core.errors import ParseError
from equipoise.studies.registry import STUDIES
from equipoise.studies.study import Size, StudyResult, Verdict

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
RESULTS = sorted((DOCS / "results").glob("*.json"))
# everything but writing HTML and drawing pictures, which are most of the time and say nothing of the pages
BUILD = """
import json, sys
from sphinx.application import Sphinx
docs, out = sys.argv[1:]
app = Sphinx(docs, docs, out, out, "dummy", {"draws_results": False}, status=None, warningiserror=True)
app.build()
names, pages = sorted(app.env.domains["py"].objects), sorted(app.env.all_docs)
json.dump({"code": app.statuscode, "names": names, "pages": pages}, sys.stdout)
"""

pytest.importorskip("sphinx")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Returns what Sphinx found while it built the site: names that have an entry, pages."""
    command = [sys.executable, "-c", BUILD, str(DOCS), str(tmp_path_factory.mktemp("site"))]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return json.loads(done.stdout)


def public_names():
    """Returns the full name of everything that the package and its rooms export, and what each stands for."""
    rooms = [module.name for module in pkgutil.iter_modules(equipoise.__path__, "equipoise.") if module.ispkg]
    modules = [importlib.import_module(name) for name in ("equipoise", *rooms)]
    exported = [(module, name) for module in modules for name in getattr(module, "__all__", ())]
    return {f"{module.__name__}.{name}": getattr(module, name) for module, name in exported}


def test_it_is_built_without_a_warning(site):
    assert site["code"] == 0
    assert {"index", "quickstart", "glossary", "options", "api/index", "results/index"} <= set(site["pages"])


def test_every_public_name_has_a_page(site):
    names, pages = public_names(), set(site["pages"])
    documented = {id(names[name]) for name in names if name in site["names"] and f"api/{name}" in pages}
    missing = [name for name, value in names.items() if id(value) not in documented]
    assert not missing
    assert len(names) > 80
    rooms = {name.rpartition(".")[0] for name in names}
    assert rooms == {page.removeprefix("api/") for page in pages if page.removeprefix("api/") in rooms}


def test_every_public_name_is_listed_by_its_room(site):
    for name in public_names():
        room, _, own = name.rpartition(".")
        assert f"`{own} <" in (DOCS / "api" / f"{room}.rst").read_text(encoding="utf8")


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_stored_results_are_whole(path):
    values = json.loads(path.read_text(encoding="utf8"))
    result = StudyResult.from_json(values)
    assert result.study == path.stem
    assert json.loads(json.dumps(result.as_json())) == values
    assert result.study in STUDIES
    assert not result.is_partial
    assert result.origin["commit"]
    assert "dirty" not in result.origin["commit"]
    assert re.fullmatch(r"[0-9a-f]{16}", result.origin["modules"])
    assert str(ROOT) not in path.read_text(encoding="utf8")


def test_results_have_a_page_each_with_command_and_commit(site):
    assert RESULTS
    for path in RESULTS:
        result = StudyResult.from_json(json.loads(path.read_text(encoding="utf8")))
        text = (DOCS / "results" / f"{path.stem}.md").read_text(encoding="utf8")
        assert f"results/{path.stem}" in site["pages"]
        assert f"`equipoise reproduce {result.study}" in text
        assert result.origin["commit"] in text
        assert all(f"| {key} |" in text for key in list(result.conclusion.rows[0])[:1])
    index = (DOCS / "results" / "index.md").read_text(encoding="utf8")
    assert all(f"equipoise reproduce {name}" in index for name in STUDIES)


@pytest.mark.parametrize("values", [{}, {"study": "dcfr-toy"}, {**json.loads(RESULTS[0].read_text()), "claims": [{}]}])
def test_what_is_no_result_is_refused(values):
    with pytest.raises(ParseError, match="not the result of a study"):
        StudyResult.from_json(values)


@pytest.fixture
def scripts(monkeypatch):
    """Lets modules of `scripts/` be imported."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module


def test_the_command_of_a_result_gives_its_settings(scripts):
    study = STUDIES["rnr"]
    changed = study.run(study.configure(Size.QUICK, {"percents": "10,50", "iterations": "5"}))
    stored = StudyResult.from_json(json.loads(json.dumps(changed.as_json())))
    said = scripts("results_pages").format_command(stored)
    assert said == "equipoise reproduce rnr -p percents=10,50 -p iterations=5"


def test_pages_of_results_follow_what_is_stored(scripts, tmp_path):
    write = scripts("results_pages").write_result_pages
    for name in ("dcfr-toy", "coin-toss"):
        (tmp_path / f"{name}.json").write_bytes((DOCS / "results" / f"{name}.json").read_bytes())
    write(tmp_path)
    assert (tmp_path / "coin-toss.png").read_bytes()[1:4] == b"PNG"
    assert "![" in (tmp_path / "coin-toss.md").read_text()
    (tmp_path / "coin-toss.json").unlink()
    write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "dcfr-toy.json",
        "dcfr-toy.md",
        "dcfr-toy.png",
        "index.md",
    ]


def test_docstrings_are_taken_at_their_word(scripts):
    lines = [
        "Returns x * y|z of `a*b` and name_ there.",
        "Paper: One 2020,",
        "    two.",
        "Symbols: t -> t.",
        ">>> print('a * b', 'c|d', sep='\\n')",
        "a * b",
        "c|d",
        "",
        "As in::",
        "",
        "    a * b",
        "x|y",
    ]
    scripts("api_pages").adapt_docstring(lines)
    assert lines == [
        r"Returns x \* y\|z of `a*b` and name\_ there.",
        ":Paper: One 2020,",
        "    two.",
        ":Symbols: t -> t.",
        ">>> print('a * b', 'c|d', sep='\\n')",
        "a * b",
        "c|d",
        "",
        "As in::",
        "",
        "    a * b",
        r"x\|y",
    ]


def test_the_page_of_claims_has_every_claim_with_its_verdict(scripts):
    pages = scripts("results_pages")
    results = pages.load_results(DOCS / "results")
    text = pages.format_claims(results)
    assert text == (DOCS / "claims.md").read_text(encoding="utf8")
    claims = [claim for result in results.values() for claim in result.conclusion.claims]
    starts = tuple(f"| {verdict} |" for verdict in Verdict)
    assert sum(line.startswith(starts) for line in text.splitlines()) == len(claims)
    assert f"| **all** | {len(claims)} |" in text
    fewer = {name: result for name, result in results.items() if name != "coin-toss"}
    assert "| `coin-toss` | not kept here |" in pages.format_claims(fewer)
