# SPDX-License-Identifier: Apache-2.0
"""Hooks in the callables of the interpreter itself, of every calling convention, on every interpreter there is."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys

from recorded import TIMEOUT, Harness, Run, main

# Calls often enough for the interpreter to specialise; each must still be seen, and nothing must look different.
CALLS = """
import math, operator, pickle, sys, types, copy, inspect
from wheeltap import _wheeltap as core

def plain(a, b=2, *rest, c=3, **more):
    "doc"
    return a + b + c + sum(rest) + sum(more.values())

class Thing:
    def method(self, x):
        return x + 1

def generate(n):
    yield from range(n)

def recurse(n):
    return 0 if n == 0 else 1 + recurse(n - 1)

targets = {
    "one argument": (math.sqrt, lambda: math.sqrt(4.0), 2.0),
    "no argument": (sys.getrecursionlimit, lambda: sys.getrecursionlimit(), sys.getrecursionlimit()),
    "fast": (math.gcd, lambda: math.gcd(12, 18), 6),
    "fast with names": (sorted, lambda: sorted((3, 1), reverse=True), [3, 1]),
    "tuple": (math.hypot, lambda: math.hypot(3.0, 4.0), 5.0),
    "bound": (operator.add, lambda: operator.add(1, 2), 3),
    "method, one argument": (list.count, lambda: [1, 1].count(1), 2),
    "method, none": (dict.copy, lambda: {1: 2}.copy(), {1: 2}),
    "method, fast": (str.replace, lambda: "abc".replace("b", "x"), "axc"),
    "method, names": (str.split, lambda: "a b".split(sep=" "), ["a", "b"]),
    "method, tuple": (str.format, lambda: "{0}".format(7), "7"),
    "function": (plain, lambda: plain(1, 5, 6, c=7, d=8), 27),
    "function in a class": (Thing.method, lambda: Thing().method(1), 2),
    "generator": (generate, lambda: list(generate(3)), [0, 1, 2]),
}
before = {}
for name, (target, call, expected) in targets.items():
    before[name] = (id(target), hash(target), repr(target), target.__name__, target.__doc__, getattr(target, "__qualname__", ""))
    for _ in range(100):  # specialised before the hook comes
        assert call() == expected, name

for name, (target, call, expected) in targets.items():
    core.hook(target, "test", name)
    core.hook(target, "test", "twice")
    if not core.is_hooked(target):
        print("not hooked", name)

for name, (target, call, expected) in targets.items():
    for _ in range(300):
        if call() != expected:
            print("wrong result", name)
    after = (id(target), hash(target), repr(target), target.__name__, target.__doc__, getattr(target, "__qualname__", ""))
    if after != before[name]:
        print("looks different", name, before[name], after)
    if target != target or not callable(target) or copy.deepcopy(target) is not target:
        print("is different", name)

assert isinstance(plain, types.FunctionType) and inspect.isfunction(plain)
assert plain.__class__ is types.FunctionType
assert str(inspect.signature(plain)) == "(a, b=2, *rest, c=3, **more)"
assert isinstance(math.sqrt, types.BuiltinFunctionType) and inspect.isbuiltin(math.sqrt)
assert pickle.loads(pickle.dumps(math.sqrt)) is math.sqrt
assert pickle.loads(pickle.dumps(plain)) is plain
assert math.sqrt.__call__(9.0) == 3.0 and math.hypot.__call__(3, 4) == 5.0 and math.gcd.__call__(4, 6) == 2
assert list(map(math.sqrt, [1.0, 4.0])) == [1.0, 2.0]
assert "abc".replace.__call__("a", "x") == "xbc"
bound = [1, 1, 2].count
assert bound(1) == 2 and bound == bound
try:
    math.sqrt(-1.0)
except ValueError as error:
    print("raised", error.__traceback__.tb_lineno > 0, type(error).__name__)
try:
    math.sqrt("x", 3)
except TypeError as error:
    print("raised TypeError", str(error).startswith("math.sqrt() takes exactly one argument") or str(error))
core.hook(recurse, "test", "recurse")
try:
    recurse(100000)
except RecursionError:
    print("recursion ends")
print("deep", recurse(100))
for name, (target, call, expected) in targets.items():
    core.unhook(target)
    if core.is_hooked(target) or call() != expected:
        print("unhooked badly", name)
assert pickle.loads(pickle.dumps(plain)) is plain and type(plain) is types.FunctionType
print("done")
"""
NAMES = ["one argument", "no argument", "fast", "fast with names", "tuple", "bound", "method, one argument",
         "method, none", "method, fast", "method, names", "method, tuple", "function", "function in a class", "generator"]


def interpreters(first: str) -> list[str]:
    """One of each version on this machine: the one given, those in the PATH, those of pyenv."""
    found = {version_of(first): first}
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    places = [shutil.which(f"python3.{minor}") or "" for minor in range(9, 14)]
    for path in places + sorted(glob.glob(os.path.join(root, "versions", "3.*", "bin", "python3"))):
        version = version_of(path)
        if version and "3.9" <= version.replace("3.1", "3.91") and version not in found:
            found[version] = path
    return list(found.values())


def version_of(path: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([path, "-c", code], capture_output=True, text=True, timeout=TIMEOUT) if path else None
    except OSError:
        done = None
    return done.stdout.strip() if done and done.returncode == 0 else ""


def check_calls(t: Harness, version: str, run: Run) -> None:
    t.equal(f"{version}: the program went well", (run.status, run.output.splitlines()),
            (0, ["raised True ValueError", "raised TypeError True", "recursion ends", "deep 100", "done"]), run.errors)
    missed = {name: len(run.calls(name)) for name in NAMES if len(run.calls(name)) < 300}
    t.equal(f"{version}: every call was told", missed, {})
    ends = [end for end in run.of("call_end") if end["exception"]]
    t.check(f"{version}: exceptions were told", {"ValueError", "TypeError"} <= {end["exception"] for end in ends}, ends)
    arguments = [a for a in run.of("argument") if a["name"] in ("a", "b", "c", "d")]
    t.check(f"{version}: arguments of functions have names", len(arguments) >= 1200, len(arguments))


def test_interpreters(t: Harness) -> None:
    for path in interpreters(t.python):
        version = version_of(path)
        if path != t.python and version != version_of(t.python):
            added = t.execute([t.wheeltap, "python", "add", path])
            t.equal(f"{version}: an agent can be added", added.status, 0, added.errors)
        t.python, first = path, t.python
        check_calls(t, version, t.record(CALLS, "--detail", "full"))
        t.python = first
    print(f"# interpreters: {' '.join(version_of(path) for path in interpreters(t.python))}")


if __name__ == "__main__":
    main(test_interpreters)
    sys.exit(0)
