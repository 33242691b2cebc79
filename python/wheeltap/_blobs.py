# SPDX-License-Identifier: Apache-2.0
"""Contents of tensors that were kept (`record --tensors full`), as arrays of numpy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Union

from ._find import failure, open_file

if TYPE_CHECKING:
    import numpy

FLAG_KEPT, FLAG_NOT_KEPT = 16, 32
# As they lie in the file, by the trace's names of dtypes.
STORED = {"bool": "?", "u8": "u1", "i8": "i1", "u16": "<u2", "i16": "<i2", "u32": "<u4", "i32": "<i4", "u64": "<u8",
          "i64": "<i8", "f16": "<f2", "f32": "<f4", "f64": "<f8", "c64": "<c8", "c128": "<c16", "bf16": "<u2", "c32": "<f2",
          "f8e4m3": "u1", "f8e5m2": "u1", "f8e4m3fnuz": "u1", "f8e5m2fnuz": "u1", "f8e8m0": "u1"}


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(extent) for extent in text.split("x")) if text else ()


def _meant(stored: numpy.ndarray[Any, Any], dtype: str) -> numpy.ndarray[Any, Any]:
    """What numpy has no type for, in the next one that holds it exactly; bits of 8-bit floats stay as they are."""
    if dtype == "bf16":
        wide: numpy.ndarray[Any, Any] = stored.astype("<u4") << 16
        return wide.view("<f4")
    if dtype == "c32":
        return stored.astype("<f4").view("<c8")
    return stored


def _path(folder: str, row: Mapping[str, Any]) -> str:
    number: Union[int, str] = row["hash"]
    flags = int(row["flags"] or 0)
    name = f"{int(number, 16) if isinstance(number, str) else int(number):016x}"
    if not flags & FLAG_KEPT:
        raise failure("missing", f"the bytes of tensor {name} were not kept; " + (
            "there were too many (--blobs-max)" if flags & FLAG_NOT_KEPT else "record with --tensors full"))
    return os.path.join(folder, "blobs", name)


def load(folder: str, row: Mapping[str, Any]) -> numpy.ndarray[Any, Any]:
    """The array that a tensor event describes. `row` has its fields hash, dtype, shape and flags."""
    import numpy

    dtype = str(row["dtype"])
    if dtype not in STORED:
        raise failure("argument", f"elements of type '{dtype}' cannot be shown as an array")
    path = _path(folder, row)
    try:
        with open_file(path) as file:
            data = file.read()
    except OSError as problem:
        raise failure("missing", f"cannot open '{path}': {problem.strerror}") from None
    shape = _shape(str(row["shape"] or ""))
    stored = numpy.dtype(STORED[dtype])
    count = (2 if dtype == "c32" else 1) * int(numpy.prod(shape, dtype=object))
    if len(data) != count * stored.itemsize:
        raise failure("format", f"'{path}' has {len(data)} bytes; {row['shape'] or 'one element'} of {dtype} needs "
                                f"{count * stored.itemsize}")
    return _meant(numpy.frombuffer(data, stored), dtype).reshape(shape)
