# SPDX-License-Identifier: Apache-2.0
"""The release script refuses whatever disagrees, and tags what agrees."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "release"
FILES = {
    "pyproject.toml": '[project]\nname = "equipoise"\nversion = "0.2.0"\n',
    "src/equipoise/__init__.py": '__version__ = "0.2.0"\n',
    "CITATION.cff": "title: Equipoise\nversion: 0.2.0\ndate-released: 2026-01-31\n",
    "CHANGELOG.md": "# Log\n\n## 0.2.0 (2026-01-31)\n\n### Added\n\n- A game.\n\n## 0.1.0 (2025-12-01)\n\n- It.\n",
}


class Checkout:
    """A small repository with the files that a release is about."""

    def __init__(self, folder):
        self.folder = folder
        self.git("init", "--quiet")
        for name, text in FILES.items():
            self.write(name, text)
        self.commit()
        self.git("tag", "v0.1.0")

    def git(self, *words):
        who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", "-C", self.folder, *who, *words], capture_output=True, text=True, check=True)
        return done.stdout

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "all")

    def release(self, *words):
        command = [sys.executable, SCRIPT, "--root", self.folder, *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "somebody@example.org")
    return Checkout(tmp_path)


def test_what_agrees_is_tagged_with_its_entry(checkout):
    assert checkout.release().returncode == 0
    assert checkout.git("tag") == "v0.1.0\n"  # it only looked
    done = checkout.release("--tag")
    assert done.returncode == 0
    message = checkout.git("tag", "--list", "--format=%(contents)", "v0.2.0")
    assert "- A game." in message
    assert "### Added" in message
    assert "It." not in message


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("pyproject.toml", "0.2.0", "0.3.0", "__version__ must be 0.3.0 as in pyproject.toml, got 0.2.0"),
        ("pyproject.toml", "0.2.0", "two", "version must be like 1.2.3, got 'two'"),
        ("pyproject.toml", "version", "verse", "pyproject.toml has no version"),
        ("src/equipoise/__init__.py", "0.2.0", "0.2.1", "__version__ must be 0.2.0 as in pyproject.toml, got 0.2.1"),
        ("CHANGELOG.md", "## 0.2.0", "## 0.2.1", "the newest entry must be of 0.2.0, got 0.2.1"),
        ("CHANGELOG.md", "(2026-01-31)", "(unreleased)", "must have a date like 2026-01-31, got unreleased"),
        ("CHANGELOG.md", "### Added\n\n- A game.\n", "", "the newest entry says nothing"),
        ("CHANGELOG.md", "## ", "#### ", "the newest entry must be of 0.2.0, got none"),
        ("CITATION.cff", "0.2.0", "0.1.0", "CITATION.cff: version must be 0.2.0, got 0.1.0"),
        ("CITATION.cff", "2026-01-31", "2026-01-30", "date-released must be 2026-01-31, got 2026-01-30"),
    ],
)
def test_what_disagrees_is_refused(checkout, name, old, new, message):
    checkout.write(name, FILES[name].replace(old, new))
    checkout.commit()
    done = checkout.release("--tag")
    assert done.returncode == 1
    assert message in done.stderr
    assert checkout.git("tag") == "v0.1.0\n"


@pytest.mark.parametrize(
    ("tag", "message"),
    [("v0.2.0", "tag v0.2.0 is there already"), ("v0.10.0", "version 0.2.0 is lower than v0.10.0, which is tagged")],
)
def test_tags_that_contradict_are_refused(checkout, tag, message):
    checkout.git("tag", tag)
    done = checkout.release("--tag")
    assert done.returncode == 1
    assert message in done.stderr


def test_changes_and_missing_files_are_refused(checkout):
    checkout.write("CHANGELOG.md", FILES["CHANGELOG.md"] + "\n- More.\n")
    assert "not committed" in checkout.release("--tag").stderr
    (checkout.folder / "CITATION.cff").unlink()
    assert "cannot read" in checkout.release("--tag").stderr


def test_all_that_is_wrong_is_said_at_once(checkout):
    checkout.write("CITATION.cff", "version: 0.1.0\n")
    checkout.write("CHANGELOG.md", "# Changelog\n\n## 0.1.0 (unreleased)\n")
    said = checkout.release().stderr
    assert said.count("\n") == 6  # two lines of the citation would be too many: there is no date to compare
