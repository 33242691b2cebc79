# SPDX-License-Identifier: Apache-2.0
"""A GAN in one module whose halves are frozen in turns, with optimizers behind a wrapper that counts their steps.

Each half requires gradients only while it is trained itself; the wrapper is an optimizer by its class and has no groups of its own.
"""
import argparse
import contextlib

import torch
from torch import nn
from torch.nn import functional as F


class Counted:
    """Passes everything on to an optimizer, and looks like one."""

    def __init__(self, optimizer):
        self.__class__ = type("Counted" + type(optimizer).__name__, (Counted, type(optimizer)), {})
        self.inner, self.steps = optimizer, 0

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def step(self, closure=None):
        self.steps += 1
        return self.inner.step(closure)


class Pair(nn.Module):
    def __init__(self, noise, width):
        super().__init__()
        self.noise = noise
        self.painter = nn.Sequential(nn.Linear(noise, width), nn.ReLU(), nn.Linear(width, 3))
        self.critic = nn.Sequential(nn.Linear(3, width), nn.LeakyReLU(0.2), nn.Linear(width, 1))

    def paint(self, count):
        return self.painter(torch.randn(count, self.noise))

    @contextlib.contextmanager
    def training_only(self, part):
        for weight in self.parameters():
            weight.requires_grad_(False)
        for weight in part.parameters():
            weight.requires_grad_(True)
        yield
        for weight in self.parameters():
            weight.requires_grad_(True)


def palette(count):
    warmth = torch.rand(count, 1)
    return torch.cat([warmth, 1 - warmth, warmth * (1 - warmth)], 1) + 0.02 * torch.randn(count, 3)


def judged(logits, wanted):
    return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, wanted))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    options = parser.parse_args()
    count, width, kind = {"A": (48, 24, torch.optim.Adam), "B": (32, 32, torch.optim.RMSprop), "C": (64, 16, torch.optim.AdamW)}[options.config]
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    pair = Pair(6, width)
    for_painter, for_critic = (Counted(kind(part.parameters(), lr=1e-3)) for part in (pair.painter, pair.critic))
    while for_painter.steps < options.steps:
        with pair.training_only(pair.painter):
            fooled = judged(pair.critic(pair.paint(count)), 1.0)
            fooled.backward()
            for_painter.step()
            for_painter.zero_grad()
        with pair.training_only(pair.critic):
            caught = judged(pair.critic(palette(count)), 1.0) + judged(pair.critic(pair.paint(count).detach()), 0.0)
            caught.backward()
            for_critic.step()
            for_critic.zero_grad()
        if for_painter.steps % 20 == 0:
            print(f"{for_painter.steps}: painter {fooled.item():.4f}, critic {caught.item():.4f}")


if __name__ == "__main__":
    main()
