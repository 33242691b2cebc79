#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The critical path goes through whoever was waited for, by any of the ways to wait."""

from __future__ import annotations

import json
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import BUILD, PATIENCE, WHEELTAP, Scratch, described, permitted, record, skip  # noqa: E402

WAITS = str(BUILD / "tests" / "syscalls" / "waits")
WORK_NS = 300_000_000  # as in waits.c
LITTLE_NS = WORK_NS // 2  # beside it, as processes wait for a processor on a busy machine
BACKENDS = permitted()


class Found:
    def __init__(self, run: Any, worker: int) -> None:
        done = subprocess.run([WHEELTAP, "stat", "--critical-path", "--json", str(run)], stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
        result = json.loads(done.stdout)
        self.facts = result
        self.rows = result["tables"]["path"]
        self.duration_ns = described(run)["duration_ns"]
        self.worker_ns = sum(row["time_ns"] for row in self.rows if row["tid"] == worker and row["what"] == "work")
        self.outside_ns = {row["what"]: row["time_ns"] for row in self.rows if row["what"].startswith("outside")}


class CriticalPath(unittest.TestCase):
    def path(self, way: str) -> Found:
        with Scratch() as scratch:
            done = record(scratch / "run", WAITS, way, backend=BACKENDS[0])
            self.assertEqual(done.returncode, 0, done.stderr)
            return Found(scratch / "run", int(done.stdout or 0))

    def test_inside(self) -> None:
        for way in ("pipe", "socketpair", "eventfd", "poll", "wait", "join", "condition", "spawn"):
            with self.subTest(way):
                path = self.path(way)
                self.assertGreaterEqual(path.worker_ns, WORK_NS, path.rows)
                self.assertLess(path.facts["outside_ns"], LITTLE_NS, path.rows)

    def test_outside(self) -> None:
        path = self.path("sleep")
        self.assertGreaterEqual(path.outside_ns.get("outside: clock_nanosleep", 0), WORK_NS, path.rows)
        self.assertGreaterEqual(path.facts["outside_ns"], WORK_NS)

    def test_beside(self) -> None:
        """What nobody waits for is not on the path, but for the moment of its birth."""
        self.assertLess(self.path("beside").worker_ns, LITTLE_NS)

    def test_no_gap(self) -> None:
        path = self.path("pipe")
        whole = path.facts["path_ns"] + path.facts["outside_ns"]
        self.assertEqual(sum(row["time_ns"] for row in path.rows), whole)
        self.assertLessEqual(whole, path.duration_ns)

    def test_gate(self) -> None:
        with Scratch() as scratch:
            record(scratch / "run", WAITS, "sleep", backend=BACKENDS[0])
            length = Found(scratch / "run", 0).facts["path_ns"]
            for limit, code in ((length, 0), (length - 1, 1)):
                config = scratch / "gate.toml"
                config.write_text(f'[[gate]]\ntype = "duration"\nof = "critical_path"\nmax = {limit / 1e9:.9f}\n')
                done = subprocess.run([WHEELTAP, "gate", "-c", str(config), str(scratch / "run")], capture_output=True, timeout=PATIENCE,
                                      check=False)
                self.assertEqual(done.returncode, code, done.stdout)

    def test_without_calls(self) -> None:
        """No path is longer than its run; more cannot be said."""
        with Scratch() as scratch:
            subprocess.run([WHEELTAP, "record", "-q", "-o", str(scratch / "run"), "--", WAITS, "sleep"], check=True, timeout=PATIENCE,
                           capture_output=True)
            for limit, code in (("1h", 0), ("1ms", 3)):
                config = scratch / "gate.toml"
                config.write_text(f'[[gate]]\ntype = "duration"\nof = "critical_path"\nmax = "{limit}"\n')
                done = subprocess.run([WHEELTAP, "gate", "-c", str(config), str(scratch / "run")], capture_output=True, timeout=PATIENCE,
                                      check=False)
                self.assertEqual(done.returncode, code, done.stdout)


if __name__ == "__main__":
    if not BACKENDS:
        skip("system calls cannot be recorded here")
    unittest.main(argv=sys.argv[:1])
