# SPDX-License-Identifier: Apache-2.0
"""What recording costs a torch program, measured inside one process.

usage: overhead.py WHEELTAP [--pairs N] [--cases lean,normal,full,selective,budget] [--workloads mlp,cnn,transformer]

Machines are noisy: unchanged programs differ by 8 % between runs. So recording is switched on and off for short
blocks of steps within one process, in random order, and each block with recording is compared with the one beside
it without. Beside it stands a control: blocks without recording against others without. Prints the median ratio and
the 95 % interval of it, from a bootstrap over the pairs.

selective: --invariants with a pack of 100 entries about the order of calls, what functions return, modes, losses and
the settings of optimizers. budget: --budget 2 at the normal level, which thins until it costs no more than 2 %.
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


def measure(name: str, case: str, pairs: int) -> None:
    import torch
    import wheeltap

    torch.set_num_threads(1)
    step = stepper(name)
    rng = random.Random(0)

    def block(is_on: bool, steps: int) -> float:
        if is_on:
            wheeltap.start()
        else:
            wheeltap.stop()
        begin = time.perf_counter()
        for _ in range(steps):
            step()
        return time.perf_counter() - begin

    once = min(block(is_on, 5) / 5 for is_on in (True, False, True, False, True))
    steps = max(1, round(0.015 / once))
    recorded, control = [], []
    for _ in range(pairs):
        kinds = ["on", "off", "other"]
        rng.shuffle(kinds)
        times = {kind: block(kind == "on", steps) for kind in kinds}
        recorded.append(times["on"] / times["off"])
        control.append(times["other"] / times["off"])
    wheeltap.stop()
    print(f"{name:12} {case:9} {once * 1e3:8.2f} ms a step   recorded / bare "
          "{:.3f} [{:.3f}, {:.3f}]".format(*interval(recorded)) + "   bare / bare "
          "{:.3f} [{:.3f}, {:.3f}]".format(*interval(control)) + f"   {pairs} pairs of {steps} steps", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheeltap")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--workloads", default="mlp,cnn,transformer")
    parser.add_argument("--inside", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        for name in options.workloads.split(","):
            measure(name, options.inside, options.pairs)
        return 0
    tool = os.path.abspath(options.wheeltap)
    for case in options.cases.split(","):
        with tempfile.TemporaryDirectory(prefix="wheeltap-bench-") as folder:
            write_pack(folder + "/pack.json")
            command = [tool, "record", "-q", *CASES[case], "-o", folder + "/run", "--", sys.executable,
                       os.path.abspath(__file__), tool, "--pairs", str(options.pairs), "--workloads", options.workloads,
                       "--inside", case]
            status = subprocess.run(command, cwd=folder).returncode
            if status:
                return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
