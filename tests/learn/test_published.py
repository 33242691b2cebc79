#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Traces that TrainCheck's authors have published, imported: what their invariants find in them, ours find as well.

usage: test_published.py WHEELTAP CORPUS [DATA]

DATA is a folder with their archives, as a path that is looked for in the folder of the corpus and in all above it (a work tree may
stand deeper than its project); $WHEELTAP_TRAINCHECK names it outright. Ours are the built-in rules, and packs that are learned from two
runs of a right program of the corpus that has nothing in common with theirs but what it does.
"""

from __future__ import annotations

import json
import os
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PYTHON, Scratch, Tap, need_modules, skip  # noqa: E402
from harness import Bench as Program  # noqa: E402


@dataclass
class Case:
    archive: str
    code: str  # of the finding that names the fault, by learned invariants
    phrase: str
    theirs: str  # of the finding by the invariant that they published
    teacher: list[str]  # a right program
    rules: set[str]  # of the built-in ones, of which one must say it; empty: the trace does not hold what they need


CASES = (
    Case("pytorch-104336", "WT-LEARN-CONSISTENT", "parameter is equal on all ranks",
         "data of each torch.nn.Parameter equals data of each other torch.nn.Parameter", ["clean/ddp.py"], {"WT-RANK-001", "WT-RANK-002"}),
    # The trace has no contents of tensors and no lines of code, so that the rule for it sees nothing.
    Case("transformers-17877", "WT-LEARN-DISTINCT", "initialisation is given something else each time",
         "torch.Tensor.normal_ is given other arguments each time in a step", ["faults/transformers_17877.py", "right"], set()),
)


class Bench(Program):
    def findings(self, run: Path, *options: str | Path) -> list[dict[str, Any]]:
        return json.loads(self.run("check", "--json", *options, run, codes=(0, 1)))["findings"]

    def teach(self, case: Case, corpus: Path) -> Path:
        runs = []
        for seed in ("0", "1"):
            run = self.folder / f"{case.archive}-teacher-{seed}"
            self.run("record", "-q", "-o", run, "--", PYTHON, corpus / case.teacher[0], *case.teacher[1:], "--seed", seed)
            runs.append(run)
        pack = self.folder / f"{case.archive}-ours.json"
        self.run("infer", *runs, "-o", pack)
        return pack


def names(findings: list[dict[str, Any]], case: Case) -> bool:
    return any(finding["id"] == case.code and case.phrase in finding["title"] for finding in findings)


def check(bench: Bench, case: Case, data: Path, corpus: Path) -> None:
    folder = bench.folder / case.archive
    with tarfile.open(data / f"{case.archive}.tar.gz") as archive:
        archive.extractall(folder)
    run, theirs = bench.folder / f"{case.archive}-run", bench.folder / f"{case.archive}-theirs.json"
    bench.run("import", "traincheck", folder / f"trace_{case.archive}", "-o", run)
    bench.run("import", "traincheck", folder / f"invariants_{case.archive}.json", "-o", theirs)
    found = bench.findings(run, "-i", theirs)
    assert [finding["id"] for finding in found] == ["WT-LEARN-TRAINCHECK"] and case.theirs in found[0]["title"], found
    found = bench.findings(run, "-i", bench.teach(case, corpus))
    assert names(found, case), found
    found = bench.findings(run)
    assert {finding["id"] for finding in found} & case.rules or not case.rules, found
    assert all(finding["id"] in case.rules for finding in found), found


def find(corpus: Path, data: str) -> Path:
    """The nearest one; where there is none, the place next to the project."""
    places = [above / data for above in corpus.resolve().parents]
    return next((place for place in places if place.is_dir()), places[min(1, len(places) - 1)])


def main() -> int:
    wheeltap, corpus = sys.argv[1], Path(sys.argv[2]).resolve()
    named = os.environ.get("WHEELTAP_TRAINCHECK")
    data = Path(named) if named else find(corpus, sys.argv[3])
    missing = [case.archive for case in CASES if not (data / f"{case.archive}.tar.gz").exists()]
    if missing:
        skip(f"'{data}' does not hold {', '.join(missing)} (set $WHEELTAP_TRAINCHECK)")
    need_modules("torch")
    tap = Tap()
    with Scratch() as folder:
        for case in CASES:
            tap.case(case.archive, check, Bench(wheeltap, folder), case, data, corpus)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
