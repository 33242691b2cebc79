# SPDX-License-Identifier: Apache-2.0
"""TraceSmith's words for what wheeltap does with devices (docs/coming-from-tracesmith.md).

    from wheeltap import tracesmith as ts

    trace = ts.capture_trace(["./filter", "image.png"], platform="opencl")
    timeline = ts.build_timeline(trace)
    print(timeline.gpu_utilization, timeline.max_concurrent_ops)
    ts.export_perfetto(trace, "filter.pftrace")

Columns of `trace.table`, `timeline.spans` and `SBTReader.read_all()` are those of the reader: numpy.asarray() shares their memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType
from typing import Any, NamedTuple, Optional, Union

from . import _find
from ._judge import program
from ._reader import sbt_read, sbt_write
from .run import Run, open_run
from .table import Table

__all__ = ["EventType", "KernelParams", "MemoryParams", "SBTReader", "SBTWriter", "Timeline", "Trace", "TraceEvent", "build_timeline",
           "capture_trace", "export_perfetto", "import_trace", "ReplayResult", "replay_code", "replay_trace"]

PLATFORMS = ("opencl", "cuda", "rocm")
Path = Union[str, "os.PathLike[str]"]


class EventType(IntEnum):
    """What an event is, by the numbers of its files."""

    Unknown = 0
    KernelLaunch = 1
    KernelComplete = 2
    MemcpyH2D = 3
    MemcpyD2H = 4
    MemcpyD2D = 5
    MemsetDevice = 6
    StreamSync = 7
    DeviceSync = 8
    EventRecord = 9
    EventSync = 10
    StreamCreate = 11
    StreamDestroy = 12
    ContextCreate = 13
    ContextDestroy = 14
    MemAlloc = 15
    MemFree = 16
    Marker = 17
    RangeStart = 18
    RangeEnd = 19
    NCCLStart = 20
    NCCLComplete = 21
    Custom = 255


class KernelParams(NamedTuple):
    grid_x: int
    grid_y: int
    grid_z: int
    block_x: int
    block_y: int
    block_z: int
    shared_mem_bytes: int = 0
    registers_per_thread: int = 0


class MemoryParams(NamedTuple):
    src_address: int
    dst_address: int
    size_bytes: int


@dataclass
class TraceEvent:
    """One event; times are ns."""

    type: int = EventType.Unknown
    timestamp: int = 0
    duration: int = 0
    device_id: int = 0
    stream_id: int = 0
    correlation_id: int = 0
    name: str = ""
    kernel_params: Optional[KernelParams] = None
    memory_params: Optional[MemoryParams] = None

    def _row(self) -> tuple[Any, ...]:
        return (int(self.type), self.timestamp, self.duration, self.device_id, self.stream_id, self.correlation_id, self.name,
                self.kernel_params and tuple(self.kernel_params), self.memory_params and tuple(self.memory_params))


def _event(row: dict[str, Any]) -> TraceEvent:
    kernel = None if row["grid_x"] is None else KernelParams(*(row[name] for name in KernelParams._fields))
    memory = None if row["size_bytes"] is None else MemoryParams(*(row[name] for name in MemoryParams._fields))
    kind = EventType(row["type"]) if row["type"] in EventType._value2member_map_ else row["type"]
    return TraceEvent(kind, row["timestamp"], row["duration"], row["device_id"], row["stream_id"], row["correlation_id"], row["name"],
                      kernel, memory)


# ---- Files ----


class SBTReader:
    """A file of TraceSmith, read at once; what is behind a damaged place is missing, and `damage` says where that is."""

    def __init__(self, path: Path) -> None:
        columns, self.metadata = sbt_read(path)
        self._table = Table(os.path.basename(os.fspath(path)), columns)

    @property
    def damage(self) -> str:
        """Empty: none."""
        return str(self.metadata["damage"])

    @property
    def event_count(self) -> int:
        return len(self._table)

    def read_all(self) -> Table:
        """All events as columns, without copying."""
        return self._table

    def read_events(self, offset: int = 0, count: Optional[int] = None) -> list[TraceEvent]:
        """Some of them as objects."""
        end = None if count is None else offset + count
        return [_event(row) for row in self._table[offset:end].rows()]

    def __iter__(self) -> Iterator[TraceEvent]:
        return map(_event, self._table.rows())


class SBTWriter:
    """A new file of TraceSmith: it is written by finalize(), or at the end of a with block that raised nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: list[tuple[Any, ...]] = []

    def write_event(self, event: TraceEvent) -> None:
        self._rows.append(event._row())

    def write_events(self, events: Iterable[TraceEvent]) -> None:
        self._rows.extend(event._row() for event in events)

    @property
    def event_count(self) -> int:
        return len(self._rows)

    def finalize(self) -> None:
        sbt_write(self._path, self._rows)
        self._rows = []

    def __enter__(self) -> SBTWriter:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        if kind is None:
            self.finalize()


# ---- Traces ----


class Trace:
    """What devices did in a run. `run` has all the rest: calls, system calls, states."""

    def __init__(self, run: Run, status: Optional[int] = None) -> None:
        self.run = run
        self.status = status  # exit status of the program, where one was captured

    @property
    def path(self) -> str:
        return self.run.path

    @property
    def table(self) -> Table:
        """Operations of devices as columns: op, name, device, queue, correlation, started, ended, bytes ..., without copying."""
        return self.run.table("device_op")

    def events(self) -> list[TraceEvent]:
        """The events as TraceSmith has them: as its file would."""
        with tempfile.TemporaryDirectory(prefix="wheeltap-") as folder:
            path = os.path.join(folder, "trace.sbt")
            _ask("export", "--to", "sbt", "-o", path, "--", os.path.abspath(self.path))
            return SBTReader(path).read_events()

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return f"<wheeltap.tracesmith.Trace {self.run!r}>"


Source = Union[Trace, Run, str, "os.PathLike[str]", Iterable[TraceEvent]]


@dataclass(frozen=True)
class Timeline:
    """When devices worked. total_duration: ns from the first start to the last end; gpu_utilization: 0 to 1, the time in which a device
    works, mean of devices; devices and streams: figures of each (docs/devices.md)."""

    total_duration: int
    gpu_utilization: float
    max_concurrent_ops: int
    spans: Table
    devices: tuple[dict[str, Any], ...]
    streams: tuple[dict[str, Any], ...]


def _ask(verb: str, *words: str, allowed: Sequence[int] = (0,)) -> dict[str, Any]:
    """What `wheeltap VERB --json` answers."""
    done = subprocess.run([program(), verb, "--json", *words], stdin=subprocess.DEVNULL, capture_output=True)
    try:
        answer: dict[str, Any] = json.loads(done.stdout.decode("utf-8", "replace"))
    except ValueError:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise _find.failure("io", f"'wheeltap {verb}' gave no answer (status {done.returncode}): {said}") from None
    if answer["status"] == "error":
        raise _find.failure(answer["error"]["code"], answer["error"]["message"])
    if done.returncode not in allowed:
        raise _find.failure("io", f"'wheeltap {verb}' failed (status {done.returncode}): {'; '.join(answer['notes'])}")
    return answer


@contextmanager
def _run_of(source: Source) -> Iterator[Run]:
    """A run of whatever is given; one that had to be made is removed."""
    if isinstance(source, Trace):
        yield source.run
    elif isinstance(source, Run):
        yield source
    elif isinstance(source, (str, os.PathLike)) and not os.fspath(source).endswith(".sbt"):
        yield open_run(source)
    else:
        with tempfile.TemporaryDirectory(prefix="wheeltap-") as folder:
            file = os.path.join(folder, "events.sbt")
            if isinstance(source, (str, os.PathLike)):
                file = os.path.abspath(source)
            else:
                sbt_write(file, (event._row() for event in source))
            path = os.path.join(folder, "run")
            _ask("import", "sbt", file, "-o", path, allowed=(0, 3))
            yield open_run(path)


def import_trace(files: Union[Path, Sequence[Path]], format: str, output: Path) -> Trace:
    """A run made of what another tool wrote: kineto, chrome, perfetto, sbt, nsys (docs/import.md). What could be read of a damaged file is
    there; trace.run.lost says what is missing."""
    paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    _ask("import", format, *map(os.path.abspath, paths), "-o", os.path.abspath(output), allowed=(0, 3))
    return Trace(open_run(output))


def capture_trace(command: Sequence[str], duration_ms: Optional[int] = None, *, platform: Optional[str] = None,
                  output: Optional[Path] = None) -> Trace:
    """Runs a program and records what devices do for it; without a platform, all that there are. duration_ms: stop recording after this
    long; the program goes on to its end. output: the folder of the run; without, one below the home of runs."""
    if isinstance(command, (str, bytes)) or not command:
        raise ValueError("the command is a list of words: capture_trace(['./program', 'argument'])")
    if platform is not None and platform not in PLATFORMS:
        raise ValueError(f"no platform '{platform}'; there are {', '.join(PLATFORMS)}")
    words = [f"--{name}" for name in ([platform] if platform else PLATFORMS)]
    if duration_ms is not None:
        words.append(f"--duration={int(duration_ms)}ms")
    if output is not None:
        words += ["-o", os.path.abspath(output)]
    done = subprocess.run([program(), "record", *words, "--", *command])
    return Trace(open_run("latest" if output is None else output), done.returncode)


def build_timeline(source: Source) -> Timeline:
    """Utilisation, concurrency and spans, of a trace, a run, a file of TraceSmith, or of events."""
    with _run_of(source) as run:
        answer = _ask("timeline", "--", os.path.abspath(run.path), allowed=(0, 3))
        if "device_window_from_ns" not in answer:
            raise _find.failure("missing", "no device operations in this trace")
        devices = tuple(answer["tables"]["devices"])
        streams = tuple(row for row in answer["tables"]["tracks"] if row["type"] == "queue")
        return Timeline(answer["device_window_to_ns"] - answer["device_window_from_ns"],
                        sum(row["utilisation"] for row in devices) / len(devices) / 100, answer["concurrency_max"],
                        run.table("device_op"), devices, streams)


def export_perfetto(source: Source, path: Path) -> None:
    """A file for ui.perfetto.dev, with slices, queues, counters and arrows. Refuses to overwrite."""
    with _run_of(source) as run:
        _ask("export", "--to", "perfetto", "-o", os.path.abspath(path), "--", os.path.abspath(run.path), allowed=(0, 3))


@dataclass(frozen=True)
class ReplayResult:
    """What became of recorded device work that was executed again (docs/replay.md).

    status: bit_exact, within_tolerance, deterministic, partial, divergent, not_measured; planned of a dry run. operations: those that are not the
    same, with operation, name, queue, verdict (ORIGIN, inherited, missing, unknown), differing, ulp and why. races and origins: findings, with id,
    title and evidence. counts: of each verdict."""

    status: str
    verdict: str
    operations_total: int
    operations_executed: int
    counts: dict[str, int]
    compared: int
    operations: tuple[dict[str, Any], ...]
    origins: tuple[dict[str, Any], ...]
    races: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]

    @property
    def success(self) -> bool:
        """Everything was executed, and nothing differs from the recording."""
        return self.status in ("bit_exact", "within_tolerance")

    @property
    def deterministic(self) -> bool:
        """Nothing differed, neither from the recording nor between repetitions, and everything was executed."""
        return self.success or self.status == "deterministic"


def replay_code(source: Source) -> str:
    """The code of the programs that replay_trace() would execute: look at them first with `wheeltap replay RUN`."""
    with _run_of(source) as run:
        code: str = _ask("replay", "--mode", "dry-run", "--", os.path.abspath(run.path))["code"]
        return code


def replay_trace(source: Source, mode: str = "full", *, yes: Optional[str] = None, order: str = "original", first: Optional[int] = None,
                 last: Optional[int] = None, queue: Optional[str] = None, kernel: Optional[str] = None, repeat: Optional[int] = None,
                 device: Optional[str] = None, ulp: Optional[int] = None, emit: Optional[Path] = None) -> ReplayResult:
    """Executes recorded OpenCL work again, in a process of its own, and verifies it. mode: full, partial (operations first to last, or a
    kernel), dry-run, stream (a queue). yes: the code of what may be executed, as replay_code() has it."""
    words = ["--mode", mode, "--order", order]
    for name, value in (("yes", yes), ("from", first), ("to", last), ("queue", queue), ("kernel", kernel), ("repeat", repeat), ("device", device),
                        ("ulp", ulp), ("emit", None if emit is None else os.path.abspath(emit))):
        if value is not None:
            words += [f"--{name}", str(value)]
    with _run_of(source) as run:
        answer = _ask("replay", *words, "--", os.path.abspath(run.path), allowed=(0, 1, 3))
    findings = answer["findings"]
    return ReplayResult(
        answer["status"], answer.get("verdict", ""), answer["operations"], answer.get("executed", 0),
        {key: answer.get(key, 0) for key in ("same", "origins", "inherited", "missing", "unknown", "extra")}, answer.get("compared", 0),
        tuple(answer["tables"].get("operations", ())), tuple(one for one in findings if one["id"] != "WT-REPLAY-002"),
        tuple(one for one in findings if one["id"] == "WT-REPLAY-002"), tuple(answer["notes"]))
