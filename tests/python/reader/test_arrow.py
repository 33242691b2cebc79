# SPDX-License-Identifier: Apache-2.0
"""Arrow's C data interface, read by hand; and by pyarrow, polars, duckdb and pandas where they are installed."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Any

from common import check, equal, finish, has, simulated, skip

import wheeltap


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                   ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
                   ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)),
                   ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))), ("private_data", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                  ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                  ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.POINTER(Array)),
                  ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))), ("private_data", ctypes.c_void_p)]
Stream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
                   ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
                   ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
                   ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))), ("private_data", ctypes.c_void_p)]

NUMBERS = {b"i": ctypes.c_int32, b"I": ctypes.c_uint32, b"l": ctypes.c_int64, b"L": ctypes.c_uint64, b"g": ctypes.c_double}
pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype = ctypes.c_void_p
pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def held(capsule: object, label: bytes, kind: Any) -> Any:
    return ctypes.cast(pointer(capsule, label), ctypes.POINTER(kind)).contents


def texts(array: Array) -> "list[str]":
    ends = ctypes.cast(array.buffers[1], ctypes.POINTER(ctypes.c_int32))
    data = ctypes.string_at(array.buffers[2], ends[array.length])
    return [data[ends[i]:ends[i + 1]].decode() for i in range(array.length)]


def values(schema: Schema, array: Array) -> "list[Any]":
    """What the specification says that an array holds."""
    numbers = ctypes.cast(array.buffers[1], ctypes.POINTER(NUMBERS[schema.format]))
    bits = ctypes.cast(array.buffers[0], ctypes.POINTER(ctypes.c_uint8)) if array.buffers[0] else None
    words = texts(array.dictionary.contents) if schema.dictionary else None
    found: "list[Any]" = []
    for row in range(array.offset, array.offset + array.length):
        if bits and not bits[row // 8] >> row % 8 & 1:
            found.append(None)
        else:
            found.append(words[numbers[row]] if words is not None else numbers[row])
    return found


def test_columns(table: wheeltap.Table) -> None:
    problems = []
    for whole in table.columns.values():
        for column in (whole, whole[7:23], whole[:0]):
            schema_capsule, array_capsule = column.__arrow_c_array__()
            schema, array = held(schema_capsule, b"arrow_schema", Schema), held(array_capsule, b"arrow_array", Array)
            if values(schema, array) != column.to_list() or schema.name.decode() != column.name:
                problems.append(column.name)
            if len(column) and array.buffers[1] != address(whole):
                problems.append(f"{column.name} was copied")
            if array.null_count not in (-1, column.null_count):
                problems.append(f"{column.name}: {array.null_count} nulls")
    check("columns as Arrow arrays, not copied", not problems, problems)


def address(column: Any) -> int:
    plain = column.codes if column.type == "text" else column
    return _address(memoryview(plain))


def _address(view: memoryview) -> int:
    """Where a read-only buffer lies: as Py_buffer has it first."""
    class Buffer(ctypes.Structure):
        _fields_ = [("buf", ctypes.c_void_p), ("rest", ctypes.c_byte * 128)]

    buffer = Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(view), ctypes.byref(buffer), 0)
    place = buffer.buf
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))
    return int(place or 0)


def test_stream(table: wheeltap.Table) -> None:
    capsule = table.__arrow_c_stream__()
    stream = held(capsule, b"arrow_array_stream", Stream)
    schema, array, end = Schema(), Array(), Array()
    equal("the schema of a table", stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)), 0)
    equal("is a struct of its columns", (schema.format, [schema.children[i].contents.name.decode()
                                                         for i in range(schema.n_children)]), (b"+s", table.names))
    equal("its only chunk", (stream.get_next(ctypes.byref(stream), ctypes.byref(array)), array.length), (0, len(table)))
    equal("and then the end", (stream.get_next(ctypes.byref(stream), ctypes.byref(end)), bool(end.release)), (0, False))
    expected = {name: table[name].to_list() for name in table.names}
    del capsule  # the stream goes; the chunk stays
    gc.collect()
    # A consumer may take a child away and let the rest go.
    taken = Array()
    ctypes.pointer(taken)[0] = array.children[0].contents
    array.children[0].contents.release = type(taken.release)()
    others = {table.names[i]: values(schema.children[i].contents, array.children[i].contents)
              for i in range(1, schema.n_children)}
    array.release(ctypes.byref(array))
    check("a released array says so", not array.release)
    first = values(schema.children[0].contents, taken)
    taken.release(ctypes.byref(taken))
    schema.release(ctypes.byref(schema))
    equal("all values", {table.names[0]: first, **others}, expected)


def test_pyarrow(table: wheeltap.Table) -> None:
    import pyarrow

    arrow = pyarrow.table(table)
    arrow.validate(full=True)
    equal("pyarrow: the same rows", arrow.to_pylist(), list(table.rows()))
    shared = pyarrow.array(table["started"]).buffers()[1].address
    equal("pyarrow: not copied", shared, _address(memoryview(table["started"])))
    batch = pyarrow.chunked_array(table["name"][3:9])
    equal("pyarrow: a part of texts", batch.to_pylist(), table["name"][3:9].to_list())


def test_polars(table: wheeltap.Table) -> None:
    import polars

    frame = polars.DataFrame(table)
    equal("polars: the same rows", frame.rows(), [tuple(row.values()) for row in table.rows()])
    equal("polars: a column", polars.Series(table["name"]).to_list(), table["name"].to_list())


def test_duckdb(table: wheeltap.Table) -> None:
    import duckdb

    view = table  # duckdb finds it by its name
    found = duckdb.sql("select count(*), min(time_ns) from view").fetchall()
    equal("duckdb: a query", found, [(len(table), min(table["time_ns"]))])
    del view


def test_pandas(table: wheeltap.Table) -> None:
    import numpy
    import pandas

    frame = table.to_pandas()
    equal("pandas: columns", list(frame.columns), table.names)
    equal("pandas: whole numbers", frame["started"].tolist(), table["started"].to_list())
    equal("pandas: texts are categories", (str(frame["name"].dtype), frame["name"].tolist()),
          ("category", table["name"].to_list()))
    check("pandas: what is missing is missing", bool(frame["queued"].isna().all()) and str(frame["queued"].dtype) == "Int64")
    check("pandas: not copied", numpy.shares_memory(frame["started"].to_numpy(), numpy.asarray(table["started"])))
    check("pandas: groups", frame.groupby("name", observed=True)["bytes"].sum().sum() == sum(table["bytes"]))
    equal("pandas: of a table without rows", len(table[:0].to_pandas()), 0)
    del pandas


def main() -> None:
    run = wheeltap.open(simulated("run", "--events", "4000", "--seed", "6"))
    table = run.table("device_op", context=["step", "stage"])
    test_columns(table)
    test_columns(run.losses)
    test_stream(table)
    for name, test in (("pyarrow", test_pyarrow), ("polars", test_polars), ("duckdb", test_duckdb), ("pandas", test_pandas)):
        if has(name):
            test(table)
        else:
            skip(name, f"{sys.executable} has no {name}")
    finish()


main()
