#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Lets `rerun --emit` write a program for divergences of different kinds, and runs each alone, in an empty folder.

usage: emit.py WHEELTAP [--python PATH] [--tries N] [NAME ...]

Recorded are the programs of this folder. A race may not show in two runs: then the program is recorded again, up to N times. The program
that was written runs isolated (`python -I`), without wheeltap. Prints its last line; the status is 1 if one of them shows nothing.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = ("dropout_unseeded", "scatter", "thread_count", "thread_sum", "uninitialised")


def emitted(wheeltap: str, python: str, name: str, folder: Path) -> str:
    """Of the program: what it prints, or why there is none."""
    for path in (HERE / f"{name}.py", HERE / "small.py"):
        shutil.copy(path, folder)
    for words in (["record", "-q", "--tensors", "stats", "-o", "run", "--", python, f"{name}.py"],
                  ["rerun", "run", "--yes", f"{python} {name}.py", "--emit", "repro.py"]):
        done = subprocess.run([wheeltap, *words], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if not (folder / "repro.py").exists():
        return done.stderr.strip().splitlines()[-1]
    with tempfile.TemporaryDirectory() as empty:
        alone = subprocess.run([python, "-I", folder / "repro.py"], cwd=empty, capture_output=True, text=True)
    print("".join(f"#   {line}\n" for line in (alone.stdout + alone.stderr).splitlines()), end="")
    return alone.stdout.strip().splitlines()[-1] if alone.stdout.strip() else f"it failed with status {alone.returncode}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("wheeltap")
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--tries", type=int, default=5)
    options = parser.parse_args()
    wheeltap, silent = str(Path(options.wheeltap).resolve()), 0
    for name in options.names:
        said = ""
        for _ in range(options.tries):
            with tempfile.TemporaryDirectory() as folder:
                said = emitted(wheeltap, options.python, name, Path(folder))
            if said.startswith("it differs by"):
                break
        silent += not said.startswith("it differs by")
        print(f"{name}: {said}", flush=True)
    return int(silent > 0)


if __name__ == "__main__":
    sys.exit(main())
