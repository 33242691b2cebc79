#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of `stat --device` beside those of HolisticTraceAnalysis itself.

usage: peer_hta.py WHEELTAP FILE...

To be run by an interpreter that has HolisticTraceAnalysis 0.5.0 (PyPI; it needs pandas below 3); exits with 77 without it. Files are those of
PyTorch's profiler. HTA leaves out operations that were not launched before the end of the last ProfilerStep, where there are several of these: so
does the copy of the file that is imported. Each other difference is printed with its reason (docs/devices.md); one without a reason fails.
"""

from __future__ import annotations

import gzip
import json
import logging
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
try:
    from hta.trace_analysis import TraceAnalysis
except ImportError:
    print("1..0 # SKIP HolisticTraceAnalysis is not installed in this interpreter: pip install HolisticTraceAnalysis 'pandas<3'")
    sys.exit(77)
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import kineto  # noqa: E402
from harness import Tap  # noqa: E402

DEVICE = {*kineto.DEVICE, "gpu_user_annotation"}
KERNEL_DELAY_US = 0.03  # HTA compares its 30 ns with microseconds
DESCRIBED = (("count", "count"), ("mean", "mean"), ("std", "std"), ("min", "min"), ("25%", "p25"), ("50%", "p50"), ("75%", "p75"), ("max", "max"))


def near(a: float, b: float, share: float = 1e-6) -> bool:
    return abs(a - b) <= share * max(abs(a), abs(b), 1.0)


def pieces(text: str) -> tuple[str, list[str], str]:
    """What is around the events, and each event as it is written."""
    begin = text.index("[", text.index('"traceEvents"')) + 1
    at, found, decoder = begin, [], json.JSONDecoder(strict=False)
    while True:
        while text[at] in " \n\r\t,":
            at += 1
        if text[at] == "]":
            return text[:begin], found, text[at:]
        _, end = decoder.raw_decode(text, at)
        found.append(text[at:end])
        at = end


def as_hta_keeps(path: Path, out: Path) -> int:
    """A copy without the operations that HTA leaves out. How many it left out."""
    head, events, tail = pieces(gzip.open(path, "rt").read())
    rows = [json.loads(event, strict=False) for event in events]
    steps = [row for row in rows if "ProfilerStep" in str(row.get("name")) and row.get("cat") not in DEVICE and row.get("ph") == "X"]
    kept = events
    if len({row["name"] for row in steps}) > 1:
        last = max(float(row["ts"]) + float(row["dur"]) for row in steps)
        launched = {row["args"]["correlation"] for row in rows if row.get("cat") not in DEVICE and "correlation" in (row.get("args") or {})
                    and float(row.get("ts", 0)) <= last}  # fmt: skip
        kept = [event for event, row in zip(events, rows) if row.get("cat") not in DEVICE or row.get("args", {}).get("correlation") in launched]
    out.write_text(head + ",\n".join(kept) + tail)
    return len(events) - len(kept)


class Peer:
    """One file, by both."""

    def __init__(self, tap: Tap, wheeltap: str, path: Path, folder: Path) -> None:
        self.tap, self.name, self.path = tap, path.name.split(".")[0], path
        copy, run = folder / "kept.json", folder / "run"
        self.left_out = as_hta_keeps(path, copy)
        subprocess.run([wheeltap, "import", "kineto", str(copy), "-o", str(run)], check=True, capture_output=True)
        self.run, self.wheeltap = run, wheeltap
        self.ours = self.ask()["tables"]
        self.rows = kineto.read(copy)
        self.hta = TraceAnalysis(trace_files={0: str(path)}, trace_dir=str(folder), include_last_profiler_step=True)
        self.whole_us = all("." not in str(row.get("ts", "")) for row in map(json.loads, pieces(copy.read_text())[1][:200]))

    def ask(self, *options: str) -> Any:
        done = subprocess.run([self.wheeltap, "stat", "--device", "--json", *options, str(self.run)], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def same(self, what: str, pairs: "list[tuple[Any, float, float]]", share: float = 1e-6, reason: str = "") -> None:
        wrong = [pair for pair in pairs if not near(pair[1], pair[2], share)]
        if wrong and reason:
            print(f"# {self.name}: {what}: {len(wrong)} of {len(pairs)} differ: {reason}: {wrong[0]}")
        self.tap.check(f"{self.name}: {what}", not wrong or bool(reason), wrong[:3])

    def temporal(self) -> None:
        theirs, ours = self.hta.get_temporal_breakdown(visualize=False).iloc[0], self.ours["time"][0]
        pairs = [(key, float(theirs[f"{other}(us)"]), ours[f"{key}_ns"] / 1000)
                 for key, other in (("window", "kernel_time"), ("idle", "idle_time"), ("compute", "compute_time"), ("non_compute", "non_compute_time"))]
        self.same("temporal breakdown", pairs, 1e-4)  # its times are floating-point microseconds since 1970

    def overlap(self) -> None:
        theirs = float(self.hta.get_comm_comp_overlap(visualize=False).iloc[0]["comp_comm_overlap_pctg"])
        ours = [row["overlap"] for row in self.ours["overlap"]]
        if theirs != theirs:
            self.tap.equal(f"{self.name}: overlap, without communication", ours, [])
        else:
            self.same("overlap", [("percent", theirs, round(ours[0], 2))])

    def kernels(self) -> None:
        _, theirs = self.hta.get_gpu_kernel_breakdown(visualize=False, num_kernels=1 << 20, duration_ratio=1.0, include_memory_kernels=True)
        ours = {row["name"]: row for row in self.ours["kernels"]}
        records = theirs.to_dict("records")
        self.tap.equal(f"{self.name}: names of kernels", sorted(row["name"] for row in records), sorted(ours))
        self.same("time of kernels", [((row["name"][:40], key), row[f"{key} (us)"], ours[row["name"]][f"{key}_ns"] / 1000)
                                      for row in records if row["name"] in ours for key in ("sum", "max", "min", "mean")], 1e-3)  # fmt: skip

    def types(self) -> None:
        """Its figures are cut to whole microseconds, interval by interval."""
        theirs, _ = self.hta.get_gpu_kernel_breakdown(visualize=False, num_kernels=1 << 20, duration_ratio=1.0, include_memory_kernels=True)
        words = {"COMPUTATION": "compute", "COMMUNICATION": "communication", "MEMORY": "memory"}
        found = {" + ".join(words[w] for w in row["kernel_type"].split(" overlapping ")): float(row["sum"]) for row in theirs.to_dict("records")}
        ours = {row["type"]: row["time_ns"] / 1000 for row in self.ours["types"]}
        self.same("types", [(key, found.get(key, 0.0), ours.get(key, 0.0)) for key in {*found, *ours}],
                  reason="" if self.whole_us else "HTA cuts each interval to whole microseconds")

    def idle_of_floats(self) -> dict[Any, float]:
        """By the same definition, of times as HTA has them: doubles of microseconds since 1970."""
        events = [event for event in map(json.loads, pieces((self.run.parent / "kept.json").read_text())[1]) if event.get("ph") == "X"]
        first = min(float(event["ts"]) for event in events)
        calls = {event["args"]["correlation"]: float(event["ts"]) - first for event in events if event.get("cat") in ("cuda_runtime", "cuda_driver")}
        work = [event for event in events if kineto.DEVICE.get(event.get("cat", ""), "sync") != "sync"]
        sums: dict[Any, float] = {}
        last: dict[int, float] = {}
        for event in sorted(work, key=lambda event: float(event["ts"])):
            stream, start, call = event["args"]["stream"], float(event["ts"]) - first, calls.get(event["args"]["correlation"])
            if stream in last:
                cause = "host wait" if call and call > last[stream] else "kernel wait" if start - last[stream] < KERNEL_DELAY_US else "other"
                sums[stream, cause] = sums.get((stream, cause), 0.0) + start - last[stream]
            last[stream] = start + float(event["dur"])
        return sums

    def idle(self) -> None:
        table, _ = self.hta.get_idle_time_breakdown(visualize=False, consecutive_kernel_delay=KERNEL_DELAY_US)
        theirs = {(int(row["stream"]), str(row["idle_category"]).replace("_", " ")): float(row["idle_time"]) for row in table.to_dict("records")}
        ours = {(int(row["queue"].split()[-1]), row["cause"]): row["idle_ns"] / 1000 for row in self.ours["idle"]}
        keys = {*theirs, *ours}
        sums = [{stream: sum(v for k, v in side.items() if k[0] == stream) for stream, _ in keys} for side in (theirs, ours)]
        self.same("idle time of streams", [(stream, ns, sums[1][stream]) for stream, ns in sums[0].items()], 1e-4)
        if not self.whole_us:  # the only difference: its times are doubles of microseconds since 1970, 0.25 us apart
            ours = self.idle_of_floats()
        self.same("why they were idle", [(key, theirs.get(key, 0.0), ours.get(key, 0.0)) for key in keys], 1e-4)

    def idle_intervals(self) -> None:
        _, stats = self.hta.get_idle_time_breakdown(visualize=False, consecutive_kernel_delay=KERNEL_DELAY_US, show_idle_interval_stats=True)
        ours = {(int(row["queue"].split()[-1]), row["cause"]): row for row in self.ours["idle"]}
        pairs = []
        for index, row in stats.reset_index().iterrows():
            key = (int(row["stream"]), str(row["idle_category"]).replace("_", " "))
            pairs += [((key, of), float(row[of]), float(ours[key][other]) / (1 if of == "count" else 1000)) for of, other in DESCRIBED
                      if key in ours and row[of] == row[of]]  # fmt: skip
        self.same("idle intervals", pairs, 1e-4, reason="" if self.whole_us else "HTA's times are doubles of microseconds since 1970, 0.25 us apart")

    def annotations(self) -> None:
        """Of the whole file: HTA leaves none of them out."""
        whole = self.run.parent / "whole"
        subprocess.run([self.wheeltap, "import", "kineto", str(self.path), "-o", str(whole)], check=True, capture_output=True)
        rows = json.loads(subprocess.run([self.wheeltap, "stat", "--device", "--json", str(whole)], capture_output=True, check=True).stdout)["tables"]["annotations"]
        for side, on_device in (("host", False), ("device", True)):
            theirs = self.hta.get_gpu_user_annotation_breakdown(use_gpu_annotation=on_device, visualize=False, duration_ratio=1.0, num_kernels=1 << 20)
            ours = {row["name"]: row for row in rows if row["side"] == side}
            records = [] if theirs is None else theirs.to_dict("records")
            self.tap.equal(f"{self.name}: names of annotations, {side}", sorted(row["name"] for row in records), sorted(ours))
            self.same(f"time of annotations, {side}", [((row["name"], key), row[f"{key} (us)"], ours[row["name"]][other] / 1000) for row in records
                      if row["name"] in ours for key, other in (("sum", "sum_ns"), ("max", "max"), ("min", "min"), ("mean", "mean"))], 1e-3)  # fmt: skip

    def queue_length(self) -> None:
        ours = {int(row["queue"].split()[-1]): row for row in self.ours["queue_length"]}
        theirs = self.hta.get_queue_length_summary()
        pairs, exact = [], []
        for index, row in theirs.iterrows():
            stream = int(index[1])
            values = {key[-1]: float(value) for key, value in row.items()}
            exact += [((stream, key), values[key], float(ours[stream][other])) for key, other in DESCRIBED if key in ("count", "min", "max")]
            pairs += [((stream, key), values[key], float(ours[stream][other])) for key, other in DESCRIBED]
        self.same("queue length: count and extremes", exact)
        self.same("queue length", pairs, reason="where a launch and a start have the same time, HTA's order is that of pandas' sort" if self.whole_us else "")

    def launches(self) -> None:
        theirs = self.hta.get_cuda_kernel_launch_stats(visualize=False)[0]
        ours = {row["what"]: row for row in self.ours["launches"]}
        if not len(theirs):
            print(f"# {self.name}: launches: HTA 0.5.0 does not know launches of HIP")
            return
        pairs: list[tuple[Any, float, float]] = [("count", float(len(theirs)), float(ours["delay"]["count"]))]
        pairs += [(what, float(theirs[column].mean()), ours[what]["mean"] / 1000)
                  for column, what in (("cpu_duration", "call on the host"), ("gpu_duration", "on the device"), ("launch_delay", "delay"))]
        self.same("launches", pairs, 1e-4)

    def bandwidth(self) -> None:
        ours = {row["kind"]: row for row in self.ours["bandwidth"]}
        pairs = []
        for index, row in self.hta.get_memory_bw_summary().iterrows():
            values = {key[-1]: float(value) for key, value in row.items()}
            pairs += [((index[1], key), values[key], float(ours[index[1]][other])) for key, other in DESCRIBED if values[key] == values[key]]
        self.same("bandwidth", pairs, 1e-4, reason="the profiler's own value is of times with nanoseconds, which the file does not have" if self.whole_us else "")

    def critical_path(self) -> None:
        if sum("ProfilerStep" in row.name for row in self.rows) != 1:
            return  # HTA's is that of a step, ours of the run
        graph, found = self.hta.critical_path_analysis(rank=0, annotation="ProfilerStep", instance_id=0)
        theirs = float(graph.get_critical_path_breakdown()["duration"].sum()) if found else 0.0
        self.same("critical path", [("length", theirs, self.ask("--critical-path")["critical_path_ns"] / 1000)])


def main() -> int:
    wheeltap, *files = sys.argv[1:]
    tap = Tap()
    for path in map(Path, files):
        with tempfile.TemporaryDirectory() as folder:
            peer = Peer(tap, wheeltap, path, Path(folder))
            print(f"# {peer.name}: {peer.left_out} operations are left out, as by HTA")
            for question in (peer.temporal, peer.overlap, peer.kernels, peer.types, peer.idle, peer.idle_intervals, peer.annotations, peer.queue_length, peer.launches, peer.bandwidth,
                             peer.critical_path):  # fmt: skip
                question()
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
