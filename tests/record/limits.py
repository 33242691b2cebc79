#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Programs under limits: with `wheeltap record` the status and the output are those without it.

usage: limits.py BUILD [--all] [NAME...]

Each limit is set to a few values (with --all: ten, and torch as well) for a program in C and one in Python, once without
`record` and once with it. Equal means: the same status, and the same bytes on standard output and error; lines of
record's own, which begin with "wheeltap: ", aside. Where the program itself fails for want of memory, the place of the
failure depends on addresses, so it is tried three times: if it fails each time, the recorded one may fail too, in any
way; if it succeeds once, the recorded one has to succeed with the same output, or, where the program fails now and then
by itself, at least now and then. After each recording there is a run.json
that says what is missing, or a line on standard error that says why there is none; at the most ample value events of
the program are in the run, so that staying out cannot pass for being harmless everywhere.

The loader of the C library may find no room for the program `wheeltap` itself, which is larger than a small program in
C. Nothing of ours runs then, and nothing can be promised; such values are named, and not counted as passed.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable, NamedTuple

os.environ["WHEELTAP_BUILD"] = sys.argv.pop(1)
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

HERE = Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"
USER = 54321  # who has no other processes
TIME = 180.0
HANGS = 1000  # a status that no program has
EDGE = 20  # tries of a program that has hardly enough memory
KB, MB, GB = 1 << 10, 1 << 20, 1 << 30
INFINITY = resource.RLIM_INFINITY

C_PROGRAM = [str(harness.BUILD / "examples" / "model_io")]
PYTHON_PROGRAM = [PYTHON, str(HERE / "limits_program.py")]
PROGRAMS = {"c": C_PROGRAM, "python": PYTHON_PROGRAM, "torch": [*PYTHON_PROGRAM, "torch"]}


class Limit(NamedTuple):
    what: dict[int, int | None]  # resources; None is the value that is tried
    values: list[int]  # from hopeless to ample
    short: list[int]  # those of `make test`
    memory: bool = False  # where it fails depends on addresses
    words: tuple[str, ...] = ()  # more of the program
    user: bool = False  # does not bind root


R = resource
LIMITS: dict[str, dict[str, Limit]] = {
    "NOFILE": {"": Limit({R.RLIMIT_NOFILE: None}, [0, 3, 4, 5, 6, 8, 12, 32, 64, 1024], [4, 8, 1024])},
    "FSIZE": {"": Limit({R.RLIMIT_FSIZE: None},
                        [0, 1, 512, 4096, 16 * KB, 64 * KB, 200 * KB, 300 * KB, 900 * KB, INFINITY],
                        [4096, 64 * KB, 900 * KB])},
    "AS": {"c": Limit({R.RLIMIT_AS: None}, [2 * MB, 4 * MB, 6 * MB, 12 * MB, 16 * MB, 30000 * KB, 64 * MB, 256 * MB, GB,
                                            4 * GB], [12 * MB, 30000 * KB, GB], memory=True),
           "python": Limit({R.RLIMIT_AS: None}, [8 * MB, 12 * MB, 14 * MB, 16 * MB, 20 * MB, 40 * MB, 100 * MB, 500 * MB,
                                                 GB, 8 * GB], [16 * MB, 100 * MB, 8 * GB], memory=True),
           "torch": Limit({R.RLIMIT_AS: None}, [100 * MB, 300 * MB, 600 * MB, 640 * MB, 660 * MB, 700 * MB, 800 * MB, GB,
                                                2 * GB, 16 * GB], [], memory=True)},
    "DATA": {"c": Limit({R.RLIMIT_DATA: None}, [0, 100 * KB, 300 * KB, MB, 2 * MB, 4 * MB, 16 * MB, 64 * MB, 256 * MB,
                                                GB], [MB, 4 * MB, GB], memory=True),
             "python": Limit({R.RLIMIT_DATA: None}, [0, MB, 2 * MB, 4 * MB, 5 * MB, 6 * MB, 8 * MB, 40 * MB, 256 * MB,
                                                     2 * GB], [5 * MB, 40 * MB, 2 * GB], memory=True),
             "torch": Limit({R.RLIMIT_DATA: None}, [10 * MB, 50 * MB, 80 * MB, 100 * MB, 140 * MB, 160 * MB, 200 * MB,
                                                    500 * MB, GB, 4 * GB], [], memory=True)},
    "STACK": {"": Limit({R.RLIMIT_STACK: None}, [4 * KB, 8 * KB, 16 * KB, 32 * KB, 64 * KB, 128 * KB, 512 * KB, 8 * MB,
                                                 GB, INFINITY], [16 * KB, 128 * KB, INFINITY], memory=True)},
    "STACK_in_2GB": {"": Limit({R.RLIMIT_STACK: None, R.RLIMIT_AS: 2_000_000 * KB},
                               [16 * KB, 64 * KB, MB, 8 * MB, 64 * MB, 256 * MB, 512 * MB, 1048576 * KB, 1500 * MB,
                                INFINITY], [1048576 * KB], memory=True)},
    "NPROC": {"": Limit({R.RLIMIT_NPROC: None}, [0, 1, 2, 3, 4, 5, 6, 8, 20, 200], [1, 4, 200], words=("threads",),
                        user=True)},
    "MEMLOCK": {"": Limit({R.RLIMIT_MEMLOCK: None}, [0, 1, 4096, 16 * KB, 64 * KB, 256 * KB, MB, 8 * MB, 64 * MB,
                                                     INFINITY], [0])},
    "CPU": {"": Limit({R.RLIMIT_CPU: None}, [1, 2, 3, 4, 5, 10, 30, 60, 3600, INFINITY], [1])},
    "SIGPENDING": {"": Limit({R.RLIMIT_SIGPENDING: None}, [0, 1, 2, 3, 4, 8, 16, 64, 1024, 10000], [0])},
    "MSGQUEUE": {"": Limit({R.RLIMIT_MSGQUEUE: None}, [0, 1, 512, 4096, 16 * KB, 64 * KB, 128 * KB, 256 * KB, 512 * KB,
                                                      800000], [0])},
}


class Outcome(NamedTuple):
    status: int  # as a shell has it
    out: bytes
    err: bytes  # of the program
    own: bytes  # of record


def confine(limit: Limit, value: int) -> Callable[[], None]:
    def set_limits() -> None:
        if limit.user and os.getuid() == 0:
            os.setgroups([])
            os.setresgid(USER, USER, USER)
            os.setresuid(USER, USER, USER)
        for what, fixed in limit.what.items():
            number, hard = value if fixed is None else fixed, resource.getrlimit(what)[1]
            if hard != INFINITY and (number == INFINITY or number > hard):
                number = hard  # what the test itself is allowed
            resource.setrlimit(what, (number, number))

    return set_limits


def family_of(pid: int) -> list[int]:
    found = [pid]
    for child in harness.children_of(pid):
        found += family_of(child)
    return found


def execute(words: list[str], folder: Path, limit: Limit, value: int) -> Outcome:
    for left in folder.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}
    started = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=confine(limit, value))
    try:
        out, said = started.communicate(timeout=TIME)
        status = started.returncode if started.returncode >= 0 else 128 - started.returncode
    except subprocess.TimeoutExpired:  # an interpreter may hang that finds no memory for an exception
        for pid in reversed(family_of(started.pid)):
            harness.kill(pid)
        out, said = started.communicate()
        status = HANGS
    own = b"".join(line for line in said.splitlines(True) if line.startswith(b"wheeltap: "))
    err = b"".join(line for line in said.splitlines(True) if not line.startswith(b"wheeltap: "))
    return Outcome(status, out, err, own)


def cannot_load(folder: Path, limit: Limit, value: int) -> bool:
    """Not even `wheeltap version` can: the kernel or the loader ends it before its first line."""
    return execute([harness.WHEELTAP, "version"], folder, limit, value).status in (127, 128 + 9, 128 + 11)


def difference(bare: list[Outcome], recorded: Outcome, memory: bool) -> str:
    """What is wrong; empty if nothing is."""
    good = [one for one in bare if one.status == 0]
    if memory and not good:
        return "" if recorded.status else "it succeeds where the program fails"
    want = good[0] if good else bare[0]
    for field in ("status", "out", "err"):
        if getattr(want, field) != getattr(recorded, field):
            return f"{field}: {getattr(want, field)!r} became {getattr(recorded, field)!r} ({recorded.own!r})"
    return ""


def explained(run: Path, recorded: Outcome, ample: bool) -> str:
    """What is wrong with the run that was left; empty if nothing is."""
    if not run.exists():
        if recorded.own.count(b"\n") != 1 or b": the program runs unrecorded: " not in recorded.own:
            return f"no run, and not one line that says why: {recorded.own!r}"
        return "nothing was recorded at the most ample value" if ample else ""
    try:
        about = json.loads((run / "run.json").read_text())
    except (OSError, ValueError) as problem:
        return f"a run without a description: {problem}"
    if about["status"] == "running":
        return "the description is not that of the end"
    # Null in the short description, where a limit left no room for the long one.
    joined = any(stream["events"] for stream in about["streams"] or () if stream["file"] != "0000.wt")
    if ample and not joined:
        return f"no events at the most ample value: {about.get('limited')} {about['python']}"
    if not joined and recorded.status == 0 and not about.get("limited") and not about["trouble"] and not about["lost"]:
        return "no events of the program, and no word why"
    return ""


def at_the_edge(words: list[str], folder: Path, limit: Limit, value: int, recorded: Outcome) -> bool:
    """False if the program fails now and then by itself, and the recorded one does no worse."""
    bare = [execute(words, folder, limit, value) for _ in range(EDGE)]
    good = [one for one in bare if one.status == 0]
    if not good or len(good) == len(bare) or recorded.status not in {one.status for one in bare}:
        return True
    command = [harness.WHEELTAP, "record", "--quiet", "-o", str(folder / "run"), "--", *words]
    return not any(execute(command, folder, limit, value)[:3] == good[0][:3] for _ in range(EDGE))


def try_value(name: str, program: str, limit: Limit, value: int, folder: Path) -> str:
    words = [*PROGRAMS[program], *limit.words] if program != "c" else PROGRAMS[program]
    run = folder / "run"
    bare = [execute(words, folder, limit, value)]
    while limit.memory and bare[-1].status and len(bare) < 3:
        bare.append(execute(words, folder, limit, value))
    recorded = execute([harness.WHEELTAP, "record", "--quiet", "-o", str(run), "--", *words], folder, limit, value)
    wrong = difference(bare, recorded, limit.memory)
    if not wrong and recorded.status and not run.exists() and not recorded.own and cannot_load(folder, limit, value):
        return ""  # and the program cannot run either
    wrong = wrong or explained(run, recorded, value == limit.values[-1] and program == "c")
    if wrong and cannot_load(folder, limit, value):
        return "unloaded"
    if wrong and limit.memory and not at_the_edge(words, folder, limit, value, recorded):
        return ""
    return wrong


CAN_READ = "import os, sys; sys.exit(not all(os.access(path, os.R_OK) for path in sys.argv[1:]))"


def can_switch() -> bool:
    """That user must be able to reach what was built, which may lie in the home of root."""
    if os.getuid():
        return False
    needed = [harness.WHEELTAP, C_PROGRAM[0], PYTHON_PROGRAM[1]]
    return subprocess.run([PYTHON, "-I", "-c", CAN_READ, *needed], cwd="/", user=USER, group=USER, extra_groups=[]).returncode == 0


def has_torch() -> bool:
    return harness.has_module("torch", PYTHON)


def try_limit(name: str, programs: list[str], everything: bool) -> tuple[int, list[str], list[str]]:
    count, wrong, unloaded = 0, [], []
    for program in programs:
        limit = LIMITS[name].get(program, LIMITS[name].get(""))
        if limit is None:
            continue
        if limit.user and not can_switch():
            print(f"{name}: skipped: only root can become a user without other processes, who must be able to reach '{harness.BUILD}'")
            break
        for value in limit.values if everything else limit.short:
            with harness.Scratch() as folder:
                folder.chmod(0o777)
                result = try_value(name, program, limit, value, folder)
            count += result != "unloaded"
            what = f"{name}={'unlimited' if value == INFINITY else value} {program}"
            if result == "unloaded":
                unloaded.append(what)
            elif result:
                wrong.append(f"{what}: {result}")
    return count, wrong, unloaded


def main() -> int:
    words = sys.argv[1:]
    everything = "--all" in words
    names = [word for word in words if word in LIMITS] or list(LIMITS)
    programs = ["c", "python"] + (["torch"] if everything and has_torch() else [])
    programs = [word for word in words if word in PROGRAMS] or programs
    failed = 0
    for name in names:
        count, wrong, unloaded = try_limit(name, programs, everything)
        print(f"{name}: {count - len(wrong)} of {count} equal"
              + (f"; wheeltap itself cannot be loaded at {', '.join(unloaded)}" if unloaded else ""), flush=True)
        for line in wrong:
            print("  " + line, flush=True)
        failed += len(wrong)
    return 1 if failed else 0


sys.exit(main())
