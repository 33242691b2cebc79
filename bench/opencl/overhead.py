#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the OpenCL layer adds to a launch: the same program in turns with and without `record --opencl`, in one run.

    bench/opencl/overhead.py [BUILD] [TURNS]

Prints the median and the fastest round of both, of the calls alone, until all kernels have ended, and
of the time of the processor that the calling thread needed, which other programs on the machine change least.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
TURNS = int(sys.argv[2]) if len(sys.argv) > 2 else 10
ROUNDS = "10"


def rounds(words: list[str], environment: dict[str, str]) -> list[tuple[float, ...]]:
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    return [tuple(map(float, line.split())) for line in done.stdout.splitlines()]


def main() -> None:
    subprocess.run(["ninja", "-C", str(BUILD), "bench/opencl/bench_opencl_launch"], stdout=subprocess.DEVNULL, check=True)
    program = str(BUILD / "bench/opencl/bench_opencl_launch")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "POCL_CACHE_DIR": str(BUILD / "tests/opencl/pocl-cache")}
        rounds([program, "1"], environment)
        taken: dict[str, list[tuple[float, ...]]] = {"without": [], "with": []}
        for turn in range(TURNS):
            taken["without"] += rounds([program, ROUNDS], environment)
            taken["with"] += rounds([str(BUILD / "wheeltap"), "record", "--opencl", "-q", "-o", f"{folder}/{turn}", "--", program, ROUNDS], environment)
    for i, what in enumerate(("calls", "until all have ended", "time of the processor of the calling thread")):
        for name, of in (("median", statistics.median), ("fastest", min)):
            without, with_layer = (of([one[i] for one in taken[key]]) for key in ("without", "with"))
            print(f"{what}, {name} round: {without:.0f} ns without, {with_layer:.0f} ns with, {with_layer - without:+.0f} ns a launch")


main()
