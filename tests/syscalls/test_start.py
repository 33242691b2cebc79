# SPDX-License-Identifier: Apache-2.0
"""What `record --syscalls` does before the program starts and after it ends, seen by strace: each of these took 10 to 30 ms.
And what the program must not notice of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, STRACE, WHEELTAP, Scratch, described, permitted, record, skip  # noqa: E402

BACKENDS = permitted()
RARE = "fsync,rename,execve"
PROGRAMS_OF_OURS = 8  # in tap.bpf.c
MADE = re.compile(r"mmap\(NULL, (\d+), PROT_READ, MAP_SHARED, (\d+), 0x1000\) += (0x[0-9a-f]+)")


def watched(*words: str) -> str:
    """What record and all that it starts ask of the kernel, thread by thread, so that no line is cut."""
    with Scratch() as scratch:
        done = subprocess.run([STRACE or "strace", "-ff", "-o", str(scratch / "said"), "-e",
                               "trace=bpf,openat,membarrier,mmap,madvise", WHEELTAP, "record", "-q", "--syscalls",
                               "--backend", "bpf", "-o", str(scratch / "run"), "--", *words],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
        if done.returncode:
            raise AssertionError(done.stderr.decode(errors="replace"))
        return "".join(part.read_text(errors="replace") for part in sorted(scratch.glob("said.*")))


@unittest.skipUnless("bpf" in BACKENDS, "BPF is not permitted here")
@unittest.skipUnless(STRACE, "no strace here")
class Loading(unittest.TestCase):
    def test_no_types_are_read(self) -> None:
        """All types of the kernel are 5 MB; it knows them already."""
        said = watched("/bin/true")
        self.assertIn("BPF_PROG_LOAD", said)
        self.assertNotIn("/sys/kernel/btf", said)

    def test_no_attempts(self) -> None:
        """Nothing is loaded only to see whether it can be."""
        self.assertLessEqual(watched("/bin/true").count("BPF_PROG_LOAD"), PROGRAMS_OF_OURS)

    def test_nobody_is_waited_for(self) -> None:
        """When all have ended, no record can be in the making."""
        self.assertNotIn("MEMBARRIER_CMD_GLOBAL,", watched("/bin/true"))

    def test_somebody_is_waited_for(self) -> None:
        self.assertIn("MEMBARRIER_CMD_GLOBAL,", watched("/bin/sh", "-c", "sleep 5 </dev/null >/dev/null 2>&1 &"))

    def test_children_do_not_get_the_ring(self) -> None:
        """Its pages would have to be copied into the tables of each, and what a short program needs of it is little."""
        said = watched("/bin/true")
        maps = [(int(size), at) for size, _, at in MADE.findall(said)]
        self.assertEqual(len(maps), 1, said)
        size, at = maps[0]
        self.assertLess(size, 8 << 20)
        self.assertIn(f"madvise({at}, {size}, MADV_DONTFORK)", said)


class Program(unittest.TestCase):
    def test_signals_as_they_were(self) -> None:
        """What makes the capture ready does so with all signals blocked, but the program is not started so."""
        words = ("/bin/grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status")
        alone = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=PATIENCE, check=True).stdout
        for backend in BACKENDS:
            with self.subTest(backend), Scratch() as scratch:
                self.assertEqual(record(scratch / "run", *words, backend=backend).stdout, alone)

    @unittest.skipUnless("bpf" in BACKENDS, "BPF is not permitted here")
    def test_more_than_is_mapped_at_first(self) -> None:
        """Nothing is lost or read twice where the rest of the ring is mapped, and where it begins anew."""
        times = 100_000
        with Scratch() as scratch:
            done = record(scratch / "run", "/bin/dd", "if=/dev/zero", "of=/dev/null", "bs=1", f"count={times}", backend="bpf")
            self.assertEqual(done.returncode, 0, done.stderr)
            run = described(scratch / "run")
            self.assertEqual(run["lost"], 0)
            self.assertGreaterEqual(run["syscalls"]["calls"], 2 * times)
            self.assertLess(run["syscalls"]["calls"], 2 * times + 1000)


@unittest.skipUnless("bpf" in BACKENDS and os.geteuid() == 0 and shutil.which("setpriv"), "it takes root with BPF and setpriv to give capabilities away")
class Refused(unittest.TestCase):
    def test_each_capability(self) -> None:
        """Whichever is missing: the reason is that it is."""
        for kept in ("-all", "-all,+bpf", "-all,+perfmon"):
            with self.subTest(kept), Scratch() as scratch:
                done = subprocess.run(["setpriv", f"--bounding-set={kept}", f"--inh-caps={kept}", WHEELTAP, "record", "--syscalls", "--backend", "bpf",
                                       "-o", str(scratch / "run"), "--", "/bin/true"], stdin=subprocess.DEVNULL, capture_output=True,
                                      timeout=PATIENCE, check=False)
                self.assertEqual(done.returncode, 125)
                self.assertIn(b"CAP_BPF and CAP_PERFMON", done.stderr)


@unittest.skipUnless(BACKENDS == ["bpf", "ptrace"], "not both backends are permitted here")
class Fastest(unittest.TestCase):
    def taken(self, expression: str, backend: str = "fastest") -> tuple[str, str]:
        with Scratch() as scratch:
            done = record(scratch / "run", "/bin/true", backend=backend, expression=expression)
            self.assertEqual(done.returncode, 0, done.stderr)
            calls = described(scratch / "run")["syscalls"]
            return calls["backend"], calls["why"]

    def test_rare_calls(self) -> None:
        backend, why = self.taken(RARE)
        self.assertEqual(backend, "ptrace")
        self.assertIn("rare", why)

    def test_other_calls(self) -> None:
        for expression in ("", "openat", f"{RARE},read", "!read", "%file"):
            with self.subTest(expression):
                self.assertEqual(self.taken(expression)[0], "bpf")

    def test_only_where_it_is_asked_for(self) -> None:
        """With a filter the calls of a program fail when its recorder is killed: nobody gets that unasked who can have BPF."""
        self.assertEqual(self.taken(RARE, "auto")[0], "bpf")


if __name__ == "__main__":
    if not BACKENDS:
        skip("neither BPF nor ptrace is permitted here")
    unittest.main()
