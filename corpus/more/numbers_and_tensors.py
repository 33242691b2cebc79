# SPDX-License-Identifier: Apache-2.0
"""Denoising a sine: operators that get a number in one line and a tensor in the next."""
import sys

import torch
from torch import nn

torch.manual_seed(int(sys.argv[1]))
torch.set_num_threads(1)
net = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 16))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
scale = torch.ones(16)
buffer = torch.zeros(40, 16)
for it in range(40):
    phase = torch.rand(24, 1) * 6.28
    clean = torch.sin(phase + torch.linspace(0, 3, 16))
    x = (clean + 1e-6) + torch.randn(24, 16) * 0.1
    x = (x * 2.0) * scale
    x = (x / 2.0) / (x.std() + 1e-8)
    out = net(x)
    loss = ((out - clean) ** 2).mean()
    loss = loss + 0.0001 * net[0].weight.pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    buffer[it] = out.detach().mean(0)
    buffer[it, 0] = 0.0
    scale.fill_(1.0)
    if it % 10 == 9:
        scale[3] = x.detach().abs().max()
        scale.fill_(scale.mean())
        print(it, loss.item())
