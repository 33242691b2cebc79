#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the packages promise, without building one: each installed file is in exactly one Debian package, the lists of versions agree.

usage: test_lists.py BUILD
"""

from __future__ import annotations

import fnmatch
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = sys.argv.pop(1)
sys.path.insert(0, str(ROOT / "packaging"))

import interpreters  # noqa: E402

# debian/rules moves the one, and the other depends on whose interpreter it is.
MOVED = {"usr/share/zsh/site-functions": "usr/share/zsh/vendor-completions"}
SITE = re.compile(r"usr/lib/python3\.\d+/")


def asked(what: str) -> object:
    return json.loads(subprocess.run(["meson", "introspect", BUILD, what], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout)


def installed() -> "list[str]":
    """As they would be below /usr in a package, whose libraries are in lib/ARCHITECTURE; this build's may be in lib64."""
    options = {option["name"]: option["value"] for option in asked("--buildoptions")}  # type: ignore[attr-defined]
    names = []
    for path in asked("--installed").values():  # type: ignore[attr-defined]
        name = SITE.sub("usr/lib/python3/", "usr/" + str(Path(path).relative_to(options["prefix"])))
        if not name.startswith("usr/lib/python3/"):
            name = re.sub("^usr/" + re.escape(options["libdir"]) + "/", "usr/lib/ARCHITECTURE/", name)
        for old, new in MOVED.items():
            name = name.replace(old, new)
        names.append(name)
    return names


def claims() -> "dict[str, list[str]]":
    """By package, the patterns of its files."""
    return {path.stem: path.read_text().split() for path in sorted((ROOT / "debian").glob("*.install"))}


def is_claimed(name: str, pattern: str) -> bool:
    """As dh_install does it: a pattern that is a folder has all below it, and * does not pass a slash."""
    parts, wanted = name.split("/"), pattern.split("/")
    return len(parts) >= len(wanted) and all(fnmatch.fnmatchcase(part, want) for part, want in zip(parts, wanted))


class Lists(unittest.TestCase):
    def test_every_file_is_in_one_package(self) -> None:
        names = installed()
        self.assertGreater(len(names), 100)
        for name in names:
            having = [package for package, patterns in claims().items() if any(is_claimed(name, pattern) for pattern in patterns)]
            self.assertEqual(len(having), 1, f"{name} is in {having or 'none'}")

    def test_packages_are_described(self) -> None:
        described = set(re.findall(r"^Package: (\S+)$", (ROOT / "debian" / "control").read_text(), re.MULTILINE))
        self.assertEqual(described, set(claims()))

    def test_version(self) -> None:
        ours = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())
        theirs = re.match(r"wheeltap \(([^)]+)\)", (ROOT / "debian" / "changelog").read_text())
        assert ours and theirs
        self.assertEqual(ours.group(1), theirs.group(1))

    def test_interpreters(self) -> None:
        """The wheel has an agent for each version that the agent, the one who lets it in and the program know."""
        first, last = interpreters.VERSIONS[0], interpreters.VERSIONS[-1]
        low, high = (tuple(map(int, version.split("."))) for version in (first, last))
        pair = f"{low} <= sys.version_info[:2] <= {high}"
        for name in ("python/wheeltap/_build.py", "python/wheeltap/_ready.py", "python/wheeltap/inject/sitecustomize.py", "src/cli/record/plan.c"):
            text = (ROOT / name).read_text()
            self.assertIn(pair, text, name)
            self.assertIn(f"{first} to {last}", text, name)
        self.assertIn(f"#define MINOR_MAX {high[1]}\n", (ROOT / "src/cli/keep/probe_interpreters.c").read_text())
        self.assertIn(f"PY_VERSION_HEX >= 0x03{high[1] + 1:02x}0000\n#error", (ROOT / "src/agents/python/core/compat.h").read_text())


if __name__ == "__main__":
    unittest.main()
