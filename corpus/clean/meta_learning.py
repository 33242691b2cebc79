# SPDX-License-Identifier: Apache-2.0
"""MAML on sines: inner updates make new tensors, the graph is kept on purpose, one outer step for several tasks."""
import argparse
import math

import torch
from torch import nn

PRESETS = {"A": (4, 10, 1, 32), "B": (2, 5, 2, 24), "C": (6, 10, 1, 16)}


def forward(weights, x):
    w1, b1, w2, b2 = weights
    return torch.tanh(x @ w1 + b1) @ w2 + b2


def task():
    amplitude, phase = 0.5 + torch.rand(()) * 2, torch.rand(()) * math.pi

    def draw(shots):
        x = torch.rand(shots, 1) * 6 - 3
        return x, amplitude * torch.sin(x + phase)

    return draw


def adapt(weights, x, y, inner_steps, lr=0.05):
    for _ in range(inner_steps):
        loss = (forward(weights, x) - y).pow(2).mean()
        gradients = torch.autograd.grad(loss, weights, create_graph=True)
        weights = [w - lr * g for w, g in zip(weights, gradients)]
    return weights


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--config", choices=PRESETS, default="A")
    args = parser.parse_args()
    tasks, shots, inner_steps, width = PRESETS[args.config]
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    meta = nn.ParameterList([nn.Parameter(torch.randn(1, width)), nn.Parameter(torch.zeros(width)),
                             nn.Parameter(torch.randn(width, 1) / width ** 0.5), nn.Parameter(torch.zeros(1))])
    optimizer = torch.optim.Adam(meta.parameters(), lr=1e-2)
    for iteration in range(args.steps):
        outer = 0.0
        for _ in range(tasks):
            draw = task()
            fast = adapt(list(meta), *draw(shots), inner_steps)
            x, y = draw(shots)
            outer = outer + (forward(fast, x) - y).pow(2).mean() / tasks
        optimizer.zero_grad()
        outer.backward()
        optimizer.step()
        if iteration % 8 == 0:
            print(f"iteration {iteration} outer loss {outer.item():.4f}")
