# SPDX-License-Identifier: Apache-2.0
"""HolisticTraceAnalysis' figures, computed from rows of a Kineto file by their definitions (docs/devices.md), simply and slowly.

It shares no code with wheeltap: what the verbs print must be equal to this.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from typing import Any, Iterable

from kineto import RUNTIME, FLAGS, Row

Span = tuple[int, int]

COMMUNICATION = re.compile(r"^(nccl|rccl|hccl)|ncclKernel|ncclDevKernel")
MEMORY = re.compile(r"^(hip)?(Memcpy|Memset|dma)")
OTHER = re.compile(r"Memcpy|Memset|Sync|^Stream Wait Event")
FULL = 1024


def kind(row: Row) -> str:
    if row.cat == "cuda_sync":
        return "other"
    if row.cat in ("gpu_memcpy", "Memcpy", "gpu_memset", "Memset"):
        return "memory"
    for word, pattern in (("communication", COMMUNICATION), ("memory", MEMORY), ("other", OTHER)):
        if pattern.search(row.name):
            return word
    return "compute"


def union(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def length(spans: Iterable[Span]) -> int:
    return sum(end - start for start, end in spans)


def describe(values: list[float]) -> dict[str, float]:
    values = sorted(values)
    n = len(values)
    mean = sum(values) / n
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else 0.0

    def quantile(share: float) -> float:
        place = share * (n - 1)
        low = math.floor(place)
        high = min(low + 1, n - 1)
        return values[low] + (place - low) * (values[high] - values[low])

    return {"count": n, "mean": mean, "std": deviation, "min": values[0], "p25": quantile(0.25), "p50": quantile(0.5), "p75": quantile(0.75),
            "max": values[-1]}  # fmt: skip


def annotations(ranges: list[tuple[str, str, int]]) -> dict[tuple[str, str], dict[str, float]]:
    """User annotations by name and side."""
    lengths: dict[tuple[str, str], list[float]] = defaultdict(list)
    for name, side, ns in ranges:
        lengths[name, side].append(float(ns))
    return {key: {**describe(values), "sum_ns": sum(values)} for key, values in lengths.items()}


class Reference:
    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.gpu = [r for r in rows if r.stream >= 0]
        self.work = [r for r in self.gpu if r.is_work]
        self.calls = {r.correlation: r for r in rows if FLAGS.get(r.cat) == RUNTIME}

    def launch(self, row: Row) -> Row | None:
        return self.calls.get(row.correlation)

    def by_kind(self) -> dict[str, list[Span]]:
        return {word: union((r.start, r.end) for r in self.work if kind(r) == word) for word in ("compute", "communication", "memory")}

    def time(self) -> dict[str, int]:
        """Temporal breakdown."""
        everything = union((r.start, r.end) for r in self.gpu)
        window = everything[-1][1] - everything[0][0]
        idle = window - length(everything)
        compute = length(self.by_kind()["compute"])
        return {"window_ns": window, "idle_ns": idle, "compute_ns": compute, "non_compute_ns": window - idle - compute}

    def types(self) -> dict[str, int]:
        """Time of each combination of types, moment by moment."""
        changes = sorted((ns, word, d) for word, spans in self.by_kind().items() for span in spans for ns, d in zip(span, (1, -1)))
        running: dict[str, int] = defaultdict(int)
        sums: dict[str, int] = defaultdict(int)
        for (ns, word, d), after in zip(changes, changes[1:] + [(changes[-1][0], "", 0)]):
            running[word] += d
            name = " + ".join(w for w in ("compute", "communication", "memory") if running[w])
            if name:
                sums[name] += after[0] - ns
        return {name: ns for name, ns in sums.items() if ns}

    def overlap(self) -> float | None:
        sums = self.types()
        communication = sum(ns for name, ns in sums.items() if "communication" in name)
        both = sum(ns for name, ns in sums.items() if "communication" in name and "compute" in name)
        return 100 * both / communication if communication else None

    def streams(self, rows: list[Row]) -> dict[int, list[Row]]:
        streams: dict[int, list[Row]] = defaultdict(list)
        for row in sorted(rows, key=lambda r: (r.start, r.end, r.place)):
            streams[row.stream].append(row)
        return streams

    def gaps(self) -> dict[tuple[int, str], list[int]]:
        """Of each stream and cause the lengths."""
        found: dict[tuple[int, str], list[int]] = defaultdict(list)
        for stream, rows in self.streams(self.work).items():
            for before, row in zip(rows, rows[1:]):
                gap, call = row.start - before.end, self.launch(row)
                cause = "host wait" if call and call.start > before.end else "kernel wait" if gap < 30 else "other"
                found[stream, cause].append(gap)
        return dict(found)

    def idle(self) -> dict[tuple[int, str], int]:
        return {key: sum(values) for key, values in self.gaps().items()}

    def idle_intervals(self) -> dict[tuple[int, str], dict[str, float]]:
        return {key: describe([float(value) for value in values]) for key, values in self.gaps().items()}

    def kernels(self) -> dict[str, dict[str, float]]:
        durations: dict[str, list[float]] = defaultdict(list)
        for row in self.work:
            if kind(row) != "other":
                durations[row.name].append(row.end - row.start)
        return {name: {**describe(values), "sum": sum(values)} for name, values in durations.items()}

    def launched(self, rows: list[Row]) -> list[tuple[Row, Row]]:
        """Rows and the calls that launched them, graphs left out."""
        pairs = [(row, self.launch(row)) for row in rows]
        return [(row, call) for row, call in pairs if call and "GraphLaunch" not in call.name]

    def queue_lengths(self) -> dict[int, dict[str, float]]:
        found = {}
        for stream, rows in self.streams(self.work).items():
            changes = sorted([(call.start, 0, 1) for _, call in self.launched(rows)] + [(row.start, 1, -1) for row, _ in self.launched(rows)])
            lengths, full, now = [], 0, 0
            for i, (ns, _, change) in enumerate(changes):
                now += change
                lengths.append(float(now))
                if now >= FULL and i + 1 < len(changes):
                    full += changes[i + 1][0] - ns
            if lengths:
                found[stream] = {**describe(lengths), "full_ns": full}
        return found

    def launches(self) -> dict[str, Any]:
        pairs = self.launched(self.work)
        cpu = [call.end - call.start for _, call in pairs]
        gpu = [row.end - row.start for row, _ in pairs]
        delay = [max(0, row.start - call.end) for row, call in pairs]
        if not pairs:
            return {}
        return {"call on the host": describe([float(v) for v in cpu]), "on the device": describe([float(v) for v in gpu]),
                "delay": describe([float(v) for v in delay]), "short": sum(c <= 50000 and g < c for c, g in zip(cpu, gpu)),
                "slow_call": sum(c > 50000 for c in cpu), "late": sum(d > 100000 for d in delay)}  # fmt: skip

    def bandwidth(self) -> dict[str, dict[str, float]]:
        changes: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for row in self.work:
            if kind(row) != "memory" or not row.bytes:
                continue
            word = "Memset" if row.name.startswith("Memset") else row.name[:11] if row.name.startswith("Memcpy") else row.name
            ns = row.end - row.start or 1000
            changes[word] += [(row.start, row.bytes / ns), (row.start + ns, -row.bytes / ns)]
        found = {}
        for word, points in changes.items():
            values, now, under_way = [], 0.0, 0
            for _, change in sorted(points):
                under_way += 1 if change > 0 else -1
                now = now + change if under_way else 0.0
                if now > 0:
                    values.append(now)
            found[word] = describe(values)
        return found

    def patterns(self) -> dict[tuple[str, ...], tuple[int, int, int]]:
        """Sequences of three kernels or more under the outermost operators: count, time on the device, time on the host."""
        threads: dict[Any, list[Row]] = defaultdict(list)
        for row in self.rows:
            if row.cat in ("cpu_op", "Operator"):
                threads[row.thread].append(row)
        tops: dict[Any, list[Row]] = {}
        for thread, rows in threads.items():
            tops[thread] = []
            for row in sorted(rows, key=lambda r: (r.start, -r.end, r.place)):
                if not tops[thread] or row.start >= tops[thread][-1].end:
                    tops[thread].append(row)
        members: dict[int, list[Row]] = defaultdict(list)
        roots: dict[int, Row] = {}
        for row in self.work:
            call = self.launch(row)
            for top in reversed(tops.get(call.thread, [])) if call else []:
                if top.start <= call.start < top.end:
                    members[top.place].append(row)
                    roots[top.place] = top
                if top.start <= call.start:
                    break
        found: dict[tuple[str, ...], tuple[int, int, int]] = {}
        for place, rows in members.items():
            if len(rows) < 3:
                continue
            rows.sort(key=lambda r: r.start)
            key = (roots[place].name, *(r.name for r in rows))
            count, device, host = found.get(key, (0, 0, 0))
            found[key] = (count + 1, device + sum(r.end - r.start for r in rows), host + roots[place].end - roots[place].start)
        return found
