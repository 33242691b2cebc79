#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every export format, read back by something that shares no code with the exporters.

One file, though a long one: all formats are read back from the same trace and compared with the same rows.

usage: test_export.py WHEELTAP MAKE_TRACE GOLDEN_FOLDER
"""

from __future__ import annotations

import collections
import csv
import functools
import itertools
import json
import math
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import unittest
from typing import Any

import perfetto

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Scratch  # noqa: E402
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import trace_parts as parts  # noqa: E402
from bench import csv_text  # noqa: E402

WHEELTAP = MAKE_TRACE = ""
GOLDEN = pathlib.Path()
csv.field_size_limit(1 << 28)

# What make_trace.c writes: NUL and broken sequences are replaced wherever text must be UTF-8.
NASTY = "a\"b\\c\n\r\t,;=\x01\x7f\ufffd\ufffd\ufffd( \u20ac'</script>\ufffdz"
NASTY_JSON = NASTY[:-2] + "\0z"
NASTY_LINE = "a\"b\\\\c\\n\\r\\t,;=\\x01\\x7f\\xff\\xfe\\xc3( \u20ac'</script>\\x00z"
HUGE = "x" * 65535


def run(*words: str | pathlib.Path, status: int = 0, program: str = "") -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run([program or WHEELTAP, *map(str, words)], capture_output=True, timeout=PATIENCE, check=False)
    if done.returncode != status:
        raise AssertionError(f"{words}: status {done.returncode}, not {status}: {done.stderr.decode()[-2000:]}")
    return done


@functools.cache
def export(fmt: str, source: pathlib.Path, *more: str, status: int = 0) -> bytes:
    return run("export", "--to", fmt, "-o", "-", *more, source, status=status).stdout


@functools.cache
def read_perfetto(source: pathlib.Path, *more: str) -> perfetto.Trace:
    return perfetto.Trace(export("perfetto", source, *more))


def reject(constant: str) -> Any:
    raise AssertionError(f"{constant} is not JSON")


def strict(text: str | bytes) -> Any:
    """JSON without the liberties that Python takes, no key twice."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(items)) == len(items), items
        return dict(items)

    return json.loads(text, parse_constant=reject, object_pairs_hook=pairs)


def lines(data: bytes) -> list[dict[str, Any]]:
    text = data.decode("utf-8")
    assert text.endswith("\n") or not text
    return [strict(line) for line in text.split("\n")[:-1]]


def kinds_of(source: pathlib.Path) -> dict[str, int]:
    """How many events of each kind there are, as `info` says."""
    info = strict(run("info", "--json", source).stdout)
    return {row["kind"]: row["events"] for row in info["tables"]["kinds"] if row["events"]}


class Case(unittest.TestCase):
    folder = pathlib.Path()
    known = pathlib.Path()  # make_trace.c says event by event what is in it
    work = pathlib.Path()  # a workload
    every = pathlib.Path()  # random rows of all kinds


def make_runs(folder: pathlib.Path) -> None:
    Case.folder = folder
    Case.known, Case.work, Case.every = (folder / name for name in ("known", "work", "every"))
    run(Case.known, program=MAKE_TRACE)
    run("sim", "--events", "10000", "-o", Case.work)
    run("sim", "--kinds", "all", "--events", "5000", "-o", Case.every)


class Perfetto(Case):
    def read(self, source: pathlib.Path, *more: str) -> perfetto.Trace:
        return read_perfetto(source, *more)

    def test_protoc_agrees(self) -> None:
        data = export("perfetto", self.known)
        if not shutil.which("protoc"):
            self.skipTest("protoc is not installed (protobuf-compiler)")
        done = subprocess.run(["protoc", "--decode_raw"], input=data, capture_output=True, check=True, timeout=PATIENCE)
        packets = sum(line == b"1 {" for line in done.stdout.split(b"\n"))
        self.assertEqual(packets, perfetto.Trace(data).packets)

    def test_known_tracks(self) -> None:
        trace = self.read(self.known)
        paths = collections.Counter(trace.path(uuid) for uuid in trace.tracks)
        process = 'pro"g'
        for path in (
            process,
            "main",
            'worker\\n"1"',
            f"{process}/main again",
            f"{process}/device 0/stream 7",
            f"{process}/device 0/stream 7 (overlap 1)",
            f"{process}/device 0/stream 7 (overlap 2)",
            f"{process}/device 0/stream 8",
            f"{process}/loss",
            'worker\\n"1"/step',
            'worker\\n"1"/stage',
            'worker\\n"1"/system calls',
        ):
            self.assertIn(path, paths)
        self.assertEqual(paths[process], 2)
        threads = sorted((t.pid, t.tid) for t in trace.tracks.values() if t.kind == "thread")
        self.assertEqual(threads, [(100, 100), (100, 101), (200, 100)])
        self.assertEqual(trace.clocks, {6: perfetto.EPOCH_NS, 1: 1_700_000_000_000_000_000})

    def test_known_spans(self) -> None:
        trace = self.read(self.known)
        main = next(t.uuid for t in trace.tracks.values() if (t.kind, t.pid, t.tid) == ("thread", 100, 100))
        spans = [(s.name, s.begin, s.end, s.depth) for s in trace.slices if s.track == main and not s.instant]
        self.assertEqual(
            spans,
            [
                ("outer", 1000, 2000, 0),
                ("inner", 1000, 1000, 1),
                ("inner", 1000, 1500, 1),
                ("inner", 1500, 1600, 1),
                (NASTY_LINE, 2100, 2200, 0),
                (HUGE, 2110, 2200, 1),
                ("train", 2300, 2400, 0),
                ("outer", 9000, 9000, 0),
            ],
        )
        unfinished = [s.name for s in trace.slices if s.args.get("unfinished")]
        self.assertEqual(unfinished, [HUGE, "outer"])
        call = next(s for s in trace.slices if s.category == "call")
        self.assertEqual(call.args, {"module": "optimizer", "site": "train.py:41", "exception": "ValueError"})

    def test_known_operations(self) -> None:
        trace = self.read(self.known)
        ops = [(trace.tracks[s.track].name, s.begin, s.end, s.args["correlation"]) for s in trace.slices if s.category == "kernel"]
        self.assertEqual(
            sorted(ops, key=lambda op: op[3]),
            [
                ("stream 7", 1100, 1400, 501),
                ("stream 7", 5500, 5600, 501),
                ("stream 7 (overlap 1)", 1300, 1800, 502),
                ("stream 7", 1800, 1800, 503),
                ("stream 7", 1800, 1900, 504),
                ("stream 7", 1450, 1500, 505),
                ("stream 7 (overlap 2)", 0, 10000, 506),
                ("stream 8", 2000, 2050, 507),
                ("stream 7 (overlap 3)", 1600, 1800, 508),
            ],
        )
        for piece in trace.slices:
            if piece.category == "kernel":
                self.assertEqual(piece.depth, 0)
                self.assertEqual((piece.args["bytes"], piece.args["geometry"]), (4096, "2x3"))

    def test_known_flows(self) -> None:
        arrows = [(a.name, a.begin, b.args["correlation"]) for a, b in self.read(self.known).flows()]
        self.assertEqual(
            sorted(arrows),
            sorted([("inner", 1000, 501), ("launch", 1650, 504), ("gemm", 1100, 507), ("gemm", 1100, 504)]),
        )

    def test_known_values(self) -> None:
        trace = self.read(self.known)
        counters = {trace.tracks[u].name: (trace.tracks[u].unit, v) for u, v in trace.counters.items()}
        self.assertEqual(counters["loss"], ("nats", [(1100, 2.5), (1200, 0.1)]))
        self.assertEqual(counters[NASTY_LINE], ("", [(1500, 1e300), (1501, 1 / 3)]))
        odd = [s for s in trace.slices if s.category == "counter"]
        self.assertEqual([(s.name, s.begin) for s in odd], [("loss", 1300), ("loss", 1400)])
        self.assertTrue(math.isnan(float(str(odd[0].args["value"]))))
        tensor = next(s for s in trace.slices if s.category == "tensor")
        self.assertEqual((tensor.args["hash"], tensor.args["dtype"], tensor.args["shape"]), (0xFEDCBA9876543210, "f32", "2x3"))
        state = next(s for s in trace.slices if s.category == "state")
        self.assertEqual((state.name, state.args["old"], state.args["new"]), ("optimizer.lr", 0.1, 0.01))
        stack = next(s for s in trace.slices if s.category == "stack")
        self.assertEqual(stack.args["stack"], "libm.so.6+0xf00 0x9000")
        call = next(s for s in trace.slices if s.category == "syscall")
        self.assertEqual((call.begin, call.end, call.args["result"]), (2000, 2050, -11))
        logs = [s.name for s in trace.slices if s.category == "log"]
        self.assertEqual(logs, [NASTY_LINE, "\\n" * 4096])
        context = [(s.name, s.begin, s.end) for s in trace.slices if s.category == "context"]
        self.assertEqual(context, [("step 0", 4000, 4100), ("step 1", 4100, 4200), ("step 2", 4200, 9000), ("train", 4300, 9000)])

    def test_simulated_counts(self) -> None:
        trace = self.read(self.work)
        events = lines(export("jsonl", self.work))
        count = collections.Counter(e["kind"] for e in events)
        categories = collections.Counter(s.category for s in trace.slices)
        self.assertEqual(categories["span"], count["span_begin"])
        ops = collections.Counter(e["fields"]["op"] for e in events if e["kind"] == "device_op")
        for op, number in ops.items():
            self.assertEqual(categories[op], number, op)
        self.assertEqual(categories["context"], count["context"])
        self.assertEqual(sum(map(len, trace.counters.values())), count["counter"])
        self.assertEqual(categories["mark"], count["mark"])
        self.check_simulated_flows(trace, events)

    def check_simulated_flows(self, trace: perfetto.Trace, events: list[dict[str, Any]]) -> None:
        done = {e["fields"]["correlation"]: e["fields"] for e in events if e["kind"] == "device_op"}
        want: collections.Counter[tuple[int, int]] = collections.Counter()
        for edge in (e["fields"] for e in events if e["kind"] == "edge"):
            if edge["type"] == "launch" and edge["to"] in done:
                want[0, edge["to"]] += 1
            elif edge["from"] in done and edge["to"] in done:
                # Arrows do not point back in time, and of two at once one may be written late.
                late = done[edge["from"]]["started"] >= done[edge["to"]]["started"]
                want[edge["from"], edge["to"]] += not late
        found: collections.Counter[tuple[int, int]] = collections.Counter()
        for a, b in trace.flows():
            self.assertNotEqual(b.category, "span")
            found[int(str(a.args.get("correlation", 0))), int(str(b.args["correlation"]))] += a.begin < b.begin or "correlation" not in a.args
        self.assertGreater(want.total(), 2000)
        self.assertEqual(+found, +want)

    def test_every_kind(self) -> None:
        self.read(self.every)

    def test_names_are_said_again(self) -> None:
        big = self.folder / "big"
        run("sim", "--events", "150000", "-o", big)
        data = export("perfetto", big)
        # A reader that begins in the middle finds names as soon as they are said again.
        start = data.index(bytes([0x50, 1, 0x68, 1]), len(data) // 2)  # sequence 1, state cleared
        while data[start] != 0x0A:
            start -= 1
        interned = None
        names = 0
        for number, value in itertools.islice(perfetto.fields(data[start:]), 5000):
            packet = perfetto.Message(value)
            if packet.one(13) == 1:
                interned = perfetto.Interned()
            assert interned is not None and number == 1
            for entry in packet.messages(12):
                interned.learn(entry)
            for event in packet.messages(11):
                if 10 in event.all:
                    self.assertIn(event.number(10), interned.names)
                    names += 1
        self.assertGreater(names, 100)

    def test_window(self) -> None:
        trace = self.read(self.known, "--from", "1us", "--until", "1550ns")
        spans = [(s.name, s.begin, s.end) for s in trace.slices if s.category == "span"]
        self.assertIn(("outer", 1000, 1550), spans)
        self.assertNotIn("kernel", {s.category for s in trace.slices})


class Chrome(Case):
    def read(self, source: pathlib.Path) -> list[dict[str, Any]]:
        whole = strict(export("chrome", source))
        self.assertEqual(whole["displayTimeUnit"], "ns")
        return whole["traceEvents"]

    def test_times_are_exact(self) -> None:
        text = export("chrome", self.known).decode()
        events = json.loads(text, parse_float=str, parse_constant=reject)["traceEvents"]
        for event in events:
            for key in ("ts", "dur"):
                if key in event:
                    self.assertRegex(event[key], r"^-?\d+\.\d{3}$")
        spans = {(e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"}
        self.assertIn(("inner", "1.500", "0.100"), spans)
        self.assertIn(("gemm", "0.000", "10.000"), spans)

    def test_rows_and_nesting(self) -> None:
        for source in (self.known, self.work, self.every):
            events = self.read(source)
            named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
            processes = {e["pid"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
            rows = collections.defaultdict(list)
            for event in events:
                if event["ph"] in "Xisf":
                    self.assertIn((event["pid"], event["tid"]), named)
                self.assertIn(event["pid"], processes)
                if event["ph"] == "X":
                    begin = round(event["ts"] * 1000)
                    rows[event["pid"], event["tid"]].append((begin, -(begin + round(event["dur"] * 1000))))
            for slices in rows.values():
                self.check_nesting(sorted(slices))

    def check_nesting(self, slices: list[tuple[int, int]]) -> None:
        open_ends: list[int] = []
        for begin, minus_end in slices:
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            if open_ends:
                self.assertLessEqual(-minus_end, open_ends[-1])
            open_ends.append(-minus_end)

    def test_flows_meet_slices(self) -> None:
        for source in (self.known, self.work):
            events = self.read(source)
            slices = {(e["pid"], e["tid"], e["ts"]) for e in events if e["ph"] == "X"}
            begun = {e["id"]: e for e in events if e["ph"] == "s"}
            ended = [e for e in events if e["ph"] == "f"]
            self.assertEqual(len(begun), sum(e["ph"] == "s" for e in events))
            self.assertTrue(ended)
            for event in list(begun.values()) + ended:
                self.assertIn((event["pid"], event["tid"], event["ts"]), slices)
            for event in ended:
                self.assertEqual((event["bp"], event["name"]), ("e", begun[event["id"]]["name"]))

    def test_same_as_perfetto(self) -> None:
        for source in (self.known, self.work, self.every):
            trace = read_perfetto(source)
            events = self.read(source)
            ours = collections.Counter(e["cat"] for e in events if e["ph"] in "Xi")
            self.assertEqual(ours, collections.Counter(s.category for s in trace.slices))
            counters = sorted((round(e["ts"] * 1000), *e["args"].values()) for e in events if e["ph"] == "C")
            self.assertEqual(counters, sorted(v for values in trace.counters.values() for v in values))
            self.assertEqual(sum(e["ph"] == "f" for e in events), len(trace.flows()))

    def test_odd_names(self) -> None:
        names = {e["name"] for e in self.read(self.known)}
        self.assertTrue({NASTY_JSON, HUGE, "loss"} <= names)


class Lines(Case):
    def test_counts(self) -> None:
        for source in (self.known, self.work, self.every):
            count = collections.Counter(e["kind"] for e in lines(export("jsonl", source)))
            self.assertEqual(count, kinds_of(source))

    def test_same_as_view(self) -> None:
        for source in (self.known, self.work, self.every):
            ours = lines(export("jsonl", source))
            theirs = lines(run("view", "--jsonl", source).stdout)
            for event in ours + theirs:
                if event["kind"] in ("stack", "syscall"):
                    del event["fields"]["stack"]  # spelled out in exports only
            self.assertEqual(ours, theirs)

    def test_digits_are_kept(self) -> None:
        fields = [e["fields"] for e in lines(export("jsonl", self.known, "--kind", "mark,tensor,counter"))]
        self.assertEqual(fields[6]["value"], "18446744073709551615")
        self.assertEqual(fields[7]["value"], "9007199254740993")
        tensor = fields[8]
        self.assertEqual((tensor["hash"], tensor["mean"], tensor["dtype"]), ("fedcba9876543210", "nan", "f32"))
        self.assertEqual([f["value"] for f in fields[:6]], [2.5, 0.1, "nan", "-inf", 1e300, 1 / 3])
        self.assertEqual(fields[6]["name"], NASTY_JSON)

    def test_filters(self) -> None:
        events = lines(export("jsonl", self.known, "--kind", "counter", "--name", "loss", "--from", "1200ns", "--until", "1400ns"))
        self.assertEqual([e["time_ns"] for e in events], [1200, 1300])
        events = lines(export("jsonl", self.known, "--track", "worker*", "--step", "1"))
        self.assertEqual([e["time_ns"] for e in events], [4100])
        self.assertIn(b"unknown kind", run("export", "--to", "jsonl", "-k", "spam", self.known, status=2).stderr)


class Csv(Case):
    def test_one_file(self) -> None:
        for source in (self.known, self.work, self.every):
            text = export("csv", source).decode("utf-8")
            rows = list(csv.DictReader(text.splitlines(keepends=True), strict=True))
            events = lines(export("jsonl", source))
            self.assertEqual(len(rows), len(events))
            for row, event in zip(rows, events):
                self.assertNotIn(None, row)
                for key in ("time_ns", "stream", "track", "seq", "kind"):
                    self.assertEqual(row[key], str(event[key]))
                self.assertEqual(strict(row["fields"]), event["fields"])
                if event["kind"] == "device_op":
                    length = int(event["fields"]["ended"]) - int(event["fields"]["started"])
                    self.assertEqual(row["duration_ns"], str(max(length, 0)))

    def test_folder(self) -> None:
        for source in (self.known, self.every):
            target = self.folder / f"{source.name}-csv"
            run("export", "--to", "csv", "-o", f"{target}/", source)
            events = collections.defaultdict(list)
            for event in lines(export("jsonl", source)):
                events[event["kind"]].append(event)
            self.assertEqual({p.stem for p in target.iterdir()}, set(events))
            for kind, expected in events.items():
                with open(target / f"{kind}.csv", encoding="utf-8", newline="") as file:
                    rows = list(csv.DictReader(file, strict=True))
                self.assertEqual(len(rows), len(expected))
                for row, event in zip(rows, expected):
                    for key, value in event["fields"].items():
                        self.same(row[key], value)

    def same(self, cell: str, value: Any) -> None:
        if value is None:
            self.assertEqual(cell, "")
        elif isinstance(value, dict):  # the source of a system call
            self.assertIn(csv_text(f"{value['file']}:{value['line']}"), cell)
        elif isinstance(value, bool):
            self.assertEqual(cell, "true" if value else "false")
        elif isinstance(value, (int, float)):
            self.assertEqual(float(cell), float(value))
        elif value != "-inf":  # which is a number there, and in JSON a text
            self.assertEqual(cell, csv_text(str(value)))

    def test_nasty(self) -> None:
        text = export("csv", self.known, "--kind", "mark").decode("utf-8")
        self.assertNotIn("\0", text)
        rows = list(csv.DictReader(text.splitlines(keepends=True), strict=True))
        self.assertEqual([row["name"] for row in rows], [csv_text(NASTY), HUGE])


class Sqlite(Case):
    def open(self, source: pathlib.Path) -> sqlite3.Connection:
        path = self.folder / f"{source.name}.sqlite"
        run("export", "--to", "sqlite", "--force", "-o", path, source)
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.addCleanup(db.close)
        self.assertEqual(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        self.assertEqual(db.execute("PRAGMA user_version").fetchone(), (1,))
        return db

    def test_counts(self) -> None:
        for source in (self.known, self.work, self.every):
            db = self.open(source)
            kinds = kinds_of(source)
            for kind, number in kinds.items():
                self.assertEqual(db.execute(f'SELECT count(*) FROM "{kind}"').fetchone(), (number,), kind)
            total = db.execute("SELECT value FROM run WHERE key = 'events'").fetchone()
            self.assertEqual(total, (sum(kinds.values()),))

    def test_values(self) -> None:
        db = self.open(self.known)
        self.assertEqual(
            db.execute("SELECT value FROM counter ORDER BY time_ns").fetchall(),
            [(2.5,), (0.1,), ("nan",), (-math.inf,), (1e300,), (1 / 3,)],
        )
        self.assertEqual(
            db.execute("SELECT name, value FROM mark ORDER BY seq").fetchall(),
            [(NASTY, "0xffffffffffffffff"), (HUGE, (1 << 53) + 1)],
        )
        self.assertEqual(db.execute("SELECT hash, nan, dtype, shape FROM tensor").fetchone(), ("fedcba9876543210", 1, "f32", "2x3"))
        self.assertEqual(db.execute("SELECT old, new FROM state").fetchone(), (0.1, 0.01))
        self.assertEqual(db.execute("SELECT callee, site FROM call_begin").fetchone(), ("train", "train.py:41"))
        self.assertEqual(db.execute("SELECT stack FROM stack").fetchone(), ("libm.so.6+0xf00 0x9000",))
        self.assertEqual(db.execute("SELECT text FROM log ORDER BY seq LIMIT 1").fetchone(), (NASTY,))
        self.assertEqual(db.execute("SELECT pid, command FROM streams").fetchall(), [(100, 'pro"g'), (200, 'pro"g')])
        self.assertEqual(db.execute("SELECT name, tid FROM tracks WHERE stream = 0 AND track = 2").fetchone(), ('worker\n"1"', 101))

    def test_spans(self) -> None:
        db = self.open(self.known)
        rows = db.execute(
            "SELECT s.name, s.begin_ns, s.end_ns, s.duration_ns, s.depth, p.name FROM spans s"
            " LEFT JOIN spans p ON p.id = s.parent WHERE s.stream = 0 AND s.track = 1 ORDER BY s.id"
        ).fetchall()
        self.assertEqual(
            rows,
            [
                ("outer", 1000, 2000, 1000, 0, None),
                ("inner", 1000, 1000, 0, 1, "outer"),
                ("inner", 1000, 1500, 500, 1, "outer"),
                ("inner", 1500, 1600, 100, 1, "outer"),
                (NASTY, 2100, 2200, 100, 0, None),
                (HUGE, 2110, None, None, 1, NASTY),
                ("train", 2300, 2400, 100, 0, None),
                ("outer", 9000, None, None, 0, None),
            ],
        )
        call = db.execute("SELECT module, site, exception FROM spans WHERE kind = 'call'").fetchone()
        self.assertEqual(call, ("optimizer", "train.py:41", "ValueError"))


LONG = "long" * 16000
# Names of fields that a database cannot have, and what they are called there.
ODD_NAMES = {
    "a": "a", "a ": "a ", "A": "A_3", "": "field_4", "select": "select", "time_ns": "time_ns_2", "STREAM": "STREAM_2", "a_2": "a_2",
    'x"y': 'x"y', "rowid": "rowid", "new\nline": "new\\nline", "\x1b[31m": "\\x1b[31m", "\u00e9": "\u00e9", "\u00c9": "\u00c9",
    LONG: LONG[:128],
}  # fmt: skip
ODD_KINDS = {"spans": "spans_200", "sqlite_x": "kind_sqlite_x_201", "\u00e9\x1b": "_202", "select": "select_203", "Run": "Run_204"}


class Names(Case):
    """Kinds and fields whose names are no good, or not different from others."""

    path = pathlib.Path()

    @classmethod
    def setUpClass(cls) -> None:
        cls.path = cls.folder / "names.wt"
        names = list(ODD_NAMES)
        names[1:2] = ["a"]  # twice the same
        fields = [parts.Field(name.encode(), 2) for name in names]
        trace = parts.Trace()
        for i, kind in enumerate(ODD_KINDS):
            trace.blocks.append(parts.Block(parts.SCHEMA, parts.kind(200 + i, fields, kind.encode())))
            trace.blocks.append(parts.events(1, [parts.Column([100 * i + j]) for j in range(len(fields))], 200 + i, [1000 + i], i))
        # And a kind that every build knows, called otherwise.
        trace.blocks.append(parts.Block(parts.SCHEMA, parts.kind(8, [parts.Field(b"level", 1), parts.Field(b"LEVEL", 1)], b"tracks")))
        trace.blocks.append(parts.events(1, [parts.Column([7]), parts.Column([8])], 8, [5000], len(ODD_KINDS)))
        cls.path.write_bytes(trace.finished())

    def test_sqlite(self) -> None:
        target = self.folder / "names.sqlite"
        done = run("export", "--to", "sqlite", "-o", target, self.path)
        expected = list(ODD_NAMES.values())
        expected[1] = "a_3"
        expected[2] = "A_4"
        db = sqlite3.connect(f"file:{target}?mode=ro", uri=True)
        self.addCleanup(db.close)
        for i, table in enumerate(ODD_KINDS.values()):
            rows = db.execute(f'SELECT * FROM "{table}"')
            self.assertEqual([column[0] for column in rows.description][4:], expected)
            self.assertEqual(rows.fetchall(), [(i, 0, 3, i, *range(100 * i, 100 * i + len(expected)))])
        log = db.execute("SELECT * FROM log")
        self.assertEqual([column[0] for column in log.description][4:], ["level", "LEVEL_2"])
        self.assertEqual(log.fetchone()[4:], (7, 8))
        renamed = db.execute("SELECT column_name, field FROM renamed WHERE table_name = 'spans_200' AND field IS NOT NULL").fetchall()
        names = list(ODD_NAMES)
        names[1] = "a"
        self.assertEqual(renamed, [(new, old) for new, old in zip(expected, names) if new != old])
        tables = db.execute("SELECT table_name, kind FROM renamed WHERE field IS NULL").fetchall()
        self.assertEqual(tables, [("kind_sqlite_x_201", "sqlite_x"), ("_202", "\u00e9\x1b"), ("log", "tracks")])
        count = db.execute("SELECT count(*) FROM renamed").fetchone()[0]
        self.assertIn(f"{count} fields or kinds could not keep their names", done.stderr.decode())

    def test_lines_and_csv(self) -> None:
        strict(export("chrome", self.path))
        for event in lines(export("jsonl", self.path)) + lines(run("view", "--jsonl", self.path).stdout):
            if event["kind"] != "tracks":
                self.assertEqual(len(event["fields"]), len(ODD_NAMES), event["fields"].keys())
        target = self.folder / "names-csv"
        self.assertIn("could not keep their names", run("export", "--to", "csv", "-o", f"{target}/", self.path).stderr.decode())
        for text in ((target / "spans_200.csv").read_text(), run("view", "--csv", "-k", "spans", self.path).stdout.decode()):
            row = next(csv.DictReader(text.splitlines(keepends=True)))
            self.assertLessEqual({str(i) for i in range(len(ODD_NAMES))}, set(row.values()))

    def test_usual_names_stay(self) -> None:
        for fmt in ("sqlite", "csv"):
            done = run("export", "--to", fmt, "-o", self.folder / f"usual-{fmt}/" if fmt == "csv" else self.folder / "usual.sqlite", self.every)
            self.assertNotIn("keep their names", done.stderr.decode())


class Files(Case):
    def test_default_name_and_force(self) -> None:
        place = self.folder / "here"
        place.mkdir()
        for fmt, extension in (("perfetto", "pftrace"), ("chrome", "json"), ("jsonl", "jsonl"), ("csv", "csv"), ("sqlite", "sqlite")):
            words = [WHEELTAP, "export", "--to", fmt, str(self.known)]
            for more, status in ([], 0), ([], 4), (["--force"], 0):
                done = subprocess.run(words + more, cwd=place, capture_output=True, timeout=PATIENCE, check=False)
                self.assertEqual(done.returncode, status, done.stderr)
            self.assertTrue((place / f"known.{extension}").stat().st_size)
            self.assertEqual((place / f"known.{extension}").stat().st_mode & 0o777, 0o600)
        self.assertEqual(len(list(place.iterdir())), 5)

    def test_what_cannot_be_written(self) -> None:
        for fmt in ("perfetto", "chrome", "jsonl", "csv", "sqlite"):
            target = self.folder / "missing" / f"x.{fmt}"
            done = run("export", "--to", fmt, "-o", target, self.known, status=3)
            self.assertIn(b"cannot write", done.stderr)
            self.assertFalse(target.parent.exists())
        self.assertIn(b"standard output", run("export", "--to", "sqlite", "-o", "-", self.known, status=2).stderr)
        self.assertIn(b"no format given", run("export", self.known, status=2).stderr)
        with open("/dev/full", "wb") as full:
            for fmt in ("perfetto", "jsonl", "csv", "chrome"):
                words = [WHEELTAP, "export", "--to", fmt, "-o", "-", str(self.work)]
                done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(b"No space left", done.stderr)

    def test_help_names_all(self) -> None:
        text = run("export", "--help").stdout.decode()
        for fmt in ("perfetto", "chrome", "jsonl", "csv", "sqlite", "--until", "--force"):
            self.assertIn(fmt, text)

    def test_notes(self) -> None:
        done = run("export", "--to", "perfetto", "-o", self.folder / "notes.pftrace", "--json", self.known)
        said = strict(done.stdout)
        self.assertEqual((said["verb"], said["status"]), ("export", "clean"))
        for words in (b"17 events were lost", b"1 ends of spans have no begin", b"2 spans have no end"):
            self.assertIn(words, done.stderr)

    def test_damage(self) -> None:
        """Whatever was done to a trace, what is written is valid, and the damage is said."""
        whole = sum(kinds_of(self.work).values())
        source = next(self.work.glob("*.wt"))
        data = source.read_bytes()
        for at in (len(data) // 3, len(data) * 2 // 3):
            broken = self.folder / f"broken-{at}.wt"
            broken.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
            events = lines(export("jsonl", broken, status=3))
            self.assertLess(len(events), whole)
            self.assertGreater(len(events), whole // 10)
            perfetto.Trace(export("perfetto", broken, status=3))
            strict(export("chrome", broken, status=3))
            self.assertIn(b"byte", run("export", "--to", "jsonl", "-o", "-", broken, status=3).stderr)

    def test_golden(self) -> None:
        for source in sorted(GOLDEN.glob("*.wt")):
            with self.subTest(source.name):
                status = 3 if run_status(source) else 0
                perfetto.Trace(export("perfetto", source, status=status))
                strict(export("chrome", source, status=status))
                events = lines(export("jsonl", source, status=status))
                rows = list(csv.reader(export("csv", source, status=status).decode().splitlines(keepends=True), strict=True))
                self.assertEqual(len(rows), len(events) + 1)
                target = self.folder / f"{source.stem}.golden"
                run("export", "--to", "sqlite", "-o", target, source, status=status)
                with sqlite3.connect(target) as db:
                    self.assertEqual(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])


    def test_broken(self) -> None:
        """One broken file for each thing that readers check: said, or exported as far as it goes."""
        for source in sorted((GOLDEN / "errors").glob("*.wt")):
            for fmt in ("perfetto", "chrome"):
                words = [WHEELTAP, "export", "--to", fmt, "-o", "-", str(source)]
                done = subprocess.run(words, capture_output=True, timeout=PATIENCE, check=False)
                self.assertIn(done.returncode, (0, 3), (source, done.stderr))
                if done.stdout and fmt == "perfetto":
                    perfetto.Trace(done.stdout)
                elif done.stdout:
                    strict(done.stdout)


def run_status(source: pathlib.Path) -> int:
    return subprocess.run([WHEELTAP, "info", str(source)], capture_output=True, timeout=PATIENCE, check=False).returncode


if __name__ == "__main__":
    WHEELTAP, MAKE_TRACE = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])
    GOLDEN = pathlib.Path(sys.argv[3])
    with Scratch() as temporary:
        make_runs(temporary)
        unittest.main(argv=sys.argv[:1])
