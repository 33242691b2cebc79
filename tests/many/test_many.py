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
import tempfile
from pathlib import Path
from typing import Any

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


class Bench:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.failed = 0
        self.count = 0

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def call(self, *words: str, code: int = 0) -> str:
        done = subprocess.run([WHEELTAP, *words], capture_output=True, text=True, timeout=240, cwd=self.folder, errors="replace")
        self.report(words[0], done.returncode == code, f"exit code {done.returncode}, not {code}: {done.stderr[-3000:]}")
        return done.stdout

    def json(self, *words: str, code: int = 0) -> dict[str, Any]:
        said = self.call(*words, "--json", code=code)
        return json.loads(said) if said.startswith("{") else {}

    def report(self, name: str, good: bool, why: str) -> None:
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        for line in [] if good else why.splitlines():
            print("#", line)


def sees_all(bench: Bench, runs: list[str]) -> None:
    info = bench.json("info", runs[0])
    streams = info.get("tables", {}).get("streams", [])
    bench.report("info knows all", len(streams) == PROCESSES + 1, f"{len(streams)} streams")
    stat = bench.json("stat", runs[0])
    steps = [row for row in stat.get("tables", {}).get("profile", []) if row.get("name") == "Adam.step"]
    bench.report("stat counts all", bool(steps) and steps[0]["count"] == PROCESSES * 9, f"{steps}")
    bench.json("stat", "--syscalls", runs[0])


def learns_from_all(bench: Bench, runs: list[str]) -> None:
    pack = bench.path("pack.json")
    bench.call("infer", *runs, "-o", pack)
    learned = [row for row in json.loads(Path(pack).read_text())["invariants"] if row["relation"] == "count"]
    steps = [row["support"] for row in learned if row["holds"] == ["range", "steps", 3, 3]]
    counted = PROCESSES * 2 * len(runs)  # the last epoch of a process is left out
    bench.report("infer counts all epochs", bool(steps) and steps[0]["for"] == counted, f"{learned}"[:2000])
    result = bench.json("check", "-i", pack, runs[0])
    bad = [row for row in result.get("tables", {}).get("invariants", []) if row["outcome"] == "violated"]
    bench.report("check holds", not bad, f"{bad}"[:2000])
    for i, run in enumerate(runs):
        bench.call("infer", "--partial", run, "-o", bench.path(f"{i}.part"))
    bench.call("infer", "--merge", *(bench.path(f"{i}.part") for i in range(len(runs))), "-o", bench.path("merged.json"))
    same = Path(pack).read_bytes() == Path(bench.path("merged.json")).read_bytes()
    bench.report("merged packs are the same", same, "they differ")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="wheeltap-many-") as folder:
        bench = Bench(Path(folder))
        runs = [bench.path(name) for name in ("a", "b", "c")]
        for i, run in enumerate(runs):
            subprocess.run([MAKE, run, str(PROCESSES), str(i)], check=True, timeout=60)
        Path(bench.path("gate.toml")).write_text(GATE)
        sees_all(bench, runs)
        learns_from_all(bench, runs)
        bench.json("doctor", runs[0])
        bench.json("diff", runs[0], runs[1])
        bench.call("golden", "add", "it", *runs)
        bench.call("golden", "check", "it", runs[1])
        bench.json("gate", "-c", bench.path("gate.toml"), *runs)
        bench.call("timeline", runs[0])
        print(f"1..{bench.count}")
        return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
