# SPDX-License-Identifier: Apache-2.0
"""Columns are shared, not copied; whoever holds one keeps it; nothing leaks; reading in pieces stays small."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import sys
import threading
from typing import Any, Callable

from common import FOLDER, GOLDEN, QUICK, check, equal, finish, has, simulated, skip

import wheeltap

PAGE = resource.getpagesize()


def rss() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * PAGE


def test_buffers(path: str) -> None:
    table = wheeltap.open(path).table("device_op")
    column = table["time_ns"]
    view = memoryview(column)
    equal("a buffer of whole numbers", (view.format, view.itemsize, view.shape, view.readonly, view.contiguous),
          ("q", 8, (len(table),), True, True))
    equal("with the values of the rows", view.tolist(), column.to_list())
    part = column[10:20]
    equal("a part", memoryview(part).tolist(), column.to_list()[10:20])
    equal("a part of a part", part[-3:].to_list(), column.to_list()[17:20])
    formats = {name: memoryview(table[name]).format for name in ("stream", "bytes", "started")}
    equal("formats", formats, {"stream": "I", "bytes": "Q", "started": "q"})
    equal("codes of texts", memoryview(table["name"].codes).format, "i")
    categories = table["name"].categories
    equal("codes lead to texts", [categories[code] for code in table["name"].codes], table["name"].to_list())
    check("categories differ", len(set(categories)) == len(categories))
    for what, take in (("texts have no buffer", lambda: memoryview(table["name"])),
                       ("buffers cannot be written", lambda: _write(column))):
        try:
            take()
            check(what, False)
        except (BufferError, TypeError) as problem:
            check(what, True, problem)
    queued = table["queued"]
    equal("what is not known", (queued.null_count, queued[0], any(queued.valid), memoryview(queued)[0]),
          (len(table), None, False, -(1 << 63)))
    for index in (len(table), -len(table) - 1):
        try:
            column[index]
            check("beyond the end", False)
        except IndexError:
            check("beyond the end", True)
    empty = wheeltap.open(path).table("syscall")
    equal("a table without rows", (len(empty), memoryview(empty["result"]).tolist(), list(empty.rows())), (0, [], []))


def _write(column: Any) -> None:
    (ctypes.c_char * 8).from_buffer(column)


def test_life(path: str) -> None:
    table = wheeltap.open(path).table("device_op")
    before = table["started"].to_list()
    column = table["started"]
    count = sys.getrefcount(column)
    views = [memoryview(column) for _ in range(5)]
    equal("a buffer holds its column", sys.getrefcount(column), count + 5)
    del views[1:]
    equal("and lets it go", sys.getrefcount(column), count + 1)
    view = views.pop()
    del table, column
    gc.collect()
    others = [wheeltap.open(path).table("device_op") for _ in range(3)]  # what was freed would be used again
    equal("it outlives its table and its run", view.tolist(), before)
    del others


def test_numpy(path: str) -> None:
    if not has("numpy"):
        skip("numpy", f"{sys.executable} has no numpy")
        return
    import numpy

    table = wheeltap.open(path).table("device_op")
    first, second = numpy.asarray(table["started"]), numpy.asarray(table["started"])
    check("numpy shares the memory", numpy.shares_memory(first, second) and not first.flags.writeable)
    equal("numpy's types", [numpy.asarray(table[name]).dtype.name for name in ("time_ns", "stream", "bytes")],
          ["int64", "uint32", "uint64"])
    copy = first.tolist()
    texts = numpy.asarray(table["name"])
    equal("texts become objects", (texts.dtype.name, texts[:5].tolist()), ("object", table["name"][:5].to_list()))
    equal("another type is a copy", numpy.asarray(table["stream"], dtype="float64").dtype.name, "float64")
    equal("parts", numpy.asarray(table["started"][5:9]).tolist(), copy[5:9])
    del table, second
    gc.collect()
    equal("an array outlives its table", first.tolist(), copy)
    losses = numpy.asarray(wheeltap.open(path).losses["value"])
    check("losses are numbers", losses.dtype == numpy.float64 and bool(numpy.isfinite(losses).all()))


def growth(repeat: Callable[[], object], rounds: int) -> int:
    """Bytes that the process has grown by, after it has been warmed up."""
    for _ in range(rounds // 3):
        repeat()
    gc.collect()
    begin = rss()
    for _ in range(rounds):
        repeat()
    gc.collect()
    return rss() - begin


def test_leaks(path: str) -> None:
    damaged = str(GOLDEN / "errors" / "plane_cut.wt")
    foreign = str(GOLDEN / "errors" / "foreign.wt")

    def everything() -> None:
        run = wheeltap.open(path)
        table = run.table("device_op", context=["step", "stage", "rank", "epoch"])
        table["name"].categories, table["queued"].valid, table["name"].codes[:10].to_list()
        memoryview(table["started"]).tolist()
        table.__arrow_c_stream__(), table.__arrow_c_schema__(), table["name"].__arrow_c_array__()
        run.spans(name="*a*"), run.kinds, run.tracks, run.processes, run.lost
        next(iter(run.events())), next(run.batches("counter", rows=10))
        table[5:].__arrow_c_stream__(None)

    def failures() -> None:
        for name in (foreign, "/nowhere"):
            try:
                wheeltap.open(name)
            except wheeltap.TraceError:
                pass
        run = wheeltap.open(damaged)
        list(run.events())
        for fields in (["nothing"], []):
            try:
                run.table("mark", fields=fields)
            except wheeltap.TraceError:
                pass
        run.warnings

    for what, repeat, rounds in (("reading", everything, 150), ("failing", failures, 300)):
        grown = growth(repeat, rounds)
        check(f"{what} {rounds} times leaves nothing behind", grown < 3 << 20, f"{grown} bytes more")


def test_bounded(path: str) -> None:
    run = wheeltap.open(path)
    for piece in run.batches("edge", rows=5000):
        break
    begin = rss()
    rows = peak = 0
    for piece in run.batches("edge", rows=5000):
        rows += len(piece)
        peak = max(peak, rss())
    equal("batches bring every row", rows, run.kinds["edge"].events)
    check("a batch at a time", peak - begin < 8 << 20, f"{peak - begin} bytes more")
    begin = peak = rss()
    for count, _ in enumerate(run.events("edge")):
        if count % 5000 == 0:
            peak = max(peak, rss())
    check("events one by one", peak - begin < 8 << 20, f"{peak - begin} bytes more")


def test_threads(path: str) -> None:
    run = wheeltap.open(path)
    expected = run.table("edge")["to"].to_list()
    inside = threading.Event()
    done = threading.Event()
    found: "list[Any]" = []

    def read() -> None:
        inside.set()
        found.append(run.table("edge"))
        done.set()

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    inside.wait()
    turns = 0
    while not done.is_set():
        turns += 1
    for thread in threads:
        thread.join()
    check("other threads run while blocks are decoded", turns > 100, turns)
    check("threads may share a run", all(table["to"].to_list() == expected for table in found))


def main() -> None:
    small = simulated("small", "--events", "3000", "--seed", "4")
    test_buffers(small)
    test_life(small)
    test_numpy(small)
    test_leaks(small)
    if QUICK:
        finish()
    large = simulated("large", "--events", "800000", "--seed", "4")
    test_bounded(large)
    test_threads(large)
    check("importing the package needs no numpy", _imports_alone())
    finish()


def _imports_alone() -> bool:
    import subprocess

    code = ("import sys; sys.modules['numpy'] = None; sys.path.insert(0, sys.argv[1]); import wheeltap; "
            "assert 'wheeltap._reader' not in sys.modules; wheeltap.open(sys.argv[2]).table('mark')")
    package = os.path.dirname(os.path.dirname(os.path.abspath(str(wheeltap.__file__))))
    return subprocess.run([sys.executable, "-c", code, package, str(FOLDER / "small")]).returncode == 0


main()
