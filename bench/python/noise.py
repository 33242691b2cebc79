#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What noise costs: a small CNN trained on made-up images of the size of MNIST's, bare and under `record --noise`.

usage: noise.py WHEELTAP [--python PATH]... [--mode MODE] [--detail DETAIL] [--elements N] [--steps N] [--rounds N]

Bare and recorded processes take turns. Each takes the CPU time of its own steps, one thread, after some to warm up, and prints the median; the ratio is
that of the medians of the rounds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

WARM = 5


def train(steps: int) -> None:
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25),
                          nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10),
                          nn.LogSoftmax(dim=1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    images, labels = torch.randn(steps * 64, 1, 28, 28), torch.randint(0, 10, (steps * 64,))
    times = []
    for step in range(steps):
        begin = time.process_time()
        batch = slice(step * 64, step * 64 + 64)
        optimizer.zero_grad()
        loss = nn.functional.nll_loss(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        times.append(time.process_time() - begin)
    print(statistics.median(times[WARM:]))


def under_settings(lines: str, command: list[str]) -> None:
    """Adds to what the recorder has left for its agents, and becomes the program."""
    folder = os.environ["WHEELTAP_AGENT"].partition(":")[2]
    with open(os.path.join(folder, "settings"), "a", encoding="utf-8") as file:
        file.write("\n" + lines.replace(",", "\n") + "\n")
    os.execv(command[0], command)


def measure(command: list[str]) -> float:
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return float(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("wheeltap")
    parser.add_argument("--python", action="append")
    parser.add_argument("--mode", default="rr")
    parser.add_argument("--elements", default="256")
    parser.add_argument("--detail", default="normal")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    lines = f"noise={options.mode},noise_seed=1,elements={options.elements}"
    for python in options.python or [sys.executable]:
        program = [python, os.path.abspath(__file__), "--train", str(options.steps)]
        wrapper = [python, os.path.abspath(__file__), "--settings", lines]
        bare, noisy = [], []
        for round in range(options.rounds):
            bare.append(measure(program))
            with tempfile.TemporaryDirectory() as folder:
                noisy.append(measure([options.wheeltap, "record", "-q", "--detail", options.detail, "-o", folder + "/run", "--", *wrapper, *program]))
        base, with_noise = statistics.median(bare), statistics.median(noisy)
        print(f"{python}: {base * 1e3:.2f} ms a step bare, {with_noise * 1e3:.2f} under {options.mode}, {options.detail}: {with_noise / base:.2f}",
              flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--train":
        train(int(sys.argv[2]))
    elif sys.argv[1] == "--settings":
        under_settings(sys.argv[2], sys.argv[3:])
    else:
        main()
