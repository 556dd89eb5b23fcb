# SPDX-License-Identifier: BSD-3-Clause
"""Arrays as the bytes of ``.npy`` files, version 1.0, C order, little-endian, and nothing that needs pickle."""

from __future__ import annotations

import io
import math
import re

import numpy as np

__all__ = ["from_npy", "plain_dtype", "to_npy"]

# What numpy writes for such arrays, to the letter. Its own reader evaluates the header as Python, which a damaged
# file should not reach.
_HEADER = re.compile(
    rb"\{'descr': '([<|][biufU]\d{1,9})', 'fortran_order': False, 'shape': \(((?:\d{1,18}, ?)*(?:\d{1,18})?)\), \} *\n"
)
_MAGIC = b"\x93NUMPY\x01\x00"
_KINDS = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8)}


def plain_dtype(dtype: np.dtype) -> bool:
    """Whether arrays of this dtype can be written: bool, int, float of fixed width, or str."""
    if dtype.kind == "U":
        return dtype.itemsize > 0
    return dtype.names is None and dtype.itemsize in _KINDS.get(dtype.kind, ())


def to_npy(array: np.ndarray) -> list:
    """Pieces of the file: header and data, the latter not copied where it is in C order already."""
    array = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    return [header.getvalue(), array.reshape(-1).view(np.uint8) if array.size else b""]


def from_npy(data: np.ndarray) -> np.ndarray:
    """Array over the bytes of a file, a view of them.

    Raises
    ------
    ValueError
        If the bytes are not those of one array that `to_npy` can write.
    """
    head = data[:10].tobytes()
    if head[:8] != _MAGIC or len(head) < 10:
        raise ValueError("is no .npy file of version 1.0")
    start = 10 + int.from_bytes(head[8:], "little")
    match = _HEADER.fullmatch(data[10:start].tobytes())
    if match is None:
        raise ValueError("has a .npy header that is not as written")
    try:
        dtype = np.dtype(match[1].decode())
        shape = tuple(int(n) for n in match[2].decode().split(",") if n.strip())
        if not plain_dtype(dtype) or math.prod(shape) * dtype.itemsize != len(data) - start:
            raise ValueError(f"says shape {shape} and dtype {dtype}, which is not the size of its data")
        array = np.ndarray(shape, dtype, data[start:]) if len(data) > start else np.empty(shape, dtype)
    except (TypeError, OverflowError, MemoryError) as error:
        raise ValueError(f"has a .npy header that names no array ({error})") from None
    if dtype.kind == "U" and array.size and array.reshape(-1).view(np.uint32).max() > 0x10FFFF:
        raise ValueError("holds something that is not text")
    return array if dtype.isnative else array.astype(dtype.newbyteorder("="))
