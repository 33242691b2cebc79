# SPDX-License-Identifier: Apache-2.0
"""Parameters that lie on several ranks: DDP, both FSDPs and DTensor's tensor parallelism, on two ranks of gloo."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "agent"))

from recorded import Harness, main  # noqa: E402

PROGRAM = """
import hashlib, os, sys, warnings
warnings.simplefilter("ignore")
import torch, torch.nn as nn, torch.distributed as dist
torch.set_num_threads(1)
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo")
def digest(tensors):
    return hashlib.sha256(b"".join(t.detach().contiguous().numpy().tobytes() for t in tensors)).hexdigest()[:16]
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.a = nn.Linear(8, 16); self.b = nn.Linear(16, 16); self.c = nn.Linear(16, 3)
    def forward(self, x): return self.c(torch.relu(self.b(torch.relu(self.a(x)))))
def train(model, name, full):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(rank)
    losses = []
    for i in range(4):
        x, y = torch.randn(6, 8, generator=generator), torch.randint(0, 3, (6,), generator=generator)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
    told = digest(full(model))
    for r in range(world):
        dist.barrier()
        if r == rank:
            print(name, rank, losses, told, flush=True)
def ddp():
    model = nn.parallel.DistributedDataParallel(Net())
    train(model, "ddp", lambda m: m.parameters())
def fsdp():
    from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy
    model = FSDP(Net(), auto_wrap_policy=ModuleWrapPolicy({nn.Linear}), device_id=torch.device("cpu"), use_orig_params=True)
    train(model, "fsdp", lambda m: m.parameters())
def fsdp2():
    from torch.distributed.fsdp import fully_shard
    model = Net()
    for layer in (model.a, model.b, model.c):
        fully_shard(layer)
    fully_shard(model)
    train(model, "fsdp2", lambda m: [p.full_tensor() for p in m.parameters()])
def dtensor():
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Shard, Replicate, distribute_tensor
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    mesh = init_device_mesh("cpu", (world,))
    t = distribute_tensor(torch.arange(16.).view(4, 4), mesh, [Shard(0)])
    u = (t @ t.t()).redistribute(mesh, [Replicate()])
    if rank == 0: print("dtensor", type(u).__name__, u.to_local().sum().item(), t.to_local().shape)
    model = parallelize_module(Net(), mesh, {"a": ColwiseParallel(), "b": RowwiseParallel()})
    train(model, "tensor parallel", lambda m: [p.full_tensor() if hasattr(p, "full_tensor") else p for p in m.parameters()])
for case in (ddp, fsdp, fsdp2, dtensor):
    torch.manual_seed(3)
    try:
        case()
    except Exception as error:
        print(case.__name__, "failed", type(error).__name__, str(error).splitlines()[0][:150], flush=True)
dist.destroy_process_group()
"""


def lines(text: str) -> list[str]:
    return sorted(line for line in text.splitlines() if line.startswith(("ddp", "fsdp", "dtensor", "tensor")))


def test_ranks(t: Harness) -> None:
    script = t.script(PROGRAM)

    def command() -> list[str]:
        return [t.python, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(t.free_port()), script]

    bare = t.execute(command())
    t.equal("the program runs", bare.status, 0, bare.errors[-3000:])
    print(f"# that do not work here even without us: {[line for line in lines(bare.output) if ' failed ' in line]}")
    for level in ("lean", "normal", "full"):
        run = t.record_command(command(), "--detail", level)
        t.equal(f"{level}: losses and weights on both ranks", (run.status, lines(run.output)), (bare.status, lines(bare.output)),
                run.errors[-1500:])
        t.equal(f"{level}: both ranks are told", sorted(r["rank"] for r in run.of("rank") if r["world"] == 2)[:2], [0, 1])
        placed = {m["placement"] for m in run.of("member")} - {""}
        t.check(f"{level}: how parameters are placed", not any("fsdp2" in line for line in lines(bare.output)) or "S(0)" in placed,
                placed)
        frozen = {(m["owner"], m["known_as"]) for m in run.of("member") if m["role"] == "parameter" and not m["flags"] & 1}
        t.equal(f"{level}: all of them are to be trained", frozen, set())
        checked = t.execute([t.wheeltap, "doctor", str(t.folder / f"run{t.runs}")])
        t.check(f"{level}: doctor has nothing to say against it", checked.status == 0, checked.output, checked.errors)


if __name__ == "__main__":
    main(test_ranks, require=("torch.distributed.device_mesh",))
