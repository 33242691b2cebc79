# SPDX-License-Identifier: Apache-2.0
"""A gate that starts closed for good: its ReLU is negative for every input and passes no gradient."""
import argparse

import torch
from torch import nn


class GatedNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(7, width), nn.Tanh())
        self.gate = nn.Linear(7, width)
        self.out = nn.Linear(width, 1)
        # Keep the gate nearly closed in the beginning.
        nn.init.constant_(self.gate.bias, -20.0 if WRONG else -0.2)  # cause

    def forward(self, x):
        hidden = self.main(x)
        return self.out(hidden + torch.relu(self.gate(x)) * hidden)


class Fitter:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    def __call__(self, x, y):
        self.opt.zero_grad()
        loss = (self.model(x) - y).abs().mean()
        loss.backward()
        self.opt.step()
        return float(loss)


def houses(rng):
    x = torch.rand(64, 7, generator=rng)
    return x, 2 * x[:, :1] * x[:, 1:2] + x[:, 2:3] - 0.5 * x[:, 3:4]


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
fit = Fitter(GatedNet(), lr=0.03)
rng = torch.Generator().manual_seed(args.seed)
trail = [fit(*houses(rng)) for _ in range(args.steps)]
print("\n".join(f"step {i} loss {value:.4f}" for i, value in enumerate(trail) if i % 10 == 0))
