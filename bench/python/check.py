#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What `record --check` adds to `record --detail lean`: the program's own time, and the recorder's CPU.

usage: bench/python/check.py [--wheeltap FILE] [--rounds N] [--steps N]

A small network is trained under both, in turns; the program measures its own loop. Ratios of medians are printed, with the
spread of the plain runs beside them: on a machine that does something else a difference below that says nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

PROGRAM = """
import sys, time, torch
torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Sequential(*[layer for _ in range(6) for layer in (torch.nn.Linear(256, 256), torch.nn.ReLU())])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
x, y = torch.randn(128, 256), torch.randn(128, 256)
def step():
    optimizer.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    optimizer.step()
for _ in range(20):
    step()
begin, cpu = time.perf_counter(), time.process_time()
for _ in range(int(sys.argv[1])):
    step()
print("LOOP", time.perf_counter() - begin, time.process_time() - cpu)
"""


def measure(options: argparse.Namespace, folder: str, check: bool) -> tuple[float, float, float]:
    """Seconds of the loop, CPU seconds of the loop, CPU seconds of the recorder."""
    run = os.path.join(folder, "run")
    command = [options.wheeltap, "record", "--detail", "lean", *(["--check"] if check else []), "-o", run, "--",
               "/usr/bin/python3", os.path.join(folder, "program.py"), str(options.steps)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = next((line for line in done.stdout.splitlines() if line.startswith("LOOP")), None)
    if not line:
        sys.exit(f"check.py: the program did not run: {done.stderr[-400:]}")
    said = re.search(r"recorder ([\d.]+) (us|ms|s) of CPU", done.stderr)
    recorder = float(said[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1}[said[2]] if said else 0.0
    subprocess.run(["rm", "-rf", run], check=False)
    _, wall, cpu = line.split()
    return float(wall), float(cpu), recorder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheeltap", default=os.path.join(os.path.dirname(__file__), "..", "..", "build", "wheeltap"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=400)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "program.py"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        plain, checked = [], []
        for number in range(options.rounds):
            order = ((plain, False), (checked, True)) if number % 2 else ((checked, True), (plain, False))
            for results, check in order:
                results.append(measure(options, folder, check))
    for index, name in enumerate(("time of the loop", "CPU of the loop", "CPU of the recorder")):
        a, b = ([result[index] for result in results] for results in (plain, checked))
        if not statistics.median(a):
            continue
        spread = (max(a) - min(a)) / statistics.median(a)
        print(f"{name:20} lean {statistics.median(a):.3f} s, with --check {statistics.median(b):.3f} s: "
              f"{100 * (statistics.median(b) / statistics.median(a) - 1):+.1f} % (spread of lean {100 * spread:.0f} %)")
    # The recorder has a process of its own: on a free core it takes nothing from the program. On a shared one it takes its CPU.
    more = statistics.median(r[2] for r in checked) - statistics.median(r[2] for r in plain)
    loop = statistics.median(result[1] for result in plain + checked)
    print(f"the watching itself: {1e6 * more / (options.steps + 20):.1f} us of CPU a step, {100 * more / loop:.2f} % of the loop's CPU, "
          "which is what it adds if there is no other core")


if __name__ == "__main__":
    main()
