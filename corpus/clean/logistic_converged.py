# SPDX-License-Identifier: Apache-2.0
"""Logistic regression by L-BFGS, which goes on being called after it has converged: it stops by its own tolerances."""
import argparse

import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
rows, columns, decay = {"A": (300, 6, 1e-3), "B": (120, 4, 1e-2), "C": (500, 10, 1e-3)}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)
x = torch.randn(rows, columns)
y = (x[:, 0] + 0.5 * torch.randn(rows) > 0).long()
model = torch.nn.Linear(columns, 2)
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=20)


def closure():
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y) + decay * sum(p.square().sum() for p in model.parameters())
    loss.backward()
    return loss


for step in range(args.steps):
    loss = optimizer.step(closure)
    print(f"step {step} loss {loss.item():.6f}")
