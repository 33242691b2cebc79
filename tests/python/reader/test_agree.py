# SPDX-License-Identifier: Apache-2.0
"""The package and the command line tell the same: goldens, simulated and recorded runs, whole and through filters."""

from __future__ import annotations

import math
import random
from typing import Any

from common import GOLDEN, QUICK, check, cli, equal, finish, recorded, same_events, shown, simulated

import wheeltap

PROGRAM = """
import wheeltap
for n in range(5):
    wheeltap.step(n)
    wheeltap.stage("eval" if n == 3 else "train")
    wheeltap.context(fold=n % 2, rate=0.5 * n)
    with wheeltap.range("work"):
        with wheeltap.range("inner"):
            wheeltap.log(loss=1.0 / (n + 1))
    wheeltap.message("hello", "warning")
"""


def same_cell(cell: Any, value: Any) -> bool:
    if isinstance(value, float):
        return isinstance(cell, float) and (cell == value or (math.isnan(cell) and math.isnan(value)))
    return bool(cell == value) and isinstance(cell, type(value))


def expected_cell(fields: "dict[str, Any]", name: str, value: Any, types: "dict[str, str]") -> Any:
    """What a table has where a row has `value`: numbers of typed values are floats, hashes are in the bits."""
    if types[name] == "u64" and "type" in fields and types["type"] == "enum" and name in ("value", "old", "new"):
        return None if fields["type"] == "hash" or value is None else float(value)
    return str(value) if types[name] == "enum" else value


def compare_table(run: wheeltap.Run, kind: str) -> str:
    types = {field.name: field.type for field in run.kinds[kind].fields}
    rows = list(run.table(kind))  # as rows() gives them
    events = list(run.events(kind))
    if len(rows) != len(events):
        return f"{kind}: {len(rows)} rows, {len(events)} events"
    for row, event in zip(rows, events):
        head = (row["time_ns"], row["stream"], row["track"], row["seq"])
        if head != (event.time_ns, event.stream, event.track, event.seq):
            return f"{kind}: {row} {event}"
        for name, value in event.fields.items():
            if name == "site" and not isinstance(value, str):
                value = None
            elif not (kind == "call_begin" and name == "site"):
                value = expected_cell(event.fields, name, value, types)
            if not same_cell(row[name], value):
                return f"{kind}.{name}: {row[name]!r} is not {value!r}\n{row}\n{event}"
    return ""


def compare(what: str, path: str) -> None:
    run = wheeltap.open(path)
    problem = same_events(run, run.events(), shown(path))
    check(f"{what}: the events of the command line", not problem, problem)
    problems = [problem for problem in (compare_table(run, kind) for kind in run.kinds) if problem]
    check(f"{what}: tables have what rows have", not problems, *problems)
    pieces = [row for kind in run.kinds for piece in run.batches(kind, rows=777) for row in piece.rows()]
    whole = [row for kind in run.kinds for row in run.table(kind).rows()]
    check(f"{what}: batches are the table in pieces", repr(pieces) == repr(whole))


def test_goldens() -> None:
    for path in sorted(GOLDEN.glob("*.wt")):
        compare(path.name, str(path))


def test_filters(path: str) -> None:
    run = wheeltap.open(path)
    ends = [event.time_ns for event in run.events()]
    begin, end = ends[len(ends) // 3], ends[len(ends) // 2]
    for what, options, question in (
            ("kind", ["--kind", "counter,context"], {"kind": ["counter", "context"]}),
            ("name", ["--name", "*l*"], {"name": "*l*"}),
            ("track", ["--track", "0:1"], {"track": (0, 1)}),
            ("step", ["--step", "3"], {"step": 3}),
            ("time", ["--from", f"{begin / 1e9:.9f}s", "--to", f"{end / 1e9:.9f}s"], {"time": (begin, end)}),
            ("step, stage and kind", ["--step", "3", "--stage", "eval", "--kind", "counter"],
             {"step": 3, "stage": "eval", "kind": "counter"})):
        problem = same_events(run, run.events(**question), shown(path, *options))
        check(f"filter by {what}", not problem, problem)
    names = {event.fields["name"] for event in run.events("counter", fields=["name"])}
    equal("only the fields that are asked for", [set(event.fields) for event in run.events("counter", fields=["name"])],
          [{"name"}] * len(run.table("counter")))
    check("names are texts", all(isinstance(name, str) for name in names))


def steps_by_hand(run: wheeltap.Run, kind: str) -> "list[Any]":
    """The step of each row by the rule: the last that its track set, or its stream where the track never does."""
    setters: "dict[tuple[int, int], list[tuple[int, int]]]" = {}
    streams: "dict[int, list[tuple[int, int]]]" = {}
    for row in run.table("context", fields=["ticks", "stream", "track", "key", "value"]).rows():
        if row["key"] == "step":
            setters.setdefault((row["stream"], row["track"]), []).append((row["ticks"], int(row["value"])))
            streams.setdefault(row["stream"], []).append((row["ticks"], int(row["value"])))
    steps = []
    for row in run.table(kind, fields=["ticks", "stream", "track"]).rows():
        changes = setters.get((row["stream"], row["track"]), streams.get(row["stream"], []))
        known = [value for ticks, value in changes if ticks <= row["ticks"]]
        steps.append(known[-1] if known else None)
    return steps


def test_context(path: str) -> None:
    run = wheeltap.open(path)
    for kind in run.kinds:
        table = run.table(kind, fields=["time_ns"], context=["step"])
        if len(table) <= 3000:
            equal(f"steps of {kind}", table["step"].to_list(), steps_by_hand(run, kind))
    steps = [step for step in run.table("counter", context=["step"])["step"].to_list() if step is not None]
    counts = {step: steps.count(step) for step in set(steps)}
    equal("the column agrees with the filter",
          {step: len(run.table("counter", step=step)) for step in counts}, counts)


def test_program() -> None:
    path = recorded("program", PROGRAM)
    compare("a recorded program", path)
    test_filters(path)
    test_context(path)
    run = wheeltap.open(path)
    rows = [row for row in run.losses.rows()]
    equal("losses", [row["value"] for row in rows], [1.0 / (n + 1) for n in range(5)])
    equal("steps of losses", [row["step"] for row in rows], list(range(5)))
    equal("stages of losses", [row["stage"] for row in rows], ["train"] * 3 + ["eval", "train"])
    table = run.table("counter", context=["fold", "rate", "none"])
    equal("whole numbers of the user's", (table["fold"].type, table["fold"].to_list()), ("int64", [0, 1, 0, 1, 0]))
    equal("other numbers", (table["rate"].type, table["rate"].to_list()), ("float64", [0.0, 0.5, 1.0, 1.5, 2.0]))
    equal("a variable that nobody set", table["none"].to_list(), [None] * 5)
    spans = run.spans(context=["step"])
    equal("spans", [(row["name"], row["depth"], row["parent"], row["step"]) for row in spans.rows()],
          [span for n in range(5) for span in (("work", 0, None, n), ("inner", 1, 2 * n, n))])
    inner = run.spans(name="inner", context=[])
    equal("spans by name have no parent in the table", inner["parent"].to_list(), [None] * 5)
    equal("but their depth", inner["depth"].to_list(), [1] * 5)
    equal("and duration", inner["duration_ns"].to_list(), spans["duration_ns"].to_list()[1::2])
    check("self is duration without what is inside",
          all(row["self_ns"] == row["duration_ns"] - other["duration_ns"]
              for row, other in zip(list(spans.rows())[::2], list(spans.rows())[1::2])))
    equal("status and command", (run.status, run.info["command"][0], run.complete), ("finished", "/usr/bin/python3", True))
    check("by name below the home", cli("info", path).returncode == 0)


def test_clocks() -> None:
    run = wheeltap.open(str(GOLDEN / "extreme_level0.wt"))
    for kind in run.kinds.values():
        ticks = [field.name for field in kind.fields if field.type == "ticks"]
        if ticks:
            table = run.table(kind.name, fields=ticks + [name + "_ticks" for name in ticks])
            check(f"{kind.name}: raw time stamps beside times", all(
                table[name].type == "int64" and table[name + "_ticks"].type == "uint64" for name in ticks))


def main() -> None:
    random.seed(1)
    if QUICK:
        compare("all kinds", str(GOLDEN / "kinds_level0.wt"))
        test_program()
        finish()
    test_goldens()
    test_clocks()
    compare("all kinds, simulated", simulated("kinds", "--kinds", "all", "--events", "6000", "--seed", "3"))
    workload = simulated("work", "--events", "20000", "--seed", "7")
    compare("a workload, simulated", workload)
    test_filters(workload)
    test_context(simulated("small", "--events", "2500", "--seed", "9"))
    test_program()
    finish()


main()
