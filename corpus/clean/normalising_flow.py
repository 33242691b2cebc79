# SPDX-License-Identifier: Apache-2.0
"""A flow of coupling layers fitted by maximum likelihood; the masks are buffers that never change."""
import argparse
import math

import torch
from torch import nn


class Coupling(nn.Module):
    def __init__(self, width, flip):
        super().__init__()
        self.register_buffer("mask", torch.tensor([0.0, 1.0] if flip else [1.0, 0.0]))
        self.net = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 4))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        scale, shift = self.net(x * self.mask).chunk(2, dim=1)
        scale = torch.tanh(scale) * (1 - self.mask)
        return x * torch.exp(scale) + shift * (1 - self.mask), scale.sum(1)


class Flow(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.layers = nn.ModuleList([Coupling(width, flip=bool(i % 2)) for i in range(depth)])

    def log_prob(self, x):
        total = 0.0
        for layer in self.layers:
            x, log_det = layer(x)
            total = total + log_det
        return total - 0.5 * x.pow(2).sum(1) - math.log(2 * math.pi)


def bananas(n):
    a, b = torch.randn(2, n)
    return torch.stack([a, 0.5 * b + a.pow(2) - 1], 1)


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=50)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
depth, width, n = {"A": (4, 16, 128), "B": (2, 32, 64), "C": (6, 12, 96)}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)
flow = Flow(depth, width)
optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
for step in range(args.steps):
    loss = -flow.log_prob(bananas(n)).mean()
    flow.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"{step:4d} loss {loss.item():.4f}")
