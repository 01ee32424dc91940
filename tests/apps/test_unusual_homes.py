# SPDX-License-Identifier: Apache-2.0
"""Unusual homes: odd paths, other users, nothing to write to, no terminal, one core, a full disk.

Each works, or says in one line what is missing.
"""

import contextlib
import os
import pwd
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile

import pytest

from tests.apps.commands import QUIET

KEPT = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV", "TMPDIR")
UNWRITABLE = "/proc"  # a folder in which not even root can make a file
LEAST_BYTES = 4096
EVENING = """
import sys
from equipoise.apps.cli import main
for words in (
    "solve kuhn --iterations 50 --out k.eq",
    "show k.eq",
    "tree kuhn --strategy k.eq -o k.svg",
    "match file:k.eq uniform -n 50",
    "plot k.eq -o k.png",
):
    try:
        sys.argv = ["equipoise", *words.split()]
        main()
    except SystemExit as end:
        if end.code:
            raise
"""


def start(folder, *arguments, prepare=None, program=QUIET, python=sys.executable, **environment):
    """Returns how a command ended in a folder, with nothing of this process's environment but what it needs to run."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return subprocess.run(
        [python, "-c", program, *map(str, arguments)],
        cwd=folder,
        # compiled modules are none of these homes' business: with a limit on files Python leaves torn ones behind
        env={**kept, "HOME": str(folder), "EQUIPOISE_CACHE": "off", "PYTHONDONTWRITEBYTECODE": "1", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        preexec_fn=prepare,
        timeout=300,
    )


def check_one_line(done, words):
    """Asserts that a command ended with one line that has some words."""
    said = done.stderr.decode(errors="replace")
    assert done.returncode in (1, 2), said
    errors = [line for line in said.splitlines() if line.startswith("error:")]
    assert len(errors) == 1, said
    assert words in said
    assert "Traceback" not in said


def check_evening(folder, **how):
    """Asserts that a game can be solved, kept, shown, drawn and played there."""
    done = start(folder, program=EVENING, **how)
    said = done.stderr.decode(errors="replace")
    assert done.returncode == 0, said
    assert "Traceback" not in said
    assert "Warning" not in said
    assert "temporary" not in said  # of Matplotlib, on homes that it cannot write to
    assert {path.name for path in folder.iterdir()} >= {"k.eq", "k.svg", "k.png"}
    return done


@pytest.mark.parametrize("name", ["two words", "-übung 'n' \"quotes\""])
def test_odd_folders(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    check_evening(folder)


def test_files_with_odd_names(tmp_path):
    name = "my best run é.eq"
    assert start(tmp_path, "solve", "kuhn", "--iterations", "20", "--out", name).returncode == 0
    assert b"holds K" in start(tmp_path, "show", name).stdout
    assert start(tmp_path, "match", f"file:{name}", "call", "-n", "20").returncode == 0


@pytest.mark.parametrize("variable", ["HOME", "XDG_CACHE_HOME", "EQUIPOISE_CACHE"])
def test_homes_and_caches_that_cannot_be_written(tmp_path, variable):
    cache = {} if variable == "EQUIPOISE_CACHE" else {"EQUIPOISE_CACHE": ""}
    check_evening(tmp_path, **{**cache, variable: UNWRITABLE})


def test_no_home_at_all(tmp_path):
    check_evening(tmp_path, HOME="", EQUIPOISE_CACHE="")


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    check_one_line(start(UNWRITABLE, "solve", "kuhn", "--iterations", "5", "--out", "k.eq"), "k.eq")
    done = start(UNWRITABLE, "solve", "kuhn", "--iterations", "5", HOME=UNWRITABLE)
    assert done.returncode == 0


@pytest.mark.parametrize(
    "environment",
    [
        {"LANG": "C"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
        {"TERM": "dumb", "COLUMNS": "40"},
    ],
    ids=lambda environment: " ".join(f"{name}={value}" for name, value in environment.items()),
)
def test_languages_and_terminals(tmp_path, environment):
    done = check_evening(tmp_path, **environment)
    assert b"\x1b" not in done.stdout + done.stderr


def test_no_terminal_and_no_session(tmp_path):
    done = start(tmp_path, "play", "kuhn", "--against", "call", "--seed", "1", prepare=os.setsid)
    assert done.returncode == 0
    assert b"no hand was finished" in done.stdout


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot bind a process to a core")
def test_one_core(tmp_path):
    core = min(os.sched_getaffinity(0))
    done = start(tmp_path, "solve", "leduc", "--iterations", "20", prepare=lambda: os.sched_setaffinity(0, {core}))
    assert done.returncode == 0


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LEAST_BYTES, LEAST_BYTES))


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (("solve", "leduc", "--iterations", "5", "--out", "l.eq"), "l.eq"),
        (("compare", "kuhn", "--rules", "cfr,dcfr", "-n", "20", "--plot", "c.png"), "c.png"),
        (("match", "uniform", "call", "--game", "kuhn", "-n", "2000", "--out", "m.eq"), "m.eq"),
        (("match", "uniform", "call", "--game", "kuhn", "-n", "400", "--hands-out", "h.txt"), "h.txt"),
        (("tree", "kuhn", "-o", "k.svg"), "k.svg"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_full_disk_is_said_in_one_line(tmp_path, arguments, file):
    check_one_line(start(tmp_path, *arguments, prepare=limit_files), file)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".") and path.suffix == ".tmp"]


PACKAGES = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"  # of this Python, for another one


def list_pythons():
    """Returns this Python and others of its version, which somebody else may be allowed to start."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    others = [shutil.which(f"python{version}"), f"/usr/bin/python{version}", f"/usr/local/bin/python{version}"]
    return [python for python in (sys.executable, *others) if python is not None]


def find_other_user():
    """Returns a user without rights with a Python that it can start to read this package, None if there is none."""
    if os.geteuid() != 0:
        return None
    try:
        user = pwd.getpwnam("nobody")
    except KeyError:
        return None

    def become():
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)

    for python in list_pythons():
        with contextlib.suppress(OSError):
            done = subprocess.run(
                [python, "-c", f"{PACKAGES}import equipoise.apps.cli"],
                preexec_fn=become,
                capture_output=True,
                check=False,
                env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
                cwd="/",
            )
            if done.returncode == 0:
                return become, python
    return None


def test_a_user_without_rights(tmp_path):
    found = find_other_user()
    if found is None:
        pytest.skip("nobody else can start this Python")
    how = {"prepare": found[0], "python": found[1], "program": PACKAGES + QUIET}
    folder = "/"  # what others may look into and not write to
    refused = start(folder, "solve", "kuhn", "--iterations", "5", "--out", "k.eq", **how)
    check_one_line(refused, "cannot write k.eq: permission denied")
    assert start(folder, "solve", "kuhn", "--iterations", "5", **how).returncode == 0
    with tempfile.TemporaryDirectory(dir="/tmp") as own:
        os.chmod(own, 0o777)
        assert start(own, "solve", "kuhn", "--iterations", "5", "--out", "k.eq", **how).returncode == 0
        assert b"holds K" in start(own, "show", "k.eq", **how).stdout
