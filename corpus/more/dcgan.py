# SPDX-License-Identifier: Apache-2.0
"""A GAN of convolutions with noisy labels; the generator takes a second step when it falls behind."""
import sys

import torch
import torch.nn as nn

torch.manual_seed(int(sys.argv[1]))
torch.set_num_threads(1)


def weights_init(m):
    name = m.__class__.__name__
    if "Conv" in name:
        nn.init.normal_(m.weight.data, 0.0, 0.05)
    elif "BatchNorm" in name:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


G = nn.Sequential(nn.ConvTranspose2d(8, 16, 4), nn.BatchNorm2d(16), nn.ReLU(True), nn.ConvTranspose2d(16, 1, 4, 2, 1), nn.Tanh())
D = nn.Sequential(nn.Conv2d(1, 16, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(16, 1, 4), nn.Flatten(), nn.Sigmoid())
G.apply(weights_init)
D.apply(weights_init)
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999))
bce = nn.BCELoss()
fixed = torch.randn(4, 8, 1, 1)


def real_batch(n):
    x = torch.full((n, 1, 8, 8), -1.0)
    for i in range(n):
        r = torch.randint(0, 6, (2,))
        x[i, 0, r[0]:r[0] + 3, r[1]:r[1] + 3] = 1.0
    return x


for step in range(45):
    real = real_batch(16)
    noise = torch.randn(16, 8, 1, 1)
    label = torch.full((16, 1), 0.9) + 0.1 * torch.rand(16, 1)
    D.zero_grad()
    err_real = bce(D(real), label)
    err_real.backward()
    fake = G(noise)
    err_fake = bce(D(fake.detach()), torch.zeros(16, 1))
    err_fake.backward()
    opt_d.step()
    for _ in range(2 if err_fake.item() < 0.35 else 1):
        G.zero_grad()
        err_g = bce(D(G(torch.randn(16, 8, 1, 1))), torch.ones(16, 1))
        err_g.backward()
        opt_g.step()
    if step % 15 == 0:
        with torch.no_grad():
            print(step, err_real.item(), err_fake.item(), err_g.item(), G(fixed).mean().item())
