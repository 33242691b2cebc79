# SPDX-License-Identifier: Apache-2.0
"""Each layer learns by itself, with an optimizer of its own, in a method that is called train() and means something else."""
import argparse

import torch
from torch import nn


class Judge(nn.Linear):
    """A layer that is content with good examples and excited by bad ones, or the other way round."""

    def __init__(self, inputs, outputs, rate, rounds):
        super().__init__(inputs, outputs)
        self.adam = torch.optim.Adam(self.parameters(), lr=rate)
        self.rounds = rounds

    def forward(self, x):
        direction = x / (x.norm(dim=1, keepdim=True) + 1e-4)
        return torch.relu(nn.functional.linear(direction, self.weight, self.bias))

    def train(self, good, bad=None):
        if bad is None:
            return super().train(good)
        for number in range(self.rounds):
            pleased, annoyed = self.forward(good).pow(2).mean(1), self.forward(bad).pow(2).mean(1)
            loss = nn.functional.softplus(torch.cat([1.5 - pleased, annoyed - 1.5])).mean()
            self.adam.zero_grad()
            loss.backward()
            self.adam.step()
            if number % 8 == 0:
                print(f"{self.in_features}->{self.out_features} round {number} loss {loss.item():.4f}")
        return self.forward(good).detach(), self.forward(bad).detach()


def written_on(x, label):
    """The label in the first places of the row."""
    return torch.cat([3 * nn.functional.one_hot(label, 4).float(), x[:, 4:]], 1)


cmd = argparse.ArgumentParser()
cmd.add_argument("--seed", type=int, default=0)
cmd.add_argument("--steps", type=int, default=48)
cmd.add_argument("--config", choices=["A", "B", "C"], default="A")
cmd = cmd.parse_args()
widths, rate = {"A": ([24, 24], 0.03), "B": ([16, 16, 16], 0.02), "C": ([40], 0.05)}[cmd.config]
torch.set_num_threads(1)
torch.manual_seed(cmd.seed)
label = torch.randint(0, 4, (160,))
x = 0.3 * torch.randn(160, 28)
x[torch.arange(160), 8 + 5 * label] += 2
layers = [Judge(a, b, rate, cmd.steps // len(widths)) for a, b in zip([28, *widths], widths)]
good, bad = written_on(x, label), written_on(x, (label + torch.randint(1, 4, (160,))) % 4)
for layer in layers:
    good, bad = layer.train(good, bad)
