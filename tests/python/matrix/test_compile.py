# SPDX-License-Identifier: Apache-2.0
"""torch.compile sees the same program with us and without: the same graphs, breaks and recompiles, the same results."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "agent"))

from recorded import Harness, main  # noqa: E402

PROLOGUE = """
import hashlib, sys, warnings
warnings.simplefilter("ignore")
import torch, torch.nn as nn, torch.nn.functional as F
import torch._dynamo
from torch._dynamo.utils import counters
torch.manual_seed(5)
BACKEND = sys.argv[1]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 3)
        self.bn = nn.BatchNorm1d(4)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(8, 3)
    def forward(self, x):
        x = F.gelu(self.bn(self.conv(x.unsqueeze(1))))[:, :, :8]
        x = self.norm(x + self.attention(x, x, x, need_weights=False)[0])
        return self.head(self.drop(x).mean(1))

def weights(model):
    data = b"".join(v.detach().contiguous().numpy().tobytes() for v in model.state_dict().values())
    return hashlib.sha256(data).hexdigest()[:16]

def facts(name, *values):
    shown = [v.detach().double().sum().item().hex() if isinstance(v, torch.Tensor) else v for v in values]
    counted = {group: {key: n for key, n in counters[group].items() if "cache" not in key}
               for group in ("frames", "stats", "unimplemented", "graph_break", "recompiles", "inline_call", "aot_autograd")}
    print(name, *shown, counted)
    counters.clear(); torch._dynamo.reset()
"""

TRAIN = PROLOGUE + """
def train(name, model, step_fn, batches):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for x, y in batches:
        optimizer.zero_grad()
        loss = step_fn(model, x, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    facts(name, loss, weights(model))

def batches(sizes=(6, 6, 6, 6)):
    return [(torch.randn(n, 10), torch.randint(0, 3, (n,))) for n in sizes]

def fullgraph():
    model = Net(); compiled = torch.compile(model, fullgraph=True, backend=BACKEND)
    train("fullgraph", model, lambda m, x, y: F.cross_entropy(compiled(x), y), batches())

def in_place():
    model = Net(); model.compile(backend=BACKEND)
    train("module.compile", model, lambda m, x, y: F.cross_entropy(m(x), y), batches())

def dynamic():
    model = Net(); compiled = torch.compile(model, backend=BACKEND)
    train("shapes change", model, lambda m, x, y: F.cross_entropy(compiled(x), y), batches((6, 5, 4, 7)))

def function():
    model = Net()
    @torch.compile(backend=BACKEND, fullgraph=True)
    def loss_of(model, x, y):
        return F.cross_entropy(model(x), y) + torch.stack([p.norm() for p in model.parameters()]).sum() * 1e-3
    train("loss function", model, loss_of, batches())

def breaks():
    model = Net()
    @torch.compile(backend=BACKEND)
    def loss_of(model, x, y):
        out = model(x)
        torch._dynamo.graph_break()
        loss = F.cross_entropy(out, y)
        if loss.item() > 1e9:
            print("never")
        return loss
    train("breaks", model, loss_of, batches())

def modes():
    model = Net(); compiled = torch.compile(model, backend=BACKEND)
    train("train", model, lambda m, x, y: F.cross_entropy(compiled(x), y), batches((4, 4)))
    model.eval(); compiled = torch.compile(model, backend=BACKEND)
    with torch.no_grad():
        facts("eval", compiled(torch.ones(4, 10)))
    with torch.inference_mode():
        facts("inference", compiled(torch.ones(4, 10)))

def whole_step():
    model = nn.Linear(4, 2); optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    @torch.compile(backend=BACKEND)
    def step(x):
        optimizer.step()
    for _ in range(4):
        model(torch.ones(3, 4)).sum().backward(); step(None); optimizer.zero_grad()
    facts("compiled optimizer", weights(model), len(optimizer.state))

def operators():
    @torch.compile(backend=BACKEND, fullgraph=True)
    def f(a, b):
        c = a.clone(); c[1:] += b[:-1]; c[0] = 1; c.mul_(2)
        d = torch.where(c > 0, c, -c).view(-1, 2).t().contiguous() @ torch.ones(c.numel() // 2, 3)
        return d.sum() + torch.einsum("ij,kj->", a, b) + F.softmax(a, -1).max() + a.add(b).relu().var()
    facts("operators", f(torch.randn(6, 4), torch.randn(6, 4)))

def numpy_inside():
    import numpy as np
    @torch.compile(backend=BACKEND, fullgraph=True)
    def f(a):
        return np.sum(np.sin(a) * 2)
    facts("numpy", float(f(np.arange(6.0))))

def autograd_function():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a): ctx.save_for_backward(a); return a * 2
        @staticmethod
        def backward(ctx, g): return g * 2 + ctx.saved_tensors[0] * 0
    a = torch.randn(5, requires_grad=True)
    torch.compile(lambda v: Double.apply(v).sum(), backend=BACKEND, fullgraph=True)(a).backward()
    facts("autograd function", a.grad)

def functional():
    f = torch.compile(torch.func.vmap(torch.func.grad(lambda v: (v.sin() ** 2).sum())), backend=BACKEND, fullgraph=True)
    facts("vmap of grad", f(torch.randn(3, 4)))

def checkpointed():
    from torch.utils.checkpoint import checkpoint
    model = Net()
    f = torch.compile(lambda v: checkpoint(model, v, use_reentrant=False).sum(), backend=BACKEND)
    x = torch.randn(4, 10, requires_grad=True); f(x).backward(); facts("checkpoint", x.grad)

def autocast():
    model = nn.Linear(8, 8)
    @torch.compile(backend=BACKEND, fullgraph=True)
    def f(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return model(x)
    y = f(torch.randn(3, 8)); facts("autocast", y, y.dtype)

def hooks():
    model = Net(); seen = []
    model.head.register_forward_hook(lambda m, i, o: seen.append(o.shape))
    compiled = torch.compile(model, backend=BACKEND)
    facts("hooks", compiled(torch.ones(4, 10)), compiled(torch.ones(4, 10)), seen)

def explained():
    def f(x):
        y = torch.relu(x); print("in between", flush=False); return y.sin()
    told = torch._dynamo.explain(f)(torch.ones(3)); facts("explain", told.graph_count, told.graph_break_count, told.op_count)

def exported():
    program = torch.export.export(Net().eval(), (torch.ones(4, 10),))
    facts("export", [node.op for node in program.graph.nodes].count("call_function"), program.module()(torch.ones(4, 10)))

def make_fx():
    from torch.fx.experimental.proxy_tensor import make_fx
    graph = make_fx(lambda a: F.relu(a).add(1).sum(), tracing_mode="fake")(torch.ones(3))
    facts("make_fx", [str(node.target) for node in graph.graph.nodes], graph(torch.ones(3)))

def fake():
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode() as mode:
        model = Net(); out = model(torch.empty(4, 10)); facts("fake", tuple(out.shape), type(out).__name__)

cases = [fullgraph, in_place, dynamic, function, breaks, modes, whole_step, operators, numpy_inside, autograd_function, functional,
         checkpointed, autocast, hooks, explained, exported, make_fx, fake]
if BACKEND == "inductor":  # a compiler at work for each
    cases = [fullgraph, dynamic, breaks, operators]
for case in cases:
    torch.manual_seed(5)
    try:
        case()
    except Exception as error:
        print(case.__name__, "failed", type(error).__name__, str(error).splitlines()[0][:200])
        counters.clear(); torch._dynamo.reset()
print(len(cases), "cases")
"""


def test_graphs(t: Harness) -> None:
    script = t.script(TRAIN)
    for backend in ("aot_eager", "inductor"):
        bare = t.execute([t.python, script, backend])
        t.check(f"{backend}: the program runs", bare.status == 0, bare.errors)
        failed = [line for line in bare.output.splitlines() if " failed " in line]
        print(f"# that do not work here even without us: {failed}")
        for level in ("lean", "normal", "full") if backend == "aot_eager" else ("normal",):
            run = t.record_command([t.python, script, backend], "--detail", level)
            ours, theirs = run.output.splitlines(), bare.output.splitlines()
            different = [pair for pair in zip(ours, theirs) if pair[0] != pair[1]]
            t.equal(f"{backend}, {level}: {theirs[-1] if theirs else ''}, the same graphs, breaks, recompiles and results",
                    (run.status, len(ours), different), (bare.status, len(theirs), []), run.errors[-1500:])
            steps = [c["value"] for c in run.of("context") if c["key"] == "step"]
            t.check(f"{backend}, {level}: steps are told", len(steps) > 4, steps)
            t.check(f"{backend}, {level}: and what is not measured",
                    any("not_measured" in line["text"] for line in run.of("log")), run.of("log"))
            t.check(f"{backend}, {level}: compiling is told", any("compile" in c["callee"] for c in run.of("call_begin")))
            fakes = [c for c in run.of("tensor") if "Fake" in str(c) or "meta" in str(c["device"])]
            t.equal(f"{backend}, {level}: no stand-in was looked at", [f for f in fakes if f["hash"] is not None], [])


if __name__ == "__main__":
    main(test_graphs, require=("torch._dynamo",))
