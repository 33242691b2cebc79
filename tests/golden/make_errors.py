#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes handmade.wt, a small sound trace, and from it errors/*.wt: one broken trace for each check that a reader makes.

    make_errors.py DIR

The files are put together from docs/format.md by tests/python/trace_parts.py, so that neither the writer nor a
version of zstd has a part in them. Checksums are right unless the checksum is what is broken. errors/expected.tsv
tells what a reader must say: where (when the file is opened, or when it is read; or nothing, of a trace that is only
odd), which codes are right, between which bytes, how many events remain readable (5+: at least 5), and a word that the
message must have.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
import trace_parts as t  # noqa: E402

U64, NAME, STR = 2, 6, 9
NUMBERS, TEXTS = 200, 201  # kinds that no version of wheeltap knows
# The blocks of the sound trace. TARGET is broken; FIRST stands before it, LAST behind it.
SCHEMA, DEFINITIONS, FIRST, TEXT_SCHEMA, TARGET, LAST = range(6)
FIRST_ROWS, TARGET_ROWS, LAST_ROWS = 3, 4, 2


def definitions() -> list[bytes]:
    return [
        t.definition(1, 1, b"forward"),
        t.definition(1, 2, b"back\nward \xff"),
        t.definition(2, 3, struct.pack("<IIII", 1, 55, 0, 0) + b"main"),
        t.definition(3, 1, struct.pack("<QQ", 0x401000, 0x402000)),
        t.definition(4, 1, struct.pack("<QQII", 0x400000, 8192, 3, 4) + b"\1\2\3" + b"/lib"),
        t.definition(5, 1, struct.pack("<IIII", 1, 2, 30, 0)),
        t.definition(99, 1, b"of a later version"),
    ]


def number_fields() -> list[t.Field]:
    return [t.Field(b"name", NAME), t.Field(b"from", U64, 1), t.Field(b"to", U64, 3, 1), t.Field(b"start", U64, 5, 2)]


def number_block(rows: int, time: int, seq: int) -> t.Block:
    names = t.Column([1 + i % 2 for i in range(rows)], width=1)
    origin = t.Column([2] * rows, transform=1, width=1, mode=2, first=1000, bias=5)
    to = t.Column(range(rows), transform=3, relative_to=1, width=1, mode=1, bias=t.MASK64, patches=[(1, 2**33)])
    start = t.Column([4] * rows, transform=5, relative_to=2, width=2, first=990)
    block = t.events(rows, [names, origin, to, start], NUMBERS, range(time, time + 10 * rows, 10), seq)
    block.name_filter = 0b110 if rows > 1 else 0b10
    return block


def text_columns() -> list[t.Column]:
    """Time, track, sequence number; then a number that is relative to the time, a text, a number."""
    rows = TARGET_ROWS
    return [
        t.Column([7, 0, 7, 1], transform=1, width=1, first=2000),
        t.Column(width=0, bias=3),
        t.Column(range(FIRST_ROWS, FIRST_ROWS + rows), width=1),
        t.Column([1, 2, 3, 4], transform=4, relative_to=255, width=1),
        t.Column([2, 0, 3, 1], width=1, texts=t.chunk(b"ab\0\xff\n!", mode=1)),
        t.Column([0xF0, 1, 1, 3], transform=2, width=8, first=2**63),
    ]


def text_block(columns: list[t.Column] | None = None, count: int | None = None, rest: bytes = b"") -> t.Block:
    payload = t.columns(columns or text_columns(), count) + rest
    return t.Block(t.EVENTS, payload, TARGET_ROWS, TEXTS, 2007, 2015, 1 << 3)


def sound() -> t.Trace:
    fields = [t.Field(b"span", U64, 4, 255), t.Field(b"text", STR), t.Field(b"bits", 10, 2, 0, [b"no", b"yes"])]
    entries = definitions()
    return t.Trace([
        t.Block(t.SCHEMA, t.kind(NUMBERS, number_fields(), b"numbers")),
        t.Block(t.DEFINITIONS, t.chunk(b"".join(entries)), len(entries)),
        number_block(FIRST_ROWS, 1000, 0),
        t.Block(t.SCHEMA, t.kind(TEXTS, fields, b"texts")),
        text_block(),
        number_block(LAST_ROWS, 3000, FIRST_ROWS + TARGET_ROWS),
    ])  # fmt: skip


@dataclass
class Case:
    """A broken trace and what a reader must say of it."""

    name: str
    data: bytes
    where: str  # "open": it cannot be opened; "read": it can, and says so when looked at; "fine": nothing to say
    codes: str
    low: int  # the byte that is told lies between these two
    high: int
    events: int | str
    word: str = ""

    def row(self) -> str:
        cells = [self.name, self.where, self.codes, self.low, self.high, self.events, self.word or "-"]
        return "\t".join(map(str, cells))


CASES: list[Case] = []
ALL_BUT_TARGET = FIRST_ROWS + LAST_ROWS
ALL = ALL_BUT_TARGET + TARGET_ROWS


def unreadable(name: str, data: bytes, low: int, high: int, word: str, codes: str = "FORMAT") -> None:
    CASES.append(Case(name, data, "open", codes, low, high, 0, word))


def broken_block(name: str, index: int, block: t.Block, word: str = "", events: int = ALL_BUT_TARGET) -> None:
    """A payload that is not sound, in a stream that is finished: it costs that block."""
    trace = sound()
    trace.blocks[index] = block
    at = trace.offsets()[index]
    CASES.append(Case(name, trace.finished(), "read", "FORMAT|LIMIT", at, at + 64 + len(block.payload), events, word))


def left_over(name: str, index: int, block: t.Block) -> None:
    """Bytes behind the content are passed over, for the sake of later versions."""
    trace = sound()
    trace.blocks[index] = block
    CASES.append(Case(name, trace.finished(), "fine", "OK", 0, 0, ALL))


def broken_walk(name: str, block: bytes, word: str = "") -> None:
    """What stands at TARGET is no block, in a stream without an index: nothing behind it can be found."""
    trace = sound()
    at = trace.offsets()[TARGET]
    data = t.Trace(trace.blocks[:TARGET]).unfinished() + block
    CASES.append(Case(name, data, "read", "FORMAT|LIMIT", at, at + len(block), FIRST_ROWS, word))


def broken_end(name: str, tail: Callable[[t.Trace, int], bytes], word: str = "") -> None:
    """Index and footer that do not tell of the blocks: everything is found by walking."""
    trace = sound()
    body = trace.unfinished()
    data = body + tail(trace, len(body))
    CASES.append(Case(name, data, "read", "FORMAT|LIMIT", len(body), len(data), ALL, word))


def lying_index(name: str, tail: Callable[[t.Trace, int], bytes]) -> None:
    """Found out where the index is compared with TARGET's own header: at once, or when TARGET is read."""
    broken_end(name, tail)
    CASES[-1].low = sound().offsets()[TARGET]
    CASES[-1].events = f"{ALL_BUT_TARGET}+"


def file_header_cases() -> None:
    rest = sound().finished()[128:]
    header = t.file_header()
    unreadable("empty_file", b"", 0, 0, "empty")
    unreadable("foreign", b"#!/bin/sh\n" * 40, 0, 8, "not")
    unreadable("header_cut", header[:100], 0, 128, "")
    unreadable("header_magic", t.file_header(magic=b"\x89WTAP\n\n\x1a") + rest, 0, 8, "not")
    unreadable("header_major", t.file_header(major=2) + rest, 8, 10, "newer", "VERSION")
    unreadable("header_size", t.file_header(size=256) + rest, 0, 16, "")
    unreadable("header_checksum", header[:72] + b"\1" + header[73:] + rest, 0, 128, "checksum")


def block_header_cases() -> None:
    whole = sound().blocks[TARGET].bytes()
    behind = sound().blocks[LAST].bytes()
    broken_walk("block_magic", b"WTBL" + whole[4:] + behind)
    broken_walk("block_checksum", whole[:16] + b"\xff" + whole[17:] + behind)
    broken_walk("block_header_cut", whole[:40])
    broken_walk("block_cut", whole[:-1])
    broken_walk("block_size", replace(text_block(), size=67_108_865).bytes() + behind)
    broken_block("rows_0", TARGET, replace(text_block(), rows=0), "row")
    broken_block("rows_65537", TARGET, replace(text_block(), rows=65_537), "row")


def end_cases() -> None:
    def footer_checksum(trace: t.Trace, at: int) -> bytes:
        footer = bytearray(t.footer(at))
        footer[8] ^= 1
        return trace.index().bytes() + footer

    def index_with(change: Callable[[t.Block], t.Block]) -> Callable[[t.Trace, int], bytes]:
        return lambda trace, at: change(trace.index()).bytes() + t.footer(at)

    def entry(trace: t.Trace, layout: str, place: int, value: int) -> t.Block:
        """An index whose entry of TARGET has another number at `place`."""
        index = trace.index()
        payload = bytearray(index.payload)
        struct.pack_into(layout, payload, 5 + 56 * TARGET + place, value)
        return replace(index, payload=bytes(payload))

    def other_entry(layout: str, place: int, value: int) -> Callable[[t.Trace, int], bytes]:
        return lambda trace, at: entry(trace, layout, place, value).bytes() + t.footer(at)

    broken_end("footer_checksum", footer_checksum)
    broken_end("footer_magic", lambda trace, at: trace.index().bytes() + t.footer(at)[:-1] + b"!")
    broken_end("footer_cut", lambda trace, at: trace.index().bytes() + t.footer(at)[:-1])
    broken_end("footer_beyond_the_end", lambda trace, at: trace.index().bytes() + t.footer(2**63))
    broken_end("footer_into_itself", lambda trace, at: trace.index().bytes() + t.footer(at + 64 + 5 + 6 * 56))
    broken_end("footer_at_the_header", lambda trace, at: trace.index().bytes() + t.footer(0))
    broken_end("footer_at_events", lambda trace, at: trace.index().bytes() + t.footer(trace.offsets()[LAST]))
    broken_end("index_checksum", index_with(lambda index: replace(index, payload_hash=1)))
    broken_end("index_chunk_mode", index_with(lambda index: replace(index, payload=b"\2" + index.payload[1:])))
    broken_end("index_zstd", index_with(lambda i: replace(i, payload=t.chunk(b"", 1, 336)[:5] + t.framed(b"junk"))))
    broken_end("index_content_size", index_with(lambda index: replace(index, rows=7)))
    broken_end("index_too_few", index_with(lambda i: replace(i, rows=5, payload=t.chunk(i.payload[5:-56]))))
    broken_end("index_offset", other_entry("<Q", 0, 2**40))
    broken_end("index_size", other_entry("<I", 8, 1))
    lying_index("index_type", other_entry("<H", 12, 2))
    lying_index("index_kind", other_entry("<H", 14, NUMBERS))
    lying_index("index_rows", other_entry("<I", 16, 65_536))


def schema_cases() -> None:
    def broken(name: str, payload: bytes, word: str = "") -> None:
        broken_block(name, TEXT_SCHEMA, t.Block(t.SCHEMA, payload), word)

    good = sound().blocks[TEXT_SCHEMA].payload
    broken_block("schema_checksum", TEXT_SCHEMA, t.Block(t.SCHEMA, good, payload_hash=1), "checksum")
    broken("schema_cut", good[:-1])
    broken("schema_string", good[:4] + b"\xff\xff" + good[6:])
    broken("schema_fields_33", t.kind(TEXTS, [t.Field(b"f")] * 33))
    broken("schema_field_missing", t.kind(TEXTS, [t.Field(b"f")], count=2))
    broken("schema_type_0", t.kind(TEXTS, [t.Field(b"f", 0)]))
    broken("schema_type_12", t.kind(TEXTS, [t.Field(b"f", 12)]))
    broken_block("schema_rows", TEXT_SCHEMA, t.Block(t.SCHEMA, good, rows=2), events=ALL)
    left_over("schema_rest", TEXT_SCHEMA, t.Block(t.SCHEMA, good + b"!"))


def definition_cases() -> None:
    def broken(name: str, block: t.Block, word: str = "") -> None:
        broken_block(name, DEFINITIONS, block, word, events=ALL)

    def entry(name: str, raw: bytes) -> None:
        broken(name, t.Block(t.DEFINITIONS, t.chunk(raw)))

    content = b"".join(definitions())
    count = len(definitions())
    broken("definitions_checksum", t.Block(t.DEFINITIONS, t.chunk(content), count, payload_hash=1), "checksum")
    broken("definitions_cut", t.Block(t.DEFINITIONS, t.chunk(content)[:-1], count))
    broken("definitions_rows", t.Block(t.DEFINITIONS, t.chunk(content), count + 1))
    left_over("definitions_rest", DEFINITIONS, t.Block(t.DEFINITIONS, t.chunk(content + b"!") + b"!", count))
    broken("definitions_mode", t.Block(t.DEFINITIONS, t.chunk(content, mode=2), count))
    broken("definitions_size", t.Block(t.DEFINITIONS, t.chunk(content, mode=1, size=67_108_865), count))
    broken("definitions_zstd", t.Block(t.DEFINITIONS, t.chunk(content, size=len(content) + 1, mode=1), count))
    entry("definition_size", t.definition(1, 9, b"abc", size=4))
    entry("definition_head", t.definition(1, 9, b"")[:-1])
    entry("definition_id", t.definition(1, 8_388_609, b"abc"))
    entry("track_short", t.definition(2, 9, bytes(15)))
    entry("module_short", t.definition(4, 9, bytes(23)))
    entry("module_lengths", t.definition(4, 9, struct.pack("<QQII", 0, 0, 2**32 - 1, 2) + b"!"))
    entry("site_short", t.definition(5, 9, bytes(11)))


def column_cases() -> None:
    def changed(column: int, **changes: object) -> t.Block:
        columns = text_columns()
        columns[column] = replace(columns[column], **changes)  # type: ignore[arg-type]
        return text_block(columns)

    def broken(name: str, column: int, **changes: object) -> None:
        broken_block(name, TARGET, changed(column, **changes))

    junk = t.framed(b"not a frame")
    number, text, last = 3, 4, 5
    broken("column_encoding", number, encoding=2)
    broken("column_text_for_numbers", number, encoding=1)
    broken("column_numbers_for_text", text, encoding=0)
    broken("column_transform", number, transform=6)
    broken("column_width", number, width=9, body=b"")
    broken("column_body", last, size=2**32 - 1)
    broken("patches_cut", number, encoding=128, body=b"\2\0" + bytes(19))
    broken("patch_row", number, patches=[(TARGET_ROWS, 1)])
    broken("plane_mode", number, body=b"\7\1\2\3\4")
    broken("plane_cut", number, body=b"\0\1\2\3")
    broken("plane_missing", number, width=2, body=b"\0\1\2\3\4")
    left_over("plane_rest", TARGET, changed(number, body=b"\0\1\2\3\4!"))
    broken("plane_zstd", number, body=b"\1" + junk)
    broken("plane_zstd_cut", number, body=b"\1\xff\0\0\0" + t.frame(b"1234"))
    broken("plane_zstd_short", number, body=b"\1" + t.framed(t.frame(b"123")))
    broken("plane_zstd_long", number, body=b"\1" + t.framed(t.frame(b"12345")))
    broken("relative_missing", number, transform=3, relative_to=3)
    broken("relative_far", number, transform=3, relative_to=254)
    broken("relative_itself", number, transform=3, relative_to=0)
    broken("relative_text", number, transform=3, relative_to=1)
    broken("relative_time", 0, transform=3, relative_to=255)
    broken("text_total", text, packed=[2**62] * 4, width=8)
    broken("text_total_wraps", text, packed=[2**63, 2**63, 3, 3], width=8)
    broken("text_limit", text, packed=[16_777_216, 0, 0, 1], width=4, texts=t.chunk(bytes(9), size=16_777_217))
    broken("text_chunk_size", text, packed=[2, 0, 3, 2])
    broken("text_chunk_mode", text, texts=t.chunk(b"abcdef", mode=3))
    broken("text_chunk_cut", text, texts=t.chunk(b"abcde", size=6))
    left_over("text_chunk_rest", TARGET, changed(text, texts=t.chunk(b"abcdef") + b"!"))
    broken("text_chunk_zstd", text, texts=t.chunk(b"", 1, 6)[:5] + junk)


def event_cases() -> None:
    circle = text_columns()
    circle[3] = replace(circle[3], transform=3, relative_to=2)
    circle[5] = replace(circle[5], transform=4, relative_to=0)
    whole = text_block()
    broken_block("payload_checksum", TARGET, replace(whole, payload_hash=1), "checksum")
    broken_block("unknown_kind", TARGET, replace(whole, kind=999), "kind")
    broken_block("payload_empty", TARGET, replace(whole, payload=b""))
    broken_block("columns_2", TARGET, text_block(text_columns()[:2]))
    broken_block("columns_too_many", TARGET, text_block([*text_columns(), t.Column(width=0)]))
    broken_block("columns_missing", TARGET, text_block(text_columns()[:5], count=6))
    left_over("columns_rest", TARGET, text_block(rest=b"!"))
    broken_block("column_head_cut", TARGET, text_block(text_columns()[:5], count=6, rest=bytes(23)))
    broken_block("relative_circle", TARGET, text_block(circle))


def main(folder: Path) -> None:
    (folder / "errors").mkdir(exist_ok=True)
    (folder / "handmade.wt").write_bytes(sound().finished())
    file_header_cases()
    block_header_cases()
    end_cases()
    schema_cases()
    definition_cases()
    event_cases()
    column_cases()
    for case in CASES:
        (folder / "errors" / f"{case.name}.wt").write_bytes(case.data)
    head = "# Made by make_errors.py: file, where, codes, byte from, byte to, events left, word"
    (folder / "errors" / "expected.tsv").write_text("\n".join([head, *(case.row() for case in CASES), ""]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
