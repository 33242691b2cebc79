#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What recording adds to the start of a program: until Python runs, until torch is imported, until the program ends.

usage: startup.py WHEELTAP [--rounds N]

Bare and recorded programs take turns; prints medians and what is added.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAMS = {
    "python -c pass": "pass",
    "import numpy": "import numpy",
    "import torch": "import torch",
}


def seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheeltap")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    print(f"{'':18}{'bare':>10}{'lean':>10}{'normal':>10}{'full':>10}   ms, medians of {options.rounds}")
    for name, code in PROGRAMS.items():
        times: dict[str, list[float]] = {"bare": [], "lean": [], "normal": [], "full": []}
        for _ in range(options.rounds + 1):
            for level, found in times.items():
                with tempfile.TemporaryDirectory(prefix="wheeltap-bench-") as folder:
                    recorder = [options.wheeltap, "record", "-q", "--detail", level, "-o", folder + "/run", "--"]
                    found.append(seconds((recorder if level != "bare" else []) + [sys.executable, "-c", code]))
        print(f"{name:18}" + "".join(f"{statistics.median(found[1:]) * 1e3:10.0f}" for found in times.values()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
