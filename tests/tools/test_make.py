#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The Makefile: what its targets build, that `install` and `uninstall` are inverse, and that `help` names every target.

usage: test_make.py BUILD
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Scratch  # noqa: E402

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(sys.argv.pop(1)).resolve()


def output(*command: str | Path) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=PATIENCE)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def inputs(target: str) -> set[str]:
    """All files that ninja makes or reads for it: those that it names, and what these are made of."""
    named = [line.strip().removeprefix("| ").removeprefix("|| ")
             for line in output("ninja", "-C", BUILD, "-t", "query", target).partition("  outputs:")[0].splitlines()[2:]]
    return {*named, *output("ninja", "-C", BUILD, "-t", "inputs", target).splitlines()}


class Make(unittest.TestCase):
    def test_product_is_what_is_installed(self) -> None:
        made = inputs("product")
        for target in json.loads(output("meson", "introspect", BUILD, "--targets")):
            if target["installed"]:
                missing = [file for file in target["filename"] if os.path.relpath(file, BUILD) not in made]
                self.assertEqual(missing, [], "`make install` would not find them")

    def test_recorder_is_enough_to_record(self) -> None:
        made = inputs("recorder")
        for name in ("wheeltap", "python/wheeltap/inject/sitecustomize.py", "python/wheeltap/__init__.py"):
            self.assertTrue(name in made, name)

    def test_no_tests_among_them(self) -> None:
        for target in ("recorder", "product"):
            self.assertEqual([name for name in inputs(target) if re.search(r"(^|/)(tests|bench)/", name)], [], target)
        self.assertTrue([name for name in inputs("all") if name.startswith("tests/")], "the names are other than they were")

    def test_uninstall_leaves_nothing(self) -> None:
        with Scratch() as folder:
            os.environ["DESTDIR"] = str(folder)
            try:
                output("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet")
                there = [path for path in Path(folder).rglob("*") if not path.is_dir()]
                self.assertGreater(len(there), 50)
                beside = Path(folder) / "usr" / "beside"
                beside.parent.mkdir(exist_ok=True)
                beside.write_text("somebody else's")
                self.assertIn("removed", output(SOURCE / "tools" / "uninstall", BUILD))
                self.assertEqual([path for path in Path(folder).rglob("*") if not path.is_dir()], [beside])
                self.assertEqual([path for path in Path(folder).rglob("wheeltap")], [])
                self.assertIn("nothing of wheeltap", output(SOURCE / "tools" / "uninstall", BUILD))
            finally:
                del os.environ["DESTDIR"]

    def test_help_names_every_target(self) -> None:
        text = (SOURCE / "Makefile").read_text()
        phony = re.search(r"^\.PHONY: (.*)$", text, re.M)
        assert phony
        named = [line.split()[0] for line in output("make", "-s", "-C", SOURCE, "help").splitlines()[1:] if line.startswith("  ")]
        self.assertEqual(sorted(named), sorted(phony[1].split()))


if __name__ == "__main__":
    unittest.main()
