#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every inspector over runs of many processes, which become known while others are followed already.

A verb must end with the code that the run deserves: memory that was given back is found by the
sanitizers, and by what is reported of a process.

usage: test_many.py WHEELTAP MAKE_MANY
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Bench, Scratch, Tap  # noqa: E402

WHEELTAP, MAKE = (str(Path(word).resolve()) for word in sys.argv[1:3])
PROCESSES = 24
GATE = """
[[gate]]
name = "few files"
type = "count"
call = "openat"
max = 10000

[[gate]]
name = "any file"
type = "count"
call = "openat"
min = 1
"""


class Many(Bench, Tap):
    def __init__(self, folder: Path) -> None:
        Bench.__init__(self, WHEELTAP, folder)
        Tap.__init__(self)

    def ends(self, *words: str, code: int = 0) -> str:
        """What it prints; that it ends with the code is a check."""
        done = self.call(*words)
        self.check(words[0], done.returncode == code, f"exit code {done.returncode}, not {code}: {done.stderr[-3000:]}")
        return done.stdout

    def read(self, *words: str, code: int = 0) -> dict[str, Any]:
        said = self.ends(*words, "--json", code=code)
        return json.loads(said) if said.startswith("{") else {}


def sees_all(bench: Many, runs: list[str]) -> None:
    info = bench.read("info", runs[0])
    streams = info.get("tables", {}).get("streams", [])
    bench.check("info knows all", len(streams) == PROCESSES + 1, f"{len(streams)} streams")
    stat = bench.read("stat", runs[0])
    steps = [row for row in stat.get("tables", {}).get("profile", []) if row.get("name") == "Adam.step"]
    bench.check("stat counts all", bool(steps) and steps[0]["count"] == PROCESSES * 9, f"{steps}")
    bench.read("stat", "--syscalls", runs[0])


def learns_from_all(bench: Many, runs: list[str]) -> None:
    pack = bench.path("pack.json")
    bench.ends("infer", *runs, "-o", pack)
    learned = [row for row in json.loads(Path(pack).read_text())["invariants"] if row["relation"] == "count"]
    steps = [row["support"] for row in learned if row["holds"] == ["range", "steps", 3, 3]]
    counted = PROCESSES * 2 * len(runs)  # the last epoch of a process is left out
    bench.check("infer counts all epochs", bool(steps) and steps[0]["for"] == counted, f"{learned}"[:2000])
    result = bench.read("check", "-i", pack, runs[0])
    bad = [row for row in result.get("tables", {}).get("invariants", []) if row["outcome"] == "violated"]
    bench.check("check holds", not bad, f"{bad}"[:2000])
    for i, run in enumerate(runs):
        bench.ends("infer", "--partial", run, "-o", bench.path(f"{i}.part"))
    bench.ends("infer", "--merge", *(bench.path(f"{i}.part") for i in range(len(runs))), "-o", bench.path("merged.json"))
    same = Path(pack).read_bytes() == Path(bench.path("merged.json")).read_bytes()
    bench.check("merged packs are the same", same, "they differ")


def main() -> int:
    with Scratch() as folder:
        bench = Many(folder)
        runs = [bench.path(name) for name in ("a", "b", "c")]
        for i, run in enumerate(runs):
            subprocess.run([MAKE, run, str(PROCESSES), str(i)], check=True, timeout=PATIENCE)
        Path(bench.path("gate.toml")).write_text(GATE)
        sees_all(bench, runs)
        learns_from_all(bench, runs)
        bench.read("doctor", runs[0])
        bench.read("diff", runs[0], runs[1])
        bench.ends("golden", "add", "it", *runs)
        bench.ends("golden", "check", "it", runs[1])
        bench.read("gate", "-c", bench.path("gate.toml"), *runs)
        bench.ends("timeline", runs[0])
    return bench.finish()


if __name__ == "__main__":
    sys.exit(main())
