#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Names of a trace that a terminal would obey, and fields of one name: what the package shows of them, and that none is lost.

usage: test_hostile.py WHEELTAP SOURCE
"""

from __future__ import annotations

import sys
from typing import Any

from common import FOLDER, SOURCE, check, equal, finish

sys.path.insert(0, str(SOURCE / "tests" / "cli"))
import hostile  # noqa: E402
from hostile import t  # noqa: E402

import wheeltap  # noqa: E402


def safe(what: str, text: str) -> None:
    why = hostile.harm(text.encode()) or ("a newline" if "\n" in text else "")
    check(f"{what} is safe", not why, why)


def error_of(call: Any) -> str:
    try:
        call()
    except (wheeltap.TraceError, KeyError) as error:
        return str(error)
    return ""


def shown() -> None:
    schema = SOURCE / "schema" / "events.toml"
    folder = hostile.write_run(FOLDER / hostile.EVIL_TEXT, schema)
    # A kind is asked for by its name as text, which bytes that are no UTF-8 do not have.
    hostile.every_kind(schema, True, hostile.EVIL_UTF8).write(folder / "0002.wt")
    run = wheeltap.open(str(folder))
    safe("a run", repr(run))
    check("it has the name", "Q\\x1b[31mZ" in repr(run), repr(run))
    evil = [kind.name for kind in run.kinds.values() if "\x1b" in kind.name]
    check("there are hostile kinds", len(evil) > 30, evil)
    for name in evil[:3] + ["log"]:
        table = run.table(name)
        safe("a table", repr(table))
        safe("its columns", " ".join(repr(column) for column in table.columns.values()))
        safe("a column that it does not have", error_of(lambda: table[hostile.EVIL_TEXT]))
        safe("a field that it does not have", error_of(lambda: run.table(name, fields=[hostile.EVIL_TEXT + "x"])))
    for item in (*run.streams, *run.tracks, *run.processes, *run.kinds.values(), next(iter(run.events()))):
        safe(type(item).__name__, repr(item))
    safe("a kind that there is not", error_of(lambda: run.table(hostile.EVIL_TEXT)))
    safe("a run that there is not", error_of(lambda: wheeltap.open("no" + hostile.EVIL_TEXT)))
    broken = FOLDER / ("b" + hostile.EVIL_TEXT + ".wt")
    broken.write_bytes(b"no trace")
    message = error_of(lambda: wheeltap.open(str(broken)))
    safe("a file that is no trace", message)
    check("which is named", "Q\\x1b[31mZ" in message, message)


def twice() -> None:
    names = [b"a", b"a", b"A", b"", b"", b"seq", b"a_2"]
    trace = t.Trace()
    trace.blocks.append(t.Block(t.SCHEMA, t.kind(200, [t.Field(name, 2) for name in names], b"odd")))
    trace.blocks.append(t.events(2, [t.Column([10 * i, 10 * i + 1]) for i in range(len(names))], 200))
    path = FOLDER / "twice.wt"
    path.write_bytes(trace.finished())
    run = wheeltap.open(str(path))
    table = run.table("odd")
    fields = ["a", "a_3", "A", "", "_2", "seq_2", "a_2"]
    equal("columns of a table have each name once", table.names, ["time_ns", "stream", "track", "seq", *fields])
    equal("and each the values of its field", [table[name].to_list() for name in fields], [[10 * i, 10 * i + 1] for i in range(len(names))])
    equal("also one by one", run.table("odd", fields=["a_3"])["a_3"].to_list(), [10, 11])
    rows = [event.fields for event in run.events()]
    equal("so have rows", rows[1], dict(zip(["a", "a_3", "A", "", "_2", "seq", "a_2"], range(1, 71, 10))))


shown()
twice()
finish()
