# SPDX-License-Identifier: Apache-2.0
"""A GAN on points of a ring: two networks, two optimizers, gradients that are made and thrown away.

The generator's step leaves gradients in the discriminator; they are cleared before its own step.
"""
import argparse
import math

import torch
from torch import nn


def mlp(*widths, out=None):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    layers = layers[:-1]
    return nn.Sequential(*layers, *([out] if out else []))


def ring(count):
    angle = torch.rand(count) * 2 * math.pi
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(count, 2)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--steps", type=int, default=50)
    ap.add_argument("--config", choices=["A", "B", "C"], default="A")
    a = ap.parse_args()
    batch, width, d_steps = {"A": (64, 32, 1), "B": (32, 64, 2), "C": (128, 48, 1)}[a.config]
    torch.set_num_threads(1)
    torch.manual_seed(a.seed)
    netG = mlp(8, width, width, 2)
    netD = mlp(2, width, width, 1)
    criterion = nn.BCEWithLogitsLoss()
    optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
    optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))
    ones, zeros = torch.ones(batch, 1), torch.zeros(batch, 1)
    for step in range(a.steps):
        for _ in range(d_steps):
            netD.zero_grad()
            errD_real = criterion(netD(ring(batch)), ones)
            errD_real.backward()
            fake = netG(torch.randn(batch, 8))
            errD_fake = criterion(netD(fake.detach()), zeros)
            errD_fake.backward()
            optimizerD.step()
        netG.zero_grad()
        errG = criterion(netD(netG(torch.randn(batch, 8)) if d_steps > 1 else fake), ones)
        errG.backward()
        optimizerG.step()
        if step % 10 == 0:
            print(f"[{step}/{a.steps}] loss_D: {(errD_real + errD_fake).item():.4f} loss_G: {errG.item():.4f}")
