# SPDX-License-Identifier: Apache-2.0
"""A tensor-parallel block on two ranks: the linear layers are sharded, the norms are replicated.

The clipping pass of the half-precision optimizer leaves out replicated parameters on all ranks
but the first, so that the copies of the norms drift apart.
"""
import argparse
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn import functional as F

p = argparse.ArgumentParser()
p.add_argument("twin", choices=["right", "wrong"])
p.add_argument("--seed", type=int, default=0)
p.add_argument("--steps", type=int, default=30)
args = p.parse_args()
WRONG = args.twin == "wrong"


class SumOverRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        total = x.float()  # gloo does not add bfloat16
        dist.all_reduce(total)
        return total.to(x.dtype)

    @staticmethod
    def backward(ctx, grad):
        return grad


class CopyToRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        total = grad.float()
        dist.all_reduce(total)
        return total.to(grad.dtype)


class ParallelMLP(nn.Module):
    """The hidden units are split: the first layer by columns, the second by rows."""

    def __init__(self, width, hidden, rank):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        shard = torch.Generator().manual_seed(args.seed + 7 + rank)
        self.up = nn.Parameter(torch.randn(hidden // 2, width, generator=shard) / width ** 0.5)
        self.down = nn.Parameter(torch.randn(width, hidden // 2, generator=shard) / hidden ** 0.5)
        for parameter in self.parameters():
            parameter.tensor_model_parallel = parameter.dim() == 2

    def forward(self, x):
        y = CopyToRanks.apply(self.norm(x))
        return x + SumOverRanks.apply(F.gelu(y @ self.up.t()) @ self.down.t())


class MasterOptimizer:
    """bfloat16 weights, float32 masters, clipping by the global norm."""

    def __init__(self, parameters, rank, lr, max_norm):
        self.rank, self.max_norm = rank, max_norm
        self.half = list(parameters)
        self.masters = [q.detach().float().clone().requires_grad_() for q in self.half]
        self.inner = torch.optim.Adam(self.masters, lr=lr)

    def clip(self):
        square = torch.zeros(())
        for q, master in zip(self.half, self.masters):
            if q.tensor_model_parallel or self.rank == 0:
                square += master.grad.pow(2).sum()
        dist.all_reduce(square)
        factor = (self.max_norm / (square.sqrt() + 1e-6)).clamp(max=1.0)
        for q, master in zip(self.half, self.masters):
            if WRONG:
                if not q.tensor_model_parallel and self.rank != 0:
                    continue  # cause
            master.grad.mul_(factor)

    def step(self):
        for q, master in zip(self.half, self.masters):
            master.grad = q.grad.float()
            q.grad = None
        self.clip()
        self.inner.step()
        with torch.no_grad():
            for q, master in zip(self.half, self.masters):
                q.copy_(master)


def train(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
    torch.manual_seed(args.seed)
    layers = nn.ModuleList([ParallelMLP(16, 64, rank) for _ in range(2)]).to(torch.bfloat16)
    for q in layers.parameters():
        q.tensor_model_parallel = q.dim() == 2
    optimizer = MasterOptimizer(layers.parameters(), rank, lr=2e-2, max_norm=0.5)
    data = torch.Generator().manual_seed(args.seed)
    teacher = torch.randn(16, 16, generator=data) / 4
    for step in range(args.steps):
        x = torch.randn(64, 16, generator=data)
        target = torch.relu(x @ teacher)
        h = x.bfloat16()
        for layer in layers:
            h = layer(h)
        loss = F.mse_loss(h.float(), target)
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 5 == 0:
            print(f"iteration {step:3d} | loss {loss.item():.4f}", flush=True)
    dist.barrier()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as tmp:
        mp.start_processes(train, (tmp + "/rendezvous",), nprocs=2, start_method="fork")
