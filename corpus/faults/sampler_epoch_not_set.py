# SPDX-License-Identifier: Apache-2.0
"""Two ranks with a DistributedSampler that is never told the epoch: the same order again and again."""
import argparse
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=40)
args = parser.parse_args()
WRONG = args.twin == "wrong"


class Polynomials(Dataset):
    def __init__(self, count, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.rand(count, 3, generator=g) * 2 - 1
        self.y = self.x[:, :1] ** 2 - self.x[:, 1:2] * self.x[:, 2:3]

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def run(rank, world, init):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=init, rank=rank, world_size=world)
    dataset = Polynomials(256, args.seed)
    sampler = DistributedSampler(dataset, num_replicas=world, rank=rank, shuffle=True, seed=args.seed)
    loader = DataLoader(dataset, batch_size=16, sampler=sampler)
    torch.manual_seed(args.seed)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(3, 40), nn.GELU(), nn.Linear(40, 1)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-2)
    for epoch in range(args.steps // len(loader)):
        if not WRONG:
            sampler.set_epoch(epoch)  # cause
        total = 0.0
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if rank == 0:
            print(f"epoch {epoch}: loss {total / len(loader):.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as tmp:
        mp.start_processes(run, (2, f"file://{tmp}/sync"), nprocs=2, start_method="fork")
