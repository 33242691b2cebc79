# SPDX-License-Identifier: Apache-2.0
"""Tides by their harmonics, predicted by an averaged network. The wrong twin averages into the variable of a loop."""
import argparse
import copy
import math

import torch
from torch import nn

options = argparse.ArgumentParser()
options.add_argument("twin", choices=["right", "wrong"])
options.add_argument("--seed", type=int, default=0)
options.add_argument("--steps", type=int, default=60)
options = options.parse_args()
WRONG = options.twin == "wrong"
KEEP = 0.9


def tide(hours):
    return torch.sin(hours * 2 * math.pi / 12.4) + 0.4 * torch.sin(hours * 2 * math.pi / 24 + 1)


def harmonics(hours):
    angles = hours * torch.tensor([2 * math.pi / period for period in (6.2, 12.4, 24.0, 48.0)])
    return torch.cat([angles.sin(), angles.cos()], dim=1)


@torch.no_grad()
def follow(average, network):
    for slow, fast in zip(average.parameters(), network.parameters()):
        if WRONG:
            slow = slow * KEEP + fast * (1 - KEEP)  # cause
        else:
            slow.copy_(slow * KEEP + fast * (1 - KEEP))


torch.manual_seed(options.seed)
torch.set_num_threads(1)
network = nn.Sequential(nn.Linear(8, 24), nn.Softplus(), nn.Linear(24, 1))
average = copy.deepcopy(network)
optimizer = torch.optim.NAdam(network.parameters(), lr=1e-2)
for step in range(options.steps):
    hours = torch.rand(48, 1) * 200
    error = nn.functional.l1_loss(network(harmonics(hours)), tide(hours) + 0.05 * torch.randn(48, 1))
    optimizer.zero_grad()
    error.backward()
    optimizer.step()
    follow(average, network)
    if step % 15 == 14:
        print(f"step {step + 1}: error {error.item():.3f}")
with torch.no_grad():
    hours = torch.linspace(200, 260, 64)[:, None]
    print("the average is off by", round((average(harmonics(hours)) - tide(hours)).abs().mean().item(), 3))
