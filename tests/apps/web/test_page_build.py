# SPDX-License-Identifier: Apache-2.0
"""The page that is shipped: built from the sources that are here, whole, small, and asking nobody else for anything."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from equipoise.apps.bench.browser import WANTED_KB, weigh_page

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def sources():
    spec = importlib.util.spec_from_file_location("page_sources", ROOT / "scripts" / "page_sources.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_shipped_page_is_of_these_sources(sources):
    assert sources.read_mark() == sources.hash_sources(), "web/ has changed since the page was built: run scripts/page"


def test_a_changed_source_changes_the_hash(sources, tmp_path, monkeypatch):
    before = sources.hash_sources()
    for path in sources.list_sources():
        copied = tmp_path / path.relative_to(sources.WEB)
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_bytes(path.read_bytes())
    monkeypatch.setattr(sources, "WEB", tmp_path)
    assert sources.hash_sources() == before
    (tmp_path / "src" / "main.ts").write_text("changed")
    assert sources.hash_sources() != before


def test_everything_that_the_page_names_is_shipped(sources):
    index = (sources.PAGE / "index.html").read_text()
    named = re.findall(r'(?:src|href)="/([^"]+)"', index)
    assert len(named) >= 3
    assert [name for name in named if not (sources.PAGE / name).is_file()] == []


def test_page_is_small():
    assert 20 < weigh_page() < WANTED_KB


def test_page_loads_nothing_from_elsewhere(sources):
    for path in sources.PAGE.rglob("*"):
        if path.suffix in {".html", ".css"}:
            assert not re.search(r"(?:src|href|url\()[=(\"']*(?:https?:)?//", path.read_text()), path.name
