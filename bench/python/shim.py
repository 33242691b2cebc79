#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What watching torch below Python adds to a recorded step, measured inside one process.

usage: shim.py WHEELTAP [--pairs N] [--workloads mlp,cnn,transformer]

As overhead.py, but recording is on throughout, and what is switched on and off is what the shim watches. Times are
those of the processor, so that other programs disturb them less.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from types import ModuleType
from typing import Iterator

from overhead import interval, stepper


def _parts(core: ModuleType, what: int) -> Iterator[tuple[str, int]]:
    """What can be watched, bit by bit."""
    yield "backward and regions", what & (core.WATCH_BACKWARD | core.WATCH_REGIONS)
    if what & core.WATCH_OPERATORS:
        yield "and operators", what & ~core.WATCH_OUTPUTS
    if what & core.WATCH_OUTPUTS:
        yield "and outputs of backward", what


def measure(name: str, pairs: int) -> None:
    import torch
    import wheeltap
    from wheeltap import _agent, _shim

    core, settings = _agent._State.core, _agent._State.settings
    path = _shim._find(torch)
    if core is None or path is None:
        raise SystemExit(f"there is no shim for torch {torch.__version__}, or nobody records")
    identity, watched_at_level = _shim.identity(torch), _shim._watched(core, settings)
    torch.set_num_threads(1)
    step = stepper(name)
    rng = random.Random(0)
    wheeltap.start()

    def block(what: int, steps: int) -> float:
        core.load_shim(path, identity, what)
        begin = time.thread_time()
        for _ in range(steps):
            step()
        return time.thread_time() - begin

    for label, what in _parts(core, watched_at_level):
        for is_watched in (True, False, True):
            once = block(what if is_watched else 0, 5) / 5
        steps = max(1, round(0.015 / once))
        watched, control = [], []
        for _ in range(pairs):
            kinds = ["on", "off", "other"]
            rng.shuffle(kinds)
            times = {kind: block(what if kind == "on" else 0, steps) for kind in kinds}
            watched.append(times["on"] / times["off"])
            control.append(times["other"] / times["off"])
        print(f"{name:12} {label:26} {once * 1e3:8.2f} ms a step   with / without "
              "{:.3f} [{:.3f}, {:.3f}]".format(*interval(watched)) + "   without / without "
              "{:.3f} [{:.3f}, {:.3f}]".format(*interval(control)) + f"   {pairs} pairs of {steps} steps", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheeltap")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--workloads", default="mlp,cnn,transformer")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        for name in options.workloads.split(","):
            measure(name, options.pairs)
        return 0
    with tempfile.TemporaryDirectory(prefix="wheeltap-bench-") as folder:
        command = [options.wheeltap, "record", "-q", "--operators", "outputs", "-o", folder + "/run", "--", sys.executable,
                   __file__, options.wheeltap, "--pairs", str(options.pairs), "--workloads", options.workloads, "--inside"]
        return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
