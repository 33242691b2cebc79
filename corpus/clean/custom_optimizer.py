# SPDX-License-Identifier: Apache-2.0
"""An optimizer class of one's own (sign of the momentum, as in Lion) with decoupled decay and a lookahead copy."""
import argparse

import torch
from torch import nn
from torch.optim.optimizer import Optimizer


class Lion(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_(torch.sign(m * b1 + p.grad * (1 - b1)), alpha=-group["lr"])
                m.mul_(b2).add_(p.grad, alpha=1 - b2)
        return loss


class Lookahead:
    """Every k steps the weights go half-way back to where they were."""

    def __init__(self, inner, k, alpha=0.5):
        self.inner, self.k, self.alpha, self.count = inner, k, alpha, 0
        self.slow = [[p.detach().clone() for p in group["params"]] for group in inner.param_groups]

    def zero_grad(self):
        self.inner.zero_grad()

    @torch.no_grad()
    def step(self):
        self.inner.step()
        self.count += 1
        if self.count % self.k == 0:
            for group, slow in zip(self.inner.param_groups, self.slow):
                for p, s in zip(group["params"], slow):
                    s.lerp_(p, self.alpha)
                    p.copy_(s)


def digits(n, prototypes):
    y = torch.randint(0, len(prototypes), (n,))
    return prototypes[y] + 0.7 * torch.randn(n, prototypes.shape[1]), y


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
n, width, k = {"A": (32, 32, 0), "B": (48, 24, 5), "C": (16, 48, 3)}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)
prototypes = torch.randn(6, 20)
net = nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, 6))
optimizer = Lion(net.parameters(), lr=3e-3, weight_decay=0.05)
if k:
    optimizer = Lookahead(optimizer, k)
for step in range(args.steps):
    x, y = digits(n, prototypes)
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f}")
