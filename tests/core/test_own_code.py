# SPDX-License-Identifier: Apache-2.0
import sys

import pytest

from equipoise.core import own_code
from equipoise.core.errors import ConfigError
from equipoise.core.own_code import find_text, load_class, parse_class_text


@pytest.fixture(autouse=True)
def _forget(monkeypatch, tmp_path):
    """Keeps what tests load out of each other's way."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(own_code, "_folders", [])
    modules, files = dict(sys.modules), dict(own_code._files)
    yield
    for name in set(sys.modules) - set(modules):
        del sys.modules[name]
    own_code._files.clear()
    own_code._files.update(files)


def load(text):
    return load_class(parse_class_text(text))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a.py:B", ("a.py", "B", "")),
        ("some where/a(1).py:B.C(x=1)", ("some where/a(1).py", "B.C", "(x=1)")),
        ("a.b:C:0.5,more", ("a.b", "C", ":0.5,more")),
    ],
)
def test_parts_of_a_text(text, parts):
    found = parse_class_text(text)
    assert (found.where, found.name, found.rest) == parts


@pytest.mark.parametrize("text", ["leduc", "leduc(ranks=4)", "a.py", "a.py:", ":B", "a.py:1", "file.eq:"])
def test_other_texts_name_no_class(text):
    assert parse_class_text(text) is None


def test_a_file_and_a_module_in_this_folder(tmp_path):
    (tmp_path / "beside_me.py").write_text("ANSWER = 42\n")
    (tmp_path / "own_things.py").write_text("import beside_me\nclass Thing:\n    answer = beside_me.ANSWER\n")
    kind = load("own_things.py:Thing")
    assert kind.answer == 42
    assert find_text(kind) == f"{tmp_path / 'own_things.py'}:Thing"
    assert load(find_text(kind)) is kind
    assert load("own_things:Thing") is kind


def test_a_file_is_read_again_when_it_has_changed(tmp_path):
    file = tmp_path / "changing_thing.py"
    file.write_text("class Thing:\n    answer = 1\n")
    assert load("changing_thing.py:Thing").answer == 1
    file.write_text("class Thing:\n    answer = 'another'\n")
    assert load("changing_thing.py:Thing").answer == "another"


def test_files_of_one_name_in_two_folders(tmp_path):
    for answer in ("one", "two"):
        (tmp_path / answer).mkdir()
        (tmp_path / answer / "same_thing.py").write_text(f"class Thing:\n    answer = {answer!r}\n")
    assert [load(f"{answer}/same_thing.py:Thing").answer for answer in ("one", "two", "one")] == ["one", "two", "one"]
    assert sys.path.index(str(tmp_path / "one")) < sys.path.index(str(tmp_path / "two"))  # for other processes


@pytest.mark.parametrize(
    ("code", "text", "message"),
    [
        ("", "there_is_none.py:B", "cannot read there_is_none.py: no such file"),
        ("class Coin: pass", "broken_thing.py:Con", "unknown class of broken_thing.py 'Con'; did you mean Coin"),
        ("x = 1", "broken_thing.py:Coin", "broken_thing.py has no class 'Coin', and no other either"),
        ("Coin = 3", "broken_thing.py:Coin", "must be a class, got int Coin"),
        ("x = 1\n1 / 0", "broken_thing.py:B", "cannot be imported: ZeroDivisionError: .*broken_thing.py, line 2"),
        (
            "x = (",
            "broken_thing.py:B",
            r"imported: SyntaxError: [^()]*'\(' was never closed \(broken_thing.py, line 1\)$",
        ),
        ("import sys\nsys.exit(2)", "broken_thing.py:B", "cannot be imported: SystemExit: 2"),
        ("import is_not_there", "broken_thing.py:B", "cannot be imported: ModuleNotFoundError"),
        ("import is_not_there", "broken_thing:B", "module broken_thing cannot be imported: ModuleNotFoundError"),
        ("", "broken_thing.below:B", "there is no module 'broken_thing.below' here or installed"),
        ("class B: pass", "numpy.py:B", "numpy.py has the name of another module"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, code, text, message):
    if text != "there_is_none.py:B":
        (tmp_path / text.partition(":")[0].removesuffix(".py")).with_suffix(".py").write_text(code)
    with pytest.raises(ConfigError, match=message) as caught:
        load(text)
    assert "\n" not in str(caught.value)
