#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/ do what their committed goldens say, whichever way system calls are recorded.

usage: test_examples.py WHEELTAP GOLDENS PROGRAM...

With UPDATE=1 in the environment the goldens are learned anew instead.
"""

from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import Case, need_system_calls  # noqa: E402

GOLDENS = ""
PROGRAMS: list[str] = []
# Where libraries are looked for is meson's affair, not the program's.
for variable in ("LD_LIBRARY_PATH", "MALLOC_PERTURB_", "LD_PRELOAD"):
    os.environ.pop(variable, None)


class Examples(Case):
    options = ("--syscalls",)

    def record(self, program: str, backend: str) -> str:
        return str(self.bench.record(program, cwd=self.bench.folder, options=("--syscalls", "--backend", backend)))

    def test_goldens(self) -> None:
        for program in PROGRAMS:
            name = Path(program).name
            if os.environ.get("UPDATE"):
                runs = [self.record(program, backend) for backend in ("auto", "auto", "ptrace")]
                done = self.bench.call("golden", "add", "--force", "--dir", GOLDENS, name, *runs)
                self.assertEqual(done.returncode, 0, done.stderr)
                continue
            for backend in ("auto", "ptrace"):
                with self.subTest(name, backend=backend):
                    code, result = self.bench.json("golden", "check", "--dir", GOLDENS, name, self.record(program, backend))
                    found = [(f["severity"], f["id"], f["title"]) for f in result["findings"]]
                    self.assertEqual((code, [f for f in found if f[0] != "note"]), (0, []), found)


def main() -> None:
    global GOLDENS, PROGRAMS
    Examples.wheeltap, GOLDENS, *PROGRAMS = map(os.path.abspath, sys.argv[1:])
    need_system_calls(Examples.wheeltap)
    unittest.main(argv=sys.argv[:1], verbosity=1)


if __name__ == "__main__":
    main()
