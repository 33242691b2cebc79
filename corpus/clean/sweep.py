# SPDX-License-Identifier: Apache-2.0
"""A hyperparameter sweep in one process: many models and optimizers, same data and seed, the worst half dropped."""
import argparse
import itertools

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=90)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
grid, rows = {"A": ([(1e-3, 1e-2, 5e-2), (8, 24)], 40), "B": ([(1e-2, 3e-2), (16,)], 64), "C": ([(1e-4, 1e-2), (12, 20)], 32)}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)
x = torch.randn(rows, 4)
y = torch.relu(x[:, :1]) - torch.relu(x[:, 1:2])


class Trial:
    def __init__(self, lr, width):
        torch.manual_seed(args.seed)
        self.name = f"lr={lr} width={width}"
        self.net = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 1))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.score = float("inf")

    def run(self, steps):
        for _ in range(steps):
            self.opt.zero_grad()
            loss = nn.functional.mse_loss(self.net(x), y)
            loss.backward()
            self.opt.step()
        self.score = loss.item()
        print(f"{self.name}: loss {self.score:.5f}")


trials = [Trial(*point) for point in itertools.product(*grid)]
budget = max(2, args.steps // (2 * len(trials)))
while len(trials) > 1:
    for trial in trials:
        trial.run(budget)
    trials = sorted(trials, key=lambda t: t.score)[:max(1, len(trials) // 2)]
    budget *= 2
print("best:", trials[0].name)
