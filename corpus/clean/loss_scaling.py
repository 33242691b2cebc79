# SPDX-License-Identifier: Apache-2.0
"""A dynamic loss scaler of one's own: it starts too high on purpose, skips a few steps, and settles."""
import argparse

import torch
from torch import nn


class Scaler:
    def __init__(self, scale, window):
        self.scale, self.window, self.good, self.skipped = scale, window, 0, 0

    def minimise(self, loss, optimizer, parameters, limit):
        optimizer.zero_grad()
        (loss * self.scale).backward()
        if not all(torch.isfinite(p.grad.half()).all() for p in parameters):
            self.scale, self.good, self.skipped = self.scale / 4, 0, self.skipped + 1
            return
        for p in parameters:
            p.grad.div_(self.scale)
        nn.utils.clip_grad_norm_(parameters, limit)
        optimizer.step()
        self.good += 1
        if self.good % self.window == 0:
            self.scale *= 2


def pendulum(n):
    angle, speed = torch.rand(n, 1) * 3 - 1.5, torch.randn(n, 1)
    return torch.cat([angle, speed], 1), speed - 0.1 * torch.sin(angle)


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("--seed", type=int, default=0)
    cli.add_argument("--steps", type=int, default=70)
    cli.add_argument("--config", choices=["A", "B", "C"], default="A")
    args = cli.parse_args()
    n, width, start = {"A": (64, 32, 2.0 ** 20), "B": (32, 48, 2.0 ** 18), "C": (96, 24, 2.0 ** 22)}[args.config]
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 1))
    parameters = list(net.parameters())
    adam = torch.optim.Adam(parameters, lr=5e-3)
    scaler = Scaler(start, window=30)
    for step in range(args.steps):
        x, y = pendulum(n)
        loss = nn.functional.mse_loss(net(x), y)
        scaler.minimise(loss, adam, parameters, limit=1.0)
        if step % 10 == 0:
            print(f"{step} loss {loss.item():.4f} scale {scaler.scale:.0f} skipped {scaler.skipped}")
