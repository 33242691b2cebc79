# SPDX-License-Identifier: Apache-2.0
"""Layers are unfrozen one after the other, from the top; each joins the optimizer when its time has come."""
import argparse

import torch
from torch import nn


class Ladder(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.rungs = nn.ModuleList([nn.Linear(6 if i == 0 else width, width) for i in range(depth)])
        self.top = nn.Linear(width, 4)
        self.rungs.requires_grad_(False)

    def forward(self, x):
        for rung in self.rungs:
            x = torch.relu(rung(x))
        return self.top(x)


class Unfreezer:
    def __init__(self, model, optimizer, lr, every):
        self.waiting = list(model.rungs)
        self.optimizer, self.lr, self.every = optimizer, lr, every

    def after_step(self, step):
        if self.waiting and (step + 1) % self.every == 0:
            rung = self.waiting.pop()
            rung.requires_grad_(True)
            self.lr *= 0.7
            self.optimizer.add_param_group({"params": rung.parameters(), "lr": self.lr})


def main(seed, steps, config):
    depth, width, n, kind = {"A": (3, 24, 32, torch.optim.Adam), "B": (2, 32, 48, torch.optim.AdamW), "C": (4, 16, 24, torch.optim.Adam)}[config]
    torch.manual_seed(seed)
    model = Ladder(depth, width)
    optimizer = kind(model.top.parameters(), lr=1e-2)
    unfreezer = Unfreezer(model, optimizer, 1e-2, every=max(1, steps // (depth + 1)))
    for step in range(steps):
        x = torch.randn(n, 6)
        loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        unfreezer.after_step(step)
        if step % 10 == 0:
            print(f"step {step} groups {len(optimizer.param_groups)} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    torch.set_num_threads(1)
    main(**vars(parser.parse_args()))
