# SPDX-License-Identifier: Apache-2.0
"""Low-rank adapters on a language model that stays as it is: all of its own weights are frozen, and handed to no optimizer."""
import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn


class Adapted(nn.Module):
    """A linear layer and a correction of low rank, which is zero in the beginning."""

    def __init__(self, base, rank):
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.down.T @ self.up.T


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        ahead = torch.full((x.shape[1], x.shape[1]), float("-inf")).triu(1)
        return x + self.out((q @ k.mT / math.sqrt(q.shape[-1]) + ahead).softmax(-1) @ v)


class Letters(nn.Module):
    def __init__(self, width, depth, letters=12):
        super().__init__()
        self.letter, self.place = nn.Embedding(letters, width), nn.Embedding(16, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, letters)

    def forward(self, text):
        x = self.letter(text) + self.place.weight[:text.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def counting(stride, count):
    return (torch.randint(0, 12, (count, 1)) + stride * torch.arange(13)) % 12


def fit(model, weights, stride, steps, count, lr):
    optimizer = torch.optim.AdamW(weights, lr=lr)
    for step in range(steps):
        text = counting(stride, count)
        loss = F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            print(f"stride {stride}, step {step + 1}: {loss.item():.4f}")


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("--seed", type=int, default=0)
    cli.add_argument("--steps", type=int, default=60)
    cli.add_argument("--config", choices=["A", "B", "C"], default="A")
    args = cli.parse_args()
    width, depth, rank, count = {"A": (24, 1, 4, 24), "B": (32, 2, 2, 16), "C": (16, 2, 8, 32)}[args.config]
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    model = Letters(width, depth)
    fit(model, model.parameters(), 1, args.steps // 3, count, 1e-2)
    model.requires_grad_(False)
    for block in model.blocks:
        block.qkv, block.out = Adapted(block.qkv, rank), Adapted(block.out, rank)
    for weight in model.parameters():
        weight.grad = None
    fit(model, [w for w in model.parameters() if w.requires_grad], 3, args.steps - args.steps // 3, count, 3e-2)
