#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every figure of `stat --device` on files of PyTorch's profiler is that of an independent computation from the raw JSON: of a run that is
made here from the file, and of one that `import kineto` makes.

usage: test_kineto.py WHEELTAP MAKE_RUN [FILE...]

Without files: those of tests/device/data. WHEELTAP_KINETO names a folder with more of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import kineto  # noqa: E402
from harness import PATIENCE, Scratch, Tap, environment  # noqa: E402
from reference import Reference, annotations  # noqa: E402

DATA = Path(__file__).parent / "data"


def near(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b)) + 1e-9


def same(said: dict[str, Any], expected: dict[str, float], rounded: bool = False) -> bool:
    return all(abs(said[key] - value) <= 0.5 if rounded else near(said[key], value) for key, value in expected.items())


def imported(wheeltap: str, path: Path, run: Path) -> Path:
    subprocess.run([wheeltap, "import", "kineto", str(path), "-o", str(run)], check=True, capture_output=True, env=environment(), timeout=PATIENCE)
    return run


def said_of(wheeltap: str, run: Path) -> Any:
    done = subprocess.run([wheeltap, "stat", "--device", "--json", str(run)], capture_output=True, text=True, env=environment(), timeout=PATIENCE)
    return json.loads(done.stdout)


def stream_of(row: dict[str, Any]) -> int:
    return int(row["queue"].split()[-1])


def compare(tap: Tap, name: str, said: Any, ref: Reference) -> None:
    tables = said["tables"]
    (time,) = tables["time"]
    expected: Any = ref.time()
    tap.equal(f"{name}: temporal breakdown", {key: time[key] for key in expected}, expected)
    tap.equal(f"{name}: types and overlap", {row["type"]: row["time_ns"] for row in tables["types"]}, ref.types())
    overlap = ref.overlap()
    got = [row["overlap"] for row in tables["overlap"]]
    tap.check(f"{name}: communication overlap", got == [] if overlap is None else len(got) == 1 and near(got[0], overlap), got, overlap)
    tap.equal(f"{name}: idle time of streams", {(stream_of(r), r["cause"]): r["idle_ns"] for r in tables["idle"]}, ref.idle())
    expected = ref.idle_intervals()
    rows = {(stream_of(row), row["cause"]): row for row in tables["idle"]}
    tap.check(f"{name}: idle intervals", rows.keys() == expected.keys() and all(same(rows[k], expected[k], True) for k in rows), rows, expected)
    expected = ref.kernels()
    rows = {row["name"]: row for row in tables["kernels"]}
    tap.equal(f"{name}: names of kernels", sorted(rows), sorted(expected))
    wrong = [key for key, e in expected.items() if key in rows and not same(
        rows[key], {"count": e["count"], "sum_ns": e["sum"], "mean_ns": e["mean"], "std_ns": e["std"], "min_ns": e["min"], "max_ns": e["max"]}, True)]
    tap.equal(f"{name}: time of kernels", wrong, [])
    expected = ref.queue_lengths()
    rows = {stream_of(row): row for row in tables["queue_length"]}
    tap.check(f"{name}: queue length", rows.keys() == expected.keys() and all(same(rows[k], expected[k]) for k in rows), rows, expected)
    expected = ref.launches()
    rows = {row["what"]: row for row in tables["launches"]}
    (counts,) = tables["launch_counts"]
    for what in rows:
        tap.check(f"{name}: launches, {what}", same(rows[what], expected[what], True), rows[what], expected[what])
    tap.check(f"{name}: launches worth a look", same(counts, {k: v for k, v in expected.items() if not isinstance(v, dict)}), counts, expected)
    expected = ref.bandwidth()
    rows = {row["kind"]: row for row in tables["bandwidth"]}
    tap.check(f"{name}: bandwidth", rows.keys() == expected.keys() and all(same(rows[k], expected[k]) for k in rows), rows, expected)
    patterns = {(row["operator"], *row["sequence"].split(" | ")): (row["count"], row["device_ns"], row["host_ns"]) for row in tables["patterns"]}
    tap.check(f"{name}: sequences under operators", patterns == ref.patterns(), len(patterns), len(ref.patterns()))


def compare_annotations(tap: Tap, name: str, said: Any, path: Path) -> None:
    rows = {(row["name"], row["side"]): row for row in said["tables"]["annotations"]}
    expected = annotations(kineto.annotations(path))
    wrong = [key for key in rows if key in expected and not same(rows[key], expected[key], True)]
    tap.equal(f"{name}: names of user annotations", sorted(rows), sorted(expected))
    tap.equal(f"{name}: time of user annotations", wrong, [])


def check_memory(tap: Tap, wheeltap: str, folder: Path) -> None:
    """What an allocator gave out, by hand: of the device alone, with what was in use before."""
    events: list[Any] = [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {"device": 0, "stream": 7}}]
    for kind, ts, size, total in ((1, 10, 1000, 5000), (0, 11, 9999, 9999), (1, 12, 500, 5500), (1, 13, -1000, 4500), (1, 14, -500, 4000),
                                  (0, 15, -9999, 0)):  # fmt: skip
        events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts,
                       "args": {"Device Type": kind, "Device Id": 0 if kind else -1, "Addr": 64, "Bytes": size, "Total Allocated": total}})  # fmt: skip
    path = folder / "memory.json"
    path.write_text(json.dumps({"traceEvents": events}))
    (row,) = said_of(wheeltap, imported(wheeltap, path, folder / "memory"))["tables"]["memory"]
    tap.equal("memory that an allocator gave out", [row[key] for key in ("allocations", "allocated_bytes", "frees", "peak_bytes", "end_bytes")],
              [2, 1500, 2, 5500, 4000])  # fmt: skip


# Length of the critical path of the first step, which is all there is, as HolisticTraceAnalysis 0.5.0 gives it.
PATHS = {"critical_path_cuda_event_sync_event_sync_trace": 2401000, "amd_trace_mi250_minitoy_train_ROCm6_2_kineto": 7452353}


def check_path(tap: Tap, wheeltap: str, name: str, run: Path) -> None:
    done = subprocess.run([wheeltap, "stat", "--device", "--what-if", "*=1", "--json", str(run)], capture_output=True, text=True, env=environment(),
                          timeout=PATIENCE)  # fmt: skip
    said = json.loads(done.stdout)
    tap.equal(f"{name}: critical path", said["critical_path_ns"], PATHS[name])
    tap.equal(f"{name}: its parts are the whole", sum(row["time_ns"] for row in said["tables"]["critical_path"]), PATHS[name])
    tap.equal(f"{name}: nothing faster changes nothing", said["what_if_ns"], said["what_if_before_ns"])


def main() -> int:
    wheeltap, make_run, *files = sys.argv[1:]
    paths = [Path(f) for f in files] or sorted(DATA.glob("*.json.gz"))
    more = os.environ.get("WHEELTAP_KINETO")
    if more and not files:
        paths += sorted(p for p in Path(more).glob("*.json.gz") if p.name not in {q.name for q in paths})
    tap = Tap()
    with Scratch() as folder:
        check_memory(tap, wheeltap, Path(str(folder)))
        for path in paths:
            rows = kineto.read(path)
            run = Path(str(folder)) / (path.name + ".wt")
            text = "\n".join(kineto.lines(rows)) + "\n"
            subprocess.run([make_run, str(run)], input=text, text=True, check=True, timeout=PATIENCE)
            if path.name.split(".")[0] in PATHS:
                check_path(tap, wheeltap, path.name.split(".")[0], run)
            reference = Reference(kineto.read(path))
            compare(tap, path.name.split(".")[0], said_of(wheeltap, run), reference)
            run = imported(wheeltap, path, Path(str(folder)) / (path.name + ".imported"))
            if path.name.split(".")[0] in PATHS:
                check_path(tap, wheeltap, path.name.split(".")[0], run)
            said = said_of(wheeltap, run)
            compare(tap, f"{path.name.split('.')[0]}, imported", said, reference)
            compare_annotations(tap, path.name.split(".")[0], said, path)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
