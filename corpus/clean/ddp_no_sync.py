# SPDX-License-Identifier: Apache-2.0
"""Two ranks with accumulation under no_sync: gradients differ between the ranks until the last micro-batch, rightly."""
import argparse
import contextlib
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def run(rank, address, args):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    window, rows, width = {"A": (2, 16, 16), "B": (4, 8, 24), "C": (3, 12, 32)}[args.config]
    torch.manual_seed(args.seed)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(4, width), nn.ELU(), nn.Linear(width, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=args.steps // 2, gamma=0.2)
    torch.manual_seed(args.seed + 1 + rank)
    for step in range(args.steps):
        optimizer.zero_grad()
        total = 0.0
        for micro in range(window):
            x = torch.randn(rows, 4)
            y = x[:, :1].sin() + x[:, 1:2] * 0.3
            with model.no_sync() if micro < window - 1 else contextlib.nullcontext():
                loss = nn.functional.mse_loss(model(x), y) / window
                loss.backward()
            total += loss.item()
        optimizer.step()
        schedule.step()
        if step % 5 == 0:
            both = torch.tensor(total)
            dist.all_reduce(both)
            if rank == 0:
                print(f"step {step} loss {both.item() / 2:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("--seed", type=int, default=0)
    cli.add_argument("--steps", type=int, default=30)
    cli.add_argument("--config", choices=["A", "B", "C"], default="A")
    parsed = cli.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(run, (f"file://{folder}/here", parsed), nprocs=2, start_method="fork")
