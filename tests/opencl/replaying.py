# SPDX-License-Identifier: Apache-2.0
"""What the tests of `replay` and its campaign share: record a program so that it can be replayed, and replay it in a fresh process."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

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


class Mistake(NamedTuple):
    """Why a program gives other results from run to run, and how the source of its kernel is mended."""

    words: str  # the program, and its argument
    origin: str  # kernel that is named
    shows: str  # what the emitted program prints
    mended: str  # and what it prints with `now` in place of `was`
    was: str
    now: str
    is_slow: bool = False


MISTAKES = (
    Mistake("float_atomics", "sum", "DIVERGES: repetition ", "the same 100 times", "as_uint(sum + what)", "was + 1", is_slow=True),
    Mistake("two_queues", "fill_down", "DIVERGES: the order decides 65536 elements", "the same in both orders", "-1.5f * ", ""),
    Mistake("divergences out_of_order", "scale", "DIVERGES: the order decides 16384 elements", "the same in both orders", "*= by", "+= by"),
    Mistake("divergences uninitialised", "accumulate", "DIVERGES: memory that nobody initialised decides 16384 elements", "the same with both contents",
            "] += a[get", "] = a[get"),
    Mistake("divergences local", "through_local", "DIVERGES: repetition ", "the same 100 times", "was = shared[get_local_id(0)]", "was = 5", is_slow=True),
    Mistake("divergences groups", "neighbours", "DIVERGES: repetition ", "the same 100 times", "0.5f * a[(i +", "0.5f * a[i + 0 * (i +"),
)


def run_alone(file: Path) -> tuple[int, str]:
    """An emitted program, built and run in an empty folder with nothing but OpenCL: exit code and output."""
    program, empty = file.with_suffix(""), file.with_suffix(".empty")
    built = start(["cc", "-Wall", "-Werror", str(file), "-o", str(program), "-lOpenCL"])
    if built.returncode or built.stderr:
        return -1, built.stderr
    empty.mkdir()
    done = start(["sh", "-c", 'cd "$1" && exec "$2"', "sh", str(empty), str(program)])
    return done.returncode, done.stdout + done.stderr + "".join(f"left {path}" for path in empty.iterdir())


def emit_and_show(folder: Path, mistake: Mistake) -> str:
    """What is wrong with the program that `replay --emit` makes of a run, which is removed first: "" if it shows the mistake and, mended, none."""
    file, mended = folder.with_suffix(".c"), folder.with_suffix(".mended.c")
    status, result, error = replay(folder, "--emit", str(file))
    if status != 1 or result.get("emitted") != str(file) or f"'{mistake.origin}'" not in result["findings"][0]["title"]:
        return f"replay ended with {status}: {result} {error}"
    shutil.rmtree(folder)
    text = file.read_text()
    status, output = run_alone(file)
    if status != 1 or mistake.shows not in output:
        return f"the program ended with {status}: {output}"
    if text.count(mistake.was) != 1:
        return f"{mistake.was!r} is {text.count(mistake.was)} times in the program"
    mended.write_text(text.replace(mistake.was, mistake.now))
    status, output = run_alone(mended)
    return "" if status == 0 and mistake.mended in output else f"mended, the program ended with {status}: {output}"
