# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel on two ranks as it should be: sampler with epochs, buffers broadcast, only rank 0 prints."""
import argparse
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

CONFIGS = {"A": (16, 24, True), "B": (8, 32, False), "C": (32, 16, True)}


def dataset(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(256, 9, generator=g)
    return TensorDataset(x, (x[:, :3].sum(1) > x[:, 3:6].sum(1)).long())


def worker(rank, world, store, args):
    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world)
    batch, width, norm = CONFIGS[args.config]
    torch.manual_seed(args.seed + rank)  # DDP sends rank 0's weights to all
    net = nn.Sequential(nn.Linear(9, width), nn.BatchNorm1d(width) if norm else nn.Identity(), nn.ReLU(), nn.Linear(width, 2))
    model = DDP(net)
    data = dataset(args.seed)
    sampler = DistributedSampler(data, world, rank, shuffle=True)
    loader = DataLoader(data, batch, sampler=sampler, drop_last=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    step = epoch = 0
    while step < args.steps:
        sampler.set_epoch(epoch)
        model.train()
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step == args.steps:
                break
        epoch += 1
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if rank == 0:
            print(f"epoch {epoch} step {step} loss {mean.item() / world:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--config", choices=CONFIGS, default="A")
    parsed = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(worker, (2, f"file://{folder}/store", parsed), nprocs=2,
                           start_method="spawn" if parsed.config == "B" else "fork")
