#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that are not as others: 32-bit ones, made here byte by byte as there may be no compiler for them, and setuid ones."""

from __future__ import annotations

import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import BUILD, PATIENCE, STRACE, WHEELTAP, Scratch, events, permitted, skip  # noqa: E402

BACKENDS = permitted()
GETPPID_OF_I386 = bytes.fromhex("b840000000cd80")  # mov $64, %eax; int $0x80
NOBODY = 65534
CALLS32 = str(BUILD / "tests" / "syscalls" / "calls32")
# What strace calls as i386 does is shown as the call of x86-64 that it is, with its constants and its control messages.
AS_OF_X86_64 = [(r"^(l|f|)stat64\(", r"\1stat("), (r"^fstatat64\(", "newfstatat("), (r"^fcntl64\(", "fcntl("), (r"F_(GETLK|SETLKW?)64", r"F_\1"),
                (r"^(\w+)_time64\(", r"\1("), (r"^_newselect\(", "select("), (r"^ugetrlimit\(", "getrlimit("), (r"RLIM_INFINITY", "RLIM64_INFINITY"),
                (r"(cmsg_len|msg_controllen)=\d+", r"\1=N"), (r"^getppid\(\) += \d+", "getppid()"), (r" +=", " =")]


def make(path: Path, code: bytes, bits: int) -> Path:
    """An executable of one segment."""
    head, segment, base = (52, 32, 0x08048000) if bits == 32 else (64, 56, 0x400000)
    size, entry = head + segment + len(code), base + head + segment
    ident = b"\x7fELF" + bytes([1 if bits == 32 else 2, 1, 1]) + bytes(9)
    word = "I" if bits == 32 else "Q"
    elf = ident + struct.pack(f"<HHI{word}{word}{word}IHHHHHH", 2, 3 if bits == 32 else 62, 1, entry, head, 0, 0, head, segment, 1, 0, 0, 0)
    if bits == 32:
        elf += struct.pack("<IIIIIIII", 1, 0, base, base, size, size, 5, 0x1000)
    else:
        elf += struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, size, size, 0x1000)
    path.write_bytes(elf + code)
    path.chmod(0o755)
    return path


def record(run: Path, program: str, *words: str, backend: str, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*before, WHEELTAP, "record", "--syscalls", "--backend", backend, "-o", str(run), "--", program, *words],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)


@unittest.skipUnless(platform.machine() == "x86_64", "i386 is a part of x86-64")
class Foreign(unittest.TestCase):
    def check(self, bits: int, code: bytes, status: int, count: int) -> None:
        with Scratch() as scratch:
            program = str(make(scratch / "program", code, bits))
            try:
                alone = subprocess.run([program], timeout=PATIENCE, check=False).returncode
            except OSError as error:
                self.skipTest(f"the kernel does not execute it: {error}")
            if alone < 0:
                self.skipTest("the kernel has no 32-bit calls")
            self.assertEqual(alone, status)
            for backend in BACKENDS:
                run = scratch / backend
                done = record(run, program, backend=backend)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertNotIn("no names", done.stderr)
                text = subprocess.run([WHEELTAP, "export", "--to", "strace", "-o", "-", str(run)], capture_output=True,
                                      text=True, timeout=PATIENCE, check=True).stdout
                self.assertIn("getppid() ", text)
                self.assertNotIn("syscall_0x", text)
                calls = [e["fields"] for e in events(run, "syscall")]
                self.assertEqual([c["nr"] for c in calls if c["arch"] == "i386"], [64, 1][:count])

    def test_32_bit_program(self) -> None:
        self.check(32, GETPPID_OF_I386 + bytes.fromhex("bb2a000000b801000000cd80"), 42, 2)

    def test_32_bit_calls_of_a_64_bit_program(self) -> None:
        self.check(64, GETPPID_OF_I386 + bytes.fromhex("bf2b000000b83c0000000f05"), 43, 1)


@unittest.skipUnless(platform.machine() == "x86_64", "i386 is a part of x86-64")
@unittest.skipUnless(STRACE, "there is no strace")
class Structures(unittest.TestCase):
    """What arguments of 32-bit calls point to, as strace shows it."""

    def shown(self, text: str) -> list[str]:
        """The lines of the calls in question."""
        lines = [re.sub(r"^\d+ +", "", re.sub(r" <[0-9.]+>$", "", line)) for line in text.splitlines()]
        lines = [line for line in lines if not line.startswith(("strace: ", "["))]
        for pattern, other in AS_OF_X86_64:
            lines = [re.sub(pattern, other, line) for line in lines]
        marks = [i for i, line in enumerate(lines) if line.startswith("getppid()")]
        self.assertEqual(len(marks), 2, text)
        return lines[marks[0]:marks[1]]

    def test_as_strace_shows_them(self) -> None:
        with Scratch() as scratch:
            done = subprocess.run([str(STRACE), "-f", "-o", str(scratch / "strace"), CALLS32], timeout=PATIENCE, check=False)
            if done.returncode == 77:
                self.skipTest("the kernel has no 32-bit calls")
            self.assertEqual(done.returncode, 0)
            wanted = self.shown((scratch / "strace").read_text())
            self.assertGreater(len(wanted), 40)
            for backend in BACKENDS:
                run = str(scratch / backend)
                subprocess.run([WHEELTAP, "record", "-q", "--syscalls", "--strings", "keep", "--backend", backend, "-o", run, "--", CALLS32],
                               timeout=PATIENCE, check=True)
                text = subprocess.run([WHEELTAP, "export", "--to", "strace", "-o", "-", run], capture_output=True, text=True,
                                      timeout=PATIENCE, check=True).stdout
                self.assertEqual(self.shown(text), wanted, backend)

    def test_words_are_masked(self) -> None:
        """Those of a 32-bit exec are as private as others."""
        with Scratch() as scratch:
            for backend in BACKENDS:
                run = str(scratch / backend)
                done = subprocess.run([WHEELTAP, "record", "-q", "--syscalls", "--backend", backend, "-o", run, "--", CALLS32, "--password=tulip"],
                                      timeout=PATIENCE, check=False)
                if done.returncode == 77:
                    self.skipTest("the kernel has no 32-bit calls")
                text = subprocess.run([WHEELTAP, "export", "--to", "strace", "-o", "-", run], capture_output=True, text=True,
                                      timeout=PATIENCE, check=True).stdout
                self.assertRegex(text, r'execve\("/nonexistent/file", \["word", ')
                self.assertNotIn("tulip", text)


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "to make a setuid program, and to become another user, takes root and setpriv")
class Setuid(unittest.TestCase):
    def setUp(self) -> None:
        scratch = Scratch()
        self.folder = scratch.__enter__()
        self.addCleanup(scratch.__exit__)
        self.folder.chmod(0o777)
        self.program = self.folder / "id"
        shutil.copy("/usr/bin/id", self.program)
        self.program.chmod(0o4755)

    def other(self) -> tuple[str, ...]:
        return ("setpriv", f"--reuid={NOBODY}", "--clear-groups")

    def test_as_root(self) -> None:
        for backend in BACKENDS:
            done = record(self.folder / backend, str(self.program), "-u", backend=backend)
            self.assertEqual((done.returncode, done.stdout), (0, "0\n"), done.stderr)
            self.assertNotIn("setuid", done.stderr)

    def test_as_another_user(self) -> None:
        """Traced by somebody without privileges it has none: it runs, and record says so."""
        native = subprocess.run([*self.other(), str(self.program), "-u"], stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
        if native.stdout != "0\n":
            self.skipTest("setuid programs have no effect in this folder")
        done = record(self.folder / "run", str(self.program), "-u", backend="ptrace", before=self.other())
        if done.returncode in (126, 127) or "ermission denied" in done.stderr:
            self.skipTest("the other user may not execute what was built here")
        self.assertEqual((done.returncode, done.stdout), (0, f"{NOBODY}\n"), done.stderr)
        self.assertEqual(done.stderr.count("a setuid program has no privileges"), 1, done.stderr)


if __name__ == "__main__":
    if not BACKENDS:
        skip("neither BPF nor ptrace is permitted")
    unittest.main(verbosity=2 if "-v" in sys.argv else 1)
