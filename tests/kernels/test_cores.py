# SPDX-License-Identifier: Apache-2.0
"""Which native core is loaded, and what is refused; scripts/wheel checks the cores themselves."""

import importlib.util
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import equipoise
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.kernels import cores
from tests.apps.commands import run_command

ROOT = Path(__file__).parent.parent.parent
ENTRY = "from equipoise.apps.entry import main; main()"


@pytest.mark.parametrize(
    ("asked", "level", "chosen"),
    [
        ("", 1, "x86-64"),
        ("", 2, "x86-64"),
        ("", 3, "x86-64-v3"),
        ("", 4, "x86-64-v4"),
        ("x86-64", 4, "x86-64"),
        ("x86-64-v3", 3, "x86-64-v3"),
    ],
)
def test_the_best_core_that_runs_or_the_one_asked_for(asked, level, chosen):
    assert cores.choose_core(asked, level) == chosen


def test_a_core_that_the_processor_does_not_run_is_refused():
    with pytest.raises(
        ConfigError, match=r"EQUIPOISE_CORE=x86-64-v4 needs a processor of level 4.* 3, which runs x86-64, "
    ):
        cores.choose_core("x86-64-v4", 3)


def test_an_unknown_core_is_refused():
    with pytest.raises(UnknownNameError, match="unknown core in EQUIPOISE_CORE 'x86-64-v5'; did you mean"):
        cores.choose_core("x86-64-v5", 4)


@pytest.fixture
def wheel(monkeypatch):
    """A portable wheel on a processor with AVX2: its modules without what is in them."""
    find_spec = importlib.util.find_spec
    spec = find_spec("equipoise._native")
    for name in ("x86_64", "x86_64_v3"):
        module = types.ModuleType(f"equipoise._native_{name}")
        module.__spec__ = spec
        monkeypatch.setitem(sys.modules, module.__name__, module)
    processor = types.ModuleType("equipoise._processor")
    processor.x86_64_level = lambda: 3
    monkeypatch.setitem(sys.modules, "equipoise._processor", processor)
    monkeypatch.delitem(sys.modules, "equipoise._native")
    monkeypatch.setattr(equipoise, "_native", None, raising=False)

    def find(name):
        return sys.modules.get(name) if name.startswith("equipoise._") else find_spec(name)

    monkeypatch.setattr(importlib.util, "find_spec", find)


@pytest.mark.parametrize(("asked", "loaded"), [("", "x86-64-v3"), ("x86-64", "x86-64")])
def test_a_wheel_loads_one_core_under_the_common_name(wheel, monkeypatch, asked, loaded):
    monkeypatch.setenv("EQUIPOISE_CORE", asked)
    cores.load_core()
    cores.load_core()  # a second time changes nothing
    assert cores.core_name() == loaded
    assert equipoise._native is sys.modules["equipoise._native"]


@pytest.mark.skipif(cores.core_name() is not None, reason="a portable wheel is installed")
def test_an_installation_with_one_core_has_none_to_choose(tmp_path):
    done = run_command(ENTRY, tmp_path, "games", EQUIPOISE_CORE="x86-64-v3")
    assert done.returncode == 2
    assert done.stderr.startswith("error: EQUIPOISE_CORE chooses among the cores of a portable wheel")
    assert done.stderr.count("\n") == 1


def test_the_build_makes_the_cores_that_are_chosen_from():
    levels = re.search(r"foreach\(level (.*)\)", (ROOT / "CMakeLists.txt").read_text())
    assert levels is not None
    assert levels[1].split() == list(cores.CORES)


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not on the path")
@pytest.mark.parametrize(("compiler", "code", "message"), [("-DMSVC=1", 1, "Microsoft's compiler"), ("-DGCC=1", 0, "")])
def test_compilers_without_vectors_are_refused(compiler, code, message):
    command = ["cmake", compiler, "-P", "cmake/compiler.cmake"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert message in " ".join(done.stderr.split())
