# SPDX-License-Identifier: Apache-2.0
"""What the library shows: names that are meant, documented, of known homes, and loaded only when they are used."""

import ast
import contextlib
import dataclasses
import doctest
import functools
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import types
from collections.abc import Mapping
from pathlib import Path

import pytest

import equipoise

ROOMS = sorted(name for name in equipoise.__all__ if isinstance(getattr(equipoise, name), types.ModuleType))
PACKAGES = ["equipoise", *(f"equipoise.{room}" for room in ROOMS), "equipoise.games.holdem"]
HEAVY = {"numpy", "scipy", "matplotlib", "rich", "torch", "typer", "pandas", "polars", "IPython", "equipoise._native"}
ARRAYS = re.compile(r"Array\b|Tree\b")


def public_things():
    """Yields every public name once, with the package that shows it and what it stands for."""
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            if not isinstance(thing, types.ModuleType):
                yield f"{package}.{name}", thing


def loaded_by(code):
    """Returns the modules that a fresh Python has loaded after some code."""
    listing = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True, timeout=120)
    return set(done.stdout.split())


def test_dir_shows_what_is_meant():
    for package in PACKAGES:
        module = importlib.import_module(package)
        assert dir(module) == sorted(module.__all__)
        assert not [name for name in dir(module) if name.startswith("_") and name != "__version__"]
    assert {"solve", "load", "load_spot", "match", "evaluate", "reproduce", "agents", "plot_convergence"} <= set(
        dir(equipoise)
    )
    assert not {"Any", "TYPE_CHECKING", "annotations", "importlib", "lazy_names"} & set(dir(equipoise))


def test_every_room_shows_its_names():
    folders = {found.name for found in pkgutil.iter_modules(equipoise.__path__) if found.ispkg}
    assert set(ROOMS) == folders - {"apps", "kernels"}


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_the_same_to_type_checkers_and_at_run_time(package):
    module, imported = importlib.import_module(package), imported_from(package)
    assert sorted(imported) == sorted(name for name in module.__all__ if name != "__version__")


def test_modules_do_not_hide_names():
    """A module that is called like a public name of its package would take its place once it is imported."""
    for package in PACKAGES[1:]:
        module = importlib.import_module(package)
        inside = {found.name for found in pkgutil.iter_modules(module.__path__)}
        assert not inside & set(module.__all__)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'equipoise' has no attribute 'slove'"):
        _ = equipoise.slove
    assert not hasattr(equipoise.solvers, "__wrapped__")


def test_one_thing_has_one_name():
    """Threads inside a solve and processes side by side; what is read from files has the names of the files' keys."""
    others = {"threads", "workers", "processes", "jobs", "cores", "n_threads", "num_processes", "num_cores"}
    found = {name for name, thing in public_things() if others & parameters_of(thing)}
    assert found == {"equipoise.SpotFile", "equipoise.games.SpotFile", "equipoise.solvers.RunConfig"}


def parameters_of(thing):
    """Returns the names of all parameters of a function, or of a class and its methods."""
    functions = [thing, *(vars(thing).values() if inspect.isclass(thing) else ())]
    named = set()
    for function in filter(callable, functions):
        with contextlib.suppress(TypeError, ValueError):
            named |= set(inspect.signature(function).parameters)
    return named


def test_every_public_name_has_a_docstring():
    bare = []
    for path, thing in public_things():
        if callable(thing) and not (thing.__doc__ or "").strip():
            bare.append(path)
        if isinstance(thing, type) and thing.__module__.startswith("equipoise."):
            bare += [f"{path}.{name}" for name in undocumented_members(thing)]
    assert not bare


def undocumented_members(kind):
    members = {name: value for name, value in vars(kind).items() if not name.startswith("_")}
    functions = {name: value.__func__ if isinstance(value, classmethod) else value for name, value in members.items()}
    checked = (types.FunctionType, property)
    return [name for name, value in functions.items() if isinstance(value, checked) and not inspect.getdoc(value)]


def imported_from(package):
    """Returns the module that a package takes each of its public names from, by name."""
    body = ast.parse(Path(importlib.import_module(package).__file__).read_text()).body
    blocks = [one for one in body if isinstance(one, ast.If) and getattr(one.test, "id", "") == "TYPE_CHECKING"]
    return {alias.name: line.module for block in blocks for line in block.body for alias in line.names}


@functools.cache
def examples_in(module):
    """Returns what doctest runs of a module, by the full name of what it stands in."""
    found = doctest.DocTestFinder().find(importlib.import_module(module))
    return {test.name: "".join(example.source for example in test.examples) for test in found if test.examples}


def has_example(package, name):
    """Returns whether doctest finds an example of a public name: its own, or of data one in the module it is from."""
    thing = getattr(importlib.import_module(package), name)
    home = imported_from(package).get(name, package)
    if isinstance(thing, type) or callable(thing):
        unwrapped = inspect.unwrap(thing)
        return f"{unwrapped.__module__}.{unwrapped.__qualname__}" in examples_in(unwrapped.__module__)
    return re.search(rf"\b{name}\b", examples_in(home).get(home, "")) is not None


def test_every_public_name_has_an_example():
    """The suite runs the doctests of all modules."""
    names = [(package, name) for package in PACKAGES for name in importlib.import_module(package).__all__]
    things = [pair for pair in names if not isinstance(getattr(sys.modules[pair[0]], pair[1]), types.ModuleType)]
    assert len(things) > 300
    assert not [".".join(pair) for pair in things if not has_example(*pair)]


def test_what_a_solution_can_do_has_an_example():
    found = examples_in("equipoise.runs.solution")
    for method in ("save", "resume", "view", "children", "search", "to_frame", "describe_place", "plot"):
        assert f"equipoise.runs.solution.Solution.{method}" in found


def test_what_holds_arrays_has_a_short_repr():
    """The `repr` that dataclasses are given prints every field: pages where a field is an array or a tree."""
    long = [
        path
        for path, thing in public_things()
        if isinstance(thing, type)
        and dataclasses.is_dataclass(thing)
        and hasattr(thing.__repr__, "__wrapped__")
        and any(ARRAYS.search(str(field.type)) for field in dataclasses.fields(thing) if field.repr)
    ]
    assert not long


def test_what_is_made_without_arguments_has_a_short_repr():
    made = []
    for _, thing in public_things():
        if isinstance(thing, type) and dataclasses.is_dataclass(thing):
            with contextlib.suppress(TypeError, equipoise.EquipoiseError):
                made.append(repr(thing()))
    assert len(made) > 40
    assert not [text for text in made if len(text) > 200]


def test_what_tables_hold_has_a_short_repr():
    tables = [thing for _, thing in public_things() if isinstance(thing, Mapping)]
    assert len(tables) >= 3
    assert not [repr(value) for table in tables for value in table.values() if len(repr(value)) > 200]


def test_importing_the_library_loads_nothing_heavy():
    assert not loaded_by("import equipoise") & HEAVY
    solving = loaded_by("import equipoise\nequipoise.solve('kuhn', iterations=1)")
    assert not solving & (HEAVY - {"numpy", "scipy", "equipoise._native"})
    assert "scipy.optimize" not in solving


def test_importing_the_library_takes_a_fraction_of_what_numpy_takes():
    """0.15 s beyond NumPy are asked for; NumPy itself takes about 0.1 s, on a busy machine more."""
    code = "import numpy; import equipoise"
    done = subprocess.run([sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=True)
    times = {line.split("|")[2].strip(): int(line.split("|")[1]) for line in done.stderr.splitlines()[1:]}
    assert times["equipoise"] < 0.5 * times["numpy"]
