# SPDX-License-Identifier: Apache-2.0
import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from equipoise.core import checkpoint
from equipoise.core.checkpoint import FORMAT_VERSION, MAGIC, PREFIX, CheckpointReader, Kind
from equipoise.core.errors import CheckpointError

DTYPES = ["?", "i1", "u1", "<i2", ">i4", "<i8", "<u8", "<f4", "<f8", ">f8"]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ARRAYS = npst.arrays(
    st.sampled_from([np.dtype(name) for name in DTYPES]), npst.array_shapes(min_dims=0, max_dims=3, min_side=0)
)
CONTENT = st.dictionaries(st.text(), ARRAYS | st.lists(st.text(), max_size=5), max_size=4)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.eq"


@pytest.fixture
def saved(path):
    checkpoint.save(path, Kind.RUN, {"iteration": 3}, {"table": np.arange(100.0), "names": ["a", "b"]})
    return path


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(metadata=st.dictionaries(st.text(), JSON_VALUES, max_size=4), content=CONTENT)
def test_what_is_saved_is_loaded(path, metadata, content):
    checkpoint.save(path, Kind.STRATEGY, metadata, content)
    loaded = checkpoint.load(path, Kind.STRATEGY)
    assert loaded.metadata == metadata
    assert loaded.strings == {name: tuple(value) for name, value in content.items() if isinstance(value, list)}
    for name, array in loaded.arrays.items():
        np.testing.assert_array_equal(array, content[name])
        assert array.dtype == content[name].dtype.newbyteorder("=")
    assert len(loaded.arrays) + len(loaded.strings) == len(content)


def test_loaded_arrays_are_writable(saved):
    table = checkpoint.load(saved).arrays["table"]
    table[0] = 7.0
    assert table[0] == 7.0


def test_strided_and_fortran_arrays_keep_their_order(path):
    grid = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    checkpoint.save(path, Kind.RUN, {}, {"grid": grid, "column": grid[:, 1]})
    loaded = checkpoint.load(path).arrays
    np.testing.assert_array_equal(loaded["grid"], grid)
    np.testing.assert_array_equal(loaded["column"], grid[:, 1])


@pytest.mark.parametrize("twentieth", range(20))
def test_truncated_file_is_refused(saved, twentieth):
    whole = saved.read_bytes()
    saved.write_bytes(whole[: len(whole) * twentieth // 20])
    with pytest.raises(CheckpointError, match=r"truncated|empty"):
        checkpoint.load(saved)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_flipped_bit_is_refused(saved, data):
    whole = bytearray(saved.read_bytes())
    position = data.draw(st.integers(0, len(whole) - 1))
    whole[position] ^= 1 << data.draw(st.integers(0, 7))
    broken = saved.with_name("broken.eq")
    broken.write_bytes(whole)
    with pytest.raises(CheckpointError):
        checkpoint.load(broken)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 a zip file", "not an Equipoise file: it begins with"),
        (b"\x89PNG\r\n\x1a\n", "not an Equipoise file"),
        (json.dumps({"a": 1}).encode(), "not an Equipoise file"),
        (MAGIC, "truncated"),
        (MAGIC + b"\n" * 30, "a newer Equipoise wrote it"),
    ],
)
def test_foreign_file_is_refused(path, content, message):
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=message):
        checkpoint.load(path)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200))
def test_noise_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(CheckpointError):
        checkpoint.load(path)


def test_appended_bytes_are_refused(saved):
    saved.write_bytes(saved.read_bytes() + b"x")
    with pytest.raises(CheckpointError, match="corrupt"):
        checkpoint.load(saved)


def test_newer_format_is_refused_with_both_versions(saved):
    whole = saved.read_bytes()
    fields = PREFIX.unpack(whole[: PREFIX.size])
    newer = PREFIX.pack(fields[0], FORMAT_VERSION + 1, *fields[2:])
    saved.write_bytes(newer + whole[PREFIX.size :])
    with pytest.raises(CheckpointError, match=f"version {FORMAT_VERSION + 1}, expected {FORMAT_VERSION}: a newer"):
        checkpoint.load(saved)


def test_wrong_kind_is_refused_with_what_was_expected(saved):
    with pytest.raises(CheckpointError, match="holds a game's run, expected a tree or a strategy"):
        checkpoint.load(saved, Kind.TREE, Kind.STRATEGY)


def test_missing_file_and_directory_are_refused(tmp_path):
    with pytest.raises(CheckpointError, match="no such file"):
        checkpoint.load(tmp_path / "nothing")
    with pytest.raises(CheckpointError, match="is a directory"):
        checkpoint.load(tmp_path)


@pytest.mark.parametrize(
    "content", [{"x": np.array([object()])}, {"x": np.array(["text"])}, {"x": [1, 2]}, {"x": "text"}]
)
def test_what_is_not_plain_is_not_saved(path, content):
    with pytest.raises(CheckpointError, match="'x' must"):
        checkpoint.save(path, Kind.RUN, {}, content)
    assert not path.exists()


@pytest.mark.parametrize("metadata", [{"x": float("nan")}, {"x": object()}, {"x": np.float64}])
def test_metadata_must_be_json(path, metadata):
    with pytest.raises(CheckpointError, match="must be JSON"):
        checkpoint.save(path, Kind.RUN, metadata, {})


def read_one(path):
    with CheckpointReader(path) as reader:
        return reader.read("a")


@pytest.mark.parametrize(
    ("truth", "lie"),
    [(b'"shape": [3]', b'"shape": [4]'), (b'"offset": 0', b'"offset": 9'), (b'"dtype": "|i1"', b'"dtype": "|O1"')],
)
@pytest.mark.parametrize("read", [checkpoint.load, read_one])
def test_a_header_that_lies_is_refused(path, truth, lie, read):
    checkpoint.save(path, Kind.RUN, {}, {"a": np.arange(3, dtype=np.int8)})
    whole = path.read_bytes()
    prefix, header, payload = whole[: PREFIX.size], whole[PREFIX.size + 32 : -3], whole[-3:]
    assert header.count(truth) == 1
    header = header.replace(truth, lie)
    path.write_bytes(prefix + hashlib.blake2b(prefix + header, digest_size=32).digest() + header + payload)
    with pytest.raises(CheckpointError, match="malformed header"):
        read(path)


@pytest.fixture
def large(path):
    """A file of three pieces and a bit."""
    content = {"one": np.arange(100_000), "two": np.arange(300_000, dtype=np.int64).reshape(3, -1), "names": ["a"]}
    checkpoint.save(path, Kind.SPOT, {"iteration": 3}, content)
    return path


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_slices_are_those_of_the_whole(large, data):
    start = data.draw(st.integers(0, 300_000))
    stop = data.draw(st.integers(start, 300_000))
    with CheckpointReader(large, Kind.SPOT) as reader:
        assert (reader.kind, reader.metadata, reader.names) == (Kind.SPOT, {"iteration": 3}, ("one", "two", "names"))
        np.testing.assert_array_equal(reader.read_slice("two", start, stop), np.arange(start, stop))
        np.testing.assert_array_equal(reader.read("one"), np.arange(100_000))


def test_large_blocks_are_read_in_steps(large, monkeypatch):
    monkeypatch.setattr(checkpoint, "STEP_BYTES", 300_001)
    with CheckpointReader(large) as reader:
        np.testing.assert_array_equal(reader.read("two"), np.arange(300_000).reshape(3, -1))
        assert reader.read("two").flags.writeable
        np.testing.assert_array_equal(reader.read_all().arrays["one"], np.arange(100_000))


def test_a_little_that_is_read_does_not_keep_the_rest(large):
    with CheckpointReader(large) as reader:
        few = reader.read_slice("two", 10, 20)
    assert len(few.base.base.obj) == few.nbytes == 80


def test_a_mapped_array_outlives_its_reader(large):
    with CheckpointReader(large, Kind.SPOT) as reader:
        mapped = reader.map("two")
    np.testing.assert_array_equal(mapped, np.arange(300_000))
    with pytest.raises(ValueError, match="read-only"):
        mapped[0] = 1


def test_only_pieces_that_are_read_are_checked(large):
    whole = bytearray(large.read_bytes())
    whole[-1] ^= 1
    large.write_bytes(whole)
    with CheckpointReader(large) as reader:
        assert reader.read_slice("two", 5, 6) == [5]
        with pytest.raises(CheckpointError, match="is corrupt: piece 3 of its content"):
            reader.read_slice("two", 299_999, 300_000)
    with pytest.raises(CheckpointError, match="is corrupt: piece 3"):
        checkpoint.load(large)


def test_what_a_file_does_not_have_is_not_read(large):
    with CheckpointReader(large) as reader:
        with pytest.raises(CheckpointError, match="has no array 'three'"):
            reader.read("three")
        with pytest.raises(CheckpointError, match="has no array 'names'"):
            reader.read_slice("names", 0, 1)
        with pytest.raises(CheckpointError, match="two has 300,000 numbers, asked for 5 to 300,001"):
            reader.read_slice("two", 5, 300_001)
    with pytest.raises(CheckpointError, match="holds a hold'em spot, expected a game's run"):
        CheckpointReader(large, Kind.RUN)


def test_an_older_format_is_refused(saved):
    whole = saved.read_bytes()
    fields = PREFIX.unpack(whole[: PREFIX.size])
    saved.write_bytes(PREFIX.pack(fields[0], 1, *fields[2:]) + whole[PREFIX.size :])
    with pytest.raises(CheckpointError, match="version 1, expected 2: an older"):
        checkpoint.load(saved)


def test_crash_between_write_and_rename_keeps_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()

    def crash(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(CheckpointError, match="input/output error; the previous file is untouched"):
        checkpoint.save(saved, Kind.RUN, {}, {"table": np.zeros(5)})
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


@pytest.mark.parametrize("stage", ["fsync", "replace"])
def test_interruption_while_saving_leaves_no_litter(saved, monkeypatch, stage):
    before = saved.read_bytes()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, stage, interrupt)
    with pytest.raises(KeyboardInterrupt):
        checkpoint.save(saved, Kind.RUN, {}, {"table": np.zeros(5)})
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_full_disk_is_said_and_the_old_file_stays(saved, monkeypatch):
    before = saved.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match="no space left on device; the previous file is untouched"):
        checkpoint.save(saved, Kind.RUN, {}, {"table": np.zeros(5)})
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_a_link_keeps_pointing_at_what_is_saved(saved):
    link = saved.with_name("link")
    link.symlink_to(saved)
    checkpoint.save(link, Kind.RUN, {"iteration": 4}, {})
    assert link.is_symlink()
    assert checkpoint.load(saved).metadata == {"iteration": 4}


def test_saving_is_deterministic(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    for path in (first, second):
        checkpoint.save(path, Kind.RUN, {"b": 1, "a": 2}, {"x": np.arange(7)})
    assert first.read_bytes() == second.read_bytes()
    assert isinstance(first, Path)


def test_a_pipe_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CheckpointError, match="it is a pipe, expected a regular file"):
        checkpoint.load(tmp_path / "pipe")
