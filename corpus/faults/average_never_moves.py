# SPDX-License-Identifier: Apache-2.0
"""An exponential average with a ramp that ends above one: clamped to one, it keeps the weights of the beginning."""
import argparse
import copy

import torch


class Shadow:
    """Follows a network slowly; `decay` grows with the number of updates."""

    def __init__(self, network, limit=0.95):
        self.network = copy.deepcopy(network).requires_grad_(False).eval()
        self.limit, self.updates = limit, 0

    @torch.no_grad()
    def follow(self, network):
        self.updates += 1
        if WRONG:
            decay = min(1.0, (10 + self.updates) / (1 + self.updates))  # cause
        else:
            decay = min(self.limit, (1 + self.updates) / (10 + self.updates))
        for slow, fast in zip(self.network.parameters(), network.parameters()):
            slow.mul_(decay).add_(fast, alpha=1 - decay)


def orbit(count):
    """Where a body is a quarter of a turn later, with friction."""
    angle, radius = 6.283 * torch.rand(count, 1), 0.5 + torch.rand(count, 1)
    here = torch.cat([radius * angle.cos(), radius * angle.sin()], 1)
    return here, 0.9 * torch.stack([-here[:, 1], here[:, 0]], 1)


ask = argparse.ArgumentParser()
ask.add_argument("twin", choices=["right", "wrong"])
ask.add_argument("--seed", type=int, default=0)
ask.add_argument("--steps", type=int, default=60)
ask = ask.parse_args()
WRONG = ask.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(ask.seed)
mover = torch.nn.Sequential(torch.nn.Linear(2, 20), torch.nn.SiLU(), torch.nn.Linear(20, 2))
shadow = Shadow(mover)
descent = torch.optim.Adam(mover.parameters(), lr=1e-2)
for moment in range(ask.steps):
    here, there = orbit(32)
    miss = torch.nn.functional.huber_loss(mover(here), there)
    descent.zero_grad()
    miss.backward()
    descent.step()
    shadow.follow(mover)
    if moment % 12 == 0:
        print(f"moment {moment} loss {miss.item():.4f}")
with torch.no_grad():
    print(f"average: loss {torch.nn.functional.huber_loss(shadow.network(here), there).item():.4f}")
