# SPDX-License-Identifier: Apache-2.0
"""Layer-wise learning rates put together by name; one layer is in none of the groups."""
import argparse

import torch
from torch import nn


class Volume(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(12, 32)
        self.layer1 = nn.Linear(32, 32)
        self.layer2 = nn.Linear(32, 32)
        self.layer3 = nn.Linear(32, 32)
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        for layer in (self.layer1, self.layer2, self.layer3):
            x = x + torch.relu(layer(x))
        return self.head(x)


def groups(model, lr, decay=0.7):
    names = ["stem", "layer1", "layer2", "layer3", "head"]
    if WRONG:
        names = ["stem"] + [f"layer{i}" for i in range(1, 3)] + ["head"]  # cause
    return [{"params": list(getattr(model, name).parameters()), "lr": lr * decay ** (len(names) - 1 - depth)}
            for depth, name in enumerate(names)]


def batch(centres):
    y = torch.randint(0, len(centres), (64,))
    return centres[y] + torch.randn(64, 12) * 0.8, y % 4


def train(model, optimizer, centres, steps):
    losses = []
    for _ in range(steps):
        x, y = batch(centres)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("twin", choices=["right", "wrong"])
    cli.add_argument("--seed", type=int, default=0)
    cli.add_argument("--steps", type=int, default=60)
    ns = cli.parse_args()
    WRONG = ns.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(ns.seed)
    model = Volume()
    losses = train(model, torch.optim.Adam(groups(model, 1e-2)), torch.randn(12, 12), ns.steps)
    for i, loss in enumerate(losses):
        if i % 10 == 0:
            print("step", i, "loss", f"{loss:.4f}")
