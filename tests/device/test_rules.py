#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Rules about devices: each reports a run that has the fault and not its twin, which does the same work without; and dependencies by memory.

usage: test_rules.py WHEELTAP MAKE_RUN
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Scratch, Tap, environment  # noqa: E402

RUNTIME = 1
US = 1000


class Run:
    """Lines of make_run for one process: a host thread (track 1) and queues (tracks 2, 3 ...)."""

    def __init__(self, rank: int = -1, queues: int = 1) -> None:
        self.head = ["track\t1\tthread\t0\tmain"] + [f"track\t{q + 2}\tqueue\t0\tstream {q}" for q in range(queues)]
        self.body: list[tuple[int, int, str]] = []
        self.number = 0
        if rank >= 0:
            self.put(1, 0, f"rank\t1\t0\t{rank}\t2")

    def put(self, track: int, ns: int, line: str) -> None:
        self.body.append((ns, len(self.body), line))

    def step(self, ns: int, step: int) -> None:
        self.put(1, ns, f"step\t1\t{ns}\t{step}")

    def call(self, ns: int, end: int, name: str) -> None:
        self.put(1, ns, f"begin\t1\t{ns}\t{RUNTIME}\t{name}")
        self.put(1, end, f"end\t1\t{end}\t{name}")

    def launch(self, ns: int, call_ns: int, start: int, end: int, op: str = "kernel", name: str = "gemm", queue: int = 0, call: str = "cudaLaunchKernel",
               size: int = 0) -> int:  # fmt: skip
        self.number += 1
        self.put(1, ns, f"begin\t1\t{ns}\t{RUNTIME}\t{call}")
        self.put(1, ns, f"edge\t1\t{ns}\tlaunch\t{self.number}\t{self.number}")
        self.put(1, ns + call_ns, f"end\t1\t{ns + call_ns}\t{call}")
        self.put(queue + 2, end, f"op\t{queue + 2}\t{end}\t{op}\t{name}\t0\t{self.number}\t{start}\t{end}\t{size}")
        return self.number

    def lines(self) -> str:
        return "\n".join(self.head + [line for _, _, line in sorted(self.body)]) + "\n"


def transfers(bad: bool) -> list[Run]:
    run = Run(queues=2)
    for i in range(60):
        at = i * 200 * US
        run.launch(at, 2 * US, at + 3 * US, at + 103 * US)
        start = at + (110 * US if bad else 10 * US)
        run.launch(at + 3 * US, 2 * US, start, start + 80 * US, "copy", "Memcpy HtoD (Pinned -> Device)", 1, "cudaMemcpyAsync", 1 << 20)
    return [run]


def launch_bound(bad: bool) -> list[Run]:
    run = Run()
    for i in range(100):
        at = i * 20 * US
        run.launch(at, 10 * US, at + 11 * US, at + (14 if bad else 30) * US)
    return [run]


def waits(bad: bool) -> list[Run]:
    run = Run()
    for i in range(30):
        at = i * 300 * US
        run.launch(at, 2 * US, at + 3 * US, at + 203 * US)
        run.launch(at + 3 * US, 250 * US if bad else 2 * US, at + 204 * US, at + 214 * US, "copy", "Memcpy DtoH (Device -> Pageable)", 0,
                   "cudaMemcpyAsync", 4)  # fmt: skip
    return [run]


def steps(bad: bool) -> list[Run]:
    run = Run()
    for step in range(6):
        at = step * (1500 if bad else 1010) * US
        run.step(at, step)
        for i in range(10):
            run.launch(at + i * 5 * US, 3 * US, at + i * 100 * US + 4 * US, at + (i + 1) * 100 * US)
    return [run]


def serialised(bad: bool) -> list[Run]:
    run = Run(queues=2)
    for i in range(60):
        at = i * 200 * US
        run.launch(at, 2 * US, at + 5 * US, at + 85 * US)
        start = at + (90 if bad else 20) * US
        run.launch(at + 2 * US, 2 * US, start, start + 80 * US, queue=1)
    return [run]


def straggler(bad: bool) -> list[Run]:
    runs = [Run(rank) for rank in range(2)]
    for step in range(8):
        for rank, run in enumerate(runs):
            at = step * 1000 * US
            late = 300 if bad and rank == 1 else 10 if (step + rank) % 2 else 0
            run.step(at, step)
            run.launch(at, 2 * US, at + 3 * US, at + (400 + late) * US)
            run.launch(at + 5 * US, 2 * US, at + (401 + late) * US, at + 900 * US, "collective", "ncclDevKernel_AllReduce")
    return runs


def churn(bad: bool) -> list[Run]:
    run = Run()
    for i in range(80):
        at = i * 100 * US
        run.launch(at, 3 * US, at + 4 * US, at + 60 * US)
        if bad or i == 0:
            run.call(at + 5 * US, at + 15 * US, "cudaMalloc")
            run.call(at + 16 * US, at + 26 * US, "cudaFree")
    return [run]


RULES = {"WT-DEV-001": transfers, "WT-DEV-002": launch_bound, "WT-DEV-003": waits, "WT-DEV-004": steps, "WT-DEV-005": serialised,
         "WT-DEV-006": straggler, "WT-DEV-007": churn}  # fmt: skip


class Bench:
    def __init__(self, wheeltap: str, make_run: str, folder: Path) -> None:
        self.wheeltap, self.make_run, self.folder = wheeltap, make_run, folder

    def make(self, name: str, runs: list[Run]) -> Path:
        folder = self.folder / name
        folder.mkdir()
        for i, run in enumerate(runs):
            subprocess.run([self.make_run, str(folder / f"{i}.wt")], input=run.lines(), text=True, check=True, timeout=PATIENCE)
        return folder

    def ask(self, *words: str) -> Any:
        done = subprocess.run([self.wheeltap, *words], capture_output=True, text=True, env=environment(), timeout=PATIENCE)
        return json.loads(done.stdout)


def check_twins(tap: Tap, bench: Bench) -> None:
    for code, make in RULES.items():
        for bad in (True, False):
            name = f"{make.__name__}-{'bad' if bad else 'good'}"
            said = bench.ask("doctor", "--no-builtin", "--json", str(bench.make(name, make(bad))))
            found = [f["id"] if "id" in f else f["code"] for f in said["findings"]]
            rows = {row["code"]: row["outcome"] for row in said["tables"]["rules"]}
            tap.equal(f"{code} {'reports' if bad else 'passes'} {name}", [c for c in found if c.startswith("WT-DEV")], [code] if bad else [],
                      rows.get(code))  # fmt: skip
            tap.equal(f"{code} has a case in {name}", rows[code], "violated" if bad else "held")


def check_not_measured(tap: Tap, bench: Bench) -> None:
    run = Run()
    run.call(0, 10, "cudaGetDevice")
    said = bench.ask("doctor", "--no-builtin", "--json", str(bench.make("nothing", [run])))
    outcomes = {row["outcome"] for row in said["tables"]["rules"] if row["code"].startswith("WT-DEV")}
    tap.equal("without device work nothing is measured", outcomes, {"not measured"})


def check_memory(tap: Tap, bench: Bench) -> None:
    """Write, read, write of parts of a buffer, by three queues."""
    run = Run(queues=3)
    touched = [(0, "write", 0, 100), (1, "read", 50, 50), (2, "write", 80, 40), (0, "read", 0, 10), (1, "write", 0, 200)]
    for i, (queue, mode, offset, size) in enumerate(touched):
        at = i * 100
        number = run.launch(at, 10, at + 20, at + 90, name=f"k{i}", queue=queue)
        run.put(1, at, f"access\t1\t{at}\t{mode}\t{number}\t7\t{offset}\t{size}")
    folder = bench.make("memory", [run])
    said = bench.ask("stat", "--device", "--dependencies", "--json", str(folder))
    edges = sorted((row["from"], row["to"], row["reason"]) for row in said["tables"]["edges"] if row["reason"] != "same queue")
    expected = [("k0", "k1", "read after write"), ("k0", "k2", "write after write"), ("k0", "k3", "read after write"), ("k0", "k4", "write after write"),
                ("k1", "k2", "write after read"), ("k1", "k4", "write after read"), ("k2", "k4", "write after write"),
                ("k3", "k4", "write after read")]  # fmt: skip
    tap.equal("dependencies by memory", edges, expected)
    dot = subprocess.run([bench.wheeltap, "stat", "--device", "--dot", str(folder)], capture_output=True, text=True, env=environment(), timeout=PATIENCE).stdout
    tap.check("the graph of Graphviz has all of them", dot.startswith("digraph") and dot.count(" -> ") == len(said["tables"]["edges"]), dot)


def check_gaps(tap: Tap, bench: Bench) -> None:
    """Of the largest gap: the line that launched what came after it, the operator, the step, and what the host did meanwhile."""
    run = Run()
    run.step(0, 3)
    run.launch(0, 100, 200, 1000, name="first")
    run.put(1, 1200, "begin\t1\t1200\t0\tload_batch")
    run.put(1, 5000, "syscall\t1\t5000\t0\t3000")
    run.put(1, 6000, "syscall\t1\t6000\t1\t500")
    run.put(1, 8000, "end\t1\t8000\tload_batch")
    run.step(8100, 4)
    run.put(1, 8200, "call\t1\t8200\tmodel.forward\ttrain.py\t41")
    run.launch(8300, 100, 9000, 9500, name="second")
    run.put(1, 8600, "return\t1\t8600\tmodel.forward")
    run.launch(8700, 100, 9600, 9700, name="third")
    said = bench.ask("stat", "--device", "--json", str(bench.make("gaps", [run])))
    gap = said["tables"]["gaps"][0]
    expected = {"gap_ns": 8000, "step": 4, "host": "load_batch", "syscall": "read", "after": "second", "operator": "model.forward", "where": "train.py:41", "before": "first"}
    tap.equal("the largest gap through all layers", {key: gap[key] for key in expected}, expected)
    run.put(1, 7000, "syscall\t1\t7000\t1023\t6500")
    said = bench.ask("stat", "--device", "--json", str(bench.make("unnamed", [run])))
    tap.equal("a system call without a name", said["tables"]["gaps"][0]["syscall"], "syscall_0x3ff")
    text = subprocess.run([bench.wheeltap, "stat", "--device", "--what-if", "second", str(bench.folder / "gaps")], capture_output=True, text=True,
                          env=environment(), timeout=PATIENCE)  # fmt: skip
    tap.check("a what-if without a share is an error", text.returncode != 0 and "is no what-if" in text.stderr, text.stderr)


def check_many_queues(tap: Tap, bench: Bench) -> None:
    """A call that waits for 600 queues, of which one takes long. By hand: 500 calls of 1 us, then from the 501st to the end of its kernel, then 30 us."""
    run = Run(queues=600)
    kernels = [run.launch(2 * i * US, US, (2 * i + 1) * US, (9000 if i == 500 else 2 * i + 3000) * US, name=f"k{i}", queue=i) for i in range(600)]
    wait = run.launch(1300 * US, 7710 * US, 1300 * US, 9010 * US, "sync", "Context Sync", call="cudaDeviceSynchronize")
    for kernel in kernels:
        run.put(1, 9010 * US, f"edge\t1\t{9010 * US}\tsync\t{kernel}\t{wait}")
    run.call(9020 * US, 9050 * US, "cudaFree")
    said = bench.ask("stat", "--device", "--critical-path", "--json", str(bench.make("wide", [run])))
    names = {row["name"] for row in said["tables"]["critical_names"]}
    tap.check("a wait for 600 queues", said["critical_path_ns"] == (500 + 9000 - 1000 + 30) * US and {"k500", "cudaFree"} <= names, said["critical_path_ns"], names)


def check_graph(tap: Tap, bench: Bench) -> None:
    """Kernels of a CUDA graph, as PyTorch's profiler writes them: all have the correlation of the call. The longest way is by hand: the call
    at 0, the first kernel of stream 8 from 30 to 200, a second of it to 260, and the wait that ends at 270."""
    def event(cat: str, name: str, ts: int, dur: int, **args: int) -> dict[str, Any]:
        return {"ph": "X", "cat": cat, "name": name, "pid": args.get("device", 1), "tid": args.get("stream", 1), "ts": ts, "dur": dur, "args": args}

    events = [event("cuda_runtime", "cudaGraphLaunch", 0, 10, correlation=5), event("kernel", "a", 20, 30, device=0, stream=7, correlation=5),
              event("kernel", "b", 30, 170, device=0, stream=8, correlation=5), event("kernel", "c", 55, 5, device=0, stream=7, correlation=5),
              event("kernel", "d", 200, 60, device=0, stream=8, correlation=5),
              event("cuda_runtime", "cudaDeviceSynchronize", 20, 250, correlation=6),
              event("cuda_sync", "Context Sync", 20, 250, device=0, stream=-1, correlation=6), event("cpu_op", "after", 270, 30)]
    path = bench.folder / "graph.json"
    path.write_text(json.dumps({"traceEvents": events}))
    subprocess.run([bench.wheeltap, "import", "kineto", str(path), "-o", str(bench.folder / "graph")], check=True, capture_output=True,
                   env=environment(), timeout=PATIENCE)  # fmt: skip
    said = bench.ask("stat", "--device", "--critical-path", "--json", str(bench.folder / "graph"))
    names = {row["name"]: row["time_ns"] for row in said["tables"]["critical_names"]}
    tap.check("kernels of a graph are on the critical path", said["critical_path_ns"] == 290 * US and {"b", "d"} <= {*names}, said["critical_path_ns"], names)
    tap.check("and others beside them are not", not {"a", "c"} & {*names}, names)


def check_diff(tap: Tap, bench: Bench) -> None:
    runs = []
    for extra in (0, 1):
        run = Run()
        for i in range(4 + extra):
            run.launch(i * 100, 10, i * 100 + 20, i * 100 + 60 + 10 * extra, name="gemm" if i < 4 else "copy_new")
        runs.append(str(bench.make(f"diff{extra}", [run])))
    said = bench.ask("diff", "--device", "--json", *runs)
    rows = {(row["on"], row["name"]): (row["change"], row["count_a"], row["count_b"], row["time_a_ns"], row["time_b_ns"]) for row in said["tables"]["device"]}
    tap.equal("what devices did differently", rows, {("device", "gemm"): ("same", 4, 4, 160, 200), ("device", "copy_new"): ("added", 0, 1, 0, 50),
                                                      ("host", "cudaLaunchKernel"): ("more", 4, 5, 40, 50)})  # fmt: skip
    codes = [subprocess.run([bench.wheeltap, "diff", "--device", runs[0], other], capture_output=True, env=environment(), timeout=PATIENCE).returncode
             for other in (runs[1], runs[0])]  # fmt: skip
    tap.equal("its exit codes", codes, [1, 0])


def check_overlap(tap: Tap, bench: Bench) -> None:
    """Operations that overlap count once, in each type and in all."""
    run = Run(queues=3)
    run.launch(0, 10, 100, 300)
    run.launch(20, 10, 150, 250, queue=1)
    run.launch(40, 10, 240, 400, queue=1)
    run.launch(60, 10, 350, 500, "collective", "all_reduce", 2)
    run.launch(80, 10, 600, 700)
    tables = bench.ask("stat", "--device", "--json", str(bench.make("overlap", [run])))["tables"]
    time = {key: tables["time"][0][key] for key in ("window_ns", "idle_ns", "compute_ns", "non_compute_ns")}
    tap.equal("overlapping time counts once", time, {"window_ns": 600, "idle_ns": 100, "compute_ns": 400, "non_compute_ns": 100})
    tap.equal("types at once", {row["type"]: row["time_ns"] for row in tables["types"]},
              {"compute": 350, "compute + communication": 50, "communication": 100})  # fmt: skip
    tap.check("hidden communication", abs(tables["overlap"][0]["overlap"] - 100 / 3) < 1e-9, tables["overlap"])


def main() -> int:
    wheeltap, make_run = sys.argv[1:]
    tap = Tap()
    with Scratch() as folder:
        bench = Bench(wheeltap, make_run, folder)
        check_twins(tap, bench)
        check_not_measured(tap, bench)
        check_memory(tap, bench)
        check_gaps(tap, bench)
        check_graph(tap, bench)
        check_many_queues(tap, bench)
        check_diff(tap, bench)
        check_overlap(tap, bench)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
