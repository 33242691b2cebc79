# SPDX-License-Identifier: Apache-2.0
"""A dynamic loss scale that jumps up after an overflow instead of down: most steps are left out."""
import argparse

import torch
from torch import nn


class DynamicScaler:
    def __init__(self, scale, growth_every):
        self.scale, self.growth_every, self.streak, self.skipped = scale, growth_every, 0, 0

    def backward(self, loss):
        (loss * self.scale).backward()

    def overflow(self, parameters):
        return any(not torch.isfinite(p.grad.half()).all() for p in parameters)

    def step(self, optimizer, parameters):
        if self.overflow(parameters):
            self.skipped += 1
            self.streak = 0
            if WRONG:
                self.scale = max(self.scale, 2.0 ** 18)  # cause
            else:
                self.scale /= 2
            return
        for p in parameters:
            p.grad /= self.scale
        optimizer.step()
        self.streak += 1
        if self.streak % self.growth_every == 0:
            self.scale *= 2


def orbit(count):
    """Kepler: the mean anomaly from the eccentric one."""
    e, anomaly = torch.rand(count, 1) * 0.8, torch.rand(count, 1) * 6.28
    return torch.cat([e, anomaly.sin(), anomaly.cos()], 1), e * anomaly.sin()


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=80)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
parameters = list(net.parameters())
optimizer = torch.optim.Adam(parameters, lr=1e-3)
scaler = DynamicScaler(2.0 ** 17, growth_every=20)
for step in range(args.steps):
    x, y = orbit(64)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    scaler.backward(loss)
    scaler.step(optimizer, parameters)
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f}")
