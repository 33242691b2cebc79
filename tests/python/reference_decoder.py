#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A second decoder of wheeltap traces, written from docs/format.md alone.

It shares nothing with the C library: what both read in the same way is what the text says. It is strict where the
text lets one check something (ranges and filters of block headers, every index entry), since its other use is to
prove that the writer keeps its word.

    reference_decoder.py FILE               what is in it, in a few lines
    reference_decoder.py FILE --rows        one event a line, for people
    reference_decoder.py FILE --canonical   everything, in a form that tests/golden/canonical.c prints too

Exit status: 0 the stream is sound, 1 it is damaged (the notes are on stderr), 3 it cannot be read at all.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import xor

from trace_model import Block, BlockHeader, Column, Damage, Definitions, Field, Header, Kind, Stream
from trace_text import canonical, summary
from xxh3 import xxh3_64
from zstd_frame import decompress

MASK64 = 0xFFFFFFFFFFFFFFFF

FILE_MAGIC = b"\x89WTAP\r\n\x1a"
BLOCK_MAGIC = b"WTBK"
FOOTER_MAGIC = b"WTAPEND\n"
FILE_HEADER = struct.Struct("<8sHHI16sIIQII16s48sQ")
BLOCK_HEADER = struct.Struct("<4sHHIIQQQQQQ")
FOOTER = struct.Struct("<QQ8s")
INDEX_ENTRY = struct.Struct("<QIHHIIQQQQ")
COLUMN_HEAD = struct.Struct("<BBBBIQQ")
PATCH = struct.Struct("<HQ")

SCHEMA, DEFINITIONS, EVENTS, INDEX = 1, 2, 3, 4
STRING, TRACK, STACK, MODULE, SITE = 1, 2, 3, 4, 5
TYPE_NAME, TYPE_STR, TYPE_BYTES = 6, 9, 11
PLAIN, DELTA, XOR, RELATIVE, RELATIVE_DELTA, RELATIVE_PREVIOUS = 0, 1, 2, 3, 4, 5
RELATIVE_TO_TIME = 255

PAYLOAD_MAX = 67_108_864
CHUNK_MAX = 67_108_864
TEXT_MAX = 16_777_216
ROWS_MAX = 65_536
FIELDS_MAX = 32
ID_MAX = 8_388_608


class Cursor:
    """Takes bytes off a piece of the file, and knows where in the file it stands."""

    def __init__(self, data: bytes, file_offset: int, where: str) -> None:
        self.data = data
        self.at = 0
        self.file_offset = file_offset
        self.where = where

    def damage(self, reason: str) -> Damage:
        return Damage(self.file_offset + self.at, f"{reason} in {self.where}")

    def left(self) -> int:
        return len(self.data) - self.at

    def take(self, size: int) -> bytes:
        if size > self.left():
            raise self.damage(f"{size} bytes wanted, {self.left()} left")
        self.at += size
        return self.data[self.at - size : self.at]

    def unpack(self, layout: struct.Struct) -> tuple[int, ...]:
        return layout.unpack(self.take(layout.size))

    def u8(self) -> int:
        return self.take(1)[0]

    def u16(self) -> int:
        return int.from_bytes(self.take(2), "little")

    def u32(self) -> int:
        return int.from_bytes(self.take(4), "little")

    def string(self) -> bytes:
        return self.take(self.u16())


def zstd(cursor: Cursor, content_bytes: int) -> bytes:
    """u32 n, and n bytes that are a Zstandard frame of known content size."""
    content = decompress(cursor.take(cursor.u32()), content_bytes)
    if content is None:
        raise cursor.damage(f"a Zstandard frame that does not give {content_bytes} bytes")
    return content


def chunk(cursor: Cursor, wanted: int | None = None) -> bytes:
    """Section 5. `wanted`: the content size that what stands before has promised."""
    mode = cursor.u8()
    size = cursor.u32()
    if size > CHUNK_MAX:
        raise cursor.damage(f"a chunk of {size} bytes")
    if wanted is not None and size != wanted:
        raise cursor.damage(f"a chunk of {size} bytes where {wanted} are due")
    if mode == 0:
        return cursor.take(size)
    if mode == 1:
        return zstd(cursor, size)
    raise cursor.damage(f"chunk mode {mode}")


# ---- Section 1: the file ------------------------------------------------------------------------


def parse_file_header(data: bytes) -> Header:
    if len(data) < FILE_HEADER.size:
        raise Damage(len(data), "the file ends in its header")
    magic, major, minor, size, boot, pid, exec_, start, segment, clock, command, _, checksum = FILE_HEADER.unpack_from(
        data
    )
    if magic != FILE_MAGIC:
        raise Damage(0, "not a wheeltap trace")
    if major > 1:
        raise Damage(8, f"major version {major}")
    if size != FILE_HEADER.size:
        raise Damage(12, f"a file header of {size} bytes")
    if checksum != xxh3_64(data[:120]):
        raise Damage(120, "checksum of the file header")
    return Header(major, minor, boot, pid, exec_, start, segment, clock, command)


def parse_block_header(data: bytes, offset: int) -> BlockHeader:
    raw = data[offset : offset + BLOCK_HEADER.size]
    if len(raw) < BLOCK_HEADER.size:
        raise Damage(offset, "the file ends in a block header")
    magic, type_, kind, rows, size, time_min, time_max, tracks, names, payload_hash, checksum = BLOCK_HEADER.unpack(raw)
    if magic != BLOCK_MAGIC:
        raise Damage(offset, "no block begins here")
    if checksum != xxh3_64(raw[:56]):
        raise Damage(offset, "checksum of the block header")
    if size > PAYLOAD_MAX:
        raise Damage(offset + 12, f"a payload of {size} bytes")
    if offset + BLOCK_HEADER.size + size > len(data):
        raise Damage(offset, "the file ends in a block")
    return BlockHeader(offset, type_, kind, rows, size, time_min, time_max, tracks, names, payload_hash)


def scan(data: bytes, end: int) -> tuple[list[BlockHeader], Damage | None]:
    """The blocks that stand between the file header and `end`, and why there are no more."""
    headers: list[BlockHeader] = []
    at = FILE_HEADER.size
    while at < end:
        try:
            headers.append(parse_block_header(data, at))
        except Damage as damage:
            return headers, damage
        at = headers[-1].end
    return headers, None


def payload_of(data: bytes, header: BlockHeader) -> bytes:
    payload = data[header.payload_at : header.end]
    if header.payload_hash != xxh3_64(payload):
        raise Damage(header.offset, "checksum of a payload")
    return payload


def parse_footer(data: bytes) -> int | None:
    """Offset of the index block, or None if the file does not end with a footer."""
    if len(data) < FILE_HEADER.size + FOOTER.size or data[-8:] != FOOTER_MAGIC:
        return None
    at = len(data) - FOOTER.size
    offset, checksum, _ = FOOTER.unpack_from(data, at)
    if checksum != xxh3_64(data[at : at + 8]):
        raise Damage(at, "checksum of the footer")
    if not FILE_HEADER.size <= offset < at:
        raise Damage(at, f"the footer points at byte {offset}, outside the file")
    return int(offset)


def index_entry(header: BlockHeader) -> tuple[int, ...]:
    size = BLOCK_HEADER.size + header.payload_bytes
    return (header.offset, size, header.type, header.kind, header.rows, 0,
            header.time_min, header.time_max, header.track_filter, header.name_filter)  # fmt: skip


def check_index(data: bytes, at: int, blocks: list[BlockHeader]) -> None:
    """The index at `at` must tell of exactly the blocks that a walk finds before it."""
    header = parse_block_header(data, at)
    if header.type != INDEX:
        raise Damage(len(data) - FOOTER.size, f"the footer points at a block of type {header.type}")
    if header.end != len(data) - FOOTER.size:
        raise Damage(at, "the index is not the last block")
    cursor = Cursor(payload_of(data, header), header.payload_at, "the index")
    content = chunk(cursor, header.rows * INDEX_ENTRY.size)
    if header.rows != len(blocks):
        raise Damage(at, f"the index has {header.rows} entries for {len(blocks)} blocks")
    for i, (entry, block) in enumerate(zip(INDEX_ENTRY.iter_unpack(content), blocks)):
        if entry != index_entry(block):
            raise Damage(at, f"entry {i} of the index differs from the block at byte {block.offset}")


def find_blocks(data: bytes, stream: Stream) -> list[BlockHeader]:
    """By the index if there is a sound one; otherwise by a walk up to the first damage."""
    try:
        index_at = parse_footer(data)
        if index_at is not None:
            blocks, damage = scan(data, index_at)
            if damage:
                raise damage
            check_index(data, index_at, blocks)
            stream.found_by = "index"
            return blocks
    except Damage as damage:
        stream.notes.append(damage)
    blocks, damage = scan(data, len(data))
    if damage and not said_already(damage, stream.notes, blocks, data):
        stream.notes.append(damage)
    return [block for block in blocks if block.type != INDEX]


def said_already(damage: Damage, notes: list[Damage], blocks: list[BlockHeader], data: bytes) -> bool:
    """True where a walk stopped at the footer that was noted to be unsound, or at what made the index fail."""
    at_footer = bool(blocks) and blocks[-1].type == INDEX and len(data) - damage.offset == FOOTER.size
    return bool(notes) and (at_footer or notes[0].offset == damage.offset)


# ---- Section 2: schema ----------------------------------------------------------------------------


def parse_field(cursor: Cursor) -> Field:
    type_, transform, relative_to, enum_count = cursor.u8(), cursor.u8(), cursor.u8(), cursor.u8()
    if not 1 <= type_ <= 11:
        raise cursor.damage(f"field type {type_}")
    name, unit, doc = cursor.string(), cursor.string(), cursor.string()
    return Field(name, unit, doc, type_, transform, relative_to, tuple(cursor.string() for _ in range(enum_count)))


def parse_schema(cursor: Cursor, rows: int, kinds: dict[int, Kind]) -> None:
    for _ in range(rows):
        number, count = cursor.u16(), cursor.u16()
        if count > FIELDS_MAX:
            raise cursor.damage(f"a kind of {count} fields")
        name, doc = cursor.string(), cursor.string()
        kinds.setdefault(number, Kind(number, name, doc, tuple(parse_field(cursor) for _ in range(count))))


# ---- Section 3: definitions -----------------------------------------------------------------------


def define(definitions: Definitions, type_: int, id_: int, payload: Cursor) -> None:
    if id_ == 0:
        return
    if STRING <= type_ <= SITE and id_ > ID_MAX:
        raise payload.damage(f"id {id_}")
    if type_ == STRING:
        definitions.strings.setdefault(id_, payload.data)
    elif type_ == TRACK:
        track_type, tid, device, _ = payload.unpack(struct.Struct("<IIII"))
        definitions.tracks.setdefault(id_, (track_type, tid, device, payload.take(payload.left())))
    elif type_ == STACK:
        definitions.stacks.setdefault(id_, struct.unpack_from(f"<{len(payload.data) // 8}Q", payload.data))
    elif type_ == MODULE:
        base, size, build_id, path = payload.unpack(struct.Struct("<QQII"))
        definitions.modules.setdefault(id_, (base, size, payload.take(build_id), payload.take(path)))
    elif type_ == SITE:
        file, function, line, _ = payload.unpack(struct.Struct("<IIII"))
        definitions.sites.setdefault(id_, (file, function, line))


def parse_definitions(cursor: Cursor, rows: int, definitions: Definitions) -> None:
    file_offset = cursor.file_offset
    content = Cursor(chunk(cursor), file_offset, "the content of a definitions block")
    for _ in range(rows):
        type_, size, id_ = content.unpack(struct.Struct("<HHI"))
        define(definitions, type_, id_, Cursor(content.take(size), file_offset, f"definition {id_} of type {type_}"))


# ---- Section 4: events ------------------------------------------------------------------------------


@dataclass
class ColumnHead:
    encoding: int
    patched: bool
    transform: int
    relative_to: int
    width: int
    first: int
    bias: int
    body: Cursor

    def reference(self) -> int | None:
        """Number of the column that this one is relative to."""
        if self.transform not in (RELATIVE, RELATIVE_DELTA, RELATIVE_PREVIOUS):
            return None
        return 0 if self.relative_to == RELATIVE_TO_TIME else 3 + self.relative_to


def parse_column_head(cursor: Cursor, index: int, is_text: bool) -> ColumnHead:
    encoding, transform, relative_to, width, size, first, bias = cursor.unpack(COLUMN_HEAD)
    patched = bool(encoding & 128)
    encoding &= 127
    if encoding != int(is_text):
        raise cursor.damage(f"encoding {encoding} of column {index}")
    if transform > RELATIVE_PREVIOUS:
        raise cursor.damage(f"transform {transform} of column {index}")
    if width > 8:
        raise cursor.damage(f"width {width} of column {index}")
    offset = cursor.file_offset + cursor.at
    body = Cursor(cursor.take(size), offset, f"column {index}")
    return ColumnHead(encoding, patched, transform, relative_to, width, first, bias, body)


def plane(body: Cursor, rows: int) -> bytes:
    mode = body.u8()
    if mode == 0:
        return body.take(rows)
    if mode == 1:
        return zstd(body, rows)
    if mode == 2:
        return body.take(1) * rows
    raise body.damage(f"plane mode {mode}")


def planes(body: Cursor, width: int, rows: int) -> array[int]:
    """The packed values: byte p of each from plane p."""
    packed = bytearray(8 * rows)
    for p in range(width):
        packed[p::8] = plane(body, rows)
    values = array("Q", bytes(packed))
    if sys.byteorder == "big":
        values.byteswap()
    return values


def patches(body: Cursor, rows: int) -> list[tuple[int, int]]:
    found = [body.unpack(PATCH) for _ in range(body.u16())]
    for row, _ in found:
        if row >= rows:
            raise body.damage(f"patch of row {row}")
    return found


def running(residuals: Iterable[int], first: int) -> Iterator[int]:
    sums = accumulate(residuals, lambda a, b: a + b & MASK64, initial=first)
    next(sums)
    return sums


def numbers(head: ColumnHead, rows: int, reference: Sequence[int]) -> Sequence[int]:
    patched = patches(head.body, rows) if head.patched else []
    packed = planes(head.body, head.width, rows)
    for row, value in patched:
        packed[row] = value
    bias = head.bias
    residuals: Sequence[int] = [u + bias & MASK64 for u in packed] if bias else packed
    if head.transform == DELTA:
        return list(running(residuals, head.first))
    if head.transform == XOR:
        return list(accumulate(residuals, xor, initial=head.first))[1:]
    if head.transform == RELATIVE:
        return [ref + r & MASK64 for ref, r in zip(reference, residuals)]
    if head.transform == RELATIVE_DELTA:
        return [ref + s & MASK64 for ref, s in zip(reference, running(residuals, head.first))]
    if head.transform == RELATIVE_PREVIOUS:
        return [ref + r & MASK64 for ref, r in zip([head.first, *reference], residuals)]
    return residuals


def texts(body: Cursor, lengths: Sequence[int]) -> list[bytes]:
    total = sum(lengths)
    if total > TEXT_MAX:
        raise body.damage(f"texts of {total} bytes")
    content = chunk(body, total)
    ends = list(accumulate(lengths, initial=0))
    return [content[a:b] for a, b in zip(ends, ends[1:])]


def check_reference(heads: list[ColumnHead], index: int, cursor: Cursor) -> None:
    reference = heads[index].reference()
    if reference is None:
        return
    if reference >= len(heads):
        raise cursor.damage(f"column {index} refers to a column that is not there")
    if heads[reference].encoding:
        raise cursor.damage(f"column {index} refers to a text")


def parse_columns(heads: list[ColumnHead], rows: int, cursor: Cursor) -> list[Column]:
    """Columns in the order of their references: each round takes those that refer to nothing undecoded."""
    values: dict[int, Sequence[int]] = {}
    contents: dict[int, Column] = {}
    waiting = list(range(len(heads)))
    while waiting:
        ready = [i for i in waiting if heads[i].reference() is None or heads[i].reference() in values]
        if not ready:
            raise cursor.damage(f"column {waiting[0]} refers to itself in a circle")
        for i in ready:
            reference = heads[i].reference()
            decoded = numbers(heads[i], rows, () if reference is None else values[reference])
            if heads[i].encoding:
                contents[i] = texts(heads[i].body, decoded)
            else:
                values[i] = contents[i] = decoded
        waiting = [i for i in waiting if i not in contents]
    return [contents[i] for i in range(len(heads))]


def parse_events(cursor: Cursor, header: BlockHeader, kind: Kind) -> Block:
    count = cursor.u8()
    if not 3 <= count <= 3 + len(kind.fields):
        raise cursor.damage(f"{count} columns for a kind of {len(kind.fields)} fields")
    is_text = [False] * 3 + [f.type in (TYPE_STR, TYPE_BYTES) for f in kind.fields]
    heads = [parse_column_head(cursor, i, is_text[i]) for i in range(count)]
    for i in range(count):
        check_reference(heads, i, cursor)
    columns = parse_columns(heads, header.rows, cursor)
    for i in range(count, 3 + len(kind.fields)):
        columns.append([b""] * header.rows if is_text[i] else array("Q", bytes(8 * header.rows)))
    return Block(header, kind, columns)


def filter_of(ids: Iterable[int]) -> int:
    bits = 0
    for id_ in set(ids):
        bits |= 1 << id_ % 64
    return bits


def check_summary(block: Block) -> None:
    """What the header promises of the rows, for those who skip blocks by it."""
    header = block.header
    time, track = block.columns[0], block.columns[1]
    if (min(time), max(time)) != (header.time_min, header.time_max):
        raise Damage(header.offset + 16, "the time range of a block is not that of its rows")
    if filter_of(track) != header.track_filter:
        raise Damage(header.offset + 32, "the track filter of a block is not that of its rows")
    names = [column for f, column in zip(block.kind.fields, block.columns[3:]) if f.type == TYPE_NAME]
    if (filter_of(names[0]) if names else 0) != header.name_filter:
        raise Damage(header.offset + 40, "the name filter of a block is not that of its rows")


# ---- All of it ----------------------------------------------------------------------------------------


def decode_block(data: bytes, header: BlockHeader, stream: Stream) -> None:
    if header.type not in (SCHEMA, DEFINITIONS, EVENTS):
        return
    payload = payload_of(data, header)
    if header.type == SCHEMA:
        parse_schema(Cursor(payload, header.payload_at, "a schema block"), header.rows, stream.kinds)
    elif header.type == DEFINITIONS:
        parse_definitions(Cursor(payload, header.payload_at, "a definitions block"), header.rows, stream.definitions)
    else:
        if not 1 <= header.rows <= ROWS_MAX:
            raise Damage(header.offset + 8, f"an events block of {header.rows} rows")
        kind = stream.kinds.get(header.kind)
        if kind is None:
            raise Damage(header.offset + 6, f"events of kind {header.kind}, which no schema block describes")
        block = parse_events(Cursor(payload, header.payload_at, f"a block of kind {kind.number}"), header, kind)
        check_summary(block)
        stream.blocks.append(block)


def decode_bytes(data: bytes) -> Stream:
    """Raises Damage if the file header is not sound; any other damage is a note."""
    stream = Stream(parse_file_header(data))
    for header in find_blocks(data, stream):
        try:
            decode_block(data, header, stream)
        except Damage as damage:
            stream.notes.append(damage)
    stream.notes.sort(key=lambda note: note.offset)
    return stream


def decode(path: str) -> Stream:
    with open(path, "rb") as file:
        return decode_bytes(file.read())


def main(arguments: list[str]) -> int:
    flags = [a for a in arguments if a.startswith("--")]
    paths = [a for a in arguments if not a.startswith("--")]
    if len(paths) != 1 or len(flags) > 1 or not set(flags) <= {"--rows", "--canonical"}:
        print("usage: reference_decoder.py FILE [--rows | --canonical]", file=sys.stderr)
        return 2
    try:
        stream = decode(paths[0])
    except (OSError, Damage) as error:
        print(f"cannot read '{paths[0]}': {error}", file=sys.stderr)
        return 3
    if flags == ["--canonical"]:
        lines: Iterable[str] = canonical(stream)
    elif flags == ["--rows"]:
        lines = (" ".join(f"{k}={v!r}" for k, v in row.items()) for row in stream.rows())
    else:
        lines = summary(stream)
    sys.stdout.writelines(line + "\n" for line in lines)
    for note in stream.notes:
        print(f"'{paths[0]}' is damaged {note}", file=sys.stderr)
    return 1 if stream.notes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
