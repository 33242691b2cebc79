#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The folder of a run: nothing in it was there before, nothing that was there before is touched, and the last word on
a run is written however little room there is.

usage: test_folder.py BUILD [NAME...]
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import unittest
from pathlib import Path

os.environ["WHEELTAP_BUILD"] = sys.argv.pop(1)
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
import programs  # noqa: E402


class Folders(harness.Case):
    def tool(self, *words: str, **more: object) -> subprocess.CompletedProcess[str]:
        return self.bench.call(*words, **more)  # type: ignore[arg-type]

    def contents(self, folder: Path) -> dict[str, bytes]:
        return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class FailedStart(Folders):
    """What could not be recorded takes away what it made, and nothing else."""

    def start(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Of a program that cannot be executed: that is found out late, when all is there."""
        with harness.Scratch() as scratch:
            broken = scratch / "broken"
            broken.write_text("#!/no/such/interpreter\n")
            broken.chmod(0o755)
            return self.tool("record", *options, "--", str(broken))

    def test_files_of_others_stay(self) -> None:
        for name in ("console.log", "0000.wt", "syscalls.wt", "run.json", ".run.json.next", "notes", "blobs/a"):
            with self.subTest(name=name):
                folder = self.folder / name.replace("/", "-")
                (folder / name).parent.mkdir(parents=True)
                (folder / name).write_text("mine")
                self.assertEqual(self.start("-o", str(folder)).returncode, 125)
                self.assertEqual(self.contents(folder), {name: b"mine"})

    def test_imported_run_stays(self) -> None:
        self.assertEqual(self.tool("sim", "--events", "2000", "-o", "run").returncode, 0)
        before = self.contents(self.run_folder)
        self.assertEqual(self.start("-o", "run").returncode, 125)
        self.assertEqual(self.tool("record", "-o", "run", "--", "true").returncode, 125)
        self.assertEqual(self.contents(self.run_folder), before)

    def test_what_was_made_is_gone(self) -> None:
        for options in (["-o", "a/b/c"], ["-o", "a/b/c/"], []):
            self.assertIn(self.start(*options).returncode, (126, 127))
            self.assertEqual(os.listdir(self.folder), [], options)

    def test_folders_that_were_there_stay(self) -> None:
        (self.folder / "a").mkdir(mode=0o755)
        for options in (["-o", "a"], ["-o", "a/"], ["-o", "a/b/c"]):
            self.assertIn(self.start(*options).returncode, (126, 127))
            self.assertEqual(os.listdir(self.folder), ["a"])
            self.assertEqual(os.listdir(self.folder / "a"), [])
            self.assertEqual(stat.S_IMODE((self.folder / "a").stat().st_mode), 0o755)


class Refused(Folders):
    def test_anything_in_it(self) -> None:
        self.run_folder.mkdir()
        for name in ("notes", ".hidden"):
            (self.run_folder / name).write_text("mine")
            done = self.tool("record", "-o", "run", "--", "touch", "ran")
            self.assertEqual(done.returncode, 125)
            self.assertIn("'run' is not empty", done.stderr)
            self.assertIn(name, done.stderr)
            self.assertEqual(os.listdir(self.run_folder), [name])
            (self.run_folder / name).unlink()
        self.assertFalse((self.folder / "ran").exists())

    def test_the_way_out_works(self) -> None:
        self.assertEqual(self.tool("record", "-o", "run", "--", "true").returncode, 0)
        done = self.tool("record", "-o", "run", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr, "already contains a run.*another folder.*wheeltap clean.*--force")
        self.assertEqual(self.tool("record", "-o", "run-2", "--", "true").returncode, 0)
        self.assertEqual(self.tool("record", "--force", "-o", "run", "--", "true").returncode, 0)
        self.assertEqual(self.tool("clean", "--yes", "run").returncode, 0)
        self.assertEqual(self.tool("record", "-o", "run", "--", "true").returncode, 0)

    def test_not_a_folder(self) -> None:
        self.run_folder.write_text("mine")
        self.assertEqual(self.tool("record", "-o", "run", "--", "true").returncode, 125)
        self.assertEqual(self.run_folder.read_text(), "mine")

    def test_import_and_sim(self) -> None:
        self.run_folder.mkdir()
        (self.run_folder / "0000.wt").write_text("mine")
        trace = self.folder / "trace_1.json"
        trace.write_text(json.dumps({"process_id": 7, "thread_id": 7, "time": 1, "type": "function_call (pre)",
                                     "function": "f", "func_call_id": "1", "meta_vars": {}}) + "\n")
        for words in (["import", "traincheck", "trace_1.json", "-o", "run"], ["sim", "--events", "2000", "-o", "run"]):
            done = self.tool(*words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn("not empty", done.stderr)
            self.assertEqual(self.contents(self.run_folder), {"0000.wt": b"mine"})
        done = self.tool("import", "traincheck", "trace_1.json", "-o", "new")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_failed_import_leaves_nothing(self) -> None:
        trace = self.folder / "trace_1.json"
        trace.write_text('{"process_id": 7, "time": 1, "type": "x"}\nthis is not JSON\n')
        done = self.tool("import", "traincheck", "trace_1.json", "-o", "a/b")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(os.listdir(self.folder), ["trace_1.json"])


class Private(Folders):
    def test_empty_folder_becomes_private(self) -> None:
        self.run_folder.mkdir(mode=0o755)
        self.run_folder.chmod(0o755)
        self.assertEqual(self.tool("record", "-o", "run", "--", "true").returncode, 0)
        self.assertEqual(stat.S_IMODE(self.run_folder.stat().st_mode), 0o700)
        for path in self.run_folder.iterdir():
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path)

    def test_link_to_a_folder(self) -> None:
        (self.folder / "real").mkdir()
        self.run_folder.symlink_to("real")
        self.assertEqual(self.tool("record", "-o", "run", "--", "true").returncode, 0)
        self.assertTrue((self.folder / "real" / "run.json").exists())

    def test_folder_of_another_user(self) -> None:
        if os.geteuid():
            self.skipTest("becoming another user needs root")
        self.folder.chmod(0o755)
        self.run_folder.mkdir()
        self.run_folder.chmod(0o777)
        wheeltap = shutil.copy(harness.WHEELTAP, self.folder)  # what was built may lie where others cannot reach it
        done = subprocess.run([wheeltap, "record", "-o", str(self.run_folder), "--", "true"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              user=65534, group=65534, cwd="/", timeout=harness.PATIENCE)
        self.assertEqual(done.returncode, 125)
        self.assertIn("belongs to another user", done.stderr)
        self.assertEqual(os.listdir(self.run_folder), [])


class Outputs(Folders):
    """An output that is named may be anything that can be written to; it is never replaced by a file."""

    def run_and_report(self, report: str) -> subprocess.CompletedProcess[str]:
        return self.tool("record", "-o", "run", "--report", report, "--", "true")

    def test_device(self) -> None:
        if os.geteuid():
            self.skipTest("making a device needs root")
        device = self.folder / "null"
        try:
            os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            device.write_text("")
        except OSError as error:
            self.skipTest(f"no devices here: {error}")
        self.assertEqual(self.run_and_report("null").returncode, 0)
        self.assertTrue(stat.S_ISCHR(device.lstat().st_mode))

    def invariants(self) -> str:
        name = "invariants.json"
        (self.folder / name).write_text('{"text_description": "x", "relation": "y", "params": [], "precondition": {}}\n')
        return name

    def test_standard_output(self) -> None:
        """A link as /dev/stdout is one, but not that one itself: a test that fails should harm nobody."""
        link = self.folder / "stdout"
        link.symlink_to("/proc/self/fd/1")
        done = self.tool("import", "traincheck", self.invariants(), "-o", "stdout")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"invariants"', done.stdout)
        self.assertTrue(link.is_symlink())

    def test_standard_output_that_is_a_file(self) -> None:
        (self.folder / "stdout").symlink_to("/proc/self/fd/1")
        with open(self.folder / "kept", "w") as kept:
            kept.write("said before\n")
            kept.flush()
            done = subprocess.run([harness.WHEELTAP, "import", "traincheck", self.invariants(), "-o", "stdout"],
                                  stdin=subprocess.DEVNULL, stdout=kept, timeout=harness.PATIENCE, cwd=self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertRegex((self.folder / "kept").read_text(), '(?s)^said before\n.*"invariants"')

    def test_report_to_the_programs_output(self) -> None:
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            done = self.tool("record", "-o", "run", "--report", name, "--", "true")
            self.assertEqual(done.returncode, 125)
            self.assertIn("standard output belongs to the program", done.stderr)

    def test_link_stays_a_link(self) -> None:
        (self.folder / "real.txt").write_text("old")
        (self.folder / "link.txt").symlink_to("real.txt")
        self.assertEqual(self.run_and_report("link.txt").returncode, 0)
        self.assertTrue((self.folder / "link.txt").is_symlink())
        self.assertNotEqual((self.folder / "real.txt").read_text(), "old")

    def test_fifo_without_a_reader(self) -> None:
        os.mkfifo(self.folder / "pipe")
        done = self.run_and_report("pipe")
        self.assertEqual(done.returncode, 0)
        self.assertIn("no report was written", done.stderr)
        self.assertTrue(stat.S_ISFIFO((self.folder / "pipe").lstat().st_mode))


class LittleRoom(Folders):
    """However small the disk, a recording that began has a last word, one that cannot begin says so, and the program runs."""

    def mount(self, size: str) -> Path:
        disk = self.folder / "disk"
        disk.mkdir(exist_ok=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(disk)],
                              stderr=subprocess.DEVNULL)
        if done.returncode:
            self.skipTest("a small file system needs root (mount)")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)], check=False, stderr=subprocess.DEVNULL)
        return disk

    def one(self, size: str, words: list[str], status: int) -> None:
        disk = self.mount(size)
        run, ran = disk / "run", self.folder / "ran"
        done = self.tool("record", "-o", str(run), "--on-full", "drop", "--", "/bin/sh", "-c",
                             'touch "$0"; exec "$@"', str(ran), *words)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertTrue(ran.exists(), "the program did not run")
        self.began = "runs unrecorded" not in done.stderr
        if not self.began:
            self.assertRegex(done.stderr, "runs unrecorded: not enough room in '.*': .* free")
            self.assertEqual(list(disk.iterdir()), [])
        else:
            self.assertIn(harness.described(run)["status"], "finished failed")
            listed = self.tool("ls", "--json", env={**os.environ, "WHEELTAP_HOME": str(disk)})
            self.assertEqual(re.findall(r'"(running|abandoned)"', listed.stdout), [], listed.stdout)
        ran.unlink(missing_ok=True)
        subprocess.run(["umount", "-l", str(disk)], check=True)

    def test_sizes(self) -> None:
        for size in ("4k", "16k", "64k", "128k", "256k", "512k", "1m"):
            for words, status in ((["true"], 0), ([programs.TALKER, "500", "3"], 3),
                                  ([programs.PUBLISHER, str(self.folder / "counters"), "1", "300000"], 0)):
                with self.subTest(size=size, words=words[0]):
                    self.one(size, words, status)
                    self.assertEqual(self.began, size not in ("4k", "16k"))


if __name__ == "__main__":
    unittest.main()
