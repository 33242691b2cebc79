# SPDX-License-Identifier: Apache-2.0
"""A network that solves a differential equation: the same points in every step, with gradients by the input."""
import argparse

import torch


class Swing(torch.nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        sizes = [1] + [width] * depth
        self.hidden = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.out = torch.nn.Linear(width, 1)
        self.frequency = torch.nn.Parameter(torch.tensor(1.0))

    def forward(self, t):
        for layer in self.hidden:
            t = torch.sin(layer(t))
        return self.out(t)


def residual(swing, t):
    """y'' + w² y, which should be nowhere."""
    y = swing(t)
    speed, = torch.autograd.grad(y.sum(), t, create_graph=True)
    force, = torch.autograd.grad(speed.sum(), t, create_graph=True)
    return force + swing.frequency ** 2 * y


arguments = argparse.ArgumentParser()
arguments.add_argument("--seed", type=int, default=0)
arguments.add_argument("--steps", type=int, default=50)
arguments.add_argument("--config", choices=["A", "B", "C"], default="A")
arguments = arguments.parse_args()
points, width, depth, rate = {"A": (40, 16, 2, 3e-3), "B": (25, 24, 1, 1e-2), "C": (60, 12, 3, 2e-3)}[arguments.config]
torch.set_num_threads(1)
torch.manual_seed(arguments.seed)
grid = torch.linspace(0, 3, points).unsqueeze(1).requires_grad_(True)
seen = torch.linspace(0, 3, 8).unsqueeze(1)
swing = Swing(width, depth)
adam = torch.optim.Adam(swing.parameters(), lr=rate)
for attempt in range(arguments.steps):
    known = (swing(seen) - torch.cos(1.4 * seen)).square().mean()
    loss = known + 0.1 * residual(swing, grid).square().mean()
    adam.zero_grad()
    loss.backward()
    adam.step()
    if attempt % 10 == 0:
        print(f"{attempt}: loss {loss.item():.5f}")
print(f"frequency {swing.frequency.item():.3f}")
