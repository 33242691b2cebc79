# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of Python's own floats under noise: in the user's code alone, at every turn of a loop, as values that can be followed."""

from __future__ import annotations

import json
from typing import Any

from recorded import Harness, Run, main

NOISE = ("--noise", "rr", "--seed", "1", "--noise-libm", "off")

OPERATORS = """
x, y, n = 0.3, 0.7, 3
a = x - y
a = x + y
a = x * y
a = x / y
a = x ** y
a = x % 0.2
a = n - x
a = n / 7
a = -x
a = abs(x)
a = x < y
x += y
x = float("0.3")
"""
EXPECTED = {3: "sub", 4: "add", 5: "mul", 6: "truediv", 7: "pow", 8: "mod", 9: "sub", 11: "neg", 12: "abs", 14: "add"}

# Each way in which an instruction may have run before it meets floats.
LOOPS = """
import sys
def add(a, b):
    return a + b
def scale(a, n):
    for i in range(n):
        i * 3
    return a * 0.7
def late(n):
    t = 0.1
    for i in range(n):
        if i >= n - 3000:
            t = t * 0.9 + 0.1
    return t
x = [add(1, 2) for _ in range(50)] and [add(0.1, 0.7) for _ in range(3000)]
y = [scale(0.3, 40) for _ in range(3000)]
print(len(set(x)), len(set(y)), late(100_000) == 0.9999999)
total = 0.0
seen = set()
for i in range(3000):
    total = 0.1 + 0.7 * (1.0 + 0.1)
    z = float("0.1")
    seen.add(z - 0.7)
print(len(seen))
"""

# Operations in C that compute with floats of Python's are operations of their own, or exact.
WITHIN = """
import numpy as np
step = float("0.1")
print(np.arange(step, 1.0, step).tolist(), (np.array([step, 0.7], dtype=object) + step).tolist())
"""

LIBRARY = """
import fractions, statistics, colorsys
print([colorsys.rgb_to_hsv(0.1, 0.7, 0.3), statistics.fmean([0.1, 0.7, 0.35]), 0.1.hex()])
"""

EXACT = """
import math, pickle
x = 0.1
y = float("0.25")
z = x * y
print(x == 0.1, y == 0.25, math.inf - 1.0, 0.0 * x, 7.0 * 3.0, 6.0 / 3.0)
print(pickle.loads(pickle.dumps(z)) == z, type(z) is float, float.__add__(0.25, 0.5), z is z)
"""

QUADRATIC = """
import math
def roots(a, b, c):
    root = (b * b - 4.0 * a * c) ** 0.5
    large = (-b - root) / (2.0 * a)
    small = SMALL
    return small, large
print(roots(1.3, 1.0e7 / 7.0, 0.9))
"""

MULLER = """
x, y = 2.0, -4.0
for i in range(13):
    x, y = y, 111.0 - 1130.0 / y + 3000.0 / (y * x)
print(y)
"""


def callees_by_line(run: Run) -> dict[int, str]:
    found: dict[int, str] = {}
    for call in run.of("call_begin"):
        file, _, line = str(call.get("site", "")).rpartition(":")
        if file.rpartition("/")[2].startswith("program") and call["callee"].startswith("float."):
            found[int(line)] = call["callee"][len("float.__"):-2]
    return found


def test_calls(t: Harness) -> None:
    run = t.record(OPERATORS, *NOISE)
    t.equal("each operation is a call at its line", (run.status, callees_by_line(run)), (0, EXPECTED), run.errors)
    bare = t.record(OPERATORS, "--detail", "full")
    t.equal("without noise they are left alone", callees_by_line(bare), {})


def test_loops(t: Harness) -> None:
    """No instruction gets faster by leaving the slots of the type out."""
    bare, run = t.bare(LOOPS), t.record(LOOPS, *NOISE)
    t.equal("the same number each time without noise", bare.output.split(), ["1", "1", "False", "1"])
    t.equal("three of them with noise", (run.status, run.output.split()[:2], run.output.split()[3]), (0, ["3", "3"], "3"), run.errors)
    late = [call for call in run.of("call_begin") if call["callee"] == "float.__mul__" and str(call.get("site")).endswith(":13")]
    t.equal("also after a long loop of integers", len(late), 3000)


def test_left_alone(t: Harness) -> None:
    bare, run = t.bare(LIBRARY), t.record(LIBRARY, *NOISE)
    t.equal("what a library computes", (run.status, run.output), (0, bare.output), run.errors)
    bare, run = t.bare(WITHIN), t.record(WITHIN, *NOISE)
    t.equal("what numpy computes with them inside", (run.status, run.output), (bare.status, bare.output), run.errors)
    bare, run = t.bare(EXACT), t.record(EXACT, *NOISE)
    t.equal("literals, infinities, zeros and integers; objects are what they were", (run.status, run.output), (0, bare.output), run.errors)


def test_seeds(t: Harness) -> None:
    command = [t.python, t.script(MULLER)]
    first, again, other = (t.record_command(command, "--noise", "rr", "--seed", seed).output for seed in ("1", "1", "2"))
    t.check("a seed repeats the noise, another one does not", first == again and first != other, (first, again, other))
    inputs = "x, y = float('0.3'), float('0.7')\nprint(x, [x * y for _ in range(20)])\n"
    bare, run = t.bare(inputs).output, t.record(inputs, "--noise", "pb", "--seed", "1").output
    t.check("pb perturbs copies of the operands", bare != run and run.split()[0] == "0.3", run)


SUMS = """
numbers = [float("0.1")] * 5 + [0.7]
print(len({sum(numbers) for _ in range(40)}), sum([1, 2, 3]), sum([0.5, 0.25, 0.25]), sum([[1], [2]], []), numbers[0])
"""


def test_sums(t: Harness) -> None:
    bare, run = t.bare(SUMS), t.record(SUMS, *NOISE)
    t.equal("what sum() returns", (bare.output.split()[0], run.output.split()[0], bare.output.split()[1:]),
            ("1", "3", run.output.split()[1:]), run.errors)


def findings(t: Harness, code: str) -> tuple[int, list[Any]]:
    folder = str(t.folder / f"set{t.runs}")
    recorded = t.execute([t.wheeltap, "record", "-q", "--runs", "5", "--noise", "rr", "--seed", "1", "-o", folder, "--", t.python, t.script(code)])
    found = t.execute([t.wheeltap, "digits", "--json", folder])
    return recorded.status, [each["where"].get("line") for each in json.loads(found.output)["findings"]
                             if each["severity"] in ("error", "warning")]


def test_digits(t: Harness) -> None:
    t.equal("the small root by the formula", findings(t, QUADRATIC.replace("SMALL", "(-b + root) / (2.0 * a)")), (0, [6]))
    t.equal("the small root by the product", findings(t, QUADRATIC.replace("SMALL", "c / (a * large)")), (0, []))
    t.equal("Muller's recurrence", findings(t, MULLER), (0, [4]))


if __name__ == "__main__":
    main(test_calls, test_loops, test_left_alone, test_seeds, test_sums, test_digits)
