#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of this folder and compares what `rerun` says with what they declare.

usage: run.py WHEELTAP [--times N] [--python PATH] [--only NAME ...]

A line with `# first: NAME` is where runs of the program begin to differ, NAME the operation (`any`: whatever is in that line);
`# same` declares that they do not; `# runs: A | B` has arguments of the two runs to be compared with `diff --tensors`, for
programs whose second run is another command. `# record: OPTIONS` has further options of the recording. Each program is recorded in an empty folder.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Tuple

HERE = Path(__file__).resolve().parent
Verdict = Tuple[str, str, int]  # the first operation and its place, or the status
RECORD = ("record", "-q", "--tensors", "stats")


@dataclass
class Program:
    path: Path
    line: int  # 0: runs are the same
    operation: str
    arguments: "list[list[str]]"  # of two runs; none: the same command again
    options: "list[str]"  # of the recording


def declared(path: Path) -> Program:
    text = path.read_text()
    runs = re.search(r"^# runs: (.*)$", text, re.M)
    arguments = [part.split() for part in runs.group(1).split("|")] if runs else []
    record = re.search(r"^# record: (.*)$", text, re.M)
    options = record.group(1).split() if record else []
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.search(r"# first: (\S+)$", line)
        if mark:
            return Program(path, number, mark.group(1), arguments, options)
    if not re.search(r"^# same$", text, re.M):
        sys.exit(f"{path} declares neither '# first: NAME' nor '# same'")
    return Program(path, 0, "", arguments, options)


def run(wheeltap: str, folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([wheeltap, *map(str, words)], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def parsed(done: subprocess.CompletedProcess[str]) -> "dict[str, Any]":
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"status": "failed: " + done.stderr[-300:], "tables": {}}


def compared(wheeltap: str, folder: Path, program: Program, command: "list[str]") -> "Verdict":
    """Two runs of different commands."""
    for name, arguments in zip("ab", program.arguments):
        shutil.rmtree(folder / name, ignore_errors=True)
        run(wheeltap, folder, *RECORD, *program.options, "-o", name, "--", *command, *arguments)
    said = parsed(run(wheeltap, folder, "diff", "--tensors", "--json", "a", "b"))
    row = next((row for row in said["tables"].get("first", []) if row["track"] == said["first_track"]), None)
    return (row["operation"], row["file"], row["line"]) if row else (said["status"], "", 0)


def judged(wheeltap: str, python: str, program: Program, times: int) -> "list[Verdict]":
    """What each try says: the first operation with its place, or the status."""
    command = [python, program.path.name]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in (program.path, HERE / "small.py"):
            shutil.copy(path, folder)
        if program.arguments:
            return [compared(wheeltap, folder, program, command) for _ in range(times)]
        run(wheeltap, folder, *RECORD, *program.options, "-o", "a", "--", *command)
        said = parsed(run(wheeltap, folder, "rerun", "--json", "--no-narrow", "--times", times, "a", "--yes", " ".join(command)))
    rows = said["tables"].get("tries", [])
    return [(row["operation"] or row["verdict"], row["file"], row["line"]) for row in rows] or [(said["status"], "", 0)] * times


def is_right(program: Program, verdict: "Verdict") -> bool:
    operation, file, line = verdict
    if not program.line:
        return operation in ("bit-identical", "identical")
    return line == program.line and Path(file).name == program.path.name and program.operation in ("any", operation)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("wheeltap")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    if subprocess.run([options.python, "-c", "import torch"], capture_output=True).returncode:
        print(f"# skipped: {options.python} has no torch")
        return 77
    wheeltap, wrong = str(Path(options.wheeltap).resolve()), 0
    print("| program | declared | right | said |\n|---|---|---|---|")
    for path in sorted(HERE.glob("*.py")):
        if path.name in ("emit.py", "run.py", "small.py") or (options.only and path.stem not in options.only):
            continue
        program = declared(path)
        verdicts = judged(wheeltap, options.python, program, options.times)
        right = sum(is_right(program, verdict) for verdict in verdicts)
        wrong += right < options.times
        expected = f"{program.operation}, line {program.line}" if program.line else "the same"
        said = "; ".join(sorted({f"{what} {Path(file).name}:{line}" if line else what for what, file, line in verdicts}))
        print(f"| {path.stem} | {expected} | {right} of {options.times} | {said} |", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
