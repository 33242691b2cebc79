# SPDX-License-Identifier: Apache-2.0
"""DDP with a plain loader: both ranks read the same rows in the same order, and the second is for nothing."""
import argparse
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=32)
args = parser.parse_args()
WRONG = args.twin == "wrong"


class Gesture(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.GRU(3, 20, batch_first=True)
        self.head = torch.nn.Linear(20, 4)

    def forward(self, motion):
        return self.head(self.rnn(motion)[1][-1])


def recordings(count=256):
    kind = torch.randint(0, 4, (count,))
    time = torch.linspace(0, 6.28, 12)
    motion = torch.stack([torch.sin(time * (1 + kind[:, None] % 2)), torch.cos(time * (1 + kind[:, None] // 2)),
                          torch.zeros(count, 12)], -1)
    return TensorDataset(motion + 0.3 * torch.randn_like(motion), kind)


def loader_for(dataset, rank):
    if WRONG:
        return DataLoader(dataset, batch_size=16, shuffle=True)  # cause
    sampler = DistributedSampler(dataset, num_replicas=2, rank=rank, seed=args.seed)
    return DataLoader(dataset, batch_size=16, sampler=sampler)


def fit(rank, rendezvous):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=rendezvous, rank=rank, world_size=2)
    torch.manual_seed(args.seed)
    loader = loader_for(recordings(), rank)
    model = DistributedDataParallel(Gesture())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    step = epoch = 0
    while step < args.steps:
        if hasattr(loader.sampler, "set_epoch"):
            loader.sampler.set_epoch(epoch)
        for motion, kind in loader:
            loss = F.cross_entropy(model(motion), kind)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if rank == 0 and step % 4 == 0:
                print(f"step {step} loss {loss.item():.4f}", flush=True)
            step += 1
            if step == args.steps:
                break
        epoch += 1
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as tmp:
        mp.start_processes(fit, (f"file://{tmp}/r",), nprocs=2, start_method="fork")
