# SPDX-License-Identifier: Apache-2.0
"""How much is measured: samples, budgets and what a pack of invariants needs; and that the trace says so."""

from __future__ import annotations

import json
from typing import Any

from recorded import Harness, Run, main

TRAIN = """
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data, target = torch.randn(4, 8), torch.tensor([0, 1, 2, 3])
for step in range({steps}):
    {rest}
    optimizer.zero_grad()
    loss = F.cross_entropy(model(data), target)
    loss.backward()
    optimizer.step()
print(loss.item())
"""
# Beside this a step's own work is short however busy the machine is.
REST = "import time; time.sleep(0.05)"
DIGESTS, ARGUMENTS, CALLS, PARAMETERS, GRADIENTS, UNNEEDED = 1, 2, 4, 8, 16, 4096


def train(steps: int, rest: str = "pass") -> str:
    return TRAIN.format(steps=steps, rest=rest)


def by_step(run: Run) -> list[list[dict[str, Any]]]:
    """Events, cut where a step ends."""
    steps: list[list[dict[str, Any]]] = [[]]
    for event in run.events:
        steps[-1].append(event)
        if event["kind"] == "context" and event["fields"]["key"] == "step" and event["fields"]["value"]:
            steps.append([])
    return steps


def count(step: list[dict[str, Any]], kind: str, **fields: object) -> int:
    return sum(event["kind"] == kind and all(event["fields"][key] == value for key, value in fields.items())
               for event in step)


def codes(t: Harness) -> list[str]:
    """What the rules find in the last run."""
    found = t.execute([t.wheeltap, "check", str(t.folder / f"run{t.runs}"), "--json"])
    return [finding["id"] for finding in json.loads(found.output)["findings"]]


def test_sample(t: Harness) -> None:
    run = t.record(train(12), "--sample", "every=4")
    told = [count(step, "call_begin", callee="cross_entropy") for step in by_step(run)]
    t.equal("every fourth step is told in full", told, [1, 0, 0, 0] * 3 + [0], run.errors)
    t.equal("the others as the lean level does", [count(step, "call_begin", callee="Linear.forward")
                                                  for step in by_step(run)], [2] * 12 + [0])
    t.equal("the trace says so", [(e["reason"], e["lacks"], e["every"]) for e in run.of("thinned")][:2],
            [("sample", CALLS | ARGUMENTS, 4), ("none", 0, 4)])
    run = t.record(train(6), "--sample", "warmup=2", "--detail", "lean")
    changes = [count(step, "state", attribute="0.weight") for step in by_step(run)]
    t.equal("states of the first steps only", changes[2:], [0] * 5, changes)
    t.equal("and that none follow", [e["every"] for e in run.of("thinned")], [0])
    t.equal("steps without states are no steps that leave parameters as they are", codes(t), [])
    run = t.record(train(6), "--sample", "steps=2-3")
    told = [count(step, "call_begin", callee="cross_entropy") for step in by_step(run)]
    t.equal("these steps in full, the others not", told, [0, 0, 1, 1, 0, 0, 0], run.errors)
    t.equal("and the trace says so from the beginning", [e["lacks"] for e in run.of("thinned")], [CALLS | ARGUMENTS, 0, CALLS | ARGUMENTS])


def test_budget(t: Harness) -> None:
    bare = t.bare(train(400))
    run = t.record(train(400), "--detail", "full", "--budget", "1")
    t.equal("the result is the same", run.output, bare.output, run.errors)
    thinned = run.of("thinned")
    t.check("what costs more than the budget is thinned", any(e["reason"] == "budget" and e["lacks"] & DIGESTS
                                                              and e["lacks"] & PARAMETERS for e in thinned), thinned)
    t.equal("modules are always told", len(run.calls("Linear.forward")), 800)
    t.equal("and steps", len(run.calls("SGD.step")), 400)
    lacking = False
    wrong = 0
    for event in run.events:
        if event["kind"] == "thinned":
            lacking = bool(event["fields"]["lacks"] & PARAMETERS)
        wrong += lacking and event["kind"] == "state" and event["fields"]["attribute"] == "0.weight"
    t.equal("what is said to lack does", wrong, 0)
    t.equal("and is not taken for what did not happen", codes(t), [])
    run = t.record(train(20, REST), "--detail", "lean", "--budget", "1000")
    t.equal("a budget that is large enough thins nothing", run.of("thinned"), [])
    setting = {e["key"]: e for e in run.of("setting")}
    t.equal("the choice is on record", (setting["budget_percent"]["value"], setting["detail"]["text"]), (1000, "lean"))
    t.equal("and how states are spread", setting["statistics_every"]["value"], 8)


def test_without_steps(t: Harness) -> None:
    run = t.record("""
        import time, torch
        x = torch.randn(200, 200)
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            torch.relu(x)
        """, "--detail", "full", "--budget", "1")
    t.check("without steps time is cut into slices", any(e["lacks"] & DIGESTS for e in run.of("thinned")),
            run.of("thinned"), run.errors)


def pack(t: Harness, *needs: object) -> str:
    path = t.folder / "pack.json"
    path.write_text(json.dumps({"invariants": [{"name": f"rule {i}", **({"needs": need} if need else {})}
                                               for i, need in enumerate(needs)]}))
    return str(path)


def test_invariants(t: Harness) -> None:
    code = train(3) + """
from wheeltap import _wheeltap as core
print([core.is_hooked(f) for f in (torch.relu, torch.add, F.cross_entropy, nn.Module.__call__, torch.Tensor.backward)])
"""
    path = pack(t, {"calls": ["torch.relu"], "states": []}, {"calls": ["*.SGD.step"], "states": ["optimizer"]})
    run = t.record(code, "--detail", "full", "--invariants", path)
    t.equal("only what is needed is hooked", run.output.splitlines()[-1], "[True, False, False, True, False]", run.errors)
    t.equal("at full it is told whoever calls it", len(run.calls("relu")), 3)
    t.equal("and nothing else", {e["callee"] for e in run.of("call_begin")}, {"relu", "SGD.step"})
    t.equal("only states that are needed", {e["attribute"] for e in run.of("state")} & {"lr", "0.weight"}, {"lr"})
    lacks = [e["lacks"] for e in run.of("thinned")]
    t.check("what lacks is on record", len(lacks) == 1 and lacks[0] & PARAMETERS and lacks[0] & GRADIENTS
            and lacks[0] & UNNEEDED and not lacks[0] & 64, lacks)
    run = t.record(code, "--invariants", pack(t, {"calls": ["torch.add"], "tensors": True}))
    t.equal("modules too are left alone", run.output.splitlines()[-1], "[False, True, False, False, False]", run.errors)
    refused = t.record_command([t.python, "-c", "pass"], "--invariants", pack(t, {"calls": []}, None))
    t.check("an entry that does not say what it needs is refused by name",
            refused.status == 125 and "invariant 2 'rule 1' has no \"needs\"" in refused.errors, refused.status,
            refused.errors)
    refused = t.record_command([t.python, "-c", "pass"], "--invariants", pack(t, {"states": ["weights"]}))
    t.check("as is an unknown state", refused.status == 125 and "unknown state" in refused.errors, refused.errors)


if __name__ == "__main__":
    main(test_sample, test_budget, test_without_steps, test_invariants, require=("torch",))
