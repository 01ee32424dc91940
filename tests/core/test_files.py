# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import sys
from collections import namedtuple

import pytest

from equipoise.core import files, memory
from equipoise.core.errors import CheckpointError, GameTooLargeError
from equipoise.core.files import check_writable, lock, write_atomically, write_steadily
from equipoise.core.memory import available_bytes, check_memory

Usage = namedtuple("Usage", ["total", "used", "free"])


def test_a_writable_place_is_left_as_it_was(tmp_path):
    check_writable(tmp_path / "new.eq", num_bytes=10)
    assert os.listdir(tmp_path) == []


def test_missing_directory_is_said(tmp_path):
    with pytest.raises(CheckpointError, match=r"directory .*nowhere does not exist"):
        check_writable(tmp_path / "nowhere" / "file")


def test_directory_in_place_of_a_file_is_said(tmp_path):
    with pytest.raises(CheckpointError, match="it is a directory, expected a file"):
        check_writable(tmp_path)


def test_file_in_place_of_a_directory_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match=r"file is not a directory"):
        check_writable(tmp_path / "file" / "below")


def test_device_is_said():
    with pytest.raises(CheckpointError, match="device or pipe"):
        check_writable("/dev/null")


def test_refused_permission_is_said(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(CheckpointError, match="permission denied"):
        check_writable(tmp_path / "file")


def test_read_only_file_is_said(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(CheckpointError, match="read-only"):
        check_writable(tmp_path / "file")


def test_too_small_a_disk_is_said_with_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(files.shutil, "disk_usage", lambda _: Usage(10**9, 10**9, 1000))
    with pytest.raises(CheckpointError, match=r"needs about 5\.0 MB, the disk has 1\.0 kB free"):
        check_writable(tmp_path / "file", num_bytes=5_000_000)


def test_too_long_a_name_is_said(tmp_path):
    with pytest.raises(CheckpointError, match="name too long"):
        check_writable(tmp_path / ("x" * 300))


@pytest.mark.parametrize("name", ["x" * 255, "♠" * 80], ids=["ascii", "three bytes a letter"])
def test_the_longest_names_are_written_and_locked(tmp_path, name):
    check_writable(tmp_path / name)
    with lock(tmp_path / name):
        write_atomically(tmp_path / name, lambda file: file.write(b"content"))
    assert os.listdir(tmp_path) == [name]


def test_a_lock_is_exclusive_until_it_is_left(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with lock(tmp_path / "file"):
        with lock(tmp_path / "other"):
            pass
        with pytest.raises(CheckpointError, match="another process is at work on it"), lock(tmp_path / "link"):
            pass
    with lock(tmp_path / "link"):
        pass
    assert os.listdir(tmp_path) == ["link"]


def test_a_lock_that_its_holder_removed_meanwhile_is_taken_anew(tmp_path, monkeypatch):
    flock = files.fcntl.flock
    place = tmp_path / ".file.lock"

    def remove_once(descriptor, operation):
        flock(descriptor, operation)
        monkeypatch.setattr(files.fcntl, "flock", flock)
        place.unlink()

    monkeypatch.setattr(files.fcntl, "flock", remove_once)
    with lock(tmp_path / "file"):
        assert place.exists()
        with pytest.raises(CheckpointError, match="another process"), lock(tmp_path / "file"):
            pass


def test_without_locks_nobody_is_kept_out(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(files.fcntl, "flock", refuse)
    with lock(tmp_path / "file"), lock(tmp_path / "file"):
        assert os.listdir(tmp_path) == [".file.lock"]
    assert os.listdir(tmp_path) == []


def test_memory_is_known_here():
    assert available_bytes() > 0
    check_memory(1, "nothing")


def test_too_little_memory_is_said_with_figures(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 2_000_000)
    with pytest.raises(GameTooLargeError, match=r"the game needs 3\.0 MB of memory, 2\.0 MB are available"):
        check_memory(3_000_000, "the game")


def test_a_container_limit_counts(tmp_path, monkeypatch):
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    monkeypatch.setattr(memory, "CONTROL_GROUP", tmp_path)
    assert available_bytes() == 3000


def test_without_system_files_memory_is_the_whole_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "CONTROL_GROUP", tmp_path)
    monkeypatch.setattr(memory, "MEMORY_INFO", tmp_path / "nothing")
    assert available_bytes() == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def leave_behind(directory, name):
    """Has a process killed while it writes a file, and returns the temporary file that it leaves."""
    program = (
        "import os, signal, sys\n"
        "from equipoise.core.files import write_atomically\n"
        "def write(file):\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_atomically(sys.argv[1], write)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(directory / name)], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = directory.glob(f".{name}.*.tmp")
    return left


@pytest.mark.parametrize(
    "clean", [check_writable, lambda path: write_atomically(path, lambda file: file.write(b"new"))]
)
def test_what_a_killed_process_left_is_removed(tmp_path, clean):
    (tmp_path / "run.eq").write_bytes(b"good")
    left = leave_behind(tmp_path, "run.eq")
    others = [
        tmp_path / name for name in (".run.eq.more.tmp", ".run.eq.0123456789ab.tmp.eq", ".other.0123456789ab.tmp")
    ]
    for other in others:
        other.touch()
    clean(tmp_path / "run.eq")
    assert not left.exists()
    assert all(other.exists() for other in others)
    assert (tmp_path / "run.eq").read_bytes() in (b"good", b"new")


def test_what_a_living_process_writes_is_left_alone(tmp_path):
    seen = []

    def write(file):
        file.write(b"outer")
        write_atomically(tmp_path / "run.eq", lambda inner: inner.write(b"inner"))
        check_writable(tmp_path / "run.eq")
        seen.append((tmp_path / "run.eq").read_bytes())

    write_atomically(tmp_path / "run.eq", write)
    assert seen == [b"inner"]
    assert (tmp_path / "run.eq").read_bytes() == b"outer"
    assert os.listdir(tmp_path) == ["run.eq"]


def test_a_file_that_was_taken_for_stale_is_begun_anew(tmp_path, monkeypatch):
    taken = []
    flock = files.fcntl.flock

    def steal(descriptor, kind):
        if not taken:
            (place,) = tmp_path.iterdir()
            place.unlink()
            taken.append(place)
        flock(descriptor, kind)

    monkeypatch.setattr(files.fcntl, "flock", steal)
    write_atomically(tmp_path / "run.eq", lambda file: file.write(b"whole"))
    assert taken
    assert (tmp_path / "run.eq").read_bytes() == b"whole"


def test_without_locks_nothing_is_removed(tmp_path, monkeypatch):
    left = leave_behind(tmp_path, "run.eq")
    monkeypatch.setattr(files, "fcntl", None)
    write_atomically(tmp_path / "run.eq", lambda file: file.write(b"whole"))
    assert left.exists()


PARTS = [memoryview(bytes(range(20))), memoryview(b""), memoryview(b"abc"), memoryview(bytes(17))]


def test_what_is_written_steadily_is_all_there(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "STEP_BYTES", 7)
    write_atomically(tmp_path / "file", lambda file: write_steadily(file, PARTS))
    assert (tmp_path / "file").read_bytes() == b"".join(PARTS)


def test_a_signal_between_two_steps_leaves_the_old_file(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "STEP_BYTES", 7)
    sync, synced = os.fsync, []

    def hear_at_the_second(descriptor):
        sync(descriptor)
        synced.append(os.fstat(descriptor).st_size)
        if len(synced) == 2:
            raise KeyboardInterrupt

    (tmp_path / "file").write_text("old")
    monkeypatch.setattr(os, "fsync", hear_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "file", lambda file: write_steadily(file, PARTS))
    assert synced == [7, 14]
    assert (tmp_path / "file").read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]
