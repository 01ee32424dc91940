# SPDX-License-Identifier: Apache-2.0
"""Files of tensors: what was written is read, by others as well, and damage is told in one line."""

import json
import struct

import numpy as np
import pytest

from equipoise.core.errors import CheckpointError
from equipoise.core.tensor_files import load_tensors, save_tensors

TENSORS = {
    "first": np.arange(6, dtype=np.float32).reshape(2, 3),
    "second.0": np.array([0.5, -2.0, 65504.0], np.float16),
    "none": np.zeros((0, 4), np.float32),
}


def write_raw(path, header, body=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + body)
    return path


def test_what_was_written_is_read(tmp_path):
    save_tensors(tmp_path / "net", TENSORS, {"card": "ä"})
    found, metadata = load_tensors(tmp_path / "net")
    assert metadata == {"card": "ä"}
    assert list(found) == list(TENSORS)
    for name, tensor in TENSORS.items():
        np.testing.assert_array_equal(found[name], tensor)
        assert found[name].dtype == tensor.dtype


def test_numbers_lie_where_the_format_says(tmp_path):
    save_tensors(tmp_path / "net", TENSORS, {})
    content = (tmp_path / "net").read_bytes()
    (size,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + size])
    assert size % 8 == 0
    assert header["second.0"] == {"dtype": "F16", "shape": [3], "data_offsets": [24, 30]}
    assert content[8 + size :] == TENSORS["first"].tobytes() + TENSORS["second.0"].tobytes()


def test_the_format_is_that_of_safetensors(tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    save_tensors(tmp_path / "net", TENSORS, {"card": "x"})
    for name, tensor in library.load_file(tmp_path / "net").items():
        np.testing.assert_array_equal(tensor, TENSORS[name])
    library.save_file(TENSORS, tmp_path / "theirs", {"card": "x"})
    found, metadata = load_tensors(tmp_path / "theirs")
    assert metadata == {"card": "x"}
    np.testing.assert_array_equal(found["first"], TENSORS["first"])


@pytest.mark.parametrize(
    ("header", "body", "message"),
    [
        ({"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}, bytes(8), "a has dtype F64"),
        ({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}}, bytes(8), "a ends at byte 12 of 8"),
        ({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}}, bytes(8), "cannot reshape"),
        ({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}, bytes(8), "a ends at byte 0"),
        ({"a": {"shape": [1]}}, b"", "not a whole safetensors file"),
        ([1], b"", "not a whole safetensors file"),
        (b"{not json", b"", "not a whole safetensors file"),
    ],
)
def test_damaged_headers_are_refused(tmp_path, header, body, message):
    with pytest.raises(CheckpointError, match=message):
        load_tensors(write_raw(tmp_path / "net", header, body))


def test_other_files_are_refused(tmp_path):
    (tmp_path / "text").write_text("hello, world, this is a text")
    with pytest.raises(CheckpointError, match="is not a whole safetensors file: a header of"):
        load_tensors(tmp_path / "text")
    (tmp_path / "short").write_bytes(b"abc")
    with pytest.raises(CheckpointError, match="is not a whole safetensors file: it has 3 bytes"):
        load_tensors(tmp_path / "short")
    with pytest.raises(CheckpointError, match="cannot read"):
        load_tensors(tmp_path / "missing")
    with pytest.raises(CheckpointError, match="must be float16 or float32, got int64"):
        save_tensors(tmp_path / "net", {"a": np.zeros(1, np.int64)}, {})
