# SPDX-License-Identifier: Apache-2.0
"""Models, optimizers and the like are found however they come to be, and told with the tensors that belong to them."""

from __future__ import annotations

from typing import Any

from recorded import Harness, Run, main

FOUND = """
import copy, pickle, torch, torch.nn as nn
from torch.optim.swa_utils import AveragedModel
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, 4, bias=False)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(4, 4, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("seen", torch.zeros(1))
    def forward(self, x):
        return self.head(self.drop(self.embed(x)))
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
average = AveragedModel(net)
twin = copy.deepcopy(net)
other = pickle.loads(pickle.dumps(net))
x = torch.ones(2, 4)
twin(x); other(x)
class Wrapped(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
    def forward(self, x):
        return self.module(x)
wrapped = Wrapped(net)
for i in range(2):
    net.drop.eval()
    optimizer.zero_grad(set_to_none=True)
    wrapped(x).sum().backward()
    optimizer.step()
    average.update_parameters(net)
    schedule.step(1.0)
net.embed.weight.requires_grad_(False)
extra = nn.Linear(2, 2)
optimizer.add_param_group({"params": list(extra.parameters()), "lr": 0.5})
optimizer.step()
net.embed.weight = nn.Parameter(torch.ones(4, 4))
extra.weight = nn.Parameter(torch.ones(2, 2))
optimizer.step()
for i in range(70):
    nn.Linear(1, 1)(torch.ones(1, 1))
loose = torch.optim.SGD([nn.Parameter(torch.ones(3))], lr=0.1)
"""

LATER = """
import torch, torch.nn as nn, wheeltap
wheeltap.stop()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(4, 3)), batch_size=2)
class Odd:
    def __getattribute__(self, name):
        raise RuntimeError("somebody looked at " + name)
odd = Odd()
wheeltap.start()
for (x,) in loader:
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
    schedule.step()
"""

MANY = """
import torch, torch.nn as nn
torch.manual_seed(0)
def make(count):
    model = nn.Sequential(*(nn.Linear(1, 1) for _ in range(count)))
    return model, torch.optim.SGD(model.parameters(), lr=0.1)
def step(model, optimizer):
    model(torch.ones(1, 1)).backward()
    optimizer.step()
few = make(20)
step(*few)
many = make(1500)
step(*many)
step(*few)
"""

SCALER = """
import torch, torch.nn as nn
class Scaler(torch.cuda.amp.GradScaler):
    # What a scaler is without a GPU: the same names, so that its states can be read.
    def __init__(self):
        super().__init__(enabled=False)
        self._scale, self._growth_tracker = torch.tensor(1024.0), torch.tensor(0)
        self._per_optimizer_states = {}
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = Scaler()
scaler.scale(model(torch.ones(1, 2)).sum()).backward()
scaler._per_optimizer_states[1] = {"found_inf_per_device": {"cpu": torch.tensor(1.0)}}
scaler.unscale_(optimizer)
scaler.step(optimizer)
scaler._scale = torch.tensor(512.0)
scaler.update()
"""


def objects(run: Run) -> dict[str, tuple[Any, ...]]:
    return {o["name"]: (o["type"], o["class"], o["of"], o["how"]) for o in run.of("object")}


def states(run: Run, owner: str, attribute: str) -> list[Any]:
    return [s["text"] or s["new"] for s in run.of("state") if s["owner"] == owner and s["attribute"] == attribute]


def test_found(t: Harness) -> None:
    run = t.record(FOUND, "--detail", "lean")
    t.equal("the program runs", run.status, 0, run.errors)
    found = objects(run)
    expected = {"Net": ("module", "Net", "", "made"), "Adam": ("optimizer", "Adam", "", "made"),
                "ReduceLROnPlateau": ("scheduler", "ReduceLROnPlateau", "Adam", "made"),
                "Net#1": ("module", "Net", "Net", "copied"), "Net#2": ("module", "Net", "", "unpickled"),
                "Wrapped(Net)": ("wrapper", "Wrapped", "Net", "made"), "SGD": ("optimizer", "SGD", "", "made")}
    for name, facts in expected.items():
        t.equal(f"{name} is found", found.get(name), facts, found)
    average = [(name, facts) for name, facts in found.items() if facts[0] == "average"]
    t.equal("an average is one, of a copy", [(facts[1], found[facts[2]][2]) for _, facts in average],
            [("AveragedModel", "Net")], found)
    sites = {o["name"]: str(o["site"]) for o in run.of("object")}
    t.check("with the line that made it", sites["Net"].endswith(":15") and sites["Adam"].endswith(":16"), sites)
    t.equal("not more than 64 of a class have names", len([n for n in found if n.startswith("Linear")]), 64)
    check_members(t, run)
    check_calls(t, run)


def test_replaced_early(t: Harness) -> None:
    """A head that is exchanged between the making of the optimizer and the first step."""
    run = t.record("""
        import torch, torch.nn as nn
        net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        net[1] = nn.Linear(4, 2)
        for _ in range(2):
            net(torch.ones(1, 3)).sum().backward()
            optimizer.step()
        """)
    members = [(m["object"], m["name"], m["owner"], m["known_as"]) for m in run.of("member")]
    t.equal("the optimizer is said to have another than the model", members[-2:],
            [("SGD", "group0.2", "SGD", "group0.2"), ("SGD", "group0.3", "SGD", "group0.3")], members)


def test_loaded_before(t: Harness) -> None:
    """Parameters that are exchanged after the model became known, before the optimizer is made: as hubs load models."""
    run = t.record("""
        import torch, torch.nn as nn
        net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
        net.state_dict()
        for part in net:
            part.weight = nn.Parameter(torch.ones_like(part.weight))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        """)
    members = {m["name"]: (m["owner"], m["known_as"]) for m in run.of("member") if m["object"] == "SGD"}
    t.equal("the optimizer has those of the model", members, {
        "group0.0": ("Sequential", "0.weight"), "group0.1": ("Sequential", "0.bias"),
        "group0.2": ("Sequential", "1.weight"), "group0.3": ("Sequential", "1.bias")})


def test_frozen_at_once(t: Harness) -> None:
    """What no optimizer has is read in turns; that it was frozen is known in an optimizer's first step all the same."""
    run = t.record("""
        import torch, torch.nn as nn
        nets = [nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)) for _ in range(2)]
        def train(net, parameters, kind):
            optimizer = kind(parameters, lr=0.1)
            for _ in range(3):
                net(torch.ones(3, 4)).sum().backward()
                optimizer.step()
        train(nets[0], nets[0].parameters(), torch.optim.Adam)
        nets[1].load_state_dict(nets[0].state_dict())
        nets[1][0].requires_grad_(False)
        train(nets[1], nets[1][1].parameters(), torch.optim.SGD)
        """)
    names = [(i, e["kind"], e["fields"]) for i, e in enumerate(run.events)]
    steps = [i for i, kind, fields in names if kind == "call_begin" and fields["callee"] == "SGD.step"]
    frozen = [i for i, kind, fields in names if kind == "member" and fields["known_as"] in ("0.weight", "0.bias")
              and not fields["flags"]]
    t.equal("both are told as frozen", len(frozen), 2, run.of("member"))
    t.check("before the second step", len(steps) == 3 and all(i < steps[1] for i in frozen), frozen, steps)


def check_members(t: Harness, run: Run) -> None:
    members = [(m["object"], m["name"], m["owner"], m["known_as"], m["role"], m["flags"]) for m in run.of("member")]
    t.check("tied weights are one tensor", ("Net", "head.weight", "Net", "embed.weight", "parameter", 1) in members, members)
    t.check("buffers", ("Net", "seen", "Net", "seen", "buffer", 0) in members)
    t.check("an optimizer's parameters by their names", ("Adam", "group0.0", "Net", "embed.weight", "optimized", 1) in members)
    t.check("a wrapper has none of its own", not [m for m in members if m[0] == "Wrapped(Net)"])
    t.check("requires_grad has changed", ("Net", "embed.weight", "Net", "embed.weight", "parameter", 0) in members, members)
    groups = [(m["name"], m["owner"], m["group"]) for m in run.of("member") if m["object"] == "Adam"]
    t.check("a new group", ("group1.0", "Linear", 1) in groups, groups)
    t.check("a parameter that was replaced is in the optimizer, and in no model",
            ("Adam", "group1.0", "Adam", "group1.0", "optimized", 1) in members, members)
    t.check("weights that were tied are two", ("Net", "head.weight", "Net", "head.weight", "parameter", 0) in members)
    t.check("and the optimizer has the old one", ("Adam", "group0.0", "Net", "head.weight", "optimized", 0) in members)
    t.check("parameters of no module", ("SGD", "group0.0", "SGD", "group0.0", "optimized", 1) in members, members)
    fresh = [m for m in members if m[:2] == ("Net", "embed.weight")]
    t.equal("and its place is told again", fresh[-1][5], 1, members)


def check_calls(t: Harness, run: Run) -> None:
    calls = [(c["callee"], c["object"], c["flags"]) for c in run.of("call_begin")]
    t.check("a call says whose it is, and the modes", ("Wrapped.forward", "Wrapped(Net)", 39) in calls, calls[:20])
    t.check("a part in another mode is seen", ("Dropout.forward", "Net.drop", 5) in calls, calls[:30])
    zero = [e["seq"] for e in run.events if e["kind"] == "call_begin" and e["fields"]["callee"] == "Adam.zero_grad"]
    t.equal("zero_grad, with set_to_none",
            [(a["name"], a["value"]) for a in run.of("argument") if a["call"] == zero[0]], [("set_to_none", True)])
    t.equal("a scheduler's steps", len(run.calls("ReduceLROnPlateau.step")), 2)
    t.equal("and where it stands", states(run, "ReduceLROnPlateau", "last_epoch"), [0, 1, 2])
    name = next(o["of"] for o in run.of("object") if o["type"] == "average")
    t.check("an average is followed", len(states(run, name, "embed.weight")) >= 2)
    counts = [(g["moment"], g["none"], g["zero"], g["nonzero"]) for g in run.of("gradients") if g["object"] == "Adam"]
    t.equal("gradients before each backward and step", counts[:4],
            [("backward", 1, 0, 0), ("step", 0, 0, 1), ("backward", 1, 0, 0), ("step", 0, 0, 1)])


def test_later(t: Harness) -> None:
    run = t.record(LATER, "--detail", "lean")
    t.equal("nothing of the program runs when it is searched", run.status, 0, run.errors)
    found = {o["name"]: o["how"] for o in run.of("object")}
    t.equal("what was made before is found", found, {"Sequential": "walked", "SGD": "walked", "StepLR": "walked",
            "DataLoader": "walked", "SequentialSampler": "walked"})
    t.equal("and followed", len(states(run, "Sequential", "0.weight")), 2)


def test_scaler(t: Harness) -> None:
    run = t.record(SCALER, "--detail", "lean")
    t.equal("a scaler", objects(run).get("Scaler"), ("scaler", "Scaler", "", "made"), run.errors)
    t.equal("its scale", states(run, "Scaler", "scale"), [1024, 512])
    t.equal("what it found", states(run, "Scaler", "found_inf"), [True])
    t.equal("its calls", [c["callee"] for c in run.of("call_begin") if c["object"] == "Scaler"],
            ["Scaler.scale", "Scaler.unscale_", "Scaler.step", "Scaler.update"])


def test_many(t: Harness) -> None:
    run = t.record(MANY, "--detail", "lean")
    called = {c["object"] for c in run.of("call_begin") if c["callee"] == "Linear.forward"}
    t.equal("modules by the thousand are followed, each by its name", len(called), 1520, run.errors)
    states = [(s["owner"], s["attribute"]) for s in run.of("state") if s["type"] == "hash" and s["flags"] & 1]
    told = [state for state in states if not state[1].endswith(".grad")]
    t.check("and their parameters", {name for _, name in told} >= {f"{i}.bias" for i in range(1500)}, len(told))
    t.equal("none of which is taken for a new one later", len(told), len(set(told)))


if __name__ == "__main__":
    main(test_replaced_early, test_loaded_before, test_frozen_at_once, test_found, test_later, test_many, test_scaler,
         require=("torch",))
