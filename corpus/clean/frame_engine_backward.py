# SPDX-License-Identifier: Apache-2.0
"""engine(x), engine.backward(loss), engine.step(): masters in float32, weights in bfloat16, a boundary every few calls."""
import argparse

import torch
from torch import nn


class Engine:
    def __init__(self, module, lr, boundary, clip, half):
        self.boundary, self.clip, self.calls = boundary, clip, 0
        self.dtype = torch.bfloat16 if half else torch.float32
        self.module = module.to(self.dtype)
        self.working = list(self.module.parameters())
        self.masters = [nn.Parameter(p.detach().float().clone()) for p in self.working] if half else self.working
        self.inner = torch.optim.Adam(self.masters, lr=lr)

    def __call__(self, x):
        return self.module(x.to(self.dtype)).float()

    def backward(self, loss):
        (loss / self.boundary).backward()
        return loss

    def at_boundary(self):
        return self.calls % self.boundary == 0

    def step(self):
        self.calls += 1
        if not self.at_boundary():
            return
        if self.masters is not self.working:
            for master, p in zip(self.masters, self.working):
                master.grad = p.grad.float()
        nn.utils.clip_grad_norm_(self.masters, self.clip)
        self.inner.step()
        for master, p in zip(self.masters, self.working):
            if master is not p:
                p.data.copy_(master.data)
                master.grad = None
            p.grad = None


def initialize(model, config):
    return Engine(model, **config)


def currents(n):
    voltage, resistance = torch.rand(n, 1), torch.rand(n, 1) + 0.5
    return torch.cat([voltage, resistance], 1), voltage / resistance


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    args = parser.parse_args()
    config, n = {"A": (dict(lr=5e-3, boundary=2, clip=1.0, half=True), 32),
                 "B": (dict(lr=1e-2, boundary=1, clip=5.0, half=False), 64),
                 "C": (dict(lr=1e-2, boundary=3, clip=1.0, half=True), 24)}[args.config]
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    engine = initialize(nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1)), config)
    for step in range(args.steps):
        x, y = currents(n)
        loss = nn.functional.mse_loss(engine(x), y)
        engine.backward(loss)
        engine.step()
        if step % 10 == 0:
            print(f"micro-step {step} loss {loss.item():.5f}")
