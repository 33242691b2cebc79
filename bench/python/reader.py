#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""All tables of a large trace in Python, against the command line's way through the same events in C.

usage: reader.py WHEELTAP BENCH_DECODE [EVENTS]      ten million events

Both decode every field; Python also keeps them. Rounds alternate, times are of the processor, and the ratio is the
median of the rounds'. Where pyarrow is installed, the same tables are written as Parquet and Feather and read back.
Then what the annotations cost when nobody records.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from statistics import median
from typing import Any, Callable

ROUNDS = 7


def cpu_ms(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return (time.process_time() - begin) * 1e3


def decoded_ms(program: str, path: str) -> float:
    done = subprocess.run([program, path], capture_output=True, text=True, check=True)
    found = re.search(r"([\d.]+) ms", done.stdout)
    assert found
    return float(found[1])


def read_all(path: str) -> None:
    import wheeltap

    run = wheeltap.open(path)
    for kind in run.kinds:
        run.table(kind)


def compare_decode(program: str, path: str) -> None:
    pairs = [(decoded_ms(program, path), cpu_ms(lambda: read_all(path))) for _ in range(ROUNDS)]
    print(f"C, a cursor over all events              {median(c for c, _ in pairs):8.0f} ms")
    print(f"Python, all tables                       {median(p for _, p in pairs):8.0f} ms")
    ratios = sorted(p / c for c, p in pairs)
    print(f"ratio, median of {ROUNDS} rounds                {median(ratios):8.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


def compare_arrow(path: str, folder: str) -> None:
    try:
        import pyarrow
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        print("Parquet and Feather are not measured: no pyarrow")
        return
    import wheeltap

    pyarrow.set_cpu_count(1)
    run = wheeltap.open(path)
    table: Any = pyarrow.table(run.table("device_op"))
    pyarrow.parquet.write_table(table, os.path.join(folder, "t.parquet"))
    pyarrow.feather.write_feather(table, os.path.join(folder, "t.feather"))
    for label, read in (("wheeltap", lambda: run.table("device_op")),
                        ("Parquet", lambda: pyarrow.parquet.read_table(os.path.join(folder, "t.parquet"), use_threads=False)),
                        ("Feather", lambda: pyarrow.feather.read_table(os.path.join(folder, "t.feather"), use_threads=False,
                                                                       memory_map=False))):
        size = sum(s.bytes for s in run.streams) if label == "wheeltap" else os.path.getsize(
            os.path.join(folder, "t." + label.lower()))
        what = "of the whole trace" if label == "wheeltap" else "of this table"
        print(f"device_op, {len(table):,} rows: {label:9} {median(cpu_ms(read) for _ in range(ROUNDS)):8.0f} ms, "
              f"{size / 1e6:.1f} MB {what}")


def idle_ns() -> None:
    import wheeltap

    rounds = 200_000
    for label, call in (("step(3)", lambda: wheeltap.step(3)), ("log(loss=0.5)", lambda: wheeltap.log(loss=0.5)),
                        ("context(fold=3)", lambda: wheeltap.context(fold=3)), ("recording()", wheeltap.recording),
                        ("with range('x')", lambda: _span(wheeltap))):
        spent = min(_loop_ns(call, rounds) - _loop_ns(_nothing, rounds) for _ in range(5))
        print(f"when nobody records: {label:18} {spent:6.0f} ns a call")


def _span(wheeltap: Any) -> None:
    with wheeltap.range("x"):
        pass


def _nothing() -> None:
    pass


def _loop_ns(call: Callable[[], object], rounds: int) -> float:
    begin = time.perf_counter_ns()
    for _ in range(rounds):
        call()
    return (time.perf_counter_ns() - begin) / rounds


def main() -> None:
    wheeltap, program = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    events = sys.argv[3] if len(sys.argv) > 3 else "10000000"
    sys.path.insert(0, os.path.join(os.path.dirname(wheeltap), "python"))
    os.environ.pop("WHEELTAP_AGENT", None)
    with tempfile.TemporaryDirectory(prefix="wheeltap-bench-") as folder:
        path = os.path.join(folder, "run")
        subprocess.run([wheeltap, "sim", "--events", events, "--seed", "1", "-o", path], check=True,
                       stdout=subprocess.DEVNULL)
        compare_decode(program, path)
        compare_arrow(path, folder)
    idle_ns()


main()
