#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every input that goes into an archive is replayed, once; an archive that is damaged is refused. usage: test_inputs.py REPLAY_TOML"""

from __future__ import annotations

import subprocess
import sys
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
import inputs  # noqa: E402
from harness import PATIENCE, Case  # noqa: E402

REPLAY = sys.argv.pop(1)
TOOL = Path(__file__).resolve().parent / "inputs.py"
SAMPLE = [b"", b"a = 1\n", b"b = 2\n", b"\0\xff" * 300]


class Inputs(Case):
    def setUp(self) -> None:
        super().setUp()
        self.archive = self.folder / "toml.inputs"

    def call(self, *words: object) -> tuple[int, str]:
        done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
        return done.returncode, done.stdout

    def test_replays_each(self) -> None:
        inputs.write(self.archive, SAMPLE)
        self.assertEqual(self.call(REPLAY, self.archive), (0, "4 inputs\n"))
        self.assertEqual(self.call(REPLAY, self.archive, self.archive)[1], "8 inputs\n")

    def test_same_set_same_file(self) -> None:
        inputs.write(self.archive, SAMPLE)
        before = self.archive.read_bytes()
        self.assertEqual(self.call(TOOL, "unpack", self.archive, self.folder / "loose")[0], 0)
        self.assertEqual(len(list((self.folder / "loose").iterdir())), 4)
        (self.folder / "loose" / "twice").write_bytes(SAMPLE[1])
        self.assertEqual(self.call(TOOL, "pack", self.archive, self.folder / "loose")[0], 0)
        self.assertEqual(self.archive.read_bytes(), before)

    def test_add(self) -> None:
        (self.folder / "one").write_bytes(SAMPLE[1])
        (self.folder / "two").write_bytes(SAMPLE[2])
        self.assertIn("1 of 1 inputs are new", self.call(TOOL, "add", self.archive, self.folder / "one")[1])
        self.assertIn("1 of 2 inputs are new", self.call(TOOL, "add", self.archive, self.folder / "one", self.folder / "two")[1])
        self.assertEqual(inputs.read(self.archive), [SAMPLE[1], SAMPLE[2]])
        self.assertEqual(self.call(REPLAY, self.archive)[1], "2 inputs\n")

    def test_damage_is_refused(self) -> None:
        inputs.write(self.archive, SAMPLE)
        whole = self.archive.read_bytes()
        for damaged in [*(whole[:length] for length in range(len(whole))), whole + b"x", b"x" + whole]:
            self.archive.write_bytes(damaged)
            self.assertRaises(ValueError, inputs.read, self.archive)
        for damaged in [b"", whole[:10], whole[:16], whole[:24], whole[:-1], whole + b"x", b"x" + whole]:
            self.archive.write_bytes(damaged)
            self.assertEqual(self.call(REPLAY, self.archive)[0], 2, damaged[:30])
        self.archive.unlink()
        self.assertEqual(self.call(REPLAY, self.archive)[0], 2)


if __name__ == "__main__":
    unittest.main()
