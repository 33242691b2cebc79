#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A program in poor surroundings is recorded as far as possible, and in any case as well off as without `record`.

usage: surroundings.py BUILD [NAME...]
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import pty
import resource
import select
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import Callable

os.environ["WHEELTAP_BUILD"] = sys.argv.pop(1)
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
import programs  # noqa: E402

FILTERED = str(programs.PROGRAMS / "record_filtered")
PYTHON = "/usr/bin/python3"
PROGRAM = str(Path(__file__).resolve().parent / "limits_program.py")
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 16384, 1 << 18


def shell_status(code: int) -> int:
    return code if code >= 0 else 128 - code


class Surroundings(harness.Case):
    def events(self) -> int:
        return sum(stream["events"] for stream in self.described()["streams"]  # type: ignore[index, attr-defined]
                   if stream["file"] != "0000.wt")


class Filtered(Surroundings):
    """A seccomp filter that kills whoever makes a system call that is not foreseen."""

    def check(self, *words: str) -> None:
        bare = subprocess.run([FILTERED, *words], stdout=subprocess.PIPE)
        if bare.returncode == 77:
            self.skipTest(bare.stdout.decode())
        self.assertEqual((bare.returncode, bare.stdout), (7, b"emitted\n"))
        done = harness.record(self.run_folder, FILTERED, *words)
        self.assertEqual((done.returncode, done.stdout), (7, b"emitted\n"), done.stderr)
        self.assertGreater(self.events(), 4000)
        self.assertEqual(self.described()["lost"], 0)

    def test_program(self) -> None:
        self.check()

    def test_thread(self) -> None:
        self.check("thread")

    def check_python(self, *words: str) -> None:
        if platform.machine() != "x86_64":
            self.skipTest("the filter has the numbers of x86-64")
        command = [PYTHON, PROGRAM, "filter", *words]
        bare = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=harness.PATIENCE)
        if bare.returncode == 77:
            self.skipTest(bare.stdout.decode())
        self.assertEqual(bare.returncode, 0, bare.stderr)
        done = harness.record(self.run_folder, *command, options=("-q",), cwd=self.folder, timeout=harness.PATIENCE)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, bare.stdout, bare.stderr))
        self.assertEqual(self.described()["python"]["joined"], 1)  # type: ignore[index]

    def test_python(self) -> None:
        self.check_python()

    def test_torch(self) -> None:
        if not harness.has_module("torch", PYTHON):
            self.skipTest("there is no torch")
        self.check_python("torch")


class Closed(Surroundings):
    """Standard descriptors that are closed are closed for the program, and nothing else gets their numbers."""

    SHOW = "import os, sys\n" \
           "def look(fd):\n" \
           "    try: return os.readlink(f'/proc/self/fd/{fd}').split(':')[0].startswith('/proc') or 'open'\n" \
           "    except OSError: return 'closed'\n" \
           "with open(sys.argv[1], 'w') as file: file.write(repr([look(fd) for fd in range(40) if fd != file.fileno()]))\n" \
           "sys.exit(4)\n"

    def look(self, closed: tuple[int, ...], prefix: list[str]) -> tuple[int, str]:
        shown = self.folder / "shown"
        shown.unlink(missing_ok=True)

        def close() -> None:
            for fd in closed:
                os.close(fd)

        done = subprocess.run([*prefix, PYTHON, "-S", "-c", self.SHOW, str(shown)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=close, timeout=harness.PATIENCE)
        return done.returncode, shown.read_text() if shown.exists() else "nothing was run"

    def test_all_ways(self) -> None:
        for closed in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)):
            run = self.folder / "-".join(map(str, closed))
            bare = self.look(closed, [])
            self.assertEqual(bare[0], 4)
            self.assertEqual(self.look(closed, [harness.WHEELTAP, "record", "-o", str(run), "--"]), bare, closed)
            self.assertEqual(json.loads((run / "run.json").read_text())["exit_status"], 4, closed)

    def test_events_are_kept(self) -> None:
        def close() -> None:
            os.closerange(0, 3)

        words = [programs.TALKER, "5", "3"]
        bare = subprocess.run(words, preexec_fn=close, timeout=harness.PATIENCE)
        done = subprocess.run([harness.WHEELTAP, "record", "-o", str(self.run_folder), "--", *words],
                              preexec_fn=close, timeout=harness.PATIENCE)
        self.assertEqual(done.returncode, bare.returncode)
        self.assertGreater(self.events(), 5000)


class Limited(Surroundings):
    """Limits that a table of values does not show."""

    def test_output_to_a_file_that_may_not_grow(self) -> None:
        words = [programs.TALKER, "4000", "0"]

        def confine() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        outcomes = []
        for prefix in ([], [harness.WHEELTAP, "record", "-q", "-o", str(self.run_folder), "--"]):
            with open(self.folder / "out", "wb") as out:
                done = subprocess.run([*prefix, *words], stdout=out, stderr=subprocess.DEVNULL, preexec_fn=confine,
                                      timeout=harness.PATIENCE)
            outcomes.append((shell_status(done.returncode), (self.folder / "out").read_bytes()))
        self.assertEqual(outcomes[0], outcomes[1])
        self.assertEqual(outcomes[0][0], 128 + 25)  # SIGXFSZ

    def burn(self, prefix: list[str], hard: int) -> tuple[int, bytes]:
        burner = "import time\nprint('begin', flush=True)\nwhile time.process_time() < 2.5: pass\nprint('end')\n"

        def confine() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))

        done = subprocess.run([*prefix, PYTHON, "-S", "-c", burner], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              preexec_fn=confine, timeout=harness.PATIENCE)
        return shell_status(done.returncode), done.stdout

    def test_cpu_time(self) -> None:
        for hard in (1, 60):
            run = self.folder / str(hard)
            bare = self.burn([], hard)
            self.assertEqual(bare[0], 137 if hard == 1 else 0)
            self.assertEqual(self.burn([harness.WHEELTAP, "record", "-q", "-o", str(run), "--"], hard), bare)

    def test_recorder_that_runs_out_of_cpu_time(self) -> None:
        """It stops recording while it can still say how the program ends."""
        def burn() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (2, 2))
            while time.process_time() < 1.59:  # an exec keeps what was used
                pass

        done = harness.record(self.run_folder, "/bin/sh", "-c", "sleep 0.5; exit 9", preexec_fn=burn)
        self.assertEqual(done.returncode, 9, done.stderr)
        self.assertEqual(self.described()["exit_status"], 9)
        self.assertIn("CPU time", str(self.described()["trouble"]))

    def test_no_room_for_python_is_said_of_python(self) -> None:
        def confine() -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))

        said = "no agent joins in Python: the limit of open files (ulimit -n) is below 64"
        python = [sys.executable, "-c", "import time; time.sleep(1)"]
        for i, (words, is_python) in enumerate(((["/bin/sleep", "0.1"], False), (python, True), (["/bin/sh", "-c", '"$@"; true', "sh", *python], True))):
            with self.subTest(words=words):
                folder = self.folder / str(i)
                done = harness.record(folder, *words, preexec_fn=confine)
                described = json.loads((folder / "run.json").read_text())
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(described["limited"], said if is_python else None)
                self.assertEqual(described["python"]["cause"], "limited" if is_python else None)
                self.assertEqual(str(done.stderr).count(said), is_python)
                self.assertNotIn("no Python process joined", str(done.stderr))

    def test_small_file_limit_leaves_a_description(self) -> None:
        def confine() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (12 << 10, 12 << 10))

        long = {**os.environ, **{f"WHEELTAP_TEST_{i}": "x" * 100 for i in range(200)}}
        done = harness.record(self.run_folder, programs.TALKER, "5", "3", preexec_fn=confine, env=long)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual((self.described()["status"], self.described()["exit_status"]), ("failed", 3))
        self.assertIn("size of files (ulimit -f)", str(self.described()["limited"]))


def own_view() -> None:
    """What is mounted from now on is seen by this process and its children alone."""
    if LIBC.unshare(CLONE_NEWNS) or LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
        os._exit(99)


class Places(Surroundings):
    """Folders and file systems that are missing."""

    def test_temporary_folder(self) -> None:
        for place in ("/proc", str(self.folder / "missing"), ""):
            run = self.folder / ("run" + str(len(place)))
            done = harness.record(run, programs.TALKER, "5", "3", env={**os.environ, "TMPDIR": place})
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertEqual(harness.described(run)["lost"], 0)

    def test_no_environment(self) -> None:
        done = harness.record(self.run_folder, programs.TALKER, "5", "3", env={})
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertGreater(self.events(), 5000)

    def hide(self, *folders: str) -> Callable[[], None]:
        """In a view of the file systems of its own, these folders are empty."""
        if os.getuid():
            self.skipTest("only root can hide a file system")
        if subprocess.run(["/bin/true"], preexec_fn=own_view).returncode:
            self.skipTest("no view of the file systems of its own can be made: the root is no mount point, as in a chroot")

        def unshare() -> None:
            own_view()
            for folder in folders:
                if LIBC.mount(b"none", folder.encode(), b"tmpfs", 0, None):
                    os._exit(98)

        return unshare

    def test_no_proc(self) -> None:
        libraries = {**os.environ, "LD_LIBRARY_PATH": str(Path(programs.CLIENT).parent)}  # $ORIGIN comes from /proc
        done = harness.record(self.run_folder, programs.TALKER, "5", "3", preexec_fn=self.hide("/proc"), env=libraries)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stdout.count(b"\n"), 5)
        self.assertGreater(self.events(), 5000)

    def test_no_dev(self) -> None:
        done = harness.record(self.run_folder, programs.TALKER, "5", "3", preexec_fn=self.hide("/dev"))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stdout.count(b"\n"), 5)

    def test_no_terminals(self) -> None:
        """In a terminal, where no further one can be made: the program has the caller's."""
        hide = self.hide("/dev/pts")
        pid, terminal = pty.fork()
        if pid == 0:
            hide()
            os.execv(harness.WHEELTAP, ["wheeltap", "record", "-q", "-o", str(self.run_folder), "--", "/bin/sh", "-c",
                                        "read word; test -t 1 && echo terminal $word; exit 6"])
        os.write(terminal, b"hello\n")
        shown, until = b"", time.monotonic() + harness.PATIENCE
        while time.monotonic() < until:
            try:
                if select.select([terminal], [], [], 0.1)[0]:
                    shown += os.read(terminal, 4096)
            except OSError:
                break
        os.close(terminal)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self.assertEqual(status, 6, shown)
        self.assertIn(b"terminal hello", shown)
        self.assertIn("console.log is not written", str(self.described()["limited"]))


if __name__ == "__main__":
    unittest.main()
