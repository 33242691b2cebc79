# SPDX-License-Identifier: Apache-2.0
"""A VAE with a weight of the divergence that grows, and samples that are drawn at the end of an epoch."""
import sys

import torch
from torch import nn, optim
from torch.nn import functional as F

torch.manual_seed(int(sys.argv[1]))
torch.set_num_threads(1)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(20, 32)
        self.mu, self.logvar = nn.Linear(32, 4), nn.Linear(32, 4)
        self.dec = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 20))

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h).clamp(-6, 6)
        return torch.sigmoid(self.dec(self.reparameterize(mu, logvar))), mu, logvar


proto = (torch.rand(3, 20) > 0.5).float()
data = proto[torch.randint(0, 3, (160,))]
data = torch.where(torch.rand_like(data) < 0.05, 1 - data, data)
model = VAE()
optimizer = optim.Adam(model.parameters(), lr=1e-2)
step = 0
for epoch in range(5):
    model.train()
    for i in torch.randperm(160).split(20):
        beta = min(1.0, 0.02 * step)
        recon, mu, logvar = model(data[i])
        bce = F.binary_cross_entropy(recon, data[i], reduction="sum")
        kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        loss = (bce + beta * kld) / len(i)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
    model.eval()
    with torch.no_grad():
        sample = torch.sigmoid(model.dec(torch.randn(8, 4)))
    print(epoch, loss.item(), sample.mean().item())
