# SPDX-License-Identifier: Apache-2.0
import importlib.util
import sys
import types

import pytest

from equipoise.core.errors import MissingExtraError, UnknownNameError
from equipoise.core.frames import make_frame

COLUMNS = {"hand": ["AA", "KK"], "weight": [1.0, 0.5]}


@pytest.fixture
def install(monkeypatch):
    """Returns what makes libraries of a list look installed, and the others not."""

    def pretend(*names):
        for name in ("pandas", "polars"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        made = {name: types.SimpleNamespace(DataFrame=lambda columns, name=name: (name, columns)) for name in names}
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name in made else None)
        monkeypatch.setattr(importlib, "import_module", made.__getitem__)
        return made

    return pretend


def test_whichever_library_is_there_makes_the_frame(install):
    install("polars")
    assert make_frame(COLUMNS) == ("polars", COLUMNS)
    install("pandas", "polars")
    assert make_frame(COLUMNS) == ("pandas", COLUMNS)
    assert make_frame(COLUMNS, "polars") == ("polars", COLUMNS)


def test_the_library_of_the_program_comes_first(install, monkeypatch):
    made = install("pandas", "polars")
    monkeypatch.setitem(sys.modules, "polars", made["polars"])
    assert make_frame(COLUMNS) == ("polars", COLUMNS)


def test_without_any_it_is_said_how_to_get_one(install):
    install()
    with pytest.raises(MissingExtraError, match=r"a data frame needs pandas or polars, which is not installed"):
        make_frame(COLUMNS)
    with pytest.raises(UnknownNameError, match="unknown library of data frames 'panda'; did you mean pandas"):
        make_frame(COLUMNS, "panda")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_real_frame(library):
    pytest.importorskip(library)
    frame = make_frame(COLUMNS, library)
    assert list(frame.columns) == ["hand", "weight"]
    assert list(frame["weight"]) == [1.0, 0.5]
