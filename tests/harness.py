# SPDX-License-Identifier: Apache-2.0
"""What the tests written in Python share: starting wheeltap, folders that are removed again, counting checks, waiting.

Nothing here knows what a test is about. Of the environment only what `environment()` leaves is passed on, so that no test depends on who
runs it. PATIENCE is the only limit of time, and far beyond what anything needs on a busy machine; WHEELTAP_TEST_PATIENCE multiplies it,
and tools/test multiplies the limits of whole programs, in meson.build, by the same.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback
import unittest
from pathlib import Path
from typing import Any, Callable, NoReturn

PATIENCE_S = 300.0
PATIENCE = PATIENCE_S * float(os.environ.get("WHEELTAP_TEST_PATIENCE") or 1)
SKIPPED = 77  # the status of a test program that cannot run here
PYTHON = "/usr/bin/python3"  # Debian's: the one that always has an agent
STRACE = shutil.which("strace")
DROPPED = ("WHEELTAP_AGENT", "WHEELTAP_HOME", "PYTHONPATH", "COLUMNS", "NO_COLOR")

# Where the tests that are given a build folder find what they run.
BUILD = Path(os.environ.get("WHEELTAP_BUILD", "build")).resolve()
WHEELTAP = str(BUILD / "wheeltap")


def environment(**more: str) -> dict[str, str]:
    """Ours, without what would change an outcome."""
    return {**{name: value for name, value in os.environ.items() if name not in DROPPED}, **more}


# ---- Results ----

class Skip(Exception):
    """Raised with the reason why a case cannot be run here."""


def skip(why: str) -> NoReturn:
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def skip_all(why: str) -> NoReturn:
    """The same for a program whose protocol is TAP."""
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def has_module(module: str, python: str = PYTHON) -> bool:
    """Whether it is installed for this interpreter. It is not imported, which takes a second of CPU for torch."""
    find = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
    return subprocess.run([python, "-c", find, module], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env=environment(), timeout=PATIENCE).returncode == 0


def need_modules(*modules: str, end: Callable[[str], NoReturn] = skip) -> None:
    """Ends the test program, skipped, if PYTHON does not have one of them."""
    for module in modules:
        if not has_module(module):
            end(f"{PYTHON} has no {module}")


class Tap:
    """Counts checks and prints them as TAP; the facts about a failed one follow as comments."""

    FACT_CHARACTERS_MAX = 4000

    def __init__(self) -> None:
        self.count = 0
        self.failed = 0

    def check(self, what: str, holds: object, *facts: object) -> None:
        self.count += 1
        self.failed += not holds
        print(f"{'ok' if holds else 'not ok'} {self.count} - {what}", flush=True)
        for fact in () if holds else facts:
            for line in str(fact)[:self.FACT_CHARACTERS_MAX].splitlines():
                print(f"# {line}")

    def equal(self, what: str, actual: object, expected: object, *facts: object) -> None:
        self.check(what, actual == expected, f"actual   {actual!r}", f"expected {expected!r}", *facts)

    def skip(self, what: str, why: object) -> None:
        self.count += 1
        print(f"ok {self.count} - {what} # SKIP {why}", flush=True)

    def case(self, name: str, case: Callable[..., object], *arguments: object) -> None:
        """One check: that the function returns."""
        try:
            case(*arguments)
        except Skip as reason:
            self.skip(name, reason)
        except Exception:  # noqa: BLE001
            self.check(name, False, traceback.format_exc())
        else:
            self.check(name, True)

    def finish(self) -> int:
        """The exit status."""
        print(f"1..{self.count}")
        return 1 if self.failed or not self.count else 0


# ---- Folders ----

class Scratch:
    """A folder for one test, removed at its end; `inside` another one than the system's for temporary files."""

    def __init__(self, inside: Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="wheeltap-test-", dir=inside)).resolve()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


# ---- wheeltap ----

class Bench:
    """A folder to work in, and the program under test."""

    def __init__(self, wheeltap: str | Path, folder: Path, options: tuple[str, ...] = ()) -> None:
        """The options are those of `record` unless others are given."""
        self.wheeltap = str(Path(wheeltap).resolve())
        self.folder = folder
        self.options = options
        self.runs = 0

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return self.path(name)

    def call(self, *words: object, cwd: Path | None = None, **more: Any) -> subprocess.CompletedProcess[str]:
        more = {"stdin": subprocess.DEVNULL, "timeout": PATIENCE, "env": environment(), **more}
        return subprocess.run([self.wheeltap, *map(str, words)], capture_output=True, text=True, errors="replace", cwd=cwd or self.folder, **more)

    def run(self, *words: object, code: int = 0, codes: tuple[int, ...] = ()) -> str:
        """What it prints; it must end with that code, or one of those."""
        done = self.call(*words)
        assert done.returncode in (codes or (code,)), (words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    def json(self, *words: object) -> tuple[int, dict[str, Any]]:
        done = self.call(*words, "--json")
        return done.returncode, json.loads(done.stdout)

    def record(self, *program: object, name: str = "", cwd: Path | None = None, options: tuple[str, ...] | None = None) -> Path:
        """The folder of the run; what was printed on standard error is in its file `said`."""
        self.runs += 1
        run = self.folder / (name or f"run{self.runs}")
        done = self.call("record", *(self.options if options is None else options), "-o", run, "--", *program, cwd=cwd)
        assert done.returncode == 0, done.stderr
        (run / "said").write_text(done.stderr)
        return run


class Case(unittest.TestCase):
    """A test with a folder of its own, a place for a run in it, and the program under test."""

    wheeltap = WHEELTAP
    options: tuple[str, ...] = ()
    inside: Path | None = None  # Scratch's

    def setUp(self) -> None:
        scratch = Scratch(self.inside)
        self.addCleanup(scratch.__exit__)
        self.folder = scratch.path
        self.run_folder = self.folder / "run"
        self.bench = Bench(self.wheeltap, self.folder, self.options)

    def described(self) -> dict[str, Any]:
        return described(self.run_folder)


def on_terminal(words: list[Any], width: int = 0, **more: Any) -> bytes:
    """What a terminal gets from a program, of both outputs; it has `width` columns, or none that are known."""
    ours, theirs = pty.openpty()
    if width:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, **more)
    os.close(theirs)
    data = b""
    try:
        while select.select([ours], [], [], PATIENCE)[0] and (part := os.read(ours, 65536)):
            data += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    try:
        process.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise AssertionError(f"it does not end: {words}") from None
    return data


def command(run: Path, options: tuple[str, ...], backend: str, expression: str) -> list[str]:
    """With a backend system calls are recorded, all or those of the expression."""
    which = ["-q", f"--syscalls={expression}" if expression else "--syscalls", "--backend", backend] if backend else []
    return [WHEELTAP, "record", *which, "-o", str(run), *options, "--"]


def record(run: Path, *words: str, options: tuple[str, ...] = (), backend: str = "", expression: str = "",
           **more: Any) -> subprocess.CompletedProcess[bytes]:
    more.setdefault("timeout", PATIENCE)
    if "input" not in more:
        more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([*command(run, options, backend, expression), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def default_signals() -> None:
    """Whoever runs the tests in the background, or under nohup, has these ignored; a shell could not trap them then."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def start(run: Path, *words: str, options: tuple[str, ...] = (), backend: str = "", expression: str = "",
          **more: Any) -> subprocess.Popen[bytes]:
    more.setdefault("stdin", subprocess.DEVNULL)
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    more.setdefault("preexec_fn", default_signals)
    return subprocess.Popen([*command(run, options, backend, expression), *words], **more)


def described(run: Path) -> dict[str, Any]:
    return json.loads((run / "run.json").read_text())


def stat(run: Path, *options: str) -> dict[str, Any]:
    done = subprocess.run([WHEELTAP, "stat", "--syscalls", "--json", *options, str(run)],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE, check=False)
    return json.loads(done.stdout)


def rows(run: Path, *options: str) -> list[dict[str, Any]]:
    return stat(run, *options)["tables"]["syscalls"]


def counts(run: Path) -> dict[str, tuple[int, int]]:
    """Calls and errors by name."""
    return {row["syscall"]: (row["calls"], row["errors"]) for row in rows(run)}


def events(run: Path, kind: str) -> list[dict[str, Any]]:
    done = subprocess.run([WHEELTAP, "view", "--json", "--kind", kind, str(run)], stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
    return json.loads(done.stdout)["events"]


def permitted(wheeltap: str = WHEELTAP) -> list[str]:
    """The backends that record system calls here; prints why the others do not."""
    works = []
    for backend in ("bpf", "ptrace"):
        with Scratch() as scratch:
            done = Bench(wheeltap, scratch).call("record", "-q", "--syscalls", "--backend", backend, "-o", "run", "--", "/bin/true")
            seen = done.returncode == 0 and Bench(wheeltap, scratch).call("view", "--kind", "syscall", "run").stdout
            if seen and "execve" in seen:
                works.append(backend)
            else:
                print(f"# {backend} does not work here: {done.stderr.strip()}", file=sys.stderr)
    return works


def need_system_calls(wheeltap: str = WHEELTAP) -> None:
    """Ends the test program, skipped, where nothing can record system calls."""
    with Scratch() as scratch:
        done = Bench(wheeltap, scratch).call("record", "--syscalls", "-o", "run", "--", "/bin/true")
    if done.returncode:
        skip(f"system calls cannot be recorded here: {done.stderr.strip().splitlines()[-1]}")


# ---- Waiting, and processes ----

def wait_for(what: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """What `what` gives once it gives something true."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            answer = what()
        except (OSError, ValueError):
            answer = None
        if answer:
            return answer
        time.sleep(0.002)
    raise AssertionError("waited in vain")


def stat_fields(pid: int) -> list[str]:
    """Of /proc/PID/stat, from the state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def parent_of(pid: int) -> int:
    return int(stat_fields(pid)[1])


def children_of(pid: int) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                if parent_of(int(entry)) == pid:
                    found.append(int(entry))
            except (OSError, IndexError):
                pass
    return found


def program_of(recorder: int, name: str) -> int:
    """The program's process: a grandchild of the recorder."""
    for child in children_of(recorder):
        for grandchild in children_of(child):
            if Path(f"/proc/{grandchild}/comm").read_text().strip().startswith(name[:15]):
                return grandchild
    return 0


def alive(pid: int) -> bool:
    try:
        return stat_fields(pid)[0] not in "ZX"
    except OSError:
        return False


def cpu_seconds(pid: int) -> float:
    """Of all its threads, in user mode and in the kernel."""
    fields = stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
