# SPDX-License-Identifier: Apache-2.0
"""The one disk format: a JSON header, named arrays and string lists, checksums over all of it.

Strategies, runs, spots, trees and tables are files of this format that differ in their kind. Layout, little-endian::

    magic (8) | format version (u32) | header bytes (u32) | payload bytes (u64) | BLAKE2b-256 (32) | header | payload

The checksum covers what stands before it and the header, which has a checksum of every piece of the payload: part of a
file can be read, and trusted, without the rest. Nothing is ever pickled, so reading a foreign file cannot run
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
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final, Self

import numpy as np
import numpy.typing as npt

from equipoise.core.checks import check_path
from equipoise.core.errors import CheckpointError
from equipoise.core.files import STEP_BYTES, StrPath, describe_os_error, write_atomically, write_steadily
from equipoise.core.formatting import brief_repr

__all__ = ["FORMAT_VERSION", "Checkpoint", "CheckpointReader", "Kind", "count_payload_bytes", "load", "save"]

MAGIC: Final = b"\x89EQUIP\r\n"  # the first byte and the line ending betray transfers that mangle binary files
FORMAT_VERSION: Final = 2
PREFIX: Final = struct.Struct("<8sIIQ")
DIGEST_BYTES: Final = 32
ALIGNMENT: Final = 64  # of every array in the payload
PIECE_BYTES: Final = 1 << 20  # of the payload that share a checksum
PIECE_DIGEST_BYTES: Final = 16
ALLOWED_DTYPES: Final = frozenset("?bBhHiIlLqQefd")  # plain numbers: no objects, no structures, no dates

Array = npt.NDArray[Any]


class Kind(enum.StrEnum):
    """What a file holds.

    >>> Kind("spot"), [kind.value for kind in Kind][:3]
    (<Kind.SPOT: 'spot'>, ['strategy', 'run', 'spot'])
    """

    STRATEGY = "strategy"
    RUN = "run"
    SPOT = "spot"
    BLUEPRINT = "blueprint"
    MATCH = "match"
    TREE = "tree"
    SITUATIONS = "situations"  # with what they are worth, for networks to learn from
    TABLE = "table"  # numbers that take long to compute, such as hand strengths


CONTENTS: Final[Mapping[Kind, str]] = {  # as messages call them
    Kind.STRATEGY: "a strategy",
    Kind.RUN: "a game's run",
    Kind.SPOT: "a hold'em spot",
    Kind.BLUEPRINT: "a blueprint",
    Kind.MATCH: "a match",
    Kind.TREE: "a tree",
    Kind.SITUATIONS: "situations",
    Kind.TABLE: "a table of numbers",
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The content of a file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(f"{folder}/squares.eq", Kind.TABLE, {"of": 3}, {"squares": np.arange(3) ** 2})
    ...     load(f"{folder}/squares.eq").arrays["squares"]
    array([0, 1, 4])
    """

    kind: Kind
    metadata: dict[str, Any]  # JSON values
    arrays: dict[str, Array]  # writable, C-contiguous
    strings: dict[str, tuple[str, ...]]

    __repr__ = brief_repr


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
    header_fields = {"kind": str(kind), "metadata": dict(metadata), "content": entries}
    try:
        pieces = {"piece_bytes": PIECE_BYTES, "pieces": _digest_pieces(buffers)}
        header = json.dumps({**header_fields, **pieces}, allow_nan=False, sort_keys=True).encode()
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"metadata of {path} must be JSON values, got {error}") from None
    prefix = PREFIX.pack(MAGIC, FORMAT_VERSION, len(header), payload_bytes)

    def write(file: BinaryIO) -> None:
        file.write(prefix + _digest_header(prefix, header) + header)
        write_steadily(file, _parts(buffers))

    write_atomically(path, write)


def count_payload_bytes(content: Mapping[str, Array | Sequence[str]]) -> int:
    """Returns what content takes in a file, the header left out."""
    return _end(_lay_out(content)[0])


def load(path: StrPath, *kinds: Kind) -> Checkpoint:
    """Returns the content of a file after checking all of it.

    Raises `CheckpointError` for a file that is missing, truncated, corrupt, foreign, from another format, or of none of
    the `kinds` (any kind will do if none is named).
    """
    with CheckpointReader(path, *kinds) as reader:
        return reader.read_all()


class CheckpointReader:
    """A file of which single blocks, or slices of them, are read and checked; the header is checked at once.

    Raises `CheckpointError` as `load` does.
    """

    def __init__(self, path: StrPath, *kinds: Kind) -> None:
        check_path(path)
        self.path = path
        self._reading = threading.Lock()  # several threads may ask for blocks of one file
        try:
            place = os.path.expanduser(path)
            if stat.S_ISFIFO(os.stat(place).st_mode):  # opening it would wait for a writer
                raise CheckpointError(f"cannot read {path}: it is a pipe, expected a regular file")
            self._file = open(place, "rb")  # noqa: SIM115  # closed by close()
        except OSError as error:
            raise CheckpointError(f"cannot read {path}: {describe_os_error(error)}") from None
        except ValueError as error:  # no path may have such characters
            raise CheckpointError(f"cannot read {os.fspath(path)!r}: {error}") from None
        try:
            header, self._first, self._payload_bytes = _read_header(path, self._file)
            self.kind = Kind(header["kind"])
            self.metadata: dict[str, Any] = dict(header["metadata"])
            self._entries: dict[str, dict[str, Any]] = {str(entry["name"]): entry for entry in header["content"]}
            self._piece_bytes, self._pieces = int(header["piece_bytes"]), list(header["pieces"])
            if self._piece_bytes < 1 or len(self._pieces) != -(-self._payload_bytes // self._piece_bytes):
                raise ValueError(f"{len(self._pieces)} checksums for {self._payload_bytes:,} bytes")
            if kinds and self.kind not in kinds:
                raise CheckpointError(
                    f"{path} holds {CONTENTS[self.kind]}, expected {' or '.join(CONTENTS[kind] for kind in kinds)}"
                )
        except (KeyError, TypeError, ValueError) as error:
            self.close()
            raise CheckpointError(f"{path} has a malformed header: {error!r}") from None
        except CheckpointError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def close_when_unused(self) -> None:
        """Closes the file once nobody holds this reader any more; for those who hand it on and cannot say when."""
        weakref.finalize(self, self._file.close)

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the names of all blocks."""
        return tuple(self._entries)

    @property
    def digest(self) -> str:
        """Returns a short hash over all blocks, by which equal contents are known without reading them."""
        return _digest_piece([memoryview("".join(map(str, self._pieces)).encode())])[:12]

    def size_of(self, name: str) -> int:
        """Returns how many numbers an array has."""
        return math.prod(self._find(name)["shape"])

    def dtype_of(self, name: str) -> np.dtype[Any]:
        """Returns what an array's numbers are."""
        dtype: np.dtype[Any] = np.dtype(self._find(name)["dtype"])
        return dtype

    def read(self, name: str) -> Array:
        """Returns an array, writable."""
        entry = self._find(name)
        return self._decode(entry, self._read_bytes(int(entry["offset"]), int(entry["bytes"])))

    def read_slice(self, name: str, start: int, stop: int) -> Array:
        """Returns `[stop - start]` numbers of an array in the order of its last axis first, only these being read."""
        entry = self._find(name)
        dtype, size = self.dtype_of(name), self.size_of(name)
        if not 0 <= start <= stop <= size:
            raise CheckpointError(f"{self.path}: {name} has {size:,} numbers, asked for {start:,} to {stop:,}")
        block = self._read_bytes(int(entry["offset"]) + start * dtype.itemsize, (stop - start) * dtype.itemsize)
        return self._decode({**entry, "shape": [stop - start], "bytes": len(block)}, block)

    def map(self, name: str) -> Array:
        """Returns an array as it lies on the disk, read-only and read as it is used; checksums are not looked at."""
        entry, dtype = self._find(name), self.dtype_of(name)
        offset, size = self._first + int(entry["offset"]), self.size_of(name)
        if not size:
            return np.zeros(0, dtype)
        try:
            return np.memmap(self._file, dtype, "r", offset, (size,))
        except (OSError, ValueError) as error:
            raise CheckpointError(f"cannot map {name} of {self.path}: {error}") from None

    def read_all(self) -> Checkpoint:
        """Returns everything."""
        payload = self._read_bytes(0, self._payload_bytes)
        arrays: dict[str, Array] = {}
        strings: dict[str, tuple[str, ...]] = {}
        for name, entry in self._entries.items():
            try:
                block = payload[int(entry["offset"]) : int(entry["offset"]) + int(entry["bytes"])]
                if entry["dtype"] == "strings":
                    strings[name] = tuple(json.loads(bytes(block)))
                    continue
            except (KeyError, TypeError, ValueError) as error:
                raise CheckpointError(f"{self.path} has a malformed header: {error!r}") from None
            arrays[name] = self._decode(entry, block)
        return Checkpoint(kind=self.kind, metadata=self.metadata, arrays=arrays, strings=strings)

    def _find(self, name: str) -> dict[str, Any]:
        if name not in self._entries or self._entries[name]["dtype"] == "strings":
            raise CheckpointError(f"{self.path} has no array {name!r}")
        return self._entries[name]

    def _decode(self, entry: Mapping[str, Any], block: memoryview) -> Array:
        """Returns the array that a checked entry and its bytes describe."""
        try:
            dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
            if dtype.char not in ALLOWED_DTYPES or math.prod(shape) * dtype.itemsize != len(block):
                raise ValueError(f"array {entry['name']!r} of {len(block)} bytes cannot be {dtype} {shape}")
            array = np.frombuffer(block, dtype=dtype).reshape(shape)
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{self.path} has a malformed header: {error!r}") from None
        return array.astype(dtype.newbyteorder("="), copy=False)

    def _read_bytes(self, offset: int, count: int) -> memoryview:
        """Returns bytes of the payload after checking all pieces that they touch.

        They are read in steps: signals are heard between two of them, not within one call.
        """
        if not 0 <= offset <= offset + count <= self._payload_bytes:
            raise CheckpointError(
                f"{self.path} has a malformed header: a block outside of its {self._payload_bytes:,} bytes"
            )
        first = offset // self._piece_bytes
        last = min(len(self._pieces), -(-(offset + count) // self._piece_bytes))
        start = first * self._piece_bytes
        block = np.empty(min(last * self._piece_bytes, self._payload_bytes) - start, np.uint8).data
        try:
            with self._reading:
                self._file.seek(self._first + start)
                steps = range(0, len(block), STEP_BYTES)
                read = sum(self._file.readinto(block[step : step + STEP_BYTES]) for step in steps)
        except OSError as error:
            raise CheckpointError(f"cannot read {self.path}: {describe_os_error(error)}") from None
        if read != len(block):
            raise CheckpointError(f"{self.path} became shorter while it was read")
        for piece in range(first, last):
            begin = piece * self._piece_bytes - start
            found = _digest_piece([block[begin : begin + self._piece_bytes]])
            if found != self._pieces[piece]:
                raise CheckpointError(
                    f"{self.path} is corrupt: piece {piece} of its content has checksum {found[:12]}, "
                    f"expected {str(self._pieces[piece])[:12]}"
                )
        asked = block[offset - start : offset - start + count]
        # a little that is kept is not to keep much
        return asked if count >= len(block) // 2 else memoryview(bytearray(asked))


def digest_file(path: StrPath) -> str:
    """Returns a short hash over the content of a file, see `CheckpointReader.digest`."""
    with CheckpointReader(path) as reader:
        return reader.digest


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


def _parts(buffers: Sequence[memoryview]) -> Iterator[memoryview]:
    """Yields the payload in order: every buffer after the zeros that align it."""
    position = 0
    for buffer in buffers:
        yield memoryview(bytes(_padding(position)))
        yield buffer
        position += _padding(position) + len(buffer)


def _digest_pieces(buffers: Sequence[memoryview]) -> list[str]:
    """Returns the checksums of the payload's pieces, which do not mind where blocks begin."""
    digests: list[str] = []
    piece: list[memoryview] = []
    room = PIECE_BYTES
    for part in _parts(buffers):
        rest = part
        while len(rest):
            piece.append(rest[:room])
            room -= len(piece[-1])
            rest = rest[len(piece[-1]) :]
            if not room:
                digests.append(_digest_piece(piece))
                piece, room = [], PIECE_BYTES
    return [*digests, _digest_piece(piece)] if piece else digests


def _digest_piece(parts: Sequence[memoryview]) -> str:
    digest = hashlib.blake2b(digest_size=PIECE_DIGEST_BYTES)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _digest_header(prefix: bytes, header: bytes) -> bytes:
    return hashlib.blake2b(prefix + header, digest_size=DIGEST_BYTES).digest()


def _read_header(path: StrPath, file: io.BufferedReader) -> tuple[Any, int, int]:
    """Returns the checked header, where the payload begins and its length; lengths are checked before allocating."""
    try:
        size = os.fstat(file.fileno()).st_size
        prefix = file.read(PREFIX.size)
        header_bytes, payload_bytes = _check_prefix(path, prefix, size)
        digest, header = file.read(DIGEST_BYTES), file.read(header_bytes)
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {describe_os_error(error)}") from None
    found = _digest_header(prefix, header)
    if found != digest:
        raise CheckpointError(
            f"{path} is corrupt: its header has checksum {found.hex()[:12]}, expected {digest.hex()[:12]}"
        )
    return json.loads(header), PREFIX.size + DIGEST_BYTES + header_bytes, payload_bytes


def _check_prefix(path: StrPath, prefix: bytes, size: int) -> tuple[int, int]:
    """Returns the lengths of header and payload after checking them against the file's."""
    if not prefix:
        raise CheckpointError(f"{path} is empty, expected an Equipoise file")
    start = prefix[: len(MAGIC)]
    if start != MAGIC[: len(start)]:
        remedy = "; it is a spot, which `solve` reads" if str(path).endswith(".toml") else ""
        raise CheckpointError(f"{path} is not an Equipoise file: it begins with {start!r}, expected {MAGIC!r}{remedy}")
    if len(prefix) < PREFIX.size:
        raise CheckpointError(f"{path} is truncated: {size} bytes, expected at least {PREFIX.size + DIGEST_BYTES}")
    _, version, header_bytes, payload_bytes = PREFIX.unpack(prefix)
    if version != FORMAT_VERSION:
        is_newer = version > FORMAT_VERSION
        remedy = "install it to read the file" if is_newer else "`solve` computes it again"
        raise CheckpointError(
            f"{path} has format version {version}, expected {FORMAT_VERSION}: "
            f"{'a newer' if is_newer else 'an older'} Equipoise wrote it; {remedy}"
        )
    expected = PREFIX.size + DIGEST_BYTES + header_bytes + payload_bytes
    if size < expected:
        raise CheckpointError(f"{path} is truncated: {size:,} bytes, expected {expected:,}")
    if size > expected:
        raise CheckpointError(f"{path} is corrupt: {size:,} bytes, expected {expected:,}")
    return header_bytes, payload_bytes
