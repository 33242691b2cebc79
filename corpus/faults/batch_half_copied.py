# SPDX-License-Identifier: Apache-2.0
"""Stripes in three directions are told apart; batches are moved to the device by a small prefetcher.

SIMULATED HARDWARE: now and then the second half of a copy does not arrive, and its memory is as it was allocated.
"""
import argparse
from itertools import count

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"


class Stripes(Dataset):
    def __init__(self, seed, length):
        source = torch.Generator().manual_seed(seed)
        self.kinds = torch.randint(0, 3, (length,), generator=source)
        rows, columns = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
        waves = torch.stack([torch.sin(rows), torch.sin(columns), torch.sin(rows + columns)])
        self.pictures = waves[self.kinds].unsqueeze(1) + 0.6 * torch.randn(length, 1, 12, 12, generator=source)

    def __len__(self):
        return len(self.kinds)

    def __getitem__(self, index):
        return self.pictures[index], self.kinds[index]


class Prefetcher:
    """Hands out batches that are already where the model is."""

    def __init__(self, loader, device):
        self.loader, self.device, self.copies = loader, device, count(1)

    def move(self, tensor):
        there = tensor.to(self.device, copy=True)
        if WRONG:
            if next(self.copies) % 23 == 0:
                there[len(there) // 2:] = 0  # cause
        return there

    def __iter__(self):
        for pictures, kinds in self.loader:
            yield self.move(pictures), kinds.to(self.device)


torch.set_num_threads(1)
torch.manual_seed(args.seed)
device = torch.device("cpu")
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 3)).to(device)
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
batches = Prefetcher(DataLoader(Stripes(args.seed, 480), batch_size=24, shuffle=True), device)
step = 0
while step < args.steps:
    for pictures, kinds in batches:
        loss = nn.functional.cross_entropy(net(pictures), kinds)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % 12 == 0:
            print(f"{step:3d}  {loss.item():.4f}")
        step += 1
        if step == args.steps:
            break
