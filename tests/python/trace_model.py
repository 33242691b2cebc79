# SPDX-License-Identifier: Apache-2.0
"""What a trace holds, as the reference decoder gives it: header, kinds, definitions, blocks, and notes on damage."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

BLOCK_HEADER_BYTES = 64
TYPE_I32, TYPE_I64, TYPE_F64 = 3, 4, 5


class Damage(Exception):
    """Something that the format does not allow, and where."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"at byte {offset}: {reason}")
        self.offset = offset
        self.reason = reason


@dataclass(frozen=True)
class Header:
    major: int
    minor: int
    boot: bytes
    pid: int
    exec: int
    start_time: int
    segment: int
    clock: int
    command: bytes  # 16 bytes, padded with 0


@dataclass(frozen=True)
class Field:
    name: bytes
    unit: bytes
    doc: bytes
    type: int
    transform: int
    relative_to: int
    enum_names: tuple[bytes, ...]


@dataclass(frozen=True)
class Kind:
    number: int
    name: bytes
    doc: bytes
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class BlockHeader:
    offset: int
    type: int
    kind: int
    rows: int
    payload_bytes: int
    time_min: int
    time_max: int
    track_filter: int
    name_filter: int
    payload_hash: int

    @property
    def payload_at(self) -> int:
        return self.offset + BLOCK_HEADER_BYTES

    @property
    def end(self) -> int:
        return self.payload_at + self.payload_bytes


# A column is its values as 64-bit patterns, or the texts of its rows.
Column = Sequence[int] | Sequence[bytes]


@dataclass
class Block:
    """The rows of one events block, by column: time, track, sequence number, then the fields."""

    header: BlockHeader
    kind: Kind
    columns: list[Column]


@dataclass
class Definitions:
    """What was defined first for each id. Unknown types are passed over."""

    strings: dict[int, bytes] = field(default_factory=dict)
    tracks: dict[int, tuple[int, int, int, bytes]] = field(default_factory=dict)  # type, tid, device, name
    stacks: dict[int, tuple[int, ...]] = field(default_factory=dict)
    modules: dict[int, tuple[int, int, bytes, bytes]] = field(default_factory=dict)  # base, bytes, build-id, path
    sites: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # file, function, line


@dataclass
class Stream:
    header: Header
    kinds: dict[int, Kind] = field(default_factory=dict)
    definitions: Definitions = field(default_factory=Definitions)
    blocks: list[Block] = field(default_factory=list)
    notes: list[Damage] = field(default_factory=list)
    found_by: str = "scan"  # or "index"

    @property
    def event_count(self) -> int:
        return sum(block.header.rows for block in self.blocks)

    def rows(self) -> Iterator[dict[str, object]]:
        """Every event as a dict, in file order; numbers as the type of their field says."""
        for block in self.blocks:
            names = ["kind", "time", "track", "seq"] + [f.name.decode(errors="replace") for f in block.kind.fields]
            shown = [present(f, column) for f, column in zip(block.kind.fields, block.columns[3:])]
            kinds = [block.kind.name.decode(errors="replace")] * block.header.rows
            for row in zip(kinds, *block.columns[:3], *shown):
                yield dict(zip(names, row))


def present(f: Field, column: Column) -> Sequence[object]:
    """Bit patterns as signed numbers or floats, where they are that."""
    if f.type in (TYPE_I32, TYPE_I64):
        return struct.unpack(f"<{len(column)}q", struct.pack(f"<{len(column)}Q", *column))
    if f.type == TYPE_F64:
        return struct.unpack(f"<{len(column)}d", struct.pack(f"<{len(column)}Q", *column))
    return column
