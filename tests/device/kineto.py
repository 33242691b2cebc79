# SPDX-License-Identifier: Apache-2.0
"""A file of PyTorch's profiler as rows, with exact times, and as the lines of make_run.

Written from the format of the files alone; shares nothing with the importer.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

RUNTIME, OPERATOR, ANNOTATION, PYTHON = 1, 2, 4, 8
FLAGS = {"cuda_runtime": RUNTIME, "cuda_driver": RUNTIME, "Runtime": RUNTIME, "cpu_op": OPERATOR, "Operator": OPERATOR,
         "user_annotation": ANNOTATION, "python_function": PYTHON}  # fmt: skip
DEVICE = {"kernel": "kernel", "Kernel": "kernel", "gpu_memcpy": "copy", "Memcpy": "copy", "gpu_memset": "fill", "Memset": "fill",
          "cuda_sync": "sync"}  # fmt: skip


@dataclass
class Row:
    cat: str
    name: str
    start: int  # ns after the first row
    end: int
    thread: tuple[Any, Any]  # (pid, tid)
    device: int
    stream: int  # -1: of the host
    correlation: int
    bytes: int
    place: int
    args: dict[str, Any]

    @property
    def is_work(self) -> bool:
        return self.cat in DEVICE and DEVICE[self.cat] != "sync"


def integer(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        return -1


def read(path: Path) -> list[Row]:
    """Rows of operators, calls, annotations and device work, in the order of the file. Times are decimal: no nanosecond is rounded."""
    text = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    events = json.loads(text, parse_float=Decimal, strict=False)["traceEvents"]
    wanted = [e for e in events if e.get("ph") == "X" and e.get("cat") in {*FLAGS, *DEVICE}]
    first = min(Decimal(e["ts"]) for e in wanted)
    rows = []
    for place, event in enumerate(wanted):
        args = event.get("args") or {}
        start = int((Decimal(event["ts"]) - first) * 1000)
        is_device = event["cat"] in DEVICE
        rows.append(Row(event["cat"], event["name"], start, start + int(Decimal(event.get("dur", 0)) * 1000), (event["pid"], event["tid"]),
                        integer(args.get("device", event["pid"])) if is_device else -1,
                        integer(args.get("stream", -1)) if is_device else -1, integer(args.get("correlation", 0)),
                        max(integer(args.get("bytes", 0)), 0), place, args))  # fmt: skip
    return rows


def annotations(path: Path) -> list[tuple[str, str, int]]:
    """Ranges of the user: name, "host" or "device", length in ns."""
    text = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    sides = {"user_annotation": "host", "gpu_user_annotation": "device"}
    events = json.loads(text, parse_float=Decimal, strict=False)["traceEvents"]
    return [(e["name"], sides[e["cat"]], int(Decimal(e.get("dur", 0)) * 1000)) for e in events if e.get("ph") == "X" and e.get("cat") in sides]


def host_events(rows: list[Row], launches: dict[int, list[int]]) -> list[tuple[int, str]]:
    """Begins and ends of one thread, nested: what overlaps its parent's end is cut there."""
    out: list[tuple[int, str]] = []
    stack: list[Row] = []

    def close(until: int) -> None:
        while stack and stack[-1].end <= until:
            row = stack.pop()
            out.append((row.end, f"end\t{{track}}\t{row.end}\t{row.name}"))

    for row in sorted(rows, key=lambda r: (r.start, -r.end, r.place)):
        close(row.start)
        row.end = min(row.end, stack[-1].end) if stack else row.end
        out.append((row.start, f"begin\t{{track}}\t{row.start}\t{FLAGS[row.cat]}\t{row.name}"))
        if FLAGS[row.cat] == RUNTIME:
            out += [(row.start, f"edge\t{{track}}\t{row.start}\tlaunch\t{id_}\t{id_}") for id_ in launches.get(row.correlation, [])]
        if row.end > row.start:
            stack.append(row)
        else:
            out.append((row.end, f"end\t{{track}}\t{row.end}\t{row.name}"))
    close(1 << 62)
    return out


def waited_for(rows: list[Row], device_rows: list[Row], sync: Row) -> int:
    """Of a wait for an event: the number of the last operation that was launched before the event was recorded, on its stream."""
    record = sync.args.get("wait_on_cuda_event_record_corr_id", -1)
    stream = sync.args.get("wait_on_stream", -1)
    if sync.cat != "cuda_sync" or record < 0:
        return 0
    calls = {row.correlation: row for row in rows if FLAGS.get(row.cat) == RUNTIME}
    if record not in calls:
        return 0
    before = [(calls[row.correlation].start, number) for number, row in enumerate(device_rows, 1)
              if row.is_work and row.stream == stream and row.correlation in calls and calls[row.correlation].start < calls[record].start]
    return max(before)[1] if before else 0


def lines(rows: list[Row]) -> list[str]:
    """The lines of make_run."""
    tracks: dict[Any, int] = {}
    head, body = [], []
    launches: dict[int, list[int]] = defaultdict(list)
    device_rows = [row for row in rows if row.cat in DEVICE]
    for number, row in enumerate(device_rows, 1):
        launches[row.correlation].append(number)
    threads: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        if row.cat in FLAGS:
            threads[row.thread].append(row)
    for thread, members in threads.items():
        track = tracks[thread] = len(tracks) + 1
        head.append(f"track\t{track}\tthread\t0\tthread {thread[1]}")
        body += [(ns, order, text.format(track=track)) if "{" not in text.replace("{track}", "") else (ns, order, text.replace("{track}", str(track)))
                 for order, (ns, text) in enumerate(host_events(members, launches))]  # fmt: skip
    for number, row in enumerate(device_rows, 1):
        key = ("queue", row.device, row.stream)
        if key not in tracks:
            tracks[key] = len(tracks) + 1
            kind = "queue" if row.stream >= 0 else "thread"
            head.append(f"track\t{tracks[key]}\t{kind}\t{row.device}\tstream {row.stream}")
        op = "wait" if row.name == "Stream Wait Event" else DEVICE[row.cat]
        body.append((row.end, number, f"op\t{tracks[key]}\t{row.end}\t{op}\t{row.name}\t{row.device}\t{number}\t{row.start}\t{row.end}\t{row.bytes}"))
    body += [(sync.end, sync.place, f"edge\t{tracks['queue', sync.device, sync.stream]}\t{sync.end}\tsync\t{before}\t{number}")
             for number, sync in enumerate(device_rows, 1) for before in [waited_for(rows, device_rows, sync)] if before]
    body.sort(key=lambda b: (b[0], b[1]))
    return head + [text for _, _, text in body]
