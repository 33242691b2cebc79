# SPDX-License-Identifier: Apache-2.0
"""Data on its way: batches, inputs and outputs of models, rows, workers, seeds, random states, ranks and what they send."""

from __future__ import annotations

from typing import Any

from recorded import Harness, Run, main

BATCHES = """
import numpy, random, torch, torch.nn as nn
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(3); random.seed(4); numpy.random.seed(5)
class Rows(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, i):
        return {"image": torch.full((3, 2), float(i)), "label": i % 4, "name": "row"}
model = nn.Linear(2, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
for epoch in range(2):
    for batch in DataLoader(Rows(), batch_size=32):
        out = model(batch["image"]).mean(1)
        optimizer.zero_grad()
        criterion(out, batch["label"]).backward()
        optimizer.step()
        torch.rand(1); random.random(); numpy.random.rand()
model(input=torch.zeros(1, 2))
"""

LATE = """
import torch
import numpy.random
numpy.random.seed(5)
optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
for i in range(3):
    numpy.random.rand()
    optimizer.step()
"""

SIZES = """
import torch
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset
class Own(Dataset):
    asked = 0
    def __len__(self):
        Own.asked += 1
        return 6
    def __getitem__(self, i):
        return torch.zeros(2)
class Fitted(torch.nn.Linear):
    def train(self, good, bad=None):
        return super().train(good) if bad is None else None
class Switched(torch.nn.Linear):
    def train(self, mode=True):
        self.frozen = False
        return super().train(mode)
class Frozen(torch.nn.Linear):
    def freeze(self):
        for part in self.children():
            part.requires_grad_(False)
    def train(self, mode=True):
        super().train(mode)
        self.freeze()
        return self
class Stilled(torch.nn.Linear):
    def train(self, mode=True):
        super().train(mode)
        for part in self.children():
            part.train(False)
        return self
x = torch.zeros(10, 2)
for rows in (TensorDataset(x), Subset(TensorDataset(x), [1, 2, 3]), [1, 2], Own(), type("Mine", (TensorDataset,), {})(x)):
    next(iter(DataLoader(rows, batch_size=2)))
print(Own.asked)
Fitted(2, 2)(x)
Switched(2, 2)(x)
Frozen(2, 2)(x)
Stilled(2, 2)(x)
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.5))
torch.optim.SGD(model.parameters(), lr=0.1)
model[1].p = 0
model(x)
"""

WORKERS = """
import numpy, torch
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return torch.tensor([float(i), numpy.random.rand()])
def same(worker):
    numpy.random.seed(0)
print([b.shape for b in DataLoader(Rows(), batch_size=2, num_workers=2, worker_init_fn=same)])
"""

RANKS = """
import os, sys, torch, torch.distributed as dist, torch.multiprocessing as mp
def work(rank, path):
    dist.init_process_group("gloo", init_method="file://" + path, rank=rank, world_size=2)
    group = dist.new_group([0])
    dist.all_reduce(torch.ones(3 + rank * 0), op=dist.ReduceOp.SUM)
    dist.all_gather([torch.zeros(2), torch.zeros(2)], torch.ones(2))
    dist.barrier()
    sampler = torch.utils.data.DistributedSampler(list(range(8)), num_replicas=2, rank=rank, seed=7)
    sampler.set_epoch(5)
    list(torch.utils.data.DataLoader(list(range(8)), sampler=sampler))
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
    model(torch.ones(1, 2))
if __name__ == "__main__":
    mp.spawn(work, (os.path.abspath(f"group{os.getpid()}"),), nprocs=2)
"""


def of_call(run: Run, kind: str, callee: str, which: int = 0) -> list[dict[str, Any]]:
    """What was told of the n-th call of a function."""
    begins = [e for e in run.events if e["kind"] == "call_begin" and e["fields"]["callee"] == callee]
    at = begins[which] if which < len(begins) else {"stream": None, "seq": None}
    return [e["fields"] for e in run.events
            if e["kind"] == kind and e["stream"] == at["stream"] and e["fields"]["call"] == at["seq"]]


def states(run: Run, owner: str, attribute: str) -> list[Any]:
    return [s["text"] or s["new"] for s in run.of("state") if s["owner"] == owner and s["attribute"] == attribute]


def test_batches(t: Harness) -> None:
    run = t.record(BATCHES, "--detail", "lean")
    t.equal("the program runs", run.status, 0, run.errors)
    batch = of_call(run, "tensor", "DataLoader.__next__")
    t.equal("a batch, by its keys", [(b["name"], b["shape"], b["dtype"]) for b in batch],
            [("image", "32x3x2", "f32"), ("label", "32", "i64")])
    again = of_call(run, "tensor", "DataLoader.__next__", 3)
    t.equal("the same rows have the same hash an epoch later", [b["hash"] for b in again], [b["hash"] for b in batch])
    into = of_call(run, "tensor", "Linear.forward")
    t.equal("input and output of a model", [(i["name"], i["position"], i["shape"]) for i in into],
            [("input", 1, "32x3x2"), ("", -1, "32x3x4")])
    t.equal("the input is the batch", into[0]["hash"], batch[0]["hash"])
    loss = of_call(run, "tensor", "CrossEntropyLoss.forward")
    t.equal("a criterion's too", [(i["name"], i["position"]) for i in loss], [("input", 1), ("target", 2), ("", -1)])
    named = of_call(run, "tensor", "Linear.forward", 4)
    t.equal("and what is given by name", [i["name"] for i in named], ["input", ""])
    ends = [e["exception"] for e in run.of("call_end") if e["callee"] == "DataLoader.__next__"]
    t.equal("the end of each round", ends, ["", "", "StopIteration"] * 2)
    check_rows(t, run)
    t.equal("facts of a loader", (states(run, "DataLoader", "batch_size"), states(run, "DataLoader", "num_workers")),
            ([32], [0]))
    check_random(t, run)


def test_late(t: Harness) -> None:
    """numpy's generator, which may be made after torch was hooked, if nobody asked for it before."""
    for detail in ("lean", "normal"):
        run = t.record(LATE, "--detail", detail)
        t.equal(f"a seed of numpy's, at {detail}", [c["module"] for c in run.calls("seed")], ["numpy.random"], run.errors)
        t.check("and the states that follow", len(set(states(run, "random", "numpy"))) >= 3, run.of("state"))


def test_sizes(t: Harness) -> None:
    """What is known without asking classes of the program's, and which of their methods mean what torch's do."""
    run, bare = t.record(SIZES), t.bare(SIZES)
    t.equal("the program runs", run.status, 0, run.errors)
    names = ["DataLoader"] + [f"DataLoader#{n}" for n in range(1, 5)]
    t.equal("rows of data sets of torch's and Python's", [states(run, name, "rows") for name in names], [[10], [3], [2], [], []])
    t.equal("nobody's length was asked for", run.output, bare.output)
    t.equal("a train() that freezes", [states(run, name, "overrides_train") for name in ("Frozen", "Stilled")],
            [["Frozen"], ["Stilled"]])
    t.equal("one that only switches the mode", states(run, "Switched", "overrides_train"), [])
    t.equal("and one that does not", states(run, "Fitted", "overrides_train"), [])
    t.equal("how much dropouts drop when the model is used", states(run, "Sequential.1", "p"), [0.5, 0.0])


def check_rows(t: Harness, run: Run) -> None:
    rows = [(r["index"], r["hash"], r["count"]) for r in run.of("row") if r["name"] == "image" and r["owner"] == "DataLoader"]
    t.check("rows whose hash is a multiple of 4", rows and all(int(r[1], 16) % 4 == 0 for r in rows), rows)
    t.check("of a tensor with 32", {r[2] for r in rows} == {32}, rows)
    again = [(r["index"], r["hash"], r["count"]) for r in run.of("row") if r["owner"] == "DataLoader#1"]
    t.equal("the same ones in the next epoch", again, rows)
    t.equal("and as the model's input", [(r["index"], r["hash"], r["count"]) for r in run.of("row") if r["owner"] == "Linear"],
            rows + again)


def check_random(t: Harness, run: Run) -> None:
    seeds = [(c["callee"], c["module"]) for c in run.of("call_begin") if "seed" in c["callee"]]
    t.check("seeding", {("manual_seed", "torch"), ("Random.seed", "random"), ("seed", "numpy.random")} <= set(seeds), seeds)
    t.equal("with what", [a["value"] for a in of_call(run, "argument", "manual_seed") if a["name"] == "seed"], [3])
    for name in ("torch", "python", "numpy"):
        t.check(f"the random state of {name} at each step", len(set(states(run, "random", name))) >= 4)
    t.check("threads and precision", states(run, "torch", "num_threads") and states(run, "torch", "float32_matmul_precision"))


def test_workers(t: Harness) -> None:
    run = t.record(WORKERS, "--detail", "lean")
    t.equal("the program runs", run.status, 0, run.errors)
    workers = [e["stream"] for e in run.events if e["kind"] == "state" and e["fields"]["owner"] == "worker"
               and e["fields"]["attribute"] == "id"]
    t.equal("each worker is told", len(set(workers)), 2)
    seeds = states(run, "worker", "seed")
    t.equal("with its seed", abs(int(seeds[1]) - int(seeds[0])) if len(seeds) == 2 else seeds, 1)
    first: dict[Any, dict[str, str]] = {}
    for e in run.events:
        if e["stream"] in workers and e["kind"] == "state" and e["fields"]["owner"] == "random":
            first.setdefault(e["fields"]["attribute"], {}).setdefault(e["stream"], e["fields"]["new"])
    t.equal("workers with one numpy seed", len(set(first["numpy"].values())), 1, first)
    t.equal("and torch's own", len(set(first["torch"].values())), 2, first)
    made = {e["fields"]["hash"] for e in run.events if e["kind"] == "tensor" and e["stream"] in workers}
    taken = {b["hash"] for i in range(4) for b in of_call(run, "tensor", "DataLoader.__next__", i)}
    t.check("a batch can be found again in the worker that made it", taken <= made and len(taken) == 4, made, taken)


def test_ranks(t: Harness) -> None:
    run = t.record(RANKS, "--detail", "lean")
    if run.status:
        print("# skip ranks: torch.distributed does not work here")
        return
    groups = sorted((r["group"], r["rank"], r["world"]) for r in run.of("rank"))
    t.equal("the world and a smaller group", groups, [("ranks 0", 0, 1), ("world", 0, 2), ("world", 1, 2)])
    sent = of_call(run, "tensor", "all_reduce")
    t.equal("what is sent, by size", [(s["name"], s["shape"], s["flags"] & 12) for s in sent], [("tensor", "3", 12)])
    normal = t.record(RANKS)
    t.equal("at normal, by digest", [s["flags"] & 12 for s in of_call(normal, "tensor", "all_reduce")], [0])
    t.equal("a list of them", len(of_call(run, "tensor", "all_gather")), 3)
    t.equal("by all ranks", [len(run.calls(name)) for name in ("all_reduce", "barrier")], [2, 2])
    t.equal("the epoch of a sampler", states(run, "DistributedSampler", "epoch"), [5, 5])
    t.equal("its rank", sorted(states(run, "DistributedSampler", "rank")), [0, 1])
    names = sorted({o["name"] for o in run.of("object") if o["type"] == "wrapper"})
    t.equal("a model that is replicated, by the same name on all ranks", names, ["DistributedDataParallel(Linear)"])


if __name__ == "__main__":
    main(test_batches, test_late, test_sizes, test_workers, test_ranks, require=("torch", "numpy"))
