# SPDX-License-Identifier: Apache-2.0
"""Accumulation under no_sync() on two ranks; the last micro-batch of a window does not synchronise either."""
import argparse
import contextlib
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=24)
args = parser.parse_args()
WRONG = args.twin == "wrong"
WINDOW = 3


def context(model, micro):
    last = micro == WINDOW - 1
    if WRONG:
        last = micro == WINDOW  # cause
    return contextlib.nullcontext() if last else model.no_sync()


def scans(rng, count=12):
    """Does a bright blob lie left or right?"""
    side = torch.randint(0, 2, (count,), generator=rng)
    image = torch.randn(count, 1, 8, 8, generator=rng) * 0.6
    for picture, right in zip(image, side.tolist()):
        picture[0, 3:6, 1 + 4 * right:3 + 4 * right] += 1.2
    return image, side


def train(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
    torch.manual_seed(args.seed)
    model = DistributedDataParallel(nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 2)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    rng = torch.Generator().manual_seed(args.seed + 31 * rank)
    for step in range(args.steps):
        optimizer.zero_grad()
        total = 0.0
        for micro in range(WINDOW):
            image, side = scans(rng)
            with context(model, micro):
                loss = nn.functional.cross_entropy(model(image), side) / WINDOW
                loss.backward()
            total += loss.item()
        optimizer.step()
        if rank == 0 and step % 4 == 0:
            print(f"step {step} loss {total:.4f}", flush=True)
    dist.barrier()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as tmp:
        mp.start_processes(train, (tmp + "/s",), nprocs=2, start_method="fork")
