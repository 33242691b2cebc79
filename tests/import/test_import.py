# SPDX-License-Identifier: Apache-2.0
"""Imports traces of other programs and compares every span and every operation with what Python reads in the same file."""

from __future__ import annotations

import collections
import gzip
import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

TAP = harness.Tap()
SPANS = {"cpu_op": 2, "cuda_runtime": 1, "cuda_driver": 1, "user_annotation": 4, "python_function": 8, "gpu_user_annotation": 4}
OPS = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "fill", "cuda_sync": "sync"}


def ns(number: Any) -> int:
    return int(Decimal(str(number)) * 1000)


def load(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return json.loads(data, parse_float=Decimal)


def events(run: harness.Bench, folder: Path) -> list[dict[str, Any]]:
    text = run.run("view", "--jsonl", str(folder))
    return [json.loads(line) for line in text.splitlines()]


def spans_of(rows: list[dict[str, Any]]) -> collections.Counter[tuple[Any, ...]]:
    """(name, begin, end, flags) of each span, by a stack for each track."""
    open_spans: dict[tuple[int, int], list[tuple[str, int, int]]] = {}
    found: collections.Counter[tuple[Any, ...]] = collections.Counter()
    for row in rows:
        stack = open_spans.setdefault((row["stream"], row["track"]), [])
        if row["kind"] == "span_begin":
            stack.append((row["fields"]["name"], row["time_ns"], row["fields"]["flags"]))
        elif row["kind"] == "span_end":
            name, begin, flags = stack.pop()
            assert name == row["fields"]["name"], (name, row)
            found[name, begin, row["time_ns"], flags] += 1
    assert not any(open_spans.values()), "a span without an end"
    return found


def compare(what: str, bench: harness.Bench, source: Path, document: dict[str, Any]) -> None:
    """All spans and operations of one file, with exact times."""
    run = bench.folder / what
    bench.run("import", "kineto", str(source), "-o", str(run))
    rows = events(bench, run)
    given = [e for e in document["traceEvents"] if e["ph"] == "X"]
    first = min(ns(e["ts"]) for e in document["traceEvents"] if e["ph"] in "Xi" and e["ts"])
    expected: collections.Counter[tuple[Any, ...]] = collections.Counter()
    ops: collections.Counter[tuple[Any, ...]] = collections.Counter()
    for e in given:
        begin, end = ns(e["ts"]) - first, ns(e["ts"]) - first + ns(e["dur"])
        args = e.get("args", {})
        if e.get("cat") in OPS:
            op = OPS[e["cat"]]
            op = "collective" if "nccl" in e["name"] and op == "kernel" else op
            op = "wait" if "Wait" in e["name"] and op == "sync" else op
            ops[op, e["name"], begin, end, args["device"], args["correlation"], args.get("bytes", 0)] += 1
        else:
            expected[e["name"], begin, end, SPANS.get(e.get("cat", ""), 0)] += 1
    actual = collections.Counter(
        (f["op"], f["name"], f["started"], f["ended"], f["device"], f["correlation"] % 2**32, f["bytes"])
        for f in (r["fields"] for r in rows if r["kind"] == "device_op") if f["op"] != "record")
    TAP.equal(f"{what}: spans", spans_of(rows) - expected, collections.Counter(), expected - spans_of(rows))
    TAP.equal(f"{what}: as many spans", sum(spans_of(rows).values()), sum(expected.values()))
    TAP.equal(f"{what}: operations", actual, ops)
    launched = {e["args"]["correlation"] for e in given if e.get("cat") in ("cuda_runtime", "cuda_driver")}
    edges = {r["fields"]["from"] for r in rows if r["kind"] == "edge" and r["fields"]["type"] == "launch"}
    known = {key[5] for key in ops} & launched
    TAP.equal(f"{what}: launches", known - edges, set())
    forward = sum(e["ph"] == "s" and e["cat"] == "fwdbwd" for e in document["traceEvents"])
    TAP.equal(f"{what}: forward to backward",
              sum(r["kind"] == "edge" and r["fields"]["type"] == "forward_backward" for r in rows), forward)


def made_document() -> dict[str, Any]:
    """What real files have, in small, with times that no double holds."""
    def x(cat: str, name: str, tid: Any, ts: str, dur: str, pid: Any = 70, **args: Any) -> dict[str, Any]:
        return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": Decimal(ts), "dur": Decimal(dur), "args": args}

    return {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "Made"}],
        "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 4},
        "traceEvents": [
            x("cpu_op", "aten::mm", 71, "1712195495505583.001", "100.999"),
            x("cpu_op", "inner", 71, "1712195495505583.001", "100.999"),
            x("python_function", "train.py(3): \"step\"\n\\", 71, "1712195495505580", "200"),
            x("cuda_runtime", "cudaLaunchKernel", 71, "1712195495505590.123", "5.5", correlation=9),
            x("cpu_op", "overlaps", 71, "1712195495505591", "500"),
            x("kernel", "gemm<float>", 7, "1712195495505600.25", "10.001", 0, device=0, stream=7, correlation=9, grid=[1, 2, 3],
              block=[32, 1, 1]),
            x("gpu_memcpy", "Memcpy HtoD", 7, "1712195495505610.251", "1", 0, device=0, stream=7, correlation=11, bytes=4096),
            x("kernel", "ncclKernel_AllReduce", 9, "1712195495505611", "2", 0, device=0, stream=9, correlation=12),
            x("gpu_user_annotation", "step", 7, "1712195495505600.249", "10.003", 0),
            {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 77, "pid": 0, "tid": 7, "ts": 1712195495505600, "bp": "e"},
            {"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 70, "tid": 71, "ts": Decimal("1712195495505583.001")},
            {"ph": "f", "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 70, "tid": 71, "ts": 1712195495505592, "bp": "e"},
            {"ph": "M", "name": "process_name", "pid": 70, "tid": 0, "ts": 0, "args": {"name": "trainer"}},
            {"ph": "M", "name": "thread_name", "pid": 70, "tid": 71, "ts": 0, "args": {"name": "main"}},
            x("Trace", "PyTorch Profiler (0)", "PyTorch Profiler", "1712195495505580", "600", "Spans"),
            {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 1712195495506200},
        ],
    }


def text_of(document: dict[str, Any]) -> str:
    """As JSON, with the digits of decimals as they are."""
    marked = json.dumps(document, default=lambda number: f"@{number}@", indent=1)
    return marked.replace('"@', "").replace('@"', "")


def check_made(bench: harness.Bench) -> None:
    document = made_document()
    source = bench.folder / "made.json"
    source.write_text(text_of(document))
    compare("made", bench, source, document)
    rows = events(bench, bench.folder / "made")
    rank = next(r["fields"] for r in rows if r["kind"] == "rank")
    TAP.equal("rank", (rank["rank"], rank["world"], rank["group"]), (3, 4, "nccl"))
    TAP.equal("geometry", {r["fields"]["geometry"] for r in rows if r["kind"] == "device_op"} - {""}, {"1x2x3/32x1x1"})
    TAP.check("a span that does not nest has a lane of its own", any("(overlap 1)" in r["track_name"] for r in rows))
    packed = bench.folder / "made.json.gz"
    packed.write_bytes(gzip.compress(source.read_bytes()))
    compare("packed", bench, packed, document)


def check_shared_numbers(bench: harness.Bench) -> None:
    """Kernels of a graph have the number of the call that launched it; each gets its own."""
    document = made_document()
    document["baseTimeNanoseconds"] = 1
    kernel = document["traceEvents"][5]
    document["traceEvents"] += [{**kernel, "ts": kernel["ts"] + 20 * i} for i in (1, 2)]
    (bench.folder / "graph.json").write_text(text_of(document))
    bench.run("import", "kineto", str(bench.folder / "graph.json"), "-o", str(bench.folder / "graph"))
    rows = events(bench, bench.folder / "graph")
    ops = [r["fields"]["correlation"] for r in rows if r["kind"] == "device_op" and r["fields"]["name"] == "gemm<float>"]
    edges = [r["fields"]["from"] for r in rows if r["kind"] == "edge" and r["fields"]["type"] == "launch"]
    TAP.equal("kernels of a graph: as many numbers as kernels", (len(set(ops)), sorted(ops)), (3, sorted(edges)))


def check_damaged(bench: harness.Bench) -> None:
    whole = text_of(made_document())
    cut = bench.folder / "cut.json"
    cut.write_text(whole[:whole.index("ncclKernel")])
    done = bench.call("import", "kineto", cut, "-o", bench.folder / "cut")
    TAP.equal("a file that is cut: status", done.returncode, 3, done.stdout, done.stderr)
    where = cut.read_text().rindex("\n  {") + 3
    TAP.check("a file that is cut: where", f"byte {where}:" in done.stderr and "it is cut" in done.stderr, where, done.stderr)
    rows = events(bench, bench.folder / "cut")
    TAP.equal("a file that is cut: what was before is there", sum(r["kind"] == "device_op" for r in rows), 2)
    TAP.equal("a file that is cut: the loss is in the trace", [r["fields"]["count"] for r in rows if r["kind"] == "lost"], [1])

    quotes = bench.folder / "quotes.json"
    quotes.write_text(whole.replace("gemm<float>", 'gemm<"a" b>').replace("Memcpy HtoD", "Memcpy\x01HtoD"))
    bench.run("import", "kineto", str(quotes), "-o", str(bench.folder / "quotes"))
    names = {r["fields"]["name"] for r in events(bench, bench.folder / "quotes") if r["kind"] == "device_op"}
    TAP.check("quotes that are not escaped, and control characters", {'gemm<"a" b>', "Memcpy\x01HtoD"} <= names, names)

    broken = bench.folder / "broken.json"
    broken.write_text(whole.replace('"gemm<float>"', "<>"))
    done = bench.call("import", "kineto", broken, "-o", bench.folder / "broken")
    TAP.equal("an event that is broken: status", done.returncode, 3, done.stdout, done.stderr)
    TAP.equal("an event that is broken: the others are there",
              sum(r["kind"] == "device_op" for r in events(bench, bench.folder / "broken")), 2)

    for name, text in {"empty": b"", "text": b"hello", "binary": bytes(range(256)), "object": b"{}", "gz": b"\x1f\x8b\x08\x00"}.items():
        source = bench.folder / f"foreign-{name}.json"
        source.write_bytes(text)
        done = bench.call("import", "kineto", source, "-o", bench.folder / f"foreign-{name}")
        TAP.check(f"foreign, {name}: one line, and no run", done.returncode in (2, 3) and len(done.stderr.splitlines()) == 1 and
                  not (bench.folder / f"foreign-{name}").exists(), done)


def check_real(bench: harness.Bench, data: Path) -> None:
    files = sorted(data.glob("*.json.gz"))
    if not files:
        TAP.skip("real files", f"there is no {data}")
    for path in files:
        compare(path.name.split(".")[0], bench, path, load(path))
    small = [str(path) for path in files if path.stat().st_size < 100_000]
    if small:
        out = json.loads(bench.run("import", "kineto", *small, "-o", str(bench.folder / "ranks"), "--json"))
        TAP.check("several files at once", (bench.folder / "ranks" / "0001.wt").exists(), out)


def main() -> int:
    wheeltap, root = sys.argv[1:3]
    with harness.Scratch() as folder:
        bench = harness.Bench(wheeltap, folder)
        check_made(bench)
        check_shared_numbers(bench)
        check_damaged(bench)
        check_real(bench, Path(root).parent / "shared" / "data" / "kineto")
    return TAP.finish()


sys.exit(main())
