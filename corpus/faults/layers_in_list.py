# SPDX-License-Identifier: Apache-2.0
"""Hidden layers kept in a plain list: model.parameters() does not know them and they never move."""
import argparse

import torch
from torch import nn


class DeepSet(nn.Module):
    """The sum over a set of points, then a few layers."""

    def __init__(self, width=32, depth=3):
        super().__init__()
        self.phi = nn.Linear(2, width)
        layers = [nn.Linear(width, width) for _ in range(depth)]
        if WRONG:
            self.layers = layers  # cause
        else:
            self.layers = nn.ModuleList(layers)
        self.rho = nn.Linear(width, 1)

    def forward(self, points):
        h = torch.relu(self.phi(points)).mean(1)
        for layer in self.layers:
            h = h + torch.relu(layer(h))
        return self.rho(h)[:, 0]


def clouds(count=40, points=12):
    spread = torch.rand(count, 1, 1) * 2
    cloud = torch.randn(count, points, 2) * spread
    return cloud, cloud.norm(dim=2).amax(1)


def main():
    model = DeepSet()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(args.steps):
        cloud, radius = clouds()
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(cloud), radius)
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    main()
