# SPDX-License-Identifier: Apache-2.0
"""A recorded run: what is known of it, and its events as rows or as tables."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from . import _find
from ._reader import Scan, Trace, TraceError
from .table import Table, printable

if TYPE_CHECKING:
    import numpy

    from ._judge import Verdict

__all__ = ["Event", "Field", "Kind", "Process", "Run", "Stream", "Table", "Track", "TraceError", "open_run"]

Value = Union[bool, int, float, str]
CONTEXT = ("step", "epoch", "stage", "rank")
BATCH_ROWS = 65536
RECORDER = "0000.wt"


class Event(NamedTuple):
    """One event. Enumerations and names are texts, times ns, what is not known None."""

    time_ns: int
    kind: str
    stream: int
    track: int
    seq: int
    fields: dict[str, Any]


@dataclass(frozen=True)
class Field:
    """A field of a kind of events; type is u32, u64, i32, i64, f64, name, hash, ticks, str or enum."""

    name: str
    type: str
    unit: str
    doc: str
    values: tuple[str, ...]  # of an enum


@dataclass(frozen=True)
class Kind:
    """A kind of events, as the trace itself describes it; events is how many there are."""

    name: str
    number: int
    doc: str
    fields: tuple[Field, ...]
    events: int


@dataclass(frozen=True)
class Stream:
    """One file of the run: the events of a process, or of a segment of it in a flight recording."""

    index: int
    path: str
    command: str
    pid: int
    exec: int
    segment: int
    start_time: int
    events: int
    bytes: int
    complete: bool  # it ends with its index: the recorder came to its end


@dataclass(frozen=True)
class Track:
    """A thread, a device queue or a rank, within its stream."""

    stream: int
    id: int
    type: str
    tid: int
    device: int
    name: str


@dataclass(frozen=True)
class Process:
    """A process of the run; rank and status are None where nothing is known of them."""

    pid: int
    command: str
    rank: Optional[int]
    status: Optional[int]  # exit status, or minus the signal that killed it
    streams: tuple[int, ...]


class Run:
    """A run that is open for reading; made by `wheeltap.open()`."""

    def __init__(self, path: str) -> None:
        self._trace = Trace(path)
        self.path = path
        self.name = os.path.basename(os.path.abspath(path))

    def __repr__(self) -> str:
        events = sum(stream.events for stream in self.streams)
        processes = len(self.processes)
        return (f"<wheeltap.Run {printable(self.name)}: {printable(self.status)}, {processes} process{'' if processes == 1 else 'es'}, "
                f"{events} events>")

    def _repr_html_(self) -> str:
        from . import _html

        rows = [("run", self.name), ("status", self.status), ("command", " ".join(map(str, self.info.get("command", [])))),
                ("processes", len(self.processes)), ("events", sum(stream.events for stream in self.streams)),
                ("complete", self.complete), *(("warning", text) for text in self.warnings)]
        return _html.table((), rows)

    # ---- What is known of it ----

    @cached_property
    def info(self) -> dict[str, Any]:
        """What run.json says: command, environment, git, times. Empty for a single stream."""
        return _find.info(self.path)

    @property
    def status(self) -> str:
        """running, abandoned, finished, failed, killed, interrupted, or unknown."""
        return _find.status(self.path, self.info)

    @property
    def start_realtime_ns(self) -> int:
        """When the run began, since 1970; 0: not known. Times of events count from there."""
        return self._trace.start_realtime_ns

    @property
    def clock_error_ns(self) -> int:
        """How far times of different streams may be off against each other."""
        return self._trace.clock_error_ns

    @cached_property
    def streams(self) -> tuple[Stream, ...]:
        return tuple(Stream(*stream) for stream in self._trace.streams())

    @cached_property
    def tracks(self) -> tuple[Track, ...]:
        return tuple(Track(*track) for track in self._trace.tracks())

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of events that the run has, by name."""
        found: dict[str, Kind] = {}
        for name, number, doc, fields, events in self._trace.kinds():
            kind = Kind(name, number, doc, tuple(Field(*field) for field in fields), events)
            other = found.get(name, kind)
            if other is not kind:
                richest = max(kind, other, key=lambda one: len(one.fields))
                kind = Kind(name, number, richest.doc, richest.fields, kind.events + other.events)
            found[name] = kind
        return found

    @cached_property
    def processes(self) -> tuple[Process, ...]:
        """The processes that were recorded; not the recorder, which has the stream 0000.wt for itself."""
        ranks: dict[int, int] = {}
        if "rank" in self.kinds:
            ranks = {row["stream"]: row["rank"] for row in self.table("rank", fields=["stream", "rank"]).rows()}
        ends: dict[int, int] = {}
        if "exit" in self.kinds:
            ends = {row["pid"]: row["status"] for row in self.table("exit", fields=["pid", "status"]).rows()}
        grouped: dict[tuple[int, int, int], list[Stream]] = {}
        for stream in self.streams:
            if os.path.basename(stream.path) == RECORDER:
                continue
            grouped.setdefault((stream.pid, stream.start_time, stream.exec), []).append(stream)
        return tuple(Process(pid, streams[-1].command,
                             next((ranks[stream.index] for stream in streams if stream.index in ranks), None),
                             _known_status(ends.get(pid)), tuple(stream.index for stream in streams))
                     for (pid, _, _), streams in grouped.items())

    # ---- What is missing ----

    @property
    def warnings(self) -> list[str]:
        """What could not be read, as far as it has been looked at. The rest has been read."""
        running = self.status == "running"
        texts = []
        for path, text, offset in self._trace.damage():
            if path and running:
                continue  # the last block may be half written
            place = f" (byte {offset})" if offset >= 0 and "byte " not in text else ""
            texts.append(printable((f"'{path}': " if path and path not in text else "") + text + place))
        return texts

    @cached_property
    def lost(self) -> dict[str, int]:
        """Events that were lost while recording, by reason; empty: none."""
        counts: dict[str, int] = {}
        for row in self.table("lost", fields=["reason", "count"]).rows():
            counts[row["reason"]] = counts.get(row["reason"], 0) + row["count"]
        return counts

    @cached_property
    def not_followed(self) -> list[dict[str, Any]]:
        """Processes of the run that are not in the trace: pid, reason, command."""
        return list(self.table("not_followed", fields=["pid", "reason", "command"]).rows())

    @cached_property
    def notes(self) -> list[str]:
        """What the recorder had to say about the recording."""
        return [str(text) for text in self.table("note", fields=["text"])["text"].to_list()]

    @property
    def complete(self) -> bool:
        """True if nothing was lost, damaged or not followed, and every stream came to its end."""
        return (all(stream.complete for stream in self.streams) and not self.lost and not self.not_followed
                and not self.warnings)

    # ---- Events ----

    def events(self, kind: Union[str, Iterable[str], None] = None, *, time: Optional[tuple[Optional[int], Optional[int]]] = None,
               name: Optional[str] = None, track: Union[str, tuple[int, int], None] = None, step: Optional[Value] = None,
               epoch: Optional[Value] = None, stage: Optional[str] = None, where: Optional[Mapping[str, Value]] = None,
               fields: Optional[Sequence[str]] = None) -> Iterator[Event]:
        """The events one by one, in their order; memory stays bounded. All conditions must hold.

        kind: one or several, all without. time: from, and before, in ns of the run. name, track: patterns (* ? [a-z]) over the
        first name of the event and the name of its track; a track also as (stream, track). step, epoch, stage and where: what
        the context had to be. fields: only these.
        """
        kinds = _kinds(kind)
        self._check_fields(kinds, fields)
        scan = self._scan(kinds, fields, (), time, name, track, step, epoch, stage, where)
        return self._rows(scan)

    @staticmethod
    def _rows(scan: Scan) -> Iterator[Event]:
        rows = scan.rows(4096)
        while rows:
            yield from map(Event._make, rows)
            rows = scan.rows(4096)

    def table(self, kind: str, *, time: Optional[tuple[Optional[int], Optional[int]]] = None, name: Optional[str] = None,
              track: Union[str, tuple[int, int], None] = None, step: Optional[Value] = None, epoch: Optional[Value] = None,
              stage: Optional[str] = None, where: Optional[Mapping[str, Value]] = None,
              fields: Optional[Sequence[str]] = None, context: Sequence[str] = ()) -> Table:
        """All events of a kind as columns: time_ns, stream, track, seq and the fields; conditions as of events().

        fields: only these columns. Beside those of the kind there are time_ns, stream, track, seq, and on request ticks,
        track_name, FIELD_ticks (time stamps as recorded). context: variables to be joined, such as ("step", "stage", "rank").
        """
        scan = self._scan((kind,), fields, context, time, name, track, step, epoch, stage, where)
        return Table(kind, scan.columns(_EVERY_ROW))

    def batches(self, kind: str, *, rows: int = BATCH_ROWS, time: Optional[tuple[Optional[int], Optional[int]]] = None,
                name: Optional[str] = None, track: Union[str, tuple[int, int], None] = None, step: Optional[Value] = None,
                epoch: Optional[Value] = None, stage: Optional[str] = None, where: Optional[Mapping[str, Value]] = None,
                fields: Optional[Sequence[str]] = None, context: Sequence[str] = ()) -> Iterator[Table]:
        """As table(), in pieces of at most so many rows: for traces that are larger than the memory."""
        if rows < 1:
            raise ValueError("a batch has at least one row")
        scan = self._scan((kind,), fields, context, time, name, track, step, epoch, stage, where)
        return self._pieces(kind, scan, rows)

    @staticmethod
    def _pieces(kind: str, scan: Scan, rows: int) -> Iterator[Table]:
        piece = Table(kind, scan.columns(rows))
        while len(piece):
            yield piece
            piece = Table(kind, scan.columns(rows))

    def calls(self, *, time: Optional[tuple[Optional[int], Optional[int]]] = None, name: Optional[str] = None,
              track: Union[str, tuple[int, int], None] = None, step: Optional[Value] = None, epoch: Optional[Value] = None,
              stage: Optional[str] = None, where: Optional[Mapping[str, Value]] = None,
              fields: Optional[Sequence[str]] = None, context: Sequence[str] = ("step",)) -> Table:
        """Calls, a row each: the columns of call_begin, and duration_ns, self_ns (without the calls directly inside), parent
        (a row of this table), depth, exception. What has no end has no duration."""
        return self._matched("call_begin", fields, context, time, name, track, step, epoch, stage, where)

    def spans(self, *, time: Optional[tuple[Optional[int], Optional[int]]] = None, name: Optional[str] = None,
              track: Union[str, tuple[int, int], None] = None, step: Optional[Value] = None, epoch: Optional[Value] = None,
              stage: Optional[str] = None, where: Optional[Mapping[str, Value]] = None,
              fields: Optional[Sequence[str]] = None, context: Sequence[str] = ("step",)) -> Table:
        """Spans (`wheeltap.range`, WT_RANGE), a row each, as calls()."""
        return self._matched("span_begin", fields, context, time, name, track, step, epoch, stage, where)

    def states(self, *, name: Optional[str] = None, step: Optional[Value] = None, stage: Optional[str] = None,
               context: Sequence[str] = CONTEXT) -> Table:
        """Changes of named values: owner, attribute, type, old, new. Hashes of parameters are in old_bits and new_bits."""
        return self.table("state", name=name, step=step, stage=stage, context=context)

    def tensors(self, *, name: Optional[str] = None, step: Optional[Value] = None, stage: Optional[str] = None,
                context: Sequence[str] = CONTEXT) -> Table:
        """Digests of tensors: name, owner, shape, hash, nan, inf, zeros, min, max, mean, m2."""
        return self.table("tensor", name=name, step=step, stage=stage, context=context)

    def array(self, tensor: Union[Mapping[str, Any], Event]) -> numpy.ndarray[Any, Any]:
        """The contents of a tensor that were kept (`record --tensors full`): of a row of tensors(), or of an event.

        bfloat16 becomes float32, complex32 complex64; of 8-bit floats the bits are given. Raises TraceError if there are none.
        """
        from . import _blobs

        return _blobs.load(self.path, tensor.fields if isinstance(tensor, Event) else tensor)

    def counters(self, name: Optional[str] = None, *, context: Sequence[str] = CONTEXT) -> Table:
        """Numbers over time (`wheeltap.log`): name, value."""
        return self.table("counter", name=name, fields=["time_ns", "stream", "track", "name", "value"], context=context)

    @property
    def losses(self) -> Table:
        """The loss over time: the values on which backward() was called, or that were logged as "loss"."""
        return self.counters("loss")

    # ---- Judging ----

    def doctor(self) -> Verdict:
        """What `wheeltap doctor` finds: the built-in rules, applied to this run."""
        from . import _judge

        return _judge.judge(self.path, "doctor")

    def check(self, *packs: Union[str, os.PathLike[str]]) -> Verdict:
        """What `wheeltap check` finds: the packs that `wheeltap infer` wrote, applied to this run. At least one."""
        from . import _judge

        if not packs:
            raise _find.failure("argument", "check() needs a pack: a file that 'wheeltap infer' wrote; doctor() needs none")
        words = [word for pack in packs for word in ("-i", os.fspath(pack))]
        return _judge.judge(self.path, "check", *words)

    # ---- Asking ----

    def _check_fields(self, kinds: tuple[str, ...], fields: Optional[Sequence[str]]) -> None:
        """Rows of several kinds have different fields: each name must be one of some kind."""
        known = {field.name for kind in self.kinds.values() if not kinds or kind.name in kinds for field in kind.fields}
        for field in fields or ():
            if field not in known and known:
                near = difflib.get_close_matches(field, known, 1)
                hint = f"did you mean '{near[0]}'?" if near else "run.kinds lists them"
                raise _find.failure("argument", f"no field '{field}' in {_listed(kinds)}; {hint}")

    def _scan(self, kinds: tuple[str, ...], fields: Optional[Sequence[str]], context: Sequence[str],
              time: Optional[tuple[Optional[int], Optional[int]]], name: Optional[str],
              track: Union[str, tuple[int, int], None], step: Optional[Value], epoch: Optional[Value], stage: Optional[str],
              where: Optional[Mapping[str, Value]]) -> Scan:
        begin, end = time or (None, None)
        return self._trace.scan(kinds, _words(fields), _words(context) or (), _conditions(step, epoch, stage, where), name,
                                _track(track), begin, end, _memory_bytes())

    def _matched(self, kind: str, fields: Optional[Sequence[str]], context: Sequence[str],
                 time: Optional[tuple[Optional[int], Optional[int]]], name: Optional[str],
                 track: Union[str, tuple[int, int], None], step: Optional[Value], epoch: Optional[Value],
                 stage: Optional[str], where: Optional[Mapping[str, Value]]) -> Table:
        begin, end = time or (None, None)
        columns = self._trace.calls((kind,), _words(fields), _words(context) or (), _conditions(step, epoch, stage, where),
                                    name, _track(track), begin, end, _memory_bytes())
        return Table("calls" if kind == "call_begin" else "spans", columns)


_EVERY_ROW = (1 << 62)
_STATUS_UNKNOWN = -(1 << 31)


def _known_status(status: Optional[int]) -> Optional[int]:
    return None if status == _STATUS_UNKNOWN else status


def _kinds(kind: Union[str, Iterable[str], None]) -> tuple[str, ...]:
    return () if kind is None else (kind,) if isinstance(kind, str) else tuple(kind)


def _listed(kinds: tuple[str, ...]) -> str:
    return ", ".join(f"'{kind}'" for kind in kinds) or "any kind"


def _words(names: Optional[Sequence[str]]) -> Optional[tuple[str, ...]]:
    return None if names is None else (names,) if isinstance(names, str) else tuple(names)


def _track(track: Union[str, tuple[int, int], None]) -> Optional[str]:
    return track if track is None or isinstance(track, str) else f"{track[0]}:{track[1]}"


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _conditions(step: Optional[Value], epoch: Optional[Value], stage: Optional[str],
                where: Optional[Mapping[str, Value]]) -> tuple[str, ...]:
    wanted: dict[str, Optional[Value]] = {"step": step, "epoch": epoch, "stage": stage, **(where or {})}
    return tuple(word for key, value in wanted.items() if value is not None for word in (key, _text(value)))


def _memory_bytes() -> int:
    """A table that does not fit into the machine is refused instead of swapped."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def open_run(run: Union[str, os.PathLike[str]] = "latest") -> Run:
    """See wheeltap.open()."""
    return Run(_find.find(os.fspath(run)))
