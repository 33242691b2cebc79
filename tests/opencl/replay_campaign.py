#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Records every OpenCL program of this folder, replays each many times in fresh processes, and prints how often the verdict was right, and how often the
programs that --emit wrote showed their mistake alone.

    replay_campaign.py [--times 20] [--only PROGRAM,...] BUILD

Exits with 1 if one was wrong once. A program is recorded anew for each try, as the run that was recorded differs, too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

DETERMINISTIC = ("convolution", "image_filter", "killed", "map_unmap", "matmul", "mlp", "nbody", "out_of_order", "reduction", "scan", "sort",
                 "sub_buffers", "svm", "vector_add", "two_queues ordered")


EMITTED = 5  # times that a program is emitted


def is_bit_exact(status: int, result: dict) -> bool:
    return status == 0 and result["status"] == "bit_exact" and not result["findings"]


def is_intrinsic(status: int, result: dict) -> bool:
    origins = [row["name"] for row in result["tables"].get("operations", []) if row["verdict"] == "ORIGIN"]
    return status == 1 and origins == ["sum"] and [finding["id"] for finding in result["findings"]] == ["WT-REPLAY-001"]


def is_race(status: int, result: dict) -> bool:
    races = [finding for finding in result["findings"] if finding["id"] == "WT-REPLAY-002"]
    return status == 1 and len(races) == 1 and "'fill_up'" in races[0]["title"] and "'fill_down'" in races[0]["title"] \
        and "confirmed: the two" in races[0]["evidence"]["text"]


def is_partial(status: int, result: dict) -> bool:
    """One native kernel cannot be executed; nothing else is wrong."""
    facts = result
    return status == 3 and result["status"] == "partial" and facts["missing"] == 1 and not facts["origins"] and not facts["races"]


EXPECTED = {**{name: ("BIT-EXACT", is_bit_exact) for name in DETERMINISTIC}, "threads": ("partial: a native kernel", is_partial),
            "float_atomics": ("ORIGIN sum, intrinsic", is_intrinsic), "two_queues": ("race of the two kernels", is_race)}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--only", type=lambda text: text.split(","), help="these programs, with their words")
    parser.add_argument("build", type=Path)
    arguments = parser.parse_args()
    os.environ["WHEELTAP_BUILD"] = str(arguments.build.resolve())
    from replaying import MISTAKES, emit_and_show, record, replay

    wrong = 0
    print(f"{'program':24}{'expected':28}{'right':>10}{'seconds':>9}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, (word, is_right) in EXPECTED.items():
            if arguments.only and name not in arguments.only:
                continue
            program, *words = name.split()
            right, begin = 0, time.monotonic()
            for _ in range(arguments.times):
                run = record(Path(folder) / "run", [str(arguments.build.resolve() / "tests/opencl" / f"opencl_{program}"), *words])
                status, result, _ = replay(run)
                right += is_right(status, result)
                shutil.rmtree(run)
            wrong += arguments.times - right
            print(f"{name:24}{word:28}{f'{right} of {arguments.times}':>10}{time.monotonic() - begin:9.0f}", flush=True)
        for mistake in MISTAKES:
            if arguments.only and mistake.words not in arguments.only:
                continue
            program, *words = mistake.words.split()
            right, begin = 0, time.monotonic()
            for number in range(min(arguments.times, EMITTED)):
                run = record(Path(folder) / f"{program}_{'_'.join(words)}{number}", [str(arguments.build.resolve() / "tests/opencl" / f"opencl_{program}"), *words])
                why = emit_and_show(run, mistake)
                right += not why
                if why:
                    print(f"{mistake.words}: {why[:1000]}", file=sys.stderr, flush=True)
            wrong += number + 1 - right
            print(f"{mistake.words:28}{'repro.c':24}{f'{right} of {number + 1}':>10}{time.monotonic() - begin:9.0f}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
