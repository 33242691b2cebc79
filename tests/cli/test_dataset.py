#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The verb `dataset`: the sets that it makes, and what it says of files with something wrong in them.

usage: test_dataset.py WHEELTAP
"""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Case, environment  # noqa: E402

PROGRAM = str(Path(sys.argv[1]).resolve())
PUBLISHED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "burn"
SETS = {"iris-like": ("iris_like", 150, 4, 3), "small": ("small_test", 60, 3, 2), "tiny": ("tiny_debug", 30, 2, 3), "multi-class": ("large_multi", 300, 8, 5)}
# The SHA-256 of the features without a seed: those of iris_like were compared with the published file.
FEATURES = {"iris-like": "5ddfe44ee9cbd433eae7df2094ef8b77ffe60be613d4dc1d05ac70d602117e1e"}


def npy(kind: str, shape: str, data: bytes) -> bytes:
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}".encode()
    header += b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


class Dataset(Case):
    def call(self, *words: object) -> tuple[int, str, str]:
        done = subprocess.run([PROGRAM, "dataset", *map(str, words)], capture_output=True, text=True, timeout=PATIENCE, env=environment(), cwd=self.folder)
        return done.returncode, done.stdout, done.stderr

    def inspect(self, *words: object) -> tuple[int, dict, list[str]]:
        code, out, err = self.call("inspect", *words, "--json")
        self.assertIn(code, (0, 1), err)
        result = json.loads(out)
        return code, result, [finding["id"] for finding in result["findings"]]

    def csv(self, name: str, *rows: str, header: str = "a,b,class") -> str:
        (self.folder / name).write_text("\n".join([header, *rows]) + "\n")
        return name

    def make(self, name: str, folder: str, *words: str) -> bytes:
        code, _, err = self.call("make", name, "-o", folder, *words)
        self.assertEqual((code, err), (0, ""))
        return (self.folder / folder / f"{SETS[name][0]}_features.npy").read_bytes()

    def test_make(self) -> None:
        for name, (files, rows, columns, classes) in SETS.items():
            features = self.make(name, "data")
            self.assertEqual(len(features), 128 + 4 * rows * columns)
            labels = (self.folder / "data" / f"{files}_labels.npy").read_bytes()[128:]
            self.assertEqual(labels, bytes(row % classes for row in range(rows)))
            lines = [line for line in (self.folder / "data" / f"{files}.csv").read_text().splitlines() if line and line[0] != "#"]
            values = struct.unpack(f"<{rows * columns}f", features[128:])
            self.assertEqual(len(lines), rows)
            for row, line in enumerate(lines):
                self.assertEqual(line, "".join(f"{value:.6f}," for value in values[row * columns : (row + 1) * columns]) + str(row % classes))
            code, result, found = self.inspect(f"data/{files}.csv")
            self.assertEqual((code, found), (0, []))
            self.assertIn(result["tables"]["files"][0]["sha256"], (self.folder / "data" / f"{files}_info.md").read_text())

    def test_published_values(self) -> None:
        """The published generator's, to the bit."""
        features = self.make("iris-like", "data")
        self.assertEqual(hashlib.sha256(features).hexdigest(), FEATURES["iris-like"])
        if not PUBLISHED.exists():
            self.skipTest(f"the published set is not in {PUBLISHED}")
        for part in ("features", "labels"):
            self.assertEqual((self.folder / "data" / f"iris_like_{part}.npy").read_bytes(), (PUBLISHED / f"iris_like_{part}.npy").read_bytes())

    def test_seed_is_used(self) -> None:
        made = [self.make("tiny", "data", *words) for words in ([], ["--seed", "1"], ["--seed", "1"], ["--seed", "2"], ["--seed", "789"])]
        self.assertEqual(made[1], made[2])
        self.assertEqual(len(set(made)), 4)
        one, two = (struct.unpack("<60f", data[128:]) for data in (made[1], made[3]))
        self.assertGreater(sum(a != b for a, b in zip(one, two)), 55)
        self.assertIn("seed: 789", (self.folder / "data" / "tiny_debug_info.md").read_text())

    def test_mistakes(self) -> None:
        self.assertIn("did you mean 'iris-like'", self.call("make", "iris-lke")[2])
        for words in (["make"], ["make", "other"], ["inspect"], ["mak", "tiny"], ["make", "tiny", "--seed", "x"]):
            code, out, err = self.call(*words)
            self.assertEqual((code, out, err.count("\n")), (2, "", 1), words)
        self.assertEqual(self.call("inspect", "nothing.csv")[0], 3)

    def test_clean(self) -> None:
        code, result, found = self.inspect(self.csv("a.csv", "1,2,x", "2,3,y", "3,5,x", "4,4,y"))
        self.assertEqual((code, found, result["status"]), (0, [], "clean"))
        columns = {row["column"]: row for row in result["tables"]["columns"]}
        self.assertEqual((columns["a"]["min"], columns["a"]["max"], columns["a"]["mean"]), (1, 4, 2.5))
        self.assertEqual({row["class"]: row["rows"] for row in result["tables"]["classes"]}, {"x": 2, "y": 2})

    def test_each_finding(self) -> None:
        cases = {
            "WT-SET-002": ["1,2,x", "1,2,y", "3,4,x"],
            "WT-SET-003": ["1,2,x", "1,2,x", "3,4,y"],
            "WT-SET-004": ["1,7,x", "2,7,y", "3,7,x"],
            "WT-SET-005": ["1,,x", "2,3,y", "3,5,x"],
            "WT-SET-006": [f"{i},{i * i},{'x' if i else 'y'}" for i in range(12)],
            "WT-SET-007": [f"{i},{i % 2},{'xy'[i % 2]}" for i in range(9)],
        }
        for code, rows in cases.items():
            self.assertIn(code, self.inspect(self.csv("a.csv", *rows))[2], code)
            without = [row for i, row in enumerate(rows) if code != "WT-SET-003" or i]
            if code == "WT-SET-003":
                self.assertNotIn(code, self.inspect(self.csv("a.csv", *without))[2])
        self.assertEqual(self.inspect(self.csv("a.csv", "1,,x", "2,3,y", "3,5,x"), "--fail-on", "warning")[0], 1)

    def test_one_finding_a_pair(self) -> None:
        """A row with another label is a contradiction; only one that is the same to its label is there again."""
        self.assertEqual(self.inspect(self.csv("a.csv", "1,2,x", "1,2,y", "3,4,x"))[2], ["WT-SET-002"])
        # The third is the second again, and both contradict the first.
        self.assertEqual(self.inspect(self.csv("a.csv", "1,2,x", "1,2,y", "1,2,y", "3,4,x"))[2], ["WT-SET-003", "WT-SET-002"])
        found = self.inspect(self.csv("a.csv", "1,2,x", "1,2,y", "3,4,x", "1,2,x"))[1]["findings"]
        self.assertEqual(sorted(f["id"] for f in found), ["WT-SET-002", "WT-SET-003"])
        self.assertIn("1 of 4 rows; the first is row 3, which is row 0 again", json.dumps(found))

    def test_leak(self) -> None:
        self.csv("train.csv", "1,2,x", "2,3,y", "-0,0,x")
        code, result, found = self.inspect("train.csv", self.csv("test.csv", "5,6,x", "2,3,x", "0,-0,x"))
        self.assertEqual((code, found), (1, ["WT-SET-001", "WT-SET-002"]))
        self.assertIn("2 of 3 rows; the first is row 1, which is row 1 of the other", json.dumps(result["findings"][0]))
        self.assertEqual(self.inspect("train.csv", self.csv("test.csv", "5,6,x", "2,3.0001,y"))[2], [])

    def test_csv_forms(self) -> None:
        for name, text in {
            "semicolon": "a;b;y\n1;2;0\n2;3;1\n3;1;0\n4;5;1\n", "tab": "a\tb\ty\n1\t2\t0\n2\t3\t1\n3\t1\t0\n4\t5\t1\n",
            "plain": "1,2,0\n2,3,1\n3,1,0\n4,5,1\n", "quoted": '"a","b,c","label"\n1,2,"p ""q"""\n2,3,r\n3,1,r\n4,5,r\n',
            "windows": "\ufeffa,b,y\r\n1,2,0\r\n2,3,1\r\n3,1,0\r\n4,5,1\r\n", "comment": "# a,b,class\n1,2,0\n2,3,1\n3,1,0\n4,5,1\n",
        }.items():  # fmt: skip
            (self.folder / name).write_text(text, newline="")
            row = self.inspect(name)[1]["tables"]["files"][0]
            self.assertEqual((row["rows"], row["columns"], row["classes"]), (4, 2, 2), name)
        for name, text, message in (("ragged", "1,2\n1,2,3\n", "ragged:2: 3 cells"), ("open", '1,"2\n', "quote"), ("empty", "", "no rows"), ("header", "a,b\n", "no rows")):
            (self.folder / name).write_text(text)
            code, out, err = self.call("inspect", name)
            self.assertEqual((code, out), (3, ""), name)
            self.assertIn(message, err)
        self.assertIn("no column 'z'", self.call("inspect", "plain", "--label", "z")[2])

    def test_arrays(self) -> None:
        features = npy("<f4", "4, 2", struct.pack("<8f", 1, 2, 3, 4, 5, 6, 1, 2))
        labels = npy("|u1", "4,", bytes([0, 1, 0, 1]))
        (self.folder / "x_features.npy").write_bytes(features)
        (self.folder / "x_labels.npy").write_bytes(labels)
        code, result, found = self.inspect("x_features.npy", "x_labels.npy")
        row = result["tables"]["files"][0]
        self.assertEqual((row["rows"], row["columns"], row["classes"], found), (4, 2, 2, ["WT-SET-002"]))
        with zipfile.ZipFile(self.folder / "x.npz", "w") as archive:
            archive.writestr("x.npy", features)
            archive.writestr("y.npy", labels)
        self.assertEqual(self.inspect("x.npz")[2], found)
        (self.folder / "bad.npy").write_bytes(features[:-1])
        self.assertEqual(self.call("inspect", "bad.npy")[0], 3)


if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
