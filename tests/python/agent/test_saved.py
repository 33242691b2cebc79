# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: what was saved, what was loaded, and what the objects held at that moment."""

from __future__ import annotations

from typing import Any

from recorded import Harness, Run, main

SAVE = """
import torch, torch.nn as nn
torch.manual_seed(0)
def make():
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 1)
model, optimizer, schedule = make()
def step():
    optimizer.zero_grad(); model(torch.randn(4, 3)).sum().backward(); optimizer.step(); schedule.step()
step(); step()
with torch.no_grad():
    model[0].bias.data.fill_(7)  # behind everybody's back
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict(),
            "epoch": 3, "a secret text": "password123", "/home/me/data": [1.5]}, "all.pt")
torch.save(obj=model, f="whole.pt")
other, other_optimizer, other_schedule = make()
found = torch.load("all.pt")
other.load_state_dict(state_dict=found["model"])
other_optimizer.load_state_dict(found["optimizer"])
other_schedule.load_state_dict(found["schedule"])
whole = torch.load("whole.pt", weights_only=False)
whole(torch.ones(2, 3))
"""

MANY = """
import torch
deep = {"weight": torch.ones(2)}
for i in range(40):
    deep = {"in": deep}
torch.save({"rows": [torch.full((1,), float(i)) for i in range(3000)]}, "many.pt")
torch.save({"weight": torch.ones(2), "deep": deep}, "deep.pt")
model = torch.nn.Linear(2, 1)
class Sum(torch.nn.Module):
    def forward(self, rows, words):
        return sum(rows)
Sum()([torch.full((1,), float(i)) for i in range(60)], [str(i) for i in range(3000)])
Sum()([torch.full((1,), float(i)) for i in range(100)], [])
"""


def of_call(run: Run, kind: str, callee: str, which: int = 0) -> dict[str, Any]:
    begins = [e["seq"] for e in run.events if e["kind"] == "call_begin" and e["fields"]["callee"] == callee]
    if which >= len(begins):
        return {}
    key = "hash" if kind == "tensor" else "value"
    return {e[1]["name"]: e[1][key] for e in ((e["kind"], e["fields"]) for e in run.events)
            if e[0] == kind and e[1]["call"] == begins[which]}


def last_states(run: Run, owner: str, before: str) -> dict[str, Any]:
    """The states of an object when a function was called first."""
    found: dict[str, Any] = {}
    for event in run.events:
        fields = event["fields"]
        if event["kind"] == "call_begin" and fields["callee"] == before:
            break
        if event["kind"] == "state" and fields["owner"] == owner:
            found[fields["attribute"]] = fields["new"]
    return found


def test_saved(t: Harness) -> None:
    run = t.record(SAVE, "--detail", "lean")
    t.equal("the program runs", run.status, 0, run.errors)
    saved, numbers = of_call(run, "tensor", "save"), of_call(run, "argument", "save")
    t.check("tensors by their path", {"model.0.weight", "model.1.running_mean", "optimizer.state.0.exp_avg"} <= set(saved), saved)
    t.equal("numbers too", (numbers.get("epoch"), numbers.get("schedule.last_epoch")), (3, 2), numbers)
    t.check("keys that may be private are not told", not [n for n in {*saved, *numbers} if "secret" in n or "home" in n], numbers)
    live = last_states(run, "Sequential", "save")
    t.equal("what was saved is what was live, even if nobody saw it change",
            [saved.get(f"model.{name}") for name in ("0.weight", "0.bias")], [live["0.weight"], live["0.bias"]])
    whole = of_call(run, "tensor", "save", 1)
    t.equal("a whole model likewise", whole.get("0.weight"), saved.get("model.0.weight"), whole)
    loaded = of_call(run, "tensor", "load")
    t.equal("what was loaded is what was saved", loaded, saved)
    into = of_call(run, "tensor", "Sequential.load_state_dict")
    t.equal("what a model was given", into.get("0.weight"), saved.get("model.0.weight"), into)
    after = [s["new"] for s in run.of("state") if s["owner"] == "Sequential#1" and s["attribute"] == "0.weight"]
    t.equal("and what it holds then", after[-1:], [saved.get("model.0.weight")], after)
    moments = [x["hash"] for x in run.of("tensor") if x["owner"] == "Adam#1" and x["name"] == "0.weight.exp_avg"]
    t.equal("an optimizer too", moments[-1:], [saved.get("optimizer.state.0.exp_avg")], moments)
    stages = [c["text"] for c in run.of("context") if c["key"] == "stage"]
    t.equal("stages", stages, ["init", "train", "save", "train", "save", "train", "load", "train", "load", "train"], stages)
    calls = [c["callee"] for c in run.of("call_begin")]
    t.equal("state_dict and load_state_dict of all three", [calls.count(name) for name in (
        "Sequential.state_dict", "Adam.state_dict", "StepLR.state_dict", "StepLR.load_state_dict")], [1, 1, 1, 1])
    t.equal("a model that came out of a file", [o["how"] for o in run.of("object") if o["name"] == "Sequential#2"], ["unpickled"])


def test_many(t: Harness) -> None:
    """What is cut off is marked as such."""
    run = t.record(MANY)
    t.equal("the program runs", run.status, 0, run.errors)
    t.equal("all entries of a checkpoint are told", len(of_call(run, "tensor", "save")), 3000)
    t.check("and nothing else", "..." not in of_call(run, "argument", "save"))
    t.check("of one that is too deep it is told that there is more", "..." in of_call(run, "argument", "save", 1))
    t.check("words take no place of tensors", "..." not in of_call(run, "argument", "Sum.forward"))
    t.equal("of a large input 64 tensors are told", len(of_call(run, "tensor", "Sum.forward", 1)), 65)
    t.check("and that there are more", "..." in of_call(run, "argument", "Sum.forward", 1))


if __name__ == "__main__":
    main(test_saved, test_many, require=("torch",))
