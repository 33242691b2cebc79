#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Learns from good runs of one loop, and sees that each relation notices the fault that is its own.

usage: test_relations.py WHEELTAP LOOP
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from patience import PATIENCE  # noqa: E402

PYTHON = "/usr/bin/python3"
FAULTS = ["argument", "changes", "contain", "count", "data", "distinct", "every-step", "loss", "mode", "order", "output", "parts",
          "saved", "schedule"]
ONE_LINE = ["every-step", "mode", "order", "schedule"]  # of the program differs
GOOD = 3


class Bench:
    def __init__(self, wheeltap: str, loop: str, folder: str) -> None:
        self.wheeltap, self.loop, self.folder = wheeltap, loop, folder

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def record(self, name: str, *arguments: str, options: tuple[str, ...] = ()) -> str:
        command = [self.wheeltap, "record", "-q", *options, "-o", self.path(name), "--", PYTHON, self.loop, *arguments]
        subprocess.run(command, check=True, timeout=PATIENCE)
        return self.path(name)

    def run(self, *words: str, code: int = 0) -> str:
        done = subprocess.run([self.wheeltap, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert done.returncode == code, (words, done.returncode, done.stderr[-500:])
        return done.stdout

    def read(self, name: str) -> bytes:
        with open(self.path(name), "rb") as file:
            return file.read()


def outcomes(bench: Bench, run: str, pack: str) -> dict[str, str]:
    done = subprocess.run([bench.wheeltap, "check", "--json", "-i", pack, run], stdout=subprocess.PIPE)
    return {row["id"]: row["outcome"] for row in json.loads(done.stdout)["tables"]["invariants"]}


def same_in_any_order(bench: Bench, runs: list[str]) -> str:
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


def levels_are_no_faults(bench: Bench, pack: str, alarms: list[str]) -> list[str]:
    """Recorded at another level, or with calls picked, a good run violates nothing, and it is said that levels differ."""
    failed = []
    for name, options in (("lean", ("--detail", "lean")), ("full", ("--detail", "full")), ("picked", ("--skip", "torch.*"))):
        run = bench.record(name, str(GOOD), options=options)
        done = subprocess.run([bench.wheeltap, "check", "--json", "-i", pack, run], stdout=subprocess.PIPE)
        result = json.loads(done.stdout)
        rows = result["tables"]["invariants"]
        violated = [row["title"] for row in rows if row["outcome"] == "violated" and row["id"] not in alarms]
        said = any("recorded at" in note for note in result.get("notes", []))
        level = [row for row in rows if "another level" in row["why"]]
        print(f"{'NOT OK' if violated or not said else 'ok'} level {name}: {len(level)} not measured {violated}", flush=True)
        failed += [name] if violated or not said else []
    return failed


def findings(bench: Bench, run: str, pack: str) -> list[str]:
    done = subprocess.run([bench.wheeltap, "check", "--json", "-i", pack, run], stdout=subprocess.PIPE)
    return [finding["title"] for finding in json.loads(done.stdout)["findings"]]


def main() -> int:
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        print("skipped: no torch for", PYTHON)
        return 77
    failed = []
    with tempfile.TemporaryDirectory(prefix="wheeltap-learn-") as folder:
        bench = Bench(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), folder)
        pack = same_in_any_order(bench, [bench.record(f"good{seed}", str(seed)) for seed in range(GOOD)])
        good = outcomes(bench, bench.record("another", str(GOOD)), pack)
        alarms = [i for i, outcome in good.items() if outcome == "violated"]
        assert len(alarms) <= 0.02 * len(good), alarms
        # What is recorded for these invariants alone is enough to judge them.
        other = outcomes(bench, bench.record("selective", str(GOOD), options=("--invariants", pack)), pack)
        different = {i: (good[i], outcome) for i, outcome in other.items() if outcome != good[i]}
        print(f"{'NOT OK' if different else 'ok'} selective: as when all is recorded {different or ''}", flush=True)
        if different:
            failed.append("selective")
        failed += levels_are_no_faults(bench, pack, alarms)
        for fault in FAULTS:
            found = outcomes(bench, bench.record(fault, "0", fault), pack)
            new = {i for i, outcome in found.items() if outcome == "violated" and i not in alarms}
            own = [i for i in new if i.rsplit("-", 1)[0] == fault]
            print(f"{'ok' if own else 'NOT OK'} {fault}: {len(own)} of its own, {len(new)} in all", flush=True)
            if not own:
                failed.append(fault)
        for fault in ONE_LINE:
            titles = findings(bench, bench.path(fault), pack)
            print(f"{'ok' if len(titles) == 1 else 'NOT OK'} one line, one finding: {fault} {titles}", flush=True)
            failed += [fault] if len(titles) != 1 else []
        # A finding gives 1, and suppressing what was found gives 0.
        if not failed:
            bench.run("check", "-i", pack, bench.path("order"), code=1)
        bench.run("pack", "suppress", pack, "*", "--reason", "all of them")
        assert all(o == "not measured" for o in outcomes(bench, bench.path("order"), pack).values())
    print("failed:", failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
