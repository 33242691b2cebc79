# SPDX-License-Identifier: Apache-2.0
"""Contrastive learning: two random views of each row, a temperature, then a linear probe on what was learned."""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(sys.argv[1]))
torch.set_num_threads(1)
centres = torch.randn(5, 24)
labels = torch.randint(0, 5, (200,))
rows = centres[labels] + 0.3 * torch.randn(200, 24)


def augment(x):
    x = x * (torch.rand_like(x) > 0.15)
    return x + 0.1 * torch.randn_like(x)


def nt_xent(a, b, t=0.4):
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.T / t
    sim.masked_fill_(torch.eye(len(z), dtype=torch.bool), float("-inf"))
    n = len(a)
    return F.cross_entropy(sim, torch.cat([torch.arange(n, 2 * n), torch.arange(n)]))


encoder = nn.Sequential(nn.Linear(24, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 16))
projector = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 8))
optimizer = torch.optim.Adam([*encoder.parameters(), *projector.parameters()], lr=3e-3)
for epoch in range(4):
    for idx in torch.randperm(200).split(40):
        x = rows[idx]
        loss = nt_xent(projector(encoder(augment(x))), projector(encoder(augment(x))))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, loss.item())
encoder.eval()
for p in encoder.parameters():
    p.requires_grad_(False)
probe = nn.Linear(16, 5)
opt = torch.optim.SGD(probe.parameters(), lr=0.5)
for i in range(20):
    out = probe(encoder(rows))
    loss = F.cross_entropy(out, labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("probe", (out.argmax(1) == labels).float().mean().item())
