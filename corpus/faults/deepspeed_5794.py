# SPDX-License-Identifier: Apache-2.0
"""Mixture of experts over two ranks, one expert each: tokens travel to their expert and back.

The capacity of an expert must be agreed upon; computed from local counts, the ranks exchange
buffers of different sizes. The real exchange hangs or mixes up tokens; here the buffers are
padded to a common ceiling, so that the run goes on with tokens dropped on one side.
"""
import argparse
import math
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("twin", choices=["right", "wrong"])
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--steps", type=int, default=30)
opt = ap.parse_args()
WRONG = opt.twin == "wrong"
CEILING, WIDTH = 64, 8


def exchange(tokens, capacity):
    """Give the first `capacity` rows to everyone. Returns both ranks' rows, padded to CEILING."""
    padded = tokens.new_zeros(CEILING, tokens.shape[1])
    padded[:min(capacity, len(tokens))] = tokens[:capacity]
    parts = [torch.empty_like(padded) for _ in range(2)]
    dist.all_gather(parts, padded)
    return parts


def expert_capacity(counts, factor=1.1):
    largest = counts.max().float()
    if not WRONG:
        dist.all_reduce(largest, op=dist.ReduceOp.MAX)
    return math.ceil(float(largest) * factor)  # cause


class Experts(nn.Module):
    """A gate that sends rows by their first feature, and this rank's expert."""

    def __init__(self, rank):
        super().__init__()
        self.rank = rank
        self.expert = nn.Sequential(nn.Linear(WIDTH, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x, y):
        """The answers for all rows that came to this rank's expert, and what they should be."""
        choice = (x[:, 0] > 0).long()
        capacity = expert_capacity(torch.bincount(choice, minlength=2))
        rows = torch.cat([x, y, torch.ones_like(y)], 1)
        sent = [exchange(rows[choice == expert], capacity) for expert in range(2)]
        arrived = torch.cat([part[:capacity] for part in sent[self.rank]])
        arrived = arrived[arrived[:, -1] > 0]
        return self.expert(arrived[:, :WIDTH]), arrived[:, WIDTH:-1]


def train(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(opt.seed)
    model = Experts(rank)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    source = torch.Generator().manual_seed(opt.seed + 10 * rank + 1)
    step = 0
    while step < opt.steps:
        x = torch.randn(60 - 28 * rank, WIDTH, generator=source)
        y = torch.where(x[:, :1] > 0, x[:, 1:2], -x[:, 2:3])
        answers, targets = model(x, y)
        loss = nn.functional.mse_loss(answers, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"rank={rank} step={step} loss={loss.item():.4f}", flush=True)
        step += 1
    dist.barrier()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        mp.start_processes(train, (directory + "/s",), nprocs=2, start_method="fork")
