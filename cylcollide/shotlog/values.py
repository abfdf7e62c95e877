"""Values as bytes: JSON values that may contain arrays and bytes."""

import json
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEAD = struct.Struct("<II")
"""Length of the compressed part, and of the text at its beginning before compression."""

ARRAY, BYTES = "@array", "@bytes"
"""Keys of the placeholders of arrays (dtype and shape) and bytes (their number), in the order of the text."""

KINDS = "biuf"
"""Kinds of dtypes that arrays may have."""


def packed(value: Any) -> bytes:
    """The bytes of a value: dicts with strings as keys, lists, numbers, strings, None, arrays of numbers, and bytes.

    Text and arrays are compressed; bytes are not, as they are compressed already.
    """
    arrays: list[NDArray[Any]] = []
    blobs: list[bytes] = []

    def stand_in(part: Any) -> Any:
        if isinstance(part, bytes):
            blobs.append(part)
            return {BYTES: len(part)}
        if isinstance(part, np.generic):
            return part.item()
        if not isinstance(part, np.ndarray) or part.dtype.kind not in KINDS:
            raise TypeError(f"expected numbers, text, arrays or bytes, got {type(part).__name__}")
        arrays.append(part)
        return {ARRAY: [part.dtype.str, *part.shape]}

    text = json.dumps(value, default=stand_in, separators=(",", ":")).encode()
    body = zlib.compress(b"".join([text, *(array.tobytes() for array in arrays)]), 1)
    return b"".join([HEAD.pack(len(body), len(text)), body, *blobs])


def unpacked(data: bytes) -> Any:
    """The value whose `packed` bytes these are; ValueError for any other bytes."""
    at = blob = 0
    body = blobs = b""

    def part(fields: dict[str, Any]) -> Any:
        nonlocal at, blob
        if ARRAY in fields:
            dtype, *shape = fields[ARRAY]
            kind = np.dtype(dtype)
            if kind.kind not in KINDS:
                raise ValueError(f"an array of {dtype}")
            count = int(np.prod(shape, dtype=np.int64))
            array = np.frombuffer(body, kind, count, at).reshape(shape)
            at += array.nbytes
            return array
        if BYTES in fields:
            blob += fields[BYTES]
            return blobs[blob - fields[BYTES] : blob]
        return fields

    try:
        size, letters = HEAD.unpack_from(data)
        body, blobs, at = zlib.decompress(data[HEAD.size : HEAD.size + size]), data[HEAD.size + size :], letters
        return json.loads(body[:letters], object_hook=part)
    except (ValueError, TypeError, KeyError, struct.error, zlib.error, RecursionError) as error:
        raise ValueError(f"damaged content ({type(error).__name__}: {str(error)[:80]})") from None
