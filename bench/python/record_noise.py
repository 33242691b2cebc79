#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What recording a call of numpy costs under noise, by the clock, beside the figure that was measured of Pytracer.

usage: record_noise.py WHEELTAP [--python PATH] [--calls N] [--sizes N,N,...] [--rounds N] [--realtime]

A loop of ufuncs over arrays of doubles runs bare and under `record --noise rr`, taking turns; medians of the rounds are printed. Pytracer itself is
not run: 1500 us a call is what was measured of it on such a loop. --realtime lets the programs run before all others (chrt), for a busy machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

PYTRACER_US = 1500.0
UFUNCS = 4  # in a round of the loop


def work(size: int, calls: int) -> None:
    import numpy as np

    draw = np.random.default_rng(1)
    a, b = draw.random(size) + 1, draw.random(size) + 1

    def loop(count: int) -> None:
        x = a
        for _ in range(count // UFUNCS):
            x = np.multiply(x, b)
            x = np.add(x, a)
            x = np.sqrt(x)
            x = np.divide(x, b)

    loop(10 * UFUNCS)
    clock, cpu = time.perf_counter(), time.process_time()
    loop(calls)
    print((time.perf_counter() - clock) / calls * 1e6, (time.process_time() - cpu) / calls * 1e6)


def measure(command: list[str]) -> tuple[float, float]:
    words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(words[-2]), float(words[-1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("wheeltap")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--sizes", default="1,100,1000,10000,100000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--realtime", action="store_true")
    options = parser.parse_args()
    before = ["chrt", "-f", "10"] if options.realtime else []
    print(f"{'elements':>10} {'bare':>9} {'clock':>9} {'cpu':>9}   us a call; Pytracer's {PYTRACER_US:.0f} us over the clock")
    for size in map(int, options.sizes.split(",")):
        calls = max(400, min(options.calls, 200_000_000 // size))
        program = [options.python, os.path.abspath(__file__), "--work", str(size), str(calls)]
        bare, noisy = [], []
        for _ in range(options.rounds):
            bare.append(measure([*before, *program]))
            with tempfile.TemporaryDirectory(prefix="wheeltap-bench-") as folder:
                noisy.append(measure([*before, options.wheeltap, "record", "-q", "--noise", "rr", "-o", folder + "/run", "--", *program]))
        clock = statistics.median(each[0] for each in noisy)
        cpu = statistics.median(each[1] for each in noisy)
        print(f"{size:10} {statistics.median(each[0] for each in bare):9.2f} {clock:9.2f} {cpu:9.2f}   {PYTRACER_US / clock:.0f}x", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--work":
        work(int(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
