#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A wheel for aarch64 under qemu-user, with Debian's interpreter for arm64: unpacked, imported, used to record and to read.

usage: test_foreign_wheel.py WHEEL ROOT

ROOT is what packaging/sysroot makes. qemu-user emulates one process: a recorded interpreter is started by naming qemu itself. Ends with 77 and
the reason where qemu or ROOT is missing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

WHEEL, ROOT = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()
QEMU = "qemu-aarch64-static"
PATIENCE = 900
AARCH64 = 183  # EM_AARCH64
# What differs between Debian's pyconfig.h for arm64 and for amd64: inline assembly and wchar_t within the interpreter, and a word about support.
DIFFERS = {"HAVE_GCC_ASM_FOR_X64", "HAVE_GCC_ASM_FOR_X87", "HAVE_USABLE_WCHAR_T", "PY_SUPPORT_TIER"}

PROGRAM = """
import platform, wheeltap

def train(n):
    wheeltap.step(n)
    wheeltap.log(loss=1.0 / (n + 1))

for n in range(5):
    train(n)
print("recording", wheeltap.recording(), platform.machine())
"""
READ = """
import sys, wheeltap
run = wheeltap.open(sys.argv[1])
print(run.status, [row["value"] for row in run.losses.rows()][:2])
"""


def machine_of(path: Path) -> int:
    with path.open("rb") as file:
        head = file.read(20)
    return int.from_bytes(head[18:20], "little") if head[:4] == b"\x7fELF" else 0


def unpack(folder: Path) -> None:
    """As pip does: files keep the right to be executed."""
    with zipfile.ZipFile(WHEEL) as wheel:
        for entry in wheel.infolist():
            os.chmod(wheel.extract(entry, folder), entry.external_attr >> 16 & 0o777)


class ForeignWheel(unittest.TestCase):
    def setUp(self) -> None:
        self.scratch = Path(tempfile.mkdtemp(prefix="wheeltap-wheel-"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.site = self.scratch / "site"
        unpack(self.site)
        self.wheeltap = [QEMU, "-L", str(ROOT), str(self.site / "wheeltap" / "bin" / "wheeltap")]
        self.python = [QEMU, "-L", str(ROOT), str(next(ROOT.glob("usr/bin/python3.[0-9]*")))]

    def run_in(self, *command: str) -> str:
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.scratch), "LANG": "C", "WHEELTAP_HOME": str(self.scratch / "runs"),
                     "PYTHONHOME": str(ROOT / "usr"), "PYTHONPATH": str(self.site)}
        done = subprocess.run(command, env=variables, cwd=self.scratch, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}")
        return done.stdout

    def test_binaries(self) -> None:
        """All are for aarch64, and so are the names of the agents."""
        binaries = {path.name: machine_of(path) for path in self.site.rglob("*") if path.is_file() and machine_of(path)}
        self.assertEqual(set(binaries.values()), {AARCH64}, binaries)
        agents = [name for name in binaries if name.startswith("_wheeltap.")]
        self.assertTrue(agents and all(name.endswith("-aarch64-linux-gnu.so") for name in agents), agents)

    def test_version(self) -> None:
        self.assertIn("wheeltap 0.", self.run_in(*self.wheeltap, "version"))
        about = json.loads(self.run_in(*self.wheeltap, "version", "--verbose", "--json"))
        self.assertIn("3.11", about["agents"].split(", "))

    def test_record(self) -> None:
        """The agent in an emulated interpreter, the recorder beside it, and the reader of the package."""
        (self.scratch / "program.py").write_text(PROGRAM)
        said = self.run_in(*self.wheeltap, "record", "-o", "run", "--", *self.python, "program.py")
        self.assertIn("recording True aarch64", said)
        self.assertIn("nothing lost", said)
        self.assertEqual(self.run_in(*self.python, "-c", READ, "run"), "finished [1.0, 0.5]\n")

    def test_headers(self) -> None:
        """pyconfig.h of the two architectures differs in nothing that an agent is compiled from; needs Debian's headers of the same release."""
        theirs = next(ROOT.glob("usr/include/aarch64-linux-gnu/python3.*/pyconfig.h"))
        ours = Path("/usr/include/x86_64-linux-gnu") / theirs.parent.name / "pyconfig.h"
        if not ours.exists():
            self.skipTest(f"'{ours}' is not here to compare with")
        lines = [set(re.findall(r"^#define (.+)$", path.read_text(), re.MULTILINE)) for path in (ours, theirs)]
        self.assertGreater(len(lines[0]), 300)
        self.assertLessEqual({line.split()[0] for line in lines[0] ^ lines[1]}, DIFFERS)


if __name__ == "__main__":
    if not shutil.which(QEMU) or not ROOT.is_dir():
        print(f"skipped: no {QEMU}; apt install qemu-user-static" if ROOT.is_dir() else f"skipped: '{ROOT}' is not there; make wheel ARCH=aarch64")
        sys.exit(77)
    unittest.main()
