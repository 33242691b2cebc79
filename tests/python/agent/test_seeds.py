# SPDX-License-Identifier: Apache-2.0
"""Which seeds run.json names: those that the program gave, not those that a loader gave to its workers."""

from __future__ import annotations

import json

from recorded import Harness, main

SEEDED = """
    import random, numpy, torch
    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 4
        def __getitem__(self, index):
            return torch.randn(3)
    def seed(number):
        torch.manual_seed(number)
        random.seed(number + 1)
        numpy.random.seed(number + 2)
    if __name__ == "__main__":
        seed(0)
        random.Random(42).random()
        torch.Generator().manual_seed(43)
        for batch in torch.utils.data.DataLoader(Data(), num_workers={workers}, multiprocessing_context={method!r}):
            pass
"""
RANKS = SEEDED + """
        import multiprocessing
        for number in (0, 7):
            rank = multiprocessing.get_context("fork").Process(target=seed, args=(number,))
            rank.start()
            rank.join()
"""
GIVEN = {"torch.manual_seed": "0", "random.seed": "1", "numpy.random.seed": "2"}


def seeds(t: Harness, code: str) -> dict[str, str]:
    run = t.record(code)
    said = json.loads((t.folder / f"run{t.runs}" / "run.json").read_text())
    t.equal("it was recorded", (run.status, said["exit_status"], said["python"]["why"]), (0, 0, None), run.errors)
    return {name: value for name, value in said["seeds"].items() if name != "PYTHONHASHSEED"}


def test_workers(t: Harness) -> None:
    t.equal("without workers", seeds(t, SEEDED.format(workers=0, method=None)), GIVEN)
    for method in ("fork", "spawn"):
        t.equal(f"with two workers by {method}", seeds(t, SEEDED.format(workers=2, method=method)), GIVEN)


def test_processes(t: Harness) -> None:
    found = seeds(t, RANKS.format(workers=0, method=None))
    t.equal("the first process has the plain names", {name: found.get(name) for name in GIVEN}, GIVEN)
    others = {name.partition(" of process ")[0]: value for name, value in found.items() if name not in GIVEN}
    t.equal("another is named where it differs", others,
            {"torch.manual_seed": "7", "random.seed": "8", "numpy.random.seed": "9"}, found)


if __name__ == "__main__":
    main(test_workers, test_processes, require=("torch", "numpy"))
