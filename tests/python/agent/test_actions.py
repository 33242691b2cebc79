# SPDX-License-Identifier: Apache-2.0
"""What each call is to the run, as the agent emits it, and what rules make of it."""

from __future__ import annotations

import json
from typing import Any

from recorded import Harness, Run, main

LOOP = """
import copy, torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
model = nn.Linear(3, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
scaler = torch.cuda.amp.GradScaler(enabled=False)
for x, y in DataLoader(TensorDataset(torch.randn(8, 3), torch.randn(8, 2)), batch_size=4):
    model.zero_grad()
    optimizer.zero_grad()
    loss = scaler.scale(nn.functional.mse_loss(model(x), y))
    torch.autograd.backward(loss)
    optimizer.step()
    schedule.step()
    (model(x) - y).pow(2).mean().backward()
torch.save(model.state_dict(), "model.pt")
model.load_state_dict(torch.load("model.pt"))
"""

ACTIONS = {
    "Linear.forward": ["forward"] * 4, "mse_loss": ["none"] * 2, "backward": ["backward"] * 2, "Tensor.backward": ["backward"] * 2,
    "Adam.step": ["step"] * 2, "Adam.zero_grad": ["zero_grad"] * 2, "Linear.zero_grad": ["zero_grad"] * 2,
    "StepLR.step": ["scheduler_step"] * 2, "GradScaler.scale": ["scaler"] * 2, "DataLoader.__iter__": ["round"],
    "DataLoader.__next__": ["batch"] * 3, "save": ["save"], "load": ["load"], "Linear.state_dict": ["none"],
    "Linear.load_state_dict": ["none"],
}

# numpy has a save and a load, too.
NAMESAKES = """
import numpy as np, torch, torch.nn as nn
np.save("data.npy", np.ones((4, 3), dtype=np.float32))
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 4), nn.Linear(4, 2)
    def forward(self, x):
        return self.head(self.body(x))
model = Net()
for parameter in model.body.parameters():
    parameter.requires_grad_(False)
optimizer = torch.optim.SGD(model.head.parameters(), lr=0.01)
x = torch.from_numpy(np.load("data.npy"))
for step in range(4):
    optimizer.zero_grad()
    loss = (model(x) - 1).pow(2).mean()
    torch.autograd.backward(loss)
    optimizer.step()
torch.save({name: value for name, value in model.state_dict().items() if name.startswith("head")}, "head.pt")
"""

# An optimizer inside another: each call has its own end.
WRAPPED = """
import torch, torch.nn as nn
model = nn.Linear(2, 1)
class Outer(torch.optim.SGD):
    def step(self, closure=None):
        self.inner.step()
        return super().step(closure)
optimizer = Outer(model.parameters(), lr=0.1)
optimizer.inner = torch.optim.SGD(model.parameters(), lr=0.01)
class Failing(torch.optim.SGD):
    def step(self, closure=None):
        raise ValueError
model(torch.ones(1, 2)).sum().backward()
optimizer.step()
try:
    Failing(model.parameters(), lr=0.1).step()
except ValueError:
    pass
"""


# The layers of a Sequential are called by torch, the Sequential by the program.
INFINITE = """
import torch, torch.nn as nn
torch.manual_seed(0)
rows = torch.rand(40, 6)
rows[17, 2] = 0
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for start in range(0, 40, 8):
    batch = rows[start:start + 8].log()  # makes it
    loss = model(batch).square().mean()  # passes it on
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def outcomes(t: Harness) -> dict[str, Any]:
    """The rules of the newest run."""
    shown = t.execute([t.wheeltap, "doctor", "--json", "--all", str(t.folder / f"run{t.runs}")])
    return {rule["code"]: (rule["outcome"], rule["held"]) for rule in json.loads(shown.output)["tables"]["rules"]}


def actions(run: Run, callee: str) -> list[str]:
    return [call["action"] for call in run.calls(callee)]


def test_actions(t: Harness) -> None:
    run = t.record(LOOP)
    t.check("the loop runs", run.status == 0, run.errors)
    for callee, expected in ACTIONS.items():
        t.equal(f"{callee}", actions(run, callee), expected)


def test_namesakes(t: Harness) -> None:
    run = t.record(NAMESAKES, "--modules", "torch,numpy")
    t.equal("numpy.load is a load", actions(run, "load"), ["load"], run.errors)
    t.equal("numpy.save and torch.save are saves", sorted(set(actions(run, "save"))), ["none", "save"])
    rules = outcomes(t)
    t.equal("torch.autograd.backward is a backward for the rules", rules["WT-LOSS-003"], ("held", 4))
    t.equal("nothing was loaded: the frozen part is not in the checkpoint", rules["WT-CKPT-006"][0], "violated")


def test_step_end(t: Harness) -> None:
    run = t.record(LOOP)
    order = [(e["kind"], e["fields"]) for e in run.events if e["kind"] in ("call_begin", "call_end", "state", "step_end", "context")]
    ends = [i for i, (kind, _) in enumerate(order) if kind == "step_end"]
    begins = [e["seq"] for e in run.events if e["kind"] == "call_begin" and e["fields"]["action"] == "step"]
    t.equal("each step has an end", [order[i][1]["call"] for i in ends], begins)
    t.equal("of its optimizer", {order[i][1]["object"] for i in ends}, {"Adam"})
    for i in ends:
        last = max(j for j in range(i) if order[j][0] == "call_end")
        t.equal("it follows the states of the step", order[last][1]["callee"], "Adam.step")
        t.equal("and nothing but these", {kind for kind, _ in order[last + 1:i]}, {"state"})
        t.equal("which the parameters are among", {"weight", "bias"} - {f["attribute"] for _, f in order[last + 1:i]}, set())
        t.equal("before the next step of the run", order[i + 1][0], "context")


def test_wrapped(t: Harness) -> None:
    run = t.record(WRAPPED)
    names = {e["seq"]: e["fields"]["callee"] for e in run.events if e["kind"] == "call_begin"}
    ends = [names[end["call"]] for end in run.of("step_end")]
    t.equal("inner steps end first, super().step() too; one that raises has no end", ends, ["SGD.step", "Outer.step", "Outer.step"],
            run.errors)


def test_place(t: Harness) -> None:
    """A finding in what a library calls has the line of the program that called the library."""
    run = t.record(INFINITE)
    shown = t.execute([t.wheeltap, "doctor", "--json", str(t.folder / f"run{t.runs}")])
    found = next(finding for finding in json.loads(shown.output)["findings"] if finding["id"] == "WT-NUM-001")
    lines = INFINITE.splitlines()
    t.check("NaN has the line of the program", lines[found["where"]["line"] - 1].endswith("# passes it on"), str(found["where"]), run.errors)
    made = found["evidence"]["text"].partition("which Tensor.log had returned in ")[2].partition(";")[0].rpartition(":")[2]
    t.check("the infinity has the line that made it", made and lines[int(made) - 1].endswith("# makes it"), found["evidence"]["text"])
    place = found["where"]
    run = t.record_command([t.python, "-c", INFINITE])
    shown = t.execute([t.wheeltap, "doctor", "--json", str(t.folder / f"run{t.runs}")])
    found = next(finding for finding in json.loads(shown.output)["findings"] if finding["id"] == "WT-NUM-001")
    t.equal("also of a program that has no file", (found["where"]["file"], found["where"]["line"]), ("<string>", place["line"]), run.errors)


if __name__ == "__main__":
    main(test_actions, test_namesakes, test_step_end, test_wrapped, test_place, require=("torch", "numpy"))
