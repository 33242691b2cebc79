# SPDX-License-Identifier: Apache-2.0
"""What the trace says about a torch program: calls, arguments, tensors, states, steps, stages."""

from __future__ import annotations

from recorded import Harness, Run, main

NET = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 5)
        self.bn = nn.BatchNorm1d(5)
        self.fc2 = nn.Linear(5, 3)
    def forward(self, x):
        return self.fc2(torch.relu(self.bn(self.fc1(x))))
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.1)
x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
losses = []
for i in range(4):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    schedule.step()
    losses.append(loss.item())
net.eval()
with torch.no_grad():
    net(x)
print(repr(losses))
"""


def numbers(run: Run, name: str) -> list[float]:
    return [counter["value"] for counter in run.of("counter") if counter["name"] == name]


def test_training(t: Harness) -> None:
    run = t.record(NET)
    t.equal("the program's own status", run.status, 0, run.errors)
    t.equal("each loss is told as it is", repr(numbers(run, "loss")) + "\n", run.output)
    t.equal("one call of the model a step, and one for evaluation", len(run.calls("Net.forward")), 5)
    t.equal("modules within it are told, by whoever they are called", len(run.calls("Linear.forward")), 10)
    site = run.calls("relu")[0]["site"]
    t.check("a call site is a file and a line", ":11" in str(site) and "program" in str(site), site)
    lines = [run.calls(name)[0]["site"].rpartition(":")[2] for name in ("SGD.zero_grad", "Net.forward", "SGD.step", "StepLR.step")]
    t.equal("the program's lines, also where a schedule has wrapped the step", lines, ["18", "19", "21", "22"])
    t.equal("calls from within the library are not told", run.calls("linear"), [])
    steps = [event["value"] for event in run.of("context") if event["key"] == "step"]
    t.equal("steps count up", steps, [0, 1, 2, 3, 4])
    stages = [event["text"] for event in run.of("context") if event["key"] == "stage"]
    t.equal("stages are derived", stages, ["init", "train", "eval"])
    check_states(t, run)


def check_states(t: Harness, run: Run) -> None:
    states = run.of("state")

    def changes(owner: str, attribute: str) -> list[dict]:
        return [state for state in states if state["owner"] == owner and state["attribute"] == attribute]

    for name in ("fc1.weight", "bn.weight", "fc2.bias"):
        t.equal(f"{name}: where it begins, and each step", [s["flags"] for s in changes("Net", name)], [1, 0, 0, 0, 0])
        t.equal(f"its gradient too ({name})", len(changes("Net", f"{name}.grad")), 4)
    chain = changes("Net", "fc1.weight")
    t.check("each change begins where the last one ended",
            all(after["old"] == before["new"] for before, after in zip(chain, chain[1:])), chain)
    t.equal("the learning rate as the schedule has it",
            [state["new"] for state in changes("SGD", "lr")], [0.5, 0.05], states[:3])
    t.equal("the mode of the model", [state["new"] for state in changes("Net", "training")], [True, False])
    t.equal("grad mode", [state["new"] for state in changes("torch", "grad_enabled")][-2:], [False, True])
    buffers = {tensor["name"] for tensor in run.of("tensor") if tensor["owner"] == "Net"}
    t.check("buffers are read", {"bn.running_mean", "bn.running_var"} <= buffers, buffers)
    own = {tensor["name"] for tensor in run.of("tensor") if tensor["owner"] == "SGD"}
    t.check("the optimizer's own tensors are read", "fc1.weight.momentum_buffer" in own, own)


def test_levels(t: Harness) -> None:
    lean, normal, full = (t.record(NET, "--detail", level) for level in ("lean", "normal", "full"))
    t.equal("lean: modules, no other calls", (len(lean.calls("Net.forward")), lean.calls("relu")), (5, []))
    t.equal("lean: states", len([s for s in lean.of("state") if s["attribute"] == "fc1.weight"]), 5)
    t.equal("full: calls within the library", len(full.calls("linear")), 10)
    t.check("each level has more", len(lean.events) < len(normal.events) < len(full.events))
    t.equal("all print the same", {lean.output, normal.output, full.output}, {normal.output})
    off = t.record(NET, "--tensors", "off")
    t.equal("tensors off: none is read", [tensor for tensor in off.of("tensor") if tensor["hash"] is not None], [])
    some = t.record(NET, "--only", "torch.re*,torch.randn", "--skip", "torch.relu")
    t.equal("--only and --skip", (len(some.calls("randn")), some.calls("relu"), some.calls("randint")), (1, [], []))


def test_arguments(t: Harness) -> None:
    run = t.record("""
        import torch
        x = torch.zeros(2, 3)
        torch.sum(x, dim=1, keepdim=True, dtype=torch.float64)
        torch.cat([x, x], 0)
        x.view((3, 2))
        x.add_(1.5)
        x + x
        try:
            torch.mm(x, x)
        except RuntimeError:
            pass
        """)

    def arguments(callee: str) -> list[tuple]:
        begins = [event for event in run.events if event["kind"] == "call_begin" and event["fields"]["callee"] == callee]
        if not begins:
            return []
        seq = begins[0]["seq"]
        return [(a["position"], a["name"], a.get("text") or a["value"]) for a in run.of("argument") if a["call"] == seq]

    t.equal("by name: numbers, flags, dtypes", arguments("sum")[:3],
            [(1, "dim", 1), (2, "keepdim", True), (3, "dtype", "torch.float64")])
    t.equal("containers are summarised", arguments("cat")[0][2], "<list of 2>")
    t.equal("extents are told", arguments("Tensor.view"), [(1, "", "(3, 2)")])
    t.equal("operators are calls of methods", len(run.calls("Tensor.__add__")), 1)
    ends = {event["callee"]: event["exception"] for event in run.of("call_end")}
    t.equal("an exception is told by its type", ends["mm"], "RuntimeError")
    means = [tensor["mean"] for tensor in run.of("tensor") if tensor["shape"] == "2x3"]
    t.check("in-place results have the value of that moment", 1.5 in means and 0 in means, means)


def test_words(t: Harness) -> None:
    t.record("""
        import torch
        layer = torch.nn.Linear(1, 1, bias=False)
        torch.nn.init.constant_(layer.weight, 0.1)
        layer.eval()(torch.ones(1, 1)).backward()
        """)
    shown = t.execute([t.wheeltap, "view", str(t.folder / f"run{t.runs}")]).output
    t.check("people read words", "flags=eval,grad,outermost" in shown and "position=returned" in shown, shown)
    t.check("and numbers as they were meant", " min=0.1 " in shown and "0.1000000" not in shown, shown)


ZEROS = """
import torch
sparse = torch.zeros(300)
sparse[299] = 2
short = torch.zeros(6)
short[1] = 2
loose = torch.zeros(4, 6)
loose[3, 5] = 2
grads = [torch.zeros(300), -torch.zeros(300), sparse, sparse.flip(0), short[:1], short[:3], torch.zeros(4, 6).t(), loose.t(),
         -torch.zeros(9, dtype=torch.float64), sparse.double(), -torch.zeros(9, dtype=torch.bfloat16), sparse.bfloat16(),
         torch.zeros(5, dtype=torch.complex64), sparse.to(torch.complex64), torch.full((9,), float("nan"))]
parameters = [torch.nn.Parameter(torch.ones_like(grad)) for grad in grads]
optimizer = torch.optim.SGD(parameters, lr=0.5)
for step in range(20):
    for parameter, grad in zip(parameters, grads):
        parameter.grad = grad.clone() * (step + 1)
    optimizer.step()
"""
ARE_ZEROS = [True, True, False, False, True, False, True, False, True, False, True, False, True, False, False]
STATE_ZEROS = 2


def test_zeros(t: Harness) -> None:
    """What is all zeros is marked so, whether it was only hashed in that step or has statistics."""
    for level in ("lean", "normal"):
        run = t.record(ZEROS, "--detail", level)
        found: dict[str, set[bool]] = {}
        for state in run.of("state"):
            if state["attribute"].endswith(".grad"):
                found.setdefault(state["attribute"], set()).add(bool(state["flags"] & STATE_ZEROS))
        t.equal(f"{level}: gradients that are all zeros", [found.get(f"group0.{i}.grad") for i in range(len(ARE_ZEROS))],
                [{is_zero} for is_zero in ARE_ZEROS])
        counts = [(event["zero"], event["nonzero"]) for event in run.of("gradients") if event["moment"] == "step"]
        t.equal(f"{level}: and counted so, in every step", set(counts), {(7, 8)})


if __name__ == "__main__":
    main(test_training, test_levels, test_arguments, test_words, test_zeros, require=("torch",))
