# SPDX-License-Identifier: Apache-2.0
"""Imports Chrome events, Perfetto's packets, SBT, SQLite of Nsight Systems, text of strace and JSON of renacer, made here; SBT is also exported, and read by a decoder that shares nothing with either."""

from __future__ import annotations

import json
import shutil
import sqlite3
import struct
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

TAP = harness.Tap()
EPOCH_NS = 1_712_195_495_000_000_000


def rows_of(bench: harness.Bench, run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in bench.run("view", "--jsonl", run).splitlines()]


def imported(bench: harness.Bench, form: str, source: Path, code: int = 0) -> list[dict[str, Any]]:
    run = bench.folder / f"run-{form}-{source.stem}"
    bench.run("import", form, source, "-o", run, code=code)
    return rows_of(bench, run)


def fields(rows: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [{**row["fields"], "time_ns": row["time_ns"], "track": row["track_name"], "stream_number": row["stream"]} for row in rows if row["kind"] == kind]


def refused(bench: harness.Bench, form: str, contents: dict[str, bytes]) -> None:
    for name, data in contents.items():
        source = bench.folder / f"foreign-{form}-{name}"
        source.write_bytes(data)
        done = bench.call("import", form, source, "-o", bench.folder / "refused")
        TAP.check(f"{form}, foreign, {name}: one line, and no run",
                  done.returncode in (2, 3) and len(done.stderr.splitlines()) == 1 and not (bench.folder / "refused").exists(), done)


# ---- Chrome ----

def check_chrome(bench: harness.Bench) -> None:
    events = [
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "worker"}},
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "server"}},
        {"ph": "B", "name": "outer", "pid": 1, "tid": 2, "ts": 10},
        {"ph": "X", "name": "inner", "pid": 1, "tid": 2, "ts": 11, "dur": 2.5},
        {"ph": "E", "pid": 1, "tid": 2, "ts": 20},
        {"ph": "B", "name": "next", "pid": 1, "tid": 2, "ts": 20},
        {"ph": "E", "pid": 1, "tid": 2, "ts": 21},
        {"ph": "E", "pid": 1, "tid": 2, "ts": 22},
        {"ph": "i", "name": "instant", "pid": 1, "tid": 2, "ts": 12},
        {"ph": "C", "name": "memory", "pid": 1, "ts": 13, "args": {"bytes": 5}},
        {"ph": "C", "name": "load", "pid": 1, "ts": 13, "args": {"a": 1.5, "b": 2}},
        {"ph": "b", "cat": "net", "id": "0x7", "name": "request", "pid": 1, "tid": 2, "ts": 5},
        {"ph": "e", "cat": "net", "id": "0x7", "name": "request", "pid": 1, "tid": 3, "ts": 30},
        {"ph": "s", "cat": "c", "id": 1, "name": "arrow", "pid": 1, "tid": 2, "ts": 11},
        {"ph": "f", "cat": "c", "id": 1, "name": "arrow", "pid": 1, "tid": 2, "ts": 20.5, "bp": "e"},
        {"ph": "X", "name": "other process", "pid": 9, "tid": 9, "ts": 1, "dur": 1},
        {"ph": "P", "name": "sample", "pid": 1, "tid": 2, "ts": 11},
    ]
    source = bench.folder / "events.json"
    source.write_text(json.dumps({"traceEvents": events}))
    rows = imported(bench, "chrome", source)
    begun = [(f["name"], f["time_ns"]) for f in fields(rows, "span_begin")]
    ended = [(f["name"], f["time_ns"]) for f in fields(rows, "span_end")]
    TAP.equal("chrome: begins", sorted(begun), [("inner", 10000), ("next", 19000), ("other process", 0), ("outer", 9000), ("request", 4000)])
    TAP.equal("chrome: ends", sorted(ended), [("inner", 12500), ("next", 20000), ("other process", 1000), ("outer", 19000), ("request", 29000)])
    TAP.equal("chrome: counters", sorted((f["name"], f["unit"], f["value"]) for f in fields(rows, "counter")),
              [("load a", "", 1.5), ("load b", "", 2), ("memory", "bytes", 5)])
    TAP.equal("chrome: marks", [f["name"] for f in fields(rows, "mark")], ["instant"])
    TAP.equal("chrome: arrows", [f["type"] for f in fields(rows, "edge")], ["send_receive"])
    TAP.equal("chrome: a stream for each process", {f["stream_number"] for f in fields(rows, "process")}, {0, 1})
    TAP.check("chrome: names of threads", any("worker" in f["track"] for f in fields(rows, "span_begin")))
    cut = bench.folder / "array.json"
    cut.write_text(json.dumps(events)[:-1])
    TAP.equal("chrome: an array without its end", len(fields(imported(bench, "chrome", cut, code=3), "span_begin")), 5)
    refused(bench, "chrome", {"empty": b"", "text": b"x", "number": b"12", "deep": b"[" * 100000})


# ---- Perfetto ----

def check_perfetto(bench: harness.Bench) -> None:
    """What export --to perfetto writes of the Chrome events, read back: the same spans, counters and marks."""
    first = bench.folder / "run-chrome-events"
    out = bench.folder / "events.pftrace"
    bench.run("export", "--to", "perfetto", "-o", out, first)
    before, after = rows_of(bench, first), imported(bench, "perfetto", out)
    for kind in ("span_begin", "span_end"):
        TAP.equal(f"perfetto: {kind}", sorted((f["time_ns"], f["name"]) for f in fields(after, kind)),
                  sorted((f["time_ns"], f["name"]) for f in fields(before, kind)))
    TAP.equal("perfetto: counters", sorted((f["time_ns"], f["name"], f["unit"], f["value"]) for f in fields(after, "counter")),
              sorted((f["time_ns"], f["name"], f["unit"], f["value"]) for f in fields(before, "counter")))
    TAP.check("perfetto: marks", {f["name"] for f in fields(before, "mark")} <= {f["name"] for f in fields(after, "mark")})
    TAP.equal("perfetto: a stream for each process", {f["pid"] for f in fields(after, "process")}, {1, 9})
    cut = bench.folder / "cut.pftrace"
    cut.write_bytes(out.read_bytes()[:-3])
    TAP.check("perfetto: cut, the rest is there", len(fields(imported(bench, "perfetto", cut, code=3), "span_begin")) >= 4)
    refused(bench, "perfetto", {"empty": b"", "text": b"hello", "packets": bytes([10, 200, 1, 0])})


# ---- SBT ----

def varint(number: int) -> bytes:
    out = bytearray()
    number %= 1 << 64
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def text(data: str) -> bytes:
    return varint(len(data)) + data.encode()


def sbt_file() -> bytes:
    names = ["gemm", "Memcpy HtoD", "step"]
    head = bytes([1]) + text("trainer") + text("trainer -x") + varint(EPOCH_NS) + varint(EPOCH_NS + 5) + text("host") + varint(77)
    events = bytes([4]) + varint(EPOCH_NS)
    events += bytes([18, 0]) + varint(0) + varint(0) + varint(7) + varint(0) + varint(2)
    events += bytes([1, 3]) + varint(100) + varint(50) + varint(0) + varint(7) + varint(9) + varint(0) + b"".join(map(varint, [4, 2, 1, 32, 1, 1, 0, 16]))
    events += bytes([3, 5]) + varint(-40) + varint(30) + varint(0) + varint(7) + varint(10) + varint(1) + varint(1) + varint(2) + varint(4096)
    events += bytes([19, 8]) + varint(500) + varint(0) + varint(7) + varint(0) + varint(2) + varint(1) + varint(1) + b"".join(map(varint, [1, 0, 0, 3]))
    table = bytes([2]) + varint(len(names)) + b"".join(map(text, names)) + b"\xff"
    offsets = [72, 72 + len(head) + len(events), 0, 72 + len(head), 0]
    return struct.pack("<4sHHII5QQB7x", b"SBT\0", 0, 1, 3, 72, *offsets, 4, 0) + head + events + table


class Decoder:
    """SBT 0.1 from its description."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        magic, major, minor, _, size, _, strings, _, events, _, count, compression = struct.unpack_from("<4sHHII5QQB", data)
        assert (magic, major, minor, size, compression) == (b"SBT\0", 0, 1, 72, 0), "header"
        self.at = strings
        assert self.byte() == 2, "texts"
        self.names = [self.bytes(self.number()).decode() for _ in range(self.number())]
        assert self.byte() == 255 and self.at == len(data), "the end"
        self.at = events
        assert self.byte() == 4, "events"
        self.time = self.number()
        self.events = [self.event() for _ in range(count)]
        assert self.at == strings, "events reach to the texts"

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def bytes(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self) -> int:
        result = shift = 0
        while True:
            byte = self.byte()
            result |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return result

    def event(self) -> tuple[Any, ...]:
        kind, flags = self.byte(), self.byte()
        self.time = (self.time + self.number()) % (1 << 64)
        duration = self.number() if flags & 1 else 0
        device, stream, correlation, name = (self.number() for _ in range(4))
        grid = tuple(self.number() for _ in range(8)) if flags & 2 else ()
        memory = tuple(self.number() for _ in range(3)) if flags & 4 else ()
        return kind, self.time, duration, device, stream, correlation, self.names[name], grid[:6], memory[2:]


def check_sbt_pairs(bench: harness.Bench) -> None:
    """Kernels as two events without a duration, in the order in which buffers came; one whose end is missing."""
    parts = [(1, 1000, 5), (1, 1100, 6), (2, 1400, 6), (2, 1200, 5), (2, 1900, 7), (1, 1500, 7), (1, 2000, 8), (20, 2100, 5), (21, 2500, 5)]
    events, last = bytes([4]) + varint(parts[0][1]), parts[0][1]
    for kind, time, correlation in parts:
        events += bytes([kind, 0]) + varint(time - last) + varint(0) + varint(7) + varint(correlation) + varint(0)
        last = time
    names = bytes([2]) + varint(1) + text("gemm") + b"\xff"
    source = bench.folder / "pairs.sbt"
    source.write_bytes(struct.pack("<4sHHII5QQB7x", b"SBT\0", 0, 1, 3, 72, 0, 72 + len(events), 0, 72, 0, len(parts), 0) + events + names)
    rows = fields(imported(bench, "sbt", source), "device_op")
    first = min(f["started"] for f in rows)
    ops = [(f["op"], f["started"] - first, f["ended"] - first) for f in rows]
    TAP.equal("sbt: launch and complete are one kernel", sorted(ops),
              [("collective", 1100, 1500), ("kernel", 0, 200), ("kernel", 100, 400), ("kernel", 500, 900), ("kernel", 1000, 1000)])


def check_sbt(bench: harness.Bench) -> None:
    source = bench.folder / "trace.sbt"
    source.write_bytes(sbt_file())
    rows = imported(bench, "sbt", source)
    ops = [(f["op"], f["name"], f["started"], f["ended"], f["correlation"], f["bytes"], f["geometry"]) for f in fields(rows, "device_op")]
    TAP.equal("sbt: operations", sorted(ops), [("copy", "Memcpy HtoD", 60, 90, 10, 4096, ""), ("kernel", "gemm", 100, 150, 9, 0, "4x2x1/32x1x1")])
    TAP.equal("sbt: ranges", [(f["name"], f["time_ns"]) for f in fields(rows, "span_begin") + fields(rows, "span_end")], [("step", 0), ("step", 560)])
    TAP.equal("sbt: the process", [(f["pid"], f["command"]) for f in fields(rows, "process")], [(77, "trainer")])
    out = bench.folder / "again.sbt"
    bench.run("export", "--to", "sbt", "-o", out, bench.folder / "run-sbt-trace")
    TAP.equal("sbt: exported, read by another decoder", sorted(Decoder(out.read_bytes()).events), sorted([
        (18, EPOCH_NS, 0, 0, 7, 0, "step", (), ()), (1, EPOCH_NS + 100, 50, 0, 7, 9, "gemm", (4, 2, 1, 32, 1, 1), ()),
        (3, EPOCH_NS + 60, 30, 0, 7, 10, "Memcpy HtoD", (), (4096,)), (19, EPOCH_NS + 560, 0, 0, 7, 0, "step", (), ())]))
    again = imported(bench, "sbt", out)
    TAP.equal("sbt: there and back", [r["fields"] for r in again if r["kind"] == "device_op"], [r["fields"] for r in rows if r["kind"] == "device_op"])
    cut = bench.folder / "cut.sbt"
    whole = source.read_bytes()
    cut.write_bytes(whole[:whole.index(bytes([2, 3, 4]) + b"gemm") - 10])
    TAP.equal("sbt: cut, the rest is there", len(fields(imported(bench, "sbt", cut, code=3), "device_op")), 2)
    names = bench.folder / "names.sbt"
    names.write_bytes(whole[:whole.index(bytes([2, 3, 4]) + b"gemm") + 4])
    TAP.equal("sbt: names are cut, the events are there", len(fields(imported(bench, "sbt", names, code=3), "device_op")), 2)
    check_sbt_pairs(bench)
    refused(bench, "sbt", {"empty": b"", "text": b"hello", "short": b"SBT\0" + bytes(10), "version": b"SBT\0\x09\x00" + bytes(100)})


# ---- Nsight Systems ----

def check_nsys(bench: harness.Bench) -> None:
    source = bench.folder / "report.sqlite"
    pid = 77 << 24
    with sqlite3.connect(source) as base:
        base.executescript(f"""
            CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
            INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'gemm<float>'), (3, 'step');
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, eventClass INT, globalTid INT, correlationId INT, nameId INT, returnValue INT);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1100, 0, {pid | 78}, 5, 1, 0);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT,
              demangledName INT, shortName INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1200, 1500, 1, 1, 7, 5, {pid}, 2, 2, 4, 1, 1, 128, 1, 1);
            CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT,
              bytes INT, copyKind INT);
            INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1600, 1700, 1, 1, 7, 6, {pid}, 4096, 1);
            CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT,
              globalPid INT, syncType INT);
            INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1700, 1800, 1, 1, 7, 8, {pid}, 3);
            CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid INT, textId INT);
            INSERT INTO NVTX_EVENTS VALUES (900, 2000, 59, NULL, {pid | 78}, 3), (950, NULL, 34, 'here', {pid | 78}, NULL);
            CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT);
            INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ({EPOCH_NS});""")
    base.close()
    rows = imported(bench, "nsys", source)
    ops = [(f["op"], f["name"], f["started"], f["ended"], f["device"], f["correlation"], f["bytes"], f["geometry"]) for f in fields(rows, "device_op")]
    TAP.equal("nsys: operations", ops, [("kernel", "gemm<float>", 300, 600, 1, 5, 0, "4x1x1/128x1x1"), ("copy", "Memcpy HtoD", 700, 800, 1, 6, 4096, ""),
                                        ("sync", "Stream Sync", 800, 900, 1, 8, 0, "")])
    TAP.equal("nsys: spans", [(f["name"], f["time_ns"], f["flags"]) for f in fields(rows, "span_begin")], [("step", 0, 4), ("cudaLaunchKernel", 100, 1)])
    TAP.equal("nsys: launches", [f["from"] for f in fields(rows, "edge")], [5])
    TAP.equal("nsys: marks", [f["name"] for f in fields(rows, "mark")], ["here"])
    logged = bench.folder / "100% of it?#.sqlite"  # what an address would take for signs
    logged.write_bytes(source.read_bytes())
    base = sqlite3.connect(logged)
    base.execute("PRAGMA journal_mode = wal")
    base.close()
    TAP.equal("nsys: with a log ahead", len(fields(imported(bench, "nsys", logged), "device_op")), 3)
    TAP.equal("nsys: nothing is written beside it", [f.name for f in bench.folder.glob("100%*")], [logged.name])
    base = sqlite3.connect(logged)  # which is open, and has rows in its log alone
    base.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT * FROM CUPTI_ACTIVITY_KIND_MEMCPY")
    base.commit()
    shutil.rmtree(bench.folder / f"run-nsys-{logged.stem}")
    TAP.equal("nsys: rows of a log", len(fields(imported(bench, "nsys", logged), "device_op")), 4)
    base.close()
    cut = bench.folder / "cut.sqlite"
    cut.write_bytes(source.read_bytes()[:-10])
    imported(bench, "nsys", cut, code=3)
    other = bench.folder / "other.sqlite"
    with sqlite3.connect(other) as base:
        base.execute("CREATE TABLE x (y)")
    base.close()
    refused(bench, "nsys", {"text": b"hello" * 200, "tables": other.read_bytes()})


# ---- strace ----

def check_strace(bench: harness.Bench) -> None:
    source = bench.folder / "calls.txt"
    source.write_text("""4242 1700000000.000001 openat(AT_FDCWD, "a\\nb", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000012>
4242 1700000000.000100 wait4(-1,  <unfinished ...>
4243 1700000000.000150 close(3) = 0 <0.000001>
4243 1700000000.000200 +++ exited with 0 +++
4242 1700000000.000300 <... wait4 resumed>[{WIFEXITED(s)}], 0, NULL) = 4243 <0.000200>
[pid  4242] 1700000000.000400 write(1, "hello\\33, (x", 10) = 10 <0.000003>
""")
    rows = imported(bench, "strace", source)
    calls = sorted((row["time_ns"], row["fields"]["result"], row["fields"]["duration"]) for row in rows if row["kind"] == "syscall")
    TAP.equal("strace: ends, results and durations", calls, [(0, -2, 12000), (138000, 0, 1000), (287000, 4243, 200000), (390000, 10, 3000)])
    shown = bench.run("view", bench.folder / "run-strace-calls")
    TAP.check("strace: texts and names", 'openat(AT_FDCWD, "a' in shown and 'write(1, "hello\\\\33, (x"' in shown, shown)
    relative = bench.folder / "relative.txt"
    relative.write_text("     0.000000 close(3) = 0\n     0.000500 close(4) = 0\nnonsense\n")
    TAP.equal("strace: relative times, and a line that is none",
              [row["time_ns"] for row in imported(bench, "strace", relative, code=3) if row["kind"] == "syscall"], [0, 500000])
    refused(bench, "strace", {"empty": b"", "text": b"hello\nworld\n", "untimed": b"close(3) = 0\n"})


# ---- renacer ----

def check_renacer(bench: harness.Bench) -> None:
    """As its makers write it: behind the output of the program, three raw arguments, neither times nor threads; and as we write it."""
    first = bench.folder / "old.json"
    whole = {"version": "0.6.2", "format": "renacer-json-v1",
             "syscalls": [{"name": "openat", "args": ["0xffffff9c", "\"/tmp/a\\tb\"", "0x0"], "result": -2, "duration_us": 12},
                          {"name": "syscall_3", "args": ["0x3", "0x0", "0x0"], "result": 0},
                          {"name": "unknown", "args": [], "result": 0, "duration_us": 5},
                          {"name": "write", "args": ["0x1", "0x7f0000001000", "0x9"], "result": 9, "duration_us": 3,
                           "source": {"file": "a.c", "line": 3}}],
             "summary": {"total_syscalls": 4, "total_time_us": 20, "exit_code": 0}}
    first.write_text("=== Training Loop Example ===\n{loss: 3}\n" + json.dumps(whole, indent=2) + "\n")
    rows = imported(bench, "renacer", first)
    TAP.equal("renacer: names, results and durations", [(f["nr"], f["result"], f["duration"]) for f in fields(rows, "syscall")],
              [(257, -2, 12000), (3, 0, 0), (1, 9, 3000)])
    times = [f["time_ns"] for f in fields(rows, "syscall")]
    TAP.check("renacer: one after the other, without times", times == sorted(set(times)) and times[2] - times[1] >= 8000, times)
    TAP.check("renacer: texts", 'openat(AT_FDCWD, "/tmp/a\\\\tb"' in bench.run("view", bench.folder / "run-renacer-old"))
    run = bench.folder / "run-strace-calls"  # of check_strace()
    out = bench.folder / "ours.json"
    bench.run("export", "--to", "renacer-json", "-o", out, run)
    again = bench.folder / "again.json"
    imported(bench, "renacer", out)
    bench.run("export", "--to", "renacer-json", "-o", again, bench.folder / "run-renacer-ours")
    one, two = (json.loads(path.read_text())["syscalls"] for path in (out, again))
    for key in ("name", "args", "result", "duration_us", "tid"):
        TAP.equal(f"renacer: {key} after writing and reading", [call[key] for call in two], [call[key] for call in one])
    TAP.equal("renacer: times after writing and reading", [call["ts_us"] - two[0]["ts_us"] for call in two], [call["ts_us"] - one[0]["ts_us"] for call in one])
    cut = bench.folder / "cut.json"
    cut.write_text(json.dumps(whole)[:260])
    TAP.equal("renacer: cut, the rest is there", len(fields(imported(bench, "renacer", cut, code=3), "syscall")), 2)
    short = bench.folder / "short.json"
    short.write_text(json.dumps({**whole, "summary": {"total_syscalls": 9}}))
    TAP.equal("renacer: fewer calls than its summary has", [f["count"] for f in fields(imported(bench, "renacer", short, code=3), "lost")], [5])
    refused(bench, "renacer", {"empty": b"", "text": b"=== Training Loop Example ===\n", "other": b'{"traceEvents": []}',
                               "deep": b'{"syscalls": ' + b"[" * 100000})


def main() -> int:
    with harness.Scratch() as folder:
        bench = harness.Bench(sys.argv[1], folder)
        check_chrome(bench)
        check_perfetto(bench)
        check_sbt(bench)
        check_nsys(bench)
        check_strace(bench)
        check_renacer(bench)
    return TAP.finish()


sys.exit(main())
