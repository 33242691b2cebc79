#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a recording costs that is good enough for rerun: sampled parameters and losses, and the full ones.

usage: rerun_cost.py WHEELTAP [--python PATH] [--pairs N] [--seconds N] [--cases states,normal,stats,full] [--workloads mlp,cnn,transformer,large]

The models are those of overhead.py, and `large`, a transformer of 100 million parameters. In one process recording is switched on and off
for blocks of steps, in random order. A block with recording has whole rounds of the sample (one step in 8 is read), behind one step that is
not timed, as everything is read anew when recording begins. Compared is the CPU time of the process, user and system, of all its
threads: on a busy machine the time on the clock is mostly that of others; it is printed as well. `control` compares blocks without
recording with each other. Medians of the pairs' ratios with their 95 % intervals. The recorder is another process, and not included.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable

import overhead

EVERY = 8
BLOCK_SECONDS = 0.15
CASES = {
    "states": ["--detail", "states", "--sample", f"every={EVERY}"],
    "normal": ["--detail", "normal"],
    "stats": ["--detail", "normal", "--tensors", "stats"],
    "full": ["--detail", "full", "--tensors", "stats"],
}


def large() -> Callable[[], None]:
    """A step of a decoder of 100 million parameters, on 64 tokens."""
    import torch
    from torch import nn

    class Decoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(20000, 768)
            self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(768, 12, 3072, batch_first=True, dropout=0.0), 10)
            self.head = nn.Linear(768, 20000)

        def forward(self, tokens: Any) -> Any:
            return self.head(self.layers(self.embed(tokens)))

    torch.manual_seed(0)
    model = Decoder()
    print(f"# {sum(parameter.numel() for parameter in model.parameters()) / 1e6:.0f} million parameters", file=sys.stderr)
    tokens, target = torch.randint(0, 20000, (1, 64)), torch.randint(0, 20000, (1, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step() -> None:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), target.flatten())
        loss.backward()
        optimizer.step()

    return step


def block(step: Callable[[], None], steps: int) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(steps):
        step()
    return time.process_time() - cpu, time.perf_counter() - wall


def work(name: str, is_control: bool) -> None:
    """A pair for each line that comes in."""
    import torch
    import wheeltap

    torch.set_num_threads(1)
    step = large() if name == "large" else overhead.stepper(name)
    wheeltap.stop()
    block(step, 2)
    once = block(step, 2)[0] / 2
    steps = EVERY * max(1, round(BLOCK_SECONDS / once / EVERY))
    rng = random.Random(0)
    print(json.dumps(torch.__version__), flush=True)
    for _ in sys.stdin:
        times = {}
        for kind in rng.sample(["on", "off"] + ["other"] * is_control, 2 + is_control):
            if kind == "on":
                wheeltap.start()
            step()
            times[kind] = block(step, steps)
            wheeltap.stop()
        print(json.dumps([steps, times]), flush=True)


class Worker:
    def __init__(self, options: argparse.Namespace, case: str, name: str, folder: str) -> None:
        self.case, self.pairs = case, []  # type: str, list[Any]
        tool = os.path.abspath(options.wheeltap)
        command = [options.python, os.path.abspath(__file__), tool, "--inside", "--workloads", name, "--cases", case]
        self.process = subprocess.Popen([tool, "record", "-q", *CASES[case], "-o", folder, "--", *command],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.torch = self.answer()

    def answer(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"rerun_cost.py: a measured process ended early, with {self.process.wait()}")
        return json.loads(line)

    def pair(self) -> None:
        assert self.process.stdin
        self.process.stdin.write("pair\n")
        self.process.stdin.flush()
        self.pairs.append(self.answer())

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()

    def ratios(self, kind: str, clock: int) -> list[float]:
        return [times[kind][clock] / times["off"][clock] for _, times in self.pairs]


def report(name: str, worker: Worker) -> None:
    on, off = (statistics.median(times[kind][0] / steps for steps, times in worker.pairs) * 1e3 for kind in ("on", "off"))
    control = "  control {:.3f} [{:.3f}, {:.3f}]".format(*overhead.interval(worker.ratios("other", 0))) if "other" in worker.pairs[0][1] else ""
    print(f"{name:12} torch {worker.torch:14} {worker.case:7}  recorded "
          "{:.3f} [{:.3f}, {:.3f}]".format(*overhead.interval(worker.ratios("on", 0))) + control +
          f"  clock {statistics.median(worker.ratios('on', 1)):.3f}  a step {on:.3f} {off:.3f} ms  "
          f"{len(worker.pairs)} pairs, load {os.getloadavg()[0]:.0f}", flush=True)


def compare(options: argparse.Namespace, name: str) -> None:
    """All cases of one workload, in turns; the large ones one after the other, as each takes 2 GB."""
    cases = options.cases.split(",")
    for group in [[case] for case in cases] if name == "large" else [cases]:
        with tempfile.TemporaryDirectory(prefix="wheeltap-bench-") as folder:
            workers = [Worker(options, case, name, f"{folder}/{case}") for case in group]
            end = time.monotonic() + options.seconds
            while len(workers[0].pairs) < options.pairs and (time.monotonic() < end or len(workers[0].pairs) < 3):
                for worker in random.sample(workers, len(workers)):
                    worker.pair()
            for worker in workers:
                report(name, worker)
                worker.end()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheeltap")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no more pairs of a workload after so long, but at least three")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--workloads", default="mlp,cnn,transformer,large")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for name in options.workloads.split(","):
        if options.inside:
            work(name, name != "large")
        else:
            compare(options, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
