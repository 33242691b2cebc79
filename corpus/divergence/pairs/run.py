#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The same training computed in two ways, recorded and compared: what is aligned, and what is named as first.

usage: run.py WHEELTAP [--python PATH] [--other PATH] [--only NAME ...]

PATH is an interpreter with torch 2 (torch.compile, FSDP), --other one with another version of torch. Each way is recorded once,
with `--tensors stats`, in an empty folder. Prints a table; the status is 1 if another operation is named than is declared here.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LABELS = ("reordered", "missing", "extra", "fused", "split", "replaced", "inside", "around", "repeated")
PROGRAM = ["train.py"]
TORCHRUN = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "train.py"]

WAYS = {
    "eager": PROGRAM,
    "again": PROGRAM,
    "aot_eager": [*PROGRAM, "--compile", "aot_eager"],
    "inductor": [*PROGRAM, "--compile", "inductor"],
    "two threads": [*PROGRAM, "--threads", "2"],
    "bf16 autocast": [*PROGRAM, "--autocast"],
    "four micro-batches": [*PROGRAM, "--micro", "4"],
    "DDP, two ranks": [*TORCHRUN, "--ranks", "ddp"],
    "FSDP, two ranks": [*TORCHRUN, "--ranks", "fsdp"],
    "another torch": PROGRAM,
}


@dataclass
class Pair:
    a: str
    b: str
    operation: str  # that is the first; "": nothing differs, "any": it depends on the machine
    text: str = ""  # in its line


PAIRS = [
    Pair("eager", "again", ""),
    Pair("eager", "aot_eager", ""),
    Pair("eager", "inductor", "Net.forward", "model(tokens)"),
    # Reductions over rows, as for the weights of LayerNorm, are divided among threads; which others are depends on the processor.
    Pair("eager", "two threads", "any"),
    Pair("eager", "bf16 autocast", "Linear.forward", "self.up("),
    Pair("eager", "four micro-batches", "Tensor.chunk", "tokens.chunk("),
    Pair("eager", "DDP, two ranks", "Tensor.__getitem__", "[:share]"),
    Pair("DDP, two ranks", "FSDP, two ranks", ""),  # a rank of FSDP holds parts of parameters, which are not compared
    Pair("eager", "another torch", "any"),
]


def record(wheeltap: str, folder: Path, python: str, way: str) -> None:
    done = subprocess.run([wheeltap, "record", "-q", "--tensors", "stats", "-o", way, "--", python, *WAYS[way]], cwd=folder, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"run.py: '{way}' failed: {done.stderr[-500:]}")


def compare(wheeltap: str, folder: Path, pair: Pair) -> "dict[str, Any]":
    done = subprocess.run([wheeltap, "diff", "--tensors", "--json", pair.a, pair.b], cwd=folder, capture_output=True, text=True)
    return json.loads(done.stdout)


def first_of(said: "dict[str, Any]") -> "dict[str, Any] | None":
    return next((row for row in said["tables"]["first"] if row["track"] == said["first_track"]), None) if "first_track" in said else None


def is_right(pair: Pair, row: "dict[str, Any] | None", lines: "list[str]") -> bool:
    if not row or not pair.operation:
        return not row and pair.operation in ("", "any")
    return pair.operation == "any" or (row["operation"] == pair.operation and pair.text in lines[row["line"] - 1])


def described(row: "dict[str, Any]", lines: "list[str]") -> str:
    value = f" ({row['value']})" if row["value"] else ""
    place = f" in `{lines[row['line'] - 1].strip()}`" if Path(row["file"]).name == "train.py" else ""
    return f"{row['operation']}{value}{place}, step {row['step']}: {row['how']}"


def printed(pair: Pair, said: "dict[str, Any]", lines: "list[str]") -> bool:
    """A row of the table; whether it is as declared."""
    row, tracks = first_of(said), said["tables"]["alignment"]
    counts = {label: sum(track[label] for track in tracks) for label in LABELS}
    words = ", ".join(f"{count} {label}" for label, count in counts.items() if count) or "none"
    settings = ", ".join(sorted({track["settings"] for track in tracks if track["settings"]}))
    right = is_right(pair, row, lines)
    verdict = "unknown" if pair.operation == "any" else "yes" if right else f"no: {pair.operation or 'the same'}"
    print(f"| {pair.a} | {pair.b} | {sum(track['a'] for track in tracks)}, {sum(track['b'] for track in tracks)} | {said['aligned_share']:.1f} % | "
          f"{words} | {described(row, lines) if row else said['status']}{'; ' + settings if settings else ''} | {verdict} |", flush=True)
    return right


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("wheeltap")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--other", help="an interpreter with another torch")
    parser.add_argument("--only", nargs="*", default=[], help="ways that are compared")
    options = parser.parse_args()
    if subprocess.run([options.python, "-c", "import torch; torch.compile"], capture_output=True).returncode:
        print(f"# skipped: {options.python} has no torch.compile")
        return 77
    wheeltap, wrong = str(Path(options.wheeltap).resolve()), 0
    lines = (HERE / "train.py").read_text().splitlines()
    print("| A | B | operations | aligned | others | first | as declared |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(HERE / "train.py", folder)
        for pair in PAIRS:
            if (options.only and pair.b not in options.only) or (pair.b == "another torch" and not options.other):
                continue
            for way in (pair.a, pair.b):
                if not (folder / way).exists():
                    record(wheeltap, folder, options.other if way == "another torch" else options.python, way)
            wrong += not printed(pair, compare(wheeltap, folder, pair), lines)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
