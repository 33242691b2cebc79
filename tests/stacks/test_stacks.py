#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`record --syscalls --stacks`: each call at its line, by both backends, in every output.

usage: test_stacks.py PLACES FIRST_LIBRARY SECOND_LIBRARY
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

HERE = Path(__file__).resolve().parent
PLACES, FIRST, SECOND = sys.argv[1:4]
PYTHON_PROGRAM = """\
import os
import subprocess
import sys
import threading


def look():
    os.access("in-python", os.F_OK)  # access in-python in look


def write(name):
    with open(name, "w", encoding="utf-8") as file:  # openat in-file in write
        print("x" * 100, file=file)
        file.flush()
        os.rename(name, name + "2")  # rename in-file in write


def worker():
    os.mkdir(sys.argv[1] + "/in-worker")  # mkdir in-worker in worker


look()
write(sys.argv[1] + "/in-file")
thread = threading.Thread(target=worker)
thread.start()
thread.join()
subprocess.run(["/bin/true"], check=True)
os.rmdir(sys.argv[1] + "/in-worker")  # rmdir in-worker in <module>
"""
BACKENDS = harness.permitted()
STACKS = ("--stacks",)
FRAMES_MAX = 128


def marks(word: str) -> dict[str, list[tuple[str, int, str]]]:
    """What the sources say: for a name of access() the file, the line, the function."""
    found: dict[str, list[tuple[str, int, str]]] = {}
    for file in ("places.c", "library.c"):
        for number, line in enumerate((HERE / file).read_text().splitlines(), 1):
            match = re.search(rf"/\* {word} (\S+) (\S+) \*/", line)
            if match:
                found.setdefault(match[1], []).append((file, number, match[2]))
    return found


MADE_AT = marks("HERE")
CALLED_AT = marks("CALLER")


@functools.cache
def export(run: Path, form: str, *options: str) -> str:
    return subprocess.run([harness.WHEELTAP, "export", "--to", form, "-o", "-", *options, str(run)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=harness.PATIENCE, check=True).stdout


def place(source: dict[str, Any] | None) -> tuple[str, int, str] | None:
    return (Path(source["file"]).name, source["line"], source["function"]) if source else None


class Frame:
    """A line of strace -k, or of our export."""

    def __init__(self, line: str) -> None:
        match = re.fullmatch(r" > (.*)\((.*)\) \[0x([0-9a-f]+)\](?: (.*):(\d+))?", line)
        assert match, line
        self.file, self.address = match[1], int(match[3], 16)
        name = match[2].split(" in ")
        self.is_inlined = len(name) == 2
        self.function = name[0].split("+")[0]
        self.place = (Path(match[4]).name, int(match[5]), self.function) if match[4] else None


def stacks(text: str, name: str) -> list[list[Frame]]:
    """The frames below each call that has `name` among its arguments, or below its end if others have cut it in two."""
    found: list[list[Frame]] = []
    taking = False
    cut: set[str] = set()
    for line in text.splitlines():
        if not line.startswith(" > "):
            thread = line.split(" ", 1)[0]
            taking = f'access("{name}"' in line or (thread in cut and "<... access resumed>" in line)
            cut.discard(thread)
            if taking and line.endswith("<unfinished ...>"):
                cut.add(thread)
            elif taking:
                found.append([])
        elif taking:
            found[-1].append(Frame(line))
    return found


class Stacks(harness.Case):
    def setUp(self) -> None:
        super().setUp()
        self.count = 0

    def record(self, backend: str, *words: str, expression: str = "") -> Path:
        self.count += 1
        run = self.folder / f"run{self.count}"
        done = harness.record(run, *words, backend=backend, expression=expression, options=STACKS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return run

    def calls(self, run: Path, name: str) -> list[dict[str, Any]]:
        calls = json.loads(export(run, "renacer-json"))["syscalls"]
        return [call for call in calls if call["name"] == "access" and f'"{name}"' in call["args"]]

    def found_at(self, run: Path, name: str, count: int = 1, mark: str = "") -> list[list[Frame]]:
        """Each call of that name is at its mark, in one export and in the other."""
        calls = self.calls(run, name)
        self.assertEqual(len(calls), count, name)
        for call in calls:
            self.assertEqual(place(call.get("source")), MADE_AT[mark or name][0], name)
        found = stacks(export(run, "strace"), name)
        self.assertEqual(len(found), count)
        for frames in found:
            self.assertIn(MADE_AT[mark or name][0], [frame.place for frame in frames])
            for caller in CALLED_AT.get(mark or name, []):
                self.assertIn(caller, [frame.place for frame in frames])
        return found

    def test_places(self) -> None:
        for backend in BACKENDS:
            run = self.record(backend, PLACES, "all")
            for name, count in (("in-static", 1), ("in-inlined", 1), ("called-back", 1), ("in-thread", 8), ("in-library", 1),
                                ("in-handler", 1)):
                with self.subTest(backend=backend, name=name):
                    for frames in self.found_at(run, name, count):
                        # Where threads begin in libc has a name only with its debug symbols installed.
                        outermost = frames[-1].file if name == "in-thread" else frames[-1].function
                        self.assertIn("libc.so" if name == "in-thread" else "_start", outermost)
                        if name == "in-inlined":
                            self.inlined(frames)
            said = harness.described(run)["syscalls"]["stacks"]
            self.assertEqual([said[key] for key in ("cut", "broken", "left_out", "lost")], [0, 0, 0, 0], said)

    def inlined(self, frames: list[Frame]) -> None:
        at = next(i for i, frame in enumerate(frames) if frame.is_inlined and frame.function == "in_inlined")
        self.assertEqual(frames[at + 1].function, "around_inlined")
        self.assertEqual(frames[at].address, frames[at + 1].address)

    def test_libraries_come_and_go(self) -> None:
        """Wherever the second stands, its calls are not taken for the first's. Also if mmap is not recorded."""
        for backend in BACKENDS:
            for expression in ("", "access"):
                with self.subTest(backend=backend, expression=expression):
                    run = self.record(backend, PLACES, "load", FIRST, SECOND, expression=expression)
                    for name, library in (("in-first", FIRST), ("in-second", SECOND)):
                        for frames in self.found_at(run, name, 2, "in-library"):
                            files = [Path(f.file).name for f in frames if f.function == "in_depth"]
                            self.assertEqual(files, [Path(library).name])
                            self.assertIn(CALLED_AT["loaded"][0], [frame.place for frame in frames])

    def test_children(self) -> None:
        """A vfork, an exec, a fork: each has its own memory to look at."""
        for backend in BACKENDS:
            run = self.record(backend, PLACES, "spawn")
            self.found_at(run, "in-static")
            self.found_at(run, "in-child")

    def test_ceilings(self) -> None:
        for backend in BACKENDS:
            run = self.record(backend, PLACES, "deep", "500")
            frames = self.found_at(run, "deep")[0]
            self.assertEqual(len(frames), FRAMES_MAX)
            self.assertEqual(harness.described(run)["syscalls"]["stacks"]["cut"], 1)
            run = self.record(backend, PLACES, "wide")
            frames = self.found_at(run, "wide")[0]
            self.assertEqual([frame.function for frame in frames][-1], "wide")
            said = harness.described(run)["syscalls"]["stacks"]
            self.assertEqual((said["broken"], said["beyond_copy"]), (1, 1))

    def test_stripped(self) -> None:
        """Without names and lines the way is the same."""
        bare = self.folder / "bare"
        subprocess.run(["strip", "-o", str(bare), PLACES], check=True)
        for backend in BACKENDS:
            whole = stacks(export(self.record(backend, PLACES, "static"), "strace"), "in-static")[0]
            run = self.record(backend, str(bare), "static")
            found = stacks(export(run, "strace"), "in-static")[0]
            self.assertEqual([f.address for f in found if not f.is_inlined], [f.address for f in whole if not f.is_inlined])
            self.assertNotIn("in_static", [f.function for f in found])
            source = self.calls(run, "in-static")[0].get("source")
            self.assertNotEqual(place(source), MADE_AT["in-static"][0])

    def test_static_program(self) -> None:
        """No interpreter, no table of frames: the section is read from its beginning to its end."""
        program = self.folder / "static"
        done = subprocess.run(["cc", "-g", "-O2", "-static", "-no-pie", '-DNAME="in-library"', "-o", str(program), str(HERE / "places.c"),
                               str(HERE / "library.c")], stderr=subprocess.PIPE, check=False)
        if done.returncode:
            self.skipTest("no static C library here")
        for backend in BACKENDS:
            run = self.record(backend, str(program), "all")
            self.found_at(run, "in-inlined")
            self.found_at(run, "in-library")

    def test_same_by_both(self) -> None:
        if len(BACKENDS) < 2:
            self.skipTest("one backend only")
        seen = []
        for backend in BACKENDS:
            lines = [json.loads(line)["fields"] for line in export(self.record(backend, PLACES, "static"), "jsonl", "--kind",
                                                                   "syscall").splitlines()]
            seen.append([(fields["text"].split("(")[0], fields["stack"]) for fields in lines])
        self.assertEqual(seen[0], seen[1])

    @unittest.skipUnless(harness.STRACE, "no strace here")
    def test_same_as_strace(self) -> None:
        """The addresses are those that strace -k finds."""
        text = subprocess.run([str(harness.STRACE), "-k", "-e", "trace=access", PLACES, "all"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=harness.PATIENCE, check=False).stderr
        run = self.record(BACKENDS[0], PLACES, "all")
        for name in ("in-inlined", "in-library", "called-back"):
            theirs = stacks(text, name)
            if not theirs or not theirs[0]:
                self.skipTest("strace without -k")
            ours = stacks(export(run, "strace"), name)
            self.assertEqual([(os.path.realpath(f.file), f.address) for f in ours[0] if not f.is_inlined],
                             [(os.path.realpath(f.file), f.address) for f in theirs[0]], name)

    def test_python(self) -> None:
        """The line of the program, whatever of the interpreter and its library is below."""
        program = self.folder / "program.py"
        program.write_text(PYTHON_PROGRAM)
        source = PYTHON_PROGRAM.splitlines()
        for backend in BACKENDS:
            with self.subTest(backend=backend):
                run = self.record(backend, "/usr/bin/python3", str(program), str(self.folder))
                calls = json.loads(export(run, "renacer-json"))["syscalls"]
                for line, text in enumerate(source, 1):
                    match = re.search(r"# (\w+) (\S+) in (\S+)", text)
                    if not match:
                        continue
                    found = [place(call.get("source")) for call in calls
                             if call["name"] == match[1] and any(match[2] in word for word in call["args"])]
                    self.assertEqual(set(found), {("program.py", line, match[3])}, text)
                frames = [f for f in stacks(export(run, "strace"), "in-python")[0] if "python" in f.file]
                self.assertTrue(frames, "native frames are there, too")

    def test_changed_file(self) -> None:
        """A file that is another by now names nothing, and this is said."""
        program = self.folder / "program"
        shutil.copy(PLACES, program)
        run = self.record(BACKENDS[0], str(program), "static")
        shutil.copy("/bin/true", program)
        done = subprocess.run([harness.WHEELTAP, "view", "--kind", "syscall", str(run)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=harness.PATIENCE, check=True)
        self.assertIn(f"'{program}' has changed since the run", done.stderr)
        self.assertNotIn("in_static", done.stdout)

    def test_every_output(self) -> None:
        run = self.record(BACKENDS[0], PLACES, "static")
        file, line, function = MADE_AT["in-static"][0]
        spot = f"{file}:{line}"
        for form in ("strace", "html", "csv", "jsonl", "chrome"):
            self.assertIn(spot, export(run, form), form)
        view = subprocess.run([harness.WHEELTAP, "view", str(run)], stdout=subprocess.PIPE, text=True, timeout=harness.PATIENCE,
                              check=True).stdout
        self.assertRegex(view, rf'access\("in-static".*{spot} \({function}\)')
        sites = [row["site"] for row in harness.rows(run, "--by", "site") if row["syscall"] == "access"]
        self.assertTrue(any(site.endswith(spot) for site in sites), sites)
        calls = [event["fields"] for event in harness.events(run, "syscall")]
        self.assertIn(MADE_AT["in-static"][0], [place(call.get("source")) for call in calls])

    def test_wants_system_calls(self) -> None:
        done = subprocess.run([harness.WHEELTAP, "record", "--stacks", "--", "/bin/true"], stderr=subprocess.PIPE, text=True,
                              timeout=harness.PATIENCE, check=False)
        self.assertEqual(done.returncode, 125)
        self.assertIn("--syscalls", done.stderr)


if __name__ == "__main__":
    if not BACKENDS:
        harness.skip("system calls cannot be recorded here")
    unittest.main(argv=sys.argv[:1])
