#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The suite of saved parameters passes, and each of its rows fails with its fault; what it leaves behind is verified by wheeltap.

usage: test_modelparams.py WHEELTAP MODELPARAMS
"""

from __future__ import annotations

import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Case, environment  # noqa: E402

WHEELTAP = str(Path(sys.argv[1]).resolve())
PROGRAM = str(Path(sys.argv[2]).resolve())
ROWS = [line.split("\t") for line in subprocess.run([PROGRAM, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()]


class Modelparams(Case):
    def setUp(self) -> None:
        super().setUp()
        self.assertEqual(self.call(WHEELTAP, "dataset", "make", "iris-like", "small", "tiny", "multi-class", "-o", "data")[0], 0)

    def call(self, *words: str) -> tuple[int, str]:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, env=environment(), cwd=self.folder)
        return done.returncode, done.stdout

    def suite(self, *words: str, data: str = "iris_like", folder: str = "models") -> tuple[int, str]:
        return self.call(PROGRAM, "--data", f"data/{data}.csv", "--dir", folder, *words)

    def test_passes(self) -> None:
        for data in ("iris_like", "small_test", "tiny_debug", "large_multi"):
            code, out = self.suite(data=data, folder=data)
            self.assertEqual(code, 0, out)
            self.assertIn(f"{len({row for row, _ in ROWS})} passed, 0 failed", out)

    def test_same_each_time(self) -> None:
        for seed in ("1", "2"):
            outs = [self.suite("--seed", seed, folder=folder)[1].replace(folder, "X") for folder in (f"one{seed}", f"two{seed}")]
            self.assertEqual(outs[0], outs[1])
        model = [(self.folder / name / "model.bin").read_bytes() for name in ("one1", "two1", "one2")]
        self.assertEqual(model[0], model[1])
        self.assertNotEqual(model[0], model[2])

    def test_each_row_can_fail(self) -> None:
        for row, fault in ROWS:
            code, out = self.suite("--fault", fault, row, folder=f"models-{fault}-{row}")
            self.assertEqual(code, 1, (row, fault, out))
            self.assertIn("0 passed, 1 failed", out, (row, fault))
            self.assertEqual(self.suite(row, folder=f"good-{fault}-{row}")[0], 0, row)

    def test_usage(self) -> None:
        self.assertEqual(self.call(PROGRAM)[0], 2)
        self.assertEqual(self.suite("--fault", "nothing")[0], 2)
        self.assertEqual(self.suite(data="nowhere")[0], 2)
        self.assertEqual(self.suite("no-such-row")[0], 1)

    def test_models_are_verified(self) -> None:
        self.assertEqual(self.suite()[0], 0)
        for name in ("model.bin", "model.safetensors"):
            code, out = self.call(WHEELTAP, "model", "verify", f"models/{name}", "--data", "data/iris_like.csv")
            self.assertEqual(code, 0, out)
            self.assertIn("100.0 % of 150 rows right", out)
        self.assertEqual(self.suite("--fault", "ancestor-loss", folder="wrong")[0], 1)
        code, out = self.call(WHEELTAP, "model", "verify", "wrong/model.bin", "--data", "data/iris_like.csv")
        self.assertEqual(code, 1)
        self.assertIn("WT-MODEL-013", out)

    def test_every_format(self) -> None:
        """Through each format that is written and back: the same file."""
        self.assertEqual(self.suite()[0], 0)
        for name, back in (("a.mpk", "model.bin"), ("b.bin", "model.safetensors"), ("c.safetensors", "model.bin")):
            source = f"models/{back}"
            self.assertEqual(self.call(WHEELTAP, "model", "convert", source, name), (0, self.call(WHEELTAP, "model", "convert", source, name)[1]))
            self.assertEqual(self.call(WHEELTAP, "model", "convert", name, f"again-{name}-{back}", "--like", source)[0], 0)
            code, out = self.call(WHEELTAP, "model", "diff", source, f"again-{name}-{back}")
            self.assertEqual(code, 0, out)

    def test_against_the_run(self) -> None:
        """The program emits what it saves and loads: the file is held against that."""
        words = [WHEELTAP, "record", "-o", "run", "--", PROGRAM, "--data", "data/iris_like.csv", "--dir", "models"]
        self.assertEqual(self.call(*words)[0], 0)
        for name in ("model.safetensors", "model.bin"):  # one of them has no names
            code, out = self.call(WHEELTAP, "model", "verify", f"models/{name}", "--against", "run")
            self.assertEqual(code, 0, out)
            self.assertIn("4 of 4 tensors are what the run saved", out)
        path = self.folder / "models" / "model.safetensors"
        data = bytearray(path.read_bytes())
        data[-2] ^= 0x40
        path.write_bytes(bytes(data))
        code, out = self.call(WHEELTAP, "model", "verify", "models/model.safetensors", "--against", "run")
        self.assertEqual(code, 1, out)
        self.assertRegex(out, r"model.safetensors: 'linear\d.\w+' differs from what was saved in step \d+: bit 22 of element \d+ is flipped")

    def test_recorded(self) -> None:
        words = [WHEELTAP, "record", "-o", "run", "--", PROGRAM, "--data", "data/iris_like.csv", "--dir", "models"]
        self.assertEqual(self.call(*words, "--fault", "drop-order")[0], 1)
        code, out = self.call(WHEELTAP, "view", "run")
        self.assertEqual(code, 0)
        for name in ("resumed training is the same to the bit", "flipped bits are refused", "beats the majority class by far"):
            self.assertIn(name, out)
        self.assertRegex(out, r"resumed training is the same to the bit.*failed|failed.*resumed training is the same to the bit")


if __name__ == "__main__":
    del sys.argv[1:3]
    unittest.main()
