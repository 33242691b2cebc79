#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Learns from good runs of one loop, and sees that each relation notices the fault that is its own.

usage: test_relations.py WHEELTAP LOOP
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PYTHON, Bench, Scratch, Tap, need_modules  # noqa: E402

FAULTS = ["argument", "changes", "contain", "count", "data", "distinct", "every-step", "loss", "mode", "order", "output", "parts",
          "saved", "schedule"]
ONE_LINE = ["every-step", "mode", "order", "schedule"]  # of the program differs
GOOD = 3


class Loop(Bench, Tap):
    def __init__(self, wheeltap: str, loop: str, folder: Path) -> None:
        Bench.__init__(self, wheeltap, folder)
        Tap.__init__(self)
        self.loop = os.path.abspath(loop)

    def good(self, name: str, *arguments: str, options: tuple[str, ...] = ()) -> str:
        return str(self.record(PYTHON, self.loop, *arguments, name=name, options=("-q", *options)))

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()


def outcomes(bench: Loop, run: str, pack: str) -> dict[str, str]:
    return {row["id"]: row["outcome"] for row in bench.json("check", "-i", pack, run)[1]["tables"]["invariants"]}


def same_in_any_order(bench: Loop, runs: list[str]) -> str:
    """In any order, and piece by piece, the pack is the same byte for byte."""
    pack = bench.path("pack.json")
    bench.run("infer", *runs, "-o", pack)
    bench.run("infer", *reversed(runs), "-o", bench.path("reversed.json"))
    for i, run in enumerate(runs):
        bench.run("infer", "--partial", run, "-o", bench.path(f"{i}.part"))
    bench.run("infer", "--merge", *(bench.path(f"{i}.part") for i in reversed(range(len(runs)))), "-o",
              bench.path("merged.json"))
    assert bench.read("pack.json") == bench.read("reversed.json") == bench.read("merged.json")
    return pack


def levels_are_no_faults(bench: Loop, pack: str, alarms: list[str]) -> None:
    """Recorded at another level, or with calls picked, a good run violates nothing, and it is said that levels differ."""
    for name, options in (("lean", ("--detail", "lean")), ("full", ("--detail", "full")), ("picked", ("--skip", "torch.*"))):
        run = bench.good(name, str(GOOD), options=options)
        _, result = bench.json("check", "-i", pack, run)
        rows = result["tables"]["invariants"]
        violated = [row["title"] for row in rows if row["outcome"] == "violated" and row["id"] not in alarms]
        said = any("recorded at" in note for note in result.get("notes", []))
        level = [row for row in rows if "another level" in row["why"]]
        bench.check(f"level {name}: {len(level)} not measured", said and not violated, violated)


def findings(bench: Loop, run: str, pack: str) -> list[str]:
    return [finding["title"] for finding in bench.json("check", "-i", pack, run)[1]["findings"]]


def main() -> int:
    need_modules("torch")
    with Scratch() as folder:
        bench = Loop(sys.argv[1], sys.argv[2], folder)
        pack = same_in_any_order(bench, [bench.good(f"good{seed}", str(seed)) for seed in range(GOOD)])
        good = outcomes(bench, bench.good("another", str(GOOD)), pack)
        alarms = [i for i, outcome in good.items() if outcome == "violated"]
        assert len(alarms) <= 0.02 * len(good), alarms
        # What is recorded for these invariants alone is enough to judge them.
        other = outcomes(bench, bench.good("selective", str(GOOD), options=("--invariants", pack)), pack)
        different = {i: (good[i], outcome) for i, outcome in other.items() if outcome != good[i]}
        bench.check("selective: as when all is recorded", not different, different)
        levels_are_no_faults(bench, pack, alarms)
        for fault in FAULTS:
            found = outcomes(bench, bench.good(fault, "0", fault), pack)
            new = {i for i, outcome in found.items() if outcome == "violated" and i not in alarms}
            own = [i for i in new if i.rsplit("-", 1)[0] == fault]
            bench.check(f"{fault}: {len(own)} of its own, {len(new)} in all", own)
        for fault in ONE_LINE:
            titles = findings(bench, bench.path(fault), pack)
            bench.check(f"one line, one finding: {fault} {titles}", len(titles) == 1)
        # A finding gives 1, and suppressing what was found gives 0.
        if not bench.failed:
            bench.run("check", "-i", pack, bench.path("order"), code=1)
        bench.run("pack", "suppress", pack, "*", "--reason", "all of them")
        assert all(o == "not measured" for o in outcomes(bench, bench.path("order"), pack).values())
    return bench.finish()


if __name__ == "__main__":
    sys.exit(main())
