# SPDX-License-Identifier: Apache-2.0
"""Accumulation inside a small library class: the window ends with a step, but is not cleared."""
import argparse
import contextlib

import torch
from torch.nn import Embedding, Linear, Module
from torch.nn.functional import binary_cross_entropy_with_logits, softplus


class Accumulator:
    """Runs a step only at the end of each window."""

    def __init__(self, optimizer, every):
        self.optimizer, self.every, self.count = optimizer, every, 0

    @contextlib.contextmanager
    def window(self):
        self.count += 1
        yield
        if self.count % self.every == 0:
            self.optimizer.step()
            if not WRONG:
                self.optimizer.zero_grad()  # cause

    def backward(self, loss):
        (loss / self.every).backward()


class FactorMachine(Module):
    def __init__(self, fields=(20, 15, 7), width=6):
        super().__init__()
        self.linear = torch.nn.ModuleList(Embedding(n, 1) for n in fields)
        self.factors = torch.nn.ModuleList(Embedding(n, width) for n in fields)
        self.scale = Linear(1, 1)

    def forward(self, columns):
        linear = sum(table(columns[:, i]) for i, table in enumerate(self.linear))
        factors = torch.stack([table(columns[:, i]) for i, table in enumerate(self.factors)])
        pairs = 0.5 * (factors.sum(0).pow(2) - factors.pow(2).sum(0)).sum(1, keepdim=True)
        return self.scale(linear + pairs)[:, 0]


def clicks(generator, taste, count=32):
    columns = torch.stack([torch.randint(0, n, (count,), generator=generator) for n in (20, 15, 7)], 1)
    score = sum(t[columns[:, i]] for i, t in enumerate(taste))
    return columns, (torch.rand(count, generator=generator) < torch.sigmoid(2 * score)).float()


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=40)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
generator = torch.Generator().manual_seed(args.seed)
taste = [torch.randn(n, generator=generator) for n in (20, 15, 7)]
model = FactorMachine()
accumulator = Accumulator(torch.optim.Adagrad(model.parameters(), lr=0.1), every=3)
for step in range(args.steps):
    total = 0.0
    for _ in range(3):
        columns, clicked = clicks(generator, taste)
        with accumulator.window():
            loss = binary_cross_entropy_with_logits(model(columns), clicked)
            accumulator.backward(loss)
        total += loss.item() / 3
    if step % 8 == 0:
        print(f"step {step} loss {total:.4f}")
