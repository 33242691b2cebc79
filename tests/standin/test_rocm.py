# SPDX-License-Identifier: Apache-2.0
"""The agent for AMD's devices against a stand-in for HIP and rocprofiler-sdk, in both versions of its records. usage: test_rocm.py BUILD"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import PATIENCE, Scratch, Tap, environment  # noqa: E402

BUILD = Path(sys.argv[1]).resolve()
STANDIN = BUILD / "tests/standin"
tap = Tap()


def numbers(text: str) -> dict[str, int]:
    return {words[0]: int(words[1]) for words in map(str.split, text.splitlines()) if len(words) == 2}


def compare(folder: Path, version: str) -> None:
    run = folder / f"version{version}"
    done = subprocess.run([BUILD / "wheeltap", "record", "--rocm", "--on-full", "wait", "--json", "-o", run, "--", STANDIN / "standin_rocm",
                           version], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, env=environment())
    tap.equal(f"version {version}: the program ends as it would have", done.returncode, 0, done.stderr)
    seen = subprocess.run([STANDIN / "standin_accounts", run], stdout=subprocess.PIPE, text=True, check=True, timeout=PATIENCE).stdout
    made, found = numbers(done.stdout), numbers(seen)
    for key, value in made.items():
        tap.equal(f"version {version}: {key} as the stand-in made it", found.get(key), value, made, found)
    said = json.loads(done.stderr.splitlines()[-1])
    tap.equal(f"version {version}: record says what was dropped", said["losses"], {"device": made["dropped"]}, said)
    stat = subprocess.run([BUILD / "wheeltap", "stat", run], stdout=subprocess.PIPE, text=True, timeout=PATIENCE).stdout
    tap.check(f"version {version}: kernels have their names", "vector_add " in stat and "hipGraphLaunch" in stat, stat[:600])


with Scratch() as scratch:
    for version in ("0", "1"):
        tap.case(f"version {version}", compare, scratch, version)
sys.exit(tap.finish())
