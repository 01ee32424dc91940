# SPDX-License-Identifier: Apache-2.0
"""What contributors meet: recipes that end in a command, hooks, templates, the citation."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import equipoise
from tests.docs.blocks import find_blocks, read_page

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parent.parent.parent
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def read_yaml(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf8"))


def sections():
    """Returns the sections of CONTRIBUTING by their heading."""
    parts = re.split(r"^## (.*)\n", read_page("CONTRIBUTING.md"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("what", ["a game", "a rule", "a search method", "an agent", "a network", "a study"])
def test_recipes_end_in_a_command(what):
    (block,) = find_blocks(sections()[f"Add {what}"])
    assert block.language == "sh"
    assert block.text.strip().splitlines()[0].strip().startswith(".venv/bin/python -m pytest -q tests/")


def test_recipes_name_what_is_there():
    text = read_page("CONTRIBUTING.md")
    for path in re.findall(r"`((?:games|solvers|search|agents|learning|studies|kernels)/[\w./]*)`", text):
        assert (ROOT / "src" / "equipoise" / path).exists(), path
    for path in re.findall(r"`?((?:tests|native|scripts|docs|benchmarks)/[\w./-]*\w)", text):
        assert (ROOT / path).exists(), path


def test_hooks_are_checks_that_there_are_and_fetch_nothing():
    (source,) = read_yaml(".pre-commit-config.yaml")["repos"]
    assert source["repo"] == "local"
    known = set(re.findall(r"^check_(\w+)\(\)", (ROOT / "scripts" / "check").read_text(), re.MULTILINE))
    entries = [hook["entry"].split() for hook in source["hooks"]]
    assert all(hook["language"] == "system" for hook in source["hooks"])
    assert {words[0] for words in entries} == {"scripts/check"}
    assert {words[1] for words in entries} == known


def test_an_unknown_check_is_refused():
    done = subprocess.run([ROOT / "scripts" / "check", "lnit"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unknown check 'lnit'; known: format lint typos types imports house pages" in done.stderr


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_templates_are_forms(path):
    form = yaml.safe_load(path.read_text(encoding="utf8"))
    if path.stem == "config":
        assert form["blank_issues_enabled"] is True
        return
    assert form["name"]
    assert form["description"]
    identifiers = [part["id"] for part in form["body"]]
    assert len(set(identifiers)) == len(identifiers)
    assert all(part["type"] in {"textarea", "input"} and part["attributes"]["label"] for part in form["body"])
    assert any(part.get("validations", {}).get("required") for part in form["body"])


def test_the_citation_is_of_this_version():
    citation = read_yaml("CITATION.cff")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    assert citation["version"] == project["version"] == equipoise.__version__
    assert citation["license"] == project["license"]
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()


def test_wheels_are_built_for_every_python_and_tried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))
    wheels = project["tool"]["cibuildwheel"]
    assert f">={wheels['build'][0][2]}.{wheels['build'][0][3:5]}" == project["project"]["requires-python"]
    (option,) = (name.removeprefix("cmake.define.") for name in wheels["config-settings"])
    assert f"option({option} " in (ROOT / "CMakeLists.txt").read_text(encoding="utf8")
    assert (ROOT / wheels["test-command"].split("{project}/")[1]).is_file()
    assert "*-win*" in wheels["skip"]
