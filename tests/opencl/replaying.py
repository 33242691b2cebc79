# SPDX-License-Identifier: Apache-2.0
"""What the tests of `replay` and its campaign share: record a program so that it can be replayed, and replay it in a fresh process."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from harness import BUILD, PATIENCE, WHEELTAP, environment  # noqa: E402

CACHE = BUILD / "tests" / "opencl" / "pocl-cache"  # what the driver has compiled, for all tests
CODE = re.compile(r"--yes ([0-9a-f]{16})")


def start(words: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, env=environment(POCL_CACHE_DIR=str(CACHE), **variables), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE,
                          check=False, text=True, errors="replace")


def record(folder: Path, words: list[str]) -> Path:
    done = start([WHEELTAP, "record", "--opencl", "--replayable", "-q", "-o", str(folder), "--", *words])
    if done.returncode not in (0, 137):  # one of them kills itself
        raise AssertionError(f"{words} ended with {done.returncode}: {done.stderr}")
    return folder


def code_of(folder: Path) -> str:
    """As a person finds it: replay refuses, and prints the code of what it would execute."""
    done = start([WHEELTAP, "replay", str(folder)])
    found = CODE.search(done.stderr)
    if done.returncode != 2 or not found:
        raise AssertionError(f"replay without --yes ended with {done.returncode}: {done.stderr}")
    return found[1]


def replay(folder: Path, *options: str, code: str | None = None) -> tuple[int, dict[str, Any], str]:
    """Exit code, result, and what went to standard error."""
    done = start([WHEELTAP, "replay", "--json", "--yes", code or code_of(folder), *options, str(folder)])
    try:
        return done.returncode, json.loads(done.stdout), done.stderr
    except json.JSONDecodeError:
        raise AssertionError(f"replay {options} ended with {done.returncode}: {done.stdout} {done.stderr}") from None
