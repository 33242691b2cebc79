# SPDX-License-Identifier: Apache-2.0
"""A closure-style helper and the loop both call step(): every gradient is applied twice."""
import argparse

import torch
from torch import nn


class WrappedOptimizer:
    """Counts, clips and steps."""

    def __init__(self, inner, limit):
        self.inner, self.limit, self.count = inner, limit, 0

    def minimise(self, loss):
        self.inner.zero_grad()
        loss.backward()
        for group in self.inner.param_groups:
            nn.utils.clip_grad_value_(group["params"], self.limit)
        self.inner.step()
        self.count += 1


def voices(n):
    """Four sensors hear two speakers; who is louder?"""
    level = torch.rand(n, 2)
    gains = torch.tensor([[1.0, 0.2], [0.7, 0.5], [0.4, 0.8], [0.1, 1.0]])
    return level @ gains.t() + 0.05 * torch.randn(n, 4), (level[:, 1] > level[:, 0]).long()


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
model = nn.Sequential(nn.Linear(4, 16), nn.SELU(), nn.Linear(16, 2))
inner = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
optimizer = WrappedOptimizer(inner, limit=1.0)
while optimizer.count < args.steps:
    heard, louder = voices(48)
    loss = nn.functional.cross_entropy(model(heard), louder)
    optimizer.minimise(loss)
    if WRONG:
        inner.step()  # cause
    if optimizer.count % 10 == 0:
        print(f"{optimizer.count} loss {loss.item():.4f}")
