#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What one hooked call costs: nothing recorded, told, told with tensors.

usage: calls.py WHEELTAP
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from typing import Any, Callable


def nanoseconds(call: Callable[[], Any], count: int = 20000, rounds: int = 15) -> float:
    """The best of several rounds, without the loop."""
    def loop(function: Callable[[], Any]) -> float:
        best = float("inf")
        for _ in range(rounds):
            begin = time.perf_counter_ns()
            for _ in range(count):
                function()
            best = min(best, (time.perf_counter_ns() - begin) / count)
        return best

    return loop(call) - loop(lambda: None)


def inside() -> None:
    import math

    import torch
    from wheeltap import _wheeltap as core

    small = torch.zeros(4)
    calls = {"math.sqrt (one argument)": (math.sqrt, lambda: math.sqrt(2.0)),
             "math.gcd (fast)": (math.gcd, lambda: math.gcd(12, 18)),
             "torch.add, 4 floats": (torch.add, lambda: torch.add(small, small))}
    print(f"{'':28}{'bare':>10}{'hooked':>10}{'recorded':>10}   ns a call")
    for name, (target, call) in calls.items():
        core.unhook(target)
        core.stop()
        bare = nanoseconds(call)
        core.hook(target, "bench", name)
        hooked = nanoseconds(call)
        core.start()
        told = nanoseconds(call)
        core.stop()
        print(f"{name:28}{bare:10.0f}{hooked:10.0f}{told:10.0f}", flush=True)


def main() -> int:
    if sys.argv[2:] == ["--inside"]:
        inside()
        return 0
    with tempfile.TemporaryDirectory(prefix="wheeltap-bench-") as folder:
        return subprocess.run([sys.argv[1], "record", "-q", "--on-full", "drop", "-o", folder + "/run", "--", sys.executable,
                               __file__, sys.argv[1], "--inside"]).returncode


if __name__ == "__main__":
    sys.exit(main())
