# SPDX-License-Identifier: Apache-2.0
"""Arrays and short texts in one file of the safetensors format, which other tools read as well.

Eight bytes with the length of a header, the header as JSON, then the numbers: nothing in it can be run. Only floats of
16 and 32 bits are known here; our own runs and tables are kept by `core.checkpoint`.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import CheckpointError
from equipoise.core.files import describe_os_error, write_atomically

__all__ = ["load_tensors", "save_tensors"]

NAMES: Final[dict[np.dtype[Any], str]] = {np.dtype("<f2"): "F16", np.dtype("<f4"): "F32"}
DTYPES: Final[dict[str, np.dtype[Any]]] = {name: dtype for dtype, name in NAMES.items()}
LENGTH: Final = struct.Struct("<Q")
ALIGNMENT: Final = 8
MAX_HEADER_BYTES: Final = 1 << 20
METADATA: Final = "__metadata__"

Tensors = dict[str, npt.NDArray[Any]]


def save_tensors(
    path: str | os.PathLike[str], tensors: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]
) -> None:
    """Writes arrays and texts by name; floats of 16 and 32 bits keep their size."""
    header: dict[str, Any] = {METADATA: dict(metadata)}
    blocks, begin = [], 0
    for name, tensor in tensors.items():
        dtype = tensor.dtype.newbyteorder("<")
        if dtype not in NAMES:
            raise CheckpointError(f"cannot write {path}: {name} must be float16 or float32, got {tensor.dtype}")
        blocks.append(np.ascontiguousarray(tensor, dtype).tobytes())
        header[name] = {"dtype": NAMES[dtype], "shape": list(tensor.shape)}
        header[name]["data_offsets"] = [begin, begin := begin + len(blocks[-1])]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % ALIGNMENT)

    def write(file: BinaryIO) -> None:
        file.writelines([LENGTH.pack(len(text)), text, *blocks])

    write_atomically(path, write)


def load_tensors(path: str | os.PathLike[str]) -> tuple[Tensors, dict[str, str]]:
    """Returns arrays and texts by name."""
    try:
        content = Path(path).expanduser().read_bytes()
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {describe_os_error(error)}") from None
    try:
        if len(content) < LENGTH.size:
            raise ValueError(f"it has {len(content)} bytes")
        (size,) = LENGTH.unpack_from(content)
        if size > min(MAX_HEADER_BYTES, len(content) - LENGTH.size):
            raise ValueError(f"a header of {size:,} bytes in a file of {len(content):,}")
        header = json.loads(content[LENGTH.size : LENGTH.size + size])
        metadata = {str(name): str(text) for name, text in header.pop(METADATA, {}).items()}
        body = memoryview(content)[LENGTH.size + size :]
        return {str(name): _read(name, entry, body) for name, entry in header.items()}, metadata
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is not a whole safetensors file: {error}") from None


def _read(name: str, entry: Mapping[str, Any], body: memoryview) -> npt.NDArray[Any]:
    """Returns an array of its own memory."""
    dtype = DTYPES.get(entry["dtype"])
    if dtype is None:
        raise ValueError(f"{name} has dtype {entry['dtype']}, expected {' or '.join(DTYPES)}")
    begin, end = entry["data_offsets"]
    if not 0 <= begin <= end <= len(body):
        raise ValueError(f"{name} ends at byte {end:,} of {len(body):,}")
    tensor: npt.NDArray[Any] = np.frombuffer(body[begin:end], dtype).reshape(entry["shape"])
    return tensor.astype(dtype.newbyteorder("="))
