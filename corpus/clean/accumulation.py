# SPDX-License-Identifier: Apache-2.0
"""Gradient accumulation done right: divided, and cleared at the end of every window.

In B the sum over a window is what is wanted, and the learning rate is chosen for it.
"""
import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Bag(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.EmbeddingBag(50, width, mode="mean")
        self.out = nn.Linear(width, 3)

    def forward(self, words):
        return self.out(torch.tanh(self.embed(words)))


def topics(count):
    topic = torch.randint(0, 3, (count,))
    own = topic[:, None] * 15 + torch.randint(0, 15, (count, 8))
    noise = torch.randint(0, 50, (count, 8))
    return TensorDataset(torch.where(torch.rand(count, 8) < 0.6, own, noise), topic)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    args = parser.parse_args()
    every, batch, divide, lr = {"A": (4, 16, True, 0.8), "B": (2, 24, False, 0.4), "C": (8, 8, True, 1.0)}[args.config]
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    loader = DataLoader(topics(384), batch_size=batch, shuffle=True, drop_last=True)
    model = Bag(24)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.5)
    updates = 0
    while updates < args.steps:
        for index, (words, topic) in enumerate(loader):
            loss = F.cross_entropy(model(words), topic)
            (loss / every if divide else loss).backward()
            if (index + 1) % every == 0:
                optimizer.step()
                optimizer.zero_grad()
                updates += 1
                if updates % 5 == 0:
                    print(f"update {updates} loss {loss.item():.4f}")
                if updates >= args.steps:
                    break


main()
