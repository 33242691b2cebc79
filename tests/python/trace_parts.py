# SPDX-License-Identifier: Apache-2.0
"""The parts of a trace as bytes, for tests that make sound and broken traces by hand (docs/format.md).

Checksums are always right unless a caller gives another: a test of a deep check must get past the shallow ones.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from xxh3 import xxh3_64

SCHEMA, DEFINITIONS, EVENTS, INDEX = 1, 2, 3, 4
MASK64 = 0xFFFFFFFFFFFFFFFF


def with_checksum(data: bytes) -> bytes:
    return data + struct.pack("<Q", xxh3_64(data))


def file_header(magic: bytes = b"\x89WTAP\r\n\x1a", major: int = 1, minor: int = 0, size: int = 128) -> bytes:
    identity = struct.pack("<16sIIQII16s48s", bytes(range(16)), 42, 1, 777, 0, 2, b"train", b"")
    return with_checksum(magic + struct.pack("<HHI", major, minor, size) + identity)


@dataclass
class Block:
    """One block; None: the value that the payload deserves."""

    type: int
    payload: bytes
    rows: int = 1
    kind: int = 0
    time_min: int = 0
    time_max: int = 0
    track_filter: int = 0
    name_filter: int = 0
    size: int | None = None
    payload_hash: int | None = None

    def bytes(self) -> bytes:
        size = len(self.payload) if self.size is None else self.size
        payload_hash = xxh3_64(self.payload) if self.payload_hash is None else self.payload_hash
        head = struct.pack("<4sHHIIQQQQQ", b"WTBK", self.type, self.kind, self.rows, size, self.time_min,
                           self.time_max, self.track_filter, self.name_filter, payload_hash)  # fmt: skip
        return with_checksum(head) + self.payload

    def entry(self, offset: int) -> bytes:
        return struct.pack("<QIHHIIQQQQ", offset, 64 + len(self.payload), self.type, self.kind, self.rows, 0,
                           self.time_min, self.time_max, self.track_filter, self.name_filter)  # fmt: skip


def frame(content: bytes) -> bytes:
    """A Zstandard frame with the content as it is (one raw block), the same whatever version of zstd there is."""
    assert len(content) <= 131_072
    single_segment = bytes([0xA0]) + struct.pack("<I", len(content))
    last_raw_block = struct.pack("<I", len(content) << 3 | 1)[:3]
    return b"\x28\xb5\x2f\xfd" + single_segment + last_raw_block + content


def framed(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def chunk(content: bytes, mode: int = 0, size: int | None = None) -> bytes:
    head = struct.pack("<BI", mode, len(content) if size is None else size)
    return head + (framed(frame(content)) if mode == 1 else content)


def string(text: bytes) -> bytes:
    return struct.pack("<H", len(text)) + text


@dataclass
class Field:
    name: bytes
    type: int = 2
    transform: int = 0
    relative_to: int = 0
    enum_names: Sequence[bytes] = ()

    def bytes(self) -> bytes:
        head = struct.pack("<BBBB", self.type, self.transform, self.relative_to, len(self.enum_names))
        return head + string(self.name) + string(b"") + string(b"") + b"".join(map(string, self.enum_names))


def kind(number: int, fields: Sequence[Field], name: bytes = b"sample", count: int | None = None) -> bytes:
    head = struct.pack("<HH", number, len(fields) if count is None else count)
    return head + string(name) + string(b"a kind for tests") + b"".join(f.bytes() for f in fields)


def definition(type_: int, id_: int, payload: bytes, size: int | None = None) -> bytes:
    return struct.pack("<HHI", type_, len(payload) if size is None else size, id_) + payload


def plane(values: bytes, mode: int = 0) -> bytes:
    if mode == 1:
        return b"\1" + framed(frame(values))
    if mode == 2:
        return struct.pack("<BB", 2, values[0])
    return bytes([mode]) + values


def planes(packed: Sequence[int], width: int, mode: int = 0) -> bytes:
    raw = struct.pack(f"<{len(packed)}Q", *packed)
    return b"".join(plane(raw[p::8], mode) for p in range(width))


@dataclass
class Column:
    """A column of numbers from its packed values, or with `texts` one of text."""

    packed: Sequence[int] = ()
    transform: int = 0
    relative_to: int = 0
    width: int = 8
    first: int = 0
    bias: int = 0
    mode: int = 0
    patches: Sequence[tuple[int, int]] | None = None  # row and packed value
    texts: bytes | None = None  # the chunk
    encoding: int | None = None
    body: bytes | None = None
    size: int | None = None

    def bytes(self) -> bytes:
        body = planes(self.packed, self.width, self.mode) if self.body is None else self.body
        body += self.texts or b""
        encoding = int(self.texts is not None) if self.encoding is None else self.encoding
        if self.patches is not None:
            encoding |= 128
            body = struct.pack("<H", len(self.patches)) + b"".join(struct.pack("<HQ", *p) for p in self.patches) + body
        size = len(body) if self.size is None else self.size
        return struct.pack("<BBBBIQQ", encoding, self.transform, self.relative_to, self.width, size, self.first,
                           self.bias) + body  # fmt: skip


def columns(parts: Sequence[Column], count: int | None = None) -> bytes:
    return bytes([len(parts) if count is None else count]) + b"".join(part.bytes() for part in parts)


def events(
    rows: int, fields: Sequence[Column], number: int = 1, times: Sequence[int] | None = None, seq: int = 0
) -> Block:
    """A block of `rows` events on track 3, with one column a field."""
    times = list(range(100, 100 + rows)) if times is None else times
    payload = columns([Column(times), Column([3] * rows, width=1), Column(range(seq, seq + rows), width=3), *fields])
    return Block(EVENTS, payload, rows, number, min(times), max(times), 1 << 3)


@dataclass
class Trace:
    blocks: list[Block] = field(default_factory=list)
    header: bytes = field(default_factory=file_header)

    def offsets(self) -> list[int]:
        at, found = len(self.header), []
        for block in self.blocks:
            found.append(at)
            at += 64 + len(block.payload)
        return found

    def index(self) -> Block:
        entries = b"".join(block.entry(at) for block, at in zip(self.blocks, self.offsets()))
        return Block(INDEX, chunk(entries), len(self.blocks))

    def unfinished(self) -> bytes:
        return self.header + b"".join(block.bytes() for block in self.blocks)

    def finished(self, index: Block | None = None) -> bytes:
        body = self.unfinished()
        return body + (index or self.index()).bytes() + footer(len(body))


def footer(offset: int) -> bytes:
    return with_checksum(struct.pack("<Q", offset)) + b"WTAPEND\n"
