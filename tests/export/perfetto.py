# SPDX-License-Identifier: Apache-2.0
"""Reads a .pftrace by field numbers alone and refuses everything that a strict reader could."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator

EPOCH_NS = 1_000_000_000_000
Value = int | bytes


class Wrong(Exception):
    """The file is not what it should be."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Wrong(f"bad varint at {at}")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data: bytes) -> Iterator[tuple[int, Value]]:
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = varint(data, at)
            yield tag >> 3, value
            continue
        if wire == 1:
            size = 8
        elif wire == 2:
            size, at = varint(data, at)
        else:
            raise Wrong(f"wire type {wire} is not used in this file")
        if at + size > len(data):
            raise Wrong(f"field {tag >> 3} ends at {at + size} of {len(data)}")
        yield tag >> 3, data[at : at + size]
        at += size


class Message:
    """A message as lists of values by field number."""

    def __init__(self, data: Value) -> None:
        if isinstance(data, int):
            raise Wrong("a number where a message should be")
        self.all: dict[int, list[Value]] = {}
        for number, value in fields(data):
            self.all.setdefault(number, []).append(value)

    def one(self, number: int) -> Value | None:
        values = self.all.get(number, [])
        if len(values) > 1:
            raise Wrong(f"field {number} stands more than once")
        return values[0] if values else None

    def number(self, number: int) -> int:
        value = self.one(number)
        if not isinstance(value, int):
            raise Wrong(f"field {number} is not a number: {value!r}")
        return value

    def text(self, number: int) -> str:
        value = self.one(number)
        if not isinstance(value, bytes):
            raise Wrong(f"field {number} is not a text: {value!r}")
        text = value.decode("utf-8", errors="strict")
        if any(ord(c) < 0x20 or ord(c) == 0x7F for c in text):
            raise Wrong(f"control characters in {text!r}")
        return text

    def messages(self, number: int) -> list["Message"]:
        return [Message(value) for value in self.all.get(number, [])]


@dataclasses.dataclass
class Track:
    uuid: int
    kind: str
    name: str
    parent: int = 0
    pid: int = 0
    tid: int = 0
    unit: str = ""


@dataclasses.dataclass
class Slice:
    track: int
    category: str
    name: str
    begin: int
    end: int = -1
    depth: int = 0
    parent: "Slice | None" = None
    instant: bool = False
    args: dict[str, object] = dataclasses.field(default_factory=dict)
    out: list[int] = dataclasses.field(default_factory=list)
    into: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Event:
    time: int
    type: int
    track: int
    category: str
    name: str
    args: dict[str, object]
    out: list[int]
    into: list[int]
    value: float


class Interned:
    def __init__(self) -> None:
        self.categories: dict[int, str] = {}
        self.names: dict[int, str] = {}
        self.annotations: dict[int, str] = {}

    def learn(self, data: Message) -> None:
        for number, table in ((1, self.categories), (2, self.names), (3, self.annotations)):
            for entry in data.messages(number):
                iid = entry.number(1)
                if not iid or iid in table:
                    raise Wrong(f"number {iid} of list {number} is 0 or given twice")
                table[iid] = entry.text(2)


class Trace:
    def __init__(self, data: bytes) -> None:
        self.tracks: dict[int, Track] = {}
        self.slices: list[Slice] = []
        self.counters: dict[int, list[tuple[int, float]]] = {}
        self.clocks: dict[int, int] = {}
        self.events: list[Event] = []
        self.packets = 0
        self.renewals = 0
        self.interned: Interned | None = None
        for number, value in fields(data):
            if number != 1:
                raise Wrong(f"field {number} in the outermost message")
            self.packets += 1
            self.packet(Message(value))
        self.nest()

    def packet(self, packet: Message) -> None:
        if packet.number(10) != 1:
            raise Wrong("another sequence")
        flags = packet.one(13) or 0
        if flags == 1:
            self.interned = Interned()
            self.renewals += 1
        if self.interned is None:
            raise Wrong("the first packet does not begin a sequence")
        for data in packet.messages(12):
            self.interned.learn(data)
        for data in packet.messages(60):
            self.descriptor(data)
        for data in packet.messages(6):
            for clock in data.messages(1):
                self.clocks[clock.number(1)] = clock.number(2)
        for data in packet.messages(11):
            if flags != 2:
                raise Wrong("an event that does not say that it needs interned names")
            self.event(packet.number(8), data)

    def descriptor(self, data: Message) -> None:
        track = Track(data.number(1), "other", "")
        if track.uuid in self.tracks or not track.uuid:
            raise Wrong(f"track {track.uuid} is described twice")
        if 3 in data.all:
            process = data.messages(3)[0]
            track = Track(track.uuid, "process", process.text(6), pid=process.number(1))
        elif 4 in data.all:
            thread = data.messages(4)[0]
            track = Track(track.uuid, "thread", thread.text(5), pid=thread.number(1), tid=thread.number(2))
            if any(t.kind == "thread" and (t.pid, t.tid) == (track.pid, track.tid) for t in self.tracks.values()):
                raise Wrong(f"thread {track.pid}/{track.tid} has two tracks")
            if not any(t.kind == "process" and t.pid == track.pid for t in self.tracks.values()):
                raise Wrong(f"thread {track.tid} without its process")
        else:
            track.name, track.parent = data.text(2), data.number(5)
            if track.parent not in self.tracks:
                raise Wrong(f"track {track.uuid} has an unknown parent")
        if 8 in data.all:
            track.kind = "counter"
            counter = data.messages(8)[0]
            track.unit = counter.text(6) if 6 in counter.all else ""
        self.tracks[track.uuid] = track

    def arguments(self, data: Message) -> dict[str, object]:
        assert self.interned is not None
        found: dict[str, object] = {}
        for note in data.messages(4):
            name = self.interned.annotations[note.number(1)] if 1 in note.all else note.text(10)
            values: list[object] = []
            for number, value in ((n, v) for n, vs in note.all.items() for v in vs if n not in (1, 10)):
                if number == 5 and isinstance(value, bytes):
                    values.append(struct.unpack("<d", value)[0])
                elif number == 6:
                    values.append(note.text(6))
                elif number == 4 and isinstance(value, int):
                    values.append(value - (1 << 64) if value >> 63 else value)
                elif number in (2, 3, 7):
                    values.append(bool(value) if number == 2 else value)
                else:
                    raise Wrong(f"annotation {name} has field {number}")
            if len(values) != 1 or name in found:
                raise Wrong(f"annotation {name}: {values}")
            found[name] = values[0]
        return found

    def event(self, stamp: int, data: Message) -> None:
        assert self.interned is not None
        kind, track = data.number(9), data.number(11)
        if track not in self.tracks:
            raise Wrong(f"an event on track {track} before its description")
        if (kind == 4) != (self.tracks[track].kind == "counter"):
            raise Wrong(f"an event of type {kind} on a track of kind {self.tracks[track].kind}")
        category = name = ""
        if kind in (1, 3):
            category = self.interned.categories[data.number(3)]
            name = self.interned.names[data.number(10)] if 10 in data.all else data.text(23)
        value = data.one(44)
        if (kind == 4) != isinstance(value, bytes):
            raise Wrong("a counter without a value, or a value without a counter")
        flows = [[struct.unpack("<Q", f)[0] for f in data.all.get(n, []) if isinstance(f, bytes)] for n in (47, 48)]
        self.events.append(
            Event(
                stamp - EPOCH_NS,
                kind,
                track,
                category,
                name,
                self.arguments(data),
                flows[0],
                flows[1],
                struct.unpack("<d", value)[0] if isinstance(value, bytes) else 0.0,
            )
        )

    def nest(self) -> None:
        """As a viewer does: by time, in the order of the file among equal times."""
        stacks: dict[int, list[Slice]] = {}
        for event in sorted(self.events, key=lambda e: e.time):
            stack = stacks.setdefault(event.track, [])
            if event.type == 4:
                self.counters.setdefault(event.track, []).append((event.time, event.value))
            elif event.type == 2:
                if not stack:
                    raise Wrong(f"an end without a begin on track {event.track} at {event.time}")
                top = stack.pop()
                top.end = event.time
                top.args.update(event.args)
            else:
                new = Slice(event.track, event.category, event.name, event.time, args=event.args)
                new.depth, new.parent = len(stack), stack[-1] if stack else None
                new.out, new.into = event.out, event.into
                self.slices.append(new)
                if event.type == 3:
                    new.end, new.instant = event.time, True
                else:
                    stack.append(new)
        for track, stack in stacks.items():
            if stack:
                raise Wrong(f"{len(stack)} slices of track {track} never end")

    def flows(self) -> list[tuple[Slice, Slice]]:
        """The arrows: each from one slice to one other that does not begin before it."""
        begun: dict[int, Slice] = {}
        for piece in self.slices:
            for flow in piece.out:
                if flow in begun:
                    raise Wrong(f"flow {flow} begins twice")
                begun[flow] = piece
        arrows = []
        ended: set[int] = set()
        for piece in self.slices:
            for flow in piece.into:
                if flow not in begun or flow in ended:
                    raise Wrong(f"flow {flow} ends without a begin, or twice")
                if begun[flow].begin > piece.begin:
                    raise Wrong(f"flow {flow} points back in time")
                ended.add(flow)
                arrows.append((begun[flow], piece))
        for flow, piece in begun.items():
            # What was launched may never have been completed; all else is known to have an end.
            if flow not in ended and piece.category not in ("span", "call", "operator", "launch"):
                raise Wrong(f"flow {flow} from {piece.name} goes nowhere")
        return arrows

    def path(self, uuid: int) -> str:
        track = self.tracks[uuid]
        return (self.path(track.parent) + "/" if track.parent else "") + track.name
