# SPDX-License-Identifier: Apache-2.0
"""wheeltap.tracesmith: files there and back, columns without copying, figures of the timeline against the simulator's, and refusals."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from common import FOLDER, SOURCE, check, equal, finish, has, simulated, skip

import wheeltap
from wheeltap import tracesmith as ts

EVENTS = [ts.TraceEvent(ts.EventType.KernelLaunch, 2000, 50, 0, 7, 1, "gemm", ts.KernelParams(4, 2, 1, 32, 1, 1, 1024, 16)),
          ts.TraceEvent(ts.EventType.MemcpyH2D, 1000, 100, 0, 7, 2, "copy", None, ts.MemoryParams(1, (1 << 64) - 1, 4096)),
          ts.TraceEvent(ts.EventType.KernelLaunch, 1950, 100, 0, 8, 3, "gemm"),
          ts.TraceEvent(ts.EventType.Marker, 3000, 0, 0, 7, 0, "hören")]


def refused(action: "object", *arguments: object) -> str:
    try:
        action(*arguments)  # type: ignore[operator]
    except (wheeltap.TraceError, ValueError, TypeError, OverflowError) as problem:
        return str(problem) or type(problem).__name__
    return ""


def check_files() -> None:
    path = FOLDER / "a.sbt"
    with ts.SBTWriter(path) as writer:
        writer.write_event(EVENTS[0])
        writer.write_events(EVENTS[1:])
        equal("events that are to be written", writer.event_count, 4)
    reader = ts.SBTReader(path)
    equal("there and back", list(reader), EVENTS)
    equal("some of them", reader.read_events(1, 2), EVENTS[1:3])
    equal("nothing is missing", (reader.metadata["complete"], reader.damage, reader.event_count), (True, "", 4))
    equal("what an event does not have", reader.read_all()["size_bytes"].to_list(), [None, 4096, None, None])
    check("a file that exists", "exists" in refused(ts.SBTWriter(path).finalize))
    cut = FOLDER / "cut.sbt"
    cut.write_bytes(path.read_bytes()[:110])
    damaged = ts.SBTReader(cut)
    check("a file that is cut", not damaged.metadata["complete"] and "byte" in damaged.damage and damaged.event_count < 4, damaged.damage)
    check("a file of something else", "no SBT" in refused(ts.SBTReader, SOURCE / "README.md"))
    writer = ts.SBTWriter(FOLDER / "bad.sbt")
    writer.write_event(ts.TraceEvent(ts.EventType.Custom, -1 << 70))
    check("a time that does not fit leaves no file", refused(writer.finalize) and not os.path.exists(FOLDER / "bad.sbt"))


def check_sharing() -> None:
    if not has("numpy"):
        skip("columns share memory", "numpy is not installed")
        return
    import numpy

    column = ts.SBTReader(FOLDER / "a.sbt").read_all()["timestamp"]
    first, second = numpy.asarray(column), numpy.asarray(column)
    check("columns share memory", numpy.shares_memory(first, second) and not first.flags.writeable)
    equal("as whole numbers", first.tolist(), [2000, 1000, 1950, 3000])


def check_timeline() -> None:
    for what, source in (("of events", EVENTS), ("of a file", str(FOLDER / "a.sbt"))):
        timeline = ts.build_timeline(source)
        equal(f"timeline {what}", (timeline.total_duration, timeline.max_concurrent_ops, len(timeline.spans)), (1050, 2, 3))
        check(f"utilisation {what}", abs(timeline.gpu_utilization - 200 / 1050) < 1e-9, timeline.gpu_utilization)
    run = simulated("sim", "--events", "20000", "--seed", "7")
    truth = json.loads(Path(run, "truth.json").read_text())
    timeline = ts.build_timeline(wheeltap.open(run))
    equal("concurrency of a simulated run", timeline.max_concurrent_ops, truth["concurrency_max"])
    equal("busy time of its devices", {row["device"]: row["busy_ns"] for row in timeline.devices},
          {device["device"]: device["busy_ns"] for device in truth["devices"]})


def check_traces() -> None:
    out = FOLDER / "a.pftrace"
    ts.export_perfetto(EVENTS, out)
    again = ts.import_trace(out, "perfetto", FOLDER / "again")
    equal("exported for Perfetto", sorted(set(again.run.table("span_begin")["name"].to_list())), ["copy", "gemm"])
    trace = ts.import_trace([FOLDER / "a.sbt"], "sbt", FOLDER / "run")
    found = sorted((event.timestamp, event.duration, event.name) for event in trace.events() if event.duration)
    equal("events of a trace, from its beginning on", found,
          sorted((event.timestamp - 1000, event.duration, event.name) for event in EVENTS if event.duration))
    captured = ts.capture_trace([sys.executable, "-c", "raise SystemExit(3)"], output=FOLDER / "captured")
    equal("the status of what was captured", captured.status, 3)
    check("nothing of a device", "no device" in refused(ts.build_timeline, captured))
    check("a command that is no list", refused(ts.capture_trace, "program"))
    check("a platform that there is not", "opencl" in refused(lambda: ts.capture_trace(["true"], platform="abacus")))
    check("a format that there is not", "no format" in refused(ts.import_trace, FOLDER / "a.sbt", "abacus", FOLDER / "x"))


check_files()
check_sharing()
check_timeline()
check_traces()
finish()
