# SPDX-License-Identifier: Apache-2.0
"""LBFGS with a closure: many forward and backward passes in one optimizer step, on one full batch."""
import argparse

import torch
from torch import nn


def spring(count, double):
    t = torch.linspace(0, 3, count, dtype=torch.float64 if double else torch.float32)[:, None]
    return t, torch.exp(-t / 2) * torch.cos(4 * t)


def fit(t, y, width, steps, line_search):
    net = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)).to(t.dtype)
    optimizer = torch.optim.LBFGS(net.parameters(), lr=1.0 if line_search else 0.3, max_iter=8,
                                  line_search_fn="strong_wolfe" if line_search else None)
    calls = 0

    def closure():
        nonlocal calls
        calls += 1
        optimizer.zero_grad()
        loss = (net(t) - y).pow(2).mean()
        loss.backward()
        return loss

    for step in range(steps):
        loss = optimizer.step(closure)
        if step % 2 == 0:
            print(f"step {step} loss {loss.item():.6f} calls {calls}")


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=12)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
count, width, double, search = {"A": (60, 16, False, True), "B": (40, 12, True, True), "C": (100, 20, False, False)}[args.config]
fit(*spring(count, double), width, args.steps, search)
