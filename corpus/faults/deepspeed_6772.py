# SPDX-License-Identifier: Apache-2.0
"""An engine whose constructor overwrites an attribute of the user's model.

The model keeps its own `id`, by which it takes its share of the data; the engine writes its count of
engines in this process over it, which is the same number on all ranks.
"""
import argparse
import itertools
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=30)
args = parser.parse_args()
WRONG = args.twin == "wrong"
engines = itertools.count()


class Recommender(nn.Module):
    """Matrix factorisation; `id` says which shard of the ratings is this replica's."""

    def __init__(self, replica, users=40, items=30, width=8):
        super().__init__()
        self.id = replica
        self.users, self.items = nn.Embedding(users, width), nn.Embedding(items, width)
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, user, item):
        return (self.users(user) * self.items(item)).sum(-1) + self.bias

    def shard(self, ratings):
        return ratings[self.id::2]


class Engine:
    def __init__(self, module):
        number = next(engines)
        if WRONG:
            module.id = number  # cause
        else:
            self.id = number
        self.module = module
        self.optimizer = torch.optim.Adam(module.parameters(), lr=2e-2)

    def step(self, rows):
        loss = F.mse_loss(self.module(rows[:, 0].long(), rows[:, 1].long()), rows[:, 2])
        self.optimizer.zero_grad()
        loss.backward()
        for p in self.module.parameters():
            dist.all_reduce(p.grad)
            p.grad /= dist.get_world_size()
        self.optimizer.step()
        return loss.item()


def ratings(seed, count=2400):
    g = torch.Generator().manual_seed(seed)
    u, i = torch.randn(40, 3, generator=g), torch.randn(30, 3, generator=g)
    user = torch.randint(0, 40, (count,), generator=g)
    item = torch.randint(0, 30, (count,), generator=g)
    return torch.stack([user.float(), item.float(), (u[user] * i[item]).sum(1)], 1)


def main(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=2)
    torch.manual_seed(args.seed)
    engine = Engine(Recommender(replica=rank))
    mine = engine.module.shard(ratings(args.seed))
    for step in range(args.steps):
        rows = mine[torch.arange(step * 64, step * 64 + 64) % len(mine)]
        loss = engine.step(rows)
        if rank == 0 and step % 5 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)
    dist.barrier()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(main, (f"file://{folder}/x",), nprocs=2)
