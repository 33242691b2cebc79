#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A program whose system calls are recorded behaves as it does alone, and what is recorded is what it did."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import BUILD, PATIENCE, WHEELTAP, Scratch, counts, described, events, permitted, record, rows, skip, start  # noqa: E402

ACTS = str(BUILD / "tests" / "syscalls" / "acts")
BACKENDS = permitted()


def alone(*words: str) -> tuple[int, bytes]:
    done = subprocess.run([ACTS, *words], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
    return (done.returncode if done.returncode >= 0 else 128 - done.returncode), done.stdout


def wait_for_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout
    return process.stdout.readline()


class Behaviour:
    """The cases; a class for each backend takes them over."""

    backend = ""

    def same(self, *words: str, expression: str = "") -> dict[str, tuple[int, int]]:
        """Status and output are those of the program alone; its calls."""
        with Scratch() as scratch:
            done = record(scratch / "run", ACTS, *words, backend=self.backend, expression=expression)
            self.assertEqual((done.returncode, done.stdout), alone(*words), done.stderr)
            self.assertEqual(described(scratch / "run")["lost"], 0)
            return counts(scratch / "run")

    def test_five_hundred_children(self) -> None:
        self.assertEqual(self.same("forks", "500")["getpgid"], (500, 0))

    def test_generations(self) -> None:
        self.assertEqual(self.same("grandchildren", "30")["getpgid"], (31, 0))

    def test_threads(self) -> None:
        self.assertEqual(self.same("threads", "16", "300")["getppid"], (4800, 0))

    def test_many_threads(self) -> None:
        """More than the times of all can be asked for at each stop."""
        self.assertEqual(self.same("threads", "64", "50")["getppid"], (3200, 0))

    def test_restarted_calls(self) -> None:
        self.same("restart")

    def test_crash(self) -> None:
        self.same("crash")

    def test_stopped_child(self) -> None:
        self.same("orders")

    def test_exec_in_a_thread(self) -> None:
        self.assertEqual(self.same("exec")["execve"], (2, 0))

    def test_system_time(self) -> None:
        """Who waits has no processor; who works has one."""
        with Scratch() as scratch:
            run = scratch / "run"
            record(run, ACTS, "times", backend=self.backend)
            wall = {row["syscall"]: row["seconds"] for row in rows(run)}
            system = {row["syscall"]: row["seconds"] for row in rows(run, "--time", "system")}
            self.assertGreaterEqual(wall["clock_nanosleep"], 0.2)
            self.assertLess(system["clock_nanosleep"], wall["clock_nanosleep"] / 2)
            self.assertGreater(system["getrandom"], 0.002)
            for name, seconds in system.items():
                self.assertLessEqual(seconds, wall[name], name)

    def test_exit_status_and_streams(self) -> None:
        with Scratch() as scratch:
            done = record(scratch / "run", "sh", "-c", "echo out; echo err >&2; exit 42", backend=self.backend)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (42, b"out\n", b"err\n"))
            ends = [e["fields"] for e in events(scratch / "run", "task_end")]
            self.assertEqual([e["status"] for e in ends], [42])

    def test_no_such_program(self) -> None:
        with Scratch() as scratch:
            done = record(scratch / "run", "/nowhere/at/all", backend=self.backend)
            self.assertEqual(done.returncode, 127)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertFalse((scratch / "run").exists())

    def test_term_is_handled(self) -> None:
        with Scratch() as scratch:
            process = start(scratch / "run", ACTS, "handler", backend=self.backend)
            self.assertEqual(wait_for_line(process), b"ready\n")
            process.send_signal(signal.SIGTERM)
            out, _ = process.communicate(timeout=PATIENCE)
            self.assertEqual((process.returncode, out), (7, b"caught 15 errno 4\n"))
            self.assertEqual(counts(scratch / "run")["rt_sigsuspend"], (1, 1))

    def test_term_kills(self) -> None:
        with Scratch() as scratch:
            process = start(scratch / "run", ACTS, "beat", "1000", backend=self.backend)
            wait_for_line(process)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 143)
            self.assertEqual([e["fields"]["status"] for e in events(scratch / "run", "task_end")], [-15])

    def test_stop_and_continue(self) -> None:
        with Scratch() as scratch:
            process = start(scratch / "run", ACTS, "stop", backend=self.backend)
            pid = int(wait_for_line(process))
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until and not re.search(r"State:\s+[Tt]", Path(f"/proc/{pid}/status").read_text()):
                time.sleep(0.01)
            time.sleep(0.1)
            self.assertRegex(Path(f"/proc/{pid}/status").read_text(), r"State:\s+[Tt]", "it is to stay stopped")
            os.kill(pid, signal.SIGCONT)
            out, _ = process.communicate(timeout=PATIENCE)
            self.assertEqual((process.returncode, out), (5, b"continued\n"))

    def test_job_control_in_a_terminal(self) -> None:
        """Ctrl-Z stops the program, and record with it; fg brings both back."""
        script = f"set -m; {WHEELTAP} record -q --syscalls --backend {self.backend} -o $0 -- {ACTS} beat 60; echo stopped $?; sleep 0.2; " \
                 "fg >/dev/null; echo ended $?"
        with Scratch() as scratch:
            master, slave = pty.openpty()
            process = subprocess.Popen(["bash", "-c", script, str(scratch / "run")], stdin=slave, stdout=slave, stderr=slave,
                                       start_new_session=True, preexec_fn=lambda: __import__("fcntl").ioctl(0, 0x540E, 0))
            os.close(slave)
            seen, pressed = b"", False
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until:
                try:
                    part = os.read(master, 4096)
                except OSError:
                    break
                if not part:
                    break
                seen += part
                if b"beat 2" in seen and not pressed:
                    pressed = True
                    os.write(master, b"\x1a")
            process.wait(timeout=PATIENCE)
            os.close(master)
            text = seen.decode(errors="replace").replace("\r", "")
            self.assertRegex(text, r"stopped 1\d\d\n", text)
            self.assertIn("ended 0", text)
            self.assertIn("beat 59 1", text)
            self.assertEqual(counts(scratch / "run")["getppid"], (60, 0))

    def test_killed_recorder(self) -> None:
        """The program goes on as if nothing had been."""
        with Scratch() as scratch:
            out = scratch / "out"
            with out.open("wb") as file:
                process = subprocess.Popen([WHEELTAP, "record", "-q", "--syscalls", "--backend", self.backend, "-o",
                                            str(scratch / "run"), "--", ACTS, "beat", "20"], stdout=file, stdin=subprocess.DEVNULL)
                until = time.monotonic() + PATIENCE
                while b"beat 3" not in out.read_bytes() and time.monotonic() < until:
                    time.sleep(0.01)
                process.kill()
                process.wait(timeout=PATIENCE)
            while b"beat 19" not in out.read_bytes() and time.monotonic() < until:
                time.sleep(0.02)
            self.assertEqual(out.read_bytes(), b"".join(b"beat %d 1\n" % i for i in range(20)))

    def test_expression(self) -> None:
        with Scratch() as scratch:
            done = record(scratch / "run", "sh", "-c", "cat /etc/passwd >/dev/null; exit 3", backend=self.backend,
                          expression="openat,%process")
            self.assertEqual(done.returncode, 3, done.stderr)
            names = set(counts(scratch / "run"))
            self.assertLessEqual(names, {"openat", "execve", "wait4", "clone", "vfork", "fork", "clone3", "exit_group"}, names)
            self.assertIn("openat", names)
            self.assertIn("execve", names)

    def test_bad_expression(self) -> None:
        with Scratch() as scratch:
            done = record(scratch / "run", "true", backend=self.backend, expression="nosuchcall")
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn(b"nosuchcall", done.stderr)
            self.assertFalse((scratch / "run").exists())

    def test_by_process_and_thread(self) -> None:
        with Scratch() as scratch:
            record(scratch / "run", ACTS, "forks", "3", backend=self.backend)
            found = [r for r in rows(scratch / "run", "--by", "process") if r["syscall"] == "getpgid"]
            self.assertEqual([r["calls"] for r in found], [1, 1, 1])
            self.assertEqual(len({r["process"] for r in found}), 3)
            self.assertEqual({r["command"] for r in found}, {"acts"})
            record(scratch / "two", ACTS, "threads", "4", "10", backend=self.backend)
            found = [r for r in rows(scratch / "two", "--by", "thread") if r["syscall"] == "getppid"]
            self.assertEqual([r["calls"] for r in found], [10] * 4)

    def test_memory(self) -> None:
        """What arguments point to is there, and secrets of a command line are not."""
        secret = "hunter2hunter2"
        with Scratch() as scratch:
            record(scratch / "run", "sh", "-c", "cat /etc/hostname /etc/passwd >/dev/null; /bin/true --password " + secret,
                   backend=self.backend)
            done = subprocess.run([WHEELTAP, "view", "--kind", "syscall", str(scratch / "run")], capture_output=True, check=True,
                                  timeout=PATIENCE)
            self.assertIn(b'"/etc/passwd"', done.stdout)
            self.assertRegex(done.stdout.decode(), r'execve\("/bin/true", \["/bin/true", "--password", "\*+"\]')
            for file in (scratch / "run").glob("*"):
                self.assertNotIn(secret.encode(), file.read_bytes(), file)
            self.assertNotIn(b"root:", done.stdout)
            record(scratch / "kept", "cat", "/etc/passwd", backend=self.backend, options=("--strings", "keep"))
            done = subprocess.run([WHEELTAP, "view", "--kind", "syscall", str(scratch / "kept")], capture_output=True, check=True,
                                  timeout=PATIENCE)
            self.assertIn(b"root:", done.stdout)

    def test_nothing_is_lost(self) -> None:
        """Calls as fast as they come; by ptrace fewer, as that waits. The first number always has room between kernel and recorder."""
        for count in (300_000, 2_000_000) if self.backend == "bpf" else (5_000,):
            with Scratch() as scratch:
                record(scratch / "run", ACTS, "threads", "4", str(count // 4), backend=self.backend)
                lost = described(scratch / "run")["lost"]
                self.assertEqual(counts(scratch / "run")["getppid"][0] + lost, count, "each call is there, or counted as lost")
                if count <= 300_000:
                    self.assertEqual(lost, 0)

    def test_says_how_and_why(self) -> None:
        with Scratch() as scratch:
            record(scratch / "run", "true", backend=self.backend)
            told = described(scratch / "run")["syscalls"]
            self.assertEqual((told["backend"], told["why"]), (self.backend, "asked for"))
            self.assertIn(f"system calls are captured by {self.backend}", str(events(scratch / "run", "note")))


for _backend in BACKENDS:
    _name = f"Behaviour_{_backend}"
    globals()[_name] = type(_name, (Behaviour, unittest.TestCase), {"backend": _backend})


if __name__ == "__main__":
    if not BACKENDS:
        skip("neither BPF nor ptrace is permitted here")
    unittest.main()
