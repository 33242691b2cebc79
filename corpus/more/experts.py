# SPDX-License-Identifier: Apache-2.0
"""A mixture of experts: each is called only if rows are sent to it, and some rows are sent by noise."""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(sys.argv[1]))
torch.set_num_threads(1)


class Mixture(nn.Module):
    def __init__(self, experts=4):
        super().__init__()
        self.gate = nn.Linear(8, experts)
        self.experts = nn.ModuleList([nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)) for _ in range(experts)])

    def forward(self, x):
        scores = self.gate(x)
        if self.training:
            scores = scores + 0.3 * torch.randn_like(scores)
        weight, chosen = scores.softmax(-1).max(-1)
        out = torch.zeros(len(x), 2)
        for i, expert in enumerate(self.experts):
            rows = (chosen == i).nonzero().squeeze(1)
            if len(rows):
                out[rows] = expert(x[rows]) * weight[rows, None]
        load = F.one_hot(chosen, len(self.experts)).float().mean(0)
        return out, (load * scores.softmax(-1).mean(0)).sum() * len(self.experts)


model = Mixture()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(50):
    x = torch.randn(10, 8)
    y = (x[:, 0] * x[:, 1] > 0).long()
    out, balance = model(x)
    loss = F.cross_entropy(out, y) + 0.01 * balance
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 9:
        model.eval()
        with torch.no_grad():
            x = torch.randn(64, 8)
            print(step, loss.item(), (model(x)[0].argmax(1) == (x[:, 0] * x[:, 1] > 0).long()).float().mean().item())
        model.train()
