#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs verbs with one allocation (or write) after another failing.

usage: verbs.py WHEELTAP PRELOAD [all]

However it ends: no signal, a documented exit status, one line of error if it is not 0, and where it is 0
the same output as ever or a note of what is missing. `info` may do without what run.json says, and `sim` without
compression.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

STATUSES = {0, 2, 3, 4}
LENIENT = {"info", "sim"}
RUN = "RUN"  # stands for a small run in the lists below
NEW = "NEW"  # for a folder that does not exist yet
ALLOCATIONS = {
    "info": ["info", RUN],
    "info_json": ["info", "--json", RUN],
    "view": ["view", RUN],
    "view_json": ["view", "--json", RUN],
    "stat": ["stat", RUN],
    "timeline": ["timeline", RUN],
    "sim": ["sim", "--events", "300", "-o", NEW],
    "help": ["help"],
}
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

    def execute(self, arguments: list[str], env: dict[str, str]) -> tuple[subprocess.CompletedProcess[bytes], bool]:
        """The result, and whether a failure was injected."""
        new = self.folder / "new"
        fired = self.folder / "fired"
        subprocess.run(["rm", "-rf", new, fired], check=True)
        words = [{RUN: str(self.run), NEW: str(new)}.get(word, word) for word in arguments]
        done = subprocess.run([self.program, *words], capture_output=True, timeout=30, stdin=subprocess.DEVNULL,
                              env={**os.environ, "LC_ALL": "C.UTF-8", "INJECT_FIRED": str(fired), **env})
        return done, fired.exists()

    def complaint(self, done: subprocess.CompletedProcess[bytes], fired: bool, expected: bytes | None) -> str:
        if done.returncode not in STATUSES:
            return f"status {done.returncode}"
        if not fired and done.returncode:
            return f"status {done.returncode} although nothing failed"
        if done.returncode == 0 and expected is not None and done.stdout != expected and not done.stderr:
            return "status 0, but another output"
        if done.returncode and len(done.stderr.splitlines()) != 1:
            return f"status {done.returncode} and {len(done.stderr.splitlines())} lines of error"
        return ""

    def try_all(self, arguments: list[str], variable: str, and_after: str) -> str:
        """The first thing that is wrong, or nothing."""
        expected = None if arguments[0] in LENIENT else self.execute(arguments, {})[0].stdout
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
    program, preload = sys.argv[1:3]
    failed = count = 0
    with tempfile.TemporaryDirectory(prefix="wheeltap-test-") as folder:
        failures = Failures(program, preload, Path(folder))
        work = [(name, words, "INJECT_ALLOC") for name, words in ALLOCATIONS.items()]
        work += [(name, words, "INJECT_WRITE") for name, words in WRITES.items()]
        for name, words, variable in work:
            wrong = failures.try_all(words, variable, "0") or failures.try_all(words, variable, "1")
            count += 1
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {count} - {name}" + (f"\n# {wrong}" if wrong else ""), flush=True)
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
