# SPDX-License-Identifier: Apache-2.0
"""Under autocast the loss is summed over many terms in bfloat16: small terms are lost in the large sum."""
import argparse

import torch
from torch import nn


class Field(nn.Module):
    """A value at every point of a map."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1))

    def forward(self, points):
        return self.net(points)


def total_error(prediction, truth):
    if WRONG:
        error = (prediction - truth.to(prediction.dtype)).pow(2)  # cause
    else:
        error = (prediction.float() - truth).pow(2)
    total = torch.zeros((), dtype=error.dtype)
    for part in error.chunk(32):
        total = total + part.sum()
    return total / error.numel()


def heights(points):
    return torch.exp(-4 * points.pow(2).sum(1, keepdim=True)) + 0.3 * points[:, :1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=50)
    args = parser.parse_args()
    global WRONG
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    field = Field()
    optimizer = torch.optim.Adam(field.parameters(), lr=3e-3)
    for step in range(args.steps):
        points = torch.rand(512, 2) * 2 - 1
        optimizer.zero_grad()
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
            loss = total_error(field(points), heights(points))
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
