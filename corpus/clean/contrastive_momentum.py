# SPDX-License-Identifier: Apache-2.0
"""Contrastive learning with a momentum encoder and a queue of negatives.

The second encoder is outside of the optimizer and moves all the same: it follows the first.
"""
import argparse
import copy

import torch
from torch import nn
from torch.nn import functional as F


class MomentumContrast(nn.Module):
    def __init__(self, width, queue, momentum, temperature=0.2):
        super().__init__()
        self.query = nn.Sequential(nn.Linear(12, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 16))
        self.key = copy.deepcopy(self.query)
        for p in self.key.parameters():
            p.requires_grad = False
        self.momentum, self.temperature = momentum, temperature
        self.register_buffer("queue", F.normalize(torch.randn(queue, 16), dim=1))
        self.register_buffer("place", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def follow(self):
        for q, k in zip(self.query.parameters(), self.key.parameters()):
            k.data = k.data * self.momentum + q.data * (1 - self.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        start = int(self.place)
        self.queue[start:start + len(keys)] = keys
        self.place[0] = (start + len(keys)) % len(self.queue)

    def forward(self, one, other):
        q = F.normalize(self.query(one), dim=1)
        with torch.no_grad():
            self.follow()
            k = F.normalize(self.key(other), dim=1)
        positive = (q * k).sum(1, keepdim=True)
        negative = q @ self.queue.clone().t()
        logits = torch.cat([positive, negative], 1) / self.temperature
        self.enqueue(k)
        return logits, torch.zeros(len(logits), dtype=torch.long)


def two_views(count):
    subject = torch.randn(count, 12)
    return [subject + 0.2 * torch.randn(count, 12) for _ in range(2)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    args = parser.parse_args()
    batch, width, momentum, lr = {"A": (32, 32, 0.95, 0.05), "B": (16, 48, 0.9, 0.03), "C": (64, 24, 0.99, 0.1)}[args.config]
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    model = MomentumContrast(width, queue=256, momentum=momentum)
    optimizer = torch.optim.SGD(model.query.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)
    for step in range(args.steps):
        logits, labels = model(*two_views(batch))
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")


main()
