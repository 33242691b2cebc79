# SPDX-License-Identifier: Apache-2.0
"""Everything wrapped, as in Accelerate: the optimizer and scheduler hold still until the window is full.

optimizer.step(), scheduler.step() and zero_grad() are called every batch; the wrappers decide.
"""
import argparse
import contextlib

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class WrappedOptimizer:
    def __init__(self, optimizer, state):
        self.optimizer, self.state = optimizer, state

    def step(self):
        if self.state.sync:
            self.optimizer.step()

    def zero_grad(self):
        if self.state.sync:
            self.optimizer.zero_grad(set_to_none=True)


class WrappedScheduler:
    def __init__(self, scheduler, state):
        self.scheduler, self.state = scheduler, state

    def step(self):
        if self.state.sync:
            self.scheduler.step()


class Accelerator:
    def __init__(self, accumulation):
        self.accumulation, self.count, self.sync = accumulation, 0, True

    def prepare(self, model, optimizer, loader, scheduler):
        return model, WrappedOptimizer(optimizer, self), loader, WrappedScheduler(scheduler, self)

    @contextlib.contextmanager
    def accumulate(self, last):
        self.count += 1
        self.sync = self.count % self.accumulation == 0 or last
        yield

    def backward(self, loss):
        (loss / self.accumulation).backward()

    def clip(self, parameters, norm):
        if self.sync:
            nn.utils.clip_grad_norm_(parameters, norm)


def dataset():
    x = torch.randn(384, 7)
    return TensorDataset(x, torch.sin(x[:, :1]) + x[:, 1:2] * 0.5)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    args = parser.parse_args()
    accumulation, batch, width = {"A": (4, 16, 32), "B": (1, 32, 24), "C": (3, 16, 48)}[args.config]
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    accelerator = Accelerator(accumulation)
    net = nn.Sequential(nn.Linear(7, width), nn.GELU(), nn.Linear(width, 1))
    adamw = torch.optim.AdamW(net.parameters(), lr=8e-3)
    total = max(1, args.steps // accumulation)
    linear = torch.optim.lr_scheduler.LambdaLR(adamw, lambda step: max(0.05, 1 - step / total))
    model, optimizer, loader, scheduler = accelerator.prepare(net, adamw, DataLoader(dataset(), batch, shuffle=True), linear)
    seen = 0
    while seen < args.steps:
        for number, (x, y) in enumerate(loader):
            with accelerator.accumulate(last=number == len(loader) - 1):
                loss = nn.functional.mse_loss(model(x), y)
                accelerator.backward(loss)
                accelerator.clip(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            seen += 1
            if seen % 8 == 0:
                print(f"batch {seen} loss {loss.item():.4f}")
            if seen >= args.steps:
                break
