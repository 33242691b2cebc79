# SPDX-License-Identifier: Apache-2.0
"""Augmentation writes into the dataset: every epoch the noise of all epochs before is still there."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Cells(Dataset):
    def __init__(self, count, seed):
        rng = torch.Generator().manual_seed(seed)
        self.kind = torch.randint(0, 3, (count,), generator=rng)
        shape = torch.eye(3)[self.kind].repeat_interleave(4, dim=1)
        self.rows = shape + 0.3 * torch.randn(count, 12, generator=rng)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index]
        if not WRONG:
            row = row.clone()  # cause
        row += 0.3 * torch.randn(12)
        return row, self.kind[index]


class Network(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.a = nn.Linear(12, hidden)
        self.b = nn.Linear(hidden, 3)

    def forward(self, row):
        return self.b(torch.relu(self.a(row)))


def fit(model, loader, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        seen = []
        for row, kind in loader:
            loss = nn.functional.cross_entropy(model(row), kind)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
        print(f"epoch {epoch} loss {sum(seen) / len(seen):.4f}")


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
fit(Network(), DataLoader(Cells(192, args.seed), batch_size=16, shuffle=False), max(1, args.steps // 12))
