#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a library's own tests with and without the agent and compares them test by test.

usage: compare.py [--detail LEVEL] [--slow] [--keep FILE] WHEELTAP PYTHON [PART...]

A part is a package with tests, such as numpy.linalg or scipy.sparse, or one module of tests; by default all of PARTS, which
has everything that numpy.test("full") runs. Each file of tests is run by itself, twice: a file that brings its interpreter
down costs no other file its tests. Tests that scipy calls slow are left out unless --slow is given. Recorded runs hook the
library, at full detail. What comes out differently is run once more, both ways, so that a test that is shaky by itself is
not held against the agent.

Prints a line for each file, each test that differs, and a table of the parts. With --keep what was found is kept in FILE, and
what FILE already has of the same build of wheeltap is not run again: a run that was cut short goes on where it was. Exit
status: 0 same, 1 different, 77 if there is nothing to run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import asdict, dataclass, field
from pathlib import Path

PARTS = ("numpy.core", "numpy.lib", "numpy.linalg", "numpy.ma", "numpy.fft", "numpy.polynomial", "numpy.random",
         "numpy.matrixlib", "numpy.testing", "numpy.typing", "numpy.compat", "numpy.array_api", "numpy.distutils", "numpy.f2py",
         "numpy.tests",
         "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.signal", "scipy.interpolate", "scipy.integrate",
         "scipy.fft", "scipy.ndimage", "scipy.spatial", "scipy.cluster", "scipy.special", "scipy.stats")
TIMEOUT = 3600
NOTHING_THERE = (4, 5)  # pytest's: no such file, no tests in it
MEMORY_BYTES = 8 << 30  # some tests take all there is and look at what happens
AGAIN_MAX = 200  # tests that differ and are run once more
WORDS = ("passed", "failure", "error", "skipped")
Outcomes = dict[str, str]

# Where a part's files are, without running its code beyond the library's own import.
FIND = """
import glob, importlib.util, os, sys
spec = importlib.util.find_spec(sys.argv[1])
folders = list(spec.submodule_search_locations or ()) if spec else []
files = [path for folder in folders for path in glob.glob(os.path.join(folder, "**", "test_*.py"), recursive=True)]
print(*sorted(files) if folders else ([spec.origin] if spec else []), sep="\\n")
"""


@dataclass
class Result:
    """What came of one file of tests. `note`: why it could not be compared, or failed as a whole."""

    part: str
    name: str
    counts: dict[str, int] = field(default_factory=dict)
    differ: list[str] = field(default_factory=list)
    shaky: list[str] = field(default_factory=list)
    note: str = ""
    is_bad: bool = False

    def show(self) -> None:
        if self.note:
            print(f"{self.name}: {self.note}", flush=True)
            return
        counts = ", ".join(f"{n} {word}" for word, n in self.counts.items() if n)
        print(f"{self.name}: {sum(self.counts.values())} tests, {len(self.differ)} differ: {counts}", flush=True)
        for line in (*(f"shaky {line}" for line in self.shaky), *self.differ[:50]):
            print(f"  {line}", flush=True)


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


class Suite:
    def __init__(self, wheeltap: str, python: str, detail: str, has_slow: bool) -> None:
        self.wheeltap, self.python, self.detail, self.has_slow = os.path.abspath(wheeltap), python, detail, has_slow
        self.folder = Path(tempfile.mkdtemp(prefix="wheeltap-suites-"))
        self.env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "WHEELTAP_AGENT")}
        self.env.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0",
                        NPY_AVAILABLE_MEM=str(MEMORY_BYTES // 2))

    def files(self, part: str) -> list[str]:
        done = subprocess.run([self.python, "-c", FIND, part], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              cwd=self.folder, env=self.env)
        return done.stdout.split("\n")[:-1] if done.returncode == 0 else []

    def identity(self) -> str:
        """Of this build, these options and this interpreter: what was found holds for them."""
        seen = hashlib.sha256(f"{self.python} {self.detail} {self.has_slow}".encode())
        package = Path(self.wheeltap).parent / "python" / "wheeltap"
        for path in (Path(self.wheeltap), *sorted(package.glob("*.so")), *sorted(package.glob("*.py"))):
            seen.update(path.read_bytes())
        return seen.hexdigest()[:16]

    def execute(self, command: list[str]) -> tuple[int, str]:
        """Status and output; a run that takes too long, or that we do not outlive, is ended with all that it started."""
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                   cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, preexec_fn=limit_memory,
                                   start_new_session=True)
        try:
            output, _ = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        return process.returncode, output

    def run(self, path: str, library: str, is_recorded: bool, only: list[str] | None = None) -> tuple[Outcomes, str]:
        """Each test's outcome, and the last words of the run."""
        report = self.folder / "report.xml"
        report.unlink(missing_ok=True)
        command = [self.python, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--hypothesis-seed=0", f"--junitxml={report}",
                   path]
        if library != "numpy" and not self.has_slow:
            command += ["-m", "not slow"]
        if only:
            command += ["-k", " or ".join(sorted({name.rpartition("::")[2].partition("[")[0] for name in only}))]
        if is_recorded:
            command = [self.wheeltap, "record", "-o", str(self.folder / "run"), "--modules", library,
                       "--detail", self.detail, "--on-full", "drop", "--", *command]
        status, output = self.execute(command)
        subprocess.run(["rm", "-rf", str(self.folder / "run")])
        if status in NOTHING_THERE:
            return {}, ""
        if not report.exists():
            return {}, f"ended with status {status}: {output[-1500:]}"
        return outcomes(report), output[-1500:]


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


def compare(suite: Suite, part: str, path: str, name: str) -> Result:
    library = part.partition(".")[0]
    result = Result(part, name)
    bare, words = suite.run(path, library, False)
    if not bare:
        result.note, result.is_bad = (f"NOT COMPARED: without us, it {words}", True) if words else ("no tests of this kind", False)
        return result
    ours, words = suite.run(path, library, True)
    if not ours:
        result.note, result.is_bad = f"FAILED: recorded, it {words or 'has no tests'}", True
        return result
    differ = different(bare, ours)
    if differ and len(differ) < AGAIN_MAX:
        again = different(suite.run(path, library, False, differ)[0], suite.run(path, library, True, differ)[0])
        result.shaky = [f"{test}: {bare.get(test)} | {ours.get(test)}" for test in sorted(set(differ) - set(again))]
        differ = [test for test in differ if test in again]
    result.counts = {word: sum(text.startswith(word) for text in ours.values()) for word in WORDS}
    result.differ = [f"{test}: without {bare.get(test)} | recorded {ours.get(test)}" for test in differ]
    result.is_bad = bool(differ)
    return result


def module_name(path: str, library: str) -> str:
    parts = Path(path).with_suffix("").parts
    return ".".join(parts[len(parts) - 1 - parts[::-1].index(library):])


class Kept:
    """Results of earlier runs of the same build."""

    def __init__(self, path: str | None, identity: str) -> None:
        self.path, self.identity = path, identity
        self.results: dict[str, Result] = {}
        lines = Path(path).read_text().splitlines() if path and os.path.exists(path) else []
        for line in lines:
            fields = json.loads(line)
            if fields.pop("build") == identity:
                self.results[fields["name"]] = Result(**fields)

    def add(self, result: Result) -> None:
        self.results[result.name] = result
        if self.path:
            with open(self.path, "a", encoding="utf-8") as file:
                print(json.dumps({"build": self.identity, **asdict(result)}), file=file)


def table(results: list[Result]) -> None:
    print(f"\n{'part':36} {'files':>5} {'tests':>6} {'passed':>6} {'failed':>6} {'skipped':>7} {'differ':>6} {'shaky':>5} not compared")
    for part in dict.fromkeys(result.part for result in results):
        of_part = [result for result in results if result.part == part]
        counts = {word: sum(result.counts.get(word, 0) for result in of_part) for word in WORDS}
        print(f"{part:36} {len(of_part):5} {sum(counts.values()):6} {counts['passed']:6} {counts['failure'] + counts['error']:6} "
              f"{counts['skipped']:7} {sum(len(result.differ) for result in of_part):6} "
              f"{sum(len(result.shaky) for result in of_part):5} {sum(result.is_bad and bool(result.note) for result in of_part)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--detail", default="full", choices=("lean", "normal", "full"))
    parser.add_argument("--slow", action="store_true", help="scipy's slow tests as well")
    parser.add_argument("--keep", metavar="FILE", help="keep results in FILE, and do not run again what it has")
    parser.add_argument("wheeltap")
    parser.add_argument("python")
    parser.add_argument("part", nargs="*", default=PARTS)
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    suite = Suite(args.wheeltap, args.python, args.detail, args.slow)
    kept = Kept(args.keep, suite.identity())
    results: list[Result] = []
    for part in args.part:
        files = suite.files(part)
        if not files:
            print(f"{part}: skipped: there are no such tests here", flush=True)
        for path in files:
            name = module_name(path, part.partition(".")[0])
            if name not in kept.results:
                kept.add(compare(suite, part, path, name))
                kept.results[name].show()
            results.append(kept.results[name])
    subprocess.run(["rm", "-rf", str(suite.folder)])
    table(results)
    if not any(result.counts or result.is_bad for result in results):
        return 77
    return 1 if any(result.is_bad for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
