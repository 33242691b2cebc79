#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Findings that wheeltap.toml suppresses, with a reason, are not told, offline and live; its mistakes are.

usage: test_suppress.py WHEELTAP PROGRAM
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PYTHON, Scratch, Tap, need_modules  # noqa: E402
from harness import Bench as Program  # noqa: E402

CODE = "WT-MODE-001"


class Bench(Program):
    def configured(self, toml: str, *words: str) -> tuple[int, str, str]:
        self.write("wheeltap.toml", toml)
        done = self.call(*words)
        return done.returncode, done.stdout, done.stderr


def table(**fields: str) -> str:
    return "[[suppress]]\n" + "".join(f'{key} = "{value}"\n' for key, value in fields.items())


def main() -> int:
    need_modules("torch")
    tap, program = Tap(), os.path.abspath(sys.argv[2])
    with Scratch() as folder:
        bench = Bench(sys.argv[1], folder)
        bench.configured("", "record", "-q", "-o", "run", "--", PYTHON, program, "wrong")
        seen = bench.configured("", "doctor", "run")
        tap.check("it is found", seen[0] == 1 and CODE in seen[1], seen)
        known = table(code="WT-MODE-*", path="*left_in_eval.py", reason="known since spring")
        seen = bench.configured(known, "doctor", "run")
        tap.check("a suppressed finding is not told, and its reason is",
                    seen[0] == 0 and CODE not in seen[1] and "known since spring" in seen[2], seen)
        seen = bench.configured(table(code=CODE, path="other.py", reason="elsewhere"), "doctor", "run")
        tap.check("one in another file is, and the suppression matches nothing",
                    seen[0] == 1 and CODE in seen[1] and "matches nothing" in seen[2], seen)
        seen = bench.configured(table(code=CODE, reason="for a while", until="2020-01-31"), "doctor", "run")
        tap.check("after its day it is told again", seen[0] == 1 and "ended on 2020-01-31" in seen[2], seen)
        seen = bench.configured(known, "record", "--check", "-o", "live", "--", PYTHON, program, "wrong")
        tap.check("live, too", seen[0] == 0 and CODE not in seen[2] and "known since spring" in seen[2], seen)
        for wrong, word in ((table(code=CODE), "reason"), (table(code=CODE, reason="x", until="soon"), "until"),
                            (table(kode=CODE, reason="x"), "unknown key"), ("suppress = 1\n", "[[suppress]]")):
            seen = bench.configured(wrong, "doctor", "run")
            tap.check(f"a mistake is said with its place: {word}",
                        seen[0] == 2 and "wheeltap.toml:" in seen[2] and word in seen[2], seen)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
