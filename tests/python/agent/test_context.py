# SPDX-License-Identifier: Apache-2.0
"""Step, epoch and stage in programs of different shape, on every thread that has something to tell."""

from __future__ import annotations

from typing import Any

from recorded import Harness, Run, main

START = """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
def loader(n):
    return DataLoader(TensorDataset(torch.randn(n, 3), torch.randn(n, 1)), batch_size=2)
class Net(nn.Linear):
    def __init__(self):
        super().__init__(3, 1)
def loss_of(model, batch):
    return F.mse_loss(model(batch[0]), batch[1])
"""

# Each a whole program, and its contexts as they must be told, without what all begin with.
PROGRAMS: dict[str, tuple[str, list[Any]]] = {
    "accumulation": ("""
model = Net(); optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, batch in enumerate(loader(8)):
    loss_of(model, batch).backward()
    if i % 2:
        optimizer.step(); optimizer.zero_grad()
""", ["train", "epoch 0", "step 1", "step 2"]),
    "evaluation within a round": ("""
model = Net(); optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train, other = loader(8), loader(4)
for epoch in range(2):
    for i, batch in enumerate(train):
        optimizer.zero_grad(); loss_of(model, batch).backward(); optimizer.step()
        if i == 1:
            with torch.no_grad():  # the mode is forgotten: it is evaluation all the same
                for held in other:
                    loss_of(model, held)
""", ["train", "epoch 0", "step 1", "step 2", "eval", "train", "step 3", "step 4",
      "epoch 1", "step 5", "step 6", "eval", "train", "step 7", "step 8"]),
    "two optimizers": ("""
maker, judge = Net(), nn.Linear(1, 1)
first = torch.optim.SGD(maker.parameters(), lr=0.1); second = torch.optim.SGD(judge.parameters(), lr=0.1)
for i in range(2):
    for k in range(2):
        second.zero_grad(); judge(maker(torch.ones(2, 3)).detach()).sum().backward(); second.step()
    first.zero_grad(); judge(maker(torch.ones(2, 3))).sum().backward(); first.step()
""", ["train", "step 1", "step 2", "step 3", "step 4"]),
    "one optimizer after another": ("""
for fold in range(2):
    model = Net(); optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i in range(3):
        optimizer.zero_grad(); loss_of(model, (torch.randn(2, 3), torch.randn(2, 1))).backward(); optimizer.step()
""", ["train", "step 1", "step 2", "step 3", "step 4", "step 5", "step 6"]),
    "two that were made at once, one after the other": ("""
models = [Net(), Net()]; optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in models]
for model, optimizer in zip(models, optimizers):
    for i in range(3):
        optimizer.zero_grad(); loss_of(model, (torch.randn(2, 3), torch.randn(2, 1))).backward(); optimizer.step()
""", ["train", "step 1", "step 2", "step 3", "step 4", "step 5"]),
    "a phase, then two optimizers in turn": ("""
def made():
    model = Net(); return model, torch.optim.SGD(model.parameters(), lr=0.1)
def train(model, optimizer):
    optimizer.zero_grad(); loss_of(model, (torch.randn(2, 3), torch.randn(2, 1))).backward(); optimizer.step()
alone = made(); train(*alone); train(*alone)
pair = made(), made()
for i in range(3):
    train(*pair[0]); train(*pair[1])
""", ["train", "step 1", "step 2", "step 3", "step 4", "step 5"]),
    "closures": ("""
model = Net(); optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)
x, y = torch.randn(4, 3), torch.randn(4, 1)
def closure():
    optimizer.zero_grad(); loss = loss_of(model, (x, y)); loss.backward(); return loss
for i in range(2):
    optimizer.step(closure)
""", ["train", "step 1", "step 2"]),
    "a teacher": ("""
model, teacher = Net(), Net().eval(); optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in loader(4):
    with torch.no_grad():
        target = teacher(batch[0])
    optimizer.zero_grad(); F.mse_loss(model(batch[0]), target).backward(); optimizer.step()
""", ["train", "epoch 0", "step 1", "step 2"]),
    "training in evaluation mode": ("""
model = Net().eval(); optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in loader(4):
    optimizer.zero_grad(); loss_of(model, batch).backward(); optimizer.step()
""", ["eval", "train", "epoch 0", "step 1", "step 2"]),
    "no optimizer": ("""
model = Net()
for i in range(3):
    loss_of(model, (torch.ones(2, 3), torch.ones(2, 1))).backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.1 * p.grad
            p.grad = None
""", ["train", "step 1", "step 2", "step 3"]),
    "no optimizer, evaluated": ("""
model = Net()
for i in range(2):
    loss_of(model.train(), (torch.ones(2, 3), torch.ones(2, 1))).backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.1 * p.grad
            p.grad = None
        model.eval()(torch.ones(1, 3))
""", ["train", "step 1", "eval", "train", "step 2", "eval"]),
    "no optimizer, cut off": ("""
model = Net()
for i in range(3):
    loss_of(model, (torch.ones(2, 3), torch.ones(2, 1))).backward()
    if i == 2:
        raise ValueError
""", ["train", "step 1", "step 2"]),
}

THREADS = """
import threading, torch, torch.nn as nn
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def work():
    model(torch.ones(1, 2))
for i in range(3):
    optimizer.zero_grad(); model(torch.ones(1, 2)).sum().backward(); optimizer.step()
    thread = threading.Thread(target=work); thread.start(); thread.join()
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return torch.mul(g, 2)
x = torch.ones(1, 2, requires_grad=True)
Double.apply(x).sum().backward()
"""


def contexts(run: Run) -> list[str]:
    told = [f"{c['key']} {c['value']}" if c["key"] != "stage" else str(c["text"]) for c in run.of("context")]
    return told[2:] if told[:2] == ["step 0", "init"] else told


def test_programs(t: Harness) -> None:
    for name, (code, expected) in PROGRAMS.items():
        run = t.record(START + code, "--detail", "lean")
        t.equal(name, contexts(run), expected, run.errors)


def test_no_optimizer(t: Harness) -> None:
    run = t.record(START + PROGRAMS["no optimizer"][0], "--detail", "lean")
    step, changed = 0, []
    for event in run.events:
        fields = event["fields"]
        if event["kind"] == "context" and fields["key"] == "step":
            step = fields["value"]
        elif event["kind"] == "state" and (fields["owner"], fields["attribute"]) == ("Net", "weight"):
            changed.append(step)
    t.equal("parameters are read where a step must have been, and belong to it", changed, [0, 1, 2], run.errors)


def test_threads(t: Harness) -> None:
    run = t.record(THREADS)
    steps: dict[int, Any] = {}
    at: list[tuple[int, Any]] = []
    main_track = next(e["track"] for e in run.events if e["kind"] == "call_begin")
    for event in run.events:
        if event["kind"] == "context" and event["fields"]["key"] == "step":
            steps[event["track"]] = event["fields"]["value"]
        elif event["kind"] == "call_begin" and event["track"] != main_track:
            at.append((steps.get(event["track"], "none"), event["fields"]["callee"]))
    t.equal("each thread says the step before its first call", [a for a in at if a[1] == "Linear.forward"],
            [(1, "Linear.forward"), (2, "Linear.forward"), (3, "Linear.forward")], run.errors)


if __name__ == "__main__":
    main(test_programs, test_no_optimizer, test_threads, require=("torch",))
