# SPDX-License-Identifier: Apache-2.0
"""Streams of a few kilobytes that stand for hundreds of thousands of events, which the format allows: a column whose rows
are all the same, or count up, takes 24 bytes. What a reader keeps for each event, track, name or process adds up here."""

from __future__ import annotations

import random
import sys
import tomllib
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


def events(name: str, block: int, counts: set[str]) -> t.Block:
    """One block; the fields in `counts` have another value in each row, the others are 1. So has `track`, if it is in there."""
    kind = SCHEMA[name]
    start = block * ROWS
    time = 1000 + 10 * start
    columns = [counting(time, 10), counting(1 + start, 1) if "track" in counts else counting(3, 0),
               counting(0, 0) if "track" in counts else counting(start, 1)]  # fmt: skip
    for field in kind["fields"]:
        step = int(field["name"] in counts)
        columns.append(column(TYPES.get(field["type"], ENUM), 1 + start * step, step))
    return t.Block(t.EVENTS, t.columns(columns), ROWS, kind["number"], time, time + 10 * (ROWS - 1), t.MASK64, t.MASK64)


def stream(name: str, blocks: int, counts: set[str]) -> bytes:
    kind = SCHEMA[name]
    fields = [t.Field(field["name"].encode(), TYPES.get(field["type"], ENUM)) for field in kind["fields"]]
    described = t.Block(t.SCHEMA, t.kind(kind["number"], fields, name.encode()))
    return t.Trace([described, *(events(name, block, counts) for block in range(blocks))]).finished()


def any_stream(chance: random.Random) -> tuple[bytes, str]:
    name = chance.choice(sorted(SCHEMA))
    fields = ["track", *(field["name"] for field in SCHEMA[name]["fields"])]
    counts = {field for field in fields if chance.random() < 0.5}
    blocks = chance.randint(1, BLOCKS_MAX)
    return stream(name, blocks, counts), f"{blocks * ROWS} events of {name}; counting: {', '.join(sorted(counts)) or 'none'}"
