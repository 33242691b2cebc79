# SPDX-License-Identifier: Apache-2.0
"""Calls of the program's own functions, on every interpreter there is: the program runs as it does without."""

from __future__ import annotations

from recorded import Harness, main
from test_hooks import interpreters, version_of

PROGRAM = """
import pstats, sys, threading, traceback
import helper

def add(a, b=2, *rest, c=3, **more):
    return a + b + c + sum(rest)

class Net:
    def forward(self, x):
        return add(x, c=1)

    @staticmethod
    def still(x):
        return x

def fails(n):
    if n == 0:
        raise ValueError("private text")
    return fails(n - 1)

def count(n):
    for i in range(n):
        yield add(i)

def outer(k):
    def inner():
        return k
    return inner

def deep(n):
    return 0 if n == 0 else deep(n - 1) + 1

def later():
    add(100)

net = Net()
print([net.forward(i) for i in range(3)], Net.still(5), list(count(3)), outer(7)(), helper.help(1), (lambda: 3)())
try:
    fails(2)
except ValueError as error:
    print(len(traceback.extract_tb(error.__traceback__)), error.__context__, error.args)
thread = threading.Thread(target=later)
thread.start()
thread.join()
limit = sys.getrecursionlimit()
try:
    deep(limit + 100)
except RecursionError:
    print("recursion ends")
if sys.version_info >= (3, 11):
    sys.setrecursionlimit(60000)
    print(deep(50000))
made = pstats.FunctionProfile("1", 0.0, 0.0, 0.0, 0.0, "f", 1)  # its __init__ is made from text, for a library
code = add.__code__
print(sys.gettrace(), sys.getprofile(), code.co_name)
"""
HELPER = "def help(x):\n    return x\n"


def check(t: Harness, version: str) -> None:
    (t.folder / "helper.py").write_text(HELPER)
    bare = t.bare(PROGRAM)
    run = t.record(PROGRAM, "--modules", "__main__")
    t.equal(f"{version}: the program runs as it does", (run.status, run.output), (bare.status, bare.output), run.errors)
    counts = {name: len(run.calls(name)) for name in ("add", "fails", "later", "help")}
    t.equal(f"{version}: every call is told", counts, {"add": 7, "fails": 3, "later": 1, "help": 1})
    own = {call["module"] for call in run.of("call_begin")}
    t.equal(f"{version}: of the program's own files and no others", own, {"__main__", "helper"})
    method = "Net.forward" if version >= "3.11" else "forward"
    first = next((e for e in run.events if e["kind"] == "call_begin" and e["fields"]["callee"] == method), None)
    given = [a for a in run.of("argument") if first and a["call"] == first["seq"]]
    t.equal(f"{version}: with arguments and what they return", [(a["name"], a["position"], a["value"]) for a in given],
            [("self", 0, None), ("x", 1, 0), ("", -1, 3)], first)
    raised = [end["callee"] for end in run.of("call_end") if end["exception"] == "ValueError"]
    t.equal(f"{version}: and what they raise", raised, ["fails"] * 3)
    begins, ends = len(run.of("call_begin")), len(run.of("call_end"))
    t.equal(f"{version}: each begin has its end", begins, ends)
    run = t.record(PROGRAM, "--only", "__main__.Net.*" if version >= "3.11" else "__main__.forward")
    t.equal(f"{version}: --only chooses among them", {c["callee"] for c in run.of("call_begin")} - {"Net.still"}, {method})


def test_interpreters(t: Harness) -> None:
    for path in interpreters(t.python):
        version = version_of(path)
        if path != t.python:
            added = t.execute([t.wheeltap, "python", "add", path])
            t.equal(f"{version}: an agent can be added", added.status, 0, added.errors)
        t.python, first = path, t.python
        check(t, version.replace("3.9", "3.09"))
        t.python = first
    print(f"# interpreters: {' '.join(version_of(path) for path in interpreters(t.python))}")


if __name__ == "__main__":
    main(test_interpreters)
