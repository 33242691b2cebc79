# SPDX-License-Identifier: Apache-2.0
"""What the tests of goldens and diffs share: recording, and asking for JSON."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from patience import PATIENCE  # noqa: E402

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "WHEELTAP_AGENT"}


class Bench:
    """A folder to work in, and the program under test."""

    def __init__(self, wheeltap: str, folder: Path) -> None:
        self.wheeltap = wheeltap
        self.folder = folder
        self.count = 0

    def call(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.wheeltap, *words], capture_output=True, text=True, timeout=PATIENCE, env=ENVIRONMENT,
                              cwd=cwd or self.folder)

    def record(self, *program: str, cwd: Path, options: tuple[str, ...] = ("--syscalls",)) -> Path:
        self.count += 1
        run = self.folder / f"run{self.count}"
        done = self.call("record", *options, "-o", str(run), "--", *program, cwd=cwd)
        assert done.returncode == 0, done.stderr
        (run / "said").write_text(done.stderr)
        return run

    def json(self, *words: str) -> tuple[int, dict[str, Any]]:
        done = self.call(*words, "--json")
        return done.returncode, json.loads(done.stdout)


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    wheeltap = ""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory(prefix="wheeltap-compare-")
        self.addCleanup(temporary.cleanup)
        self.bench = Bench(self.wheeltap, Path(temporary.name))


def work_folder(bench: Bench) -> Path:
    """A folder with the inputs of the seeded programs, as new."""
    folder = bench.folder / "here"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "settings.txt").write_text("lr = 0.1\n")
    (folder / "data.bin").write_bytes(bytes(8192))
    (folder / "data2.bin").write_bytes(bytes(8192))
    return folder


def need_system_calls(wheeltap: str) -> None:
    """Ends the test, skipped, where nothing can record system calls."""
    with tempfile.TemporaryDirectory(prefix="wheeltap-compare-") as folder:
        done = Bench(wheeltap, Path(folder)).call("record", "--syscalls", "-o", f"{folder}/run", "--", "/bin/true")
    if done.returncode:
        print("skipped: system calls cannot be recorded here:", done.stderr.strip().splitlines()[-1])
        sys.exit(77)
