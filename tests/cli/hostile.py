# SPDX-License-Identifier: Apache-2.0
"""Runs, packs and configurations in which every text is hostile to a terminal, and what may be printed of them.

Traces are put together by tests/python/trace_parts.py, because the writer knows no kinds and fields of other names. The
kinds come from schema/events.toml: a new one is hostile, too, without a change here.
"""

from __future__ import annotations

import json
import re
import struct
import sys
import tomllib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
import trace_parts as t  # noqa: E402

TYPES = {"u32": 1, "u64": 2, "i32": 3, "i64": 4, "f64": 5, "name": 6, "hash": 7, "ticks": 8, "str": 9, "enum": 10,
         "bytes": 11, "flags": 1}  # flags are a u32 in a trace
NAN = 0x7FF8000000000000
TRACK = 3

# Colour, title, bell; the same from C1; turning the line; isolates; a backspace; bytes that are not UTF-8; a line of its own.
EVIL = ("Q\x1b[31mZ\x1b]0;t\x07\u009b2J\u202e\u2066\u200f\x08\x7f").encode() + b"\xff\xc0\x9b\r\nFORGED"
EVIL_TEXT = EVIL.decode("utf-8", "replace")  # for files that must be UTF-8
EVIL_UTF8 = EVIL_TEXT.encode()
EVIL_SHORT = b"Q\x1b[31mZ\x07\n"  # of 15 bytes at most
# What is left of EVIL in each way of escaping: text, JSON, the octal of strace, what replaces.
MARKS = (b"Q\\x1b[31mZ", b"Q\\\\33[31mZ", b"Q\\u001b[31mZ", b"Q\\33[31mZ", b"Q\\033[31mZ", "Q\ufffd[31mZ".encode(), b"Q\\\\x1b\\[31mZ", b"Q\\\\x1b[31mZ")


def say(text: str, short: str) -> None:
    """Lets all that is made from now on have `text` for its texts, which need not be hostile, and `short` of 15 bytes at most."""
    global EVIL, EVIL_TEXT, EVIL_UTF8, EVIL_SHORT
    EVIL_TEXT, EVIL, EVIL_UTF8, EVIL_SHORT = text, text.encode(), text.encode(), short.encode()


ALLOWED_CONTROLS = "\n\t"
HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
OUR_COLOURS = re.compile("\x1b\\[(0|1|2|31|32|33)m")


def harm(data: bytes, colours: bool = False, forging: bool = True) -> str:
    """What of it would be obeyed by a terminal, or breaks a line that it should not; "": nothing."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8: {error}"
    if "Q\x1b" in text:
        return "a colour that is not ours"
    if colours:
        text = OUR_COLOURS.sub("", text)
    for found in HARMFUL.finditer(text.replace("\r\n", "\n")):
        if found[0] not in ALLOWED_CONTROLS:
            at = found.start()
            return f"U+{ord(found[0]):04X} after {text[max(0, at - 60):at]!r}"
    if forging and re.search("^FORGED", text, re.M):
        return "a line that we did not write"
    return ""


def shows(data: bytes) -> bool:
    return any(mark in data for mark in MARKS)


# ---- Traces ----------------------------------------------------------------------------------------


def text_column(texts: list[bytes]) -> t.Column:
    return t.Column([len(x) for x in texts], width=2, texts=t.chunk(b"".join(texts)))


def header(command: bytes, pid: int = 42) -> bytes:
    identity = struct.pack("<16sIIQII16s48s", bytes(range(16)), pid, 1, 777, 0, 2, command, b"")
    return t.with_checksum(b"\x89WTAP\r\n\x1a" + struct.pack("<HHI", 1, 0, 128) + identity)


def definitions() -> t.Block:
    entries = [
        t.definition(1, 1, EVIL),
        t.definition(1, 2, b"=" + EVIL),
        t.definition(1, 3, b"step"),
        t.definition(1, 4, b"stage"),
        t.definition(2, TRACK, struct.pack("<IIII", 1, 55, 0, 0) + EVIL),
        t.definition(2, 4, struct.pack("<IIII", 2, 0, 0, 0) + EVIL),
        t.definition(3, 1, struct.pack("<QQ", 0x401000, 0x402000)),
        t.definition(4, 1, struct.pack("<QQII", 0x400000, 8192, 3, len(EVIL) + 1) + b"\1\2\3" + b"/" + EVIL),
        t.definition(5, 1, struct.pack("<IIII", 1, 1, 30, 0)),
    ]
    return t.Block(t.DEFINITIONS, t.chunk(b"".join(entries)), len(entries))


def value_of(field: dict[str, Any], row: int) -> int:
    name, kind = field["name"], field["type"].split(":")[0]
    if kind == "name":
        return 1 + row % 2
    if name in ("site", "stack"):
        return 1
    if name == "type" and field["type"] == "enum:value_type":
        return 5  # a text
    if kind == "enum":
        return (0, 1, 250)[row]
    return NAN if kind == "f64" else row + 1


class Stream:
    def __init__(self, command: bytes | None = None, pid: int = 42) -> None:
        self.trace = t.Trace(header=header(EVIL_SHORT if command is None else command, pid))
        self.trace.blocks.append(definitions())
        self.seq = 0
        self.time = 1000

    def kind(self, number: int, fields: list[t.Field], name: bytes) -> None:
        self.trace.blocks.append(t.Block(t.SCHEMA, t.kind(number, fields, name)))

    def events(self, number: int, columns: list[t.Column], rows: int) -> None:
        times = [self.time + i for i in range(rows)]
        block = t.events(rows, columns, number, times, self.seq)
        block.name_filter = t.MASK64
        self.trace.blocks.append(block)
        self.seq += rows
        self.time += 1000

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.trace.finished())


def every_kind(schema: Path, hostile_names: bool, evil: bytes | None = None) -> Stream:
    """Three rows of each kind; with `hostile_names` kinds, fields and values of enumerations are called so, too."""
    evil = evil or EVIL
    raw = tomllib.loads(schema.read_text())
    stream = Stream()
    for name, kind in sorted(raw["kind"].items(), key=lambda item: int(item[1]["number"])):
        fields, columns = [], []
        for field in kind["fields"]:
            base = field["type"].split(":")[0]
            values = raw["enum"][field["type"][5:]]["values"] if base == "enum" else []
            called = field["name"].encode() + (evil if hostile_names else b"")
            fields.append(t.Field(called, TYPES[base], enum_names=[evil if hostile_names else v.encode() for v in values]))
            if base in ("str", "bytes"):
                columns.append(text_column([EVIL, b"@" + EVIL, b""]))
            else:
                columns.append(t.Column([value_of(field, row) for row in range(3)]))
        number = int(kind["number"]) + (1000 if hostile_names else 0)
        stream.kind(number, fields, name.encode() + (evil if hostile_names else b""))
        stream.events(number, columns, 3)
    return stream


def memory(argument: int, data: bytes) -> bytes:
    """A piece of what the arguments of a system call point to."""
    return struct.pack("<HBB", len(data), argument, 0) + data


def system_calls(schema: Path, extra: bool = False) -> Stream:
    """A process of a hostile name opens, writes and closes a file of one; twice, with `extra`."""
    raw = tomllib.loads(schema.read_text())["kind"]
    stream = Stream(b"")
    for name in ("task", "syscall", "task_end"):
        fields = [t.Field(f["name"].encode(), TYPES[f["type"].split(":")[0]]) for f in raw[name]["fields"]]
        stream.kind(int(raw[name]["number"]), fields, name.encode())
    stream.events(42, [t.Column([55]), t.Column([55]), t.Column([0]), t.Column([0]), text_column([EVIL_SHORT])], 1)
    path = memory(1, b"/" + EVIL + b"\0")
    calls = [(257, [t.MASK64 - 99, 4096, 0o102, 0o644], 3, path), (1, [3, 4096, 4], 4, memory(1, EVIL[:4])),
             (59, [4096, 0, 0], -2, memory(0, b"/" + EVIL + b"\0")), (3, [3], 0, b"")]
    for nr, arguments, result, text in calls * (2 if extra else 1):
        arguments = arguments + [0] * (6 - len(arguments))
        numbers = [nr, 1, *arguments, result & t.MASK64, 100]
        columns = [t.Column([n]) for n in numbers] + [text_column([text])] + [t.Column([n]) for n in (1, 0, 0, 50)]
        stream.events(24, columns, 1)
    stream.events(43, [t.Column([55]), t.Column([55]), t.Column([0]), t.Column([1])], 1)
    return stream


def write_run(folder: Path, schema: Path, extra: bool = False) -> Path:
    run_json = {"schema": 1, "command": [EVIL_TEXT, EVIL_TEXT], "status": EVIL_TEXT, "start_ns": 1767322800 * 10**9,
                "duration_ns": 10**9, "events": 17, "lost": 0, "directory": "/" + EVIL_TEXT, "host": EVIL_TEXT,
                "environment": {EVIL_TEXT: EVIL_TEXT}, "syscalls": {"backend": EVIL_TEXT}}
    every_kind(schema, False).write(folder / "0001.wt")
    every_kind(schema, True).write(folder / "0002.wt")
    system_calls(schema, extra).write(folder / "syscalls.wt")
    (folder / "run.json").write_text(json.dumps(run_json))
    return folder


# ---- What is beside runs ---------------------------------------------------------------------------


def pack() -> dict[str, Any]:
    invariant = {"relation": "order", "subject": [EVIL_TEXT], "holds": ["since", EVIL_TEXT],
                 "when": [[{"feature": "stage", "not": EVIL_TEXT}]]}
    never = {"what": EVIL_TEXT, "reason": EVIL_TEXT, "until": "2001-01-01"}
    return {"wheeltap": "pack", "version": 1, "source": EVIL_TEXT, "invariants": [invariant], "suppressed": [never]}


def their_state(rank: int, step: int, value: int) -> str:
    """A line of a trace of TrainCheck."""
    meta = {"step": step, "stage": EVIL_TEXT, "_DATA_PARALLEL_RANK": rank}
    attributes = {"data": value, "grad": None, "shape": [2, 2], "dtype": EVIL_TEXT, "requires_grad": True, EVIL_TEXT: EVIL_TEXT}
    return json.dumps({"var_type": EVIL_TEXT, "thread_id": 1, "type": "state_change", "var_name": EVIL_TEXT,
                       "process_id": 10 + rank, "time": 100 * step + rank, "meta_vars": meta, "attributes": attributes})


def their_invariant(parameter: dict[str, str], group: str = EVIL_TEXT) -> str:
    clause = {"type": "unequal", "prop_name": "process_id", "prop_dtype": "int"}
    condition = {group: {"inverted": False, "preconditions": [{"clauses": [clause]}]}}
    return json.dumps({"relation": "ConsistencyRelation", "params": [parameter] * 2, "precondition": condition,
                       "num_positive_examples": 100, "text_description": EVIL_TEXT})


def toml(text: str) -> str:
    """A basic string of TOML."""
    return json.dumps(text).replace("\x7f", "\\u007f")
