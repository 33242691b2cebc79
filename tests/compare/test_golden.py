#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Goldens: an unchanged program is clean every time, each seeded change is found, named, and nothing else.

usage: test_golden.py WHEELTAP SEEDED MAKE_RUN [CHECKS]
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import unittest
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Case, environment, need_system_calls  # noqa: E402
from work import work_folder  # noqa: E402

SEEDED = ""
MAKE_RUN = ""
PYTHON = ("/usr/bin/python3", str(Path(__file__).resolve().parent / "seeded.py"))
CHECKS = 5
LEARN_RUNS = 3
STEP_NS = 4_000_000  # as in seeded.c
HOUR_NS = 3_600_000_000_000


@dataclass(frozen=True)
class Change:
    """What a seeded change must be found as: code, the call, words of the title; and at which severity."""

    fault: str
    code: str
    op: str | None
    words: str
    severity: str = "error"


# Changes of the program in C, and what stands in the line that makes the call.
LINES = {
    "open-every-step": "open(name, O_RDONLY)",
    "stat-every-step": 'stat("settings.txt"',
    "connection": "connect(fd,",
    "retry": 'open("ready"',
    "library": "dlopen(",
    "folder": 'mkdir("extra"',
    "doubled-writes": "write(fd, data, bytes)",
    "in-place": "open(name, O_WRONLY",
    "other-input": 'open(seeded("other-input")',
}

CHANGES = (
    Change("open-every-step", "WT-GOLD-005", "openat", "'$CWD/settings.txt' is opened 41 times instead of once; 1 a step"),
    Change("no-fsync", "WT-GOLD-003", "fsync", "'$CWD/model.bin' is not synced any more (4 times before)"),
    Change("in-place", "WT-GOLD-003", "openat", "'$CWD/model.bin' is written in place"),
    Change("retry", "WT-GOLD-001", "openat ENOENT", "looks at '$CWD/ready', which it did not"),
    Change("connection", "WT-GOLD-007", "connect", "connects to '127.0.0.1:9', which it did not"),
    Change("leak", "WT-GOLD-006", "openat", "'$CWD/settings.txt' is left open once instead of never"),
    Change("doubled-writes", "WT-GOLD-004", "write", "'$CWD/log.txt' is written 1,040 bytes instead of 520 bytes"),
    Change("library", "WT-GOLD-009", "mmap", "loads '$LIB/libanl.so.1', which it did not"),
    Change("left-behind", "WT-GOLD-003", "unlink", "'$TMP/seeded-<temp>' is left behind: it is not removed any more (once before)"),
    Change("permissions", "WT-GOLD-003", "openat", "'$CWD/model.bin' gets permissions 0600 instead of 0644"),
    Change("child", "WT-GOLD-008", None, "'seeded > seeded' is started twice instead of once"),
    Change("program", "WT-GOLD-008", None, "starts process 'seeded > true', which it did not"),
    Change("order", "WT-GOLD-010", None, "another order in a step: 'make $CWD/model.bin.tmp' comes where 'write $CWD/log.txt' was"),
    Change("other-input", "WT-GOLD-001", "openat", "reads '$CWD/data2.bin' instead of '$CWD/data.bin'"),
    Change("bigger-checkpoint", "WT-GOLD-004", "write", "'$CWD/model.bin' is written 36,864 bytes instead of 32,768 bytes"),
    Change("no-metrics", "WT-GOLD-002", None, "does not make '$CWD/metrics.json' any more"),
    Change("stat-every-step", "WT-GOLD-005", "newfstatat", "newfstatat of '$CWD/settings.txt' is called 40 times instead of never"),
    Change("small-writes", "WT-GOLD-005", "write", "write of '$CWD/model.bin' is called 512 times instead of 8 times"),
    Change("half-batch", "WT-GOLD-004", "pread64", "'$CWD/data.bin' is read 81,920 bytes instead of 163,840 bytes"),
    Change("more-steps", "WT-GOLD-012", None, "the run has 45 steps, the golden 40"),
    Change("folder", "WT-GOLD-001", "mkdir", "makes '$CWD/extra', which it did not"),
    Change("thread", "WT-GOLD-008", None, "'seeded' is given threads once instead of never", "warning"),
    Change("churn", "WT-GOLD-013", "mmap", "'memory'", "warning"),
)


POOL = """
import multiprocessing
def work(i):
    with open(f"out{i}", "w") as file:
        file.write(str(i))
if __name__ == "__main__":
    with multiprocessing.Pool(3) as pool:
        pool.map(work, range(12), chunksize=1)
        pool.close()
        pool.join()
"""
PYTHON_CHANGES = (
    Change("in-place", "WT-GOLD-003", "openat", "'$CWD/model.json' is written in place"),
    Change("no-fsync", "WT-GOLD-003", "fsync", "'$CWD/model.json' is not synced any more (3 times before)"),
    Change("doubled-writes", "WT-GOLD-004", "write", "'$CWD/model.json' is written 384 bytes instead of 192 bytes"),
    Change("left-behind", "WT-GOLD-001", "openat", "makes '$CWD/model.json.old', which it did not"),
    Change("open-every-step", "WT-GOLD-005", "openat", "'$CWD/settings.txt' is opened 31 times instead of once"),
    Change("import", "WT-GOLD-009", "openat", "reads '$PYTHON/wave.py', which it did not", "warning"),
    Change("program", "WT-GOLD-008", None, "'python3 > true' is started twice instead of once"),
)


class Golden(Case):
    maxDiff = None  # a finding is shown whole
    options = ("--syscalls",)

    def record(self, fault: str = "", program: tuple[str, ...] = ()) -> str:
        folder = work_folder(self.bench)
        words = (*(program or (SEEDED, str(folder))), *([fault] if fault else []))
        return str(self.bench.record(*words, cwd=folder))

    def learn(self, *options: str, program: tuple[str, ...] = (), count: int = LEARN_RUNS) -> None:
        runs = [self.record(program=program) for _ in range(count)]
        done = self.bench.call("golden", "add", "seeded", *runs, *options)
        self.assertEqual(done.returncode, 0, done.stderr)

    def text(self) -> str:
        return (self.bench.folder / "goldens" / "seeded.toml").read_text()

    def expect_steps_of(self, ns: int) -> None:
        """Rewrites how long the golden's steps took: a busy machine makes any step as long as it likes."""
        text, count = re.subn(r'(?m)^step_ns = .*$', f'step_ns = "{ns}..{ns}"', self.text())
        self.assertEqual(count, 1, self.text())
        (self.bench.folder / "goldens" / "seeded.toml").write_text(text)

    def test_times(self) -> None:
        """What was measured is no less than the program slept; what takes longer than before is found, and nothing else is."""
        self.learn("--times")
        learned = re.search(r'(?m)^step_ns = "?(\d+)', self.text())
        self.assertTrue(learned and int(learned[1]) >= STEP_NS, self.text())
        self.expect_steps_of(STEP_NS // 2)
        self.found_alone(Change("", "WT-GOLD-011", None, "steps take"))
        self.expect_steps_of(HOUR_NS)
        code, result = self.bench.json("golden", "check", "seeded", self.record(), "--fail-on", "note")
        self.assertEqual((code, result["findings"]), (0, []))

    def test_unchanged_is_clean(self) -> None:
        self.learn()
        for i in range(CHECKS):
            code, result = self.bench.json("golden", "check", "seeded", self.record())
            self.assertEqual((code, result["status"], result["findings"]), (0, "clean", []), f"check {i + 1}")

    def found_alone(self, change: Change, program: tuple[str, ...] = ()) -> None:
        run = self.record(change.fault, program)
        code, result = self.bench.json("golden", "check", "seeded", run, "--fail-on", "note")
        found = [(f["id"], f["severity"], f["title"], f["where"]["op"]) for f in result["findings"]]
        self.assertEqual((code, len(found)), (1, 1), found)
        self.assertEqual(found[0][:2], (change.code, change.severity), found)
        self.assertIn(change.words, found[0][2])
        if change.op:
            self.assertEqual(found[0][3], change.op, found)

    def test_each_change_is_found_alone(self) -> None:
        self.learn()
        for change in CHANGES:
            with self.subTest(change.fault):
                self.found_alone(change)

    def test_python(self) -> None:
        self.learn(program=PYTHON)
        for i in range(CHECKS):
            code, result = self.bench.json("golden", "check", "seeded", self.record(program=PYTHON), "--fail-on", "note")
            self.assertEqual((code, result["findings"]), (0, []), f"check {i + 1}")
        for change in PYTHON_CHANGES:
            with self.subTest(change.fault):
                self.found_alone(change, PYTHON)

    def test_lines_of_python(self) -> None:
        """Where the agent tells calls, a deviation has the line from which its function was called."""
        folder = work_folder(self.bench)
        runs = [str(self.bench.record(*PYTHON, *words, cwd=folder, options=("--syscalls", "--modules", "__main__")))
                for words in ((), (), ("no-fsync",), ("open-every-step",))]
        self.assertEqual(self.bench.call("golden", "add", "seeded", *runs[:2]).returncode, 0)
        source = Path(PYTHON[1]).read_text().splitlines()
        for run, call in ((runs[2], "save(weights, step)"), (runs[3], "train()")):
            _, result = self.bench.json("golden", "check", "seeded", run)
            where = [f["where"] for f in result["findings"]]
            self.assertEqual([Path(place["file"]).name for place in where], ["seeded.py"])
            self.assertEqual([source[place["line"] - 1].strip() for place in where], [call])

    def test_exact_lines_of_python(self) -> None:
        """With --stacks the lines are those of the calls themselves, without a word about modules."""
        folder = work_folder(self.bench)
        runs = [str(self.bench.record(*PYTHON, *words, cwd=folder, options=("--syscalls", "--stacks")))
                for words in ((), (), ("open-every-step",), ("left-behind",), ("doubled-writes",))]
        self.assertEqual(self.bench.call("golden", "add", "seeded", *runs[:2]).returncode, 0)
        source = Path(PYTHON[1]).read_text().splitlines()
        for run, call in zip(runs[2:], ('open("settings.txt", encoding="utf-8").close()', 'open("model.json.old", "w"', "file.flush()")):
            _, result = self.bench.json("golden", "check", "seeded", run)
            where = [f["where"] for f in result["findings"] if f["severity"] == "error"]
            self.assertEqual([Path(place["file"]).name for place in where], ["seeded.py"], result["findings"])
            self.assertIn(call, source[where[0]["line"] - 1])

    def test_lines_of_c(self) -> None:
        """With their stacks recorded, deviations of a program in C have the line that calls."""
        folder = work_folder(self.bench)
        words = ((), (), *((fault,) for fault in LINES))
        runs = [str(self.bench.record(SEEDED, str(folder), *more, cwd=folder, options=("--syscalls", "--stacks"))) for more in words]
        self.assertEqual(self.bench.call("golden", "add", "seeded", *runs[:2]).returncode, 0)
        source = (Path(__file__).resolve().parent / "seeded.c").read_text().splitlines()
        for run, (fault, call) in zip(runs[2:], LINES.items()):
            with self.subTest(fault):
                _, result = self.bench.json("golden", "check", "seeded", run)
                where = [f["where"] for f in result["findings"] if f["severity"] == "error"]
                self.assertEqual([Path(place["file"]).name for place in where], ["seeded.c"])
                self.assertIn(call, source[where[0]["line"] - 1])

    def test_real_programs_are_clean(self) -> None:
        """Descriptors through exec and pipes, workers that take what comes next, random names, a data set."""
        programs = {
            "shell": ("sh", "-c", "exec 3>out; echo a >&3; sort <data.bin | wc -c >&3; for i in set/*; do read x <$i; done; exec 3>&-"),
            "pool": ("/usr/bin/python3", "-c", POOL),
            "names": ("sh", "-c", "f=x$(od -An -N4 -tx4 </dev/urandom | tr -d ' '); echo a >$f; rm $f"),
        }
        for name, program in programs.items():
            with self.subTest(name):
                runs = []
                for _ in range(5):
                    folder = work_folder(self.bench)
                    (folder / "set").mkdir()
                    for i in range(70):
                        (folder / "set" / f"{i}.txt").write_text("x\n")
                    runs.append(str(self.bench.record(*program, cwd=folder)))
                self.assertEqual(self.bench.call("golden", "add", name, *runs[:3]).returncode, 0)
                for run in runs[3:]:
                    code, result = self.bench.json("golden", "check", name, run, "--fail-on", "note")
                    self.assertEqual((code, result["findings"]), (0, []))
        text = (self.bench.folder / "goldens" / "shell.toml").read_text()
        self.assertIn('[file."$CWD/out"]\nmode = "0666"\nmade = 1\nopened = 1\nwritten_bytes = 7\n', text)
        self.assertRegex(text, r'\[file."\$CWD/set/\*.txt"\]\nopened = 70\n(.*\n)*?files = 70\n')
        self.assertIn('[file."$CWD/x<varies>"]', (self.bench.folder / "goldens" / "names.toml").read_text())

    def test_nothing_of_the_user_is_written_down(self) -> None:
        self.learn(count=1)
        for word in (str(self.bench.folder), os.path.expanduser("~") + "/", "/here/"):
            self.assertNotIn(word, self.text())

    def test_a_reviewed_change_is_taken_over(self) -> None:
        self.learn(count=2)
        before, changed = self.text(), self.record("bigger-checkpoint")
        self.assertEqual(self.bench.call("golden", "check", "seeded", changed).returncode, 1)
        code, result = self.bench.json("golden", "accept", "seeded", changed)
        self.assertEqual((code, result["status"]), (0, "accepted"))
        self.assertEqual(self.bench.call("golden", "check", "seeded", changed).returncode, 0)
        gone = [line for line in before.splitlines() if line not in self.text().splitlines()]
        self.assertEqual(gone, ['written_bytes = { total = 32768, step = "0..8192" }', 'write = { total = 8, step = "0..2" }'])
        code, result = self.bench.json("golden", "accept", "seeded", changed)
        self.assertEqual((code, result["status"]), (0, "unchanged"))

    def test_what_is_there_is_not_overwritten(self) -> None:
        self.learn(count=1)
        before, run = self.text(), self.record("no-fsync")
        done = self.bench.call("golden", "add", "seeded", run)
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("exists already", done.stderr)
        self.assertEqual(self.text(), before)
        self.assertEqual(self.bench.call("golden", "add", "--force", "seeded", run).returncode, 0)
        self.assertNotEqual(self.text(), before)
        self.assertEqual(os.listdir(self.bench.folder / "goldens"), ["seeded.toml"])

    def refused(self, code: int, words: str, *command: str) -> None:
        done = self.bench.call("golden", *command)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def made(self, what: str) -> str:
        folder = str(self.bench.folder / f"made-{what}")
        subprocess.run([MAKE_RUN, folder, what], check=True, timeout=PATIENCE)
        return folder

    def test_bad_input_is_said_in_one_line(self) -> None:
        goldens = self.bench.folder / "goldens"
        goldens.mkdir()
        good = self.made("")
        (goldens / "garbage.toml").write_bytes(b"\xff\x00]]")
        (goldens / "newer.toml").write_text("format = 99\n")
        (goldens / "key.toml").write_text("format = 1\nfrob = 1\n")
        self.refused(2, "no action 'frob'", "frob", "x")
        self.refused(2, "no run given", "add", "x")
        self.refused(2, "no golden named", "check")
        self.refused(3, "golden add nothing RUN", "check", "nothing", good)
        self.refused(3, "garbage.toml:1", "check", "garbage", good)
        self.refused(3, "has format 99", "check", "newer", good)
        self.refused(3, "key.toml:2:1: unknown key 'frob'", "check", "key", good)
        self.refused(3, "has no system calls", "add", "x", self.made("empty"))
        self.refused(3, "lost 7 events", "add", "x", self.made("lost"))
        self.refused(3, "leave out --times", "add", "x", good, "--times")
        self.assertFalse((goldens / "x.toml").exists())
        done = self.bench.call("golden", "add", "x", good)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("learned from one run", done.stderr)
        self.refused(3, "lost 7 events", "check", "x", str(self.bench.folder / "made-lost"))
        self.refused(3, "has no system calls", "check", "x", str(self.bench.folder / "made-empty"))
        self.refused(3, "recorded on aarch64", "check", "x", self.made("aarch64"))
        self.assertEqual(self.bench.call("golden", "check", "x", good).returncode, 0)

    def test_runs_that_failed(self) -> None:
        """Nothing is learned from them unless that is meant, and how each ended is said."""
        runs = []
        for name, code in (("well", "exit 0"), ("fails", "exit 127"), ("dies", "kill -9 $$")):
            runs.append(str(self.bench.folder / name))
            self.bench.call("record", "-q", "--syscalls", "-o", runs[-1], "--", "/bin/sh", "-c", code)
        words = "2 of 3 runs ended early: 'fails' failed with exit status 127, 'dies' was killed by signal 9 (Killed); "
        self.refused(3, words, "add", "x", *runs)
        self.assertEqual(self.bench.call("golden", "add", "x", runs[0]).returncode, 0)
        self.refused(3, "1 of 1 runs ended early: 'fails' failed with exit status 127; ", "accept", "x", runs[1])
        self.assertEqual(self.bench.call("golden", "accept", "--may-fail", "x", runs[1]).returncode, 0)
        self.assertEqual(self.bench.call("golden", "add", "--may-fail", "y", *runs).returncode, 0)

    def test_steps_are_counted_where_they_end_or_begin(self) -> None:
        """An agent that counts the ends of steps, and a program that says where they begin, have as many steps as were made."""
        gate = self.bench.folder / "gate.toml"
        gate.write_text('[[gate]]\ntype = "expression"\nexpression = "steps == 5"\n\n'
                        '[[gate]]\ntype = "count"\ncall = "openat"\nper = "step"\nmin = 1\nmax = 1\n')
        for what in ("trains", "says"):
            with self.subTest(what):
                run = str(self.bench.folder / f"made-{what}")
                subprocess.run([MAKE_RUN, run, what, "5"], check=True, timeout=PATIENCE)
                self.assertEqual(self.bench.call("golden", "add", what, run).returncode, 0)
                text = (self.bench.folder / "goldens" / f"{what}.toml").read_text()
                self.assertIn("\nsteps = 5\n", text)
                of = dict(re.findall(r'\[file."/data/(\w+)"\]\n((?:[^\n]+\n)+)', text))
                self.assertIn("openat = { total = 5, step = 1 }", of["step"])
                self.assertIn("openat = 1\n", of["before"])
                self.assertIn("openat = 1\n", of["after"])
                done = self.bench.call("gate", "-c", str(gate), run)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_files_that_were_open_before_are_known(self) -> None:
        """Of a program that is attached to, a file that it opened before is changed where it stands."""
        folder = work_folder(self.bench)
        program = ("import os, sys\nout = os.open('log.txt', os.O_WRONLY | os.O_CREAT | os.O_APPEND)\nprint('ready', flush=True)\n"
                   "sys.stdin.readline()\nos.write(out, b'more')\nos.close(out)\n")
        run = self.bench.folder / "attached"
        with subprocess.Popen(["/usr/bin/python3", "-c", program], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as it:
            assert it.stdin and it.stdout
            it.stdout.readline()
            with subprocess.Popen([self.bench.wheeltap, "record", "--syscalls", "--attach", str(it.pid), "-o", str(run)], cwd=folder,
                                  stderr=subprocess.PIPE, env=environment()) as recorder:
                until = time.monotonic() + PATIENCE
                while "task" not in self.bench.call("view", str(run), "--kind", "task").stdout and time.monotonic() < until:
                    time.sleep(0.05)
                it.communicate(b"\n", timeout=PATIENCE)
                recorder.communicate(timeout=PATIENCE)
        self.assertEqual(self.bench.call("golden", "add", "seeded", str(run)).returncode, 0)
        self.assertIn('[file."$CWD/log.txt"]\nchanged = 1\nwritten_bytes = 4\n', self.text())

    def test_other_selection_of_calls_is_not_compared(self) -> None:
        self.learn(count=1)
        folder = work_folder(self.bench)
        run = self.bench.record(SEEDED, str(folder), cwd=folder, options=("--syscalls=%file",))
        self.refused(3, "--syscalls=all", "check", "seeded", str(run))


def main() -> None:
    global SEEDED, MAKE_RUN, CHECKS
    Golden.wheeltap, SEEDED, MAKE_RUN = map(os.path.abspath, sys.argv[1:4])
    CHECKS = int(sys.argv[4]) if len(sys.argv) > 4 else CHECKS
    need_system_calls(Golden.wheeltap)
    unittest.main(argv=sys.argv[:1], verbosity=1)


if __name__ == "__main__":
    main()
