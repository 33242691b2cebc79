#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What runs are called, how they are found again by name, and how one makes room for another.

usage: test_names.py BUILD [NAME...]
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

os.environ["WHEELTAP_BUILD"] = sys.argv.pop(1)
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

PYTHON = "/usr/bin/python3"


class Here(harness.Case):
    """In a folder of its own, with runs below it."""

    def tool(self, *words: str, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        done = self.bench.call(*words)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return done

    def recorded(self, *words: str) -> tuple[str, str]:
        """Name of the folder without date and time, and the name in run.json."""
        shutil.rmtree(self.folder / "wheeltap-runs", ignore_errors=True)
        self.tool("record", "-q", *words, status=None)
        made, = (self.folder / "wheeltap-runs").iterdir()
        return made.name.rsplit("-", 2)[0], json.loads((made / "run.json").read_text())["name"]


class Names(Here):
    def test_a_name_with_a_slash_finds_its_run(self) -> None:
        self.tool("record", "-q", "-n", "lr/0.1", "--", "/bin/true")
        self.assertEqual(json.loads(self.tool("info", "--json", "lr/0.1").stdout)["command"], "/bin/true")
        self.assertIn("no/such", self.tool("info", "no/such", status=3).stderr)

    def test_after_the_script(self) -> None:
        for path in ("train.py", "pkg/mod.py", "pkg/__init__.py", "torchrun", "tool.py"):
            (self.folder / path).parent.mkdir(exist_ok=True)
            (self.folder / path).write_text(f"#!{PYTHON}\n")
            (self.folder / path).chmod(0o755)
        long = str(self.folder / "torchrun")
        for words, name in (([PYTHON, "train.py", "x.py"], "train"), ([PYTHON, "-u", "-W", "ignore", "./train.py"], "train"),
                            ([PYTHON, "-Wignore", "-X", "dev", str(self.folder / "train.py")], "train"),
                            ([PYTHON, "-m", "pkg.mod", "train.py"], "pkg.mod"), ([PYTHON, "-mpkg.mod"], "pkg.mod"),
                            ([PYTHON, "-um", "pkg.mod"], "pkg.mod"), ([PYTHON, "-c", "pass", "train.py"], "python3"),
                            ([PYTHON, "-"], "python3"), ([PYTHON], "python3"), ([PYTHON, "-m"], "python3"),
                            ([long, "--nproc_per_node", "2", "train.py"], "train"), ([long, "--nproc_per_node=2", "-m", "pkg.mod"], "pkg.mod"),
                            ([PYTHON, long, "pkg/mod.py"], "mod"), ([long, "--help"], "torchrun"),
                            ([PYTHON, "-m", "torch.distributed.run", "--standalone", "train.py"], "train"),
                            (["./tool.py"], "tool"), (["/bin/true"], "true")):
            self.assertEqual(self.recorded("--", *words), (name, name), words)

    def test_letters_of_all_scripts(self) -> None:
        for name, plain in (("übung", "übung"), ("実験1", "実験1"), ("опыт", "опыт"), ("a/b c", "a_b_c"), (".hidden", "_hidden"),
                            ("..", "_."), ("-x", "_x"), ("a\nb\x1b[1m", "a_b__1m"), ("x\u202ey", "x___y"), ("lr=0.1,wd:0@2", "lr=0.1,wd:0@2")):
            self.assertEqual(self.recorded("-n" + name, "--", "true")[0], plain, repr(name))
        folder, _ = self.recorded("-n", "実" * 100, "--", "true")
        self.assertEqual(folder, "実" * 42)


class Found(Here):
    def test_by_name(self) -> None:
        for status in (1, 2, 3):
            self.tool("record", "-q", "-n", "mine", "--", "sh", "-c", f"exit {status}", status=status)
        self.tool("record", "-q", "-n", "other", "--", "true")
        (self.folder / "data").mkdir()
        self.tool("record", "-q", "-n", "data", "--", "true")
        for name, last in (("mine", "exit 3"), ("other", "true"), ("data", "true")):
            said = json.loads(self.tool("info", "--json", name).stdout)
            self.assertIn(last, json.dumps(said), name)
        gone = self.tool("info", "nobody", status=None)
        self.assertIn("no run 'nobody'", gone.stderr)
        self.assertNotEqual(gone.returncode, 0)

    def test_by_name_from_python(self) -> None:
        for status in (1, 2):
            self.tool("record", "-q", "-n", "mine", "--", "sh", "-c", f"exit {status}", status=status)
        home = str(harness.BUILD / "python")
        done = subprocess.run([PYTHON, "-c", "import wheeltap; print(wheeltap.open('mine').info['exit_status'])"], cwd=self.folder,
                              env={**os.environ, "PYTHONPATH": home, "WHEELTAP_HOME": str(self.folder / "wheeltap-runs")},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.stdout, "2\n", done.stderr)


class Replaced(Here):
    def run_json(self) -> bytes:
        return (self.folder / "run" / "run.json").read_bytes()

    def test_force(self) -> None:
        self.tool("record", "-q", "-o", "run", "--", "sh", "-c", "echo first")
        before = self.run_json()
        refused = self.tool("record", "-q", "-o", "run", "--", "true", status=125)
        self.assertIn("--force", refused.stderr)
        self.tool("record", "-q", "--force", "-o", "run", "--", "no-such-program-anywhere", status=127)
        self.assertEqual(self.run_json(), before)
        self.tool("record", "-q", "--force", "-o", "run", "--", "sh", "-c", "echo second")
        self.assertEqual((self.folder / "run" / "console.log").read_text(), "second\n")
        self.tool("record", "-q", "--force", "-o", "new", "--", "true")
        self.tool("record", "-q", "--force", "--", "true", status=125)

    def test_force_keeps_what_is_not_a_run(self) -> None:
        self.tool("record", "-q", "-o", "run", "--", "true")
        before = self.run_json()
        (self.folder / "run" / "notes.txt").write_text("mine")
        refused = self.tool("record", "-q", "--force", "-o", "run", "--", "true", status=125)
        self.assertIn("notes.txt", refused.stderr)
        self.assertIn("notes.txt", self.tool("clean", "--yes", "run", status=None).stderr)
        self.assertEqual((self.run_json(), (self.folder / "run" / "notes.txt").read_text()), (before, "mine"))
        (self.folder / "work").mkdir()
        (self.folder / "work" / "thesis.txt").write_text("mine")
        (self.folder / "work" / "run.json").write_text('{"a": 1}')
        self.tool("record", "-q", "--force", "-o", "work", "--", "true", status=125)
        (self.folder / "link").symlink_to("run")
        self.tool("record", "-q", "--force", "-o", "link", "--", "true", status=125)
        self.assertTrue((self.folder / "work" / "thesis.txt").exists() and (self.folder / "link").is_symlink())

    def test_force_leaves_a_running_one(self) -> None:
        recorder = harness.start(self.folder / "run", "sleep", str(harness.PATIENCE))
        harness.wait_for(lambda: harness.described(self.folder / "run")["status"] == "running")
        program = harness.wait_for(lambda: harness.program_of(recorder.pid, "sleep"))
        refused = self.tool("record", "-q", "--force", "-o", "run", "--", "true", status=None)
        harness.kill(program)
        recorder.communicate(timeout=harness.PATIENCE)
        self.assertEqual(refused.returncode, 125)
        self.assertIn("running", refused.stderr)

    def test_clean_by_name(self) -> None:
        self.tool("record", "-q", "-o", "run", "--", "true")
        for _ in range(2):
            self.tool("record", "-q", "-n", "mine", "--", "true")
        self.tool("clean", "run", status=2)
        self.assertTrue((self.folder / "run").exists(), "not without --yes where nobody can be asked")
        self.tool("clean", "--yes", "run", "mine")
        self.assertFalse((self.folder / "run").exists())
        self.assertEqual(len(list((self.folder / "wheeltap-runs").glob("[!.]*"))), 1)
        self.tool("clean", "--yes", "mine", "--keep", "1", status=2)
        self.assertNotEqual(self.tool("clean", "--yes", "nobody", status=None).returncode, 0)


if __name__ == "__main__":
    unittest.main()
