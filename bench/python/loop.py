#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to be told of each call of a pure Python program, beside cProfile and viztracer.

usage: loop.py WHEELTAP [--calls N] [--rounds N]

The same loop of calls of one small function, bare and under each tool in turn: `wheeltap record --modules __main__
--only __main__.*`, cProfile, and viztracer where it is installed (`pip install viztracer`), without its native or log
features. Each tells of the same number of calls, which is checked where the tool says it. Prints what a call costs more
than in the bare program: the median over rounds, and the ratio to viztracer's.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile

PROGRAM = """
import sys, time
def add(a, b):
    return a + b
def loop(n):
    total = 0
    for i in range(n):
        total = add(total, i)
    return total
loop(1000)
begin = time.perf_counter_ns()
loop(CALLS)
print((time.perf_counter_ns() - begin) / CALLS)
"""


def run(command: list[str], folder: str) -> float:
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    return next(float(line) for line in done.stdout.splitlines() if line.replace(".", "").isdigit())


def told_by_wheeltap(tool: str, folder: str) -> int:
    shown = subprocess.run([tool, "stat", "--json", folder + "/run"], check=True, stdout=subprocess.PIPE, text=True)
    rows = json.loads(shown.stdout)["tables"]["profile"]
    return sum(int(row["count"]) for row in rows if row["name"].endswith("add"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheeltap")
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    tool = os.path.abspath(options.wheeltap)
    tools = {
        "bare": [sys.executable],
        "wheeltap": [tool, "record", "-q", "--ring-size", "64M", "--modules", "__main__", "--only", "__main__.*",
                     "--arguments", "off", "-o", "run", "--", sys.executable],
        "cProfile": [sys.executable, "-m", "cProfile", "-o", "profile"],
    }
    if importlib.util.find_spec("viztracer"):
        tools["viztracer"] = [sys.executable, "-m", "viztracer", "--quiet", "--tracer_entries", str(4 * options.calls),
                              "-o", "trace.json"]
    else:
        print("viztracer is not installed: left out")
    times: dict[str, list[float]] = {name: [] for name in tools}
    told = 0
    for _ in range(options.rounds):
        for name, command in tools.items():
            with tempfile.TemporaryDirectory(prefix="wheeltap-bench-") as folder:
                path = os.path.join(folder, "loop_program.py")
                with open(path, "w") as file:
                    file.write(PROGRAM.replace("CALLS", str(options.calls)))
                times[name].append(run([*command, path], folder))
                if name == "wheeltap" and not told:
                    told = told_by_wheeltap(tool, folder)
    bare = statistics.median(times["bare"])
    added = {name: statistics.median(a - b for a, b in zip(found, times["bare"])) for name, found in times.items()}
    print(f"bare {bare:.0f} ns a call; wheeltap has told {told} calls of {options.calls + 1000}")
    for name in list(tools)[1:]:
        beside = f"   {added[name] / added['viztracer']:.2f} of viztracer's" if "viztracer" in added else ""
        print(f"{name:10} adds {added[name]:6.0f} ns a call{beside}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
