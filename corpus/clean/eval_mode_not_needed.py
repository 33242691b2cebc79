# SPDX-License-Identifier: Apache-2.0
"""Validation under no_grad without .eval(): harmless, for there is neither dropout nor batch norm in the model.

The last labels of a batch may be ignored, and a whole validation batch may have one class.
"""
import argparse

import torch
from torch import nn


class Parser(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(16, width)
        self.conv = nn.Conv1d(width, width, 3, padding=1)
        self.norm = nn.LayerNorm(width)
        self.tag = nn.Linear(width, 3)

    def forward(self, words):
        h = self.conv(self.embed(words).transpose(1, 2)).transpose(1, 2)
        return self.tag(self.norm(torch.relu(h)))


def brackets(rng, size, length):
    """0 outside, 1 inside of a bracket, 2 the bracket; -100 where the annotator was not sure."""
    words = torch.randint(2, 16, (size, length), generator=rng)
    words[:, 2], words[:, length - 3] = 0, 1
    tags = torch.zeros_like(words)
    tags[:, 3:length - 3] = 1
    tags[words < 2] = 2
    unsure = torch.rand(size, length, generator=rng) < 0.3
    return words, tags.masked_fill(unsure, -100)


def main():
    cli = argparse.ArgumentParser()
    cli.add_argument("--seed", type=int, default=0)
    cli.add_argument("--steps", type=int, default=45)
    cli.add_argument("--config", choices=["A", "B", "C"], default="A")
    args = cli.parse_args()
    size, length, width, smoothing = {"A": (16, 12, 16, 0.1), "B": (8, 20, 24, 0.0), "C": (32, 9, 12, 0.2)}[args.config]
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = torch.Generator().manual_seed(args.seed)
    model = Parser(width)
    criterion = nn.CrossEntropyLoss(ignore_index=-100, label_smoothing=smoothing)
    optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
    for step in range(args.steps):
        words, tags = brackets(rng, size, length)
        optimizer.zero_grad()
        loss = criterion(model(words).transpose(1, 2), tags)
        loss.backward()
        optimizer.step()
        if step % 9 == 0:
            with torch.no_grad():
                words, tags = brackets(rng, size, length)
                held_out = criterion(model(words).transpose(1, 2), tags)
            print(f"step {step} loss {loss.item():.4f} held out {held_out.item():.4f}")


main()
