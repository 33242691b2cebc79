#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""No verdict without evidence: what may have happened unseen is not measured, and what is easily overlooked is seen.

usage: test_unseen.py WHEELTAP UNSEEN
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import Case, described, need_system_calls, permitted  # noqa: E402

WHEELTAP, UNSEEN = (str(Path(word).resolve()) for word in sys.argv[1:3])
LATE_MS = "4000"  # after which nobody waits any more who was not asked to

NO_WRITE = '[[gate]]\nname = "it"\ntype = "forbidden"\neffect = ["write"]\n'
OUTSIDE = NO_WRITE + 'outside = "$CWD"\n'
NO_NETWORK = '[[gate]]\nname = "it"\ntype = "forbidden"\neffect = ["network"]\n'
NO_EXEC = '[[gate]]\nname = "it"\ntype = "forbidden"\neffect = ["exec"]\n'


class Unseen(Case):
    wheeltap = WHEELTAP
    options = ("--syscalls",)
    inside = Path.cwd()  # not below /tmp, where everything is called $TMP/...

    def setUp(self) -> None:
        super().setUp()
        self.work = self.bench.folder / "work"
        self.work.mkdir()
        self.outside = self.bench.folder / "outside"
        self.outside.mkdir()

    def record(self, *words: str, options: tuple[str, ...] = (), backend: str = "auto", pass_fds: tuple[int, ...] = ()
               ) -> str:
        """The folder of a run of the program; the test is skipped where its kernel cannot do it."""
        self.bench.runs += 1
        run = self.bench.folder / f"run{self.bench.runs}"
        done = self.bench.call("record", "--syscalls", "--backend", backend, *options, "-o", run, "--", UNSEEN, *words, cwd=self.work,
                               pass_fds=pass_fds)
        if done.returncode == 77:
            self.skipTest(f"this kernel has no {words[0]}")
        self.assertEqual(done.returncode, 0, done.stderr)
        (run / "said").write_text(done.stderr)
        return str(run)

    def said(self, run: str) -> str:
        return (Path(run) / "said").read_text()

    def gate(self, run: str, text: str) -> tuple[int, str, str]:
        """Exit code, outcome and what is said of one assertion."""
        path = self.bench.folder / "gate.toml"
        path.write_text(text)
        code, result = self.bench.json("gate", "-c", str(path), run)
        self.assertNotEqual(result["status"], "error", result)
        row = result["tables"]["assertions"][0]
        return code, row["outcome"], json.dumps(row)

    def expect(self, run: str, text: str, outcome: str, *words: str) -> None:
        code, got, row = self.gate(run, text)
        self.assertEqual((got, code), (outcome, {"held": 0, "violated": 1, "not_measured": 3}[outcome]), row)
        for word in words:
            self.assertIn(word, row)


class LeftRunning(Unseen):
    """A process outlives the program."""

    def test_who_is_left_is_named(self) -> None:
        for backend in BACKENDS:
            run = self.record("daemon", LATE_MS, "late.txt", backend=backend)
            said = described(Path(run))
            self.assertEqual(said["still_running"], 1)
            left = said["left_running"][0]
            self.assertIn("daemon", left["command"])
            self.assertRegex(self.said(run), rf"left running: {left['pid']} \(.*daemon")
            info = self.bench.call("info", run)
            self.assertIn(f"process {left['pid']} (", info.stdout + info.stderr)
            self.assertIn("outlived the recording", info.stdout + info.stderr)

    def test_verdicts_are_not_measured(self) -> None:
        for backend in BACKENDS:
            run = self.record("daemon", LATE_MS, "late.txt", backend=backend)
            self.expect(run, NO_WRITE, "not_measured", "outlived the recording", "--wait")
            self.expect(run, NO_NETWORK, "not_measured", "outlived the recording")
            self.expect(run, NO_EXEC, "not_measured", "outlived the recording")
            self.expect(run, '[[gate]]\nname = "it"\ntype = "count"\ncall = "fsync"\nmax = 0\nmay_be_absent = true\n',
                        "not_measured", "outlived")
            self.expect(run, '[[gate]]\nname = "it"\ntype = "count"\ncall = "all"\nmin = 1000000\n', "not_measured",
                        "outlived")
            # What was seen is enough for these.
            self.expect(run, '[[gate]]\nname = "it"\ntype = "count"\ncall = "all"\nmin = 3\n', "held")
            self.expect(run, '[[gate]]\nname = "it"\ntype = "count"\ncall = "all"\nmax = 1\n', "violated")

    def test_synced_later_is_not_never_synced(self) -> None:
        """The file is written in time, and synced when nobody looks any more."""
        script = "import os, sys, time\nfd = os.open('f', os.O_WRONLY | os.O_CREAT)\nos.write(fd, b'x')\n" \
                 "if os.fork(): os._exit(0)\ntime.sleep(4)\nos.fsync(fd)\n"
        (self.work / "late.py").write_text(script)
        required = '[[gate]]\nname = "it"\ntype = "required"\neffect = ["fsync"]\nfile = "$CWD/f"\n'
        run = str(self.bench.record("/usr/bin/python3", "late.py", cwd=self.work))
        self.expect(run, required, "not_measured", "outlived the recording")
        run = str(self.bench.record("/usr/bin/python3", "late.py", cwd=self.work, options=("--syscalls", "--wait")))
        self.expect(run, required, "held")

    def test_waited_for(self) -> None:
        for backend in BACKENDS:
            run = self.record("daemon", LATE_MS, "late.txt", backend=backend, options=("--wait",))
            self.assertEqual((described(Path(run))["still_running"], described(Path(run))["left_running"]), (0, []))
            self.assertNotIn("left running", self.said(run))
            self.expect(run, NO_WRITE, "violated", "late.txt")
            self.expect(run, NO_NETWORK, "held")

    def test_waited_for_so_long(self) -> None:
        run = self.record("daemon", "60000", "late.txt", options=("--wait=0.1",))
        left = described(Path(run))["left_running"]
        self.assertEqual(len(left), 1)
        os.kill(left[0]["pid"], 9)
        for word in ("soon", "-1s"):
            done = self.bench.call("record", f"--wait={word}", "--", "/bin/true")
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn("--wait", done.stderr)

    def test_goldens_and_diffs(self) -> None:
        whole = [self.record("daemon", "1", "late.txt", options=("--wait",)) for _ in range(3)]
        cut = self.record("daemon", LATE_MS, "late.txt")
        goldens = str(self.bench.folder / "goldens")
        done = self.bench.call("golden", "add", "it", "-d", goldens, *whole)
        self.assertEqual(done.returncode, 0, done.stderr)
        code, result = self.bench.json("golden", "check", "it", "-d", goldens, whole[0])
        self.assertEqual((code, result["status"]), (0, "clean"))
        code, result = self.bench.json("golden", "check", "it", "-d", goldens, cut)
        self.assertEqual((code, result["status"]), (3, "not_measured"), result)
        self.assertIn("outlived the recording", json.dumps(result["notes"]))
        self.expect(cut, f'[[gate]]\nname = "it"\ntype = "golden"\ngolden = "it"\nfolder = "{goldens}"\n',
                    "not_measured", "outlived")
        code, result = self.bench.json("diff", cut, cut)
        self.assertEqual((code, result["status"]), (3, "not_measured"))

    def test_habits(self) -> None:
        run = self.record("daemon", LATE_MS, "late.txt")
        _, result = self.bench.json("doctor", run)
        rows = {row["code"]: row for row in result["tables"]["rules"]}
        self.assertEqual(rows["WT-SYS-003"]["outcome"], "not measured")
        self.assertIn("outlived", rows["WT-SYS-003"]["why"])


class OtherDoors(Unseen):
    """Calls that are made without the usual system calls."""

    def test_io_uring(self) -> None:
        for backend in BACKENDS:
            run = self.record("uring", backend=backend)
            self.expect(run, NO_WRITE, "not_measured", "io_uring")
            self.expect(run, NO_NETWORK, "not_measured", "io_uring")
            self.expect(run, NO_EXEC, "held")  # it cannot do that


    def test_32_bit_calls(self) -> None:
        """They have names, paths and places as others have."""
        (self.work / "link").symlink_to(self.outside)
        for backend in BACKENDS:
            run = self.record("write32", "a", backend=backend)
            text = self.bench.call("export", "--to", "strace", "-o", "-", run).stdout
            self.assertRegex(text, r'open\("a", O_WRONLY\|O_CREAT\|O_TRUNC, 0644\) += \d+')
            self.assertNotIn("syscall_0x", text)
            self.expect(run, NO_WRITE, "violated", "$CWD/a")
            self.expect(run, OUTSIDE, "held")
            self.expect(run, NO_NETWORK, "held")
            self.expect(self.record("write32", "link/b", backend=backend), OUTSIDE, "violated", "really")
            self.expect(self.record("send32", backend=backend), NO_NETWORK, "violated", "127.0.0.1:9")

    def test_unknown_numbers(self) -> None:
        """Numbers that no table has are calls like others: in the trace, its exports and its counts."""
        for backend in BACKENDS:
            run = self.record("unknown", "1023", "1024", "1500", "0x12345", backend=backend)
            self.assertEqual(described(Path(run))["lost"], 0)
            text = self.bench.call("export", "--to", "strace", "-o", "-", run).stdout
            for number in ("3ff", "400", "5dc", "12345"):
                self.assertEqual(len(re.findall(rf"syscall_0x{number}\(0x1, 0x2, 0x3, 0x4, 0x5, 0x6\) += -1 ENOSYS", text)),
                                 1, f"{backend}: {number} in {text}")
            counted = '[[gate]]\nname = "it"\ntype = "count"\nerrors = true\ncall = "!access,openat"\nmin = 4\n'
            self.expect(run, counted, "held")
            # Who asks for a name does not get them.
            run = self.record("unknown", "1500", backend=backend, options=("--syscalls=openat",))
            self.assertNotIn("syscall_0x", self.bench.call("export", "--to", "strace", "-o", "-", run).stdout)


    def test_program_after_fork(self) -> None:
        """Path and words of a program, from pages that nobody has touched in the child."""
        (self.work / "script").write_text("#!/bin/sh -e\n:\n")
        (self.work / "script").chmod(0o755)
        for backend in BACKENDS:
            run = self.record("own-words", backend=backend)
            text = self.bench.call("export", "--to", "strace", "-o", "-", run).stdout
            for call in ('execve("/nonexistent/program", ["program", "one"], ', 'execve("/bin/echo", ["echo", "one", "two words"], '):
                self.assertIn(call, text)
            # What a script calls itself is not on its stack: its interpreter's name is there instead.
            self.assertRegex(text, r'execve\("./script", \[("script"|0x[0-9a-f]+), "three"\], ')


NO_CONNECT = '[[gate]]\nname = "it"\ntype = "count"\ncall = "connect"\nmax = 0\nmay_be_absent = true\n'


class NotLetThrough(Unseen):
    """Calls that come to nothing: a filter of the program's own answers them, or a signal ends them. They were tried."""

    def test_own_filter(self) -> None:
        """All calls, and only some by a filter of ours, which comes after the program's."""
        for backend in BACKENDS:
            for options in ((), ("--syscalls=%network",)):
                for how in ("errno", "trap", "kill", "kill-thread", "notify"):
                    run = self.record("filtered", how, backend=backend, options=options)
                    self.expect(run, NO_CONNECT, "violated")
                    if how == "kill-thread" and backend == "bpf":  # the address went with the thread
                        self.expect(run, NO_NETWORK, "not_measured", "could not be read", "--backend ptrace")
                    else:
                        self.expect(run, NO_NETWORK, "violated", "127.0.0.1:9")

    def test_trapped_calls_have_no_result(self) -> None:
        """The kernel puts the registers back: what stands there is the number of the call."""
        for backend in BACKENDS:
            run = self.record("filtered", "trap", backend=backend)
            text = self.bench.call("export", "--to", "strace", "-o", "-", run).stdout
            self.assertRegex(text, r"connect\(3, .*\) += \?\n")
            self.assertNotRegex(text, r"connect\(3, .*\) += \d")
            self.assertRegex(text, r"SIGSYS \{si_signo=SIGSYS, si_code=SYS_SECCOMP, si_call_addr=0x\w+, si_syscall=__NR_connect, si_arch=AUDIT_ARCH_\w+\}")

    def test_nothing_is_seen_twice(self) -> None:
        """Behind a filter each call stops before it and again for ours."""
        for backend in BACKENDS:
            run = self.record("filtered", "errno", backend=backend, options=("--syscalls=socket,connect,close",))
            text = self.bench.call("export", "--to", "strace", "-o", "-", run).stdout
            for call in ("socket(", "connect("):
                self.assertEqual(text.count(call), 1, text)

    def full_port(self) -> int:
        """A port at which nobody is let in any more."""
        listener = socket.socket()
        self.addCleanup(listener.close)
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(3):
            waiting = socket.socket()
            self.addCleanup(waiting.close)
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        port: int = listener.getsockname()[1]
        return port

    def test_killed_in_a_call(self) -> None:
        port = self.full_port()
        for backend in BACKENDS:
            for number in (signal.SIGKILL, signal.SIGTERM):
                run = self.record("killed", str(port), str(int(number)), backend=backend)
                self.expect(run, NO_NETWORK, "violated", "127.0.0.1:")
                self.expect(run, NO_CONNECT, "violated")

    def test_not_waited_for(self) -> None:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(8)
            for backend in BACKENDS:
                run = self.record("later", str(listener.getsockname()[1]), backend=backend)
                self.expect(run, NO_NETWORK, "violated", "127.0.0.1:")

    def test_untraced_child(self) -> None:
        """BPF follows it all the same; a tracer cannot, and says so."""
        for backend in BACKENDS:
            for options in ((), ("--syscalls=%file,%desc",)):
                run = self.record("untraced", "a", backend=backend, options=options)
                if backend == "bpf":
                    self.expect(run, NO_WRITE, "violated", "$CWD/a")
                else:
                    self.expect(run, NO_WRITE, "not_measured", "CLONE_UNTRACED", "--backend bpf")
                run = self.record("untraced", "a", "ptraced", backend=backend, options=options)  # and so it is
                self.expect(run, NO_WRITE, "violated", "$CWD/a")


class Places(Unseen):
    """What is written lies where it really is, whatever it is called."""

    def setUp(self) -> None:
        super().setUp()
        (self.work / "in").mkdir()
        (self.work / "link").symlink_to(self.outside)
        (self.work / "inner").symlink_to("in")

    def test_inside(self) -> None:
        for backend in BACKENDS:
            for words in (("write", "a", "in/b", "inner/c", "./in/../d"), ("write-in", "in", "e"), ("mkdir", f"in/{backend}"),
                          ("write-in", "inner", "../f"), ("own-link", "in", "mine", "mine/g")):
                self.expect(self.record(*words, backend=backend), OUTSIDE, "held")

    def test_linked_folder(self) -> None:
        for backend in BACKENDS:
            for words in (("write", "link/a"), ("write", "in/../link/b"), ("write-in", "link", "c"),
                          ("mkdir", f"link/{backend}"), ("own-link", "../outside", "mine", "mine/d"),
                          ("own-link", str(self.outside / "new"), "file", "file"), ("write-in", "link", "../e"),
                          ("write", str(self.work / "link" / "f"))):
                run = self.record(*words, backend=backend)
                self.expect(run, OUTSIDE, "violated", "really")
                self.expect(run, NO_WRITE + 'allow = ["$CWD/*"]\n', "violated")

    def test_linked_file(self) -> None:
        (self.outside / "real").write_text("")
        (self.work / "name").symlink_to(self.outside / "real")
        self.expect(self.record("write", "name"), OUTSIDE, "violated", "outside/real")
        gate = OUTSIDE.replace("write", "remove")
        self.expect(self.record("remove", "name"), gate, "held")  # the link, not the file
        self.expect(self.record("remove", "link/real"), gate, "violated", "outside/real")

    def test_inherited_descriptor(self) -> None:
        for backend in BACKENDS:
            with (self.outside / "there").open("w") as there, (self.work / "here").open("w") as here:
                run = self.record("inherited", str(there.fileno()), backend=backend, pass_fds=(there.fileno(),))
                self.expect(run, OUTSIDE, "violated", "outside/there")
                run = self.record("inherited", str(here.fileno()), backend=backend, pass_fds=(here.fileno(),))
                self.expect(run, OUTSIDE, "held")

    def test_passed_descriptor(self) -> None:
        for backend in BACKENDS:
            for folder, outcome in ((self.outside, "violated"), (self.work, "held")):
                ours, theirs = socket.socketpair()
                with ours, theirs, (folder / "passed").open("w") as file:
                    socket.send_fds(ours, [b"x"], [file.fileno()])
                    run = self.record("passed", str(theirs.fileno()), backend=backend, pass_fds=(theirs.fileno(),))
                    self.expect(run, OUTSIDE, outcome)


class Network(Unseen):
    """Messages to somebody, without a connection."""

    def test_sends(self) -> None:
        for backend in BACKENDS:
            for how in ("sendto", "sendmsg", "sendmmsg", "fastopen"):
                run = self.record("send", how, backend=backend)
                self.expect(run, NO_NETWORK, "violated", "127.0.0.1:9")
                self.expect(run, NO_NETWORK + 'allow = ["127.0.0.1:*"]\n', "held")

    def test_goldens_and_diffs(self) -> None:
        quiet = [self.record("write", "a") for _ in range(2)]
        loud = self.record("send", "sendto")
        goldens = str(self.bench.folder / "goldens")
        self.assertEqual(self.bench.call("golden", "add", "it", "-d", goldens, *quiet).returncode, 0)
        code, result = self.bench.json("golden", "check", "it", "-d", goldens, loud)
        self.assertEqual(code, 1)
        self.assertTrue(any("127.0.0.1:9" in finding["title"] for finding in result["findings"]), result["findings"])
        _, result = self.bench.json("diff", quiet[0], loud)
        self.assertIn("127.0.0.1:9", json.dumps(result["tables"]))


if __name__ == "__main__":
    need_system_calls(WHEELTAP)
    BACKENDS = permitted(WHEELTAP)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
