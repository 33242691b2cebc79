#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks become events: of the C client, of wheeltap.check() and of pytest, whose results and output stay the same.

usage: test_checks.py BUILD [NAME...]
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

os.environ["WHEELTAP_BUILD"] = sys.argv.pop(1)
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

CHECKER = str(harness.BUILD / "tests/record/record_checker")
PACKAGE = str(harness.BUILD / "python")

CHECKS = """
import wheeltap
class Odd:
    def __eq__(self, other): raise TypeError("odd")
verdicts = [
    wheeltap.check("equal", 3, 3), wheeltap.check("differs", 3, 3, comparator="differs"),
    wheeltap.check("close", 1.05, 1.0, tolerance=0.1), wheeltap.check("relative", 120.0, 100.0, relative=0.1),
    wheeltap.check("bits", -0.0, 0.0, comparator="bits"), wheeltap.check("bytes", b"ab", b"ab", comparator="bits"),
    wheeltap.check("at least", 0.95, 0.9, comparator="at_least", n=150, unit="percent", duration=0.5),
    wheeltap.check("observed", 0.5), wheeltap.check("verdict", True), wheeltap.check("odd", Odd(), 1),
    wheeltap.check("nan", float("nan"), float("nan"), tolerance=1.0),
]
print(verdicts)
for wrong in ({"comparator": "same"}, {"tolerance": 1.0}):
    try:
        wheeltap.check("wrong", 1, **wrong)
    except ValueError as error:
        print(error)
"""

TESTS = """
import pytest
def test_good(): assert 1 + 1 == 2
def test_bad(): assert 3 == 4
@pytest.fixture
def broken(): raise RuntimeError("no disk")
def test_setup(broken): pass
@pytest.fixture
def leaves():
    yield
    assert 0
def test_teardown(leaves): pass
@pytest.mark.skip(reason="later")
def test_skip(): pass
@pytest.mark.xfail
def test_expected(): assert 0
@pytest.mark.parametrize("n", [1, 2])
def test_each(n): assert n
def test_nested(pytester):
    pytester.makepyfile("def test_inner(): assert 0")
    assert pytester.inline_run().ret == 1
"""


class Here(harness.Case):
    def events(self, *program: str, options: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
        done = self.bench.call("record", "-q", *options, "-o", "run", "--force", "--", *program)
        self.printed, self.code = done.stdout, done.returncode
        shown = self.bench.call("view", "--json", "--kind", "check", "run")
        found: dict[str, dict[str, Any]] = {}
        for event in json.loads(shown.stdout)["events"] if shown.stdout else []:
            self.assertNotIn(event["fields"]["name"], found)
            found[event["fields"]["name"]] = event["fields"]
        return found

    def unrecorded(self, *program: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(program, cwd=self.folder, env=harness.environment(PYTHONPATH=PACKAGE), text=True,
                              capture_output=True, timeout=harness.PATIENCE)


class Client(Here):
    def test_verdicts_and_evidence(self) -> None:
        plain = self.unrecorded(CHECKER)
        self.assertEqual(plain.returncode, 0, plain.stdout)
        found = self.events(CHECKER)
        self.assertEqual((self.printed, self.code), (plain.stdout, 0))
        self.assertEqual({name: row["status"] for name, row in found.items()},
                         {"true": "passed", "false": "failed", "int": "failed", "close": "passed", "far": "failed", "nan": "failed",
                          "inf": "passed", "text": "failed", "bits": "failed", "same": "passed", "observed": "observed",
                          "whole": "skipped"})
        far = found["far"]
        self.assertEqual((far["expected"], far["actual"], far["tolerance"], far["comparator"]), ("0.5", "0.25", 0.125, "close"))
        self.assertTrue(far["file"].endswith("checker.c") and far["line"] > 30, far)
        bits = found["bits"]
        self.assertEqual((bits["comparator"], bits["n"], bits["expected"], bits["actual"], bits["detail"]),
                         ("bits", 12, "0x00", "0x80", "byte 11 of 12"))
        self.assertEqual([name for name, row in found.items() if row["comparator"] == "bits"], ["bits", "same"])
        whole = found["whole"]
        self.assertEqual((whole["unit"], whole["n"], whole["duration"]), ("percent", 150, 1500))
        self.assertTrue(re.fullmatch(r"<\d+ bytes, hash [0-9a-f]{8}>", whole["detail"]), whole)


class Python(Here):
    def test_verdicts_and_evidence(self) -> None:
        (self.folder / "checks.py").write_text(CHECKS)
        plain = self.unrecorded(harness.PYTHON, "checks.py")
        self.assertEqual(plain.stdout.splitlines()[0],
                         "[True, False, True, False, False, True, True, None, True, False, False]", plain.stderr)
        self.assertIn("no comparator 'same'", plain.stdout)
        self.assertIn("give what is expected", plain.stdout)
        found = self.events(harness.PYTHON, "checks.py")
        self.assertEqual(self.printed, plain.stdout)
        self.assertEqual([row["status"] for row in found.values()],
                         ["passed", "failed", "passed", "failed", "failed", "passed", "passed", "observed", "passed", "error", "failed"])
        least = found["at least"]
        self.assertEqual((least["expected"], least["actual"], least["comparator"], least["n"], least["unit"], least["duration"]),
                         ("0.9", "0.95", "at_least", 150, "percent", 500000000))
        self.assertEqual((least["file"], least["line"]), ("checks.py", 9))

    def test_arrays(self) -> None:
        harness.need_modules("torch", "numpy")
        (self.folder / "arrays.py").write_text(
            "import numpy, torch, wheeltap\n"
            "a = torch.arange(6.).reshape(2, 3)\n"
            "print([wheeltap.check('same', a, a.clone(), comparator='bits'),\n"
            "       wheeltap.check('half', a.bfloat16(), a.bfloat16(), comparator='bits'),\n"
            "       wheeltap.check('shape', a, a.T, comparator='bits'),\n"
            "       wheeltap.check('near', a, a + 1e-4, tolerance=1e-3), wheeltap.check('array', a.numpy(), a.numpy() + 1, tolerance=0.5),\n"
            "       wheeltap.check('equal', a, a)])\n")
        found = self.events(harness.PYTHON, "arrays.py")
        self.assertEqual(self.printed, "[True, True, False, True, False, True]\n")
        self.assertEqual({name: row["n"] for name, row in found.items()},
                         {"same": 24, "half": 12, "shape": 0, "near": 6, "array": 6, "equal": 6})


class Pytest(Here):
    def setUp(self) -> None:
        super().setUp()
        harness.need_modules("pytest")
        (self.folder / "test_all.py").write_text(TESTS)

    def test_rows_and_no_other_output(self) -> None:
        words = (harness.PYTHON, "-m", "pytest", "-p", "no:cacheprovider", "-p", "pytester", "test_all.py")
        plain = self.unrecorded(*words)
        found = self.events(*words)

        def still(text: str) -> str:
            return re.sub(r"in [0-9.]+s|0x[0-9a-f]+|pytest-\d+/|/tmp/\S+", "", text)

        self.assertEqual((still(self.printed), self.code), (still(plain.stdout), plain.returncode))
        self.assertEqual({name.partition("::")[2]: row["status"] for name, row in found.items()},
                         {"test_good": "passed", "test_bad": "failed", "test_setup": "error", "test_teardown": "error",
                          "test_skip": "skipped", "test_expected": "skipped", "test_each[1]": "passed", "test_each[2]": "passed",
                          "test_nested": "passed"})
        bad = found["test_all.py::test_bad"]
        self.assertEqual((bad["detail"], bad["file"], bad["line"]), ("assert 3 == 4", "test_all.py", 4))
        self.assertGreater(bad["duration"], 0)

    def test_a_file_that_cannot_be_collected(self) -> None:
        (self.folder / "test_all.py").write_text("import no_such_module\n")
        found = self.events(harness.PYTHON, "-m", "pytest", "-p", "no:cacheprovider", "test_all.py")
        self.assertEqual({name: row["status"] for name, row in found.items()}, {"test_all.py": "error"})


if __name__ == "__main__":
    unittest.main()
