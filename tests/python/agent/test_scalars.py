# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of numpy's scalars under noise: emitted as calls, at their lines, as values that can be followed."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

from recorded import Harness, Run, main

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from xxh3 import xxh3_64  # noqa: E402

NOISE = ("--noise", "rr", "--seed", "1")

# The line of each operation, and what is emitted there.
OPERATORS = """
import numpy as np
x, y, f, h = np.float64(0.3), np.float64(0.7), np.float32(0.3), np.float16(0.7)
a = x - y
a = f + f
a = h * h
a = x / y
a = x ** 1.5
a = x % 0.2
a = 1.0 - x
a = 2 * x
a = f + x
a = -x
a = abs(f)
a = abs(np.complex128(3.1 + 4.2j))
a = float(f)
a = np.int64(3) * x
a = x * np.ones(2)
a = x < y
a = +x
x += y
a = x / 0.0
"""
EXPECTED = {
    4: ["float64.__sub__"], 5: ["float32.__add__"], 6: ["float16.__mul__"], 7: ["float64.__truediv__"], 8: ["float64.__pow__"],
    9: ["float64.__mod__"], 10: ["float64.__sub__"], 11: ["float64.__mul__"], 12: ["float64.__add__"], 13: ["float64.__neg__"],
    14: ["float32.__abs__"], 15: ["complex128.__abs__"], 16: ["float32.__float__"], 17: ["float64.__mul__"],
    18: ["ones", "multiply"], 21: ["float64.__add__"], 22: ["float64.__truediv__"],
}

WAY = """
import numpy as np
a = np.array([[0.1, 0.7], [0.3, 0.9]]) / 3
x = a[1, 0]
y = x * 0.7
b = np.array([y, -x, 0.25])
b[2] = y
for z in b:
    z = z + 0.125
s = b.sum()
t = s / 3
u = float(t)
v = np.sqrt(u)
"""

QUADRATIC = """
import numpy as np
def roots(a, b, c):
    root = np.sqrt(b * b - 4.0 * a * c)
    large = (-b - root) / (2.0 * a)
    small = SMALL
    return small, large
print(roots(np.float64(1.3), np.float64(1.0e7) / 7.0, np.float64(0.9)))
"""

LOOP = """
import numpy as np
x, a = np.float64(0.3), np.zeros(200_000)
for i in range(20_000):
    x = x * 0.7 + 0.2
    a[i] = x
    x = a[i]
"""


def calls_by_line(run: Run) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for call in run.of("call_begin"):
        file, _, line = str(call.get("site", "")).rpartition(":")
        # What np.ones() itself calls has the line of the program under noise; it is numpy's own business.
        if file.rpartition("/")[2].startswith("program") and call["callee"] not in ("empty", "copyto"):
            found.setdefault(int(line), []).append(call["callee"])
    return found


def values_of(run: Run, callee: str) -> list[tuple[list[Any], list[Any]]]:
    """Hashes of what went into each call of it, and of what came out."""
    begun = [event["seq"] for event in run.events if event["kind"] == "call_begin" and event["fields"]["callee"] == callee]
    values = run.of("tensor")
    return [([value["hash"] for value in values if value["call"] == seq and value["position"] != -1],
             [value["hash"] for value in values if value["call"] == seq and value["position"] == -1]) for seq in begun]


def test_calls(t: Harness) -> None:
    run = t.record(OPERATORS, *NOISE)
    found = calls_by_line(run)
    t.equal("each operation is a call at its line", (run.status, {line: found.get(line, []) for line in range(4, 23)}),
            (0, {line: EXPECTED.get(line, []) for line in range(4, 23)}), run.errors)
    scalars = [value for value in run.of("tensor") if value.get("shape", "") == "" and value["count"] == 1]
    t.check("with values of rank 0", len(scalars) > 30 and {"f16", "f32", "f64", "c128"} <= {value["dtype"] for value in scalars}, scalars)
    bare = calls_by_line(t.record(OPERATORS, "--modules", "numpy", "--detail", "full"))
    t.equal("without noise they are left alone", {line: names for line, names in bare.items() if line > 3}, {18: ["ones", "multiply"]})


def test_way(t: Harness) -> None:
    """What one call returns is what the next is given, by its hash."""
    run = t.record(WAY, *NOISE)
    (divided, taken, multiplied, negated, arrays, put, added, summed, over, root) = (
        values_of(run, name) for name in ("divide", "ndarray.__getitem__", "float64.__mul__", "float64.__neg__", "array", "ndarray.__setitem__",
                                          "float64.__add__", "ndarray.sum", "float64.__truediv__", "sqrt"))
    t.equal("the program ends well", (run.status, len(taken)), (0, 4), run.errors)
    t.equal("out of an array", taken[0][0], divided[0][1])
    t.equal("to an operator", multiplied[0][0], taken[0][1])
    t.equal("to a list that becomes an array", arrays[1][0], multiplied[0][1] + negated[0][1])
    t.equal("into an array", put[0][0], arrays[1][1] + multiplied[0][1])
    t.equal("through an iterator", ([each[0] for each in taken[1:]], [each[0] for each in added]),
            ([put[0][1]] * 3, [each[1] for each in taken[1:]]))
    t.equal("out of a sum", (summed[0][0], over[0][0]), (put[0][1], summed[0][1]))
    begun = [event["seq"] for event in run.events if event["kind"] == "call_begin" and event["fields"]["callee"] == "sqrt"]
    floats = [struct.pack("<d", value["value"]) for value in run.of("argument") if value["call"] == begun[0]]
    t.equal("a float has the hash of its bytes", [f"{xxh3_64(data):016x}" for data in floats], over[0][1], root)


INPUTS = """
import numpy as np
for kind in (np.float64, np.float32, np.float16, np.complex128):
    x, y = kind(0.3), kind(0.7)
    found = {(x * y).tobytes() for _ in range(40)} | {(x - 0.1).tobytes() for _ in range(40)}
    print(x == kind(0.3), y == kind(0.7), type(x * y) is kind, len(found) > 2, {(kind(3) * kind(7)).tobytes() for _ in range(20)} == {kind(21).tobytes()})
"""


def test_inputs(t: Harness) -> None:
    for mode in ("pb", "mca"):
        run = t.record(INPUTS, "--noise", mode, "--seed", "1")
        t.equal(f"{mode} perturbs copies of operands", (run.status, run.output.split()), (0, ["True"] * 20), run.errors)
    bare = t.bare(INPUTS)
    t.equal("without noise the same each time", bare.output.split()[3::5], ["False"] * 4)


def test_digits(t: Harness) -> None:
    for name, small, lines in (("by the formula", "(-b + root) / (2.0 * a)", [6]), ("by the product", "c / (a * large)", [])):
        folder = str(t.folder / f"set{t.runs}")
        recorded = t.execute([t.wheeltap, "record", "-q", "--runs", "5", *NOISE, "-o", folder, "--", t.python,
                              t.script(QUADRATIC.replace("SMALL", small))])
        found = t.execute([t.wheeltap, "digits", "--json", folder])
        findings = [each for each in json.loads(found.output)["findings"] if each["severity"] in ("error", "warning")]
        t.equal(f"the small root {name}", (recorded.status, [each["where"].get("line") for each in findings]), (0, lines), recorded.errors)


def test_instances(t: Harness) -> None:
    """Frames of the interpreter's own, between a class and its __init__, are passed over."""
    run = t.record("import numpy as np\nfor i in range(300):\n    p = np.poly1d([0.1, 0.7])\nprint(p.order)\n", *NOISE)
    t.equal("a class of a library that is called often", (run.status, run.output), (0, "1\n"), run.errors)


LATE = """
import os, sys
for name, text in (("wta/__init__", ""), ("wta/late", "def f(x):\\n    return x\\n"), ("wtb/__init__", "import wta.late\\n")):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    open(name + ".py", "w").write(text)
sys.path.insert(0, "")
import wta
import wtb
wta.late.f(1)
"""


def test_late(t: Harness) -> None:
    run = t.record(LATE, "--modules", "wta,wtb", "--detail", "full")
    t.equal("what one library has imported of another is hooked", (run.status, len(run.calls("f"))), (0, 1), run.errors)


QR = """
import numpy as np
a = np.random.default_rng(1).random((5, 5))
b = a.copy()
print(len({np.linalg.qr(a)[1].tobytes() for _ in range(20)}) > 3, (a == b).all())
"""


def test_qr(t: Harness) -> None:
    run = t.record(QR, *NOISE, "--noise-libm", "off")
    t.equal("both results of qr", (run.status, run.output.split()), (0, ["True", "True"]), run.errors)


def test_loop(t: Harness) -> None:
    run = t.record(LOOP, *NOISE, "--ring-size", "64k")
    t.equal("a loop waits for the recorder and loses nothing",
            (run.status, run.of("lost"), len(run.calls("float64.__mul__"))), (0, [], 20_000), run.errors)
    indexed = len(run.calls("ndarray.__getitem__")) + len(run.calls("ndarray.__setitem__"))
    t.check("of large arrays only some numbers are followed", 4 <= indexed <= 40, indexed)


if __name__ == "__main__":
    main(test_calls, test_way, test_inputs, test_digits, test_instances, test_late, test_qr, test_loop, require=("numpy",))
