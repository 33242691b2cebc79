# SPDX-License-Identifier: Apache-2.0
"""Standard output and error that are neither a pipe nor a terminal: a program behaves as without `record`."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import unittest
from pathlib import Path

if len(sys.argv) > 1:
    os.environ["WHEELTAP_BUILD"] = sys.argv.pop(1)
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

CRASH = """\
import sys
print("begins")
print("in between", file=sys.stderr)
def train():
    raise ValueError("no such token=hunter2secret4711")
train()
"""


class Redirected(harness.Case):
    """Each runs a line of the shell in a folder of its own, with and without `record`, and compares all that is left."""

    def both(self, line: str) -> tuple[int, dict[str, bytes]]:
        """`@` stands for `record` or nothing."""
        prefix = f"{harness.WHEELTAP} record -q -o {self.run_folder} -- "
        outcomes = []
        for name, before in (("plain", ""), ("recorded", prefix)):
            work = self.folder / name
            work.mkdir()
            (work / "data").write_text("a line with needle\nanother one\n" * 50)
            done = subprocess.run(["/bin/sh", "-c", line.replace("@", before)], cwd=work, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=harness.PATIENCE)
            files = {str(f.relative_to(work)): f.read_bytes() for f in sorted(work.rglob("*")) if f.is_file()}
            files["standard output"], files["standard error"] = done.stdout, done.stderr
            outcomes.append((done.returncode, files))
        self.assertEqual(outcomes[0], outcomes[1])
        return outcomes[1]

    def log(self) -> str:
        return (self.run_folder / "console.log").read_text()

    def redirected(self) -> dict[str, tuple[str, object]]:
        console = harness.described(self.run_folder)["console"]
        return {one["stream"]: (one["to"], one["kept_bytes"]) for one in console["redirected"]}

    def test_grep_does_not_read_what_it_writes(self) -> None:
        """Through a pipe it would never end; the limit only makes that a failure."""
        self.both("@ sh -c 'ulimit -t 1; exec grep -r needle .' > out")
        self.assertEqual(self.log().count("needle"), 50)

    def test_cat_refuses_its_own_output(self) -> None:
        status, files = self.both("echo first > g; @ sh -c 'ulimit -t 1; exec cat g' >> g")
        self.assertEqual((status, files["g"]), (1, b"first\n"))
        self.assertIn(b"output file", files["standard error"])

    def test_dd_seeks(self) -> None:
        files = self.both("printf 0123456789 > out; @ dd if=data bs=1 seek=5 count=3 conv=notrunc status=none 1<> out")[1]
        self.assertEqual(files["out"], b"01234a l89")

    def test_dd_seeks_in_a_new_file(self) -> None:
        self.assertEqual(len(self.both("@ dd if=data bs=1 seek=5 count=3 status=none > out")[1]["out"]), 8)

    def test_tar_leaves_its_archive_out(self) -> None:
        files = self.both("@ tar --mtime=1970-01-01 --sort=name -cf - . > out.tar; tar tf out.tar | sort")[1]
        self.assertNotIn(b"out.tar", files["standard output"])

    def test_offsets_and_order_in_one_file(self) -> None:
        say = "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done"
        both = "".join(f"out {i}\nerr {i}\n" for i in range(1, 10)).encode()
        files = self.both(f"{{ echo before; @ sh -c '{say}'; echo after; }} > out 2>&1")[1]
        self.assertEqual(files["out"], b"before\n" + both + b"after\n")
        self.assertEqual(self.log().encode(), both)

    def test_two_appending_descriptions_of_one_file(self) -> None:
        files = self.both("echo before > out; @ sh -c 'echo 1; echo 2 >&2; echo 3' >> out 2>> out")[1]
        self.assertEqual(files["out"], b"before\n1\n2\n3\n")
        self.assertEqual(self.log(), "1\n2\n3\n")

    def test_one_file_and_one_pipe(self) -> None:
        files = self.both("@ sh -c 'echo 1; echo 2 >&2' > out")[1]
        self.assertEqual((files["out"], files["standard error"]), (b"1\n", b"2\n"))
        self.assertEqual(sorted(self.log().split()), ["1", "2"])
        self.assertEqual(self.redirected(), {"stdout": (str(self.folder / "recorded" / "out"), 2)})

    def test_what_the_program_sees(self) -> None:
        look = "import os, stat, sys; s = os.fstat(1); f = os.fstat(2); " \
               "print(stat.S_ISREG(s.st_mode), stat.S_ISCHR(f.st_mode), f.st_rdev, os.lseek(1, 0, 1))"
        files = self.both(f"{{ echo before; @ {sys.executable} -I -c '{look}'; }} > out 2> /dev/null")[1]
        self.assertIn(b"True True", files["out"])
        self.assertEqual(self.redirected()["stderr"], ("/dev/null", None))

    def test_a_full_device(self) -> None:
        status, files = self.both("@ sh -c 'echo lost' > /dev/full")
        self.assertNotEqual((status, files["standard error"]), (0, b""))

    def test_a_descriptor_that_cannot_be_written_to(self) -> None:
        self.assertNotEqual(self.both("echo | { @ sh -c 'echo lost'; } 1<&0")[0], 0)

    def test_a_datagram_socket_keeps_its_messages(self) -> None:
        mine, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        with mine, other:
            subprocess.run([harness.WHEELTAP, "record", "-q", "-o", str(self.run_folder), "--", "/bin/sh", "-c",
                            "echo one; echo two"], stdout=other, timeout=harness.PATIENCE, check=True)
            mine.settimeout(harness.PATIENCE)
            self.assertEqual([mine.recv(100), mine.recv(100)], [b"one\n", b"two\n"])

    def test_a_program_that_outlives_its_recorder(self) -> None:
        with open(self.folder / "out", "wb") as out:
            recorder = harness.start(self.run_folder, "/bin/sh", "-c", "echo begin; read word; echo end",
                                     stdout=out, stderr=out, stdin=subprocess.PIPE)
        harness.wait_for(lambda: (self.folder / "out").read_bytes() == b"begin\n")
        folders = [Path(p) for p in self.sessions(recorder.pid)]
        self.assertTrue(folders)
        recorder.kill()
        recorder.wait()
        harness.wait_for(lambda: not any(f.exists() for f in folders))
        assert recorder.stdin
        recorder.stdin.close()
        harness.wait_for(lambda: (self.folder / "out").read_bytes() == b"begin\nend\n")

    def sessions(self, recorder: int) -> list[str]:
        """The private folder, as the program's environment names it."""
        program = harness.wait_for(lambda: harness.program_of(recorder, "sh"))
        for entry in Path(f"/proc/{program}/environ").read_bytes().split(b"\0"):
            if entry.startswith(b"WHEELTAP_AGENT="):
                return [part for part in entry.decode().partition("=")[2].split(":") if part.startswith("/")]
        return []

    def test_only_the_end_of_a_large_file_is_copied(self) -> None:
        """A line that is cut is left out, as a secret in it could not be seen."""
        self.both("@ awk 'BEGIN { for (i = 0; i < 40000; i++) printf \"password=hunter2secret4711 \"; print \"\"; "
                  "for (i = 0; i < 1000; i++) print \"line\", i }' > out")
        log = self.log()
        self.assertNotIn("hunter2", log)
        self.assertTrue(log.startswith("[wheeltap: "), log[:200])
        self.assertIn("bytes of output before this are only in '", log)
        self.assertTrue(log.endswith("line 998\nline 999\n"))
        self.assertLess(len(log), 300 << 10)


class Exceptions(harness.Case):
    def crash(self, redirection: str) -> str:
        script = self.folder / "crash.py"
        script.write_text(CRASH)
        done = subprocess.run(f"{harness.WHEELTAP} record -q -o run -- {sys.executable} -I crash.py {redirection}",
                              shell=True, cwd=self.folder, timeout=harness.PATIENCE)
        self.assertEqual(done.returncode, 1)
        return subprocess.run([harness.WHEELTAP, "doctor", "run"], cwd=self.folder, stdout=subprocess.PIPE, text=True,
                              timeout=harness.PATIENCE).stdout

    def test_in_a_log(self) -> None:
        self.assertIn("exit status 1, ValueError at crash.py:5", self.crash("> log 2>&1"))
        self.assertNotIn("hunter2", (self.run_folder / "console.log").read_text())
        self.assertIn("hunter2", (self.folder / "log").read_text())

    def test_appended_to_a_log_of_others(self) -> None:
        (self.folder / "log").write_text("Traceback (most recent call last):\nKeyError: 1\n")
        self.assertIn("ValueError at crash.py:5", self.crash(">> log 2>> log"))

    def test_error_alone(self) -> None:
        self.assertIn("ValueError at crash.py:5", self.crash("> /dev/null 2> errors"))

    def test_long_output_besides(self) -> None:
        """The end of standard output, copied later, does not hide it."""
        script = "import sys; sys.stdout.write('x' * 99 + chr(10)) ; [print('y' * 99) for _ in range(9000)]; 1 / 0"
        (self.folder / "long.py").write_text(script)
        subprocess.run(f"{harness.WHEELTAP} record -q -o run -- {sys.executable} -I long.py > out", shell=True,
                       cwd=self.folder, stderr=subprocess.PIPE, timeout=harness.PATIENCE)
        shown = subprocess.run([harness.WHEELTAP, "doctor", "run"], cwd=self.folder, stdout=subprocess.PIPE, text=True,
                               timeout=harness.PATIENCE).stdout
        self.assertIn("ZeroDivisionError at long.py:1", shown)

    def test_nowhere(self) -> None:
        self.assertIn("exit status 1, error output went to '/dev/null' and was not recorded",
                      self.crash("> /dev/null 2>&1"))


if __name__ == "__main__":
    unittest.main()
