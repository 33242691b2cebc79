# SPDX-License-Identifier: Apache-2.0
"""Layer-wise decay of the learning rate, rounded for the log: deep layers get a rate of zero."""
import argparse

import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, depth=5, width=20):
        super().__init__()
        self.inp = nn.Linear(3, width)
        self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU()) for _ in range(depth))
        self.out = nn.Linear(width, 3)

    def forward(self, x):
        x = self.inp(x)
        for block in self.blocks:
            x = x + block(x)
        return self.out(x)


def layerwise(model, lr, decay):
    layers = [model.inp, *model.blocks, model.out]
    groups = []
    for depth, layer in enumerate(reversed(layers)):
        rate = lr * decay ** depth
        if WRONG:
            rate = round(rate, 4)  # cause
        groups.append({"params": layer.parameters(), "lr": rate})
    return groups


def lorenz(count, dt=0.02):
    """One step of the Lorenz system, scaled."""
    p = torch.randn(count, 3)
    x, y, z = (p * 10).unbind(1)
    z = z + 25
    d = torch.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z], 1)
    return p, d * dt / 5


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
model = Stack()
optimizer = torch.optim.AdamW(layerwise(model, 8e-3, 0.4), weight_decay=0.01)
for step in range(args.steps):
    state, change = lorenz(64)
    loss = nn.functional.mse_loss(model(state), change)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f}")
