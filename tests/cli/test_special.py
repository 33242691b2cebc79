#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""FIFOs and devices where files are expected: no verb waits for one or reads without end, and each says what it is.
Pipes that are given as such, by <(...), /dev/stdin or -, are read.

usage: test_special.py WHEELTAP [NAME...]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Case, environment  # noqa: E402

WHEELTAP = str(Path(sys.argv.pop(1)).resolve())
RECORD = '{"process_id": 7, "thread_id": 7, "time": 1, "type": "function_call (pre)", "function": "f", ' \
         '"func_call_id": "1", "meta_vars": {}}\n'


class Special(Case):
    def setUp(self) -> None:
        super().setUp()
        self.home = self.folder / "home"
        self.home.mkdir()
        self.environment = environment(WHEELTAP_HOME=str(self.home))

    def tool(self, *words: str, **more: object) -> subprocess.CompletedProcess[str]:
        more.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run([WHEELTAP, *words], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE, **more)  # type: ignore[call-overload]

    def sim(self, name: str) -> Path:
        done = self.tool("sim", "--events", "2000", "-o", str(self.home / name))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.home / name

    def put(self, path: Path, kind: str) -> None:
        path.unlink(missing_ok=True)
        if kind == "FIFO":
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero")

    def each_kind(self, path: Path):  # type: ignore[no-untyped-def]
        for kind in ("FIFO", "device"):
            self.put(path, kind)
            yield kind
        path.unlink()


class Refused(Special):
    def test_run_json_of_one_run(self) -> None:
        """The others are listed and removed all the same; what is not ours stays."""
        self.sim("good")
        bad = self.home / "bad"
        bad.mkdir()
        for _ in self.each_kind(bad / "run.json"):
            done = self.tool("ls", "--names")
            self.assertEqual((done.returncode, done.stdout), (0, "good\n"))
            self.assertIn("good", self.tool("ls").stdout)
            self.assertEqual(self.tool("clean", "--keep", "0", "--dry-run").returncode, 0)
            self.assertEqual(self.tool("info", "latest").returncode, 0)
        self.put(bad / "run.json", "FIFO")
        self.assertEqual(self.tool("clean", "--keep", "0", "--yes").returncode, 0)
        self.assertEqual([path.name for path in self.home.glob("[!.]*")], ["bad"])

    def test_catalogue(self) -> None:
        """What is not a file beside the runs is left alone, and nobody waits for it."""
        self.sim("good")
        for name in (".catalogue.sqlite", ".kept.jsonl"):
            for _ in self.each_kind(self.home / name):
                self.assertEqual(self.tool("ls", "--names", "steps>=0").stdout, "good\n", name)
                self.assertEqual(self.tool("ls", "--all", "--names").stdout, "good\n", name)

    def test_stream(self) -> None:
        run = self.sim("good")
        for kind in self.each_kind(run / "zz.wt"):
            for verb in ("info", "view", "stat", "doctor"):
                done = self.tool(verb, str(run))
                self.assertIn(f"it is a {kind}", done.stderr, verb)
                self.assertTrue(done.stdout, verb)  # the other streams are read
            done = self.tool("info", str(run / "zz.wt"))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"it is a {kind}", done.stderr)

    def test_named_files(self) -> None:
        run = str(self.sim("good"))
        path = self.folder / "given.toml"
        for kind in self.each_kind(path):
            for words in (["check", "-i", "given.toml", run], ["gate", "-c", "given.toml", run], ["pack", "show", "given.toml"],
                          ["golden", "check", "./given.toml", run], ["import", "traincheck", "given.toml", "-o", "new"],
                          ["infer", "--merge", "given.toml", "-o", "pack.json"], ["record", "-c", "given.toml", "--", "true"],
                          ["record", "--invariants", "given.toml", "--", "true"],
                          ["record", "--include-file", "given.toml", "--", "true"],
                          ["record", "--modules", "@given.toml", "--", "true"]):
                done = self.tool(*words)
                self.assertNotEqual(done.returncode, 0, words)
                self.assertIn(f"it is a {kind}", done.stderr + done.stdout, words)
        self.assertEqual(sorted(os.listdir(self.folder)), ["home"])

    def test_files_that_are_looked_for(self) -> None:
        run = str(self.sim("good"))
        for _ in self.each_kind(self.folder / "wheeltap.toml"):
            self.assertNotEqual(self.tool("doctor", run).returncode, 0)
            self.assertNotEqual(self.tool("gate", run).returncode, 0)

    def test_console_of_a_run_that_failed(self) -> None:
        """doctor looks there for the exception."""
        self.assertEqual(self.tool("record", "-q", "-o", "run", "--", "/bin/sh", "-c", "exit 1").returncode, 1)
        for _ in self.each_kind(self.folder / "run" / "console.log"):
            self.assertIn("run failed: exit status 1", self.tool("doctor", "run").stdout)

    def test_exception_below_a_launcher(self) -> None:
        """Of a distributed run the exception of the rank that failed first counts, not the launcher's."""
        shown = """\
[rank1]: Traceback (most recent call last):
[rank1]:   File "{0}/train.py", line 15, in <module>
[rank0]: Traceback (most recent call last):
[rank1]: ValueError: bad shard
[rank0]:   File "{0}/train.py", line 16, in <module>
[rank0]: RuntimeError: Connection closed by peer
Traceback (most recent call last):
  File "/opt/bin/torchrun", line 8, in <module>
    sys.exit(main())
  File "/opt/lib/site-packages/torch/distributed/launcher/api.py", line 386, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============
train.py FAILED
Failures:
[1]:
  rank      : 0 (local_rank: 0)
Root Cause (first observed failure):
[0]:
  rank      : 1 (local_rank: 1)
"""
        (self.folder / "shown").write_text(shown.format(self.folder))
        self.assertEqual(self.tool("record", "-q", "-o", "run", "--", "/bin/sh", "-c", "cat shown; exit 1").returncode, 1)
        self.assertIn("exit status 1, ValueError of rank 1 at train.py:15;", self.tool("doctor", "run").stdout)
        inside = shown.replace("/opt/bin", "{0}/v/bin").replace("/opt/lib", "{0}/v/lib/python3.12")  # an environment beside the program
        (self.folder / "shown").write_text(inside.format(self.folder))
        self.assertEqual(self.tool("record", "-q", "-o", "inside", "--", "/bin/sh", "-c", "cat shown; exit 1").returncode, 1)
        self.assertIn("exit status 1, ValueError of rank 1 at train.py:15;", self.tool("doctor", "inside").stdout)
        for name, script, library in (("user", "{0}/.local/bin", "{0}/.local/share/uv/tools/torch/lib/python3.12"), ("system", "/usr/bin", "/usr/local/lib/python3.11")):
            apart = shown.replace("/opt/bin", script).replace("/opt/lib", library)
            (self.folder / "shown").write_text(apart.format(self.folder))
            self.assertEqual(self.tool("record", "-q", "-o", name, "--", "/bin/sh", "-c", "cat shown; exit 1").returncode, 1)
            self.assertIn("exit status 1, ValueError of rank 1 at train.py:15;", self.tool("doctor", name).stdout)
        (self.folder / "shown").write_text("Traceback (most recent call last):\n" + shown.split("Traceback (most recent call last):\n")[-1])
        self.assertEqual(self.tool("record", "-q", "-o", "other", "--", "/bin/sh", "-c", "cat shown; exit 1").returncode, 1)
        self.assertIn("errors.ChildFailedError at /opt/lib/", self.tool("doctor", "other").stdout)

    def test_module_of_a_stack(self) -> None:
        """A program that was recorded, and is something else when its names are looked up."""
        program = self.folder / "program"
        shutil.copy("/bin/cat", program)
        done = self.tool("record", "--syscalls", "--stacks", "--backend", "ptrace", "-o", "run", "--", "./program", "/dev/null")
        if done.returncode == 125:
            self.skipTest(f"no system calls can be recorded here: {done.stderr}")
        self.assertEqual(done.returncode, 0, done.stderr)
        for _ in self.each_kind(program):
            for words in (["view", "run"], ["stat", "--syscalls", "--by", "process", "run"],
                          ["export", "--to", "jsonl", "-o", "-", "run"]):
                self.assertIn("program", self.tool(*words).stdout, words)

    def test_executable_and_interpreter(self) -> None:
        for kind in ("FIFO", "device"):
            self.put(self.folder / "program", kind)
            os.chmod(self.folder / "program", 0o755) if kind == "FIFO" else None
            self.assertIn(self.tool("record", "-o", "run", "--", "./program").returncode, (125, 126, 127))


class Pipes(Special):
    def imported(self, words: list[str], **more: object) -> None:
        done = self.tool("import", "traincheck", *words, "-o", "new", **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(self.tool("info", "new").stdout, "call")
        shutil.rmtree(self.folder / "new")

    def test_import(self) -> None:
        text = RECORD * 3000  # more than a pipe holds
        for name in ("-", "/dev/stdin", "/dev/fd/0"):
            self.imported([name], input=text, stdin=None)
        (self.folder / "trace.json").write_text(text)
        bash = shutil.which("bash")
        if not bash:
            self.skipTest("there is no bash for <(...)")
        done = subprocess.run([bash, "-c", '"$0" import traincheck <(cat trace.json) -o new', WHEELTAP], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3,000", done.stdout)

    def test_config(self) -> None:
        words = ["record", "-c", "/dev/stdin", "-o", "run", "--", "true"]
        done = self.tool(*words, input="[record]\nquiet = true\n", stdin=None)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        shutil.rmtree(self.folder / "run")
        done = self.tool("record", "-q", "-c", "/dev/null", "-o", "run", "--", "true")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
