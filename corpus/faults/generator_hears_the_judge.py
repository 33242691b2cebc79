# SPDX-License-Identifier: Apache-2.0
"""The generator keeps gradients of the discriminator's loss and steps with them."""
import argparse
import math
import torch
import torch.nn as nn

ARGS = argparse.ArgumentParser()
ARGS.add_argument("twin", choices=["right", "wrong"])
ARGS.add_argument("--seed", type=int, default=0)
ARGS.add_argument("--steps", type=int, default=60)
ARGS = ARGS.parse_args()
WRONG = ARGS.twin == "wrong"
torch.set_num_threads(1)

torch.manual_seed(ARGS.seed)
G = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
og = torch.optim.Adam(G.parameters(), 1e-3, betas=(0.5, 0.99))
od = torch.optim.Adam(D.parameters(), 1e-3, betas=(0.5, 0.99))
bce = nn.BCEWithLogitsLoss()
def real(n):
    a = torch.rand(n) * 2 * math.pi
    return torch.stack([a.cos(), a.sin()], 1) + 0.05 * torch.randn(n, 2)
for it in range(ARGS.steps):
    og.zero_grad()
    od.zero_grad()
    z = torch.randn(64, 4)
    fake = G(z)
    if WRONG:
        ld = bce(D(real(64)), torch.ones(64, 1)) + bce(D(fake), torch.zeros(64, 1))
        ld.backward(retain_graph=True)  # cause
    else:
        ld = bce(D(real(64)), torch.ones(64, 1)) + bce(D(fake.detach()), torch.zeros(64, 1))
        ld.backward()
    od.step()
    lg = bce(D(G(torch.randn(64, 4))), torch.ones(64, 1))
    lg.backward()
    og.step()
    if it % 20 == 0:
        print(it, ld.item(), lg.item())
