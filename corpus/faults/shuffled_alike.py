# SPDX-License-Identifier: Apache-2.0
"""The loader is made anew for each epoch, with a generator of the same seed: shuffled, but always alike."""
import argparse

import torch
from torch.utils.data import DataLoader


def houses(count):
    """Rows of (size, age, distance, rooms, noise) and the logarithm of a price."""
    rows = torch.rand(count, 5)
    price = 2 * rows[:, 0] - rows[:, 1] * rows[:, 2] + 0.3 * rows[:, 3] ** 2
    return [(row, value) for row, value in zip(rows, price + 0.05 * torch.randn(count))]


def epoch(net, rule, rows, number):
    if WRONG:
        order = torch.Generator().manual_seed(args.seed)  # cause
    else:
        order = torch.Generator().manual_seed(args.seed + number)
    total = 0.0
    for features, price in DataLoader(rows, batch_size=16, shuffle=True, generator=order):
        gap = net(features).squeeze(-1) - price
        loss = gap.abs().where(gap.abs() > 1, 0.5 * gap ** 2 + 0.5).mean()
        rule.zero_grad()
        loss.backward()
        rule.step()
        total += loss.item() * len(price)
    return total / len(rows)


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
market = houses(192)
valuer = torch.nn.Sequential(torch.nn.Linear(5, 30), torch.nn.Mish(), torch.nn.Linear(30, 1))
rmsprop = torch.optim.RMSprop(valuer.parameters(), lr=2e-3)
for turn in range(max(2, args.steps // 12)):
    print(f"epoch {turn}: loss {epoch(valuer, rmsprop, market, turn):.4f}")
