#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Digits beside those of the package significantdigits, on 1000 random arrays.

usage: digits_oracle.py UNIT_INSPECT_DIGITS

Any interpreter of this machine that can import the package will do; without one the test is skipped. What the
package gets wrong is not compared: elements of an array after the worst one (its version 0.5.0 stopped there, hence
one element at a time), a zero reference with relative errors, and complex numbers.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys

PEER = """
import sys, warnings
import numpy as np
import significantdigits as sd
warnings.simplefilter("ignore")
random = np.random.default_rng(20260101)
for i in range(1000):
    n = int(random.integers(2, 31))
    base = float(random.choice([-1, 1]) * 2.0 ** random.uniform(-60, 60))
    spread = abs(base) * 2.0 ** random.uniform(-54, 2)
    draw = [random.normal, random.uniform, random.standard_cauchy][int(random.integers(3))]
    x = base + spread * np.array([float(draw()) for _ in range(n)])
    if i % 50 == 0:
        x[:] = base
    if x.sum() == 0:
        continue
    total = 0.0  # sum() compensates its rounding since 3.12
    for v in x.tolist():
        total += v
    reference = np.float64(total / n)
    for m, method in enumerate((sd.Method.CNH, sd.Method.General)):
        for a, error in enumerate((sd.Error.Relative, sd.Error.Absolute)):
            for c, digits in enumerate((sd.significant_digits, sd.contributing_digits)):
                y = float(digits(x, reference=reference, error=error, method=method))
                print(m, c, a, n, *[v.hex() for v in x.tolist()], "=", repr(y))
"""


def candidates() -> list[str]:
    places = [sys.executable, os.environ.get("VIRTUAL_ENV", "") + "/bin/python3", "/opt/*/bin/python3",
              os.path.expanduser("~/.pyenv/versions/*/bin/python3")]
    places += [shutil.which(f"python3.{minor}") or "" for minor in range(9, 16)]
    return [path for place in places if place for path in sorted(glob.glob(place))]


def peer() -> str:
    for path in candidates():
        done = subprocess.run([path, "-c", "import significantdigits, numpy"], capture_output=True)
        if done.returncode == 0:
            return path
    return ""


def main() -> int:
    path = peer()
    if not path:
        print("no interpreter of this machine has the package significantdigits")
        return 77
    rows = [line.split(" = ") for line in subprocess.run([path, "-c", PEER], capture_output=True, text=True,
                                                        check=True).stdout.splitlines()]
    ours = subprocess.run([sys.argv[1], "answer"], input="\n".join(row[0] for row in rows), capture_output=True, text=True,
                          check=True).stdout.split()
    bad = [(row, mine) for row, mine in zip(rows, ours)
           if not (row[1] == mine or abs(float(row[1]) - float(mine)) <= 1e-9)]
    print(f"{len(rows)} figures compared, {len(bad)} differ")
    for row, mine in bad[:10]:
        print(f"{row[0]}: package {row[1]}, ours {mine}")
    return 1 if bad or len(rows) != len(ours) or len(rows) < 7000 else 0


if __name__ == "__main__":
    sys.exit(main())
