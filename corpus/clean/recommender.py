# SPDX-License-Identifier: Apache-2.0
"""Ratings by matrix factorisation: users in one batch do not appear in the next, so their rows rest; two groups."""
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Ratings(Dataset):
    def __init__(self, seed, count):
        rng = np.random.default_rng(seed)
        taste, style = rng.normal(size=(60, 3)), rng.normal(size=(40, 3))
        self.users, self.items = rng.integers(0, 60, count), rng.integers(0, 40, count)
        self.stars = ((taste[self.users] * style[self.items]).sum(1) + rng.normal(0, 0.2, count)).astype(np.float32)

    def __len__(self):
        return len(self.stars)

    def __getitem__(self, i):
        return self.users[i], self.items[i], self.stars[i]


class Factors(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.users, self.items = nn.Embedding(60, width), nn.Embedding(40, width)
        self.user_bias, self.item_bias = nn.Embedding(60, 1), nn.Embedding(40, 1)
        for table in (self.user_bias, self.item_bias):
            nn.init.zeros_(table.weight)

    def forward(self, users, items):
        dot = (self.users(users) * self.items(items)).sum(1)
        return dot + self.user_bias(users)[:, 0] + self.item_bias(items)[:, 0]


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--steps", type=int, default=60)
    ap.add_argument("--config", choices=["A", "B", "C"], default="A")
    ns = ap.parse_args()
    size, width, workers = {"A": (64, 6, 0), "B": (32, 4, 2), "C": (128, 8, 0)}[ns.config]
    torch.set_num_threads(1)
    torch.manual_seed(ns.seed)
    loader = DataLoader(Ratings(ns.seed, 1200), batch_size=size, shuffle=True, num_workers=workers)
    model = Factors(width)
    biases = [*model.user_bias.parameters(), *model.item_bias.parameters()]
    tables = [*model.users.parameters(), *model.items.parameters()]
    optimizer = torch.optim.Adam([{"params": tables, "weight_decay": 1e-4}, {"params": biases, "lr": 1e-2}], lr=3e-2)
    step = 0
    while step < ns.steps:
        for users, items, stars in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(users, items), stars)
            loss.backward()
            optimizer.step()
            if step % 10 == 0:
                print(f"step {step} loss {loss.item():.4f}")
            step += 1
            if step == ns.steps:
                break
