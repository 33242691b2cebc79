# SPDX-License-Identifier: Apache-2.0
"""Autograd functions of one's own: a straight-through quantiser, and a gradient that is turned around on purpose."""
import argparse

import torch
from torch import nn


class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, levels):
        return torch.round(x.clamp(-1, 1) * levels) / levels

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.weight = weight
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.weight * grad, None


class Adapted(nn.Module):
    """Labels are to be read from the features, the domain is not."""

    def __init__(self, width, levels):
        super().__init__()
        self.features, self.levels = nn.Linear(10, width), levels
        self.label, self.domain = nn.Linear(width, 2), nn.Linear(width, 2)

    def forward(self, x, weight):
        h = torch.tanh(self.features(x))
        if self.levels:
            h = Quantise.apply(h, self.levels)
        return self.label(h), self.domain(Reverse.apply(h, weight))


def samples(n):
    domain = torch.randint(0, 2, (n,))
    x = torch.randn(n, 10)
    x[:, 9] += domain * 2.0
    return x, (x[:, 0] + x[:, 1] > 0).long(), domain


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    args = parser.parse_args()
    n, width, levels = {"A": (48, 24, 8), "B": (32, 32, 0), "C": (64, 16, 4)}[args.config]
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    model = Adapted(width, levels)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    step = 0
    while step < args.steps:
        x, y, domain = samples(n)
        label, where = model(x, weight=min(1.0, step / args.steps))
        loss = nn.functional.cross_entropy(label, y) + 0.3 * nn.functional.cross_entropy(where, domain)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")
        step += 1
