#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The built-in pack: nothing is said of correct programs of any style; a NaN is; it leaves to the rules what they have found.

usage: test_builtin.py WHEELTAP STYLES CORPUS
"""

from __future__ import annotations

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PYTHON, Scratch, need_modules  # noqa: E402
from harness import Bench as Program  # noqa: E402


class Bench(Program):
    def trained(self, name: str, *command: str) -> str:
        return str(self.record(PYTHON, *command, name=name, options=("-q",)))

    def ask(self, *words: str) -> dict[str, Any]:
        return self.json(*words)[1]


def styles_are_left_in_peace(bench: Bench, styles: str) -> None:
    with open(styles) as file:
        names = re.findall(r"@style\ndef (\w+)", file.read())
    assert len(names) >= 10, names
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda name: bench.trained(name, styles, name), names))
    for name, run in zip(names, runs):
        for words in (("doctor", run), ("check", "-i", "builtin", run)):
            result = bench.ask(*words)
            said = [finding["title"] for finding in result["findings"]]
            assert not said, (name, words, said)
            assert "invariants" in result["tables"], (name, words)
        print("ok", name, flush=True)


def nan_is_found(bench: Bench, corpus: str) -> None:
    """By the pack alone; beside the rules it is silent, for they have said it."""
    run = bench.trained("nan", os.path.join(corpus, "faults", "nan_in_one_parameter.py"), "wrong")
    alone = bench.ask("check", "-i", "builtin", run)["findings"]
    assert len(alone) == 1 and "NaN" in alone[0]["title"], alone
    both = bench.ask("doctor", run)
    assert both["findings"], both
    assert not [f for f in both["findings"] if f["id"].startswith("WT-LEARN-") and f["id"] != "WT-LEARN-001"], both["findings"]
    assert [row for row in both["tables"]["invariants"] if row["outcome"] == "violated"]
    assert "invariants" not in bench.ask("doctor", "--no-builtin", run)["tables"]
    assert "invariants" not in bench.ask("check", "--no-builtin", run)["tables"]


def a_pack_of_0_1_finds_the_same(bench: Bench, kept: str) -> None:
    """It has English phrases where later ones have identifiers, and names ReLU as no function is called."""
    now, then = (bench.ask("pack", "show", pack)["tables"]["invariants"] for pack in ("builtin", kept))
    assert now == then, (now, then)
    run = os.path.join(bench.folder, "nan")
    outcomes = {}
    for pack in ("builtin", kept):
        asked = bench.ask("check", "--all", "-i", pack, run)
        outcomes[pack] = ([{**f, "severity": ""} for f in asked["findings"]], asked["tables"]["invariants"])
    assert outcomes["builtin"] == outcomes[kept], outcomes
    assert [row for row in outcomes[kept][1] if row["outcome"] == "violated"]


def it_warns_at_most(bench: Bench) -> None:
    """Whatever it finds, and however sure it is."""
    program = os.path.join(bench.folder, "masks.py")
    with open(program, "w") as file:
        file.write("""
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(8):
    optimizer.zero_grad()
    out = model(torch.randn(4, 3))
    loss = out.mean()
    loss.backward()
    optimizer.step()
    torch.nn.functional.cross_entropy(torch.full((2, 3), float("nan")), torch.tensor([0, 1]))
""")
    run = bench.trained("masks", program)
    findings = bench.ask("check", "-i", "builtin", run)["findings"]
    assert {finding["severity"] for finding in findings} == {"warning"}, findings


def it_is_a_pack(bench: Bench) -> None:
    shown = bench.ask("pack", "show", "builtin")
    assert shown["invariants"] > 0 and "corpus" in shown["source"], shown
    assert not bench.ask("pack", "lint", "builtin")["findings"]
    for row in shown["tables"]["invariants"]:
        assert row["runs"] >= 20, row


def main() -> int:
    need_modules("torch")
    with Scratch() as folder:
        bench = Bench(sys.argv[1], folder)
        it_is_a_pack(bench)
        nan_is_found(bench, sys.argv[3])
        a_pack_of_0_1_finds_the_same(bench, os.path.join(os.path.dirname(os.path.abspath(__file__)), "pack-0.1.json"))
        it_warns_at_most(bench)
        styles_are_left_in_peace(bench, os.path.abspath(sys.argv[2]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
