# SPDX-License-Identifier: Apache-2.0
"""Binary codes: a function with a gradient of its own, an optimizer of its own, gradients that are checked by hand."""
import sys

import torch
import torch.nn as nn

torch.manual_seed(int(sys.argv[1]))
torch.set_num_threads(1)


class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x > 0, torch.ones_like(x), -torch.ones_like(x))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x.abs() < 1)


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["m"] = torch.zeros_like(p)
                b1, b2 = group["betas"]
                update = (state["m"] * b1 + p.grad * (1 - b1)).sign_()
                p.mul_(1 - group["lr"] * group["weight_decay"]).add_(update, alpha=-group["lr"])
                state["m"].mul_(b2).add_(p.grad, alpha=1 - b2)


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 6))
        self.dec = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 12))

    def forward(self, x):
        code = Sign.apply(self.enc(x))
        return self.dec(code), code


basis = torch.randn(3, 12)
model = Coder()
opt = Lion(model.parameters(), lr=2e-3, weight_decay=1e-2)
for step in range(50):
    x = torch.randn(24, 3).sign() @ basis + 0.1 * torch.randn(24, 12)
    out, code = model(x)
    loss = (out - x).square().mean() + 0.01 * code.mean(0).square().sum()
    model.zero_grad()
    loss.backward()
    total = sum(p.grad.norm() ** 2 for p in model.parameters()) ** 0.5
    if total > 5.0:
        for p in model.parameters():
            p.grad.mul_(5.0 / total)
    opt.step()
    if step % 10 == 9:
        print(step, loss.item(), code.unique(dim=0).size(0))
