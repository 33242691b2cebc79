# SPDX-License-Identifier: Apache-2.0
"""Predictions of shape (N, 1) minus targets of shape (N,): the error is a matrix, and the mean is learned."""
import argparse

import torch
from torch import nn


class Temperature(nn.Module):
    """Tomorrow's temperature from the last ten days."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, days):
        out = self.net(days)
        return out if WRONG else out.squeeze(1)  # cause


def climate(rng, count=64):
    season = torch.rand(count, 1, generator=rng) * 6.28
    days = torch.sin(season + torch.arange(11) * 0.1) + 0.2 * torch.randn(count, 11, generator=rng)
    return days[:, :10], days[:, 10] + 0.5


def squared_error(prediction, target):
    return ((prediction - target) ** 2).mean()


def run():
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    global WRONG
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = torch.Generator().manual_seed(args.seed)
    model = Temperature()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

    def one_step():
        days, tomorrow = climate(rng)
        optimizer.zero_grad()
        loss = squared_error(model(days), tomorrow)
        loss.backward()
        optimizer.step()
        return loss

    for number in range(args.steps):
        value = one_step()
        if number % 10 == 0:
            print(f"step {number} loss {value.item():.4f}")


run()
