# SPDX-License-Identifier: Apache-2.0
"""The one disk format: a JSON header, named arrays and string lists, a checksum over all of it.

Strategies, runs, trees and tables are files of this format that differ in their kind. Layout, little-endian::

    magic (8) | format version (u32) | header bytes (u32) | payload bytes (u64) | BLAKE2b-256 (32) | header | payload

The checksum covers everything before and after it. Nothing is ever pickled, so reading a foreign file cannot run
anything. What the arrays mean is the business of whoever saves them. The layout is documented in docs/cli.md.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import io
import json
import math
import os
import stat
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import CheckpointError
from equipoise.core.files import StrPath, describe_os_error, write_atomically

__all__ = ["FORMAT_VERSION", "Checkpoint", "Kind", "count_payload_bytes", "load", "save"]

MAGIC: Final = b"\x89EQUIP\r\n"  # the first byte and the line ending betray transfers that mangle binary files
FORMAT_VERSION: Final = 1
PREFIX: Final = struct.Struct("<8sIIQ")
DIGEST_BYTES: Final = 32
ALIGNMENT: Final = 64  # of every array in the payload
ALLOWED_DTYPES: Final = frozenset("?bBhHiIlLqQefd")  # plain numbers: no objects, no structures, no dates

Array = npt.NDArray[Any]


class Kind(enum.StrEnum):
    """What a file holds."""

    STRATEGY = "strategy"
    RUN = "run"
    TREE = "tree"
    TABLE = "table"  # numbers that take long to compute, such as hand strengths


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The content of a file."""

    kind: Kind
    metadata: dict[str, Any]  # JSON values
    arrays: dict[str, Array]  # writable, C-contiguous
    strings: dict[str, tuple[str, ...]]


def save(path: StrPath, kind: Kind, metadata: Mapping[str, Any], content: Mapping[str, Array | Sequence[str]]) -> None:
    """Writes a file atomically: a crash at any moment leaves the previous file or the new one.

    Args:
        path: where to; its directory must exist.
        kind: what the file holds.
        metadata: JSON values; tuples come back as lists, NaN and infinities are refused.
        content: arrays of plain numbers, and lists of strings, by name.
    """
    entries, buffers = _lay_out(content)
    payload_bytes = _end(entries)
    try:
        header = json.dumps(
            {"kind": str(kind), "metadata": dict(metadata), "content": entries},
            allow_nan=False,
            sort_keys=True,
        ).encode()
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"metadata of {path} must be JSON values, got {error}") from None
    prefix = PREFIX.pack(MAGIC, FORMAT_VERSION, len(header), payload_bytes)
    digest = hashlib.blake2b(prefix, digest_size=DIGEST_BYTES)
    digest.update(header)
    for piece in _pieces(buffers):
        digest.update(piece)

    def write(file: BinaryIO) -> None:
        file.write(prefix + digest.digest() + header)
        for piece in _pieces(buffers):
            file.write(piece)

    write_atomically(path, write)


def count_payload_bytes(content: Mapping[str, Array | Sequence[str]]) -> int:
    """Returns what content takes in a file, the header left out."""
    return _end(_lay_out(content)[0])


def load(path: StrPath, *kinds: Kind) -> Checkpoint:
    """Returns the content of a file after checking all of it.

    Raises `CheckpointError` for a file that is missing, truncated, corrupt, foreign, from a newer format, or of none of
    the `kinds` (any kind will do if none is named).
    """
    try:
        place = os.path.expanduser(path)
        if stat.S_ISFIFO(os.stat(place).st_mode):  # opening it would wait for a writer
            raise CheckpointError(f"cannot read {path}: it is a pipe, expected a regular file")
        with open(place, "rb") as file:
            prefix, digest, header, payload = _read_parts(path, file, os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {describe_os_error(error)}") from None
    computed = hashlib.blake2b(prefix, digest_size=DIGEST_BYTES)
    computed.update(header)
    computed.update(payload)
    if computed.digest() != digest:
        raise CheckpointError(
            f"{path} is corrupt: its content has checksum {computed.hexdigest()[:12]}, expected {digest.hex()[:12]}"
        )
    try:
        return _decode(path, json.loads(header), payload, kinds)
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} has a malformed header: {error!r}") from None


def _lay_out(content: Mapping[str, Array | Sequence[str]]) -> tuple[list[dict[str, Any]], list[memoryview]]:
    """Returns the header's entry of each block with its place in the payload, and the blocks."""
    entries: list[dict[str, Any]] = []
    buffers: list[memoryview] = []
    for name, value in content.items():
        entry, buffer = _encode_block(name, value)
        end = _end(entries)
        entries.append({**entry, "offset": end + _padding(end), "bytes": len(buffer)})
        buffers.append(buffer)
    return entries, buffers


def _end(entries: Sequence[Mapping[str, Any]]) -> int:
    """Returns the bytes of a payload up to the end of its last block."""
    return int(entries[-1]["offset"] + entries[-1]["bytes"]) if entries else 0


def _encode_block(name: str, value: Array | Sequence[str]) -> tuple[dict[str, Any], memoryview]:
    """Returns the header entry of an array or a string list, and its bytes."""
    if isinstance(value, np.ndarray):
        if value.dtype.char not in ALLOWED_DTYPES:
            raise CheckpointError(f"array {name!r} must hold plain numbers, got dtype {value.dtype}")
        little = value.astype(value.dtype.newbyteorder("<"), order="C", copy=False)
        entry = {"name": name, "dtype": little.dtype.str, "shape": list(value.shape)}
        return entry, memoryview(little.reshape(-1).view(np.uint8).data)
    if isinstance(value, str) or not all(isinstance(item, str) for item in value):
        raise CheckpointError(f"content {name!r} must be an array or a list of strings, got {type(value).__name__}")
    return {"name": name, "dtype": "strings", "shape": [len(value)]}, memoryview(json.dumps(list(value)).encode())


def _padding(num_bytes: int) -> int:
    return -num_bytes % ALIGNMENT


def _pieces(buffers: Sequence[memoryview]) -> Iterator[memoryview | bytes]:
    """Yields the payload in order: every buffer after the zeros that align it."""
    position = 0
    for buffer in buffers:
        yield bytes(_padding(position))
        yield buffer
        position += _padding(position) + len(buffer)


def _read_parts(path: StrPath, file: io.BufferedReader, size: int) -> tuple[bytes, bytes, bytes, bytearray]:
    """Returns prefix, checksum, header and payload; lengths are checked before anything large is allocated."""
    prefix = file.read(PREFIX.size)
    if not prefix:
        raise CheckpointError(f"{path} is empty, expected an Equipoise file")
    start = prefix[: len(MAGIC)]
    if start != MAGIC[: len(start)]:
        raise CheckpointError(f"{path} is not an Equipoise file: it begins with {start!r}, expected {MAGIC!r}")
    if len(prefix) < PREFIX.size:
        raise CheckpointError(f"{path} is truncated: {size} bytes, expected at least {PREFIX.size + DIGEST_BYTES}")
    _, version, header_bytes, payload_bytes = PREFIX.unpack(prefix)
    if version > FORMAT_VERSION:
        raise CheckpointError(
            f"{path} has format version {version}, expected at most {FORMAT_VERSION}: a newer Equipoise wrote it"
        )
    if version < 1:
        raise CheckpointError(f"{path} is corrupt: format version {version}, expected 1 to {FORMAT_VERSION}")
    expected = PREFIX.size + DIGEST_BYTES + header_bytes + payload_bytes
    if size < expected:
        raise CheckpointError(f"{path} is truncated: {size:,} bytes, expected {expected:,}")
    if size > expected:
        raise CheckpointError(f"{path} is corrupt: {size:,} bytes, expected {expected:,}")
    digest, header = file.read(DIGEST_BYTES), file.read(header_bytes)
    payload = bytearray(payload_bytes)
    if file.readinto(payload) != payload_bytes:
        raise CheckpointError(f"{path} became shorter while it was read")
    return prefix, digest, header, payload


def _decode(path: StrPath, header: Any, payload: bytearray, kinds: tuple[Kind, ...]) -> Checkpoint:
    """Returns the content that a checked header and payload describe."""
    kind = Kind(header["kind"])
    if kinds and kind not in kinds:
        raise CheckpointError(f"{path} holds a {kind}, expected a {' or a '.join(kinds)}")
    arrays: dict[str, Array] = {}
    strings: dict[str, tuple[str, ...]] = {}
    for entry in header["content"]:
        name, offset, count = str(entry["name"]), int(entry["offset"]), int(entry["bytes"])
        block = memoryview(payload)[offset : offset + count]
        if entry["dtype"] == "strings":
            strings[name] = tuple(json.loads(bytes(block)))
            continue
        dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
        if dtype.char not in ALLOWED_DTYPES or math.prod(shape) * dtype.itemsize != count:
            raise ValueError(f"array {name!r} of {count} bytes cannot be {dtype} {shape}")
        array = np.frombuffer(block, dtype=dtype).reshape(shape)
        arrays[name] = array.astype(dtype.newbyteorder("="), copy=False)
    return Checkpoint(kind=kind, metadata=dict(header["metadata"]), arrays=arrays, strings=strings)
