#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The reference decoder on traces made by hand, where the right answer is known without any wheeltap code."""

from __future__ import annotations

import random
import struct
import unittest

import trace_parts as t
import xxh3
from reference_decoder import decode_bytes
from trace_model import Damage, Stream
from trace_text import canonical
from zstd_frame import compress

MASK64 = 0xFFFFFFFFFFFFFFFF
U64, I32, F64, NAME, STR = 2, 3, 5, 6, 9


def sample(fields: list[t.Field], block: t.Block) -> t.Trace:
    return t.Trace([t.Block(t.SCHEMA, t.kind(1, fields)), block])


def decode_columns(columns: list[t.Column], rows: int, fields: list[t.Field] | None = None) -> Stream:
    fields = fields or [t.Field(b"f%d" % i) for i in range(len(columns))]
    return decode_bytes(sample(fields, t.events(rows, columns)).finished())


class Hash(unittest.TestCase):
    def test_known(self) -> None:
        self.assertEqual(xxh3.xxh3_64_pure(b""), 0x2D06800538D394C2)

    def test_library(self) -> None:
        if xxh3.xxh3_64_library is None:
            self.skipTest("libxxhash.so.0 is not installed")
        dice = random.Random(1)
        for size in [*range(700), 1023, 1024, 1025, 1088, 2047, 2048, 2049, 4096, 65537]:
            data = dice.randbytes(size)
            self.assertEqual(xxh3.xxh3_64_pure(data), xxh3.xxh3_64_library(data), f"{size} bytes")


class Numbers(unittest.TestCase):
    def values(self, column: t.Column, rows: int = 3) -> list[int]:
        stream = decode_columns([column], rows)
        self.assertEqual(stream.notes, [])
        return list(stream.blocks[0].columns[3])

    def test_plain(self) -> None:
        self.assertEqual(self.values(t.Column([1, 0, 2**64 - 1])), [1, 0, 2**64 - 1])

    def test_bias_wraps(self) -> None:
        self.assertEqual(self.values(t.Column([1, 2, 3], width=1, bias=2**64 - 2)), [2**64 - 1, 0, 1])

    def test_width_zero(self) -> None:
        self.assertEqual(self.values(t.Column(width=0, bias=7)), [7, 7, 7])

    def test_delta(self) -> None:
        column = t.Column([0, 2, 4], transform=1, width=1, first=10, bias=MASK64)
        self.assertEqual(self.values(column), [9, 10, 13])

    def test_delta_wraps(self) -> None:
        self.assertEqual(self.values(t.Column([1, 1, 1], transform=1, first=2**64 - 2)), [2**64 - 1, 0, 1])

    def test_xor(self) -> None:
        self.assertEqual(self.values(t.Column([1, 3, 3], transform=2, first=0xF0)), [0xF1, 0xF2, 0xF1])

    def test_relative_to_time(self) -> None:
        self.assertEqual(self.values(t.Column([5, 6, 7], transform=3, relative_to=255)), [105, 107, 109])

    def test_relative_delta(self) -> None:
        column = t.Column([1, 1, 1], transform=4, relative_to=255, first=10)
        self.assertEqual(self.values(column), [111, 113, 115])

    def test_relative_to_the_row_before(self) -> None:
        column = t.Column([1, 2, 3], transform=5, relative_to=255, first=50)
        self.assertEqual(self.values(column), [51, 102, 104])

    def test_plane_modes(self) -> None:
        for mode in (0, 1, 2):
            column = t.Column([0x0101] * 300, width=2, mode=mode)
            self.assertEqual(self.values(column, 300), [0x0101] * 300)

    def test_compressed_plane(self) -> None:
        body = b"\1" + t.framed(compress(bytes(range(10)) * 30))
        self.assertEqual(self.values(t.Column(body=body, width=1), 300), list(range(10)) * 30)

    def test_patches(self) -> None:
        column = t.Column([1, 1, 1], transform=1, width=1, bias=1, patches=[(0, 2**40), (2, 0)])
        self.assertEqual(self.values(column), [2**40 + 1, 2**40 + 3, 2**40 + 4])

    def test_patches_without_planes(self) -> None:
        self.assertEqual(self.values(t.Column(width=0, patches=[(1, 9), (1, 5)], bias=7)), [7, 12, 7])

    def test_chain_of_references(self) -> None:
        columns = [
            t.Column([1, 1], transform=3, relative_to=1),
            t.Column([10, 10], transform=3, relative_to=2),
            t.Column([100, 200]),
        ]
        stream = decode_columns(columns, 2)
        self.assertEqual([list(c) for c in stream.blocks[0].columns[3:]], [[111, 211], [110, 210], [100, 200]])


class Texts(unittest.TestCase):
    def test_texts(self) -> None:
        for mode in (0, 1):
            column = t.Column([2, 0, 3], width=1, texts=t.chunk(b"ab\0\xffc", mode))
            stream = decode_columns([column], 3, [t.Field(b"text", STR)])
            self.assertEqual(stream.notes, [])
            self.assertEqual(stream.blocks[0].columns[3], [b"ab", b"", b"\0\xffc"])

    def test_missing_fields(self) -> None:
        fields = [t.Field(b"a"), t.Field(b"b"), t.Field(b"c", STR)]
        stream = decode_columns([t.Column([4, 5])], 2, fields)
        self.assertEqual([list(c) for c in stream.blocks[0].columns[3:]], [[4, 5], [0, 0], [b"", b""]])


class Rows(unittest.TestCase):
    def test_types(self) -> None:
        bits = struct.unpack("<Q", struct.pack("<d", -0.5))[0]
        fields = [t.Field(b"signed", I32), t.Field(b"float", F64)]
        stream = decode_columns([t.Column([MASK64]), t.Column([bits])], 1, fields)
        self.assertEqual(
            list(stream.rows()),
            [{"kind": "sample", "time": 100, "track": 3, "seq": 0, "signed": -1, "float": -0.5}],
        )

    def test_canonical(self) -> None:
        column = t.Column([2], width=1, texts=t.chunk(b"hi"))
        lines = list(canonical(decode_columns([column], 1, [t.Field(b"text", STR)])))
        self.assertIn("event 1 100 3 0 x6869", lines)
        self.assertEqual(lines[-1], "end finished sound")


class Definitions(unittest.TestCase):
    def test_all_types(self) -> None:
        entries = [
            t.definition(1, 1, b"name"),
            t.definition(1, 1, b"later, and therefore not it"),
            t.definition(2, 3, struct.pack("<IIII", 1, 55, 0, 0) + b"main"),
            t.definition(3, 1, struct.pack("<QQ", 10, 20)),
            t.definition(4, 1, struct.pack("<QQII", 4096, 8192, 2, 4) + b"\1\2/lib"),
            t.definition(5, 1, struct.pack("<IIII", 1, 2, 30, 0)),
            t.definition(77, 1, b"of a later version"),
        ]
        for mode in (0, 1):
            block = t.Block(t.DEFINITIONS, t.chunk(b"".join(entries), mode), len(entries))
            stream = decode_bytes(t.Trace([block]).finished())
            self.assertEqual(stream.notes, [])
            found = stream.definitions
            self.assertEqual(found.strings, {1: b"name"})
            self.assertEqual(found.tracks, {3: (1, 55, 0, b"main")})
            self.assertEqual(found.stacks, {1: (10, 20)})
            self.assertEqual(found.modules, {1: (4096, 8192, b"\1\2", b"/lib")})
            self.assertEqual(found.sites, {1: (1, 2, 30)})


class LeftOver(unittest.TestCase):
    def test_is_passed_over(self) -> None:
        entries = t.definition(5, 1, struct.pack("<IIII", 1, 2, 30, 0) + b"!") + b"!"
        block = t.events(2, [t.Column(body=b"\0ab!", width=1)])
        block.payload += b"!"
        trace = t.Trace([
            t.Block(t.SCHEMA, t.kind(1, [t.Field(b"f")]) + b"!"),
            t.Block(t.DEFINITIONS, t.chunk(entries) + b"!"),
            block,
        ])  # fmt: skip
        stream = decode_bytes(trace.finished())
        self.assertEqual((stream.notes, stream.definitions.sites), ([], {1: (1, 2, 30)}))
        self.assertEqual(list(stream.blocks[0].columns[3]), [ord("a"), ord("b")])


class Files(unittest.TestCase):
    def setUp(self) -> None:
        self.trace = sample([t.Field(b"f")], t.events(2, [t.Column([1, 2])]))
        self.trace.blocks.append(t.events(2, [t.Column([3, 4])]))

    def test_index(self) -> None:
        stream = decode_bytes(self.trace.finished())
        self.assertEqual((stream.notes, stream.found_by, stream.event_count), ([], "index", 4))

    def test_scan(self) -> None:
        stream = decode_bytes(self.trace.unfinished())
        self.assertEqual((stream.notes, stream.found_by, stream.event_count), ([], "scan", 4))

    def test_empty(self) -> None:
        for data in (t.Trace().unfinished(), t.Trace().finished()):
            stream = decode_bytes(data)
            self.assertEqual((stream.notes, stream.event_count), ([], 0))

    def test_unknown_type_is_passed_over(self) -> None:
        self.trace.blocks.insert(1, t.Block(99, b"of a later version"))
        stream = decode_bytes(self.trace.finished())
        self.assertEqual((stream.notes, stream.event_count), ([], 4))

    def test_every_truncation(self) -> None:
        whole = self.trace.finished()
        ends = [at + 64 + len(block.payload) for at, block in zip(self.trace.offsets(), self.trace.blocks)]
        for size in range(128, len(whole)):
            stream = decode_bytes(whole[:size])
            self.assertEqual(stream.event_count, 2 * sum(end <= size for end in ends[1:]), f"cut at {size}")
            self.assertEqual(stream.notes == [], size in (128, *ends, len(whole) - 24), f"cut at {size}")

    def test_every_bit_is_guarded(self) -> None:
        whole = self.trace.finished()
        for bit in range(8 * len(whole)):
            broken = bytearray(whole)
            broken[bit // 8] ^= 1 << bit % 8
            try:
                self.assertNotEqual(decode_bytes(bytes(broken)).notes, [], f"bit {bit}")
            except Damage as damage:
                self.assertLessEqual(damage.offset, 128)


class Broken(unittest.TestCase):
    """Checks behind the checksums: each must be seen, and said where."""

    def reason(self, trace: t.Trace) -> str:
        notes = decode_bytes(trace.finished()).notes
        self.assertEqual(len(notes), 1, notes)
        return notes[0].reason

    def column(self, column: t.Column, type_: int = U64, rows: int = 2) -> str:
        return self.reason(sample([t.Field(b"f", type_)], t.events(rows, [column])))

    def test_columns(self) -> None:
        two = [1, 2]
        for want, column, type_ in [
            ("width 9", t.Column(two, width=9), U64),
            ("transform 6", t.Column(two, transform=6), U64),
            ("encoding 1", t.Column(two, encoding=1), U64),
            ("encoding 0", t.Column(two), STR),
            ("patch of row 2", t.Column(two, patches=[(2, 1)]), U64),
            ("bytes wanted", t.Column(body=b"\1\0\0", width=0, encoding=128), U64),
            ("plane mode 7", t.Column(body=b"\7ab", width=1), U64),
            ("bytes wanted", t.Column(body=b"\0a", width=1), U64),
            ("Zstandard", t.Column(body=b"\1\4\0\0\0junk", width=1), U64),
            ("Zstandard", t.Column(body=b"\1" + t.string(b"").ljust(4, b"\0"), width=1), U64),
            ("not there", t.Column(two, transform=3, relative_to=1), U64),
            ("circle", t.Column(two, transform=3, relative_to=0), U64),
            ("texts of", t.Column([2**63, 2**63], texts=t.chunk(b"")), STR),
            ("3 bytes where 2", t.Column([1, 1], texts=t.chunk(b"abc")), STR),
            ("chunk mode 2", t.Column([1, 1], texts=t.chunk(b"ab", mode=2)), STR),
        ]:
            self.assertIn(want, self.column(column, type_))

    def test_frame_of_another_size(self) -> None:
        for size in (1, 3):
            body = b"\1" + t.framed(t.frame(b"x" * size))
            self.assertIn("Zstandard", self.column(t.Column(body=body, width=1)))

    def test_reference_to_text(self) -> None:
        fields = [t.Field(b"text", STR), t.Field(b"n")]
        columns = [t.Column([0, 0], texts=t.chunk(b"")), t.Column([1, 2], transform=3, relative_to=0)]
        self.assertIn("refers to a text", self.reason(sample(fields, t.events(2, columns))))

    def test_time_in_a_circle(self) -> None:
        block = t.events(1, [])
        block.payload = t.columns([t.Column([1], transform=3, relative_to=255), t.Column([3]), t.Column([0])])
        self.assertIn("circle", self.reason(sample([], block)))

    def test_headers(self) -> None:
        for want, change in [
            ("rows", {"rows": 0}),
            ("rows", {"rows": 65537}),
            ("no schema block", {"kind": 9}),
            ("checksum of a payload", {"payload_hash": 1}),
            ("time range", {"time_max": 1}),
            ("track filter", {"track_filter": 1}),
            ("name filter", {"name_filter": 1}),
        ]:
            trace = sample([t.Field(b"f")], t.events(2, [t.Column([1, 2])]))
            for name, value in change.items():
                setattr(trace.blocks[1], name, value)
            self.assertIn(want, self.reason(trace))

    def test_schema(self) -> None:
        for want, payload in [
            ("33 fields", t.kind(1, [t.Field(b"f")] * 33)),
            ("bytes wanted", t.kind(1, [t.Field(b"f")])[:-1]),
            ("field type 12", t.kind(1, [t.Field(b"f", 12)])),
        ]:
            self.assertIn(want, self.reason(t.Trace([t.Block(t.SCHEMA, payload)])))

    def test_definitions(self) -> None:
        for want, entry in [
            ("bytes wanted", t.definition(1, 1, b"abc", size=4)),
            ("bytes wanted", t.definition(2, 1, b"short")),
            ("bytes wanted", t.definition(4, 1, struct.pack("<QQII", 0, 0, 2**32 - 1, 1))),
            ("bytes wanted", t.definition(5, 1, b"short")),
        ]:
            self.assertIn(want, self.reason(t.Trace([t.Block(t.DEFINITIONS, t.chunk(entry))])))

    def test_index(self) -> None:
        trace = sample([t.Field(b"f")], t.events(2, [t.Column([1, 2])]))
        whole = trace.unfinished()
        entries = [trace.blocks[0].entry(128), trace.blocks[1].entry(129)]
        for want, data in [
            ("differs", trace.finished(t.Block(t.INDEX, t.chunk(b"".join(entries)), 2))),
            ("1 entries for 2", trace.finished(t.Block(t.INDEX, t.chunk(entries[0]), 1))),
            ("56 bytes where 112", trace.finished(t.Block(t.INDEX, t.chunk(entries[0]), 2))),
            ("outside", whole + trace.index().bytes() + t.footer(2**63)),
            ("type 3", whole + t.footer(trace.offsets()[1])),
        ]:
            stream = decode_bytes(data)
            self.assertIn(want, stream.notes[0].reason)
            self.assertEqual((stream.event_count, stream.found_by), (2, "scan"))


if __name__ == "__main__":
    unittest.main()
