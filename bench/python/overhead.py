#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What recording costs a torch program, on any number of interpreters side by side.

usage: overhead.py WHEELTAP [--python PATH ...] [--pairs N] [--seconds N] [--cases lean,normal,full,selective,budget]
                   [--workloads mlp,cnn,transformer]

Machines are noisy: unchanged programs differ by 8 % between runs. So recording is switched on and off for short
blocks of steps within one process, in random order, and each block with recording is compared with the one beside
it without. Beside it stands a control: blocks without recording against others without. Prints the median ratio and
the 95 % interval of it, from a bootstrap over the pairs.

There is one process for each interpreter and case, and they take turns, so that whatever else the machine does meets
all of them alike. Times are CPU times of the thread that trains, which waits for nothing: on a busy machine the time on
the clock is mostly that of others. It is printed as well.

Hooks stay while recording is stopped. What they cost then is in "stopped": the blocks without recording against those
of a process that is not recorded at all, in turns. Two processes differ by a few percent anyway.

selective: --invariants with a pack of 100 entries about the order of calls, what functions return, modes, losses and
the settings of optimizers. budget: --budget 2 at the normal level, which thins until it costs no more than 2 %.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable


def workloads() -> dict[str, tuple[Callable[[], tuple[Any, Any]], int]]:
    """Name: (a function that makes model and input, classes)."""
    import torch
    from torch import nn

    class Transformer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(100, 32)
            self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2)
            self.head = nn.Linear(32, 10)

        def forward(self, tokens: Any) -> Any:
            return self.head(self.layers(self.embed(tokens)).mean(1))

    def mlp() -> tuple[Any, Any]:
        return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 10)), torch.randn(4, 16)

    def cnn() -> tuple[Any, Any]:
        return nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU(),
                             nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 10)), torch.randn(32, 1, 28, 28)

    def transformer() -> tuple[Any, Any]:
        return Transformer(), torch.randint(0, 100, (8, 16))

    return {"mlp": (mlp, 10), "cnn": (cnn, 10), "transformer": (transformer, 10)}


def stepper(name: str) -> Callable[[], None]:
    import torch
    import torch.nn.functional as F

    make, classes = workloads()[name]
    torch.manual_seed(0)
    model, data = make()
    target = torch.randint(0, classes, (len(data),))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step() -> None:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()

    return step


ORDER = ["*.zero_grad", "*.step", "torch.Tensor.backward"]
FUNCTIONS = ["relu", "cross_entropy", "linear", "conv2d", "max_pool2d", "layer_norm", "softmax", "embedding", "dropout", "gelu"]


def write_pack(path: str) -> None:
    """100 invariants as a user would write them; only what they need matters here."""
    needs: list[dict[str, object]] = [{"calls": ORDER, "states": []} for _ in range(30)]
    needs += [{"calls": [f"torch.nn.functional.{name}"], "states": [], "arguments": True} for name in FUNCTIONS for _ in range(3)]
    needs += [{"calls": [], "states": [state]} for state in ("modes", "losses", "optimizer", "rng") for _ in range(10)]
    with open(path, "w") as file:
        json.dump({"invariants": [{"name": f"invariant {i}", "needs": need} for i, need in enumerate(needs)]}, file)


CASES = {
    "lean": ["--detail", "lean"],
    "normal": ["--detail", "normal"],
    "full": ["--detail", "full"],
    "selective": ["--invariants", "pack.json"],
    "budget": ["--budget", "2"],
}


def interval(ratios: list[float]) -> tuple[float, float, float]:
    """Median, and the 95 % interval of it."""
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(1000))
    return statistics.median(ratios), medians[25], medians[975]


BLOCK_SECONDS = 0.015
TURN_PAIRS = 5


def block(step: Callable[[], None], steps: int) -> tuple[float, float]:
    """CPU time of this thread, and time on the clock."""
    wall, cpu = time.perf_counter(), time.thread_time()
    for _ in range(steps):
        step()
    return time.thread_time() - cpu, time.perf_counter() - wall


def turn(step: Callable[[], None], switch: dict[str, Callable[[], object]], steps: int, rng: random.Random) -> list[Any]:
    """Pairs of blocks, the first of which only warms up."""
    found = []
    for i in range(TURN_PAIRS + 1):
        times: dict[str, Any] = {"steps": steps}
        for kind in rng.sample(["on", "off", "other"], 3):
            switch[kind]()
            times[kind] = block(step, steps)
        if i:
            found.append(times)
    switch["off"]()
    return found


def work(name: str, is_recorded: bool) -> None:
    """Measures as often as a line comes in."""
    import torch

    torch.set_num_threads(1)
    step = stepper(name)
    switch: dict[str, Callable[[], object]] = dict.fromkeys(("on", "off", "other"), lambda: None)
    if is_recorded:
        import wheeltap
        switch = {"on": wheeltap.start, "off": wheeltap.stop, "other": wheeltap.stop}
    switch["off"]()
    once = min(block(step, 20)[0] / 20 for _ in range(5))
    rng = random.Random(0)
    print(json.dumps(torch.__version__), flush=True)
    for _ in sys.stdin:
        print(json.dumps(turn(step, switch, max(1, round(BLOCK_SECONDS / once)), rng)), flush=True)


class Worker:
    def __init__(self, tool: str, python: str, case: str, name: str, folder: str) -> None:
        self.case = case
        self.times: list[Any] = []
        command = [python, os.path.abspath(__file__), tool, "--workloads", name, "--inside", case]
        if case:
            write_pack(folder + "/pack.json")
            command = [tool, "record", "-q", *CASES[case], "-o", folder + "/run", "--", *command]
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.torch = ""

    def answer(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"overhead.py: a measured process ended early, with {self.process.wait()}")
        return json.loads(line)

    def turn(self) -> None:
        assert self.process.stdin
        self.process.stdin.write("turn\n")
        self.process.stdin.flush()
        self.times.append(self.answer())

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()

    def ratios(self, kind: str, clock: int) -> list[float]:
        return [times[kind][clock] / times["off"][clock] for turn in self.times for times in turn]

    def step_us(self, kind: str) -> list[float]:
        """CPU time of a step, by turn."""
        return [statistics.median(times[kind][0] / times["steps"] for times in turn) * 1e6 for turn in self.times]


def report(name: str, worker: Worker, bare: Worker) -> None:
    on, off, none = (statistics.median(times) for times in (worker.step_us("on"), worker.step_us("off"), bare.step_us("off")))
    stopped = [mine / other for mine, other in zip(worker.step_us("off"), bare.step_us("off"))]
    print(f"{name:12} torch {worker.torch:14} {worker.case:9}"
          "  recorded {:.3f} [{:.3f}, {:.3f}]".format(*interval(worker.ratios("on", 0))) +
          "  control {:.3f} [{:.3f}, {:.3f}]".format(*interval(worker.ratios("other", 0))) +
          "  stopped {:.3f} [{:.3f}, {:.3f}]".format(*interval(stopped)) +
          f"  clock {statistics.median(worker.ratios('on', 1)):.3f}"
          f"  a step {on:.0f} {off:.0f} {none:.0f} us  {len(worker.ratios('on', 0))} pairs", flush=True)


def compare(options: argparse.Namespace, name: str) -> None:
    """All interpreters and cases of one workload, in turns."""
    tool, rng = os.path.abspath(options.wheeltap), random.Random(0)
    with contextlib.ExitStack() as stack:
        workers = [[Worker(tool, python, case, name, stack.enter_context(tempfile.TemporaryDirectory(prefix="wheeltap-bench-")))
                    for case in ["", *options.cases.split(",")]] for python in options.python or [sys.executable]]
        everyone = [worker for row in workers for worker in row]
        for worker in everyone:
            worker.torch = worker.answer()
        end = time.monotonic() + options.seconds
        for _ in range(-(-options.pairs // TURN_PAIRS)):
            if time.monotonic() > end and everyone[0].times:
                break
            for worker in rng.sample(everyone, len(everyone)):
                worker.turn()
        for worker in everyone:
            worker.end()
        for bare, *row in workers:
            for worker in row:
                report(name, worker, bare)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheeltap")
    parser.add_argument("--python", action="append", help="an interpreter with torch; may be given several times")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no more pairs of a workload after so long")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--workloads", default="mlp,cnn,transformer")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for name in options.workloads.split(","):
        if options.inside is None:
            compare(options, name)
        else:
            work(name, bool(options.inside))
    return 0


if __name__ == "__main__":
    sys.exit(main())
