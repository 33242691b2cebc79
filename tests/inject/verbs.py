#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs verbs with one allocation (or write) after another failing.

usage: verbs.py WHEELTAP PRELOAD [all]

However it ends: no signal, a documented exit status, one line of error if it is not 0, and where it is 0
the same output as ever or a note of what is missing. `info` may do without what run.json says, `sim` without
compression, `doctor` may leave a rule unmeasured, and `gate` a limit unsaid; its verdict is in its status.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import models  # noqa: E402
from harness import PATIENCE, Scratch, Tap, environment  # noqa: E402

STATUSES = {0, 2, 3, 4}
LENIENT = {"info", "report", "sim", "doctor", "gate", "tag"}  # tag: says whether it changed anything
RUN = "RUN"  # stands for a small run in the lists below
KINDS = "KINDS"  # for one with events of every kind
CALLS = "CALLS"  # for one with system calls; where they cannot be recorded, what needs it is skipped
NEW = "NEW"  # for a folder that does not exist yet
CONFIG = "CONFIG"  # for a file that asserts something of every sort
DATA = "DATA"  # for a data set in CSV
MODEL = "MODEL"  # for a model with a manifest
GOLDEN = "GOLDEN"  # for a golden of CALLS
TAP = "TAP"  # for results of tests
JUNIT = "JUNIT"
ALLOCATIONS = {
    "info": ["info", RUN],
    "info_json": ["info", "--json", RUN],
    "report": ["report", "--html", RUN],
    "view": ["view", RUN],
    "view_json": ["view", "--json", RUN],
    "stat": ["stat", RUN],
    "timeline": ["timeline", RUN],
    "timeline_syscalls": ["timeline", CALLS],
    "export_page": ["export", "--to", "html", "-o", "-", RUN],
    "replay": ["replay", "--mode", "dry-run", "--json", KINDS],
    "sim": ["sim", "--events", "300", "-o", NEW],
    "help": ["help"],
    "stat_syscalls": ["stat", "--syscalls", CALLS],
    "critical_path": ["stat", "--critical-path", CALLS],
    "stat_device": ["stat", "--device", RUN],
    "device_path": ["stat", "--device", "--what-if", "*=0.5", RUN],
    "diff_device": ["diff", "--device", RUN, RUN],
    "doctor": ["doctor", "--no-builtin", CALLS],
    "diff": ["diff", CALLS, CALLS],
    "diff_tensors": ["diff", "--tensors", RUN, RUN],
    "digits": ["digits", "--compare", "--json", RUN, RUN],
    "golden_check": ["golden", "check", GOLDEN, CALLS],
    "gate": ["gate", "-c", CONFIG, CALLS],
    "dataset": ["dataset", "inspect", DATA],
    "dataset_make": ["dataset", "make", "tiny", "-o", NEW],
    "ls": ["ls", "steps>=0"],
    "trend": ["trend", "duration"],
    "compare": ["compare", RUN, RUN, "--all"],
    "tests": ["tests", "tested"],
    "tag": ["tag", "--json", "run", "word"],
    "import_tap": ["import", "tap", TAP, "-o", NEW],
    "import_junit": ["import", "junit", JUNIT, "-o", NEW],
    "model_answers": ["model", "verify", MODEL, "--data", DATA],
    "model_inspect": ["model", "inspect", MODEL],
    "model_verify": ["model", "verify", MODEL],
    "model_diff": ["model", "diff", MODEL, MODEL],
    "model_convert": ["model", "convert", MODEL, NEW, "--to", "safetensors"],
    "model_convert_npz": ["model", "convert", MODEL, NEW, "--to", "npz"],
    "export_strace": ["export", "--to", "strace", "-o", "-", CALLS],
}
ASSERTED = """
[[gate]]
type = "count"
call = "openat"
max = 100
[[gate]]
type = "duration"
of = "critical_path"
max = "60s"
[[gate]]
type = "forbidden"
effect = "network"
[[gate]]
type = "expression"
table = "syscalls"
rows = "openat"
expression = "calls > 0"
"""
WRITES = {
    "sim_disk": ["sim", "--events", "300", "-o", NEW],
    "view_disk": ["view", RUN],
}


def numbers() -> Iterator[int]:
    """Each of the first 30, then ever fewer, unless all are wanted: a defect mostly shows for many numbers."""
    number = 1
    while True:
        yield number
        number += 1 if number < 30 or "all" in sys.argv[3:] else 1 + number // 12


class Failures:
    def __init__(self, program: str, preload: str, folder: Path) -> None:
        self.program, self.preload, self.folder = program, preload, folder
        self.run = folder / "run"
        subprocess.run([program, "sim", "--events", "300", "-o", self.run], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([program, "sim", "--events", "300", "-o", folder / "home/run"], check=True, stdout=subprocess.DEVNULL)
        self.kinds = folder / "kinds"
        subprocess.run([program, "sim", "--events", "3000", "--kinds", "all", "-o", self.kinds], check=True, stdout=subprocess.DEVNULL)
        self.calls = folder / "calls"
        self.golden = folder / "golden.toml"
        self.config = folder / "gate.toml"
        self.config.write_text(ASSERTED)
        self.data = folder / "data.csv"
        self.data.write_text("a,b,class\n1,2,0\n2,5,1\n3,4,0\n4,7,1\n")
        (folder / "results.tap").write_text("1..2\nok 1 - good\nnot ok 2 - bad\n  ---\n  message: no\n  ...\n")
        (folder / "results.xml").write_text("<testsuite><testcase name='a' time='0.5'/><testcase name='b'><failure message='x'/></testcase></testsuite>")
        (folder / "passed.tap").write_text("1..1\nok 1 - good\n")
        subprocess.run([program, "import", "tap", folder / "passed.tap", "-o", folder / "home/tested"], check=True, stdout=subprocess.DEVNULL)
        self.model = models.write(folder / "model", models.small())
        subprocess.run([program, "model", "manifest", self.model], check=True, stdout=subprocess.DEVNULL)
        for words in (["record", "-q", "--syscalls", "-o", self.calls, "--", "/bin/sh", "-c", "echo x > x; /bin/cat x"],
                      ["golden", "add", self.golden, self.calls]):
            subprocess.run([program, *words], check=False, capture_output=True, cwd=folder, stdin=subprocess.DEVNULL)

    def execute(self, arguments: list[str], env: dict[str, str]) -> tuple[subprocess.CompletedProcess[bytes], bool]:
        """The result, and whether a failure was injected."""
        new = self.folder / "new"
        fired = self.folder / "fired"
        subprocess.run(["rm", "-rf", new, fired], check=True)
        known = {RUN: self.run, KINDS: self.kinds, NEW: new, CALLS: self.calls, CONFIG: self.config, GOLDEN: self.golden, MODEL: self.model, DATA: self.data,
                 TAP: self.folder / "results.tap", JUNIT: self.folder / "results.xml"}
        words = [str(known.get(word, word)) for word in arguments]
        done = subprocess.run([self.program, *words], capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                              env=environment(LC_ALL="C.UTF-8", WHEELTAP_HOME=str(self.folder / "home"), INJECT_FIRED=str(fired), **env))
        return done, fired.exists()

    def complaint(self, done: subprocess.CompletedProcess[bytes], fired: bool, expected: bytes | None) -> str:
        if done.returncode not in STATUSES:
            return f"status {done.returncode}"
        if not fired and done.returncode:
            return f"status {done.returncode} although nothing failed"
        if done.returncode == 0 and expected is not None and done.stdout != expected and not done.stderr:
            return "status 0, but another output"
        if done.returncode == 3 and any(words in done.stdout.lower() for words in (b"not measured", b"nothing could be judged")):
            return ""
        lines = len(done.stderr.splitlines())
        if done.returncode and not 1 <= lines <= 1 + self.notes:
            return f"status {done.returncode} and {lines} lines of error"
        return ""

    def try_all(self, arguments: list[str], variable: str, and_after: str) -> str:
        """The first thing that is wrong, or nothing."""
        good = self.execute(arguments, {})[0]
        expected = None if arguments[0] in LENIENT else good.stdout
        self.notes = len(good.stderr.splitlines())
        for number in numbers():
            env = {"LD_PRELOAD": self.preload, variable: str(number), "INJECT_AFTER": and_after}
            done, fired = self.execute(arguments, env)
            wrong = self.complaint(done, fired, expected)
            if wrong:
                return f"{variable}={number} INJECT_AFTER={and_after}: {wrong}: {done.stderr.decode(errors='replace')[:300]!r}"
            if not fired:
                return "" if number > 1 else "nothing was tested"
        return "it never ends"


def main() -> int:
    program, preload = (str(Path(word).resolve()) for word in sys.argv[1:3])
    tap = Tap()
    with Scratch() as folder:
        failures = Failures(program, preload, folder)
        work = [(name, words, "INJECT_ALLOC") for name, words in ALLOCATIONS.items()]
        work += [(name, words, "INJECT_WRITE") for name, words in WRITES.items()]
        for name, words, variable in work:
            if CALLS in words and not failures.golden.exists():
                tap.skip(name, "system calls cannot be recorded here")
                continue
            wrong = failures.try_all(words, variable, "0") or failures.try_all(words, variable, "1")
            tap.check(name, not wrong, wrong)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
