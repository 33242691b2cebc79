# SPDX-License-Identifier: Apache-2.0
"""A critic with a gradient penalty, several steps to one of the generator; who does not train is frozen meanwhile."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=50)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
parser = parser.parse_args()
SIZE, TURNS, PENALTY = {"A": (32, 3, 10.0), "B": (16, 2, 5.0), "C": (48, 4, 10.0)}[parser.config]
torch.set_num_threads(1)
torch.manual_seed(parser.seed)

painter = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 2))
critic = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(), nn.Linear(24, 1))
painter_update = torch.optim.Adam(painter.parameters(), 1e-3, betas=(0, 0.9))
critic_update = torch.optim.Adam(critic.parameters(), 1e-3, betas=(0, 0.9))


def steepness(real, fake):
    part = torch.rand(len(real), 1)
    between = (part * real + (1 - part) * fake).requires_grad_(True)
    slope, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((slope.norm(2, dim=1) - 1) ** 2).mean()


for round_ in range(parser.steps):
    critic.requires_grad_(True)
    for _ in range(TURNS):
        real = torch.randn(SIZE, 2) * 0.3 + 1
        with torch.no_grad():
            fake = painter(torch.randn(SIZE, 3))
        gap = critic(fake).mean() - critic(real).mean() + PENALTY * steepness(real, fake)
        critic_update.zero_grad()
        gap.backward()
        critic_update.step()
    critic.requires_grad_(False)
    verdict = -critic(painter(torch.randn(SIZE, 3))).mean()
    painter_update.zero_grad()
    verdict.backward()
    painter_update.step()
    if round_ % 10 == 0:
        print("round", round_, "gap", round(gap.item(), 4), "verdict", round(verdict.item(), 4))
