# SPDX-License-Identifier: Apache-2.0
"""Whole runs: loaders and epochs, two ranks, a run that is killed in the middle."""

from __future__ import annotations

import json
import re

from recorded import Harness, main

EPOCHS = """
import torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = DataLoader(TensorDataset(torch.randn(8, 3), torch.randn(8, 1)), batch_size=4)
for epoch in range(3):
    model.train()
    for x, y in data:
        optimizer.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        model(x)
    torch.save(model.state_dict(), "model.pt")
"""

RANKS = """
import copy, hashlib, os, sys, torch, torch.nn as nn, torch.distributed as dist, torch.multiprocessing as mp
def work(rank, path):
    torch.manual_seed(1)
    dist.init_process_group("gloo", init_method="file://" + path, rank=rank, world_size=2)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(4):
        x = torch.randn(6, 4, generator=torch.Generator().manual_seed(10 * step + rank))
        optimizer.zero_grad(); loss = model(x).pow(2).mean(); loss.backward(); optimizer.step()
    data = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
    with open(f"{path}.{rank}", "w") as file:
        file.write(f"{loss.item().hex()} {hashlib.sha256(data).hexdigest()}")
    dist.destroy_process_group()
if __name__ == "__main__":
    path = os.path.abspath(f"group{os.getpid()}")
    mp.spawn(work, (path,), nprocs=2)
    print(*[open(f"{path}.{rank}").read() for rank in (0, 1)])
"""

KILLED = """
import os, signal, torch, torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)
    def forward(self, x):
        if step == 300:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.layer(x)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(3, 4)
for step in range(1000):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
"""


def test_epochs(t: Harness) -> None:
    run = t.record(EPOCHS)
    context = run.of("context")
    t.equal("epochs of the loader", [c["value"] for c in context if c["key"] == "epoch"], [0, 1, 2], run.errors)
    made = EPOCHS.replace("for x, y in data:", "for x, y in DataLoader(data.dataset, batch_size=4):")
    context = t.record(made).of("context")
    t.equal("epochs of a loader that is made anew for each", [c["value"] for c in context if c["key"] == "epoch"], [0, 1, 2])
    context = run.of("context")
    t.equal("stages", [c["text"] for c in context if c["key"] == "stage"],
            ["init"] + ["train", "eval", "save", "eval"] * 3)
    t.equal("steps", [c["value"] for c in context if c["key"] == "step"], [0, 1, 2, 3, 4, 5, 6])


def test_ranks(t: Harness) -> None:
    bare, run = t.bare(RANKS), t.record(RANKS)
    if bare.status:
        print("# skip ranks: torch.distributed does not work here")
        return
    t.equal("two ranks: losses and weights are the same with and without", run.output, bare.output, run.errors)
    streams = {event["stream"] for event in run.events if event["kind"] == "counter"}
    t.equal("both ranks are in the trace", len(streams), 2)
    t.equal("and each says which it is", sorted((r["rank"], r["world"]) for r in run.of("rank")), [(0, 2), (1, 2)])
    gate = t.folder / "gate.toml"
    gate.write_text('[[gate]]\ntype = "duration"\nof = "step"\nmax = 3600\n')
    said = t.execute([t.wheeltap, "gate", "-c", str(gate), str(t.folder / f"run{t.runs}")])
    t.check("steps are those of a rank, not of who started them", said.status == 0 and "held" in said.output, said.output)


def test_killed(t: Harness) -> None:
    run = t.record(KILLED)
    t.check("it was killed", run.status == 137 and "killed" in run.errors, run.status, run.errors)
    steps = [c["value"] for c in run.of("context") if c["key"] == "step"]
    t.equal("all steps up to that moment are there", steps, list(range(301)))
    t.equal("and all calls", (len(run.calls("Net.forward")), len(run.calls("SGD.step"))), (301, 300))
    ends = [end for end in run.of("call_end") if end["callee"] == "Net.forward"]
    t.equal("the last one has no end", len(ends), 300)
    first, last = told(t)
    t.check("doctor begins with how it ended", first.startswith("run was killed in step 300 by signal 9 ("), first)
    t.equal("and info with where", ended(t), ("ended in     step 300, stage train (counted from 0)", 300))


STEPS = """
import torch, torch.nn as nn
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(int(3)):
    optimizer.zero_grad(); model(torch.randn(8, 4)).pow(2).mean().backward(); optimizer.step()
"""


def told(t: Harness) -> tuple[str, str]:
    """The first and the last line of doctor on the last run."""
    done = t.execute([t.wheeltap, "doctor", str(t.folder / f"run{t.runs}")])
    lines = done.output.splitlines() or [""]
    return lines[0], lines[-1]


def ended(t: Harness) -> tuple[str, int]:
    """What info has on where the last run ended: the line, and the number of the step."""
    folder = str(t.folder / f"run{t.runs}")
    line = re.search("^ended (?:in|after) .*$", t.execute([t.wheeltap, "info", folder]).output, re.M)
    return line[0] if line else "", json.loads(t.execute([t.wheeltap, "info", "--json", folder]).output)["last_step"]


def test_verdict(t: Harness) -> None:
    t.record(STEPS)
    t.equal("the number behind the last step is none of a step", ended(t),
            ("ended after  step 2, stage train (counted from 0)", 2))
    first, last = told(t)
    t.equal("a run that ended well", first, "run finished after 3 steps")
    t.check("and what was asked of it", re.fullmatch(r"No problems found\. \d+ of \d+ rules and \d+ of \d+ invariants applied; "
                                                    r"--all lists the rest\.", last), last)
    t.record(STEPS + 'model(torch.randn(3, 5))\n')
    first, last = told(t)
    t.check("an exception has its type, its line and its step",
            re.match(r"run failed in step 3: exit status 1, RuntimeError at \S+\.py:7; what would have come after that is not "
                     r"measured$", first), first)
    t.check("no problem is another matter", last.startswith("No problems found before it ended. "), last)
    done = t.execute([t.wheeltap, "doctor", "--json", str(t.folder / f"run{t.runs}")])
    t.equal("but it is no clean run", (done.status, json.loads(done.output)["status"]), (3, "not_measured"))
    t.record(STEPS + 'import sys\nsys.exit(4)\n')
    t.check("a status alone", told(t)[0].startswith("run failed in step 3: exit status 4; what"), told(t)[0])
    t.record("import torch\nraise ValueError\n")
    t.check("a program that never trained ends in no step",
            told(t)[0].startswith("run failed before its first step had ended: exit status 1, ValueError at "), told(t)[0])
    t.record("print(1)")
    t.equal("nothing to judge", (told(t)[0], told(t)[1][:25]),
            ("run finished; no training step was recorded", "Nothing could be judged: "))
    run = t.record("import json\njson.loads('1')\n", "--modules", "json")
    t.check("calls of a program that trains nothing are recorded", run.calls("loads"), run.events[:3])
    t.equal("and are in no step", ([c for c in run.of("context") if c["key"] == "step"], told(t)[0]),
            ([], "run finished; no training step was recorded"))


WORKERS = """
import torch
from torch.utils.data import DataLoader, TensorDataset
model = torch.nn.Linear(4, 2)
for x, in DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=4, num_workers=1):
    model(x)
"""


def test_workers(t: Harness) -> None:
    t.record(WORKERS)
    parts = t.execute([t.wheeltap, "report", str(t.folder / f"run{t.runs}")]).output.split("\n**")
    owners = [part.partition("**")[0] for part in parts if "| worker | seed |" in part]
    t.equal("a worker is its loader's, and no module", owners, ["Settings of loaders"])


CELLS = """
import sys, types
shell = types.ModuleType("IPython.core.interactiveshell")
class InteractiveShell: pass
InteractiveShell._instance = InteractiveShell()
InteractiveShell._instance.compile = types.SimpleNamespace(_filename_map={"/tmp/ipykernel_4711/3141592653.py": 7})
shell.InteractiveShell = InteractiveShell
sys.modules[shell.__name__] = shell
import torch
for name in ("/tmp/ipykernel_4711/3141592653.py", "<ipython-input-12-0a1b2c3d4e5f>"):
    exec(compile("import torch\\ntorch.nn.Linear(2, 2)(torch.ones(1, 2))", name, "exec"), {})
"""


def test_cells(t: Harness) -> None:
    """A cell of a notebook is known by its number, not by the hash that its file is called."""
    run = t.record(CELLS)
    sites = {call["site"] for call in run.calls("Linear.forward")}
    t.equal("two cells, each with its line", sites, {"Cell In[7]:2", "Cell In[12]:2"}, run.errors)


def test_observed(t: Harness) -> None:
    """What was seen comes before what was learned."""
    folders = []
    for code in (STEPS, STEPS, STEPS, STEPS.replace("lr=0.1", "lr=0.3")):
        t.record(code)
        folders.append(str(t.folder / f"run{t.runs}"))
    pack = str(t.folder / "pack.json")
    learned = t.execute([t.wheeltap, "infer", *folders[:3], "-o", pack])
    t.equal("a pack is learned", learned.status, 0, learned.output, learned.errors)
    said = t.execute([t.wheeltap, "check", "-i", pack, folders[3]]).output
    t.check("the rate of this run, then that of the good ones",
            "follows another course: observed 0.3; in the good runs the rate of step 0 is 0.1\n" in said, said)
    t.check("and nothing of a scheduler that there is not", "the learning rate that the program sets" in said and
            "is not followed" not in said, said)
    t.check("and how often those had it", re.search(r"evidence  .*the good runs had it \d+ times, in 3 runs \(", said), said)


if __name__ == "__main__":
    main(test_epochs, test_ranks, test_killed, test_verdict, test_workers, test_cells, test_observed, require=("torch",))
