#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What strace writes besides calls: signals, ends of threads, and calls that others cut in two. strace itself is the measure."""

from __future__ import annotations

import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import BUILD, PATIENCE, STRACE, WHEELTAP, Scratch, events, permitted, record, skip  # noqa: E402

ACTS = str(BUILD / "tests" / "syscalls" / "acts")
BACKENDS = permitted()


def by_strace(path: Path, expression: str, *words: str) -> list[str]:
    subprocess.run([str(STRACE), "-f", "-q", "-e", f"trace={expression}", "-o", str(path), ACTS, *words],
                   stdout=subprocess.DEVNULL, timeout=PATIENCE, check=False)
    return path.read_text().splitlines()


def by_wheeltap(run: Path, backend: str, expression: str, *words: str) -> list[str]:
    record(run, ACTS, *words, backend=backend, options=("--strings", "keep"))
    done = subprocess.run([WHEELTAP, "export", "--to", "strace", "-e", expression, "-o", "-", str(run)], stdout=subprocess.PIPE,
                          timeout=PATIENCE, check=True)
    return done.stdout.decode().splitlines()


def normal(lines: list[str]) -> list[str]:
    """Without durations; processes by the order in which they come; times that a child has used are its own."""
    names: dict[str, str] = {}
    made = []
    for line in lines:
        line = re.sub(r" <\d+\.\d+>$", "", line)
        line = re.sub(r"(si_[us]time)=\d+( /\*.*?\*/)?", r"\1=T", line)
        line = re.sub(r"^(\d+) +", lambda m: names.setdefault(m[1], f"P{len(names)}") + " ", line)
        made.append(line)
    return [re.sub(r"\b\d{3,}\b", lambda m: names.get(m[0], "N"), line) for line in made]


def of_each(lines: list[str]) -> dict[str, list[str]]:
    """By process: between processes the order is not determined."""
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(line.split(" ", 1)[0], []).append(line)
    return found


class Lines:
    backend = ""

    def test_signals(self) -> None:
        with Scratch() as scratch:
            theirs = of_each(normal(by_strace(scratch / "theirs", "execve", "signals"))[1:])
            ours = of_each(normal(by_wheeltap(scratch / "run", self.backend, "execve", "signals"))[1:])
            self.assertEqual(ours, theirs)
            self.assertEqual(sum("---" in line for line in ours["P0"]), 8)
            told = [e["fields"] for e in events(scratch / "run", "signal")]
            self.assertIn(11, [fields["number"] for fields in told])

    def test_cut_in_two(self) -> None:
        with Scratch() as scratch:
            wanted = "getpriority,getpgid,getsid,read"
            theirs = normal(by_strace(scratch / "theirs", wanted, "turns"))
            ours = normal(by_wheeltap(scratch / "run", self.backend, wanted, "turns"))
            for lines in (ours, theirs):
                lines[:] = lines[next(i for i, line in enumerate(lines) if "getpriority" in line):]
                # Under us the program has a process group of its own; a signal that is ignored is delivered to those that are traced.
                lines[:] = [re.sub(r"(getpgid.*=).*", r"\1", line) for line in lines if "SIGCHLD" not in line]
            self.assertEqual(ours, theirs)
            self.assertTrue(any(line.endswith("<unfinished ...>") for line in ours))
            self.assertIn('P1 <... read resumed>"x", 1)         = 1', ours)


class ByBpf(Lines, unittest.TestCase):
    backend = "bpf"


class ByPtrace(Lines, unittest.TestCase):
    backend = "ptrace"


def load_tests(loader: unittest.TestLoader, _: unittest.TestSuite, __: object) -> unittest.TestSuite:
    cases = {"bpf": ByBpf, "ptrace": ByPtrace}
    return unittest.TestSuite(loader.loadTestsFromTestCase(cases[backend]) for backend in BACKENDS)


if __name__ == "__main__":
    if not STRACE:
        skip("there is no strace to compare with")
    if not BACKENDS:
        skip("neither BPF nor ptrace is permitted")
    unittest.main(verbosity=2 if "-v" in sys.argv else 1)
