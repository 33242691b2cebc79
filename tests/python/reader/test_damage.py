# SPDX-License-Identifier: Apache-2.0
"""Cut, flipped, foreign and hostile files: what is sound is read, what is not is said, nothing crashes."""

from __future__ import annotations

import json
import os
import random

from common import FOLDER, GOLDEN, check, cli, equal, finish, simulated

import wheeltap


def read_all(path: str) -> "tuple[int, list[str]]":
    """Reads all there is, in every way; the number of events and the warnings."""
    run = wheeltap.open(path)
    count = sum(1 for _ in run.events())
    tables = 0
    for kind in run.kinds:
        table = run.table(kind, context=["step", "stage", "rank"])
        tables += len(table)
        for column in table.columns.values():
            column.to_list()
    assert tables == count, f"{path}: {tables} rows in tables, {count} events"
    run.calls()
    run.spans()
    repr(run)
    assert run.complete in (True, False)
    return count, run.warnings


def told(path: str) -> "tuple[int, list[str], str]":
    """The same by the command line: events, notes, error."""
    answer = json.loads(cli("view", "--json", path).stdout)
    if answer["status"] == "error":
        return 0, [], str(answer["error"]["message"])
    return answer["count"], answer["notes"], ""


def same(path: str) -> str:
    count, notes, error = told(path)
    try:
        found = read_all(path)
    except wheeltap.TraceError as problem:
        text = f"{problem} (byte {problem.offset})"
        return "" if error and (error in text or text in error) else f"{problem} | {error}"
    return "" if not error and found == (count, notes) else f"{found} | {(count, notes, error)}"


def test_goldens() -> None:
    problems = {path.name: same(str(path)) for path in sorted((GOLDEN / "errors").glob("*.wt"))}
    problems = {name: problem for name, problem in problems.items() if problem}
    check("each broken file is told as the command line tells it", not problems, problems)


def test_cut_and_flipped() -> None:
    data = open(os.path.join(simulated("whole", "--kinds", "all", "--events", "4000"), "sim-00.wt"), "rb").read()
    path = str(FOLDER / "damaged.wt")
    chance = random.Random(5)
    problems = []
    for variant in range(120):
        changed = bytearray(data)
        if variant % 4 == 0:
            del changed[chance.randrange(len(data)):]
        else:
            for _ in range(1 + variant % 3):
                changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        with open(path, "wb") as file:
            file.write(changed)
        if variant % 12 < 2:
            problem = same(path)
        else:
            try:
                read_all(path)
                problem = ""
            except wheeltap.TraceError:
                problem = ""
        if problem:
            problems.append(f"variant {variant}: {problem}")
    check("damaged files are read as far as they are sound", not problems, *problems)


def test_errors() -> None:
    (FOLDER / "hollow").mkdir()
    for word in ("nowhere", "./nowhere", str(FOLDER / "hollow"), "bad\0name"):
        try:
            wheeltap.open(word)
            check(f"{word!r} is refused", False)
        except wheeltap.TraceError as problem:
            said = cli("info", word).stderr if "\0" not in word else ""
            check(f"{word!r}: the words of the command line", not said or str(problem) in said, problem, said)
    os.environ["WHEELTAP_HOME"] = str(FOLDER / "empty")
    try:
        wheeltap.open()
    except wheeltap.TraceError as problem:
        check("no runs: what to do", "wheeltap record" in str(problem) and problem.code == "missing", problem)
    os.environ["WHEELTAP_HOME"] = str(FOLDER / "home")
    for seed in ("1", "2"):
        simulated(f"home/run{seed}", "--events", "100", "--seed", seed)
    equal("the latest", wheeltap.open().name, json.loads(cli("info", "--json").stdout)["run"])
    equal("by name below the home", wheeltap.open("run1").path, str(FOLDER / "home" / "run1"))
    del os.environ["WHEELTAP_HOME"]


def test_files_that_are_none() -> None:
    """A FIFO in place of run.json or of a stream is not waited for."""
    run = simulated("special", "--events", "2000")
    os.unlink(os.path.join(run, "run.json"))
    os.mkfifo(os.path.join(run, "run.json"))
    equal("run.json is a FIFO", wheeltap.open(run).info, {})
    os.mkfifo(os.path.join(run, "zz.wt"))
    check("a stream is a FIFO", any("it is a FIFO" in text for text in wheeltap.open(run).warnings))


def test_questions() -> None:
    run = wheeltap.open(str(GOLDEN / "kinds_level0.wt"))
    for what, ask, word in (
            ("a kind", lambda: run.table("cal_begin"), "did you mean 'call_begin'"),
            ("a kind of rows", lambda: list(run.events("countr")), "did you mean 'counter'"),
            ("a field", lambda: run.table("call_begin", fields=["calee"]), "did you mean 'callee'"),
            ("a field of rows", lambda: list(run.events("call_begin", fields=["calee"])), "did you mean 'callee'"),
            ("no fields at all", lambda: run.table("call_begin", fields=[]), "no fields")):
        try:
            ask()
            check(f"{what} that is not there", False)
        except wheeltap.TraceError as problem:
            check(f"{what} that is not there", word in str(problem) and problem.code == "argument", problem)
    for what, ask in (("a number as kind", lambda: run.table(3)), ("a text as time", lambda: run.table("mark", time=("a", 1)))):
        try:
            ask()
            check(f"{what} is a TypeError", False)
        except TypeError:
            check(f"{what} is a TypeError", True)
    equal("a kind of ours that the run does not have", len(wheeltap.open(str(GOLDEN / "one_row.wt")).table("syscall")), 0)
    try:
        run._trace.scan(("mark",), None, (), (), None, None, None, None, 10).columns(1 << 40)
        check("a table larger than the memory", False)
    except wheeltap.TraceError as problem:
        check("a table larger than the memory is refused with advice", "batches" in str(problem), problem)


def main() -> None:
    test_goldens()
    test_cut_and_flipped()
    test_errors()
    test_files_that_are_none()
    test_questions()
    finish()


main()
