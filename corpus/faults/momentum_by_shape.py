# SPDX-License-Identifier: Apache-2.0
"""A custom optimizer finds its momentum by shape: layers of one shape share it."""
import argparse
import torch
from torch import nn

ARGS = argparse.ArgumentParser()
ARGS.add_argument("twin", choices=["right", "wrong"])
ARGS.add_argument("--seed", type=int, default=0)
ARGS.add_argument("--steps", type=int, default=60)
ARGS = ARGS.parse_args()
WRONG = ARGS.twin == "wrong"
torch.set_num_threads(1)


class MyMomentum(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, mu=0.9):
        super().__init__(params, dict(lr=lr, mu=mu))
        self.bufs = {}
    @torch.no_grad()
    def step(self, closure=None):
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is None:
                    continue
                if WRONG:
                    key = tuple(p.shape)  # cause
                else:
                    key = p
                if key not in self.bufs:
                    self.bufs[key] = torch.zeros_like(p)
                b = self.bufs[key]
                b.mul_(g["mu"]).add_(p.grad)
                p.sub_(g["lr"] * b)

torch.manual_seed(ARGS.seed)
net = nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4))
w = torch.randn(16, 4)
opt = MyMomentum(net.parameters(), lr=0.02)
for i in range(ARGS.steps):
    x = torch.randn(32, 16)
    y = (x @ w).argmax(1)
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 20 == 0:
        print(i, loss.item())
