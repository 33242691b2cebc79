#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Digits from end to end: a program of numpy is recorded under noise, analysed and bisected.

usage: test_digits_real.py WHEELTAP
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import PATIENCE  # noqa: E402

UNSTABLE = """import numpy as np
x = 1e6 + np.arange(1000.0) * 0.0137
sq = np.mean(x * x, keepdims=True)
m = np.mean(x, keepdims=True)
v = sq - m * m
print(np.sqrt(v))
"""
STABLE = """import numpy as np
x = 1e6 + np.arange(1000.0) * 0.0137
d = x - np.mean(x, keepdims=True)
v = np.mean(d * d, keepdims=True)
print(np.sqrt(v))
"""


ATTRIBUTE = """import numpy as np


class Model:
    def fit(self, x):
        self.mean_ = np.mean(x, keepdims=True)
        self.spread_ = np.mean(x * x, keepdims=True) - self.mean_ * self.mean_
        self.upper_ = self.mean_ + self.spread_


model = Model()
model.fit(1e6 + np.arange(1000.0) * 0.0137)
"""


def run(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([WHEELTAP, *words], capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)


def main() -> int:
    if not importlib.util.find_spec("numpy"):
        print("this interpreter has no numpy")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, program, line in (("unstable", UNSTABLE, 5), ("stable", STABLE, None)):
            Path(f"{name}.py").write_text(program)
            done = run("record", "-q", "--runs", "5", "--noise", "rr", "-o", name, "--", sys.executable, f"{name}.py")
            said = run("digits", "--json", name)
            found = [(f["id"], f["where"]["line"]) for f in json.loads(said.stdout)["findings"]]
            good = done.returncode == 0 and found == ([("WT-DIG-001", line)] if line else [])
            print("ok" if good else "not ok", name, found, done.stderr)
            failed += not good
        Path("attribute.py").write_text(ATTRIBUTE)
        run("record", "-q", "--runs", "5", "--noise", "rr", "-o", "attribute", "--", sys.executable, "attribute.py")
        said = run("digits", "--json", "attribute")
        found = [(f["id"], f["where"]["line"]) for f in json.loads(said.stdout)["findings"]]
        good = found == [("WT-DIG-001", 7)] and "'model.spread_'" in said.stdout
        print("ok" if good else "not ok", "an attribute is a result, though it is used", found, said.stderr)
        failed += not good
        asked = run("digits", "--bisect", "unstable")
        good = asked.returncode == 2 and "--yes" in asked.stderr
        print("ok" if good else "not ok", "bisect asks first", asked.stderr)
        failed += not good
        said = run("digits", "--bisect", "--yes", "--json", "unstable")
        sites = [row["site"].rsplit(":", 1)[1] for row in json.loads(said.stdout)["tables"].get("bisect", [])]
        print("ok" if sites == ["5"] else "not ok", "bisect names the line", sites, said.stderr)
        failed += sites != ["5"]
        os.chdir("/")
    return 1 if failed else 0


if __name__ == "__main__":
    WHEELTAP = os.path.abspath(sys.argv[1])
    sys.exit(main())
