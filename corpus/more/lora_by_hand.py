# SPDX-License-Identifier: Apache-2.0
"""A model is trained, frozen, and adapted to another task by low-rank matrices that are merged at the end."""
import math
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(sys.argv[1]))
torch.set_num_threads(1)


class LoRALinear(nn.Module):
    def __init__(self, base, r=4, alpha=8):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.A = nn.Parameter(torch.empty(r, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scale = alpha / r

    def forward(self, x):
        return self.base(x) + (x @ self.A.t() @ self.B.t()) * self.scale

    @torch.no_grad()
    def merge(self):
        self.base.weight += self.scale * self.B @ self.A
        return self.base


def task(shift):
    x = torch.randn(32, 10)
    return x, torch.sin(x.sum(1, keepdim=True) + shift)


model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for i in range(40):
    x, y = task(0.0)
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
for i in (0, 2):
    model[i] = LoRALinear(model[i])
model[4].requires_grad_(False)
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for i in range(40):
    x, y = task(0.7)
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 10 == 9:
        print(i, loss.item())
before = model(x)
for i in (0, 2):
    model[i] = model[i].merge()
print("merged", (before - model(x)).abs().max().item())
