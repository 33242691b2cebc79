#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Counts per call are those of `strace -f -c`, for real programs.

Both run with the same environment and without address randomisation. Calls and errors of every name have to be the
same, but for those that depend on who is faster, which are named with the reason; they may not be most of what
the program does. A count that varies between runs of strace itself is no reference either. How many calls there are depends on
the environment: where LANG is unset, no locale is looked for.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import BUILD, PATIENCE, STRACE, Scratch, counts, described, permitted, record, skip  # noqa: E402

ACTS = str(BUILD / "tests" / "syscalls" / "acts")
BACKENDS = permitted()
STRACE_RUNS = 2
EXACT_MIN = 20  # calls that are compared exactly
SHARE_MIN = 0.7  # they are of the calls that are not named in VARIES
NONE = (0, 0)

THREADED = "import threading\nts=[threading.Thread(target=lambda: sum(range(1000))) for _ in range(4)]\n" \
           "[t.start() for t in ts]\n[t.join() for t in ts]\n"
CHILDREN = "import multiprocessing as m\n" \
           "if __name__ == '__main__':\n    for n in range(3):\n        p = m.Process(target=print, args=(n,))\n" \
           "        p.start()\n        p.join()\n"
PYTHON = ["/usr/bin/python3", "-E"]  # without our guest in it


def prepare(folder: Path) -> None:
    (folder / "t.c").write_text("#include <stdio.h>\nint main(void){puts(\"hello\");return 0;}\n")
    (folder / "children.py").write_text(CHILDREN)
    (folder / "threads.py").write_text(THREADED)
    data = folder / "data"
    data.mkdir()
    for i in range(20):
        (data / f"{i}.txt").write_text(f"line {i}\n" * 100)
    git = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
           "GIT_COMMITTER_EMAIL": "a@b", **os.environ}
    if shutil.which("git"):
        for words in (["init", "-q", "."], ["add", "."], ["commit", "-q", "-m", "first"]):
            subprocess.run(["git", *words], cwd=data, env=git, check=True, timeout=PATIENCE)


# Programs and the calls of each whose count depends on who is faster.
PIPE = "how much is in a pipe when it is read"
LOCK = "whether a lock is free, a child has ended, or somebody waits already"
HEAP = "which thread's heap memory comes from"
GONE = "whether a thread that Python has joined is gone before the process is"
VARIES: dict[str, dict[str, str]] = {
    "pipeline": {PIPE: "read", LOCK: "wait4 rt_sigreturn"},
    "gzip": {PIPE: "read", LOCK: "wait4 rt_sigreturn"},
    "subshells": {LOCK: "wait4 rt_sigreturn"},
    "git_clone": {PIPE: "read poll", LOCK: "futex wait4 rt_sigreturn", HEAP: "mmap munmap mprotect brk madvise"},
    "gcc": {LOCK: "wait4", "how often a random number is drawn again": "getrandom"},
    "threads_c": {LOCK: "futex", HEAP: "mmap munmap mprotect madvise brk"},
    "threads_python": {LOCK: "futex", HEAP: "mmap munmap mprotect brk", GONE: "madvise rt_sigprocmask exit"},
    "multiprocessing": {LOCK: "futex wait4"},
    "import_numpy": {LOCK: "futex", HEAP: "munmap"},
    "forks": {LOCK: "wait4", "whether the end of a child interrupts it, and it begins again": "clone"},
}

PROGRAMS: dict[str, list[str]] = {
    "pipeline": ["sh", "-c", "cat data/*.txt | sort | uniq -c | wc -l"],
    "subshells": ["sh", "-c", "for i in 1 2 3 4 5; do (true; exit $i) ; /bin/true; done; ls data > /dev/null"],
    "tar": ["tar", "cf", "out.tar", "data"],
    "gzip": ["sh", "-c", "tar cf - data | gzip -1 > out.tar.gz"],
    "git_clone": ["git", "clone", "-q", "--no-hardlinks", "data", "clone"],
    "sqlite": ["sqlite3", "t.db", "create table t(a); insert into t values(1),(2); select sum(a) from t;"],
    "gcc": ["gcc", "-o", "t", "t.c"],
    "find": ["find", "data", "-name", "*.txt", "-newer", "t.c"],
    "threads_c": [ACTS, "threads", "8", "200"],
    "threads_python": [*PYTHON, "threads.py"],
    "multiprocessing": [*PYTHON, "children.py"],
    "import_numpy": [*PYTHON, "-c", "import numpy"],
    "forks": [ACTS, "forks", "30"],
}


FIXED = ["setarch", "-R"]  # the same addresses each time: how often a heap grows depends on where it begins


def environment(scratch: Path, backend: str) -> dict[str, str]:
    """What a recorded program finds: its size matters to the heap, and strace's program is to have the same."""
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "GIT_CONFIG_GLOBAL": "/dev/null",
           "OPENBLAS_NUM_THREADS": "1"}  # its threads yield as often as there is time
    done = record(scratch / "env", "env", "-0", backend=backend, env=env)
    return dict(word.split("=", 1) for word in done.stdout.decode().split("\0") if "=" in word)


def clear(folder: Path) -> None:
    for name in ("out.tar", "out.tar.gz", "t.db", "t"):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / "clone", ignore_errors=True)


def strace(folder: Path, words: list[str], env: dict[str, str]) -> dict[str, tuple[int, int]]:
    clear(folder)
    out = folder.parent / "strace.txt"
    subprocess.run([str(STRACE), "-f", "-c", "-o", str(out), *FIXED, *words], cwd=folder, env=env, check=True, timeout=PATIENCE,
                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    found = {}
    for line in out.read_text().splitlines():
        parts = line.split()
        if len(parts) in (5, 6) and parts[0][0].isdigit() and parts[-1] != "total":
            found[parts[-1]] = (int(parts[3]), int(parts[4]) if len(parts) == 6 else 0)
    return found


class Counts(unittest.TestCase):
    def compare(self, name: str, backend: str) -> None:
        words = PROGRAMS[name]
        if not shutil.which(words[0]):
            self.skipTest(f"there is no {words[0]}")
        if name == "import_numpy" and subprocess.run([*PYTHON, "-c", "import numpy"], capture_output=True, check=False).returncode:
            self.skipTest("there is no numpy")
        with Scratch() as scratch:
            folder = scratch / "work"
            folder.mkdir()
            prepare(folder)
            env = environment(scratch, backend)
            try:
                theirs = [strace(folder, words, env) for _ in range(STRACE_RUNS)]
                self.judge(name, theirs, self.ours(scratch / "run", folder, words, backend, env))
            except AssertionError as first:  # rarely something else on the machine matters, never twice the same
                print(f"# {name}: once more, after: {str(first).splitlines()[-1]}")
                theirs = [strace(folder, words, env) for _ in range(STRACE_RUNS)]
                self.judge(name, theirs, self.ours(scratch / "again", folder, words, backend, env))

    def ours(self, run: Path, folder: Path, words: list[str], backend: str, env: dict[str, str]) -> dict[str, tuple[int, int]]:
        clear(folder)
        done = record(run, *FIXED, *words, backend=backend, cwd=folder, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(described(run)["lost"], 0)
        return counts(run)

    def judge(self, name: str, theirs: list[dict[str, tuple[int, int]]], ours: dict[str, tuple[int, int]]) -> None:
        loose = {call: why for why, calls in VARIES.get(name, {}).items() for call in calls.split()}
        exact, whole = 0, 0
        for call in sorted(set(ours).union(*theirs)):
            seen = [one.get(call, NONE) for one in theirs]
            mine = ours.get(call, NONE)
            whole += mine[0] if call not in loose else 0
            if call not in loose and len(set(seen)) == 1:
                exact += mine[0]
                self.assertEqual(mine, seen[0], f"calls and errors of {call} in {name}")
            elif mine not in seen:
                print(f"# {name}: {call}: strace {seen}, we {mine}: {loose.get(call, 'varies between runs of strace')}")
        self.assertGreater(exact, EXACT_MIN, f"{name} has too little to compare")
        self.assertGreaterEqual(exact / whole, SHARE_MIN, f"{name} is not a program to compare with")


def case(name: str, backend: str):  # type: ignore[no-untyped-def]
    return lambda self: self.compare(name, backend)


for _name in PROGRAMS:
    for _backend in BACKENDS:
        setattr(Counts, f"test_{_name}_{_backend}", case(_name, _backend))


if __name__ == "__main__":
    if not STRACE:
        skip("there is no strace to compare with")
    if not BACKENDS:
        skip("neither BPF nor ptrace is permitted here")
    unittest.main(argv=sys.argv[:1] + sys.argv[1:])
