#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Small files that claim much: they are read to their end, or refused with a reason, in little memory.

The limit is that of the address space, so that what would take gigabytes fails instead of slowing the machine down.

usage: test_bombs.py WHEELTAP MAKE_BOMB
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Case  # noqa: E402

WHEELTAP, MAKE = (str(Path(word).resolve()) for word in sys.argv[1:3])
MB = 1 << 20


def bounded(limit: int, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=PATIENCE,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))


def peak(*words: str) -> int:
    """The greatest resident size, of what would do with less if it got less."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 3), status
    return usage.ru_maxrss * 1024


class Bombs(Case):
    def make(self, what: str, count: int, file_max: int, name: str = "run") -> str:
        run = self.folder / name
        subprocess.run([MAKE, str(run), what, str(count)], check=True, timeout=PATIENCE)
        self.assertLess((run / "0000.wt").stat().st_size, file_max)
        return str(run)

    def verb(self, limit: int, *words: str, code: int = 0) -> str:
        done = bounded(limit, WHEELTAP, *words)
        self.assertEqual(done.returncode, code, done.stderr[-500:])
        return done.stdout + done.stderr

    def test_overlapping_blocks(self) -> None:
        """300 blocks of 2.8 MB each that all cover the same time."""
        run = self.make("overlap", 300, 250_000)
        done = bounded(640 * MB, MAKE, "count", run)
        self.assertEqual((done.returncode, done.stdout), (0, f"{300 * 16384} rows\n"))
        self.verb(640 * MB, "check", run, code=3)

    def test_long_texts(self) -> None:
        """As many with texts, of which only one row in 512 is needed at a time."""
        run = self.make("text", 300, 150_000)
        done = bounded(640 * MB, MAKE, "count", run)
        self.assertEqual((done.returncode, done.stdout), (0, f"{300 * 512} rows\n"))

    def test_names(self) -> None:
        """Definitions have a ceiling by the size of the file; that some are left out is said."""
        run = self.make("names", 60_000, 1_500_000)
        for i in range(1, 4):
            shutil.copy(f"{run}/0000.wt", f"{run}/000{i}.wt")
        self.assertIn("damaged definitions", self.verb(640 * MB, "info", run, code=3))

    def test_unknown_names(self) -> None:
        """Many streams of one row, whose names have numbers that make a table of megabytes for each."""
        run = self.make("ids", 200, 10_000)
        self.assertLess(peak(WHEELTAP, "check", run), 400 * MB)

    def test_regular_expressions(self) -> None:
        run = self.make("overlap", 1, 10_000)
        gate = self.folder / "gate.toml"
        for pattern in ("((((a{1,200}){1,200}){1,200}))", "(" * 5000 + "a" + ")" * 5000, "(a*)\\\\1"):
            gate.write_text('[[assertion]]\nname = "x"\ntype = "span_count"\nmax_spans = 5\n'
                            f'span_name_pattern = "{pattern}"\n')
            self.assertIn("cannot be used as a regular expression", self.verb(300 * MB, "gate", "-c", str(gate), run, code=2))

    def test_import_of_one_line(self) -> None:
        """A line is refused as soon as it is too long, not when its end is found."""
        for name, head in (("trace.json", b'{"process_id": 1, "time": 1, "x": "'), ("invariants.json", b'{"relation": "')):
            path = self.folder / name
            with open(path, "wb") as file:
                file.write(head)
                file.truncate(3 << 30)
            said = self.verb(200 * MB, "import", "traincheck", str(path), "-o", str(self.folder / f"{name}.out"), code=3)
            self.assertIn(":1: this line is longer than", said)

    def test_json(self) -> None:
        """Sixteen megabytes of the shortest values."""
        pack = self.folder / "pack.json"
        pack.write_text('{"wheeltap": "pack", "x": [' + "1," * (7 * MB) + "1]}")
        run = self.make("overlap", 1, 10_000)
        self.assertIn("too many values", self.verb(640 * MB, "check", "-i", str(pack), run, code=3))
        pack.write_text("[" * 100_000)
        self.assertIn("nested deeper", self.verb(640 * MB, "check", "-i", str(pack), run, code=3))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
