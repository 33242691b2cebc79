# SPDX-License-Identifier: Apache-2.0
"""A compiled optimizer that lacks a guard: it remembers which parameters had gradients.

The first call comes before any backward, so the remembered list is empty and no later call
updates anything. SIMULATED COMPILER: the cache below stands for the compiled function.
"""
import argparse
import functools
import math

import torch
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("twin", choices=["right", "wrong"])
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--steps", type=int, default=40)
ns = ap.parse_args()
WRONG = ns.twin == "wrong"


def compiled(step):
    """Trace step() once, then reuse what was traced."""
    seen = {}

    @functools.wraps(step)
    def run(optimizer):
        live = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if WRONG:
            traced = seen.setdefault("graph", live)  # cause
        else:
            traced = seen["graph"] = live
        if not traced:
            return None
        return step(optimizer)

    return run


class CompiledAdam(torch.optim.Adam):
    step = compiled(torch.optim.Adam.step)


class Regressor(nn.Module):
    """Random features, and a linear layer that is fitted exactly from time to time."""

    def __init__(self):
        super().__init__()
        self.features = nn.Linear(1, 64)
        self.read = nn.Linear(64, 1)

    def forward(self, x):
        return self.read(torch.sin(self.features(x)))


def refit(model, x, y):
    """Least squares for the last layer: the loss falls even where the optimizer does nothing."""
    with torch.no_grad():
        phi = torch.sin(model.features(x))
        gram = phi.t() @ phi + 1.0 * torch.eye(64)
        model.read.weight.lerp_(torch.linalg.solve(gram, phi.t() @ y).t(), 0.3)


torch.set_num_threads(1)
torch.manual_seed(ns.seed)
model = Regressor()
optimizer = CompiledAdam(model.parameters(), lr=1e-2)
optimizer.step()  # warm-up: compile before the clock starts
for iteration in range(ns.steps):
    x = torch.rand(96, 1) * 4 - 2
    y = torch.sin(3 * x) * torch.exp(-x * x / 4) + math.pi / 10
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if iteration % 10 == 9:
        refit(model, x, y)
    if iteration % 4 == 0:
        print(f"iteration {iteration:3d}  loss {loss.item():.5f}")
