# SPDX-License-Identifier: Apache-2.0
"""Vector quantisation: straight through z + (code - z).detach(), a codebook moved by averages, a gate by Gumbel softmax."""
import argparse

import torch
from torch import nn
import torch.nn.functional as F

options = argparse.ArgumentParser()
options.add_argument("--seed", type=int, default=0)
options.add_argument("--steps", type=int, default=80)
options.add_argument("--config", choices=["A", "B", "C"], default="A")
options = options.parse_args()
rows, codes, rate = {"A": (32, 16, 5e-3), "B": (24, 8, 3e-3), "C": (48, 12, 5e-3)}[options.config]
torch.set_num_threads(1)
torch.manual_seed(options.seed)


class Codebook(nn.Module):
    """No gradient reaches it: in training its entries follow the mean of what they stand for."""

    def __init__(self, entries, width):
        super().__init__()
        self.register_buffer("code", torch.randn(entries, width))
        self.register_buffer("weight", torch.ones(entries))
        self.register_buffer("total", self.code.clone())

    def forward(self, z):
        nearest = torch.cdist(z, self.code).argmin(1)
        chosen = self.code[nearest]
        if self.training:
            with torch.no_grad():
                hits = F.one_hot(nearest, len(self.code)).float()
                self.weight.mul_(0.9).add_(hits.sum(0), alpha=0.1)
                self.total.mul_(0.9).add_(hits.t() @ z, alpha=0.1)
                self.code.copy_(self.total / self.weight.clamp_min(1e-2)[:, None])
        return z + (chosen - z).detach(), F.mse_loss(z, chosen.detach())


encode, book = nn.Linear(10, 4), Codebook(codes, 4)
decode = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 10))
gate = nn.Parameter(torch.zeros(2))
optimizer = torch.optim.Adam([*encode.parameters(), *decode.parameters(), gate], rate)
places = torch.randn(8, 10)
for step in range(options.steps):
    x = places[torch.randint(0, 8, (rows,))] + 0.05 * torch.randn(rows, 10)
    quantised, commitment = book(encode(x))
    plain, bent = F.gumbel_softmax(gate, tau=max(0.5, 1 - step / 80), hard=True)
    again = decode(quantised)
    loss = F.mse_loss(plain * again + bent * torch.tanh(again), x) + 0.25 * commitment
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"{step}: {loss.item():.4f}")
