#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each rule about system calls finds the program that has the habit, and leaves the one that looks like it in peace.

The programs are recorded and judged as anybody would do it, with the thresholds as they are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import BUILD, PATIENCE, PYTHON, WHEELTAP, Case, permitted, record, skip  # noqa: E402

HABITS = str(BUILD / "tests" / "patterns" / "habits")
BACKENDS = permitted()

# The habit; the rule that is about it; what the evidence has to name.
CASES: list[tuple[str, str, tuple[str, ...]]] = [
    ("loop", "WT-SYS-001", ("poll = 0", "in a row", "by thread")),
    ("retry", "WT-SYS-001", ("not-there", "ENOENT", "a cycle of 2")),
    ("progress", "WT-SYS-001", ("pread64", "habits.data")),
    ("pool", "WT-SYS-002", ("busy for", "3 others")),
    ("small", "WT-SYS-003", ("write", "habits.data", "12,000 times", "10.0 bytes each")),
    ("reopen", "WT-SYS-004", ("openat", "habits.data", "801 times")),
    ("look", "WT-SYS-005", ("habits.data", "12,000 times")),
    ("steps", "WT-SYS-006", ("of 10 steps", "read of", "slow")),
    ("churn", "WT-SYS-007", ("'habits' started 150 times",)),
    ("random", "WT-SYS-008", ("getrandom", "12,000 times", "8 B each")),
    ("clocks", "WT-SYS-009", ("clock_gettime", "12,000 times")),
    ("memory", "WT-SYS-010", ("munmap", "2,000 times", "1.0 MB each")),
]

LINE = "import os\n\n\ndef draw():\n    for i in range(12000):\n        os.urandom(8)\n\n\ndraw()\n"
MEANT = "import random\ng = random.SystemRandom()\nfor i in range(100):\n    g.random()\nfor i in range(12000):\n    random.random()\n"


def doctor(run: Path, folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run([WHEELTAP, "doctor", "--json", *options, str(run)], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=PATIENCE, check=False)
    return done.returncode, json.loads(done.stdout)


def outcomes(answer: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {row["code"]: (row["outcome"], row["why"]) for row in answer["tables"]["rules"] if row["code"].startswith("WT-SYS")}


def findings(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {found["id"]: found for found in answer["findings"] if found["id"].startswith("WT-SYS")}


class Patterns(Case):
    def judge(self, *words: str, backend: str = BACKENDS[0] if BACKENDS else "", expression: str = "",
              options: tuple[str, ...] = ()) -> dict[str, Any]:
        work = self.folder / f"work-{len(os.listdir(self.folder))}"
        work.mkdir()
        self.run_folder = work / "run"
        done = record(self.run_folder, *words, backend=backend, expression=expression, options=options, cwd=work)
        self.assertEqual(done.returncode, 0, done.stderr)
        code, answer = doctor(self.run_folder, self.folder)
        self.assertIn(code, (0, 3), "an inefficiency is no error")
        return answer

    def check(self, habit: str, code: str, words: tuple[str, ...]) -> None:
        bad = findings(self.judge(HABITS, habit, "bad"))
        self.assertEqual(list(bad), [code], bad)
        self.assertEqual(bad[code]["severity"], "warning")
        self.assertEqual(bad[code]["where"]["step"] is not None, habit == "steps")
        for word in ("habits[", *words):
            self.assertIn(word, bad[code]["evidence"]["text"])
        answer = self.judge(HABITS, habit, "good")
        self.assertEqual(findings(answer), {})
        if habit != "clocks":  # its twin makes one such call only, or none
            self.assertEqual(outcomes(answer)[code][0], "held")

    def test_python(self) -> None:
        for text, wanted in ((LINE, ["WT-SYS-008"]), (MEANT, [])):
            script = self.folder / "draw.py"
            script.write_text(text)
            found = findings(self.judge(PYTHON, str(script), options=("--modules", "__main__")))
            self.assertEqual(list(found), wanted)
            if found and (BUILD / "python").exists():  # the agent is there, and knows who drew
                self.assertEqual(found["WT-SYS-008"]["where"]["line"], 9)

    def test_all_backends(self) -> None:
        for backend in BACKENDS[1:]:
            for habit, code in (("loop", "WT-SYS-001"), ("small", "WT-SYS-003"), ("churn", "WT-SYS-007")):
                self.assertEqual(list(findings(self.judge(HABITS, habit, "bad", backend=backend))), [code], backend)

    def test_some_calls_only(self) -> None:
        answer = self.judge(HABITS, "loop", "bad", expression="poll,getrandom")
        outcome, why = outcomes(answer)["WT-SYS-001"]
        self.assertEqual(outcome, "not measured")
        self.assertIn("EXPR", why)
        self.assertEqual(outcomes(answer)["WT-SYS-003"][0], "not measured")
        self.assertEqual(findings(answer), {})

    def test_no_calls(self) -> None:
        run = self.folder / "run"
        subprocess.run([WHEELTAP, "record", "-q", "-o", str(run), "--", HABITS, "steps", "bad"], cwd=self.folder, check=True,
                       timeout=PATIENCE)
        for outcome, why in outcomes(doctor(run, self.folder)[1]).values():
            self.assertEqual(outcome, "not measured")
            self.assertIn("--syscalls", why)

    def test_thresholds(self) -> None:
        self.judge(HABITS, "small", "bad")
        settings = self.folder / "wheeltap.toml"
        for text, wanted in (("calls = 50000", []), ("bytes = 9", []), ("per_second = 100000000", []), ("calls = 11999", ["WT-SYS-003"])):
            settings.write_text(f"[thresholds.WT-SYS-003]\n{text}\n")
            self.assertEqual(list(findings(doctor(self.run_folder, self.folder)[1])), wanted, text)
        for text, says in (("[thresholds.WT-SYS-003]\ncall = 1\n", "wheeltap.toml:2:1"), ("[thresholds.WT-GRAD-001]\ncalls = 1\n", "1:"),
                           ("[thresholds.WT-SYS-003]\ncalls = \"x\"\n", "whole number"), ("thresholds = 1\n", "[thresholds.CODE]")):
            settings.write_text(text)
            done = subprocess.run([WHEELTAP, "doctor", str(self.run_folder)], cwd=self.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn(says, done.stderr.decode())


def add_case(habit: str, code: str, words: tuple[str, ...]) -> None:
    setattr(Patterns, f"test_{habit}", lambda self: self.check(habit, code, words))


for case in CASES:
    add_case(*case)

if __name__ == "__main__":
    if not BACKENDS:
        skip("system calls cannot be recorded here")
    unittest.main()
