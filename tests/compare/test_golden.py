#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Goldens: an unchanged program is clean every time, each seeded change is found, named, and nothing else.

usage: test_golden.py WHEELTAP SEEDED [CHECKS]
"""

from __future__ import annotations

import os
import sys
import unittest
from dataclasses import dataclass

from harness import Case, need_system_calls, work_folder

SEEDED = ""
CHECKS = 5
LEARN_RUNS = 4


@dataclass(frozen=True)
class Change:
    """What a seeded change must be found as: code, the call, words of the title; and at which severity."""

    fault: str
    code: str
    op: str | None
    words: str
    severity: str = "error"


CHANGES = (
    Change("open-every-step", "WT-GOLD-005", "openat", "'$CWD/settings.txt' is opened 41 times instead of 1; 1 a step"),
    Change("no-fsync", "WT-GOLD-003", "fsync", "'$CWD/model.bin' is not synced any more: 0 times instead of 4"),
    Change("in-place", "WT-GOLD-003", "openat", "'$CWD/model.bin' is written in place"),
    Change("retry", "WT-GOLD-001", "openat ENOENT", "looks at '$CWD/ready', which it did not"),
    Change("connection", "WT-GOLD-007", "connect", "connects to '127.0.0.1:9', which it did not"),
    Change("leak", "WT-GOLD-006", "openat", "'$CWD/settings.txt' is left open 1 times instead of 0"),
    Change("doubled-writes", "WT-GOLD-004", "write", "'$CWD/log.txt' is written 1,040 bytes instead of 520 bytes"),
    Change("slower", "WT-GOLD-011", None, "steps take"),
    Change("library", "WT-GOLD-009", "mmap", "loads '$LIB/libanl.so.1', which it did not"),
    Change("left-behind", "WT-GOLD-003", "unlink", "'$TMP/seeded-<temp>' is left behind: removed 0 times instead of 1"),
    Change("permissions", "WT-GOLD-003", "openat", "'$CWD/model.bin' gets permissions 0600 instead of 0644"),
    Change("child", "WT-GOLD-008", None, "'seeded > seeded' is started 2 times instead of 1"),
    Change("program", "WT-GOLD-008", None, "starts process 'seeded > true', which it did not"),
    Change("order", "WT-GOLD-010", None, "another order in a step: 'make $CWD/model.bin.tmp' comes where 'write $CWD/log.txt' was"),
    Change("other-input", "WT-GOLD-001", "openat", "reads '$CWD/data2.bin' instead of '$CWD/data.bin'"),
    Change("bigger-checkpoint", "WT-GOLD-004", "write", "'$CWD/model.bin' is written 36,864 bytes instead of 32,768 bytes"),
    Change("no-metrics", "WT-GOLD-002", None, "does not make '$CWD/metrics.json' any more"),
    Change("stat-every-step", "WT-GOLD-005", "newfstatat", "newfstatat of '$CWD/settings.txt' is called 40 times instead of 0"),
    Change("small-writes", "WT-GOLD-005", "write", "write of '$CWD/model.bin' is called 512 times instead of 8"),
    Change("half-batch", "WT-GOLD-004", "pread64", "'$CWD/data.bin' is read 81,920 bytes instead of 163,840 bytes"),
    Change("more-steps", "WT-GOLD-012", None, "the run has 45 steps, the golden 40"),
    Change("folder", "WT-GOLD-001", "mkdir", "makes '$CWD/extra', which it did not"),
    Change("thread", "WT-GOLD-008", None, "'seeded' is given threads 1 times instead of 0", "warning"),
    Change("churn", "WT-GOLD-013", "mmap", "'memory'", "warning"),
)


class Golden(Case):
    def record(self, fault: str = "") -> str:
        folder = work_folder(self.bench)
        return str(self.bench.record(SEEDED, str(folder), *([fault] if fault else []), cwd=folder))

    def learn(self, *options: str) -> None:
        runs = [self.record() for _ in range(LEARN_RUNS)]
        done = self.bench.call("golden", "add", "seeded", *runs, *options)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_unchanged_is_clean(self) -> None:
        self.learn("--times")
        for i in range(CHECKS):
            code, result = self.bench.json("golden", "check", "seeded", self.record())
            self.assertEqual((code, result["status"], result["findings"]), (0, "clean", []), f"check {i + 1}")

    def test_each_change_is_found_alone(self) -> None:
        self.learn("--times")
        for change in CHANGES:
            with self.subTest(change.fault):
                run = self.record(change.fault)
                code, result = self.bench.json("golden", "check", "seeded", run, "--fail-on", "note")
                found = [(f["id"], f["severity"], f["title"], f["where"]["op"]) for f in result["findings"]]
                self.assertEqual((code, len(found)), (1, 1), found)
                self.assertEqual(found[0][:2], (change.code, change.severity), found)
                self.assertIn(change.words, found[0][2])
                if change.op:
                    self.assertEqual(found[0][3], change.op, found)


def main() -> None:
    global SEEDED, CHECKS
    Golden.wheeltap, SEEDED = map(os.path.abspath, sys.argv[1:3])
    CHECKS = int(sys.argv[3]) if len(sys.argv) > 3 else CHECKS
    need_system_calls(Golden.wheeltap)
    unittest.main(argv=sys.argv[:1], verbosity=1)


if __name__ == "__main__":
    main()
