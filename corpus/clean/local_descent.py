# SPDX-License-Identifier: Apache-2.0
"""Local SGD: each rank steps alone on its share of the rows, and every few steps the ranks average their weights."""
import argparse
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

# batch size, hidden units, optimizer, steps between two averages
CONFIGS = {
    "A": (16, 24, lambda p: torch.optim.SGD(p, lr=0.1), 12),
    "B": (8, 16, lambda p: torch.optim.Adam(p, lr=5e-3), 10),
    "C": (32, 40, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9), 14),
}


def average(model, world):
    with torch.no_grad():
        for weight in model.parameters():
            dist.all_reduce(weight.data)
            weight.data /= world


def batches(loader, sampler):
    epoch = 0
    while True:
        sampler.set_epoch(epoch)
        yield from loader
        epoch += 1


def run(rank, world, store, args):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world)
    size, hidden, make, period = CONFIGS[args.config]
    torch.manual_seed(args.seed)
    x = torch.randn(384, 5)
    y = ((x[:, 0] * x[:, 1] > 0).long() + (x[:, 2] > 0.5).long())
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data, world, rank, seed=args.seed)
    model = torch.nn.Sequential(torch.nn.Linear(5, hidden), torch.nn.GELU(), torch.nn.Linear(hidden, 3))
    optimizer = make(model.parameters())
    stream = batches(DataLoader(data, size, sampler=sampler), sampler)
    for step in range(1, args.steps + 1):
        inputs, labels = next(stream)
        loss = F.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % period == 0:
            average(model, world)
            if rank == 0:
                print("step", step, "loss", round(loss.item(), 4), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--config", choices=sorted(CONFIGS), default="A")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(run, (2, f"file://{folder}/store", args), nprocs=2, start_method="fork")
