# SPDX-License-Identifier: Apache-2.0
"""Streams of a few kilobytes that stand for hundreds of thousands of events, which the format allows: a column whose rows
are all the same, or count up, takes 24 bytes. What a reader keeps for each event, track, name or process adds up here."""

from __future__ import annotations

import random
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "python"))
import trace_parts as t  # noqa: E402

ROWS = 65536
BLOCKS_MAX = 4
TYPES = {"u32": 1, "u64": 2, "i32": 3, "i64": 4, "f64": 5, "name": 6, "hash": 7, "ticks": 8, "str": 9}
ENUM = 10
SCHEMA = tomllib.loads((HERE.parent.parent / "schema" / "events.toml").read_text())["kind"]


def counting(first: int, step: int) -> t.Column:
    return t.Column(width=0, transform=1, first=(first - step) & t.MASK64, bias=step & t.MASK64)


def column(type_: int, first: int, step: int) -> t.Column:
    if type_ == TYPES["str"]:
        return t.Column(width=0, texts=t.chunk(b""))
    return counting(0, 0) if type_ == ENUM else counting(first, step)


@dataclass
class Part:
    """Blocks of one kind. The fields in `counts` have another value in each row, the others are 1; `track` may be one of them."""

    name: str
    blocks: int
    counts: set[str]

    def described(self) -> t.Block:
        kind = SCHEMA[self.name]
        fields = [t.Field(field["name"].encode(), TYPES.get(field["type"], ENUM)) for field in kind["fields"]]
        return t.Block(t.SCHEMA, t.kind(kind["number"], fields, self.name.encode()))

    def block(self, number: int, before: int, place: int) -> t.Block:
        """The block of that number in this part; `before` stand in front of the part, which is the one at `place`."""
        kind = SCHEMA[self.name]
        start = number * ROWS
        time = 1000 + 10 * ROWS * (before + number)
        is_spread = "track" in self.counts  # each track has one event of each part
        columns = [counting(time, 10), counting(1 + start, 1) if is_spread else counting(3, 0),
                   counting(place, 0) if is_spread else counting(ROWS * before + start, 1)]  # fmt: skip
        for field in kind["fields"]:
            step = int(field["name"] in self.counts)
            columns.append(column(TYPES.get(field["type"], ENUM), 1 + start * step, step))
        return t.Block(t.EVENTS, t.columns(columns), ROWS, kind["number"], time, time + 10 * (ROWS - 1), t.MASK64, t.MASK64)


def stream(parts: list[Part]) -> bytes:
    blocks = [part.described() for part in parts]
    before = 0
    for place, part in enumerate(parts):
        blocks += [part.block(number, before, place) for number in range(part.blocks)]
        before += part.blocks
    return t.Trace(blocks).finished()


def any_part(chance: random.Random, name: str, blocks: int) -> Part:
    fields = ["track", *(field["name"] for field in SCHEMA[name]["fields"])]
    return Part(name, blocks, {field for field in fields if chance.random() < 0.5})


def any_stream(chance: random.Random) -> tuple[bytes, str]:
    # What belongs together finds more to keep than what does not.
    together = chance.choice((["task", "syscall"], ["task", "syscall", "task_end"], ["call_begin", "argument", "call_end"],
                              ["object", "member", "state"], ["context", "state"], ["context", "call_begin", "tensor"],
                              ["span_begin", "span_end"], ["device_op", "edge"], ["task", "descriptor", "syscall"]))  # fmt: skip
    names = together if chance.random() < 0.5 else chance.sample(sorted(SCHEMA), chance.randint(1, 2))
    blocks = chance.randint(1, BLOCKS_MAX)
    parts = [any_part(chance, name, max(1, blocks // len(names))) for name in names]
    said = [f"{part.blocks * ROWS} of {part.name}, counting {', '.join(sorted(part.counts)) or 'nothing'}" for part in parts]
    return stream(parts), "; ".join(said)
