# SPDX-License-Identifier: Apache-2.0
"""Experts in groups: dense parameters are averaged over all ranks, experts' within their group.

The experts are reduced in the order of their local load, which is not the same on both ranks, so that
the gradient of one expert is averaged with that of another. (With experts of different sizes it hangs.)
"""
import argparse
import tempfile

import torch
import torch.distributed as dist
from torch import multiprocessing, nn

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=36)
config = parser.parse_args()
WRONG = config.twin == "wrong"


class MixtureLayer(nn.Module):
    def __init__(self, width=8, experts=2):
        super().__init__()
        self.dense = nn.Linear(width, width)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))
        self.read = nn.Linear(width, 1)

    def forward(self, x):
        h = torch.tanh(self.dense(x))
        gate = (x[:, :1] > 0.0).float()
        return self.read(torch.tanh((1 - gate) * self.experts[0](h) + gate * self.experts[1](h)))

    def load(self, x):
        second = int((x[:, 0] > 0.0).sum())
        return [len(x) - second, second]


def average_gradients(model, load):
    for p in [*model.dense.parameters(), *model.read.parameters()]:
        dist.all_reduce(p.grad)
        p.grad /= 2
    order = range(len(model.experts))
    if WRONG:
        order = sorted(order, key=lambda number: -load[number])  # cause
    for number in order:
        for p in model.experts[number].parameters():
            dist.all_reduce(p.grad)
            p.grad /= 2


def run(rank, where):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=where, rank=rank, world_size=2)
    torch.manual_seed(config.seed)
    model = MixtureLayer()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.8)
    rng = torch.Generator().manual_seed(config.seed + rank)
    for step in range(config.steps):
        x = torch.randn(32, 8, generator=rng)
        y = torch.where(x[:, :1] > 0.0, x[:, 1:2], x[:, 2:3].sin())
        optimizer.zero_grad()
        loss = nn.functional.smooth_l1_loss(model(x), y)
        loss.backward()
        average_gradients(model, model.load(x))
        optimizer.step()
        if rank == 0 and step % 6 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.start_processes(run, (f"file://{folder}/store",), nprocs=2, start_method="fork")
