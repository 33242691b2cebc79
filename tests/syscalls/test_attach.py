#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`record --attach`: a program that runs is recorded from then on, and left as it was found."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import BUILD, PATIENCE, STRACE, WHEELTAP, Scratch, counts, described, events, permitted, skip  # noqa: E402

ACTS = str(BUILD / "tests" / "syscalls" / "acts")
BACKENDS = permitted()
OF_FAMILY = ("getppid", "getpgid", "getsid", "getpriority")  # each made by another of its members


def status_of(pid: int, word: str) -> str:
    found = re.search(rf"^{word}:\s+(\S+)", Path(f"/proc/{pid}/status").read_text(), re.M)
    return found[1] if found else ""


def wait_until(true, what: str) -> None:
    until = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > until:
            raise AssertionError(f"it took too long until {what}")
        time.sleep(0.005)


def so_far(run: Path, question):
    """What is in the trace of a run that goes on; nothing while it cannot be read yet."""
    try:
        return question(run)
    except (OSError, ValueError, KeyError, subprocess.CalledProcessError):
        return []


class Program:
    """acts, started by us and not by wheeltap; ready when it has said its first line."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen([ACTS, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        assert self.process.stdout
        self.first = self.process.stdout.readline()

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def ends(self) -> int:
        """Its standard input ends, and with it the program."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.stdin = None
        return self.process.wait(timeout=PATIENCE)


class Attached:
    """wheeltap, recording a process; it does when this is made."""

    def __init__(self, run: Path, pid: int, backend: str, *options: str) -> None:
        self.run = run
        self.process = subprocess.Popen([WHEELTAP, "record", "--attach", str(pid), "--backend", backend, "-o", str(run), *options],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_until(lambda: so_far(run, lambda run: events(run, "task")) or self.process.poll() is not None, "it records")

    def __enter__(self) -> "Attached":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def leave(self, number: int = signal.SIGINT) -> tuple[int, str]:
        self.process.send_signal(number)
        return self.end()

    def end(self) -> tuple[int, str]:
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said.decode()


class Attach:
    """The cases; a class for each backend takes them over."""

    backend = ""

    def test_threads_and_children(self) -> None:
        """Two threads, a child from before and one made while recorded: each has calls that only it makes."""
        with Scratch() as scratch, Program("family") as program:
            run = scratch / "run"
            with Attached(run, program.pid, self.backend) as attached:
                wait_until(lambda: set(OF_FAMILY) <= set(so_far(run, counts)), "all calls are there")
                code, said = attached.leave()
            self.assertEqual(code, 0, said)
            self.assertIn("interrupted", said)
            self.assertEqual(program.ends(), 0)
            self.assertEqual(described(run)["lost"], 0)
            self.assertEqual(described(run)["status"], "interrupted")
            self.assertTrue(described(run)["syscalls"]["attached"])
            born = [e["fields"]["how"] for e in events(run, "task")]
            self.assertEqual(sorted(set(born)), ["attached", "process"])
            # The program itself, its two threads, its child; and one of those that come and go, if it is there just then.
            self.assertIn(born.count("attached"), (4, 5))

    def test_descriptors_from_before(self) -> None:
        with Scratch() as scratch, Program("family") as program:
            with Attached(scratch / "run", program.pid, self.backend, "--syscalls=pread64,ioctl") as attached:
                wait_until(lambda: {"pread64", "ioctl"} <= set(so_far(scratch / "run", counts)), "both calls are there")
                attached.leave()
            text = self.text(scratch / "run", "-y")
            self.assertRegex(text, r"pread64\(\d+</etc/passwd>, 0x\w+, 1, 0\) += 1")
            self.assertRegex(text, r"ioctl\(0<pipe>, FIONREAD, ")
            self.assertNotIn("getppid", text)

    def text(self, run: Path, *options: str) -> str:
        done = subprocess.run([WHEELTAP, "export", "--to", "strace", *options, "-o", "-", str(run)], stdout=subprocess.PIPE,
                              timeout=PATIENCE, check=True)
        return done.stdout.decode()

    def test_call_in_flight(self) -> None:
        """The main thread waits in a read all the time: the trace says so."""
        with Scratch() as scratch, Program("family") as program:
            with Attached(scratch / "run", program.pid, self.backend) as attached:
                attached.leave()
            self.assertRegex(self.text(scratch / "run"), rf"{program.pid} +read\(0, +<(unfinished|detached) \.\.\.>")

    def test_its_end(self) -> None:
        """The recorder ends with the program, and with its status."""
        with Scratch() as scratch, Program("wait", "11") as program:
            with Attached(scratch / "run", program.pid, self.backend) as attached:
                self.assertEqual(program.ends(), 11)
                code, said = attached.end()
            self.assertEqual(code, 11, said)
            self.assertEqual((described(scratch / "run")["status"], described(scratch / "run")["exit_status"]), ("failed", 11))

    def test_killed(self) -> None:
        with Scratch() as scratch, Program("wait", "0") as program:
            with Attached(scratch / "run", program.pid, self.backend) as attached:
                program.process.send_signal(signal.SIGTERM)
                self.assertEqual(program.process.wait(timeout=PATIENCE), -signal.SIGTERM)
                code, said = attached.end()
            self.assertEqual(code, 128 + signal.SIGTERM, said)
            self.assertEqual(described(scratch / "run")["status"], "killed")

    def test_duration(self) -> None:
        with Scratch() as scratch, Program("wait", "3") as program:
            with Attached(scratch / "run", program.pid, self.backend, "--duration", "0.4s") as attached:
                code, said = attached.end()
            self.assertEqual(code, 0, said)
            self.assertIsNone(program.process.poll())
            self.assertEqual(program.ends(), 3)

    def test_left_as_it_was(self) -> None:
        """Three times attached and let go: not traced, not stopped. Only ptrace ends a wait, and only when it attaches."""
        with Scratch() as scratch, Program("epoll") as program:
            for i, number in enumerate((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)):
                with Attached(scratch / f"run{i}", program.pid, self.backend) as attached:
                    self.assertEqual(attached.leave(number)[0], 0)
                self.assertEqual(status_of(program.pid, "TracerPid"), "0")
                self.assertIn(status_of(program.pid, "State"), "SR")
            self.assertEqual(program.ends(), 3 if self.backend == "ptrace" else 0)

    def test_killed_recorder(self) -> None:
        with Scratch() as scratch, Program("wait", "4") as program:
            with Attached(scratch / "run", program.pid, self.backend) as attached:
                attached.process.kill()
                attached.process.wait(timeout=PATIENCE)
            wait_until(lambda: status_of(program.pid, "TracerPid") == "0", "it is let go")
            self.assertEqual(program.ends(), 4)

    def test_stopped_stays_stopped(self) -> None:
        with Scratch() as scratch, Program("wait", "5") as program:
            os.kill(program.pid, signal.SIGSTOP)
            wait_until(lambda: status_of(program.pid, "State") == "T", "it has stopped")
            with Attached(scratch / "run", program.pid, self.backend) as attached:
                self.assertIn(status_of(program.pid, "State"), "Tt")
                attached.leave()
            wait_until(lambda: status_of(program.pid, "TracerPid") == "0", "it is let go")
            time.sleep(0.1)
            self.assertEqual(status_of(program.pid, "State"), "T")
            os.kill(program.pid, signal.SIGCONT)
            self.assertEqual(program.ends(), 5)

    def refused(self, pid: int | str, *options: str, code: int = 125) -> str:
        """One line, the right status, and no folder."""
        with Scratch() as scratch:
            done = subprocess.run([WHEELTAP, "record", "--attach", str(pid), "--backend", self.backend, "-o", str(scratch / "run"), *options],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
            said = done.stderr.decode()
            self.assertEqual((done.returncode, len(said.splitlines())), (code, 1), said)
            self.assertFalse((scratch / "run").exists())
            return said

    def test_no_such_process(self) -> None:
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.assertIn(f"no process {gone.pid}", self.refused(gone.pid))

    def test_not_a_number(self) -> None:
        self.refused("init", code=125)
        self.refused(1, "--", "true", code=125)
        self.refused(1, "--syscalls=no", code=125)

    def test_zombie(self) -> None:
        zombie = subprocess.Popen(["true"])
        wait_until(lambda: status_of(zombie.pid, "State") == "Z", "it has ended")
        self.assertIn("has already ended", self.refused(zombie.pid))
        zombie.wait()

    def test_thread(self) -> None:
        with Program("family") as program:
            thread = max(int(name) for name in os.listdir(f"/proc/{program.pid}/task"))
            self.assertIn(f"a thread of process {program.pid}", self.refused(thread))

    def test_itself(self) -> None:
        """A shell gives it its own number, by exec."""
        with Scratch() as scratch:
            done = subprocess.run(["sh", "-c", f'exec "$0" record --attach $$ --backend {self.backend} -o "$1"', WHEELTAP, str(scratch / "run")],
                                  stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (125, 1))
            self.assertIn(b"this recorder itself", done.stderr)

    def test_its_own_family(self) -> None:
        """Attached to its own parent it leaves itself out, or it would record its recording without end."""
        with Scratch() as scratch:
            run = scratch / "run"
            done = subprocess.run(["sh", "-c", f'"$0" record -q -d 0.3s --attach $$ --backend {self.backend} -o "$1"; exit $?', WHEELTAP, str(run)],
                                  stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLess(described(run)["syscalls"]["calls"], 20)


class ByBpf(Attach, unittest.TestCase):
    backend = "bpf"


class ByPtrace(Attach, unittest.TestCase):
    backend = "ptrace"

    @unittest.skipUnless(STRACE, "there is no strace")
    def test_traced_already(self) -> None:
        with Program("wait", "6") as program:
            strace = subprocess.Popen([str(STRACE), "-qq", "-o", "/dev/null", "-p", str(program.pid)])
            try:
                wait_until(lambda: status_of(program.pid, "TracerPid") == str(strace.pid), "strace has it")
                said = self.refused(program.pid)
                self.assertIn(f"already traced by process {strace.pid}", said)
            finally:
                strace.terminate()
                strace.wait()
            self.assertEqual(program.ends(), 6)

    @unittest.skipUnless(STRACE, "there is no strace")
    def test_started_under_a_tracer(self) -> None:
        """strace -f has the program before we can: it is not started, and that is said."""
        with Scratch() as scratch:
            for expression in ("", "=%file"):
                done = subprocess.run([str(STRACE), "-f", "-qq", "-o", "/dev/null", WHEELTAP, "record", f"--syscalls{expression}",
                                       "--backend", "ptrace", "-o", str(scratch / "run"), "--", "touch", str(scratch / "ran")],
                                      stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
                self.assertEqual(done.returncode, 125, done.stderr)
                self.assertRegex(done.stderr, b"was not started: process [0-9]+ is already traced by process [0-9]+")
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertEqual(os.listdir(scratch), [])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "to become another user takes root and setpriv")
    def test_somebody_elses(self) -> None:
        with Scratch() as scratch, Program("wait", "7") as program:
            os.chmod(scratch, 0o777)
            done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", WHEELTAP, "record", "--attach", str(program.pid), "-o",
                                   str(scratch / "run")], stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
            if done.returncode == 126 or b"ermission denied" in done.stderr:
                self.skipTest("the other user may not execute what was built here")
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (125, 1), done.stderr)
            self.assertIn(b"it belongs to user 0", done.stderr)
            self.assertEqual(program.ends(), 7)


def load_tests(loader: unittest.TestLoader, _: unittest.TestSuite, __: object) -> unittest.TestSuite:
    cases = {"bpf": ByBpf, "ptrace": ByPtrace}
    return unittest.TestSuite(loader.loadTestsFromTestCase(cases[backend]) for backend in BACKENDS)


if __name__ == "__main__":
    if not BACKENDS:
        skip("neither BPF nor ptrace is permitted")
    unittest.main(verbosity=2 if "-v" in sys.argv else 1)
