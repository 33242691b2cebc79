# SPDX-License-Identifier: Apache-2.0
"""Alternating least squares with a neural part; the neural part's gradients are cleared before its step."""
import argparse

import torch
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("twin", choices=["right", "wrong"])
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--steps", type=int, default=50)
ns = ap.parse_args()
WRONG = ns.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(ns.seed)

users, items, rank = 40, 30, 5
ratings = torch.randn(users, 3) @ torch.randn(3, items)
about_items = ratings.t() @ torch.randn(users, 6) / 10
user_factors = torch.randn(users, rank) * 0.3


class ItemEncoder(nn.Module):
    """Factors of an item from what is written about it."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 24), nn.LeakyReLU(), nn.Linear(24, rank))

    def forward(self, about):
        return self.layers(about)


encoder = ItemEncoder()
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-2)


def solve_users(factors):
    gram = factors.t() @ factors + 0.1 * torch.eye(rank)
    return torch.linalg.solve(gram, factors.t() @ ratings.t()).t()


for sweep in range(ns.steps):
    error = (user_factors @ encoder(about_items).t() - ratings).pow(2).mean()
    if WRONG:
        error.backward()
        optimizer.zero_grad()  # cause
        optimizer.step()
    else:
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
    with torch.no_grad():
        user_factors = user_factors.lerp(solve_users(encoder(about_items)), 0.1)
    if sweep % 10 == 0:
        print(f"sweep {sweep:3d} loss {error.item():.4f}")
