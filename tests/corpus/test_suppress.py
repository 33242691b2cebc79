#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Findings that wheeltap.toml suppresses, with a reason, are not told, offline and live; its mistakes are.

usage: test_suppress.py WHEELTAP PROGRAM
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from patience import PATIENCE  # noqa: E402

PYTHON = "/usr/bin/python3"
CODE = "WT-MODE-001"


class Bench:
    def __init__(self, wheeltap: str, program: str, folder: str) -> None:
        self.wheeltap, self.program, self.folder = wheeltap, program, folder
        self.failed = False

    def run(self, toml: str, *words: str) -> tuple[int, str, str]:
        with open(os.path.join(self.folder, "wheeltap.toml"), "w") as file:
            file.write(toml)
        done = subprocess.run([self.wheeltap, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=PATIENCE)
        return done.returncode, done.stdout, done.stderr

    def check(self, what: str, is_so: bool, *seen: object) -> None:
        print("ok" if is_so else "NOT OK", what, *(() if is_so else seen), flush=True)
        self.failed |= not is_so


def table(**fields: str) -> str:
    return "[[suppress]]\n" + "".join(f'{key} = "{value}"\n' for key, value in fields.items())


def main() -> int:
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        print("skipped: no torch for", PYTHON)
        return 77
    with tempfile.TemporaryDirectory(prefix="wheeltap-suppress-") as folder:
        bench = Bench(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), folder)
        bench.run("", "record", "-q", "-o", "run", "--", PYTHON, bench.program, "wrong")
        seen = bench.run("", "doctor", "run")
        bench.check("it is found", seen[0] == 1 and CODE in seen[1], seen)
        known = table(code="WT-MODE-*", path="*left_in_eval.py", reason="known since spring")
        seen = bench.run(known, "doctor", "run")
        bench.check("a suppressed finding is not told, and its reason is",
                    seen[0] == 0 and CODE not in seen[1] and "known since spring" in seen[2], seen)
        seen = bench.run(table(code=CODE, path="other.py", reason="elsewhere"), "doctor", "run")
        bench.check("one in another file is, and the suppression matches nothing",
                    seen[0] == 1 and CODE in seen[1] and "matches nothing" in seen[2], seen)
        seen = bench.run(table(code=CODE, reason="for a while", until="2020-01-31"), "doctor", "run")
        bench.check("after its day it is told again", seen[0] == 1 and "ended on 2020-01-31" in seen[2], seen)
        seen = bench.run(known, "record", "--check", "-o", "live", "--", PYTHON, bench.program, "wrong")
        bench.check("live, too", seen[0] == 0 and CODE not in seen[2] and "known since spring" in seen[2], seen)
        for wrong, word in ((table(code=CODE), "reason"), (table(code=CODE, reason="x", until="soon"), "until"),
                            (table(kode=CODE, reason="x"), "unknown key"), ("suppress = 1\n", "[[suppress]]")):
            seen = bench.run(wrong, "doctor", "run")
            bench.check(f"a mistake is said with its place: {word}",
                        seen[0] == 2 and "wheeltap.toml:" in seen[2] and word in seen[2], seen)
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
