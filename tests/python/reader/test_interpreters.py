# SPDX-License-Identifier: Apache-2.0
"""The same binary in every CPython from 3.9 on that is found: each runs the tests that need no other package."""

from __future__ import annotations

import glob
import os
import re
import subprocess
import sys
from pathlib import Path

from common import PATIENCE, SOURCE, WHEELTAP, check, finish, skip

HERE = Path(__file__).resolve().parent
PLACES = ("/usr/bin/python3.*", "/usr/local/bin/python3.*", os.path.expanduser("~/.pyenv/versions/*/bin/python3.*"),
          "/opt/python*/bin/python3.*")


def interpreters() -> "dict[str, str]":
    """One a version, of those that can be read with: CPython 3.9 and later, not free-threaded."""
    found: "dict[str, str]" = {}
    code = ("import platform, sys, sysconfig; print(platform.python_implementation(), sys.version_info[0], "
            "sys.version_info[1], sysconfig.get_config_var('Py_GIL_DISABLED') or 0)")
    for path in sorted(path for place in PLACES for path in glob.glob(place)):
        if not re.search(r"python3\.\d+$", path):
            continue
        done = subprocess.run([path, "-c", code], capture_output=True, text=True)
        words = done.stdout.split()
        if done.returncode == 0 and words[0] == "CPython" and int(words[2]) >= 9 and words[3] == "0":
            found.setdefault(f"{words[1]}.{words[2]}", path)
    return found


def main() -> None:
    found = interpreters()
    for version in ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14"):
        if version not in found:
            skip(f"CPython {version}", "not found on this machine")
    for version, path in sorted(found.items()):
        for test, words in (("test_agree.py", ["quick"]), ("test_arrow.py", []), ("test_memory.py", ["quick"])):
            done = subprocess.run([path, str(HERE / test), WHEELTAP, str(SOURCE), *words], capture_output=True, text=True,
                                  timeout=PATIENCE)
            skipped = done.stdout.count("# SKIP")
            check(f"CPython {version}: {test}, {done.stdout.count('ok ')} checks, {skipped} skipped", done.returncode == 0,
                  *[line for line in done.stdout.splitlines() if not line.startswith("ok")], done.stderr)
    finish()


if __name__ == "__main__":
    main()
    sys.exit(0)
