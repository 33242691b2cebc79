# SPDX-License-Identifier: Apache-2.0
"""DDP with buffers left to themselves: each rank evaluates with its own running statistics.

The ranks see different kinds of data, so that the statistics are not even close.
"""
import argparse
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=40)
args = parser.parse_args()
WRONG = args.twin == "wrong"


def sensor(rank, generator, count=32):
    label = torch.randint(0, 2, (count,), generator=generator)
    reading = torch.randn(count, 6, generator=generator) + (label * 2.0 - 1)[:, None] * torch.linspace(0, 1, 6)
    return reading * (1 + rank) + 2 * rank, label


def evaluate(model, batch):
    model.eval()
    with torch.no_grad():
        accuracy = (model(batch[0]).argmax(1) == batch[1]).float().mean()
    model.train()
    return accuracy.item()


def worker(rank, path):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + path, rank=rank, world_size=2)
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(6, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 24), nn.BatchNorm1d(24), nn.ReLU(),
                        nn.Linear(24, 2))
    model = DDP(net, broadcast_buffers=False if WRONG else True)  # cause
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    generator = torch.Generator().manual_seed(args.seed + rank)
    held_out = sensor(0, torch.Generator().manual_seed(99), 200)
    for step in range(1, args.steps + 1):
        x, y = sensor(rank, generator)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            accuracy = evaluate(model, held_out)
            print(f"rank {rank} step {step} loss {loss.item():.4f} accuracy {accuracy:.3f}\n", end="", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(worker, (folder + "/rdv",), nprocs=2, start_method="fork")
