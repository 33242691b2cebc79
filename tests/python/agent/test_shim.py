# SPDX-License-Identifier: Apache-2.0
"""What the shim adds: backward nodes, operators, edges, and tensors seen by torch's own types."""

from __future__ import annotations

import sys
from typing import Any

from recorded import Harness, Run, main

NET = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
for i in range(3):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
print(loss.item().hex())
"""
NODES = ["NllLossBackward0", "LogSoftmaxBackward0", "AddmmBackward0", "torch::autograd::AccumulateGrad", "TBackward0",
         "torch::autograd::AccumulateGrad", "ReluBackward0", "AddmmBackward0", "torch::autograd::AccumulateGrad",
         "TBackward0", "torch::autograd::AccumulateGrad"]


def operators(run: Run, scope: str) -> list[dict[str, Any]]:
    return [fields for fields in run.of("operator_begin") if fields["scope"] == scope]


def events_by_place(run: Run) -> dict[tuple[int, int], dict[str, Any]]:
    """Events by stream and what edges call them: the highest bit, the track, the sequence number."""
    return {(event["stream"], 1 << 63 | event["track"] << 32 | event["seq"]): event for event in run.events}


def arrows(run: Run) -> list[tuple[str, str]]:
    """Names of what edges from forward to backward join."""
    found = events_by_place(run)
    named = []
    for edge in (event for event in run.events if event["kind"] == "edge"):
        begin, end = (found[edge["stream"], int(edge["fields"][key])] for key in ("from", "to"))
        assert begin["kind"] in ("call_begin", "operator_begin") and end["kind"] == "operator_begin", (begin, end)
        named.append((begin["fields"].get("callee") or begin["fields"]["operator"], end["fields"]["operator"]))
    return named


def is_built(t: Harness) -> bool:
    """Whether this interpreter's torch has a shim."""
    run = t.record("import torch")
    return not any("no shim for torch" in line["text"] for line in run.of("log"))


def test_backward(t: Harness) -> None:
    run = t.record(NET, "--operators", "backward")
    t.equal("the program's own status", run.status, 0, run.errors)
    nodes = [node["operator"] for node in operators(run, "backward")]
    t.equal("every node of backward, in order", nodes, NODES * 3)
    t.equal("as many ends", len(run.of("operator_end")), len(run.of("operator_begin")))
    t.equal("an edge leads back to the call that made a node", arrows(run)[:7], [
        ("cross_entropy", "NllLossBackward0"), ("cross_entropy", "LogSoftmaxBackward0"),
        ("Linear.forward", "AddmmBackward0"), ("Linear.forward", "TBackward0"), ("ReLU.forward", "ReluBackward0"),
        ("Linear.forward", "AddmmBackward0"), ("Linear.forward", "TBackward0")])
    t.equal("other operators only when asked for", operators(run, "function"), [])
    normal = t.record(NET)
    t.equal("nothing unless asked for", normal.of("operator_begin", "edge"), [])
    full = t.record(NET, "--detail", "full")
    t.equal("or at full", [node["operator"] for node in operators(full, "backward")], NODES * 3)
    t.equal("the same result", (run.output, normal.output, full.output), (t.bare(NET).output,) * 3)


def test_operators(t: Harness) -> None:
    run = t.record(NET, "--operators", "all")
    names = {operator["operator"] for operator in operators(run, "function")}
    t.check("operators below Python", {"aten::addmm", "aten::mm", "aten::add_"} <= names, sorted(names))
    t.equal("edges begin at the operator", arrows(run)[:3], [
        ("aten::nll_loss_forward", "NllLossBackward0"), ("aten::_log_softmax", "LogSoftmaxBackward0"),
        ("aten::addmm", "AddmmBackward0")])
    t.equal("the same result", run.output, t.bare(NET).output)
    none = t.record(NET, "--operators", "all", "--skip", "torch.ops.*,torch.autograd.*")
    off = t.record(NET, "--operators", "off")
    t.equal("--skip or --operators off leave them out", none.of("operator_begin") + off.of("operator_begin"), [])


def test_origin_of_nan(t: Harness) -> None:
    """sqrt has an infinite slope at 0; times 0 that is NaN, and only backward ever holds it."""
    run = t.record("""
        import torch
        x = torch.tensor([0.0, 4.0], requires_grad=True)
        loss = (torch.sqrt(x) * torch.tensor([0.0, 1.0])).sum()
        loss.backward()
        print(x.grad)
        """, "--operators", "outputs")
    found = events_by_place(run)
    bad = [found[event["stream"], 1 << 63 | event["track"] << 32 | event["fields"]["call"]]["fields"].get("operator")
           for event in run.events
           if event["kind"] == "tensor" and event["fields"]["nan"] and event["fields"]["position"] == -1]
    t.equal("the operator that made the first NaN", bad[:1], ["aten::div"], run.output, bad)


def test_retained(t: Harness) -> None:
    run = t.record("""
        import torch
        w = torch.ones(3, requires_grad=True)
        state = torch.zeros(3)
        for i in range(4):
            state = torch.tanh(state + w)
            torch.sum(state).backward(retain_graph=True)
        """, "--operators", "backward")
    counts: list[int] = []
    for event in run.events:
        fields = event["fields"]
        if event["kind"] == "call_begin" and fields["callee"] == "Tensor.backward":
            counts.append(0)
        elif event["kind"] == "operator_begin" and fields["scope"] == "backward" and counts:
            counts[-1] += 1
    t.check("a graph that grows from step to step shows in the nodes of each backward",
            len(counts) == 4 and all(b > a for a, b in zip(counts, counts[1:])), counts)


def test_threads(t: Harness) -> None:
    """Reentrant backward beyond the engine's depth goes on in threads of the engine's own."""
    run = t.record("""
        import threading, torch
        from torch.utils.checkpoint import checkpoint
        import wheeltap
        wheeltap.step(7)
        x = torch.ones(2, requires_grad=True)
        class Deep(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, depth):
                ctx.depth = depth
                return x.clone()
            @staticmethod
            def backward(ctx, grad):
                if ctx.depth:
                    with torch.enable_grad():
                        y = Deep.apply(torch.ones(2, requires_grad=True), ctx.depth - 1).sum()
                    y.backward()
                return grad * 2, None
        Deep.apply(x, 70).sum().backward()
        checkpoint(lambda v: torch.relu(v * 2), x, use_reentrant=True).sum().backward()
        def train(step):
            wheeltap.step(step)
            v = torch.ones(2, requires_grad=True)
            (v * 3).sum().backward()
        for step in (20, 30):
            thread = threading.Thread(target=train, args=(step,))
            thread.start()
            thread.join()
        print(x.grad.tolist())
        """, "--operators", "backward")
    t.equal("it runs", (run.status, run.output), (0, "[4.0, 4.0]\n"), run.errors)
    steps: dict[int, Any] = {}
    seen: dict[int, set[Any]] = {}
    for event in run.events:
        if event["kind"] == "context" and event["fields"]["key"] == "step":
            steps[event["track"]] = event["fields"]["value"]
        elif event["kind"] == "operator_begin":
            seen.setdefault(event["track"], set()).add(steps.get(event["track"], -1))
    t.equal("each track has the step of whoever called backward", sorted(map(sorted, seen.values())),
            sorted([[7]] * (len(seen) - 2) + [[20], [30]]))
    t.check("the engine's own threads have tracks", len(seen) > 3, seen)


def test_stop(t: Harness) -> None:
    run = t.record("""
        import torch, wheeltap
        x = torch.ones(2, requires_grad=True)
        def once():
            torch.exp(x).sum().backward()
        once()
        wheeltap.stop()
        once()
        wheeltap.start()
        once()
        try:
            torch.mm(x, x)
        except RuntimeError:
            pass
        """, "--operators", "all")
    t.equal("stopped means not watched", len([node for node in operators(run, "backward")
                                              if node["operator"] == "ExpBackward0"]), 2)
    thrown = {end["operator"] for end in run.of("operator_end") if int(end["flags"])}
    t.check("an operator that throws is told so", "aten::mm" in thrown, thrown)


def test_guest(t: Harness) -> None:
    """Scripted functions, mixed precision, workers, forks: the same output with the shim at work."""
    code = """
        import multiprocessing, os, torch, torch.nn as nn
        torch.manual_seed(1)
        @torch.jit.script
        def scripted(x):
            return torch.relu(x @ x) + 1
        def child():
            y = torch.ones(3, requires_grad=True)
            (y * y).sum().backward()
            os._exit(int(y.grad.sum().item()))
        if __name__ == "__main__":
            x = torch.randn(4, 4, requires_grad=True)
            for _ in range(4):
                scripted(x).sum().backward()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                (x @ x).float().sum().backward()
            loader = torch.utils.data.DataLoader(torch.arange(8.0), batch_size=4, num_workers=2)
            total = sum((batch * x.sum()).sum() for batch in loader)
            total.backward()
            process = multiprocessing.get_context("fork").Process(target=child)
            process.start()
            process.join()
            with torch.autograd.profiler.profile() as profile:
                (x * 2).sum().backward()
            print(x.grad.sum().item().hex(), process.exitcode, len(profile.function_events) > 0)
        """
    bare = t.bare(code)
    for which in ("backward", "outputs"):
        run = t.record(code, "--operators", which)
        t.equal(f"{which}: as without recording", (run.status, run.output), (0, bare.output), run.errors, bare.errors)
        t.check(f"{which}: nodes were told", len(operators(run, "backward")) > 10)


def test_ranks(t: Harness) -> None:
    code = """
        import os, sys, torch, torch.nn as nn, torch.multiprocessing as mp, torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel
        def rank(number):
            os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[1])
            dist.init_process_group("gloo", rank=number, world_size=2)
            torch.manual_seed(number)
            net = DistributedDataParallel(nn.Linear(4, 2))
            for _ in range(2):
                net(torch.randn(3, 4)).sum().backward()
            if number == 0:
                print(net.module.weight.grad.sum().item().hex())
            dist.destroy_process_group()
        if __name__ == "__main__":
            mp.spawn(rank, nprocs=2)
        """
    script = t.script(code)
    ports = [str(t.free_port()), str(t.free_port())]
    bare = t.execute([t.python, script, ports[0]])
    run = t.record_command([t.python, script, ports[1]], "--operators", "backward")
    t.equal("two ranks: the same gradients", (run.status, run.output), (0, bare.output), run.errors)
    reduced = [event for event in run.of("operator_async") if event["operator"] == "gloo:all_reduce"]
    phases = [event["phase"] for event in reduced]
    t.check("the reducer's collectives begin and end", phases.count("begin") == phases.count("end") >= 4, phases)


def test_missing(t: Harness) -> None:
    """Where it was asked for and is missing, info and doctor say so, and how to build it."""
    hide = "import wheeltap._shim as s\ns.file_name = lambda torch: 'none.so'\n"
    run = t.record(hide + NET, "--operators", "backward")
    t.equal("nothing of backward", (run.status, operators(run, "backward")), (0, []), run.errors)
    for verb in ("info", "doctor"):
        said = t.execute([t.wheeltap, verb, str(t.folder / f"run{t.runs}")])
        t.check(f"{verb} says what is not measured", "not measured: what torch" in said.errors and
                f"build it with: wheeltap python add {t.python}" in said.errors, said.errors)
    normal = t.record(hide + NET)
    said = t.execute([t.wheeltap, "info", str(t.folder / f"run{t.runs}")])
    t.check("nothing where it was not asked for", "not measured" not in said.errors, said.errors)


def skip_without(t: Harness) -> None:
    if not is_built(t):
        print(f"1..0 # skip {t.python} has no shim for its torch: torch's headers are missing (Debian: libtorch-dev)")
        sys.exit(0)


if __name__ == "__main__":
    main(skip_without, test_backward, test_operators, test_origin_of_nan, test_retained, test_threads, test_stop, test_guest,
         test_ranks, test_missing, require=("torch",))
