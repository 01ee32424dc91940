# SPDX-License-Identifier: Apache-2.0
"""Bad input from Python: the messages of the shell, as exceptions of one tree."""

import inspect
import re
from pathlib import Path

import pytest

import equipoise as library
from equipoise.core import errors

SPOT = "board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nranges = {oop = 'AA', ip = 'KK'}\n"


@pytest.mark.parametrize(
    ("words", "ask"),
    [
        (["solve", "leduk"], lambda: library.solve("leduk")),
        (["solve", "kuhn(decks=2)"], lambda: library.solve("kuhn(decks=2)")),
        (["solve", "kuhn", "--rule", "cfr++"], lambda: library.solve("kuhn", "cfr++")),
        (["solve", "kuhn", "--method", "magic"], lambda: library.solve("kuhn", method="magic")),
        (["solve", "kuhn", "--target", "-1"], lambda: library.solve("kuhn", target=-1)),
        (["solve", "goofspiel(cards=13)"], lambda: library.solve("goofspiel(cards=13)")),
        (["solve", "nowhere.toml"], lambda: library.solve("nowhere.toml")),
        (["solve", "broken.toml"], lambda: library.solve("broken.toml")),
        (["solve", "spot.toml", "--target", "5 bb"], lambda: library.solve("spot.toml", target="5 bb")),
        (["solve", "kuhn", "--against", "bst"], lambda: library.solve("kuhn", against="bst")),
        (["evaluate", "nowhere.eq"], lambda: library.evaluate("nowhere.eq")),
        (["evaluate", "ismcts:x", "--game", "kuhn"], lambda: library.evaluate("ismcts:x", game="kuhn")),
        (["match", "cal", "fold", "-g", "kuhn"], lambda: library.match("cal", "fold", game="kuhn")),
        (["reproduce", "coin"], lambda: library.reproduce("coin")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_python_says_what_the_shell_says(equipoise, words, ask):
    Path("spot.toml").write_text(SPOT)
    Path("broken.toml").write_text("board = 7")
    outcome = equipoise(*words)
    with pytest.raises(library.EquipoiseError) as caught:
        ask()
    assert outcome.code == 2
    assert " ".join(str(caught.value).split()) in " ".join(outcome.err.split())


def test_a_spot_that_does_not_fit_is_refused_with_both_figures(monkeypatch):
    monkeypatch.setattr("equipoise.core.memory.available_bytes", lambda: 1000)
    with pytest.raises(library.GameTooLargeError, match=r"solving the spot with .* needs .* of memory, 1.0 kB are"):
        library.solve(library.load_spot(SPOT), iterations=1)


def test_every_exception_hangs_on_the_tree_that_is_drawn():
    drawn = dict(re.findall(r"(\b[A-Z]\w+Error)\b(?: +\((\w+)\))?", errors.__doc__))
    found = {name: kind for name, kind in vars(errors).items() if inspect.isclass(kind) and name.endswith("Error")}
    assert set(drawn) == set(found) == {name for name in library.core.__all__ if name.endswith("Error")}
    for name, kind in found.items():
        assert issubclass(kind, library.EquipoiseError)
        assert not drawn[name] or drawn[name] in [base.__name__ for base in kind.__mro__]
