#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a library's own tests with and without the agent and compares them test by test.

usage: compare.py [--detail LEVEL] [--slow] WHEELTAP PYTHON [PART...]

A part is a package with tests, such as numpy.linalg or scipy.sparse; by default all of PARTS, which has everything that
numpy.test("full") runs. Tests that scipy calls slow are left out unless --slow is given. Recorded runs hook the library, at
full detail. What comes out differently is run once more, both ways, so that a test that is shaky by itself is
not held against the agent. Prints one line a part, and each test that differs. Exit status: 0 same, 1 different, 77 if there
is nothing to run.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

PARTS = ("numpy.core", "numpy.lib", "numpy.linalg", "numpy.ma", "numpy.fft", "numpy.polynomial", "numpy.random",
         "numpy.matrixlib", "numpy.testing", "numpy.typing", "numpy.compat", "numpy.array_api", "numpy.distutils", "numpy.f2py",
         "numpy.tests",
         "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.signal", "scipy.interpolate", "scipy.integrate",
         "scipy.fft", "scipy.ndimage", "scipy.spatial", "scipy.cluster", "scipy.special",
         "scipy.stats.tests.test_stats", "scipy.stats.tests.test_multivariate", "scipy.stats.tests.test_distributions")
TIMEOUT = 3600
NOTHING_THERE = (4, 5)  # pytest's: no such package, no tests in it
MEMORY_BYTES = 8 << 30  # some tests take all there is and look at what happens
Outcomes = dict[str, str]


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


class Suite:
    def __init__(self, wheeltap: str, python: str, detail: str, has_slow: bool) -> None:
        self.wheeltap, self.python, self.detail, self.has_slow = os.path.abspath(wheeltap), python, detail, has_slow
        self.folder = Path(tempfile.mkdtemp(prefix="wheeltap-suites-"))
        self.env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "WHEELTAP_AGENT")}
        self.env.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0",
                        NPY_AVAILABLE_MEM=str(MEMORY_BYTES // 2))

    def run(self, part: str, is_recorded: bool, only: list[str] | None = None) -> tuple[Outcomes, str]:
        """Each test's outcome, and the last words of the run."""
        report = self.folder / "report.xml"
        report.unlink(missing_ok=True)
        library = part.partition(".")[0]
        command = [self.python, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--hypothesis-seed=0", f"--junitxml={report}",
                   "--pyargs", part]
        if library != "numpy" and not self.has_slow:
            command += ["-m", "not slow"]
        if only:
            command += ["-k", " or ".join(sorted({name.rpartition("::")[2].partition("[")[0] for name in only}))]
        if is_recorded:
            command = [self.wheeltap, "record", "-o", str(self.folder / "run"), "--modules", library,
                       "--detail", self.detail, "--on-full", "drop", "--", *command]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT,
                              cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, errors="replace",
                              preexec_fn=limit_memory)
        subprocess.run(["rm", "-rf", str(self.folder / "run")])
        if done.returncode in NOTHING_THERE:
            return {}, ""
        if not report.exists():
            return {}, f"ended with status {done.returncode}: {done.stdout[-1500:]}"
        return outcomes(report), done.stdout[-1500:]


def outcomes(report: Path) -> Outcomes:
    found: Outcomes = {}
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        bad = [child for child in case if child.tag in ("failure", "error", "skipped")]
        text = f"{bad[0].tag} {(bad[0].get('message') or '')[:100]}" if bad else "passed"
        while name in found:
            name += "'"
        found[name] = text
    return found


def different(bare: Outcomes, ours: Outcomes) -> list[str]:
    return [name for name in {**bare, **ours}
            if bare.get(name, "missing").split()[0] != ours.get(name, "missing").split()[0]]


def compare(suite: Suite, part: str) -> int:
    bare, words = suite.run(part, False)
    if not bare and words:
        print(f"{part}: NOT COMPARED: without us, it {words}", flush=True)
        return 1
    if not bare:
        print(f"{part}: skipped: there are no such tests here", flush=True)
        return -1
    ours, words = suite.run(part, True)
    if not ours:
        print(f"{part}: FAILED: recorded, it {words or 'has no tests'}", flush=True)
        return 1
    differ = different(bare, ours)
    if differ and len(differ) < 200:
        again = different(suite.run(part, False, differ)[0], suite.run(part, True, differ)[0])
        for name in sorted(set(differ) - set(again)):
            print(f"  shaky {name}: {bare.get(name)} | {ours.get(name)}")
        differ = [name for name in differ if name in again]
    counts = {word: sum(text.startswith(word) for text in ours.values()) for word in ("passed", "failure", "error", "skipped")}
    print(f"{part}: {len(ours)} tests, {len(differ)} differ: " + ", ".join(f"{n} {word}" for word, n in counts.items() if n),
          flush=True)
    for name in differ[:50]:
        print(f"  {name}: without {bare.get(name)} | recorded {ours.get(name)}", flush=True)
    return 1 if differ else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--detail", default="full", choices=("lean", "normal", "full"))
    parser.add_argument("--slow", action="store_true", help="scipy's slow tests as well")
    parser.add_argument("wheeltap")
    parser.add_argument("python")
    parser.add_argument("part", nargs="*", default=PARTS)
    args = parser.parse_args()
    suite = Suite(args.wheeltap, args.python, args.detail, args.slow)
    results = [compare(suite, part) for part in args.part]
    subprocess.run(["rm", "-rf", str(suite.folder)])
    if max(results) < 0:
        return 77
    return 1 if any(result > 0 for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
